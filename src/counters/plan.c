#include "counters/plan.h"

#include "base/vec.h"
#include "counters/hold.h"
#include "flow/effects.h"
#include "runtime/abi.h"

enum {
	MAX_FREQUENCY_DEPTH = 8, /* deeper nesting does not increase the weight any more */
	MAX_TEST_PARTS = 16,     /* limit for the parts of a loop's condition */
	MAX_HELD = 4, /* limit for a loop's counters in registers, which its exits must add up */
	FRAME_SLOTS = (RT_FRAME_MAX - sizeof(struct rt_shadow)) / 8,
};

/* Weights for the spanning tree: of edges that must not or cannot have a counter, and of edges that
 * are counted in any case. */
static const double weight_uncountable = 1e30, weight_counted = -1;

/* Estimates for the weights of other edges. Only their order matters: it decides which of the edges
 * need no counter. */
static const double trips_of_loop = 10;   /* iterations of a loop, if nothing is known */
static const double side_of_branch = 0.5; /* how often control takes one side of a branch */
static const double leaving_share = 0.5;  /* how often a block is the last one of its function */
static const double overhead_taken = 1.6; /* of a counter on a taken branch: an extra jump */
static const double overhead_fall = 1.3;  /* of a counter between two blocks in sequence */

struct planner {
	struct counters *t;
	const struct counters_options *o;
	const struct module *module;
	const struct arch *arch;
	const struct cfg *g;
	const struct loop_forest *forest;
	double *weights; /* for each edge of the net */
	uint32_t hub_count;
	/* For each block: the hub of the indirect jump that ends it. Then, again for each block:
	 * the hub of the indirect jumps that lead to it. UINT32_MAX: none. */
	uint32_t *hub_of;
	bool *calls; /* for each loop: it contains a call or a system call */
	bool *jumps; /* for each loop: it contains an indirect jump or a landing pad */
	struct register_choice holder;
	struct arena *a, *tmp;
};

/* ---- sites ---- */

static bool ends_in_call(const struct block *b)
{
	return b->end == END_CALL || b->end == END_CALL_INDIRECT;
}

typedef VEC(struct counters_site) site_list;

static void mark_loops(const struct loop_forest *f, uint32_t block, bool *marks)
{
	for (uint32_t l = f->innermost[block]; l != LOOP_NONE; l = f->loops[l].parent)
		marks[l] = true;
}

static void find_sites_of(struct planner *p, uint32_t block, site_list *out)
{
	const struct block *b = &p->g->blocks[block];
	struct decoder c;
	struct insn in;
	cursor_set(&c, p->module, p->arch, b->start, b->size);
	for (uint32_t i = 0; cursor_next(&c, DECODE_FLOW, &in); i++) {
		bool call = in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT;
		if (!call && in.kind != INSN_SYSCALL)
			continue;
		vec_push(out, (struct counters_site){.va = in.pc,
						     .block = block,
						     .insn = i,
						     .loop = LOOP_NONE,
						     .length = in.length,
						     .syscall = !call});
		mark_loops(p->forest, block, p->calls);
	}
}

static void find_sites(struct planner *p)
{
	site_list sites = {0};
	for (uint32_t b = 0; b < p->g->block_count; b++) {
		const struct block *block = &p->g->blocks[b];
		find_sites_of(p, b, &sites);
		if (block->end == END_SWITCH || block->flags & BLOCK_LANDING)
			mark_loops(p->forest, b, p->jumps);
	}
	p->t->sites = ARENA_DUP(p->a, sites.data, sites.len);
	p->t->site_count = sites.len;
	vec_free(&sites);
}

static bool moves_stack(const struct planner *p, uint32_t block)
{
	const struct block *b = &p->g->blocks[block];
	struct decoder c;
	struct insn in;
	cursor_set(&c, p->module, p->arch, b->start, b->size);
	while (cursor_next(&c, DECODE_FULL, &in))
		if (!insn_ends_block(&in) && regset_has(&in.writes, p->arch->sp))
			return true;
	return false;
}

