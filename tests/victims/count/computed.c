/* Jumps that are computed, and regions with several entries. */
#include "truth.h"

/* An interpreter: control comes to every block from every other. */
KEEP u64 computed_threaded(const unsigned char *p, u64 x)
{
	static const void *const to[] = {&&end, &&add, &&shift, &&times, &&less};
	CALLED(computed_threaded);
	goto *to[*p++ % 5];
add:
	x += 3;
	goto *to[*p++ % 5];
shift:
	x ^= x >> 5;
	goto *to[*p++ % 5];
times:
	x = x * 13;
	goto *to[*p++ % 5];
less:
	x -= *p;
	goto *to[*p++ % 5];
end:
	return x;
}

/* One dispatch for all: a loop with a header. */
KEEP u64 computed_loop(const unsigned char *p, u64 x)
{
	static const void *const to[] = {&&end, &&add, &&shift, &&less};
	LOOP(dispatched);
	CALLED(computed_loop);
	ENTER(dispatched);
next:
	ITER(dispatched);
	goto *to[*p++ % 4];
add:
	x += 3;
	BARRIER();
	goto next;
shift:
	x ^= x >> 5;
	BARRIER();
	goto next;
less:
	x -= *p;
	BARRIER();
	goto next;
end:
	LEAVE(dispatched);
	return x;
}

/* Entered in the middle. */
KEEP u64 computed_irreducible(u64 n, u64 x)
{
	LOOP(irreducible);
	CALLED(computed_irreducible);
	ENTER(irreducible);
	if (n & 1)
		goto second;
first:
	x = x * 5 + 1;
	BARRIER();
second:
	ITER(irreducible);
	x += n;
	BARRIER();
	if (n--)
		goto first;
	LEAVE(irreducible);
	return x;
}

/* A proper loop within such a region, and the region within a loop. */
KEEP u64 computed_region(u64 n, u64 x)
{
	LOOP(around_region);
	LOOP(within_region);
	CALLED(computed_region);
	ENTER(around_region);
	for (u64 i = 0; i < n; i++) {
		u64 left = i % 4;
		ITER(around_region);
		OPAQUE(left);
		if (i & 1)
			goto second;
	first:
		x = x * 3 + 1;
		BARRIER();
	second:
		ENTER(within_region);
		for (u64 j = 0; j < left; j++) {
			ITER(within_region);
			x += j;
			BARRIER();
		}
		LEAVE(within_region);
		if (left--)
			goto first;
	}
	LEAVE(around_region);
	return x;
}

u64 victim_computed(void)
{
	static const unsigned char bytes[] = {1, 2, 3, 4, 6, 7, 8, 9, 1, 3, 2, 4, 1, 3, 0, 4, 0};
	u64 sum = 0;
	for (u64 i = 0; i < 12; i++) {
		sum += computed_threaded(bytes + i, i);
		sum ^= computed_loop(bytes + i, i);
		sum = sum * 3 + computed_irreducible(i, sum);
		sum ^= computed_region(i, sum);
	}
	return sum;
}
