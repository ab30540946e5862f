/* Address ranges from call frame information. Compilers describe almost every function in
 * .eh_frame, so its ranges are the best evidence of function bounds in a stripped file;
 * .debug_frame adds what .eh_frame lacks. Rules are only evaluated to see whether a range starts
 * as a function does, or in the middle of one (foo.cold). */
#include <stdlib.h>

#include "base/order.h"
#include "module/cfi_table.h"
#include "module/elf_reader.h"

struct frame_collector {
	const struct module *module;
	const struct section *last; /* of the previous address: neighbours mostly share one */
	struct cfi_program program;
	VEC(struct frame_range) ranges;
};

static bool is_code(struct frame_collector *g, uint64_t va)
{
	if (!g->last || va - g->last->va >= g->last->size)
		g->last = module_section_at(g->module, va);
	return g->last && g->last->execute;
}

static bool starts_mid_frame(struct frame_collector *g, const struct cfi_table *t,
			     const struct cfi_fde *f)
{
	const struct cfi_cie *cie = &t->cies.data[f->cie];
	if (cie->is_signal)
		return false;
	cfi_start(&g->program, cie, f->code, &t->base, f->start, f->start + f->size);
	cfi_next_row(&g->program);
	return !cfi_is_entry(&g->program);
}

static void add_range(void *ctx, const struct cfi_table *t, const struct cfi_fde *f)
{
	struct frame_collector *g = ctx;
	if (!is_code(g, f->start))
		return;
	uint64_t room = g->last->va + g->last->size - f->start;
	vec_push(&g->ranges,
		 (struct frame_range){.start = f->start,
				      .end = f->start + (f->size < room ? f->size : room),
				      .lsda = f->lsda,
				      .is_signal = t->cies.data[f->cie].is_signal,
				      .mid_frame = starts_mid_frame(g, t, f)});
}

/* Whether one of the ranges holds va. */
static bool is_known(const struct frame_range *ranges, uint32_t count, uint64_t va)
{
	uint32_t n = order_up_to(ranges, count, sizeof(*ranges),
				 offsetof(struct frame_range, start), va);
	return n && va < ranges[n - 1].end;
}

/* Adds the ranges in `more` that the module lacks. */
static void add_ranges(struct module *m, const struct frame_range *more, uint32_t count)
{
	uint32_t old = m->frame_count, n = old;
	if (!count || count > UINT32_MAX - old)
		return;
	struct frame_range *all = arena_alloc(&m->arena, ((size_t)old + count) * sizeof(*all),
					      _Alignof(struct frame_range));
	if (old)
		memcpy(all, m->frames, old * sizeof(*all));
	for (uint32_t i = 0; i < count; i++)
		if (!is_known(m->frames, old, more[i].start) && module_is_code(m, more[i].start))
			all[n++] = more[i];
	order_by_address(all, n, sizeof(*all), offsetof(struct frame_range, start));
	m->frames = all;
	m->frame_count = n;
}

static void read_table(struct reader *r, struct cfi_table *t, const char *name)
{
	struct frame_collector *g = xcalloc(1, sizeof(*g));
	g->module = r->module;
	if (!cfi_table_read(t, add_range, g))
		elf_note(r, "%s is damaged; some of its ranges are missing", name);
	add_ranges(r->module, g->ranges.data, g->ranges.len);
	vec_free(&g->ranges);
	free(g);
	cfi_table_release(t);
}

static struct cfi_table table_over(const struct reader *r, const uint8_t *bytes, uint64_t size,
				   uint64_t va)
{
	const struct section *text = module_section(r->module, ".text");
	return (struct cfi_table){.base = {.module = r->module,
					   .bytes = bytes,
					   .va = va,
					   .text = text ? text->va : 0,
					   .data = r->dynamic.got},
				  .size = size};
}

/* Reads .eh_frame without a section table. */
static void read_eh_frame_of_index(struct reader *r, uint64_t index)
{
	size_t n;
	uint64_t va;
	const uint8_t *p = eh_frame_of_index(r->module, index, &n, &va);
	if (!p)
		return;
	struct cfi_table t = table_over(r, p, n, va);
	t.ends_at_zero = true;
	read_table(r, &t, ".eh_frame");
}

static void read_eh_frame(struct reader *r)
{
	const struct raw_section *s = elf_section(r, ".eh_frame");
	if (s && s->bytes) {
		struct cfi_table t = table_over(r, s->bytes, s->size, s->va);
		read_table(r, &t, s->name);
		return;
	}
	for (uint32_t i = 0; i < r->program_count && !s; i++) {
		if (r->programs[i].p_type == PT_GNU_EH_FRAME) {
			read_eh_frame_of_index(r, r->programs[i].p_vaddr);
			return;
		}
	}
}

static void read_debug_frame(struct reader *r)
{
	struct slice s = elf_contents(r, ".debug_frame");
	if (!s.at)
		return;
	struct cfi_table t = table_over(r, s.at, s.size, 0);
	t.is_debug = true;
	read_table(r, &t, ".debug_frame");
}

void elf_read_frames(struct reader *r)
{
	read_eh_frame(r);
	read_debug_frame(r);
}

void module_add_frames(struct module *m, const struct module *debug)
{
	add_ranges(m, debug->frames, debug->frame_count);
}
