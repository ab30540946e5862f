/* The tables of a profile file. Each is described once, column by column. The statements
 * (store_sql.c), the binding and reading of rows (store_rows.c) and the tables in sonde-profile(5)
 * (docs/man/profile_tables.c) are all made from the description.
 *
 * Any change of a statement needs a new STORE_SCHEMA. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* In the order in which tables are created, saved, loaded and documented. */
enum store_table_id {
	TABLE_META,
	TABLE_METRIC,
	TABLE_MODULE,
	TABLE_PROCESS,
	TABLE_THREAD,
	TABLE_SCOPE,
	TABLE_NODE,
	TABLE_VALUE,
	TABLE_COUNT,
	TABLE_COUNTERS,
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
	TABLE_COMMAND,
	TABLE_FINDING,
	TABLE_REMARK,
	STORE_TABLES,
};

/* The C type of a field, and how the file represents it where that is special. */
enum column_kind {
	COLUMN_ID,            /* not a field: the index of the row in its vector */
	COLUMN_BOOL,          /* bool */
	COLUMN_FLAG,          /* uint8_t: one bit of it */
	COLUMN_WORD,          /* uint8_t: a word of a list, by its number */
	COLUMN_BYTE,          /* uint8_t */
	COLUMN_INT,           /* int, as an unsigned number of 32 bits */
	COLUMN_U32,           /* uint32_t */
	COLUMN_INDEX,         /* uint32_t; PROFILE_NONE is NULL */
	COLUMN_U64,           /* uint64_t; negative if it has more than 63 bits */
	COLUMN_COUNT,         /* uint64_t of at most 63 bits */
	COLUMN_REAL,          /* double */
	COLUMN_SHARE,         /* double from 0 to 1 */
	COLUMN_TIME,          /* double; -1 is NULL */
	COLUMN_TEXT,          /* const char * */
	COLUMN_OPTIONAL_TEXT, /* const char *; NULL is NULL */
	COLUMN_BUILD_ID,      /* struct build_id, in hexadecimal; an empty one is NULL */
	COLUMN_KINDS,
};

struct column {
	const char *name;
	const char *refers;       /* the table that it is an index into, or NULL */
	const char *about;        /* sentences for the manual, or NULL */
	const char *const *words; /* of a COLUMN_WORD */
	uint16_t offset;          /* in the row */
	uint8_t kind;             /* enum column_kind */
	uint8_t word_count;
	uint8_t flag; /* of a COLUMN_FLAG */
	bool key;     /* part of the primary key; these come first */
};

/* How to find out whether a row has changed since it was saved. */
enum table_changes {
	CHANGES_BY_HASH,   /* any field may change: compare a hash of the row */
	CHANGES_NEVER,     /* rows are only added */
	CHANGES_SCOPE,     /* of a node: the scope alone */
	CHANGES_SAMPLES,   /* of a value: the row itself keeps a trace of them */
	CHANGES_AS_A_WHOLE /* all rows are replaced when any one has changed */
};

struct store_table {
	const char *name;
	const char *about; /* for the manual: what the rows are */
	const struct column *columns;
	uint8_t column_count;
	uint8_t changes;   /* enum table_changes */
	uint16_t row_size; /* rows are elements of a vector */
	uint16_t vector;   /* its offset in struct profile; the table `evidence` has none */
};

extern const struct store_table store_tables[STORE_TABLES];

/* A vector of any type. */
struct __attribute__((may_alias)) store_vector {
	uint8_t *data;
	uint32_t len, cap;
};

/* A row of the table `evidence`, which stands for a field of struct evidence_run. */
struct store_number {
	const char *name;
	double value;
};

enum { STORE_NUMBERS = 16 };

/* These fields, with the names of their rows. */
extern const struct column store_numbers[STORE_NUMBERS];
