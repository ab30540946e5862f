/* Control flow is followed from the entry: runs of instructions are decoded until control leaves
 * them, the places they lead to are put on a work list, and in the end runs are cut where others
 * jump into them. Indirect jumps are decided on the graph known so far; what they lead to is
 * followed in turn, until nothing new turns up. Bytes that control does not reach (literal pools,
 * jump tables, padding) are never decoded. */
#include "flow/build.h"

#include <string.h>

#include "base/order.h"
#include "base/vec.h"
#include "flow/entry.h"
#include "flow/jump_table.h"

enum {
	NONE = UINT32_MAX,
	SLICE_BUDGET = 20000,     /* instructions looked at to decide one jump */
	UNGUARDED_ENTRIES = 1024, /* at most, where nothing tells the size of a table */
	MAX_ROUNDS = 1000,
};

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
	const struct landing *landings; /* that concern this procedure */
	uint32_t landing_count;
	struct cfg g; /* as of the last round */
};

static const struct code *code_at(const struct builder *b, uint64_t va)
{
	for (uint32_t i = 0; i < b->env->range_count; i++)
		if (va >= b->code[i].start && va < b->code[i].end)
			return &b->code[i];
	return NULL;
}

static uint32_t *mark_in(const struct builder *b, const struct code *c, uint64_t va)
{
	return &c->marks[(va - c->start) / b->env->arch->insn_align];
}

static uint32_t *place_of(const struct builder *b, uint64_t va)
{
	const struct code *c = code_at(b, va);
	return c ? mark_in(b, c, va) : NULL;
}

static const uint8_t *bytes_at(void *ctx, uint64_t va)
{
	size_t n;
	return image_at(((const struct build_env *)ctx)->im, va, &n);
}

static bool is_address(void *ctx, uint64_t va)
{
	return image_section_at(((const struct build_env *)ctx)->im, va) != NULL;
}

/* Notes that control can arrive at va. False if va is not in this procedure. */
static bool reach(struct builder *b, uint64_t va)
{
	uint32_t *place = place_of(b, va);
	if (!place || va % b->env->arch->insn_align)
		return false;
	*place |= LEADER;
	if (!(*place & SEEN))
		vec_push(&b->work, va);
	return true;
}

/* Whether the code that a call would return to, at va, is there: a call at the very end of a
 * procedure does not return, and neither does one that another procedure's prologue follows. */
static bool has_return_place(const struct builder *b, uint64_t va)
{
	const struct build_env *env = b->env;
	for (uint32_t i = 0; i < env->range_count; i++) {
		const struct part *r = &env->ranges[i];
		if (va < r->start || va >= r->end)
			continue;
		uint64_t next = va + padding_at(env->im, env->arch, va, r->end);
		if (next == r->end)
			return false;
		return env->bounded || !looks_like_prologue(env->im, env->arch, next);
	}
	return false;
}

static bool call_returns(const struct builder *b, const struct insn *in, const uint8_t *bytes)
{
	const struct build_env *env = b->env;
	if (in->kind == INSN_CALL && !env->call_returns(env->ctx, in->target))
		return false;
	if (in->kind == INSN_CALL_INDIRECT) {
		struct insn full;
		env->arch->decode(bytes, in->length, in->pc, DECODE_FULL, &full);
		if (full.op == OP_LOAD && full.a == REG_NONE && full.b == REG_NONE &&
		    !env->slot_returns(env->ctx, (uint64_t)full.imm))
			return false;
	}
	return has_return_place(b, in->pc + in->length);
}

static void end_with_call(struct builder *b, struct run *r, const struct insn *in,
			  const uint8_t *bytes)
{
	r->ends = in->kind == INSN_CALL ? END_CALL : END_CALL_INDIRECT;
	r->target = in->target;
	if (!call_returns(b, in, bytes) || !reach(b, in->pc + in->length))
		r->flags |= BLOCK_NORETURN;
}

static void end_with_jump(struct builder *b, struct run *r, const struct insn *in)
{
	r->target = in->target;
	if (in->kind == INSN_JUMP) {
		r->ends = reach(b, in->target) ? END_JUMP : END_TAIL_CALL;
		return;
	}
	r->ends = END_BRANCH;
	if (!reach(b, in->target)) {
		r->ends = END_TAIL_CALL;
		r->flags |= BLOCK_CONDITIONAL;
	}
	reach(b, in->pc + in->length);
}

