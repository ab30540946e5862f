/* Decides where indirect jumps lead, on the graph known so far. */
#include "flow/builder.h"

enum {
	SLICE_BUDGET = 20000,     /* instructions that may be decoded to decide one jump */
	UNGUARDED_ENTRIES = 1024, /* limit for tables of unknown size */
};

static const uint8_t *bytes_at(void *ctx, uint64_t va, uint64_t size)
{
	size_t n;
	return module_at(((const struct build_env *)ctx)->module, va, size, &n);
}

static bool is_address(void *ctx, uint64_t va)
{
	return module_section_at(((const struct build_env *)ctx)->module, va) != NULL;
}

/* Whether va lies in the middle of an instruction that was decoded. */
static bool is_inside_insn(const struct builder *b, uint64_t va)
{
	const struct arch *arch = b->env->arch;
	const uint32_t *place = place_of(b, va);
	if (!place || *place & SEEN)
		return false;
	for (uint64_t back = arch->insn_align; back < arch->insn_max; back += arch->insn_align) {
		place = place_of(b, va - back);
		if (place && (*place & SEEN) >> LENGTH_SHIFT > back)
			return true;
	}
	return false;
}

/* Follows the targets of a jump table. A table whose size no compare limits ends at the first entry
 * that points into the middle of an instruction; to see that, the targets before it are followed
 * first. Among label addresses (BOUND_LABELS) such an entry is skipped: it only looks like an
 * address. */
static void reach_targets(struct builder *b, struct jump *jump)
{
	bool guarded = jump->bound == BOUND_COMPARE;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < jump->targets.len; i++) {
		bool possible = guarded || !is_inside_insn(b, jump->targets.data[i]);
		if (!possible && jump->bound != BOUND_LABELS) {
			jump->closed = false;
			break;
		}
		if (!possible)
			continue;
		jump->targets.data[kept++] = jump->targets.data[i];
		reach(b, jump->targets.data[i]);
		if (!guarded)
			follow_all(b);
	}
	if (kept < jump->targets.len)
		jump->targets.len = jump->count = kept;
}

/* Records what an indirect jump does, and follows its targets. */
static void record_decision(struct builder *b, struct run *r, struct jump *jump)
{
	r->ends = jump->verdict == JUMP_TABLE ? END_SWITCH : END_TAIL_CALL;
	r->target = jump->target;
	if (r->jump == NONE) {
		r->jump = b->jumps.len;
		vec_push(&b->jumps, (struct jump){0});
	}
	uint32_t number = r->jump; /* following targets reallocates the runs */
	vec_free(&b->jumps.data[number].targets);
	if (jump->verdict == JUMP_TABLE)
		reach_targets(b, jump);
	b->jumps.data[number] = *jump;
}

/* Whether the last change of the stack pointer in the block raises it. */
static bool ends_in_epilogue(struct slicer *s, uint32_t block)
{
	const struct insn *insns = slicer_insns(s, block);
	for (uint32_t i = s->g->blocks[block].insn_count; i-- > 0;)
		if (regset_has(&insns[i].writes, s->arch->sp))
			return insns[i].stack_known && insns[i].stack > 0;
	return false;
}

/* Whether the stack pointer has the value it had at the entry, so that a jump can be a tail call.
 * If that value is not known, *known is false and the answer is a guess. */
static bool frame_is_closed(struct slicer *s, uint32_t block, bool *known)
{
	struct sum sum;
	const struct expr *sp =
		value_of_register(s, block, s->g->blocks[block].insn_count, s->arch->sp);
	*known = expr_sum(sp, &sum) && sum.count == 1 && sum.terms[0].x->kind == EXPR_PHI &&
		 sum.terms[0].x->k == (int64_t)s->g->entry;
	return *known ? !sum.constant : ends_in_epilogue(s, block);
}

/* The most entries that the table can have before the next one begins. */
static uint32_t entries_before_next_table(const struct builder *b, const struct jump *jump)
{
	uint64_t limit = UNGUARDED_ENTRIES;
	vec_each (other, &b->jumps) {
		if (other->verdict == JUMP_TABLE && other->table > jump->table) {
			uint64_t n = (other->table - jump->table) / jump->entry_size;
			limit = n < limit ? n : limit;
		}
	}
	return (uint32_t)limit;
}

static bool use_labels(struct builder *b, struct jump *jump)
{
	for (uint32_t i = 0; i < b->env->label_count; i++)
		if (!is_inside_insn(b, b->env->labels[i]))
			vec_push(&jump->targets, b->env->labels[i]);
	if (!jump->targets.len)
		return false;
	jump->verdict = JUMP_TABLE;
	jump->bound = BOUND_LABELS;
	jump->table = 0;
	jump->count = jump->targets.len;
	return true;
}

/* The environment for deciding the jump that ends `block`. A jump with the frame in place is not a
 * tail call, so the guessed starts after this function may be the labels that it leads to: the
 * function is then taken to extend up to env->reach. */
