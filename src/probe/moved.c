/* Which fragment a place in code memory belongs to: an index by address, made anew when it is first
 * needed after fragments have come or gone. */
#include <stdlib.h>

#include "base/order.h"
#include "probe/target.h"

/* A fragment that is in, or a retired one. Both are named by number: the lists may move. */
struct moved_range {
	uint64_t start, size;
	uint32_t number;
	bool retired;
};

struct moved_index {
	bool good;
	VEC(struct moved_range) ranges; /* ascending, apart from each other */
};

struct moved_index *moved_index_new(void)
{
	return xcalloc(1, sizeof(struct moved_index));
}

void moved_index_free(struct moved_index *in)
{
	vec_free(&in->ranges);
	free(in);
}

void moved_code_changed(struct target *t)
{
	t->moved->good = false;
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct moved_range *)a)->start;
	uint64_t y = ((const struct moved_range *)b)->start;
	return (x > y) - (x < y);
}

static void make_index(const struct target *t, struct moved_index *in)
{
	vec_clear(&in->ranges);
	for (uint32_t i = 0; i < t->sites.len; i++) {
		const struct site *s = &t->sites.data[i];
		if (s->address)
			vec_push(&in->ranges, (struct moved_range){s->address, s->room, i, false});
	}
	for (uint32_t i = 0; i < t->retired.len; i++) {
		const struct retired *r = &t->retired.data[i];
		vec_push(&in->ranges, (struct moved_range){r->start, r->size, i, true});
	}
	if (in->ranges.len)
		qsort(in->ranges.data, in->ranges.len, sizeof(*in->ranges.data), by_start);
	in->good = true;
}

bool moved_code_at(const struct target *t, uint64_t pc, struct moved_code *out)
{
	struct moved_index *in = t->moved;
	if (!in->good)
		make_index(t, in);
	uint32_t n = ORDER_UP_TO(in->ranges.data, in->ranges.len, start, pc);
	const struct moved_range *r = n ? &in->ranges.data[n - 1] : NULL;
	if (!r || pc - r->start >= r->size)
		return false;
	if (r->retired) {
		const struct retired *k = &t->retired.data[r->number];
		*out = (struct moved_code){&k->fragment, r->start, k->bias, k->site};
	} else {
		const struct site *s = &t->sites.data[r->number];
		*out = (struct moved_code){&s->fragment, r->start, s->bias, r->number};
	}
	return true;
}

bool to_original(const struct target *t, uint64_t *pc, bool *probed)
{
	struct moved_code m;
	struct thread_place at;
	if (!moved_code_at(t, *pc, &m) ||
	    !fragment_original(m.fragment, (uint32_t)(*pc - m.start), &at))
		return false;
	*pc = at.va + m.bias;
	*probed = at.probed;
	return true;
}

/* The process may be gone, and its region with it: samples of it are still on their way. */
static bool is_ours(const struct target *t, uint64_t pc)
{
	if (pc - t->text < t->text_size)
		return true;
	vec_each (r, &t->pool.regions)
		if (pc >= r->start && pc < r->end)
			return true;
	return false;
}

bool engine_original(const struct target *t, uint64_t *pc)
{
	struct moved_code m;
	uint64_t va;
	if (!is_ours(t, *pc))
		return true;
	if (!moved_code_at(t, *pc, &m) ||
	    !fragment_nearest(m.fragment, (uint32_t)(*pc - m.start), &va))
		return false;
	*pc = va + m.bias;
	return true;
}