/* Whether the function makes calls and never moves the stack pointer. Most functions move it in
 * their entry block, so that is checked first. */
static bool is_still(const struct planner *p)
{
	if (!p->t->site_count || moves_stack(p, p->g->entry))
		return false;
	for (uint32_t b = 0; b < p->g->block_count; b++)
		if (moves_stack(p, b))
			return false;
	return true;
}

/* ---- loops ---- */

static bool is_outside(const struct planner *p, uint32_t loop, uint32_t block)
{
	uint32_t l = p->forest->innermost[block];
	while (l != LOOP_NONE && l != loop)
		l = p->forest->loops[l].parent;
	return l == LOOP_NONE;
}

/* ---- tests at the top of loops ---- */

/* The outgoing edges of a block, without exceptions. UINT32_MAX: there is no such edge. */
struct out_edges {
	uint32_t count;
	uint32_t inside, outside; /* an edge that stays in the loop, one that leaves it */
	uint32_t other;           /* a second edge that stays in the loop */
};

static struct out_edges out_edges_of(const struct planner *p, uint32_t loop, uint32_t block)
{
	const struct block *b = &p->g->blocks[block];
	struct out_edges w = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++) {
		if (p->g->edges[i].kind == EDGE_UNWIND)
			continue;
		w.count++;
		if (is_outside(p, loop, p->g->edges[i].to))
			w.outside = i;
		else if (w.inside == UINT32_MAX)
			w.inside = i;
		else
			w.other = i;
	}
	return w;
}

/* Whether no block with a back edge also has an edge out of the loop. */
static bool jumps_back_always(const struct planner *p, uint32_t loop)
{
	const struct loop *l = &p->forest->loops[loop];
	for (uint32_t i = l->first_back; i < l->first_back + l->back_count; i++)
		if (out_edges_of(p, loop, p->g->edges[p->forest->edges[i]].from).outside !=
		    UINT32_MAX)
			return false;
	return true;
}

static bool has_one_in_edge(const struct planner *p, uint32_t block)
{
	return p->g->first_pred[block + 1] - p->g->first_pred[block] == 1;
}

static uint32_t target_of(const struct planner *p, uint32_t edge)
{
	return p->g->edges[edge].to;
}

/* The first block from `at` on that ends in a branch. BLOCK_NONE if there is none, or if control
 * may also reach the path to it from elsewhere. */
static uint32_t find_branch(const struct planner *p, uint32_t loop, uint32_t at)
{
	const struct loop *l = &p->forest->loops[loop];
	for (uint32_t steps = 0; steps < l->block_count; steps++) {
		struct out_edges w = out_edges_of(p, loop, at);
		if (w.count == 2 && p->g->blocks[at].end == END_BRANCH)
			return at;
		if (w.count != 1 || w.inside == UINT32_MAX)
			return BLOCK_NONE;
		at = target_of(p, w.inside);
		if (at == l->header || !has_one_in_edge(p, at))
			return BLOCK_NONE;
	}
	return BLOCK_NONE;
}

/* The last block before `to` on the path that begins at `at`, as long as no other path joins it.
 * Branches off the path must lead to `to`, too. */
static uint32_t follow_arm(const struct planner *p, uint32_t loop, uint32_t at, uint32_t to)
{
	for (uint32_t i = 0; i < MAX_TEST_PARTS && has_one_in_edge(p, at); i++) {
		struct out_edges w = out_edges_of(p, loop, at);
		if (w.outside != UINT32_MAX || w.inside == UINT32_MAX || w.count > 2)
			return at;
		uint32_t next = target_of(p, w.inside);
		if (w.count == 2 && next == to)
			next = target_of(p, w.other);
		else if (w.count == 2 && target_of(p, w.other) != to)
			return at;
		if (next == to)
			return at;
		at = next;
	}
	return at;
}

