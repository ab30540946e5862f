#include "profile/store_sql.h"

#include <string.h>

#include "base/fault.h"

/* The SQLite type of each kind of column. */
static const struct {
	const char *type;
	bool nullable;
} kinds[COLUMN_KINDS] = {
	[COLUMN_ID] = {"INTEGER", false},        [COLUMN_BOOL] = {"INTEGER", false},
	[COLUMN_FLAG] = {"INTEGER", false},      [COLUMN_WORD] = {"TEXT", false},
	[COLUMN_BYTE] = {"INTEGER", false},      [COLUMN_INT] = {"INTEGER", false},
	[COLUMN_U32] = {"INTEGER", false},       [COLUMN_INDEX] = {"INTEGER", true},
	[COLUMN_U64] = {"INTEGER", false},       [COLUMN_COUNT] = {"INTEGER", false},
	[COLUMN_REAL] = {"REAL", false},         [COLUMN_SHARE] = {"REAL", false},
	[COLUMN_TIME] = {"REAL", true},          [COLUMN_TEXT] = {"TEXT", false},
	[COLUMN_OPTIONAL_TEXT] = {"TEXT", true}, [COLUMN_BUILD_ID] = {"TEXT", true},
};

static int count_keys(const struct store_table *t)
{
	int keys = 0;
	while (keys < t->column_count && t->columns[keys].key)
		keys++;
	return keys;
}

/* "node, thread, metric" */
static void add_keys(struct text *out, const struct store_table *t)
{
	for (int i = 0; i < count_keys(t); i++)
		text_printf(out, "%s%s", i ? ", " : "", t->columns[i].name);
}

static void add_column(struct text *out, const struct column *c, bool is_whole_key)
{
	text_printf(out, "%s %s", c->name, kinds[c->kind].type);
	if (is_whole_key)
		text_add(out, " PRIMARY KEY");
	else if (!kinds[c->kind].nullable)
		text_add(out, " NOT NULL");
	if (c->refers)
		text_printf(out, " REFERENCES %s", c->refers);
}

void sql_create(struct text *out, const struct store_table *t)
{
	int keys = count_keys(t);
	bool has_rowid = keys == 1 && !strcmp(kinds[t->columns[0].kind].type, "INTEGER");
	text_printf(out, "CREATE TABLE %s(", t->name);
	for (int i = 0; i < t->column_count; i++) {
		text_add(out, i ? ", " : "");
		add_column(out, &t->columns[i], i == 0 && keys == 1);
	}
	if (keys > 1) {
		text_add(out, ", PRIMARY KEY(");
		add_keys(out, t);
		text_char(out, ')');
	}
	text_add(out, has_rowid ? ")" : ") WITHOUT ROWID");
}

void sql_insert(struct text *out, const struct store_table *t)
{
	text_printf(out, "INSERT OR REPLACE INTO %s VALUES(", t->name);
	for (int i = 0; i < t->column_count; i++)
		text_add(out, i ? ",?" : "?");
	text_char(out, ')');
}

void sql_select(struct text *out, const struct store_table *t)
{
	text_printf(out, "SELECT * FROM %s ORDER BY ", t->name);
	add_keys(out, t);
}

const char *const store_views =
	"CREATE VIEW resource_path AS WITH RECURSIVE p(id, path) AS ("
	"SELECT id, '/' || name FROM resource WHERE parent IS NULL UNION ALL "
	"SELECT r.id, p.path || '/' || r.name FROM p JOIN resource r ON r.parent = p.id) "
	"SELECT id, path FROM p;"
	"CREATE VIEW search AS SELECT e.id, e.hypothesis, e.state, "
	"round(100 * e.value, 1) AS percent, round(100 * e.threshold, 1) AS threshold, "
	"c.path AS code, m.path AS machine, s.path AS sync, f.path AS file, "
	"e.origin, e.priority, e.created, e.begun, e.decided, e.observed, e.overhead, "
	"iif(e.sampled, 'samples', 'probes') AS measured "
	"FROM experiment e JOIN resource_path c ON c.id = e.code JOIN resource_path m ON m.id = "
	"e.machine "
	"JOIN resource_path s ON s.id = e.sync JOIN resource_path f ON f.id = e.file;";

/* A fault point has failed: sql_fail() reports a full disk. */
static bool faked_full;

bool sql_fault(bool failed)
{
	faked_full |= failed;
	return failed;
}

int sql_run(sqlite3 *db, const char *sql)
{
	if (sql_fault(fault("sql-run", ENOSPC)))
		return SQLITE_FULL;
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

sqlite3_int64 sql_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	sqlite3_int64 number = -1;
	if (!sqlite3_prepare_v2(db, sql, -1, &s, NULL) && sqlite3_step(s) == SQLITE_ROW)
		number = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return number;
}

/* SQLite reports a full disk as such, but not an exhausted quota or file size limit. */
static const char *lack_of_room(int extended)
{
	switch (extended) {
	case SQLITE_FULL: return "the disk is full";
	case SQLITE_IOERR_WRITE:
	case SQLITE_IOERR_SHMSIZE:
		return "a write failed: the disk, a quota or a file size limit may be exhausted";
	default: return NULL;
	}
}

int sql_fail(sqlite3 *db, const char *what, const char *path, struct err *e)
{
	int code = db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM;
	int system = sqlite3_system_errno(db);
	const char *room =
		db ? lack_of_room(faked_full ? SQLITE_FULL : sqlite3_extended_errcode(db)) : NULL;
	faked_full = false;
	if (room)
		return err_set(e, ERR_SYSTEM,
			       "cannot %s %s: %s; what was recorded before is kept; free some "
			       "space, or record elsewhere with -o",
			       what, path, room);
	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return err_set(e, ERR_SYSTEM, "cannot %s %s: another program keeps it locked", what,
			       path);
	if (code == SQLITE_NOTADB)
		return err_set(
			e, ERR_INPUT,
			"%s is not a profile; 'sonde record' makes one, sonde.data by default",
			path);
	if (code == SQLITE_CORRUPT)
		return err_set(e, ERR_INPUT,
			       "%s is damaged or truncated (%s); record again, or copy it again if "
			       "it came from elsewhere",
			       path, sqlite3_errmsg(db));
	if (system && (code == SQLITE_CANTOPEN || code == SQLITE_IOERR || code == SQLITE_READONLY))
		return err_set(e, ERR_SYSTEM, "cannot %s %s: %s", what, path, strerror(system));
	return err_set(e, ERR_SYSTEM, "cannot %s %s: %s", what, path,
		       db ? sqlite3_errmsg(db) : "out of memory");
}
