/* Reads profiles. Files are not trusted:
 *
 *	- The tables must be exactly those that we would create: no views, and no columns that
 *	  compute.
 *	- Keys must rise from row to row. So reading ends even if the pages of a file lead in
 *	  circles.
 *	- profile_check() checks the result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/log.h"
#include "profile/store.h"
#include "profile/store_evidence.h"
#include "profile/store_rows.h"
#include "profile/store_sql.h"

/* The longest text that is accepted. No path or C++ name is that long. */
enum { TEXT_MAX = 16 << 20 };

/* Handles the last row of `meta`. Some rows are not facts: they set a member of the profile
 * instead, or nothing. */
static bool take_fact(struct profile *p)
{
	const struct profile_fact *f = &vec_last(&p->facts);
	if (!strcmp(f->name, "fused"))
		p->fused = !strcmp(f->value, "1");
	else if (!strcmp(f->name, "finished"))
		p->finished = !strcmp(f->value, "1");
	else if (strcmp(f->name, "schema") != 0)
		return true;
	p->facts.len--;
	return true;
}

/* Buckets of one row of counters do not overlap. */
static bool check_trips(const struct profile *p)
{
	if (p->trips.len < 2)
		return true;
	const struct profile_trips *t = &vec_last(&p->trips), *before = t - 1;
	return t->counters != before->counters || t->low > before->high;
}

/* Sets where the last chain begins: where the one before it ends. */
static bool place_chain(struct evidence *e)
{
	if (e->chains.len < 2)
		return true;
	struct evidence_chain *c = &vec_last(&e->chains), *before = c - 1;
	c->first = before->first + before->length;
	return before->length <= UINT32_MAX - before->first;
}

/* Does what is special to the table, for the row that was just loaded. False if the row is
 * invalid. */
static bool finish_row(struct profile *p, enum store_table_id table)
{
	switch (table) {
	case TABLE_META: return take_fact(p);
	case TABLE_TRIPS: return check_trips(p);
	case TABLE_CHAIN: return place_chain(&p->evidence);
	default: return true;
	}
}

static bool load_number(sqlite3_stmt *s, struct profile *p, uint32_t number)
{
	struct store_number n;
	return number < STORE_NUMBERS &&
	       row_load(s, &store_tables[TABLE_EVIDENCE], number, &n, &p->arena) &&
	       store_take_number(&p->evidence.run, &n);
}

/* Loads the row that the statement is at; false if the row is invalid. */
static bool load_row(sqlite3_stmt *s, struct profile *p, enum store_table_id table, uint32_t number)
{
	const struct store_table *t = &store_tables[table];
	struct store_vector *v = (void *)((uint8_t *)p + t->vector);
	if (table == TABLE_EVIDENCE)
		return load_number(s, p, number);
	/* The root in the file replaces the one that profile_init() made. (A file without a commit
	 * has no root.) */
	if (table == TABLE_NODE && !number)
		v->len = 0;
	if (v->len == v->cap) {
		v->cap = v->cap ? v->cap * 2 : 8;
		v->data = xrealloc(v->data, (size_t)v->cap * t->row_size);
	}
	uint8_t *row = v->data + (size_t)v->len * t->row_size;
	if (!row_load(s, t, number, row, &p->arena) ||
	    (v->len && !row_follows(t, row, row - t->row_size)))
		return false;
	v->len++;
	return finish_row(p, table);
}

static int fail_row(const char *path, const char *table, uint32_t number, struct err *e)
{
	return err_set(e, ERR_INPUT,
		       "%s is damaged: row %u of table %s is invalid; record again, or copy it "
		       "again if it came from elsewhere",
		       path, number, table);
}

static int next_row(sqlite3_stmt *s)
{
	return sql_fault(fault("load-row", EIO)) ? SQLITE_FULL : sqlite3_step(s);
}

static int load_rows(sqlite3_stmt *s, struct profile *p, enum store_table_id table,
		     const char *path, struct err *e)
{
	int step;
	for (uint32_t number = 0; (step = next_row(s)) == SQLITE_ROW; number++)
		if (!load_row(s, p, table, number))
			return fail_row(path, store_tables[table].name, number, e);
	return step == SQLITE_DONE ? 0 : sql_fail(sqlite3_db_handle(s), "read", path, e);
}

static int load_table(sqlite3 *db, struct profile *p, enum store_table_id table, const char *path,
		      struct err *e)
{
	struct text sql = TEXT_INIT;
	sqlite3_stmt *s = NULL;
	int r;
	sql_select(&sql, &store_tables[table]);
	if (sqlite3_prepare_v2(db, sql.data, -1, &s, NULL))
		r = sql_fail(db, "read", path, e);
	else
		r = load_rows(s, p, table, path, e);
	sqlite3_finalize(s);
	text_release(&sql);
	return r;
}

/* True if the table exists, exactly as we would create it. */
static bool has_table(sqlite3 *db, const struct store_table *t)
{
	struct text create = TEXT_INIT;
	sqlite3_stmt *s = NULL;
	bool same = false;
	sql_create(&create, t);
	if (!sqlite3_prepare_v2(
		    db, "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=? AND sql=?", -1,
		    &s, NULL)) {
		sqlite3_bind_text(s, 1, t->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, create.data, -1, SQLITE_STATIC);
		same = sqlite3_step(s) == SQLITE_ROW;
	}
	sqlite3_finalize(s);
	text_release(&create);
	return same;
}

