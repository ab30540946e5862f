/* Sections of an ELF file in memory, and a copy of the debugging ones with all compression taken
 * off.
 *
 * Compressed sections are SHF_COMPRESSED with a header of their own, or of the older kind: named
 * .zdebug_* and starting with "ZLIB" and the size, big-endian. The copy is an ELF file of the same
 * section numbers in which all other sections are empty:
 *
 *	ELF header | section headers | section names | sections, each 8-aligned */
#include <elf.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/log.h"
#include "image/debug_private.h"

/* DWARF shrinks to a third or so; a section that grows more than this is an attack. */
enum { MAX_GROWTH = 256, GROWTH_FLOOR = 1 << 20 };

struct elf_view {
	const uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
	struct slice names;
	uint32_t count, name_section;
};

static Elf64_Shdr section_header(const struct elf_view *v, uint32_t i)
{
	Elf64_Shdr h;
	memcpy(&h, v->bytes + v->header.e_shoff + i * sizeof(h), sizeof(h));
	return h;
}

static bool section_bytes(const struct elf_view *v, const Elf64_Shdr *h, struct slice *out)
{
	if (h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL || !h->sh_size ||
	    !bytes_inside(h->sh_offset, h->sh_size, v->size))
		return false;
	*out = (struct slice){v->bytes + h->sh_offset, h->sh_size};
	return true;
}

static bool view_open(struct elf_view *v, const uint8_t *bytes, size_t size)
{
	*v = (struct elf_view){.bytes = bytes, .size = size};
	if (size < sizeof(v->header) || memcmp(bytes, ELFMAG, SELFMAG))
		return false;
	memcpy(&v->header, bytes, sizeof(v->header));
	if (v->header.e_ident[EI_CLASS] != ELFCLASS64 || !v->header.e_shoff ||
	    v->header.e_shentsize != sizeof(Elf64_Shdr) ||
	    !bytes_inside(v->header.e_shoff, sizeof(Elf64_Shdr), size))
		return false;
	Elf64_Shdr first = section_header(v, 0);
	uint64_t count = v->header.e_shnum ? v->header.e_shnum : first.sh_size;
	uint32_t names = v->header.e_shstrndx == SHN_XINDEX ? first.sh_link : v->header.e_shstrndx;
	if (count > (size - v->header.e_shoff) / sizeof(first) || names >= count)
		return false;
	v->count = (uint32_t)count;
	v->name_section = names;
	Elf64_Shdr h = section_header(v, names);
	return section_bytes(v, &h, &v->names);
}

/* The name, or "" if it lies outside. */
static const char *section_name(const struct elf_view *v, const Elf64_Shdr *h)
{
	if (h->sh_name >= v->names.size ||
	    !memchr(v->names.at + h->sh_name, 0, v->names.size - h->sh_name))
		return "";
	return (const char *)v->names.at + h->sh_name;
}

bool elf_section_find(const uint8_t *bytes, size_t size, const char *name, struct slice *out)
{
	struct elf_view v;
	if (!view_open(&v, bytes, size))
		return false;
	for (uint32_t i = 1; i < v.count; i++) {
		Elf64_Shdr h = section_header(&v, i);
		if (!strcmp(section_name(&v, &h), name))
			return section_bytes(&v, &h, out);
	}
	return false;
}

bool elf_has_dwarf(const uint8_t *bytes, size_t size)
{
	struct slice s;
	return elf_section_find(bytes, size, ".debug_info", &s) ||
	       elf_section_find(bytes, size, ".zdebug_info", &s);
}

enum packing { PLAIN, ZLIB, ZSTD, UNKNOWN };

/* How a section is packed, where its packed bytes are, and how many they will be. */
static enum packing packing_of(const Elf64_Shdr *h, const char *name, struct slice *s,
			       uint64_t *unpacked)
{
	*unpacked = s->size;
	if (h->sh_flags & SHF_COMPRESSED) {
		Elf64_Chdr c;
		if (s->size < sizeof(c))
			return UNKNOWN;
		memcpy(&c, s->at, sizeof(c));
		*unpacked = c.ch_size;
		*s = (struct slice){s->at + sizeof(c), s->size - sizeof(c)};
		return c.ch_type == ELFCOMPRESS_ZLIB ? ZLIB : c.ch_type == 2 ? ZSTD : UNKNOWN;
	}
	if (!strncmp(name, ".zdebug_", 8) && s->size >= 12 && !memcmp(s->at, "ZLIB", 4)) {
		uint64_t big;
		memcpy(&big, s->at + 4, 8);
		*unpacked = __builtin_bswap64(big);
		*s = (struct slice){s->at + 12, s->size - 12};
		return ZLIB;
	}
	return PLAIN;
}

