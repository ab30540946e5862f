/* Contexts, shadow stacks and trip counts: the slow ways of code that counts, and what Sonde reads
 * of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counted_program.h"
#include "probe/engine/fork_contexts.h"
#include "probe/region/contexts.h"
#include "probe/region/region_file.h"

enum { ONE = 1, TWO, THREE, FOUR, LEAF };

static void define_all(struct counted_program *p)
{
	for (uint32_t i = ONE; i <= FOUR; i++)
		define(p, i, 4, i % 3);
	define_leaf(p, LEAF);
}

static void start(struct counted_program *p)
{
	define_all(p);
	begin_function(p, ONE, p->now->sp);
}

static struct rt_count *state_of(struct counted_program *p)
{
	return (struct rt_count *)(p->bench->region + RT_COUNT_AREA(0) + RT_COUNT_STATE);
}

static uint64_t run_time(struct counted_program *p, uint64_t offset)
{
	return (uint64_t)p->bench->region + offset;
}

static void assert_shadow_is_empty(struct counted_program *p)
{
	assert_int_equal(p->bench->area->top, run_time(p, RT_COUNT_AREA(0) + RT_COUNT_ROOT));
}

static uint64_t all_departures(const struct counted_thread *t)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->departure_count; i++)
		sum += t->departures[i].left + t->departures[i].resumed;
	return sum;
}

/* The function that the first context of another one is below. */
static uint32_t parent_of(const struct counted_thread *t, uint32_t function)
{
	uint32_t i = 1;
	while (i < t->context_count && t->contexts[i].function != function)
		i++;
	assert_true(i < t->context_count);
	return t->contexts[t->contexts[i].parent].function;
}

/* ---- contexts ---- */

static void calls_make_contexts(void **state)
{
	struct counted_program *p = *state;
	start(p);
	for (unsigned i = 0; i < 100; i++) {
		call_function(p, 1, TWO);
		call_function(p, 3, LEAF);
		return_to_caller(p);
		return_to_caller(p);
		call_function(p, 2, TWO);
		return_to_caller(p);
	}
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(t->frame_count, 1);
	leave_function(p);
	assert_shadow_is_empty(p);
	assert_int_equal(p->slow, 4); /* each context once */
	assert_int_equal(t->context_count, 5);
	assert_int_equal(t->contexts[0].parent, CONTEXT_NONE);
	for (uint32_t i = 1; i < t->context_count; i++)
		assert_true(t->contexts[i].parent < i);
	assert_int_equal(t->call_count, 4);
	assert_int_equal(calls_between(t, 0, 0, ONE), 1);
	assert_int_equal(calls_between(t, ONE, 1, TWO), 100);
	assert_int_equal(calls_between(t, ONE, 2, TWO), 100);
	assert_int_equal(calls_between(t, TWO, 3, LEAF), 100);
	assert_int_equal(runs_of(t, TWO), 200);
	assert_int_equal(runs_of(t, LEAF), 100);
	assert_int_equal(all_departures(t), 0);
}

static bool is_preserved(unsigned reg)
{
#ifdef __aarch64__
	return reg < 16 || (reg > 18 && reg < 30);
#else
	return reg && reg < 16 && reg != SP;
#endif
}

static void keeps_registers(void **state)
{
	struct counted_program *p = *state;
	const struct rt_entry_table *e = entries(p->bench);
	uint32_t routines[] = {e->called, e->returned, e->landed, e->tripped, e->find};
	start(p);
	for (unsigned round = 0; round < 80; round++) {
		struct machine in, out = {0};
		for (unsigned i = 0; i < 32; i++)
			in.reg[i] = i * UINT64_C(0x0123456789abcdef) + round;
		in.flags = (round % 16 * UINT64_C(0x10000000) | round * 0x45) & FLAG_BITS;
		call_operation(&in, &out, (uint64_t)p->bench->text + routines[round % 5], TWO,
			       p->now->sp - round % 7 * 16);
		for (unsigned i = 0; i < 32; i++)
			if (is_preserved(i))
				assert_int_equal(in.reg[i], out.reg[i]);
		assert_int_equal(in.flags, out.flags & FLAG_BITS);
	}
}

static void recursion_is_folded(void **state)
{
	struct counted_program *p = *state;
	enum { DEPTH = 100000 };
	start(p);
	call_function(p, 1, TWO);
	for (unsigned i = 0; i < DEPTH; i++)
		call_function(p, 2, TWO);
	for (unsigned i = 0; i < DEPTH; i++)
		return_to_caller(p);
	return_to_caller(p);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(t->context_count, 4);
	assert_int_equal(calls_between(t, TWO, 2, TWO), DEPTH);
	assert_int_equal(runs_of(t, TWO), DEPTH + 1);
	leave_function(p);
	assert_shadow_is_empty(p);
	assert_true(p->slow < 10);
}

static void mutual_recursion_is_folded(void **state)
{
	struct counted_program *p = *state;
	enum { DEPTH = 60000 };
	start(p);
	for (unsigned i = 0; i < DEPTH; i++)
		call_function(p, 1 + i % 3, TWO + i % 2);
	for (unsigned i = 0; i < DEPTH; i++)
		return_to_caller(p);
	const struct counted_thread *t = counts_of(p);
	assert_true(t->context_count < 20);
	assert_int_equal(runs_of(t, TWO) + runs_of(t, THREE), DEPTH);
	for (uint32_t site = 1; site <= 3; site++)
		assert_int_equal(calls_between(t, TWO, site, THREE) +
					 calls_between(t, THREE, site, TWO) +
					 calls_between(t, ONE, site, TWO),
				 DEPTH / 3);
	assert_true(p->slow < 60);
}

