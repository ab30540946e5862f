/* A fragment while it is being made; shared by the files that make it.
 *
 *	resolve.c       spots -> attachments: the instruction or arrival that carries each probe
 *	arrivals.c      ways from outside that meet at one block
 *	body.c          decoded blocks
 *	unknown.c       code that no known path leads to, and where control comes in
 *	displace.c      windows of instructions that give way to a jump
 *	relocate.c      all blocks moved
 *	springboards.c  the patches that lead into relocated code
 *
 * An attachment is at a gap of a block: gap i is before its instruction i; the last one, behind its
 * last instruction, is on the way to the next block. */
#pragma once
#include "patch/fragment.h"

/* The instructions of a block, decoded at their run-time addresses. */
struct body {
	struct insn *insns;
	const uint8_t *bytes;
	uint32_t count;
	/* Instructions at its start that stay in place, and are executed there: landing
	 * instructions, and what keep_at_page_ends() takes for one. */
	uint32_t landing;
};

enum where {
	AT_ARRIVAL, /* before a block, only for control that comes from outside moved code */
	AT_GAP,
	AT_TAKEN,  /* on the way of a jump, or of a branch if taken */
	AT_SWITCH, /* on one way of an indirect jump; the gap is the edge */
};

struct attachment {
	uint32_t block, gap;
	uint32_t probe;  /* index in the request */
	uint32_t source; /* of AT_ARRIVAL: the edge, or SOURCE_ENTRY */
	uint8_t where;   /* enum where */
	bool in_place;   /* of AT_ARRIVAL: nothing else arrives there, so the gap does as well */
};

enum { SOURCE_ENTRY = UINT32_MAX };

struct plan {
	struct fragment_request *r;
	struct fragment *out;
	const struct cfg *g;
	const struct arch *arch;
	const struct emit_ops *ops;
	const struct image *image;
	struct arena *tmp;
	struct body **bodies; /* of each block; NULL until needed */
	bool *overlaps;       /* of each block: shares bytes with another */
	bool uncertain;       /* control may come to every instruction: see find_unknown() */
	/* Where control comes into the middle of blocks or to their beginnings from code that is in
	 * none of them: of other procedures, or unknown code of this one. Ascending. */
	place_list intruded;
	VEC(struct part) unknown; /* that code; ascending */
	struct attachment *attachments;
	uint32_t attachment_count;
	uint32_t *first; /* of each block and behind the last: first attachment */
	/* Of each edge: an indirect jump's that moved code tells from the jump's others; and of
	 * each block, how many its jump has of them. */
	bool *dispatched;
	uint8_t *dispatches;
	uint32_t extent; /* of e */
	struct emit e;
};

/* All that code at a place may use where `live` is needed. */
static inline struct regset free_where(const struct plan *p, const struct regset *live)
{
	return regset_without(liveness_free(p->arch, live), p->r->held);
}

/* body.c */
/* NULL if the block's bytes are not what they were when the graph was made. */
const struct body *body_of(struct plan *p, uint32_t block);
/* The address of a gap. */
static inline uint64_t body_va(const struct plan *p, const struct block *block,
			       const struct body *b, uint32_t gap)
{
	return gap < b->count ? b->insns[gap].pc - p->r->bias : block->start + block->size;
}
/* A call or a trap: relocated code leaves it where it is and goes there to execute it. */
static inline bool stays_in_place(const struct insn *in)
{
	return in->kind == INSN_CALL || in->kind == INSN_CALL_INDIRECT || in->kind == INSN_TRAP;
}
/* Whether control can run out of the block's end. */
bool block_falls(const struct block *block, const struct body *b);
bool in_one_page(const struct plan *p, uint64_t va, uint32_t size);
/* What is needed behind the instructions of the block that stay in place, where probes of those who
 * come from outside run. */
struct regset live_behind_landing(const struct plan *p, uint32_t block);

/* room.c */
/* Bytes at va, up to `most`, that fill a gap between blocks: nothing executes them. */
uint32_t padding_behind(const struct plan *p, uint64_t va, uint32_t most);
/* A call may return to the last byte of a page, where no jump has room. Then what is there is
 * executed in place, and patch and probes come behind it, as behind a landing instruction. The
 * stack pointer has to be what it was: it tells probes whose return this is. */
void keep_at_page_ends(struct plan *p);

/* unknown.c */
/* Finds p->uncertain, p->intruded and p->unknown. */
void find_unknown(struct plan *p);
void release_unknown(struct plan *p);
bool is_unknown_code(const struct plan *p, uint64_t va);
/* The index of the first intrusion at va or behind it. */
uint32_t intruded_from(const struct plan *p, uint64_t va);
/* Whether control comes from elsewhere to an address in [start, end). */
bool is_intruded(const struct plan *p, uint64_t start, uint64_t end);

/* resolve.c */
void resolve_probes(struct plan *p);
/* arrivals.c */
/* Edges that the procedure's own code does not determine: returns, indirect jumps, exceptions. */
bool is_external(const struct edge *e);
/* One set of probes for all ways that arrive at a block, or none. The attachments are
 * in order; afterwards they are not. */
void unify_arrivals(struct plan *p);
/* What nobody needs right before the block's last instruction. */
struct regset free_at_jump(const struct plan *p, uint32_t block);
/* Sorts the attachments and indexes them by block; those of refused probes go. */
void order_attachments(struct plan *p);

/* compose.c */
/* Begins anew: nothing is written yet. */
void begin(struct plan *p);
/* Appends the probes at this place; the gap of AT_TAKEN and AT_ARRIVAL does not matter. */
void emit_probes(struct plan *p, uint32_t block, enum where where, uint32_t gap);
bool has_probes(const struct plan *p, uint32_t block, enum where where, uint32_t gap);
/* `in_place`: the instruction itself stays; its probes lead there. */
void note_moved(struct plan *p, const struct insn *in, uint32_t arrival, uint32_t offset,
		bool in_place);
void add_patch(struct plan *p, const struct patch *patch);
/* The bytes of the original at va. False if the file does not have so many. */
bool original_bytes(const struct plan *p, uint64_t va, uint8_t *out, size_t size);
/* Refuses all probes that are not refused yet. */
void refuse_all(struct plan *p, enum refusal why);

/* displace.c: false if a probe could not be placed; never with DISPLACE_ANYHOW. */
enum displacing {
	DISPLACE_CLEANLY, /* calls stay where they are */
	DISPLACE_CALLS,   /* calls may be moved, too */
	DISPLACE_ANYHOW,  /* refuses the probes that cannot be placed, with `why`, or traps */
};
bool displace(struct plan *p, enum displacing how, enum refusal why);

/* relocate.c: REFUSED_NONE if all went well. */
enum refusal relocate(struct plan *p);

/* springboards.c */
/* A place where control comes into the procedure from elsewhere. */
struct arrival {
	uint64_t va;
	uint32_t block, gap;
	uint32_t host;  /* the block that has va: the next one, if the gap is the last */
	uint32_t inner; /* label of the gap */
	uint32_t label; /* of where control has to go on: probes before the gap, perhaps */
	bool unknown;   /* control may come from code that is not known, or of other procedures */
};
/* Adds the patches for arrivals, which are sorted by va. `made`: of each block, whether its call is
 * made by moved code, so that the original is dead. If there is no room because a call is in the
 * way, sets that and *again. */
enum refusal place_springboards(struct plan *p, const struct arrival *arrivals, uint32_t count,
				bool *made, bool *again);
