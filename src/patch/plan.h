/* A fragment while it is being made; shared by the files that make it.
 *
 *	resolve.c       spots -> attachments: the instruction or arrival that carries each probe
 *	arrivals.c      paths from outside that meet at one block
 *	body.c          decoded blocks
 *	room.c          room for patches
 *	unknown.c       code that no known path leads to, and the places where control enters
 *	displace.c      windows of instructions that are replaced by a jump
 *	relocate.c      all blocks moved
 *	springboards.c  the patches that lead into relocated code
 *	compose.c       writing probes, moved instructions, patches
 *
 * An attachment is at a gap of a block: gap i is before its instruction i; the last one, after its
 * last instruction, is on the fall-through edge to the next block. */
#pragma once
#include "patch/fragment.h"

/* The instructions of a block, decoded at their run-time addresses. */
struct body {
	struct insn *insns;
	const uint8_t *bytes;
	uint32_t count;
	/* The number of instructions at its start that stay in place, and are executed there:
	 * landing instructions, and the one that keep_at_page_ends() treats like one. */
	uint32_t landing;
};

enum where {
	AT_ARRIVAL, /* before a block, only for control that arrives from outside moved code */
	AT_GAP,
	AT_TAKEN,  /* on the edge of a jump, or the taken edge of a branch */
	AT_SWITCH, /* on one edge of an indirect jump; the gap is the edge */
};

struct attachment {
	uint32_t block, gap;
	uint32_t probe;  /* index in the request */
	uint32_t source; /* AT_ARRIVAL: the edge, or SOURCE_ENTRY */
	uint8_t where;   /* enum where */
	bool in_place; /* AT_ARRIVAL: no other control gets there, so the gap can carry the probe as
			  well */
};

enum { SOURCE_ENTRY = UINT32_MAX };

struct plan {
	struct fragment_request *r;
	struct fragment *out;
	const struct cfg *g;
	const struct arch *arch;
	const struct emit_ops *ops;
	const struct module *module;
	struct arena *tmp;
	struct body **bodies; /* for each block; NULL until needed */
	bool *overlaps;       /* for each block: it shares bytes with another */
	bool uncertain;       /* control may arrive at any instruction: see find_unknown() */
	/* Places in blocks, at their start or in the middle, where control arrives from code
	 * outside of them: from other functions, or from unknown code of this one. Ascending. */
	place_list intruded;
	VEC(struct part) unknown; /* unknown code of this function; ascending */
	struct attachment *attachments;
	uint32_t attachment_count;
	uint32_t *first; /* for each block, and after the last: index of its first attachment */
	/* For each edge: whether it is an edge of an indirect jump that moved code distinguishes
	 * from the jump's others; and for each block, the number of such edges. */
	bool *dispatched;
	uint8_t *dispatches;
	/* What was written so far. */
	VEC(struct moved) moved;
	VEC(struct placed_probe) placed;
	uint32_t extent; /* maximum size of e */
	struct emit e;
};

/* The registers that code may use at a place where `live` registers are needed. */
static inline struct regset free_where(const struct plan *p, const struct regset *live)
{
	return regset_without(liveness_free(p->arch, live), p->r->held);
}

/* body.c */
/* The decoded block; NULL if its bytes are not the instructions that the graph was made from. */
const struct body *body_of(struct plan *p, uint32_t block);
/* The address of a gap. */
static inline uint64_t body_va(const struct plan *p, const struct block *block,
			       const struct body *b, uint32_t gap)
{
	return gap < b->count ? b->insns[gap].pc - p->r->bias : block->start + block->size;
}
/* A call or a trap: relocated code leaves it in place and jumps there to execute it. */
static inline bool stays_in_place(const struct insn *in)
{
	return in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT || in->kind == INSN_TRAP;
}
/* Whether control can fall through at the block's end. */
bool block_falls(const struct block *block, const struct body *b);
bool in_one_page(const struct plan *p, uint64_t va, uint32_t size);
/* The registers that are live after the instructions of the block that stay in place, where the
 * probes for control from outside run. */
