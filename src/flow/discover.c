/* Finds all functions of a module. In each round, the graphs of the known functions are built in
 * parallel; the functions that they call are added, calls that turn out not to return are cut, and
 * split-off parts are joined to their owners. When nothing changes any more, starts are inferred in
 * the code that is left over (Tallent et al., PLDI 2009, section 2.1), and the rounds are repeated.
 */
#include "base/log.h"
#include "base/order.h"
#include "base/parallel.h"
#include "flow/entry.h"
#include "flow/internal.h"

enum {
	MAX_ROUNDS = 100, /* these two end the discovery even if rounds undo each other */
	MAX_GAP_ROUNDS = 8,
	BUILD_BATCH = 16, /* functions that a worker takes at a time */
};

struct build_job {
	struct flow *f;
	const uint32_t *dirty;
};

static void build_one(void *ctx, uint32_t item, uint32_t worker)
{
	struct build_job *job = ctx;
	struct flow *f = job->f;
	struct func *p = &f->funcs.data[job->dirty[item]];
	struct arena *tmp = &f->tmp[worker];
	p->graph = graph_pack(build_func(f, p, tmp, tmp), &f->graphs[worker], tmp);
	p->dirty = false;
	p->fresh = true;
	arena_clear(tmp);
}

static void build_dirty(struct flow *f)
{
	VEC(uint32_t) dirty = {0};
	for (uint32_t i = 0; i < f->funcs.len; i++) {
		f->funcs.data[i].fresh = false;
		if (f->funcs.data[i].dirty)
			vec_push(&dirty, i);
	}
	set_reaches(f);
	debug(LOG_FLOW, 1, "%u functions, %u graphs to build", f->funcs.len, dirty.len);
	struct build_job job = {f, dirty.data};
	parallel_for(dirty.len, BUILD_BATCH, build_one, &job);
	vec_free(&dirty);
}

/* Whether va lies inside a function whose bounds the file gives, after its start: no other function
 * can start there. */
static bool is_interior(const struct flow *f, uint64_t va)
{
	uint32_t i = func_at(f, va);
	return i != UINT32_MAX && f->funcs.data[i].bounded && f->funcs.data[i].start != va;
}

static void note_start(struct flow *f, uint64_t va, enum found_by how)
{
	uint32_t i = func_from(f, va);
	if (i != HASHMAP_NONE)
		f->funcs.data[i].found_by |= (uint16_t)how;
	else if (!is_interior(f, va))
		add_start(f, va, 0, NULL, how, 0);
}

/* Handles a direct jump out of p: a tail call, or a jump to a part of p. True if p got that part.
 */
static bool follow_jump(struct flow *f, struct func *p, const struct block *b)
{
	struct part part;
	if (take_fragment(f, p, b->target))
		return true;
	if (part_of_jump(f, b, &part)) {
		add_part(f, p, part.start, part.end);
		return true;
	}
	if (func_from(f, b->target) != HASHMAP_NONE ||
	    (func_at(f, b->target) == UINT32_MAX && !fragment_at(f, b->target)))
		note_start(f, b->target, FOUND_JUMP);
	return false;
}

static void follow_call(struct flow *f, const struct block *b)
{
	if (!module_is_code(f->module, b->target) ||
	    call_asks_for_address(f->module, f->arch, b->start + b->size, b->target))
		return;
	struct detached_part *x = fragment_at(f, b->target);
	if (x && x->start == b->target)
		x->taken = true; /* it is called, so it is a function */
	note_start(f, b->target, FOUND_CALL);
}

static bool follow_graph(struct flow *f, struct func *p)
{
	bool joined = false;
	struct packed_reader r;
	struct block b;
	uint64_t escape;
	packed_open(&r, p->graph);
	while (packed_block(&r, &b)) {
		if (b.end == END_CALL)
			follow_call(f, &b);
		else if (b.end == END_TAIL_CALL && b.target)
			joined |= follow_jump(f, p, &b);
	}
	packed_open(&r, p->graph);
	while (packed_escape(&r, &escape))
		joined |= take_fragment(f, p, escape);
	return joined;
}

/* Adds the functions and parts that the graphs of this round lead to. True if a function got a new
 * part. */
static bool follow_graphs(struct flow *f)
{
	bool joined = false;
	vec_each (p, &f->funcs)
		if (p->fresh)
			joined |= follow_graph(f, p);
	return joined;
}

/* Whether p calls one of these functions, and its graph takes the call to return. */
static bool calls_one_of(const struct flow *f, const struct func *p, const bool *callees)
{
	struct packed_reader r;
	struct block b;
	packed_open(&r, p->graph);
	while (packed_block(&r, &b)) {
		if (b.end != END_CALL || b.flags & BLOCK_NORETURN)
			continue;
		uint32_t callee = func_from(f, b.target);
		if (callee != HASHMAP_NONE && callees[callee])
			return true;
	}
	return false;
}

