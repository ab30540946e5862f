/* Deep stacks, walked again and again. Between two samples of a thread that is 100,000 calls deep,
 * next to nothing changes above the innermost few: the stack is divided into pieces at fixed
 * addresses, and the frames of a piece are taken from the last walk if that came into the piece in
 * the same state and the bytes there are the same. A walk depends on nothing else, so the result is
 * what a full walk would give.
 *
 *	address of the piece          + PIECE
 *	 v                             v
 *	 |  f     f   f     f     f    |  f       frames and their stack pointers
 *	 ^
 *	 the walk in front of it stops here, for lack of memory; its registers then are the state */
#pragma once
#include "unwind/walk.h"

enum {
	DEEP_PIECE = 1 << 16,
	DEEP_MARGIN =
		1 << 12,    /* of bytes before a piece: the frame that reaches into it is there */
	DEEP_MAX = 1 << 26, /* bytes of a stack that are looked at */
};

struct deep_piece {
	uint64_t address;
	uint8_t *bytes; /* from DEEP_MARGIN before the address on */
	size_t size;
	struct registers enter, leave;
	enum walk_end end;
	struct frame first;       /* the frame whose caller is looked for in the piece */
	VEC(struct frame) frames; /* that frame, and all that were found */
};

struct deep {
	uint64_t serial;               /* of the space that all this is about */
	VEC(struct deep_piece) pieces; /* ascending, adjacent */
};

void deep_release(struct deep *d);

/* Goes on with a walk that ended at the end of a stack copy. `stack` has the copy, from its first
 * byte on, and what follows it in memory; `copied` is the size of the copy. */
void deep_walk(struct deep *d, struct walker *w, struct space *s, const struct stack_copy *stack,
	       size_t copied, struct walk *out);
