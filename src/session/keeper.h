/* Saves what was counted if Sonde is killed.
 *
 * Counters are in memory that the program shares with Sonde, and are useless without what Sonde
 * knows of its code. So from time to time Sonde forks a child, the keeper, which has all that and
 * only waits for Sonde's end. While it waits, it has no overhead. */
#pragma once
#include <stdint.h>

struct keeper {
	int pid; /* 0: there is none */
	/* Our end of a pipe to the keeper: our death closes it, and a byte in it makes the keeper
	 * exit. */
	int tie;
	uint64_t next; /* ns: when to fork the next one, which knows more */
};

/* Forks a new keeper if it is time to. The keeper calls `rescue` if Sonde has been killed. */
void keeper_tick(struct keeper *k, void (*rescue)(void *ctx), void *ctx);
/* Ends the keeper, which is no longer needed when all that was counted is saved. */
void keeper_dismiss(struct keeper *k);
