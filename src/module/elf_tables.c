/* Segments and sections. The kernel and the dynamic linker rely on the program headers, so they
 * must be right. The section table is optional; if it is missing or invalid, the segments are used
 * as sections. */
#include <stdarg.h>
#include <stdio.h>

#include "base/order.h"
#include "module/elf_reader.h"
#include "module/packed.h"

enum { NOTES_MAX = 16 };

static const char *const truncated = "the file is truncated or damaged; build or copy it again";

void elf_note(struct note_list *to, const char *fmt, ...)
{
	char text[300];
	va_list ap;
	if (to->list.len >= NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	vec_push(&to->list, arena_strdup(&to->arena, text));
}

struct string_table string_table_over(const uint8_t *bytes, uint64_t size)
{
	bool usable = bytes && size && !bytes[size - 1];
	return (struct string_table){.at = (const char *)bytes, .size = usable ? size : 0};
}

const char *string_at(const struct string_table *t, uint64_t offset)
{
	return offset < t->size ? t->at + offset : NULL;
}

static int read_programs(struct reader *r, struct err *e)
{
	const Elf64_Ehdr *h = &r->header;
	uint64_t count = h->e_phnum;
	if (count == PN_XNUM && r->table.count)
		count = section_table_header(&r->table, 0).sh_info;
	if (!count || h->e_phentsize != sizeof(Elf64_Phdr) ||
	    !bytes_inside(h->e_phoff, count * sizeof(Elf64_Phdr), r->module->size))
		return err_set(e, ERR_INPUT, "its program headers are not within the file: %s",
			       truncated);
	uint64_t size = count * sizeof(Elf64_Phdr);
	r->programs =
		arena_memdup(&r->module->arena, lazy_file_at(r->module->file, h->e_phoff, size),
			     size, _Alignof(Elf64_Phdr));
	r->program_count = (uint32_t)count;
	return 0;
}

static bool is_in_file(struct reader *r, const Elf64_Shdr *h, const char *name)
{
	if (section_table_has(&r->table, h))
		return true;
	if (h->sh_type != SHT_NOBITS && h->sh_type != SHT_NULL && h->sh_size)
		elf_note(&r->notes, "section %.40s is not within the file; it was left out", name);
	return false;
}

static void read_raw_sections(struct reader *r)
{
	uint32_t count = r->table.count;
	struct raw_section *s = ARENA_ARRAY(&r->module->arena, struct raw_section, count);
	for (uint32_t i = 0; i < count; i++) {
		Elf64_Shdr h = section_table_header(&r->table, i);
		const char *name = section_table_name(&r->table, &h);
		s[i] = (struct raw_section){.name = name,
					    .flags = h.sh_flags,
					    .va = h.sh_addr,
					    .offset = h.sh_offset,
					    .size = h.sh_size,
					    .type = h.sh_type,
					    .link = h.sh_link,
					    .in_file = is_in_file(r, &h, name)};
	}
	r->sections = s;
	r->section_count = count;
}

/* Whether this is a separate debug file. Only those have read-only sections without bytes in the
 * file. */
static bool is_debug_only(const struct reader *r)
{
	bool emptied = false;
	for (uint32_t i = 0; i < r->section_count; i++) {
		const struct raw_section *s = &r->sections[i];
		if (!(s->flags & SHF_ALLOC))
			continue;
		if (s->type == SHT_PROGBITS && s->flags & SHF_EXECINSTR && s->size)
			return false;
		emptied |= s->type == SHT_NOBITS && !(s->flags & SHF_WRITE) && s->size;
	}
	return emptied;
}

static int add_segment(struct reader *r, struct segment *out, const Elf64_Phdr *p, struct err *e)
{
	uint64_t file_size = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz;
	if (p->p_vaddr + p->p_memsz < p->p_vaddr)
		return err_set(e, ERR_INPUT, "a segment leaves the address space: %s", truncated);
	if (r->module->debug_only)
		file_size = 0;
	if (!bytes_inside(p->p_offset, file_size, r->module->size) && file_size)
		return err_set(
			e, ERR_INPUT,
			"a segment of %llu bytes at offset %llu does not fit into the file's "
			"%zu bytes: %s",
			(unsigned long long)file_size, (unsigned long long)p->p_offset,
			r->module->size, truncated);
	*out = (struct segment){.va = p->p_vaddr,
				.memory_size = p->p_memsz,
				.file_offset = p->p_offset,
				.file_size = file_size,
				.read = p->p_flags & PF_R,
				.write = p->p_flags & PF_W,
				.execute = p->p_flags & PF_X};
	return 0;
}

/* Cuts the end of a segment that the next one overlaps, because a later mapping replaces an earlier
 * one. Afterwards every address is in at most one segment. Returns how many are left. */
static uint32_t separate_segments(struct segment *s, uint32_t count)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t room = i + 1 < count ? s[i + 1].va - s[i].va : UINT64_MAX;
		s[n] = s[i];
		s[n].memory_size = s[n].memory_size < room ? s[n].memory_size : room;
		s[n].file_size = s[n].file_size < room ? s[n].file_size : room;
		n += room != 0;
	}
	return n;
}

static uint32_t separate_sections(struct section *s, uint32_t count)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t room = i + 1 < count ? s[i + 1].va - s[i].va : UINT64_MAX;
		s[n] = s[i];
		s[n].size = s[n].size < room ? s[n].size : room;
		n += room != 0;
	}
	return n;
}

