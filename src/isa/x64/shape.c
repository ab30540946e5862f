/* A cache of Zydis results, because a call takes 150 ns (250 with operands) and a large module has
 * tens of millions of instructions.
 *
 * The shape of an instruction is its encoding without the numbers: the opcode with its map and
 * mandatory prefix, REX.W, VEX.L, whether VEX.vvvv is used, whether ModRM names memory, and its reg
 * field, which extends many opcodes. For nearly all instructions the shape determines whether they
 * are valid, how many bytes of immediate follow the address, their kind and their class. The others
 * are never cached (is_decided_by_shape). Instructions with unusual prefixes (two different ones of
 * a kind, lock, address size) have no shape and always go to Zydis.
 *
 * An entry is one atomic halfword, and every thread would write the same value to it, so there are
 * no locks. */
#include <stdatomic.h>
#include <string.h>

#include "isa/x64/x64.h"

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_VEX_0F, MAP_VEX_0F38, MAP_VEX_0F3A, MAPS };

struct insn_shape {
	uint8_t map, opcode;
	uint8_t pp;   /* 66, f3, f2 as VEX numbers them; 0 for none */
	uint8_t bits; /* REX.W or VEX.W, VEX.L, VEX.vvvv in use, register form: 8, 4, 2, 1 */
	uint8_t reg;
	bool has_modrm;
	uint8_t head; /* number of bytes before the immediate */
};

enum { BIT_REGISTER = 1, BIT_VVVV = 2, BIT_L = 4, BIT_W = 8 };

/* Bytes that must be readable so that a shape can be parsed without bounds checks: six prefixes,
 * REX, three of opcode, ModRM, SIB and four of displacement. */
enum { PREFIXES_MAX = 6, SHAPE_WINDOW = 16 };

enum {
	ENTRY_TAIL = 0, /* number of bytes of immediate */
	ENTRY_KIND = 4,
	ENTRY_CLASS = 8,
	ENTRY_RELATIVE = 11, /* the immediate is a branch offset */
	ENTRY_NOP = 12,
	ENTRY_KNOWN = 15,
};

/* Indexed as entry_of() says: 8 bits of opcode and 9 of the rest of the shape. */
static _Atomic uint16_t entries[MAPS << 17];

/* Opcodes that are followed by a ModRM byte, one bit each. */
static const uint32_t modrm_one[8] = {0x0f0f0f0f, 0x0f0f0f0f, 0x00000000, 0x00000a0c,
				      0x0000ffff, 0x00000000, 0xff0f00c3, 0xc0c00000};
static const uint32_t modrm_0f[8] = {0xffffa00f, 0x0000ffff, 0xffffffff, 0xff7fffff,
				     0xffff0000, 0xfffff8f8, 0xffff00ff, 0xffffffff};

enum { PREFIX_SEGMENT = 4 };

static const uint8_t prefix_of[256] = {
	[0x66] = 1,
	[0xf3] = 2,
	[0xf2] = 3,
	[0x26] = PREFIX_SEGMENT,
	[0x2e] = PREFIX_SEGMENT,
	[0x36] = PREFIX_SEGMENT,
	[0x3e] = PREFIX_SEGMENT,
	[0x64] = PREFIX_SEGMENT,
	[0x65] = PREFIX_SEGMENT,
};

static _Atomic uint16_t *entry_of(const struct insn_shape *s)
{
	uint32_t opcode = (uint32_t)s->map << 8 | s->opcode;
	return &entries[opcode << 9 | (uint32_t)s->pp << 7 | (uint32_t)s->bits << 3 | s->reg];
}

/* Accepts one of 66, f2, f3, which may be repeated: assemblers repeat 66 to make a nop longer.
 * Returns NULL if there is more. */
static inline const uint8_t *parse_prefixes(const uint8_t *p, struct insn_shape *s)
{
	const uint8_t *end = p + PREFIXES_MAX;
	for (uint8_t kind; (kind = prefix_of[*p]); p++) {
		if (p == end)
			return NULL;
		if (kind == PREFIX_SEGMENT)
			continue;
		if (s->pp && s->pp != kind)
			return NULL;
		s->pp = kind;
	}
	return p;
}

