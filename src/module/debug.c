/* Handles on a module's DWARF, and the index from addresses to units.
 *
 * The index is built from the ranges that units give for themselves. Units without any (old or
 * partial ones) are looked up in .debug_aranges; if that has nothing either, the ranges of their
 * functions are used. */
#include "module/debug.h"

#include <stdlib.h>

#include "base/fault.h"
#include "base/log.h"
#include "base/order.h"
#include "module/debug_private.h"

/* Normally a line program belongs to one unit. If thousands of units share one, it would be run
 * thousands of times: the line table is then ignored. */
enum { MAX_SHARING = 64 };

/* A file may have one range for each of its bytes, and this many in any case. */
enum { MIN_RANGE_BUDGET = 1024 };

/* The entry that covers va, in a table of disjoint ones. */
static const struct debug_entry *entry_at(const struct debug_entry *e, uint32_t count, uint64_t va)
{
	uint32_t n = order_up_to(e, count, sizeof(*e), offsetof(struct debug_entry, start), va);
	return n && va < e[n - 1].end ? &e[n - 1] : NULL;
}

/* Opens the bytes of one file; false if libdw finds no DWARF in them. */
static bool file_open(struct dwarf_file *f, const struct lazy_file *b)
{
	*f = (struct dwarf_file){0};
	elf_version(EV_CURRENT);
	f->elf = elf_memory((char *)(uintptr_t)b->base, b->size);
	f->dw = f->elf && !fault("debug-begin", ENOMEM)
			? dwarf_begin_elf(f->elf, DWARF_C_READ, NULL)
			: NULL;
	if (!f->dw) {
		elf_end(f->elf);
		f->elf = NULL;
		return false;
	}
	dwarf_file_sections(f);
	return true;
}

static void file_close(struct dwarf_file *f)
{
	dwarf_end(f->dw);
	elf_end(f->elf);
}

static struct debug *handle_open(struct debug_shared *shared)
{
	struct debug *d = xcalloc(1, sizeof(*d));
	if (!file_open(&d->main, shared->source.main)) {
		free(d);
		return NULL;
	}
	if (shared->source.alt && file_open(&d->alt, shared->source.alt))
		dwarf_setalt(d->main.dw, d->alt.dw);
	d->shared = shared;
	shared->users++;
	return d;
}

static void shared_release(struct debug_shared *s)
{
	if (--s->users)
		return;
	vec_free(&s->units);
	free(s->index);
	debug_source_release(&s->source);
	free(s);
}

void debug_close(struct debug *d)
{
	if (!d)
		return;
	contexts_clear(d);
	vec_free(&d->abbrevs.entries);
	vec_free(&d->abbrevs.attrs);
	file_close(&d->main);
	if (d->alt.dw)
		file_close(&d->alt);
	shared_release(d->shared);
	free(d);
}

/* An index that is being built. */
struct indexer {
	struct debug *d;
	VEC(struct debug_entry) found;
	uint64_t budget;       /* ranges that may still be read */
	uint64_t line_bytes;   /* of the line programs of all units */
	VEC(uint32_t) without; /* units that gave no ranges */
};

static bool add_code(struct indexer *x, uint32_t unit, uint64_t start, uint64_t end)
{
	const struct section *s = module_section_at(x->d->shared->module, start);
	if (start >= end || !s || !s->execute)
		return false;
	if (end - s->va > s->size)
		end = s->va + s->size;
	vec_push(&x->found, (struct debug_entry){start, end, unit});
	return true;
}

static void index_unit(struct indexer *x, Dwarf_Die *die, uint32_t unit)
{
	bool any = false;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	while (x->budget && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		x->budget--;
		any = true;
		add_code(x, unit, start, end);
	}
	if (!any)
		vec_push(&x->without, unit);
}

static uint64_t line_program_size(const struct dwarf_file *f, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	if (dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &attr), &offset) != 0 ||
	    offset >= f->line.size)
		return 0;
	struct cursor c = cursor_over(f->line.at + offset, f->line.size - offset);
	uint64_t length = cursor_u32(&c);
	return length < cursor_left(&c) ? length : cursor_left(&c);
}

/* Lists the compile units, including skeletons of split units. The contents of other units are only
 * reached by references from these. */
