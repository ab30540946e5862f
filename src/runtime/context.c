/* Contexts: finding the child of a parent at a site, and making it.
 *
 * Records are consecutive in the thread's heap. An index, a hash table that grows with them, leads
 * from (parent, site, function) to a context or an edge. If a signal handler interrupts us and
 * never returns, a record may be missing in the index: then a second one is made for the same key.
 *
 * A slot keeps its child until another callee of the site was called more often. The other callees
 * of the site are counted in their records, and the code of the program finds them in the table of
 * callees.
 *
 * The number of paths is limited in two steps. Above the first limit paths are merged: what a
 * context calls in one loop has one context for each function, whatever the site. So inclusive
 * figures stay exact for functions and loops, and for the edges between them. Above the second
 * limit, paths are cut. */
#include "runtime/count.h"

enum {
	INDEX_BITS_MIN = 10,
	SEEN_BITS_MIN = 6,
	TAKE_OVER_PERIOD = 8, /* calls of a callee after which it may take over the slot */
	CALLS_TO_REMEMBER = TAKE_OVER_PERIOD, /* calls of a callee before it gets into the table of
						 callees */
};

/* How many contexts of a path are kept when the room is used up. The more memory is taken beyond
 * the room, the fewer are kept: see depth_kept(). */
enum { CUT_DEPTH = 16 };

struct edge_key {
	uint64_t parent;
	uint32_t site, function;
};
/* In a key, in place of a site: any site in this loop (its number + 1), or in no loop (0). */
#define BY_LOOP (UINT32_C(1) << 31)

struct seen {
	uint64_t edge, stamp;
};

static uint64_t nobody(void)
{
	return region_base() + RT_NOBODY;
}

static char *heap(const struct count_event *c)
{
	return count_at(c, RT_COUNT_CONTEXTS);
}

bool context_is_own(const struct count_event *c, uint64_t address)
{
	return address - (uint64_t)heap(c) < c->count->contexts_used && address % 16 == 0;
}

static struct rt_context *context_in(struct rt_record *r)
{
	return (struct rt_context *)((char *)r + r->context);
}

struct rt_context *context_root(const struct count_event *c)
{
	return context_in((struct rt_record *)heap(c));
}

/* The key's site by loop, for merged paths. */
static uint32_t by_loop(const struct rt_context *parent, uint32_t site)
{
	return BY_LOOP | site_loop(counted(parent->function), site);
}

/* ---- the index ---- */

/* What an index entry leads to: a context, or an edge to one. */
struct child {
	struct rt_context *context;
	uint64_t *calls; /* of (parent, site, function), less those in the slot */
};

/* An index entry has the hash in its upper half. The lower half is the offset of the context or
 * edge in the heap, in units of 8; this bit is set for an edge. (All offsets are multiples of
 * 16.) */
#define ENTRY_EDGE UINT32_C(1)

static uint32_t hash_of(const struct edge_key *k)
{
	uint64_t hash = mix(mix(0, k->parent), (uint64_t)k->site << 32 | k->function);
	return (uint32_t)((hash * RT_HASH_FACTOR) >> 32);
}

static void *entry_record(const struct count_event *c, uint64_t entry)
{
	return heap(c) + ((uint32_t)entry & ~ENTRY_EDGE) * UINT64_C(8);
}

static bool entry_has_key(const struct count_event *c, uint64_t entry, const struct edge_key *k)
{
	if (entry & ENTRY_EDGE) {
		const struct rt_edge *e = entry_record(c, entry);
		return e->parent == k->parent && e->site == k->site && e->function == k->function;
	}
	const struct rt_context *x = entry_record(c, entry);
	uint32_t site = (uint32_t)x->site;
	if (x->parent != k->parent || x->function != k->function)
		return false;
	return (k->site & BY_LOOP ? by_loop((struct rt_context *)k->parent, site) : site) ==
	       k->site;
}

/* The entry with this key, or the free one where it belongs. A record is read only if the whole
 * hash matches. */
static uint64_t *index_entry(const struct count_event *c, const struct edge_key *k, uint32_t hash)
{
	uint64_t *index = count_at(c, RT_COUNT_INDEX);
	uint32_t bits = c->count->index_bits, mask = (1u << bits) - 1, i = hash >> (32 - bits);
	while (index[i] && (index[i] >> 32 != hash || !entry_has_key(c, index[i], k)))
		i = (i + 1) & mask;
	return &index[i];
}

