/* A subcommand: one file cmd_NAME.c, one man page sonde-NAME(1), one row of the table in
 * commands.c. */
#pragma once
#include "cli/args/options.h"

struct command {
	const char *name;
	const char *summary; /* one line, without a full stop */
	const char *usage;   /* the part after "sonde NAME " */
	const char *details; /* a few lines for --help, or NULL */
	const struct option *options;
	enum options_order order; /* OPTIONS_FIRST: everything after the first operand belongs to
				     the program to run */
	const char *const *words; /* possible first operands, for completion; NULL: a file */
	const void *defaults;     /* initial value of the struct that the options are stored in */
	size_t args_size;
	bool hidden; /* not listed in the help */
	/* Returns the exit status. `args` is a copy of *defaults with the options applied. */
	int (*run)(const void *args, const struct operands *operands);
};

extern const struct command *const commands[]; /* ends with NULL */

/* Options of every command; they may be before or after its name. */
struct common_args {
	bool help, version, pager;
	unsigned color; /* enum color_when */
};

extern struct common_args common;
extern const struct option common_options[];

/* Returns the command with this name, or NULL. */
const struct command *command_named(const char *name);
/* Reports that there is no command with this name, with a suggestion, and exits. */
_Noreturn void die_no_such_command(const char *name);

/* Append the short usage of Sonde, and of one command. */
void help_overview(struct text *out);
void help_command(const struct command *c, struct text *out);

extern const struct command cmd_count, cmd_diagnose, cmd_diff, cmd_dump, cmd_help, cmd_path,
	cmd_record, cmd_report, cmd_structure;
