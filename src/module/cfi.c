/* Call frame information by address. Entries (FDEs) are found by the index in the file
 * (.eh_frame_hdr). Without one, they are all listed once, sorted by address. The program of an
 * entry is run on demand; it continues from where it stopped if the next lookup is for a later
 * address in the same entry. */
#include "module/cfi.h"

#include <stdlib.h>

#include "base/order.h"
#include "module/elf_reader.h"
#include "module/packed.h"

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
	/* Sorted by start. If several tables describe an address, the first one counts. Empty if
	 * the file's index is used. */
	VEC(struct cfi_entry) entries;
	bool by_index;
	struct cfi_entry running; /* the entry that `program` runs; its end is 0 if there is none */
	struct cfi_program program;
};

static struct cfi_entry entry_of(const struct cfi_fde *f, uint32_t table)
{
	return (struct cfi_entry){.start = f->start,
				  .end = f->start + f->size,
				  .code = f->code.at,
				  .code_size = (uint32_t)cursor_left(&f->code),
				  .cie = f->cie,
				  .table = table};
}

static void add_entry(void *ctx, const struct cfi_table *t, const struct cfi_fde *f)
{
	struct cfi *c = ctx;
	if (module_is_code(c->module, f->start))
		vec_push(&c->entries, entry_of(f, (uint32_t)(t - c->table)));
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
	const struct reader *r = c->module->reader;
	struct cfi_table t = elf_eh_frame(r);
	if (t.size) {
		c->table[c->table_count++] = t;
		return;
	}
	for (uint32_t i = 0; i < r->program_count && !c->table_count; i++)
		if (r->programs[i].p_type == PT_GNU_EH_FRAME)
			add_by_index(c, r->programs[i].p_vaddr);
}

static void add_debug_frame(struct cfi *c, const struct module *m)
{
	const struct section_table *t = &m->reader->table;
	struct slice s;
	Elf64_Shdr h;
	if (!section_table_find(t, ".debug_frame", &h) || !section_table_bytes(t, &h, &s))
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

static void list_entries(struct cfi *c, const struct module *debug)
{
	const struct module *m = c->module;
	if (!m->debug_only)
		add_eh_frame(c);
	add_debug_frame(c, m);
	if (debug)
		add_debug_frame(c, debug);
	for (uint32_t i = 0; i < c->table_count; i++) {
		uint32_t known = c->entries.len;
		cfi_table_read(&c->table[i], add_entry, c);
		merge(c, known);
	}
}

struct cfi *cfi_open(const struct module *m, const struct module *debug)
{
	struct cfi *c = xcalloc(1, sizeof(*c));
	c->module = m;
	c->by_index = m->reader->index.count && !debug;
	if (c->by_index)
		c->table[c->table_count++] = elf_eh_frame(m->reader);
	else
		list_entries(c, debug);
	if (c->by_index || c->entries.len)
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

static bool find_by_index(struct cfi *c, uint64_t va, struct cfi_entry *out)
{
	uint32_t n;
	struct cfi_fde f;
	if (!elf_index_find(c->module->reader, va, &n) ||
	    !elf_index_fde(c->module->reader, n, &c->table[0], &f) ||
	    !module_is_code(c->module, f.start))
		return false;
	*out = entry_of(&f, 0);
	return true;
}

/* Finds the entry that covers va and starts its program, unless that runs already. */
static bool find_entry(struct cfi *c, uint64_t va)
{
	struct cfi_entry *e = &c->running;
	if (va >= e->start && va < e->end && va >= c->program.start)
		return true;
	if (c->by_index) {
		if (!find_by_index(c, va, e))
			e->end = 0;
	} else {
		uint32_t n = ORDER_UP_TO(c->entries.data, c->entries.len, start, va);
		*e = n ? c->entries.data[n - 1] : (struct cfi_entry){0};
	}
	if (va < e->start || va >= e->end) {
		e->end = 0;
		return false;
	}
	cfi_start(&c->program, &c->table[e->table].cies.data[e->cie],
		  cursor_over(e->code, e->code_size), &c->table[e->table].base, e->start, e->end);
	return true;
}

bool cfi_row_at(struct cfi *c, uint64_t va, struct cfi_row *out)
{
	struct cfi_program *p = &c->program;
	if (!find_entry(c, va))
		return false;
	while (va >= p->end)
		if (!cfi_next_row(p))
			return false;
	cfi_fill_row(p, out);
	return true;
}
