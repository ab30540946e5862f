/* Walks functions at random, counts everything naively on the way and keeps the counters that the
 * plan has, in registers where it says so; what is derived from those must be the same, and nobody
 * else must need these registers. Random functions of both architectures, and this very program's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "counters/coder.h"
#include "counters/solve.h"
#include "flow/effects.h"
#include "made_code.h"
#include "own_code.h"

enum {
	NETS = 3000,
	FUNCTIONS = 1500,
	OF_THIS_PROGRAM = 600,
	WALKS = 12,
	STEPS = 400,
	NO_END = 1 << 30
};

/* ---- nets ---- */

/* A walk that begins and ends at node 0 takes each edge as often as the solution says. */
static void nets_are_solved_from_their_chords(void **state)
{
	struct arena a;
	(void)state;
	arena_init(&a);
	for (int i = 0; i < NETS; i++) {
		uint32_t nodes = 2 + made_random(12), chords = 0;
		struct net n = {.node_count = nodes, .edge_count = nodes + made_random(20)};
		n.edges = ARENA_ARRAY(&a, struct net_edge, n.edge_count);
		double *weights = ARENA_ARRAY(&a, double, n.edge_count);
		for (uint32_t k = 0; k < n.edge_count; k++) { /* a ring, and more */
			n.edges[k] = (struct net_edge){.from = k < nodes ? k : made_random(nodes),
						       .to = k < nodes ? (k + 1) % nodes
								       : made_random(nodes)};
			weights[k] = made_random(5);
		}
		net_choose(&n, weights, &a, &a);
		int64_t *truth = ARENA_ARRAY(&a, int64_t, n.edge_count);
		int64_t *counts = ARENA_ARRAY(&a, int64_t, n.edge_count);
		int64_t *appears = ARENA_ARRAY(&a, int64_t, nodes);
		uint32_t at = 0;
		for (uint32_t steps = 0; steps < 100 || at; steps++) {
			uint32_t k;
			do
				k = steps < 100 ? made_random(n.edge_count) : at;
			while (n.edges[k].from != at);
			truth[k]++;
			at = n.edges[k].to;
		}
		for (uint32_t k = 0; k < n.edge_count; k++) {
			counts[k] = n.edges[k].chord ? truth[k] : -1;
			chords += n.edges[k].chord;
		}
		assert_int_equal(chords, n.edge_count - nodes + 1);
		assert_true(net_solve(&n, counts, appears));
		assert_memory_equal(counts, truth, n.edge_count * sizeof(*truth));
		arena_clear(&a);
	}
	arena_release(&a);
}

/* ---- probes ---- */

/* A loop that counts in every register there is takes two operations for each where it is left. */
static void probes_have_as_many_operations_as_they_need(void **state)
{
	enum { OPERATIONS = 150 };
	struct arena a;
	struct counters_numbers n = {0};
	(void)state;
	arena_init(&a);
	struct coder c = {.n = &n, .a = &a};
	for (unsigned round = 0; round < 2; round++) {
		begin(&c);
		for (unsigned i = 0; i < OPERATIONS; i++)
			op(&c, EMIT_ADD, V0, V1, 0, i);
		last_aside(&c, 1, 2);
		op(&c, EMIT_CALL, V1, 0, 0, 0);
		struct emit_probe p = code_finished(&c);
		assert_int_equal(p.op_count, OPERATIONS + 1);
		assert_int_equal(p.asides[0].from, OPERATIONS);
		for (unsigned i = 0; i < OPERATIONS; i++)
			assert_int_equal(p.ops[i].imm, i);
	}
	vec_free(&c.ops);
	arena_release(&a);
}

/* ---- functions ---- */

