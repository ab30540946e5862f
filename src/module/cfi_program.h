/* Runs the instructions of call frame information; shared by the parts of the CFI reader. */
#pragma once
#include "module/cfi.h"
#include "module/encoded.h"

enum {
	CFI_COLUMN_RETURN = CFI_REGISTERS, /* x86-64's column for the return address */
	CFI_COLUMNS,
	CFI_DEPTH = 32, /* states that can be remembered; compilers need two or three */
};

struct cfi_state {
	uint8_t cfa, cfa_reg;
	bool is_signed; /* the return address is signed */
	int64_t cfa_offset, cfa_add;
	uint8_t rule[CFI_COLUMNS];
	int64_t offset[CFI_COLUMNS];
};

/* What the FDEs that refer to one CIE have in common. */
struct cfi_cie {
	bool usable, is_signal, has_augmentation;
	uint8_t address_encoding, lsda_encoding;
	const struct arch *arch;
	uint64_t code_align, data_align, return_column;
	struct cfi_state initial;
};

/* A program stopped between two rows. */
struct cfi_program {
	const struct cfi_cie *cie;
	const struct encoding_base *base;
	struct cursor code;
	uint64_t start, end;    /* of the row that `state` describes */
	uint64_t next, fde_end; /* where the next row starts; where the last one ends */
	struct cfi_state state, stack[CFI_DEPTH];
	unsigned depth;
};

/* Computes cie->initial from its instructions. */
void cfi_run_initial(struct cfi_cie *cie, struct cursor code, const struct encoding_base *base);
/* Starts the program of an FDE for [start, end); there is no row before cfi_next_row(). */
void cfi_start(struct cfi_program *p, const struct cfi_cie *cie, struct cursor code,
	       const struct encoding_base *base, uint64_t start, uint64_t end);
/* Whether the first row is the initial one, found without running the program: true for nearly all
 * functions; if it is false, the row may be the initial one nevertheless. */
bool cfi_begins_initial(const struct cfi_cie *cie, struct cursor code);
/* Advances to the next row; false after the last one. */
bool cfi_next_row(struct cfi_program *p);
/* Whether the row is as at the entry of a function, not as in the middle of one. */
bool cfi_is_entry(const struct cfi_program *p);
void cfi_fill_row(const struct cfi_program *p, struct cfi_row *out);
