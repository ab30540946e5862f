/* Contexts: finding the child of a parent at a site, and making it.
 *
 * Records lie behind each other in the thread's heap; an index, a hash table that grows with them,
 * leads from (parent, site, procedure) to a record. If a signal handler interrupts us and never
 * comes back, a record may be missing in the index: there will be another one for the same.
 *
 * A slot keeps the child that it has until another one was called more often; the others of a site
 * that has several are counted in their records, and found in the table of callees by the code of
 * the program itself. */
#include "runtime/count.h"

enum { INDEX_BITS_MIN = 10, SEEN_BITS_MIN = 6, TAKE_OVER = 8, REMEMBER = TAKE_OVER };

struct edge_key {
	uint64_t parent;
	uint32_t site, procedure;
};

struct seen {
	uint64_t edge, stamp;
};

static uint64_t nobody(void)
{
	return region_base() + RT_NOBODY;
}

static char *heap(const struct counting *c)
{
	return count_at(c, RT_COUNT_CONTEXTS);
}

bool context_is_own(const struct counting *c, uint64_t address)
{
	return address - (uint64_t)heap(c) < c->count->contexts_used && address % 16 == 0;
}

static struct rt_context *record_context(struct rt_record *r)
{
	return r->context ? (struct rt_context *)((char *)r + r->context)
			  : (struct rt_context *)((struct rt_edge *)r)->child;
}

struct rt_context *context_root(const struct counting *c)
{
	return record_context((struct rt_record *)heap(c));
}

static struct edge_key record_key(struct rt_record *r)
{
	if (!r->context) {
		const struct rt_edge *e = (const struct rt_edge *)r;
		return (struct edge_key){e->parent, e->site, e->procedure};
	}
	const struct rt_context *x = record_context(r);
	return (struct edge_key){x->parent, (uint32_t)x->site, (uint32_t)x->procedure};
}

/* ---- the index ---- */

static uint32_t home_of(const struct edge_key *k, uint32_t bits)
{
	uint64_t hash = mix(k->parent, (uint64_t)k->site << 32 | k->procedure);
	return (uint32_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits));
}

/* The entry of the record with this key, or the free one where it belongs. */
static uint32_t *index_entry(const struct counting *c, const struct edge_key *k)
{
	uint32_t *index = count_at(c, RT_COUNT_INDEX), bits = c->count->index_bits;
	uint32_t mask = (1u << bits) - 1, i = home_of(k, bits);
	for (; index[i]; i = (i + 1) & mask) {
		struct edge_key have =
			record_key((struct rt_record *)(heap(c) + index[i] * UINT64_C(16)));
		if (have.parent == k->parent && have.site == k->site &&
		    have.procedure == k->procedure)
			break;
	}
	return &index[i];
}

/* It never gets full, whatever happened to it: looking for something has to end. */
static void put_index(const struct counting *c, uint64_t offset)
{
	struct rt_count *n = c->count;
	struct edge_key k = record_key((struct rt_record *)(heap(c) + offset));
	if (n->index_used >= (1u << n->index_bits) / 8 * 7)
		return;
	uint32_t *entry = index_entry(c, &k);
	n->index_used += !*entry;
	*entry = (uint32_t)(offset / 16);
}

/* All records but the first, the root's. Also if there is none yet, though there are records: in
 * the child of a fork. */
static void grow_index(const struct counting *c)
{
	struct rt_count *n = c->count;
	uint32_t *index = count_at(c, RT_COUNT_INDEX), bits = INDEX_BITS_MIN;
	while (1u << bits <= 2 * n->index_used && bits < RT_INDEX_BITS)
		bits++;
	for (uint32_t i = 0; i < 1u << bits; i++)
		index[i] = 0;
	n->index_bits = bits;
	n->index_used = 0;
	uint64_t at = ((const struct rt_record *)heap(c))->size;
	for (uint32_t size = 1; size && at < n->contexts_used; at += size) {
		put_index(c, at);
		size = ((const struct rt_record *)(heap(c) + at))->size;
	}
}

static struct rt_record *find_record(const struct counting *c, const struct edge_key *k)
{
	if (unlikely(!c->count->index_bits))
		grow_index(c);
	uint32_t entry = *index_entry(c, k);
	return entry ? (struct rt_record *)(heap(c) + entry * UINT64_C(16)) : NULL;
}

static bool index_has_room(const struct counting *c)
{
	uint32_t most = 1u << RT_INDEX_BITS;
	return c->count->index_used < most - most / 8;
}

/* ---- making records ---- */

/* From what all threads may have together. */
static bool grant(struct rt_count *n, uint64_t bytes, bool reserve)
{
	struct rt_header *h = region_header();
	uint64_t more = (bytes + RT_CONTEXT_CHUNK - 1) & ~(uint64_t)(RT_CONTEXT_CHUNK - 1);
	uint64_t limit = h->context_limit + (reserve ? RT_CONTEXT_RESERVE : 0);
	if (__atomic_add_fetch(&h->context_bytes, more, __ATOMIC_RELAXED) > limit) {
		__atomic_fetch_sub(&h->context_bytes, more, __ATOMIC_RELAXED);
		return false;
	}
	n->contexts_granted += more;
	return true;
}

