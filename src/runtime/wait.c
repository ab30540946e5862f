/* Waiting: around system calls that may block, and around functions that wait by spinning. The
 * outermost counts. A wait that was left by siglongjmp is recognised by its CFA, as activations
 * are.
 */
#include "runtime/hit.h"

/* Operations of futex that wait. */
enum {
	OPERATION = 127, /* without flags */
	WAIT = 0,
	LOCK_PI = 6,
	WAIT_BITSET = 9,
	WAIT_REQUEUE_PI = 11,
	LOCK_PI2 = 13,
};

static bool futex_waits(uint64_t operation)
{
	switch (operation & OPERATION) {
	case WAIT:
	case LOCK_PI:
	case WAIT_BITSET:
	case WAIT_REQUEUE_PI:
	case LOCK_PI2: return true;
	default: return false;
	}
}

static uint32_t classify(const struct hit *h)
{
	const struct rt_header *header = region_header();
	uint64_t number = frame_call(h->frame);
	uint32_t class = number < sizeof(header->calls) ? header->calls[number] : RT_WAIT_NONE;
	if (class == RT_WAIT_SYNC && !futex_waits(frame_operation(h->frame)))
		return RT_WAIT_NONE;
	return class;
}

/* Stacks can be compared only if they are the same: a handler's may lie anywhere. In the frame that
 * began to wait, the same kind of probe comes again only if the wait was left. */
static bool in_progress(const struct hit *h)
{
	const struct rt_area *a = h->area;
	if (!a->wait_since)
		return false;
	if (area_owns(a, a->wait_cfa) != h->own)
		return true;
	return a->wait_cfa > h->cfa || (a->wait_cfa == h->cfa && a->wait_probe != h->probe->kind);
}

static void begin_wait(const struct hit *h, uint32_t kind)
{
	struct rt_area *a = h->area;
	a->wait_kind = kind;
	a->wait_probe = h->probe->kind;
	a->wait_cfa = h->cfa;
	a->inner_kind = RT_WAIT_NONE;
	a->wait_since = ticks();
}

/* True if it was this wait that ends. */
static bool end_wait(const struct hit *h, uint32_t began)
{
	struct rt_area *a = h->area;
	uint64_t now = ticks();
	if (!a->wait_since || a->wait_probe != began || a->wait_cfa != h->cfa)
		return false;
	if (a->wait_kind == RT_WAIT_SYNC)
		a->waited_sync += now - a->wait_since;
	else
		a->waited_io += now - a->wait_since;
	a->wait_since = 0;
	return true;
}

void block(const struct hit *h)
{
	uint32_t kind = classify(h);
	if (kind == RT_WAIT_NONE)
		return;
	if (!in_progress(h)) {
		begin_wait(h, kind);
		return;
	}
	h->area->inner_kind = kind;
	h->area->inner_cfa = h->cfa;
}

/* The number may be gone by now: on x86-64 the result takes its place. */
void block_done(const struct hit *h)
{
	struct rt_area *a = h->area;
	uint32_t kind = RT_WAIT_NONE;
	if (end_wait(h, RT_BLOCK)) {
		kind = a->wait_kind;
	} else if (a->inner_kind && a->inner_cfa == h->cfa) {
		kind = (uint32_t)a->inner_kind;
		a->inner_kind = RT_WAIT_NONE;
	}
	if (kind == RT_WAIT_BYTES && frame_result(h->frame) > 0)
		a->bytes += (uint64_t)frame_result(h->frame);
}

void wait(const struct hit *h)
{
	if (!in_progress(h))
		begin_wait(h, RT_WAIT_SYNC);
}

void wait_done(const struct hit *h)
{
	end_wait(h, RT_WAIT);
}