/* Follows a test with two edges that both stay in the loop. Either it is the first part of `a ||
 * b`, which leads to the body directly or to another test that leads out or to the body; or a
 * condition is computed, and the two paths join again. Returns the block where the test continues,
 * or BLOCK_NONE. */
static uint32_t pass_alternatives(struct planner *p, uint32_t loop, uint32_t first, uint32_t second)
{
	uint32_t last = follow_arm(p, loop, first, second);
	struct out_edges w = out_edges_of(p, loop, last);
	if (!has_one_in_edge(p, last) || w.inside == UINT32_MAX || target_of(p, w.inside) != second)
		return BLOCK_NONE;
	if (w.count == 1)
		return find_branch(p, loop, second);
	if (w.count == 2 && w.outside != UINT32_MAX && p->g->blocks[last].end == END_BRANCH)
		p->t->tests[w.outside] = loop;
	return BLOCK_NONE;
}

/* The block where the path that begins at `at` joins others; BLOCK_NONE if it branches before that.
 */
static uint32_t follow_straight(const struct planner *p, uint32_t loop, uint32_t at)
{
	for (uint32_t i = 0; i < MAX_TEST_PARTS && has_one_in_edge(p, at); i++) {
		struct out_edges w = out_edges_of(p, loop, at);
		if (w.count != 1 || w.inside == UINT32_MAX)
			return BLOCK_NONE;
		at = target_of(p, w.inside);
	}
	return has_one_in_edge(p, at) ? BLOCK_NONE : at;
}

/* Follows a test whose condition is computed on one of two paths, as in `a < (b ? c : d)`. On
 * x86-64 this also happens when an unsigned integer is converted to floating point. Returns the
 * block where the test continues, or BLOCK_NONE. */
static uint32_t pass_choice(const struct planner *p, uint32_t loop, uint32_t one, uint32_t other)
{
	uint32_t end = follow_straight(p, loop, one);
	if (end == BLOCK_NONE || end == p->forest->loops[loop].header ||
	    end != follow_straight(p, loop, other))
		return BLOCK_NONE;
	return find_branch(p, loop, end);
}

static bool only_jumps(const struct block *b)
{
	return b->end == END_JUMP && b->insn_count == 1 && b->edge_count == 1;
}

/* Whether the edge leads to `block`, for the last part of a test also through jumps. In unoptimised
 * code the body lies before its test. If there is a break in the body, the last part of the test
 * falls through to a jump to where the other parts lead, around the `nop` of the break. */
static bool leads_to(const struct planner *p, uint32_t edge, uint32_t block, bool last)
{
	uint32_t at = target_of(p, edge);
	for (uint32_t i = 0; last && i < MAX_TEST_PARTS && at != block; i++) {
		if (!only_jumps(&p->g->blocks[at]))
			break;
		at = target_of(p, p->g->blocks[at].first_edge);
	}
	return at == block;
}

/* Finds the edges by which the test at the top of a loop leaves it. A loop whose back edges are
 * unconditional is left by the first test that its header leads to. That may have several parts:
 * each part of `a && b` leads to the same place. Other loops have their test at the bottom, and
 * edges that leave them further up are breaks. */
static void find_tests(struct planner *p, uint32_t loop)
{
	const struct loop *l = &p->forest->loops[loop];
	uint32_t at = BLOCK_NONE, end = BLOCK_NONE;
	if (!l->irreducible && jumps_back_always(p, loop))
		at = find_branch(p, loop, l->header);
	for (uint32_t parts = 0; at != BLOCK_NONE && parts < MAX_TEST_PARTS; parts++) {
		struct out_edges w = out_edges_of(p, loop, at);
		if (w.outside == UINT32_MAX && end == BLOCK_NONE) {
			uint32_t one = target_of(p, w.inside), other = target_of(p, w.other);
			at = pass_alternatives(p, loop, one, other);
			if (at == BLOCK_NONE)
				at = pass_alternatives(p, loop, other, one);
			if (at == BLOCK_NONE)
				at = pass_choice(p, loop, one, other);
			continue;
		}
		if (w.outside == UINT32_MAX || w.inside == UINT32_MAX)
			return;
		uint32_t next = target_of(p, w.inside);
		bool last = next < at; /* a jump backwards: blocks are sorted by address */
		if (end != BLOCK_NONE && !leads_to(p, w.outside, end, last))
			return;
		end = target_of(p, w.outside);
		p->t->tests[w.outside] = loop;
		at = !last && has_one_in_edge(p, next) ? find_branch(p, loop, next) : BLOCK_NONE;
	}
}

