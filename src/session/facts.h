/* Facts about a run, for the profile. */
#pragma once
#include "profile/profile.h"

/* Host, machine, kernel, processors, directory and the present time. */
void facts_of_host(struct profile *p);
/* "command": the words as a shell would need them. */
void facts_of_command(struct profile *p, char *const *argv);
/* The same for one that runs. */
void facts_of_process(struct profile *p, int pid);
void facts_number(struct profile *p, const char *name, double value, int digits);
