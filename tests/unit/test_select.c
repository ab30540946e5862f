/* Selecting functions by what users write, in this very process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "path/names.h"
#include "path/select.h"

/* ---- what is selected ---- */

static volatile unsigned long sink;

enum { LINE_OF_LOOP = __LINE__ + 4, LINE_OF_NO_LOOP = __LINE__ + 10 };

__attribute__((noinline, used)) static void select_target_one(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline, used)) static void select_target_two(int n)
{
	sink += (unsigned long)n;
}

static inline __attribute__((always_inline)) void select_inlined(int n)
{
	sink ^= (unsigned long)n;
}

__attribute__((noinline, used)) static void select_caller(int n)
{
	select_inlined(n);
}

/* ---- */

struct fixture {
	struct codes *codes;
	struct space *space;
	struct selector *selector;
	struct selection found;
	struct err e;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->codes = codes_new(NULL);
	f->space = space_new(f->codes, getpid());
	assert_int_equal(space_refresh(f->space, &f->e), 0);
	f->selector = selector_new();
	selection_init(&f->found);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	selection_release(&f->found);
	selector_free(f->selector);
	space_free(f->space);
	codes_free(f->codes);
	free(f);
	return 0;
}

static int find(struct fixture *f, const char *what)
{
	vec_clear(&f->found.list);
	f->e = (struct err){0};
	return selector_find(f->selector, getpid(), f->space, what, &f->found, &f->e);
}

static uint64_t pc_of(const struct selected *s)
{
	return s->va + s->bias;
}

static void finds_one(struct fixture *f, const char *what, void (*function)(int))
{
	assert_int_equal(find(f, what), 0);
	assert_int_equal(f->found.list.len, 1);
	assert_int_equal(pc_of(&f->found.list.data[0]), (uintptr_t)function);
	assert_int_equal(f->found.list.data[0].loop, 0);
}

static void a_name_means_the_function_where_it_runs(void **state)
{
	struct fixture *f = *state;
	finds_one(f, "select_target_one", select_target_one);
	const struct selected *s = &f->found.list.data[0];
	assert_string_equal(s->name, "select_target_one");
	assert_non_null(strstr(s->file, "test_select.c"));
	assert_true(s->first_line > 0);
}

static void a_glob_means_every_match_by_itself(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(find(f, "select_target_*"), 0);
	assert_int_equal(f->found.list.len, 2);
}

static void a_file_restricts_the_name(void **state)
{
	struct fixture *f = *state;
	finds_one(f, "test_select.c:select_target_two", select_target_two);
	finds_one(f, "unit/test_select.c:select_target_two", select_target_two);
	assert_int_not_equal(find(f, "elsewhere.c:select_target_two"), 0);
	assert_non_null(strstr(f->e.text, "test_select.c"));
}

static void a_module_restricts_the_name(void **state)
{
	struct fixture *f = *state;
	finds_one(f, "test_select!select_target_two", select_target_two);
	assert_int_equal(find(f, "libc!getpid"), 0);
	assert_int_equal(pc_of(&f->found.list.data[0]), (uintptr_t)getpid);
	assert_int_not_equal(find(f, "libc!select_target_two"), 0);
	assert_false(f->found.awaits_module);
}

static void a_module_that_is_not_mapped_may_come_later(void **state)
{
	struct fixture *f = *state;
	assert_int_not_equal(find(f, "libnowhere!anything"), 0);
	assert_true(f->found.awaits_module);
}

static void an_address_means_the_function_that_holds_it(void **state)
{
	struct fixture *f = *state;
	char what[32];
	finds_one(f, "select_target_one", select_target_one);
	snprintf(what, sizeof(what), "0x%llx", (unsigned long long)f->found.list.data[0].va + 4);
	finds_one(f, what, select_target_one);
}

static void a_line_means_the_loop_around_it(void **state)
{
	struct fixture *f = *state;
	char what[64];
	snprintf(what, sizeof(what), "test_select.c:%u", LINE_OF_LOOP);
	assert_int_equal(find(f, what), 0);
	const struct selected *s = &f->found.list.data[0];
	assert_string_equal(s->name, "select_target_one");
	assert_true(s->loop >= s->va);
	assert_true(s->first_line <= LINE_OF_LOOP && LINE_OF_LOOP <= s->last_line);
	snprintf(what, sizeof(what), "test_select.c:%u", LINE_OF_NO_LOOP);
	assert_int_not_equal(find(f, what), 0);
	assert_non_null(strstr(f->e.text, "not in a loop"));
	assert_non_null(strstr(f->e.text, "select_target_two"));
}

