/* The counting state of threads. What is in it: see runtime/abi_count.h. */
#include <sys/mman.h>
#include <unistd.h>

#include "probe/target.h"

enum {
	ROOT_SIZE = sizeof(struct rt_record) + sizeof(struct rt_context_slot) +
		    sizeof(struct rt_context)
};

struct rt_count *contexts_state(const struct target *t, uint32_t slot)
{
	return target_at(t, RT_COUNT_AREA(slot) + RT_COUNT_STATE);
}

bool region_next_data(const struct target *t, uint64_t *from, uint64_t end, uint64_t *to)
{
	off_t data = lseek(t->region_fd, (off_t)*from, SEEK_DATA);
	if (data < 0 || (uint64_t)data >= end)
		return false;
	off_t hole = lseek(t->region_fd, data, SEEK_HOLE);
	*from = (uint64_t)data;
	*to = hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
	return true;
}

struct rt_record *contexts_record(const struct target *t, uint32_t slot, uint64_t *at,
				  uint64_t used)
{
	struct rt_record *r = target_at(t, RT_COUNT_AREA(slot) + RT_COUNT_CONTEXTS + *at);
	if (*at + sizeof(struct rt_edge) > used)
		return NULL;
	uint32_t size = r->size, context = r->context;
	if (size < sizeof(struct rt_edge) || size % 16 || size > used - *at ||
	    (context && (context < sizeof(*r) + sizeof(struct rt_context_slot) || context % 16 ||
			 context + sizeof(struct rt_context) > size)))
		return NULL;
	*at += size;
	return r;
}

bool shadow_walk_next(struct shadow_walk *w)
{
	const struct target *t = w->target;
	uint64_t heap = RT_COUNT_AREA(w->slot) + RT_COUNT_CONTEXTS;
	w->at += w->size;
	w->size = 0;
	w->complete = w->at == w->end;
	if (w->end - w->at < (ptrdiff_t)sizeof(*w->frame))
		return false;
	w->frame = (struct rt_shadow *)w->at;
	uint64_t offset = w->frame->context - t->base - heap;
	if (offset % 16 || offset + sizeof(struct rt_context) > w->used)
		return false;
	const struct rt_context *x = target_at(t, heap + offset);
	const struct rt_counted *table = target_at(t, RT_COUNTED);
	if (!x->procedure || x->procedure >= RT_PROCEDURES)
		return false;
	w->counted = &table[x->procedure];
	uint32_t size = w->counted->frame;
	if (size < sizeof(*w->frame) || size > RT_FRAME_MAX || size % 16 || size > w->end - w->at)
		return false;
	w->size = size;
	return true;
}

void shadow_walk_init(struct shadow_walk *w, const struct target *t, uint32_t slot, uint8_t *from,
		      uint8_t *end)
{
	*w = (struct shadow_walk){.target = t,
				  .slot = slot,
				  .used = contexts_state(t, slot)->contexts_used,
				  .at = from,
				  .end = end};
}

bool contexts_shadow(const struct target *t, uint32_t slot, uint64_t *top, uint64_t *root)
{
	*root = RT_COUNT_AREA(slot) + RT_COUNT_ROOT;
	*top = target_area(t, slot)->top - t->base;
	return *top <= *root && *top >= RT_COUNT_GAP && *top % 16 == 0;
}

static void set_frame(const struct target *t, uint64_t at, uint64_t context)
{
	*(struct rt_shadow *)target_at(t, at) = (struct rt_shadow){
		.context = t->base + context, .key = RT_ROOT_KEY, .entry_sp = RT_ENTRY_UNKNOWN};
}

/* What is no thread's. */
static void prepare_sink(struct target *t)
{
	struct rt_context_slot *slots = target_at(t, RT_SINK);
	struct rt_context *nobody = target_at(t, RT_NOBODY), *sink = target_at(t, RT_SINK);
	nobody->area = sink->area = t->base + RT_SINK_AREA;
	nobody->procedure = sink->procedure = RT_NO_PROCEDURE;
	for (int32_t i = 1; i <= RT_COUNTED_SITES_MAX + 1; i++)
		slots[-i].child = t->base + RT_NOBODY;
	set_frame(t, RT_NO_FRAME, RT_SINK);
	set_frame(t, RT_SINK_FRAME, RT_SINK);
	((struct rt_area *)target_at(t, RT_NO_AREA))->top = t->base + RT_NO_FRAME;
	((struct rt_area *)target_at(t, RT_SINK_AREA))->top = t->base + RT_SINK_FRAME;
}

static void make_root(struct target *t, uint32_t slot)
{
	uint64_t heap = RT_COUNT_AREA(slot) + RT_COUNT_CONTEXTS;
	struct rt_record *r = target_at(t, heap);
	struct rt_context_slot *none = (struct rt_context_slot *)(r + 1);
	struct rt_context *root = (struct rt_context *)(none + 1);
	struct rt_count *n = contexts_state(t, slot);
	*r = (struct rt_record){.size = ROOT_SIZE,
				.context = ROOT_SIZE - sizeof(struct rt_context)};
	none->child = t->base + RT_NOBODY;
	root->area = t->base + RT_AREA(slot);
	n->contexts_used = ROOT_SIZE;
	n->contexts_granted = RT_CONTEXT_CHUNK;
	__atomic_fetch_add(&target_header(t)->context_bytes, RT_CONTEXT_CHUNK, __ATOMIC_RELAXED);
	set_frame(t, RT_COUNT_AREA(slot) + RT_COUNT_ROOT, heap + r->context);
	target_area(t, slot)->top = t->base + RT_COUNT_AREA(slot) + RT_COUNT_ROOT;
}

void contexts_prepare(struct target *t, uint32_t slot)
{
	struct rt_area *a = target_area(t, slot);
	const struct rt_count *n = contexts_state(t, slot);
	if (slot && a->stack_high - a->stack_low > RT_STACK_MAX) {
		a->top = t->base + RT_NO_FRAME;
		return;
	}
	if (!n->contexts_used)
		make_root(t, slot);
	a->count = t->base + RT_COUNT_AREA(slot) + RT_COUNT_STATE;
}

void contexts_begin(struct target *t)
{
	struct rt_header *h = target_header(t);
	if (!h->context_limit)
		h->context_limit = RT_CONTEXT_LIMIT;
	prepare_sink(t);
	t->counting = true;
	for (uint32_t i = 0; i < RT_AREAS; i++)
		if (t->slots[i].tid)
			contexts_prepare(t, i);
}

void contexts_wipe(struct target *t, uint32_t slot)
{
	const struct rt_count *n = contexts_state(t, slot);
	__atomic_fetch_sub(&target_header(t)->context_bytes, n->contexts_granted, __ATOMIC_RELAXED);
	madvise(target_at(t, RT_COUNT_AREA(slot)), RT_COUNT_SIZE, MADV_REMOVE);
	target_area(t, slot)->top = t->base + RT_NO_FRAME;
}