struct naive {
	const struct counters *t;
	uint64_t *words, *blocks, *edges,
		*partial;                      /* partial: of each block, its last instruction */
	struct counters_departure *departures; /* of each site, then in the middle of blocks */
	uint32_t departure_count;
	uint64_t calls;
	const struct liveness *live;
	uint64_t registers[64]; /* general ones and vectors: what loops count in them */
	struct regset spoilt;   /* by the last loop, and not written since */
	uint64_t held;          /* counts that were made in registers */
};

/* ---- loops' registers ---- */

static uint64_t *register_of(struct naive *n, uint8_t operand)
{
	assert_true(operand >= EMIT_HELD && operand < EMIT_VECTOR + 32);
	return &n->registers[operand - EMIT_HELD];
}

static bool is_in(const struct counters *t, uint32_t loop, uint32_t block)
{
	uint32_t l = t->forest->innermost[block];
	while (l != LOOP_NONE && l != loop)
		l = t->forest->loops[l].parent;
	return l == loop;
}

/* What is in registers goes to the words: where the loop is left; or it begins at 0. */
static void pass_border(struct naive *n, uint32_t loop, bool enters)
{
	const struct counters_loop *l = &n->t->loops[loop];
	if (l->method != TRIP_HELD)
		return;
	for (uint32_t i = 0; i <= l->held_count; i++) {
		const struct carrier *c =
			i ? &n->t->carriers[n->t->held[l->first_held + i - 1]] : NULL;
		uint64_t *reg = register_of(n, c ? c->counter : l->trips);
		if (!enters)
			n->words[c ? c->word : l->word] += *reg;
		*reg = enters ? 0 : UINT64_C(0xaaaaaaaaaaaaaaaa);
	}
	n->spoilt = regset_or(n->spoilt, l->registers);
}

static void leave_loops(struct naive *n, uint32_t from, uint32_t to)
{
	for (uint32_t l = n->t->forest->innermost[from]; l != LOOP_NONE;
	     l = n->t->forest->loops[l].parent)
		if (to == BLOCK_NONE || !is_in(n->t, l, to))
			pass_border(n, l, false);
}

static void enter_loops(struct naive *n, uint32_t from, uint32_t to)
{
	for (uint32_t l = n->t->forest->innermost[to]; l != LOOP_NONE;
	     l = n->t->forest->loops[l].parent)
		if (from == BLOCK_NONE || !is_in(n->t, l, from))
			pass_border(n, l, true);
}

/* Nothing touches registers of loops that are running, and what these have left is not read. */
static void check_registers(struct naive *n, uint32_t block)
{
	const struct block *b = &n->t->cfg->blocks[block];
	struct regset held = {0};
	struct decoder c;
	struct insn in;
	for (uint32_t l = n->t->forest->innermost[block]; l != LOOP_NONE;
	     l = n->t->forest->loops[l].parent)
		held = regset_or(held, n->t->loops[l].registers);
	cursor_set(&c, n->live->module, n->live->arch, b->start, b->size);
	while (cursor_next(&c, DECODE_FULL, &in)) {
		struct regset touched = regset_and(held, regset_or(in.reads, in.writes));
		struct regset read = regset_and(n->spoilt, in.reads);
		assert_false(touched.core || touched.vec || read.core || read.vec);
		n->spoilt = regset_without(n->spoilt, in.writes);
		if (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT)
			n->spoilt = (struct regset){0}; /* others' code: see test_liveness.c */
	}
}

static void count_chord(struct naive *n, uint32_t net_edge)
{
	const struct carrier *c = &n->t->carriers[net_edge];
	uint32_t loop = c->kind == CARRIER_BLOCK ? n->t->forest->innermost[c->index] : LOOP_NONE;
	while (loop != LOOP_NONE &&
	       (n->t->forest->loops[loop].header != c->index || n->t->loops[loop].word != c->word))
		loop = n->t->forest->loops[loop].parent;
	uint8_t counter = loop != LOOP_NONE && n->t->loops[loop].method == TRIP_HELD
				  ? n->t->loops[loop].trips
				  : c->counter;
	if (c->word == NO_WORD)
		return;
	if (counter == REG_NONE)
		n->words[c->word]++;
	else
		++*register_of(n, counter);
	n->held += counter != REG_NONE;
}