/* The index never gets full, even if its contents were overwritten: otherwise a search would not
 * end. */
static void put_key(const struct count_event *c, const struct edge_key *k, uint32_t place)
{
	struct rt_count *n = c->count;
	uint32_t hash = hash_of(k);
	if (n->index_used >= (1u << n->index_bits) / 8 * 7)
		return;
	uint64_t *entry = index_entry(c, k, hash);
	if (*entry)
		return;
	n->index_used++;
	*entry = (uint64_t)hash << 32 | place;
}

static void put_index(const struct count_event *c, struct rt_record *r)
{
	uint32_t place = (uint32_t)(((char *)r - heap(c) + r->context) / 8);
	if (!r->context) {
		const struct rt_edge *e = (const struct rt_edge *)r;
		struct edge_key k = {e->parent, e->site, e->function};
		put_key(c, &k, place | ENTRY_EDGE);
		return;
	}
	const struct rt_context *x = context_in(r);
	struct edge_key k = {x->parent, (uint32_t)x->site, (uint32_t)x->function};
	put_key(c, &k, place);
	if (!c->count->merging)
		return;
	k.site = by_loop((struct rt_context *)k.parent, k.site);
	put_key(c, &k, place);
}

/* Builds the index of all records but the first, the root's. It is also needed in the child of a
 * fork, which has records but no index yet. */
static void make_index(const struct count_event *c)
{
	struct rt_count *n = c->count;
	uint64_t *index = count_at(c, RT_COUNT_INDEX);
	uint32_t bits = INDEX_BITS_MIN;
	while (1u << bits <= 2 * n->index_used && bits < RT_INDEX_BITS)
		bits++;
	for (uint32_t i = 0; i < 1u << bits; i++)
		index[i] = 0;
	n->index_bits = bits;
	n->index_used = 0;
	uint64_t at = ((const struct rt_record *)heap(c))->size;
	for (uint32_t size = 1; size && at < n->contexts_used; at += size) {
		put_index(c, (struct rt_record *)(heap(c) + at));
		size = ((const struct rt_record *)(heap(c) + at))->size;
	}
}

static struct child find_child(const struct count_event *c, const struct edge_key *k)
{
	if (unlikely(!c->count->index_bits))
		make_index(c);
	uint64_t entry = *index_entry(c, k, hash_of(k));
	if (!entry)
		return (struct child){NULL, NULL};
	if (entry & ENTRY_EDGE) {
		struct rt_edge *e = entry_record(c, entry);
		return (struct child){(struct rt_context *)e->child, &e->calls};
	}
	struct rt_context *x = entry_record(c, entry);
	return (struct child){x, &x->calls};
}

enum { INDEX_USED_MAX = (1 << RT_INDEX_BITS) / 8 * 7 };

static bool index_has_room(const struct count_event *c)
{
	return c->count->index_used < INDEX_USED_MAX;
}

/* Whether there is still room for everything that cannot be merged. */
static bool index_has_slack(const struct count_event *c)
{
	return c->count->index_used < INDEX_USED_MAX / 2;
}

/* ---- making records ---- */

/* Takes memory from the amount that all threads share. */
static void take_bytes(struct rt_count *n, uint64_t bytes)
{
	uint64_t more = (bytes + RT_CONTEXT_CHUNK - 1) & ~(uint64_t)(RT_CONTEXT_CHUNK - 1);
	__atomic_fetch_add(&region_header()->context_bytes, more, __ATOMIC_RELAXED);
	n->contexts_granted += more;
}

static uint64_t context_bytes(void)
{
	return __atomic_load_n(&region_header()->context_bytes, __ATOMIC_RELAXED);
}

/* Whether paths have to be merged. */
static bool must_merge(const struct count_event *c)
{
	return context_bytes() > region_header()->context_limit || !index_has_slack(c);
}

/* Room after the last record; NULL if there is none. */
static struct rt_record *new_record(const struct count_event *c, uint64_t size)
{
	struct rt_count *n = c->count;
	uint64_t end = n->contexts_used + size;
	if (end > RT_CONTEXT_SPACE || !index_has_room(c))
		return NULL;
	if (end > n->contexts_granted)
		take_bytes(n, end - n->contexts_granted);
	return (struct rt_record *)(heap(c) + n->contexts_used);
}

