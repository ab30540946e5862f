/* What the operations of a probe read and write: for those who choose registers for them. */
#pragma once
#include "isa/emit.h"

/* Sets of values: bit v is value v. Registers that are held are not among them. */
uint8_t op_reads(const struct emit_op *op);
uint8_t op_writes(const struct emit_op *op);
uint8_t op_names(const struct emit_op *op); /* both */
/* Whether control may go on to the aside. */
bool op_branches(const struct emit_op *op);
/* EMIT_COUNT*. */
bool op_counts(const struct emit_op *op);

/* The probe in the form that architectures write: a counter by its operations, which are put into
 * `counter`; in `held` also what operations name; and nothing of that in `free`. */
enum { COUNTER_OPS = 2 };
struct emit_probe probe_in_full(const struct emit_probe *p, struct emit_op counter[COUNTER_OPS]);
/* Whether the probe keeps to what emit.h says about operations. */
bool ops_are_valid(const struct emit_probe *p);
/* Whether only the one before leads to the next operation, and both are main ones. */
bool ops_are_together(const struct emit_probe *p, uint32_t at);
/* Whether anything after the operation needs the value. */
bool ops_need(const struct emit_probe *p, uint32_t at, uint8_t value);

/* Writes the operations of one probe. */
struct op_writer {
	struct emit *e;
	const struct emit_probe *p;
	uint8_t reg[EMIT_REGISTERS];  /* of values, then temporaries; REG_NONE: not needed */
	uint32_t asides[EMIT_ASIDES]; /* labels */
	uint16_t pushed;              /* bytes from the stack pointer up to the program's */
	bool flags;                   /* may be overwritten */
	uint8_t tested;               /* x64: the operand that the flags tell about, or REG_NONE */
};

/* What the architecture's code for an operation needs. */
struct op_needs {
	/* Values that it has to have in registers: at most those that it names; NULL: these. */
	uint8_t (*values)(const struct emit_probe *p, uint32_t at);
	/* How many registers besides. */
	unsigned (*temporaries)(const struct emit *e, const struct emit_op *op);
};
/* Which of the registers in struct op_writer the probe needs (bits): values, and temporaries where
 * values that are not needed yet, or no more, do not suffice. */
unsigned ops_registers(const struct op_writer *w, const struct op_needs *needs);
/* A register that the operation may overwrite; it has as many as it says. */
uint8_t ops_temporary(const struct op_writer *w, uint32_t at, unsigned nth);
/* Has a call of `find` written later, for the area's address in a register. */
void ops_put_find(const struct op_writer *w, uint32_t here, uint32_t back, uint8_t area);
/* Has the probe's main operations written by `write`, and its asides later. */
typedef void ops_write(struct op_writer *w, uint32_t from, uint32_t end);
void ops_put(struct op_writer *w, ops_write *write);
/* What it was put aside with. */
struct op_writer ops_resume(struct emit *e, const struct emit_aside *a);
