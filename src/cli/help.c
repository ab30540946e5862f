/* `sonde help`: shows the man page if it is installed, otherwise the text in the option tables. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/term/die.h"
#include "cli/term/output.h"

struct help_args {
	bool complete;
};

void help_overview(struct text *out)
{
	text_add(out, "usage: sonde [options] PROGRAM ARGS\n       sonde [options] -p PID\n       "
		      "sonde COMMAND ...\n\n'sonde PROGRAM' runs a program and reports why it is "
		      "slow, and where. It is short for\n'sonde diagnose -- PROGRAM'; the other "
		      "commands go deeper.\n\ncommands:\n");
	for (const struct command *const *c = commands; *c; c++)
		if (!(*c)->hidden)
			text_printf(out, "  %-11s %s\n", (*c)->name, (*c)->summary);
	text_add(out, "\noptions:\n");
	options_describe(common_options, out);
	text_add(out, "\n'sonde help COMMAND' explains one of them.\n");
}

void help_command(const struct command *c, struct text *out)
{
	text_printf(out, "usage: sonde %s %s\n\n%s.\n", c->name, c->usage, c->summary);
	if (c->details)
		text_printf(out, "%s", c->details);
	if (c->options[0].name) {
		text_add(out, "\noptions:\n");
		options_describe(c->options, out);
	}
	text_add(out, "\ncommon options:\n");
	options_describe(common_options, out);
}

static void complete_options(const struct option *options, struct text *out)
{
	for (const struct option *o = options; o->name; o++) {
		if (!o->help)
			continue;
		text_printf(out, " --%s%s", o->name, o->value ? "=" : "");
		for (int i = 0; o->choices && o->choices[i]; i++)
			text_printf(out, "%s%s", i ? "|" : "", o->choices[i]);
		if (o->letter)
			text_printf(out, " -%c", o->letter);
	}
	text_char(out, '\n');
}

/* Writes what completions/sonde.bash reads: a line for each command, and one named `common`. The
 * name is followed by the possible first operands, each after a `:`, and by the options. An option
 * that takes a value ends with `=`, or with `=a|b` if the value is one of a few. */
static void complete_all(struct text *out)
{
	text_add(out, "common");
	complete_options(common_options, out);
	for (const struct command *const *c = commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		text_add(out, (*c)->name);
		for (const char *const *w = (*c)->words; w && *w; w++)
			text_printf(out, " :%s", *w);
		complete_options((*c)->options, out);
	}
}

static bool has_man_page(const char *page)
{
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("man", "man", "-w", page, (char *)NULL);
		_exit(EXIT_NOT_FOUND);
	}
	int status = -1;
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Returns only if there is no such page, or stdout is not a terminal. */
static void show_man_page(const char *command)
{
	struct text page = TEXT_INIT;
	text_printf(&page, "sonde-%s", command);
	if (isatty(STDOUT_FILENO) && common.pager && has_man_page(page.data))
		execlp("man", "man", page.data, (char *)NULL);
	text_release(&page);
}

static int run(const void *args, const struct operands *operands)
{
	const struct help_args *a = args;
	struct text t = TEXT_INIT;
	const char *name = operands->list[0];
	const struct command *c = name ? command_named(name) : NULL;
	if (operands->count > 1)
		die("help explains one command at a time: sonde help COMMAND");
	if (name && !c)
		die_no_such_command(name);
	if (a->complete)
		complete_all(&t);
	else if (c) {
		show_man_page(c->name);
		help_command(c, &t);
	} else
		help_overview(&t);
	output_begin(common.color, common.pager);
	output_write(&t);
	text_release(&t);
	return EXIT_SUCCESS;
}

static const struct option options[] = {
	OPTION("complete", OPTION_FLAG, struct help_args, complete, .help = NULL),
	{0},
};

const struct command cmd_help = {
	.name = "help",
	.summary = "Explain Sonde or one of its commands",
	.usage = "[COMMAND]",
	.options = options,
	.args_size = sizeof(struct help_args),
	.run = run,
};
