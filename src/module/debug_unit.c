/* Loads one unit: functions with code, the calls inlined into them, and their lines.
 *
 * First the DIEs are scanned in order, keeping the position of each scope and the DIE that names
 * it. Then the names are looked up, which may lead into other units. Then the line program is run.
 * The unit is not trusted: scopes need code that is in the module, and the number of ranges and the
 * bytes of names are limited by the size of the unit. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/order.h"
#include "module/debug_private.h"

enum {
	MAX_DEPTH = 256,         /* nested scopes */
	MIN_RANGES = 1024,       /* ranges that any unit may have, besides one per byte */
	NAME_BYTES = 64,         /* bytes that names may take for each byte of the unit */
	MIN_NAME_BYTES = 1 << 20 /* bytes that the names of any unit may take, besides those */
};

/* The file table of another unit that an inlined function comes from. */
struct foreign_files {
	Dwarf_CU *cu;
	struct file_table table;
};

struct loader {
	struct debug *d;
	struct debug_unit *u;
	struct dwarf_unit cu;   /* the unit in the module's own DWARF */
	struct dwarf_unit dies; /* the unit that has the DIEs: `cu`, or its split unit */

	struct file_set set;
	struct file_table cu_files, split_files;
	struct file_table *files; /* of `dies` */
	struct hashmap foreign_by_cu;
	VEC(struct foreign_files *) foreign;

	struct names names;
	uint64_t range_budget;
	VEC(struct address_range) ranges;
	VEC(struct debug_scope) scopes;
	VEC(struct debug_decl) decls;
	VEC(Dwarf_Die) scope_dies, decl_dies; /* the DIEs that have their names */
	bool members; /* functions may be members of types, so types are scanned */

	/* The scopes around the current DIE. */
	struct {
		unsigned depth;
		uint32_t scope; /* DEBUG_NONE: a function without code */
	} stack[MAX_DEPTH];
	unsigned stack_len;
};

/* The attributes of a DIE that scopes need. */
struct scope_attrs {
	uint64_t low, high, call_file, call_line, call_column;
	bool has_low, has_high, high_is_size, has_ranges, has_origin, declaration;
	Dwarf_Die origin;
};

static void read_high(const struct loader *l, const struct attr *a, struct scope_attrs *p)
{
	p->has_high = attr_address(&l->dies, a, &p->high);
	if (!p->has_high)
		p->has_high = p->high_is_size = attr_uint(&l->dies, a, &p->high);
}

static struct scope_attrs read_scope_attrs(const struct loader *l, const struct scan *s,
					   const struct die *die)
{
	const struct dwarf_unit *u = &l->dies;
	struct scope_attrs p = {.call_file = UINT64_MAX};
	uint64_t flag = 0;
	const uint8_t *at = die->attrs;
	struct attr a;
	for (uint32_t i = 0; scan_attr(s, die, &i, &at, &a);) {
		switch (a.name) {
		case DW_AT_low_pc: p.has_low = attr_address(u, &a, &p.low); break;
		case DW_AT_high_pc: read_high(l, &a, &p); break;
		case DW_AT_ranges: p.has_ranges = true; break;
		case DW_AT_abstract_origin: p.has_origin = attr_die(u, &a, &p.origin); break;
		case DW_AT_call_file: attr_uint(u, &a, &p.call_file); break;
		case DW_AT_call_line: attr_uint(u, &a, &p.call_line); break;
		case DW_AT_call_column: attr_uint(u, &a, &p.call_column); break;
		case DW_AT_declaration: p.declaration = attr_uint(u, &a, &flag) && flag; break;
		}
	}
	return p;
}

/* Adds a range that starts in code, cut at the end of the section. */
static void add_range(struct loader *l, uint64_t start, uint64_t end)
{
	const struct section *s = module_section_at(l->d->shared->module, start);
	if (start >= end || !s || !s->execute || !l->range_budget)
		return;
	if (end - s->va > s->size)
		end = s->va + s->size;
	l->range_budget--;
	vec_push(&l->ranges, (struct address_range){start, end});
}

static void add_ranges(struct loader *l, const struct die *die, const struct scope_attrs *p)
{
	if (p->has_low && p->has_high) {
		add_range(l, p->low, p->high_is_size ? p->low + p->high : p->high);
		return;
	}
	if (!p->has_ranges)
		return;
	Dwarf_Die d = unit_die(&l->dies, die->at);
	Dwarf_Addr base, start, end;
	uint64_t left = l->range_budget;
	for (ptrdiff_t at = 0; left && (at = dwarf_ranges(&d, at, &base, &start, &end)) > 0; left--)
		add_range(l, start, end);
	l->range_budget = left < l->range_budget ? left : l->range_budget;
}

