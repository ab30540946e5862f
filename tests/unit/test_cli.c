#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/vec.h"
#include "cli/args/choose.h"
#include "cli/args/options.h"

struct values {
	bool flag, cache;
	const char *text;
	struct option_number number;
	unsigned choice;
};

struct others {
	bool verbose;
};

static int calls;

static int count_call(const char *value, struct err *e)
{
	calls++;
	return strcmp(value, "bad") != 0 ? 0 : err_set(e, ERR_INPUT, "bad indeed");
}

static const char *const choices[] = {"text", "json", NULL};

static const struct option table[] = {
	OPTION("flag", OPTION_FLAG, struct values, flag, .letter = 'f', .help = "sets it"),
	OPTION("no-cache", OPTION_UNFLAG, struct values, cache, .help = "clears it"),
	OPTION("function", OPTION_TEXT, struct values, text, .letter = 'P', .value = "PATTERN",
	       .help = "names"),
	OPTION("start", OPTION_NUMBER, struct values, number, .letter = 'n', .value = "ADDRESS",
	       .help = "numbers"),
	OPTION("format", OPTION_CHOICE, struct values, choice, .value = "FORMAT",
	       .choices = choices, .help = "one of few"),
	OPTION("secret", OPTION_FLAG, struct values, flag, .help = NULL),
	{.name = "call",
	 .type = OPTION_CALL,
	 .value = "WORD",
	 .help = "calls",
	 .parse = count_call},
	{0},
};

static const struct option other_table[] = {
	OPTION("verbose", OPTION_FLAG, struct others, verbose, .letter = 'v', .help = "more"),
	{0},
};

struct parsed {
	int result;
	struct values values;
	struct others others;
	struct operands operands;
	struct err e;
	char *argv[20];
};

/* Parses the words of `line`; it must stay alive as long as the result. */
static void parse(struct parsed *p, enum options_order order, char *line)
{
	int argc = 0;
	*p = (struct parsed){.values = {.cache = true}};
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		p->argv[argc++] = word;
	const struct option_set sets[] = {{table, &p->values}, {other_table, &p->others}, {0}};
	p->result = options_parse(sets, order, argc, p->argv, &p->operands, &p->e);
}

static void every_spelling_of_a_value(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"--function=x y", "--function x y", "-P x y", "-Px y", "y -fPx", "y -f -P x --",
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct parsed p;
		char line[100];
		strcpy(line, lines[i]);
		parse(&p, OPTIONS_MIXED, line);
		assert_int_equal(p.result, 0);
		assert_string_equal(p.values.text, "x");
		assert_int_equal(p.operands.count, 1);
		assert_string_equal(p.operands.list[0], "y");
		assert_null(p.operands.list[1]);
	}
}

static void typed_values(void **state)
{
	(void)state;
	struct parsed p;
	char line[] = "-f --no-cache --start=0x1F --format json -v --call=a --call=b --function=";
	calls = 0;
	parse(&p, OPTIONS_MIXED, line);
	assert_int_equal(p.result, 0);
	assert_true(p.values.flag && !p.values.cache && p.others.verbose);
	assert_true(p.values.number.given);
	assert_int_equal(p.values.number.value, 0x1f);
	assert_int_equal(p.values.choice, 1);
	assert_string_equal(p.values.text, "");
	assert_int_equal(calls, 2);
}

static void operands_and_options_may_mix(void **state)
{
	(void)state;
	struct parsed p;
	char line[] = "a -f - b -- --flag -x";
	parse(&p, OPTIONS_MIXED, line);
	assert_int_equal(p.result, 0);
	assert_int_equal(p.operands.count, 5);
	assert_string_equal(p.operands.list[1], "-");
	assert_string_equal(p.operands.list[3], "--flag");
	assert_string_equal(p.operands.list[4], "-x");
}

static void first_operand_may_end_the_options(void **state)
{
	(void)state;
	struct parsed p;
	char line[] = "-v command --unknown -f";
	parse(&p, OPTIONS_FIRST, line);
	assert_int_equal(p.result, 0);
	assert_true(p.others.verbose && !p.values.flag);
	assert_int_equal(p.operands.count, 3);
	assert_string_equal(p.operands.list[0], "command");
	assert_string_equal(p.operands.list[2], "-f");
}

static void mistakes_are_explained(void **state)
{
	(void)state;
	static const struct {
		const char *line, *sentence;
	} cases[] = {
		{"--fromat=json", "unknown option '--fromat'; did you mean '--format'?"},
		{"--func=x", "unknown option '--func'; did you mean '--function'?"},
		{"-verbose", "unknown option '-verbose'; did you mean '--verbose'?"},
		{"--secre", "unknown option '--secre'; see --help"},
		{"-x", "unknown option '-x'; see --help"},
		{"--function", "--function needs a value: PATTERN"},
		{"-fP", "--function needs a value: PATTERN"},
		{"--flag=1", "--flag takes no value"},
		{"--format=xml", "invalid value 'xml' for --format; use one of: text, json"},
		{"--call=bad", "bad indeed"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parsed p;
		char line[100];
		strcpy(line, cases[i].line);
		parse(&p, OPTIONS_MIXED, line);
		assert_int_equal(p.result, ERR_INPUT);
		assert_string_equal(p.e.text, cases[i].sentence);
	}
}

static void numbers_are_checked(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"-n=", "-n0x", "-n12k", "-n-1", "-n+1", "-n99999999999999999999", "-n0xg", "-nx"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct parsed p;
		char line[100];
		strcpy(line, bad[i]);
		parse(&p, OPTIONS_MIXED, line);
		if (p.result != ERR_INPUT)
			fail_msg("%s was taken", bad[i]);
	}
}

