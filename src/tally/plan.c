#include "tally/plan.h"

#include "base/vec.h"
#include "flow/effects.h"
#include "runtime/abi.h"
#include "tally/hold.h"

enum {
	FREQUENCY_DEPTH = 8, /* nesting that makes a difference */
	TEST_PARTS = 16,     /* of a loop's condition that are looked at */
	HELD_MAX = 4,        /* counters of a loop in registers, which are added up at its end */
	FRAME_SLOTS = (RT_FRAME_MAX - sizeof(struct rt_shadow)) / 8,
};

/* Weights for the tree: what may not or cannot be counted, and what is counted anyway. */
static const double never = 1e30, anyway = -1;

struct planner {
	struct tally *t;
	const struct tally_options *o;
	const struct image *image;
	const struct arch *arch;
	const struct cfg *g;
	const struct loop_forest *forest;
	uint32_t hub_count;
	uint32_t *hub_of; /* of each block that is reached by an indirect jump or ends in one */
	bool *calls;      /* of each loop: there is a call or a system call in it */
	bool *jumps;      /* of each loop: an indirect jump, or a landing pad */
	struct holder holder;
	struct arena *a, *tmp;
};

/* ---- sites ---- */

static bool ends_in_call(const struct block *b)
{
	return b->end == END_CALL || b->end == END_CALL_INDIRECT;
}

typedef VEC(struct tally_site) site_list;

static void mark_loops(const struct loop_forest *f, uint32_t block, bool *marks)
{
	for (uint32_t l = f->innermost[block]; l != LOOP_NONE; l = f->loops[l].parent)
		marks[l] = true;
}

