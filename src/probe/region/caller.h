/* System calls that a thread of the stopped program makes for us. */
#pragma once
#include "probe/region/target.h"
#include "process/remote.h"

/* Whom to ask, and where. */
struct caller {
	struct target *target;
	struct control_thread *thread;
	struct remote_place place;
};
/* Of a target with the runtime in it. */
struct caller usual_caller(struct target *t);
/* `refused`: by a fault point, instead of the program's kernel. */
int caller_call(const struct caller *c, bool refused, const char *what, long number,
		const uint64_t args[6], int64_t *result, struct err *e);
/* By the usual one. */
int target_call(struct target *t, long number, const uint64_t args[6], int64_t *result,
		struct err *e);

/* Private memory of the program: the thread table and a page with the guard, which the child of a
 * fork finds empty, unless we are there to fill them again; and behind them room for the frames of
 * these calls. (Not in the region: the child's thread is in a call when its region takes the place
 * of its parent's.) */
uint64_t wiped_size(void);
uint64_t private_size(void);

uint64_t page_size(void);
uint64_t whole_pages(uint64_t size);
