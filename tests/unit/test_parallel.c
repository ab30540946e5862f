/* Which loops are worth running in parallel: the numbers by hand for small cases, and what must
 * hold for any profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/parallel.h"

enum { ROUNDS = 500 };

static uint64_t random_state;

static uint32_t roll(uint32_t sides)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % sides;
}

static void start(struct profile *p)
{
	profile_init(p);
	vec_push(&p->metrics, (struct profile_metric){PROFILE_INSTRUCTIONS, "", 0});
	vec_push(&p->modules, (struct profile_module){.path = "/bin/one"});
	vec_push(&p->processes, (struct profile_process){.parent = PROFILE_NONE, .name = "one"});
	vec_push(&p->threads, (struct profile_thread){.tid = 1, .name = "one"});
}

static uint32_t add_scope(struct profile *p, enum profile_scope_kind kind, uint32_t parent)
{
	vec_push(&p->scopes, (struct profile_scope){.parent = parent,
						    .kind = (uint8_t)kind,
						    .name = "",
						    .file = "",
						    .call_file = "",
						    .address = p->scopes.len});
	return p->scopes.len - 1;
}

/* A function with one loop, which is returned. */
static uint32_t add_loop(struct profile *p)
{
	return add_scope(p, PROFILE_LOOP, add_scope(p, PROFILE_FUNCTION, PROFILE_NONE));
}

static uint32_t add_node(struct profile *p, uint32_t parent, enum node_kind kind, uint32_t scope)
{
	uint32_t n = profile_child(p, parent, kind, 0, scope);
	p->nodes.data[n].scope = scope;
	return n;
}

static void execute(struct profile *p, uint32_t parent, uint32_t scope, uint64_t instructions)
{
	profile_add(p, add_node(p, parent, NODE_LEAF, scope), 0, 0, 1, instructions);
}

/* All entries with the same number of iterations. */
static struct profile_counters *add_counters(struct profile *p, uint32_t scope, uint64_t entries,
					     uint64_t trips)
{
	uint32_t i = profile_counters(p, 0, p->scopes.data[scope].address, true, 0);
	struct profile_counters *t = &p->counters.data[i];
	t->scope = scope;
	t->entries = entries;
	t->iterations = entries * trips;
	t->trip_min = t->trip_max = trips;
	profile_add_trips(p, i, trips, trips, entries);
	return t;
}

struct result {
	struct tree tree;
	struct counts counts;
	struct parallel parallel;
};

static void build(struct result *r, const struct profile *p)
{
	tree_build(&r->tree, p, &(struct tree_options){.lines = true});
	counts_build(&r->counts, p, NULL, NULL);
	parallel_build(&r->parallel, &r->tree, &r->tree, &r->counts, 0.02);
}

static void release(struct result *r, struct profile *p)
{
	parallel_release(&r->parallel);
	counts_release(&r->counts);
	tree_release(&r->tree);
	profile_release(p);
}

static const struct parallel_loop *loop_at(const struct result *r, uint32_t scope)
{
	vec_each (l, &r->parallel.loops)
		if (l->scope == scope)
			return l;
	fail_msg("loop %u is missing", scope);
	return NULL;
}

static const struct parallel_loop *chosen(const struct result *r, uint32_t i)
{
	assert_true(i < r->parallel.chosen.len);
	return &r->parallel.loops.data[r->parallel.chosen.data[i]];
}

static void assert_near(double a, double b)
{
	if (a < b - 1e-9 || a > b + 1e-9)
		fail_msg("%.12g is not %.12g", a, b);
}

/* 80 % in one loop of 3 iterations: 2 rounds on two threads, 1 on more. */
static void gains_are_amdahls(void **state)
{
	(void)state;
	struct profile p;
	struct result r;
	start(&p);
	uint32_t loop = add_loop(&p);
	execute(&p, 0, loop, 80000000);
	execute(&p, 0, loop - 1, 20000000);
	add_counters(&p, loop, 10, 3);
	build(&r, &p);
	const struct parallel_loop *l = chosen(&r, 0);
	assert_int_equal(l->scope, loop);
	assert_near(l->share, 0.8);
	assert_near(l->trips, 3);
	assert_near(l->iteration, 80000000.0 / 30);
	assert_near(l->entry, 8000000);
	assert_near(l->busy, 3);
	assert_near(l->gain[0], 1 / (0.2 + 0.8 * 2 / 3));
	assert_near(l->gain[1], 1 / (0.2 + 0.8 / 3));
	assert_near(l->gain[5], 1 / (0.2 + 0.8 / 3));
	assert_int_equal(r.parallel.chosen.len, 1);
	release(&r, &p);
}

