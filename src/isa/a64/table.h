/* The rows of rows.h, parsed and indexed for matching instruction words. */
#pragma once
#include "isa/a64/rows.h"
#include "isa/insn.h"

/* A register field: n = (word >> shift) & mask is the first of the registers, and `ones` << n is
 * the set of them. `reads` and `writes` mask the part of that set that is read and written:
 * nothing, all, or all but 31 where 31 means zero. `base` is the bit of register 0 in struct
 * regset. */
struct a64_field {
	uint32_t reads, writes;
	uint8_t shift, mask, ones, base;
};

enum { A64_MAX_CORE = 4, A64_MAX_VEC = 4, A64_FIRST_PREDICATE = 33, A64_FFR = 49, A64_FPCR = 50 };

struct a64_rule {
	uint32_t mask, value;
	uint8_t class, form, kind;
	uint16_t flags;
	bool checked; /* the form has a `valid` function */
	uint8_t core_count, vec_count;
	struct a64_field core[A64_MAX_CORE], vec[A64_MAX_VEC];
	struct regset reads, writes; /* registers that no field names */
};

/* A rule without its registers: all the data that DECODE_FLOW needs. */
struct a64_match {
	uint32_t mask, value;
	uint16_t rule, flags;
	uint8_t class, form, kind;
	bool checked;
};

/* The meaning of a row's form: see forms.c. */
struct a64_form_info {
	uint8_t kind;
	uint16_t flags;
	bool (*valid)(uint32_t word); /* checks what a pattern cannot express; may be NULL */
	void (*fill)(uint32_t word, struct insn *out); /* sets op and operands; may be NULL */
};
extern const struct a64_form_info a64_form_info[A64_FORMS];

/* Parses one row; false if its pattern is malformed (a bug, which the unit test looks for). */
bool a64_parse_row(const struct a64_row *row, struct a64_rule *rule);

/* The match of `word`; its form is UNDEFINED if the word is not an instruction. Thread-safe. */
const struct a64_match *a64_find(uint32_t word);

const struct a64_rule *a64_rule(const struct a64_match *m);

/* All rules, in the order in which they are tried, for the unit test. */
const struct a64_rule *a64_all_rules(uint32_t *count);
