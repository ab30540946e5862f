/* Writing machine code: moving instructions to another address, and the code of probes between
 * them.
 *
 * Code is written for a fixed address into a growing buffer. Labels may be used before they are
 * placed. Constants are collected and placed after the code. emit_finish() resolves both. If
 * something is out of reach, the whole buffer becomes unusable (`failed`); it is never wrong.
 *
 * As everywhere in isa/, both architectures are always compiled in. Code for a running program is
 * written with arch_native()'s operations. */
#pragma once
#include "base/vec.h"
#include "isa/insn.h"

struct arch;

enum { LABEL_NONE = UINT32_MAX, EMIT_EXTENT = (1 << 20) - 4 };

/* A jump target: a label of the buffer, or a fixed address if the label is LABEL_NONE. */
struct emit_target {
	uint32_t label;
	uint64_t pc;
};

/* A possible target of an indirect jump, and where control has to go instead. */
struct dispatch_target {
	uint64_t pc;
	struct emit_target to;
};

/* A place in the code that refers to a label or a constant; `kind` is the architecture's. */
struct emit_fixup {
	uint32_t at; /* offset of the instruction (a64) or of its displacement (x64) */
	uint32_t label;
	uint8_t kind;
};

struct emit_literal {
	uint64_t low, high; /* 16 bytes; smaller constants use a part */
	uint32_t label;
};

struct emit_aside;

struct emit {
	const struct arch *arch;
	uint64_t base; /* address of the first byte */
	/* The maximum size of the buffer. References to labels not yet placed are written in a form
	 * that reaches this far. If the buffer gets larger, emit_finish() may fail. emit_init()
	 * sets it to EMIT_EXTENT. */
	uint32_t extent;
	VEC(uint8_t) bytes;
	VEC(uint32_t) labels; /* the offset of each label, UINT32_MAX until it is placed */
	VEC(struct emit_fixup) fixups;
	VEC(struct emit_literal) literals;
	VEC(struct emit_aside) asides;
	uint32_t rare;  /* set by emit_finish(): offset where the asides begin */
	uint32_t saved; /* number of registers that probes had to save so far */
	/* x64: vectors are written with AVX. The older forms would keep the upper parts of
	 * registers, for which CPUs have to wait or to change their state, if programs use these.
	 * emit_init() sets it where this machine can execute it. */
	bool avx;
	bool failed;
};

/* Operations of probe code. Values have 64 bits. The operands d, a, b are numbers of values, or
 * registers: see the constants below. */
enum emit_op_kind {
	EMIT_AREA,            /* d = address of the executing thread's area */
	EMIT_SET,             /* d = imm */
	EMIT_MOVE,            /* d = a */
	EMIT_STACK,           /* d = the program's stack pointer at the place of the probe + imm */
	EMIT_LOAD,            /* d = [a + imm] */
	EMIT_STORE,           /* [a + imm] = b; b may be EMIT_ZERO */
	EMIT_ADD,             /* d = a + imm */
	EMIT_ADD_SHIFTED,     /* d = a + (b << imm) */
	EMIT_SUB_SHIFTED,     /* d = a - (b << imm) */
	EMIT_XOR,             /* d = a ^ b */
	EMIT_LOW_BITS,        /* d = the lowest imm bits of a */
	EMIT_SHIFT_RIGHT,     /* d = a >> imm, logical */
	EMIT_COUNT,           /* [a + imm] += 1; d, another register than a, is overwritten */
	EMIT_COUNT_VALUE,     /* [a + imm] += b; d, another than a and b, is overwritten */
	EMIT_UNLESS_ZERO,     /* if a != 0: jump to the aside number imm */
	EMIT_IF_ZERO,         /* if a == 0: the same */
	EMIT_UNLESS_NEGATIVE, /* if a >= 0, signed: the same */
	EMIT_IF_NEGATIVE,     /* if a < 0, signed: the same */
	EMIT_CALL,         /* d = the result of `routine` for `argument`; in the last aside only */
	EMIT_VECTOR_BEGIN, /* vector d becomes a counter with the value 0 */
	EMIT_VECTOR_COUNT, /* adds 1 to the counter in vector d; changes no flags and no other
			      registers */
	EMIT_VECTOR_READ,  /* d = the value of the counter in vector a */
	EMIT_TO_VECTOR,    /* vector d = a */
	EMIT_FROM_VECTOR,  /* d = vector a, as EMIT_TO_VECTOR set it */
	EMIT_OP_KINDS,
};

