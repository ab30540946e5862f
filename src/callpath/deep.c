#include "callpath/deep.h"

#include <stdlib.h>
#include <string.h>

static void piece_release(struct deep_piece *p)
{
	free(p->bytes);
	vec_free(&p->frames);
}

static void drop_pieces(struct deep *d, uint32_t from)
{
	for (uint32_t i = from; i < d->pieces.len; i++)
		piece_release(&d->pieces.data[i]);
	if (from < d->pieces.len)
		d->pieces.len = from;
}

void deep_release(struct deep *d)
{
	drop_pieces(d, 0);
	vec_free(&d->pieces);
}

static bool same_registers(const struct registers *a, const struct registers *b)
{
	if (a->pc != b->pc || a->known != b->known)
		return false;
	for (unsigned i = 0; i < REGISTERS; i++)
		if (registers_has(a, i) && a->reg[i] != b->reg[i])
			return false;
	return true;
}

/* The bytes that the walk of a piece depends on: the margin before it, and the piece itself as far
 * as the stack reaches. */
static struct stack_copy bytes_of_piece(const struct stack_copy *stack, uint64_t piece)
{
	uint64_t from = piece - DEEP_MARGIN, end = piece + DEEP_PIECE;
	uint64_t top = stack->address + stack->size;
	return (struct stack_copy){.address = from,
				   .bytes = stack->bytes + (from - stack->address),
				   .size = (size_t)((end < top ? end : top) - from)};
}

static bool is_unchanged(const struct deep_piece *p, const struct stack_copy *part,
			 const struct walk *w)
{
	const struct frame *last = &vec_last(&w->frames);
	return p->bytes && p->size == part->size && same_registers(&p->enter, &w->at) &&
	       p->first.pc == last->pc && p->first.exact == last->exact &&
	       !memcmp(p->bytes, part->bytes, part->size);
}

static void reuse_piece(const struct deep_piece *p, struct walk *w)
{
	uint32_t kept = w->frames.len - 1;
	vec_reserve(&w->frames, kept + p->frames.len);
	if (p->frames.len)
		memcpy(w->frames.data + kept, p->frames.data,
		       p->frames.len * sizeof(*p->frames.data));
	w->frames.len = kept + p->frames.len;
	w->at = p->leave;
	w->end = p->end;
}

static void store_piece(struct deep_piece *p, const struct stack_copy *part, const struct walk *w,
			uint32_t from)
{
	p->size = part->size;
	p->bytes = xrealloc(p->bytes, part->size);
	memcpy(p->bytes, part->bytes, part->size);
	p->leave = w->at;
	p->end = w->end;
	p->frames.len = w->frames.len - from;
	vec_reserve(&p->frames, p->frames.len);
	memcpy(p->frames.data, w->frames.data + from, p->frames.len * sizeof(*p->frames.data));
}

/* Walks a piece, and stores the result if all bytes that it depends on are in `part`: the frame
 * that reaches into the piece must begin there. */
static void walk_piece(struct deep_piece *p, struct walker *w, struct space *s,
		       const struct stack_copy *stack, const struct stack_copy *part,
		       struct walk *out)
{
	struct stack_copy up_to = {.address = stack->address,
				   .bytes = stack->bytes,
				   .size = (size_t)(part->address + part->size - stack->address)};
	unsigned sp = arch_native()->sp;
	uint32_t from = out->frames.len - 1;
	bool inside = registers_has(&out->at, sp) && out->at.reg[sp] >= part->address;
	p->enter = out->at;
	p->first = out->frames.data[from];
	walk_resume(w, s, read_stack_copy, &up_to, out);
	if (inside && out->frames.len >= from) {
		store_piece(p, part, out, from);
		return;
	}
	free(p->bytes);
	p->bytes = NULL;
}

/* Finds or adds the piece at an address. Pieces stay adjacent: an address that is not next to them
 * drops them all. */
static struct deep_piece *piece_at(struct deep *d, uint64_t address)
{
	uint64_t first = d->pieces.len ? d->pieces.data[0].address : address;
	uint32_t i = (uint32_t)((address - first) / DEEP_PIECE);
	if (address < first || i > d->pieces.len) {
		drop_pieces(d, 0);
		i = 0;
	}
	if (i == d->pieces.len)
		vec_push(&d->pieces, (struct deep_piece){.address = address});
	return &d->pieces.data[i];
}

/* The address of the first piece after the copy whose margin is in the stack's bytes. */
static uint64_t first_piece(const struct stack_copy *stack, size_t copied)
{
	uint64_t least = stack->address + DEEP_MARGIN, end = stack->address + copied;
	return ((end > least ? end : least) + DEEP_PIECE - 1) & ~(uint64_t)(DEEP_PIECE - 1);
}

void deep_walk(struct deep *d, struct walker *w, struct space *s, const struct stack_copy *stack,
	       size_t copied, struct walk *out)
{
	uint64_t at = first_piece(stack, copied), top = stack->address + stack->size;
	struct stack_copy start = *stack;
	if (d->serial != space_serial(s))
		drop_pieces(d, 0);
	d->serial = space_serial(s);
	if (at < top)
		start.size = (size_t)(at - stack->address);
	walk_resume(w, s, read_stack_copy, &start, out);
	for (; out->end == WALK_STACK_COPY && at < top; at += DEEP_PIECE) {
		struct deep_piece *p = piece_at(d, at);
		struct stack_copy part = bytes_of_piece(stack, at);
		if (is_unchanged(p, &part, out))
			reuse_piece(p, out);
		else
			walk_piece(p, w, s, stack, &part, out);
	}
}