/* Half of the entries have none, one has 100 iterations, one still runs. */
static void trips_limit_and_not_their_mean(void **state)
{
	(void)state;
	struct profile p;
	struct result r;
	start(&p);
	uint32_t loop = add_loop(&p);
	execute(&p, 0, loop, 100000000);
	struct profile_counters *t = add_counters(&p, loop, 1, 100);
	profile_add_trips(&p, 0, 0, 0, 2);
	t->trip_min = 0;
	t->entries = 4;
	t->iterations = 100 + 300;
	build(&r, &p);
	const struct parallel_loop *l = chosen(&r, 0);
	assert_near(l->part[5], (2.0 + 5) / 400); /* 100 and 300 iterations on 64 threads */
	assert_near(l->busy, 300);
	release(&r, &p);
}

static void unknown_iterations_do_not_limit(void **state)
{
	(void)state;
	struct profile p;
	struct result r;
	start(&p);
	uint32_t loop = add_loop(&p);
	execute(&p, 0, loop, 100000000);
	struct profile_counters *t = add_counters(&p, loop, 1, 1);
	t->flags = COUNTS_ITERATIONS_UNKNOWN | COUNTS_TRIPS_UNKNOWN;
	build(&r, &p);
	assert_near(chosen(&r, 0)->gain[5], 64);
	release(&r, &p);
}

static void what_is_not_worth_it(void **state)
{
	(void)state;
	struct profile p;
	struct result r;
	start(&p);
	uint32_t once = add_loop(&p), small = add_loop(&p), tiny = add_loop(&p);
	execute(&p, 0, once, 50000000);
	execute(&p, 0, small, 49000000);
	execute(&p, 0, tiny, 1000000);
	add_counters(&p, once, 3, 1);
	add_counters(&p, small, 49000, 100); /* 1000 instructions an entry */
	add_counters(&p, tiny, 1, 1000);
	build(&r, &p);
	assert_int_equal(r.parallel.chosen.len, 0);
	assert_int_equal(loop_at(&r, once)->verdict, PARALLEL_FEW_ITERATIONS);
	assert_int_equal(loop_at(&r, small)->verdict, PARALLEL_SMALL_ENTRIES);
	assert_int_equal(loop_at(&r, tiny)->verdict, PARALLEL_SMALL);
	release(&r, &p);
}

/* The outer loop calls two functions, each with a loop of its own. */
static void make_nest(struct profile *p, uint64_t outer_trips)
{
	start(p);
	uint32_t outer = add_loop(p), one = add_loop(p), two = add_loop(p);
	uint32_t call = add_node(p, 0, NODE_FRAME, outer);
	execute(p, call, one, 60000000);
	execute(p, call, two, 40000000);
	add_counters(p, outer, 1, outer_trips);
	add_counters(p, one, outer_trips, 1000);
	add_counters(p, two, outer_trips, 1000);
}

static void outer_loops_are_chosen(void **state)
{
	(void)state;
	struct profile p;
	struct result r;
	make_nest(&p, 100);
	build(&r, &p);
	assert_int_equal(r.parallel.chosen.len, 1);
	assert_int_equal(r.parallel.around.len, 0);
	const struct parallel_loop *l = chosen(&r, 0);
	assert_int_equal(l->scope, 1);
	assert_int_equal(l->inside_count, 2);
	const uint32_t *inside = &r.parallel.inside.data[l->first_inside];
	assert_int_equal(r.parallel.loops.data[inside[0]].scope, 3);
	assert_int_equal(r.parallel.loops.data[inside[1]].scope, 5);
	assert_near(l->inside_gain[0], 2);
	release(&r, &p);
}

static void unless_they_have_few_iterations(void **state)
{
	(void)state;
	struct profile p;
	struct result r;
	make_nest(&p, 2);
	build(&r, &p);
	assert_int_equal(r.parallel.chosen.len, 2);
	assert_int_equal(chosen(&r, 0)->scope, 3);
	assert_int_equal(chosen(&r, 1)->scope, 5);
	assert_near(r.parallel.together[0], 2);
	assert_int_equal(r.parallel.around.len, 1);
	assert_int_equal(r.parallel.loops.data[r.parallel.around.data[0]].scope, 1);
	release(&r, &p);
}

