/* Symbols of functions and data, from both tables, sorted by address. */
#include <stdlib.h>

#include "base/order.h"
#include "module/elf_reader.h"

/* Collects the symbols of a module. Names may overlap in the file, and be far longer than the file
 * together. The budget keeps time and memory in proportion to the size of the file. */
struct symbol_collector {
	struct reader *reader;
	const struct module *module;
	struct arena *arena;
	struct symbol *items; /* of both tables: many are there twice */
	uint32_t len;
	uint64_t name_budget;
	const struct section *last; /* of the previous address: neighbours mostly share one */
};

enum { NAME_BUDGET = 4 }; /* times the size of the file */

static bool is_table(const struct raw_section *s)
{
	return s->type == SHT_SYMTAB || s->type == SHT_DYNSYM;
}

struct symbol_table elf_symbol_table(const struct reader *r, uint32_t section)
{
	const struct raw_section *s = section < r->section_count ? &r->sections[section] : NULL;
	if (!s || !is_table(s) || !s->in_file || s->link >= r->section_count)
		return (struct symbol_table){0};
	struct slice names = elf_bytes(r, &r->sections[s->link]);
	return (struct symbol_table){.bytes = elf_bytes(r, s).at,
				     .count = s->size / sizeof(Elf64_Sym),
				     .names = string_table_over(names.at, names.size)};
}

bool elf_symbol(const struct symbol_table *t, uint64_t i, Elf64_Sym *out, const char **name)
{
	if (i >= t->count)
		return false;
	memcpy(out, t->bytes + i * sizeof(*out), sizeof(*out));
	*name = string_at(&t->names, out->st_name);
	return *name != NULL;
}

static bool is_global(const Elf64_Sym *s)
{
	unsigned bind = ELF64_ST_BIND(s->st_info);
	return bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE;
}

/* Whether this is a mapping symbol: "$x" code, "$d" data, perhaps with a dot and anything after it.
 */
static bool is_mark(const char *name, char which)
{
	return name[0] == '$' && name[1] == which && (!name[2] || name[2] == '.');
}

/* The flags of a symbol that is kept; false for other symbols. */
static bool classify(const struct module *m, const Elf64_Sym *s, const char *name, bool in_code,
		     uint8_t *flags)
{
	*flags = is_global(s) ? SYMBOL_GLOBAL : 0;
	switch (ELF64_ST_TYPE(s->st_info)) {
	case STT_FUNC: return in_code;
	case STT_GNU_IFUNC: *flags |= SYMBOL_IFUNC; return in_code;
	case STT_OBJECT: *flags |= SYMBOL_OBJECT; return true;
	case STT_NOTYPE: break;
	default: return false;
	}
	if (m->arch->file->mapping_symbols && (is_mark(name, 'd') || is_mark(name, 'x'))) {
		*flags |= name[1] == 'd' ? SYMBOL_DATA_MARK : SYMBOL_CODE_MARK;
		return in_code;
	}
	*flags |= SYMBOL_UNTYPED;
	return in_code && is_global(s) && name[0] != '$' && strncmp(name, ".L", 2) != 0;
}

static const struct section *section_of(struct symbol_collector *g, uint64_t va)
{
	if (!g->last || va - g->last->va >= g->last->size)
		g->last = module_section_at(g->module, va);
	return g->last;
}

static bool can_afford(struct symbol_collector *g, const char *name)
{
	uint64_t n = strnlen(name, g->name_budget);
	g->name_budget -= n;
	return g->name_budget > 0;
}

/* "foo@@VERSION" and "foo@VERSION" are foo. */
static const char *without_version(struct arena *a, const char *name)
{
	const char *at = *name ? strchr(name + 1, '@') : NULL;
	return at ? arena_strndup(a, name, (size_t)(at - name)) : name;
}

static void add_symbol(struct symbol_collector *g, const Elf64_Sym *s, const char *name,
		       uint8_t flags)
{
	const struct module *m = g->module;
	uint8_t more;
	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON)
		return;
	const struct section *section = section_of(g, s->st_value);
	if (!section || !*name || !classify(m, s, name, section->execute, &more) ||
	    !can_afford(g, name))
		return;
	uint64_t room = section->va + section->size - s->st_value;
	g->items[g->len++] = (struct symbol){.name = without_version(g->arena, name),
					     .va = s->st_value,
					     .size = s->st_size < room ? s->st_size : room,
					     .flags = flags | more};
}

static void add_table(struct symbol_collector *g, const struct symbol_table *t, uint8_t flags)
{
	Elf64_Sym s;
	const char *name;
	for (uint64_t i = 1; i < t->count; i++)
		if (elf_symbol(t, i, &s, &name))
			add_symbol(g, &s, name, flags);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

/* Merges symbols with the same name in a sorted run with one address; returns how many are left at
 * `out`. */
static uint32_t join_equal(struct symbol *out, const struct symbol *run, uint32_t n)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (left && !strcmp(out[left - 1].name, run[i].name)) {
			struct symbol *s = &out[left - 1];
			s->flags |= run[i].flags;
			s->size = s->size > run[i].size ? s->size : run[i].size;
		} else {
			out[left++] = run[i];
		}
	}
	return left;
}

