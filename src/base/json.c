#include "base/json.h"

#include <assert.h>
#include <string.h>

/* Length of the UTF-8 sequence at s (at most n bytes may be read), or 0 if it is not valid. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	static const struct {
		unsigned char mask, lead;
		/* smaller values have a shorter encoding, which is the only valid one */
		uint32_t first;
	} forms[] = {
		{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	for (size_t length = 1; length <= 4 && length <= n; length++) {
		if ((s[0] & forms[length - 1].mask) != forms[length - 1].lead)
			continue;
		uint32_t value = s[0] & (unsigned char)~forms[length - 1].mask;
		for (size_t i = 1; i < length; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			value = value << 6 | (s[i] & 0x3f);
		}
		bool surrogate = value >= 0xd800 && value <= 0xdfff;
		return value < forms[length - 1].first || value > 0x10ffff || surrogate ? 0
											: length;
	}
	return 0;
}

static void escape(struct text *out, unsigned char c)
{
	static const char letters[32] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
	if (c == '"' || c == '\\')
		text_printf(out, "\\%c", c);
	else if (c < 32 && letters[c])
		text_printf(out, "\\%c", letters[c]);
	else
		text_printf(out, "\\u%04x", c);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void quote(struct text *out, const char *s)
{
	size_t n = strlen(s);
	const unsigned char *at = (const unsigned char *)s, *end = at + n;
	text_char(out, '"');
	while (at < end) {
		const unsigned char *run = at;
		while (at < end && is_plain(*at))
			at++;
		text_addn(out, (const char *)run, (size_t)(at - run));
		if (at == end)
			break;
		size_t length = utf8_length(at, (size_t)(end - at));
		if (length > 1)
			text_addn(out, (const char *)at, length);
		else if (length == 1)
			escape(out, *at);
		else
			text_add(out, "\\ufffd");
		at += length ? length : 1;
	}
	text_char(out, '"');
}

/* Writes what precedes a value: the comma and the key. */
static void begin_value(struct json *j, const char *key)
{
	bool in_object = j->depth && j->closers[j->depth - 1] == '}';
	assert(j->too_deep || in_object == (key != NULL));
	if (j->has_items)
		text_char(j->out, ',');
	j->has_items = true;
	if (key) {
		quote(j->out, key);
		text_char(j->out, ':');
	}
}

static void open_container(struct json *j, const char *key, char opener, char closer)
{
	if (j->too_deep || j->depth == JSON_MAX_DEPTH) {
		j->too_deep++;
		return;
	}
	bool own_line = opener == '{' && j->depth && !key;
	begin_value(j, key);
	if (own_line)
		text_char(j->out, '\n');
	text_char(j->out, opener);
	j->closers[j->depth++] = closer;
	j->has_items = false;
}

void json_object(struct json *j, const char *key)
{
	open_container(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_container(j, key, '[', ']');
}

void json_end(struct json *j)
{
	if (j->too_deep) {
		j->too_deep--;
		return;
	}
	assert(j->depth);
	text_char(j->out, j->closers[--j->depth]);
	j->has_items = true;
	if (!j->depth)
		text_char(j->out, '\n');
}

void json_string(struct json *j, const char *key, const char *value)
{
	if (j->too_deep)
		return;
	begin_value(j, key);
	if (value)
		quote(j->out, value);
	else
		text_add(j->out, "null");
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	if (j->too_deep)
		return;
	begin_value(j, key);
	text_u64(j->out, value);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	if (j->too_deep)
		return;
	begin_value(j, key);
	text_char(j->out, '"');
	text_hex(j->out, value);
	text_char(j->out, '"');
}

void json_bool(struct json *j, const char *key, bool value)
{
	if (j->too_deep)
		return;
	begin_value(j, key);
	text_add(j->out, value ? "true" : "false");
}

void json_quantity(struct json *j, const char *key, enum quantity what, double value, int digits)
{
	if (j->too_deep)
		return;
	begin_value(j, key);
	text_printf(j->out, "%.*f", digits, checked(what, value));
}
