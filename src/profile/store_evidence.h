/* The tables of the evidence (evidence.h). Each is described once, column by column; writing and
 * reading follow the description. */
#pragma once
#include "profile/evidence.h"
#include "profile/store_sql.h"

struct arena;

/* Whether a table is one of these. */
bool store_is_evidence(enum store_table_id table);
/* Writes all rows anew, by the prepared statements of all tables; false: SQLite tells why not. */
bool store_save_evidence(sqlite3 *db, sqlite3_stmt *const *save, const struct evidence *e);
/* Takes in the row that the statement is at, the number-th of its table; false: it makes no sense.
 */
bool store_load_evidence(sqlite3_stmt *s, enum store_table_id table, uint32_t number,
			 struct evidence *e, struct arena *a);
/* A hash that tells whether anything has changed; 0 if there is nothing. */
uint64_t store_hash_evidence(const struct evidence *e);
