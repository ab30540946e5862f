/* One procedure's flow graph while it is being built; shared by the files that build it. */
#pragma once
#include "base/vec.h"
#include "flow/build.h"
#include "flow/jump_table.h"

enum { NONE = UINT32_MAX };

/* Marks of the place of each possible instruction: whether it is jumped at, its length once it was
 * decoded, and the number of the block that starts there plus one. The length keeps apart
 * instructions that overlap because code jumps into the middle of one (as past a lock prefix). */
enum { LEADER = 1, LENGTH_SHIFT = 1, SEEN = 15 << LENGTH_SHIFT, BLOCK_SHIFT = 5 };

/* Instructions in sequence. Interior ones may be jumped at. */
struct run {
	uint64_t start, end;
	uint64_t target; /* of a direct transfer */
	uint32_t jump;   /* of an indirect jump that is decided: its number, else NONE */
	uint8_t ends;    /* enum block_end; END_UNRESOLVED for any indirect jump */
	uint8_t flags;   /* enum block_flag */
};

/* A range of the procedure. */
struct code {
	uint64_t start, end;
	const uint8_t *bytes; /* as far as the file has them: `size` */
	uint64_t size;
	uint32_t *marks; /* by (va - start) / insn_align */
};

struct builder {
	const struct build_env *env;
	struct arena *tmp;
	struct code *code; /* of each range */
	VEC(struct run) runs;
	VEC(uint64_t) work;
	VEC(struct jump) jumps;         /* indirect ones that are decided */
	const struct landing *landings; /* of this procedure, sorted by start */
	uint32_t landing_count;
	struct cfg g; /* as of the last round */
};

/* explore.c: following control flow. */
void explore_init(struct builder *b, const struct build_env *env, struct arena *tmp);
/* The marks of va's place; NULL if va is not in this procedure. */
uint32_t *place_of(const struct builder *b, uint64_t va);
/* Notes that control can arrive at va. False if va is not in this procedure. */
bool reach(struct builder *b, uint64_t va);
/* Decodes one run that was reached; false if all are decoded. */
bool follow_next(struct builder *b);
/* Decodes all that was reached. */
void follow_all(struct builder *b);

/* form.c: runs to blocks and edges. */
/* Makes the graph of what is known now, b->g; *runs gets the run that each block ends, or NONE. */
void form_graph(struct builder *b, uint32_t **runs);
/* Copies the tables of the decided jumps into the graph. */
void form_tables(struct builder *b, const uint32_t *runs, struct arena *a);

/* decide.c: where indirect jumps, and jumps out of the procedure, lead. */
/* Tries all open indirect jumps; true if the graph has to be formed again. */
bool decide_jumps(struct builder *b, const uint32_t *runs);
/* Marks jumps out of the procedure that are no calls (BLOCK_OPEN_FRAME). */
void mark_open_frames(struct builder *b);
