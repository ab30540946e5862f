/* Procedure starts that the file itself tells, and keeping the list of all starts in order. */
#include "base/order.h"
#include "flow/entry.h"
#include "flow/internal.h"

#include <string.h>

/* Ways to find a start that labels are found by too: computed gotos have tables of pointers to
 * them, and their procedure jumps to them. */
enum { GUESSES = FOUND_JUMP | FOUND_POINTER | FOUND_ADDRESS | FOUND_GAP };

void add_start(struct flow *f, uint64_t start, uint64_t end, const char *name, unsigned found_by,
	       unsigned flags)
{
	if (start % f->arch->insn_align || !image_is_code(f->im, start))
		return;
	bool guess = !(found_by & ~(unsigned)GUESSES);
	vec_push(&f->added, (struct proc){
				    .start = start,
				    .end = end > start ? end : 0,
				    .bounded = end > start,
				    .name = name,
				    .found_by = (uint16_t)found_by,
				    .flags = (uint8_t)flags,
				    .like_label = guess && looks_like_label(f->im, f->arch, start),
				    .dirty = true,
			    });
}

static void add_fragment(struct flow *f, uint64_t start, uint64_t end, const char *name)
{
	if (end > start && image_is_code(f->im, start))
		vec_push(&f->fragments,
			 (struct fragment){.start = start, .end = end, .name = name});
}

/* "foo.cold", "foo.cold.1": a part of foo that was moved away. */
static bool is_fragment_name(const char *name)
{
	const char *dot = strstr(name, ".cold");
	return dot && dot != name && (dot[5] == '\0' || dot[5] == '.');
}

static bool in_plt(const struct flow *f, uint64_t va)
{
	const struct section *s = image_section_at(f->im, va);
	return s && is_plt_section(s);
}

/* A place in a function that others want to know, as __syscall_cancel_arch_end of glibc: assembly
 * that leaves out the types of its functions leaves out their sizes, too. */
static bool is_label(const struct symbol *s, const struct symbol *function)
{
	return s->flags & SYMBOL_UNTYPED && !s->size && function && s->va > function->va &&
	       s->va < function->va + function->size;
}

static void starts_from_symbols(struct flow *f)
{
	const struct symbol *function = NULL; /* so far, that with the highest end */
	for (uint32_t i = 0; i < f->im->symbol_count; i++) {
		const struct symbol *s = &f->im->symbols[i];
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
			  s->flags & SYMBOL_IFUNC ? PROCEDURE_IFUNC : 0);
	}
}

/* Unwinders look up the address before the one where a caller goes on. Nothing called a signal
 * trampoline, so its range begins that much early: in the middle of an instruction, perhaps. */
static uint64_t start_of_range(const struct flow *f, const struct frame_range *r)
{
	const struct arch_layout *layout = f->arch->layout;
	size_t n;
	uint64_t va = r->start + f->arch->insn_align;
	const uint8_t *p = r->is_signal ? image_at(f->im, va, &n) : NULL;
	if (p && n >= layout->sigreturn_size &&
	    !memcmp(p, layout->sigreturn, layout->sigreturn_size))
		return va;
	return r->start;
}

