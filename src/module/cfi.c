/* Call frame information by address. All entries (FDEs) are listed once, sorted by address. The
 * program of an entry is run on demand; it continues from where it stopped if the next lookup is
 * for a later address in the same entry. */
#include "module/cfi.h"

#include <stdlib.h>

#include "base/order.h"
#include "module/cfi_table.h"
#include "module/packed.h"
#include "module/section_table.h"

/* An FDE, reduced to what a lookup needs. */
struct cfi_entry {
	uint64_t start, end;
	const uint8_t *code; /* its program */
	uint32_t code_size;
	uint32_t cie;
	uint32_t table;
};

enum { TABLES_MAX = 3 }; /* .eh_frame, and .debug_frame of the module and of its debug file */

struct cfi {
	const struct module *module;
	struct cfi_table table[TABLES_MAX];
	uint32_t table_count;
	uint8_t *unpacked[TABLES_MAX];
	/* Sorted by start. If several tables describe an address, the first one counts. */
	VEC(struct cfi_entry) entries;
	const struct cfi_entry *running; /* the entry that `program` runs */
	struct cfi_program program;
};

static void add_entry(void *ctx, const struct cfi_table *t, const struct cfi_fde *f)
{
	struct cfi *c = ctx;
	if (module_is_code(c->module, f->start))
		vec_push(&c->entries,
			 (struct cfi_entry){.start = f->start,
					    .end = f->start + f->size,
					    .code = f->code.at,
					    .code_size = (uint32_t)cursor_left(&f->code),
					    .cie = f->cie,
					    .table = (uint32_t)(t - c->table)});
}

static struct cfi_table *add_table(struct cfi *c, const uint8_t *bytes, uint64_t size, uint64_t va)
{
	const struct section *text = module_section(c->module, ".text");
	struct cfi_table *t = &c->table[c->table_count++];
	*t = (struct cfi_table){.base = {.module = c->module,
					 .bytes = bytes,
					 .va = va,
					 .text = text ? text->va : 0},
				.size = size};
	return t;
}

/* Finds .eh_frame without a section table, by its index. */
static void add_by_index(struct cfi *c, uint64_t index)
{
	size_t n;
	uint64_t va;
	const uint8_t *p = eh_frame_of_index(c->module, index, &n, &va);
	if (p)
		add_table(c, p, n, va)->ends_at_zero = true;
}

static void add_eh_frame(struct cfi *c)
{
	const struct section *s = module_section(c->module, ".eh_frame");
	Elf64_Ehdr h;
	Elf64_Phdr ph;
	if (s && s->bytes) {
		add_table(c, s->bytes, s->size, s->va);
		return;
	}
	if (c->module->size < sizeof(h))
		return;
	memcpy(&h, c->module->bytes, sizeof(h));
	for (unsigned i = 0; i < h.e_phnum && h.e_phentsize == sizeof(ph) && !c->table_count; i++) {
		if (h.e_phoff > c->module->size ||
		    !bytes_inside(h.e_phoff + i * sizeof(ph), sizeof(ph), c->module->size))
			return;
		memcpy(&ph, c->module->bytes + h.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_GNU_EH_FRAME)
			add_by_index(c, ph.p_vaddr);
	}
}

static void add_debug_frame(struct cfi *c, const struct module *m)
{
	struct section_table t;
	struct slice s;
	Elf64_Shdr h;
	if (!section_table_open(&t, m->bytes, m->size) ||
	    !section_table_find(&t, ".debug_frame", &h) || !section_table_bytes(&t, &h, &s))
		return;
	const struct packed p = packed_section(&h, ".debug_frame", s);
	if (p.how != PACKING_NONE && p.how != PACKING_UNKNOWN) {
		uint8_t **out = &c->unpacked[c->table_count];
		*out = xmalloc(p.size);
		s = packed_unpack(&p, *out) ? (struct slice){*out, p.size} : (struct slice){0};
	}
	if (s.size && p.how != PACKING_UNKNOWN)
		add_table(c, s.at, s.size, 0)->is_debug = true;
}

static bool covers(const struct cfi_entry *entries, uint32_t count, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(entries, count, start, va);
	return n && va < entries[n - 1].end;
}

/* Sorts the entries of one more table in, after the first `known` ones. Entries for addresses that
 * were known already are dropped. */
static void merge(struct cfi *c, uint32_t known)
{
	uint32_t n = known;
	for (uint32_t i = known; i < c->entries.len; i++)
		if (!covers(c->entries.data, known, c->entries.data[i].start))
			c->entries.data[n++] = c->entries.data[i];
	c->entries.len = n;
	order_by_address(c->entries.data, n, sizeof(struct cfi_entry),
			 offsetof(struct cfi_entry, start));
}

struct cfi *cfi_open(const struct module *m, const struct module *debug)
{
	struct cfi *c = xcalloc(1, sizeof(*c));
	c->module = m;
	if (m->size >= EI_NIDENT && !m->debug_only)
		add_eh_frame(c);
	if (m->size >= EI_NIDENT)
		add_debug_frame(c, m);
	if (debug)
		add_debug_frame(c, debug);
	for (uint32_t i = 0; i < c->table_count; i++) {
		uint32_t known = c->entries.len;
		cfi_table_read(&c->table[i], add_entry, c);
		merge(c, known);
	}
	if (c->entries.len)
		return c;
	cfi_close(c);
	return NULL;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < TABLES_MAX; i++) {
		cfi_table_release(&c->table[i]);
		free(c->unpacked[i]);
	}
	vec_free(&c->entries);
	free(c);
}

bool cfi_row_at(struct cfi *c, uint64_t va, struct cfi_row *out)
{
	uint32_t n = ORDER_UP_TO(c->entries.data, c->entries.len, start, va);
	const struct cfi_entry *e = n ? &c->entries.data[n - 1] : NULL;
	if (!e || va >= e->end)
		return false;
	struct cfi_program *p = &c->program;
	if (e != c->running || va < p->start) {
		cfi_start(p, &c->table[e->table].cies.data[e->cie],
			  cursor_over(e->code, e->code_size), &c->table[e->table].base, e->start,
			  e->end);
		c->running = e;
	}
	while (va >= p->end)
		if (!cfi_next_row(p))
			return false;
	cfi_fill_row(p, out);
	return true;
}
