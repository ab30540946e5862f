/* A flow graph while it is being built; shared by the files that build it. */
#pragma once
#include "base/vec.h"
#include "flow/build.h"
#include "flow/jump_table.h"

enum { NONE = UINT32_MAX };

/* What is noted for each address where an instruction can start: whether control arrives there
 * other than by falling through (LEADER), the length of the instruction once it was decoded, and
 * the number plus one of the block that starts there. The length keeps instructions apart that
 * overlap because code jumps into the middle of one (for example to skip a lock prefix). */
enum { LEADER = 1, LENGTH_SHIFT = 1, SEEN = 15 << LENGTH_SHIFT, BLOCK_SHIFT = 5 };

/* Instructions in sequence. Control may also arrive at interior ones. */
struct run {
	uint64_t start, end;
	uint64_t target; /* of a direct transfer */
	uint32_t jump; /* number of the indirect jump at its end once that is decided, else NONE */
	uint8_t ends;  /* enum block_end; END_UNRESOLVED for any indirect jump */
	uint8_t flags; /* enum block_flag */
};

/* A call of which it was not asked yet whether it returns. */
struct deferred_call {
	struct insn insn;
	const uint8_t *bytes;
};

/* A range of the function. */
struct code_range {
	uint64_t start, end;
	const uint8_t *bytes; /* the first `size` ones, as far as the file has them */
	uint64_t size;
	uint32_t *marks; /* by (va - start) / insn_align */
};

struct builder {
	const struct build_env *env;
	struct arena *tmp;
	struct code_range *code; /* one for each range */
	VEC(struct run) runs;
	VEC(uint64_t) work;
	bool deferring; /* what follows calls is not followed: they are put here */
	VEC(struct deferred_call) deferred;
	VEC(struct jump) jumps;         /* decided indirect jumps */
	struct place_set leaders;       /* see struct slicer */
	const struct landing *landings; /* of this function, sorted by start */
	uint32_t landing_count;
	struct cfg g; /* as it was formed last */
};

/* explore.c: following control flow. */
void explore_init(struct builder *b, const struct build_env *env, struct arena *tmp);
/* The mark of the instruction at va; NULL if va is not in this function. */
uint32_t *place_of(const struct builder *b, uint64_t va);
/* Notes that control can arrive at va, and queues the code there for decoding. False if va is not
 * in this function. */
bool reach(struct builder *b, uint64_t va);
/* Decodes one queued run; false if the queue is empty. */
bool follow_next(struct builder *b);
/* Queues what follows one of the deferred calls; false if none of them returns. */
bool follow_deferred(struct builder *b);
/* Decodes everything that is queued, and what that leads to. */
void follow_all(struct builder *b);

/* form.c: runs to blocks and edges. */
/* Builds b->g from what is known now. (*runs)[block] is the run that ends with this block, or NONE
 * if the run continues in the next block. */
void form_graph(struct builder *b, uint32_t **runs);
/* Copies the tables of the decided jumps into the graph. */
void form_tables(struct builder *b, const uint32_t *runs, struct arena *a);

/* decide.c: where indirect jumps, and jumps out of the function, lead. */
/* Tries to decide the indirect jumps that are still open; true if the graph has to be formed again.
 */
bool decide_jumps(struct builder *b, const uint32_t *runs);
/* Sets BLOCK_OPEN_FRAME on jumps out of the function that are not calls. */
void mark_open_frames(struct builder *b);
