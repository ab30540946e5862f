/* Options shared by several commands. */
#pragma once
#include "cli/args/options.h"

#define DEFAULT_PROFILE "sonde.data"

#define OPTION_OUTPUT(struct_type, member)                                                         \
	OPTION("output", OPTION_TEXT, struct_type, member, .letter = 'o', .value = "FILE",         \
	       .help = "profile to write (" DEFAULT_PROFILE                                        \
		       "); a previous one is kept as FILE.old")
/* For commands that take one process; a command that takes several defines its own option. */
#define OPTION_PID(struct_type, member)                                                            \
	OPTION("pid", OPTION_NUMBER, struct_type, member, .letter = 'p', .value = "PID",           \
	       .help = "attach to a running process")
#define OPTION_LONG_NAMES(struct_type, member)                                                     \
	OPTION("long-names", OPTION_FLAG, struct_type, member,                                     \
	       .help = "show functions with template arguments and parameters")
