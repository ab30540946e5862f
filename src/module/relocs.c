/* Relocations that put an address into the module's data, reduced to what analysis needs: which
 * word, and what it will hold. Jump tables, function pointers and PLT slots are found by them. */
#include "base/order.h"
#include "module/elf_reader.h"

struct reloc_collector {
	const struct module *module;
	bool slots; /* all but relative relocations, otherwise these */
	struct reloc *items;
	uint32_t len;
	const struct segment *last; /* of the previous address: neighbours mostly share one */
};

static const struct reloc_type *find_type(const struct arch_file *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->reloc_count; i++)
		if (f->relocs[i].type == type)
			return &f->relocs[i];
	return NULL;
}

static bool is_mapped(struct reloc_collector *g, uint64_t va)
{
	const struct module *m = g->module;
	if (g->last && bytes_inside(va - g->last->va, 8, g->last->memory_size))
		return true;
	uint32_t n = order_up_to(m->segments, m->segment_count, sizeof(*m->segments),
				 offsetof(struct segment, va), va);
	g->last = n ? &m->segments[n - 1] : NULL;
	return g->last && bytes_inside(va - g->last->va, 8, g->last->memory_size);
}

/* Fills in symbol, value and defined. A function that is chosen at load time becomes RELOC_IFUNC,
 * whatever the relocation's type. */
static bool bind_symbol(struct reloc *out, const struct symbol_table *t, uint64_t number)
{
	Elf64_Sym s;
	if (!number || !elf_symbol(t, number, &s, &out->symbol) ||
	    ELF64_ST_TYPE(s.st_info) == STT_TLS)
		return false;
	out->defined = s.st_shndx != SHN_UNDEF;
	if (out->defined)
		out->value += s.st_value;
	if (out->defined && ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC)
		out->kind = RELOC_IFUNC;
	return true;
}

static void add_rela(struct reloc_collector *g, const uint8_t *bytes, uint64_t count,
		     const struct symbol_table *symbols)
{
	const struct reloc_type *type = NULL;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Rela in;
		memcpy(&in, bytes + i * sizeof(in), sizeof(in));
		if (!type || type->type != ELF64_R_TYPE(in.r_info))
			type = find_type(g->module->arch->file, (uint32_t)ELF64_R_TYPE(in.r_info));
		if (!type || (type->kind == RELOC_RELATIVE) == g->slots ||
		    !is_mapped(g, in.r_offset))
			continue;
		struct reloc *out = &g->items[g->len];
		*out = (struct reloc){.va = in.r_offset,
				      .value = (uint64_t)in.r_addend,
				      .kind = (uint8_t)type->kind};
		if (!g->slots || type->kind == RELOC_IFUNC ||
		    bind_symbol(out, symbols, ELF64_R_SYM(in.r_info)))
			g->len++;
	}
}

/* A packed relative relocation adds the load address to what the word holds in the file. */
static void add_packed(struct reloc_collector *g, uint64_t va)
{
	size_t n;
	const uint8_t *p = module_at(g->module, va, 8, &n);
	if (!p || n < 8)
		return;
	struct reloc *out = &g->items[g->len++];
	*out = (struct reloc){.va = va, .kind = RELOC_RELATIVE};
	memcpy(&out->value, p, 8);
}

/* DT_RELR: an even word is an address; an odd word is a bitmap of the 63 words after the last one.
 */
static void add_relr(struct reloc_collector *g, const uint8_t *bytes, uint64_t count)
{
	uint64_t base = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t word;
		memcpy(&word, bytes + i * 8, 8);
		if (!(word & 1)) {
			add_packed(g, word);
			base = word + 8;
			continue;
		}
		for (unsigned bit = 0; bit < 63; bit++)
			if (word >> (bit + 1) & 1)
				add_packed(g, base + 8 * bit);
		base += 63 * 8;
	}
}

static uint64_t count_relr(const uint8_t *bytes, uint64_t count)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t word;
		memcpy(&word, bytes + i * 8, 8);
		sum += word & 1 ? (uint64_t)__builtin_popcountll(word) - 1 : 1;
	}
	return sum;
}

/* A table of relocations, from a section or from the dynamic section. */
struct reloc_table {
	const uint8_t *bytes;
	uint64_t count;
	bool packed;
	struct symbol_table symbols;
};

static uint64_t count_slots(const struct arch_file *f, const struct reloc_table *t)
{
	uint64_t count = 0;
	const struct reloc_type *type = NULL;
	for (uint64_t i = 0; i < t->count && !t->packed; i++) {
		Elf64_Rela in;
		memcpy(&in, t->bytes + i * sizeof(in), sizeof(in));
		if (!type || type->type != ELF64_R_TYPE(in.r_info))
			type = find_type(f, (uint32_t)ELF64_R_TYPE(in.r_info));
		count += type && type->kind != RELOC_RELATIVE;
	}
	return count;
}

/* An upper limit of the number of relocations in all tables; UINT64_MAX if they are together larger
 * than the file, which is only possible if tables overlap. */
static uint64_t room_of(const struct reloc_table *t, uint32_t n, uint64_t file_size)
{
	uint64_t bytes = 0, room = 0;
	for (uint32_t i = 0; i < n && bytes <= file_size; i++) {
		bytes += t[i].count * (t[i].packed ? 8 : sizeof(Elf64_Rela));
		room += t[i].packed ? count_relr(t[i].bytes, t[i].count) : t[i].count;
	}
	return bytes <= file_size ? room : UINT64_MAX;
}

