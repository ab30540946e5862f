/* What unwinding needs to know about a pc, found once and kept: a direct-mapped cache in front of
 * the tables of images. */
#pragma once
#include "unwind/links.h"
#include "unwind/space.h"

enum fact_where {
	FACT_NOWHERE, /* outside all code */
	FACT_OPAQUE,  /* code that cannot be read: JIT output, or a file that could not be opened */
	FACT_CODE,
};

/* About the instruction at pc; about the call before it, if pc is a return address. */
struct fact {
	uint64_t serial, pc; /* of the space */
	struct code *code;
	uint64_t va;        /* of pc */
	uint64_t procedure; /* its start; UINT64_MAX if not known */
	uint8_t where;      /* enum fact_where */
	bool asked_exact;   /* whether pc was said to be no return address */
	bool exact;         /* it is none: no call precedes it, yet it may be returned to */
	bool trampoline;    /* a signal handler returns here: nothing else holds */
	bool root;          /* nothing called this */

	/* The recipe, in the form that it is used in. */
	uint8_t cfa, cfa_reg, ret, ret_reg;
	bool record, switches;
	int32_t cfa_offset, cfa_add, ret_offset;
	uint32_t kept; /* bit i: register i is still the caller's */
	uint8_t saved_count;
	uint8_t saved_from; /* register that saved_at counts from; REG_NONE: the CFA */
	uint8_t saved_reg[CALLEE_SAVED_MAX];
	int32_t saved_at[CALLEE_SAVED_MAX];

	struct call_site call; /* before a return address */
	/* The last callee that this call was found to lead to, and how surely. */
	const struct code *callee;
	uint64_t callee_procedure;
	uint8_t verdict; /* enum link_verdict */
};

struct facts;

struct facts *facts_new(void);
void facts_free(struct facts *f);

/* Good until the next call. `serial` is the space's. */
struct fact *facts_at(struct facts *f, struct space *s, uint64_t serial, uint64_t pc, bool exact);