static void list_units(struct indexer *x)
{
	struct debug_shared *s = x->d->shared;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	while (dwarf_get_units(x->d->main.dw, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if ((type != DW_UT_compile && type != DW_UT_skeleton) ||
		    (dwarf_tag(&die) != DW_TAG_compile_unit &&
		     dwarf_tag(&die) != DW_TAG_skeleton_unit))
			continue;
		vec_push(&s->units, (struct unit_place){dwarf_dieoffset(&die)});
		index_unit(x, &die, s->units.len - 1);
		x->line_bytes += line_program_size(&x->d->main, &die);
	}
}

/* The unit whose DIE is at `offset`. Units are sorted by offset. */
static uint32_t unit_by_offset(const struct debug_shared *s, uint64_t offset)
{
	uint32_t n = order_up_to(s->units.data, s->units.len, sizeof(struct unit_place),
				 offsetof(struct unit_place, offset), offset);
	return n && s->units.data[n - 1].offset == offset ? n - 1 : DEBUG_NONE;
}

/* Adds the ranges that .debug_aranges has for units without ranges, and removes these units from
 * the list. */
static void index_aranges(struct indexer *x)
{
	Dwarf_Aranges *aranges;
	size_t count;
	struct hashmap rest = {0}, done = {0};
	if (dwarf_getaranges(x->d->main.dw, &aranges, &count) != 0)
		return;
	vec_each (u, &x->without)
		hashmap_add(&rest, *u, 0);
	for (size_t i = 0; i < count; i++) {
		Dwarf_Addr start;
		Dwarf_Word length;
		Dwarf_Off offset;
		if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &start, &length, &offset) != 0)
			continue;
		uint32_t unit = unit_by_offset(x->d->shared, offset);
		if (hashmap_get(&rest, unit) != HASHMAP_NONE &&
		    add_code(x, unit, start, start + length))
			hashmap_add(&done, unit, 0);
	}
	vec_keep_if(&x->without, u, hashmap_get(&done, *u) == HASHMAP_NONE);
	hashmap_release(&rest);
	hashmap_release(&done);
}

/* Adds the ranges of functions, for which whole units must be loaded. This is expensive, and only
 * done if no unit gives ranges. Otherwise a unit without ranges has no code: link-time optimisation
 * leaves many of these. */
static void index_functions(struct indexer *x)
{
	if (x->found.len)
		return;
	vec_each (n, &x->without) {
		struct debug_unit *u = debug_unit_load(x->d, *n);
		for (uint32_t i = 0; i < u->entry_count; i++)
			add_code(x, *n, u->entries[i].start, u->entries[i].end);
		debug_unit_free(u);
	}
}

static void build_index(struct debug *d)
{
	struct debug_shared *s = d->shared;
	struct indexer x = {.d = d, .budget = s->source.main->size + MIN_RANGE_BUDGET};
	list_units(&x);
	s->no_lines = x.line_bytes / MAX_SHARING > d->main.line.size;
	if (x.without.len)
		index_aranges(&x);
	index_functions(&x);
	s->index_count = debug_flatten(&s->index, x.found.data, x.found.len);
	debug(LOG_DWARF, 1, "%s: %u units, %u ranges", s->module->path, s->units.len,
	      s->index_count);
	vec_free(&x.found);
	vec_free(&x.without);
}

int debug_open(struct debug **out, const struct module *m, const struct debug_options *options,
	       struct err *e)
{
	struct debug_shared *s = xcalloc(1, sizeof(*s));
	*out = NULL;
	s->users = 1;
	s->module = m;
	debug_find(&s->source, m, options);
	if (s->source.main) {
		const struct build_id none = {0};
		bool cache = options && options->use_cache;
		elf_load_dwarf(&s->source.main, cache ? &m->build_id : &none);
		if (s->source.alt)
			elf_load_dwarf(&s->source.alt, cache ? &s->source.alt_id : &none);
		*out = handle_open(s);
	}
	if (*out)
		build_index(*out);
	bool damaged = s->source.main && !*out;
	shared_release(s);
	return damaged ? err_set(e, ERR_INPUT, "its debugging information cannot be read: %s",
				 dwarf_errmsg(-1))
		       : 0;
}

int debug_clone(struct debug **out, const struct debug *d, struct err *e)
{
	*out = handle_open(d->shared);
	return *out ? 0 : err_set(e, ERR_INPUT, "cannot read its DWARF again");
}

const struct module *debug_file(const struct debug *d)
{
	return d->shared->source.file;
}

uint32_t debug_unit_count(const struct debug *d)
{
	return d->shared->units.len;
}

uint32_t debug_unit_at(struct debug *d, uint64_t va)
{
	const struct debug_entry *e = entry_at(d->shared->index, d->shared->index_count, va);
	return e ? e->scope : DEBUG_NONE;
}

const struct debug_line *debug_line_at(const struct debug_unit *u, uint64_t va)
{
	uint32_t n = order_up_to(u->lines, u->line_count, sizeof(*u->lines),
				 offsetof(struct debug_line, va), va);
	return n && !u->lines[n - 1].end ? &u->lines[n - 1] : NULL;
}

uint32_t debug_scope_at(const struct debug_unit *u, uint64_t va)
{
	const struct debug_entry *e = entry_at(u->innermost, u->innermost_count, va);
	return e ? e->scope : DEBUG_NONE;
}
