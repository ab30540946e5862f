/* libdw parses the entries. Their programs are run by cfi_program.c instead, because libdw runs a
 * program from its start for each row, and a damaged file can make it allocate without limit. */
#include "module/cfi_table.h"

#include <elfutils/libdw.h>

/* Limits in bytes, longer than any real program: a damaged file must not take time without limit.
 */
enum { INITIAL_MAX = 256, PROGRAM_MAX = 1 << 16 };

/* Reads the data of the augmentation letters after the first one, z. It stops at an unknown letter,
 * because the rest cannot be interpreted. */
static void read_augmentation(struct cfi_cie *cie, const char *letters, struct cursor c,
			      const struct encoding_base *base)
{
	uint64_t unused;
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'L': cie->lsda_encoding = cursor_u8(&c); break;
		case 'R': cie->address_encoding = cursor_u8(&c); break;
		case 'P':
			read_encoded(&c, cursor_u8(&c) & (uint8_t)~ENCODING_INDIRECT, base,
				     &unused);
			break;
		case 'S': cie->is_signal = true; break;
		case 'B': /* aarch64: return addresses are signed with key B */
		case 'G': /* aarch64: stack frames are tagged */ break;
		default: return;
		}
	}
}

/* Has the bytes of the entry at `offset` read: its length, and what that says. */
static void load_entry(const struct cfi_table *t, uint64_t offset)
{
	enum { LENGTH_64 = 12 }; /* bytes of a length of 64 bits, which begins with 0xffffffff */
	if (!t->file)
		return;
	uint64_t left = t->size - offset, n = left < LENGTH_64 ? left : LENGTH_64;
	struct cursor c = cursor_over(lazy_file_at(t->file, t->offset + offset, n), n);
	uint64_t length = cursor_u32(&c);
	if (length == UINT32_MAX)
		length = cursor_u64(&c);
	n = length < left - n ? n + length : left;
	lazy_file_at(t->file, t->offset + offset, n);
}

/* Returns what libdw does: 0 if there is an entry at `offset`, 1 at the end, -1 if it is invalid.
 */
static int next_entry(const struct cfi_table *t, uint64_t offset, uint64_t *next,
		      Dwarf_CFI_Entry *out)
{
	Elf_Data data = {.d_buf = (void *)(uintptr_t)t->base.bytes,
			 .d_type = ELF_T_BYTE,
			 .d_version = EV_CURRENT,
			 .d_size = t->size};
	Dwarf_Off after = 0;
	const struct lazy_file *f = t->base.module->file;
	load_entry(t, offset);
	int rc = dwarf_next_cfi(lazy_file_at(f, 0, EI_NIDENT), &data, !t->is_debug, offset, &after,
				out);
	*next = after;
	return rc;
}

static struct cursor limited(const uint8_t *from, const uint8_t *to, uint64_t most)
{
	uint64_t size = (uint64_t)(to - from);
	return cursor_over(from, size < most ? size : most);
}

static struct cfi_cie read_cie(const struct cfi_table *t, uint64_t offset)
{
	struct cfi_cie cie = {.address_encoding = ENCODING_ABSOLUTE,
			      .lsda_encoding = ENCODING_OMITTED,
			      .arch = t->base.module->arch};
	Dwarf_CFI_Entry e;
	uint64_t next;
	if (offset >= t->size || next_entry(t, offset, &next, &e) || !dwarf_cfi_cie_p(&e))
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
	cfi_run_initial(
		&cie,
		limited(e.cie.initial_instructions, e.cie.initial_instructions_end, INITIAL_MAX),
		&t->base);
	return cie;
}

static uint32_t find_cie(struct cfi_table *t, uint64_t offset)
{
	uint32_t i = hashmap_add(&t->cie_at, offset, t->cies.len);
	if (i == t->cies.len)
		vec_push(&t->cies, read_cie(t, offset));
	return i;
}

static bool read_fde(struct cfi_table *t, const Dwarf_FDE *fde, struct cfi_fde *out)
{
	*out = (struct cfi_fde){.cie = find_cie(t, fde->CIE_pointer)};
	const struct cfi_cie *cie = &t->cies.data[out->cie];
	struct cursor c = cursor_over(fde->start, (uint64_t)(fde->end - fde->start));
	if (!cie->usable || !read_encoded(&c, cie->address_encoding, &t->base, &out->start) ||
	    !read_encoded(&c, cie->address_encoding & ENCODING_FORMAT, &t->base, &out->size))
		return false;
	if (cie->has_augmentation) {
		uint64_t n = cursor_uleb(&c);
		const uint8_t *data = cursor_take(&c, n);
		struct cursor augmentation = cursor_over(data, data ? n : 0);
		if (cie->lsda_encoding != ENCODING_OMITTED)
			read_encoded(&augmentation, cie->lsda_encoding, &t->base, &out->lsda);
	}
	out->code = limited(c.at, c.end, PROGRAM_MAX);
	return !c.bad && out->size && out->size <= UINT64_MAX - out->start;
}

bool cfi_table_entry(struct cfi_table *t, uint64_t offset, struct cfi_fde *out)
{
	Dwarf_CFI_Entry e;
	uint64_t next;
	return offset < t->size && next_entry(t, offset, &next, &e) == 0 && !dwarf_cfi_cie_p(&e) &&
	       read_fde(t, &e.fde, out);
}

bool cfi_table_read(struct cfi_table *t, fde_visitor visit, void *ctx)
{
	Dwarf_CFI_Entry e;
	struct cfi_fde f;
	uint64_t offset = 0, next;
	while (offset < t->size) {
		int rc = next_entry(t, offset, &next, &e);
		if (rc == 0 && !dwarf_cfi_cie_p(&e) && read_fde(t, &e.fde, &f))
			visit(ctx, t, &f);
		if (rc > 0 && (t->ends_at_zero || t->size - offset < 4))
			return true;
		/* To libdw an empty entry ends the table. But startup files contain one, and
		 * linkers leave it in the middle. */
		if (rc > 0)
			next = offset + 4;
		if (next <= offset || next > t->size)
			return false;
		offset = next;
	}
	return true;
}

void cfi_table_release(struct cfi_table *t)
{
	vec_free(&t->cies);
	hashmap_release(&t->cie_at);
}
