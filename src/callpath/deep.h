/* Repeated walks of deep stacks. Between two samples of a thread that is 100,000 calls deep, only
 * the innermost frames change. So the stack is divided into pieces at fixed addresses, and the
 * frames of a piece are taken from the last walk if both walks enter the piece in the same state
 * and its bytes are the same. A walk depends on nothing else: the result is that of a full walk.
 *
 *	address of the piece          + DEEP_PIECE
 *	 v                             v
 *	 |  f     f   f     f     f    |  f       frames and their stack pointers
 *	 ^
 *	 The walk of the piece before ends here. The registers that it
 *	 has found are the state in which the walk enters this piece.
 */
#pragma once
#include "unwind/walk.h"

enum {
	DEEP_PIECE = 1 << 16,
	/* bytes before a piece, in which the frame that reaches into it begins */
	DEEP_MARGIN = 1 << 12,
	DEEP_MAX = 1 << 26, /* bytes of a stack that are read at most */
};

struct deep_piece {
	uint64_t address;
	uint8_t *bytes; /* beginning DEEP_MARGIN before the address */
	size_t size;
	struct registers enter, leave;
	enum walk_end end;
	struct frame first;       /* the frame whose caller is in the piece */
	VEC(struct frame) frames; /* `first`, and all frames that were found in the piece */
};

struct deep {
	uint64_t serial;               /* of the space that the pieces belong to */
	VEC(struct deep_piece) pieces; /* ascending, adjacent */
};

void deep_release(struct deep *d);

/* Continues a walk that ended at the end of a stack copy. `stack` holds the copy, from its first
 * byte on, and the memory after it; `copied` is the size of the copy. */
void deep_walk(struct deep *d, struct walker *w, struct space *s, const struct stack_copy *stack,
	       size_t copied, struct walk *out);