static uint32_t find_carrier(const struct counters *t, enum carrier_kind kind, uint32_t index)
{
	for (uint32_t i = 0; i < t->net.edge_count; i++)
		if (t->carriers[i].kind == kind && t->carriers[i].index == index)
			return i;
	return UINT32_MAX;
}

static uint32_t last_site(const struct counters *t, uint32_t block)
{
	for (uint32_t i = 0; i < t->site_count; i++)
		if (t->sites[i].block == block && !t->sites[i].syscall)
			return i;
	return UINT32_MAX;
}

/* Executes a block; false if control never comes to its end, because a system call was the last
 * thing it did. */
static bool pass_block(struct naive *n, uint32_t b)
{
	n->blocks[b]++;
	count_chord(n, n->t->block_edge[b]);
	check_registers(n, b);
	for (uint32_t i = 0; i < n->t->site_count; i++)
		if (n->t->sites[i].block == b && n->t->sites[i].syscall && !made_random(30)) {
			n->departures[i].left++;
			return false;
		}
	n->partial[b]++;
	return true;
}

static void take_edge(struct naive *n, uint32_t edge)
{
	const struct edge *e = &n->t->cfg->edges[edge];
	n->edges[edge]++;
	leave_loops(n, e->from, e->to);
	enter_loops(n, e->from, e->to);
	if (n->t->flow_edge[edge] != UINT32_MAX)
		count_chord(n, n->t->flow_edge[edge]);
}

/* Along an edge behind a call; exceptions leave, and arrive elsewhere. Now and then control comes
 * back that has not left here: longjmp to a setjmp, of which the calls between were left. */
static void come_back(struct naive *n, uint32_t site, uint32_t edge)
{
	const struct edge *e = &n->t->cfg->edges[edge];
	if (e->kind == EDGE_UNWIND) {
		n->departures[site].left++;
		count_chord(n, find_carrier(n->t, CARRIER_LANDING, e->to));
		n->edges[edge]++;
		enter_loops(n, e->from, e->to);
	} else if (!made_random(20)) {
		n->departures[site].left++;
		n->departures[site].resumed++;
		take_edge(n, edge);
	} else {
		take_edge(n, edge);
	}
}

/* Whether the walk can end with this block: in a call, or because it leaves the function. */
static bool may_end(const struct naive *n, uint32_t b)
{
	return last_site(n->t, b) != UINT32_MAX ||
	       find_carrier(n->t, CARRIER_LEAVE, b) != UINT32_MAX;
}

static void end(struct naive *n, uint32_t b)
{
	uint32_t site = last_site(n->t, b);
	leave_loops(n, b, BLOCK_NONE);
	if (site != UINT32_MAX)
		n->departures[site].left++;
	else
		count_chord(n, find_carrier(n->t, CARRIER_LEAVE, b));
}

/* Edges from each block to the nearest that may end. */
static uint32_t *find_distances(const struct naive *n, struct arena *a)
{
	const struct cfg *g = n->t->cfg;
	uint32_t *far = ARENA_ARRAY(a, uint32_t, g->block_count);
	for (uint32_t b = 0; b < g->block_count; b++)
		far[b] = may_end(n, b) ? 0 : NO_END;
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < g->edge_count; i++) {
			const struct edge *e = &g->edges[i];
			if (far[e->to] + 1 < far[e->from]) {
				far[e->from] = far[e->to] + 1;
				again = true;
			}
		}
	}
	return far;
}

/* Never to where there is no end. */
static uint32_t choose_edge(const struct cfg *g, const struct block *b, const uint32_t *far,
			    bool hurry)
{
	uint32_t best = b->first_edge + made_random(b->edge_count);
	hurry |= far[g->edges[best].to] >= NO_END;
	for (uint32_t i = b->first_edge; hurry && i < b->first_edge + b->edge_count; i++)
		if (far[g->edges[i].to] < far[g->edges[best].to])
			best = i;
	return best;
}

