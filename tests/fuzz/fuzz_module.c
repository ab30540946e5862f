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
		if (s->bytes)
			touch(s->bytes, s->size);
		size_t n = 0;
		touch(module_at(m, s->va, &n), n);
		sink += module_section(m, s->name) != NULL;
		sink += module_is_code(m, s->va + s->size - 1);
	}
	for (uint32_t i = 0; i < m->segment_count; i++) {
		size_t n = 0;
		uint64_t last = m->segments[i].va + m->segments[i].file_size - 1;
		touch(module_at(m, m->segments[i].va, &n), n);
		touch(module_at(m, last, &n), n);
	}
}

static void walk_symbols(const struct module *m)
{
	struct arena a;
	arena_init(&a);
	for (uint32_t i = 0; i < m->symbol_count; i++) {
		const struct symbol *s = &m->symbols[i];
		FUZZ_CHECK(i == 0 || m->symbols[i - 1].va <= s->va);
		sink += strlen(s->name);
		if (i < 300)
			sink += strlen(demangle(&a, s->name));
		FUZZ_CHECK(module_symbol_from(m, s->va) <= i);
	}
	arena_release(&a);
}

static void walk_relocs(const struct module *m)
{
	for (uint32_t i = 0; i < m->reloc_count; i++) {
		const struct reloc *r = &m->relocs[i];
		uint64_t word;
		FUZZ_CHECK(i == 0 || m->relocs[i - 1].va <= r->va);
		sink += r->symbol ? strlen(r->symbol) : 0;
		sink += module_word(m, r->va, &word) ? word : 0;
		FUZZ_CHECK(module_reloc_at(m, r->va));
	}
}

static void walk_frames(const struct module *m)
{
	for (uint32_t i = 0; i < m->frame_count; i++) {
		const struct frame_range *f = &m->frames[i];
		FUZZ_CHECK(f->start <= f->end && (i == 0 || m->frames[i - 1].start <= f->start));
		sink += module_frame_at(m, f->start) != NULL;
	}
	for (uint32_t i = 0; i < m->landing_count; i++)
		FUZZ_CHECK(i == 0 || m->landings[i - 1].start <= m->landings[i].start);
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
	walk_frames(m);
	uint64_t word;
	sink += module_word(m, m->entry, &word);
	sink += module_word(m, UINT64_MAX - 3, &word);
	module_close(m);
}
