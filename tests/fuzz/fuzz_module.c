/* Loading of modules: everything that the accessors return must lie inside what was given. */
#include <string.h>

#include "module/demangle.h"
#include "module/module.h"
#include "targets.h"

static volatile uint64_t sink;

static void touch(const uint8_t *p, size_t n)
{
	if (p && n) {
		sink += p[0];
		sink += p[n - 1];
	}
}

static void walk_sections(const struct module *m)
{
	for (uint32_t i = 0; i < m->section_count; i++) {
		const struct section *s = &m->sections[i];
		FUZZ_CHECK(i == 0 || m->sections[i - 1].va <= s->va);
		if (s->in_file)
			touch(module_section_bytes(m, s), s->size);
		size_t n = 0;
		touch(module_at(m, s->va, UINT64_MAX, &n), n);
		sink += module_section(m, s->name) != NULL;
		sink += module_is_code(m, s->va + s->size - 1);
	}
	for (uint32_t i = 0; i < m->segment_count; i++) {
		size_t n = 0;
		uint64_t last = m->segments[i].va + m->segments[i].file_size - 1;
		touch(module_at(m, m->segments[i].va, UINT64_MAX, &n), n);
		touch(module_at(m, last, UINT64_MAX, &n), n);
	}
}

static void walk_symbols(const struct module *m)
{
	struct arena a;
	arena_init(&a);
	uint32_t count;
	const struct symbol *all = module_symbols(m, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *s = &all[i];
		FUZZ_CHECK(i == 0 || all[i - 1].va <= s->va);
		sink += strlen(s->name);
		if (i < 300)
			sink += strlen(demangle(&a, s->name));
		FUZZ_CHECK(module_symbol_from(m, s->va) <= i);
	}
	arena_release(&a);
}

static void walk_relocs(const struct module *m)
{
	uint32_t count;
	const struct reloc *all = module_relocs(m, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct reloc *r = &all[i];
		uint64_t word;
		FUZZ_CHECK(i == 0 || all[i - 1].va <= r->va);
		sink += r->symbol ? strlen(r->symbol) : 0;
		sink += module_word(m, r->va, &word) ? word : 0;
		FUZZ_CHECK(module_reloc_at(m, r->va));
	}
	uint32_t slots;
	all = module_slots(m, &slots);
	FUZZ_CHECK(slots <= count);
	for (uint32_t i = 0; i < slots; i++)
		FUZZ_CHECK(all[i].kind != RELOC_RELATIVE && module_slot_at(m, all[i].va));
}

/* Look-ups by the index of the file, before the tables are made. */
static void look_up_frames(const struct module *m)
{
	struct frame_range f;
	struct arena a = {0};
	uint32_t count = module_frame_count(m), n;
	for (uint32_t i = 0; i < count && i < 300; i++) {
		if (!module_frame(m, i, &f))
			continue;
		FUZZ_CHECK(f.start <= f.end);
		sink += module_frame_at(m, f.start, &f);
		sink += module_frame_after(m, f.start);
		const struct landing *l = module_landings_in(m, f.start, f.end, &a, &n);
		for (uint32_t k = 0; k < n; k++)
			FUZZ_CHECK(l[k].start >= f.start && l[k].start < f.end);
	}
	arena_release(&a);
}

static void walk_frames(const struct module *m)
{
	uint32_t count;
	const struct frame_range *all = module_frames(m, &count);
	struct frame_range f;
	for (uint32_t i = 0; i < count; i++) {
		FUZZ_CHECK(all[i].start <= all[i].end &&
			   (i == 0 || all[i - 1].start <= all[i].start));
		sink += module_frame_at(m, all[i].start, &f);
	}
	const struct landing *landings = module_landings(m, &count);
	for (uint32_t i = 0; i < count; i++)
		FUZZ_CHECK(i == 0 || landings[i - 1].start <= landings[i].start);
	module_notes(m, &count);
}

void fuzz_module(const uint8_t *data, size_t size)
{
	struct module *m = NULL;
	struct err e;
	if (module_open_memory(&m, "fuzz", data, size, &e)) {
		FUZZ_CHECK(e.text[0]);
		return;
	}
	walk_sections(m);
	walk_symbols(m);
	walk_relocs(m);
	look_up_frames(m);
	walk_frames(m);
	uint64_t word;
	sink += module_word(m, m->entry, &word);
	sink += module_word(m, UINT64_MAX - 3, &word);
	module_close(m);
}