/* Whether there is a way on to an end. */
static bool goes_on(const struct cfg *g, const struct block *b, const uint32_t *far)
{
	for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++)
		if (far[g->edges[i].to] < NO_END)
			return true;
	return false;
}

/* In the middle of a block that has no system call; false if it has no middle. */
static bool depart_within(struct naive *n, uint32_t b, bool left)
{
	uint32_t insns = n->t->cfg->blocks[b].insn_count;
	for (uint32_t i = 0; i < n->t->site_count; i++)
		if (n->t->sites[i].block == b && n->t->sites[i].syscall)
			return false;
	if (insns < 2)
		return false;
	n->departures[n->departure_count++] = (struct counters_departure){
		.block = b, .insn = 1 + made_random(insns - 1), .left = left, .resumed = !left};
	return true;
}

/* The walk is over at the top of a block, or in its middle: the thread was left there. */
static bool is_left_at(struct naive *n, uint32_t b)
{
	if (made_random(50))
		return false;
	if (made_random(2)) {
		n->departures[n->departure_count++] =
			(struct counters_departure){.block = b, .arriving = true, .left = 1};
		return true;
	}
	if (!depart_within(n, b, true))
		return false;
	n->blocks[b]++;
	count_chord(n, n->t->block_edge[b]);
	return true;
}

/* From the entry on, or from the middle of a block where the thread was met. */
static void walk_once(struct naive *n, const uint32_t *far)
{
	const struct cfg *g = n->t->cfg;
	uint32_t at = g->entry, met = made_random(g->block_count);
	bool within = far[met] < NO_END && !made_random(4) && depart_within(n, met, false);
	if (within)
		n->partial[at = met]++;
	else
		n->calls++;
	n->spoilt = (struct regset){0};
	enter_loops(n, BLOCK_NONE, at);
	for (int steps = 0;; steps++) {
		const struct block *b = &g->blocks[at];
		uint32_t site = last_site(n->t, at);
		bool hurry = steps > STEPS;
		if (!within && is_left_at(n, at)) {
			leave_loops(n, at, BLOCK_NONE);
			return;
		}
		if (!within && !pass_block(n, at))
			return;
		within = false;
		if (may_end(n, at) && (hurry || !goes_on(g, b, far) || !made_random(8))) {
			end(n, at);
			return;
		}
		uint32_t edge = choose_edge(g, b, far, hurry);
		if (site != UINT32_MAX)
			come_back(n, site, edge);
		else
			take_edge(n, edge);
		at = g->edges[edge].to;
	}
}

static void compare(const struct naive *n, struct arena *a)
{
	const struct counters *t = n->t;
	struct counters_reading r = {.words = n->words,
				     .calls = n->calls,
				     .departures = n->departures,
				     .departure_count = n->departure_count};
	bool good;
	int64_t *counts = counters_solve(t, &r, &good, a);
	assert_true(good);
	for (uint32_t b = 0; b < t->cfg->block_count; b++) {
		uint32_t last = t->cfg->blocks[b].insn_count - 1;
		assert_int_equal(counters_executions(t, &r, counts, b, 0), n->blocks[b]);
		assert_int_equal(counters_executions(t, &r, counts, b, last + 1), n->partial[b]);
	}
	for (uint32_t i = 0; i < t->cfg->edge_count; i++)
		if (t->flow_edge[i] != UINT32_MAX)
			assert_int_equal(counters_edge(t, counts, i), n->edges[i]);
}

/* What could be planned, and counts that were made in registers. */
struct planned {
	uint32_t functions;
	uint64_t held;
};