static void find_sites_of(struct planner *p, uint32_t block, site_list *out)
{
	const struct block *b = &p->g->blocks[block];
	struct cursor c;
	struct insn in;
	cursor_set(&c, p->image, p->arch, b->start, b->size);
	for (uint32_t i = 0; cursor_next(&c, DECODE_FLOW, &in); i++) {
		bool call = in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT;
		if (!call && in.kind != INSN_SYSCALL)
			continue;
		vec_push(out, (struct tally_site){.va = in.pc,
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
	struct cursor c;
	struct insn in;
	cursor_set(&c, p->image, p->arch, b->start, b->size);
	while (cursor_next(&c, DECODE_FULL, &in))
		if (!insn_ends_block(&in) && regset_has(&in.writes, p->arch->sp))
			return true;
	return false;
}

/* Most do so first thing. */
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

/* The ways of a block that are not exceptions. */
struct ways {
	uint32_t count, inside, outside; /* the last two: edges, UINT32_MAX: none */
	uint32_t other;                  /* another one inside */
};

static struct ways ways_of(const struct planner *p, uint32_t loop, uint32_t block)
{
	const struct block *b = &p->g->blocks[block];
	struct ways w = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX};
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

/* Whether no block that jumps back may leave the loop instead. */
static bool jumps_back_always(const struct planner *p, uint32_t loop)
{
	const struct loop *l = &p->forest->loops[loop];
	for (uint32_t i = l->first_back; i < l->first_back + l->back_count; i++)
		if (ways_of(p, loop, p->g->edges[p->forest->edges[i]].from).outside != UINT32_MAX)
			return false;
	return true;
}

static bool has_one_way_in(const struct planner *p, uint32_t block)
{
	return p->g->first_pred[block + 1] - p->g->first_pred[block] == 1;
}

static uint32_t target_of(const struct planner *p, uint32_t edge)
{
	return p->g->edges[edge].to;
}

/* The first block from `at` on that decides something; BLOCK_NONE if there is none that only
 * control from there comes to. */
static uint32_t find_branch(const struct planner *p, uint32_t loop, uint32_t at)
{
	const struct loop *l = &p->forest->loops[loop];
	for (uint32_t steps = 0; steps < l->block_count; steps++) {
		struct ways w = ways_of(p, loop, at);
		if (w.count == 2 && p->g->blocks[at].end == END_BRANCH)
			return at;
		if (w.count != 1 || w.inside == UINT32_MAX)
			return BLOCK_NONE;
		at = target_of(p, w.inside);
		if (at == l->header || !has_one_way_in(p, at))
			return BLOCK_NONE;
	}
	return BLOCK_NONE;
}

/* The last block before `to` on the way that begins at `at`, if nothing else leads onto it; other
 * ways off it may lead to `to`, too. */
static uint32_t follow_arm(const struct planner *p, uint32_t loop, uint32_t at, uint32_t to)
{
	for (uint32_t i = 0; i < TEST_PARTS && has_one_way_in(p, at); i++) {
		struct ways w = ways_of(p, loop, at);
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

/* Of two ways that both stay in the loop: `a || b` goes to the body at once, or to another test
 * that leads out or to the body; a condition that is computed comes together again. Returns the
 * block where the test goes on, or BLOCK_NONE. */
static uint32_t pass_alternatives(struct planner *p, uint32_t loop, uint32_t first, uint32_t second)
{
	uint32_t last = follow_arm(p, loop, first, second);
	struct ways w = ways_of(p, loop, last);
	if (!has_one_way_in(p, last) || w.inside == UINT32_MAX || target_of(p, w.inside) != second)
		return BLOCK_NONE;
	if (w.count == 1)
		return find_branch(p, loop, second);
	if (w.count == 2 && w.outside != UINT32_MAX && p->g->blocks[last].end == END_BRANCH)
		p->t->tests[w.outside] = loop;
	return BLOCK_NONE;
}

/* Where the way that begins at `at` meets others, if nothing is decided before. */
static uint32_t follow_straight(const struct planner *p, uint32_t loop, uint32_t at)
{
	for (uint32_t i = 0; i < TEST_PARTS && has_one_way_in(p, at); i++) {
		struct ways w = ways_of(p, loop, at);
		if (w.count != 1 || w.inside == UINT32_MAX)
			return BLOCK_NONE;
		at = target_of(p, w.inside);
	}
	return has_one_way_in(p, at) ? BLOCK_NONE : at;
}

/* A condition that is computed in one of two ways, as `a < (b ? c : d)`: on x86-64 also if an
 * unsigned integer becomes a floating-point number. Returns the block where the test goes on, or
 * BLOCK_NONE. */
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

/* Without optimisation the body lies before its test, and the test's last part, if there is a break
 * in the body, falls onto a jump to where the other parts lead, around the `nop` of the break. */
static bool leads_to(const struct planner *p, uint32_t edge, uint32_t block, bool last)
{
	uint32_t at = target_of(p, edge);
	for (uint32_t i = 0; last && i < TEST_PARTS && at != block; i++) {
		if (!only_jumps(&p->g->blocks[at]))
			break;
		at = target_of(p, p->g->blocks[at].first_edge);
	}
	return at == block;
}

/* A loop that always jumps back is left by the first test that its header leads to, which may have
 * several parts: of `a && b` each leads to the same place. Other loops have their test at the
 * bottom, and what leaves them further up is a break. */
static void find_tests(struct planner *p, uint32_t loop)
{
	const struct loop *l = &p->forest->loops[loop];
	uint32_t at = BLOCK_NONE, end = BLOCK_NONE;
	if (!l->irreducible && jumps_back_always(p, loop))
		at = find_branch(p, loop, l->header);
	for (uint32_t parts = 0; at != BLOCK_NONE && parts < TEST_PARTS; parts++) {
		struct ways w = ways_of(p, loop, at);
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
		bool last = next < at; /* blocks are sorted by address */
		if (end != BLOCK_NONE && !leads_to(p, w.outside, end, last))
			return;
		end = target_of(p, w.outside);
		p->t->tests[w.outside] = loop;
		at = !last && has_one_way_in(p, next) ? find_branch(p, loop, next) : BLOCK_NONE;
	}
}

/* Whether control may go along the edge without our being able to tell it from others, or to do
 * anything on it. */
static bool is_vague(const struct edge *e)
{
	return e->kind == EDGE_SWITCH || e->kind == EDGE_UNWIND;
}

static bool is_entered_vaguely(const struct planner *p, const struct loop *l)
{
	for (uint32_t i = l->first_entry; i < l->first_entry + l->entry_count; i++)
		if (is_vague(&p->g->edges[p->forest->edges[i]]))
			return true;
	return false;
}

/* Exceptions may leave loops whose counters are in the frame. */
static bool is_left_vaguely(const struct planner *p, const struct loop *l)
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
	if (l->irreducible || without || is_entered_vaguely(p, l) || is_left_vaguely(p, l))
		return TRIP_NONE;
	if (p->calls[loop]) {
		uint32_t slot = outer == LOOP_NONE ? 0 : p->t->loops[outer].slot + 1;
		return slot < FRAME_SLOTS ? TRIP_FRAME : TRIP_NONE;
	}
	return p->t->loops[loop].trips != REG_NONE ? TRIP_HELD : TRIP_DIFFERENCE;
}

/* Inner loops come first. */
static void hold_trips(struct planner *p)
{
	for (uint32_t i = p->forest->loop_count; i-- > 0;)
		p->t->loops[i].trips = holder_take(&p->holder, i);
}

static void plan_loops(struct planner *p)
{
	struct tally *t = p->t;
	t->loops = ARENA_ARRAY(p->a, struct tally_loop, p->forest->loop_count + 1);
	t->tests = ARENA_ARRAY(p->a, uint32_t, p->g->edge_count);
	for (uint32_t i = 0; i < p->g->edge_count; i++)
		t->tests[i] = LOOP_NONE;
	hold_trips(p);
	for (uint32_t i = 0; i < p->forest->loop_count; i++) {
		struct tally_loop *l = &t->loops[i];
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

/* Indirect jumps that have a target in common share a hub: its number, for each of the blocks that
 * they end and lead to, is in hub_of; jumps and targets are apart there, because a block may be
 * both. */
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
	for (uint32_t i = 0; i < depth && i < FREQUENCY_DEPTH; i++)
		f *= 10;
	return f;
}

static void add_edge(struct planner *p, uint32_t from, uint32_t to, double weight,
		     enum carrier_kind kind, uint32_t index)
{
	struct net *n = &p->t->net;
	n->edges[n->edge_count] = (struct net_edge){.from = from, .to = to, .weight = weight};
	p->t->carriers[n->edge_count++] = (struct carrier){
		.kind = (uint8_t)kind, .counter = REG_NONE, .index = index, .word = NO_WORD};
}

/* The loop that has this header, and whose executions it counts. */
static uint32_t counted_at(const struct planner *p, uint32_t block)
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
	if (counted_at(p, block) != LOOP_NONE)
		return anyway;
	if (liveness_in_exclusive(p->o->live, block, start))
		return never;
	return frequency(p, block);
}

/* A way of a branch that is taken needs a jump more; one behind a call has a probe anyway. */
static double edge_weight(const struct planner *p, const struct edge *e)
{
	const struct block *from = &p->g->blocks[e->from];
	double a = frequency(p, e->from), b = frequency(p, e->to), least = a < b ? a : b;
	if (liveness_exclusive_on_edge(p->o->live, e))
		return never;
	if (from->end == END_BRANCH)
		least *= 0.5;
	return least * (e->kind == EDGE_TAKEN ? 1.6 : e->kind == EDGE_FALL ? 1.3 : 1);
}

/* Whether control may end in the block without a call or another block. */
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
		add_edge(p, OUTSIDE, top_of(b), anyway, CARRIER_LANDING, b);
	if (leaves(block))
		add_edge(p, end_of(b), OUTSIDE, frequency(p, b) * 0.5, CARRIER_LEAVE, b);
	if (p->hub_of[b] != UINT32_MAX)
		add_edge(p, end_of(b), hub_node(p, p->hub_of[b]), never, CARRIER_HUB, b);
	if (p->hub_of[n + b] != UINT32_MAX)
		add_edge(p, hub_node(p, p->hub_of[n + b]), top_of(b), never, CARRIER_HUB, b);
}

static void make_net(struct planner *p)
{
	const struct cfg *g = p->g;
	struct net *n = &p->t->net;
	uint32_t most = 5 * g->block_count + g->edge_count + 1;
	find_hubs(p);
	n->node_count = 1 + 2 * g->block_count + p->hub_count;
	n->edges = ARENA_ARRAY(p->a, struct net_edge, most);
	p->t->carriers = ARENA_ARRAY(p->a, struct carrier, most);
	p->t->block_edge = ARENA_ARRAY(p->a, uint32_t, g->block_count);
	p->t->flow_edge = ARENA_ARRAY(p->a, uint32_t, g->edge_count);
	add_edge(p, OUTSIDE, top_of(g->entry), anyway, CARRIER_ENTRY, g->entry);
	for (uint32_t b = 0; b < g->block_count; b++)
		add_block(p, b);
	for (uint32_t i = 0; i < g->edge_count; i++) {
		const struct edge *e = &g->edges[i];
		p->t->flow_edge[i] = is_vague(e) ? UINT32_MAX : n->edge_count;
		if (!is_vague(e))
			add_edge(p, end_of(e->from), top_of(e->to), edge_weight(p, e), CARRIER_EDGE,
				 i);
	}
	net_choose(n, p->a, p->tmp);
}

static bool is_countable(const struct carrier *c)
{
	return c->kind != CARRIER_ENTRY && c->kind != CARRIER_HUB;
}

/* False if what cannot be counted would have to be. */
static bool assign_words(struct planner *p)
{
	struct net *n = &p->t->net;
	for (uint32_t i = 0; i < n->edge_count; i++) {
		struct carrier *c = &p->t->carriers[i];
		uint32_t loop = c->kind == CARRIER_BLOCK ? counted_at(p, c->index) : LOOP_NONE;
		if (loop != LOOP_NONE)
			c->word = p->t->loops[loop].word;
		if (!n->edges[i].chord || loop != LOOP_NONE || c->kind == CARRIER_ENTRY)
			continue;
		if (!is_countable(c) || n->edges[i].weight == never)
			return false;
		c->word = new_word(p);
	}
	return true;
}

/* ---- registers ---- */

/* The highest of a set, which loses it, preferably of those in `rather`. */
static uint8_t take_register(uint64_t *set, uint64_t rather)
{
	uint64_t from = *set & rather ? *set & rather : *set;
	if (!from)
		return REG_NONE;
	uint8_t reg = (uint8_t)(63 - __builtin_clzll(from));
	*set &= ~(UINT64_C(1) << reg);
	return reg;
}

/* What calls pass is the key and the frame: who makes calls had better hold them there, and who
 * makes none leaves them alone. */
static void choose_registers(struct planner *p)
{
	const uint8_t *pass = p->arch->pass;
	uint64_t usable = p->o->private.core & ~p->o->live->touched.core & UINT32_MAX;
	uint64_t key = pass[0] == REG_NONE ? 0 : UINT64_C(1) << pass[0];
	uint64_t frame = pass[1] == REG_NONE ? 0 : UINT64_C(1) << pass[1];
	if (p->o->live->unknown)
		usable = 0;
	uint64_t vectors = p->o->live->unknown ? 0 : p->o->private.vec & ~p->o->live->touched.vec;
	bool calls = p->t->site_count;
	p->t->context_vector = usable ? REG_NONE : take_register(&vectors, vectors);
	p->t->context = take_register(&usable, calls && usable & key ? key : ~(key | frame));
	p->t->frame = calls ? take_register(&usable, frame) : REG_NONE;
	/* The caller's frame is needed until the context is known. */
	p->t->passes =
		key && frame && !(~p->o->private.core & (key | frame)) && p->t->context != pass[1];
	bool *busy = ARENA_ARRAY(p->tmp, bool, p->forest->loop_count + 1);
	for (uint32_t i = 0; i < p->forest->loop_count; i++)
		busy[i] = p->calls[i] || p->jumps[i];
	holder_init(&p->holder, p->forest, p->o->live, busy, p->tmp);
	p->holder.never = tally_held(p->t);
	p->holder.never.core |= key | frame;
}

/* ---- counters in registers ---- */

/* The innermost loop that counts a chord where control is in it before and afterwards. */
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
	       (c->kind != CARRIER_BLOCK || counted_at(p, c->index) == LOOP_NONE);
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
		struct tally_loop *loop = &p->t->loops[l];
		loop->first_held = first[l];
		while (loop->method == TRIP_HELD && loop->held_count < first[l + 1] - first[l] &&
		       loop->held_count < HELD_MAX) {
			uint8_t counter = holder_take(&p->holder, l);
			if (counter == REG_NONE)
				break;
			p->t->carriers[p->t->held[first[l] + loop->held_count++]].counter = counter;
		}
		loop->registers = p->holder.own[l];
	}
}

bool tally_plan(struct tally *out, const struct flow *f, const struct cfg *g,
		const struct loop_forest *forest, const struct tally_options *o, struct arena *a,
		struct arena *tmp)
{
	struct planner p = {.t = out,
			    .o = o,
			    .image = flow_image(f),
			    .arch = flow_arch(f),
			    .g = g,
			    .forest = forest,
			    .a = a,
			    .tmp = tmp};
	*out = (struct tally){.cfg = g, .forest = forest, .live = o->live};
	if (!g->block_count || g->unresolved || g->bad || g->entry >= g->block_count)
		return false;
	p.calls = ARENA_ARRAY(tmp, bool, forest->loop_count + 1);
	p.jumps = ARENA_ARRAY(tmp, bool, forest->loop_count + 1);
	find_sites(&p);
	out->still = is_still(&p);
	choose_registers(&p);
	plan_loops(&p);
	make_net(&p);
	out->framed = out->site_count || !tally_holds_context(out);
	if (!assign_words(&p))
		return false;
	hold_chords(&p);
	return out->word_count <= RT_COUNTED_WORDS_MAX && out->site_count <= RT_COUNTED_SITES_MAX;
}

bool tally_holds_context(const struct tally *t)
{
	return t->context != REG_NONE || t->context_vector != REG_NONE;
}

struct regset tally_held(const struct tally *t)
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

uint32_t tally_frame_size(const struct tally *t)
{
	size_t size = sizeof(struct rt_shadow) + 8 * (size_t)t->slot_count;
	return t->framed ? (uint32_t)(size + 15) & ~15u : 0;
}
