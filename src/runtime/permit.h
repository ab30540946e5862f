/* System calls of the runtime's own.
 *
 * A program may come to be confined (seccomp) at any time, and a call that its filter does not know
 * would kill it. So each call is between permit() and permit_end(), and confinement() runs before a
 * call of the program that confines it: it withdraws the permission, and waits for those who are
 * between the two. Either they see that it is withdrawn, or it sees them: both sides write first,
 * and read what the other has written then. */
#pragma once
#include "runtime/region.h"

static inline void permit_end(void)
{
	__atomic_fetch_sub(&region_header()->calling, 1, __ATOMIC_SEQ_CST);
}

/* False: they must not be made. A child that nobody has prepared has no permission: what it sees
 * is its parent's. */
static inline bool permit(uint32_t calls)
{
	struct rt_header *h = region_header();
	if (!region_is_ours() || (h->may & calls) != calls)
		return false;
	__atomic_fetch_add(&h->calling, 1, __ATOMIC_SEQ_CST);
	if ((__atomic_load_n(&h->may, __ATOMIC_SEQ_CST) & calls) == calls)
		return true;
	permit_end();
	return false;
}

/* permit.c: the program is about to make the call. */
void confinement(const struct program_call *call);

static inline bool may_confine(const struct program_call *call)
{
	return call->number == __NR_prctl || call->number == __NR_seccomp;
}