/* ---- against a naive model: random calls ---- */

enum { FUNCTIONS = 6, SITES = 4, EDGES = (FUNCTIONS + 1) * SITES * (FUNCTIONS + 1) };

struct model {
	uint64_t self[FUNCTIONS + 1], total[FUNCTIONS + 1];
	uint64_t calls[EDGES];
	uint64_t loop_total[EDGES]; /* of callees, by the loop they are called in */
	uint64_t edge_total[EDGES];
};

static uint32_t edge(uint32_t caller, uint32_t site, uint32_t callee)
{
	return (caller * SITES + site) * (FUNCTIONS + 1) + callee;
}

static uint32_t edge_at(const struct counted_stack *s, uint32_t depth)
{
	const struct activation *a = &s->activations[depth];
	return depth ? edge(a[-1].function, a[-1].site, a->function) : edge(0, 0, a->function);
}

/* Those with a loop call at their last site outside it: see define_functions(). */
static uint32_t without_site(uint32_t e)
{
	uint32_t caller = e / (FUNCTIONS + 1) / SITES, site = e / (FUNCTIONS + 1) % SITES;
	return edge(caller, caller % 2 && site < SITES - 1, e % (FUNCTIONS + 1));
}

static void add_totals(struct model *m, const bool *functions, const bool *edges, uint64_t runs)
{
	bool loops[EDGES] = {false};
	for (unsigned i = 0; i <= FUNCTIONS; i++)
		m->total[i] += functions[i] ? runs : 0;
	for (unsigned i = 0; i < EDGES; i++) {
		m->edge_total[i] += edges[i] ? runs : 0;
		loops[without_site(i)] |= edges[i];
	}
	for (unsigned i = 0; i < EDGES; i++)
		m->loop_total[i] += loops[i] ? runs : 0;
}

/* One run of the innermost activation, for whatever is on the stack, each once. */
static void model_run(struct model *m, const struct counted_stack *s)
{
	bool functions[FUNCTIONS + 1] = {false}, edges[EDGES] = {false};
	for (uint32_t i = 0; i < s->depth; i++) {
		functions[s->activations[i].function] = true;
		edges[edge_at(s, i)] = true;
	}
	m->self[s->activations[s->depth - 1].function]++;
	m->calls[edge_at(s, s->depth - 1)]++;
	add_totals(m, functions, edges, 1);
}

static void model_of_context(struct model *m, const struct counted_thread *t, uint32_t context)
{
	bool functions[FUNCTIONS + 1] = {false}, edges[EDGES] = {false};
	const struct counted_context *x = &t->contexts[context];
	uint64_t runs = word_of(x, WORD_RUNS);
	m->self[x->function] += runs;
	for (; x->parent != CONTEXT_NONE; x = &t->contexts[x->parent]) {
		functions[x->function] = true;
		edges[edge(t->contexts[x->parent].function, x->site, x->function)] = true;
	}
	add_totals(m, functions, edges, runs);
}

