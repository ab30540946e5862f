/* Address ranges from call frame information. Compilers describe almost every procedure in
 * .eh_frame, so its ranges are the best evidence of procedure bounds in a stripped file;
 * .debug_frame fills in what .eh_frame lacks. The rules themselves are evaluated only as far as
 * telling whether a range starts in the state that procedures are entered in, or in the middle of
 * one (foo.cold).
 *
 * Both sections are a run of entries: CIEs hold what FDEs have in common, each FDE refers to one.
 */
#include "base/hashmap.h"
#include "base/order.h"
#include "image/elf_reader.h"
#include "image/encoded.h"

/* FDEs may refer to CIEs that overlap, so what is read of each is limited. */
enum { AUGMENTATION_MAX = 16, INITIAL_RULES_MAX = 256 };

/* What the rules say at one address, as far as we tell states apart. */
struct frame_state {
	uint64_t cfa_register, cfa_offset;
	uint64_t return_offset; /* where the return address is saved, in data alignment units */
	bool other;             /* any other rule, or an expression */
};

struct cie {
	bool usable, is_signal, has_augmentation;
	uint8_t address_encoding, lsda_encoding;
	uint64_t data_align, return_register;
	struct frame_state initial;
};

struct walk {
	struct encoding_base base;
	uint64_t size;
	bool debug;            /* .debug_frame: other marks for a CIE and other references to it */
	bool ends_at_zero;     /* the size is a guess: the first empty entry is the end */
	struct hashmap cie_at; /* offset to index */
	VEC(struct cie) cies;
	VEC(struct frame_range) ranges;
	const struct section *last;
};

/* An entry: `body` begins behind its length and id. */
struct entry {
	struct cursor body;
	uint64_t id;
	uint64_t id_offset;
	bool is_cie;
};

/* What a call frame instruction does to the state. */
enum rule_effect {
	RULE_NOTHING,
	RULE_ADVANCE, /* of the address: the state at the start is complete */
	RULE_CFA,
	RULE_CFA_REGISTER,
	RULE_CFA_OFFSET,
	RULE_SAVE, /* register at CFA + offset */
	RULE_OTHER,
};

/* An instruction without operands in its first byte. They are written as (u)leb, (s)leb, (b)lock,
 * or (f)actored: signed and to be multiplied by the data alignment. */
struct rule {
	const char *operands; /* NULL: not an instruction */
	enum rule_effect effect;
};

static const struct rule rules[] = {
	[0x00] = {"", RULE_NOTHING},       /* nop */
	[0x01] = {"", RULE_ADVANCE},       /* set_loc */
	[0x02] = {"", RULE_ADVANCE},       /* advance_loc1 */
	[0x03] = {"", RULE_ADVANCE},       /* advance_loc2 */
	[0x04] = {"", RULE_ADVANCE},       /* advance_loc4 */
	[0x05] = {"uu", RULE_SAVE},        /* offset_extended */
	[0x06] = {"u", RULE_NOTHING},      /* restore_extended */
	[0x07] = {"u", RULE_NOTHING},      /* undefined: the outermost frame */
	[0x08] = {"u", RULE_NOTHING},      /* same_value */
	[0x09] = {"uu", RULE_OTHER},       /* register */
	[0x0a] = {"", RULE_NOTHING},       /* remember_state */
	[0x0b] = {"", RULE_NOTHING},       /* restore_state */
	[0x0c] = {"uu", RULE_CFA},         /* def_cfa */
	[0x0d] = {"u", RULE_CFA_REGISTER}, /* def_cfa_register */
	[0x0e] = {"u", RULE_CFA_OFFSET},   /* def_cfa_offset */
	[0x0f] = {"b", RULE_OTHER},        /* def_cfa_expression */
	[0x10] = {"ub", RULE_OTHER},       /* expression */
	[0x11] = {"us", RULE_SAVE},        /* offset_extended_sf */
	[0x12] = {"uf", RULE_CFA},         /* def_cfa_sf */
	[0x13] = {"f", RULE_CFA_OFFSET},   /* def_cfa_offset_sf */
	[0x14] = {"uu", RULE_OTHER},       /* val_offset */
	[0x15] = {"us", RULE_OTHER},       /* val_offset_sf */
	[0x16] = {"ub", RULE_OTHER},       /* val_expression */
	[0x1d] = {"", RULE_ADVANCE},       /* MIPS_advance_loc8 */
	[0x2c] = {"", RULE_OTHER},         /* AARCH64_negate_ra_state_with_pc */
	[0x2d] = {"", RULE_OTHER},         /* AARCH64_negate_ra_state */
	[0x2e] = {"u", RULE_NOTHING},      /* GNU_args_size */
	[0x2f] = {"uu", RULE_OTHER},       /* GNU_negative_offset_extended */
};

