/* Which fragment a place in code memory belongs to, and which fragment an island in the program
 * leads to. The indexes by address are made again when they are first needed after a change of
 * fragments. */
#include "probe/code/moved.h"

#include <stdlib.h>

#include "base/order.h"

/* A fragment that is in, or a retired one. Both are referred to by number, because the lists may
 * move. */
struct moved_range {
	uint64_t start, size;
	uint32_t number;
	bool retired;
};

struct island {
	uint64_t start, to;
	uint32_t site;
};

struct moved_index {
	bool valid;
	VEC(struct moved_range) ranges; /* ascending, disjoint */
	VEC(struct island) islands;     /* ascending, disjoint */
};

struct moved_index *moved_index_new(void)
{
	return xcalloc(1, sizeof(struct moved_index));
}

void moved_index_free(struct moved_index *in)
{
	vec_free(&in->ranges);
	vec_free(&in->islands);
	free(in);
}

void moved_code_changed(struct target *t)
{
	t->code->moved->valid = false;
}

static void add_site(struct moved_index *in, const struct site *s, uint32_t number)
{
	vec_push(&in->ranges, (struct moved_range){s->address, s->room, number, false});
	vec_each (p, &s->fragment.patches)
		if (p->island)
			vec_push(&in->islands, (struct island){p->va + s->bias, p->to, number});
}

static void make_index(const struct target *t, struct moved_index *in)
{
	vec_clear(&in->ranges);
	vec_clear(&in->islands);
	for (uint32_t i = 0; i < t->code->sites.len; i++)
		if (t->code->sites.data[i].address)
			add_site(in, &t->code->sites.data[i], i);
	for (uint32_t i = 0; i < t->code->retired.len; i++) {
		const struct retired *r = &t->code->retired.data[i];
		vec_push(&in->ranges, (struct moved_range){r->start, r->size, i, true});
	}
	order_by_address(in->ranges.data, in->ranges.len, sizeof(*in->ranges.data),
			 offsetof(struct moved_range, start));
	order_by_address(in->islands.data, in->islands.len, sizeof(*in->islands.data),
			 offsetof(struct island, start));
	in->valid = true;
}

bool moved_code_at(const struct target *t, uint64_t pc, struct moved_code *out)
{
	struct moved_index *in = t->code->moved;
	if (!in->valid)
		make_index(t, in);
	uint32_t n = ORDER_UP_TO(in->ranges.data, in->ranges.len, start, pc);
	const struct moved_range *r = n ? &in->ranges.data[n - 1] : NULL;
	if (!r || pc - r->start >= r->size)
		return false;
	if (r->retired) {
		const struct retired *k = &t->code->retired.data[r->number];
		*out = (struct moved_code){&k->fragment, r->start, k->bias, k->site};
	} else {
		const struct site *s = &t->code->sites.data[r->number];
		*out = (struct moved_code){&s->fragment, r->start, s->bias, r->number};
	}
	return true;
}

uint64_t island_leads_to(const struct target *t, uint64_t pc, uint32_t *site)
{
	struct moved_index *in = t->code->moved;
	if (!in->valid)
		make_index(t, in);
	uint32_t n = ORDER_UP_TO(in->islands.data, in->islands.len, start, pc);
	const struct island *i = n ? &in->islands.data[n - 1] : NULL;
	if (!i || i->start != pc)
		return 0;
	*site = i->site;
	return i->to;
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

/* Does not use the region: the process may have ended, while samples of it are still being
 * processed. */
static bool is_ours(const struct target *t, uint64_t pc)
{
	if (pc - t->region.text < t->region.text_size)
		return true;
	vec_each (r, &t->code->pool.regions)
		if (pc >= r->start && pc < r->end)
			return true;
	return false;
}

bool to_nearest_original(const struct target *t, uint64_t *pc)
{
	struct moved_code m;
	uint32_t ignored;
	uint64_t va, to = island_leads_to(t, *pc, &ignored);
	if (to)
		*pc = to;
	if (!is_ours(t, *pc))
		return true;
	if (!moved_code_at(t, *pc, &m) ||
	    !fragment_nearest(m.fragment, (uint32_t)(*pc - m.start), &va))
		return false;
	*pc = va + m.bias;
	return true;
}
