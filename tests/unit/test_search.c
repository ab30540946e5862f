/* The search against simulated programs of which everything is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "search/count_graph.h"
#include "search/decide.h"
#include "simulated_program.h"

enum { SEED = 20020131, FUNCTIONS = 50000 };

static struct simulated_stack stack(double share, uint32_t length, const uint32_t *chain)
{
	struct simulated_stack x = {.class = SAMPLE_CPU, .share = share, .length = length};
	memcpy(x.chain, chain, length * sizeof(*chain));
	return x;
}

#define STACK(share, ...)                                                                          \
	stack(share, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
	      (uint32_t[]){__VA_ARGS__})

static void does(struct simulation *p, struct simulated_stack x)
{
	simulation_does(p, &x);
}

static const struct experiment *of_focus(const struct simulation *p, enum hypothesis_id h,
					 struct focus f)
{
	for (uint32_t i = 0; i < search_count(p->search); i++) {
		const struct experiment *e = search_get(p->search, i);
		if (e->hypothesis == h && !memcmp(&e->focus, &f, sizeof(f)))
			return e;
	}
	return NULL;
}

/* The whole program, but in this part. */
static const struct experiment *of_part(const struct simulation *p, enum hypothesis_id h,
					enum hierarchy axis, uint32_t part)
{
	struct focus f = focus_whole();
	f.part[axis] = part;
	return of_focus(p, h, f);
}

static const struct experiment *of_code(const struct simulation *p, uint32_t code)
{
	return of_part(p, CPU_BOUND, CODE, code);
}

static bool is_true(const struct experiment *e)
{
	return e && e->state == EXPERIMENT_TRUE;
}

static bool is_false(const struct experiment *e)
{
	return e && e->state == EXPERIMENT_FALSE;
}

static void run_until_settled(struct simulation *p, double most)
{
	while (p->now < most && !search_settled(p->search))
		simulation_run(p, p->now + 0.02);
	assert_true(search_settled(p->search));
}

/* ---- the sequential test ---- */

enum { TRIALS = 2000, NEVER = 5000 };

/* Rates of 20 ms each that are normal around `mean`; returns how many it took to decide. */
static int decide(struct simulation *random, double mean, double deviation, double threshold,
		  int *verdict)
{
	struct test t = {0};
	const double base = 0.02;
	int n = 0;
	do {
		double sum = -6;
		for (int i = 0; i < 12; i++)
			sum += simulation_uniform(random);
		test_add(&t, (mean + deviation * sum) * base, base);
		*verdict = test_verdict(&t, threshold);
	} while (!*verdict && ++n < NEVER);
	return n;
}

static void errors_are_rare(void **state)
{
	struct simulation random = {.random = SEED};
	const double thresholds[] = {0.05, 0.1, 0.2, 0.5}, deviations[] = {0.02, 0.2, 0.4};
	(void)state;
	for (int i = 0; i < 4; i++) {
		double margin = thresholds[i] / 5 > 0.02 ? thresholds[i] / 5 : 0.02;
		for (int k = 0; k < 3; k++) {
			int wrong = 0, verdict;
			for (int j = 0; j < TRIALS; j++) {
				double side = j % 2 ? 1 : -1;
				decide(&random, thresholds[i] + side * 2 * margin, deviations[k],
				       thresholds[i], &verdict);
				wrong += verdict != (int)side;
			}
			assert_true(wrong < TRIALS / 50);
		}
	}
}

static void clear_cases_are_quick(void **state)
{
	struct simulation random = {.random = SEED};
	int verdict, clear = 0, near = 0;
	(void)state;
	for (int j = 0; j < TRIALS; j++) {
		clear += decide(&random, 0.9, 0.2, 0.2, &verdict);
		near += decide(&random, 0.28, 0.2, 0.2, &verdict);
	}
	assert_in_range(clear / TRIALS, 3, 15);
	assert_in_range(near / TRIALS, 20, 60);
}

static void too_little_decides_nothing(void **state)
{
	struct test t = {0};
	(void)state;
	test_add(&t, 0.1, 0.1);
	test_add(&t, 0.1, 0.1);
	assert_int_equal(test_verdict(&t, 0.2), 0); /* two observations */
	t = (struct test){0};
	for (int i = 0; i < 10; i++)
		test_add(&t, 0.01, 0.01);
	assert_int_equal(test_verdict(&t, 0.2), 0); /* 0.1 s */
	for (int i = 0; i < 10; i++)
		test_add(&t, 0.01, 0.01);
	assert_int_equal(test_verdict(&t, 0.2), 1);
	assert_true(test_confidence(&t, 0.2) <= 0.999);
}

static void the_recent_past_is_two_seconds(void **state)
{
	struct recent r = {0};
	(void)state;
	for (int i = 0; i < 500; i++)
		recent_add(&r, 0.02 * i, i < 350 ? 0.02 : 0, 0.02);
	struct test sum = recent_sum(&r, 9.98);
	assert_true(sum.base > 1.7 && sum.base < 2.1);
	assert_true(sum.amount == 0);
	assert_true(recent_sum(&r, 20).base == 0);
}

/* ---- count graphs ---- */

static void add_sample(struct count_graph *g, const struct resources *r, uint32_t thread,
		       uint32_t length, const uint32_t *chain)
{
	struct stack_sample x = {.class = SAMPLE_CPU,
				 .thread = thread,
				 .chain = chain,
				 .length = length,
				 .weight = 1};
	count_graph_add(g, r, &x);
}