/* Room behind the last record; NULL if there is none. */
static struct rt_record *new_record(const struct counting *c, uint64_t size, bool reserve)
{
	struct rt_count *n = c->count;
	uint64_t end = n->contexts_used + size;
	if (end > RT_CONTEXT_SPACE || !index_has_room(c) ||
	    (end > n->contexts_granted && !grant(n, end - n->contexts_granted, reserve)))
		return NULL;
	return (struct rt_record *)(heap(c) + n->contexts_used);
}

/* The record is complete: readers may see it. */
static void finish_record(const struct counting *c, const struct rt_record *r)
{
	struct rt_count *n = c->count;
	uint64_t offset = (uint64_t)((const char *)r - heap(c));
	order_stores();
	n->contexts_used = offset + r->size;
	if (n->index_used * 2 >= 1u << n->index_bits && n->index_bits < RT_INDEX_BITS)
		grow_index(c);
	else
		put_index(c, offset);
}

static struct rt_record *make_context(const struct counting *c, const struct edge_key *k,
				      bool reserve)
{
	const struct rt_counted *p = counted(k->procedure);
	uint32_t slots = p->sites + 1, words = p->words;
	if (p->sites > RT_COUNTED_SITES_MAX || words > RT_COUNTED_WORDS_MAX)
		return NULL;
	uint32_t at = (uint32_t)(sizeof(struct rt_record) + slots * sizeof(struct rt_context_slot));
	uint32_t size = (at + (uint32_t)sizeof(struct rt_context) + words * 8 + 15) & ~15u;
	struct rt_record *r = new_record(c, size, reserve);
	if (!r)
		return NULL;
	struct rt_context_slot *slot = (struct rt_context_slot *)(r + 1);
	struct rt_context *x = (struct rt_context *)((char *)r + at);
	*r = (struct rt_record){.size = size, .context = at};
	for (uint32_t i = 0; i < slots; i++)
		slot[i] = (struct rt_context_slot){nobody(), 0};
	*x = (struct rt_context){(uint64_t)c->area, k->procedure, k->parent, k->site};
	for (uint32_t i = 0; i < words; i++)
		x->words[i] = 0;
	finish_record(c, r);
	return r;
}

static struct rt_record *make_edge(const struct counting *c, const struct edge_key *k,
				   const struct rt_context *child)
{
	struct rt_edge *e = (struct rt_edge *)new_record(c, sizeof(*e), false);
	if (!e)
		return NULL;
	*e = (struct rt_edge){.record = {.size = sizeof(*e)},
			      .parent = k->parent,
			      .child = (uint64_t)child,
			      .site = k->site,
			      .procedure = k->procedure};
	finish_record(c, &e->record);
	return &e->record;
}

/* ---- folding ---- */

/* The nearest context of this procedure from `x` outwards; NULL if there is none. */
static struct rt_context *same_procedure(struct rt_context *x, uint32_t procedure, uint32_t *depth)
{
	struct rt_context *found = NULL;
	for (*depth = 0; x && *depth < RT_CONTEXT_DEPTH; x = (struct rt_context *)x->parent) {
		++*depth;
		if (!found && x->procedure == procedure)
			found = x;
	}
	return found;
}

static uint64_t edge_to(const struct rt_context *parent, uint32_t site, uint32_t procedure)
{
	return UINT64_C(1) << 63 | parent->procedure << 40 | (uint64_t)site << 24 | procedure;
}

static uint64_t edge_of(const struct rt_context *x)
{
	return edge_to((const struct rt_context *)x->parent, (uint32_t)x->site,
		       (uint32_t)x->procedure);
}

struct seen_set {
	struct seen *table;
	uint32_t bits;
	uint64_t stamp; /* of what is in it this time */
};

/* Where an edge is, or belongs. */
static struct seen *seen_entry(const struct seen_set *s, uint64_t edge)
{
	uint32_t mask = (1u << s->bits) - 1;
	uint32_t i = (uint32_t)((edge * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - s->bits));
	while (s->table[i].stamp == s->stamp && s->table[i].edge != edge)
		i = (i + 1) & mask;
	return &s->table[i];
}

/* The context that a new child folds into: the nearest one of its procedure, if no edge on the way
 * from there to the new child is missing on the way from the root to there. So a path has the edges
 * that the real one has, whatever is inclusive stays exact, and endless recursion has finitely many
 * contexts. (The next one further out has more edges below and fewer above it.) NULL: none. */
