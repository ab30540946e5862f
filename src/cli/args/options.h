/* Options as tables. A command describes its options once; parsing, `--help`, `sonde help` and
 * shell completion all read that description.
 *
 * An option's value is stored at `offset` inside the struct that belongs to its table. Accepted
 * forms are `--name=value`, `--name value`, `-n value`, `-nvalue`, combined flags (`-ab`), and `--`
 * to end the options. Options and operands may be mixed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

enum option_type {
	OPTION_FLAG,   /* sets a bool */
	OPTION_UNFLAG, /* clears a bool: --no-cache clears use_cache */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* struct option_number */
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
	const char *value;          /* name of the value in the help text; NULL for flags */
	const char *help;           /* NULL hides the option */
	const char *const *choices; /* OPTION_CHOICE; ends with NULL */
	int (*parse)(const char *value, struct err *e); /* OPTION_CALL */
};

/* A row of a table whose value is stored in `member` of `struct_type`; further fields follow as
 * designated initialisers. */
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
	char **list; /* NULL-terminated; the strings belong to argv */
	int count;
};

enum options_order {
	OPTIONS_MIXED, /* operands may be between options */
	OPTIONS_FIRST, /* the first operand ends the options */
};

/* Parses argv[0 .. argc-1], which does not start with the program's name, and moves the operands to
 * its front, in order. `sets` ends with a set that has no options. */
int options_parse(const struct option_set *sets, enum options_order order, int argc, char **argv,
		  struct operands *out, struct err *e);

/* True if a word of a command line is an option of the table, with or without a value. */
bool options_have(const struct option *options, const char *word);

/* Appends an aligned list of two columns: options and their descriptions. */
void options_describe(const struct option *options, struct text *out);

/* Finds the words closest to `word`, as far as they are close enough to be what the user meant, by
 * edit distance or because it is a part of them. Puts the indices of at most `most` of them into
 * `out`, the closest first, and returns how many there are. */
enum { MOST_NEAREST = 5 }; /* the highest value of `most` */
size_t nearest_words(const char *word, const char *const *words, size_t count, size_t *out,
		     size_t most);
/* The index of the closest one; -1 if there is none. */
int nearest_word(const char *word, const char *const *words, size_t count);