/* Whether no probe can be put on the edge, because it cannot be distinguished from others or no
 * code can be inserted on it. */
static bool is_unprobeable(const struct edge *e)
{
	return e->kind == EDGE_SWITCH || e->kind == EDGE_UNWIND;
}

static bool has_unprobeable_entry(const struct planner *p, const struct loop *l)
{
	for (uint32_t i = l->first_entry; i < l->first_entry + l->entry_count; i++)
		if (is_unprobeable(&p->g->edges[p->forest->edges[i]]))
			return true;
	return false;
}

/* Exceptions do not matter here: they may leave loops that are counted in the frame. */
static bool has_unprobeable_exit(const struct planner *p, const struct loop *l)
{
	for (uint32_t i = l->first_exit; i < l->first_exit + l->exit_count; i++)
		if (p->g->edges[p->forest->edges[i]].kind == EDGE_SWITCH)
			return true;
	return false;
}

static uint32_t new_word(struct planner *p)
{
	return p->t->word_count++;
}

static uint32_t next_in_frame(const struct planner *p, uint32_t loop)
{
	while (loop != LOOP_NONE && p->t->loops[loop].method != TRIP_FRAME)
		loop = p->forest->loops[loop].parent;
	return loop;
}

static enum trip_method choose_method(struct planner *p, uint32_t loop, uint32_t outer)
{
	const struct loop *l = &p->forest->loops[loop];
	bool without = p->o->without_trips && p->o->without_trips[loop];
	if (l->irreducible || without || has_unprobeable_entry(p, l) || has_unprobeable_exit(p, l))
		return TRIP_NONE;
	if (p->calls[loop]) {
		uint32_t slot = outer == LOOP_NONE ? 0 : p->t->loops[outer].slot + 1;
		return slot < FRAME_SLOTS ? TRIP_FRAME : TRIP_NONE;
	}
	return p->t->loops[loop].trips != REG_NONE ? TRIP_HELD : TRIP_DIFFERENCE;
}

/* Inner loops get registers first. */
static void hold_trips(struct planner *p)
{
	for (uint32_t i = p->forest->loop_count; i-- > 0;)
		p->t->loops[i].trips = holder_take(&p->holder, i);
}

static void plan_loops(struct planner *p)
{
	struct counters *t = p->t;
	t->loops = ARENA_ARRAY(p->a, struct counters_loop, p->forest->loop_count + 1);
	t->tests = ARENA_ARRAY(p->a, uint32_t, p->g->edge_count);
	for (uint32_t i = 0; i < p->g->edge_count; i++)
		t->tests[i] = LOOP_NONE;
	hold_trips(p);
	for (uint32_t i = 0; i < p->forest->loop_count; i++) {
		struct counters_loop *l = &t->loops[i];
		uint32_t outer = next_in_frame(p, p->forest->loops[i].parent);
		l->word = l->before = NO_WORD;
		l->outer = outer;
		l->method = (uint8_t)choose_method(p, i, outer);
		find_tests(p, i);
		if (l->method == TRIP_NONE)
			continue;
		l->word = new_word(p);
		if (l->method == TRIP_DIFFERENCE)
			l->before = new_word(p);
		if (l->method != TRIP_FRAME)
			continue;
		l->slot = outer == LOOP_NONE ? 0 : t->loops[outer].slot + 1;
		if (l->slot >= t->slot_count)
			t->slot_count = l->slot + 1;
	}
	for (uint32_t i = 0; i < t->site_count; i++)
		t->sites[i].loop = next_in_frame(p, p->forest->innermost[t->sites[i].block]);
}