static void end_run(struct builder *b, struct run *r, const struct insn *in, const uint8_t *bytes)
{
	switch (in->kind) {
	case INSN_JUMP:
	case INSN_BRANCH: end_with_jump(b, r, in); break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT: end_with_call(b, r, in, bytes); break;
	case INSN_JUMP_INDIRECT: r->ends = END_UNRESOLVED; break;
	case INSN_RETURN: r->ends = END_RETURN; break;
	default: r->ends = END_TRAP;
	}
}

/* Decodes the instruction at va, in range c; NULL if there is none. */
static const uint8_t *decode_in(const struct builder *b, const struct code *c, uint64_t va,
				struct insn *in)
{
	uint64_t at = va - c->start;
	const uint8_t *p = c->bytes + at;
	return at < c->size && b->env->arch->decode(p, c->size - at, va, DECODE_FLOW, in) ? p
											  : NULL;
}

/* Decodes the run that starts at va. */
static void follow(struct builder *b, uint64_t va)
{
	const struct code *c = code_at(b, va);
	struct run r = {.start = va, .ends = END_BAD, .jump = NONE};
	struct insn in;
	for (;;) {
		if (va >= c->end)
			c = code_at(b, va);
		if (!c) { /* falls into what follows the procedure */
			if (b->env->is_start(b->env->ctx, va)) {
				r.ends = END_TAIL_CALL;
				r.target = va;
			}
			break;
		}
		uint32_t *mark = mark_in(b, c, va);
		if (*mark & SEEN || (*mark & LEADER && va != r.start)) {
			*mark |= LEADER;
			r.ends = END_FALL;
			break;
		}
		const uint8_t *bytes = decode_in(b, c, va, &in);
		if (!bytes)
			break;
		*mark |= (uint32_t)in.length << LENGTH_SHIFT;
		va += in.length;
		if (insn_ends_block(&in)) {
			end_run(b, &r, &in, bytes);
			break;
		}
	}
	r.end = va;
	if (r.end > r.start)
		vec_push(&b->runs, r);
}

static void follow_all(struct builder *b)
{
	while (b->work.len) {
		uint64_t va = vec_pop(&b->work);
		if (!(*place_of(b, va) & SEEN))
			follow(b, va);
	}
}

/* Cuts a run at the places that are jumped at. */
static void cut_run(const struct builder *b, const struct run *r, uint32_t run,
		    struct block *blocks, uint32_t *owner, uint32_t *count)
{
	uint64_t start = r->start, va = r->start;
	uint32_t insns = 0;
	while (va < r->end) {
		uint32_t place = *place_of(b, va);
		if (place & LEADER && va != start) {
			owner[*count] = NONE;
			blocks[(*count)++] = (struct block){.start = start,
							    .size = (uint32_t)(va - start),
							    .insn_count = insns,
							    .end = END_FALL};
			start = va;
			insns = 0;
		}
		insns++;
		va += (place & SEEN) >> LENGTH_SHIFT;
	}
	owner[*count] = run;
	blocks[(*count)++] = (struct block){
		.start = start,
		.size = (uint32_t)(r->end - start),
		.insn_count = insns,
		.end = r->ends,
		.flags = r->flags,
		.target = r->target,
	};
}

/* Upper limit of the number of blocks. */
static uint32_t count_leaders(const struct builder *b)
{
	uint32_t count = b->runs.len;
	for (uint32_t i = 0; i < b->env->range_count; i++) {
		const struct code *c = &b->code[i];
		uint64_t places = (c->end - c->start) / b->env->arch->insn_align;
		for (uint64_t j = 0; j < places; j++)
			count += c->marks[j] & LEADER;
	}
	return count;
}

static int by_start(const void *x, const void *y)
{
	const struct run *a = x, *b = y;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void number_blocks(const struct builder *b, struct block *blocks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t *place = place_of(b, blocks[i].start);
		*place = (*place & (SEEN | LEADER)) | (i + 1) << BLOCK_SHIFT;
	}
}

static uint32_t block_at(const struct builder *b, uint64_t va)
{
	uint32_t *place = place_of(b, va);
	return place ? (*place >> BLOCK_SHIFT) - 1 : (uint32_t)BLOCK_NONE;
}

typedef VEC(struct edge) edge_list;

static void add_edge(const struct builder *b, edge_list *edges, uint32_t from, uint64_t to,
		     enum edge_kind kind)
{
	uint32_t block = block_at(b, to);
	if (block != BLOCK_NONE)
		vec_push(edges, (struct edge){.from = from, .to = block, .kind = (uint8_t)kind});
}

static void add_unwind_edges(const struct builder *b, const struct block *block, uint32_t from,
			     edge_list *edges)
{
	uint64_t call = block->start + block->size - 1;
	for (uint32_t i = 0; i < b->landing_count && b->landings[i].start <= call; i++)
		if (call < b->landings[i].end)
			add_edge(b, edges, from, b->landings[i].pad, EDGE_UNWIND);
}