/* zlib in steps, because its counts have 32 bits. */
static bool unzlib(uint8_t *out, uint64_t size, struct slice in)
{
	z_stream z = {0};
	if (inflateInit(&z) != Z_OK)
		return false;
	uint64_t done = 0, used = 0;
	int result = Z_OK;
	while (result == Z_OK && done < size) {
		uInt room = size - done < 1u << 30 ? (uInt)(size - done) : 1u << 30;
		uInt more = in.size - used < 1u << 30 ? (uInt)(in.size - used) : 1u << 30;
		z.next_out = out + done;
		z.avail_out = room;
		z.next_in = (Bytef *)(uintptr_t)(in.at + used);
		z.avail_in = more;
		result = inflate(&z, Z_NO_FLUSH);
		done += room - z.avail_out;
		used += more - z.avail_in;
	}
	inflateEnd(&z);
	return done == size;
}

static bool unpack(uint8_t *out, uint64_t size, struct slice in, enum packing how)
{
	switch (how) {
	case PLAIN: memcpy(out, in.at, size); return true;
	case ZLIB: return unzlib(out, size, in);
	case ZSTD: return ZSTD_decompress(out, size, in.at, in.size) == size;
	case UNKNOWN: break;
	}
	return false;
}

/* Those that are read here or by libdw on our behalf. */
static const char *const wanted[] = {
	"abbrev", "addr",     "aranges", "info",        "line",  "line_str",
	"ranges", "rnglists", "str",     "str_offsets", "types",
};

static int wanted_number(const char *name)
{
	if (!strcmp(name, ".gnu_debugaltlink"))
		return ARRAY_SIZE(wanted);
	const char *rest = !strncmp(name, ".debug_", 7)    ? name + 7
			   : !strncmp(name, ".zdebug_", 8) ? name + 8
							   : "";
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!strcmp(rest, wanted[i]))
			return (int)i;
	return -1;
}

/* The copy in the making; `out` is NULL while its size is computed. */
struct copy {
	struct elf_view v;
	uint8_t *out;
	uint64_t at;
	uint32_t seen; /* bit i: wanted[i]. Only the first section of a name counts */
	bool packed;
};

static uint64_t aligned(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

static uint8_t *copied_header(const struct copy *c, uint64_t i)
{
	return c->out + sizeof(Elf64_Ehdr) + i * sizeof(Elf64_Shdr);
}

static uint8_t *copied_names(const struct copy *c)
{
	return copied_header(c, c->v.count);
}

/* Puts the section's bytes at the end of the copy and corrects its header; false if it shall be
 * empty. */
static bool copy_bytes(struct copy *c, Elf64_Shdr *h)
{
	struct slice in;
	uint64_t size;
	const char *name = section_name(&c->v, h);
	int number = wanted_number(name);
	if (number < 0 || c->seen >> number & 1 || !section_bytes(&c->v, h, &in))
		return false;
	c->seen |= 1u << number;
	enum packing how = packing_of(h, name, &in, &size);
	if (how == UNKNOWN || size / MAX_GROWTH > in.size + GROWTH_FLOOR / MAX_GROWTH)
		return false;
	c->packed = c->packed || how != PLAIN;
	if (c->out && !unpack(c->out + c->at, size, in, how)) {
		debug(LOG_DWARF, 1, "section %s cannot be decompressed", name);
		return false;
	}
	if (c->out && name[1] == 'z')
		copied_names(c)[++h->sh_name] = '.';
	h->sh_offset = c->at;
	h->sh_size = size;
	h->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	c->at += aligned(size);
	return true;
}

static void copy_sections(struct copy *c)
{
	c->seen = 0;
	c->at = aligned(sizeof(Elf64_Ehdr) + c->v.count * sizeof(Elf64_Shdr) + c->v.names.size);
	for (uint32_t i = 1; i < c->v.count; i++) {
		Elf64_Shdr h = section_header(&c->v, i);
		bool full = copy_bytes(c, &h);
		if (!c->out)
			continue;
		if (!full) {
			h.sh_type = SHT_NOBITS;
			h.sh_size = 0;
		}
		memcpy(copied_header(c, i), &h, sizeof(h));
	}
}

static void copy_headers(struct copy *c)
{
	Elf64_Ehdr header = c->v.header;
	header.e_shoff = sizeof(header);
	header.e_phoff = header.e_phnum = 0;
	memcpy(c->out, &header, sizeof(header));
	Elf64_Shdr first = section_header(&c->v, 0);
	memcpy(copied_header(c, 0), &first, sizeof(first));
	memcpy(copied_names(c), c->v.names.at, c->v.names.size);
}

/* After copy_sections(), which takes the names' section for an empty one. */
static void copy_names_header(struct copy *c)
{
	Elf64_Shdr h = section_header(&c->v, c->v.name_section);
	h.sh_offset = (uint64_t)(copied_names(c) - c->out);
	memcpy(copied_header(c, c->v.name_section), &h, sizeof(h));
}

void elf_inflate(struct debug_bytes *b)
{
	struct copy c = {0};
	if (!view_open(&c.v, b->at, b->size))
		return;
	copy_sections(&c);
	if (!c.packed)
		return;
	c.out = xcalloc(c.at, 1);
	copy_headers(&c);
	copy_sections(&c);
	copy_names_header(&c);
	free(b->owned);
	*b = (struct debug_bytes){.at = c.out, .size = c.at, .owned = c.out};
}
