#include "profile/store_sql.h"

#include <string.h>

#include "base/fault.h"
#include "isa/insn.h"

#define TABLE_SINCE(schema, name_, columns, places, key)                                           \
	{                                                                                          \
		.name = (name_), .create = "CREATE TABLE " name_ "(" columns,                      \
		.save = "INSERT OR REPLACE INTO " name_ " VALUES(" places ")",                     \
		.load = "SELECT * FROM " name_ " ORDER BY " key, .since = (schema)                 \
	}
#define TABLE(name_, columns, places, key) TABLE_SINCE(1, name_, columns, places, key)

_Static_assert(INSN_CLASSES == 8, "tally has a column for each class, in their order");

/* Changes need a new STORE_SCHEMA and a word in sonde-profile(5). */
const struct store_table store_tables[STORE_TABLES] = {
	[TABLE_META] = TABLE("meta", "key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
			     "?,?", "key"),
	[TABLE_METRIC] = TABLE("metric",
			       "id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL, "
			       "period INTEGER NOT NULL)",
			       "?,?,?,?", "id"),
	[TABLE_IMAGE] = TABLE("image",
			      "id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id TEXT, "
			      "file_size INTEGER NOT NULL, mtime INTEGER NOT NULL, problem TEXT)",
			      "?,?,?,?,?,?", "id"),
	[TABLE_PROCESS] = TABLE("process",
				"id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, "
				"parent INTEGER REFERENCES process, name TEXT NOT NULL)",
				"?,?,?,?", "id"),
	[TABLE_THREAD] = TABLE("thread",
			       "id INTEGER PRIMARY KEY, process INTEGER NOT NULL REFERENCES "
			       "process, tid INTEGER NOT NULL, name TEXT NOT NULL)",
			       "?,?,?,?", "id"),
	[TABLE_SCOPE] = TABLE("scope",
			      "id INTEGER PRIMARY KEY, parent INTEGER REFERENCES scope, "
			      "image INTEGER NOT NULL REFERENCES image, kind INTEGER NOT NULL, "
			      "flags INTEGER NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL, "
			      "first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, "
			      "call_file TEXT NOT NULL, call_line INTEGER NOT NULL, "
			      "address INTEGER NOT NULL)",
			      "?,?,?,?,?,?,?,?,?,?,?,?", "id"),
	[TABLE_NODE] = TABLE("node",
			     "id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node, "
			     "kind INTEGER NOT NULL, image INTEGER REFERENCES image, "
			     "address INTEGER NOT NULL, scope INTEGER REFERENCES scope)",
			     "?,?,?,?,?,?", "id"),
	[TABLE_VALUE] = TABLE("value",
			      "node INTEGER NOT NULL REFERENCES node, "
			      "thread INTEGER NOT NULL REFERENCES thread, "
			      "metric INTEGER NOT NULL REFERENCES metric, "
			      "samples INTEGER NOT NULL, amount INTEGER NOT NULL, "
			      "PRIMARY KEY(node, thread, metric)) WITHOUT ROWID",
			      "?,?,?,?,?", "node, thread, metric"),
	[TABLE_COUNT] =
		TABLE("count", "name TEXT PRIMARY KEY, samples INTEGER NOT NULL) WITHOUT ROWID",
		      "?,?", "name"),
	[TABLE_TALLY] = TABLE_SINCE(2, "tally",
				    "id INTEGER PRIMARY KEY, "
				    "image INTEGER NOT NULL REFERENCES image, "
				    "address INTEGER NOT NULL, loop INTEGER NOT NULL, "
				    "thread INTEGER NOT NULL REFERENCES thread, "
				    "scope INTEGER REFERENCES scope, flags INTEGER NOT NULL, "
				    "entries INTEGER NOT NULL, iterations INTEGER NOT NULL, "
				    "trip_min INTEGER NOT NULL, trip_max INTEGER NOT NULL, "
				    "load INTEGER NOT NULL, store INTEGER NOT NULL, "
				    "integer INTEGER NOT NULL, float INTEGER NOT NULL, "
				    "simd INTEGER NOT NULL, branch INTEGER NOT NULL, "
				    "atomic INTEGER NOT NULL, other INTEGER NOT NULL)",
				    "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?", "id"),
	[TABLE_TRIPS] = TABLE_SINCE(2, "trips",
				    "tally INTEGER NOT NULL REFERENCES tally, "
				    "low INTEGER NOT NULL, high INTEGER NOT NULL, "
				    "entries INTEGER NOT NULL, "
				    "PRIMARY KEY(tally, low)) WITHOUT ROWID",
				    "?,?,?,?", "tally, low"),
	[TABLE_UNCOVERED] = TABLE_SINCE(2, "uncovered",
					"id INTEGER PRIMARY KEY, image INTEGER REFERENCES image, "
					"address INTEGER NOT NULL, name TEXT NOT NULL, "
					"share INTEGER, reason TEXT NOT NULL)",
					"?,?,?,?,?,?", "id"),
	[TABLE_RESOURCE] =
		TABLE_SINCE(3, "resource",
			    "id INTEGER PRIMARY KEY, parent INTEGER REFERENCES resource, "
			    "hierarchy TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, "
			    "image INTEGER REFERENCES image, address INTEGER NOT NULL, "
			    "file TEXT NOT NULL, first_line INTEGER NOT NULL, "
			    "last_line INTEGER NOT NULL)",
			    "?,?,?,?,?,?,?,?,?,?", "id"),
	[TABLE_EXPERIMENT] =
		TABLE_SINCE(3, "experiment",
			    "id INTEGER PRIMARY KEY, hypothesis TEXT NOT NULL, "
			    "code INTEGER NOT NULL REFERENCES resource, "
			    "machine INTEGER NOT NULL REFERENCES resource, "
			    "sync INTEGER NOT NULL REFERENCES resource, "
			    "file INTEGER NOT NULL REFERENCES resource, "
			    "state TEXT NOT NULL, origin TEXT NOT NULL, priority TEXT NOT NULL, "
			    "value REAL NOT NULL, threshold REAL NOT NULL, "
			    "confidence REAL NOT NULL, created REAL, begun REAL, decided REAL, "
			    "observed REAL NOT NULL, cost REAL NOT NULL, tests INTEGER NOT NULL, "
			    "sampled INTEGER NOT NULL, unsure INTEGER NOT NULL, "
			    "over INTEGER NOT NULL)",
			    "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?", "id"),
	[TABLE_REFINEMENT] = TABLE_SINCE(3, "refinement",
					 "parent INTEGER NOT NULL REFERENCES experiment, "
					 "child INTEGER NOT NULL REFERENCES experiment, "
					 "PRIMARY KEY(parent, child)) WITHOUT ROWID",
					 "?,?", "parent, child"),
	[TABLE_EVIDENCE] = TABLE_SINCE(4, "evidence",
				       "name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID",
				       "?,?", "name"),
	[TABLE_CODE_NAME] = TABLE_SINCE(4, "code_name",
					"resource INTEGER PRIMARY KEY REFERENCES resource, "
					"procedure TEXT NOT NULL, chain TEXT NOT NULL)",
					"?,?,?", "resource"),
	[TABLE_SEEN_THREAD] = TABLE_SINCE(4, "seen_thread",
					  "id INTEGER PRIMARY KEY, "
					  "resource INTEGER NOT NULL REFERENCES resource, "
					  "tid INTEGER NOT NULL, name TEXT NOT NULL, "
					  "cpu REAL NOT NULL, idle REAL NOT NULL)",
					  "?,?,?,?,?,?", "id"),
	[TABLE_OBJECT] = TABLE_SINCE(4, "object",
				     "id INTEGER PRIMARY KEY, kind TEXT NOT NULL, "
				     "name TEXT NOT NULL, resource INTEGER REFERENCES resource, "
				     "count INTEGER NOT NULL, bytes INTEGER NOT NULL, "
				     "seconds REAL NOT NULL, rate REAL NOT NULL)",
				     "?,?,?,?,?,?,?,?", "id"),
	[TABLE_CHAIN] = TABLE_SINCE(4, "chain",
				    "id INTEGER PRIMARY KEY, class INTEGER NOT NULL, "
				    "object INTEGER REFERENCES object, "
				    "node INTEGER NOT NULL REFERENCES node, "
				    "seconds REAL NOT NULL, samples INTEGER NOT NULL, "
				    "length INTEGER NOT NULL)",
				    "?,?,?,?,?,?,?", "id"),
	[TABLE_CHAIN_PART] = TABLE_SINCE(4, "chain_part",
					 "id INTEGER PRIMARY KEY, "
					 "resource INTEGER NOT NULL REFERENCES resource)",
					 "?,?", "id"),
	[TABLE_AMOUNT] = TABLE_SINCE(4, "amount",
				     "id INTEGER PRIMARY KEY, "
				     "resource INTEGER NOT NULL REFERENCES resource, "
				     "thread INTEGER NOT NULL REFERENCES seen_thread, "
				     "object INTEGER REFERENCES object, cpu REAL NOT NULL, "
				     "wait REAL NOT NULL, calls REAL NOT NULL, "
				     "seen_cpu REAL NOT NULL, seen_wait REAL NOT NULL)",
				     "?,?,?,?,?,?,?,?,?", "id"),
	[TABLE_HOLDER] = TABLE_SINCE(4, "holder",
				     "id INTEGER PRIMARY KEY, "
				     "object INTEGER NOT NULL REFERENCES object, "
				     "thread INTEGER NOT NULL REFERENCES seen_thread, "
				     "node INTEGER NOT NULL REFERENCES node, "
				     "seconds REAL NOT NULL)",
				     "?,?,?,?,?", "id"),
	[TABLE_TRIP_COUNT] = TABLE_SINCE(4, "trip_count",
					 "id INTEGER PRIMARY KEY, "
					 "resource INTEGER NOT NULL REFERENCES resource, "
					 "seconds REAL NOT NULL, entries INTEGER NOT NULL, "
					 "iterations INTEGER NOT NULL)",
					 "?,?,?,?,?", "id"),
	[TABLE_FINDING] = TABLE_SINCE(3, "finding",
				      "id INTEGER PRIMARY KEY, hypothesis TEXT NOT NULL, "
				      "experiment INTEGER REFERENCES experiment, "
				      "node INTEGER REFERENCES node, share REAL NOT NULL, "
				      "confidence REAL NOT NULL, sentence TEXT NOT NULL)",
				      "?,?,?,?,?,?,?", "id"),
	[TABLE_REMARK] = TABLE_SINCE(3, "remark",
				     "id INTEGER PRIMARY KEY, finding INTEGER REFERENCES finding, "
				     "kind TEXT NOT NULL, text TEXT NOT NULL)",
				     "?,?,?,?", "id"),
};

