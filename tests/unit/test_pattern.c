#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

static void yes(const char *pattern, const char *name)
{
	if (!pattern_match(pattern, name))
		fail_msg("'%s' does not match '%s'", pattern, name);
}

static void no(const char *pattern, const char *name)
{
	if (pattern_match(pattern, name))
		fail_msg("'%s' matches '%s'", pattern, name);
}

static void plain_names(void **state)
{
	(void)state;
	yes("main", "main");
	no("main", "mains");
	no("main", "mai");
	no("main", "Main");
	yes("", "");
	no("", "a");
	no("a", "");
}

static void stars(void **state)
{
	(void)state;
	yes("*", "");
	yes("*", "anything");
	yes("a*c", "abc");
	yes("a*c", "ac");
	no("a*c", "acb");
	yes("*ab*ab*", "xxabyyabzz");
	no("*ab*ab*", "xxabyyzz");
	yes("*aab", "aaaaab");
	yes("**a**", "a");
	yes("std::*", "std::vector<int>::push_back(int&&)");
}

static void question_marks(void **state)
{
	(void)state;
	yes("a?c", "abc");
	no("a?c", "ac");
	no("?", "");
	yes("??", "ab");
}

static void sets(void **state)
{
	(void)state;
	yes("f[0-9]", "f7");
	no("f[0-9]", "fx");
	yes("f[!0-9]", "fx");
	yes("f[^0-9]", "fx");
	no("f[!0-9]", "f7");
	yes("[]x]", "]");
	yes("[a-]", "-");
	no("f[0-9]", "f");
	yes("*[xy]z", "abcyz");
	yes("[a-c][a-c]", "cb");
}

static void names_full_of_special_characters(void **state)
{
	(void)state;
	yes("operator[]", "operator[]");
	yes("f[", "f[");
	yes("f[a", "f[a");
	no("f[a", "fa");
	yes("operator*(int*)", "operator*(int*)");
	yes("a\\*", "a*");
	no("a\\*", "ab");
	yes("\\?", "?");
	yes("a\\", "a\\");
	yes("caf\xc3\xa9*", "caf\xc3\xa9s");
}

static void hard_patterns_end_soon(void **state)
{
	(void)state;
	char name[3001];
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	no("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name);
}

/* The definition of a match, as short as it can be said. */
static bool naive(const char *p, const char *s)
{
	if (!*p)
		return !*s;
	if (*p == '*')
		return naive(p + 1, s) || (*s && naive(p, s + 1));
	return *s && (*p == '?' || *p == *s) && naive(p + 1, s + 1);
}

static void agrees_with_the_definition(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		char pattern[8] = {0}, name[8] = {0};
		for (int k = rand() % 7; k > 0; k--)
			pattern[k - 1] = "ab*?"[rand() % 4];
		for (int k = rand() % 7; k > 0; k--)
			name[k - 1] = "ab"[rand() % 2];
		if (naive(pattern, name) != pattern_match(pattern, name))
			fail_msg("'%s' and '%s'", pattern, name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names),
		cmocka_unit_test(stars),
		cmocka_unit_test(question_marks),
		cmocka_unit_test(sets),
		cmocka_unit_test(names_full_of_special_characters),
		cmocka_unit_test(hard_patterns_end_soon),
		cmocka_unit_test(agrees_with_the_definition),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
