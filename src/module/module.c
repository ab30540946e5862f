/* Accessors of a module. */
#include "module/module.h"

#include <string.h>

#include "base/order.h"

const struct section *module_section_at(const struct module *m, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(m->sections, m->section_count, va, va);
	const struct section *s = n ? &m->sections[n - 1] : NULL;
	return s && va - s->va < s->size ? s : NULL;
}

const struct section *module_section(const struct module *m, const char *name)
{
	for (uint32_t i = 0; i < m->section_count; i++)
		if (!strcmp(m->sections[i].name, name))
			return &m->sections[i];
	return NULL;
}

const uint8_t *module_at(const struct module *m, uint64_t va, size_t *n)
{
	uint32_t i = ORDER_UP_TO(m->segments, m->segment_count, va, va);
	const struct segment *s = i ? &m->segments[i - 1] : NULL;
	if (!s || va - s->va >= s->file_size)
		return NULL;
	*n = (size_t)(s->file_size - (va - s->va));
	return m->bytes + s->file_offset + (va - s->va);
}

bool module_is_code(const struct module *m, uint64_t va)
{
	const struct section *s = module_section_at(m, va);
	return s && s->execute;
}

const struct reloc *module_reloc_at(const struct module *m, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(m->relocs, m->reloc_count, va, va);
	return n && m->relocs[n - 1].va == va ? &m->relocs[n - 1] : NULL;
}

uint32_t module_symbol_from(const struct module *m, uint64_t va)
{
	return va ? ORDER_UP_TO(m->symbols, m->symbol_count, va, va - 1) : 0;
}

const struct frame_range *module_frame_at(const struct module *m, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(m->frames, m->frame_count, start, va);
	return n && va < m->frames[n - 1].end ? &m->frames[n - 1] : NULL;
}

bool module_word(const struct module *m, uint64_t va, uint64_t *out)
{
	const struct reloc *r = module_reloc_at(m, va);
	if (r) {
		*out = r->value;
		return r->kind == RELOC_RELATIVE || (r->defined && r->kind != RELOC_IFUNC);
	}
	size_t n;
	const uint8_t *p = m->kind == MODULE_EXECUTABLE ? module_at(m, va, &n) : NULL;
	if (!p || n < 8)
		return false;
	memcpy(out, p, 8);
	return true;
}
