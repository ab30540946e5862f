/* Adopting activations that are already running when the code that counts them goes in. They are
 * found on the stacks of the stopped threads, and get what they would have if they had been counted
 * from the beginning: contexts below those of their callers, frames on the shadow stack and, if the
 * thread is in the middle of its function, values in held registers. What they did before is not
 * counted. The place where control appears in a context is noted (struct adopted_at), so that the
 * counters can be solved (counters/solve.h).
 *
 * What is done depends on where the activation is:
 *
 *	in a call                    its frame has the key of the call, and it returns as usual
 *	about to enter, or to land   the patch there leads to the entry or landing probes
 *	about to leave               it is not adopted
 *	elsewhere in the middle      it continues in the moved code
 *
 * In a running loop, the iteration in progress is the first one of its trip count. It is not in the
 * other counts, so the header's counter starts with one less. */
#include "probe/stop/adopt_counted.h"

#include "counters/where.h"
#include "probe/code/counters.h"
#include "probe/code/sites.h"
#include "probe/region/areas.h"
#include "probe/region/contexts.h"
#include "probe/region/region_file.h"

enum { ROOT = 0, MADE_NONE = UINT32_MAX };

/* A context that is made here. The first one in the list is the root's. */
struct made_context {
	uint64_t address;
	uint64_t words; /* offset of its counters in `records` */
	uint32_t parent, site, function;
};

struct new_frame {
	uint64_t words[RT_FRAME_MAX / 8]; /* a struct rt_shadow */
	uint32_t size;
};

static struct rt_shadow *shadow_of(struct new_frame *f)
{
	return (struct rt_shadow *)f->words;
}

/* The plans of functions that threads are in, for all threads. */
struct plans {
	struct target *target;
	struct arena arena;
	struct hashmap at; /* index of the site -> list */
	VEC(const struct counters *) list;
};

/* What is made for one thread. */
struct adoption {
	struct target *target;
	struct plans *plans;
	uint32_t slot; /* RT_AREAS: the thread does not count */
	struct rt_count state;
	uint64_t top;         /* offset of the innermost frame in the region */
	VEC(uint8_t) records; /* new ones, to follow those in the heap */
	VEC(struct made_context) made;
	struct hashmap at; /* hash of parent, site and function -> made */
	VEC(struct new_frame) frames;
};

/* A running activation, found on a stack. */
struct live_frame {
	const struct site *site;
	const struct counters *counters;
	uint32_t call;  /* site of the call that it is in; 0: none */
	uint32_t block; /* block that it is in */
	uint64_t va;    /* in the middle: of its next instruction; otherwise 0 */
	uint64_t sp, cfa;
};

static const struct counters *plan_of(struct plans *p, const struct site *site)
{
	uint32_t next = p->list.len;
	uint32_t at = hashmap_add(&p->at, (uint64_t)(site - p->target->code->sites.data), next);
	if (at != next)
		return p->list.data[at];
	struct counters *t = ARENA_NEW(&p->arena, struct counters);
	vec_push(&p->list, counters_of_site(p->target, site, &p->arena, t) ? t : NULL);
	return vec_last(&p->list);
}

/* ---- contexts ---- */

static uint64_t heap_of(const struct adoption *m)
{
	return RT_COUNT_AREA(m->slot) + RT_COUNT_CONTEXTS;
}

/* Adds a zeroed record after the others; returns its offset in `records`. */
static uint64_t add_record(struct adoption *m, uint32_t size)
{
	uint64_t at = m->records.len;
	vec_resize(&m->records, m->records.len + size);
	m->state.index_used++;
	return at;
}

static uint64_t record_address(const struct adoption *m, uint64_t at)
{
	return m->target->region.base + heap_of(m) + m->state.contexts_used + at;
}

static uint32_t make_context(struct adoption *m, uint32_t parent, uint32_t site, uint32_t function)
{
	const struct target *t = m->target;
	const struct rt_counted *p = (const struct rt_counted *)target_at(t, RT_COUNTED) + function;
	uint32_t slots = p->sites + 1;
	uint32_t offset =
		(uint32_t)(sizeof(struct rt_record) + slots * sizeof(struct rt_context_slot));
	uint32_t size = (offset + (uint32_t)sizeof(struct rt_context) + p->words * 8 + 15) & ~15u;
	uint64_t at = add_record(m, size);
	uint8_t *record = m->records.data + at;
	struct rt_context_slot *slot =
		(struct rt_context_slot *)(record + sizeof(struct rt_record));
	*(struct rt_record *)record = (struct rt_record){.size = size, .context = offset};
	for (uint32_t i = 0; i < slots; i++)
		slot[i].child = t->region.base + RT_NOBODY;
	*(struct rt_context *)(record + offset) =
		(struct rt_context){.area = t->region.base + RT_AREA(m->slot),
				    .function = function,
				    .parent = m->made.data[parent].address,
				    .site = site};
	vec_push(&m->made, (struct made_context){.address = record_address(m, at + offset),
						 .words = at + offset + sizeof(struct rt_context),
						 .parent = parent,
						 .site = site,
						 .function = function});
	return m->made.len - 1;
}

