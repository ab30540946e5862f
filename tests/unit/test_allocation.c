/* Functions of allocators are known by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/allocation.h"

static void allocators_are_known_by_name(void **state)
{
	static const char *const names[] = {
		"malloc",  "free@plt",       "__libc_malloc",  "__GI___libc_free",
		"realloc", "posix_memalign", "_Znwm",          "_ZnamRKSt9nothrow_t",
		"_ZdlPvm", "_ZdaPv@plt",     "je_malloc",      "_rjem_sdallocx",
		"mallocx", "tc_newarray",    "mi_heap_malloc", "g_slice_alloc"};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!is_allocator(names[i]))
			fail_msg("%s", names[i]);
}

static void others_are_not(void **state)
{
	static const char *const names[] = {"",         "free_list",  "freeze",  "mallocate",
					    "remalloc", "mi_open",    "tc_init", "xmalloc",
					    "je",       "_ZN3FoonwEm"};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_allocator(names[i]))
			fail_msg("%s", names[i]);
}

static void they_are_shown_as_programs_call_them(void **state)
{
	(void)state;
	assert_string_equal(allocator_name("__libc_calloc"), "calloc");
	assert_string_equal(allocator_name("_Znwm"), "operator new");
	assert_string_equal(allocator_name("_ZdaPv@plt"), "operator delete[]");
	assert_string_equal(allocator_name("je_malloc"), "je_malloc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocators_are_known_by_name),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(they_are_shown_as_programs_call_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
