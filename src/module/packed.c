#include "module/packed.h"

#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

/* DWARF and frame tables shrink to about a third. A section that would grow by more than this
 * factor is an attack; small ones may grow to GROWTH_FLOOR bytes. */
enum { MAX_GROWTH = 256, GROWTH_FLOOR = 1 << 20 };

/* ELFCOMPRESS_ZLIB and ELFCOMPRESS_ZSTD, which not every elf.h has. */
enum { METHOD_ZLIB = 1, METHOD_ZSTD = 2 };

static struct packed by_header(struct slice s)
{
	Elf64_Chdr h;
	struct packed p = {.how = PACKING_UNKNOWN};
	if (s.size < sizeof(h))
		return p;
	memcpy(&h, s.at, sizeof(h));
	p.how = h.ch_type == METHOD_ZLIB   ? PACKING_ZLIB
		: h.ch_type == METHOD_ZSTD ? PACKING_ZSTD
					   : PACKING_UNKNOWN;
	p.in = (struct slice){s.at + sizeof(h), s.size - sizeof(h)};
	p.size = h.ch_size;
	return p;
}

static struct packed by_name(struct slice s)
{
	uint64_t big;
	memcpy(&big, s.at + 4, 8);
	return (struct packed){PACKING_ZLIB, {s.at + 12, s.size - 12}, __builtin_bswap64(big)};
}

struct packed packed_section(const Elf64_Shdr *h, const char *name, struct slice s)
{
	struct packed p = {PACKING_NONE, s, s.size};
	if (h->sh_flags & SHF_COMPRESSED)
		p = by_header(s);
	else if (!strncmp(name, ".zdebug_", 8) && s.size >= 12 && !memcmp(s.at, "ZLIB", 4))
		p = by_name(s);
	if (!p.size || p.size / MAX_GROWTH > p.in.size + GROWTH_FLOOR / MAX_GROWTH)
		p.how = PACKING_UNKNOWN;
	return p;
}

/* zlib's counts have 32 bits, so this is done in steps. */
static bool unpack_zlib(const struct packed *p, uint8_t *out)
{
	enum { STEP = 1 << 30 };
	z_stream z = {0};
	if (inflateInit(&z) != Z_OK)
		return false;
	uint64_t done = 0, used = 0;
	int result = Z_OK;
	while (result == Z_OK && done < p->size) {
		uInt room = p->size - done < STEP ? (uInt)(p->size - done) : STEP;
		uInt more = p->in.size - used < STEP ? (uInt)(p->in.size - used) : STEP;
		z.next_out = out + done;
		z.avail_out = room;
		z.next_in = (Bytef *)(uintptr_t)(p->in.at + used);
		z.avail_in = more;
		result = inflate(&z, Z_NO_FLUSH);
		done += room - z.avail_out;
		used += more - z.avail_in;
	}
	inflateEnd(&z);
	return done == p->size;
}

bool packed_unpack(const struct packed *p, uint8_t *out)
{
	switch (p->how) {
	case PACKING_NONE: memcpy(out, p->in.at, p->size); return true;
	case PACKING_ZLIB: return unpack_zlib(p, out);
	case PACKING_ZSTD: return ZSTD_decompress(out, p->size, p->in.at, p->in.size) == p->size;
	case PACKING_UNKNOWN: break;
	}
	return false;
}