/* Operands:
 *
 *	0 .. EMIT_VALUES - 1   values; the architecture chooses registers for them, free ones
 *	                       first; it saves and restores others around the probe
 *	EMIT_HELD + r          the general register r itself, which keeps its value between
 *	                       probes
 *	EMIT_VECTOR + r        the vector register r, which keeps its value too; allowed only
 *	                       where an operation takes a vector, and required there
 *
 * Offsets of LOAD, STORE and COUNT are multiples of 8, with at most EMIT_OFFSET_MAX in either
 * direction. Shifts and numbers of bits are below 64. Other constants may have any value. */
enum {
	EMIT_VALUES = 4,
	EMIT_ZERO = 0x3f,
	EMIT_HELD = 0x40,
	EMIT_VECTOR = 0x60,
	EMIT_OFFSET_MAX = 0xfff000,
	EMIT_ASIDES = 3,
};

struct emit_op {
	uint8_t kind; /* enum emit_op_kind */
	uint8_t d, a, b;
	int64_t imm;
};

/* The code of one probe, and the registers it may use. The code is the list of operations if there
 * is one, else a call of `routine` if that is set, else a counter. */
struct emit_probe {
	/* Registers and flags whose values are not needed at this place. The code saves and
	 * restores anything else that it uses. */
	struct regset free;
	/* Registers that hold values between probes. Only operations that name them touch them,
	 * even if they are in `free`. */
	struct regset held;
	/* Overwrite all free registers and flags afterwards: for tests of liveness. */
	bool poison;
	/* The operations: main ones, then asides. Asides are rarely executed and therefore written
	 * after all other code. An aside begins at the operation `from` and is reached only by
	 * EMIT_UNLESS_* and EMIT_IF_*. At its end, control continues at the main operation `back`,
	 * or after the main operations. Control only moves forward: a branch to an aside comes from
	 * a main operation before the aside's `back`, or from an earlier aside; `back` never
	 * decreases from one aside to the next. The array must stay valid until emit_finish(),
	 * which reads it again. */
	const struct emit_op *ops;
	uint16_t op_count;
	uint8_t aside_count;
	struct {
		uint16_t from, back;
	} asides[EMIT_ASIDES];
	/* A counter of the executing thread: 1 is added to the 64-bit word at offset `counter` in
	 * its area. */
	uint32_t counter;
	/* How the code finds the thread's area: in a table of pairs (~thread pointer, area) with 1
	 * << table_bits entries, at index (thread pointer >> 12) modulo their number. The pointer
	 * is stored inverted because it may be 0, which must not match an empty entry. If the entry
	 * is another thread's, the code calls `find`. That has the conventions of a `routine`
	 * called by an operation, takes no argument and returns the area's address. */
	uint64_t table;
	uint8_t table_bits;
	uint64_t find;
	/* Calls of the runtime. `routine` gets `argument` in the architecture's runtime-argument
	 * register (a64: x16; x64: rax), preserves all other registers, vector state and flags, and
	 * expects the program's stack pointer RUNTIME_CALL_FRAME_* bytes above its own (x64: above
	 * its return address). In between are the registers that the code itself had to save: a64
	 * x16, x17 at [sp], x30 at [sp, 16]; x64 rax at [rsp + 8] as seen by the routine, above it
	 * the red zone.
	 *
	 * If an operation makes the call, the routine returns its result in the register of the
	 * argument. The program's stack pointer may then be further up, and is passed: a64 at [sp,
	 * 24]; x64 at [rsp + 16]. Registers that the probe works with hold the probe's values
	 * during the call. */
	uint64_t routine, argument;
};

enum { EMIT_TEMPORARIES = 2, EMIT_REGISTERS = EMIT_VALUES + EMIT_TEMPORARIES };

/* A rarely executed part of a probe. emit_finish() writes it after all other code. */
struct emit_aside {
	struct emit_probe probe;
	uint32_t here, back; /* labels: where it begins, to be placed; where it returns to */
	/* Either the register that is to receive the area's address from a call of `find`, or
	 * REG_NONE: then the aside is the probe's operations [from, end). */
	uint8_t area;
	uint16_t from, end;
	uint32_t asides[EMIT_ASIDES];      /* labels */
	uint8_t registers[EMIT_REGISTERS]; /* of values, then temporaries */
	uint16_t pushed; /* distance in bytes from the stack pointer to the program's */
	bool flags;      /* the flags may be overwritten */
};