static int compare_u64(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return a < b ? -1 : a > b;
}

/* One edge to each different target inside the procedure. */
static void add_switch_edges(const struct builder *b, const struct jump *jump, uint32_t from,
			     edge_list *edges)
{
	uint32_t n = jump->targets.len;
	uint64_t *sorted = ARENA_DUP(b->tmp, jump->targets.data, n);
	if (n)
		qsort(sorted, n, sizeof(*sorted), compare_u64);
	for (uint32_t i = 0; i < n; i++)
		if (!i || sorted[i] != sorted[i - 1])
			add_edge(b, edges, from, sorted[i], EDGE_SWITCH);
}

static void add_edges(const struct builder *b, struct block *block, uint32_t number, uint32_t run,
		      edge_list *edges)
{
	uint64_t next = block->start + block->size;
	const struct run *r = run == NONE ? NULL : &b->runs.data[run];
	block->first_edge = edges->len;
	switch (block->end) {
	case END_FALL: add_edge(b, edges, number, next, EDGE_FALL); break;
	case END_JUMP: add_edge(b, edges, number, block->target, EDGE_JUMP); break;
	case END_BRANCH:
		add_edge(b, edges, number, next, EDGE_FALL);
		add_edge(b, edges, number, block->target, EDGE_TAKEN);
		break;
	case END_TAIL_CALL:
		if (block->flags & BLOCK_CONDITIONAL)
			add_edge(b, edges, number, next, EDGE_FALL);
		break;
	case END_CALL:
	case END_CALL_INDIRECT:
		if (!(block->flags & BLOCK_NORETURN))
			add_edge(b, edges, number, next, EDGE_CALL_RETURN);
		add_unwind_edges(b, block, number, edges);
		break;
	case END_SWITCH: add_switch_edges(b, &b->jumps.data[r->jump], number, edges); break;
	default: break;
	}
	block->edge_count = edges->len - block->first_edge;
	if (block->end == END_JUMP || block->end == END_BRANCH)
		block->target = 0;
}

static void index_predecessors(struct cfg *g, struct arena *a)
{
	uint32_t *first = ARENA_ARRAY(a, uint32_t, g->block_count + 2);
	uint32_t *preds = ARENA_ARRAY(a, uint32_t, g->edge_count);
	for (uint32_t e = 0; e < g->edge_count; e++)
		first[g->edges[e].to + 2]++;
	for (uint32_t i = 1; i < g->block_count + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t e = 0; e < g->edge_count; e++)
		preds[first[g->edges[e].to + 1]++] = e;
	g->first_pred = first;
	g->pred_edges = preds;
}

