/* The handler of SIGTRAP, for probes that are reached by a trap: as long as Sonde lives it sees the
 * signal first, and sends the thread on itself. */
#include "runtime/hit.h"

enum { SIGNAL_TRAP = 5 };

/* As rt_sigaction() takes it: all zero is the default action. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

static uint64_t target_of(uint64_t pc)
{
	const struct rt_trap *table = region_at(RT_TRAP_TABLE);
	uint32_t home = rt_trap_home(pc);
	for (uint32_t i = 0; i < RT_TRAPS; i++) {
		const struct rt_trap *t = &table[(home + i) % RT_TRAPS];
		if (!t->pc || t->pc == pc)
			return t->pc ? t->to : 0;
	}
	return 0;
}

/* A trap that is not ours does what it would have done without us: the signal is sent again, to be
 * taken when the handler returns. */
static void default_action(void)
{
	struct action none = {0};
	long pid = system_call(__NR_getpid, 0, 0, 0, 0, 0);
	long tid = system_call(__NR_gettid, 0, 0, 0, 0, 0);
	system_call(__NR_rt_sigaction, SIGNAL_TRAP, (long)&none, 0, sizeof(none.mask), 0);
	system_call(__NR_tgkill, pid, tid, SIGNAL_TRAP, 0, 0);
}

void rt_trap(int signal, const void *info, void *context)
{
	uint64_t *pc = (uint64_t *)((char *)context + UCONTEXT_PC);
	uint64_t to = target_of(*pc - TRAP_ADVANCE);
	(void)signal;
	(void)info;
	if (to)
		*pc = to;
	else
		default_action();
}
