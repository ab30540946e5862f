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
	if (cie->is_signal || cfi_begins_initial(cie, f->code))
		return false;
	cfi_start(&g->program, cie, f->code, &t->base, f->start, f->start + f->size);
	cfi_next_row(&g->program);
	return !cfi_is_entry(&g->program);
}

/* The range that an FDE describes; false if that is not code. */
static bool make_range(struct frame_collector *g, const struct cfi_table *t,
		       const struct cfi_fde *f, struct frame_range *out)
{
	if (!is_code(g, f->start))
		return false;
	uint64_t room = g->last->va + g->last->size - f->start;
	*out = (struct frame_range){.start = f->start,
				    .end = f->start + (f->size < room ? f->size : room),
				    .lsda = f->lsda,
				    .is_signal = t->cies.data[f->cie].is_signal,
				    .mid_frame = starts_mid_frame(g, t, f)};
	return true;
}

static void add_range(void *ctx, const struct cfi_table *t, const struct cfi_fde *f)
{
	struct frame_collector *g = ctx;
	struct frame_range range;
	if (make_range(g, t, f, &range))
		vec_push(&g->ranges, range);
}

/* Whether one of the ranges holds va. */
static bool is_known(const struct frame_range *ranges, uint32_t count, uint64_t va)
{
	uint32_t n = order_up_to(ranges, count, sizeof(*ranges),
				 offsetof(struct frame_range, start), va);
	return n && va < ranges[n - 1].end;
}

/* Adds the ranges in `more` that the module lacks. */
static void add_ranges(struct reader *r, const struct frame_range *more, uint32_t count)
{
	uint32_t old = r->frame_count, n = old;
	if (!count || count > UINT32_MAX - old)
		return;
	struct frame_range *all =
		arena_alloc(&r->tables[TABLE_FRAMES].arena, ((size_t)old + count) * sizeof(*all),
			    _Alignof(struct frame_range));
	if (old)
		memcpy(all, r->frames, old * sizeof(*all));
	for (uint32_t i = 0; i < count; i++)
		if (!is_known(r->frames, old, more[i].start) &&
		    module_is_code(r->module, more[i].start))
			all[n++] = more[i];
	order_by_address(all, n, sizeof(*all), offsetof(struct frame_range, start));
	r->frames = all;
	r->frame_count = n;
}

