/* Call frame information (.eh_frame, .debug_frame), interpreted into rows.
 *
 * What the simple rules of compilers cannot express comes out as unknown, never wrong. */
#pragma once
#include "image/image.h"

enum cfi_cfa {
	CFI_CFA_UNKNOWN,
	CFI_CFA_REGISTER, /* reg + offset */
	CFI_CFA_MEMORY,   /* *(reg + offset) + add */
};

enum cfi_rule {
	CFI_SAME,      /* still in the register, or nothing was said of it */
	CFI_SAVED,     /* at CFA + offset */
	CFI_REGISTER,  /* in another register: offset is its number */
	CFI_UNDEFINED, /* not to be found; of the return address: there is no caller */
	CFI_UNKNOWN,   /* an expression that we do not follow */
};

enum { CFI_REGISTERS = 32 };

/* Registers are numbered as isa/ numbers them, not as DWARF does; the return address is kept apart.
 * On aarch64 its rule is register 30's, also where nothing is said (then CFI_SAME). */
struct cfi_row {
	uint64_t start, end; /* va */
	uint8_t cfa;         /* enum cfi_cfa */
	uint8_t cfa_reg;
	uint8_t ret;    /* enum cfi_rule, of the return address */
	bool is_signal; /* a signal frame's return trampoline */
	int64_t cfa_offset, cfa_add, ret_offset;
	uint8_t rule[CFI_REGISTERS]; /* enum cfi_rule */
	int64_t offset[CFI_REGISTERS];
};

struct cfi;

/* NULL if the image has no call frame information. `debug` is its separate debug file or NULL. A
 * handle belongs to one thread at a time. */
struct cfi *cfi_open(const struct image *im, const struct image *debug);
void cfi_close(struct cfi *c);

/* The row that covers va; false if none does. Walk a range by asking for row.end next. */
bool cfi_row_at(struct cfi *c, uint64_t va, struct cfi_row *out);
