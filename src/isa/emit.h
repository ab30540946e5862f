/* Writing machine code: moving instructions to another place, and the code of probes between them.
 *
 * Code is written for a fixed address into a growing buffer. Labels may be used before they are
 * placed; constants are collected and placed behind the code. emit_finish() resolves both. What is
 * out of reach makes the whole buffer unusable (`failed`), never wrong.
 *
 * Like all of isa/, both architectures are always there; whoever writes code for a running program
 * uses arch_native()'s. */
#pragma once
#include "base/vec.h"
#include "isa/insn.h"

struct arch;

enum { LABEL_NONE = UINT32_MAX, EMIT_EXTENT = (1 << 20) - 4 };

/* Where control goes: a label of the buffer, or with LABEL_NONE a fixed address. */
struct emit_target {
	uint32_t label;
	uint64_t pc;
};

/* Where control has to go instead of `pc`. */
struct emit_way {
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
	/* What its size will be at most: references to labels further on are written in a form that
	 * reaches as far. If it gets larger, emit_finish() may fail. emit_init() sets it to
	 * EMIT_EXTENT. */
	uint32_t extent;
	VEC(uint8_t) bytes;
	VEC(uint32_t) labels; /* offset of each, UINT32_MAX until placed */
	VEC(struct emit_fixup) fixups;
	VEC(struct emit_literal) literals;
	VEC(struct emit_aside) asides;
	uint32_t rare;  /* set by emit_finish(): offset of the first aside, or where it would be */
	uint32_t saved; /* registers that probes had to save so far */
	bool failed;
};

/* Operations of probe code. Values are 64 bits; d, a, b name them: see struct emit_op. */
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
	EMIT_UNLESS_ZERO,     /* if a != 0: on to the aside number imm */
	EMIT_UNLESS_NEGATIVE, /* if a >= 0 as signed: the same */
	EMIT_IF_NEGATIVE,     /* if a < 0: the same */
	EMIT_CALL,            /* d = what `routine` leaves for `argument`; in the last aside only */
	EMIT_VECTOR_BEGIN,    /* vector d counts from 0 */
	EMIT_VECTOR_COUNT,    /* one more in vector d; without flags and other registers */
	EMIT_VECTOR_READ,     /* d = what vector a has counted since it began */
	EMIT_TO_VECTOR,       /* vector d = a */
	EMIT_FROM_VECTOR,     /* d = vector a, whose value is from there */
	EMIT_OP_KINDS,
};

/* 0 .. EMIT_VALUES - 1: registers that the architecture chooses for the probe, from the free ones;
 * others it saves around it. EMIT_HELD + r: the register r itself, which keeps its value between
 * probes. EMIT_VECTOR + r: the vector register r, which does so, too; only where a vector is asked
 * for, and only there.
 * Offsets of LOAD, STORE and COUNT are multiples of 8, at most EMIT_OFFSET_MAX both ways; shifts
 * and numbers of bits are below 64; other constants may be any. */
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

/* The code of one probe, and what it may use. It is a list of operations, a call of the runtime if
 * there are none but a routine, or else a counter. */
struct emit_probe {
	/* Registers and flags whose values nobody needs at this place. Anything else that the code
	 * uses it saves and restores. */
	struct regset free;
	/* Registers that are in use between probes, too: only operations that name them touch them,
	 * even if they are in `free`. */
	struct regset held;
	/* Overwrites all free registers and flags afterwards: for tests of liveness. */
	bool poison;
	/* The last ones are asides, which are rarely executed and so written behind all other code.
	 * Each begins at `from`; EMIT_UNLESS_* and EMIT_IF_* lead there, nothing else does, and at
	 * its end control goes on at the operation `back` of the main ones, or behind them. Ways
	 * only lead on: to an aside from before its `back`, or from an aside before it; an aside's
	 * `back` is no less than that of the one before. emit_finish() reads them again. */
	const struct emit_op *ops;
	uint16_t op_count;
	uint8_t aside_count;
	struct {
		uint16_t from, back;
	} asides[EMIT_ASIDES];
	/* A counter of the executing thread: the 64-bit word at `counter` in its area gets 1 added.
	 */
	uint32_t counter;
	/* Finding the area: a table of pairs (~thread pointer, area), 1 << table_bits of them; a
	 * thread's is at index (thread pointer >> 12) mod their number. (Not the pointer itself: it
	 * may be 0, which an empty entry must not be taken for.) If another thread's is there, the
	 * code calls `find`: it has the conventions of an operation's `routine`, takes
	 * no argument and leaves the area's address. */
	uint64_t table;
	uint8_t table_bits;
	uint64_t find;
	/* Calling the runtime: `routine` gets `argument` in the architecture's runtime-argument
	 * register (a64: x16; x64: rax), preserves all other registers, vector state and flags, and
	 * expects the program's stack pointer RUNTIME_CALL_FRAME bytes above its own (x64: above
	 * its return address). What the code itself had to save lies between: a64 x16, x17 at [sp],
	 * x30 at [sp, 16]; x64 rax at [rsp + 8] as seen by the routine, above it the red zone.
	 *
	 * Called by an operation, it leaves a result in the register of the argument. The program's
	 * stack pointer may be further up then, and is passed: a64 at [sp, 24]; x64 at [rsp + 16].
	 * Registers that the probe works with have the probe's values in them. */
	uint64_t routine, argument;
};