/* Sorts by address, then by name, and makes the result the module's table. */
static void finish(struct symbol_collector *g)
{
	struct symbol *s = g->items;
	uint32_t out = 0, next;
	order_by_address(s, g->len, sizeof(*s), offsetof(struct symbol, va));
	for (uint32_t i = 0; i < g->len; i = next) {
		for (next = i + 1; next < g->len && s[next].va == s[i].va; next++)
			;
		if (next - i > 1)
			qsort(s + i, next - i, sizeof(*s), by_name);
		out += join_equal(s + out, s + i, next - i);
	}
	g->reader->symbols = ARENA_DUP(g->arena, s, out);
	g->reader->symbol_count = out;
	free(s);
}

/* Reads both tables if there is a section table, otherwise the one that the dynamic linker uses. */
static void read_symbols(struct reader *r)
{
	struct lazy_table *t = &r->tables[TABLE_SYMBOLS];
	const struct module *m = r->module;
	struct symbol_collector g = {.reader = r,
				     .module = m,
				     .arena = &t->arena,
				     .name_budget = NAME_BUDGET * (uint64_t)m->size};
	struct symbol_table dynamic = {0};
	bool found_dynamic = false;
	uint64_t room = 0, unused;
	for (uint32_t i = 0; i < r->section_count; i++) {
		uint64_t count = is_table(&r->sections[i]) ? elf_symbol_table(r, i).count : 0;
		room += count;
		found_dynamic |= count && r->sections[i].type == SHT_DYNSYM;
	}
	if (!found_dynamic)
		dynamic = elf_dynamic_symbols(r, &unused);
	room += dynamic.count;
	if (room > m->size / 8) {
		elf_note(&t->notes, "there are too many symbols; they were left out");
		return;
	}
	g.items = xmalloc(room * sizeof(*g.items));
	for (uint32_t i = 0; i < r->section_count; i++) {
		if (!is_table(&r->sections[i]))
			continue;
		struct symbol_table s = elf_symbol_table(r, i);
		if (!s.count || !s.names.size)
			elf_note(&t->notes, "the symbol table %s is damaged; it was left out",
				 r->sections[i].name);
		add_table(&g, &s, r->sections[i].type == SHT_DYNSYM ? SYMBOL_DYNAMIC : 0);
	}
	add_table(&g, &dynamic, SYMBOL_DYNAMIC);
	if (!g.name_budget)
		elf_note(&t->notes, "the names of symbols overlap; some symbols were left out");
	finish(&g);
}

const struct symbol *module_symbols(const struct module *m, uint32_t *count)
{
	elf_need(m->reader, TABLE_SYMBOLS, read_symbols);
	*count = m->reader->symbol_count;
	return m->reader->symbols;
}

uint32_t module_symbol_from(const struct module *m, uint64_t va)
{
	uint32_t count;
	const struct symbol *all = module_symbols(m, &count);
	return va ? ORDER_UP_TO(all, count, va, va - 1) : 0;
}

void module_add_symbols(struct module *m, const struct module *debug)
{
	uint32_t own_count, more_count;
	const struct symbol *own = module_symbols(m, &own_count);
	const struct symbol *more = module_symbols(debug, &more_count);
	uint64_t room = (uint64_t)own_count + more_count;
	if (room > UINT32_MAX / 2 || !more_count)
		return;
	m->supplemented = true;
	struct arena *a = &m->reader->tables[TABLE_SYMBOLS].arena;
	struct symbol_collector g = {.reader = m->reader,
				     .module = m,
				     .arena = a,
				     .len = own_count,
				     .name_budget = NAME_BUDGET * (uint64_t)debug->size};
	g.items = xmalloc(room * sizeof(*g.items));
	if (g.len)
		memcpy(g.items, own, g.len * sizeof(*g.items));
	for (uint32_t i = 0; i < more_count; i++) {
		struct symbol s = more[i];
		const struct section *section = section_of(&g, s.va);
		if (!section || (!section->execute && !(s.flags & SYMBOL_OBJECT)) ||
		    !can_afford(&g, s.name))
			continue;
		uint64_t left = section->va + section->size - s.va;
		s.size = s.size < left ? s.size : left;
		s.name = arena_strdup(a, s.name);
		g.items[g.len++] = s;
	}
	finish(&g);
}

bool module_name_place(const struct module *m, const char *name, uint64_t *offset)
{
	*offset = (uint64_t)((uintptr_t)name - (uintptr_t)m->file->base);
	return *offset < m->size;
}

bool module_name_table(const struct module *m, uint64_t place, struct slice *out, uint64_t *offset)
{
	const struct reader *r = m->reader;
	for (uint32_t i = 0; i < r->section_count; i++) {
		const struct raw_section *s = &r->sections[i];
		if (s->type != SHT_STRTAB || !s->in_file || place - s->offset >= s->size)
			continue;
		*out = elf_bytes(r, s);
		*offset = s->offset;
		return !out->at[out->size - 1];
	}
	return false;
}
