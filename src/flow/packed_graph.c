#include "flow/packed_graph.h"

#include "base/varint.h"

/* The bits below a block's number of edges: which of the numbers follow that most blocks do not
 * need. */
enum {
	HAS_TARGET = 1 << 0,
	HAS_GAP = 1 << 1,   /* it does not begin where the last block ends */
	HAS_INSNS = 1 << 2, /* its instructions do not have 4 bytes each */
	BLOCK_BITS = 3,
};

/* A block's first byte. */
enum { END_BITS = 4, EDGE_KIND_BITS = 3 };

_Static_assert(BLOCK_ENDS <= 1 << END_BITS && BLOCK_OPEN_FRAME < 1 << (8 - END_BITS),
	       "end and flags of a block fit into a byte");
_Static_assert(EDGE_KINDS <= 1 << EDGE_KIND_BITS, "the kind of an edge fits");

/* The most numbers of each thing. */
enum { COUNTS = 5, BLOCK_NUMBERS = 6, TABLE_NUMBERS = 5 };

static uint8_t *pack_block(uint8_t *at, const struct block *b, uint64_t last)
{
	unsigned has = (b->target ? HAS_TARGET : 0) | (b->start != last ? HAS_GAP : 0) |
		       ((uint64_t)b->insn_count * 4 != b->size ? HAS_INSNS : 0);
	*at++ = (uint8_t)(b->end | b->flags << END_BITS);
	at = varint_put(at, (uint64_t)b->edge_count << BLOCK_BITS | has);
	at = varint_put(at, b->size);
	if (has & HAS_GAP)
		at = varint_put(at, varint_fold(b->start - last));
	if (has & HAS_INSNS)
		at = varint_put(at, b->insn_count);
	if (has & HAS_TARGET)
		at = varint_put(at, varint_fold(b->target - b->start));
	return at;
}

static uint8_t *pack_edge(uint8_t *at, const struct edge *e)
{
	return varint_put(at, varint_fold((uint64_t)e->to - e->from) << EDGE_KIND_BITS | e->kind);
}

static uint8_t *pack_table(uint8_t *at, const struct jump_table *t)
{
	at = varint_put(at, t->block);
	at = varint_put(at, t->va);
	at = varint_put(at, t->count);
	*at++ = t->entry_size;
	*at++ = (uint8_t)(t->bound << 1 | t->closed);
	return at;
}

static uint8_t *pack_escapes(uint8_t *at, const struct cfg *g)
{
	for (uint32_t i = 0; i < g->escape_count; i++)
		at = varint_put(at, varint_fold(g->escapes[i] - (i ? g->escapes[i - 1] : 0)));
	return at;
}

static uint8_t *pack_blocks(uint8_t *at, const struct cfg *g)
{
	uint64_t last = 0;
	for (uint32_t i = 0; i < g->block_count; i++) {
		at = pack_block(at, &g->blocks[i], last);
		last = g->blocks[i].start + g->blocks[i].size;
	}
	return at;
}

const struct packed_graph *graph_pack(const struct cfg *g, struct arena *a, struct arena *tmp)
{
	uint64_t numbers = COUNTS + (uint64_t)g->block_count * BLOCK_NUMBERS + g->edge_count +
			   (uint64_t)g->table_count * TABLE_NUMBERS + g->escape_count;
	uint8_t *bytes = arena_alloc(tmp, numbers * VARINT_MAX, 1), *at = bytes;
	at = varint_put(at, g->block_count);
	at = varint_put(at, g->edge_count);
	at = varint_put(at, g->table_count);
	at = varint_put(at, g->escape_count);
	at = varint_put(at, g->entry);
	at = pack_escapes(at, g);
	at = pack_blocks(at, g);
	for (uint32_t i = 0; i < g->edge_count; i++)
		at = pack_edge(at, &g->edges[i]);
	for (uint32_t i = 0; i < g->table_count; i++)
		at = pack_table(at, &g->tables[i]);
	return arena_memdup(a, bytes, (size_t)(at - bytes), 1);
}

void packed_open(struct packed_reader *r, const struct packed_graph *p)
{
	*r = (struct packed_reader){.at = (const uint8_t *)p};
	r->blocks_left = r->block_count = (uint32_t)varint_get(&r->at);
	r->edge_count = (uint32_t)varint_get(&r->at);
	r->table_count = (uint32_t)varint_get(&r->at);
	r->escapes_left = r->escape_count = (uint32_t)varint_get(&r->at);
	r->entry = (uint32_t)varint_get(&r->at);
}