#define SAMPLE(g, r, thread, ...)                                                                  \
	add_sample(g, r, thread, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),             \
		   (uint32_t[]){__VA_ARGS__})

struct machine {
	struct resources resources;
	struct count_graph graph;
	uint32_t host, process, threads[2];
	uint32_t code[8];
};

static void machine_init(struct machine *m)
{
	*m = (struct machine){0};
	resources_init(&m->resources);
	m->host = resources_child(&m->resources, MACHINE, 1);
	m->process = resources_child(&m->resources, m->host, 100);
	for (uint32_t i = 0; i < 2; i++)
		m->threads[i] = resources_child(&m->resources, m->process, 100 + i);
	for (uint32_t i = 0; i < 8; i++)
		m->code[i] = resources_child(&m->resources, CODE, i);
}

static void machine_release(struct machine *m)
{
	resources_release(&m->resources);
	count_graph_release(&m->graph);
}

static void figure_4_is_counted_as_published(void **state)
{
	enum { A, B, C, D, E, F, G };
	const double counts[] = {4, 1, 2, 3, 1, 2, 1};
	struct machine m;
	(void)state;
	machine_init(&m);
	const uint32_t *c = m.code;
	SAMPLE(&m.graph, &m.resources, m.threads[0], c[A], c[B], c[C], c[D]);
	SAMPLE(&m.graph, &m.resources, m.threads[0], c[A], c[E], c[C], c[D]);
	SAMPLE(&m.graph, &m.resources, m.threads[1], c[A], c[F], c[D]);
	SAMPLE(&m.graph, &m.resources, m.threads[1], c[A], c[F], c[G]);
	for (uint32_t i = A; i <= G; i++)
		assert_true(count_graph_get(&m.graph, MACHINE, c[i], false) == counts[i]);
	assert_int_equal(m.graph.edges.len, 8);
	/* Its count-tree: all, host, process, thread. */
	assert_true(count_graph_get(&m.graph, m.host, c[D], false) == 3);
	assert_true(count_graph_get(&m.graph, m.process, c[D], false) == 3);
	assert_true(count_graph_get(&m.graph, m.threads[0], c[D], false) == 2);
	assert_true(count_graph_get(&m.graph, m.threads[1], c[D], false) == 1);
	resource_list deepest = {0};
	count_graph_deepest(&m.graph, MACHINE, 0.6, false, &deepest);
	assert_int_equal(deepest.len, 2); /* no edge leads from A to D */
	assert_int_equal(deepest.data[0], c[A]);
	assert_int_equal(deepest.data[1], c[D]);
	vec_free(&deepest);
	machine_release(&m);
}

static void recursion_counts_once_and_hides_nothing(void **state)
{
	enum { MAIN, EVEN, ODD, LEAF };
	struct machine m;
	(void)state;
	machine_init(&m);
	const uint32_t *c = m.code;
	for (int i = 0; i < 10; i++)
		SAMPLE(&m.graph, &m.resources, m.threads[0], c[MAIN], c[EVEN], c[ODD], c[EVEN],
		       c[ODD]);
	assert_true(count_graph_get(&m.graph, MACHINE, c[EVEN], false) == 10);
	resource_list deepest = {0};
	count_graph_deepest(&m.graph, MACHINE, 0.4, false, &deepest);
	assert_int_equal(deepest.len, 1);
	assert_int_equal(deepest.data[0], c[ODD]);
	for (int i = 0; i < 10; i++)
		SAMPLE(&m.graph, &m.resources, m.threads[0], c[MAIN], c[EVEN], c[ODD], c[EVEN],
		       c[LEAF]);
	vec_clear(&deepest);
	count_graph_deepest(&m.graph, MACHINE, 0.4, false, &deepest);
	assert_int_equal(deepest.len, 1);
	assert_int_equal(deepest.data[0], c[LEAF]);
	vec_free(&deepest);
	machine_release(&m);
}

static void the_furthest_inside_stands_for_a_recursion(void **state)
{
	enum { MAIN, CALL, EXECUTE, LOOP, RARE };
	struct machine m;
	(void)state;
	machine_init(&m);
	const uint32_t *c = m.code;
	for (int i = 0; i < 10; i++)
		SAMPLE(&m.graph, &m.resources, m.threads[0], c[MAIN], c[CALL], c[EXECUTE], c[LOOP],
		       c[CALL], c[EXECUTE], c[LOOP]);
	for (int i = 0; i < 8; i++)
		SAMPLE(&m.graph, &m.resources, m.threads[0], c[MAIN], c[CALL], c[EXECUTE], c[LOOP],
		       c[RARE], c[CALL], c[EXECUTE], c[LOOP]);
	resource_list deepest = {0};
	count_graph_deepest(&m.graph, MACHINE, 0.4, false, &deepest);
	assert_int_equal(deepest.len, 1);
	assert_int_equal(deepest.data[0], c[LOOP]);
	vec_free(&deepest);
	machine_release(&m);
}

