/* One machine instruction, the same for every architecture.
 *
 * Every analysis above this layer reads nothing but this struct: where control goes, which
 * registers are read and written, how the stack pointer moves and, for the simple forms that
 * address arithmetic is made of, what value is computed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Where control goes next. */
enum insn_kind {
	INSN_PLAIN,  /* to the next instruction */
	INSN_JUMP,   /* to `target` */
	INSN_BRANCH, /* to `target` or the next instruction */
	/* to the address that op/a/b/imm describe: a register (OP_MOVE) or memory (OP_LOAD) */
	INSN_JUMP_INDIRECT,
	INSN_CALL,          /* to `target`, and back */
	INSN_CALL_INDIRECT, /* the same through a register or memory */
	INSN_RETURN,
	INSN_TRAP,    /* nowhere: brk, udf, hlt; int3, ud2, hlt */
	INSN_SYSCALL, /* into the kernel, and back */
	INSN_KINDS,
};

/* The class of an instruction in an instruction mix. */
enum insn_class {
	CLASS_LOAD,
	CLASS_STORE,
	CLASS_INTEGER,
	CLASS_FLOAT,
	CLASS_SIMD,
	CLASS_BRANCH, /* everything that transfers control */
	CLASS_ATOMIC, /* read-modify-write and exclusive/locked accesses */
	CLASS_OTHER,  /* system, hints, barriers, prefetches, cache maintenance */
	INSN_CLASSES,
};

enum insn_flag {
	INSN_NOP = 1 << 0, /* does nothing at all: padding */
	/* marks a legal target of indirect calls and jumps: bti, paciasp, endbr64 */
	INSN_LANDING = 1 << 1,
	/* marks a legal target of jumps but not of calls (bti j): no function starts here */
	INSN_LANDING_JUMP_ONLY = 1 << 2,
	INSN_SIGNED = 1 << 3,      /* the loaded value is sign-extended */
	INSN_SIGNS_LINK = 1 << 4,  /* paciasp/pacibsp: the return address is signed from here on */
	INSN_CHECKS_LINK = 1 << 5, /* autiasp/autibsp, retaa: the return address is authenticated */
	/* besides its OP_ADD or OP_SUB, it sets the flags of a compare: those of a - b for OP_SUB,
	 * those of a - (-imm) for OP_ADD (subs and adds of a constant) */
	INSN_COMPARES = 1 << 6,
	INSN_PC_RELATIVE = 1 << 7, /* OP_SET of an address computed from pc: adr, adrp, lea rip */
	INSN_EXCLUSIVE_BEGIN = 1 << 8, /* load-exclusive: an access before its store may break it */
	INSN_EXCLUSIVE_END = 1 << 9,   /* store-exclusive, clrex */
};

/* The value computed, where it has one of these forms. Everything else is OP_OTHER, and only
 * `writes` shows which registers it changes. "mem" is memory at a + (extend(b) << shift) + imm,
 * where an absent register is REG_NONE and counts as 0; pc-relative addresses are already resolved
 * into imm. */
enum insn_op {
	OP_OTHER,
	OP_SET,  /* dst = imm */
	OP_MOVE, /* dst = a, its low `width` bytes extended as `extend` says */
	OP_ADD,  /* dst = a + (extend(b) << shift) + imm (address arithmetic; b may be absent) */
	OP_SUB,  /* dst = a - b */
	OP_AND,  /* dst = a & imm */
	OP_SHIFT_LEFT,  /* dst = a << imm */
	OP_SHIFT_RIGHT, /* dst = a >> imm, logical */
	OP_LOAD,        /* dst = `width` bytes of mem; zero- or (INSN_SIGNED) sign-extended */
	OP_STORE, /* `width` bytes of mem = dst (here a source; REG_NONE for a constant or zero) */
	OP_LOAD_PAIR, /* dst, dst2 = two adjacent words of `width` bytes each */
	OP_STORE_PAIR,
	OP_PUSH,        /* sp -= 8; *sp = dst (REG_NONE: a constant or memory) */
	OP_POP,         /* dst = *a; sp = a + 8: a is sp, or for x86-64's leave the frame pointer */
	OP_COMPARE,     /* flags of a - b, or of a - imm if b is absent; `width` bytes */
	OP_COMPARE_MEM, /* flags of (`width` bytes of mem) - value */
	OP_TEST,        /* flags of a & b, or of a & imm if b is absent */
	/* flags of mem compared with, or anded with, dst (here a source); or anded with a constant
	 * (REG_NONE) */
	OP_TEST_MEM,
	INSN_OPS,
};