enum { EMIT_TEMPORARIES = 2, EMIT_REGISTERS = EMIT_VALUES + EMIT_TEMPORARIES };

/* What a probe rarely executes: emit_finish() has it written behind all other code. */
struct emit_aside {
	struct emit_probe probe;
	uint32_t here, back; /* labels: to place where it begins; where it goes on */
	/* The register that the area's address is to be found for; REG_NONE: it is operations of
	 * the probe: */
	uint8_t area;
	uint16_t from, end;
	uint32_t asides[EMIT_ASIDES];      /* labels */
	uint8_t registers[EMIT_REGISTERS]; /* of values, and others that operations use */
	uint16_t pushed;                   /* bytes from the stack pointer up to the program's */
	bool flags;                        /* may be overwritten */
};

enum { RUNTIME_CALL_FRAME_A64 = 32, RUNTIME_CALL_FRAME_X64 = 8 + 128 };

/* What an architecture can write. Functions that append set e->failed if that is impossible. */
struct emit_ops {
	uint8_t jump_size;       /* of jump(): the bytes that a patch overwrites */
	uint8_t short_jump_size; /* of short_jump(); 0 if there is none */
	uint8_t trap_size;
	uint8_t trap_advance; /* how far the pc is behind the trap when its signal comes */
	const uint8_t *trap;
	uint64_t jump_reach;  /* distance that jump() covers for certain, both ways */
	uint64_t short_reach; /* the same of short_jump() */
	uint32_t small_size;  /* emit.extent up to which all forms are the shortest */
	/* The lower 16 bytes of a vector that begins to count; and which of the two is the count.
	 */
	uint64_t vector_begun[2];
	uint8_t vector_count;

	/* The bytes of a jump that stands at `from`; returns their number, or 0 if out of reach. */
	size_t (*jump)(uint8_t *out, uint64_t from, uint64_t to);
	size_t (*short_jump)(uint8_t *out, uint64_t from, uint64_t to);

	/* Appends a jump; if all registers and flags stay what they are. */
	void (*go)(struct emit *e, struct emit_target to);
	/* Appends a return. */
	void (*leave)(struct emit *e);
	/* Appends code that does what the instruction, decoded in full from `bytes`, does at
	 * in->pc. Not for direct jumps, branches and calls. */
	void (*move)(struct emit *e, const struct insn *in, const uint8_t *bytes);
	/* Appends a branch on the condition of the INSN_BRANCH (flags, cbz, tbz; jcc, jrcxz,
	 * loop): to `taken`, or on to the next instruction appended. */
	void (*branch)(struct emit *e, const struct insn *in, const uint8_t *bytes,
		       struct emit_target taken);
	/* Appends code that goes where the indirect jump, decoded in full from `bytes`, leads if
	 * that is one of `ways`, which ascend; if not, control goes on to the next instruction
	 * appended. Overwrites nothing but `free`; can_match() says whether that is possible. */
	bool (*can_match)(const struct insn *in, const uint8_t *bytes, const struct regset *free);
	void (*match)(struct emit *e, const struct insn *in, const uint8_t *bytes,
		      const struct regset *free, const struct emit_way *ways, uint32_t count);
	/* Appends a call, direct or not, that leaves `return_pc` as its return address whatever its
	 * own place. The processor's prediction of returns does not profit from it. */
	void (*call)(struct emit *e, const struct insn *in, const uint8_t *bytes,
		     uint64_t return_pc);
	void (*probe)(struct emit *e, const struct emit_probe *p);
	/* Appends what probe() put into e->asides. */
	void (*aside)(struct emit *e, const struct emit_aside *a);
	/* Where a thread that was interrupted at `at`, inside the `size` bytes of probe code, has
	 * to begin again so that counts made meanwhile, by a signal handler, are not lost. */
	uint32_t (*restart)(const uint8_t *code, uint32_t size, uint32_t at);
	/* Writes the distance from the fixup to the label's place; false if out of reach. */
	bool (*fix)(struct emit *e, const struct emit_fixup *f, uint64_t target);
};

extern const struct emit_ops a64_emit, x64_emit;

void emit_init(struct emit *e, const struct arch *arch, uint64_t base);
void emit_release(struct emit *e);
uint32_t emit_label(struct emit *e);
/* Places a label here. */
void emit_place(struct emit *e, uint32_t label);
/* The address of the next byte. */
uint64_t emit_here(const struct emit *e);
void emit_bytes(struct emit *e, const void *bytes, size_t n);
/* An upper bound for what the probe takes, its rare parts and constants included. */
uint32_t emit_probe_bound(const struct emit_probe *p);
/* A label of a constant that emit_finish() will place, 16-byte aligned; equal constants asked for
 * shortly after each other share one. */
uint32_t emit_literal(struct emit *e, uint64_t low, uint64_t high);
/* Places the constants and resolves all labels. Returns !e->failed. */
bool emit_finish(struct emit *e);
