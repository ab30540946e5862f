/* Processes that end inside loops, some calls deep: in order, at once, by a signal. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "truth.h"

KEEP void end_exit(void)
{
	CALLED(end_exit);
	exit(21);
}

KEEP void end_abort(void)
{
	CALLED(end_abort);
	truth_tell();
	abort();
}

KEEP void end_vanish(void)
{
	CALLED(end_vanish);
	truth_tell();
	_exit(22);
}

KEEP void end_signal(void)
{
	CALLED(end_signal);
	truth_tell();
	raise(SIGKILL);
}

KEEP u64 end_loop(u64 n, void (*end)(void))
{
	LOOP(ended_outer);
	LOOP(ended);
	u64 x = n;
	CALLED(end_loop);
	ENTER(ended_outer);
	for (u64 i = 0; i < 8; i++) {
		ITER(ended_outer);
		ENTER(ended);
		for (u64 j = 0; j < n; j++) {
			ITER(ended);
			x = x * 3 + j;
			BARRIER();
			if (n == 5 && i == 6 && j == 3) {
				STAY(ended);
				STAY(ended_outer);
				fflush(stdout);
				end();
			}
		}
		LEAVE(ended);
	}
	LEAVE(ended_outer);
	return x;
}

u64 victim_exits(void)
{
	return end_loop(3, end_exit) + end_loop(5, end_exit);
}

u64 victim_aborts(void)
{
	return end_loop(3, end_abort) + end_loop(5, end_abort);
}

u64 victim_vanishes(void)
{
	return end_loop(3, end_vanish) + end_loop(5, end_vanish);
}

u64 victim_ends(void)
{
	return end_loop(3, end_signal) + end_loop(5, end_signal);
}
