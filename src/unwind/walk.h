/* Walks a call stack from the innermost frame to the outermost, over any source of memory: a stack
 * copy in a sample, a stopped thread, or both.
 *
 * Each link is checked as in section 2.3.2 of the paper (Tallent et al., PLDI 2009): the return
 * address must follow a call, and if that call names its target, the target must be the callee (or
 * a function that tail-calls). A call stack is complete only if it ends where a thread or the
 * process begins. */
#pragma once
#include "base/vec.h"
#include "isa/registers.h"
#include "unwind/space.h"

/* How far the step from a frame's callee to the frame itself was verified. */
enum link_quality {
	LINK_NONE,   /* the innermost frame has no link */
	LINK_VALID,  /* a call to the callee precedes the return address */
	LINK_LIKELY, /* an indirect call precedes it, or a call of a function that tail-calls */
	LINK_SIGNAL, /* interrupted by a signal: pc is exact, and no call precedes it */
};

struct frame {
	/* exact for the innermost and signal-interrupted frames, else a return address */
	uint64_t pc;
	uint64_t cfa;      /* the caller's stack pointer; 0 if unknown, as for the last frame */
	struct code *code; /* NULL in anonymous code */
	uint64_t va;       /* va of pc; pc itself in anonymous code */
	uint8_t link;      /* enum link_quality */
	bool exact;        /* pc is the next instruction to execute, not a return address */
};

/* Why a walk ended. All but the first are failures, counted by reason. */
enum walk_end {
	WALK_COMPLETE,
	WALK_STACK_COPY, /* the copy ended; with live memory the walk could continue */
	WALK_NO_CODE,    /* a pc outside all code */
	WALK_NO_RECIPE,  /* the analysis found no recipe */
	WALK_BAD_LINK,   /* a return address without a call before it */
	WALK_BAD_STACK,  /* the stack pointer does not move towards the root, or is misaligned */
	WALK_NO_MEMORY,  /* stack memory could not be read */
	WALK_TOO_DEEP,   /* more than WALK_MAX_FRAMES */
	WALK_ENDS,
};

enum { WALK_MAX_FRAMES = 1 << 20 };

extern const char *const walk_end_name[WALK_ENDS]; /* "stack-copy", ...: stable, for files */
extern const char *const walk_end_text[WALK_ENDS]; /* "the stack copy was too short", ... */

/* Reads the aligned 8-byte word at the address; false if it cannot be read. */
typedef bool (*read_word)(void *ctx, uint64_t address, uint64_t *out);

struct walk {
	VEC(struct frame) frames; /* innermost first */
	/* The registers of the last frame, from which walk_resume() continues. If a signal
	 * interrupted code outside all known code, they are that code's. */
	struct registers at;
	enum walk_end end;
};

struct walker; /* holds a cache from pc to recipe; one per thread of Sonde */

struct walker *walker_new(void);
void walker_free(struct walker *w);

/* While hurried, walks take no longer than it takes to read the stack: modules that are not
 * analysed yet are not analysed, and the walk, and each after it, ends. */
void walker_hurry(struct walker *w, bool hurried);
/* Whether a walk has met such a module since the walker is hurried. */
bool walker_missed(const struct walker *w);

/* Walks from `regs`. out->frames is emptied first; after the walk, it has at least the innermost
 * frame. */
void walk_stack(struct walker *w, struct space *s, const struct registers *regs, read_word read,
		void *ctx, struct walk *out);
/* Continues a walk that ended for lack of memory, with another source of memory. */
void walk_resume(struct walker *w, struct space *s, read_word read, void *ctx, struct walk *out);

/* A copy of stack bytes as a source of memory. ctx is a struct stack_copy. */
struct stack_copy {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};
bool read_stack_copy(void *ctx, uint64_t address, uint64_t *out);

/* The return addresses in the chain of frame records that starts at the frame pointer:
 *
 *	fp -> | fp' | return 0 |    fp' -> | fp'' | return 1 |    fp'' -> ... */
struct frame_chain {
	const uint64_t *returns;
	uint32_t count;
};

/* Continues, by frame records alone, a walk from `regs` that ended for lack of memory, if the code
 * of each further frame keeps a frame record. `copy` shows which record is that of the last frame.
 * If the records end before the root but leave enough registers known to continue with memory, the
 * walk ends for lack of memory again. In all other cases nothing is changed. */
void walk_by_records(struct walker *w, struct space *s, const struct registers *regs,
		     const struct frame_chain *chain, const struct stack_copy *copy,
		     struct walk *out);