/* ---- the net ---- */

enum { OUTSIDE = 0 };

static uint32_t top_of(uint32_t block)
{
	return 1 + 2 * block;
}

static uint32_t end_of(uint32_t block)
{
	return 2 + 2 * block;
}

static uint32_t hub_node(const struct planner *p, uint32_t hub)
{
	return 1 + 2 * p->g->block_count + hub;
}

static uint32_t find_hub(uint32_t *parent, uint32_t block)
{
	while (parent[block] != block)
		block = parent[block] = parent[parent[block]];
	return block;
}

/* Finds the hubs. Indirect jumps that have a target in common share a hub. hub_of has the hub's
 * number for each block that such a jump ends, and, in its second half, for each block that it
 * leads to. The halves are separate because a block may be both. */
static void find_hubs(struct planner *p)
{
	uint32_t n = p->g->block_count;
	uint32_t *parent = ARENA_ARRAY(p->tmp, uint32_t, 2 * n);
	bool *used = ARENA_ARRAY(p->tmp, bool, 2 * n);
	for (uint32_t i = 0; i < 2 * n; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < p->g->edge_count; i++) {
		const struct edge *e = &p->g->edges[i];
		if (e->kind != EDGE_SWITCH)
			continue;
		parent[find_hub(parent, e->from)] = find_hub(parent, n + e->to);
		used[e->from] = used[n + e->to] = true;
	}
	uint32_t *number = ARENA_ARRAY(p->tmp, uint32_t, 2 * n);
	p->hub_of = ARENA_ARRAY(p->tmp, uint32_t, 2 * n);
	for (uint32_t i = 0; i < 2 * n; i++)
		if (used[i] && find_hub(parent, i) == i)
			number[i] = p->hub_count++;
	for (uint32_t i = 0; i < 2 * n; i++)
		p->hub_of[i] = used[i] ? number[find_hub(parent, i)] : UINT32_MAX;
}

static double frequency(const struct planner *p, uint32_t block)
{
	uint32_t l = p->forest->innermost[block];
	uint32_t depth = l == LOOP_NONE ? 0 : p->forest->loops[l].depth;
	double f = 1;
	for (uint32_t i = 0; i < depth && i < MAX_FREQUENCY_DEPTH; i++)
		f *= trips_of_loop;
	return f;
}

static void add_edge(struct planner *p, uint32_t from, uint32_t to, double weight,
		     enum carrier_kind kind, uint32_t index)
{
	struct net *n = &p->t->net;
	p->weights[n->edge_count] = weight;
	n->edges[n->edge_count] = (struct net_edge){.from = from, .to = to};
	p->t->carriers[n->edge_count++] = (struct carrier){
		.kind = (uint8_t)kind, .counter = REG_NONE, .index = index, .word = NO_WORD};
}

/* The loop with this header that counts the header's executions. */
static uint32_t loop_counted_at(const struct planner *p, uint32_t block)
{
	for (uint32_t l = p->forest->innermost[block]; l != LOOP_NONE;
	     l = p->forest->loops[l].parent)
		if (p->forest->loops[l].header == block && p->t->loops[l].method != TRIP_NONE)
			return l;
	return LOOP_NONE;
}

static double block_weight(const struct planner *p, uint32_t block)
{
	uint64_t start = p->g->blocks[block].start;
	if (loop_counted_at(p, block) != LOOP_NONE)
		return weight_counted;
	if (liveness_in_exclusive(p->o->live, block, start))
		return weight_uncountable;
	return frequency(p, block);
}