static const struct build_env *scope_of_jump(struct builder *b, struct slicer *s, uint32_t block)
{
	const struct build_env *env = b->env;
	bool known;
	if (env->reach <= env->ranges[0].end || frame_is_closed(s, block, &known) || !known)
		return env;
	struct build_env *wide = ARENA_DUP(b->tmp, env, 1);
	struct part *ranges = ARENA_DUP(b->tmp, env->ranges, env->range_count);
	ranges[0].end = env->reach;
	wide->ranges = ranges;
	return wide;
}

/* How much to assume about a jump. The next level is used only when the one before it brings
 * nothing new. */
enum effort {
	CERTAIN,     /* tables whose size is known */
	UNGUARDED,   /* tables that end where their contents stop making sense */
	ASSUMED,     /* the same, with slicer.assume_addresses */
	LAST_RESORT, /* all labels of the function, or a tail call */
	EFFORTS,
};

/* Decides one jump. A decided jump is decided again while the graph grows, because an index that
 * seemed constant may vary. True if the graph changes. */
static bool decide_jump(struct builder *b, struct slicer *s, uint32_t block, struct run *r,
			enum effort effort)
{
	struct jump jump;
	s->budget = SLICE_BUDGET;
	const struct build_env *env = scope_of_jump(b, s, block);
	s->budget = SLICE_BUDGET;
	jump_resolve(s, env, block, 0, &jump);
	if (jump.verdict == JUMP_UNBOUNDED && (effort == UNGUARDED || effort == ASSUMED)) {
		uint32_t limit = entries_before_next_table(b, &jump);
		vec_free(&jump.targets);
		jump_resolve(s, env, block, limit, &jump);
	}
	bool known;
	if (jump.likely && !frame_is_closed(s, block, &known) && known)
		jump.verdict = JUMP_UNKNOWN;
	if (jump.verdict == JUMP_UNKNOWN && effort == LAST_RESORT) {
		if (!use_labels(b, &jump) && frame_is_closed(s, block, &known))
			jump.verdict = JUMP_TAIL_CALL;
	}
	bool table = jump.verdict == JUMP_TABLE, first = r->jump == NONE;
	if (first ? !table && jump.verdict != JUMP_TAIL_CALL
		  : !table || jump.targets.len <= b->jumps.data[r->jump].targets.len) {
		vec_free(&jump.targets);
		return false;
	}
	record_decision(b, r, &jump);
	return true;
}

static void slicer_start(struct builder *b, struct slicer *s)
{
	*s = (struct slicer){
		.arch = b->env->arch,
		.g = &b->g,
		.bytes_at = bytes_at,
		.is_address = is_address,
		.ctx = (void *)(uintptr_t)b->env,
		.tmp = b->tmp,
		.leaders = &b->leaders,
		.budget = SLICE_BUDGET,
	};
	slicer_init(s);
}

/* Whether a decided jump may have more targets than were found. In the rounds that guess table
 * sizes, only an index that seemed constant is looked at again. */
static bool may_grow(const struct jump *j, enum effort effort)
{
	return j->bound == BOUND_COMPARE &&
	       (effort == CERTAIN || (effort == UNGUARDED && j->targets.len == 1));
}

static bool try_jumps(struct builder *b, const uint32_t *runs, enum effort effort)
{
	bool progress = false;
	struct slicer s;
	slicer_start(b, &s);
	s.assume_addresses = effort == ASSUMED;
	for (uint32_t i = 0; i < b->g.block_count; i++) {
		struct run *r = runs[i] == NONE ? NULL : &b->runs.data[runs[i]];
		bool again = b->g.blocks[i].end == END_SWITCH &&
			     may_grow(&b->jumps.data[r->jump], effort);
		if (again || b->g.blocks[i].end == END_UNRESOLVED)
			progress |= decide_jump(b, &s, i, r, effort);
	}
	slicer_release(&s);
	return progress;
}

bool decide_jumps(struct builder *b, const uint32_t *runs)
{
	if (!b->g.unresolved && !b->jumps.len)
		return false;
	for (enum effort effort = CERTAIN; effort < EFFORTS; effort++)
		if (try_jumps(b, runs, effort))
			return true;
	return false;
}

/* A jump out of the function with its frame still on the stack is not a call: it leads to a part of
 * the function that was split off. */
void mark_open_frames(struct builder *b)
{
	struct block *blocks = (struct block *)(uintptr_t)b->g.blocks;
	struct slicer s = {0};
	for (uint32_t i = 0; i < b->g.block_count; i++) {
		bool known;
		if (blocks[i].end != END_TAIL_CALL || !blocks[i].target ||
		    b->env->is_start(b->env->ctx, blocks[i].target))
			continue;
		if (!s.memo)
			slicer_start(b, &s);
		s.budget = SLICE_BUDGET;
		if (!frame_is_closed(&s, i, &known) && known)
			blocks[i].flags |= BLOCK_OPEN_FRAME;
	}
	if (s.memo)
		slicer_release(&s);
}