static void make_edge(struct adoption *m, uint32_t parent, uint32_t site, uint32_t function,
		      uint32_t child)
{
	uint64_t at = add_record(m, sizeof(struct rt_edge));
	*(struct rt_edge *)(m->records.data + at) =
		(struct rt_edge){.record = {.size = sizeof(struct rt_edge)},
				 .parent = m->made.data[parent].address,
				 .child = m->made.data[child].address,
				 .site = site,
				 .function = function};
}

static uint64_t edge_hash(const struct adoption *m, uint32_t parent, uint32_t site,
			  uint32_t function)
{
	const uint32_t edge[] = {m->made.data[parent].function, site, function};
	return hash_bytes(edge, sizeof(edge), 0);
}

static uint64_t edge_of(const struct adoption *m, uint32_t x)
{
	const struct made_context *c = &m->made.data[x];
	return edge_hash(m, c->parent, c->site, c->function);
}

/* As in runtime/context.c: returns the nearest context of the function further out, if its path has
 * all the edges that are between it and the new child. Otherwise returns MADE_NONE. */
static uint32_t fold_into(const struct adoption *m, uint32_t parent, uint32_t site,
			  uint32_t function)
{
	const struct made_context *made = m->made.data;
	uint32_t into = parent;
	struct hashmap above = {0};
	while (into != ROOT && made[into].function != function)
		into = made[into].parent;
	if (into == ROOT)
		return MADE_NONE;
	for (uint32_t x = into; x != ROOT; x = made[x].parent)
		hashmap_add(&above, edge_of(m, x), 0);
	bool all = hashmap_get(&above, edge_hash(m, parent, site, function)) != HASHMAP_NONE;
	for (uint32_t x = parent; x != into; x = made[x].parent)
		all &= hashmap_get(&above, edge_of(m, x)) != HASHMAP_NONE;
	hashmap_release(&above);
	return all ? into : MADE_NONE;
}

static uint32_t child_of(struct adoption *m, uint32_t parent, uint32_t site, uint32_t function)
{
	const uint32_t key[] = {parent, site, function};
	uint64_t hash = hash_bytes(key, sizeof(key), 0);
	uint32_t child = hashmap_get(&m->at, hash);
	if (child != HASHMAP_NONE)
		return child;
	child = fold_into(m, parent, site, function);
	if (child != MADE_NONE)
		make_edge(m, parent, site, function, child);
	else if (m->made.len < RT_CONTEXT_DEPTH)
		child = make_context(m, parent, site, function);
	if (child != MADE_NONE)
		hashmap_add(&m->at, hash, child);
	return child;
}

/* ---- activations ---- */

static void begin_loops(struct adoption *m, const struct live_frame *s, uint32_t context,
			struct new_frame *f)
{
	const struct counters *t = s->counters;
	uint64_t *words = (uint64_t *)(m->records.data + m->made.data[context].words);
	for (uint32_t l = t->forest->innermost[s->block]; l != LOOP_NONE;
	     l = t->forest->loops[l].parent) {
		const struct counters_loop *loop = &t->loops[l];
		if (loop->method == TRIP_DIFFERENCE)
			words[loop->before] = words[loop->word] - 1;
		else if (loop->method != TRIP_NONE)
			words[loop->word]--;
		if (loop->method == TRIP_FRAME)
			shadow_of(f)->trips[loop->slot] = 1;
	}
}