/* The expected overhead of a counter on the edge. On a taken branch it needs an extra jump. After a
 * call there is a probe in any case. */
static double edge_weight(const struct planner *p, const struct edge *e)
{
	const struct block *from = &p->g->blocks[e->from];
	double a = frequency(p, e->from), b = frequency(p, e->to), least = a < b ? a : b;
	if (liveness_exclusive_on_edge(p->o->live, e))
		return weight_uncountable;
	if (from->end == END_BRANCH)
		least *= side_of_branch;
	return least * (e->kind == EDGE_TAKEN  ? overhead_taken
			: e->kind == EDGE_FALL ? overhead_fall
					       : 1);
}

/* Whether control may leave the function at the end of the block other than by a call. */
static bool leaves(const struct block *b)
{
	switch (b->end) {
	case END_RETURN:
	case END_TAIL_CALL:
	case END_TRAP: return true;
	default: return !b->edge_count && !ends_in_call(b);
	}
}

static void add_block(struct planner *p, uint32_t b)
{
	const struct block *block = &p->g->blocks[b];
	uint32_t n = p->g->block_count;
	p->t->block_edge[b] = p->t->net.edge_count;
	add_edge(p, top_of(b), end_of(b), block_weight(p, b), CARRIER_BLOCK, b);
	if (block->flags & BLOCK_LANDING)
		add_edge(p, OUTSIDE, top_of(b), weight_counted, CARRIER_LANDING, b);
	if (leaves(block))
		add_edge(p, end_of(b), OUTSIDE, frequency(p, b) * leaving_share, CARRIER_LEAVE, b);
	if (p->hub_of[b] != UINT32_MAX)
		add_edge(p, end_of(b), hub_node(p, p->hub_of[b]), weight_uncountable, CARRIER_HUB,
			 b);
	if (p->hub_of[n + b] != UINT32_MAX)
		add_edge(p, hub_node(p, p->hub_of[n + b]), top_of(b), weight_uncountable,
			 CARRIER_HUB, b);
}

static void make_net(struct planner *p)
{
	const struct cfg *g = p->g;
	struct net *n = &p->t->net;
	uint32_t most = 5 * g->block_count + g->edge_count + 1;
	find_hubs(p);
	n->node_count = 1 + 2 * g->block_count + p->hub_count;
	n->edges = ARENA_ARRAY(p->tmp, struct net_edge, most);
	p->t->carriers = ARENA_ARRAY(p->tmp, struct carrier, most);
	p->weights = ARENA_ARRAY(p->tmp, double, most);
	p->t->block_edge = ARENA_ARRAY(p->a, uint32_t, g->block_count);
	p->t->flow_edge = ARENA_ARRAY(p->a, uint32_t, g->edge_count);
	add_edge(p, OUTSIDE, top_of(g->entry), weight_counted, CARRIER_ENTRY, g->entry);
	for (uint32_t b = 0; b < g->block_count; b++)
		add_block(p, b);
	for (uint32_t i = 0; i < g->edge_count; i++) {
		const struct edge *e = &g->edges[i];
		p->t->flow_edge[i] = is_unprobeable(e) ? UINT32_MAX : n->edge_count;
		if (!is_unprobeable(e))
			add_edge(p, end_of(e->from), top_of(e->to), edge_weight(p, e), CARRIER_EDGE,
				 i);
	}
	net_choose(n, p->weights, p->a, p->tmp);
	/* Few nets need the most that they may need. */
	n->edges = ARENA_DUP(p->a, n->edges, n->edge_count);
	p->t->carriers = ARENA_DUP(p->a, p->t->carriers, n->edge_count);
}

static bool is_countable(const struct carrier *c)
{
	return c->kind != CARRIER_ENTRY && c->kind != CARRIER_HUB;
}