static void model_of_counts(struct model *m, const struct counted_thread *t)
{
	memset(m, 0, sizeof(*m));
	for (uint32_t i = 0; i < t->context_count; i++)
		model_of_context(m, t, i);
	for (uint32_t i = 0; i < t->call_count; i++)
		m->calls[edge(t->contexts[t->calls[i].parent].function, t->calls[i].site,
			      t->contexts[t->calls[i].child].function)] += t->calls[i].calls;
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* Mostly deeper for a while, then mostly back. */
static void run_randomly(struct counted_program *p, struct model *m, uint64_t seed, unsigned steps)
{
	enum { DEPTH = 60 };
	for (unsigned i = 0; i < steps; i++) {
		uint32_t r = next_random(&seed), turn = i / 50 % 2 ? 3 : 7;
		bool deeper = p->now->depth == 1 || (r % 10 < turn && p->now->depth < DEPTH);
		if (deeper) {
			call_function(p, 1 + r / 10 % (SITES - 1), 1 + r / 100 % FUNCTIONS);
			model_run(m, p->now);
		} else {
			return_to_caller(p);
		}
	}
}

static void define_functions(struct counted_program *p)
{
	for (uint32_t i = 1; i <= FUNCTIONS; i++) {
		define(p, i, SITES - 1, i % 2);
		set_loop(p, i, SITES - 1, 0);
	}
}

/* What is naive is added to what was before. */
static const struct counted_thread *run_models(struct counted_program *p, uint64_t seed,
					       struct model *naive, struct model *counted)
{
	if (!p->now->depth) {
		begin_function(p, 1, p->now->sp);
		model_run(naive, p->now);
	}
	run_randomly(p, naive, seed, 2000);
	const struct counted_thread *t = counts_of(p);
	model_of_counts(counted, t);
	assert_int_equal(t->state.dropped_contexts + t->state.dropped_calls, 0);
	assert_int_equal(all_departures(t), 0);
	return t;
}

static void totals_are_exact(void **state)
{
	struct counted_program *p = *state;
	struct model naive = {0}, counted;
	define_functions(p);
	for (uint64_t seed = 1; seed < 20; seed++) {
		const struct counted_thread *t = run_models(p, seed, &naive, &counted);
		assert_memory_equal(&naive, &counted, sizeof(naive));
		assert_int_equal(t->state.merged + t->state.cut, 0);
	}
}

/* ---- too many paths ---- */

/* From the first one on, or after a while. */
static void merged_paths_keep_totals(void **state)
{
	struct counted_program *p = *state;
	struct model naive = {0}, counted;
	define_functions(p);
	for (uint64_t seed = 1; seed < 20; seed++) {
		header(p->bench)->context_limit = seed < 3 ? RT_CONTEXT_LIMIT : 1;
		const struct counted_thread *t = run_models(p, seed, &naive, &counted);
		assert_memory_equal(&naive, &counted, offsetof(struct model, edge_total));
		assert_int_equal(t->state.cut, 0);
		assert_int_equal(t->state.merged > 0, seed >= 3);
	}
}

static void assert_none_is_larger(const uint64_t *counted, const uint64_t *naive, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_true(counted[i] <= naive[i]);
}

static void assert_counts_are_kept(const struct model *naive, const struct model *counted)
{
	assert_memory_equal(naive->self, counted->self, sizeof(naive->self));
	assert_memory_equal(naive->calls, counted->calls, sizeof(naive->calls));
	assert_none_is_larger(counted->total, naive->total, FUNCTIONS + 1);
}

static void cut_paths_keep_counts(void **state)
{
	struct counted_program *p = *state;
	struct model naive = {0}, counted;
	define_functions(p);
	header(p->bench)->context_limit = header(p->bench)->context_room = 1;
	for (uint64_t seed = 1; seed < 10; seed++) {
		const struct counted_thread *t = run_models(p, seed, &naive, &counted);
		assert_counts_are_kept(&naive, &counted);
		assert_int_equal(t->context_count, FUNCTIONS + 1);
		assert_true(t->state.cut > 0);
	}
}

/* The outermost callers are known longest. */
static void paths_are_cut_step_by_step(void **state)
{
	struct counted_program *p = *state;
	enum { PATHS = 40, DEPTH = 30 };
	define_all(p);
	for (uint32_t i = 0; i < PATHS * DEPTH; i++)
		define(p, 100 + i, 2, 0);
	header(p->bench)->context_limit = 1;
	header(p->bench)->context_room = 64 << 10;
	begin_function(p, ONE, p->now->sp);
	for (unsigned i = 0; i < PATHS; i++) {
		for (unsigned k = 0; k < DEPTH; k++)
			call_function(p, 1 + i % 2, 100 + i * DEPTH + k);
		for (unsigned k = 0; k < DEPTH; k++)
			return_to_caller(p);
	}
	const struct counted_thread *t = counts_of(p);
	assert_true(t->state.cut > 0);
	uint32_t depth[PATHS * DEPTH + 2] = {0}, deepest = 0;
	for (uint32_t i = 1; i < t->context_count; i++) {
		depth[i] = depth[t->contexts[i].parent] + 1;
		assert_int_equal(runs_of(t, t->contexts[i].function), 1);
		if (t->contexts[i].function == 99 + PATHS * DEPTH)
			deepest = depth[i];
	}
	assert_int_equal(t->context_count, PATHS * DEPTH + 2);
	assert_int_equal(depth[1 + DEPTH], DEPTH + 1);
	assert_int_equal(deepest, 1);
}

/* ---- slots ---- */

static void sites_with_several_callees_lose_nothing(void **state)
{
	struct counted_program *p = *state;
	uint64_t expected[FOUR + 1] = {0};
	start(p);
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t callee = i < 100 ? TWO : i % 4 ? TWO + i % 3 : TWO;
		expected[callee]++;
		call_function(p, 2, callee);
		return_to_caller(p);
	}
	uint32_t before = p->slow;
	for (unsigned i = 0; i < 1000; i++) {
		expected[FOUR]++;
		call_function(p, 2, FOUR);
		return_to_caller(p);
	}
	assert_true(p->slow < before + 20); /* it is found soon */
	const struct counted_thread *t = counts_of(p);
	for (uint32_t i = TWO; i <= FOUR; i++) {
		assert_int_equal(calls_between(t, ONE, 2, i), expected[i]);
		assert_int_equal(runs_of(t, i), expected[i]);
	}
	assert_int_equal(t->state.dropped_calls, 0);
}

/* The index grows, and everything is found again. */
static void many_contexts_are_found_again(void **state)
{
	struct counted_program *p = *state;
	enum { CALLEES = 20000 };
	define_all(p);
	for (uint32_t i = 0; i < CALLEES; i++)
		define_leaf(p, 100 + i);
	begin_function(p, ONE, p->now->sp);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 0; i < CALLEES; i++) {
			call_function(p, 1 + i % 4, 100 + i);
			return_to_caller(p);
		}
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(t->context_count, CALLEES + 2);
	for (uint32_t i = 0; i < CALLEES; i += 999)
		assert_int_equal(calls_between(t, ONE, 1 + i % 4, 100 + i), 2);
}

/* ---- activations that are left ---- */

static void longjmp_leaves_activations(void **state)
{
	struct counted_program *p = *state;
	start(p);
	call_function(p, 1, LEAF); /* setjmp */
	return_to_caller(p);
	for (unsigned i = 0; i < 3; i++) {
		call_function(p, 2, TWO);
		frame_of(p)->trips[0] = 5;
		frame_of(p)->trips[1] = 100 + i;
		call_function(p, 3, THREE);
		call_function(p, 4, FOUR);
		leave_silently(p, 3);
		come_back_behind(p, 1);
	}
	const struct counted_thread *t = counts_of(p);
	struct counted_departure d = departures_of(t, ONE, 2);
	assert_int_equal(d.left, 3);
	assert_int_equal(d.resumed, 0);
	d = departures_of(t, ONE, 1);
	assert_int_equal(d.left, 0);
	assert_int_equal(d.resumed, 3);
	assert_int_equal(departures_of(t, TWO, 3).left, 3);
	assert_int_equal(departures_of(t, THREE, 4).left, 3);
	assert_int_equal(departures_of(t, FOUR, 0).left, 3);
	assert_int_equal(all_departures(t), 15);
	assert_int_equal(trips_of(t, 16 * TWO)->exact[5], 3);
	assert_int_equal(trips_of(t, 16 * TWO + 1)->large[1], 3);
	assert_int_equal(trips_of(t, 16 * TWO + 1)->large_min, 100);
	assert_int_equal(trips_of(t, 16 * TWO + 1)->large_max, 102);
	assert_int_equal(t->contexts[3].function, TWO);
	assert_int_equal(word_of(&t->contexts[3], WORD_LOOPS), 15);
	assert_int_equal(word_of(&t->contexts[3], WORD_LOOPS + 1), 303);
	leave_function(p);
	assert_shadow_is_empty(p);
}

