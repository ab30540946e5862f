/* Cuts a function's code where block, line or inlining changes. */
#include "structure/builder.h"

/* Code in no block is padding, or was not reached because a jump could not be resolved. Up to this
 * many bytes count as padding, and belong to the loop of the block before. */
enum { PADDING_MAX = 31 };

static void add_piece(struct structure_builder *b, const struct piece *where, uint64_t start,
		      uint64_t end, const struct source_row *row)
{
	struct piece p = *where;
	p.start = start;
	p.end = end;
	p.last = end == where->end && where->block != BLOCK_NONE;
	if (row) {
		p.context = row->context;
		p.file = row->file;
		p.line = row->line;
	}
	vec_push(&b->pieces, p);
}

/* Cuts the code of `where` into pieces. */
static void cut(struct structure_builder *b, const struct piece *where)
{
	const struct source *s = b->source;
	uint64_t at = where->start;
	if (!s) {
		add_piece(b, where, where->start, where->end, NULL);
		return;
	}
	for (uint32_t row = source_row_at(s, at); at < where->end; row++) {
		uint64_t next = row + 1 < s->row_count ? s->rows[row + 1].va : where->end;
		if (next > where->end)
			next = where->end;
		add_piece(b, where, at, next, row == UINT32_MAX ? NULL : &s->rows[row]);
		at = next;
	}
}

/* Cuts the code between blocks, if there are source lines for it. */
static void cut_gap(struct structure_builder *b, uint64_t start, uint64_t end, uint32_t loop)
{
	struct piece gap = {.start = start,
			    .end = end,
			    .block = BLOCK_NONE,
			    .loop = LOOP_NONE,
			    .file = DEBUG_NONE};
	if (!b->source || start >= end)
		return;
	if (end - start <= PADDING_MAX)
		gap.loop = loop;
	cut(b, &gap);
}

/* Cuts the blocks of one part of the function, from the given block on; returns the first block
 * after the part. */
static uint32_t cut_part(struct structure_builder *b, uint32_t block, const struct part *part)
{
	uint64_t at = part->start;
	uint32_t loop = LOOP_NONE;
	for (; block < b->cfg->block_count; block++) {
		const struct block *k = &b->cfg->blocks[block];
		if (k->start >= part->end)
			break;
		cut_gap(b, at, k->start, loop);
		loop = b->forest->loop_count ? b->forest->innermost[block] : LOOP_NONE;
		struct piece where = {.start = k->start,
				      .end = k->start + k->size,
				      .block = block,
				      .loop = loop,
				      .file = DEBUG_NONE};
		if (k->size)
			cut(b, &where);
		if (where.end > at)
			at = where.end;
	}
	cut_gap(b, at, part->end, loop);
	return block;
}

void find_pieces(struct structure_builder *b)
{
	uint32_t block = 0;
	vec_clear(&b->pieces);
	for (uint32_t i = 0; i < b->part_count; i++)
		block = cut_part(b, block, &b->parts[i]);
	/* There are blocks after the last part if the flow graph and the function's bounds
	 * disagree. */
	struct part rest = {UINT64_MAX, UINT64_MAX};
	cut_part(b, block, &rest);
}