/* Marks functions that turn out not to return, and their callers as dirty. */
static bool find_noreturn(struct flow *f)
{
	bool any = false;
	bool *newly = xcalloc(f->funcs.len + 1, sizeof(*newly));
	for (uint32_t i = 0; i < f->funcs.len; i++) {
		struct func *p = &f->funcs.data[i];
		if (p->flags & FUNCTION_NORETURN || !p->graph || graph_returns(f, p->graph))
			continue;
		p->flags |= FUNCTION_NORETURN;
		newly[i] = any = true;
	}
	for (uint32_t i = 0; any && i < f->funcs.len; i++) {
		struct func *p = &f->funcs.data[i];
		if (p->graph && !p->dirty)
			p->dirty = calls_one_of(f, p, newly);
	}
	free(newly);
	return any;
}

/* The jumps from other functions to one function. They show whether it is a part of one of
 * these. */
struct jumped_at {
	uint32_t from; /* the function that jumps there, or JUMPED_BY_NONE, JUMPED_BY_SEVERAL */
	bool as_part;  /* by a conditional jump, or with a frame in place */
	bool as_call;
};

enum { JUMPED_BY_NONE = UINT32_MAX, JUMPED_BY_SEVERAL = UINT32_MAX - 1 };

static bool is_pointed_at(const struct flow *f, uint64_t va)
{
	const uint64_t *all = f->code_pointers.data;
	uint32_t n = order_up_to(all, f->code_pointers.len, sizeof(*all), 0, va);
	return n && all[n - 1] == va;
}

static void note_jump(struct flow *f, struct jumped_at *notes, uint32_t from, const struct block *b)
{
	uint32_t to = func_at(f, b->target);
	if (to == UINT32_MAX || to == from)
		return;
	struct jumped_at *n = &notes[to];
	n->from = n->from == JUMPED_BY_NONE || n->from == from ? from : (uint32_t)JUMPED_BY_SEVERAL;
	if (b->flags & (BLOCK_OPEN_FRAME | BLOCK_CONDITIONAL))
		n->as_part = true;
	else if (f->funcs.data[to].start == b->target)
		n->as_call = true;
}

static void note_jumps(struct flow *f, struct jumped_at *notes, uint32_t from)
{
	struct packed_reader r;
	struct block b;
	if (!f->funcs.data[from].graph)
		return;
	packed_open(&r, f->funcs.data[from].graph);
	while (packed_block(&r, &b))
		if (b.end == END_TAIL_CALL && b.target)
			note_jump(f, notes, from, &b);
}

static void remove_funcs(struct flow *f, const bool *gone)
{
	vec_keep_if(&f->funcs, p, !gone[p - f->funcs.data]);
}

/* Joins split-off parts that look like functions to their owners. These parts have an unwind range
 * but no name, nothing calls or points at them, and exactly one function jumps there, conditionally
 * or with its frame in place. (A jump into the middle shows nothing: memcpy and mempcpy share their
 * code like that.) */
static bool join_cold_funcs(struct flow *f)
{
	uint32_t n = f->funcs.len;
	struct jumped_at *notes = xcalloc(n + 1, sizeof(*notes));
	bool *gone = xcalloc(n + 1, sizeof(*gone)), any = false;
	for (uint32_t i = 0; i < n; i++)
		notes[i].from = JUMPED_BY_NONE;
	for (uint32_t i = 0; i < n; i++)
		note_jumps(f, notes, i);
	for (uint32_t i = 0; i < n; i++) {
		struct func *p = &f->funcs.data[i];
		uint32_t owner = notes[i].from;
		if (owner >= n || gone[owner] || !notes[i].as_part || notes[i].as_call || p->name ||
		    p->part_count || p->found_by & ~(FOUND_FRAME | FOUND_JUMP) ||
		    is_pointed_at(f, p->start))
			continue;
		add_part(f, &f->funcs.data[owner], p->start, p->end);
		gone[i] = any = true;
	}
	if (any) {
		remove_funcs(f, gone);
		merge_starts(f);
	}
	free(notes);
	free(gone);
	return any;
}

/* The highest address between the end of p and p->reach that p's graph leads to other than by a
 * call; 0 if none. */
static uint64_t last_reached_label(const struct func *p)
{
	struct packed_reader r;
	struct block b;
	uint64_t last = 0, escape;
	packed_open(&r, p->graph);
	while (packed_escape(&r, &escape))
		if (escape >= p->end && escape < p->reach && escape > last)
			last = escape;
	while (packed_block(&r, &b))
		if (b.flags & BLOCK_OPEN_FRAME && b.target >= p->end && b.target < p->reach &&
		    b.target > last)
			last = b.target;
	return last;
}

