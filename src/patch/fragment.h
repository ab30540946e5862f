/* Generates the code for the probes of one function: what is moved, where to, and the patches that
 * lead there. This is pure: it works on a module, for any architecture; probe/ applies the result
 * to a process.
 *
 * The simplest mechanism that supports every spot is chosen:
 *
 *	displaced    each probed instruction (x86-64: enough whole ones) is moved into the fragment,
 *	             with the probes before it, after it or on its outgoing edges, and replaced by
 *	             a jump
 *	relocated    all blocks are moved; jumps into them (springboards) are placed where control
 *	             arrives from outside: at the entry, after calls and system calls, at landing
 *	             pads, at targets of indirect jumps. Calls execute at their original place
 *	trap         like displaced, where no jump fits; only if allowed
 *
 * To insert a fragment:
 *
 *	write its code; move threads (see fragment_moved()); write its patches in their order
 *
 * Each patch is one write within one page, and the program runs correctly if it is resumed after
 * any number of these steps. A fragment is removed by the same steps backwards. Why this is
 * correct:
 *
 * - displaced: the bytes of a patch are instructions of one block, which is entered at its top
 *   only, and no thread is in the middle of them once threads have been moved.
 * - relocated, PHASE_PLAIN: the same holds for the block where control arrives. The moved code may
 *   be entered at any of the springboards while others are missing, because all that it relies on
 *   is original code: calls, and places that have a springboard now or later.
 * - relocated, PHASE_DEAD: the patch overwrites other blocks of the original. These are dead by
 *   then: no path in the original code leads to them from a place where control still arrives
 *   without being redirected by a springboard. (springboards.c finds such an order.) */
#pragma once
#include "flow/liveness.h"
#include "isa/emit.h"
#include "patch/intrusions.h"
#include "patch/moved.h"
#include "patch/placed.h"
#include "patch/spots.h"

/* Why a spot cannot be probed. */
#define REFUSALS(X)                                                                                \
	X(NONE, "none", "can be probed")                                                           \
	X(UNREACHED, "unreached", "lies in code that no path reaches")                             \
	X(BAD_CODE, "bad-code", "lies in bytes that are not instructions")                         \
	X(UNRESOLVED, "unresolved-jump", "is in a function whose jumps are not all understood")    \
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
	X(TOO_MANY, "too-many-patches", "is in a function that needs too many patches")            \
	X(TABLE_FULL, "table-full", "does not fit into the tables in the program")

enum refusal {
#define X(name, word, text) REFUSED_##name,
	REFUSALS(X)
#undef X
		REFUSAL_REASONS,
};

extern const char *const refusal_word[REFUSAL_REASONS];
extern const char *const refusal_text[REFUSAL_REASONS];

/* Whether a probe may also run on other paths than its own, where several paths lead to one place
 * and code there cannot distinguish them. */
enum tolerance {
	TOLERATES_NONE,
	TOLERATES_MARKED, /* only if there is no other choice; then `shared` is set */
	TOLERATES_ALL,
};

/* A probe at a spot. fragment_make() fills in free registers and poison, and adds the registers
 * held in the whole function. */
struct spot_probe {
	struct spot spot;
	struct emit_probe code;
	/* Where paths meet, probes of the same owner for the same point become one. */
	uint32_t owner;
	uint8_t tolerance; /* enum tolerance */
	uint8_t refused;   /* out: enum refusal */
	bool shared;       /* out: it also runs on other paths */
	/* out: a thread that is about to execute the instruction at this address when the patches
	 * are written will run the probe first; 0: only control that follows an edge does. */
	uint64_t runs_at;
};

enum patch_phase {
	PHASE_PLAIN, /* overwrites only the code that it replaces */
	PHASE_DEAD,  /* overwrites other original code, which is dead by then */
};

struct patch {
	uint64_t va;
	uint8_t size;
	uint8_t phase; /* enum patch_phase */
	bool trap;     /* it is a trap; threads that hit it are moved to `to` */
	/* Another patch jumps here: a thread at this patch is at no place of the original program,
	 * but about to go to `to`. */
	bool island;
	uint8_t bytes[16], original[16];
	uint64_t to; /* run-time address in the fragment */
};

enum mechanism { MECHANISM_NONE, MECHANISM_DISPLACED, MECHANISM_RELOCATED, MECHANISM_TRAP };

struct fragment {
	uint8_t mechanism; /* enum mechanism: the strongest one that was needed */
	uint8_t *code; /* NULL after it was written to the program, which then has the only copy */
	uint32_t size;
	uint32_t rare;             /* offset of the asides of probes, which come last */
	VEC(struct patch) patches; /* in the order in which they are written */
	struct moved_table moved;
	struct placed_table probes;
};

struct fragment_request {
	struct flow *flow;
	uint32_t function;
	const struct cfg *cfg;
	const struct liveness *live;
	struct spot_probe *probes;
	uint32_t count;
	uint64_t bias;    /* run-time address = va + bias */
	uint64_t address; /* run-time address that the fragment will have */
	/* Registers that hold values between probes: neither probes nor other code between moved
	 * instructions may use them as free registers. */
	struct regset held;
	bool poison, allow_traps;
	bool trap_all;     /* for tests: use traps even where jumps would fit */
	bool shadow_stack; /* the program uses a shadow stack */
	bool relocate;     /* relocate even if displacing would suffice */
	/* of the module; if NULL, jumps into the middle of functions go unnoticed */
	const struct intrusions *intrusions;
	/* Makes the probe that runs in relocated code where control arrives from unknown code or
	 * from the middle of other functions; NULL: there is none. All registers are live there.
	 * `distance` has the lowest 31 bits of that of the place from the function's start. The
	 * probe's operations live in `a`. */
	struct emit_probe (*recover)(const void *ctx, uint32_t distance, struct arena *a);
	const void *recover_ctx;
};

/* Makes the fragment for all probes that are not refused; sets `refused` of the others. False if no
 * probe is left. Call fragment_release() in both cases. `tmp` is scratch. */
bool fragment_make(struct fragment *out, struct fragment_request *r, struct arena *tmp);
void fragment_release(struct fragment *f);
/* An upper bound for the size of the fragment, before its address is known. */
uint32_t fragment_bound(const struct fragment_request *r);

/* The probe whose code contains `offset`, for emit_ops.restart; or the range of all asides, if that
 * contains it. */
bool fragment_probe_around(const struct fragment *f, uint32_t offset, struct placed_probe *out);

/* The place of a thread in the original program. */
struct thread_place {
	uint64_t va; /* the next instruction it will execute */
	bool probed; /* all probes before it were executed, and must not run again */
};

/* The original place that corresponds to `offset` in the fragment, if a thread that is stopped
 * there can be moved to it: the offset is the first byte of a moved instruction or of the probes
 * before it, or right after a system call in moved code, in which the thread waits. */
bool fragment_original(const struct fragment *f, uint32_t offset, struct thread_place *out);
/* The original address of the moved instruction that contains `offset`, or else is nearest before
 * it: for reporting where a thread is, wherever it is in the fragment. Asides belong to the first
 * instruction. False if nothing was moved. */
bool fragment_nearest(const struct fragment *f, uint32_t offset, uint64_t *va);
/* Whether a thread at the original instruction at va arrived there from the fragment, which has
 * executed the probes before it. */
bool fragment_probed(const struct fragment *f, uint64_t va);
/* The offset in the fragment where a thread must continue after the patches are written. False if
 * it continues in the original: the instruction was not moved, or a patch leads from there to the
 * remaining probes. */
bool fragment_moved(const struct fragment *f, const struct thread_place *at, uint32_t *offset);