/* To code that does not count, which calls something else from where it called before. */
static void left_activations_do_not_call(void **state)
{
	struct counted_program *p = *state;
	start(p);
	call_function(p, 1, TWO);
	call_function(p, 1, THREE);
	leave_silently(p, 2);
	begin_function(p, FOUR, running(p)->sp - CALL_PUSHED);
	return_to_caller(p);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(calls_between(t, ONE, 1, FOUR), 1);
	assert_int_equal(departures_of(t, TWO, 1).left, 1);
	assert_int_equal(departures_of(t, THREE, 0).left, 1);
	assert_int_equal(all_departures(t), 2);
}

/* A call that does not return may be made with nothing on the stack. */
static void frameless_callers_call(void **state)
{
	struct counted_program *p = *state;
	start(p);
	call_function(p, 1, TWO);
	running(p)->sp = running(p)->entry_sp;
	call_function(p, 2, THREE);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(calls_between(t, TWO, 2, THREE), 1);
	assert_int_equal(all_departures(t), 0);
	/* And a system call: a handler left something on top. */
	running(p)->sp = running(p)->entry_sp;
	frame_of(p)->key = running(p)->sp | UINT64_C(3) << RT_KEY_SITE;
	begin_function(p, FOUR, running(p)->sp - 512);
	leave_silently(p, 1);
	come_back_behind(p, 3);
	t = counts_of(p);
	assert_int_equal(running(p)->context->function, THREE);
	assert_int_equal(departures_of(t, FOUR, 0).left, 1);
	assert_int_equal(all_departures(t), 1);
}

static void exceptions_land(void **state)
{
	struct counted_program *p = *state;
	start(p);
	for (unsigned i = 0; i < 2; i++) {
		call_function(p, 1, TWO);
		frame_of(p)->trips[0] = 7;
		frame_of(p)->trips[1] = 3;
		call_function(p, 2, TWO);
		frame_of(p)->trips[0] = 9;
		call_function(p, 3, THREE);
		leave_silently(p, 2);
		land(p, loop_of(TWO, 1) + 1);
		assert_int_equal(frame_of(p)->trips[1], 3);
		return_to_caller(p);
	}
	call_function(p, 4, TWO);
	frame_of(p)->trips[0] = frame_of(p)->trips[1] = 1;
	call_function(p, 4, THREE);
	leave_silently(p, 1);
	land(p, 0);
	leave_silently(p, 1); /* by a handler, in the middle */
	come_back_behind(p, 4);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(departures_of(t, TWO, 4).left, 1);
	assert_int_equal(departures_of(t, TWO, 0).left, 1);
	assert_int_equal(trips_of(t, 16 * TWO)->exact[7], 2);
	assert_int_equal(trips_of(t, 16 * TWO)->exact[9], 2);
	assert_int_equal(departures_of(t, TWO, 2).left, 2);
	assert_int_equal(departures_of(t, TWO, 3).left, 2);
	assert_int_equal(departures_of(t, THREE, 0).left, 3);
	assert_int_equal(all_departures(t), 9);
	leave_function(p);
	assert_shadow_is_empty(p);
}

/* Frames that were there before leave anything behind. */
static void soil_shadow(struct counted_program *p)
{
	memset((char *)p->bench->area->top - 16 * RT_FRAME_MAX, 0x31, 16 * RT_FRAME_MAX);
}

/* Attached in the middle: three activations are running that nobody has seen. */
static void unknown_activations_are_met(void **state)
{
	struct counted_program *p = *state;
	define_all(p);
	uint64_t sp = p->now->sp;
	for (uint32_t i = 0; i < 3; i++) {
		p->now->activations[i] = (struct activation){
			.function = ONE + i, .entry_sp = sp, .sp = sp - 48, .site = 2};
		sp -= 48 + CALL_PUSHED;
	}
	p->now->depth = 3;
	soil_shadow(p);
	come_back_behind(p, 2);
	call_function(p, 1, FOUR);
	return_to_caller(p);
	call_function(p, 1, FOUR);
	return_to_caller(p);
	return_to_caller(p);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(frame_of(p)->trips[i], 0);
	call_function(p, 3, LEAF);
	return_to_caller(p);
	land(p, 0);
	return_to_caller(p);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(calls_between(t, THREE, 1, FOUR), 2);
	assert_int_equal(calls_between(t, TWO, 3, LEAF), 1);
	assert_int_equal(calls_between(t, 0, 0, THREE), 0);
	for (uint32_t i = ONE; i <= THREE; i++) {
		assert_int_equal(departures_of(t, i, 2).resumed, 1);
		assert_int_equal(parent_of(t, i), 0);
	}
	assert_int_equal(departures_of(t, TWO, 3).left, 1);
	leave_function(p);
	assert_shadow_is_empty(p);
}

