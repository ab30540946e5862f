/* A64 instructions as words, and functions that write them, for move.c, probe.c and emit.c of this
 * folder. Register 31 is the stack pointer or zero, depending on the instruction. */
#pragma once
#include "isa/emit.h"

enum {
	A64_WORD = 4,
	/* In code up to this size, any branch reaches any place. */
	A64_SMALL_SIZE = (1 << 15) - A64_WORD,
};

enum { A64_IP0 = 16, A64_IP1 = 17, A64_LINK = 30, A64_SP = 31, A64_ZERO = 31 };

/* The fields for branch distances, counted in words; also the kinds of fixups. */
enum a64_distance {
	A64_DISTANCE_26, /* b, bl: 128 MB */
	A64_DISTANCE_19, /* b.cond, cbz, ldr literal: 1 MB */
	A64_DISTANCE_14, /* tbz: 32 KB */
	A64_DISTANCES,
};

/* Sets the distance in the word; false if it does not fit. */
bool a64_set_distance(uint32_t *word, enum a64_distance kind, uint64_t from, uint64_t to);
uint32_t a64_word(const uint8_t *bytes);
void a64_put_word(uint8_t *out, uint32_t word);
void a64_put(struct emit *e, uint32_t word);
/* Appends the word with its distance set to the target. */
void a64_put_to(struct emit *e, uint32_t word, enum a64_distance kind, struct emit_target to);
/* Whether the target is certainly within reach from here, even if its label is not placed yet. */
bool a64_reaches(const struct emit *e, enum a64_distance kind, struct emit_target to);

/* Appends the shortest code that sets the register, and changes nothing else. */
void a64_set_register(struct emit *e, unsigned reg, uint64_t value);

void a64_move(struct emit *e, const struct insn *in, const uint8_t *bytes);
void a64_branch(struct emit *e, const struct insn *in, const uint8_t *bytes,
		struct emit_target taken);
void a64_call(struct emit *e, const struct insn *in, const uint8_t *bytes, uint64_t return_pc);
bool a64_can_match(const struct insn *in, const uint8_t *bytes, const struct regset *free_set);
void a64_match(struct emit *e, const struct insn *in, const uint8_t *bytes,
	       const struct regset *free_set, const struct dispatch_target *targets,
	       uint32_t count);
void a64_probe(struct emit *e, const struct emit_probe *p);
/* The part of a64_probe() for probes with operations. */
void a64_operations(struct emit *e, const struct emit_probe *p);
void a64_aside(struct emit *e, const struct emit_aside *a);
uint32_t a64_restart(const uint8_t *code, uint32_t size, uint32_t at);
/* Calls the runtime. The caller has pushed a frame that holds x16, x17 and x30.
 * a64_restore_after_call() restores these and pops the frame, but leaves the registers in `keep`
 * (bits) as they are. */
void a64_call_runtime(struct emit *e, uint64_t routine);
void a64_restore_after_call(struct emit *e, uint64_t keep);

#define A64_NOP UINT32_C(0xd503201f)
#define A64_B   UINT32_C(0x14000000)
#define A64_BL  UINT32_C(0x94000000)

static inline uint32_t a64_blr(unsigned n)
{
	return 0xd63f0000 | n << 5;
}

static inline uint32_t a64_cbz(unsigned t)
{
	return 0xb4000000 | t;
}

static inline uint32_t a64_cbnz(unsigned t)
{
	return 0xb5000000 | t;
}

static inline uint32_t a64_tbz(unsigned t, unsigned bit)
{
	return 0x36000000 | bit >> 5 << 31 | (bit & 31) << 19 | t;
}

static inline uint32_t a64_tbnz(unsigned t, unsigned bit)
{
	return a64_tbz(t, bit) | 1u << 24;
}

static inline uint32_t a64_mov(unsigned d, unsigned m)
{
	return 0xaa0003e0 | m << 16 | d;
}

/* imm has 12 bits, or is a multiple of 4096 with 24 bits. */
static inline uint32_t a64_add_imm(unsigned d, unsigned n, uint32_t imm)
{
	return imm < 1u << 12 ? 0x91000000 | imm << 10 | n << 5 | d
			      : 0x91400000 | imm >> 12 << 10 | n << 5 | d;
}

static inline uint32_t a64_sub_imm(unsigned d, unsigned n, uint32_t imm)
{
	return a64_add_imm(d, n, imm) | 1u << 30;
}

