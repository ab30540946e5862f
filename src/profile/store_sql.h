/* Shared by code that writes and reads profile files: SQL statements, and sentences for SQLite's
 * errors. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"
#include "profile/store_tables.h"

/* The application id in the file's header, by which file(1) and Sonde recognise a profile:
 * "sond". */
enum { STORE_APPLICATION = 0x736f6e64 };

enum { STORE_PATIENCE_MS = 2000 }; /* how long to wait for a lock that somebody else holds */

/* Appends the statement that creates a table, byte for byte as SQLite keeps it: readers compare it.
 */
void sql_create(struct text *out, const struct store_table *t);
/* Appends the statement that saves a row. It replaces a row with the same key. */
void sql_insert(struct text *out, const struct store_table *t);
/* Appends the statement that loads all rows, sorted by key. */
void sql_select(struct text *out, const struct store_table *t);
/* Views for people, which sonde itself does not read. */
extern const char *const store_views;

/* Takes the result of a fault point, and returns it. If the point failed, sql_fail() will report a
 * full disk. */
bool sql_fault(bool failed);
/* Runs statements. Returns an SQLite result code. */
int sql_run(sqlite3 *db, const char *sql);
/* The integer that a PRAGMA or SELECT gives. If it is -1, sqlite3_errcode() gives the reason. */
sqlite3_int64 sql_number(sqlite3 *db, const char *sql);
/* Sets the error: why the last call with `db` failed to do `what` ("write", "read") with the
 * file. */
int sql_fail(sqlite3 *db, const char *what, const char *path, struct err *e);