/* A callee jumps into the middle of a leaf, again and again: from some time on, the code finds in
 * the table of callees where to count that. Calls of the leaf are not confused with it. */
static void jumps_into_the_middle_are_remembered(void **state)
{
	enum { SITE = 2, PLACE = 0x47, JUMPS = 20 };
	struct counted_program *p = *state;
	start(p);
	frame_of(p)->key = running(p)->sp | (uint64_t)SITE << RT_KEY_SITE;
	uint64_t slot = frame_of(p)->context - SITE * sizeof(struct rt_context_slot), context = 0;
	for (unsigned i = 0; i < JUMPS; i++)
		context = call_runtime(p, entries(p->bench)->returned,
				       LEAF | (uint64_t)(RT_PLACE | PLACE) << 32,
				       running(p)->sp - CALL_PUSHED);
	const struct rt_callee *e = (const struct rt_callee *)p->bench->area->callees;
	e += ((slot >> 4) + LEAF * RT_CALLEE_STEP + PLACE) % (1 << RT_CALLEE_BITS);
	assert_int_equal(e->slot, slot + RT_CALLEE_JUMPED);
	assert_int_equal(e->child, context);
	++*(uint64_t *)e->calls;
	call_function(p, SITE, LEAF);
	return_to_caller(p);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(departures_of(t, LEAF, 0).resumed, JUMPS + 1);
	assert_int_equal(calls_between(t, running(p)->function, SITE, LEAF), 1);
}

/* ---- other stacks ---- */

enum { COROUTINES = 3, COROUTINE_STACK = 1 << 16 };

