/* The sonde executable: finds the command, parses what every command understands, runs it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/die.h"
#include "cli/output.h"
#include "process/launch.h"

const struct command *const commands[] = {
	&cmd_diagnose, &cmd_record,    &cmd_report, &cmd_count, &cmd_path,
	&cmd_diff,     &cmd_structure, &cmd_dump,   &cmd_help,  NULL,
};

struct common_args common = {.pager = true};

static int parse_debug(const char *value, struct err *e)
{
	const char *bad;
	struct text names = TEXT_INIT;
	if (log_configure(value, &bad))
		return 0;
	for (int d = 0; d < LOG_DOMAINS; d++)
		text_printf(&names, "%s, ", log_domain_name[d]);
	err_set(e, ERR_INPUT,
		"--debug does not understand '%s'; it takes DOMAIN[:LEVEL],... with domains %sall",
		bad, names.data);
	text_release(&names);
	return ERR_INPUT;
}

static const char *const color_choices[] = {"auto", "always", "never", NULL};

const struct option common_options[] = {
	OPTION("help", OPTION_FLAG, struct common_args, help, .letter = 'h',
	       .help = "show this and exit"),
	OPTION("version", OPTION_FLAG, struct common_args, version,
	       .help = "show the version and exit"),
	OPTION("color", OPTION_CHOICE, struct common_args, color, .value = "WHEN",
	       .choices = color_choices,
	       .help = "auto (on a terminal, unless NO_COLOR is set), always or never"),
	OPTION("no-pager", OPTION_UNFLAG, struct common_args, pager,
	       .help = "do not page the output on a terminal"),
	{.name = "debug",
	 .type = OPTION_CALL,
	 .value = "DOMAIN[:LEVEL]",
	 .parse = parse_debug,
	 .help = "tell on stderr what happens inside; LEVEL is 1, 2 or 3"},
	{0},
};

const struct command *command_named(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

void die_no_such_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];
	size_t count = 0;
	for (const struct command *const *c = commands; *c; c++)
		if (!(*c)->hidden)
			names[count++] = (*c)->name;
	int near = nearest_word(name, names, count);
	if (near >= 0)
		die("there is no command '%s'; did you mean '%s'?", name, names[near]);
	die("there is no command '%s'; 'sonde help' lists those there are", name);
}

static int show_version(void)
{
	struct text t = TEXT_INIT;
	text_add(&t, "sonde " SONDE_VERSION "\n");
	output_begin(common.color, false);
	output_write(&t);
	text_release(&t);
	return EXIT_SUCCESS;
}

static int show_help(const struct command *c)
{
	struct text t = TEXT_INIT;
	if (c)
		help_command(c, &t);
	else
		help_overview(&t);
	output_begin(common.color, common.pager);
	output_write(&t);
	text_release(&t);
	return EXIT_SUCCESS;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct err e;
	struct operands operands;
	void *args = xcalloc(1, c->args_size);
	const struct option_set sets[] = {{c->options, args}, {common_options, &common}, {0}};
	if (c->defaults)
		memcpy(args, c->defaults, c->args_size);
	if (options_parse(sets, c->order, argc, argv, &operands, &e))
		die("%s: %s", c->name, e.text);
	int status;
	if (common.version)
		status = show_version();
	else
		status = common.help ? show_help(c) : c->run(args, &operands);
	free(args);
	return status;
}

/* What is no command may be a program to diagnose. What is a path is meant as one, even if it
 * cannot be started: launch_go() says why. */
static int run_words(struct operands *words)
{
	const char *name = words->list[0];
	const struct command *c = command_named(name);
	if (c)
		return run(c, words->count - 1, words->list + 1);
	if (strchr(name, '/') || launch_can_start(name))
		return run(&cmd_diagnose, words->count, words->list);
	die_no_such_command(name);
}

/* `sonde -p 4711`, `sonde -- program`, `sonde --color=never --json program` */
static bool begins_diagnosis(char **words)
{
	while (*words && **words == '-' && strcmp(*words, "--") != 0 &&
	       options_have(common_options, *words))
		words++;
	return *words && (!strcmp(*words, "--") || options_have(cmd_diagnose.options, *words));
}

int main(int argc, char **argv)
{
	struct err e;
	struct operands words;
	const struct option_set sets[] = {{common_options, &common}, {0}};
	die_on_alloc_failure();
	if (argc < 1)
		return EXIT_OURS;
	if (begins_diagnosis(argv + 1))
		return run(&cmd_diagnose, argc - 1, argv + 1);
	if (options_parse(sets, OPTIONS_FIRST, argc - 1, argv + 1, &words, &e))
		die("%s", e.text);
	if (common.version)
		return show_version();
	if (common.help && !words.count)
		return show_help(NULL);
	if (!words.count) {
		show_help(NULL);
		return EXIT_OURS;
	}
	return run_words(&words);
}
