/* Cuts a procedure's code where block, line or inlining changes. */
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
}
