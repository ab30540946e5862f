/* Saves what is new or has changed in a profile since the last commit. */
#pragma once
#include "base/vec.h"
#include "profile/profile.h"
#include "profile/store_sql.h"

/* The part of a table that is in the file already. */
struct saved_table {
	uint32_t rows;
	VEC(uint64_t) hashes; /* of each row, in tables of CHANGES_BY_HASH */
	uint64_t hash;        /* of all rows, in tables of CHANGES_AS_A_WHOLE; 0: there are none */
};

struct store_writer {
	sqlite3 *db;
	sqlite3_stmt *insert[STORE_TABLES];
	struct saved_table saved[STORE_TABLES];
	VEC(uint32_t) node_scopes;
	bool fused, finished;                       /* as written last */
	bool state;                                 /* these two were written at least once */
	struct store_number numbers[STORE_NUMBERS]; /* the rows of the table `evidence` */
	uint32_t number_count;
};

/* Prepares for a file that has its tables and no rows. Returns an SQLite result code. */
int store_writer_init(struct store_writer *w, sqlite3 *db);
void store_writer_release(struct store_writer *w);
/* Writes the rows, within a transaction of the caller. If the result is false, sql_fail() reports
 * why. */
bool store_writer_save(struct store_writer *w, const struct profile *p);
/* Notes what store_writer_save() wrote, once that is committed. After a failed commit the same rows
 * are written again. */
void store_writer_committed(struct store_writer *w, struct profile *p);