static uint32_t small(uint64_t n)
{
	return n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* Opens a scope for the children of the DIE. */
static void push(struct loader *l, struct scan *s, const struct die *die, uint32_t scope)
{
	if (l->stack_len == MAX_DEPTH) {
		scan_skip(s, die);
		return;
	}
	l->stack[l->stack_len].depth = die->depth;
	l->stack[l->stack_len++].scope = scope;
}

static uint32_t parent_scope(const struct loader *l)
{
	return l->stack_len ? l->stack[l->stack_len - 1].scope : DEBUG_NONE;
}

/* Adds a scope with the DIE's ranges; DEBUG_NONE if it has no valid one. */
static uint32_t add_scope(struct loader *l, const struct die *die, const struct scope_attrs *p)
{
	struct debug_scope s = {.parent = parent_scope(l), .first_range = l->ranges.len};
	add_ranges(l, die, p);
	s.range_count = l->ranges.len - s.first_range;
	if (!s.range_count)
		return DEBUG_NONE;
	s.inlined = die->abbrev->tag == DW_TAG_inlined_subroutine;
	s.call_file = DEBUG_NONE;
	if (s.inlined) {
		s.call_file = file_number(l->files, &l->set, p->call_file);
		s.call_line = small(p->call_line);
		s.call_column = small(p->call_column);
	}
	vec_push(&l->scopes, s);
	vec_push(&l->scope_dies,
		 s.inlined && p->has_origin ? p->origin : unit_die(&l->dies, die->at));
	return l->scopes.len - 1;
}

static void visit_function(struct loader *l, struct scan *s, const struct die *die)
{
	struct scope_attrs p = read_scope_attrs(l, s, die);
	uint32_t scope = add_scope(l, die, &p);
	if (scope == DEBUG_NONE && p.declaration) {
		scan_skip(s, die);
		return;
	}
	if (scope == DEBUG_NONE)
		vec_push(&l->decl_dies, unit_die(&l->dies, die->at));
	push(l, s, die, scope);
}

/* An inlined call within a function without code (an abstract instance) has no code either. */
static void visit_inlined(struct loader *l, struct scan *s, const struct die *die)
{
	l->u->has_inlining = true;
	if (parent_scope(l) == DEBUG_NONE)
		return;
	struct scope_attrs p = read_scope_attrs(l, s, die);
	uint32_t scope = add_scope(l, die, &p);
	if (scope != DEBUG_NONE)
		push(l, s, die, scope);
}

static void visit(struct loader *l, struct scan *s, const struct die *die)
{
	while (l->stack_len && l->stack[l->stack_len - 1].depth >= die->depth)
		l->stack_len--;
	switch (die->abbrev->tag) {
	case DW_TAG_subprogram: visit_function(l, s, die); break;
	case DW_TAG_inlined_subroutine: visit_inlined(l, s, die); break;
	case DW_TAG_entry_point: vec_push(&l->decl_dies, unit_die(&l->dies, die->at)); break;
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt: break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		if (!l->members)
			scan_skip(s, die);
		break;
	default: scan_skip(s, die);
	}
}

static void read_scopes(struct loader *l)
{
	struct scan s;
	struct die die;
	scan_init(&s, l->d, &l->dies);
	while (scan_next(&s, &die))
		visit(l, &s, &die);
}

/* A copy of the text in an attribute of the unit, or NULL. */
static const char *unit_text(struct loader *l, const struct dwarf_unit *u, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Die die = u->die;
	const char *s = dwarf_formstring(dwarf_attr(&die, name, &attr));
	int64_t length = s ? dwarf_string_length(l->d, attr.cu, s) : -1;
	return length < 0 || length > MIN_NAME_BYTES
		       ? NULL
		       : arena_strndup(&l->u->arena, s, (size_t)length);
}

static bool unit_number(const struct dwarf_unit *u, unsigned name, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Die die = u->die;
	Dwarf_Word value;
	if (dwarf_formudata(dwarf_attr(&die, name, &attr), &value) != 0)
		return false;
	*out = value;
	return true;
}

static struct file_table *foreign_files(struct loader *l, Dwarf_CU *cu)
{
	uint32_t found = hashmap_add(&l->foreign_by_cu, (uintptr_t)cu, l->foreign.len);
	if (found < l->foreign.len)
		return &l->foreign.data[found]->table;
	struct foreign_files *f = xcalloc(1, sizeof(*f));
	struct dwarf_unit u;
	struct line_program p;
	uint64_t offset;
	f->cu = cu;
	vec_push(&l->foreign, f);
	if (dwarf_unit_init(&u, l->d, cu) && unit_number(&u, DW_AT_stmt_list, &offset))
		lines_open(&p, &f->table, &u.file, offset, u.address_size,
			   unit_text(l, &u, DW_AT_comp_dir));
	return &f->table;
}

static uint32_t origin_file(struct loader *l, const struct origin *o)
{
	if (!o->file_cu)
		return DEBUG_NONE;
	bool own = o->file_cu == l->dies.die.cu;
	return file_number(own ? l->files : foreign_files(l, o->file_cu), &l->set, o->file);
}

static void name_scopes(struct loader *l)
{
	for (uint32_t i = 0; i < l->scopes.len; i++) {
		struct origin o = names_of(&l->names, &l->scope_dies.data[i]);
		struct debug_scope *s = &l->scopes.data[i];
		s->name = o.name;
		s->linkage = o.linkage;
		s->decl_file = origin_file(l, &o);
		s->decl_line = small(o.line);
	}
}

static int compare_decls(const void *a, const void *b)
{
	const struct debug_decl *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void name_decls(struct loader *l)
{
	vec_each (die, &l->decl_dies) {
		struct origin o = names_of(&l->names, die);
		struct debug_decl d = {o.name, origin_file(l, &o), small(o.line)};
		if (d.file != DEBUG_NONE && d.line)
			vec_push(&l->decls, d);
	}
	if (!l->decls.len)
		return;
	qsort(l->decls.data, l->decls.len, sizeof(*l->decls.data), compare_decls);
	uint32_t kept = 1;
	for (uint32_t i = 1; i < l->decls.len; i++)
		if (compare_decls(&l->decls.data[kept - 1], &l->decls.data[i]))
			l->decls.data[kept++] = l->decls.data[i];
	l->decls.len = kept;
}

/* Whether the compiler is one that describes every call that it inlines. */
static bool describes_inlining(const char *producer)
{
	static const char *const known[] = {"GNU ", "clang", "rustc", "LLVM"};
	for (size_t i = 0; producer && i < ARRAY_SIZE(known); i++)
		if (strstr(producer, known[i]))
			return true;
	return false;
}

/* libdw opens the file of a split unit by its name, and would wait forever on a pipe. It does not
 * check for a missing comp_dir either. */
static bool may_open_split(struct loader *l)
{
	const char *name = unit_text(l, &l->cu, DW_AT_dwo_name);
	struct stat st;
	if (!name)
		name = unit_text(l, &l->cu, DW_AT_GNU_dwo_name);
	if (!name || !l->u->comp_dir)
		return false;
	if (name[0] != '/')
		name = arena_printf(&l->u->arena, "%s/%s", l->u->comp_dir, name);
	if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
		return true;
	debug(LOG_DWARF, 1, "split unit %s is missing", name);
	return false;
}

static void open_split(struct loader *l)
{
	uint8_t type;
	Dwarf_Die split;
	l->dies = l->cu;
	if (dwarf_cu_info(l->cu.die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton || !may_open_split(l) ||
	    dwarf_cu_info(l->cu.die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) != 0 ||
	    !split.cu || !dwarf_unit_init(&l->dies, l->d, split.cu))
		return;
	struct line_program p;
	if (lines_open(&p, &l->split_files, &l->dies.file, 0, l->dies.address_size, l->u->comp_dir))
		l->files = &l->split_files;
}

static bool loader_init(struct loader *l, struct debug *d, struct debug_unit *u, uint32_t number)
{
	struct debug_shared *s = d->shared;
	Dwarf_Die die;
	*l = (struct loader){.d = d, .u = u, .set.arena = &u->arena, .files = &l->cu_files};
	return dwarf_offdie(d->main.dw, s->units.data[number].offset, &die) &&
	       dwarf_unit_init(&l->cu, d, die.cu);
}

static void loader_release(struct loader *l)
{
	file_table_release(&l->cu_files);
	file_table_release(&l->split_files);
	vec_each (f, &l->foreign) {
		file_table_release(&(*f)->table);
		free(*f);
	}
	vec_free(&l->foreign);
	hashmap_release(&l->foreign_by_cu);
	hashmap_release(&l->set.by_hash);
	vec_free(&l->set.paths);
	names_release(&l->names);
	vec_free(&l->ranges);
	vec_free(&l->scopes);
	vec_free(&l->decls);
	vec_free(&l->scope_dies);
	vec_free(&l->decl_dies);
}

static void read_properties(struct loader *l)
{
	struct debug_unit *u = l->u;
	uint64_t language = 0;
	u->comp_dir = unit_text(l, &l->cu, DW_AT_comp_dir);
	open_split(l);
	if (!unit_number(&l->dies, DW_AT_language, &language))
		unit_number(&l->cu, DW_AT_language, &language);
	u->name = unit_text(l, &l->dies, DW_AT_name);
	u->producer = unit_text(l, &l->dies, DW_AT_producer);
	u->language = small(language);
	u->has_inlining = describes_inlining(u->producer);
	l->members = language_has_members(u->language);
	uint64_t size = (uint64_t)(l->dies.end - l->dies.start);
	l->range_budget = size + MIN_RANGES;
	names_init(&l->names, l->d, &u->arena, u->language, NAME_BYTES * size + MIN_NAME_BYTES);
}

/* Builds the tables of subprograms by address, and of code by innermost scope. */
static void index_scopes(struct loader *l)
{
	VEC(struct debug_entry) all = {0}, outer = {0};
	struct debug_unit *u = l->u;
	for (uint32_t i = 0; i < l->scopes.len; i++) {
		const struct debug_scope *s = &l->scopes.data[i];
		for (uint32_t r = 0; r < s->range_count; r++) {
			struct address_range range = l->ranges.data[s->first_range + r];
			struct debug_entry e = {range.start, range.end, i};
			vec_push(&all, e);
			if (!s->inlined)
				vec_push(&outer, e);
		}
	}
	order_by_address(outer.data, outer.len, sizeof(struct debug_entry), 0);
	u->entries = ARENA_DUP(&u->arena, outer.data, outer.len);
	u->entry_count = outer.len;
	struct debug_entry *innermost;
	u->innermost_count = debug_flatten(&innermost, all.data, all.len);
	u->innermost = ARENA_DUP(&u->arena, innermost, u->innermost_count);
	free(innermost);
	vec_free(&all);
	vec_free(&outer);
}

/* Copies what was read into the unit's own memory. */
static void finish(struct loader *l, const debug_lines *lines)
{
	struct debug_unit *u = l->u;
	index_scopes(l);
	u->ranges = ARENA_DUP(&u->arena, l->ranges.data, l->ranges.len);
	u->range_count = l->ranges.len;
	u->scopes = ARENA_DUP(&u->arena, l->scopes.data, l->scopes.len);
	u->scope_count = l->scopes.len;
	u->decls = ARENA_DUP(&u->arena, l->decls.data, l->decls.len);
	u->decl_count = l->decls.len;
	u->lines = ARENA_DUP(&u->arena, lines->data, lines->len);
	u->line_count = lines->len;
	u->files = ARENA_DUP(&u->arena, l->set.paths.data, l->set.paths.len);
	u->file_count = l->set.paths.len;
}

struct debug_unit *debug_unit_load(struct debug *d, uint32_t number)
{
	struct debug_unit *u = xcalloc(1, sizeof(*u));
	struct loader l;
	arena_init(&u->arena);
	if (loader_init(&l, d, u, number)) {
		struct line_program program;
		debug_lines lines = {0};
		uint64_t offset;
		read_properties(&l);
		bool has_lines = unit_number(&l.cu, DW_AT_stmt_list, &offset) &&
				 lines_open(&program, &l.cu_files, &l.cu.file, offset,
					    l.cu.address_size, u->comp_dir);
		read_scopes(&l);
		name_scopes(&l);
		name_decls(&l);
		if (has_lines && !d->shared->no_lines)
			lines_run(&program, &l.cu_files, &l.set, d->shared->module, &lines);
		finish(&l, &lines);
		vec_free(&lines);
	}
	loader_release(&l);
	contexts_trim(d);
	if (!u->name)
		u->name = "";
	if (!u->comp_dir)
		u->comp_dir = "";
	debug(LOG_DWARF, 2, "unit %u: %s: %u scopes, %u lines", number, u->name, u->scope_count,
	      u->line_count);
	return u;
}

void debug_unit_free(struct debug_unit *u)
{
	if (!u)
		return;
	arena_release(&u->arena);
	free(u);
}