/* Adds the activation inside those that were added before; returns its context. */
static uint32_t add_activation(struct adoption *m, const struct live_frame *s, uint32_t parent,
			       uint32_t site)
{
	uint32_t x = child_of(m, parent, site, s->site->counted);
	if (x == MADE_NONE)
		return x;
	uint64_t pushed = m->target->shared->arch->link == REG_NONE ? 8 : 0;
	struct new_frame f = {.size = counters_frame_size(s->counters)};
	*shadow_of(&f) =
		(struct rt_shadow){.context = m->made.data[x].address,
				   .key = s->sp,
				   .entry_sp = s->cfa ? s->cfa - pushed : RT_ENTRY_UNKNOWN};
	if (s->call)
		shadow_of(&f)->key += (uint64_t)counters_key(s->counters, s->call);
	if (s->call || s->va) {
		contexts_note_adopted(&m->target->slots[m->slot], m->made.data[x].address, s->call,
				      s->va);
		begin_loops(m, s, x, &f);
	}
	if (f.size)
		vec_push(&m->frames, f);
	return x;
}

/* ---- where threads are ---- */

static bool is_to_be_counted(const struct target *t, const struct site *s)
{
	return s && s->counted && s->dirty && s->next_address &&
	       !t->code->counted.data[s->counted - 1].refused;
}

/* Whether a thread at this address will pass the probes before the instruction by itself. */
static bool arrives_at_probes(const struct site *s, uint64_t va)
{
	uint32_t ignored;
	return !fragment_moved(&s->next, &(struct thread_place){va, false}, &ignored);
}

/* Describes the activation of a caller. Returns false if its function is not counted. */
static bool find_caller(struct adoption *m, const struct walk *w, uint32_t i,
			struct live_frame *out)
{
	const struct frame *f = &w->frames.data[i];
	const struct site *s = site_of(m->target, f);
	if (f->exact || !is_to_be_counted(m->target, s) || !w->frames.data[i - 1].cfa)
		return false;
	*out = (struct live_frame){.site = s,
				   .counters = plan_of(m->plans, s),
				   .sp = w->frames.data[i - 1].cfa,
				   .cfa = f->cfa};
	if (!out->counters)
		return false;
	out->call = counters_site_behind(out->counters, f->va);
	out->block = out->call ? out->counters->sites[out->call - 1].block : BLOCK_NONE;
	return out->call;
}

/* Describes the activation of the innermost frame. Returns false if the frame has none to be
 * counted. Sets w->probed: whether the thread continues after the probes before its instruction. */
static bool find_innermost(struct adoption *m, struct stopped_walk *w, struct live_frame *out)
{
	const struct frame *f = &w->walk.frames.data[0];
	const struct site *s = site_of(m->target, f);
	if (!is_to_be_counted(m->target, s))
		return false;
	*out = (struct live_frame){.site = s,
				   .counters = plan_of(m->plans, s),
				   .sp = w->registers.reg[m->target->shared->arch->sp],
				   .cfa = f->cfa};
	if (!out->counters)
		return false;
	struct counters_place p = counters_place(out->counters, s->code->flow, f->va);
	bool arrives = arrives_at_probes(s, f->va);
	if (p.block == BLOCK_NONE)
		return false;
	out->call = arrives && p.behind ? p.behind : p.call;
	out->block = out->call ? out->counters->sites[out->call - 1].block : p.block;
	const struct cfg *g = out->counters->cfg;
	bool enters = arrives && p.block == g->entry;
	bool lands = arrives && g->blocks[p.block].flags & BLOCK_LANDING;
	w->probed = out->call ? out->call == p.call : !enters && !lands;
	if (out->call || !w->probed)
		return !enters;
	out->va = f->va;
	return !p.leaves;
}

/* ---- into the program ---- */

/* Writes the new contexts. Returns false if there is no memory for them: then the thread gets no
 * context. */
static bool put_contexts(struct adoption *m)
{
	struct rt_count *n = &m->state;
	uint64_t end = n->contexts_used + m->records.len;
	if (!m->records.len)
		return true;
	if (!region_write(m->target, heap_of(m) + n->contexts_used, m->records.data,
			  m->records.len))
		return false;
	n->contexts_used = end;
	if (end > n->contexts_granted) {
		uint64_t more = (end - n->contexts_granted + RT_CONTEXT_CHUNK - 1) /
				RT_CONTEXT_CHUNK * RT_CONTEXT_CHUNK;
		n->contexts_granted += more;
		__atomic_fetch_add(&target_header(m->target)->context_bytes, more,
				   __ATOMIC_RELAXED);
	}
	n->index_bits = 0; /* the runtime will make the index again */
	return region_write(m->target, RT_COUNT_AREA(m->slot) + RT_COUNT_STATE, n, sizeof(*n));
}

