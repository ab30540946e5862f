#include "runtime/permit.h"

enum {
	SET_SECCOMP = 22, /* of prctl(), with */
	PRCTL_STRICT = 1,
	MODE_STRICT = 0, /* of seccomp() */
	MODE_FILTER = 1,
};

/* Calls in progress are over in microseconds, unless their thread is kept from running. One that
 * a handler has left with siglongjmp is never over. Some tenths of a second. */
enum { PATIENCE = 1 << 26 };

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
	/* On x86-64 strict mode also takes the time-stamp counter away from the thread: probes do
	 * nothing from now on. */
	if (is_strict(c) && region_guard())
		*(volatile uint64_t *)region_guard() = 0;
	for (uint32_t i = 0; i < PATIENCE; i++)
		if (!__atomic_load_n(&h->calling, __ATOMIC_SEQ_CST))
			break;
}