static void recursion_is_told(void **state)
{
	(void)state;
	struct profile p;
	struct result r;
	start(&p);
	uint32_t loop = add_loop(&p), at = 0;
	for (int i = 0; i < 3; i++) {
		execute(&p, at, loop, 1000000);
		at = add_node(&p, at, NODE_FRAME, loop);
	}
	add_counters(&p, loop, 3, 100);
	build(&r, &p);
	assert_true(chosen(&r, 0)->recursive);
	assert_near(chosen(&r, 0)->share, 1);
	release(&r, &p);
}

static void random_profile(struct profile *p)
{
	start(p);
	uint32_t loops = 1 + roll(8);
	for (uint32_t i = 0; i < loops; i++) {
		uint32_t around = p->scopes.len && roll(3) ? roll(p->scopes.len) : PROFILE_NONE;
		if (around == PROFILE_NONE)
			add_loop(p);
		else
			add_scope(p, PROFILE_LOOP, around);
	}
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t parent = roll(3) ? p->nodes.len - 1 : roll(p->nodes.len);
		add_node(p, parent, NODE_FRAME, roll(p->scopes.len));
		execute(p, parent, roll(p->scopes.len), 1 + roll(1000000));
	}
	for (uint32_t i = 0; i < p->scopes.len; i++)
		if (p->scopes.data[i].kind == PROFILE_LOOP && roll(10))
			add_counters(p, i, 1 + roll(50), roll(4) ? roll(5) : roll(1000));
}

/* How much of a loop's total is inside another one, path by path. */
static double share_inside(const struct profile *p, uint32_t inner, uint32_t outer)
{
	uint64_t total = 0, inside = 0;
	vec_each (v, &p->values) {
		bool in = false, around = false;
		for (uint32_t n = v->node; n; n = p->nodes.data[n].parent) {
			for (uint32_t s = p->nodes.data[n].scope; s != PROFILE_NONE;
			     s = p->scopes.data[s].parent) {
				/* from the innermost up: the outermost of the inner one counts */
				around = s == inner ? false : around || (in && s == outer);
				in |= s == inner;
			}
		}
		total += in ? v->amount : 0;
		inside += in && around ? v->amount : 0;
	}
	return total ? (double)inside / (double)total : 0;
}

static void check_any(const struct profile *p, const struct result *r)
{
	const struct parallel *x = &r->parallel;
	for (uint32_t i = 0; i < x->chosen.len; i++) {
		const struct parallel_loop *l = chosen(r, i);
		assert_int_equal(l->verdict, PARALLEL_WORTH_IT);
		assert_true(l->share >= 0.02 && l->share <= 1);
		assert_true(!i || l->saves <= chosen(r, i - 1)->saves);
		for (int k = 0; k < PARALLEL_STEPS; k++) {
			assert_true(l->gain[k] >= 1 && l->gain[k] <= parallel_threads[k] + 1e-9);
			assert_true(l->part[k] >= 1.0 / parallel_threads[k] - 1e-9);
			assert_true(!k || l->gain[k] >= l->gain[k - 1] - 1e-9);
		}
		for (uint32_t o = 0; o < x->chosen.len; o++) {
			uint32_t other = chosen(r, o)->scope;
			bool nested = o != i && share_inside(p, l->scope, other) > 0.5 &&
				      share_inside(p, other, l->scope) <= 0.5;
			assert_false(nested);
		}
	}
	bool any = false;
	vec_each (l, &x->loops)
		any |= l->verdict == PARALLEL_WORTH_IT;
	assert_int_equal(any, x->chosen.len > 0);
}

static void any_profile(void **state)
{
	(void)state;
	uint32_t several = 0;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct profile p;
		struct result r;
		random_state = seed;
		random_profile(&p);
		build(&r, &p);
		check_any(&p, &r);
		several += r.parallel.chosen.len > 1;
		release(&r, &p);
	}
	assert_true(several > ROUNDS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gains_are_amdahls),
		cmocka_unit_test(trips_limit_and_not_their_mean),
		cmocka_unit_test(unknown_iterations_do_not_limit),
		cmocka_unit_test(what_is_not_worth_it),
		cmocka_unit_test(outer_loops_are_chosen),
		cmocka_unit_test(unless_they_have_few_iterations),
		cmocka_unit_test(recursion_is_told),
		cmocka_unit_test(any_profile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