enum insn_extend {
	EXTEND_NONE,
	EXTEND_U8,
	EXTEND_U16,
	EXTEND_U32,
	EXTEND_S8,
	EXTEND_S16,
	EXTEND_S32
};

/* The condition of a branch, on the flags of the last compare (or on a register: see below). */
enum insn_cond {
	COND_OTHER,
	COND_EQ,
	COND_NE,
	COND_ULT,
	COND_ULE,
	COND_UGT,
	COND_UGE,
	COND_SLT,
	COND_SLE,
	COND_SGT,
	COND_SGE,
};

/* A load or store that also moves its base register: the access is at base (POST) or base + imm
 * (PRE); afterwards base += imm. */
enum insn_writeback { WRITEBACK_NONE, WRITEBACK_PRE, WRITEBACK_POST };

enum { REG_NONE = 0xff, REG_FLAGS = 32 };

/* A set of registers. core: bits 0-31 are general registers (the stack pointer among them; struct
 * arch says which), bit REG_FLAGS the condition flags, bits above it other registers of an
 * architecture (predicates, masks, control words). vec: the vector registers. Writing a part of a
 * register counts as reading and writing it, unless the architecture clears the rest. */
struct regset {
	uint64_t core;
	uint32_t vec;
};

/* Uses of general registers and flags, in two parts: the low part of a register is its lowest byte,
 * the low part of the flags all but the carry. A part whose old value is merely preserved is not
 * read. A part that may be preserved is not written. */
struct part_uses {
	uint64_t high_reads, high_writes;
	uint64_t low_reads, low_writes;
};

struct insn {
	uint64_t pc;
	uint64_t target; /* of a direct transfer */
	uint16_t flags;  /* enum insn_flag; INSN_SIGNED, _COMPARES and _PC_RELATIVE at DECODE_FULL
			    only */
	uint8_t length;
	uint8_t kind;  /* enum insn_kind */
	uint8_t class; /* enum insn_class */

	/* What follows is filled at DECODE_FULL only. */
	uint8_t op; /* enum insn_op */
	uint8_t dst, dst2, a, b;
	uint8_t width;  /* bytes of the result, or of the memory accessed (of one half of a pair) */
	uint8_t extend; /* enum insn_extend: of b, or of a for OP_MOVE */
	uint8_t shift;  /* of b */
	uint8_t cond;   /* enum insn_cond of an INSN_BRANCH. A branch that tests a register itself
			   (cbz, cbnz) has op OP_COMPARE, a, imm 0, width and cond EQ or NE */
	uint8_t writeback; /* enum insn_writeback */
	bool stack_known;  /* the stack pointer changes by the constant `stack` (often 0) */
	/* change of the stack pointer, not counting the return address that a call pushes */
	int32_t stack;
	int64_t imm;
	int64_t value; /* the second constant, of OP_COMPARE_MEM */
	struct regset reads, writes;
	struct part_uses parts;
};

enum insn_detail {
	/* pc, target, length, kind, class, and the flags except those of a value (SIGNED, COMPARES,
	 * PC_RELATIVE) */
	DECODE_FLOW,
	DECODE_FULL, /* everything */
};

extern const char *const insn_kind_name[INSN_KINDS];
extern const char *const insn_class_name[INSN_CLASSES];
extern const char *const insn_op_name[INSN_OPS];

static inline bool insn_ends_block(const struct insn *in)
{
	return in->kind != INSN_PLAIN && in->kind != INSN_SYSCALL;
}

static inline bool regset_has(const struct regset *s, unsigned reg)
{
	return s->core >> reg & 1;
}

static inline struct regset regset_or(struct regset a, struct regset b)
{
	return (struct regset){a.core | b.core, a.vec | b.vec};
}

static inline struct regset regset_and(struct regset a, struct regset b)
{
	return (struct regset){a.core & b.core, a.vec & b.vec};
}

static inline struct regset regset_without(struct regset a, struct regset b)
{
	return (struct regset){a.core & ~b.core, a.vec & ~b.vec};
}

static inline bool regset_equal(struct regset a, struct regset b)
{
	return a.core == b.core && a.vec == b.vec;
}
