/* Call frame information by address. All entries are listed once, sorted; an entry's program is run
 * when it is asked for, and goes on from where it stopped if the next question is about a later
 * address.
 *
 * libdw takes the entries apart. Their programs are run here, because libdw runs one from its start
 * for each row, and lets a damaged file make it allocate without limit. */
#include "image/cfi.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <zlib.h>
#include <zstd.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "image/cfi_program.h"
#include "image/debug_private.h"

/* Longer programs than any real ones: a damaged file must not take time without limit. */
enum { INITIAL_MAX = 256, PROGRAM_MAX = 1 << 16, EXPANSION_MAX = 200 };

/* An FDE. */
struct cfi_entry {
	uint64_t start, end;
	const uint8_t *code; /* its program */
	uint32_t code_size;
	uint32_t cie;
	uint32_t table;
};

/* One section. */
struct cfi_table {
	struct encoding_base base;
	uint64_t size;
	bool is_debug;     /* .debug_frame */
	bool ends_at_zero; /* the size is a guess: the first empty entry is the end */
};

enum { TABLES_MAX = 3 };

struct cfi {
	const struct image *im;
	struct cfi_table table[TABLES_MAX];
	uint32_t table_count;
	uint8_t *unpacked[TABLES_MAX];
	VEC(struct cfi_entry)
	entries; /* sorted by start; the first table that has an address wins */
	VEC(struct cfi_cie) cies;
	struct hashmap cie_at; /* of the table being read: offset to index */
	const struct cfi_entry *running;
	struct cfi_program program;
};

/* The encoding of addresses and whether this is a signal frame; unknown letters end what we
 * understand. */
static void read_augmentation(struct cfi_cie *cie, const char *letters, struct cursor c,
			      const struct encoding_base *base)
{
	uint64_t unused;
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'L': cursor_u8(&c); break;
		case 'R': cie->address_encoding = cursor_u8(&c); break;
		case 'P':
			read_encoded(&c, cursor_u8(&c) & (uint8_t)~ENCODING_INDIRECT, base,
				     &unused);
			break;
		case 'S': cie->is_signal = true; break;
		case 'B':
		case 'G': break;
		default: return;
		}
	}
}

static Elf_Data table_data(const struct cfi_table *t)
{
	return (Elf_Data){.d_buf = (void *)(uintptr_t)t->base.bytes,
			  .d_type = ELF_T_BYTE,
			  .d_version = EV_CURRENT,
			  .d_size = t->size};
}

/* libdw's answer: 0 if there is an entry at `offset`, 1 at the end, -1 if it makes no sense. */
static int next_entry(const struct cfi *c, const struct cfi_table *t, uint64_t offset,
		      uint64_t *next, Dwarf_CFI_Entry *out)
{
	Elf_Data data = table_data(t);
	Dwarf_Off behind = 0;
	int rc = dwarf_next_cfi(c->im->bytes, &data, !t->is_debug, offset, &behind, out);
	*next = behind;
	return rc;
}

static struct cfi_cie read_cie(const struct cfi *c, const struct cfi_table *t, uint64_t offset)
{
	struct cfi_cie cie = {.address_encoding = ENCODING_ABSOLUTE, .arch = c->im->arch};
	Dwarf_CFI_Entry e;
	uint64_t next;
	if (offset >= t->size || next_entry(c, t, offset, &next, &e) || !dwarf_cfi_cie_p(&e))
		return cie;
	cie.code_align = e.cie.code_alignment_factor;
	cie.data_align = (uint64_t)e.cie.data_alignment_factor;
	cie.return_column = e.cie.return_address_register;
	cie.has_augmentation = e.cie.augmentation[0] == 'z';
	cie.usable = cie.has_augmentation || !e.cie.augmentation[0];
	if (cie.has_augmentation && e.cie.augmentation_data)
		read_augmentation(
			&cie, e.cie.augmentation,
			cursor_over(e.cie.augmentation_data, e.cie.augmentation_data_size),
			&t->base);
	struct cursor code =
		cursor_over(e.cie.initial_instructions, (uint64_t)(e.cie.initial_instructions_end -
								   e.cie.initial_instructions));
	if (cursor_left(&code) > INITIAL_MAX)
		code.end = code.at + INITIAL_MAX;
	cfi_run_initial(&cie, code, &t->base);
	return cie;
}

