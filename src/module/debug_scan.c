/* Scans the entries (DIEs) of a unit one after the other, in the order of their bytes. Each byte is
 * read once and the position only grows, so a unit takes time in proportion to its size, whatever
 * is in it.
 *
 * libdw decodes single attributes for us, but does not visit the entries: for all functions,
 * inlined calls and lines of a file it takes about twice as long (bench/run --only speed). */
#include "base/log.h"
#include "module/debug_private.h"

/* A table lists the abbreviations of its unit, or of all units of a program: some thousand at most.
 */
enum { MAX_ABBREVS = 1 << 15, MAX_ATTRS = 1 << 20 };

/* Sizes of forms. Those after SIZE_0 + n depend on the unit or on the bytes. */
enum form_size {
	SIZE_UNKNOWN = 0, /* not a form */
	SIZE_0 = 0x40,    /* SIZE_0 + n: n bytes */
	SIZE_ADDRESS = 0x80,
	SIZE_OFFSET,
	SIZE_REF_ADDR,
	SIZE_LEB,
	SIZE_STRING,
	SIZE_BLOCK, /* SIZE_BLOCK + n: a count in n bytes (0: a LEB128), then that many bytes */
	SIZE_INDIRECT = 0xff,
};

static const uint8_t form_sizes[] = {
	[DW_FORM_addr] = SIZE_ADDRESS,      [DW_FORM_block2] = SIZE_BLOCK + 2,
	[DW_FORM_block4] = SIZE_BLOCK + 4,  [DW_FORM_data2] = SIZE_0 + 2,
	[DW_FORM_data4] = SIZE_0 + 4,       [DW_FORM_data8] = SIZE_0 + 8,
	[DW_FORM_string] = SIZE_STRING,     [DW_FORM_block] = SIZE_BLOCK,
	[DW_FORM_block1] = SIZE_BLOCK + 1,  [DW_FORM_data1] = SIZE_0 + 1,
	[DW_FORM_flag] = SIZE_0 + 1,        [DW_FORM_sdata] = SIZE_LEB,
	[DW_FORM_strp] = SIZE_OFFSET,       [DW_FORM_udata] = SIZE_LEB,
	[DW_FORM_ref_addr] = SIZE_REF_ADDR, [DW_FORM_ref1] = SIZE_0 + 1,
	[DW_FORM_ref2] = SIZE_0 + 2,        [DW_FORM_ref4] = SIZE_0 + 4,
	[DW_FORM_ref8] = SIZE_0 + 8,        [DW_FORM_ref_udata] = SIZE_LEB,
	[DW_FORM_indirect] = SIZE_INDIRECT, [DW_FORM_sec_offset] = SIZE_OFFSET,
	[DW_FORM_exprloc] = SIZE_BLOCK,     [DW_FORM_flag_present] = SIZE_0,
	[DW_FORM_strx] = SIZE_LEB,          [DW_FORM_addrx] = SIZE_LEB,
	[DW_FORM_ref_sup4] = SIZE_0 + 4,    [DW_FORM_strp_sup] = SIZE_OFFSET,
	[DW_FORM_data16] = SIZE_0 + 16,     [DW_FORM_line_strp] = SIZE_OFFSET,
	[DW_FORM_ref_sig8] = SIZE_0 + 8,    [DW_FORM_implicit_const] = SIZE_0,
	[DW_FORM_loclistx] = SIZE_LEB,      [DW_FORM_rnglistx] = SIZE_LEB,
	[DW_FORM_ref_sup8] = SIZE_0 + 8,    [DW_FORM_strx1] = SIZE_0 + 1,
	[DW_FORM_strx2] = SIZE_0 + 2,       [DW_FORM_strx3] = SIZE_0 + 3,
	[DW_FORM_strx4] = SIZE_0 + 4,       [DW_FORM_addrx1] = SIZE_0 + 1,
	[DW_FORM_addrx2] = SIZE_0 + 2,      [DW_FORM_addrx3] = SIZE_0 + 3,
	[DW_FORM_addrx4] = SIZE_0 + 4,
};

static enum form_size form_size(uint64_t form)
{
	if (form < ARRAY_SIZE(form_sizes))
		return form_sizes[form];
	switch (form) {
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index: return SIZE_LEB;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt: return SIZE_OFFSET;
	}
	return SIZE_UNKNOWN;
}