static inline const uint8_t *parse_vex(const uint8_t *p, struct insn_shape *s)
{
	unsigned map = 1;
	if (s->pp)
		return NULL;
	if (*p++ == 0xc4) {
		map = *p++ & 0x1f;
		s->bits |= *p & 0x80 ? BIT_W : 0;
	}
	s->bits |= (uint8_t)((*p & 4 ? BIT_L : 0) | (~*p & 0x78 ? BIT_VVVV : 0));
	s->pp = *p++ & 3;
	s->map = (uint8_t)(MAP_VEX_0F - 1 + map);
	s->opcode = *p++;
	return map >= 1 && map <= 3 ? p : NULL;
}

static inline const uint8_t *parse_opcode(const uint8_t *p, struct insn_shape *s)
{
	bool has_rex = *p >> 4 == 4;
	if (has_rex)
		s->bits |= *p++ & BIT_W;
	if (*p == 0x0f) {
		p++;
		s->map = *p == 0x38 ? MAP_0F38 : *p == 0x3a ? MAP_0F3A : MAP_0F;
		p += s->map != MAP_0F;
	} else if (*p == 0xc4 || *p == 0xc5) {
		return has_rex ? NULL : parse_vex(p, s);
	} else if (*p == 0x90 && has_rex) { /* with REX.B it is an xchg */
		return NULL;
	}
	s->opcode = *p++;
	return p;
}

static inline bool opcode_has_modrm(const struct insn_shape *s)
{
	const uint32_t *set = s->map == MAP_ONE ? modrm_one : s->map == MAP_0F ? modrm_0f : NULL;
	if (!set)
		return s->map != MAP_VEX_0F || s->opcode != 0x77; /* vzeroupper */
	return set[s->opcode >> 5] >> (s->opcode & 31) & 1;
}

static inline const uint8_t *parse_modrm(const uint8_t *p, struct insn_shape *s)
{
	static const uint8_t disp_bytes[4] = {0, 1, 4, 0};
	unsigned mod = *p >> 6, base = *p & 7;
	s->reg = *p++ >> 3 & 7;
	if (mod == 3) {
		s->bits |= BIT_REGISTER;
		return p;
	}
	if (base == 4)
		base = *p++ & 7;
	unsigned disp = mod == 0 && base == 5 ? 4 : disp_bytes[mod];
	/* A lea of a register into itself may be a nop, which its shape does not show. */
	if (s->map == MAP_ONE && s->opcode == 0x8d && base == s->reg && (!disp || !*p))
		return NULL;
	return p + disp;
}

/* Reads at most SHAPE_WINDOW bytes; false if there is no shape. It is inlined so that *s stays in
 * registers, which makes it a third faster. */
__attribute__((always_inline)) static inline bool parse_shape(const uint8_t *start,
							      struct insn_shape *s)
{
	*s = (struct insn_shape){0};
	const uint8_t *p = parse_prefixes(start, s);
	if (p)
		p = parse_opcode(p, s);
	if (!p)
		return false;
	s->has_modrm = opcode_has_modrm(s);
	if (s->has_modrm)
		p = parse_modrm(p, s);
	if (!p)
		return false;
	s->head = (uint8_t)(p - start);
	return true;
}

