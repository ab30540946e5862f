/* Keeps what was counted if we are killed.
 *
 * Counters are in memory that the program shares with us, and are worth nothing without what we
 * know of its code. So from time to time a child of ours is made, which has all that, and does
 * nothing but wait for our end. It costs nothing meanwhile. */
#pragma once
#include <stdint.h>

struct keeper {
	int pid;       /* 0: there is none */
	int tie;       /* it sees that closed by our death; a byte in there sends it away */
	uint64_t next; /* ns: when to make another one, which knows more */
};

/* Makes one if it is time to. In it, `rescue` is called if we have been killed. */
void keeper_tick(struct keeper *k, void (*rescue)(void *ctx), void *ctx);
/* What was counted is safe. */
void keeper_dismiss(struct keeper *k);
