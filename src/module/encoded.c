#include "module/encoded.h"

/* DW_EH_PE_*: the formats, and what a value is relative to. */
enum {
	FORMAT_ULEB = 0x01,
	FORMAT_U2 = 0x02,
	FORMAT_U4 = 0x03,
	FORMAT_U8 = 0x04,
	FORMAT_SLEB = 0x09,
	FORMAT_S2 = 0x0a,
	FORMAT_S4 = 0x0b,
	FORMAT_S8 = 0x0c,
	FROM_NOTHING = 0x00,
	FROM_HERE = 0x10,
	FROM_TEXT = 0x20,
	FROM_DATA = 0x30,
	FROM_FUNCTION = 0x40,
	ALIGNED = 0x50,
	FROM = 0x70,
};

static bool read_format(struct cursor *c, uint8_t format, uint64_t *out)
{
	switch (format) {
	case ENCODING_ABSOLUTE:
	case FORMAT_U8:
	case FORMAT_S8: *out = cursor_u64(c); break;
	case FORMAT_ULEB: *out = cursor_uleb(c); break;
	case FORMAT_SLEB: *out = cursor_sleb(c); break;
	case FORMAT_U2: *out = cursor_uint(c, 2); break;
	case FORMAT_S2: *out = cursor_sint(c, 2); break;
	case FORMAT_U4: *out = cursor_uint(c, 4); break;
	case FORMAT_S4: *out = cursor_sint(c, 4); break;
	default: return false;
	}
	return !c->bad;
}

/* In a position-independent module, an absolute address is what the dynamic linker puts there. */
static uint64_t relocated(const struct module *m, uint64_t va, uint64_t value)
{
	const struct reloc *r = m->kind == MODULE_EXECUTABLE ? NULL : module_reloc_at(m, va);
	return r && r->kind == RELOC_RELATIVE ? r->value : value;
}

bool read_encoded(struct cursor *c, uint8_t encoding, const struct encoding_base *b, uint64_t *out)
{
	uint64_t here = b->va + (uint64_t)(c->at - b->bytes), value, base;
	if ((encoding & FROM) == ALIGNED) {
		cursor_take(c, -here & 7);
		here += -here & 7;
	}
	if (!read_format(c, encoding & ENCODING_FORMAT, &value) || encoding & ENCODING_INDIRECT)
		return false;
	switch (encoding & FROM) {
	case FROM_NOTHING:
	case ALIGNED: base = 0; break;
	case FROM_HERE: base = here; break;
	case FROM_TEXT: base = b->text; break;
	case FROM_DATA: base = b->data; break;
	case FROM_FUNCTION: base = b->function; break;
	default: return false;
	}
	if (encoding == ENCODING_ABSOLUTE)
		value = relocated(b->module, here, value);
	*out = value ? value + base : 0;
	return true;
}

const uint8_t *eh_frame_of_index(const struct module *m, uint64_t index, size_t *n, uint64_t *va)
{
	enum { HEAD_MAX = 16 };
	const uint8_t *p = module_at(m, index, HEAD_MAX, n);
	if (!p)
		return NULL;
	struct cursor at = cursor_over(p, *n);
	struct encoding_base base = {.module = m, .bytes = p, .va = index, .data = index};
	uint8_t version = cursor_u8(&at), encoding = cursor_u8(&at);
	cursor_take(&at, 2);
	if (version != 1 || !read_encoded(&at, encoding, &base, va))
		return NULL;
	return module_at(m, *va, UINT64_MAX, n);
}