static void read_operands(struct cursor *c, const char *operands, const struct cie *cie,
			  uint64_t value[2])
{
	for (unsigned i = 0; operands[i]; i++) {
		switch (operands[i]) {
		case 'u': value[i] = cursor_uleb(c); break;
		case 's': value[i] = cursor_sleb(c); break;
		case 'f': value[i] = cursor_sleb(c) * cie->data_align; break;
		case 'b': cursor_take(c, cursor_uleb(c)); break;
		}
	}
}

static void apply(struct frame_state *s, enum rule_effect effect, const uint64_t value[2],
		  const struct cie *cie)
{
	switch (effect) {
	case RULE_CFA:
		s->cfa_register = value[0];
		s->cfa_offset = value[1];
		break;
	case RULE_CFA_REGISTER: s->cfa_register = value[0]; break;
	case RULE_CFA_OFFSET: s->cfa_offset = value[0]; break;
	case RULE_SAVE:
		if (value[0] == cie->return_register)
			s->return_offset = value[1];
		else
			s->other = true;
		break;
	case RULE_OTHER: s->other = true; break;
	case RULE_NOTHING:
	case RULE_ADVANCE: break;
	}
}

/* Follows the rules up to the first that speaks of a later address. */
static void run_rules(struct cursor c, const struct cie *cie, struct frame_state *s)
{
	while (c.at < c.end && !c.bad) {
		uint8_t code = cursor_u8(&c);
		uint64_t value[2] = {code & 0x3f, 0};
		if (code >> 6 == 1)
			return;
		if (code >> 6 == 2) {
			value[1] = cursor_uleb(&c);
			apply(s, RULE_SAVE, value, cie);
		} else if (code >> 6 == 0) {
			const struct rule *rule = code < ARRAY_SIZE(rules) ? &rules[code] : NULL;
			if (!rule || !rule->operands || rule->effect == RULE_ADVANCE)
				return;
			read_operands(&c, rule->operands, cie, value);
			apply(s, rule->effect, value, cie);
		}
	}
}

static bool same_state(const struct frame_state *a, const struct frame_state *b)
{
	return a->cfa_register == b->cfa_register && a->cfa_offset == b->cfa_offset &&
	       a->return_offset == b->return_offset && !b->other;
}

static bool starts_mid_frame(struct cursor instructions, const struct cie *cie)
{
	struct frame_state s = cie->initial;
	s.other = false;
	run_rules(instructions, cie, &s);
	return !cie->is_signal && !same_state(&cie->initial, &s);
}

/* Reads the head of the entry at *offset and moves *offset behind it. False at the end of the
 * section or if the entry does not fit into it; an empty entry has an empty body and is a CIE. */
static bool next_entry(const struct walk *w, uint64_t *offset, struct entry *out)
{
	struct cursor c = cursor_over(w->base.bytes + *offset, w->size - *offset);
	uint64_t length = cursor_u32(&c);
	unsigned width = length == UINT32_MAX ? 8 : 4;
	if (width == 8)
		length = cursor_u64(&c);
	uint64_t body = (uint64_t)(c.at - w->base.bytes);
	const uint8_t *p = cursor_take(&c, length);
	if (c.bad)
		return false;
	*out = (struct entry){.id_offset = body, .body = cursor_over(p, length), .is_cie = true};
	if (length) {
		uint64_t all_ones = width == 8 ? UINT64_MAX : UINT32_MAX;
		out->id = cursor_uint(&out->body, width);
		out->is_cie = out->id == (w->debug ? all_ones : 0);
	}
	*offset = body + length;
	return !out->body.bad;
}

