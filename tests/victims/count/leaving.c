/* Loops left in the middle: by break, return and goto, from one or several levels of a nest at
 * once. */
#include "truth.h"

KEEP u64 leave_helper(u64 x)
{
	CALLED(leave_helper);
	return x ^ x >> 3;
}

KEEP u64 leave_break(u64 n, u64 at)
{
	LOOP(break);
	u64 x = 0;
	CALLED(leave_break);
	ENTER(break);
	for (u64 i = 0; i < n; i++) {
		ITER(break);
		if (i == at)
			break;
		x += i;
		BARRIER();
	}
	LEAVE(break);
	return x;
}

/* The way out is first in the body: as a condition is. */
KEEP u64 leave_first(u64 n)
{
	LOOP(first);
	u64 x = n;
	CALLED(leave_first);
	ENTER(first);
	for (;;) {
		if (!n--)
			break;
		ITER(first);
		x = x * 3 + 1;
		BARRIER();
	}
	LEAVE(first);
	return x;
}

/* The way out is in the middle only. */
KEEP u64 leave_middle(u64 n)
{
	LOOP(middle);
	u64 x = n;
	CALLED(leave_middle);
	ENTER(middle);
	for (;;) {
		ITER(middle);
		BRANCH(x & 1);
		x = x * 3 + 1;
		BARRIER();
		if (!n--)
			break;
		x ^= 5;
		BARRIER();
	}
	LEAVE(middle);
	return x;
}

KEEP u64 leave_return(u64 n, u64 at)
{
	LOOP(return_outer);
	LOOP(return_inner);
	CALLED(leave_return);
	ENTER(return_outer);
	for (u64 i = 0; i < n; i++) {
		ITER(return_outer);
		ENTER(return_inner);
		for (u64 j = 0; j <= i; j++) {
			ITER(return_inner);
			if (i * 8 + j == at) {
				LEAVE(return_inner);
				LEAVE(return_outer);
				return at;
			}
			BARRIER();
		}
		LEAVE(return_inner);
	}
	LEAVE(return_outer);
	return n;
}

/* Out of two of three levels, or of all of them; from calls between. */
KEEP u64 leave_goto(u64 n, u64 at)
{
	LOOP(goto_1);
	LOOP(goto_2);
	LOOP(goto_3);
	u64 x = 0;
	CALLED(leave_goto);
	ENTER(goto_1);
	for (u64 i = 0; i < n; i++) {
		ITER(goto_1);
		ENTER(goto_2);
		for (u64 j = 0; j < n; j++) {
			ITER(goto_2);
			ENTER(goto_3);
			for (u64 k = 0; k < n; k++) {
				ITER(goto_3);
				x += leave_helper(i * 16 + j * 4 + k);
				if (x % 64 == at) {
					LEAVE(goto_3);
					LEAVE(goto_2);
					LEAVE(goto_1);
					goto out;
				}
				if (x % 16 == at % 16) {
					LEAVE(goto_3);
					LEAVE(goto_2);
					goto next;
				}
			}
			LEAVE(goto_3);
		}
		LEAVE(goto_2);
	next:
		x += leave_helper(i);
	}
	LEAVE(goto_1);
out:
	return x;
}

/* The same nest call-free: trip counts are kept elsewhere. */
KEEP u64 leave_far(u64 n, u64 at)
{
	LOOP(far_1);
	LOOP(far_2);
	LOOP(far_3);
	u64 x = 0;
	CALLED(leave_far);
	ENTER(far_1);
	for (u64 i = 0; i < n; i++) {
		ITER(far_1);
		ENTER(far_2);
		for (u64 j = 0; j < n; j++) {
			ITER(far_2);
			ENTER(far_3);
			for (u64 k = 0; k < n; k++) {
				ITER(far_3);
				x = x * 5 + i * 16 + j * 4 + k;
				BARRIER();
				if (x % 64 == at) {
					LEAVE(far_3);
					LEAVE(far_2);
					LEAVE(far_1);
					return x;
				}
				if (x % 16 == at % 16) {
					LEAVE(far_3);
					LEAVE(far_2);
					goto next;
				}
			}
			LEAVE(far_3);
		}
		LEAVE(far_2);
	next:
		BARRIER();
	}
	LEAVE(far_1);
	return x;
}

/* The inner loop goes on with the outer. */
KEEP u64 leave_continue(u64 n)
{
	LOOP(continue_outer);
	LOOP(continue_inner);
	u64 x = 0, i = 0;
	CALLED(leave_continue);
	ENTER(continue_outer);
	while (i < n) {
		ITER(continue_outer);
		i++;
		ENTER(continue_inner);
		for (u64 j = 0; j < 6; j++) {
			ITER(continue_inner);
			if ((i + j) % 5 == 0) {
				LEAVE(continue_inner);
				goto next;
			}
			x = x * 3 + j;
			BARRIER();
		}
		LEAVE(continue_inner);
		x ^= i;
	next:
		BARRIER();
	}
	LEAVE(continue_outer);
	return x;
}

u64 victim_leaving(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 40; i++) {
		sum += leave_break(i % 9, i % 5);
		sum ^= leave_first(i % 6);
		sum ^= leave_middle(i % 3);
		sum = sum * 3 + leave_return(i % 7, i);
		sum ^= leave_goto(i % 5, i);
		sum += leave_far(i % 5, i);
		sum ^= leave_continue(i % 8);
	}
	return sum;
}
