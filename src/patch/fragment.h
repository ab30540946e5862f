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
 * Putting a fragment in:
 *
 *	write its code; move threads (see fragment_moved()); write its patches in their order
 *
 * Each patch is one write within one page, and the program is right whenever it is let go on in
 * between: after any number of the steps. Taking it out is the same backwards. Why that holds:
 *
 * - displaced: the bytes of a patch are instructions of one block, which is entered at its top
 *   only, and that nobody is in the middle of once threads are moved.
 * - relocated, PHASE_PLAIN: the same, of the block where control arrives; the moved code may be
 *   entered at any of the springboards while others are not there yet, because all that it relies
 *   on is original code: calls, and places that have a springboard now or later.
 * - relocated, PHASE_DEAD: runs over other blocks of the original. These are dead by then: no
 *   path in the original code leads to them from a place where control still arrives without
 *   being sent away by a springboard. (springboards.c finds an order in which that is so.) */
#pragma once
#include "flow/liveness.h"
#include "isa/emit.h"
#include "patch/intrusions.h"
#include "patch/spots.h"

/* Why a spot cannot be probed. */
#define REFUSALS(X)                                                                                \
	X(NONE, "none", "can be probed")                                                           \
	X(UNREACHED, "unreached", "lies in code that no path reaches")                             \
	X(BAD_CODE, "bad-code", "lies in bytes that are no instructions")                          \
	X(UNRESOLVED, "unresolved-jump", "is in a procedure whose jumps are not all understood")   \
	X(SHARED_LANDING, "shared-landing", "is where exceptions of several places arrive")        \
	X(SHARED_SWITCH, "shared-switch", "is where several indirect jumps arrive")                \
	X(OVERLAP, "overlap", "lies in instructions that overlap others")                          \
	X(NO_ROOM, "no-room", "has no room for a jump")                                            \
	X(EXCLUSIVE, "exclusive", "lies between a load-exclusive and its store-exclusive")         \
	X(OUT_OF_REACH, "out-of-reach", "is too far from free memory for a jump")                  \
	X(SHADOW_STACK, "shadow-stack", "would need a call that shadow stacks forbid")             \
	X(NO_RECIPE, "no-recipe", "is at a place whose stack frame is not understood")             \
	X(RELOCATED, "relocated", "is in code that the dynamic linker changes")                    \
	X(TRAMPOLINE, "trampoline", "is where signal handlers return to")                          \
	X(PINNED, "pinned", "is in code that signal handlers or the kernel know by its address")   \
	X(BUSY, "busy", "is being executed by a signal handler's interrupted code")                \
	X(NOT_WRITABLE, "not-writable", "is in memory that cannot be changed")                     \
	X(TOO_MANY, "too-many-patches", "is in a procedure that takes too many patches")           \
	X(TABLE_FULL, "table-full", "is one too many for the tables in the program")

enum refusal {
#define X(name, word, text) REFUSED_##name,
	REFUSALS(X)
#undef X
		REFUSAL_REASONS,
};

extern const char *const refusal_word[REFUSAL_REASONS];
extern const char *const refusal_text[REFUSAL_REASONS];

/* Whether a probe may run on other ways than its own, where several lead to one place and control
 * that arrives there does not tell which one it took. */
enum tolerance {
	TOLERATES_NONE,
	TOLERATES_MARKED, /* if there is no other choice; `shared` is set then */
	TOLERATES_ALL,
};

/* A probe at a spot. The fragment's maker fills in free registers and poison, and adds what is held
 * in the whole procedure. */
struct spot_probe {
	struct spot spot;
	struct emit_probe code;
	/* Where ways meet, probes of one owner for the same point become one. */
	uint32_t owner;
	uint8_t tolerance; /* enum tolerance */
	uint8_t refused;   /* out: enum refusal */
	bool shared;       /* out: it runs on other ways, too */
	/* out: a thread that is about to execute the instruction at this address when the patches
	 * go in will run the probe first; 0: only control that takes an edge does. */
	uint64_t runs_at;
};

enum patch_phase {
	PHASE_PLAIN, /* overwrites only what it replaces */
	PHASE_DEAD,  /* overwrites original code elsewhere that nothing executes any more */
};

