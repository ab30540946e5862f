#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/text.h"
#include "module/demangle.h"

static void names_of_each_language(void **state)
{
	static const char *const cases[][2] = {
		{"main", "main"},
		{"_Z3fooi", "foo(int)"},
		{"_ZNSt6vectorIiSaIiEE9push_backEOi",
		 "std::vector<int, std::allocator<int> >::push_back(int&&)"},
		{"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
		 "core::fmt::Formatter::write_str"},
		{"_RNvC7mycrate3bar", "mycrate::bar"},
		{"_D3std5stdio7writelnFAyaZv", "std.stdio.writeln(immutable(char)[])"},
		{"_ada_main", "main"},
		{"_DYNAMIC", "_DYNAMIC"},
		{"_Z", "_Z"},
		{"", ""},
	};
	struct arena a = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(demangle(&a, cases[i][0]), cases[i][1]);
	arena_release(&a);
}

static void compiler_suffixes_stay(void **state)
{
	struct arena a = {0};
	(void)state;
	assert_string_equal(demangle(&a, "_Z3fooi.cold"), "foo(int) [clone .cold]");
	assert_string_equal(demangle(&a, "_Z3fooi.isra.0"), "foo(int) [clone .isra.0]");
	assert_string_equal(demangle(&a, "foo.part.0"), "foo.part.0");
	arena_release(&a);
}

static void unmangled_names_are_not_copied(void **state)
{
	struct arena a = {0};
	const char *name = "memcpy";
	(void)state;
	assert_ptr_equal(demangle(&a, name), name);
	arena_release(&a);
}

static void long_template_names_work(void **state)
{
	struct arena a = {0};
	struct text name = TEXT_INIT;
	(void)state;
	text_add(&name, "_Z1f");
	for (int i = 0; i < 200; i++)
		text_printf(&name, "8class%03d", i);
	assert_true(name.len > 1024);
	assert_int_equal(strncmp(demangle(&a, name.data), "f(class000, class001, ", 22), 0);
	text_release(&name);
	arena_release(&a);
}

/* Each argument is a template over the one before, twice: the text doubles with each. */
static void exponential_names_stay_mangled(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct arena a = {0};
	struct text name = TEXT_INIT;
	(void)state;
	text_add(&name, "_Z1f1AIiiE");
	for (int i = 0; i < 36; i += 2)
		text_printf(&name, "1AIS%c_S%c_E", digits[i], digits[i]);
	assert_ptr_equal(demangle(&a, name.data), name.data);
	text_clear(&name);
	text_add(&name, "_D1aFHiiHQeQg");
	for (int i = 0; i < 60; i++)
		text_add(&name, "HQgQi");
	text_add(&name, "Zv");
	assert_ptr_equal(demangle(&a, name.data), name.data);
	text_release(&name);
	arena_release(&a);
}

static void deep_and_endless_names_return(void **state)
{
	static const char *const pieces[] = {"P", "cv", "N", "St", "K", "DpT_", "X", "F"};
	struct arena a = {0};
	struct text name = TEXT_INIT;
	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		for (size_t length = 1000; length < 100000; length *= 4) {
			text_clear(&name);
			text_add(&name, "_Z1f");
			while (name.len < length)
				text_add(&name, pieces[i]);
			text_add(&name, "i");
			assert_non_null(demangle(&a, name.data));
		}
	}
	assert_string_equal(demangle(&a, "_RNvB_1a"), "_RNvB_1a");
	text_release(&name);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_each_language),
		cmocka_unit_test(compiler_suffixes_stay),
		cmocka_unit_test(unmangled_names_are_not_copied),
		cmocka_unit_test(long_template_names_work),
		cmocka_unit_test(exponential_names_stay_mangled),
		cmocka_unit_test(deep_and_endless_names_return),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
