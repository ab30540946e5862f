/* Linux on aarch64. rt_sigreturn expects this signal frame at the stack pointer:
 *
 *	0     siginfo, ignored
 *	128   ucontext: flags, link, stack (24 bytes), signal mask (128 bytes)
 *	304   sigcontext: fault address, x0..x30, sp, pc, pstate
 *	592   4096 bytes of records (magic, size, ...), each a multiple of 16, ended by a zero
 *	      record. The fpsimd record is mandatory; there is an sve record only if those
 *	      registers hold something. If the records need more room, an `extra` record says
 *	      that they continue right after it and its own zero record.
 *
 * (asm/sigcontext.h; Documentation/arch/arm64/sve.rst for the layouts of SVE.) */
#include "isa/calls.h"

#include <string.h>

#include "isa/registers.h"

enum {
	UC_STACK_FLAGS = 128 + 16 + 8,
	UC_MASK = 128 + 40,
	SIGCONTEXT = 304,
	GENERAL = SIGCONTEXT + 8,
	GENERAL_SIZE = 272,
	RECORDS = 592,
	RECORDS_SIZE = 4096,
};

enum { FPSIMD_MAGIC = 0x46508001, SVE_MAGIC = 0x53564501, EXTRA_MAGIC = 0x45585401 };
enum { FPSIMD_SIZE = 528, EXTRA_SIZE = 32, END_SIZE = 16, HEADER = 8, SVE_HEADER = 16 };

/* struct user_fpsimd_state: vregs, fpsr, fpcr; the signal frame's record has fpsr and fpcr
 * first. */
enum { VREGS_SIZE = 512, FPSIMD_STATE_SIZE = 528 };

/* struct user_sve_header */
enum { SVE_VL = 8, SVE_FLAGS = 12, SVE_REGS = 16, SVE_IS_LIVE = 1, VL_MAX = 256 };

/* pstate holds the type of the last branch (BTI), which is cleared: our code is not marked as a
 * branch target. */
enum { PSTATE = 264, PC = 256, SP = 248 };
#define BTYPE UINT64_C(0xc00)

/* sigaltstack() refuses these flags and rt_sigreturn ignores that error, so the thread's alternate
 * signal stack stays as it is. */
enum { INVALID_STACK_FLAGS = 0x7fff };

