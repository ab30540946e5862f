/* The processes that an option names. */
#pragma once
#include "process/threads.h"

/* Adds the processes of a list of process IDs and names, separated by commas. Ends Sonde with a
 * message if there is none of a name, or several. */
void parse_processes(const char *option, const char *value, tid_list *out);
