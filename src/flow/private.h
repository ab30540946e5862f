/* Which registers are private to a function. No other function reads what it leaves in a private
 * register, so code that is put into the function may hold a value there wherever the function
 * itself holds none.
 *
 * Calling conventions promise this for some registers, arch->private_candidates. But assembly has
 * conventions of its own, and with interprocedural register allocation compilers keep values over
 * calls of functions that they know not to destroy them. So the code of the module has to confirm
 * it. A candidate is not private to a function in these cases:
 *
 *	expected   the function reads at its entry what its caller left in the register, or calls a
 *	           function that does
 *	held       the function itself reads, after a call, a value from before the call or from
 *	           the callee; or it reads the register in code that no known path leads to
 *	kept       a caller keeps a value in the register over the call, for itself or for a
 *	           function that expects it; or it gets a value from the function
 *
 * It is private to no function of the module in these cases:
 *
 *	entry      a function that is called through pointers or by other modules reads it at its
 *	           entry
 *	call       a function reads it right after a call of something unknown
 *	unknown    code that belongs to no function reads it
 *	go         the module was compiled by Go: all registers pass and return values
 *	linker     the module is the dynamic linker: some of its functions must preserve all
 *	           registers
 *
 * Other modules, and functions that are called through pointers, are assumed to follow the
 * conventions. PLTs are exempt: what they pass to the dynamic linker is their own business, and no
 * code is put into them. */
#pragma once
#include "flow/flow.h"

/* The result for one function. */
struct private_set {
	struct regset registers;            /* the private ones */
	struct regset expected, held, kept; /* why other candidates are not private */
};

enum private_loss_kind {
	LOSS_NONE,
	LOSS_ENTRY,
	LOSS_CALL,
	LOSS_UNKNOWN,
	LOSS_GO,
	LOSS_LINKER,
	LOSS_KINDS,
};

struct private_loss {
	uint8_t kind; /* enum private_loss_kind */
	uint64_t va;  /* the lowest address where it was lost */
};

struct private_registers {
	struct private_set *of; /* one for each function */
	uint32_t count;
	/* For each candidate, by its number: why it is private to no function. */
	struct private_loss lost[REG_FLAGS + 1];
};

/* Requires flow_discover(); uses every CPU. */
void private_find(struct private_registers *out, struct flow *f);
void private_release(struct private_registers *p);

extern const char *const private_loss_name[LOSS_KINDS];
