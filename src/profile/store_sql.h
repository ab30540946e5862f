/* What writing and reading profile files share: the tables, and SQLite's failures in words. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

/* In the file's header, so that file(1) and we know a profile: "sond". */
enum { STORE_APPLICATION = 0x736f6e64 };

enum store_table_id {
	TABLE_META,
	TABLE_METRIC,
	TABLE_IMAGE,
	TABLE_PROCESS,
	TABLE_THREAD,
	TABLE_SCOPE,
	TABLE_NODE,
	TABLE_VALUE,
	TABLE_COUNT,
	TABLE_TALLY,
	TABLE_TRIPS,
	TABLE_UNCOVERED,
	TABLE_RESOURCE,
	TABLE_EXPERIMENT,
	TABLE_REFINEMENT,
	TABLE_EVIDENCE,
	TABLE_CODE_NAME,
	TABLE_SEEN_THREAD,
	TABLE_OBJECT,
	TABLE_CHAIN,
	TABLE_CHAIN_PART,
	TABLE_AMOUNT,
	TABLE_HOLDER,
	TABLE_TRIP_COUNT,
	TABLE_FINDING,
	TABLE_REMARK,
	STORE_TABLES,
};

struct store_table {
	const char *name;
	const char *create; /* as SQLite keeps it: readers compare */
	const char *save;   /* a row that is new or takes the place of the one with its key */
	const char *load;   /* all rows by key */
	int since;          /* files of older schemas do not have it */
};

extern const struct store_table store_tables[STORE_TABLES];
/* Views for people, which sonde itself does not read. */
extern const char *const store_views;

enum { STORE_PATIENCE_MS = 2000 }; /* for others who hold a lock for a moment */

/* Runs statements; SQLITE_OK or what went wrong. */
/* Of a fault point: if it failed, sql_fail() tells of a full disk. */
bool sql_fault(bool failed);
int sql_run(sqlite3 *db, const char *sql);
/* The integer that a PRAGMA or SELECT gives, or -1; then sqlite3_errcode() tells. */
sqlite3_int64 sql_number(sqlite3 *db, const char *sql);
/* Says why the last call with `db` failed to do `what` ("write", "read") with the file. */
int sql_fail(sqlite3 *db, const char *what, const char *path, struct err *e);
