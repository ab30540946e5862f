/* The function starts and split-off parts that the file itself gives. */
#include "base/order.h"
#include "base/parallel.h"
#include "flow/entry.h"
#include "flow/internal.h"

#include <string.h>

static void add_fragment(struct flow *f, uint64_t start, uint64_t end, const char *name)
{
	if (end > start && module_is_code(f->module, start))
		vec_push(&f->fragments,
			 (struct detached_part){.start = start, .end = end, .name = name});
}

/* "foo.cold", "foo.cold.1": a part of foo that the compiler moved away. */
static bool is_fragment_name(const char *name)
{
	const char *dot = strstr(name, ".cold");
	return dot && dot != name && (dot[5] == '\0' || dot[5] == '.');
}

static bool in_plt(const struct flow *f, uint64_t va)
{
	const struct section *s = module_section_at(f->module, va);
	return s && is_plt_section(s);
}

/* Whether the symbol is only a label in the function, such as glibc's __syscall_cancel_arch_end.
 * Assembly that omits the types of its functions omits their sizes as well, so an untyped function
 * does not lie within another one's size. */
static bool is_label(const struct symbol *s, const struct symbol *function)
{
	return s->flags & SYMBOL_UNTYPED && !s->size && function && s->va > function->va &&
	       s->va < function->va + function->size;
}

static void starts_from_symbols(struct flow *f)
{
	const struct symbol *function = NULL; /* the one with the highest end so far */
	uint32_t count;
	const struct symbol *all = module_symbols(f->module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *s = &all[i];
		if (s->flags & (SYMBOL_OBJECT | SYMBOL_DATA_MARK | SYMBOL_CODE_MARK) ||
		    in_plt(f, s->va) || is_label(s, function))
			continue;
		if (!(s->flags & SYMBOL_UNTYPED) &&
		    (!function || s->va + s->size > function->va + function->size))
			function = s;
		if (is_fragment_name(s->name)) {
			add_fragment(f, s->va, s->va + s->size, s->name);
			continue;
		}
		unsigned how = s->flags & SYMBOL_DYNAMIC ? FOUND_DYNAMIC : FOUND_SYMBOL;
		add_start(f, s->va, s->size ? s->va + s->size : 0, s->name, how,
			  s->flags & SYMBOL_IFUNC ? FUNCTION_IFUNC : 0);
	}
}

/* Unwinders look up the address before the return address. A signal trampoline was not called, so
 * its unwind range begins that much earlier to be found: perhaps in the middle of an instruction.
 * Returns the true start. */
static uint64_t start_of_range(const struct flow *f, const struct frame_range *r)
{
	const struct arch_layout *layout = f->arch->layout;
	size_t n;
	uint64_t va = r->start + f->arch->insn_align;
	const uint8_t *p =
		r->is_signal ? module_at(f->module, va, layout->sigreturn_size, &n) : NULL;
	if (p && n >= layout->sigreturn_size &&
	    !memcmp(p, layout->sigreturn, layout->sigreturn_size))
		return va;
	return r->start;
}

static void starts_from_frames(struct flow *f)
{
	uint32_t count;
	const struct frame_range *all = module_frames(f->module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct frame_range *r = &all[i];
		if (in_plt(f, r->start))
			continue;
		if (r->mid_frame && !r->is_signal)
			add_fragment(f, r->start, r->end, NULL);
		else
			add_start(f, start_of_range(f, r), r->end, NULL, FOUND_FRAME, 0);
	}
}

static void starts_from_entries(struct flow *f)
{
	static const char *const arrays[] = {".init_array", ".fini_array", ".preinit_array"};
	static const char *const code[] = {".init", ".fini"};
	if (f->module->entry)
		add_start(f, f->module->entry, 0, NULL, FOUND_ENTRY, 0);
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		const struct section *s = module_section(f->module, arrays[i]);
		uint64_t va;
		for (uint64_t at = 0; s && at + 8 <= s->size; at += 8)
			if (module_word(f->module, s->va + at, &va))
				add_start(f, va, 0, NULL, FOUND_ENTRY, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(code); i++) {
		const struct section *s = module_section(f->module, code[i]);
		if (s && s->size)
			add_start(f, s->va, 0, code[i], FOUND_ENTRY, 0);
	}
}

static void note_pointer(struct flow *f, uint64_t va)
{
	if (va % f->arch->insn_align == 0 && module_is_code(f->module, va) && !in_plt(f, va))
		vec_push(&f->code_pointers, va);
}

/* A program at fixed addresses has no relocations left: any word of its data that is an address in
 * code may be a pointer. */