static void old_samples_are_not_recent(void **state)
{
	struct machine m;
	(void)state;
	machine_init(&m);
	for (int i = 0; i < 100; i++) {
		count_graph_advance(&m.graph, i * 0.1);
		SAMPLE(&m.graph, &m.resources, m.threads[0], m.code[0], m.code[i < 50 ? 1 : 2]);
	}
	assert_true(count_graph_get(&m.graph, MACHINE, m.code[1], false) == 50);
	assert_true(count_graph_get(&m.graph, MACHINE, m.code[1], true) == 0);
	double recent = count_graph_get(&m.graph, MACHINE, m.code[2], true);
	assert_true(recent >= 20 && recent <= 30);
	assert_true(count_graph_rate(&m.graph, MACHINE, m.code[2]) > 9);
	machine_release(&m);
}

/* ---- figure 1 ---- */

static void deep_start_finds_what_is_hidden_below_false_callers(void **state)
{
	enum { MAIN, A, B, C, D, E };
	(void)state;
	for (int deep = 0; deep < 2; deep++) {
		struct simulation p;
		struct search_options o = search_defaults;
		uint32_t code[6];
		o.deep_start = deep;
		simulation_init(&p, &o, SEED);
		for (int i = 0; i < 6; i++)
			code[i] = simulation_function(&p);
		simulation_entry(&p, code[MAIN]);
		simulation_call(&p, code[MAIN], code[A]);
		for (int i = B; i <= D; i++) {
			simulation_call(&p, code[A], code[i]);
			simulation_call(&p, code[i], code[E]);
			does(&p, STACK(0.15, code[MAIN], code[A], code[i], code[E]));
		}
		does(&p, STACK(0.5, code[MAIN], code[A]));
		run_until_settled(&p, 10);
		assert_true(is_true(of_code(&p, code[A])));
		assert_true(is_false(of_code(&p, code[B])));
		assert_true(is_false(of_code(&p, code[C])));
		assert_true(is_false(of_code(&p, code[D])));
		assert_int_equal(is_true(of_code(&p, code[E])), deep);
		simulation_release(&p);
	}
}

/* ---- a large program ---- */

/* Two deep places where most of the time goes, and many where little does. */
static void plant(struct simulation *p)
{
	const double shares[] = {0.46, 0.44};
	simulation_grow(p, FUNCTIONS);
	for (int i = 0; i < 2; i++) {
		struct simulated_stack x = {.class = SAMPLE_CPU, .share = shares[i]};
		uint32_t at = p->code.len - 1 - simulation_random(p, 5000);
		x.length = simulation_chain(p, at, x.chain);
		simulation_does(p, &x);
	}
	for (int i = 0; i < 200; i++) {
		struct simulated_stack x = {.class = SAMPLE_CPU, .share = 0.0004};
		uint32_t at = p->code.len - 1 - simulation_random(p, 20000);
		x.length = simulation_chain(p, at, x.chain);
		simulation_does(p, &x);
	}
}

static void study_large(struct simulation *p, bool deep_start)
{
	struct search_options o = search_defaults;
	o.deep_start = deep_start;
	simulation_init(p, &o, SEED);
	plant(p);
	run_until_settled(p, 60);
}

/* Each decision is right, and all code of the planted stacks was found. */
static void check_large(struct simulation *p)
{
	const double margin = 0.04;
	for (uint32_t i = 0; i < search_count(p->search); i++) {
		const struct experiment *e = search_get(p->search, i);
		double truth = simulation_truth(p, (enum hypothesis_id)e->hypothesis, &e->focus);
		if (e->state == EXPERIMENT_TRUE)
			assert_true(truth > e->threshold - margin);
		else
			assert_true(truth < e->threshold + margin);
	}
	for (int i = 0; i < 2; i++)
		for (uint32_t k = 0; k < p->stacks.data[i].length; k++)
			assert_true(is_true(of_code(p, p->stacks.data[i].chain[k])));
}

/* When a share of all true experiments on code was known. */
static double time_of(const struct simulation *p, double share)
{
	VEC(double) times = {0};
	for (uint32_t i = 0; i < search_count(p->search); i++) {
		const struct experiment *e = search_get(p->search, i);
		if (e->state != EXPERIMENT_TRUE || e->focus.part[CODE] == CODE)
			continue;
		uint32_t at = times.len;
		vec_push(&times, e->decided);
		for (; at && times.data[at - 1] > e->decided; at--)
			times.data[at] = times.data[at - 1];
		times.data[at] = e->decided;
	}
	assert_true(times.len > 20);
	double time = times.data[(uint32_t)(share * (times.len - 1))];
	vec_free(&times);
	return time;
}

static void deep_start_is_quicker(void **state)
{
	struct simulation deep, graph;
	(void)state;
	study_large(&deep, true);
	study_large(&graph, false);
	check_large(&deep);
	check_large(&graph);
	assert_true(time_of(&deep, 0.5) <= 0.4 * time_of(&graph, 0.5));
	assert_true(time_of(&deep, 1) <= 0.5 * time_of(&graph, 1));
	/* Parts were asked for of true ones only. */
	assert_true(deep.asked < 300);
	assert_true(graph.asked < 300);
	/* Limits were kept, and changes were made in batches. */
	assert_true(deep.most_begun <= search_defaults.most_active);
	assert_true(deep.commits < deep.changes);
	assert_int_equal(deep.uncommitted, 0);
	simulation_release(&deep);
	simulation_release(&graph);
}