static void starts_from_frames(struct flow *f)
{
	for (uint32_t i = 0; i < f->im->frame_count; i++) {
		const struct frame_range *r = &f->im->frames[i];
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
	if (f->im->entry)
		add_start(f, f->im->entry, 0, NULL, FOUND_ENTRY, 0);
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		const struct section *s = image_section(f->im, arrays[i]);
		uint64_t va;
		for (uint64_t at = 0; s && at + 8 <= s->size; at += 8)
			if (image_word(f->im, s->va + at, &va))
				add_start(f, va, 0, NULL, FOUND_ENTRY, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(code); i++) {
		const struct section *s = image_section(f->im, code[i]);
		if (s && s->size)
			add_start(f, s->va, 0, code[i], FOUND_ENTRY, 0);
	}
}

static void note_pointer(struct flow *f, uint64_t va)
{
	if (va % f->arch->insn_align == 0 && image_is_code(f->im, va) && !in_plt(f, va))
		vec_push(&f->code_pointers, va);
}

/* A program at fixed addresses has no relocations left: any word of its data that is an address of
 * code may be a pointer. */
static void pointers_from_words(struct flow *f)
{
	for (uint32_t i = 0; i < f->im->section_count; i++) {
		const struct section *s = &f->im->sections[i];
		if (s->execute || !s->bytes || s->va % 8)
			continue;
		for (uint64_t at = 0; at + 8 <= s->size; at += 8) {
			uint64_t word;
			memcpy(&word, s->bytes + at, 8);
			if (word)
				note_pointer(f, word);
		}
	}
}

static void find_pointers(struct flow *f)
{
	for (uint32_t i = 0; i < f->im->reloc_count; i++) {
		const struct reloc *r = &f->im->relocs[i];
		if (r->kind == RELOC_RELATIVE || r->kind == RELOC_IFUNC || r->defined)
			note_pointer(f, r->value);
	}
	if (f->im->kind == IMAGE_EXECUTABLE)
		pointers_from_words(f);
	uint32_t kept = 0;
	order_by_address(f->code_pointers.data, f->code_pointers.len, sizeof(uint64_t), 0);
	for (uint32_t i = 0; i < f->code_pointers.len; i++)
		if (!i || f->code_pointers.data[i] != f->code_pointers.data[i - 1])
			f->code_pointers.data[kept++] = f->code_pointers.data[i];
	f->code_pointers.len = kept;
}

/* A symbol and an unwind range often tell the same. */
static void merge_fragments(struct flow *f)
{
	uint32_t kept = 0;
	order_by_address(f->fragments.data, f->fragments.len, sizeof(struct fragment),
			 offsetof(struct fragment, start));
	vec_each (x, &f->fragments) {
		struct fragment *last = kept ? &f->fragments.data[kept - 1] : NULL;
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

/* A cold part's symbol makes its unwind range a fragment too. Requires `added` sorted. */
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

static void sort_added(struct flow *f)
{
	order_by_address(f->added.data, f->added.len, sizeof(struct proc),
			 offsetof(struct proc, start));
}

static void mark_noreturn_names(struct flow *f)
{
	vec_each (p, &f->procs)
		if (p->name && is_noreturn_name(p->name, p->flags & PROCEDURE_PLT))
			p->flags |= PROCEDURE_NORETURN;
}

/* "foo.cold" belongs to foo, if there is only one foo. */
static void join_fragments_by_name(struct flow *f)
{
	struct hashmap by_name = {0};
	enum { MANY = UINT32_MAX - 1 };
	for (uint32_t i = 0; i < f->procs.len; i++) {
		const char *name = f->procs.data[i].name;
		uint64_t hash = name ? hash_bytes(name, strlen(name), 0) : 0;
		if (name && hashmap_add(&by_name, hash, i) != i)
			hashmap_put(&by_name, hash, (uint32_t)MANY);
	}
	vec_each (x, &f->fragments) {
		if (!x->name)
			continue;
		size_t n = (size_t)(strstr(x->name, ".cold") - x->name);
		uint32_t owner = hashmap_get(&by_name, hash_bytes(x->name, n, 0));
		if (owner < f->procs.len) {
			add_part(f, &f->procs.data[owner], x->start, x->end);
			x->taken = true;
		}
	}
	hashmap_release(&by_name);
}

void starts_from_file(struct flow *f)
{
	starts_from_symbols(f);
	starts_from_frames(f);
	starts_from_plt(f);
	starts_from_entries(f);
	find_pointers(f);
	merge_fragments(f);
	sort_added(f);
	drop_fragment_starts(f);
	merge_starts(f);
	mark_noreturn_names(f);
	join_fragments_by_name(f);
}

/* Which of two names of one procedure people know it by: fewer leading underscores, then shorter.
 */
static bool is_better_name(const char *a, const char *b)
{
	size_t la = strspn(a, "_"), lb = strspn(b, "_"), na = strlen(a), nb = strlen(b);
	if (la != lb)
		return la < lb;
	return na != nb ? na < nb : strcmp(a, b) < 0;
}

static void absorb(struct proc *into, const struct proc *p)
{
	/* An exported name beats a local one. */
	bool exported = p->found_by & FOUND_DYNAMIC, was = into->found_by & FOUND_DYNAMIC;
	if (p->name && (!into->name || exported > was ||
			(exported == was && is_better_name(p->name, into->name))))
		into->name = p->name;
	if (p->bounded && (!into->bounded || p->end > into->end)) {
		into->end = p->end;
		into->bounded = true;
	}
	into->found_by |= p->found_by;
	into->flags |= p->flags;
}

/* The first address behind `start` that cannot belong to the same procedure. */
static uint64_t limit_of(const struct flow *f, uint32_t i, uint32_t *fragment)
{
	uint64_t start = f->procs.data[i].start;
	const struct section *s = image_section_at(f->im, start);
	uint64_t limit = s->va + s->size;
	if (i + 1 < f->procs.len && f->procs.data[i + 1].start < limit)
		limit = f->procs.data[i + 1].start;
	while (*fragment < f->fragments.len && f->fragments.data[*fragment].start <= start)
		(*fragment)++;
	if (*fragment < f->fragments.len && f->fragments.data[*fragment].start < limit)
		limit = f->fragments.data[*fragment].start;
	return limit;
}

static void set_ends(struct flow *f)
{
	uint32_t fragment = 0;
	hashmap_release(&f->by_start);
	for (uint32_t i = 0; i < f->procs.len; i++) {
		struct proc *p = &f->procs.data[i];
		uint64_t limit = limit_of(f, i, &fragment);
		if (!p->end || p->end > limit || (!p->bounded && !p->cfg)) {
			p->end = limit;
			p->dirty = true;
		}
		hashmap_put(&f->by_start, p->start, i);
	}
}

void merge_starts(struct flow *f)
{
	proc_list out = {0};
	uint32_t i = 0, j = 0;
	sort_added(f);
	vec_reserve(&out, f->procs.len + f->added.len + 1);
	while (i < f->procs.len || j < f->added.len) {
		bool old = j == f->added.len ||
			   (i < f->procs.len && f->procs.data[i].start <= f->added.data[j].start);
		const struct proc *next = old ? &f->procs.data[i++] : &f->added.data[j++];
		if (out.len && vec_last(&out).start == next->start)
			absorb(&vec_last(&out), next);
		else
			vec_push(&out, *next);
	}
	vec_free(&f->procs);
	vec_clear(&f->added);
	f->procs = out;
	set_ends(f);
}

bool is_guess(const struct proc *p)
{
	return p->like_label && !p->part_count && !(p->found_by & ~GUESSES);
}

void set_reaches(struct flow *f)
{
	for (uint32_t i = f->procs.len; i-- > 0;) {
		struct proc *p = &f->procs.data[i];
		const struct proc *next = i + 1 < f->procs.len ? p + 1 : NULL;
		bool open = next && !p->bounded && p->end == next->start && is_guess(next);
		p->reach = open ? next->reach : p->end;
	}
}

uint32_t proc_at(const struct flow *f, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(f->procs.data, f->procs.len, start, va);
	return n && va < f->procs.data[n - 1].end ? n - 1 : UINT32_MAX;
}
