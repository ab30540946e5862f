#include "unwind/records.h"

#include "base/log.h"
#include "module/cfi.h"

enum {
	MAX_LOOKED_AT = 500, /* number of functions that are looked at */
	/* functions that may lack a record: hand-written code has some exceptions */
	MAX_PERCENT_WITHOUT = 2,
};

/* Whether the row describes a frame record. It is a row in the middle of a function, after the
 * prologue. Where there is a link register, compilers that save the frame pointer next to it also
 * make it point there. Elsewhere the frame pointer may be saved for other use. */
static bool is_record(const struct cfi_row *row, const struct arch *arch)
{
	return row->rule[arch->fp] == CFI_SAVED && row->offset[arch->fp] + 8 == row->ret_offset &&
	       (arch->link != REG_NONE || row->cfa_reg == arch->fp);
}

bool records_are_kept(const struct module *m, const struct arch *arch)
{
	struct cfi *c = cfi_open(m, NULL);
	uint32_t saved = 0, without = 0, count = module_frame_count(m);
	uint32_t stride = count / MAX_LOOKED_AT + 1;
	struct frame_range f;
	struct cfi_row row;
	if (!c)
		return false;
	for (uint32_t i = 0; i < count; i += stride) {
		if (!module_frame(m, i, &f) ||
		    !cfi_row_at(c, f.start + (f.end - f.start) / 2, &row) || row.ret != CFI_SAVED ||
		    row.cfa != CFI_CFA_REGISTER)
			continue;
		/* Where calls push the return address, it is saved even in frames without a
		 * prologue. */
		bool framed = arch->link != REG_NONE || row.cfa_offset > 8;
		saved += framed;
		without += framed && !is_record(&row, arch);
	}
	cfi_close(c);
	debug(LOG_UNWIND, 1, "%u of %u frames of %s without a frame record", without, saved,
	      m->path);
	return without * 100 <= saved * MAX_PERCENT_WITHOUT;
}