struct patch {
	uint64_t va;
	uint8_t size;
	uint8_t phase; /* enum patch_phase */
	bool trap;     /* threads arrive by a trap: they go to `to` */
	/* Another patch leads here: a thread at it is nowhere in the original program, but about to
	 * go to `to`. */
	bool island;
	uint8_t bytes[16], original[16];
	uint64_t to; /* run-time address in the fragment */
};

/* Which moved instruction is which. Ascending in all offsets and in va; code between two of them
 * (probes, jumps) belongs to no instruction. */
struct moved {
	uint64_t va;
	uint32_t arrival; /* in the fragment: where the probes before it begin, if there are any */
	uint32_t offset;  /* of its first byte */
	uint32_t size;    /* of its moved form; a thread may be set here only at its first byte */
	uint8_t length;   /* of the original */
	bool syscall;
	bool landing;  /* a landing instruction: the original is executed, too, before a patch */
	bool in_place; /* only its probes are here; what follows them goes to the original */
};

/* Where the code of a probe is in the fragment; its rare parts are behind all other code. */
struct placed_probe {
	uint32_t probe; /* index in the request */
	uint32_t offset, size;
};

enum mechanism { MECHANISM_NONE, MECHANISM_DISPLACED, MECHANISM_RELOCATED, MECHANISM_TRAP };

struct fragment {
	uint8_t mechanism; /* the strongest that was needed: enum mechanism */
	uint8_t *code;     /* NULL once it is in the program: it has to be kept there only */
	uint32_t size;
	uint32_t rare;             /* offset from which on there are only rare parts of probes */
	VEC(struct patch) patches; /* in the order in which they go in */
	VEC(struct moved) moved;
	VEC(struct placed_probe) probes; /* ascending in offset; one may be in several places */
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
	/* Registers that are in use between probes: neither probes nor anything else between moved
	 * instructions takes them for free. */
	struct regset held;
	bool poison, allow_traps;
	bool trap_all;                       /* tests: traps even where jumps would do */
	bool shadow_stack;                   /* the program uses one */
	bool relocate;                       /* relocate even if displacing would do */
	const struct intrusions *intrusions; /* of the image; may be NULL, at one's own risk */
	/* What has to run in relocated code where control comes in from unknown code or from the
	 * middle of other procedures; NULL: nothing. All registers are live there. Its argument is
	 * told where: the distance from the procedure's start is in bits 32 to 62. */
	const struct emit_probe *recover;
};

/* Makes the fragment for all probes that are not refused; sets `refused` of the others. False if
 * nothing is left to do. fragment_release() in both cases. `tmp` is scratch. */
bool fragment_make(struct fragment *out, struct fragment_request *r, struct arena *tmp);
void fragment_release(struct fragment *f);
/* An upper bound for the size of the fragment, before its address is known. */
uint32_t fragment_bound(const struct fragment_request *r);

/* The probe that has code at `offset`, for emit_ops.restart; or all rare parts, if it is in one of
 * them. */
bool fragment_probe_around(const struct fragment *f, uint32_t offset, struct placed_probe *out);

/* Where a thread is, in terms of the original program. */
struct thread_place {
	uint64_t va; /* of the instruction that it is about to execute */
	bool probed; /* all probes before it were executed: they must not be again */
};

/* The place that `offset` in the fragment stands for, if a thread that is stopped there can be set
 * to it: it is at the first byte of a moved instruction or of the probes before it, or waits in a
 * system call made by moved code, so that its pc is right behind that. */
bool fragment_original(const struct fragment *f, uint32_t offset, struct thread_place *out);
/* The moved instruction that code at `offset` stands for or belongs to, nearest before it: of a
 * thread that is anywhere in there, for who only wants to know where. Rare parts belong to the
 * first one. False if nothing was moved. */
bool fragment_nearest(const struct fragment *f, uint32_t offset, uint64_t *va);
/* Whether a thread at the original instruction at va came there from the fragment, which has
 * executed the probes before it. */
bool fragment_probed(const struct fragment *f, uint64_t va);
/* Where in the fragment a thread has to go on once the patches are in. False if that is the
 * original: it was not moved, or a patch leads from there to the probes that are to come. */
bool fragment_moved(const struct fragment *f, const struct thread_place *at, uint32_t *offset);