/* Makes the graph of what is known now; *runs gets the run that each block ends, or NONE. */
static void form_graph(struct builder *b, uint32_t **runs)
{
	struct arena *a = b->tmp;
	uint32_t limit = count_leaders(b), count = 0;
	struct block *blocks = ARENA_ARRAY(a, struct block, limit);
	uint32_t *owner = ARENA_ARRAY(a, uint32_t, limit);
	edge_list edges = {0};
	if (b->runs.len)
		qsort(b->runs.data, b->runs.len, sizeof(struct run), by_start);
	for (uint32_t i = 0; i < b->runs.len; i++)
		cut_run(b, &b->runs.data[i], i, blocks, owner, &count);
	number_blocks(b, blocks, count);
	b->g = (struct cfg){.blocks = blocks, .block_count = count};
	for (uint32_t i = 0; i < count; i++) {
		add_edges(b, &blocks[i], i, owner[i], &edges);
		b->g.insn_count += blocks[i].insn_count;
		b->g.unresolved += blocks[i].end == END_UNRESOLVED;
		b->g.bad += blocks[i].end == END_BAD;
	}
	for (uint32_t i = 0; i < b->landing_count; i++) {
		uint32_t pad = block_at(b, b->landings[i].pad);
		if (pad != BLOCK_NONE)
			blocks[pad].flags |= BLOCK_LANDING;
	}
	b->g.edges = ARENA_DUP(a, edges.data, edges.len);
	b->g.edge_count = edges.len;
	b->g.entry = count ? block_at(b, b->env->ranges[0].start) : 0;
	vec_free(&edges);
	index_predecessors(&b->g, a);
	*runs = owner;
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

/* Follows where a jump table leads. Where no compare tells its size, it ends at the first entry
 * that points into the middle of an instruction, once the entries before have been followed. */
static void reach_targets(struct builder *b, struct jump *jump)
{
	bool guarded = jump->bound == BOUND_COMPARE || jump->bound == BOUND_LABELS;
	for (uint32_t i = 0; i < jump->targets.len; i++) {
		if (!guarded && is_inside_insn(b, jump->targets.data[i])) {
			jump->targets.len = jump->count = i;
			return;
		}
		reach(b, jump->targets.data[i]);
		if (!guarded)
			follow_all(b);
	}
}

/* Records what an indirect jump does, and follows where it leads. */
static void settle(struct builder *b, struct run *r, struct jump *jump)
{
	r->ends = jump->verdict == JUMP_TABLE ? END_SWITCH : END_TAIL_CALL;
	r->target = jump->target;
	if (r->jump == NONE) {
		r->jump = b->jumps.len;
		vec_push(&b->jumps, (struct jump){0});
	}
	uint32_t number = r->jump; /* following moves the runs */
	vec_free(&b->jumps.data[number].targets);
	if (jump->verdict == JUMP_TABLE)
		reach_targets(b, jump);
	b->jumps.data[number] = *jump;
}

/* Whether the last thing that happens to the stack pointer in the block is that it is raised. */
static bool ends_in_epilogue(struct slicer *s, uint32_t block)
{
	const struct insn *insns = slicer_insns(s, block);
	for (uint32_t i = s->g->blocks[block].insn_count; i-- > 0;)
		if (regset_has(&insns[i].writes, s->arch->sp))
			return insns[i].stack_known && insns[i].stack > 0;
	return false;
}

/* Whether the stack pointer is where it was at entry, so that a jump can be a call in disguise. */
static bool frame_is_closed(struct slicer *s, uint32_t block, bool *known)
{
	struct sum sum;
	const struct expr *sp =
		value_of_register(s, block, s->g->blocks[block].insn_count, s->arch->sp);
	*known = expr_sum(sp, &sum) && sum.count == 1 && sum.terms[0].x->kind == EXPR_PHI &&
		 sum.terms[0].x->k == (int64_t)s->g->entry;
	return *known ? !sum.constant : ends_in_epilogue(s, block);
}

/* The most entries that a table at `table` can have before the next one begins. */
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
	if (!b->env->label_count)
		return false;
	jump->verdict = JUMP_TABLE;
	jump->bound = BOUND_LABELS;
	jump->table = 0;
	jump->count = b->env->label_count;
	for (uint32_t i = 0; i < b->env->label_count; i++)
		vec_push(&jump->targets, b->env->labels[i]);
	return true;
}

/* How hard to try with a jump: first only what is certain; guesses once that brings nothing new. */
enum effort { CERTAIN, UNGUARDED, ASSUMED, LAST_RESORT, EFFORTS };

/* Decides one jump, or decides again: as more of the graph is known, an index that seemed fixed may
 * vary. True if that changes the graph. */
static bool decide_jump(struct builder *b, struct slicer *s, uint32_t block, struct run *r,
			enum effort effort)
{
	struct jump jump;
	s->budget = SLICE_BUDGET;
	jump_resolve(s, b->env, block, 0, &jump);
	if (jump.verdict == JUMP_UNBOUNDED && (effort == UNGUARDED || effort == ASSUMED)) {
		uint32_t limit = entries_before_next_table(b, &jump);
		vec_free(&jump.targets);
		jump_resolve(s, b->env, block, limit, &jump);
	}
	if (jump.verdict == JUMP_UNKNOWN && effort == LAST_RESORT) {
		bool known;
		if (!use_labels(b, &jump) && frame_is_closed(s, block, &known))
			jump.verdict = JUMP_TAIL_CALL;
	}
	bool table = jump.verdict == JUMP_TABLE, first = r->jump == NONE;
	if (first ? !table && jump.verdict != JUMP_TAIL_CALL
		  : !table || jump.targets.len <= b->jumps.data[r->jump].targets.len) {
		vec_free(&jump.targets);
		return false;
	}
	settle(b, r, &jump);
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
		.budget = SLICE_BUDGET,
	};
	slicer_init(s);
}

static bool try_jumps(struct builder *b, const uint32_t *runs, enum effort effort)
{
	bool progress = false;
	struct slicer s;
	slicer_start(b, &s);
	s.assume_addresses = effort == ASSUMED;
	for (uint32_t i = 0; i < b->g.block_count; i++) {
		struct run *r = runs[i] == NONE ? NULL : &b->runs.data[runs[i]];
		bool again = effort == CERTAIN && b->g.blocks[i].end == END_SWITCH &&
			     b->jumps.data[r->jump].bound == BOUND_COMPARE;
		if (again || b->g.blocks[i].end == END_UNRESOLVED)
			progress |= decide_jump(b, &s, i, r, effort);
	}
	slicer_release(&s);
	return progress;
}

