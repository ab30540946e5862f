/* Names of functions as people write them: with namespaces and types in front, joined by the
 * language's separator.
 *
 * A DIE does not know its parent. So for each unit that names are needed from, the DIEs that are
 * part of the names of their children (contexts) are collected once, each with the addresses of its
 * first and last byte. The context of a DIE is the innermost one around its address. A function is
 * a context only if it contains types: most functions do not. */
#include <stdlib.h>

#include "base/text.h"
#include "module/debug_private.h"

enum {
	MAX_HOPS = 8,            /* references, from an inlined call to the declaration */
	MAX_CONTEXTS = 64,       /* nested in each other */
	MAX_NESTING = 8,         /* types in functions in types in functions ... */
	MAX_NAME = 1 << 16,      /* bytes */
	KEEP_CONTEXTS = 1 << 18, /* kept in a handle, over all units */
};

static const struct language {
	uint32_t number;
	const char *separator; /* NULL: names are not qualified */
	bool members;          /* functions may be members of types */
} languages[] = {
	{DW_LANG_C89, NULL, false},
	{DW_LANG_C, NULL, false},
	{DW_LANG_C99, NULL, false},
	{DW_LANG_C11, NULL, false},
	{0x2c /* C17 */, NULL, false},
	{DW_LANG_Fortran77, NULL, false},
	{DW_LANG_Fortran90, NULL, false},
	{DW_LANG_Fortran95, NULL, false},
	{DW_LANG_Fortran03, NULL, false},
	{DW_LANG_Fortran08, NULL, false},
	{0x2d /* Fortran 18 */, NULL, false},
	{DW_LANG_Mips_Assembler, NULL, false},
	{DW_LANG_C_plus_plus, "::", true},
	{DW_LANG_C_plus_plus_03, "::", true},
	{DW_LANG_C_plus_plus_11, "::", true},
	{DW_LANG_C_plus_plus_14, "::", true},
	{0x2b /* C++17 */, "::", true},
	{0x2e /* C++20 */, "::", true},
	{DW_LANG_ObjC_plus_plus, "::", true},
	{DW_LANG_Rust, "::", true},
	{DW_LANG_D, ".", true},
	{DW_LANG_Swift, ".", true},
	{DW_LANG_Java, ".", true},
};

static const struct language *language_find(uint32_t number)
{
	static const struct language other = {0, NULL, true};
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (languages[i].number == number)
			return &languages[i];
	return &other;
}

bool language_has_members(uint32_t language)
{
	return language_find(language)->members;
}

void names_init(struct names *n, struct debug *d, struct arena *a, uint32_t language,
		uint64_t budget)
{
	*n = (struct names){.d = d, .arena = a, .budget = budget};
	n->separator = language_find(language)->separator;
}

void names_release(struct names *n)
{
	hashmap_release(&n->by_die);
	vec_free(&n->origins);
}

static int64_t string_length_in(const struct slice *s, const char *text)
{
	if (!slice_holds(s, text))
		return -1;
	const uint8_t *at = (const uint8_t *)text;
	const uint8_t *nul = memchr(at, 0, s->size - (uint64_t)(at - s->at));
	return nul ? nul - at : -1;
}

int64_t dwarf_string_length(struct debug *d, Dwarf_CU *cu, const char *s)
{
	const struct dwarf_file *f = dwarf_file_of(d, dwarf_cu_getdwarf(cu));
	const struct slice *places[] = {&f->str, &f->info, &f->line_str, &d->alt.str};
	int64_t length = -1;
	for (size_t i = 0; length < 0 && i < ARRAY_SIZE(places); i++)
		length = string_length_in(places[i], s);
	return length;
}

void contexts_clear(struct debug *d)
{
	vec_each (c, &d->contexts)
		vec_free(&c->list);
	vec_free(&d->contexts);
	hashmap_release(&d->context_of);
	d->context_of = (struct hashmap){0};
	d->context_total = 0;
}

void contexts_trim(struct debug *d)
{
	if (d->context_total > KEEP_CONTEXTS)
		contexts_clear(d);
}

enum context_kind { NO_CONTEXT, NAMED_CONTEXT, FUNCTION_CONTEXT, BLOCK_CONTEXT };

static enum context_kind context_kind(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_module: return NAMED_CONTEXT;
	case DW_TAG_subprogram: return FUNCTION_CONTEXT;
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_lexical_block: return BLOCK_CONTEXT;
	}
	return NO_CONTEXT;
}

