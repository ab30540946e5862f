#include "profile/store_evidence.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/hashmap.h"
#include "profile/profile.h"

enum column_type {
	COLUMN_BYTE,
	COLUMN_INT,
	COLUMN_U32,
	COLUMN_INDEX, /* NULL in the file: PROFILE_NONE */
	COLUMN_U64,
	COLUMN_BOOL,
	COLUMN_REAL,
	COLUMN_TEXT,
};

struct column {
	uint8_t type;    /* enum column_type */
	uint16_t offset; /* in the row */
};

typedef VEC(uint8_t) any_vector;

/* Rows of a table are elements of a vector of the evidence. */
struct table {
	uint16_t vector; /* offset in struct evidence */
	uint16_t row_size;
	bool numbered; /* the first column is the row's number */
	uint8_t column_count;
	struct column columns[8];
};

#define COLUMN(type, row, field)                                                                   \
	{                                                                                          \
		(type), offsetof(struct row, field)                                                \
	}

static const struct table tables[STORE_TABLES] = {
	[TABLE_CODE_NAME] = {offsetof(struct evidence, names),
			     sizeof(struct evidence_name),
			     false,
			     3,
			     {COLUMN(COLUMN_U32, evidence_name, resource),
			      COLUMN(COLUMN_TEXT, evidence_name, procedure),
			      COLUMN(COLUMN_TEXT, evidence_name, chain)}},
	[TABLE_SEEN_THREAD] = {offsetof(struct evidence, threads),
			       sizeof(struct evidence_thread),
			       true,
			       5,
			       {COLUMN(COLUMN_U32, evidence_thread, resource),
				COLUMN(COLUMN_INT, evidence_thread, tid),
				COLUMN(COLUMN_TEXT, evidence_thread, name),
				COLUMN(COLUMN_REAL, evidence_thread, cpu),
				COLUMN(COLUMN_REAL, evidence_thread, idle)}},
	[TABLE_OBJECT] = {offsetof(struct evidence, objects),
			  sizeof(struct evidence_object),
			  true,
			  7,
			  {COLUMN(COLUMN_TEXT, evidence_object, kind),
			   COLUMN(COLUMN_TEXT, evidence_object, name),
			   COLUMN(COLUMN_INDEX, evidence_object, resource),
			   COLUMN(COLUMN_U64, evidence_object, count),
			   COLUMN(COLUMN_U64, evidence_object, bytes),
			   COLUMN(COLUMN_REAL, evidence_object, seconds),
			   COLUMN(COLUMN_REAL, evidence_object, rate)}},
	/* Chains lie one behind the other in `parts`: where each begins follows. */
	[TABLE_CHAIN] = {offsetof(struct evidence, chains),
			 sizeof(struct evidence_chain),
			 true,
			 6,
			 {COLUMN(COLUMN_BYTE, evidence_chain, class),
			  COLUMN(COLUMN_INDEX, evidence_chain, object),
			  COLUMN(COLUMN_U32, evidence_chain, node),
			  COLUMN(COLUMN_REAL, evidence_chain, seconds),
			  COLUMN(COLUMN_U32, evidence_chain, samples),
			  COLUMN(COLUMN_U32, evidence_chain, length)}},
	[TABLE_CHAIN_PART] =
		{offsetof(struct evidence, parts), sizeof(uint32_t), true, 1, {{COLUMN_U32, 0}}},
	[TABLE_AMOUNT] = {offsetof(struct evidence, amounts),
			  sizeof(struct evidence_amount),
			  true,
			  8,
			  {COLUMN(COLUMN_U32, evidence_amount, resource),
			   COLUMN(COLUMN_U32, evidence_amount, thread),
			   COLUMN(COLUMN_INDEX, evidence_amount, object),
			   COLUMN(COLUMN_REAL, evidence_amount, cpu),
			   COLUMN(COLUMN_REAL, evidence_amount, wait),
			   COLUMN(COLUMN_REAL, evidence_amount, calls),
			   COLUMN(COLUMN_REAL, evidence_amount, seen_cpu),
			   COLUMN(COLUMN_REAL, evidence_amount, seen_wait)}},
	[TABLE_HOLDER] = {offsetof(struct evidence, holders),
			  sizeof(struct evidence_holder),
			  true,
			  4,
			  {COLUMN(COLUMN_U32, evidence_holder, object),
			   COLUMN(COLUMN_U32, evidence_holder, thread),
			   COLUMN(COLUMN_U32, evidence_holder, node),
			   COLUMN(COLUMN_REAL, evidence_holder, seconds)}},
	[TABLE_TRIP_COUNT] = {offsetof(struct evidence, trips),
			      sizeof(struct evidence_trip),
			      true,
			      4,
			      {COLUMN(COLUMN_U32, evidence_trip, resource),
			       COLUMN(COLUMN_REAL, evidence_trip, seconds),
			       COLUMN(COLUMN_U64, evidence_trip, entries),
			       COLUMN(COLUMN_U64, evidence_trip, iterations)}},
};

