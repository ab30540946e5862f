#include "module/section_table.h"

Elf64_Shdr section_table_header(const struct section_table *t, uint32_t number)
{
	Elf64_Shdr h;
	memcpy(&h, t->headers + number * sizeof(h), sizeof(h));
	return h;
}

static bool has_headers(const struct section_table *t, uint64_t count)
{
	return t->header.e_shoff && t->header.e_shentsize == sizeof(Elf64_Shdr) &&
	       count <= t->file->size / sizeof(Elf64_Shdr) &&
	       bytes_inside(t->header.e_shoff, count * sizeof(Elf64_Shdr), t->file->size);
}

/* The first section header has the numbers that do not fit into the ELF header. */
bool section_table_open(struct section_table *t, const struct lazy_file *f)
{
	*t = (struct section_table){.file = f};
	if (f->size < sizeof(t->header))
		return true;
	memcpy(&t->header, lazy_file_at(f, 0, sizeof(t->header)), sizeof(t->header));
	if (memcmp(t->header.e_ident, ELFMAG, SELFMAG) != 0)
		return true;
	uint64_t count = t->header.e_shnum;
	bool first = t->header.e_ident[EI_CLASS] == ELFCLASS64 && has_headers(t, 1);
	if (first)
		t->headers = lazy_file_at(f, t->header.e_shoff, sizeof(Elf64_Shdr));
	if (!count && first)
		count = section_table_header(t, 0).sh_size;
	if (!count)
		return true;
	if (!first || count > UINT32_MAX || !has_headers(t, count))
		return false;
	t->count = (uint32_t)count;
	t->headers = lazy_file_at(f, t->header.e_shoff, count * sizeof(Elf64_Shdr));
	t->name_section = t->header.e_shstrndx == SHN_XINDEX ? section_table_header(t, 0).sh_link
							     : t->header.e_shstrndx;
	Elf64_Shdr names = {0};
	if (t->name_section < count)
		names = section_table_header(t, t->name_section);
	if (!section_table_bytes(t, &names, &t->names))
		t->names = (struct slice){0};
	return true;
}

const char *section_table_name(const struct section_table *t, const Elf64_Shdr *h)
{
	if (h->sh_name >= t->names.size ||
	    !memchr(t->names.at + h->sh_name, 0, t->names.size - h->sh_name))
		return "";
	return (const char *)t->names.at + h->sh_name;
}

bool section_table_has(const struct section_table *t, const Elf64_Shdr *h)
{
	return h->sh_type != SHT_NOBITS && h->sh_type != SHT_NULL && h->sh_size &&
	       bytes_inside(h->sh_offset, h->sh_size, t->file->size);
}

bool section_table_bytes(const struct section_table *t, const Elf64_Shdr *h, struct slice *out)
{
	if (!section_table_has(t, h))
		return false;
	*out = (struct slice){lazy_file_at(t->file, h->sh_offset, h->sh_size), h->sh_size};
	return true;
}

bool section_table_find(const struct section_table *t, const char *name, Elf64_Shdr *out)
{
	for (uint32_t i = 1; i < t->count; i++) {
		*out = section_table_header(t, i);
		if (!strcmp(section_table_name(t, out), name))
			return true;
	}
	return false;
}

bool elf_section_find(const struct lazy_file *f, const char *name, struct slice *out)
{
	struct section_table t;
	Elf64_Shdr h;
	return section_table_open(&t, f) && section_table_find(&t, name, &h) &&
	       section_table_bytes(&t, &h, out);
}
