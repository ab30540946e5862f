/* Call frame information (.eh_frame, .debug_frame), interpreted into rows.
 *
 * A rule beyond the simple ones that compilers use is reported as unknown; it is never guessed. */
#pragma once
#include "module/module.h"

enum cfi_cfa {
	CFI_CFA_UNKNOWN,
	CFI_CFA_REGISTER, /* reg + offset */
	CFI_CFA_MEMORY,   /* *(reg + offset) + add */
};

enum cfi_rule {
	CFI_SAME,      /* still in the register, or not mentioned */
	CFI_SAVED,     /* at CFA + offset */
	CFI_REGISTER,  /* in another register: offset is its number */
	CFI_UNDEFINED, /* lost; for the return address: there is no caller */
	CFI_UNKNOWN,   /* an expression that is not followed */
};

enum { CFI_REGISTERS = 32 };

/* One row: how to find the caller's registers in [start, end). Registers are numbered as in isa/,
 * not as in DWARF. The return address is separate; on aarch64 its rule is that of register 30, even
 * if none is given (then CFI_SAME). */
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

/* NULL if the module has no call frame information. `debug` is its separate debug file or NULL. A
 * handle may be used by one thread at a time. */
struct cfi *cfi_open(const struct module *m, const struct module *debug);
void cfi_close(struct cfi *c);

/* The row that covers va; false if none does. To walk a range, continue with row.end. */
bool cfi_row_at(struct cfi *c, uint64_t va, struct cfi_row *out);