/* Rows of the table `evidence`, all of them numbers. */
static const struct {
	const char *name;
	struct column column;
} run_rows[] = {
	{"calls_sampled", COLUMN(COLUMN_BOOL, evidence_run, calls_sampled)},
	{"cpu", COLUMN(COLUMN_REAL, evidence_run, cpu)},
	{"cpus", COLUMN(COLUMN_U32, evidence_run, cpus)},
	{"ignored", COLUMN(COLUMN_U64, evidence_run, ignored)},
	{"ran", COLUMN(COLUMN_REAL, evidence_run, ran)},
	{"ready", COLUMN(COLUMN_REAL, evidence_run, ready)},
	{"sampled_cpu", COLUMN(COLUMN_REAL, evidence_run, sampled[0])},
	{"sampled_io", COLUMN(COLUMN_REAL, evidence_run, sampled[2])},
	{"sampled_sync", COLUMN(COLUMN_REAL, evidence_run, sampled[1])},
	{"seconds", COLUMN(COLUMN_REAL, evidence_run, seconds)},
	{"threads", COLUMN(COLUMN_REAL, evidence_run, threads)},
	{"time", COLUMN(COLUMN_REAL, evidence_run, time)},
};

bool store_is_evidence(enum store_table_id table)
{
	return table == TABLE_EVIDENCE || tables[table].row_size;
}

/* ---- writing ---- */

static void bind_column(sqlite3_stmt *s, int at, const struct column *c, const uint8_t *row)
{
	const void *field = row + c->offset;
	switch ((enum column_type)c->type) {
	case COLUMN_BYTE: sqlite3_bind_int64(s, at, *(const uint8_t *)field); break;
	case COLUMN_INT: sqlite3_bind_int64(s, at, *(const int *)field); break;
	case COLUMN_U32: sqlite3_bind_int64(s, at, *(const uint32_t *)field); break;
	case COLUMN_INDEX:
		if (*(const uint32_t *)field == PROFILE_NONE)
			sqlite3_bind_null(s, at);
		else
			sqlite3_bind_int64(s, at, *(const uint32_t *)field);
		break;
	case COLUMN_U64:
		sqlite3_bind_int64(s, at, (sqlite3_int64) * (const uint64_t *)field);
		break;
	case COLUMN_BOOL: sqlite3_bind_int64(s, at, *(const bool *)field); break;
	case COLUMN_REAL: sqlite3_bind_double(s, at, *(const double *)field); break;
	case COLUMN_TEXT:
		sqlite3_bind_text(s, at, *(const char *const *)field, -1, SQLITE_STATIC);
		break;
	}
}

static bool step(sqlite3_stmt *s)
{
	sqlite3_step(s);
	return sqlite3_reset(s) == SQLITE_OK;
}

static bool save_rows(sqlite3_stmt *s, const struct table *t, const struct evidence *e)
{
	const any_vector *v = (const void *)((const uint8_t *)e + t->vector);
	bool ok = true;
	for (uint32_t i = 0; i < v->len && ok; i++) {
		int at = 0;
		if (t->numbered)
			sqlite3_bind_int64(s, ++at, i);
		for (int k = 0; k < t->column_count; k++)
			bind_column(s, ++at, &t->columns[k], v->data + (size_t)i * t->row_size);
		ok = step(s);
	}
	return ok;
}

static bool save_run(sqlite3_stmt *s, const struct evidence_run *run)
{
	bool ok = true;
	for (size_t i = 0; i < ARRAY_SIZE(run_rows) && ok; i++) {
		sqlite3_bind_text(s, 1, run_rows[i].name, -1, SQLITE_STATIC);
		bind_column(s, 2, &run_rows[i].column, (const uint8_t *)run);
		ok = step(s);
	}
	return ok;
}

static bool empty_table(sqlite3 *db, enum store_table_id table)
{
	char sql[64];
	snprintf(sql, sizeof(sql), "DELETE FROM %s", store_tables[table].name);
	return sql_run(db, sql) == SQLITE_OK;
}

bool store_save_evidence(sqlite3 *db, sqlite3_stmt *const *save, const struct evidence *e)
{
	bool ok = empty_table(db, TABLE_EVIDENCE) && save_run(save[TABLE_EVIDENCE], &e->run);
	for (int i = 0; i < STORE_TABLES && ok; i++)
		if (tables[i].row_size)
			ok = empty_table(db, (enum store_table_id)i) &&
			     save_rows(save[i], &tables[i], e);
	return ok;
}

uint64_t store_hash_evidence(const struct evidence *e)
{
	uint64_t hash = evidence_exists(e) ? hash_bytes(&e->run, sizeof(e->run), 1) : 0;
	for (int i = 0; i < STORE_TABLES && hash; i++) {
		const any_vector *v = (const void *)((const uint8_t *)e + tables[i].vector);
		if (tables[i].row_size && v->len)
			hash = hash_bytes(v->data, (uint64_t)v->len * tables[i].row_size, hash);
	}
	return hash;
}