struct regset live_after_landing(const struct plan *p, uint32_t block);

/* room.c */
/* The number of padding bytes at va, up to `most`, between blocks: they are never executed. */
uint32_t padding_after(const struct plan *p, uint64_t va, uint32_t most);
/* A call may return to the last byte of a page, where a jump has no room. Then the instruction
 * there is executed in place, and patch and probes come after it, as after a landing instruction.
 * It must not change the stack pointer, by which probes recognise the call that returns. */
void keep_at_page_ends(struct plan *p);

/* unknown.c */
/* Sets p->uncertain, p->intruded and p->unknown. */
void find_unknown(struct plan *p);
void release_unknown(struct plan *p);
bool is_unknown_code(const struct plan *p, uint64_t va);
/* The index of the first intrusion at va or after it. */
uint32_t intruded_from(const struct plan *p, uint64_t va);
/* Whether control arrives from elsewhere at an address in [start, end). */
bool is_intruded(const struct plan *p, uint64_t start, uint64_t end);

/* resolve.c */
void resolve_probes(struct plan *p);
/* arrivals.c */
/* Edges that the function's own code does not determine: returns, indirect jumps, exceptions. */
bool is_external(const struct edge *e);
/* Merges the probes on all paths that arrive at a block into one set, or refuses them. The
 * attachments must be sorted; afterwards they are not. */
void unify_arrivals(struct plan *p);
/* The registers that are free right before the block's last instruction. */
struct regset free_at_jump(const struct plan *p, uint32_t block);
/* Sorts the attachments and indexes them by block; removes those of refused probes. */
void order_attachments(struct plan *p);

/* compose.c */
/* Discards everything written so far. */
void begin(struct plan *p);
/* Appends the probes at this place; the gap is ignored for AT_TAKEN and AT_ARRIVAL. */
void emit_probes(struct plan *p, uint32_t block, enum where where, uint32_t gap);
bool has_probes(const struct plan *p, uint32_t block, enum where where, uint32_t gap);
/* Records a moved instruction. `in_place`: the instruction itself stays, and its probes lead
 * there. */
void note_moved(struct plan *p, const struct insn *in, uint32_t arrival, uint32_t offset,
		bool in_place);
void add_patch(struct plan *p, const struct patch *patch);
/* The original bytes at va. False if the file has fewer than `size`. */
bool original_bytes(const struct plan *p, uint64_t va, uint8_t *out, size_t size);
/* Refuses all probes that are not refused yet. */
void refuse_all(struct plan *p, enum refusal why);

/* displace.c: false if a probe could not be placed; never with DISPLACE_ANYHOW. */
enum displacing {
	DISPLACE_CLEANLY, /* calls stay where they are */
	DISPLACE_CALLS,   /* calls may be moved, too */
	DISPLACE_ANYHOW,  /* refuses the probes that cannot be placed, with `why`, or uses traps */
};
bool displace(struct plan *p, enum displacing how, enum refusal why);

/* relocate.c: REFUSED_NONE on success. */
enum refusal relocate(struct plan *p);

/* springboards.c */
/* A place where control enters the function from elsewhere. */
struct arrival {
	uint64_t va;
	uint32_t block, gap;
	uint32_t host;  /* the block that contains va: the next one, if the gap is the last */
	uint32_t inner; /* label of the gap */
	uint32_t label; /* label where control must continue: possibly probes before the gap */
	bool unknown;   /* control may arrive from unknown code, or from other functions */
	bool at_top;    /* the probes at `label` are right before the gap */
};
/* Adds the patches for arrivals, which are sorted by va. `call_moved`: for each block, whether
 * moved code makes its call, so that the original is dead. If there is no room because a call is in
 * the way, marks that call in `call_moved` and sets *retry. */
enum refusal place_springboards(struct plan *p, const struct arrival *arrivals, uint32_t count,
				bool *call_moved, bool *retry);
