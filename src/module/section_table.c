#include "module/section_table.h"

Elf64_Shdr section_table_header(const struct section_table *t, uint32_t number)
{
	Elf64_Shdr h;
	memcpy(&h, t->bytes + t->header.e_shoff + number * sizeof(h), sizeof(h));
	return h;
}

static bool has_headers(const struct section_table *t, uint64_t count)
{
	return t->header.e_shoff && t->header.e_shentsize == sizeof(Elf64_Shdr) &&
	       count <= t->size / sizeof(Elf64_Shdr) &&
	       bytes_inside(t->header.e_shoff, count * sizeof(Elf64_Shdr), t->size);
}

/* The first section header has the numbers that do not fit into the ELF header. */
bool section_table_open(struct section_table *t, const uint8_t *bytes, size_t size)
{
	*t = (struct section_table){.bytes = bytes, .size = size};
	if (size < sizeof(t->header) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return true;
	memcpy(&t->header, bytes, sizeof(t->header));
	uint64_t count = t->header.e_shnum;
	bool first = t->header.e_ident[EI_CLASS] == ELFCLASS64 && has_headers(t, 1);
	if (!count && first)
		count = section_table_header(t, 0).sh_size;
	if (!count)
		return true;
	if (!first || count > UINT32_MAX || !has_headers(t, count))
		return false;
	t->count = (uint32_t)count;
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

bool section_table_bytes(const struct section_table *t, const Elf64_Shdr *h, struct slice *out)
{
	if (h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL || !h->sh_size ||
	    !bytes_inside(h->sh_offset, h->sh_size, t->size))
		return false;
	*out = (struct slice){t->bytes + h->sh_offset, h->sh_size};
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

bool elf_section_find(const uint8_t *bytes, size_t size, const char *name, struct slice *out)
{
	struct section_table t;
	Elf64_Shdr h;
	return section_table_open(&t, bytes, size) && section_table_find(&t, name, &h) &&
	       section_table_bytes(&t, &h, out);
}
