/* Debugging sections may be compressed (SHF_COMPRESSED), by zlib or zstd. */
#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include "image/elf_reader.h"

/* Frame tables shrink to a third or so; a section that claims to be so much larger is a trap. */
enum { EXPANSION_MAX = 200 };

/* ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, which not every elf.h has. */
enum { ZLIB = 1, ZSTD = 2 };

static bool inflate_section(uint8_t *out, const Elf64_Chdr *h, const uint8_t *in, size_t size)
{
	uLongf made = h->ch_size;
	if (h->ch_type == ZLIB)
		return uncompress(out, &made, in, size) == Z_OK && made == h->ch_size;
	return h->ch_type == ZSTD && ZSTD_decompress(out, h->ch_size, in, size) == h->ch_size;
}

static struct byte_span decompress(struct reader *r, const struct raw_section *s)
{
	Elf64_Chdr h;
	if (s->size < sizeof(h))
		return (struct byte_span){0};
	memcpy(&h, s->bytes, sizeof(h));
	if (!h.ch_size || h.ch_size / EXPANSION_MAX > s->size)
		return (struct byte_span){0};
	uint8_t *out = arena_alloc(&r->tmp, h.ch_size, 8);
	if (inflate_section(out, &h, s->bytes + sizeof(h), s->size - sizeof(h)))
		return (struct byte_span){.bytes = out, .size = h.ch_size};
	elf_note(r, "section %.40s cannot be decompressed; it was left out", s->name);
	return (struct byte_span){0};
}

struct byte_span elf_contents(struct reader *r, const char *name)
{
	const struct raw_section *s = elf_section(r, name);
	if (!s || !s->bytes)
		return (struct byte_span){0};
	if (!(s->flags & SHF_COMPRESSED))
		return (struct byte_span){.bytes = s->bytes, .size = s->size};
	return decompress(r, s);
}