/* Makes a complete record visible to readers. */
static void finish_record(const struct count_event *c, struct rt_record *r)
{
	struct rt_count *n = c->count;
	order_stores();
	n->contexts_used = (uint64_t)((char *)r - heap(c)) + r->size;
	if (n->index_used * 2 >= 1u << n->index_bits && n->index_bits < RT_INDEX_BITS)
		make_index(c);
	else
		put_index(c, r);
}

/* A function without a frame calls nothing, and so has no slots. */
static struct child make_context(const struct count_event *c, const struct edge_key *k)
{
	const struct rt_counted *p = counted(k->function);
	uint32_t slots = p->frame ? p->sites + 1 : 0, words = p->words;
	if (p->sites > RT_COUNTED_SITES_MAX || words > RT_COUNTED_WORDS_MAX)
		return (struct child){NULL, NULL};
	uint32_t at = (uint32_t)(sizeof(struct rt_record) + slots * sizeof(struct rt_context_slot));
	uint32_t size = (at + (uint32_t)sizeof(struct rt_context) + words * 8 + 15) & ~15u;
	struct rt_record *r = new_record(c, size);
	if (!r)
		return (struct child){NULL, NULL};
	struct rt_context_slot *slot = (struct rt_context_slot *)(r + 1);
	struct rt_context *x = (struct rt_context *)((char *)r + at);
	*r = (struct rt_record){.size = size, .context = at};
	for (uint32_t i = 0; i < slots; i++)
		slot[i] = (struct rt_context_slot){nobody(), 0};
	*x = (struct rt_context){.area = (uint64_t)c->area,
				 .function = k->function,
				 .parent = k->parent,
				 .site = k->site};
	for (uint32_t i = 0; i < words; i++)
		x->words[i] = 0;
	finish_record(c, r);
	return (struct child){x, &x->calls};
}

static struct child make_edge(const struct count_event *c, const struct edge_key *k,
			      struct rt_context *child)
{
	struct rt_edge *e = child ? (struct rt_edge *)new_record(c, sizeof(*e)) : NULL;
	if (!e)
		return (struct child){NULL, NULL};
	*e = (struct rt_edge){.record = {.size = sizeof(*e)},
			      .parent = k->parent,
			      .child = (uint64_t)child,
			      .site = k->site,
			      .function = k->function};
	finish_record(c, &e->record);
	return (struct child){child, &e->calls};
}

/* ---- folding ---- */

/* The nearest context of this function from `x` outwards; NULL if there is none. */
static struct rt_context *same_function(struct rt_context *x, uint32_t function, uint32_t *depth)
{
	struct rt_context *found = NULL;
	for (*depth = 0; x && *depth < RT_CONTEXT_DEPTH; x = (struct rt_context *)x->parent) {
		++*depth;
		if (!found && x->function == function)
			found = x;
	}
	return found;
}

struct seen_set {
	struct seen *table;
	uint32_t bits;
	bool by_loop;
	uint64_t stamp; /* entries with another stamp are free */
};

/* An edge as one word: numbers of functions, sites and loops are below 2^20. */
static uint64_t edge_to(const struct seen_set *s, const struct rt_context *parent, uint32_t site,
			uint32_t function)
{
	uint64_t at = s->by_loop ? site_loop(counted(parent->function), site) : site;
	return UINT64_C(1) << 63 | parent->function << 40 | at << 20 | function;
}

static uint64_t edge_of(const struct seen_set *s, const struct rt_context *x)
{
	return edge_to(s, (const struct rt_context *)x->parent, (uint32_t)x->site,
		       (uint32_t)x->function);
}

/* The entry of an edge, or the free one where it belongs. */
static struct seen *seen_entry(const struct seen_set *s, uint64_t edge)
{
	uint32_t mask = (1u << s->bits) - 1;
	uint32_t i = (uint32_t)((edge * RT_HASH_FACTOR) >> (64 - s->bits));
	while (s->table[i].stamp == s->stamp && s->table[i].edge != edge)
		i = (i + 1) & mask;
	return &s->table[i];
}