/* Then no experiment waits for its turn, and there is no overhead to limit. */
static void without_probes_all_is_tested_at_once(void **state)
{
	struct simulation probed, unprobed;
	struct search_options o = search_defaults;
	(void)state;
	study_large(&probed, true);
	simulation_init(&unprobed, &o, SEED);
	unprobed.unprobed = true;
	plant(&unprobed);
	run_until_settled(&unprobed, 60);
	check_large(&unprobed);
	assert_true(time_of(&unprobed, 1) < time_of(&probed, 1));
	assert_int_equal(unprobed.most_begun, 0);
	simulation_release(&probed);
	simulation_release(&unprobed);
}

static void the_same_input_gives_the_same_search(void **state)
{
	struct simulation a, b;
	(void)state;
	study_large(&a, true);
	study_large(&b, true);
	assert_int_equal(search_count(a.search), search_count(b.search));
	for (uint32_t i = 0; i < search_count(a.search); i++) {
		const struct experiment *x = search_get(a.search, i), *y = search_get(b.search, i);
		assert_memory_equal(&x->focus, &y->focus, sizeof(x->focus));
		assert_int_equal(x->state, y->state);
		assert_int_equal(x->origin, y->origin);
		assert_int_equal(x->parents.len, y->parents.len);
		assert_true(x->begun == y->begun && x->decided == y->decided);
		assert_true(x->value == y->value && x->confidence == y->confidence);
	}
	simulation_release(&a);
	simulation_release(&b);
}

/* The first decisions in their order: of which experiment, from where it came, and what. */
static void first_decisions(const struct simulation *p, uint32_t count, char *out)
{
	VEC(uint32_t) order = {0};
	for (uint32_t i = 0; i < search_count(p->search); i++) {
		double decided = search_get(p->search, i)->decided;
		uint32_t at = order.len;
		vec_push(&order, i);
		for (; at && search_get(p->search, order.data[at - 1])->decided > decided; at--)
			order.data[at] = order.data[at - 1];
		order.data[at] = i;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct experiment *e = search_get(p->search, order.data[i]);
		out += sprintf(out, "%u%c%c ", order.data[i], "wrsc"[e->origin],
			       e -> state == EXPERIMENT_TRUE ? '+' : '-');
	}
	vec_free(&order);
}

static void what_samples_speak_against_has_no_probes(void **state)
{
	struct simulation deep, graph;
	(void)state;
	study_large(&deep, true);
	study_large(&graph, false);
	uint32_t asked = 0, probed = 0;
	for (uint32_t i = 0; i < search_count(deep.search); i++) {
		const struct experiment *e = search_get(deep.search, i);
		bool is_false = e->state == EXPERIMENT_FALSE && e->focus.part[CODE] != CODE;
		asked += is_false && e->sampled;
		probed += is_false && !e->sampled;
		assert_true(e->state != EXPERIMENT_TRUE || !e->sampled);
	}
	assert_true(asked > 10 * probed);
	for (uint32_t i = 0; i < search_count(graph.search); i++)
		assert_false(search_get(graph.search, i)->sampled);
	simulation_release(&deep);
	simulation_release(&graph);
}

static void the_search_goes_its_known_way(void **state)
{
	struct simulation p;
	char decisions[400];
	uint32_t states[EXPERIMENT_UNKNOWN + 1] = {0};
	(void)state;
	study_large(&p, true);
	for (uint32_t i = 0; i < search_count(p.search); i++)
		states[search_get(p.search, i)->state]++;
	first_decisions(&p, 25, decisions);
	assert_string_equal(decisions,
			    "0w+ 1w- 2w- 3w- 5r+ 4w- 6r+ 9c+ 11c+ 14c+ 65r+ 7s+ 12c+ "
			    "15c+ 16c+ 17c+ 18c+ 20c+ 8c+ 19c+ 21c+ 10c+ 13c+ 222r+ 23c+ ");
	assert_int_equal(states[EXPERIMENT_TRUE], 117);
	assert_int_equal(states[EXPERIMENT_FALSE], 1043);
	assert_int_equal(p.asked, 113); /* of 50,000 functions */
	simulation_release(&p);
}

/* ---- small programs ---- */

/* main -> a loop of main -> callees */
struct small {
	struct simulation p;
	uint32_t main, loop, callee[4];
};

static void small_init(struct small *t, const struct search_options *o)
{
	simulation_init(&t->p, o, SEED);
	t->main = simulation_function(&t->p);
	t->loop = simulation_loop(&t->p, t->main);
	simulation_entry(&t->p, t->main);
	for (int i = 0; i < 4; i++) {
		t->callee[i] = simulation_function(&t->p);
		simulation_call(&t->p, t->loop, t->callee[i]);
	}
}

static struct simulated_stack in_callee(const struct small *t, int i, double share)
{
	return STACK(share, t->main, t->loop, t->callee[i]);
}

static void roots_that_are_false_stay_alone(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	does(&t.p, in_callee(&t, 0, 0.05));
	run_until_settled(&t.p, 10);
	assert_int_equal(search_count(t.p.search), 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct experiment *e = search_get(t.p.search, i);
		assert_true(is_false(e));
		assert_true(e->measured);
		assert_int_equal(e->origin, ORIGIN_ROOT);
	}
	assert_int_equal(t.p.asked, 0);
	simulation_release(&t.p);
}

