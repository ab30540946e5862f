/* Binding and reading rows, column by column, as their table is described (store_tables.h). Nothing
 * is allocated for a row but the texts that are read. */
#pragma once
#include "base/arena.h"
#include "profile/store_sql.h"

/* Executes the statement of sql_insert() with a row, whose index is `number`; false: SQLite tells
 * why not. */
bool row_save(sqlite3_stmt *s, const struct store_table *t, uint32_t number, const void *row);
/* Reads the current row of the statement of sql_select(); false: the row makes no sense. */
bool row_load(sqlite3_stmt *s, const struct store_table *t, uint32_t number, void *row,
	      struct arena *a);
/* Whether the key of a row is greater than that of the row before it. */
bool row_follows(const struct store_table *t, const void *row, const void *before);