static uint8_t *map_stacks(uint32_t count)
{
	uint8_t *m = mmap(NULL, (size_t)count * COROUTINE_STACK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(m != MAP_FAILED);
	return m;
}

static uint64_t stack_top(uint8_t *stacks, uint32_t i)
{
	return (uint64_t)(stacks + (i + 1) * (size_t)COROUTINE_STACK) - 64;
}

/* The running activation waits in swapcontext(), which does not count, and another stack goes on.
 */
static void switch_to(struct counted_program *p, struct counted_stack *to)
{
	frame_of(p)->key = running(p)->sp | UINT64_C(4) << RT_KEY_SITE;
	running(p)->site = 4;
	p->now = to;
	if (p->now->depth)
		come_back_behind(p, 4);
}

/* Each coroutine gets one level deeper in turn, and then back. */
static void run_coroutines(struct counted_program *p, struct counted_stack *stacks, bool direct)
{
	enum { LEVELS = 5 };
	for (unsigned level = 0; level < 2 * LEVELS; level++)
		for (unsigned i = 0; i < COROUTINES; i++) {
			switch_to(p, &stacks[i]);
			if (!p->now->depth)
				begin_function(p, TWO, p->now->sp);
			else if (level < LEVELS)
				call_function(p, 1 + i, TWO);
			else if (p->now->depth > 1)
				return_to_caller(p);
			if (!direct)
				switch_to(p, &p->main);
		}
	if (direct)
		switch_to(p, &p->main);
}

static void check_coroutines(struct counted_program *p, bool direct)
{
	struct counted_stack stacks[COROUTINES];
	uint8_t *memory = map_stacks(COROUTINES);
	start(p);
	for (uint32_t i = 0; i < COROUTINES; i++)
		stacks[i] = new_stack(stack_top(memory, i));
	run_coroutines(p, stacks, direct);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(runs_of(t, TWO), COROUTINES * 5);
	for (uint32_t i = 0; i < COROUTINES; i++) {
		assert_int_equal(calls_between(t, TWO, 1 + i, TWO), 4);
		free_stack(&stacks[i]);
	}
	assert_int_equal(all_departures(t), 0);
	assert_int_equal(t->state.dropped_asides, 0);
	assert_int_equal(t->frame_count, 1 + COROUTINES);
	assert_false(t->frames[0].aside);
	assert_true(t->frames[1].aside);
	leave_function(p);
	assert_shadow_is_empty(p);
	munmap(memory, (size_t)COROUTINES * COROUTINE_STACK);
}

static void coroutines_keep_their_frames(void **state)
{
	check_coroutines(*state, false);
}

static void coroutines_switch_directly(void **state)
{
	check_coroutines(*state, true);
}

/* One began on top of the other, and both were set aside at once. */
static void coroutines_come_back_one_by_one(void **state)
{
	struct counted_program *p = *state;
	uint8_t *memory = map_stacks(2);
	struct counted_stack inner = new_stack(stack_top(memory, 0));
	struct counted_stack outer = new_stack(stack_top(memory, 1));
	start(p);
	switch_to(p, &outer);
	begin_function(p, TWO, outer.sp);
	call_function(p, 1, THREE);
	switch_to(p, &inner);
	begin_function(p, FOUR, inner.sp);
	switch_to(p, &p->main);
	for (unsigned i = 0; i < 3; i++) {
		switch_to(p, &outer);
		assert_int_equal(running(p)->context->function, THREE);
		switch_to(p, &p->main);
		switch_to(p, &inner);
		assert_int_equal(running(p)->context->function, FOUR);
		switch_to(p, &p->main);
	}
	switch_to(p, &outer);
	return_to_caller(p);
	switch_to(p, &p->main);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(all_departures(t), 0);
	assert_int_equal(t->context_count, 5);
	assert_int_equal(t->frame_count, 3);
	free_stack(&inner);
	free_stack(&outer);
	munmap(memory, 2 * (size_t)COROUTINE_STACK);
}

/* longjmp and exceptions inside a coroutine. */
static void coroutines_leave_activations(void **state)
{
	struct counted_program *p = *state;
	uint8_t *memory = map_stacks(1);
	struct counted_stack other = new_stack(stack_top(memory, 0));
	start(p);
	switch_to(p, &other);
	begin_function(p, TWO, other.sp);
	call_function(p, 1, THREE);
	call_function(p, 2, FOUR);
	leave_silently(p, 2);
	land(p, 0);
	call_function(p, 1, THREE);
	call_function(p, 2, FOUR);
	leave_silently(p, 1);
	come_back_behind(p, 3);
	return_to_caller(p);
	switch_to(p, &p->main);
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(departures_of(t, TWO, 1).left, 1);
	assert_int_equal(departures_of(t, THREE, 2).left, 1);
	assert_int_equal(departures_of(t, THREE, 3).resumed, 1);
	assert_int_equal(calls_between(t, TWO, 1, THREE), 2);
	/* What was left there waits, and is seen as running. */
	assert_int_equal(t->frame_count, 5);
	leave_function(p);
	assert_shadow_is_empty(p);
	free_stack(&other);
	munmap(memory, COROUTINE_STACK);
}

static void too_many_stacks_are_dropped(void **state)
{
	struct counted_program *p = *state;
	enum { MANY = RT_ASIDES + 40 };
	uint8_t *memory = map_stacks(MANY);
	start(p);
	for (uint32_t i = 0; i < MANY; i++) {
		struct counted_stack other = new_stack(stack_top(memory, i));
		switch_to(p, &other);
		begin_function(p, TWO, other.sp);
		frame_of(p)->trips[0] = 2;
		switch_to(p, &p->main);
		free_stack(&other);
	}
	const struct counted_thread *t = counts_of(p);
	assert_int_equal(t->frame_count, 1 + RT_ASIDES);
	assert_int_equal(t->state.dropped_asides, 40);
	assert_int_equal(departures_of(t, TWO, 4).left, 40);
	assert_int_equal(trips_of(t, 16 * TWO)->exact[2], 40);
	munmap(memory, (size_t)MANY * COROUTINE_STACK);
}

/* What does not fit in a segment: the innermost frames stay. */
static void deep_stacks_are_cut(void **state)
{
	struct counted_program *p = *state;
	enum { DEPTH = 1200 };
	uint8_t *memory = map_stacks(1);
	struct counted_stack other = new_stack(stack_top(memory, 0));
	start(p);
	switch_to(p, &other);
	begin_function(p, THREE, other.sp);
	for (unsigned i = 1; i < DEPTH; i++)
		call_function(p, 1, THREE);
	switch_to(p, &p->main);
	uint64_t kept = (RT_ASIDE_BYTES - 16) / 32;
	assert_int_equal(counts_of(p)->frame_count, kept + 1);
	assert_int_equal(state_of(p)->dropped_asides, DEPTH - kept);
	uint32_t slow = p->slow;
	switch_to(p, &other);
	for (unsigned i = 1; i < kept; i++)
		return_to_caller(p);
	assert_int_equal(p->slow, slow + 1);
	return_to_caller(p);
	assert_int_equal(departures_of(counts_of(p), THREE, 1).resumed, 1);
	free_stack(&other);
	munmap(memory, COROUTINE_STACK);
}

/* ---- what goes wrong ---- */

static void without_memory_there_is_the_sink(void **state)
{
	struct counted_program *p = *state;
	start(p);
	uint64_t used = state_of(p)->contexts_used;
	state_of(p)->contexts_used = RT_CONTEXT_SPACE - 32;
	for (unsigned i = 0; i < 3; i++) {
		call_function(p, 1, TWO);
		assert_int_equal((uint64_t)running(p)->context, run_time(p, RT_SINK));
		return_to_caller(p);
	}
	state_of(p)->contexts_used = used;
	assert_int_equal(state_of(p)->dropped_contexts, 3);
	assert_int_equal(runs_of(counts_of(p), TWO), 0);
	call_function(p, 1, TWO);
	return_to_caller(p);
	assert_int_equal(runs_of(counts_of(p), TWO), 1);
	leave_function(p);
	assert_shadow_is_empty(p);
}

static void handlers_get_the_sink_while_busy(void **state)
{
	struct counted_program *p = *state;
	start(p);
	uint64_t top = p->bench->area->top;
	state_of(p)->busy = running(p)->sp - CALL_PUSHED;
	begin_function(p, TWO, running(p)->sp - 512);
	assert_int_equal((uint64_t)running(p)->context, run_time(p, RT_SINK));
	call_function(p, 1, THREE);
	frame_of(p)->trips[0] = 1;
	call_function(p, 2, FOUR);
	return_to_caller(p);
	return_to_caller(p);
	assert_int_equal((uint64_t)running(p)->context, run_time(p, RT_SINK));
	leave_function(p);
	assert_int_equal(p->bench->area->top, top);
	assert_true(state_of(p)->dropped_busy >= 5);
	/* The mark of one that never came back is void. */
	call_function(p, 1, TWO);
	assert_int_equal(running(p)->context->function, TWO);
	assert_int_equal(state_of(p)->busy, 0);
	return_to_caller(p);
	assert_int_equal(all_departures(counts_of(p)), 0);
}

static void assert_sink_is_intact(struct counted_program *p)
{
	const struct rt_context_slot *slots = (void *)(p->bench->region + RT_SINK);
	for (int32_t i = 1; i <= RT_COUNTED_SITES_MAX + 1; i++)
		assert_int_equal(slots[-i].child, run_time(p, RT_NOBODY));
}

/* With sonde dead: fork has wiped the guard and the table in the child. */
static void orphans_count_nothing(void **state)
{
	struct counted_program *p = *state;
	start(p);
	call_function(p, 1, TWO);
	uint64_t top = p->bench->area->top, runs = runs_of(counts_of(p), TWO);
	p->bench->guard = 0;
	*table_home(p->bench, here_thread_pointer()) = (struct rt_thread){0};
	come_back_behind(p, 3); /* fork() */
	for (unsigned i = 0; i < 1000; i++) {
		call_function(p, 1 + i % 4, THREE);
		call_function(p, 4, LEAF);
		return_to_caller(p);
		return_to_caller(p);
	}
	return_to_caller(p);
	leave_function(p);
	assert_int_equal(p->bench->area->top, top);
	assert_int_equal(runs_of(counts_of(p), TWO), runs);
	assert_int_equal(runs_of(counts_of(p), THREE), 0);
	assert_sink_is_intact(p);
}

static void *run_without_area(void *arg)
{
	struct counted_program *p = arg;
	uint64_t sp = p->bench->area->stack_high - 4096;
	struct counted_stack own = new_stack(sp);
	p->now = &own;
	for (unsigned i = 0; i < 1000; i++) {
		begin_function(p, ONE + i % 4, sp);
		call_function(p, 1, LEAF);
		return_to_caller(p);
		leave_function(p);
	}
	p->now = &p->main;
	free_stack(&own);
	return NULL;
}

static void threads_without_area_count_nothing(void **state)
{
	struct counted_program *p = *state;
	pthread_t thread;
	define_all(p);
	assert_int_equal(pthread_create(&thread, NULL, run_without_area, p), 0);
	pthread_join(thread, NULL);
	assert_int_equal(counts_of(p)->context_count, 1);
	assert_shadow_is_empty(p);
	assert_sink_is_intact(p);
	assert_int_equal(((struct rt_area *)(p->bench->region + RT_NO_AREA))->top,
			 run_time(p, RT_NO_FRAME));
}

static void large_stacks_do_not_count(void **state)
{
	struct counted_program *p = *state;
	struct rt_area *a = (struct rt_area *)(p->bench->region + RT_AREA(1));
	a->stack_low = 4096;
	a->stack_high = a->stack_low + RT_STACK_MAX + 4096;
	contexts_prepare(&p->target, 1);
	assert_int_equal(a->count, 0);
	assert_int_equal(a->top, run_time(p, RT_NO_FRAME));
	p->target.slots[1].tid = 1;
	a->stack_high = a->stack_low + RT_STACK_MAX;
	contexts_prepare(&p->target, 1);
	assert_int_equal(a->top, run_time(p, RT_COUNT_AREA(1) + RT_COUNT_ROOT));
}

static void damaged_frames_are_dropped(void **state)
{
	struct counted_program *p = *state;
	uint64_t bad[] = {0, 8, UINT64_MAX, run_time(p, RT_SINK), (uint64_t)p};
	define_all(p);
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(bad); i++) {
		p->now->depth = 0;
		begin_function(p, ONE, p->bench->area->stack_high - 64);
		call_function(p, 1, TWO);
		call_function(p, 1, THREE);
		uint64_t *word = i % 2 ? &p->bench->area->top : &frame_of(p)->context;
		*word = bad[i / 2];
		uint64_t x = call_runtime(p, entries(p->bench)->returned, THREE | UINT64_C(1) << 32,
					  running(p)->sp);
		assert_int_equal(((struct rt_context *)x)->function, THREE);
		p->bench->area->top = run_time(p, RT_COUNT_AREA(0) + RT_COUNT_ROOT);
	}
	assert_int_equal(state_of(p)->dropped_frames, 2 * ARRAY_SIZE(bad));
}