enum { RUNTIME_CALL_FRAME_A64 = 32, RUNTIME_CALL_FRAME_X64 = 8 + 128 };

/* Code that an architecture can write. Functions that append code set e->failed if that is
 * impossible. */
struct emit_ops {
	uint8_t jump_size;       /* size of jump(): the bytes that a patch overwrites */
	uint8_t short_jump_size; /* size of short_jump(); 0 if there is none */
	uint8_t trap_size;
	/* how far the pc is past the start of the trap when its signal is delivered */
	uint8_t trap_advance;
	const uint8_t *trap;
	uint64_t jump_reach;  /* distance that jump() always covers, in both directions */
	uint64_t short_reach; /* the same for short_jump() */
	uint32_t small_size;  /* emit.extent up to which only the shortest forms are needed */
	/* The lower 16 bytes of a vector after EMIT_VECTOR_BEGIN, and which of the two words is the
	 * count. */
	uint64_t vector_begun[2];
	uint8_t vector_count;

	/* Encodes a jump located at `from`. Returns its size, or 0 if `to` is out of reach. */
	size_t (*jump)(uint8_t *out, uint64_t from, uint64_t to);
	size_t (*short_jump)(uint8_t *out, uint64_t from, uint64_t to);

	/* Appends a jump that changes no registers or flags. */
	void (*go)(struct emit *e, struct emit_target to);
	/* Appends a return. */
	void (*leave)(struct emit *e);
	/* Appends code with the effect that the instruction, decoded in full from `bytes`, has at
	 * in->pc. Not for direct jumps, branches and calls. */
	void (*move)(struct emit *e, const struct insn *in, const uint8_t *bytes);
	/* Appends a branch on the condition of the INSN_BRANCH (flags, cbz, tbz; jcc, jrcxz, loop):
	 * to `taken`, else to the next instruction appended. */
	void (*branch)(struct emit *e, const struct insn *in, const uint8_t *bytes,
		       struct emit_target taken);
	/* match() appends code for an indirect jump, decoded in full from `bytes`: if the jump's
	 * target is among `targets`, which are sorted by pc, control goes to that entry's `to`;
	 * otherwise to the next instruction appended. It overwrites only registers in `free`.
	 * can_match() reports whether this is possible. */
	bool (*can_match)(const struct insn *in, const uint8_t *bytes, const struct regset *free);
	void (*match)(struct emit *e, const struct insn *in, const uint8_t *bytes,
		      const struct regset *free, const struct dispatch_target *targets,
		      uint32_t count);
	/* Appends a call, direct or indirect, with the return address `return_pc` instead of its
	 * own. The CPU's return predictor mispredicts the return of such a call. */
	void (*call)(struct emit *e, const struct insn *in, const uint8_t *bytes,
		     uint64_t return_pc);
	void (*probe)(struct emit *e, const struct emit_probe *p);
	/* Appends an aside that probe() added to e->asides. */
	void (*aside)(struct emit *e, const struct emit_aside *a);
	/* The offset from which a thread that was interrupted at offset `at` of the `size` bytes of
	 * probe code must continue. If it is inside a counter update, the update has to begin
	 * again: a signal handler may have counted in between, and its count would be lost. */
	uint32_t (*restart)(const uint8_t *code, uint32_t size, uint32_t at);
	/* Patches the fixup with the distance to `target`; false if that is out of reach. */
	bool (*fix)(struct emit *e, const struct emit_fixup *f, uint64_t target);
};

extern const struct emit_ops a64_emit, x64_emit;

void emit_init(struct emit *e, const struct arch *arch, uint64_t base);
void emit_release(struct emit *e);
uint32_t emit_label(struct emit *e);
/* Places a label at the end of the code so far. */
void emit_place(struct emit *e, uint32_t label);
/* The address of the next byte to be appended. */
uint64_t emit_here(const struct emit *e);
void emit_bytes(struct emit *e, const void *bytes, size_t n);
/* An upper bound for the size of the probe, its asides and constants included. */
uint32_t emit_probe_bound(const struct emit_probe *p);
/* A label for a constant that emit_finish() will place, 16-byte aligned. Equal constants requested
 * shortly after each other share a label. */
uint32_t emit_literal(struct emit *e, uint64_t low, uint64_t high);
/* Places the constants and resolves all labels. Returns !e->failed. */
bool emit_finish(struct emit *e);
