/* The build id and the debug link, which connect a module with its separate debug file and with
 * cached results. */
#include "module/elf_reader.h"

bool elf_find_build_id(const uint8_t *notes, uint64_t size, struct build_id *id)
{
	struct cursor c = cursor_over(notes, size);
	while (cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_size = cursor_u32(&c), data_size = cursor_u32(&c),
			 type = cursor_u32(&c);
		const uint8_t *name = cursor_take(&c, ((uint64_t)name_size + 3) & ~(uint64_t)3);
		const uint8_t *data = cursor_take(&c, data_size);
		if (!name || !data)
			return false;
		cursor_take(&c, -data_size & 3);
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) != 0)
			continue;
		if (!data_size || data_size > sizeof(id->bytes))
			return false;
		memcpy(id->bytes, data, data_size);
		id->size = (uint8_t)data_size;
		return true;
	}
	return false;
}

/* Sections that overlap could together be longer than the file. The budget limits the time that
 * this takes. */
static bool build_id_in_sections(struct reader *r)
{
	uint64_t budget = r->module->size;
	for (uint32_t i = 0; i < r->section_count; i++) {
		const struct raw_section *s = &r->sections[i];
		if (s->type != SHT_NOTE || !s->in_file || s->size > budget)
			continue;
		budget -= s->size;
		if (elf_find_build_id(elf_bytes(r, s).at, s->size, &r->module->build_id))
			return true;
	}
	return false;
}

static void build_id_in_segments(struct reader *r)
{
	uint64_t budget = r->module->size;
	for (uint32_t i = 0; i < r->program_count; i++) {
		const Elf64_Phdr *p = &r->programs[i];
		if (p->p_type != PT_NOTE || p->p_filesz > budget ||
		    !bytes_inside(p->p_offset, p->p_filesz, r->module->size))
			continue;
		budget -= p->p_filesz;
		if (elf_find_build_id(lazy_file_at(r->module->file, p->p_offset, p->p_filesz),
				      p->p_filesz, &r->module->build_id))
			return;
	}
}

/* The section holds the file name, NUL, padding to a multiple of four, and the checksum of that
 * file. */
static void read_debuglink(struct reader *r)
{
	struct slice s = elf_bytes(r, elf_section(r, ".gnu_debuglink"));
	if (!s.at)
		return;
	size_t length = strnlen((const char *)s.at, s.size), at = (length + 4) & ~(size_t)3;
	if (!length || !bytes_inside(at, 4, s.size))
		return;
	r->module->debuglink = (const char *)s.at;
	memcpy(&r->module->debuglink_crc, s.at + at, 4);
}

void elf_read_identity(struct reader *r)
{
	if (!build_id_in_sections(r) && !r->module->debug_only)
		build_id_in_segments(r);
	read_debuglink(r);
}