static struct rt_context *fold_into(const struct counting *c, struct rt_context *parent,
				    uint32_t site, uint32_t procedure, uint32_t *depth)
{
	struct rt_context *into = same_procedure(parent, procedure, depth);
	struct seen_set s = {count_at(c, RT_COUNT_SEEN), SEEN_BITS_MIN, ++c->count->seen_stamp};
	if (!into)
		return NULL;
	while (1u << s.bits < 2 * *depth)
		s.bits++;
	for (const struct rt_context *x = into; x->parent; x = (struct rt_context *)x->parent)
		*seen_entry(&s, edge_of(x)) = (struct seen){edge_of(x), s.stamp};
	if (seen_entry(&s, edge_to(parent, site, procedure))->stamp != s.stamp)
		return NULL;
	for (const struct rt_context *x = parent; x != into; x = (struct rt_context *)x->parent)
		if (seen_entry(&s, edge_of(x))->stamp != s.stamp)
			return NULL;
	return into;
}

/* NULL if there is no memory, or no end of it. */
static struct rt_record *make_child(const struct counting *c, struct rt_context *parent,
				    const struct edge_key *k)
{
	uint32_t depth;
	struct rt_context *into = fold_into(c, parent, k->site, k->procedure, &depth);
	if (depth >= RT_CONTEXT_DEPTH)
		return NULL;
	return into ? make_edge(c, k, into) : make_context(c, k, false);
}

/* ---- calls ---- */

static struct rt_context_slot *slot_of(struct rt_context *x, uint32_t site)
{
	return (struct rt_context_slot *)x - (site + 1);
}

/* While it changes, the slot is nobody's: handlers do not count there. */
static void take_slot(const struct counting *c, struct rt_context *parent, uint32_t site,
		      const struct rt_context *child, uint64_t calls)
{
	volatile struct rt_context_slot *slot = slot_of(parent, site);
	const struct rt_context *before = (const struct rt_context *)slot->child;
	slot->child = nobody();
	uint64_t counted_so_far = slot->calls;
	slot->calls = calls;
	slot->child = (uint64_t)child;
	if (!counted_so_far)
		return;
	struct edge_key k = {(uint64_t)parent, site, (uint32_t)before->procedure};
	struct rt_record *r = find_record(c, &k);
	*(r ? &r->calls : &c->count->dropped_calls) += counted_so_far;
}

/* If the place is free, and it is called more than now and then: there is not room for all. */
static void remember_callee(const struct counting *c, const struct rt_context *parent,
			    uint32_t site, struct rt_record *r)
{
	const struct rt_context *child = record_context(r);
	uint64_t slot = (uint64_t)parent - site * sizeof(struct rt_context_slot);
	uint64_t home = slot / 16 + child->procedure * RT_CALLEE_STEP;
	struct rt_callee *e = (struct rt_callee *)c->area->callees;
	e += home % (1 << RT_CALLEE_BITS);
	if (e->slot || r->calls < REMEMBER)
		return;
	e->child = (uint64_t)child;
	e->record = (uint64_t)r;
	order_stores();
	e->slot = slot;
}

static void count_call(const struct counting *c, struct rt_context *parent, uint32_t site,
		       struct rt_record *r)
{
	struct rt_context_slot *slot = slot_of(parent, site);
	const struct rt_context *child = record_context(r);
	if (slot->child == (uint64_t)child) {
		add(&slot->calls, 1);
		return;
	}
	add(&r->calls, 1);
	if (slot->child == nobody() || (r->calls % TAKE_OVER == 0 && r->calls > slot->calls))
		take_slot(c, parent, site, child, 0);
	else
		remember_callee(c, parent, site, r);
}

/* Below the root. */
static struct rt_record *find_outermost(const struct counting *c, uint32_t procedure)
{
	struct edge_key k = {(uint64_t)context_root(c), 0, procedure};
	struct rt_record *r = find_record(c, &k);
	return r ? r : make_context(c, &k, true);
}

/* With no memory for the context, the procedure's below the root stands for it, and keeps the slot:
 * the next call shall be quick. */
static struct rt_context *called_without_memory(const struct counting *c, struct rt_context *parent,
						uint32_t site, uint32_t procedure)
{
	struct rt_record *r = find_outermost(c, procedure);
	c->count->dropped_contexts++;
	if (!r)
		return NULL;
	take_slot(c, parent, site, record_context(r), 1);
	return record_context(r);
}

struct rt_context *context_called(const struct counting *c, struct rt_context *parent,
				  uint32_t site, uint32_t procedure)
{
	if (site > counted(parent->procedure)->sites)
		site = 0;
	struct edge_key k = {(uint64_t)parent, site, procedure};
	struct rt_record *r = find_record(c, &k);
	if (unlikely(!r))
		r = parent->parent ? make_child(c, parent, &k) : find_outermost(c, procedure);
	if (unlikely(!r))
		return called_without_memory(c, parent, site, procedure);
	count_call(c, parent, site, r);
	return record_context(r);
}

struct rt_context *context_met(const struct counting *c, uint32_t procedure)
{
	struct rt_record *r = find_outermost(c, procedure);
	if (!r)
		c->count->dropped_contexts++;
	return r ? record_context(r) : NULL;
}
