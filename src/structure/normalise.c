/* Implements the second rule of the paper's section 3.4: a line that appears on several levels of
 * one loop nest, in one context, belongs to the deepest level; on the others it is code that was
 * moved out of the loop.
 *
 * The first rule is that copies of a loop are one loop. scopes.c implements it by how it numbers
 * loops. */
#include "structure/builder.h"

/* Takes the lower of the next ranges of two sorted lists. */
static uint32_t take_lower(struct structure_builder *b, uint32_t *x, uint32_t *y)
{
	struct range_link *links = b->range_links.data;
	uint32_t *from = *y == INDEX_NONE                     ? x
			 : *x == INDEX_NONE                   ? y
			 : links[*x].start <= links[*y].start ? x
							      : y;
	uint32_t taken = *from;
	*from = links[taken].next;
	return taken;
}

static void move_ranges(struct structure_builder *b, struct node *from, struct node *to)
{
	struct range_link *links = b->range_links.data;
	uint32_t x = to->first_range, y = from->first_range, last = INDEX_NONE;
	while (x != INDEX_NONE || y != INDEX_NONE) {
		uint32_t taken = take_lower(b, &x, &y);
		if (last == INDEX_NONE) {
			to->first_range = taken;
		} else if (links[last].end >= links[taken].start) {
			if (links[taken].end > links[last].end)
				links[last].end = links[taken].end;
			continue;
		} else {
			links[last].next = taken;
		}
		last = taken;
	}
	if (last != INDEX_NONE)
		links[last].next = INDEX_NONE;
	to->last_range = last;
}

/* Takes over the same line outside of the loops around `n`, up to the inlined call or function. */
static void absorb_outer(struct structure_builder *b, struct node *n)
{
	uint32_t above = n->parent;
	while (b->nodes.data[above].kind == SCOPE_LOOP) {
		above = b->nodes.data[above].parent;
		uint32_t outer = node_find(b, above, SCOPE_LINE, n->id, n->file);
		if (outer && !b->nodes.data[outer].dead) {
			move_ranges(b, &b->nodes.data[outer], n);
			b->nodes.data[outer].dead = true;
		}
	}
}

void normalise_lines(struct structure_builder *b)
{
	vec_each (n, &b->nodes)
		if (n->kind == SCOPE_LINE && !n->dead)
			absorb_outer(b, n);
}