static uint64_t read_offset(const uint8_t *p, unsigned bytes)
{
	if (bytes == 1)
		return (uint64_t)(int8_t)p[0];
	uint32_t v =
		(uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	return (uint64_t)(int32_t)v;
}

/* endbr64 is as frequent as functions are, but cannot be cached: its shape is shared with nops. */
static size_t decode_endbr64(const uint8_t *p, uint64_t pc, struct insn *out)
{
	if (memcmp(p, "\xf3\x0f\x1e\xfa", 4) != 0)
		return 0;
	*out = (struct insn){.pc = pc, .length = 4, .class = CLASS_OTHER, .flags = INSN_LANDING};
	return 4;
}

size_t x64_shape_recall(const uint8_t *p, size_t n, uint64_t pc, struct insn *out)
{
	struct insn_shape s;
	if (n < SHAPE_WINDOW || !parse_shape(p, &s))
		return 0;
	unsigned e = atomic_load_explicit(entry_of(&s), memory_order_relaxed);
	unsigned tail = e >> ENTRY_TAIL & 15;
	size_t length = s.head + tail;
	if (!e || length > ZYDIS_MAX_INSTRUCTION_LENGTH)
		return decode_endbr64(p, pc, out);
	out->pc = pc;
	out->length = (uint8_t)length;
	out->kind = e >> ENTRY_KIND & 15;
	out->class = e >> ENTRY_CLASS & 7;
	out->flags = e >> ENTRY_NOP & 1 ? INSN_NOP : 0;
	bool is_relative = e >> ENTRY_RELATIVE & 1;
	out->target = is_relative ? pc + length + read_offset(p + s.head, tail) : 0;
	return length;
}

/* Opcodes whose instruction also depends on the r/m field of the register form, or on the
 * immediate. */
static bool is_extended_otherwise(const struct insn_shape *s)
{
	switch (s->map << 8 | s->opcode) {
	case 0xcd: /* int */
	case MAP_0F << 8 | 0x01:
	case MAP_0F << 8 | 0x0f: /* 3DNow! */
	case MAP_0F << 8 | 0x1a: /* bound registers: only four exist */
	case MAP_0F << 8 | 0x1b:
	case MAP_0F << 8 | 0x20: /* control and debug registers: not all exist */
	case MAP_0F << 8 | 0x21:
	case MAP_0F << 8 | 0x22:
	case MAP_0F << 8 | 0x23:
	case MAP_0F << 8 | 0xa6: /* PadLock */
	case MAP_0F << 8 | 0xa7:
	case MAP_0F3A << 8 | 0xf0: /* hreset */ return true;
	case 0x86: /* xchg */
	case 0x87:
	case 0xd8: /* x87 */
	case 0xd9:
	case 0xda:
	case 0xdb:
	case 0xdc:
	case 0xdd:
	case 0xde:
	case 0xdf:
	case MAP_0F << 8 | 0x1e: /* endbr64 */
	case MAP_0F << 8 | 0xae:
	case MAP_0F << 8 | 0xc7: return s->bits & BIT_REGISTER;
	case 0xc6: /* xabort, xbegin */
	case 0xc7: return s->bits & BIT_REGISTER && s->reg == 7;
	default: return false;
	}
}

static bool is_parsed_alike(const struct insn_shape *s, const ZydisDecodedInstruction *i)
{
	unsigned map = s->map < MAP_VEX_0F ? s->map : s->map - MAP_VEX_0F + MAP_0F;
	bool has_modrm = i->attributes & ZYDIS_ATTRIB_HAS_MODRM;
	return s->opcode == i->opcode && map == i->opcode_map && s->has_modrm == has_modrm &&
	       s->head <= i->length;
}

static bool is_decided_by_shape(const struct insn_shape *s, const ZydisDecodedInstruction *i)
{
	if (s->map < MAP_VEX_0F)
		return i->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		       !is_extended_otherwise(s);
	if (i->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX)
		return false;
	switch (i->meta.isa_ext) { /* in the other sets, not all register numbers are valid */
	case ZYDIS_ISA_EXT_AVX:
	case ZYDIS_ISA_EXT_AVX2:
	case ZYDIS_ISA_EXT_BMI1:
	case ZYDIS_ISA_EXT_BMI2:
	case ZYDIS_ISA_EXT_FMA: return true;
	default: return false;
	}
}

void x64_shape_learn(const uint8_t *p, const struct zinsn *z, const struct insn *in)
{
	uint8_t window[SHAPE_WINDOW] = {0};
	memcpy(window, p, in->length);
	struct insn_shape s;
	if (!parse_shape(window, &s) || !is_parsed_alike(&s, &z->i) ||
	    !is_decided_by_shape(&s, &z->i) || in->flags & ~INSN_NOP)
		return;
	unsigned tail = in->length - (unsigned)s.head;
	bool is_relative = z->i.raw.imm[0].is_relative;
	if (is_relative && tail != 1 && tail != 4)
		return;
	unsigned e = 1u << ENTRY_KNOWN | tail << ENTRY_TAIL | (unsigned)in->kind << ENTRY_KIND |
		     (unsigned)in->class << ENTRY_CLASS | (unsigned)is_relative << ENTRY_RELATIVE |
		     (in->flags & INSN_NOP ? 1u << ENTRY_NOP : 0);
	atomic_store_explicit(entry_of(&s), (uint16_t)e, memory_order_relaxed);
}