const char *const store_views =
	"CREATE VIEW resource_path AS WITH RECURSIVE p(id, path) AS ("
	"SELECT id, '/' || name FROM resource WHERE parent IS NULL UNION ALL "
	"SELECT r.id, p.path || '/' || r.name FROM p JOIN resource r ON r.parent = p.id) "
	"SELECT id, path FROM p;"
	"CREATE VIEW search AS SELECT e.id, e.hypothesis, e.state, "
	"round(100 * e.value, 1) AS percent, round(100 * e.threshold, 1) AS needed, "
	"c.path AS code, m.path AS machine, s.path AS sync, f.path AS file, "
	"e.origin, e.priority, e.created, e.begun, e.decided, e.observed, e.cost, "
	"iif(e.sampled, 'samples', 'probes') AS measured "
	"FROM experiment e JOIN resource_path c ON c.id = e.code JOIN resource_path m ON m.id = "
	"e.machine "
	"JOIN resource_path s ON s.id = e.sync JOIN resource_path f ON f.id = e.file;";

/* A fault point has failed, as on a full disk. */
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

/* SQLite tells a full disk, but not a quota or a limit on file sizes. */
static const char *lack_of_room(int extended)
{
	switch (extended) {
	case SQLITE_FULL: return "no room is left on its disk";
	case SQLITE_IOERR_WRITE:
	case SQLITE_IOERR_SHMSIZE:
		return "a write failed, as when a disk, a quota or a limit on file sizes is full";
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
			       "cannot %s %s: %s; what was recorded before is kept: make room, or "
			       "record elsewhere with -o",
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
			       "%s is damaged or cut off (%s); record again, or copy it anew if it "
			       "came from elsewhere",
			       path, sqlite3_errmsg(db));
	if (system && (code == SQLITE_CANTOPEN || code == SQLITE_IOERR || code == SQLITE_READONLY))
		return err_set(e, ERR_SYSTEM, "cannot %s %s: %s", what, path, strerror(system));
	return err_set(e, ERR_SYSTEM, "cannot %s %s: %s", what, path,
		       db ? sqlite3_errmsg(db) : "out of memory");
}
