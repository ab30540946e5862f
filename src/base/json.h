/* Appends JSON to a text; keeps track of commas and nesting. Each object of an array starts a line
 * of its own, so that large output stays friendly to line-based tools.
 *
 *	struct json j = JSON_INIT(&text);
 *	json_object(&j, NULL);
 *	json_u64(&j, "pid", 42);
 *	json_end(&j);
 *
 * `key` is the member's name inside an object, and NULL inside an array and at the top. Strings may
 * hold any bytes: those that are not UTF-8 are written as U+FFFD. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/quantity.h"
#include "base/text.h"

enum { JSON_MAX_DEPTH = 1000 };

struct json {
	struct text *out;
	unsigned depth, too_deep;
	bool has_items;               /* the innermost container is not empty */
	char closers[JSON_MAX_DEPTH]; /* the closing bracket of each open container */
};

#define JSON_INIT(text)                                                                            \
	{                                                                                          \
		.out = (text)                                                                      \
	}

/* Containers nested deeper than JSON_MAX_DEPTH are left out. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

void json_string(struct json *j, const char *key, const char *value); /* NULL writes null */
void json_u64(struct json *j, const char *key, uint64_t value);
void json_hex(struct json *j, const char *key, uint64_t value); /* as a string: "0x1f" */
void json_bool(struct json *j, const char *key, bool value);
void json_quantity(struct json *j, const char *key, enum quantity what, double value, int digits);
