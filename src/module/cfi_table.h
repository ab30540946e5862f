/* One table of call frame information (.eh_frame, .debug_frame). Each FDE describes one range of
 * addresses and refers to a CIE, which holds what several FDEs have in common. */
#pragma once
#include "base/hashmap.h"
#include "base/vec.h"
#include "module/cfi_program.h"

struct cfi_table {
	struct encoding_base base;
	uint64_t size;
	bool is_debug;     /* .debug_frame */
	bool ends_at_zero; /* the size is a guess: the table ends at the first empty entry */
	VEC(struct cfi_cie) cies;
	struct hashmap cie_at; /* offset -> index in cies */
};

struct cfi_fde {
	uint64_t start, size; /* the range that it describes */
	uint64_t lsda;        /* address of its exception table, or 0 */
	uint32_t cie;
	struct cursor code; /* its program */
};

typedef void (*fde_visitor)(void *ctx, const struct cfi_table *t, const struct cfi_fde *f);
/* Visits all FDEs that can be read; false if some could not. */
bool cfi_table_read(struct cfi_table *t, fde_visitor visit, void *ctx);
void cfi_table_release(struct cfi_table *t);
