/* From the probes of one procedure to code: what is moved, where to, and the patches that lead
 * there. Pure: works on an image, for any architecture; the process comes later (probe/).
 *
 * The simplest mechanism that carries every spot is chosen:
 *
 *	displaced    each probed instruction (x86-64: enough whole ones) is moved into the fragment,
 *	             with the probes before, after or on its outcomes; a jump takes its place
 *	relocated    all blocks are moved; jumps into them (springboards) stand where control comes
 *	             from outside: entry, behind calls and system calls, landing pads, targets of
 *	             indirect jumps. Calls execute at their original place
 *	trap         like displaced, where no jump fits; only if allowed
 *
 * Each patch is one write within one page and keeps the program right on its own, provided that
 * lower phases are in completely and threads were moved before PHASE_DEAD. */
#pragma once
#include "flow/liveness.h"
#include "isa/emit.h"
#include "patch/spots.h"

/* Why a spot cannot be probed. */
#define REFUSALS(X)                                                                                \
	X(NONE, "none", "can be probed")                                                           \
	X(UNREACHED, "unreached", "lies in code that no path reaches")                             \
	X(BAD_CODE, "bad-code", "lies in bytes that are no instructions")                          \
	X(UNRESOLVED, "unresolved-jump", "is in a procedure with a jump to unknown places")        \
	X(SHARED_LANDING, "shared-landing", "is where exceptions of several places arrive")        \
	X(SHARED_SWITCH, "shared-switch", "is where several indirect jumps arrive")                \
	X(OVERLAP, "overlap", "lies in instructions that overlap others")                          \
	X(NO_ROOM, "no-room", "has no room for a jump")                                            \
	X(EXCLUSIVE, "exclusive", "lies between a load-exclusive and its store-exclusive")         \
	X(OUT_OF_REACH, "out-of-reach", "is too far from free memory for a jump")                  \
	X(SHADOW_STACK, "shadow-stack", "would need a call that shadow stacks forbid")             \
	X(NO_RECIPE, "no-recipe", "is at a place whose stack frame is not understood")             \
	X(BUSY, "busy", "is being executed by a signal handler's interrupted code")                \
	X(NOT_WRITABLE, "not-writable", "is in memory that cannot be changed")

enum refusal {
#define X(name, word, text) REFUSED_##name,
	REFUSALS(X)
#undef X
		REFUSAL_REASONS,
};

extern const char *const refusal_word[REFUSAL_REASONS];
extern const char *const refusal_text[REFUSAL_REASONS];

/* A probe at a spot. The fragment's maker fills in free registers and poison. */
struct spot_probe {
	struct spot spot;
	struct emit_probe code;
	uint8_t refused; /* out: enum refusal */
};

enum patch_phase {
	PHASE_PLAIN, /* overwrites only what it replaces */
	PHASE_DEAD,  /* overwrites original bytes that nothing executes any more */
};

struct patch {
	uint64_t va;
	uint8_t size;
	uint8_t phase; /* enum patch_phase */
	bool trap;     /* threads arrive by a trap: they go to `to` */
	uint8_t bytes[16], original[16];
	uint64_t to; /* run-time address in the fragment */
};

/* Which moved instruction is which. Ascending in `offset`; code between two of them (probes, jumps)
 * belongs to no instruction. */
struct moved {
	uint64_t va;
	uint32_t offset; /* in the fragment, of its first byte */
	uint32_t size;   /* of its moved form; a thread may be set here only at its first byte */
};

enum mechanism { MECHANISM_NONE, MECHANISM_DISPLACED, MECHANISM_RELOCATED, MECHANISM_TRAP };

struct fragment {
	uint8_t mechanism; /* the strongest that was needed: enum mechanism */
	uint8_t *code;
	uint32_t size;
	VEC(struct patch) patches;
	VEC(struct moved) moved;
	/* Ranges of original code (va) that a thread must not be inside of, but at their start,
	 * when the patches go in; those in moved code are moved. */
};

struct fragment_request {
	struct flow *flow;
	uint32_t procedure;
	const struct cfg *cfg;
	const struct liveness *live;
	struct spot_probe *probes;
	uint32_t count;
	uint64_t bias;    /* run-time address = va + bias */
	uint64_t address; /* run-time address that the fragment will have */
	bool poison, allow_traps;
	bool shadow_stack; /* the program uses one */
	bool relocate;     /* relocate even if displacing would do */
};

/* Makes the fragment for all probes that are not refused; sets `refused` of the others. False if
 * nothing is left to do. fragment_release() in both cases. `tmp` is scratch. */
bool fragment_make(struct fragment *out, struct fragment_request *r, struct arena *tmp);
void fragment_release(struct fragment *f);
/* An upper bound for the size of the fragment, before its address is known. */
uint32_t fragment_bound(const struct fragment_request *r);

/* The original instruction that the moved code at `offset` stands for, if a thread that is stopped
 * there can be set to it: it is at the first byte of a moved instruction. */
bool fragment_original(const struct fragment *f, uint32_t offset, uint64_t *va);
/* The place of the moved instruction, if `va` was moved. */
bool fragment_moved(const struct fragment *f, uint64_t va, uint32_t *offset);