static void near_names_are_suggested(void **state)
{
	struct fixture *f = *state;
	assert_int_not_equal(find(f, "select_targte_one"), 0);
	assert_non_null(strstr(f->e.text, "select_target_one"));
	assert_int_not_equal(find(f, "no_name_is_like_this_one_at_all_qqq"), 0);
	assert_null(strstr(f->e.text, "did you mean"));
}

static void what_is_inlined_everywhere_says_so(void **state)
{
	struct fixture *f = *state;
	assert_int_not_equal(find(f, "select_inlined"), 0);
	assert_non_null(strstr(f->e.text, "inlined"));
	assert_non_null(strstr(f->e.text, "select_caller"));
}

/* ---- names ---- */

static bool matches(const char *pattern, const char *symbol)
{
	struct name_pattern p;
	struct arena tmp;
	arena_init(&tmp);
	name_pattern_init(&p, pattern);
	bool yes = name_matches(&p, symbol, &tmp);
	name_pattern_release(&p);
	arena_release(&tmp);
	return yes;
}

static void names_match_with_and_without_parameters(void **state)
{
	(void)state;
	assert_true(matches("ns::f", "_ZN2ns1fEi"));
	assert_true(matches("ns::f", "_ZN2ns1fEd"));
	assert_true(matches("ns::f(int)", "_ZN2ns1fEi"));
	assert_false(matches("ns::f(int)", "_ZN2ns1fEd"));
	assert_true(matches("_ZN2ns1fEi", "_ZN2ns1fEi"));
	assert_false(matches("f", "_ZN2ns1fEi"));
	assert_true(matches("*::f", "_ZN2ns1fEi"));
	assert_true(matches("ns::A::A", "_ZN2ns1AC1Ev"));
	assert_true(matches("operator+", "_Zpl1AS_"));
}

static void instances_of_templates_match_by_the_template(void **state)
{
	(void)state;
	/* int twice<int>(int) */
	assert_true(matches("twice", "_Z5twiceIiET_S0_"));
	assert_true(matches("twice<int>", "_Z5twiceIiET_S0_"));
	assert_false(matches("twice<long>", "_Z5twiceIiET_S0_"));
	assert_false(matches("int", "_Z5twiceIiET_S0_"));
}

static void copies_of_the_compiler_match_but_split_parts_do_not(void **state)
{
	(void)state;
	assert_true(matches("f", "f.constprop.0"));
	assert_true(matches("f", "f.isra.0"));
	assert_true(matches("f.isra.0", "f.isra.0"));
	assert_true(matches("ns::f", "_ZN2ns1fEi.constprop.0"));
	assert_false(matches("f", "f.cold"));
	assert_false(matches("f*", "f.cold"));
	assert_false(matches("f", "f.constprop.0.cold"));
	assert_false(matches("f", "ff"));
}

static void a_bare_name_has_no_result_and_no_parameters(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	assert_string_equal(name_bare(&a, "void ns::f<int>(std::vector<int, A>)", true),
			    "ns::f<int>");
	assert_string_equal(name_bare(&a, "void ns::f<int>(std::vector<int, A>)", false), "ns::f");
	assert_string_equal(name_bare(&a, "(anonymous namespace)::f(int)", true),
			    "(anonymous namespace)::f");
	assert_string_equal(name_bare(&a, "A::operator()(int) const", true), "A::operator()");
	assert_string_equal(name_bare(&a, "std::operator<< <char>(int)", true),
			    "std::operator<< <char>");
	assert_string_equal(name_bare(&a, "plain", true), "plain");
	arena_release(&a);
}

#define WITH_PROCESS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PROCESS(a_name_means_the_function_where_it_runs),
		WITH_PROCESS(a_glob_means_every_match_by_itself),
		WITH_PROCESS(a_file_restricts_the_name),
		WITH_PROCESS(a_module_restricts_the_name),
		WITH_PROCESS(a_module_that_is_not_mapped_may_come_later),
		WITH_PROCESS(an_address_means_the_function_that_holds_it),
		WITH_PROCESS(a_line_means_the_loop_around_it),
		WITH_PROCESS(near_names_are_suggested),
		WITH_PROCESS(what_is_inlined_everywhere_says_so),
		cmocka_unit_test(names_match_with_and_without_parameters),
		cmocka_unit_test(instances_of_templates_match_by_the_template),
		cmocka_unit_test(copies_of_the_compiler_match_but_split_parts_do_not),
		cmocka_unit_test(a_bare_name_has_no_result_and_no_parameters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