/* The contexts around the current DIE while a unit is scanned. */
struct open_contexts {
	struct unit_contexts *out;
	unsigned count;
	struct open_context {
		const uint8_t *start;
		unsigned depth;
		uint32_t number; /* in the list; DEBUG_NONE for a function that is not in it yet */
		bool function;
	} stack[MAX_CONTEXTS];
};

static void close_contexts(struct open_contexts *o, unsigned depth, const uint8_t *at)
{
	while (o->count && o->stack[o->count - 1].depth >= depth) {
		const struct open_context *top = &o->stack[--o->count];
		if (top->number != DEBUG_NONE)
			o->out->list.data[top->number].end = at;
	}
}

/* Adds the open contexts to the list, outermost first. The list stays sorted, because nothing
 * inside a function is listed before the function is. */
static void list_contexts(struct open_contexts *o)
{
	uint32_t parent = DEBUG_NONE;
	for (unsigned i = 0; i < o->count; i++) {
		struct open_context *c = &o->stack[i];
		if (c->number == DEBUG_NONE) {
			c->number = o->out->list.len;
			vec_push(&o->out->list,
				 (struct name_context){c->start, c->start, parent, c->function});
		}
		parent = c->number;
	}
}

static void collect_contexts(struct unit_contexts *out, struct debug *d, const struct dwarf_unit *u)
{
	struct scan s;
	struct die die;
	struct open_contexts open = {.out = out};
	scan_init(&s, d, u);
	while (scan_next(&s, &die)) {
		enum context_kind kind = context_kind(die.abbrev->tag);
		close_contexts(&open, die.depth, die.at);
		if (kind == BLOCK_CONTEXT || !die.abbrev->children)
			continue;
		if (kind == NO_CONTEXT || open.count == MAX_CONTEXTS) {
			scan_skip(&s, &die);
			continue;
		}
		open.stack[open.count++] = (struct open_context){die.at, die.depth, DEBUG_NONE,
								 kind == FUNCTION_CONTEXT};
		if (kind == NAMED_CONTEXT)
			list_contexts(&open);
	}
	close_contexts(&open, 0, u->end);
}

static const struct unit_contexts *contexts_of(struct debug *d, Dwarf_CU *cu)
{
	uint32_t found = hashmap_get(&d->context_of, (uintptr_t)cu);
	if (found != HASHMAP_NONE)
		return &d->contexts.data[found];
	struct unit_contexts c = {0};
	struct dwarf_unit u;
	if (dwarf_unit_init(&u, d, cu))
		collect_contexts(&c, d, &u);
	hashmap_add(&d->context_of, (uintptr_t)cu, d->contexts.len);
	vec_push(&d->contexts, c);
	d->context_total += c.list.len + 1;
	return &vec_last(&d->contexts);
}

/* The innermost context around `at`, or DEBUG_NONE; one that starts at `at` is not around it. */
static uint32_t context_around(const struct unit_contexts *c, const uint8_t *at)
{
	uint32_t low = 0, high = c->list.len;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (c->list.data[mid].start < at)
			low = mid + 1;
		else
			high = mid;
	}
	uint32_t i = low ? low - 1 : DEBUG_NONE;
	while (i != DEBUG_NONE && c->list.data[i].end <= at)
		i = c->list.data[i].parent;
	return i;
}

/* What one DIE itself says. The strings belong to libdw, but are known to end. */
struct die_facts {
	struct debug *d;
	const char *name, *linkage;
	Dwarf_Attribute next; /* reference to the DIE that says more; code 0 if none */
	uint64_t file, line;
	bool has_file, has_line;
};

static const char *checked_string(struct debug *d, Dwarf_Attribute *attr)
{
	const char *s = dwarf_formstring(attr);
	int64_t length = s ? dwarf_string_length(d, attr->cu, s) : -1;
	return length < 0 || length > MAX_NAME ? NULL : s;
}

static bool checked_uint(Dwarf_Attribute *attr, uint64_t *out)
{
	Dwarf_Word value;
	if (dwarf_formudata(attr, &value) != 0)
		return false;
	*out = value;
	return true;
}

static int read_fact(Dwarf_Attribute *attr, void *ctx)
{
	struct die_facts *f = ctx;
	switch (dwarf_whatattr(attr)) {
	case DW_AT_name: f->name = checked_string(f->d, attr); break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name: f->linkage = checked_string(f->d, attr); break;
	case DW_AT_decl_file: f->has_file = checked_uint(attr, &f->file); break;
	case DW_AT_decl_line: f->has_line = checked_uint(attr, &f->line); break;
	case DW_AT_signature:
	case DW_AT_specification:
	case DW_AT_abstract_origin: f->next = *attr; break;
	}
	return DWARF_CB_OK;
}

