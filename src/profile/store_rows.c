#include "profile/store_rows.h"

#include <string.h>

#include "base/fault.h"
#include "profile/profile.h"

/* ---- writing ---- */

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

/* Like any text that is bound, `hex` must stay unchanged until the statement is executed. */
static void bind_build_id(sqlite3_stmt *s, int at, const struct build_id *id, char hex[65])
{
	build_id_hex(id, hex);
	bind_text(s, at, id->size ? hex : NULL);
}

static void bind_column(sqlite3_stmt *s, int at, const struct column *c, const void *field,
			char hex[65])
{
	switch ((enum column_kind)c->kind) {
	case COLUMN_BOOL: sqlite3_bind_int64(s, at, *(const bool *)field); break;
	case COLUMN_FLAG:
		sqlite3_bind_int64(s, at, (*(const uint8_t *)field & c->flag) != 0);
		break;
	case COLUMN_WORD: bind_text(s, at, c->words[*(const uint8_t *)field]); break;
	case COLUMN_BYTE: sqlite3_bind_int64(s, at, *(const uint8_t *)field); break;
	case COLUMN_INDEX:
		if (*(const uint32_t *)field == PROFILE_NONE)
			sqlite3_bind_null(s, at);
		else
			sqlite3_bind_int64(s, at, *(const uint32_t *)field);
		break;
	case COLUMN_ID:
	case COLUMN_INT:
	case COLUMN_U32: sqlite3_bind_int64(s, at, *(const uint32_t *)field); break;
	case COLUMN_U64:
	case COLUMN_COUNT: sqlite3_bind_int64(s, at, *(const int64_t *)field); break;
	case COLUMN_TIME:
		if (*(const double *)field < 0)
			sqlite3_bind_null(s, at);
		else
			sqlite3_bind_double(s, at, *(const double *)field);
		break;
	case COLUMN_REAL:
	case COLUMN_SHARE: sqlite3_bind_double(s, at, *(const double *)field); break;
	case COLUMN_TEXT:
	case COLUMN_OPTIONAL_TEXT: bind_text(s, at, *(const char *const *)field); break;
	case COLUMN_BUILD_ID: bind_build_id(s, at, field, hex); break;
	case COLUMN_KINDS: break;
	}
}

/* Bindings are not checked one by one. A failed one leaves NULL, which the tables refuse; otherwise
 * SQLite is out of memory. */
bool row_save(sqlite3_stmt *s, const struct store_table *t, uint32_t number, const void *row)
{
	char hex[65];
	for (int i = 0; i < t->column_count; i++) {
		const struct column *c = &t->columns[i];
		const void *field = (const uint8_t *)row + c->offset;
		bind_column(s, i + 1, c, c->kind == COLUMN_ID ? &number : field, hex);
	}
	if (sql_fault(fault("store-row", ENOSPC)))
		return false;
	sqlite3_step(s);
	return sqlite3_reset(s) == SQLITE_OK;
}

/* ---- reading ---- */

/* The take_*() functions store a value that SQLite found in a column, by the type of the value. The
 * row is all zero before. They return false if the column cannot have the value. */

static bool take_null(const struct column *c, void *field)
{
	switch ((enum column_kind)c->kind) {
	case COLUMN_INDEX: *(uint32_t *)field = PROFILE_NONE; return true;
	case COLUMN_TIME: *(double *)field = -1; return true;
	case COLUMN_OPTIONAL_TEXT:
	case COLUMN_BUILD_ID: return true;
	default: return false;
	}
}

static bool take_real(const struct column *c, void *field, double value)
{
	switch ((enum column_kind)c->kind) {
	case COLUMN_REAL:
	case COLUMN_TIME: *(double *)field = value; return true;
	case COLUMN_SHARE:
		/* Older versions wrote slightly more than 1 where two clocks were compared. */
		*(double *)field = value < 1 ? value : 1;
		return value >= 0 && value < 1e9;
	default: return false;
	}
}

