/* Facts about a run, for the profile. */
#pragma once
#include "profile/profile.h"
#include "session/session.h"

/* Host, machine, kernel, CPUs, directory and the current time. */
void facts_of_host(struct profile *p);
/* "command": the words of argv, quoted as a shell needs it. */
void facts_of_command(struct profile *p, char *const *argv);
/* The same for running processes and groups of them, and "attached": the numbers of all, as -p
 * takes them. */
void facts_of_processes(struct profile *p, const struct session_options *o);
void facts_number(struct profile *p, const char *name, double value, int digits);
