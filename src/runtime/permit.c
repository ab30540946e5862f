#include "runtime/permit.h"

enum {
	SET_SECCOMP = 22, /* of prctl() */
	MODE_STRICT = 0,  /* of seccomp() */
	MODE_FILTER = 1,
};

/* Calls in progress are over in microseconds, unless their thread is kept from running. One that
 * a handler has left with siglongjmp is never over. Some tenths of a second. */
enum { PATIENCE = 1 << 26 };

static bool confines(const struct frame *f)
{
	uint32_t first = (uint32_t)frame_first(f);
	if (frame_call(f) == __NR_prctl)
		return first == SET_SECCOMP;
	return first == MODE_STRICT || first == MODE_FILTER;
}

COLD void confinement(const struct frame *f)
{
	struct rt_header *h = region_header();
	if (!confines(f))
		return;
	__atomic_fetch_add(&h->confined, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&h->may, 0, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < PATIENCE; i++)
		if (!__atomic_load_n(&h->calling, __ATOMIC_SEQ_CST))
			break;
}