static bool put_frames(struct adoption *m)
{
	VEC(uint8_t) bytes = {0};
	if (!m->frames.len)
		return true;
	for (uint32_t i = m->frames.len; i-- > 0;) { /* innermost first */
		const struct new_frame *f = &m->frames.data[i];
		vec_append(&bytes, f->words, f->size);
	}
	bool put = region_write(m->target, m->top - bytes.len, bytes.data, bytes.len);
	if (put)
		m->top -= bytes.len;
	target_area(m->target, m->slot)->top = m->target->region.base + m->top;
	vec_free(&bytes);
	return put;
}

static void begin_counters(struct control_thread *th, const struct counters *t, uint32_t block)
{
	struct counters_running running[RUNNING_MAX];
	const struct emit_ops *ops = t->live->arch->emit;
	for (uint32_t i = 0, n = counters_running(t, block, running); i < n; i++) {
		uint8_t counter = running[i].counter;
		uint64_t vector[] = {ops->vector_begun[0], ops->vector_begun[1]};
		vector[ops->vector_count] = running[i].trips;
		if (counter < EMIT_VECTOR)
			control_set_register(th, counter - (unsigned)EMIT_HELD, running[i].trips);
		else
			control_set_vector(th, counter - (unsigned)EMIT_VECTOR, vector);
	}
}

/* Sets the registers that the code in the middle of a function relies on. */
static void set_held_registers(struct adoption *m, int tid, const struct live_frame *s,
			       uint64_t context)
{
	const struct counters *t = s->counters;
	struct control_thread *th = control_thread(m->target->shared->control, tid);
	uint64_t base = m->target->region.base;
	uint64_t at = context ? context : base + RT_SINK;
	uint64_t frame = base + (context ? m->top : RT_SINK_FRAME);
	if (!th)
		return;
	if (t->context != REG_NONE)
		control_set_register(th, t->context, at);
	if (t->context_vector != REG_NONE)
		control_set_vector(th, t->context_vector, (uint64_t[]){at, 0});
	if (t->frame != REG_NONE)
		control_set_register(th, t->frame, frame);
	begin_counters(th, t, s->block);
}

/* ---- threads ---- */

static bool open_adoption(struct adoption *m, int tid)
{
	const struct target *t = m->target;
	m->slot = areas_number(t, tid);
	if (m->slot == RT_AREAS || !target_area(t, m->slot)->count ||
	    !region_read(t, RT_COUNT_AREA(m->slot) + RT_COUNT_STATE, &m->state, sizeof(m->state)))
		return false;
	m->top = target_area(t, m->slot)->top - t->region.base;
	vec_push(&m->made,
		 (struct made_context){.address = t->region.base + contexts_root(m->slot)});
	return true;
}

/* Adopts the callers, unless there are frames already: then something was counted before, and the
 * callers are not known. */
static uint32_t add_callers(struct adoption *m, const struct walk *w, uint32_t *site)
{
	uint32_t parent = ROOT;
	struct live_frame s;
	if (m->top != RT_COUNT_AREA(m->slot) + RT_COUNT_ROOT)
		return ROOT;
	for (uint32_t i = w->frames.len; i-- > 1;) {
		if (!find_caller(m, w, i, &s))
			continue;
		uint32_t x = add_activation(m, &s, parent, *site);
		if (x == MADE_NONE)
			break;
		parent = x;
		*site = s.call;
	}
	return parent;
}

static void adopt_thread(struct plans *plans, struct stopped_walk *w)
{
	struct adoption m = {.target = plans->target, .plans = plans};
	struct live_frame s;
	uint32_t parent = ROOT, site = 0, inner = MADE_NONE;
	bool counts = open_adoption(&m, w->tid);
	if (counts)
		parent = add_callers(&m, &w->walk, &site);
	bool live = find_innermost(&m, w, &s);
	if (counts && live)
		inner = add_activation(&m, &s, parent, site);
	if (counts && !(put_contexts(&m) && put_frames(&m)))
		inner = MADE_NONE;
	if (live && s.va)
		set_held_registers(&m, w->tid, &s,
				   inner == MADE_NONE ? 0 : m.made.data[inner].address);
	vec_free(&m.records);
	vec_free(&m.made);
	vec_free(&m.frames);
	hashmap_release(&m.at);
}

void adopt_counted(struct stop *stop)
{
	struct target *t = stop->target;
	struct plans plans = {.target = t};
	if (!t->counting.on || t->leaving)
		return;
	arena_init(&plans.arena);
	vec_each (w, &stop->walks)
		if (w->known && !w->unsettled && w->walk.frames.len)
			adopt_thread(&plans, w);
	vec_free(&plans.list);
	hashmap_release(&plans.at);
	arena_release(&plans.arena);
}
