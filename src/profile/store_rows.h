/* Writes and reads rows, column by column, as store_tables.h describes their table. Nothing is
 * allocated for a row but the texts that are read. */
#pragma once
#include "base/arena.h"
#include "profile/store_sql.h"

/* Executes the statement of sql_insert() with a row, whose index is `number`. If the result is
 * false, sql_fail() reports why. */
bool row_save(sqlite3_stmt *s, const struct store_table *t, uint32_t number, const void *row);
/* Reads the current row of the statement of sql_select(); false if the row is invalid. */
bool row_load(sqlite3_stmt *s, const struct store_table *t, uint32_t number, void *row,
	      struct arena *a);
/* Whether the key of a row is greater than that of the row before it. */
bool row_follows(const struct store_table *t, const void *row, const void *before);
