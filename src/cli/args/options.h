/* Options as tables. A command describes its options once; parsing, `--help`, `sonde help` and
 * shell completion all read that description.
 *
 * An option's value goes to `offset` inside the struct that belongs to its table. Accepted are
 * `--name=value`, `--name value`, `-n value`, `-nvalue`, flags run together (`-ab`), and `--` to
 * end the options. Options and operands may be mixed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

enum option_type {
	OPTION_FLAG,   /* bool, set */
	OPTION_UNFLAG, /* bool, cleared: --no-cache clears use_cache */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* uint64_t with `given` behind it: struct option_number */
	OPTION_CHOICE, /* unsigned: index in `choices` */
	OPTION_CALL,   /* nothing is stored: parse() is called for each occurrence */
};

struct option_number {
	uint64_t value; /* decimal, or hexadecimal with 0x */
	bool given;
};

struct option {
	const char *name; /* without dashes; NULL ends a table */
	char letter;      /* 0 if none */
	unsigned char type;
	size_t offset;
	const char *value;          /* what the value is called in help; NULL for flags */
	const char *help;           /* NULL hides the option */
	const char *const *choices; /* OPTION_CHOICE; ends with NULL */
	int (*parse)(const char *value, struct err *e); /* OPTION_CALL */
};

/* A row of a table whose values go to `member` of `struct_type`; further fields follow, designated.
 */
#define OPTION(name_, type_, struct_type, member, ...)                                             \
	{                                                                                          \
		.name = (name_), .type = (type_), .offset = offsetof(struct_type, member),         \
		__VA_ARGS__                                                                        \
	}

/* A table and the struct that its offsets refer to. */
struct option_set {
	const struct option *options;
	void *values;
};

struct operands {
	char **list; /* NULL-terminated; the strings are argv's */
	int count;
};

enum options_order {
	OPTIONS_MIXED, /* operands may stand between options */
	OPTIONS_FIRST, /* the first operand ends the options */
};

/* Parses argv[0 .. argc-1], which does not start with the program's name, and moves the operands to
 * its front, in order. `sets` ends with a set that has no options. */
int options_parse(const struct option_set *sets, enum options_order order, int argc, char **argv,
		  struct operands *out, struct err *e);

/* Whether a word of a command line is, or begins with, an option of the table. */
bool options_have(const struct option *options, const char *word);

/* Appends an aligned list: two columns, options and what they do. */
void options_describe(const struct option *options, struct text *out);

/* Index of the word nearest to `word` if it is near enough to be what was meant, else -1. */
int nearest_word(const char *word, const char *const *words, size_t count);