bool packed_escape(struct packed_reader *r, uint64_t *va)
{
	if (!r->escapes_left)
		return false;
	r->escapes_left--;
	*va = r->last += varint_unfold(varint_get(&r->at));
	return true;
}

static void skip_escapes(struct packed_reader *r)
{
	uint64_t va;
	while (packed_escape(r, &va))
		continue;
	r->last = 0;
}

bool packed_block(struct packed_reader *r, struct block *out)
{
	if (!r->blocks_left)
		return false;
	if (r->blocks_left-- == r->block_count)
		skip_escapes(r);
	uint8_t kind = *r->at++;
	uint64_t edges = varint_get(&r->at);
	*out = (struct block){
		.size = (uint32_t)varint_get(&r->at),
		.start = r->last,
		.first_edge = r->next_edge,
		.edge_count = (uint32_t)(edges >> BLOCK_BITS),
		.end = kind & ((1 << END_BITS) - 1),
		.flags = kind >> END_BITS,
	};
	if (edges & HAS_GAP)
		out->start += varint_unfold(varint_get(&r->at));
	out->insn_count = edges & HAS_INSNS ? (uint32_t)varint_get(&r->at) : out->size / 4;
	if (edges & HAS_TARGET)
		out->target = out->start + varint_unfold(varint_get(&r->at));
	r->next_edge += out->edge_count;
	r->last = out->start + out->size;
	return true;
}

static const uint64_t *unpack_escapes(struct packed_reader *r, struct arena *a)
{
	uint64_t *out = arena_alloc(a, r->escape_count * sizeof(*out), _Alignof(uint64_t));
	for (uint32_t i = 0; packed_escape(r, &out[i]);)
		i++;
	return out;
}

static const struct edge *unpack_edges(struct packed_reader *r, const struct block *blocks,
				       struct arena *a)
{
	struct edge *out = arena_alloc(a, r->edge_count * sizeof(*out), _Alignof(struct edge));
	for (uint32_t i = 0; i < r->block_count; i++) {
		for (uint32_t k = 0; k < blocks[i].edge_count; k++) {
			uint64_t x = varint_get(&r->at);
			out[blocks[i].first_edge + k] = (struct edge){
				.from = i,
				.to = i + (uint32_t)varint_unfold(x >> EDGE_KIND_BITS),
				.kind = x & ((1 << EDGE_KIND_BITS) - 1),
			};
		}
	}
	return out;
}

static const struct jump_table *unpack_tables(struct packed_reader *r, struct arena *a)
{
	struct jump_table *out = ARENA_ARRAY(a, struct jump_table, r->table_count);
	for (uint32_t i = 0; i < r->table_count; i++) {
		out[i].block = (uint32_t)varint_get(&r->at);
		out[i].va = varint_get(&r->at);
		out[i].count = (uint32_t)varint_get(&r->at);
		out[i].entry_size = *r->at++;
		out[i].closed = *r->at & 1;
		out[i].bound = *r->at++ >> 1;
	}
	return out;
}

const struct cfg *graph_unpack(const struct packed_graph *p, struct arena *a)
{
	struct packed_reader r;
	packed_open(&r, p);
	struct cfg *g = ARENA_NEW(a, struct cfg);
	struct block *blocks =
		arena_alloc(a, r.block_count * sizeof(*blocks), _Alignof(struct block));
	*g = (struct cfg){
		.blocks = blocks,
		.block_count = r.block_count,
		.edge_count = r.edge_count,
		.table_count = r.table_count,
		.escape_count = r.escape_count,
		.entry = r.entry,
	};
	g->escapes = unpack_escapes(&r, a);
	for (uint32_t i = 0; packed_block(&r, &blocks[i]); i++) {
		g->insn_count += blocks[i].insn_count;
		g->unresolved += blocks[i].end == END_UNRESOLVED;
		g->bad += blocks[i].end == END_BAD;
	}
	g->edges = unpack_edges(&r, blocks, a);
	g->tables = unpack_tables(&r, a);
	cfg_index_predecessors(g, a);
	return g;
}

bool packed_has(const struct packed_graph *p, uint64_t va)
{
	struct packed_reader r;
	struct block b;
	bool in_last = false;
	packed_open(&r, p);
	while (packed_block(&r, &b) && b.start <= va)
		in_last = va < b.start + b.size;
	return in_last;
}
