/* System calls that a thread of the stopped program makes for us. */
#pragma once
#include "probe/region/target.h"
#include "process/remote.h"

/* The thread that makes a call, and the code and memory it uses. */
struct caller {
	struct target *target;
	struct control_thread *thread;
	struct remote_place place;
};
/* The caller for a target that has the runtime in it. */
struct caller default_caller(struct target *t);
/* Makes a call. `what` describes it in the error. `refused`: a fault point has refused it, in place
 * of the kernel. */
int caller_call(const struct caller *c, bool refused, const char *what, long number,
		const uint64_t args[6], int64_t *result, struct err *e);
/* The same with default_caller(). */
int target_call(struct target *t, long number, const uint64_t args[6], int64_t *result,
		struct err *e);

/* Private memory of the program: the thread table and a page with the guard, which fork wipes, so
 * that the child finds them empty unless we fill them again; then room for the frames of these
 * calls. (The frames are not in the region: the child's thread is in a call when its own region
 * replaces its parent's.) */
uint64_t wiped_size(void);
uint64_t private_size(void);

uint64_t page_size(void);
uint64_t whole_pages(uint64_t size);