/* svc #0; mov x8, #139; svc #0 */
static const uint8_t code[] = {0x01, 0x00, 0x00, 0xd4, 0x68, 0x11,
			       0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static void put(uint8_t *p, uint64_t v, size_t size)
{
	memcpy(p, &v, size);
}

static void put_header(uint8_t *p, uint32_t magic, size_t size)
{
	put(p, magic, 4);
	put(p + 4, size, 4);
}

/* The kernel decides about a restart before the stop: the thread is at the call instruction
 * already. */
static bool restarts(const uint8_t *general)
{
	(void)general;
	return false;
}

static void restart(uint8_t *general)
{
	(void)general;
}

static void enter(uint8_t *general, uint64_t at, uint64_t frame)
{
	uint64_t pstate;
	memcpy(&pstate, general + PSTATE, sizeof(pstate));
	put(general + PSTATE, pstate & ~BTYPE, 8);
	put(general + PC, at, 8);
	put(general + SP, frame, 8);
}

static bool wide_live(const uint8_t *wide, size_t size)
{
	return size > SVE_REGS && get16(wide + SVE_FLAGS) & SVE_IS_LIVE;
}

static size_t wide_vector(const uint8_t *wide, size_t size, unsigned reg)
{
	size_t vl = wide_live(wide, size) ? get16(wide + SVE_VL) : 0, at = SVE_REGS + reg * vl;
	return vl >= 16 && at + vl <= size ? at : 0;
}

/* Z0..Z31, P0..P15, FFR: in the same order in the regset and in the record. */
static size_t sve_size(uint16_t vl)
{
	return 32 * (size_t)vl + 17 * (size_t)vl / 8;
}

static uint8_t *put_fpsimd(uint8_t *p, const uint8_t *vector)
{
	put_header(p, FPSIMD_MAGIC, FPSIMD_SIZE);
	memcpy(p + HEADER, vector + VREGS_SIZE, 8);
	memcpy(p + HEADER + 8, vector, VREGS_SIZE);
	return p + FPSIMD_SIZE;
}

static uint8_t *put_sve(uint8_t *p, const uint8_t *wide, size_t record)
{
	uint16_t vl = get16(wide + SVE_VL);
	put_header(p, SVE_MAGIC, record);
	put(p + HEADER, vl, 2);
	memcpy(p + SVE_HEADER, wide + SVE_REGS, sve_size(vl));
	return p + record;
}

static uint8_t *put_extra(uint8_t *p, uint64_t at, size_t size)
{
	put_header(p, EXTRA_MAGIC, EXTRA_SIZE);
	put(p + HEADER, at + EXTRA_SIZE + END_SIZE, 8);
	put(p + HEADER + 8, size, 4);
	return p + EXTRA_SIZE + END_SIZE;
}

static size_t frame(uint8_t *out, size_t room, uint64_t at, const struct frame_state *s)
{
	size_t record = 0, size = RECORDS + FPSIMD_SIZE + END_SIZE;
	if (s->vector_size < FPSIMD_STATE_SIZE)
		return 0;
	if (s->wide && wide_live(s->wide, s->wide_size)) {
		uint16_t vl = get16(s->wide + SVE_VL);
		if (!vl || vl % 16 || vl > VL_MAX || s->wide_size < SVE_REGS + sve_size(vl))
			return 0;
		record = (SVE_HEADER + sve_size(vl) + 15) & ~(size_t)15;
	}
	bool extra = FPSIMD_SIZE + record + END_SIZE > RECORDS_SIZE;
	size += record + (extra ? EXTRA_SIZE + END_SIZE : 0);
	if (size > room)
		return 0;
	memset(out, 0, size);
	put(out + UC_STACK_FLAGS, INVALID_STACK_FLAGS, 4);
	put(out + UC_MASK, s->mask, 8);
	memcpy(out + GENERAL, s->general, GENERAL_SIZE);
	uint8_t *p = put_fpsimd(out + RECORDS, s->vector);
	if (extra)
		p = put_extra(p, at + (uint64_t)(p - out), record + END_SIZE);
	if (record)
		put_sve(p, s->wide, record);
	return size;
}

#define X(n) (8 * (n))

const struct arch_calls a64_calls = {
	.code = code,
	.code_size = sizeof(code),
	.insn_size = 4,
	.insn = {0x01, 0x00, 0x00, 0xd4},
	.audit = 0xc00000b7,
	.number = X(8),
	.original = LAYOUT_ABSENT,
	.argument = {X(0), X(1), X(2), X(3), X(4), X(5)},
	.result = X(0),
	.vector_note = 2, /* NT_PRFPREG */
	.vectors_note = 2,
	.vectors = 0,
	.wide_note = 0x405,    /* NT_ARM_SVE */
	.pointer_note = 0x401, /* NT_ARM_TLS */
	.pointer = 0,
	.restart_call = 128,
	.streaming_note = 0x40b,     /* NT_ARM_SSVE */
	.guarded_stack_note = 0x410, /* NT_ARM_GCS */
	.no_shadow_stack = "glibc.cpu.aarch64_gcs=0",
	.number_note = 0x404,      /* NT_ARM_SYSTEM_CALL */
	.resumed = {98, 101, 115}, /* futex, nanosleep, clock_nanosleep */
	.ended = {72, 73, 133},    /* pselect6, ppoll, rt_sigsuspend */
	.restarts = restarts,
	.restart = restart,
	.enter = enter,
	.wide_live = wide_live,
	.wide_vector = wide_vector,
	.frame = frame,
};
