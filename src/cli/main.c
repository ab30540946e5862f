/* The sonde executable: finds the command, parses the common options, and runs the command. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/term/die.h"
#include "cli/term/output.h"
#include "process/launch.h"

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

/* A name that is not a command may be a program to diagnose. A path always is, even if it cannot be
 * started: launch_go() reports why. */
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

/* True for command lines such as `sonde -p 4711`, `sonde -- program` and `sonde --color=never
 * --json program`. */
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
