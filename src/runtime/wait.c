/* Waits: around system calls that may block, and around functions that spin. Only the outermost of
 * nested waits counts. A wait that was left by siglongjmp is recognised by its CFA, as activations
 * are. */
#include "runtime/cells.h"

/* Operations of futex that block. */
enum {
	FUTEX_OP_MASK = 127, /* the operation without its flags */
	FUTEX_OP_WAIT = 0,
	FUTEX_OP_LOCK_PI = 6,
	FUTEX_OP_WAIT_BITSET = 9,
	FUTEX_OP_WAIT_REQUEUE_PI = 11,
	FUTEX_OP_LOCK_PI2 = 13,
};

static bool futex_waits(uint64_t operation)
{
	switch (operation & FUTEX_OP_MASK) {
	case FUTEX_OP_WAIT:
	case FUTEX_OP_LOCK_PI:
	case FUTEX_OP_WAIT_BITSET:
	case FUTEX_OP_WAIT_REQUEUE_PI:
	case FUTEX_OP_LOCK_PI2: return true;
	default: return false;
	}
}

/* What is known about the call that is about to be made, a set of enum rt_call; 0: it does not
 * block. */
static uint32_t known_call(const struct program_call *c)
{
	const struct rt_header *header = region_header();
	uint32_t call = c->number < RT_CALLS ? header->calls[c->number] : 0;
	if (call & RT_CALL_FUTEX && !futex_waits(c->second))
		return 0;
	return call;
}

static uint64_t object_of(const struct program_call *c, uint32_t call)
{
	uint64_t argument = call & RT_CALL_SECOND ? c->second : c->first;
	if (call & RT_CALL_NUMBER)
		return (uint64_t)(int64_t)(int32_t)argument;
	return call & RT_CALL_ADDRESS ? argument : RT_NO_OBJECT;
}

/* Whether the thread is inside a wait. CFAs can be compared only on the same stack: a handler's
 * stack may be anywhere. In the frame that began the wait, a second probe of the same kind shows
 * that the wait was left. */
static bool in_progress(const struct hit *h)
{
	const struct rt_area *a = h->area;
	if (!a->wait_since)
		return false;
	if (area_owns(a, a->wait_cfa) != h->own)
		return true;
	return a->wait_cfa > h->cfa || (a->wait_cfa == h->cfa && a->wait_probe != h->probe->kind);
}

/* A reader sees the state before or after the change. It cannot rely on `busy`: a thread may be
 * preempted anywhere in a hit, and stay off the CPU for long. */
static void begin_wait_change(struct rt_area *a)
{
	a->wait_serial++;
	begin_change();
}

static void end_wait_change(struct rt_area *a)
{
	end_change(a);
	a->wait_serial++;
}

static void begin_wait(const struct hit *h, uint32_t call, uint64_t number, uint64_t object)
{
	struct rt_area *a = h->area;
	begin_wait_change(a);
	a->wait_kind = call & RT_CALL_CLASS;
	a->wait_probe = h->probe->kind;
	a->wait_cfa = h->cfa;
	a->wait_pc = h->probe->pc;
	a->wait_object = object;
	a->wait_bytes = 0;
	a->wait_number = (uint32_t)number;
	a->wait_call = call;
	a->inner_kind = RT_WAIT_NONE;
	a->wait_since = ticks();
	end_wait_change(a);
}

/* The bytes written to a descriptor; NULL if they are not tracked. */
static uint64_t *written_to(struct rt_area *a, uint64_t descriptor)
{
	uint64_t *all = area_at(a, RT_AREA_WRITTEN);
	return descriptor < RT_WAIT_DESCRIPTORS ? &all[descriptor] : NULL;
}

/* Whether the operation that ended with this result was a small one. Updates the bytes written to
 * its descriptor. */
static bool is_small(struct rt_area *a, int64_t result)
{
	if (a->wait_kind == RT_WAIT_BYTES) {
		uint64_t *written =
			a->wait_call & RT_CALL_WRITES ? written_to(a, a->wait_object) : NULL;
		if (written && result > 0)
			*written += (uint64_t)result;
		return result >= 0 && result < RT_SMALL;
	}
	if (likely(!(a->wait_call & (RT_CALL_FLUSHES | RT_CALL_OPENS))))
		return false;
	bool flushes = a->wait_call & RT_CALL_FLUSHES;
	uint64_t *written = written_to(a, flushes ? a->wait_object : (uint64_t)result);
	if (!written)
		return false;
	bool small = flushes && *written < RT_SMALL;
	*written = 0;
	return small;
}

/* Whether the wait in progress ends here. */
static bool is_end_of(const struct hit *h, uint32_t began)
{
	const struct rt_area *a = h->area;
	return a->wait_since && a->wait_probe == began && a->wait_cfa == h->cfa;
}

static void end_wait(const struct hit *h, uint64_t now, bool small)
{
	struct rt_area *a = h->area;
	struct ended_wait w = {a->wait_since, now, a->wait_bytes, small};
	begin_wait_change(a);
	if (a->wait_kind == RT_WAIT_SYNC)
		a->waited_sync += now - a->wait_since;
	else
		a->waited_io += now - a->wait_since;
	if (region_header()->watch_waits)
		count_wait(h, &w);
	a->wait_since = 0;
	end_wait_change(a);
}

static void note_registers(const struct hit *h)
{
	struct rt_area *a = h->area;
	a->call_pc = h->probe->pc;
	a->call_sp = frame_sp(h->frame);
	a->call_fp = frame_fp(h->frame);
	a->call_link = frame_link(h->frame);
}

void block(const struct hit *h)
{
	struct program_call asked = program_call(h->probe, h->frame);
	uint32_t call = known_call(&asked);
	if (!call)
		return;
	note_registers(h);
	if (!in_progress(h)) {
		begin_wait(h, call, asked.number, object_of(&asked, call));
		return;
	}
	h->area->inner_kind = call & RT_CALL_CLASS;
	h->area->inner_cfa = h->cfa;
}

static void count_bytes(struct rt_area *a, uint64_t kind, int64_t result)
{
	if (kind != RT_WAIT_BYTES || result <= 0)
		return;
	a->bytes += (uint64_t)result;
	a->wait_bytes += (uint64_t)result;
}

/* The call's number may be lost by now: on x86-64 the result replaces it. Bytes that a call inside
 * another wait moves belong to that wait. */
void block_done(const struct hit *h)
{
	struct rt_area *a = h->area;
	uint64_t now = ticks();
	int64_t result = frame_result(h->frame);
	if (is_end_of(h, RT_BLOCK)) {
		count_bytes(a, a->wait_kind, result);
		end_wait(h, now, is_small(a, result));
	} else if (a->inner_kind && a->inner_cfa == h->cfa) {
		count_bytes(a, a->inner_kind, result);
		a->inner_kind = RT_WAIT_NONE;
	}
}

/* The probe's constant says whether the function's first argument is the object it waits for. */
void wait(const struct hit *h)
{
	uint64_t object = h->probe->constant ? frame_first(h->frame) : RT_NO_OBJECT;
	if (!in_progress(h))
		begin_wait(h, RT_WAIT_SYNC, RT_NO_CALL, object);
}

void wait_done(const struct hit *h)
{
	if (is_end_of(h, RT_WAIT))
		end_wait(h, ticks(), false);
}