static void absurdly_long_words_are_no_problem(void **state)
{
	(void)state;
	struct parsed p;
	static char line[100000];
	memset(line, 'x', sizeof(line) - 1);
	line[0] = line[1] = '-';
	parse(&p, OPTIONS_MIXED, line);
	assert_int_equal(p.result, ERR_INPUT);
	assert_true(strlen(p.e.text) < 200);
}

static void words_nearest_to_typing_errors(void **state)
{
	(void)state;
	static const char *const words[] = {"structure", "dump", "help"};
	assert_int_equal(nearest_word("strcture", words, 3), 0);
	assert_int_equal(nearest_word("struct", words, 3), 0);
	assert_int_equal(nearest_word("dmup", words, 3), 1);
	assert_int_equal(nearest_word("hlep", words, 3), 2);
	assert_int_equal(nearest_word("frobnicate", words, 3), -1);
	assert_int_equal(nearest_word("", words, 3), -1);
}

static void several_nearest_words_are_in_order(void **state)
{
	(void)state;
	static const char *const words[] = {"webs",    "proj-web-1", "cron", "weh",
					    "nothing", "web2",       "wwb",  "wxb"};
	size_t at[MOST_NEAREST];
	assert_int_equal(nearest_words("web", words, 8, at, 5), 5);
	assert_int_equal(at[0], 0);
	assert_int_equal(at[1], 1); /* it has the word in it */
	assert_int_equal(at[2], 3);
	assert_int_equal(at[3], 5);
	assert_int_equal(at[4], 6);
	assert_int_equal(nearest_words("web", words, 3, at, 5), 2);
	assert_int_equal(nearest_words("ningth", words, 8, at, 2), 0);
	assert_int_equal(nearest_words("nohting", words, 8, at, 2), 1);
	assert_int_equal(at[0], 4);
	assert_int_equal(nearest_words("web", words, 0, at, 5), 0);
}

static void descriptions_line_up(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	options_describe(other_table, &t);
	assert_string_equal(t.data, "  -v, --verbose  more\n");
	text_clear(&t);
	options_describe(table, &t);
	assert_null(strstr(t.data, "secret"));
	assert_non_null(strstr(t.data, "\n      --no-cache          clears it\n"));
	assert_non_null(strstr(t.data, "\n  -P, --function=PATTERN  names\n"));
	text_release(&t);
}

static void functions_are_chosen_by_name(void **state)
{
	(void)state;
	struct choice c;
	choice_init(&c, "ns::f*");
	assert_false(c.by_address);
	assert_true(choice_has_name(&c, "ns::foo(int)", "_ZN2ns3fooEi"));
	assert_false(choice_has_name(&c, "ns::goo(int)", "_ZN2ns3gooEi"));
	assert_false(choice_has_name(&c, NULL, NULL));
	choice_release(&c);
	choice_init(&c, "ns::foo");
	assert_true(choice_has_name(&c, "ns::foo(int)", NULL));
	assert_false(choice_has_name(&c, "ns::foot(int)", NULL));
	choice_release(&c);
	choice_init(&c, "_ZN2ns3fooEi");
	assert_true(choice_has_name(&c, "ns::foo(int)", "_ZN2ns3fooEi"));
	choice_release(&c);
}

static void functions_are_chosen_by_address(void **state)
{
	(void)state;
	struct choice c;
	choice_init(&c, "0x1F0");
	assert_true(c.by_address);
	assert_int_equal(c.address, 0x1f0);
	choice_release(&c);
	choice_init(&c, "0xyz");
	assert_false(c.by_address);
	choice_release(&c);
	choice_init(&c, NULL);
	assert_false(c.by_address);
	choice_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_of_a_value),
		cmocka_unit_test(typed_values),
		cmocka_unit_test(operands_and_options_may_mix),
		cmocka_unit_test(first_operand_may_end_the_options),
		cmocka_unit_test(mistakes_are_explained),
		cmocka_unit_test(numbers_are_checked),
		cmocka_unit_test(absurdly_long_words_are_no_problem),
		cmocka_unit_test(words_nearest_to_typing_errors),
		cmocka_unit_test(several_nearest_words_are_in_order),
		cmocka_unit_test(descriptions_line_up),
		cmocka_unit_test(functions_are_chosen_by_name),
		cmocka_unit_test(functions_are_chosen_by_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
