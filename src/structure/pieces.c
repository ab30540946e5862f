/* Cuts a procedure's code where block, line or inlining changes. */
#include "base/hashmap.h"
#include "structure/builder.h"

static void add_piece(struct structure_builder *b, uint32_t block, uint64_t start, uint64_t end,
		      const struct source_row *row)
{
	const struct block *k = &b->cfg->blocks[block];
	struct piece p = {
		.start = start,
		.end = end,
		.block = block,
		.loop = b->forest->loop_count ? b->forest->innermost[block] : LOOP_NONE,
		.file = DEBUG_NONE,
		.last = end == k->start + k->size,
	};
	if (row) {
		p.context = row->context;
		p.file = row->file;
		p.line = row->line;
	}
	vec_push(&b->pieces, p);
}

static void cut_block(struct structure_builder *b, uint32_t block)
{
	const struct source *s = b->source;
	const struct block *k = &b->cfg->blocks[block];
	uint64_t at = k->start, end = k->start + k->size;
	for (uint32_t row = source_row_at(s, at); at < end; row++) {
		uint64_t next = row + 1 < s->row_count ? s->rows[row + 1].va : end;
		if (next > end)
			next = end;
		add_piece(b, block, at, next, row == UINT32_MAX ? NULL : &s->rows[row]);
		at = next;
	}
}

static uint64_t line_key(uint32_t loop, uint32_t file, uint32_t line)
{
	uint32_t key[3] = {loop, file, line};
	return hash_bytes(key, sizeof(key), 0);
}

static void note_markers(const struct structure_builder *b, struct hashmap *marked, uint32_t block)
{
	const struct source *s = b->source;
	const struct block *k = &b->cfg->blocks[block];
	uint32_t loop = b->forest->innermost[block];
	if (loop == LOOP_NONE)
		return;
	for (uint32_t i = source_marker_from(s, k->start); i < s->marker_count; i++) {
		const struct source_marker *m = &s->markers[i];
		if (m->va >= k->start + k->size)
			break;
		hashmap_add(marked, line_key(loop, m->file, m->line), 0);
	}
}

/* Tells lines that stand in a loop from those that the compiler brought in, where it marks statements. */
static void find_solid(struct structure_builder *b)
{
	struct hashmap marked = {0};
	bool marks = b->source && b->source->markers;
	if (!b->forest->loop_count)
		return;
	for (uint32_t i = 0; marks && i < b->cfg->block_count; i++)
		note_markers(b, &marked, i);
	vec_each(p, &b->pieces) {
		uint64_t key = line_key(p->loop, p->file, p->line);
		p->solid = p->line && (!marks || hashmap_get(&marked, key) != HASHMAP_NONE);
	}
	hashmap_release(&marked);
}

void find_pieces(struct structure_builder *b)
{
	vec_clear(&b->pieces);
	for (uint32_t i = 0; i < b->cfg->block_count; i++) {
		const struct block *k = &b->cfg->blocks[i];
		if (b->source)
			cut_block(b, i);
		else if (k->size)
			add_piece(b, i, k->start, k->start + k->size, NULL);
	}
	find_solid(b);
}
