/* Running processes and their descendants. Those that are to come are observed with their parents.
 */
#pragma once
#include "sample/sampler.h"
#include "session/session.h"

/* Lets the sampler watch the processes of the session's options and, unless they are wanted alone,
 * those that they and their descendants have started. Calls added() for each; it may be NULL. An
 * error of a process that the user has named is returned, or if there is nobody to watch. Of
 * others, the user is told. */
int families_watch(struct session *s, struct sampler *sampler, void (*added)(void *ctx, int pid),
		   void *ctx, struct err *e);