static void read_table(struct reader *r, struct cfi_table *t, const char *name)
{
	struct frame_collector *g = xcalloc(1, sizeof(*g));
	g->module = r->module;
	if (!cfi_table_read(t, add_range, g))
		elf_note(&r->tables[TABLE_FRAMES].notes,
			 "%s is damaged; some of its ranges are missing", name);
	add_ranges(r, g->ranges.data, g->ranges.len);
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

struct cfi_table elf_eh_frame(const struct reader *r)
{
	const struct raw_section *s = elf_section(r, ".eh_frame");
	if (!s || !s->in_file)
		return (struct cfi_table){0};
	struct cfi_table t =
		table_over(r, lazy_file_at(r->module->file, s->offset, 0), s->size, s->va);
	t.file = r->module->file;
	t.offset = s->offset;
	return t;
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

static uint64_t index_address(const struct reader *r)
{
	for (uint32_t i = 0; i < r->program_count; i++)
		if (r->programs[i].p_type == PT_GNU_EH_FRAME)
			return r->programs[i].p_vaddr;
	return 0;
}

static void read_eh_frame(struct reader *r)
{
	const struct raw_section *s = elf_section(r, ".eh_frame");
	uint64_t index = index_address(r);
	if (s && s->in_file) {
		struct cfi_table t = elf_eh_frame(r);
		elf_bytes(r, s);
		read_table(r, &t, s->name);
	} else if (!s && index) {
		read_eh_frame_of_index(r, index);
	}
}

static void read_debug_frame(struct reader *r)
{
	struct slice s = elf_contents(r, &r->tables[TABLE_FRAMES], ".debug_frame");
	if (!s.at)
		return;
	struct cfi_table t = table_over(r, s.at, s.size, 0);
	t.is_debug = true;
	read_table(r, &t, ".debug_frame");
}

static void read_frames(struct reader *r)
{
	read_eh_frame(r);
	read_debug_frame(r);
}

const struct frame_range *module_frames(const struct module *m, uint32_t *count)
{
	elf_need(m->reader, TABLE_FRAMES, read_frames);
	*count = m->reader->frame_count;
	return m->reader->frames;
}

void module_add_frames(struct module *m, const struct module *debug)
{
	uint32_t count;
	const struct frame_range *more = module_frames(debug, &count);
	if (!count)
		return;
	m->supplemented = true;
	elf_need(m->reader, TABLE_FRAMES, read_frames);
	add_ranges(m->reader, more, count);
}

/* ---- the index ---- */

/* The place of va in the file, and in *room how many bytes of the file follow; va must be in it. */
static uint64_t place_of(const struct module *m, uint64_t va, uint64_t *room)
{
	const struct segment *s = m->segments;
	while (va - s->va >= s->file_size)
		s++;
	*room = s->file_size - (va - s->va);
	return s->file_offset + (va - s->va);
}

/* All linkers write these encodings. A file with .debug_frame may have ranges that the index
 * lacks. */
void elf_read_frame_index(struct reader *r)
{
	enum { VERSION = 1, COUNT_U32 = 0x03, PAIRS_S32_FROM_INDEX = 0x3b, HEAD_MAX = 24 };
	const struct module *m = r->module;
	uint64_t va = index_address(r), eh_frame;
	size_t n;
	const uint8_t *p = va ? module_at(m, va, HEAD_MAX, &n) : NULL;
	if (!p || m->debug_only || !elf_eh_frame(r).size || elf_section(r, ".debug_frame") ||
	    elf_section(r, ".zdebug_frame"))
		return;
	struct cursor c = cursor_over(p, n);
	const struct encoding_base base = {.module = m, .bytes = p, .va = va, .data = va};
	uint8_t version = cursor_u8(&c), encoding = cursor_u8(&c), counts = cursor_u8(&c),
		pairs = cursor_u8(&c);
	if (version != VERSION || counts != COUNT_U32 || pairs != PAIRS_S32_FROM_INDEX ||
	    !read_encoded(&c, encoding, &base, &eh_frame))
		return;
	uint32_t count = cursor_u32(&c);
	uint64_t first = (uint64_t)(c.at - p), room, place = place_of(m, va, &room);
	if (!c.bad && bytes_inside(first, count * (uint64_t)8, room))
		r->index = (struct frame_index){va, place + first, count};
}

static uint64_t index_word(const struct reader *r, uint32_t number, unsigned which)
{
	const uint8_t *p = lazy_file_at(r->module->file,
					r->index.offset + number * (uint64_t)8 + 4 * which, 4);
	int32_t value;
	memcpy(&value, p, sizeof(value));
	return r->index.va + (uint64_t)(int64_t)value;
}

bool elf_index_find(const struct reader *r, uint64_t va, uint32_t *number)
{
	uint32_t low = 0, high = r->index.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (index_word(r, middle, 0) <= va)
			low = middle + 1;
		else
			high = middle;
	}
	*number = low - 1;
	return low > 0;
}

bool elf_index_fde(const struct reader *r, uint32_t number, struct cfi_table *t,
		   struct cfi_fde *out)
{
	uint64_t at = index_word(r, number, 1) - t->base.va;
	return at < t->size && cfi_table_entry(t, at, out);
}

static bool range_of_index(const struct reader *r, uint32_t number, struct frame_range *out)
{
	struct frame_collector *g = xcalloc(1, sizeof(*g));
	struct cfi_table t = elf_eh_frame(r);
	struct cfi_fde f;
	g->module = r->module;
	bool found = elf_index_fde(r, number, &t, &f) && make_range(g, &t, &f, out);
	cfi_table_release(&t);
	free(g);
	return found;
}

/* Whether to use the index, because the table was not made yet. */
static bool is_indexed(struct reader *r)
{
	if (r->index.count && !atomic_load(&r->tables[TABLE_FRAMES].made))
		return true;
	elf_need(r, TABLE_FRAMES, read_frames);
	return false;
}

bool module_frame_at(const struct module *m, uint64_t va, struct frame_range *out)
{
	struct reader *r = m->reader;
	uint32_t n;
	if (is_indexed(r))
		return elf_index_find(r, va, &n) && range_of_index(r, n, out) && va >= out->start &&
		       va < out->end;
	n = order_up_to(r->frames, r->frame_count, sizeof(*r->frames),
			offsetof(struct frame_range, start), va);
	if (!n || va >= r->frames[n - 1].end)
		return false;
	*out = r->frames[n - 1];
	return true;
}

uint64_t module_frame_after(const struct module *m, uint64_t va)
{
	struct reader *r = m->reader;
	uint32_t n;
	if (is_indexed(r)) {
		n = elf_index_find(r, va, &n) ? n + 1 : 0;
		return n < r->index.count ? index_word(r, n, 0) : UINT64_MAX;
	}
	n = order_up_to(r->frames, r->frame_count, sizeof(*r->frames),
			offsetof(struct frame_range, start), va);
	return n < r->frame_count ? r->frames[n].start : UINT64_MAX;
}

uint32_t module_frame_count(const struct module *m)
{
	return is_indexed(m->reader) ? m->reader->index.count : m->reader->frame_count;
}

bool module_frame(const struct module *m, uint32_t number, struct frame_range *out)
{
	struct reader *r = m->reader;
	if (is_indexed(r))
		return number < r->index.count && range_of_index(r, number, out);
	if (number >= r->frame_count)
		return false;
	*out = r->frames[number];
	return true;
}