static void code_is_not_looked_at_before_priming_is_over(void **state)
{
	struct small t;
	struct search_options o = search_defaults;
	(void)state;
	o.priming = 2;
	small_init(&t, &o);
	does(&t.p, in_callee(&t, 0, 0.9));
	simulation_run(&t.p, 1.9);
	assert_null(of_code(&t.p, t.main));
	assert_false(search_settled(t.p.search));
	simulation_run(&t.p, 4);
	assert_true(is_true(of_code(&t.p, t.callee[0])));
	simulation_release(&t.p);
}

static void loops_are_deep_starters_too(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	uint32_t inner = simulation_loop(&t.p, t.callee[0]);
	does(&t.p, STACK(0.9, t.main, t.loop, t.callee[0], inner));
	run_until_settled(&t.p, 10);
	const struct experiment *e = of_code(&t.p, inner);
	assert_true(is_true(e));
	assert_int_equal(e->origin, ORIGIN_STARTER);
	assert_int_equal(e->priority, PRIORITY_HIGH);
	assert_int_equal(search_get(t.p.search, e->hook)->origin, ORIGIN_ROOT);
	const struct experiment *above = of_code(&t.p, t.callee[0]);
	assert_int_equal(above->origin, ORIGIN_CONNECTING);
	assert_int_equal(above->priority, PRIORITY_NORMAL);
	assert_true(is_true(above) && is_true(of_code(&t.p, t.loop)));
	assert_int_equal(e->parents.len, 1);
	assert_ptr_equal(search_get(t.p.search, e->parents.data[0]), above);
	simulation_release(&t.p);
}

static void priority_is_inherited(void **state)
{
	struct small t;
	struct search_options o = search_defaults;
	(void)state;
	o.deep_threshold = 0.6;
	small_init(&t, &o);
	uint32_t below[3];
	for (int i = 0; i < 3; i++) {
		below[i] = simulation_function(&t.p);
		simulation_call(&t.p, t.callee[0], below[i]);
		does(&t.p, STACK(0.3, t.main, t.loop, t.callee[0], below[i]));
	}
	run_until_settled(&t.p, 10);
	assert_int_equal(of_code(&t.p, t.callee[0])->origin, ORIGIN_STARTER);
	for (int i = 0; i < 3; i++) {
		const struct experiment *e = of_code(&t.p, below[i]);
		assert_true(is_true(e));
		assert_int_equal(e->origin, ORIGIN_REFINED);
		assert_int_equal(e->priority, PRIORITY_HIGH);
	}
	assert_int_equal(of_code(&t.p, t.callee[1])->priority, PRIORITY_NORMAL);
	simulation_release(&t.p);
}

static bool is_below(const struct simulation *p, const struct experiment *e, uint32_t ancestor,
		     uint32_t depth)
{
	assert_true(depth < 1000);
	vec_each (i, &e->parents)
		if (*i == ancestor || is_below(p, search_get(p->search, *i), ancestor, depth + 1))
			return true;
	return false;
}

/* even() and odd() call each other, and odd() does the work. */
static void recursion_is_searched_and_makes_no_cycle(void **state)
{
	(void)state;
	for (int deep = 0; deep < 2; deep++) {
		struct simulation p;
		struct search_options o = search_defaults;
		o.deep_start = deep;
		simulation_init(&p, &o, SEED);
		uint32_t first = simulation_function(&p), even = simulation_function(&p);
		uint32_t odd = simulation_function(&p), work = simulation_loop(&p, odd);
		simulation_entry(&p, first);
		simulation_call(&p, first, even);
		simulation_call(&p, even, odd);
		simulation_call(&p, odd, even);
		simulation_call(&p, odd, odd);
		does(&p, STACK(0.5, first, even, odd, even, odd, work));
		does(&p, STACK(0.4, first, even, odd, work));
		run_until_settled(&p, 10);
		assert_true(is_true(of_code(&p, even)) && is_true(of_code(&p, odd)));
		assert_true(is_true(of_code(&p, work)));
		for (uint32_t i = 0; i < search_count(p.search); i++)
			assert_false(is_below(&p, search_get(p.search, i), i, 0));
		simulation_release(&p);
	}
}

/* ---- hypotheses, objects, threads ---- */

static void a_wait_is_refined_to_code_and_object(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	uint32_t lock = simulation_object(&t.p, SYNC, 1, 10);
	uint32_t other = simulation_object(&t.p, SYNC, 1, 11);
	struct simulated_stack x = in_callee(&t, 2, 0.6), y = in_callee(&t, 1, 0.05);
	x.class = y.class = SAMPLE_SYNC;
	x.object = lock;
	y.object = other;
	does(&t.p, x);
	does(&t.p, y);
	run_until_settled(&t.p, 20);
	struct focus f = focus_whole();
	f.part[CODE] = t.callee[2];
	f.part[SYNC] = lock;
	assert_true(is_true(of_focus(&t.p, SYNC_WAITING, f)));
	f.part[SYNC] = other;
	assert_true(is_false(of_focus(&t.p, SYNC_WAITING, f)));
	assert_true(is_true(of_part(&t.p, SYNC_WAITING, SYNC, lock)));
	assert_true(is_false(of_part(&t.p, SYNC_WAITING, SYNC, other)));
	assert_true(is_false(of_part(&t.p, CPU_BOUND, CODE, CODE)));
	simulation_release(&t.p);
}

