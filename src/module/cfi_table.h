/* One table of call frame information (.eh_frame, .debug_frame). Each FDE describes one range of
 * addresses and refers to a CIE, which holds what several FDEs have in common. */
#pragma once
#include "base/hashmap.h"
#include "base/vec.h"
#include "module/cfi_program.h"
#include "module/lazy_file.h"

struct cfi_table {
	struct encoding_base base;
	uint64_t size;
	/* The table's bytes are at this place in the file, and are read entry by entry; NULL if
	 * they are all there. */
	const struct lazy_file *file;
	uint64_t offset;
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
/* Reads the FDE at an offset; false if there is none, or if it is damaged. */
bool cfi_table_entry(struct cfi_table *t, uint64_t offset, struct cfi_fde *out);
/* Visits all FDEs that can be read; false if some could not. */
bool cfi_table_read(struct cfi_table *t, fde_visitor visit, void *ctx);
void cfi_table_release(struct cfi_table *t);
