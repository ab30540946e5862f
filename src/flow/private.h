/* Which registers are private to a procedure: nobody else reads what it leaves in them, so that
 * code put into it may hold a value there wherever the procedure itself has none.
 *
 * Conventions promise this of some registers, arch->private_candidates. But assembly has
 * conventions of its own, and with interprocedural register allocation compilers keep values over
 * calls of procedures that they know not to destroy them. So an image's own code has to agree. A
 * candidate is not private to a procedure
 *
 *	expected   that reads at its entry what its caller left there, or calls one that does
 *	held       that itself reads, behind a call, what was there before or comes from there;
 *	           or that reads it in code that no known path leads to
 *	kept       through which a caller keeps a value, for itself or one that expects it, or from
 *	           which it gets one
 *
 * and to no procedure of an image in which
 *
 *	entry      one reads it at its entry that is called through pointers or by other images
 *	call       one reads it right behind a call of something unknown
 *	unknown    code that belongs to no procedure reads it
 *	go         all registers pass and return values
 *	linker     it is the dynamic linker: some of its procedures must leave all as it is
 *
 * Other images and what is called through pointers are held to the conventions. Linkage tables are
 * exempt: what they hand to the dynamic linker is their own, and no code is put into them. */
#pragma once
#include "flow/flow.h"

/* Of one procedure. */
struct private_set {
	struct regset registers;            /* that are private */
	struct regset expected, held, kept; /* why others are not */
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
	uint64_t va;  /* the lowest place */
};

struct private_registers {
	struct private_set *of; /* each procedure */
	uint32_t count;
	/* Why a candidate, by its number, is private to none. */
	struct private_loss lost[REG_FLAGS + 1];
};

/* After flow_discover(); uses every processor. */
void private_find(struct private_registers *out, struct flow *f);
void private_release(struct private_registers *p);

extern const char *const private_loss_name[LOSS_KINDS];