/* ---- trip counts ---- */

static void trip_counts_have_histograms(void **state)
{
	struct counted_program *p = *state;
	uint64_t values[] = {32, 63, 64, 1000, UINT64_C(1) << 40, UINT64_MAX, 3};
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
		p->bench->area->trip = values[i];
		call_runtime(p, entries(p->bench)->tripped, 7, p->now->sp);
	}
	call_runtime(p, entries(p->bench)->tripped, 7, p->now->sp); /* nothing: of the sink */
	p->bench->area->trip = 99;
	call_runtime(p, entries(p->bench)->tripped, RT_LOOPS - 1, p->now->sp);
	const struct counted_thread *t = counts_of(p);
	const struct rt_trips *trips = trips_of(t, 7);
	assert_int_equal(t->trips_count, 2);
	assert_int_equal(trips->exact[3], 1);
	assert_int_equal(trips->exact[0], 0);
	assert_int_equal(trips->large[0], 2);
	assert_int_equal(trips->large[1], 1);
	assert_int_equal(trips->large[9 - 5], 1);
	assert_int_equal(trips->large[40 - 5], 1);
	assert_int_equal(trips->large[RT_LARGE_TRIPS - 1], 1);
	assert_int_equal(trips->large_min, 32);
	assert_int_equal(trips->large_max, UINT64_MAX);
	assert_int_equal(trips_of(t, RT_LOOPS - 1)->large[1], 1);
}

/* ---- threads that end, and children ---- */

static void ended_threads_leave_nothing_in_memory(void **state)
{
	struct counted_program *p = *state;
	start(p);
	call_function(p, 1, TWO);
	assert_int_equal(counts_of(p)->context_count, 3);
	contexts_wipe(&p->target, 0);
	assert_int_equal(header(p->bench)->context_bytes, 0);
	uint64_t from = RT_COUNT_AREA(0), to;
	assert_false(region_next_data(&p->target, &from, RT_COUNT_AREA(1), &to));
	contexts_prepare(&p->target, 0);
	assert_shadow_is_empty(p);
	assert_int_equal(header(p->bench)->context_bytes, RT_CONTEXT_CHUNK);
}

