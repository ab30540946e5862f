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

static void read_table(struct landing_collector *g, const struct frame_range *f)
{
	size_t n;
	const uint8_t *p = module_at(g->module, f->lsda, &n);
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
	if (c.bad || size > cursor_left(&c) || size > g->budget)
		return;
	g->budget -= size;
	c.end = c.at + size;
	while (c.at < c.end && add_call_site(g, &c, encoding, &b, pads))
		;
}

void elf_read_landings(struct reader *r)
{
	struct module *m = r->module;
	struct landing_collector g = {.module = m, .budget = m->size};
	for (uint32_t i = 0; i < m->frame_count; i++)
		if (m->frames[i].lsda)
			read_table(&g, &m->frames[i]);
	order_by_address(g.landings.data, g.landings.len, sizeof(*g.landings.data),
			 offsetof(struct landing, start));
	m->landings = ARENA_DUP(&m->arena, g.landings.data, g.landings.len);
	m->landing_count = g.landings.len;
	vec_free(&g.landings);
}
