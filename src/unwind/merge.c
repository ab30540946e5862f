#include "unwind/merge.h"

#include <string.h>

#include "base/order.h"

static bool fits(int64_t v)
{
	return v > INT32_MIN && v < INT32_MAX;
}

static int32_t slot_of(const struct cfi_row *row, unsigned reg)
{
	switch (row->rule[reg]) {
	case CFI_SAME: return SLOT_SAME;
	case CFI_SAVED: return fits(row->offset[reg]) ? (int32_t)row->offset[reg] : SLOT_LOST;
	default: return SLOT_LOST;
	}
}

static void set_return(struct recipe *r, const struct cfi_row *row, const struct arch *arch)
{
	switch (row->ret) {
	case CFI_SAME:
		if (arch->link == REG_NONE)
			return;
		r->ret = RETURN_REGISTER;
		r->ret_reg = arch->link;
		return;
	case CFI_SAVED:
		if (!fits(row->ret_offset))
			return;
		r->ret = RETURN_SAVED;
		r->ret_offset = (int32_t)row->ret_offset;
		return;
	case CFI_REGISTER:
		r->ret = RETURN_REGISTER;
		r->ret_reg = (uint8_t)row->ret_offset;
		return;
	case CFI_UNDEFINED: r->ret = RETURN_NONE; return;
	default: return;
	}
}

/* Reported only if the CFA is relative to the frame pointer. Otherwise call frame information gives
 * the place of the old frame pointer, but not that the new one points there. */
static bool has_frame_record(const struct recipe *r, const struct cfi_row *row,
			     const struct arch *arch)
{
	return r->cfa == CFA_REGISTER && r->cfa_reg == arch->fp && r->ret == RETURN_SAVED &&
	       row->rule[arch->fp] == CFI_SAVED && row->offset[arch->fp] == -row->cfa_offset &&
	       row->ret_offset == 8 - row->cfa_offset;
}

struct recipe recipe_of_row(const struct cfi_row *row, const struct arch *arch)
{
	struct recipe r = {.source = RECIPE_CFI, .slot_reg = REG_NONE};
	uint8_t list[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(arch, list);
	set_return(&r, row, arch);
	if (row->cfa == CFI_CFA_UNKNOWN || !fits(row->cfa_offset) || !fits(row->cfa_add))
		return r;
	r.cfa = row->cfa == CFI_CFA_MEMORY ? CFA_MEMORY : CFA_REGISTER;
	r.cfa_reg = row->cfa_reg;
	r.cfa_offset = (int32_t)row->cfa_offset;
	r.cfa_add = (int32_t)row->cfa_add;
	for (unsigned i = 0; i < count; i++)
		r.slot[i] = slot_of(row, list[i]);
	r.record = has_frame_record(&r, row, arch);
	return r;
}

bool has_usual_cfa(const struct recipe *r, const struct arch *arch)
{
	return r->cfa_reg == arch->sp || r->cfa_reg == arch->fp;
}

/* Whether call frame information replaces the recipe of `run`, which is NULL where the analysis has
 * none. */
static bool prefers_cfi(const struct analysis *a, const struct arch *arch,
			const struct recipe_run *run, const struct recipe *described)
{
	if (described->ret == RETURN_NONE)
		return true;
	if (run && run->recipe.switches)
		return false;
	if (described->cfa == CFA_UNKNOWN || described->ret == RETURN_UNKNOWN)
		return false;
	const struct recipe *analysed = run ? &run->recipe : NULL;
	if (!analysed || analysed->cfa == CFA_UNKNOWN || analysed->ret == RETURN_UNKNOWN ||
	    analysed->source == RECIPE_ASSUMED)
		return true;
	return !a->proven && !run->certain && has_usual_cfa(described, arch);
}

typedef VEC(struct recipe_run) run_list;

static void push(run_list *out, uint64_t start, uint64_t end, const struct recipe *r)
{
	if (start < end)
		vec_push(out, (struct recipe_run){start, end, *r, false});
}

/* Whether both recipes describe the same frame. */
static bool is_same_frame(const struct recipe *a, const struct recipe *b)
{
	return a->cfa == b->cfa && a->cfa_reg == b->cfa_reg && a->cfa_offset == b->cfa_offset &&
	       a->ret == b->ret && a->ret_offset == b->ret_offset;
}

/* The recipe that replaces the run's. It keeps the run's frame record, which call frame information
 * does not express. */
static struct recipe replacement(const struct recipe_run *run, const struct recipe *by)
{
	struct recipe r = *by;
	r.record |= run->recipe.record && is_same_frame(&run->recipe, by);
	return r;
}

/* Merges one row with the runs in its range. Runs from *at on have not been merged yet. */
static void merge_row(const struct analysis *a, const struct arch *arch, const struct recipe *r,
		      const struct part *row, uint32_t *at, run_list *out)
{
	uint64_t from = row->start, end = row->end;
	for (; *at < a->runs.len; ++*at) {
		const struct recipe_run *run = &a->runs.data[*at];
		if (run->start >= end)
			break;
		if (prefers_cfi(a, arch, NULL, r))
			push(out, from, run->start, r);
		uint64_t run_from = run->start > from ? run->start : from;
		uint64_t to = run->end < end ? run->end : end;
		struct recipe by = replacement(run, r);
		push(out, run_from, to, prefers_cfi(a, arch, run, r) ? &by : &run->recipe);
		from = to > from ? to : from;
		if (run->end > end)
			return;
	}
	if (prefers_cfi(a, arch, NULL, r))
		push(out, from, end, r);
}

/* The start of the next range that call frame information describes, at most `end`. */
static uint64_t next_range(const struct module *m, uint64_t va, uint64_t end)
{
	uint64_t next = module_frame_after(m, va);
	return next < end ? next : end;
}

/* The row at va and its end. For addresses that no row covers, it is a row that knows nothing, so
 * that the analysis is kept. */
static uint64_t next_row(const struct module *m, struct cfi *c, uint64_t va, uint64_t end,
			 struct cfi_row *row)
{
	if (cfi_row_at(c, va, row) && row->end > va)
		return row->end < end ? row->end : end;
	*row = (struct cfi_row){.cfa = CFI_CFA_UNKNOWN, .ret = CFI_UNKNOWN};
	return next_range(m, va, end);
}

void merge_cfi(struct analysis *a, const struct module *m, struct cfi *c, const struct arch *arch,
	       const struct part *span)
{
	run_list merged = {0};
	uint32_t at = 0;
	if (!c)
		return;
	while (at < a->runs.len && a->runs.data[at].end <= span->start)
		vec_push(&merged, a->runs.data[at++]);
	for (uint64_t va = span->start; va < span->end;) {
		struct cfi_row row;
		uint64_t end = next_row(m, c, va, span->end, &row);
		struct recipe r = recipe_of_row(&row, arch);
		merge_row(a, arch, &r, &(struct part){va, end}, &at, &merged);
		va = end;
	}
	for (; at < a->runs.len; at++)
		if (a->runs.data[at].start >= span->end)
			vec_push(&merged, a->runs.data[at]);
	vec_free(&a->runs);
	a->runs.data = merged.data;
	a->runs.len = merged.len;
	a->runs.cap = merged.cap;
}