/* Removes guessed starts that turn out to be labels of the function before them. */
static bool join_labels(struct flow *f)
{
	uint32_t n = f->funcs.len;
	bool *gone = xcalloc(n + 1, sizeof(*gone)), any = false;
	for (uint32_t i = 0; i < n; i++) {
		struct func *p = &f->funcs.data[i];
		uint64_t last = p->fresh && p->reach > p->end ? last_reached_label(p) : 0;
		if (!last)
			continue;
		debug(LOG_FLOW, 2, "%#lx goes on to %#lx", (unsigned long)p->start,
		      (unsigned long)last);
		for (uint32_t j = i + 1; j < n && f->funcs.data[j].start <= last; j++) {
			/* A start that is called now is not a label. p's graph is built again
			 * without it. */
			if (!is_guess(&f->funcs.data[j]))
				break;
			gone[j] = true;
		}
		p->end = 0; /* merge_starts() sets it */
		any = true;
	}
	if (any) {
		remove_funcs(f, gone);
		merge_starts(f);
	}
	free(gone);
	return any;
}

/* Repeats the rounds until nothing changes. */
static void run_rounds(struct flow *f)
{
	for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
		if (f->added.len)
			merge_starts(f);
		build_dirty(f);
		bool joined = follow_graphs(f);
		joined |= join_labels(f);
		if (f->added.len || joined)
			continue;
		if (!find_noreturn(f) && !join_cold_funcs(f))
			return;
	}
}

static void starts_from_pointers(struct flow *f)
{
	for (uint32_t i = 0; i < f->code_pointers.len; i++) {
		uint64_t va = f->code_pointers.data[i];
		uint32_t p = func_at(f, va);
		bool start = p != UINT32_MAX && f->funcs.data[p].start == va;
		bool covered = p != UINT32_MAX && !start && f->funcs.data[p].graph &&
			       packed_has(f->funcs.data[p].graph, va);
		if (start ||
		    (!covered && !is_interior(f, va) && looks_like_entry(f->module, f->arch, va)))
			note_start(f, va, FOUND_POINTER);
	}
}

/* Makes functions of the parts that nothing leads to. */
static void promote_fragments(struct flow *f)
{
	vec_each (x, &f->fragments) {
		if (!x->taken)
			add_start(f, x->start, x->end, x->name, FOUND_FRAME, 0);
		x->taken = true;
	}
}

/* Moves the end of a part to the end of its last instruction. */
static void trim(const struct func *p, struct part *part)
{
	uint64_t end = part->start;
	struct packed_reader r;
	struct block b;
	packed_open(&r, p->graph);
	while (packed_block(&r, &b))
		if (b.start >= part->start && b.start < part->end && b.start + b.size > end)
			end = b.start + b.size;
	if (end > part->start)
		part->end = end;
}

static void trim_ends(struct flow *f)
{
	vec_each (p, &f->funcs) {
		if (!p->graph)
			continue;
		struct part main_part = {p->start, p->end};
		if (!p->bounded) {
			trim(p, &main_part);
			p->end = main_part.end;
		}
		for (uint32_t i = 0; i < p->part_count; i++)
			trim(p, &p->parts[i]);
	}
}

static void infer_in_gaps(struct flow *f)
{
	for (uint32_t round = 0; round < MAX_GAP_ROUNDS; round++) {
		struct gap_list gaps = {0};
		find_gaps(f, &gaps);
		if (!round)
			starts_from_addresses(f, &gaps);
		if (!f->added.len)
			starts_from_gaps(f, &gaps);
		vec_free(&gaps.gaps);
		if (!f->added.len)
			return;
		run_rounds(f);
	}
}

static void publish_graphs(struct flow *f)
{
	f->published_graphs = xmalloc((f->funcs.len + (size_t)1) * sizeof(*f->published_graphs));
	for (uint32_t i = 0; i < f->funcs.len; i++)
		f->published_graphs[i] = f->funcs.data[i].graph;
}

uint64_t code_size(const struct module *m)
{
	uint64_t size = 0;
	for (uint32_t i = 0; i < m->section_count; i++)
		size += m->sections[i].execute ? m->sections[i].size : 0;
	return size;
}

/* Frees what only the discovery needs. */
static void release_work(struct flow *f)
{
	vec_free(&f->funcs);
	vec_free(&f->added);
	vec_free(&f->fragments);
	vec_free(&f->code_pointers);
	hashmap_release(&f->by_start);
	for (uint32_t i = 0; i < MAX_WORKERS; i++)
		arena_release(&f->tmp[i]);
}

void flow_discover(struct flow *f)
{
	need_starts(f);
	if (f->discovered)
		return;
	f->joined = f->discovered = true;
	index_starts(f);
	take_landings(f);
	run_rounds(f);
	starts_from_pointers(f);
	run_rounds(f);
	promote_fragments(f);
	run_rounds(f);
	infer_in_gaps(f);
	build_dirty(f); /* whatever the last permitted round left */
	trim_ends(f);
	publish(f);
	publish_graphs(f);
	release_work(f);
}
