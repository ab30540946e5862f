/* The table of all commands, and the options common to them. */
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/term/die.h"

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
	 .help = "print debug messages on stderr; LEVEL is 1, 2 or 3"},
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
	int suggestion = nearest_word(name, names, count);
	if (suggestion >= 0)
		die("unknown command '%s'; did you mean '%s'?", name, names[suggestion]);
	die("unknown command '%s'; see 'sonde help'", name);
}
