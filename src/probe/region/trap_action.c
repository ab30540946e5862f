#include "probe/region/trap_action.h"

#include <signal.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "probe/region/caller.h"
#include "process/memory.h"
#include "runtime/blob.h"

/* The action in the form that the system call rt_sigaction takes. */
struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};
enum { WITH_RESTORER = 0x04000000 }; /* the kernel's SA_RESTORER */

/* Offsets in the region, which the program sees as well. The first bytes of RT_SPARE are the name
 * in inject.c. */
#define ACTION_AT (RT_SPARE + 256)
#define FOUND_AT  (ACTION_AT + sizeof(struct kernel_action))

bool trap_action_install(struct target *t)
{
	const struct rt_entry_table *entries = (const struct rt_entry_table *)runtime_blob;
	struct kernel_action *action = target_at(t, ACTION_AT), *found = target_at(t, FOUND_AT);
	struct rt_header *h = target_header(t);
	int64_t result;
	struct err e;
	uint64_t size = sizeof(found->mask);
	*action = (struct kernel_action){.handler = t->region.text + entries->trap,
					 .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER |
						  SA_RESTART | WITH_RESTORER,
					 .restorer = t->region.text + entries->restorer};
	if (target_call(t, SYS_rt_sigaction,
			(uint64_t[6]){SIGTRAP, 0, t->region.base + FOUND_AT, size}, &result, &e) ||
	    found->handler)
		return false;
	h->trap_handler = action->handler;
	if (!target_call(t, SYS_rt_sigaction,
			 (uint64_t[6]){SIGTRAP, t->region.base + ACTION_AT, 0, size}, &result, &e))
		return true;
	h->trap_handler = 0;
	debug(LOG_PROBE, 1, "process %d: no traps: %s", t->pid, e.text);
	return false;
}

void trap_action_remove(const struct remote_slack *s, struct control *c, uint64_t region,
			uint64_t handler)
{
	struct kernel_action none = {0}, found;
	int pid = s->thread->pid;
	int64_t result;
	struct err ignored;
	uint64_t size = sizeof(none.mask), act = region + ACTION_AT, old = region + FOUND_AT;
	if (!handler || !memory_write(pid, act, &none, sizeof(none)) ||
	    remote_call(c, s->thread, &s->place, SYS_rt_sigaction,
			(uint64_t[6]){SIGTRAP, 0, old, size}, &result, &ignored) ||
	    memory_read(pid, old, &found, sizeof(found)) != sizeof(found) ||
	    found.handler != handler)
		return;
	remote_call(c, s->thread, &s->place, SYS_rt_sigaction, (uint64_t[6]){SIGTRAP, act, 0, size},
		    &result, &ignored);
}