/* The context that a new child folds into, or NULL: the nearest context of its function, if every
 * edge on the path from there to the new child also occurs on the path from the root to there. So
 * the folded path has the same set of edges as the real one, inclusive figures stay exact, and
 * endless recursion has finitely many contexts. (A context further out need not be tried: it has
 * more edges below and fewer above it.) When paths are merged, edges from the same loop count as
 * equal. */
static struct rt_context *fold_into(const struct count_event *c, struct rt_context *into,
				    const struct edge_key *k, uint32_t depth)
{
	struct rt_context *parent = (struct rt_context *)k->parent;
	struct seen_set s = {.table = count_at(c, RT_COUNT_SEEN),
			     .bits = SEEN_BITS_MIN,
			     .by_loop = c->count->merging,
			     .stamp = ++c->count->seen_stamp};
	while (1u << s.bits < 2 * depth)
		s.bits++;
	for (const struct rt_context *x = into; x->parent; x = (struct rt_context *)x->parent)
		*seen_entry(&s, edge_of(&s, x)) = (struct seen){edge_of(&s, x), s.stamp};
	if (seen_entry(&s, edge_to(&s, parent, k->site, k->function))->stamp != s.stamp)
		return NULL;
	for (const struct rt_context *x = parent; x != into; x = (struct rt_context *)x->parent)
		if (seen_entry(&s, edge_of(&s, x))->stamp != s.stamp)
			return NULL;
	return into;
}

/* ---- merging ---- */

/* From now on the index also has contexts by the loop they are called in. */
static void begin_merging(const struct count_event *c)
{
	c->count->merging = 1;
	c->count->index_used *= 2;
	make_index(c);
}

/* How many contexts of a path are kept, not counting the root: all while there is room, and none
 * once a quarter more than the room is taken. */
static uint32_t depth_kept(const struct count_event *c)
{
	uint64_t taken = context_bytes(), room = region_header()->context_room;
	uint64_t most = room + room / 4;
	if (!index_has_slack(c) || taken >= most)
		return 0;
	return taken <= room ? RT_CONTEXT_DEPTH - 2
			     : (uint32_t)((most - taken) * CUT_DEPTH / (most - room));
}

/* Cuts a path that is too long: the new context is a child of the outermost contexts only, at the
 * site where the path leaves them. So their figures are exact, those of the contexts left out are
 * too small, and none is too large. */
static struct child make_cut(const struct count_event *c, const struct edge_key *k, uint32_t cut)
{
	struct rt_context *x = (struct rt_context *)k->parent;
	while (cut-- > 1)
		x = (struct rt_context *)x->parent;
	struct edge_key kept = {x->parent, (uint32_t)x->site, k->function};
	struct child there = find_child(c, &kept);
	if (!there.context)
		there = make_context(c, &kept);
	return make_edge(c, k, there.context);
}

/* The child where paths have to be merged. The first of these that is possible: the context of the
 * same function that is called in the same loop; a new context, if the path is short enough; the
 * nearest context of the function on the path; a context with a shorter path. */
static struct child merge(const struct count_event *c, const struct edge_key *k,
			  struct rt_context *same, uint32_t depth)
{
	struct edge_key alike = {k->parent, by_loop((struct rt_context *)k->parent, k->site),
				 k->function};
	struct rt_context *x = find_child(c, &alike).context;
	uint32_t kept = depth_kept(c);
	if (!x && depth - 1 <= kept)
		return make_context(c, k);
	if (x) {
		c->count->merged++;
		return make_edge(c, k, x);
	}
	c->count->cut++;
	return same ? make_edge(c, k, same) : make_cut(c, k, depth - 1 - kept);
}

/* The context is NULL if there is no memory at all. */
static struct child make_child(const struct count_event *c, const struct edge_key *k)
{
	uint32_t depth;
	struct rt_context *same =
		same_function((struct rt_context *)k->parent, k->function, &depth);
	bool merges = must_merge(c) || depth >= RT_CONTEXT_DEPTH;
	if (unlikely(merges && !c->count->merging))
		begin_merging(c);
	struct rt_context *into = same ? fold_into(c, same, k, depth) : NULL;
	if (into)
		return make_edge(c, k, into);
	return merges ? merge(c, k, same, depth) : make_context(c, k);
}

/* ---- calls ---- */

static struct rt_context_slot *slot_of(struct rt_context *x, uint32_t site)
{
	return (struct rt_context_slot *)x - (site + 1);
}