static struct die_facts facts_of(struct debug *d, Dwarf_Die *die)
{
	struct die_facts f = {.d = d};
	dwarf_getattrs(die, read_fact, &f, 0);
	return f;
}

/* The name of an unnamed type. If it can be called, it belongs to a lambda expression. */
static const char *unnamed(int tag, const char *member)
{
	if (tag != DW_TAG_namespace && !strcmp(member, "operator()"))
		return "{lambda}";
	switch (tag) {
	case DW_TAG_namespace: return "(anonymous namespace)";
	case DW_TAG_class_type: return "(anonymous class)";
	case DW_TAG_structure_type: return "(anonymous struct)";
	case DW_TAG_union_type: return "(anonymous union)";
	}
	return "(anonymous)";
}

static void add_type(struct names *n, struct text *out, Dwarf_Die *die, const char *member)
{
	struct die_facts f = facts_of(n->d, die);
	Dwarf_Die full;
	if (!f.name && f.next.code && dwarf_formref_die(&f.next, &full))
		f = facts_of(n->d, &full);
	text_add(out, f.name ? f.name : unnamed(dwarf_tag(die), member));
}

static uint32_t origin_of(struct names *n, const Dwarf_Die *die, unsigned nesting);

/* Adds the name of a context of `member` to `out`, with the names of the contexts around it. The
 * name of a function already includes those. */
static void add_context(struct names *n, struct text *out, Dwarf_CU *cu, uint32_t number,
			const char *member, unsigned nesting)
{
	struct name_context c = contexts_of(n->d, cu)->list.data[number];
	Dwarf_Die die = {.addr = (void *)(uintptr_t)c.start, .cu = cu};
	if (c.function) {
		uint32_t origin = origin_of(n, &die, nesting + 1);
		text_add(out, origin == DEBUG_NONE ? "" : n->origins.data[origin].name);
		text_add(out, "()");
	} else {
		if (c.parent != DEBUG_NONE)
			add_context(n, out, cu, c.parent, "", nesting);
		add_type(n, out, &die, member);
	}
	text_add(out, n->separator);
}

/* A copy that counts against the budget; "" if that is used up. */
static const char *keep(struct names *n, const char *s)
{
	size_t length = strlen(s);
	if (length >= n->budget) {
		n->budget = 0;
		return "";
	}
	n->budget -= length + 1;
	return arena_strndup(n->arena, s, length);
}

static const char *qualified(struct names *n, const Dwarf_Die *die, const char *name,
			     unsigned nesting)
{
	uint32_t context = DEBUG_NONE;
	if (n->separator && n->budget)
		context = context_around(contexts_of(n->d, die->cu), die->addr);
	if (context == DEBUG_NONE)
		return keep(n, name);
	struct text full = TEXT_INIT;
	add_context(n, &full, die->cu, context, name, nesting);
	text_add(&full, name);
	const char *out = keep(n, full.data);
	text_release(&full);
	return out;
}

/* Adds the facts that no DIE before this one had. */
static void add_facts(struct names *n, struct origin *o, const struct die_facts *f,
		      const Dwarf_Die *die, unsigned nesting)
{
	if (!o->name && f->name)
		o->name = qualified(n, die, f->name, nesting);
	if (!o->linkage && f->linkage)
		o->linkage = keep(n, f->linkage);
	if (!o->file_cu && f->has_file) {
		o->file_cu = die->cu;
		o->file = f->file;
	}
	if (!o->line && f->has_line)
		o->line = f->line;
}

/* DEBUG_NONE if contexts are nested too deeply to be real. */
static uint32_t origin_of(struct names *n, const Dwarf_Die *die, unsigned nesting)
{
	uint32_t found = hashmap_get(&n->by_die, (uintptr_t)die->addr);
	if (found != HASHMAP_NONE)
		return found;
	if (nesting > MAX_NESTING)
		return DEBUG_NONE;
	struct origin o = {0};
	Dwarf_Die at = *die;
	for (unsigned hop = 0; hop < MAX_HOPS; hop++) {
		struct die_facts f = facts_of(n->d, &at);
		add_facts(n, &o, &f, &at, nesting);
		if (!f.next.code || !dwarf_formref_die(&f.next, &at))
			break;
	}
	if (!o.name)
		o.name = "";
	uint32_t number = hashmap_add(&n->by_die, (uintptr_t)die->addr, n->origins.len);
	if (number == n->origins.len)
		vec_push(&n->origins, o);
	return number;
}

struct origin names_of(struct names *n, const Dwarf_Die *die)
{
	uint32_t number = origin_of(n, die, 0);
	return n->origins.data[number];
}