/* ---- reading ---- */

static bool read_integer(sqlite3_stmt *s, int at, uint64_t most, uint64_t *out)
{
	*out = (uint64_t)sqlite3_column_int64(s, at);
	return sqlite3_column_type(s, at) == SQLITE_INTEGER && *out <= most;
}

static bool read_text(sqlite3_stmt *s, int at, struct arena *a, const char **out)
{
	if (sqlite3_column_type(s, at) != SQLITE_TEXT)
		return false;
	const char *text = (const char *)sqlite3_column_text(s, at);
	*out = arena_strndup(a, text ? text : "", (size_t)sqlite3_column_bytes(s, at));
	return true;
}

static bool read_column(sqlite3_stmt *s, int at, const struct column *c, uint8_t *row,
			struct arena *a)
{
	void *field = row + c->offset;
	uint64_t n = 0;
	bool good = false;
	switch ((enum column_type)c->type) {
	case COLUMN_BYTE:
		good = read_integer(s, at, UINT8_MAX, &n);
		*(uint8_t *)field = (uint8_t)n;
		break;
	case COLUMN_INT:
		good = read_integer(s, at, INT32_MAX, &n);
		*(int *)field = (int)n;
		break;
	case COLUMN_INDEX:
		if (sqlite3_column_type(s, at) == SQLITE_NULL) {
			*(uint32_t *)field = PROFILE_NONE;
			return true;
		}
		/* fall through */
	case COLUMN_U32:
		good = read_integer(s, at, UINT32_MAX - 1, &n);
		*(uint32_t *)field = (uint32_t)n;
		break;
	case COLUMN_U64: good = read_integer(s, at, INT64_MAX, field); break;
	case COLUMN_BOOL:
		good = read_integer(s, at, 1, &n);
		*(bool *)field = n;
		break;
	case COLUMN_REAL:
		*(double *)field = sqlite3_column_double(s, at);
		good = sqlite3_column_type(s, at) == SQLITE_FLOAT ||
		       sqlite3_column_type(s, at) == SQLITE_INTEGER;
		break;
	case COLUMN_TEXT: good = read_text(s, at, a, field); break;
	}
	return good;
}

/* The column has an affinity to reals, whatever was put in. */
static bool read_run_number(double value, const struct column *c, uint8_t *run)
{
	void *field = run + c->offset;
	if (!(value >= 0 && value < 1e15))
		return false;
	switch ((enum column_type)c->type) {
	case COLUMN_BOOL: *(bool *)field = value > 0; break;
	case COLUMN_U32: *(uint32_t *)field = value < UINT32_MAX ? (uint32_t)value : 0; break;
	case COLUMN_U64: *(uint64_t *)field = (uint64_t)value; break;
	default: *(double *)field = value;
	}
	return true;
}

static bool load_run(sqlite3_stmt *s, struct evidence_run *run)
{
	const char *name = (const char *)sqlite3_column_text(s, 0);
	for (size_t i = 0; name && i < ARRAY_SIZE(run_rows); i++)
		if (!strcmp(name, run_rows[i].name))
			return read_run_number(sqlite3_column_double(s, 1), &run_rows[i].column,
					       (uint8_t *)run);
	return false;
}

/* Where a chain begins; and keys rise, or a file could lead in circles. */
static bool finish_row(enum store_table_id table, struct evidence *e)
{
	uint32_t n = e->names.len, c = e->chains.len;
	if (table == TABLE_CODE_NAME && n > 1)
		return e->names.data[n - 2].resource < e->names.data[n - 1].resource;
	if (table != TABLE_CHAIN || c < 2)
		return true;
	const struct evidence_chain *before = &e->chains.data[c - 2];
	e->chains.data[c - 1].first = before->first + before->length;
	return before->length <= UINT32_MAX - before->first;
}

bool store_load_evidence(sqlite3_stmt *s, enum store_table_id table, uint32_t number,
			 struct evidence *e, struct arena *a)
{
	const struct table *t = &tables[table];
	uint64_t key;
	int at = 0;
	if (table == TABLE_EVIDENCE)
		return number < ARRAY_SIZE(run_rows) && load_run(s, &e->run);
	any_vector *v = (void *)((uint8_t *)e + t->vector);
	if (t->numbered && (!read_integer(s, at++, UINT32_MAX - 1, &key) || key != number))
		return false;
	if (v->len == v->cap) {
		v->cap = v->cap ? v->cap * 2 : 8;
		v->data = xrealloc(v->data, (size_t)v->cap * t->row_size);
	}
	uint8_t *row = v->data + (size_t)v->len * t->row_size;
	memset(row, 0, t->row_size);
	for (int i = 0; i < t->column_count; i++)
		if (!read_column(s, at++, &t->columns[i], row, a))
			return false;
	v->len++;
	return finish_row(table, e);
}