static void memory_management_is_apart_from_cpu_time(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	struct simulated_stack x = in_callee(&t, 0, 0.4), y = in_callee(&t, 1, 0.05);
	x.class = y.class = SAMPLE_MEMORY;
	does(&t.p, x);
	does(&t.p, y);
	does(&t.p, in_callee(&t, 1, 0.5));
	run_until_settled(&t.p, 20);
	assert_true(is_true(of_part(&t.p, MEMORY_MANAGEMENT, CODE, t.callee[0])));
	assert_true(is_false(of_part(&t.p, MEMORY_MANAGEMENT, CODE, t.callee[1])));
	assert_true(is_false(of_part(&t.p, CPU_BOUND, CODE, t.callee[0])));
	assert_true(is_true(of_part(&t.p, CPU_BOUND, CODE, t.callee[1])));
	simulation_release(&t.p);
}

static void the_special_hypothesis_follows_the_general_one(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	uint32_t file = simulation_object(&t.p, FILES, 1, 10);
	for (int i = 0; i < 2; i++) {
		struct simulated_stack x = in_callee(&t, i, 0.4);
		x.class = SAMPLE_IO;
		x.small = i == 1;
		x.object = file;
		does(&t.p, x);
	}
	simulation_run(&t.p, 0.1);
	assert_null(of_part(&t.p, SMALL_IO, CODE, CODE));
	run_until_settled(&t.p, 20);
	assert_true(is_true(of_part(&t.p, SMALL_IO, CODE, CODE)));
	assert_true(is_true(of_part(&t.p, IO_BLOCKED, CODE, t.callee[0])));
	assert_true(is_false(of_part(&t.p, SMALL_IO, CODE, t.callee[0])));
	assert_true(is_true(of_part(&t.p, SMALL_IO, CODE, t.callee[1])));
	assert_true(of_part(&t.p, SMALL_IO, CODE, t.callee[1])->parents.len > 1);
	simulation_release(&t.p);
}

/* Six threads that each do something else: no code has a fifth of all time. */
static void what_one_thread_does_is_found_in_its_code(void **state)
{
	struct simulation p;
	uint32_t work[6];
	(void)state;
	simulation_init(&p, &search_defaults, SEED);
	uint32_t entry = simulation_function(&p);
	simulation_entry(&p, entry);
	for (uint32_t i = 0; i < 6; i++) {
		work[i] = simulation_function(&p);
		simulation_call(&p, entry, work[i]);
		struct simulated_stack x = STACK(0.9, entry, work[i]);
		x.thread = i ? simulation_thread(&p) : p.threads.data[0];
		does(&p, x);
	}
	run_until_settled(&p, 60);
	for (uint32_t i = 0; i < 6; i++) {
		struct focus f = focus_whole();
		f.part[CODE] = work[i];
		f.part[MACHINE] = p.threads.data[i];
		assert_true(is_true(of_focus(&p, CPU_BOUND, f)));
		assert_false(is_true(of_code(&p, work[i])));
		f.part[CODE] = work[(i + 1) % 6];
		assert_false(is_true(of_focus(&p, CPU_BOUND, f)));
	}
	simulation_release(&p);
}

/* The same of threads to which a runtime gives work: none is searched alone. */
static void threads_of_a_runtime_are_not_searched_alone(void **state)
{
	struct simulation p;
	(void)state;
	simulation_init(&p, &search_defaults, SEED);
	p.alike = true;
	uint32_t entry = simulation_function(&p);
	simulation_entry(&p, entry);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t work = simulation_function(&p);
		simulation_call(&p, entry, work);
		struct simulated_stack x = STACK(0.9, entry, work);
		x.thread = i ? simulation_thread(&p) : p.threads.data[0];
		does(&p, x);
	}
	run_until_settled(&p, 60);
	for (uint32_t i = 0; i < search_count(p.search); i++) {
		const struct focus *f = &search_get(p.search, i)->focus;
		for (uint32_t k = 0; k < p.threads.len; k++)
			assert_false(f->part[MACHINE] == p.threads.data[k] &&
				     f->part[CODE] != CODE);
	}
	assert_true(is_true(of_code(&p, entry)));
	simulation_release(&p);
}

static void what_the_whole_does_is_not_searched_again_in_a_thread(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	does(&t.p, in_callee(&t, 0, 0.9));
	run_until_settled(&t.p, 20);
	assert_true(is_true(of_part(&t.p, CPU_BOUND, MACHINE, t.p.threads.data[0])));
	struct focus f = focus_whole();
	f.part[MACHINE] = t.p.threads.data[0];
	f.part[CODE] = t.main;
	assert_null(of_focus(&t.p, CPU_BOUND, f));
	/* Nor if it has company. */
	uint32_t second = simulation_thread(&t.p);
	search_part(t.p.search, MACHINE, t.p.process, second);
	run_until_settled(&t.p, 40);
	assert_null(of_focus(&t.p, CPU_BOUND, f));
	assert_true(is_false(of_part(&t.p, CPU_BOUND, MACHINE, second)));
	simulation_release(&t.p);
}

static void a_thread_without_time_of_its_own_holds_nothing_up(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	t.p.joining = simulation_thread(&t.p);
	struct simulated_stack x = in_callee(&t, 2, 0.6);
	x.class = SAMPLE_SYNC;
	does(&t.p, x);
	run_until_settled(&t.p, 5);
	assert_true(is_true(of_part(&t.p, SYNC_WAITING, MACHINE, t.p.threads.data[0])));
	assert_true(is_false(of_part(&t.p, SYNC_WAITING, MACHINE, t.p.joining)));
	simulation_release(&t.p);
}