static uint32_t find_cie(struct cfi *c, const struct cfi_table *t, uint64_t offset)
{
	uint32_t i = hashmap_get(&c->cie_at, offset);
	if (i == HASHMAP_NONE) {
		i = c->cies.len;
		vec_push(&c->cies, read_cie(c, t, offset));
		hashmap_put(&c->cie_at, offset, i);
	}
	return i;
}

static void add_entry(struct cfi *c, const struct cfi_table *t, const Dwarf_FDE *fde)
{
	uint32_t number = find_cie(c, t, fde->CIE_pointer);
	const struct cfi_cie *cie = &c->cies.data[number];
	struct cursor at = cursor_over(fde->start, (uint64_t)(fde->end - fde->start));
	uint64_t start, size;
	if (!cie->usable || !read_encoded(&at, cie->address_encoding, &t->base, &start) ||
	    !read_encoded(&at, cie->address_encoding & ENCODING_FORMAT, &t->base, &size))
		return;
	if (cie->has_augmentation)
		cursor_take(&at, cursor_uleb(&at));
	if (at.bad || !size || size > UINT64_MAX - start || !image_is_code(c->im, start))
		return;
	uint64_t left = cursor_left(&at);
	vec_push(
		&c->entries,
		(struct cfi_entry){.start = start,
				   .end = start + size,
				   .code = at.at,
				   .code_size = (uint32_t)(left < PROGRAM_MAX ? left : PROGRAM_MAX),
				   .cie = number,
				   .table = (uint32_t)(t - c->table)});
}

static void read_table(struct cfi *c, const struct cfi_table *t)
{
	Dwarf_CFI_Entry e;
	uint64_t offset = 0, next;
	while (offset < t->size) {
		int rc = next_entry(c, t, offset, &next, &e);
		if (rc == 0 && !dwarf_cfi_cie_p(&e))
			add_entry(c, t, &e.fde);
		/* An empty entry ends the table for libdw; startup files bring one that linkers
		 * leave in the middle. */
		if (rc > 0 && !t->ends_at_zero && t->size - offset >= 4)
			next = offset + 4;
		if (next <= offset || next > t->size)
			break;
		offset = next;
	}
	hashmap_release(&c->cie_at);
}

static struct cfi_table *add_table(struct cfi *c, const uint8_t *bytes, uint64_t size, uint64_t va)
{
	const struct section *text = image_section(c->im, ".text");
	struct cfi_table *t = &c->table[c->table_count++];
	*t = (struct cfi_table){
		.base = {.im = c->im, .bytes = bytes, .va = va, .text = text ? text->va : 0},
		.size = size};
	return t;
}

/* Without a section table. */
static void add_by_index(struct cfi *c, uint64_t index)
{
	size_t n;
	uint64_t va;
	const uint8_t *p = eh_frame_of_index(c->im, index, &n, &va);
	if (p)
		add_table(c, p, n, va)->ends_at_zero = true;
}

static void add_eh_frame(struct cfi *c)
{
	const struct section *s = image_section(c->im, ".eh_frame");
	Elf64_Ehdr h;
	Elf64_Phdr ph;
	if (s && s->bytes) {
		add_table(c, s->bytes, s->size, s->va);
		return;
	}
	if (c->im->size < sizeof(h))
		return;
	memcpy(&h, c->im->bytes, sizeof(h));
	for (unsigned i = 0; i < h.e_phnum && h.e_phentsize == sizeof(ph) && !c->table_count; i++) {
		if (h.e_phoff > c->im->size ||
		    !bytes_inside(h.e_phoff + i * sizeof(ph), sizeof(ph), c->im->size))
			return;
		memcpy(&ph, c->im->bytes + h.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_GNU_EH_FRAME)
			add_by_index(c, ph.p_vaddr);
	}
}

