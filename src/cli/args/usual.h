/* Options that several commands have. */
#pragma once
#include "cli/args/options.h"

#define USUAL_PROFILE "sonde.data"

#define OPTION_OUTPUT(struct_type, member)                                                         \
	OPTION("output", OPTION_TEXT, struct_type, member, .letter = 'o', .value = "FILE",         \
	       .help = "the profile (" USUAL_PROFILE "); a previous one is kept as FILE.old")
/* One process; a command that takes several says so itself. */
#define OPTION_PID(struct_type, member)                                                            \
	OPTION("pid", OPTION_NUMBER, struct_type, member, .letter = 'p', .value = "PID",           \
	       .help = "attach to a running process")
