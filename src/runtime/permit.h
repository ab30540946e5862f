/* The runtime's own system calls.
 *
 * The program may install a seccomp filter at any time, and a call that the filter does not know
 * would kill it. So each of our calls is between permit() and permit_end(). confinement() runs
 * before a call of the program that installs a filter: it withdraws the permission, and waits for
 * the threads that are between the two. Each side first writes its own word and then reads the
 * other's (sequentially consistent), so either the thread sees that the permission is withdrawn, or
 * confinement() sees the thread. */
#pragma once
#include "runtime/region.h"

static inline void permit_end(void)
{
	__atomic_fetch_sub(&region_header()->calling, 1, __ATOMIC_SEQ_CST);
}

/* False if the calls must not be made. A child that Sonde has not prepared has no permission: the
 * header it sees is its parent's. */
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