static void walk(const struct counters *t, const struct liveness *live, struct planned *p,
		 struct arena *a)
{
	const struct cfg *g = t->cfg;
	struct naive n = {.t = t,
			  .live = live,
			  .words = ARENA_ARRAY(a, uint64_t, t->word_count + 1),
			  .blocks = ARENA_ARRAY(a, uint64_t, g->block_count),
			  .partial = ARENA_ARRAY(a, uint64_t, g->block_count),
			  .edges = ARENA_ARRAY(a, uint64_t, g->edge_count),
			  .departures = ARENA_ARRAY(a, struct counters_departure,
						    t->site_count + 2 * WALKS + 1),
			  .departure_count = t->site_count};
	for (uint32_t i = 0; i < t->site_count; i++)
		n.departures[i].site = i + 1;
	uint32_t *far = find_distances(&n, a);
	for (int i = 0; i < WALKS && far[g->entry] < NO_END; i++)
		walk_once(&n, far);
	compare(&n, a);
	p->functions++;
	p->held += n.held;
}

static void check_function(const struct flow *f, const struct cfg *g, struct regset private,
			   struct planned *p, struct arena *a)
{
	struct loop_forest forest;
	struct liveness live;
	struct counters t;
	struct arena tmp;
	arena_init(&tmp);
	loops_find(g, &forest, a, &tmp);
	liveness_find(&live, f, g, private, a, &tmp);
	struct counters_options o = {.live = &live, .private = private};
	bool known = counters_plan(&t, f, g, &forest, &o, a, &tmp);
	arena_clear(&tmp); /* nothing that is needed is there */
	if (known)
		walk(&t, &live, p, &tmp);
	arena_release(&tmp);
}

static void counts_of_made_functions_follow_from_their_counters(void **state)
{
	struct planned planned = {0};
	struct arena a;
	(void)state;
	arena_init(&a);
	for (int i = 0; i < FUNCTIONS; i++) {
		struct private_registers p;
		struct made m;
		assert_true(made_open(&m, i & 1 ? &arch_a64 : &arch_x64));
		private_find(&p, m.flow);
		check_function(m.flow, made_cfg(&m, &a, &a),
			       p.of[made_function(&m, "big")].registers, &planned, &a);
		private_release(&p);
		made_close(&m);
		arena_clear(&a);
	}
	assert_true(planned.functions > FUNCTIONS / 2);
	assert_true(planned.held > FUNCTIONS);
	arena_release(&a);
}

/* A loop without calls, also if the compiler instruments the code: most loops make calls then. */
__attribute__((noinline, used, no_sanitize("address", "undefined"))) static unsigned
bare_loop(unsigned n)
{
	unsigned sum = n;
	while (n > 1) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		sum ^= n;
	}
	return sum;
}

static uint32_t function_named(const struct own_code *own, const char *name)
{
	for (uint32_t i = 0; i < own->count; i++)
		if (own->functions[i].name && !strcmp(own->functions[i].name, name))
			return i;
	fail_msg("there is no %s", name);
	return 0;
}

static void check_own(const struct own_code *own, uint32_t function, struct planned *planned)
{
	struct arena a;
	arena_init(&a);
	check_function(own->flow, flow_cfg(own->flow, function, &a, &a),
		       own->private.of[function].registers, planned, &a);
	arena_release(&a);
}

static void so_do_those_of_this_program(void **state)
{
	struct own_code own;
	struct planned planned = {0};
	(void)state;
	own_code_open(&own);
	for (int i = 0; i < OF_THIS_PROGRAM; i++)
		check_own(&own, made_random(own.count), &planned);
	assert_true(planned.functions > OF_THIS_PROGRAM * 9 / 10);
	uint64_t held = planned.held;
	check_own(&own, function_named(&own, "bare_loop"), &planned);
	assert_true(planned.held > held);
	own_code_close(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nets_are_solved_from_their_chords),
		cmocka_unit_test(probes_have_as_many_operations_as_they_need),
		cmocka_unit_test(counts_of_made_functions_follow_from_their_counters),
		cmocka_unit_test(so_do_those_of_this_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