static struct reloc_table table_in_section(const struct reader *r, uint32_t i)
{
	const struct raw_section *s = &r->sections[i];
	if (!(s->flags & SHF_ALLOC) || !s->in_file || (s->type != SHT_RELA && s->type != SHT_RELR))
		return (struct reloc_table){0};
	bool packed = s->type == SHT_RELR;
	return (struct reloc_table){.bytes = elf_bytes(r, s).at,
				    .count = s->size / (packed ? 8 : sizeof(Elf64_Rela)),
				    .packed = packed,
				    .symbols = s->link ? elf_symbol_table(r, s->link)
						       : (struct symbol_table){0}};
}

/* The number of symbols from the hash table leaves out undefined symbols, so the room for symbols
 * is used instead. */
static struct reloc_table table_in_dynamic(const struct reader *r, const struct dynamic_table *t,
					   bool packed)
{
	uint64_t room;
	struct symbol_table symbols = elf_dynamic_symbols(r, &room);
	struct slice s = elf_dynamic_table(r, t);
	symbols.count = room;
	return (struct reloc_table){.bytes = s.at,
				    .count = s.size / (packed ? 8 : sizeof(Elf64_Rela)),
				    .packed = packed,
				    .symbols = symbols};
}

static uint32_t find_tables(const struct reader *r, struct reloc_table *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->section_count; i++) {
		out[n] = table_in_section(r, i);
		n += out[n].count != 0;
	}
	if (!r->section_count) {
		out[n++] = table_in_dynamic(r, &r->dynamic.rela, false);
		out[n++] = table_in_dynamic(r, &r->dynamic.plt_rela, false);
		out[n++] = table_in_dynamic(r, &r->dynamic.relr, true);
	}
	return n;
}

static void collect(struct reader *r, enum table_kind kind, struct reloc_collector *g)
{
	struct lazy_table *t = &r->tables[kind];
	struct reloc_table *tables =
		ARENA_ARRAY(&t->tmp, struct reloc_table, (uint64_t)r->section_count + 3);
	uint32_t n = find_tables(r, tables);
	uint64_t room = room_of(tables, n, r->module->size);
	if (room > r->module->size / 8) {
		if (!g->slots)
			elf_note(&t->notes, "there are too many relocations; they were left out");
		return;
	}
	if (g->slots) {
		room = 0;
		for (uint32_t i = 0; i < n; i++)
			room += count_slots(r->module->arch->file, &tables[i]);
	}
	g->items = arena_alloc(&t->arena, room * sizeof(*g->items), _Alignof(struct reloc));
	for (uint32_t i = 0; i < n; i++) {
		if (!tables[i].packed)
			add_rela(g, tables[i].bytes, tables[i].count, &tables[i].symbols);
		else if (!g->slots)
			add_relr(g, tables[i].bytes, tables[i].count);
	}
	order_by_address(g->items, g->len, sizeof(*g->items), offsetof(struct reloc, va));
}

static void read_slots(struct reader *r)
{
	struct reloc_collector g = {.module = r->module, .slots = true};
	collect(r, TABLE_SLOTS, &g);
	r->slots = g.items;
	r->slot_count = g.len;
}

const struct reloc *module_slots(const struct module *m, uint32_t *count)
{
	elf_need(m->reader, TABLE_SLOTS, read_slots);
	*count = m->reader->slot_count;
	return m->reader->slots;
}

/* Both tables are sorted. The room behind the items is filled from its end on. */
static void merge_slots(struct reloc_collector *g, const struct reloc *slots, uint32_t count)
{
	uint32_t from = g->len, to = g->len + count;
	g->len = to;
	while (count) {
		bool slot = !from || g->items[from - 1].va <= slots[count - 1].va;
		g->items[--to] = slot ? slots[--count] : g->items[--from];
	}
}

/* Linkers write relative relocations in the order of addresses: mostly, nothing has to be sorted.
 */
static void read_relocs(struct reader *r)
{
	struct reloc_collector g = {.module = r->module};
	uint32_t count;
	const struct reloc *slots = module_slots(r->module, &count);
	collect(r, TABLE_RELOCS, &g);
	merge_slots(&g, slots, count);
	r->relocs = g.items;
	r->reloc_count = g.len;
}

const struct reloc *module_relocs(const struct module *m, uint32_t *count)
{
	elf_need(m->reader, TABLE_RELOCS, read_relocs);
	*count = m->reader->reloc_count;
	return m->reader->relocs;
}

/* The last relocation of the word at va. */
static const struct reloc *find(const struct reloc *all, uint32_t count, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(all, count, va, va);
	return n && all[n - 1].va == va ? &all[n - 1] : NULL;
}

const struct reloc *module_reloc_at(const struct module *m, uint64_t va)
{
	uint32_t count;
	const struct reloc *all = module_relocs(m, &count);
	return find(all, count, va);
}

const struct reloc *module_slot_at(const struct module *m, uint64_t va)
{
	uint32_t count;
	const struct reloc *all = module_slots(m, &count);
	return find(all, count, va);
}

bool module_word(const struct module *m, uint64_t va, uint64_t *out)
{
	const struct reloc *r = module_reloc_at(m, va);
	if (r) {
		*out = r->value;
		return r->kind == RELOC_RELATIVE || (r->defined && r->kind != RELOC_IFUNC);
	}
	size_t n;
	const uint8_t *p = m->kind == MODULE_EXECUTABLE ? module_at(m, va, 8, &n) : NULL;
	if (!p || n < 8)
		return false;
	memcpy(out, p, 8);
	return true;
}
