/* Landing pads: where control goes when a call is left by an exception. No branch leads to them, so
 * without the tables of .gcc_except_table (Itanium C++ ABI, "exception handling tables") whole
 * parts of a function would look dead. */
#include "base/order.h"
#include "module/elf_reader.h"
#include "module/encoded.h"

struct landing_collector {
	const struct module *module;
	uint64_t budget; /* bytes of tables that may still be read: tables may be shared */
	VEC(struct landing) landings;
};

/* Reads one call site. Its offsets are from the function's start; that of the pad from `pads`. */
static bool add_call_site(struct landing_collector *g, struct cursor *c, uint8_t encoding,
			  const struct encoding_base *b, uint64_t pads)
{
	uint64_t start, length, pad;
	encoding &= ENCODING_FORMAT;
	if (!read_encoded(c, encoding, b, &start) || !read_encoded(c, encoding, b, &length) ||
	    !read_encoded(c, encoding, b, &pad))
		return false;
	cursor_uleb(c); /* action */
	struct landing l = {.start = b->function + start,
			    .end = b->function + start + length,
			    .pad = pads + pad};
	if (pad && l.end > l.start && module_is_code(g->module, l.pad) &&
	    module_is_code(g->module, l.start))
		vec_push(&g->landings, l);
	return !c->bad;
}

/* The head of a table says how long the list of call sites after it is. */
static void read_table(struct landing_collector *g, const struct frame_range *f)
{
	enum { HEAD_MAX = 64 };
	size_t n;
	const uint8_t *p = module_at(g->module, f->lsda, HEAD_MAX, &n);
	if (!p)
		return;
	struct cursor c = cursor_over(p, n);
	struct encoding_base b = {
		.module = g->module, .bytes = p, .va = f->lsda, .function = f->start};
	uint64_t pads = f->start;
	uint8_t encoding = cursor_u8(&c);
	if (encoding != ENCODING_OMITTED && !read_encoded(&c, encoding, &b, &pads))
		return;
	if (cursor_u8(&c) != ENCODING_OMITTED)
		cursor_uleb(&c); /* offset of the type table */
	encoding = cursor_u8(&c);
	uint64_t size = cursor_uleb(&c);
	if (c.bad || size > g->budget)
		return;
	g->budget -= size;
	b.va += (uint64_t)(c.at - p);
	b.bytes = module_at(g->module, b.va, size, &n);
	if (!b.bytes || n < size)
		return;
	c = cursor_over(b.bytes, size);
	while (c.at < c.end && add_call_site(g, &c, encoding, &b, pads))
		;
}

static void sort(struct landing_collector *g)
{
	order_by_address(g->landings.data, g->landings.len, sizeof(*g->landings.data),
			 offsetof(struct landing, start));
}

static void read_landings(struct reader *r)
{
	struct landing_collector g = {.module = r->module, .budget = r->module->size};
	uint32_t count;
	const struct frame_range *frames = module_frames(r->module, &count);
	for (uint32_t i = 0; i < count; i++)
		if (frames[i].lsda)
			read_table(&g, &frames[i]);
	sort(&g);
	r->landings = ARENA_DUP(&r->tables[TABLE_LANDINGS].arena, g.landings.data, g.landings.len);
	r->landing_count = g.landings.len;
	vec_free(&g.landings);
}

const struct landing *module_landings(const struct module *m, uint32_t *count)
{
	elf_need(m->reader, TABLE_LANDINGS, read_landings);
	*count = m->reader->landing_count;
	return m->reader->landings;
}

/* Collects the landings of all frame ranges in [start, end). */
static void read_between(struct landing_collector *g, uint64_t start, uint64_t end)
{
	struct frame_range f;
	for (uint64_t va = start; va < end; va = module_frame_after(g->module, va))
		if (module_frame_at(g->module, va, &f) && f.lsda)
			read_table(g, &f);
}

const struct landing *module_landings_in(const struct module *m, uint64_t start, uint64_t end,
					 struct arena *a, uint32_t *count)
{
	struct reader *r = m->reader;
	struct landing_collector g = {.module = m, .budget = m->size};
	bool made = atomic_load(&r->tables[TABLE_LANDINGS].made);
	if (!made) {
		read_between(&g, start, end);
		sort(&g);
	}
	const struct landing *all = made ? r->landings : g.landings.data;
	uint32_t n = made ? r->landing_count : g.landings.len;
	uint32_t first = start ? ORDER_UP_TO(all, n, start, start - 1) : 0;
	uint32_t last = end ? ORDER_UP_TO(all, n, start, end - 1) : 0;
	*count = last > first ? last - first : 0;
	const struct landing *found = all ? all + first : NULL;
	if (!made && *count)
		found = ARENA_DUP(a, found, *count);
	vec_free(&g.landings);
	return *count ? found : NULL;
}