/* Tries all open indirect jumps; true if the graph has to be formed again. */
static bool decide_jumps(struct builder *b, const uint32_t *runs)
{
	if (!b->g.unresolved && !b->jumps.len)
		return false;
	for (enum effort effort = CERTAIN; effort < EFFORTS; effort++)
		if (try_jumps(b, runs, effort))
			return true;
	return false;
}

/* A jump out of the procedure with its frame still on the stack is not a call: what it leads to is
 * a part of the procedure that was split off. */
static void mark_open_frames(struct builder *b)
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

static void find_landings(struct builder *b)
{
	const struct image *im = b->env->im;
	VEC(struct landing) found = {0};
	for (uint32_t r = 0; r < b->env->range_count && im->landing_count; r++) {
		const struct part *range = &b->env->ranges[r];
		uint32_t i = ORDER_UP_TO(im->landings, im->landing_count, start, range->start - 1);
		for (; i < im->landing_count && im->landings[i].start < range->end; i++)
			vec_push(&found, im->landings[i]);
	}
	b->landings = ARENA_DUP(b->tmp, found.data, found.len);
	b->landing_count = found.len;
	vec_free(&found);
}

static void copy_escapes(struct builder *b, const struct jump *j, uint64_t *escapes)
{
	for (uint32_t i = 0; i < j->targets.len; i++)
		if (!place_of(b, j->targets.data[i]))
			escapes[b->g.escape_count++] = j->targets.data[i];
}

static void copy_tables(struct builder *b, const uint32_t *runs, struct arena *a)
{
	struct jump_table *tables = ARENA_ARRAY(a, struct jump_table, b->jumps.len);
	uint32_t targets = 0;
	vec_each (j, &b->jumps)
		targets += j->targets.len;
	uint64_t *escapes = ARENA_ARRAY(b->tmp, uint64_t, targets);
	for (uint32_t i = 0; i < b->g.block_count; i++) {
		if (b->g.blocks[i].end != END_SWITCH)
			continue;
		const struct jump *j = &b->jumps.data[b->runs.data[runs[i]].jump];
		tables[b->g.table_count++] = (struct jump_table){
			.block = i,
			.va = j->table,
			.count = j->count,
			.entry_size = j->entry_size,
			.bound = j->bound,
		};
		copy_escapes(b, j, escapes);
	}
	b->g.tables = tables;
	b->g.escapes = ARENA_DUP(a, escapes, b->g.escape_count);
}

static void map_code(struct builder *b)
{
	const struct build_env *env = b->env;
	b->code = ARENA_ARRAY(b->tmp, struct code, env->range_count);
	for (uint32_t i = 0; i < env->range_count; i++) {
		struct code *c = &b->code[i];
		size_t n = 0;
		c->start = env->ranges[i].start;
		c->end = env->ranges[i].end;
		c->bytes =
			image_is_code(env->im, c->start) ? image_at(env->im, c->start, &n) : NULL;
		c->size = !c->bytes ? 0 : n < c->end - c->start ? n : c->end - c->start;
		c->marks = ARENA_ARRAY(b->tmp, uint32_t,
				       (c->end - c->start) / env->arch->insn_align + 1);
	}
}

static void release(struct builder *b)
{
	vec_each (jump, &b->jumps)
		vec_free(&jump->targets);
	vec_free(&b->jumps);
	vec_free(&b->runs);
	vec_free(&b->work);
}

const struct cfg *cfg_build(const struct build_env *env, struct arena *a, struct arena *tmp)
{
	struct builder b = {.env = env, .tmp = tmp};
	uint32_t *runs = NULL;
	map_code(&b);
	find_landings(&b);
	reach(&b, env->ranges[0].start);
	for (uint32_t i = 0; i < b.landing_count; i++)
		reach(&b, b.landings[i].pad);
	for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
		follow_all(&b);
		form_graph(&b, &runs);
		if (!decide_jumps(&b, runs))
			break;
	}
	mark_open_frames(&b);
	copy_tables(&b, runs, a);
	struct cfg *out = ARENA_NEW(a, struct cfg);
	*out = b.g;
	out->blocks = ARENA_DUP(a, b.g.blocks, b.g.block_count);
	out->edges = ARENA_DUP(a, b.g.edges, b.g.edge_count);
	out->first_pred = ARENA_DUP(a, b.g.first_pred, b.g.block_count + 1);
	out->pred_edges = ARENA_DUP(a, b.g.pred_edges, b.g.edge_count);
	release(&b);
	return out;
}
