/* A running process and its descendants. Those that are to come are observed with their parents. */
#pragma once
#include "sample/sampler.h"
#include "session/session.h"

/* Lets the sampler watch a process and, unless it is wanted alone, those that it and its
 * descendants have started. Calls added() for each. An error of the first one is returned; of
 * others, the user is told. */
int family_watch(struct session *s, struct sampler *sampler, int pid,
		 void (*added)(void *ctx, int pid), void *ctx, struct err *e);
