/* Everything that unwinding needs to know about a pc, cached: a direct-mapped cache in front of the
 * tables of modules. */
#pragma once
#include "unwind/links.h"
#include "unwind/space.h"

enum fact_where {
	FACT_NOWHERE, /* outside all code */
	/* code that cannot be read: JIT-compiled code, or a file that could not be opened */
	FACT_OPAQUE,
	FACT_CODE,
};

/* Describes the instruction at pc, or, if pc is a return address, the call before it. */
struct fact {
	uint64_t serial, pc; /* serial of the space */
	struct code *code;
	uint64_t va;       /* va of pc */
	uint64_t function; /* the function's start; UINT64_MAX if not known */
	uint8_t where;     /* enum fact_where */
	bool asked_exact;  /* the caller said that pc is not a return address */
	bool exact;        /* pc is not a return address: said so, or no call precedes it */
	bool trampoline;   /* a signal handler returns here; then the rest is unset */
	bool root;         /* the outermost frame: nothing called this code */
	bool described;    /* the recipe is not from an analysis: see recipes_describe() */

	/* The recipe, in a form that is quick to use. */
	uint8_t cfa, cfa_reg, ret, ret_reg;
	bool record, switches;
	int32_t cfa_offset, cfa_add, ret_offset;
	uint32_t kept; /* bit i: register i is still the caller's */
	uint8_t saved_count;
	uint8_t saved_from; /* the register that saved_at is relative to; REG_NONE: the CFA */
	uint8_t saved_reg[CALLEE_SAVED_MAX];
	int32_t saved_at[CALLEE_SAVED_MAX];

	struct call_site call; /* the call before a return address */
	/* The last callee for which the link was checked, and the result. */
	const struct code *callee;
	uint64_t callee_function;
	uint8_t verdict; /* enum link_verdict */
};

struct facts;

struct facts *facts_new(void);
void facts_free(struct facts *f);

/* While hurried, no module is analysed: code of one that has not been is opaque, and missed. */
void facts_hurry(struct facts *f, bool hurried);
bool facts_missed(const struct facts *f); /* since it is hurried */

/* While it is wanted, all code is analysed; otherwise calls are not, where they are described. */
void facts_analyse(struct facts *f, bool wanted);

/* The fact about pc; valid until the next call. `serial` is the space's. */
struct fact *facts_at(struct facts *f, struct space *s, uint64_t serial, uint64_t pc, bool exact);
