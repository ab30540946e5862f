/* Waits that have ended, by place and object: struct rt_wait_cell.
 *
 * A cell is complete before the number of cells includes it, and is added to the index last. Only
 * its thread changes its values, one word at a time. Programs repeat themselves, so the cells of
 * the last wait at the same place are tried first. */
#include "runtime/cells.h"

/* A wait that is being added to its cells: one for each subject. */
struct wait_parts {
	struct rt_area *area;
	const struct ended_wait *wait;
	uint64_t pc, object; /* key of the cells */
	uint32_t call;
	uint32_t nth;
	uint16_t *recent; /* RT_WAIT_RECENT numbers */
};

static struct rt_wait_cell *cell_at(struct rt_area *a, uint32_t number)
{
	return (struct rt_wait_cell *)area_at(a, RT_AREA_WAITS) + number % RT_WAIT_CELLS;
}

static bool has_key(const struct rt_wait_cell *c, const struct rt_wait_cell *key)
{
	return c->pc == key->pc && c->object == key->object && c->subject == key->subject &&
	       c->call == key->call;
}

/* Word by word: for a struct assignment, compilers that optimise for size call memcpy(), which does
 * not exist here. */
static void begin_cell(struct rt_wait_cell *c, const struct rt_wait_cell *key)
{
	c->pc = key->pc;
	c->object = key->object;
	c->subject = key->subject;
	c->call = key->call;
	c->count = c->ticks = c->bytes = 0;
	c->small_count = c->small_ticks = 0;
}

/* A new cell; NULL if there is no room. */
static struct rt_wait_cell *add_cell(struct rt_area *a, const struct rt_wait_cell *key,
				     uint16_t *entry)
{
	uint32_t n = a->wait_cells;
	if (n >= (key->object == RT_NO_OBJECT ? RT_WAIT_CELLS : RT_WAIT_OBJECTS))
		return NULL;
	struct rt_wait_cell *c = cell_at(a, n);
	begin_cell(c, key);
	order_stores();
	a->wait_cells = n + 1;
	*entry = (uint16_t)(n + 1);
	return c;
}

static struct rt_wait_cell *find_or_add_cell(struct rt_area *a, const struct rt_wait_cell *key)
{
	uint16_t *index = area_at(a, RT_AREA_WAIT_INDEX);
	uint32_t home = rt_wait_home(key);
	for (uint32_t i = 0; i < RT_WAIT_CHAIN; i++) {
		uint16_t *entry = &index[(home + i) % (1 << RT_WAIT_BITS)];
		if (!*entry)
			return add_cell(a, key, entry);
		struct rt_wait_cell *c = cell_at(a, *entry - 1u);
		if (has_key(c, key))
			return c;
	}
	return NULL;
}

/* The cell of the key, or the one without the object if there is no room; NULL if there is no room
 * for that either. */
static COLD struct rt_wait_cell *find_slowly(const struct wait_parts *p, uint32_t subject)
{
	struct rt_wait_cell key = {
		.pc = p->pc, .object = p->object, .call = p->call, .subject = subject};
	struct rt_wait_cell *c = find_or_add_cell(p->area, &key);
	if (!c) {
		p->area->dropped++;
		key.object = RT_NO_OBJECT;
		c = find_or_add_cell(p->area, &key);
	}
	if (c && p->nth < RT_WAIT_RECENT)
		p->recent[p->nth] = (uint16_t)(c - cell_at(p->area, 0));
	return c;
}

HOT struct rt_wait_cell *find_cell(const struct wait_parts *p, uint32_t subject)
{
	uint32_t number = p->recent[p->nth % RT_WAIT_RECENT];
	struct rt_wait_cell *c = cell_at(p->area, number);
	if (likely(number < p->area->wait_cells && c->subject == subject && c->pc == p->pc &&
		   c->object == p->object && c->call == p->call))
		return c;
	return find_slowly(p, subject);
}

/* Adds the subject's part of the wait, which began at `since`. */
HOT void add_part(struct wait_parts *p, uint32_t subject, uint64_t since)
{
	const struct ended_wait *w = p->wait;
	uint64_t took = w->now > since ? w->now - since : 0;
	struct rt_wait_cell *c = find_cell(p, subject);
	p->nth++;
	if (unlikely(!c))
		return;
	c->count++;
	c->ticks += took;
	c->bytes += w->bytes;
	if (w->small) {
		c->small_count++;
		c->small_ticks += took;
	}
}

/* Adds the wait to the active subjects of a stack. Activations below `cfa` are void. A subject gets
 * its part once, even if it is active several times. */
HOT void add_for_stack(struct wait_parts *p, const struct rt_stack *s, uint64_t cfa)
{
	struct rt_area *a = p->area;
	uint32_t number = s->top;
	for (uint32_t i = 0; number && i < RT_ACTIVATIONS; i++) {
		const struct rt_activation *it = area_activation(a, number);
		number = it->next;
		struct rt_subject_state *state = area_subject(a, it->subject);
		if (it->cfa < cfa || !(it->metrics & 1 << RT_WALL) ||
		    state->waited == a->wait_serial)
			continue;
		state->waited = a->wait_serial;
		uint64_t since = it->start[RT_WALL];
		add_part(p, it->subject, since > p->wait->since ? since : p->wait->since);
	}
}

/* On a stack other than the thread's own, the activations of all its stacks are taken: only a walk
 * could show which stack this is. */
void count_wait(const struct hit *h, const struct ended_wait *w)
{
	struct rt_area *a = h->area;
	struct wait_parts p = {
		.area = a,
		.wait = w,
		.pc = a->wait_pc,
		.object = a->wait_object,
		.call = a->wait_number,
		.recent = a->wait_recent[(a->wait_pc + a->wait_object) / 4 % RT_WAIT_SETS],
	};
	add_part(&p, RT_NO_SUBJECT, w->since);
	if (likely(h->own)) {
		add_for_stack(&p, &a->stacks[0], h->cfa);
		return;
	}
	for (uint32_t i = 0; i < RT_STACKS; i++)
		if (a->stacks[i].top)
			add_for_stack(&p, &a->stacks[i], 0);
}
