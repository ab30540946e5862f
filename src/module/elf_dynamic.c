/* The dynamic section. It has all that the dynamic linker needs, so even a file without a section
 * table has it. It gives tables by address, some without their size. */
#include "module/elf_reader.h"

enum { TAGS = DT_RELRENT + 1 };

/* The values of the tags below TAGS; 0 where absent. */
struct tags {
	uint64_t value[TAGS];
	uint64_t gnu_hash, flags_1;
	bool changes_text; /* DT_TEXTREL, which has no value */
};

static void read_tags(struct cursor c, struct tags *t)
{
	while (cursor_left(&c) >= sizeof(Elf64_Dyn)) {
		uint64_t tag = cursor_u64(&c), value = cursor_u64(&c);
		if (tag == DT_NULL)
			return;
		t->changes_text |= tag == DT_TEXTREL;
		if (tag < TAGS)
			t->value[tag] = value;
		else if (tag == DT_GNU_HASH)
			t->gnu_hash = value;
		else if (tag == DT_FLAGS_1)
			t->flags_1 = value;
	}
}

static struct cursor cursor_at(const struct module *m, uint64_t va, uint64_t size)
{
	size_t n = 0;
	const uint8_t *p = va ? module_at(m, va, size, &n) : NULL;
	return cursor_over(p, n);
}

struct slice elf_dynamic_table(const struct reader *r, const struct dynamic_table *t)
{
	struct cursor c = cursor_at(r->module, t->va, t->size);
	return (struct slice){.at = c.at, .size = cursor_left(&c)};
}

/* The number of symbols, which DT_HASH has directly. */
static uint64_t count_by_hash(const struct module *m, uint64_t va)
{
	struct cursor c = cursor_at(m, va, 8);
	cursor_u32(&c);
	return cursor_u32(&c);
}

/* The number of symbols by DT_GNU_HASH: they end where the last chain ends. The last member of a
 * chain has the lowest bit set. */
static uint64_t count_by_gnu_hash(const struct module *m, uint64_t va)
{
	struct cursor c = cursor_at(m, va, UINT64_MAX);
	uint32_t buckets = cursor_u32(&c), first = cursor_u32(&c), bloom = cursor_u32(&c), last = 0;
	cursor_u32(&c);
	cursor_take(&c, (uint64_t)bloom * 8);
	for (uint32_t i = 0; i < buckets && !c.bad; i++) {
		uint32_t start = cursor_u32(&c);
		last = start > last ? start : last;
	}
	if (c.bad || last < first)
		return first;
	cursor_take(&c, (uint64_t)(last - first) * 4);
	while (!c.bad && !(cursor_u32(&c) & 1))
		last++;
	return c.bad ? 0 : (uint64_t)last + 1;
}

struct symbol_table elf_dynamic_symbols(const struct reader *r, uint64_t *room)
{
	const struct module *m = r->module;
	const struct dynamic *d = &r->dynamic;
	const struct dynamic_table names = {d->names, d->names_size};
	struct cursor c = cursor_at(m, d->symbols, UINT64_MAX);
	struct slice text = elf_dynamic_table(r, &names);
	uint64_t count = 0;
	*room = cursor_left(&c) / sizeof(Elf64_Sym);
	if (d->hash)
		count = count_by_hash(m, d->hash);
	else if (d->gnu_hash)
		count = count_by_gnu_hash(m, d->gnu_hash);
	return (struct symbol_table){.bytes = c.at,
				     .count = count < *room ? count : *room,
				     .names = string_table_over(text.at, text.size)};
}

void elf_read_dynamic(struct reader *r)
{
	enum { DYNAMIC_MAX = 1 << 16 }; /* bytes; linkers write less than a thousand */
	struct module *m = r->module;
	struct tags t = {0};
	for (uint32_t i = 0; i < r->program_count; i++) {
		if (r->programs[i].p_type != PT_DYNAMIC)
			continue;
		read_tags(cursor_at(m, r->programs[i].p_vaddr, DYNAMIC_MAX), &t);
		break;
	}
	m->changes_text = t.changes_text || t.value[DT_FLAGS] & DF_TEXTREL;
	r->dynamic = (struct dynamic){
		.symbols = t.value[DT_SYMTAB],
		.names = t.value[DT_STRTAB],
		.names_size = t.value[DT_STRSZ],
		.hash = t.value[DT_HASH],
		.gnu_hash = t.gnu_hash,
		.rela = {t.value[DT_RELA], t.value[DT_RELASZ]},
		.plt_rela = {t.value[DT_JMPREL], t.value[DT_PLTRELSZ]},
		.relr = {t.value[DT_RELR], t.value[DT_RELRSZ]},
		.got = t.value[DT_PLTGOT],
		.is_pie = t.flags_1 & DF_1_PIE,
		.has_soname = t.value[DT_SONAME] != 0,
	};
}