/* Gives the slot to another child. During the change it leads to `nobody`, so that signal handlers
 * do not count there. */
static void take_slot(const struct count_event *c, struct rt_context *parent, uint32_t site,
		      const struct rt_context *child)
{
	volatile struct rt_context_slot *slot = slot_of(parent, site);
	const struct rt_context *before = (const struct rt_context *)slot->child;
	slot->child = nobody();
	uint64_t counted_so_far = slot->calls;
	slot->calls = 0;
	slot->child = (uint64_t)child;
	if (!counted_so_far)
		return;
	struct edge_key k = {(uint64_t)parent, site, (uint32_t)before->function};
	uint64_t *calls = find_child(c, &k).calls;
	*(calls ? calls : &c->count->dropped_calls) += counted_so_far;
}

static uint32_t site_in(const struct rt_context *parent, uint32_t site)
{
	return site > counted(parent->function)->sites ? 0 : site;
}

static uint64_t slot_address(const struct rt_context *parent, uint32_t site)
{
	return (uint64_t)parent - site * sizeof(struct rt_context_slot);
}

/* Adds the callee to the table if its entry is free, and only if it is called more than
 * occasionally: there is not room for all. */
static void remember(const struct count_event *c, uint64_t slot, uint64_t distance,
		     const struct child *child)
{
	uint64_t home = slot / 16 + child->context->function * RT_CALLEE_STEP + distance;
	struct rt_callee *e = (struct rt_callee *)c->area->callees;
	e += home % (1 << RT_CALLEE_BITS);
	if (e->slot || *child->calls < CALLS_TO_REMEMBER)
		return;
	e->child = (uint64_t)child->context;
	e->calls = (uint64_t)child->calls;
	order_stores();
	e->slot = slot;
}

void context_remember_jump(const struct count_event *c, const struct rt_context *parent,
			   uint32_t site, struct rt_context *reached, uint32_t place,
			   uint64_t *times)
{
	uint64_t distance = place & ~RT_PLACE;
	struct child child = {reached, times};
	if (distance < 1 << RT_CALLEE_BITS)
		remember(c, slot_address(parent, site_in(parent, site)) + RT_CALLEE_JUMPED,
			 distance, &child);
}

static void count_call(const struct count_event *c, struct rt_context *parent, uint32_t site,
		       const struct child *child)
{
	struct rt_context_slot *slot = slot_of(parent, site);
	if (slot->child == (uint64_t)child->context) {
		add(&slot->calls, 1);
		return;
	}
	add(child->calls, 1);
	if (slot->child == nobody() ||
	    (*child->calls % TAKE_OVER_PERIOD == 0 && *child->calls > slot->calls))
		take_slot(c, parent, site, child->context);
	else
		remember(c, slot_address(parent, site), 0, child);
}

/* A function with unknown callers: a child of the root. */
static struct child find_outermost(const struct count_event *c, uint32_t function)
{
	struct edge_key k = {(uint64_t)context_root(c), 0, function};
	struct child there = find_child(c, &k);
	return there.context ? there : make_context(c, &k);
}

static struct child find_or_make_child(const struct count_event *c, const struct rt_context *parent,
				       uint32_t site, uint32_t function)
{
	struct edge_key k = {(uint64_t)parent, site, function};
	struct child child = find_child(c, &k);
	if (unlikely(!child.context))
		child = parent->parent ? make_child(c, &k) : find_outermost(c, function);
	if (unlikely(!child.context))
		c->count->dropped_contexts++;
	return child;
}

struct rt_context *context_called(const struct count_event *c, struct rt_context *parent,
				  uint32_t site, uint32_t function)
{
	site = site_in(parent, site);
	struct child child = find_or_make_child(c, parent, site, function);
	if (likely(child.context))
		count_call(c, parent, site, &child);
	return child.context;
}

struct rt_context *context_reached(const struct count_event *c, const struct rt_context *parent,
				   uint32_t site, uint32_t function)
{
	return find_or_make_child(c, parent, site_in(parent, site), function).context;
}

struct rt_context *context_met(const struct count_event *c, uint32_t function)
{
	struct rt_context *x = find_outermost(c, function).context;
	c->count->dropped_contexts += !x;
	return x;
}
