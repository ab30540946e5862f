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

enum { SEED = 20020131 };

static struct simulated_stack stack(double share, uint32_t length, const uint32_t *chain)
{
	struct simulated_stack x = {.class = SAMPLE_CPU, .share = share, .length = length};
	memcpy(x.chain, chain, length * sizeof(*chain));
	return x;
}

#define STACK(share, ...)                                                                          \
	stack(share, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
	      (uint32_t[]){__VA_ARGS__})

static uint32_t find(const struct simulation *p, enum hypothesis_id h, const struct focus *f)
{
	for (uint32_t i = 0; i < search_count(p->search); i++) {
		const struct experiment *e = search_get(p->search, i);
		if (e->hypothesis == h && !memcmp(&e->focus, f, sizeof(*f)))
			return i;
	}
	return EXPERIMENT_NONE;
}

static const struct experiment *of_code(const struct simulation *p, enum hypothesis_id h,
					uint32_t code)
{
	struct focus f = focus_whole();
	f.part[CODE] = code;
	uint32_t i = find(p, h, &f);
	return i == EXPERIMENT_NONE ? NULL : search_get(p->search, i);
}

static bool is_true(const struct experiment *e)
{
	return e && e->state == EXPERIMENT_TRUE;
}

/* ---- figure 1 ---- */

struct figure1 {
	uint32_t main, a, b, c, d, e;
};

static struct figure1 draw_figure1(struct simulation *p)
{
	struct figure1 f = {
		.main = simulation_procedure(p),
		.a = simulation_procedure(p),
		.b = simulation_procedure(p),
		.c = simulation_procedure(p),
		.d = simulation_procedure(p),
		.e = simulation_procedure(p),
	};
	simulation_entry(p, f.main);
	simulation_call(p, f.main, f.a);
	const uint32_t callers[] = {f.b, f.c, f.d};
	for (int i = 0; i < 3; i++) {
		simulation_call(p, f.a, callers[i]);
		simulation_call(p, callers[i], f.e);
		struct simulated_stack x = STACK(0.15, f.main, f.a, callers[i], f.e);
		simulation_does(p, &x);
	}
	struct simulated_stack rest = STACK(0.5, f.main, f.a);
	simulation_does(p, &rest);
	return f;
}

static void deep_start_finds_what_is_hidden_below_false_callers(void **state)
{
	(void)state;
	for (int deep = 0; deep < 2; deep++) {
		struct simulation p;
		struct search_options o = search_defaults;
		o.deep_start = deep;
		simulation_init(&p, &o, SEED);
		struct figure1 f = draw_figure1(&p);
		simulation_run(&p, 10);
		assert_true(search_settled(p.search));
		assert_true(is_true(of_code(&p, CPU_BOUND, f.a)));
		assert_false(is_true(of_code(&p, CPU_BOUND, f.b)));
		assert_int_equal(is_true(of_code(&p, CPU_BOUND, f.e)), deep);
		simulation_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_start_finds_what_is_hidden_below_false_callers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