/* Register 31 as d or n is the stack pointer. */
static inline uint32_t a64_add_extended(unsigned d, unsigned n, unsigned m)
{
	return 0x8b206000 | m << 16 | n << 5 | d;
}

static inline uint32_t a64_add_shifted(unsigned d, unsigned n, unsigned m, unsigned shift)
{
	return 0x8b000000 | m << 16 | shift << 10 | n << 5 | d;
}

static inline uint32_t a64_sub_shifted(unsigned d, unsigned n, unsigned m, unsigned shift)
{
	return a64_add_shifted(d, n, m, shift) | 1u << 30;
}

static inline uint32_t a64_eor(unsigned d, unsigned n, unsigned m)
{
	return 0xca000000 | m << 16 | n << 5 | d;
}

/* n ^ ~m */
static inline uint32_t a64_eon(unsigned d, unsigned n, unsigned m)
{
	return 0xca200000 | m << 16 | n << 5 | d;
}

static inline uint32_t a64_ubfx(unsigned d, unsigned n, unsigned low, unsigned count)
{
	return 0xd3400000 | low << 16 | (low + count - 1) << 10 | n << 5 | d;
}

static inline uint32_t a64_lsr(unsigned d, unsigned n, unsigned shift)
{
	return a64_ubfx(d, n, shift, 64 - shift);
}

/* [n, imm]; imm is a multiple of 8 from 0 up to 32 KB, or one from -256 on. */
static inline uint32_t a64_str(unsigned t, unsigned n, int32_t imm)
{
	return (imm < 0 ? 0xf8000000 | ((uint32_t)imm & 0x1ff) << 12
			: 0xf9000000 | (uint32_t)imm / 8 << 10) |
	       n << 5 | t;
}

/* The bit that turns a store into the load with the same operands. */
enum { A64_LOAD_NOT_STORE = 1 << 22 };

static inline uint32_t a64_ldr(unsigned t, unsigned n, int32_t imm)
{
	return a64_str(t, n, imm) | A64_LOAD_NOT_STORE;
}

/* [sp, -size]! */
static inline uint32_t a64_push(unsigned t, unsigned size)
{
	return 0xf8000c00 | (-size & 0x1ff) << 12 | A64_SP << 5 | t;
}

/* [sp], size */
static inline uint32_t a64_pop(unsigned t, unsigned size)
{
	return 0xf8400400 | size << 12 | A64_SP << 5 | t;
}

static inline uint32_t a64_push_pair(unsigned t, unsigned t2, unsigned size)
{
	return 0xa9800000 | (-(size / 8) & 0x7f) << 15 | t2 << 10 | A64_SP << 5 | t;
}

static inline uint32_t a64_pop_pair(unsigned t, unsigned t2, unsigned size)
{
	return 0xa8c00000 | size / 8 << 15 | t2 << 10 | A64_SP << 5 | t;
}

/* [n, imm]; imm is a multiple of 8 from -512 to 504. */
static inline uint32_t a64_store_pair(unsigned t, unsigned t2, unsigned n, int32_t imm)
{
	return 0xa9000000 | ((uint32_t)(imm / 8) & 0x7f) << 15 | t2 << 10 | n << 5 | t;
}

static inline uint32_t a64_load_pair(unsigned t, unsigned t2, unsigned n, int32_t imm)
{
	return a64_store_pair(t, t2, n, imm) | A64_LOAD_NOT_STORE;
}

/* movi d, #0xffffffff00000000: its words are 0, -1, 0, 0. */
static inline uint32_t a64_vector_zero_minus_one(unsigned d)
{
	return 0x2f07e600 | d;
}

/* d.2d = n.2d - m.2s */
static inline uint32_t a64_ssubw(unsigned d, unsigned n, unsigned m)
{
	return 0x0ea03000 | m << 16 | n << 5 | d;
}

/* mov xd, n.d[1] */
static inline uint32_t a64_vector_high(unsigned d, unsigned n)
{
	return 0x4e183c00 | n << 5 | d;
}

/* fmov dd, xn */
static inline uint32_t a64_to_vector(unsigned d, unsigned n)
{
	return 0x9e670000 | n << 5 | d;
}

/* fmov xd, dn */
static inline uint32_t a64_from_vector(unsigned d, unsigned n)
{
	return 0x9e660000 | n << 5 | d;
}

static inline uint32_t a64_thread_pointer(unsigned t)
{
	return 0xd53bd040 | t;
}