static void imbalance_is_found(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	for (uint32_t i = 0; i < 4; i++) {
		struct simulated_stack x = in_callee(&t, 0, i ? 0.3 : 0.9);
		x.thread = i ? simulation_thread(&t.p) : t.p.threads.data[0];
		does(&t.p, x);
	}
	run_until_settled(&t.p, 60);
	assert_true(is_true(of_part(&t.p, IMBALANCE, MACHINE, t.p.process)));
	assert_true(is_true(of_part(&t.p, IMBALANCE, CODE, t.callee[0])));
	simulation_release(&t.p);
}

/* ---- what changes ---- */

static void phases_are_followed(void **state)
{
	(void)state;
	for (int deep = 0; deep < 2; deep++) {
		struct small t;
		struct search_options o = search_defaults;
		o.deep_start = deep;
		small_init(&t, &o);
		struct simulated_stack x = in_callee(&t, 0, 0.9), y = in_callee(&t, 1, 0.9);
		x.until = y.from = 6;
		does(&t.p, x);
		does(&t.p, y);
		run_until_settled(&t.p, 6);
		assert_true(is_true(of_code(&t.p, t.callee[0])));
		assert_true(is_false(of_code(&t.p, t.callee[1])));
		simulation_run(&t.p, 6);
		double before = of_code(&t.p, t.callee[0])->value;
		assert_true(before > 0.8);
		simulation_run(&t.p, 14);
		assert_true(is_true(of_code(&t.p, t.callee[1])));
		assert_int_equal(of_code(&t.p, t.callee[1])->tests, 2);
		assert_false(of_code(&t.p, t.callee[1])->over);
		assert_true(is_true(of_code(&t.p, t.callee[0])));
		assert_true(of_code(&t.p, t.callee[0])->over);
		assert_true(is_false(of_code(&t.p, t.callee[2])));
		assert_true(search_settled(t.p.search));
		simulation_release(&t.p);
	}
}

static void a_root_may_become_true_later(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	struct simulated_stack x = in_callee(&t, 0, 0.9);
	x.from = 5;
	x.until = 8;
	does(&t.p, x);
	simulation_run(&t.p, 5);
	assert_true(is_false(of_part(&t.p, CPU_BOUND, CODE, CODE)));
	simulation_run(&t.p, 8);
	assert_true(is_true(of_part(&t.p, CPU_BOUND, CODE, CODE)));
	assert_true(is_true(of_code(&t.p, t.callee[0])));
	/* And false again: on the whole it is not. */
	simulation_run(&t.p, 30);
	assert_true(is_false(of_part(&t.p, CPU_BOUND, CODE, CODE)));
	assert_true(of_code(&t.p, t.callee[0])->over);
	simulation_release(&t.p);
}

static void parts_that_come_and_go_do_not_swamp_the_search(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	struct simulated_stack x = in_callee(&t, 0, 0.6);
	x.class = SAMPLE_SYNC;
	x.object = simulation_object(&t.p, SYNC, 1, 0);
	does(&t.p, x);
	run_until_settled(&t.p, 20);
	uint32_t kind = search_resources(t.p.search)->list.data[x.object].parent;
	uint32_t before = search_count(t.p.search);
	for (uint64_t i = 1; i <= 1000; i++)
		search_part(t.p.search, SYNC, kind,
			    resources_child(search_resources(t.p.search), kind, i));
	assert_int_equal(search_ignored(t.p.search, SYNC), 980);
	assert_int_equal(search_ignored(t.p.search, MACHINE), 0);
	/* The kind is true for the whole, and with main, loop and callee. */
	assert_int_equal(search_count(t.p.search) - before, 20 * 2);
	run_until_settled(&t.p, 60);
	search_part(t.p.search, SYNC, kind, resources_child(search_resources(t.p.search), kind, 1));
	assert_int_equal(search_ignored(t.p.search, SYNC), 980);
	simulation_release(&t.p);
}

static void targets_of_indirect_calls_are_taken_in(void **state)
{
	struct small t;
	struct search_options o = search_defaults;
	(void)state;
	o.deep_start = false;
	small_init(&t, &o);
	uint32_t target = simulation_function(&t.p);
	does(&t.p, STACK(0.9, t.main, t.loop, t.callee[3], target));
	run_until_settled(&t.p, 20);
	assert_null(of_code(&t.p, target));
	search_part(t.p.search, CODE, t.callee[3], target);
	search_part(t.p.search, CODE, t.callee[0], target); /* is false */
	run_until_settled(&t.p, 20);
	assert_true(is_true(of_code(&t.p, target)));
	assert_int_equal(of_code(&t.p, target)->parents.len, 1);
	simulation_release(&t.p);
}

/* ---- cost ---- */

static void overhead_is_limited(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	simulation_overhead(&t.p, t.main, 0.001);
	simulation_overhead(&t.p, t.loop, 0.02);
	for (int i = 0; i < 4; i++)
		simulation_overhead(&t.p, t.callee[i], 0.02);
	does(&t.p, in_callee(&t, 0, 0.9));
	run_until_settled(&t.p, 60);
	simulation_run(&t.p, t.p.now + 1);
	assert_true(is_true(of_code(&t.p, t.callee[0])));
	for (int i = 1; i < 4; i++)
		assert_true(is_false(of_code(&t.p, t.callee[i])));
	/* Nothing above the limit lasted, and little is left. */
	assert_true(t.p.most_overhead <= 0.05);
	assert_true(is_true(of_code(&t.p, t.main)) && is_true(of_code(&t.p, t.loop)));
	assert_false(of_code(&t.p, t.loop)->measured);
	assert_false(of_code(&t.p, t.callee[0])->measured);
	assert_true(of_code(&t.p, t.callee[0])->overhead > 0);
	simulation_release(&t.p);
}

