#include "runtime/permit.h"

enum {
	SET_SECCOMP = 22, /* prctl(PR_SET_SECCOMP), with one of the modes */
	PRCTL_STRICT = 1,
	MODE_STRICT = 0, /* of seccomp() */
	MODE_FILTER = 1,
};

/* Iterations of the wait, some tenths of a second. Calls in progress end within microseconds,
 * unless their thread does not get a CPU. A call that a handler left with siglongjmp never ends. */
enum { WAIT_SPINS_MAX = 1 << 26 };

static bool confines(const struct program_call *c)
{
	uint32_t first = (uint32_t)c->first;
	if (c->number == __NR_prctl)
		return first == SET_SECCOMP;
	return first == MODE_STRICT || first == MODE_FILTER;
}

static bool is_strict(const struct program_call *c)
{
	if (c->number == __NR_prctl)
		return c->second == PRCTL_STRICT;
	return (uint32_t)c->first == MODE_STRICT;
}

COLD void confinement(const struct program_call *c)
{
	struct rt_header *h = region_header();
	if (!confines(c))
		return;
	__atomic_fetch_add(&h->confined, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&h->may, 0, __ATOMIC_SEQ_CST);
	/* On x86-64, strict mode also disables the time-stamp counter for the thread: from now on
	 * probes must do nothing. */
	if (is_strict(c) && region_guard())
		*(volatile uint64_t *)region_guard() = 0;
	for (uint32_t i = 0; i < WAIT_SPINS_MAX; i++)
		if (!__atomic_load_n(&h->calling, __ATOMIC_SEQ_CST))
			break;
}
