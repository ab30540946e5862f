/* Debugging sections may be compressed (SHF_COMPRESSED); libelf decompresses them. */
#include <libelf.h>

#include "image/elf_reader.h"

/* Frame tables shrink to a third or so; a section that claims to be so much larger is a trap. */
enum { EXPANSION_MAX = 200 };

static bool is_plausible(const struct raw_section *s)
{
	Elf64_Chdr h;
	if (s->size < sizeof(h))
		return false;
	memcpy(&h, s->bytes, sizeof(h));
	return h.ch_size / EXPANSION_MAX <= s->size;
}

/* Works on a handle of its own: decompressing changes what the handle says of the section. */
static struct byte_span decompress(struct reader *r, const struct raw_section *s)
{
	struct byte_span out = {0};
	char *copy = arena_memdup(&r->tmp, r->im->bytes, r->im->size, 16);
	Elf *elf = elf_memory(copy, r->im->size);
	Elf_Scn *scn = elf ? elf_getscn(elf, (size_t)(s - r->sections)) : NULL;
	Elf_Data *data = scn && elf_compress(scn, 0, 0) >= 0 ? elf_getdata(scn, NULL) : NULL;
	if (data && data->d_buf && data->d_size)
		out = (struct byte_span){
			.bytes = arena_memdup(&r->tmp, data->d_buf, data->d_size, 8),
			.size = data->d_size};
	else
		elf_note(r, "section %.40s cannot be decompressed; it was left out", s->name);
	elf_end(elf);
	return out;
}

struct byte_span elf_contents(struct reader *r, const char *name)
{
	const struct raw_section *s = elf_section(r, name);
	if (!s || !s->bytes)
		return (struct byte_span){0};
	if (!(s->flags & SHF_COMPRESSED))
		return (struct byte_span){.bytes = s->bytes, .size = s->size};
	return is_plausible(s) ? decompress(r, s) : (struct byte_span){0};
}