static int check_kind(sqlite3 *db, const char *path, struct err *e)
{
	sqlite3_int64 application = sql_number(db, "PRAGMA application_id");
	sqlite3_int64 schema = sql_number(db, "PRAGMA user_version");
	if (application < 0 || schema < 0)
		return sql_fail(db, "read", path, e);
	if (application != STORE_APPLICATION)
		return err_set(
			e, ERR_INPUT,
			"%s is not a profile; 'sonde record' makes one, sonde.data by default",
			path);
	if (schema > STORE_SCHEMA)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s was written by a newer sonde (schema %lld, this one reads "
			       "schema %d); read it with that version",
			       path, schema, STORE_SCHEMA);
	if (schema < STORE_SCHEMA)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s was written by an older sonde (schema %lld, this one reads "
			       "schema %d); record again, or read it with that version",
			       path, schema, STORE_SCHEMA);
	for (int i = 0; i < STORE_TABLES; i++)
		if (!has_table(db, &store_tables[i]))
			return err_set(e, ERR_INPUT,
				       "%s is damaged: table %s is missing or has other columns; "
				       "record again, or copy it again",
				       path, store_tables[i].name);
	return 0;
}

/* Everything is read in one transaction, because a recorder may be adding to the file. */
static int load_all(sqlite3 *db, struct profile *p, const char *path, struct err *e)
{
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	sql_run(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON");
	if (sql_run(db, "BEGIN"))
		return sql_fail(db, "read", path, e);
	int r = check_kind(db, path, e);
	for (int i = 0; i < STORE_TABLES && !r; i++)
		r = load_table(db, p, (enum store_table_id)i, path, e);
	if (!r && profile_check(p, e)) {
		err_prefix(e, "%s is damaged; record again, or copy it again", path);
		r = e->code;
	}
	return r;
}

/* How to open a file for reading. The next mode is tried only if the one before it fails. */
static const struct {
	const char *query;
	const char *before; /* statements to run first */
} open_modes[] = {
	/* The usual case: a file alone, or one that is being recorded to, or one with the log of a
	 * killed recorder. It needs the index of the log, FILE-shm, which SQLite creates if it may
	 * write to the directory. */
	{"mode=ro", ""},
	/* The recorder was killed while it merged the log. This must be undone first, by
	 * writing. */
	{"mode=rw", ""},
	/* The directory is read-only and has no index, so no recorder is alive. SQLite makes the
	 * index in memory if nobody else may use the file; without locks (unix-none), that costs
	 * nothing. */
	{"mode=ro&vfs=unix-none", "PRAGMA locking_mode=EXCLUSIVE"},
	/* The same without the log: only what is in the file itself. */
	{"mode=ro&immutable=1", ""},
};

/* "file:PATH?QUERY" */
static void add_uri(struct text *out, const char *path, const char *query)
{
	text_add(out, path[0] == '/' ? "file:" : "file:./");
	for (; *path; path++) {
		if (strchr("%?#", *path))
			text_printf(out, "%%%02x", (unsigned)(unsigned char)*path);
		else
			text_char(out, *path);
	}
	text_printf(out, "?%s", query);
}

/* Opens the file and reads something from it, to see whether the mode works. */
static int try_mode(sqlite3 **db, const char *path, size_t mode)
{
	struct text uri = TEXT_INIT;
	add_uri(&uri, path, open_modes[mode].query);
	/* Only this thread reads. Locking each call would take a quarter of the time. */
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
	int r = sqlite3_open_v2(uri.data, db, flags, NULL);
	r = fault("load-open", EMFILE) ? SQLITE_CANTOPEN : r;
	text_release(&uri);
	r = r ? r : sqlite3_busy_timeout(*db, STORE_PATIENCE_MS);
	r = r ? r : sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	r = r ? r : sql_run(*db, open_modes[mode].before);
	return r ? r : sql_run(*db, "SELECT count(*) FROM sqlite_schema");
}

static bool another_mode_may_help(int r)
{
	return r == SQLITE_CANTOPEN || r == SQLITE_READONLY || r == SQLITE_IOERR ||
	       r == SQLITE_PERM;
}

static int open_for_reading(sqlite3 **out, const char *path, struct err *e)
{
	struct stat st;
	int r = SQLITE_CANTOPEN;
	*out = NULL;
	if (stat(path, &st))
		return err_errno(e, "cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INPUT, "%s is not a file; name a profile", path);
	for (size_t mode = 0; mode < ARRAY_SIZE(open_modes) && another_mode_may_help(r); mode++) {
		sqlite3_close(*out);
		r = try_mode(out, path, mode) & 0xff; /* without the extended code */
		debug(LOG_STORE, 1, "%s: %s: %s", path, open_modes[mode].query,
		      sqlite3_errmsg(*out));
	}
	return r ? sql_fail(*out, "read", path, e) : 0;
}

int store_load(struct profile *out, const char *path, struct err *e)
{
	sqlite3 *db;
	int r = open_for_reading(&db, path, e);
	if (!r) {
		profile_init(out);
		r = load_all(db, out, path, e);
		if (r)
			profile_release(out);
	}
	sqlite3_close(db);
	return r;
}
