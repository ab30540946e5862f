/* A subcommand: one file cmd_NAME.c, one man page sonde-NAME(1), one row of the table in
 * commands.c. */
#pragma once
#include "cli/args/options.h"

struct command {
	const char *name;
	const char *summary; /* one line, no full stop */
	const char *usage;   /* what follows "sonde NAME " */
	const char *details; /* a few lines for --help, or NULL */
	const struct option *options;
	enum options_order order; /* OPTIONS_FIRST: what follows the first operand is not ours */
	const char *const *words; /* what the first operand may be, for completion; NULL: a file */
	const void *defaults;     /* of the struct that the options go to */
	size_t args_size;
	bool hidden; /* not listed */
	/* Returns the exit status. `args` is a copy of *defaults with the options in it. */
	int (*run)(const void *args, const struct operands *operands);
};

extern const struct command *const commands[]; /* ends with NULL */

/* Options of every command; they may stand before or after its name. */
struct common_args {
	bool help, version, pager;
	unsigned color; /* enum color_when */
};

extern struct common_args common;
extern const struct option common_options[];

/* The command of this name, or NULL. */
const struct command *command_named(const char *name);
/* Complains about a name that is no command, with a suggestion, and exits. */
_Noreturn void die_no_such_command(const char *name);

/* The short usage of Sonde, and of one command. */
void help_overview(struct text *out);
void help_command(const struct command *c, struct text *out);

extern const struct command cmd_count, cmd_diagnose, cmd_diff, cmd_dump, cmd_help, cmd_path,
	cmd_record, cmd_report, cmd_structure;
