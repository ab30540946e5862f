/* The handler of SIGTRAP, for probes that are reached by a trap. As long as Sonde is alive, it sees
 * the signal first and moves the thread itself. */
#include "runtime/hit.h"

enum { SIGNAL_TRAP = 5 };

/* The action in the form that the system call rt_sigaction takes. All zero is the default
 * action. */
struct trap_action {
	uint64_t handler, flags, restorer, mask;
};

/* Index of si_code in siginfo_t: positive if an instruction raised the signal, not if it was
 * sent. */
enum { CODE_WORD = 2 };

/* Whether the thread has already been moved: Sonde may have been killed after it moved the thread,
 * but before it suppressed the signal. */
static bool was_moved_already(const struct rt_trap *table, uint64_t pc)
{
	for (uint32_t i = 0; i < RT_TRAPS; i++)
		if (table[i].pc && table[i].to == pc)
			return true;
	return false;
}

/* A trap that is not ours has the effect it would have had without us: the signal is sent again,
 * and delivered when the handler returns. */
static void default_action(void)
{
	struct trap_action none = {0};
	long pid = system_call(__NR_getpid, 0, 0, 0, 0, 0);
	long tid = system_call(__NR_gettid, 0, 0, 0, 0, 0);
	system_call(__NR_rt_sigaction, SIGNAL_TRAP, (long)&none, 0, sizeof(none.mask), 0);
	system_call(__NR_tgkill, pid, tid, SIGNAL_TRAP, 0, 0);
}

void rt_trap(int signal, const void *info, void *context)
{
	const struct rt_trap *table = region_at(RT_TRAP_TABLE);
	uint64_t *pc = (uint64_t *)((char *)context + UCONTEXT_PC);
	bool raised = ((const int *)info)[CODE_WORD] > 0;
	uint64_t to = raised ? rt_trap_leads_to(table, *pc - TRAP_ADVANCE) : 0;
	(void)signal;
	if (to)
		*pc = to;
	else if (!raised || !was_moved_already(table, *pc))
		default_action();
}