static void what_overheads_too_much_is_decided_all_the_same(void **state)
{
	(void)state;
	for (int sampled = 0; sampled < 2; sampled++) {
		struct small t;
		small_init(&t, &search_defaults);
		t.p.sampled_above = sampled ? 0.03 : 0;
		simulation_overhead(&t.p, t.callee[0], 0.3);
		does(&t.p, in_callee(&t, 0, 0.9));
		run_until_settled(&t.p, 60);
		const struct experiment *e = of_code(&t.p, t.callee[0]);
		assert_true(is_true(e));
		assert_int_equal(e->sampled, sampled);
		assert_int_equal(e->measured, sampled);
		assert_true(t.p.most_overhead <= 0.05);
		simulation_release(&t.p);
	}
}

/* ---- the end ---- */

static void what_is_not_decided_is_unknown_at_the_end(void **state)
{
	struct small t;
	(void)state;
	small_init(&t, &search_defaults);
	does(&t.p, in_callee(&t, 0, 0.9));
	simulation_run(&t.p, 0.4);
	search_finish(t.p.search, 0.42);
	uint32_t unknown = 0;
	for (uint32_t i = 0; i < search_count(t.p.search); i++) {
		const struct experiment *e = search_get(t.p.search, i);
		assert_false(e->measured);
		assert_int_not_equal(e->state, EXPERIMENT_READY);
		assert_int_not_equal(e->state, EXPERIMENT_ACTIVE);
		unknown += e->state == EXPERIMENT_UNKNOWN;
	}
	assert_true(unknown > 0);
	vec_each (probe, &t.p.probes)
		assert_false(probe->begun);
	assert_int_equal(t.p.uncommitted, 0);
	assert_true(is_true(of_part(&t.p, CPU_BOUND, CODE, CODE)));
	simulation_release(&t.p);
}

static void a_program_that_does_not_run_is_not_judged_soon(void **state)
{
	struct search_options o = search_defaults;
	struct simulation p;
	(void)state;
	simulation_init(&p, &o, SEED);
	for (int i = 1; i < 450; i++)
		search_turn(p.search, i * 0.02); /* readings stay the same */
	for (uint32_t i = 0; i < search_count(p.search); i++)
		assert_int_equal(search_get(p.search, i)->state, EXPERIMENT_ACTIVE);
	search_finish(p.search, 9);
	assert_int_equal(search_get(p.search, 0)->state, EXPERIMENT_UNKNOWN);
	simulation_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_rare),
		cmocka_unit_test(clear_cases_are_quick),
		cmocka_unit_test(too_little_decides_nothing),
		cmocka_unit_test(the_recent_past_is_two_seconds),
		cmocka_unit_test(figure_4_is_counted_as_published),
		cmocka_unit_test(recursion_counts_once_and_hides_nothing),
		cmocka_unit_test(the_furthest_inside_stands_for_a_recursion),
		cmocka_unit_test(old_samples_are_not_recent),
		cmocka_unit_test(deep_start_finds_what_is_hidden_below_false_callers),
		cmocka_unit_test(deep_start_is_quicker),
		cmocka_unit_test(the_same_input_gives_the_same_search),
		cmocka_unit_test(what_samples_speak_against_has_no_probes),
		cmocka_unit_test(the_search_goes_its_known_way),
		cmocka_unit_test(roots_that_are_false_stay_alone),
		cmocka_unit_test(code_is_not_looked_at_before_priming_is_over),
		cmocka_unit_test(loops_are_deep_starters_too),
		cmocka_unit_test(priority_is_inherited),
		cmocka_unit_test(recursion_is_searched_and_makes_no_cycle),
		cmocka_unit_test(a_wait_is_refined_to_code_and_object),
		cmocka_unit_test(memory_management_is_apart_from_cpu_time),
		cmocka_unit_test(the_special_hypothesis_follows_the_general_one),
		cmocka_unit_test(what_one_thread_does_is_found_in_its_code),
		cmocka_unit_test(threads_of_a_runtime_are_not_searched_alone),
		cmocka_unit_test(what_the_whole_does_is_not_searched_again_in_a_thread),
		cmocka_unit_test(a_thread_without_time_of_its_own_holds_nothing_up),
		cmocka_unit_test(imbalance_is_found),
		cmocka_unit_test(phases_are_followed),
		cmocka_unit_test(a_root_may_become_true_later),
		cmocka_unit_test(parts_that_come_and_go_do_not_swamp_the_search),
		cmocka_unit_test(targets_of_indirect_calls_are_taken_in),
		cmocka_unit_test(without_probes_all_is_tested_at_once),
		cmocka_unit_test(overhead_is_limited),
		cmocka_unit_test(what_overheads_too_much_is_decided_all_the_same),
		cmocka_unit_test(what_is_not_decided_is_unknown_at_the_end),
		cmocka_unit_test(a_program_that_does_not_run_is_not_judged_soon),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
