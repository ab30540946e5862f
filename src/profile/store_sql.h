/* What writing and reading profile files share: statements, and SQLite's failures in words. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"
#include "profile/store_tables.h"

/* In the file's header, so that file(1) and we know a profile: "sond". */
enum { STORE_APPLICATION = 0x736f6e64 };

enum { STORE_PATIENCE_MS = 2000 }; /* for others who hold a lock for a moment */

/* These append the statement that makes a table, byte for byte as SQLite keeps it and readers
 * compare it; the one that saves a row, in place of any with the same key; and the one that loads
 * all rows by key. */
void sql_create(struct text *out, const struct store_table *t);
void sql_insert(struct text *out, const struct store_table *t);
void sql_select(struct text *out, const struct store_table *t);
/* Views for people, which sonde itself does not read. */
extern const char *const store_views;

/* Of a fault point: if it failed, sql_fail() tells of a full disk. */
bool sql_fault(bool failed);
/* Runs statements; SQLITE_OK or what went wrong. */
int sql_run(sqlite3 *db, const char *sql);
/* The integer that a PRAGMA or SELECT gives, or -1; then sqlite3_errcode() tells. */
sqlite3_int64 sql_number(sqlite3 *db, const char *sql);
/* Says why the last call with `db` failed to do `what` ("write", "read") with the file. */
int sql_fail(sqlite3 *db, const char *what, const char *path, struct err *e);