/* The size of a form in bytes, or ABBREV_VARIES. */
static uint32_t fixed_size(enum form_size size, const struct abbrev_table *t)
{
	switch (size) {
	case SIZE_ADDRESS: return t->address_size;
	case SIZE_OFFSET: return t->offset_size;
	case SIZE_REF_ADDR: return t->version == 2 ? t->address_size : t->offset_size;
	default: return size >= SIZE_0 && size < SIZE_ADDRESS ? size - SIZE_0 : ABBREV_VARIES;
	}
}

static void skip_form(struct cursor *c, uint64_t form, const struct abbrev_table *t)
{
	enum form_size size = form_size(form);
	if (size == SIZE_INDIRECT)
		size = form_size(cursor_uleb(c));
	uint32_t fixed = fixed_size(size, t);
	if (fixed != ABBREV_VARIES) {
		cursor_take(c, fixed);
	} else if (size == SIZE_LEB) {
		cursor_uleb(c);
	} else if (size == SIZE_STRING) {
		const uint8_t *nul = memchr(c->at, 0, cursor_left(c));
		cursor_take(c, nul ? (uint64_t)(nul - c->at) + 1 : UINT64_MAX);
	} else if (size >= SIZE_BLOCK && size <= SIZE_BLOCK + 4) {
		unsigned n = size - SIZE_BLOCK;
		cursor_take(c, n ? cursor_uint(c, n) : cursor_uleb(c));
	} else {
		c->bad = true;
	}
}

static bool read_attrs(struct abbrev_table *t, struct cursor *c, struct abbrev *a)
{
	a->first = t->attrs.len;
	while (!c->bad && t->attrs.len < MAX_ATTRS) {
		uint64_t name = cursor_uleb(c), form = cursor_uleb(c);
		int64_t value = form == DW_FORM_implicit_const ? (int64_t)cursor_sleb(c) : 0;
		if (!name && !form)
			return true;
		uint32_t size = fixed_size(form_size(form), t);
		a->size = a->size == ABBREV_VARIES || size == ABBREV_VARIES ? ABBREV_VARIES
									    : a->size + size;
		if (name > UINT32_MAX || form > UINT32_MAX)
			return false;
		vec_push(&t->attrs, (struct abbrev_attr){(uint32_t)name, (uint32_t)form, value});
		a->count++;
	}
	return false;
}

static void read_table(struct abbrev_table *t, struct cursor c)
{
	vec_clear(&t->entries);
	vec_clear(&t->attrs);
	while (t->entries.len < MAX_ABBREVS) {
		struct abbrev a = {.code = cursor_uleb(&c)};
		if (!a.code || c.bad)
			return;
		uint64_t tag = cursor_uleb(&c);
		a.tag = tag > UINT32_MAX ? 0 : (uint32_t)tag;
		a.children = cursor_u8(&c) == DW_CHILDREN_yes;
		if (!read_attrs(t, &c, &a))
			return;
		vec_push(&t->entries, a);
	}
}

/* Finds an abbreviation. Every table that a compiler wrote has the codes 1, 2, 3, ... */
static const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code)
{
	if (code - 1 < t->entries.len && t->entries.data[code - 1].code == code)
		return &t->entries.data[code - 1];
	vec_each (a, &t->entries)
		if (a->code == code)
			return a;
	return NULL;
}

void scan_init(struct scan *s, struct debug *d, const struct dwarf_unit *u)
{
	struct abbrev_table *t = &d->abbrevs;
	const struct slice *abbrev = &u->file.abbrev;
	const uint8_t *at = u->abbrev_offset < abbrev->size ? abbrev->at + u->abbrev_offset : NULL;
	*s = (struct scan){
		.unit = u, .table = t, .at = at ? u->die.addr : u->end, .deepest = UINT32_MAX};
	if (!at || (t->at == at && t->version == u->version && t->address_size == u->address_size &&
		    t->offset_size == u->offset_size))
		return;
	t->at = at;
	t->version = u->version;
	t->address_size = u->address_size;
	t->offset_size = u->offset_size;
	read_table(t, cursor_over(at, abbrev->size - u->abbrev_offset));
}