static int read_segments(struct reader *r, struct err *e)
{
	struct module *m = r->module;
	struct segment *s = ARENA_ARRAY(&m->arena, struct segment, r->program_count);
	for (uint32_t i = 0; i < r->program_count; i++) {
		if (r->programs[i].p_type != PT_LOAD || !r->programs[i].p_memsz)
			continue;
		int rc = add_segment(r, &s[m->segment_count], &r->programs[i], e);
		if (rc)
			return rc;
		m->segment_count++;
	}
	if (!m->segment_count && !m->debug_only)
		return err_set(e, ERR_INPUT, "no part of it is loaded into memory: %s", truncated);
	order_by_address(s, m->segment_count, sizeof(*s), offsetof(struct segment, va));
	m->segment_count = separate_segments(s, m->segment_count);
	m->segments = s;
	return 0;
}

/* A section must lie in a segment. In a debug file that cannot be checked: its program headers may
 * have been stripped together with the code. */
static bool has_room(const struct module *m, uint64_t va, uint64_t size)
{
	if (m->debug_only)
		return va + size > va;
	uint32_t n = order_up_to(m->segments, m->segment_count, sizeof(*m->segments),
				 offsetof(struct segment, va), va);
	return n && bytes_inside(va - m->segments[n - 1].va, size, m->segments[n - 1].memory_size);
}

/* .tbss has an address but no memory there: it would hide the section after it. */
static bool is_mapped(const struct raw_section *s)
{
	return s->flags & SHF_ALLOC && s->size && s->type != SHT_NULL &&
	       !(s->flags & SHF_TLS && s->type == SHT_NOBITS);
}

static uint32_t add_sections(struct reader *r, struct section *out)
{
	uint32_t n = 0, outside = 0;
	for (uint32_t i = 0; i < r->section_count; i++) {
		const struct raw_section *s = &r->sections[i];
		if (!is_mapped(s))
			continue;
		if (!has_room(r->module, s->va, s->size)) {
			outside++;
			continue;
		}
		out[n++] = (struct section){.name = s->name,
					    .va = s->va,
					    .size = s->size,
					    .offset = s->offset,
					    .in_file = s->in_file,
					    .write = s->flags & SHF_WRITE,
					    .execute = s->flags & SHF_EXECINSTR};
	}
	if (outside)
		elf_note(&r->notes, "%u sections are not within a segment; they were left out",
			 outside);
	return n;
}

/* Makes sections of each segment: the part that the file holds, and the part that starts as zeros.
 */
static uint32_t segments_as_sections(struct reader *r, struct section *out)
{
	struct module *m = r->module;
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->segment_count; i++) {
		const struct segment *s = &m->segments[i];
		struct section part = {.name = arena_printf(&m->arena, "segment %u", i),
				       .va = s->va,
				       .size = s->file_size,
				       .offset = s->file_offset,
				       .in_file = s->file_size != 0,
				       .write = s->write,
				       .execute = s->execute};
		if (s->file_size)
			out[n++] = part;
		part.va += s->file_size;
		part.size = s->memory_size - s->file_size;
		part.in_file = false;
		if (part.size)
			out[n++] = part;
	}
	return n;
}

static bool runs_at(const struct module *m, uint64_t va)
{
	for (uint32_t i = 0; i < m->segment_count; i++)
		if (m->segments[i].execute && va - m->segments[i].va < m->segments[i].file_size)
			return true;
	return false;
}

/* Whether the program starts at code that is in no section: the section table then does not belong
 * to this file. */
static bool sections_miss_entry(const struct reader *r, const struct section *s, uint32_t count)
{
	uint64_t entry = r->header.e_entry;
	for (uint32_t i = 0; i < count; i++)
		if (s[i].execute && entry - s[i].va < s[i].size)
			return false;
	return entry && runs_at(r->module, entry);
}

int elf_read_tables(struct reader *r, struct err *e)
{
	struct module *m = r->module;
	if (!section_table_open(&r->table, m->file))
		elf_note(&r->notes,
			 "the section table is not within the file; segments are used instead");
	int rc = read_programs(r, e);
	if (rc)
		return rc;
	read_raw_sections(r);
	m->debug_only = is_debug_only(r);
	rc = read_segments(r, e);
	if (rc)
		return rc;
	struct section *s = ARENA_ARRAY(&m->arena, struct section,
					r->section_count + 2 * (uint64_t)m->segment_count);
	uint32_t n = add_sections(r, s);
	if (!n || sections_miss_entry(r, s, n)) {
		if (r->section_count)
			elf_note(&r->notes,
				 "the sections do not cover the program; segments are used");
		r->section_count = 0;
		n = segments_as_sections(r, s);
	}
	order_by_address(s, n, sizeof(*s), offsetof(struct section, va));
	m->sections = s;
	m->section_count = separate_sections(s, n);
	return 0;
}

const struct raw_section *elf_section(const struct reader *r, const char *name)
{
	for (uint32_t i = 0; i < r->section_count; i++)
		if (!strcmp(r->sections[i].name, name))
			return &r->sections[i];
	return NULL;
}

struct slice elf_bytes(const struct reader *r, const struct raw_section *s)
{
	if (!s || !s->in_file)
		return (struct slice){0};
	return (struct slice){lazy_file_at(r->module->file, s->offset, s->size), s->size};
}

struct slice elf_contents(struct reader *r, struct lazy_table *t, const char *name)
{
	const struct raw_section *s = elf_section(r, name);
	const struct slice in = elf_bytes(r, s);
	if (!in.at)
		return in;
	const Elf64_Shdr h = {.sh_flags = s->flags};
	const struct packed p = packed_section(&h, name, in);
	if (p.how == PACKING_NONE)
		return p.in;
	uint8_t *out = p.how == PACKING_UNKNOWN ? NULL : arena_alloc(&t->tmp, p.size, 8);
	if (out && packed_unpack(&p, out))
		return (struct slice){out, p.size};
	elf_note(&t->notes, "section %.40s cannot be decompressed; it was left out", s->name);
	return (struct slice){0};
}
