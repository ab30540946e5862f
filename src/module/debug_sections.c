/* Makes a copy of the debugging sections of an ELF file, decompressed. The copy is an ELF file with
 * the same section numbers, in which all other sections are empty:
 *
 *	ELF header | section headers | section names | sections, each 8-aligned
 *
 * The copy is kept in the cache. */
#include <stdlib.h>

#include "base/hashmap.h"
#include "base/log.h"
#include "module/cache_file.h"
#include "module/debug_private.h"
#include "module/packed.h"

bool elf_has_dwarf(const struct lazy_file *f)
{
	struct section_table t;
	Elf64_Shdr h;
	return section_table_open(&t, f) &&
	       (section_table_find(&t, ".debug_info", &h) ||
		section_table_find(&t, ".zdebug_info", &h)) &&
	       section_table_has(&t, &h);
}

/* Sections that are read here, or by libdw for us. */
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

/* The copy that is being made; `out` is NULL while its size is computed. */
struct copy {
	struct section_table v;
	uint8_t *out;
	uint64_t at;
	uint32_t seen; /* bit i: wanted[i] was copied. Only the first section of a name counts */
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

/* Appends the section's bytes to the copy and corrects its header; false if the section is to be
 * empty. */
static bool copy_bytes(struct copy *c, Elf64_Shdr *h)
{
	struct slice in;
	const char *name = section_table_name(&c->v, h);
	int number = wanted_number(name);
	if (number < 0 || c->seen >> number & 1 || !section_table_bytes(&c->v, h, &in))
		return false;
	c->seen |= 1u << number;
	const struct packed p = packed_section(h, name, in);
	if (p.how == PACKING_UNKNOWN)
		return false;
	c->packed = c->packed || p.how != PACKING_NONE;
	if (c->out && !packed_unpack(&p, c->out + c->at)) {
		debug(LOG_DWARF, 1, "section %s cannot be decompressed", name);
		return false;
	}
	if (c->out && name[1] == 'z')
		copied_names(c)[++h->sh_name] = '.';
	h->sh_offset = c->at;
	h->sh_size = p.size;
	h->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	c->at += aligned(p.size);
	return true;
}

static void copy_sections(struct copy *c)
{
	c->seen = 0;
	c->at = aligned(sizeof(Elf64_Ehdr) + c->v.count * sizeof(Elf64_Shdr) + c->v.names.size);
	for (uint32_t i = 1; i < c->v.count; i++) {
		Elf64_Shdr h = section_table_header(&c->v, i);
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
	Elf64_Shdr first = section_table_header(&c->v, 0);
	memcpy(copied_header(c, 0), &first, sizeof(first));
	memcpy(copied_names(c), c->v.names.at, c->v.names.size);
}

/* Call it after copy_sections(), which makes the section of names empty. */
static void copy_names_header(struct copy *c)
{
	Elf64_Shdr h = section_table_header(&c->v, c->v.name_section);
	h.sh_offset = (uint64_t)(copied_names(c) - c->out);
	memcpy(copied_header(c, c->v.name_section), &h, sizeof(h));
}

static void inflate(struct copy *c)
{
	copy_headers(c);
	copy_sections(c);
	copy_names_header(c);
}

/* ---- the cache ---- */

/* To inflate the debug file of a C library takes longer than all the rest for a short program. */
enum {
	FORMAT = 1,            /* change it with every change of the copy's layout */
	SMALL_COPY = 1 << 20,  /* bytes of a copy that is not worth a file */
	LARGE_COPY = 64 << 20, /* bytes of a copy that is too large for one */
};

static const char magic[8] = "sondedwf";

/*  head | copy  */
struct copy_head {
	char magic[8];
	uint64_t checksum; /* of the copy, and of the key */
	uint64_t key, size;
};

static bool is_worth_it(const struct copy *c, const struct build_id *id)
{
	return id->size && c->at >= SMALL_COPY && c->at <= LARGE_COPY;
}

static struct cache_name name_of(const struct copy *c, const struct build_id *id, uint64_t size)
{
	const uint64_t parts[] = {FORMAT, cache_program_hash(FORMAT), size, c->at};
	return cache_name("dwarf", id, parts, ARRAY_SIZE(parts));
}

static bool read_copy(const struct copy *c, int fd, uint64_t size, uint64_t key)
{
	struct copy_head h;
	return size == sizeof(h) + c->at && cache_file_read(fd, &h, sizeof(h)) &&
	       !memcmp(h.magic, magic, sizeof(magic)) && h.key == key && h.size == c->at &&
	       cache_file_read(fd, c->out, c->at) && hash_bytes(c->out, c->at, key) == h.checksum;
}

static bool load_copy(const struct copy *c, const struct cache_name *name)
{
	uint64_t size;
	int fd = cache_file_open(name, &size);
	if (fd < 0)
		return false;
	bool ok = read_copy(c, fd, size, name->key);
	cache_file_close(fd, ok);
	if (!ok)
		memset(c->out, 0, c->at);
	return ok;
}

static void store_copy(const struct copy *c, const struct cache_name *name)
{
	struct copy_head h = {
		.checksum = hash_bytes(c->out, c->at, name->key), .key = name->key, .size = c->at};
	memcpy(h.magic, magic, sizeof(magic));
	const struct slice parts[] = {{(const uint8_t *)&h, sizeof(h)}, {c->out, c->at}};
	cache_file_write(name, parts, ARRAY_SIZE(parts));
}

void elf_load_dwarf(struct lazy_file **f, const struct build_id *id)
{
	struct copy c = {0};
	if (!section_table_open(&c.v, *f) || !c.v.names.size)
		return;
	copy_sections(&c);
	if (!c.packed)
		return;
	const struct cache_name name = name_of(&c, id, (*f)->size);
	bool cached = is_worth_it(&c, id);
	struct lazy_file *inflated = lazy_file_blank(c.at, &c.out);
	if (!cached || !load_copy(&c, &name)) {
		inflate(&c);
		if (cached && !lazy_file_problem(*f))
			store_copy(&c, &name);
	}
	lazy_file_close(*f);
	*f = inflated;
}