/* The end of a DIE's attributes; NULL if it is not within the unit. */
static const uint8_t *attrs_end(const struct scan *s, const struct die *d)
{
	struct cursor c = cursor_over(d->attrs, (uint64_t)(s->unit->end - d->attrs));
	if (d->abbrev->size != ABBREV_VARIES) {
		cursor_take(&c, d->abbrev->size);
	} else {
		const struct abbrev_attr *a = s->table->attrs.data + d->abbrev->first;
		for (uint32_t i = 0; i < d->abbrev->count && !c.bad; i++)
			skip_form(&c, a[i].form, s->table);
	}
	return c.bad ? NULL : c.at;
}

bool scan_next(struct scan *s, struct die *out)
{
	while (s->at < s->unit->end) {
		struct cursor c = cursor_over(s->at, (uint64_t)(s->unit->end - s->at));
		uint64_t code = cursor_uleb(&c);
		if (!s->depth && s->at != s->unit->die.addr)
			return false;
		if (!code) {
			if (s->depth <= 1)
				return false;
			s->depth--;
			s->at = c.at;
			continue;
		}
		*out = (struct die){s->at, c.at, abbrev_find(s->table, code), s->depth};
		s->at = out->abbrev ? attrs_end(s, out) : NULL;
		if (!s->at) {
			debug(LOG_DWARF, 1, "damaged entry at %#llx of a unit",
			      (unsigned long long)(out->at - s->unit->start));
			s->at = s->unit->end;
			return false;
		}
		s->depth += out->abbrev->children;
		if (out->depth > s->deepest)
			continue;
		s->deepest = UINT32_MAX;
		return true;
	}
	return false;
}

bool scan_attr(const struct scan *s, const struct die *d, uint32_t *i, const uint8_t **at,
	       struct attr *out)
{
	if (*i >= d->abbrev->count)
		return false;
	const struct abbrev_attr *a = &s->table->attrs.data[d->abbrev->first + (*i)++];
	struct cursor c = cursor_over(*at, (uint64_t)(s->unit->end - *at));
	*out = (struct attr){a->name, a->form, *at, a->value};
	if (a->form == DW_FORM_indirect) {
		out->form = (uint32_t)cursor_uleb(&c);
		out->at = c.at;
		c.at = *at;
	}
	skip_form(&c, a->form, s->table);
	*at = c.at;
	return true;
}

/* The address that a reference within the unit leads to. */
static const uint8_t *local_target(const struct dwarf_unit *u, const struct attr *a)
{
	struct cursor c = cursor_over(a->at, (uint64_t)(u->end - a->at));
	uint64_t offset;
	switch (a->form) {
	case DW_FORM_ref1: offset = cursor_u8(&c); break;
	case DW_FORM_ref2: offset = cursor_uint(&c, 2); break;
	case DW_FORM_ref4: offset = cursor_u32(&c); break;
	case DW_FORM_ref8: offset = cursor_u64(&c); break;
	case DW_FORM_ref_udata: offset = cursor_uleb(&c); break;
	default: return NULL;
	}
	const uint8_t *first = u->die.addr;
	if (c.bad || offset < (uint64_t)(first - u->start) ||
	    offset >= (uint64_t)(u->end - u->start))
		return NULL;
	return u->start + offset;
}

void scan_skip(struct scan *s, const struct die *d)
{
	if (!d->abbrev->children)
		return;
	const uint8_t *at = d->attrs;
	struct attr a;
	for (uint32_t i = 0; scan_attr(s, d, &i, &at, &a);) {
		const uint8_t *next = a.name == DW_AT_sibling ? local_target(s->unit, &a) : NULL;
		if (next && next >= s->at) {
			s->at = next;
			s->depth = d->depth;
			return;
		}
	}
	s->deepest = d->depth;
}

static Dwarf_Attribute libdw_attr(const struct dwarf_unit *u, const struct attr *a)
{
	return (Dwarf_Attribute){.code = a->name,
				 .form = a->form,
				 .valp = (unsigned char *)(uintptr_t)a->at,
				 .cu = u->die.cu};
}