enum { FIRST_LEAF = 100, LEAVES = 3000 };

static void call_leaves(struct counted_program *p)
{
	for (uint32_t i = 0; i < LEAVES; i++) {
		define_leaf(p, FIRST_LEAF + i);
		call_function(p, 1 + i % 4, FIRST_LEAF + i);
		return_to_caller(p);
	}
}

/* A child that has the same addresses, though here it is mapped elsewhere. */
static void make_child(struct counted_program *p, struct target *child)
{
	struct region *r = &child->region;
	*child = (struct target){.pid = 4711};
	r->base = p->target.region.base;
	r->fd = memfd_create("child", MFD_CLOEXEC);
	assert_int_equal(ftruncate(r->fd, (off_t)RT_REGION_SIZE), 0);
	r->map = mmap(NULL, RT_REGION_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		      r->fd, 0);
	assert_true(r->map != MAP_FAILED);
	memcpy(r->map + RT_COUNTED, p->bench->region + RT_COUNTED,
	       (FIRST_LEAF + LEAVES) * sizeof(struct rt_counted));
}

static void take_child(void *ctx, const struct counted_thread *t)
{
	uint64_t counted = t->call_count + t->trips_count;
	for (uint32_t i = 0; i < t->context_count; i++)
		for (uint32_t k = 0; k < t->contexts[i].word_count; k++)
			counted += t->contexts[i].words[k].value;
	assert_int_equal(counted, 0);
	assert_int_equal(t->tid, 4711);
	assert_int_equal(t->context_count, *(uint32_t *)ctx);
	assert_int_equal(t->frame_count, 3);
	assert_int_equal(all_departures(t), 3); /* it comes back to each of them */
	assert_int_equal(t->frames[0].context, 3);
	assert_int_equal(t->frames[0].trips[0], 0);
	assert_int_equal(t->frames[1].site, 2);
	*(uint32_t *)ctx = 0;
}

static void children_inherit_contexts(void **state)
{
	struct counted_program *p = *state;
	struct control_thread th = {.tracee = {.tid = 4711}};
	struct target child;
	start(p);
	call_function(p, 1, TWO);
	call_function(p, 2, FOUR);
	call_leaves(p);
	frame_of(p)->trips[0] = 3;
	contexts_forked(&p->target, gettid(), 4711);
	/* The parent goes on. */
	return_to_caller(p);
	return_to_caller(p);
	call_function(p, 3, LEAF);
	return_to_caller(p);
	uint32_t contexts = counts_of(p)->context_count;
	make_child(p, &child);
	contexts_inherit(&child, &p->target, &th);
	assert_int_equal(child.slots[0].tid, 4711);
	assert_int_equal(target_header(&child)->context_bytes, header(p->bench)->context_bytes);
	target_read_counts(&child, take_child, &contexts);
	assert_int_equal(contexts, 0);
	/* In the child's place, it finds the contexts again. */
	memcpy(p->bench->region + RT_COUNT_AREA(0) + RT_COUNT_STATE,
	       child.region.map + RT_COUNT_AREA(0) + RT_COUNT_STATE, sizeof(struct rt_count));
	call_function(p, 1, TWO);
	call_function(p, 2, FOUR);
	call_leaves(p);
	assert_int_equal(counts_of(p)->context_count, 5 + LEAVES);
	vec_free(&child.slots[0].adopted);
	munmap(child.region.map, RT_REGION_SIZE);
	close(child.region.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROGRAM_TEST(calls_make_contexts),
		PROGRAM_TEST(keeps_registers),
		PROGRAM_TEST(recursion_is_folded),
		PROGRAM_TEST(mutual_recursion_is_folded),
		PROGRAM_TEST(totals_are_exact),
		PROGRAM_TEST(merged_paths_keep_totals),
		PROGRAM_TEST(cut_paths_keep_counts),
		PROGRAM_TEST(paths_are_cut_step_by_step),
		PROGRAM_TEST(sites_with_several_callees_lose_nothing),
		PROGRAM_TEST(many_contexts_are_found_again),
		PROGRAM_TEST(longjmp_leaves_activations),
		PROGRAM_TEST(left_activations_do_not_call),
		PROGRAM_TEST(frameless_callers_call),
		PROGRAM_TEST(exceptions_land),
		PROGRAM_TEST(unknown_activations_are_met),
		PROGRAM_TEST(jumps_into_the_middle_are_remembered),
		PROGRAM_TEST(coroutines_keep_their_frames),
		PROGRAM_TEST(coroutines_switch_directly),
		PROGRAM_TEST(coroutines_come_back_one_by_one),
		PROGRAM_TEST(coroutines_leave_activations),
		PROGRAM_TEST(too_many_stacks_are_dropped),
		PROGRAM_TEST(deep_stacks_are_cut),
		PROGRAM_TEST(without_memory_there_is_the_sink),
		PROGRAM_TEST(handlers_get_the_sink_while_busy),
		PROGRAM_TEST(orphans_count_nothing),
		PROGRAM_TEST(threads_without_area_count_nothing),
		PROGRAM_TEST(large_stacks_do_not_count),
		PROGRAM_TEST(damaged_frames_are_dropped),
		PROGRAM_TEST(trip_counts_have_histograms),
		PROGRAM_TEST(ended_threads_leave_nothing_in_memory),
		PROGRAM_TEST(children_inherit_contexts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