/* Gives a word to each chord. False if an edge that cannot be counted is a chord. */
static bool assign_words(struct planner *p)
{
	struct net *n = &p->t->net;
	for (uint32_t i = 0; i < n->edge_count; i++) {
		struct carrier *c = &p->t->carriers[i];
		uint32_t loop = c->kind == CARRIER_BLOCK ? loop_counted_at(p, c->index) : LOOP_NONE;
		c->header = loop != LOOP_NONE;
		if (c->header)
			c->word = p->t->loops[loop].word;
		if (!n->edges[i].chord || c->header || c->kind == CARRIER_ENTRY)
			continue;
		if (!is_countable(c) || p->weights[i] == weight_uncountable)
			return false;
		c->word = new_word(p);
	}
	return true;
}

/* ---- registers ---- */

/* Removes the highest register from the set and returns it. Registers in `preferred` go first. */
static uint8_t take_register(uint64_t *set, uint64_t preferred)
{
	uint64_t from = *set & preferred ? *set & preferred : *set;
	if (!from)
		return REG_NONE;
	uint8_t reg = (uint8_t)(63 - __builtin_clzll(from));
	*set &= ~(UINT64_C(1) << reg);
	return reg;
}

/* Chooses the registers that hold context and frame. Calls pass the key and the frame in two
 * registers. A function that makes calls should hold its values there. One that makes none should
 * leave its caller's frame where it is; its context is better elsewhere. */
static void choose_registers(struct planner *p)
{
	const uint8_t *pass = p->arch->pass;
	const struct regset *private = &p->o->private;
	uint64_t usable = private->core & ~p->o->live->touched.core & UINT32_MAX;
	uint64_t vectors = private->vec & ~p->o->live->touched.vec;
	uint64_t key = pass[0] == REG_NONE ? 0 : UINT64_C(1) << pass[0];
	uint64_t frame = pass[1] == REG_NONE ? 0 : UINT64_C(1) << pass[1];
	bool calls = p->t->site_count, can_pass = key && frame && !(~private->core & (key | frame));
	if (p->o->live->unknown)
		usable = vectors = 0;
	/* The caller's frame is needed until the context is known. */
	uint64_t general = can_pass && (vectors || usable & ~frame) ? usable & ~frame : usable;
	p->t->context_vector = general ? REG_NONE : take_register(&vectors, vectors);
	p->t->context = take_register(&general, calls && general & key ? key : ~(key | frame));
	p->t->passes = can_pass && p->t->context != pass[1];
	if (p->t->context != REG_NONE)
		usable &= ~(UINT64_C(1) << p->t->context);
	if (!calls)
		usable &= p->t->passes ? frame : 0;
	p->t->frame = take_register(&usable, frame);
	bool *busy = ARENA_ARRAY(p->tmp, bool, p->forest->loop_count + 1);
	for (uint32_t i = 0; i < p->forest->loop_count; i++)
		busy[i] = p->calls[i] || p->jumps[i];
	holder_init(&p->holder, p->forest, p->o->live, busy, p->tmp);
	p->holder.never = counters_held(p->t);
	p->holder.never.core |= key | frame;
}

/* ---- counters in registers ---- */

/* The innermost loop that control is in both before and after it passes a chord. */
static uint32_t loop_of(const struct planner *p, const struct carrier *c)
{
	const struct loop_forest *f = p->forest;
	if (c->kind == CARRIER_BLOCK)
		return f->innermost[c->index];
	if (c->kind != CARRIER_EDGE)
		return LOOP_NONE;
	const struct edge *e = &p->g->edges[c->index];
	uint32_t l = f->innermost[e->from];
	while (l != LOOP_NONE && is_outside(p, l, e->to))
		l = f->loops[l].parent;
	return l;
}

static bool is_counted_alone(const struct planner *p, uint32_t net_edge)
{
	const struct carrier *c = &p->t->carriers[net_edge];
	return p->t->net.edges[net_edge].chord && c->word != NO_WORD &&
	       (c->kind != CARRIER_BLOCK || loop_counted_at(p, c->index) == LOOP_NONE);
}