bool attr_uint(const struct dwarf_unit *u, const struct attr *a, uint64_t *out)
{
	struct cursor c = cursor_over(a->at, (uint64_t)(u->end - a->at));
	switch (a->form) {
	case DW_FORM_data1: *out = cursor_u8(&c); break;
	case DW_FORM_data2: *out = cursor_uint(&c, 2); break;
	case DW_FORM_data4: *out = cursor_u32(&c); break;
	case DW_FORM_data8: *out = cursor_u64(&c); break;
	case DW_FORM_udata: *out = cursor_uleb(&c); break;
	case DW_FORM_sdata: *out = cursor_sleb(&c); break;
	case DW_FORM_implicit_const: *out = (uint64_t)a->value; break;
	case DW_FORM_flag: *out = cursor_u8(&c); break;
	case DW_FORM_flag_present: *out = 1; break;
	default: return false;
	}
	return !c.bad;
}

bool attr_address(const struct dwarf_unit *u, const struct attr *a, uint64_t *out)
{
	Dwarf_Attribute libdw = libdw_attr(u, a);
	Dwarf_Addr va;
	if (dwarf_formaddr(&libdw, &va) != 0)
		return false;
	*out = va;
	return true;
}

Dwarf_Die unit_die(const struct dwarf_unit *u, const uint8_t *at)
{
	return (Dwarf_Die){.addr = (void *)(uintptr_t)at, .cu = u->die.cu};
}

bool attr_die(const struct dwarf_unit *u, const struct attr *a, Dwarf_Die *out)
{
	const uint8_t *target = local_target(u, a);
	if (target) {
		*out = unit_die(u, target);
		return true;
	}
	Dwarf_Attribute libdw = libdw_attr(u, a);
	return dwarf_formref_die(&libdw, out) != NULL;
}

/* The size of the unit with its length field: 4 bytes, or 0xffffffff and 8 bytes. */
static uint64_t unit_size(const uint8_t *at, uint64_t left)
{
	struct cursor c = cursor_over(at, left);
	uint64_t length = cursor_u32(&c);
	if (length == UINT32_MAX)
		length = cursor_u64(&c);
	return c.bad || length > cursor_left(&c) ? left : (uint64_t)(c.at - at) + length;
}

static const struct slice empty;

static struct slice elf_section_data(Elf *elf, const char *name)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return empty;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr mem, *h = gelf_getshdr(scn, &mem);
		const char *is = h ? elf_strptr(elf, names, h->sh_name) : NULL;
		if (!is || h->sh_type == SHT_NOBITS || strncmp(is, name, strlen(name)) ||
		    (is[strlen(name)] && strcmp(is + strlen(name), ".dwo")))
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		return data && data->d_buf ? (struct slice){data->d_buf, data->d_size} : empty;
	}
	return empty;
}

void dwarf_file_sections(struct dwarf_file *f)
{
	f->info = elf_section_data(f->elf, ".debug_info");
	f->abbrev = elf_section_data(f->elf, ".debug_abbrev");
	f->line = elf_section_data(f->elf, ".debug_line");
	f->line_str = elf_section_data(f->elf, ".debug_line_str");
	f->str = elf_section_data(f->elf, ".debug_str");
}

const struct dwarf_file *dwarf_file_of(struct debug *d, Dwarf *dw)
{
	if (dw == d->main.dw)
		return &d->main;
	if (dw == d->alt.dw)
		return &d->alt;
	if (dw != d->split.dw) {
		d->split = (struct dwarf_file){.dw = dw, .elf = dwarf_getelf(dw)};
		dwarf_file_sections(&d->split);
	}
	return &d->split;
}

bool dwarf_unit_init(struct dwarf_unit *u, struct debug *d, Dwarf_CU *cu)
{
	Dwarf_Half version;
	Dwarf_Off abbrev;
	*u = (struct dwarf_unit){0};
	if (!dwarf_cu_die(cu, &u->die, &version, &abbrev, &u->address_size, &u->offset_size, NULL,
			  NULL))
		return false;
	Dwarf_Die die = u->die;
	u->version = (uint8_t)version;
	u->abbrev_offset = abbrev;
	u->file = *dwarf_file_of(d, dwarf_cu_getdwarf(cu));
	if (!slice_holds(&u->file.info, die.addr) ||
	    dwarf_cuoffset(&die) > (uint64_t)((uint8_t *)die.addr - u->file.info.at))
		return false;
	u->start = (uint8_t *)die.addr - dwarf_cuoffset(&die);
	u->end = u->start +
		 unit_size(u->start, u->file.info.size - (uint64_t)(u->start - u->file.info.at));
	return u->end > (uint8_t *)die.addr;
}
