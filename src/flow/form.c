/* Forms the graph: cuts runs of instructions into blocks where control arrives in their middle, and
 * connects the blocks. */
#include "base/order.h"
#include "flow/builder.h"

/* A block, and the run that it ends: NONE if the run continues after the block. */
struct cut {
	struct block block;
	uint32_t run;
};

/* Cuts a run at its leaders. */
static void cut_run(const struct builder *b, uint32_t run, struct cut *cuts, uint32_t *count)
{
	const struct run *r = &b->runs.data[run];
	uint64_t start = r->start, va = r->start;
	uint32_t insns = 0;
	while (va < r->end) {
		uint32_t place = *place_of(b, va);
		if (place & LEADER && va != start) {
			cuts[(*count)++] = (struct cut){
				.block = {.start = start,
					  .size = (uint32_t)(va - start),
					  .insn_count = insns,
					  .end = END_FALL},
				.run = NONE,
			};
			start = va;
			insns = 0;
		}
		insns++;
		va += (place & SEEN) >> LENGTH_SHIFT;
	}
	cuts[(*count)++] = (struct cut){
		.block = {.start = start,
			  .size = (uint32_t)(r->end - start),
			  .insn_count = insns,
			  .end = r->ends,
			  .flags = r->flags,
			  .target = r->target},
		.run = run,
	};
}

/* An upper limit of the number of blocks. */
static uint32_t count_leaders(const struct builder *b)
{
	uint32_t count = b->runs.len;
	for (uint32_t i = 0; i < b->env->range_count; i++) {
		const struct code_range *c = &b->code[i];
		uint64_t places = (c->end - c->start) / b->env->arch->insn_align;
		for (uint64_t j = 0; j < places; j++)
			count += c->marks[j] & LEADER;
	}
	return count;
}

/* Cuts all runs; returns the number of blocks. The blocks are sorted, not just the runs, because
 * runs overlap where code jumps into the middle of an instruction. */
static uint32_t cut_runs(struct builder *b, struct block **blocks, uint32_t **runs)
{
	uint32_t limit = count_leaders(b), count = 0;
	struct cut *cuts = ARENA_ARRAY(b->tmp, struct cut, limit);
	for (uint32_t i = 0; i < b->runs.len; i++)
		cut_run(b, i, cuts, &count);
	order_by_address(cuts, count, sizeof(*cuts), offsetof(struct cut, block.start));
	*blocks = ARENA_ARRAY(b->tmp, struct block, count);
	*runs = ARENA_ARRAY(b->tmp, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		(*blocks)[i] = cuts[i].block;
		(*runs)[i] = cuts[i].run;
	}
	return count;
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

/* Exception tables give each call at most one landing pad. */
static void add_unwind_edge(const struct builder *b, const struct block *block, uint32_t from,
			    edge_list *edges)
{
	uint64_t call = block->start + block->size - 1;
	uint32_t n = ORDER_UP_TO(b->landings, b->landing_count, start, call);
	if (n && call < b->landings[n - 1].end)
		add_edge(b, edges, from, b->landings[n - 1].pad, EDGE_UNWIND);
}

static int compare_u64(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return a < b ? -1 : a > b;
}

/* Adds one edge to each different target inside the function. */
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
		add_unwind_edge(b, block, number, edges);
		break;
	case END_SWITCH: add_switch_edges(b, &b->jumps.data[r->jump], number, edges); break;
	default: break;
	}
	block->edge_count = edges->len - block->first_edge;
	if (block->end == END_JUMP || block->end == END_BRANCH)
		block->target = 0;
}

void form_graph(struct builder *b, uint32_t **runs)
{
	struct arena *a = b->tmp;
	struct block *blocks;
	edge_list edges = {0};
	uint32_t count = cut_runs(b, &blocks, runs);
	number_blocks(b, blocks, count);
	b->g = (struct cfg){.blocks = blocks, .block_count = count};
	for (uint32_t i = 0; i < count; i++) {
		add_edges(b, &blocks[i], i, (*runs)[i], &edges);
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
	cfg_index_predecessors(&b->g, a);
}

static void copy_escapes(struct builder *b, const struct jump *j, uint64_t *escapes)
{
	for (uint32_t i = 0; i < j->targets.len; i++)
		if (!place_of(b, j->targets.data[i]))
			escapes[b->g.escape_count++] = j->targets.data[i];
}

void form_tables(struct builder *b, const uint32_t *runs, struct arena *a)
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
			.closed = j->closed,
		};
		copy_escapes(b, j, escapes);
	}
	b->g.tables = tables;
	b->g.escapes = ARENA_DUP(a, escapes, b->g.escape_count);
}
