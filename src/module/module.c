/* Accessors of a module. */
#include "module/module.h"

#include <string.h>

#include "base/order.h"
#include "module/elf_reader.h"

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

const uint8_t *module_section_bytes(const struct module *m, const struct section *s)
{
	return lazy_file_at(m->file, s->offset, s->size);
}

const uint8_t *module_at(const struct module *m, uint64_t va, uint64_t want, size_t *n)
{
	uint32_t i = ORDER_UP_TO(m->segments, m->segment_count, va, va);
	const struct segment *s = i ? &m->segments[i - 1] : NULL;
	if (!s || va - s->va >= s->file_size)
		return NULL;
	uint64_t room = s->file_size - (va - s->va);
	*n = (size_t)(room < want ? room : want);
	return lazy_file_at(m->file, s->file_offset + (va - s->va), *n);
}

bool module_is_code(const struct module *m, uint64_t va)
{
	const struct section *s = module_section_at(m, va);
	return s && s->execute;
}

void elf_need(struct reader *r, enum table_kind kind, void (*make)(struct reader *r))
{
	struct lazy_table *t = &r->tables[kind];
	if (atomic_load_explicit(&t->made, memory_order_acquire))
		return;
	pthread_mutex_lock(&t->lock);
	if (!atomic_load(&t->made)) {
		make(r);
		arena_release(&t->tmp);
		atomic_store_explicit(&t->made, true, memory_order_release);
	}
	pthread_mutex_unlock(&t->lock);
}

/* Names are pointers into string tables, and libdw keeps pointers into debugging sections. */
static bool has_pointers_to(const struct raw_section *s)
{
	return s->type == SHT_STRTAB || !strncmp(s->name, ".debug", 6) ||
	       !strncmp(s->name, ".zdebug", 7) || !strncmp(s->name, ".gnu_debug", 10);
}

void module_forget_bytes(struct module *m)
{
	const struct reader *r = m->reader;
	for (uint32_t i = 0; i < r->section_count; i++)
		if (r->sections[i].in_file && !has_pointers_to(&r->sections[i]))
			lazy_file_forget(m->file, r->sections[i].offset, r->sections[i].size);
}

const char *module_problem(const struct module *m)
{
	return lazy_file_problem(m->file);
}
