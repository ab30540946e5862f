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

static void walk_sections(const struct module *im)
{
	for (uint32_t i = 0; i < im->section_count; i++) {
		const struct section *s = &im->sections[i];
		FUZZ_CHECK(i == 0 || im->sections[i - 1].va <= s->va);
		if (s->bytes)
			touch(s->bytes, s->size);
		size_t n = 0;
		touch(module_at(im, s->va, &n), n);
		sink += module_section(im, s->name) != NULL;
		sink += module_is_code(im, s->va + s->size - 1);
	}
	for (uint32_t i = 0; i < im->segment_count; i++) {
		size_t n = 0;
		uint64_t last = im->segments[i].va + im->segments[i].file_size - 1;
		touch(module_at(im, im->segments[i].va, &n), n);
		touch(module_at(im, last, &n), n);
	}
}

static void walk_symbols(const struct module *im)
{
	struct arena a;
	arena_init(&a);
	for (uint32_t i = 0; i < im->symbol_count; i++) {
		const struct symbol *s = &im->symbols[i];
		FUZZ_CHECK(i == 0 || im->symbols[i - 1].va <= s->va);
		sink += strlen(s->name);
		if (i < 300)
			sink += strlen(demangle(&a, s->name));
		FUZZ_CHECK(module_symbol_from(im, s->va) <= i);
	}
	arena_release(&a);
}

static void walk_relocs(const struct module *im)
{
	for (uint32_t i = 0; i < im->reloc_count; i++) {
		const struct reloc *r = &im->relocs[i];
		uint64_t word;
		FUZZ_CHECK(i == 0 || im->relocs[i - 1].va <= r->va);
		sink += r->symbol ? strlen(r->symbol) : 0;
		sink += module_word(im, r->va, &word) ? word : 0;
		FUZZ_CHECK(module_reloc_at(im, r->va));
	}
}

static void walk_frames(const struct module *im)
{
	for (uint32_t i = 0; i < im->frame_count; i++) {
		const struct frame_range *f = &im->frames[i];
		FUZZ_CHECK(f->start <= f->end && (i == 0 || im->frames[i - 1].start <= f->start));
		sink += module_frame_at(im, f->start) != NULL;
	}
	for (uint32_t i = 0; i < im->landing_count; i++)
		FUZZ_CHECK(i == 0 || im->landings[i - 1].start <= im->landings[i].start);
}

void fuzz_module(const uint8_t *data, size_t size)
{
	struct module *im = NULL;
	struct err e;
	if (module_open_memory(&im, "fuzz", data, size, &e)) {
		FUZZ_CHECK(e.text[0]);
		return;
	}
	walk_sections(im);
	walk_symbols(im);
	walk_relocs(im);
	walk_frames(im);
	uint64_t word;
	sink += module_word(im, im->entry, &word);
	sink += module_word(im, UINT64_MAX - 3, &word);
	module_close(im);
}