/* A compressed section begins with a header whose first word is the method, 1 or 2; a table with
 * the length of its first entry, which is larger. */
static bool is_compressed(const struct slice *s, Elf64_Chdr *h)
{
	if (s->size < sizeof(*h))
		return false;
	memcpy(h, s->at, sizeof(*h));
	return h->ch_type == 1 || h->ch_type == 2;
}

static bool decompress(struct slice *s, const Elf64_Chdr *h, uint8_t **out)
{
	const uint8_t *in = s->at + sizeof(*h);
	size_t size = s->size - sizeof(*h);
	uLongf made = h->ch_size;
	if (!h->ch_size || h->ch_size / EXPANSION_MAX > size)
		return false;
	*out = xmalloc(h->ch_size);
	*s = (struct slice){*out, h->ch_size};
	if (h->ch_type == 1)
		return uncompress(*out, &made, in, size) == Z_OK && made == h->ch_size;
	return ZSTD_decompress(*out, h->ch_size, in, size) == h->ch_size;
}

static void add_debug_frame(struct cfi *c, const struct image *im)
{
	struct slice s;
	Elf64_Chdr h;
	if (!elf_section_find(im->bytes, im->size, ".debug_frame", &s))
		return;
	if (is_compressed(&s, &h) && !decompress(&s, &h, &c->unpacked[c->table_count]))
		return;
	add_table(c, s.at, s.size, 0)->is_debug = true;
}

static bool covers(const struct cfi_entry *entries, uint32_t count, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(entries, count, start, va);
	return n && va < entries[n - 1].end;
}

/* Sorts the entries of one more table in; those about addresses that were known go. */
static void merge(struct cfi *c, uint32_t known)
{
	uint32_t n = known;
	for (uint32_t i = known; i < c->entries.len; i++)
		if (!covers(c->entries.data, known, c->entries.data[i].start))
			c->entries.data[n++] = c->entries.data[i];
	c->entries.len = n;
	order_by_address(c->entries.data, n, sizeof(struct cfi_entry),
			 offsetof(struct cfi_entry, start));
}

struct cfi *cfi_open(const struct image *im, const struct image *debug)
{
	struct cfi *c = xcalloc(1, sizeof(*c));
	c->im = im;
	if (im->size >= EI_NIDENT && !im->debug_only)
		add_eh_frame(c);
	if (im->size >= EI_NIDENT)
		add_debug_frame(c, im);
	if (debug)
		add_debug_frame(c, debug);
	for (uint32_t i = 0; i < c->table_count; i++) {
		uint32_t known = c->entries.len;
		read_table(c, &c->table[i]);
		merge(c, known);
	}
	if (c->entries.len)
		return c;
	cfi_close(c);
	return NULL;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < TABLES_MAX; i++)
		free(c->unpacked[i]);
	vec_free(&c->entries);
	vec_free(&c->cies);
	hashmap_release(&c->cie_at);
	free(c);
}

bool cfi_row_at(struct cfi *c, uint64_t va, struct cfi_row *out)
{
	uint32_t n = ORDER_UP_TO(c->entries.data, c->entries.len, start, va);
	const struct cfi_entry *e = n ? &c->entries.data[n - 1] : NULL;
	if (!e || va >= e->end)
		return false;
	struct cfi_program *p = &c->program;
	if (e != c->running || va < p->start) {
		cfi_start(p, &c->cies.data[e->cie], cursor_over(e->code, e->code_size),
			  &c->table[e->table].base, e->start, e->end);
		c->running = e;
	}
	while (va >= p->end)
		if (!cfi_next_row(p))
			return false;
	cfi_fill_row(p, out);
	return true;
}