static void pointers_from_words(struct flow *f)
{
	for (uint32_t i = 0; i < f->module->section_count; i++) {
		const struct section *s = &f->module->sections[i];
		if (s->execute || !s->in_file || s->va % 8)
			continue;
		const uint8_t *bytes = module_section_bytes(f->module, s);
		for (uint64_t at = 0; at + 8 <= s->size; at += 8) {
			uint64_t word;
			memcpy(&word, bytes + at, 8);
			if (word)
				note_pointer(f, word);
		}
	}
}

static void find_pointers(struct flow *f)
{
	uint32_t count;
	const struct reloc *all = module_relocs(f->module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct reloc *r = &all[i];
		if (r->kind == RELOC_RELATIVE || r->kind == RELOC_IFUNC || r->defined)
			note_pointer(f, r->value);
	}
	if (f->module->kind == MODULE_EXECUTABLE)
		pointers_from_words(f);
	uint32_t kept = 0;
	order_by_address(f->code_pointers.data, f->code_pointers.len, sizeof(uint64_t), 0);
	for (uint32_t i = 0; i < f->code_pointers.len; i++)
		if (!i || f->code_pointers.data[i] != f->code_pointers.data[i - 1])
			f->code_pointers.data[kept++] = f->code_pointers.data[i];
	f->code_pointers.len = kept;
}

/* A symbol and an unwind range often describe the same fragment. */
static void merge_fragments(struct flow *f)
{
	uint32_t kept = 0;
	order_by_address(f->fragments.data, f->fragments.len, sizeof(struct detached_part),
			 offsetof(struct detached_part, start));
	vec_each (x, &f->fragments) {
		struct detached_part *last = kept ? &f->fragments.data[kept - 1] : NULL;
		if (last && x->start < last->end) {
			if (x->end > last->end)
				last->end = x->end;
			if (!last->name)
				last->name = x->name;
		} else {
			f->fragments.data[kept++] = *x;
		}
	}
	f->fragments.len = kept;
}

/* Drops starts inside a fragment: the unwind range of a cold part is not a start if its symbol says
 * that it is a part. Requires `added` sorted. */
static void drop_fragment_starts(struct flow *f)
{
	uint32_t kept = 0, at = 0;
	vec_each (p, &f->added) {
		while (at < f->fragments.len && f->fragments.data[at].end <= p->start)
			at++;
		bool inside = at < f->fragments.len && f->fragments.data[at].start <= p->start;
		if (!inside || p->name)
			f->added.data[kept++] = *p;
	}
	f->added.len = kept;
}

static void mark_noreturn_names(struct flow *f)
{
	vec_each (p, &f->funcs)
		if (p->name && is_noreturn_name(p->name, p->flags & FUNCTION_PLT))
			p->flags |= FUNCTION_NORETURN;
}

/* "foo.cold" belongs to foo, if there is only one foo. */
static void join_fragments_by_name(struct flow *f)
{
	struct hashmap by_name = {0};
	enum { SEVERAL_OWNERS = UINT32_MAX - 1 };
	for (uint32_t i = 0; i < f->funcs.len; i++) {
		const char *name = f->funcs.data[i].name;
		uint64_t hash = name ? hash_bytes(name, strlen(name), 0) : 0;
		if (name && hashmap_add(&by_name, hash, i) != i)
			hashmap_put(&by_name, hash, (uint32_t)SEVERAL_OWNERS);
	}
	vec_each (x, &f->fragments) {
		if (!x->name)
			continue;
		size_t n = (size_t)(strstr(x->name, ".cold") - x->name);
		uint32_t owner = hashmap_get(&by_name, hash_bytes(x->name, n, 0));
		if (owner < f->funcs.len) {
			add_part(f, &f->funcs.data[owner], x->start, x->end);
			x->taken = true;
		}
	}
	hashmap_release(&by_name);
}

static void make_table(void *module, uint32_t item, uint32_t worker)
{
	uint32_t count;
	(void)worker;
	if (item == 0)
		module_relocs(module, &count);
	else if (item == 1)
		module_frames(module, &count);
	else
		module_symbols(module, &count);
}

/* The tables of a large module take most of the time. They do not depend on each other. */
static void make_tables(const struct module *m)
{
	enum { TABLES = 3, LARGE_MODULE = 4 << 20 };
	if (m->size >= LARGE_MODULE)
		parallel_for(TABLES, 1, make_table, (void *)(uintptr_t)m);
}

void starts_from_file(struct flow *f)
{
	make_tables(f->module);
	starts_from_symbols(f);
	starts_from_frames(f);
	starts_from_plt(f);
	starts_from_entries(f);
	find_pointers(f);
	merge_fragments(f);
	sort_starts(f);
	drop_fragment_starts(f);
	merge_starts(f);
	mark_noreturn_names(f);
	join_fragments_by_name(f);
}