/* The letters of an augmentation that starts with z; unknown ones end what we understand of it. */
static void read_augmentation(const struct walk *w, struct cie *cie, const char *letters,
			      struct cursor c)
{
	uint64_t unused;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'L': cie->lsda_encoding = cursor_u8(&c); break;
		case 'R': cie->address_encoding = cursor_u8(&c); break;
		case 'P':
			read_encoded(&c, cursor_u8(&c) & (uint8_t)~ENCODING_INDIRECT, &w->base,
				     &unused);
			break;
		case 'S': cie->is_signal = true; break;
		case 'B':
		case 'G': break;
		default: return;
		}
	}
}

static struct cie parse_cie(const struct walk *w, uint64_t offset)
{
	struct cie cie = {.address_encoding = ENCODING_ABSOLUTE, .lsda_encoding = ENCODING_OMITTED};
	struct entry entry;
	if (offset >= w->size || !next_entry(w, &offset, &entry) || !entry.is_cie)
		return cie;
	struct cursor c = entry.body;
	uint8_t version = cursor_u8(&c);
	const char *letters = (const char *)c.at;
	size_t left = cursor_left(&c);
	size_t length = strnlen(letters, left < AUGMENTATION_MAX ? left : AUGMENTATION_MAX);
	if (length == AUGMENTATION_MAX || !cursor_take(&c, length + 1))
		return cie;
	if (version >= 4 &&
	    cursor_uint(&c, 2) != 8) /* bytes of an address, of a segment selector */
		return cie;
	cursor_uleb(&c); /* code alignment */
	cie.data_align = cursor_sleb(&c);
	cie.return_register = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	cie.has_augmentation = letters[0] == 'z';
	if (cie.has_augmentation) {
		uint64_t size = cursor_uleb(&c);
		const uint8_t *data = cursor_take(&c, size);
		if (data)
			read_augmentation(w, &cie, letters + 1, cursor_over(data, size));
	}
	cie.usable = !c.bad && (cie.has_augmentation || !length);
	if (cursor_left(&c) > INITIAL_RULES_MAX)
		c.end = c.at + INITIAL_RULES_MAX;
	run_rules(c, &cie, &cie.initial);
	return cie;
}

static const struct cie *find_cie(struct walk *w, uint64_t offset)
{
	uint32_t i = hashmap_get(&w->cie_at, offset);
	if (i == HASHMAP_NONE) {
		i = w->cies.len;
		vec_push(&w->cies, parse_cie(w, offset));
		hashmap_put(&w->cie_at, offset, i);
	}
	return &w->cies.data[i];
}

static bool is_code(struct walk *w, uint64_t va)
{
	if (!w->last || va - w->last->va >= w->last->size)
		w->last = image_section_at(w->base.im, va);
	return w->last && w->last->execute;
}

static void add_fde(struct walk *w, struct entry *entry)
{
	struct cursor c = entry->body;
	const struct cie *cie = find_cie(w, w->debug ? entry->id : entry->id_offset - entry->id);
	struct frame_range f = {.is_signal = cie->is_signal};
	uint64_t size;
	if (!cie->usable || !read_encoded(&c, cie->address_encoding, &w->base, &f.start) ||
	    !read_encoded(&c, cie->address_encoding & ENCODING_FORMAT, &w->base, &size))
		return;
	if (cie->has_augmentation) {
		uint64_t n = cursor_uleb(&c);
		const uint8_t *data = cursor_take(&c, n);
		if (!data)
			return;
		struct cursor augmentation = cursor_over(data, n);
		if (cie->lsda_encoding != ENCODING_OMITTED)
			read_encoded(&augmentation, cie->lsda_encoding, &w->base, &f.lsda);
	}
	if (!size || !is_code(w, f.start))
		return;
	uint64_t room = w->last->va + w->last->size - f.start;
	f.end = f.start + (size < room ? size : room);
	f.mid_frame = starts_mid_frame(c, cie);
	vec_push(&w->ranges, f);
}

