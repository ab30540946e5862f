#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/json_strings.h"

static void expect(struct text *t, const char *expected)
{
	assert_string_equal(t->data ? t->data : "", expected);
	text_release(t);
}

static void all_kinds_of_values(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	struct json j = JSON_INIT(&t);
	json_object(&j, NULL);
	json_string(&j, "s", "x");
	json_string(&j, "null", NULL);
	json_u64(&j, "n", UINT64_MAX);
	json_hex(&j, "h", 0x1f);
	json_bool(&j, "b", true);
	json_quantity(&j, "f", A_TIME, 1.5, 3);
	json_end(&j);
	expect(&t,
	       "{\"s\":\"x\",\"null\":null,\"n\":18446744073709551615,\"h\":\"0x1f\",\"b\":true,"
	       "\"f\":1.500}\n");
}

static void commas_stand_between_items_only(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	struct json j = JSON_INIT(&t);
	json_array(&j, NULL);
	json_array(&j, NULL);
	json_end(&j);
	json_object(&j, NULL);
	json_array(&j, "a");
	json_u64(&j, NULL, 1);
	json_u64(&j, NULL, 2);
	json_end(&j);
	json_u64(&j, "b", 3);
	json_end(&j);
	json_u64(&j, NULL, 4);
	json_end(&j);
	expect(&t, "[[],\n{\"a\":[1,2],\"b\":3},4]\n");
}

static void string_is(const char *in, const char *expected)
{
	struct text t = TEXT_INIT;
	struct json j = JSON_INIT(&t);
	json_string(&j, NULL, in);
	expect(&t, expected);
}

static void special_characters_are_escaped(void **state)
{
	(void)state;
	string_is("a\"b\\c", "\"a\\\"b\\\\c\"");
	string_is("\n\t\b\f\r", "\"\\n\\t\\b\\f\\r\"");
	string_is("\x01\x1b\x7f", "\"\\u0001\\u001b\\u007f\"");
}

static void valid_utf8_is_kept(void **state)
{
	(void)state;
	string_is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void invalid_utf8_is_replaced(void **state)
{
	(void)state;
	string_is("a\xff", "\"a\\ufffd\"");
	string_is("\xc3", "\"\\ufffd\"");                       /* cut short */
	string_is("\xc0\xaf", "\"\\ufffd\\ufffd\"");            /* longer than it need be */
	string_is("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* surrogate */
	string_is("\xf5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void too_deep_comes_out_balanced(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	struct json j = JSON_INIT(&t);
	for (int i = 0; i < JSON_MAX_DEPTH + 5; i++)
		json_array(&j, NULL);
	json_u64(&j, NULL, 1);
	for (int i = 0; i < JSON_MAX_DEPTH + 5; i++)
		json_end(&j);
	assert_int_equal(t.len, 2 * JSON_MAX_DEPTH + 1);
	assert_int_equal(t.data[JSON_MAX_DEPTH - 1], '[');
	assert_int_equal(t.data[JSON_MAX_DEPTH], ']');
	text_release(&t);
}

static bool note_string(void *ctx, unsigned depth, const char *key, const char *value)
{
	text_printf(ctx, "%u %s=%s\n", depth, key, value);
	return strcmp(value, "last") != 0;
}

static void strings_are(const char *json, const char *expected)
{
	struct text t = TEXT_INIT;
	text_add(&t, "");
	json_each_string(json, note_string, &t);
	expect(&t, expected);
}

static void strings_have_their_keys(void **state)
{
	(void)state;
	strings_are("{\"a\": \"x\", \"n\": 1, \"b\":{\"a\":\"y\"} ,\"c\" :\"z\"}",
		    "1 a=x\n2 a=y\n1 c=z\n");
	strings_are("[{\"names\":[\"p\",\"q\"],\"t\":true}]", "3 names=p\n3 names=q\n");
	strings_are("{\"a\":\"{[\\\"\\\\\",\"b\":\"\"}", "1 a={[\\\"\\\\\n1 b=\n");
	strings_are("[\"last\",\"more\"]", "1 =last\n");
}

static void damaged_json_ends_the_scan(void **state)
{
	static char longest[1000];
	(void)state;
	strings_are("", "");
	strings_are("{\"a\":\"x", "");
	strings_are("{\"a\":\"x\\", "");
	strings_are("]]}}\"x\"", "0 =x\n");
	memset(longest, 'k', sizeof(longest) - 1);
	longest[0] = longest[600] = longest[602] = longest[sizeof(longest) - 2] = '"';
	longest[601] = ':';
	struct text t = TEXT_INIT;
	json_each_string(longest, note_string, &t);
	assert_int_equal(t.len, strlen("0 =\n") + 63 + 255);
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_of_values),
		cmocka_unit_test(commas_stand_between_items_only),
		cmocka_unit_test(special_characters_are_escaped),
		cmocka_unit_test(valid_utf8_is_kept),
		cmocka_unit_test(invalid_utf8_is_replaced),
		cmocka_unit_test(too_deep_comes_out_balanced),
		cmocka_unit_test(strings_have_their_keys),
		cmocka_unit_test(damaged_json_ends_the_scan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