static bool take_integer(const struct column *c, void *field, uint64_t n)
{
	switch ((enum column_kind)c->kind) {
	case COLUMN_BOOL: *(bool *)field = n; return n <= 1;
	case COLUMN_FLAG: *(uint8_t *)field |= n ? c->flag : 0; return n <= 1;
	case COLUMN_BYTE: *(uint8_t *)field = (uint8_t)n; return n <= UINT8_MAX;
	case COLUMN_INDEX: *(uint32_t *)field = (uint32_t)n; return n < PROFILE_NONE;
	case COLUMN_ID:
	case COLUMN_INT:
	case COLUMN_U32: *(uint32_t *)field = (uint32_t)n; return n <= UINT32_MAX;
	case COLUMN_U64: *(uint64_t *)field = n; return true;
	case COLUMN_COUNT: *(uint64_t *)field = n; return n <= INT64_MAX;
	default: return take_real(c, field, (double)(int64_t)n);
	}
}

static bool take_word(const struct column *c, uint8_t *field, const char *text)
{
	while (*field < c->word_count && strcmp(text, c->words[*field]) != 0)
		++*field;
	return *field < c->word_count;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

static bool take_build_id(struct build_id *id, const char *hex)
{
	for (; hex[0]; hex += 2) {
		int high = hex_digit(hex[0]), low = hex_digit(hex[1]);
		if (high < 0 || low < 0 || id->size == sizeof(id->bytes))
			return false;
		id->bytes[id->size++] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool take_text(const struct column *c, void *field, const char *text, int size,
		      struct arena *a)
{
	switch ((enum column_kind)c->kind) {
	case COLUMN_TEXT:
	case COLUMN_OPTIONAL_TEXT:
		*(const char **)field = arena_strndup(a, text, (size_t)size);
		return true;
	case COLUMN_WORD: return take_word(c, field, text);
	case COLUMN_BUILD_ID: return take_build_id(field, text);
	default: return false;
	}
}

static bool read_column(sqlite3_stmt *s, int at, const struct column *c, void *field,
			struct arena *a)
{
	const char *text;
	switch (sqlite3_column_type(s, at)) {
	case SQLITE_NULL: return take_null(c, field);
	case SQLITE_INTEGER: return take_integer(c, field, (uint64_t)sqlite3_column_int64(s, at));
	case SQLITE_FLOAT: return take_real(c, field, sqlite3_column_double(s, at));
	case SQLITE_TEXT:
		text = (const char *)sqlite3_column_text(s, at);
		return take_text(c, field, text ? text : "", sqlite3_column_bytes(s, at), a);
	default: return false;
	}
}

bool row_load(sqlite3_stmt *s, const struct store_table *t, uint32_t number, void *row,
	      struct arena *a)
{
	uint32_t id = number;
	memset(row, 0, t->row_size);
	for (int i = 0; i < t->column_count; i++) {
		const struct column *c = &t->columns[i];
		void *field = c->kind == COLUMN_ID ? (void *)&id : (uint8_t *)row + c->offset;
		if (!read_column(s, i, c, field, a))
			return false;
	}
	return id == number && number != PROFILE_NONE;
}

static int compare_keys(const struct column *c, const void *a, const void *b)
{
	if (c->kind == COLUMN_TEXT)
		return strcmp(*(const char *const *)a, *(const char *const *)b);
	bool wide = c->kind == COLUMN_U64;
	uint64_t x = wide ? *(const uint64_t *)a : *(const uint32_t *)a;
	uint64_t y = wide ? *(const uint64_t *)b : *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

bool row_follows(const struct store_table *t, const void *row, const void *before)
{
	int order = t->columns[0].kind == COLUMN_ID; /* row_load() has compared the number */
	for (int i = 0; i < t->column_count && t->columns[i].key && !order; i++) {
		uint16_t offset = t->columns[i].offset;
		order = compare_keys(&t->columns[i], (const uint8_t *)row + offset,
				     (const uint8_t *)before + offset);
	}
	return order > 0;
}