/* Sorts the chords by loop: those of loop l are at first[l] .. first[l + 1] - 1. */
static uint32_t *sort_chords(const struct planner *p, uint32_t *first)
{
	const struct net *n = &p->t->net;
	uint32_t count = p->forest->loop_count;
	uint32_t *loops = ARENA_ARRAY(p->tmp, uint32_t, n->edge_count + 1);
	uint32_t *sorted = ARENA_ARRAY(p->a, uint32_t, n->edge_count + 1);
	uint32_t *next = ARENA_ARRAY(p->tmp, uint32_t, count + 1);
	for (uint32_t i = 0; i < n->edge_count; i++) {
		loops[i] = is_counted_alone(p, i) ? loop_of(p, &p->t->carriers[i]) : LOOP_NONE;
		if (loops[i] != LOOP_NONE)
			first[loops[i] + 1]++;
	}
	for (uint32_t l = 0; l < count; l++)
		next[l] = first[l + 1] += first[l];
	for (uint32_t i = n->edge_count; i-- > 0;)
		if (loops[i] != LOOP_NONE)
			sorted[--next[loops[i]]] = i;
	return sorted;
}

static void hold_chords(struct planner *p)
{
	uint32_t count = p->forest->loop_count;
	uint32_t *first = ARENA_ARRAY(p->tmp, uint32_t, count + 2);
	p->t->held = sort_chords(p, first);
	for (uint32_t l = count; l-- > 0;) {
		struct counters_loop *loop = &p->t->loops[l];
		loop->first_held = first[l];
		while (loop->method == TRIP_HELD && loop->held_count < first[l + 1] - first[l] &&
		       loop->held_count < MAX_HELD) {
			uint8_t counter = holder_take(&p->holder, l);
			if (counter == REG_NONE)
				break;
			p->t->carriers[p->t->held[first[l] + loop->held_count++]].counter = counter;
		}
		loop->registers = p->holder.own[l];
	}
}

bool counters_plan(struct counters *out, const struct flow *f, const struct cfg *g,
		   const struct loop_forest *forest, const struct counters_options *o,
		   struct arena *a, struct arena *tmp)
{
	struct planner p = {.t = out,
			    .o = o,
			    .module = flow_module(f),
			    .arch = flow_arch(f),
			    .g = g,
			    .forest = forest,
			    .a = a,
			    .tmp = tmp};
	*out = (struct counters){
		.cfg = g, .forest = forest, .live = o->live, .block_count = g->block_count};
	if (!g->block_count || g->unresolved || g->bad || g->entry >= g->block_count)
		return false;
	p.calls = ARENA_ARRAY(tmp, bool, forest->loop_count + 1);
	p.jumps = ARENA_ARRAY(tmp, bool, forest->loop_count + 1);
	find_sites(&p);
	out->still = is_still(&p);
	choose_registers(&p);
	plan_loops(&p);
	make_net(&p);
	out->framed = out->site_count || !counters_holds_context(out);
	if (!assign_words(&p))
		return false;
	hold_chords(&p);
	return out->word_count <= RT_COUNTED_WORDS_MAX && out->site_count <= RT_COUNTED_SITES_MAX;
}

bool counters_holds_context(const struct counters *t)
{
	return t->context != REG_NONE || t->context_vector != REG_NONE;
}

struct regset counters_held(const struct counters *t)
{
	struct regset r = {0};
	if (t->context != REG_NONE)
		r.core |= UINT64_C(1) << t->context;
	if (t->frame != REG_NONE)
		r.core |= UINT64_C(1) << t->frame;
	if (t->context_vector != REG_NONE)
		r.vec |= UINT32_C(1) << t->context_vector;
	return r;
}

uint32_t counters_frame_size(const struct counters *t)
{
	size_t size = sizeof(struct rt_shadow) + 8 * (size_t)t->slot_count;
	return t->framed ? (uint32_t)(size + 15) & ~15u : 0;
}