/* False if the section ends in something that is no entry. */
static bool walk_entries(struct walk *w)
{
	struct entry entry;
	uint64_t offset = 0;
	while (offset < w->size) {
		if (!next_entry(w, &offset, &entry))
			return false;
		if (entry.body.at == entry.body.end && w->ends_at_zero)
			return true;
		if (!entry.is_cie)
			add_fde(w, &entry);
	}
	return true;
}

static void walk_release(struct walk *w)
{
	hashmap_release(&w->cie_at);
	vec_free(&w->cies);
	vec_free(&w->ranges);
}

/* Is there a range of the image's that holds va? */
static bool is_known(const struct frame_range *ranges, uint32_t count, uint64_t va)
{
	uint32_t n = order_up_to(ranges, count, sizeof(*ranges),
				 offsetof(struct frame_range, start), va);
	return n && va < ranges[n - 1].end;
}

/* Makes the image's ranges those it has and those of `more` that it lacks. */
static void add_ranges(struct image *im, const struct frame_range *more, uint32_t count)
{
	uint32_t old = im->frame_count, n = old;
	if (!count || count > UINT32_MAX - old)
		return;
	struct frame_range *all = arena_alloc(&im->arena, ((size_t)old + count) * sizeof(*all),
					      _Alignof(struct frame_range));
	if (old)
		memcpy(all, im->frames, old * sizeof(*all));
	for (uint32_t i = 0; i < count; i++)
		if (!is_known(im->frames, old, more[i].start) && image_is_code(im, more[i].start))
			all[n++] = more[i];
	order_by_address(all, n, sizeof(*all), offsetof(struct frame_range, start));
	im->frames = all;
	im->frame_count = n;
}

static void read_section(struct reader *r, struct walk *w, const char *name)
{
	if (!walk_entries(w))
		elf_note(r, "%s is damaged; some of its ranges are missing", name);
	add_ranges(r->im, w->ranges.data, w->ranges.len);
	walk_release(w);
}

static struct walk walk_over(const struct reader *r, const uint8_t *bytes, uint64_t size,
			     uint64_t va)
{
	const struct section *text = image_section(r->im, ".text");
	return (struct walk){.base = {.im = r->im,
				      .bytes = bytes,
				      .va = va,
				      .text = text ? text->va : 0,
				      .data = r->dynamic.got},
			     .size = size};
}

/* Without a section table. */
static void read_eh_frame_of_index(struct reader *r, uint64_t index)
{
	size_t n;
	uint64_t va;
	const uint8_t *p = eh_frame_of_index(r->im, index, &n, &va);
	if (!p)
		return;
	struct walk w = walk_over(r, p, n, va);
	w.ends_at_zero = true;
	read_section(r, &w, ".eh_frame");
}

static void read_eh_frame(struct reader *r)
{
	const struct raw_section *s = elf_section(r, ".eh_frame");
	if (s && s->bytes) {
		struct walk w = walk_over(r, s->bytes, s->size, s->va);
		read_section(r, &w, s->name);
		return;
	}
	for (uint32_t i = 0; i < r->program_count && !s; i++) {
		if (r->programs[i].p_type == PT_GNU_EH_FRAME) {
			read_eh_frame_of_index(r, r->programs[i].p_vaddr);
			return;
		}
	}
}

static void read_debug_frame(struct reader *r)
{
	struct byte_span t = elf_contents(r, ".debug_frame");
	if (!t.bytes)
		return;
	struct walk w = walk_over(r, t.bytes, t.size, 0);
	w.debug = true;
	read_section(r, &w, ".debug_frame");
}

void elf_read_frames(struct reader *r)
{
	read_eh_frame(r);
	read_debug_frame(r);
}

void image_add_frames(struct image *im, const struct image *debug)
{
	add_ranges(im, debug->frames, debug->frame_count);
}
