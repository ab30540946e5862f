/* What the operations of a probe read and write, and the part of writing them that is common to all
 * architectures: choosing registers and placing asides. */
#pragma once
#include "isa/emit.h"

/* Sets of values: bit v is value v. Held registers are not in them. */
uint8_t op_reads(const struct emit_op *op);
uint8_t op_writes(const struct emit_op *op);
uint8_t op_names(const struct emit_op *op); /* both */
/* Whether the operation may branch to an aside. */
bool op_branches(const struct emit_op *op);
/* Whether the operation is an EMIT_COUNT*. */
bool op_counts(const struct emit_op *op);

/* The probe in the form that architectures write: a counter is expressed by operations, which are
 * stored in `counter`; `held` includes all held registers that the operations name; `free` includes
 * none of them. */
enum { COUNTER_OPS = 2 };
struct emit_probe probe_in_full(const struct emit_probe *p, struct emit_op counter[COUNTER_OPS]);
/* Whether the operations obey the rules of emit.h. */
bool ops_are_valid(const struct emit_probe *p);
/* Whether operation `at` and the next one are both main operations, and control reaches the next
 * one only from `at`. */
bool ops_are_together(const struct emit_probe *p, uint32_t at);
/* Whether anything after the operation needs the value. */
bool ops_need(const struct emit_probe *p, uint32_t at, uint8_t value);

/* State of writing the operations of one probe. */
struct op_writer {
	struct emit *e;
	const struct emit_probe *p;
	uint8_t reg[EMIT_REGISTERS];  /* of values, then temporaries; REG_NONE: not needed */
	uint32_t asides[EMIT_ASIDES]; /* labels */
	uint16_t pushed; /* distance in bytes from the stack pointer to the program's */
	bool flags;      /* the flags may be overwritten */
	uint8_t tested;  /* x64: the operand whose value the flags reflect, or REG_NONE */
};

/* Registers that the architecture's code for an operation needs. */
struct op_needs {
	/* The values that must be in registers, at most those that the operation names. NULL: all
	 * of these. */
	uint8_t (*values)(const struct emit_probe *p, uint32_t at);
	/* The number of temporary registers that are needed in addition. */
	unsigned (*temporaries)(const struct emit *e, const struct emit_op *op);
};
/* The registers of struct op_writer that the probe needs, as bits: values, and as many temporaries
 * as the registers of values that are not in use at the time cannot provide. */
unsigned ops_registers(const struct op_writer *w, const struct op_needs *needs);
/* A temporary register of the operation, which it may overwrite; nth is below the number that its
 * needs report. */
uint8_t ops_temporary(const struct op_writer *w, uint32_t at, unsigned nth);
/* Adds an aside that calls `find` and puts the area's address into the register `area`. */
void ops_put_find(const struct op_writer *w, uint32_t here, uint32_t back, uint8_t area);
/* Writes the probe's main operations with `write`, and adds its asides to the buffer's list. */
typedef void ops_write(struct op_writer *w, uint32_t from, uint32_t end);
void ops_put(struct op_writer *w, ops_write *write);
/* The writer with which the aside was added. */
struct op_writer ops_resume(struct emit *e, const struct emit_aside *a);
