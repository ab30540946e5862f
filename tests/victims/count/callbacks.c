/* Called back by the C library, which is not counted: qsort, bsearch, and a walk of search trees.
 */
#include <search.h>
#include <stdlib.h>

#include "truth.h"

KEEP u64 back_key(u64 x)
{
	CALLED(back_key);
	return x % 97;
}

KEEP int back_compare(const void *a, const void *b)
{
	LOOP(comparing);
	u64 x = *(const u64 *)a, y = *(const u64 *)b;
	CALLED(back_compare);
	ENTER(comparing);
	while (x && y && (x ^ y) & 1) {
		ITER(comparing);
		x >>= 1, y >>= 1;
		BARRIER();
	}
	LEAVE(comparing);
	x = back_key(*(const u64 *)a), y = back_key(*(const u64 *)b);
	return x != y ? (x < y ? -1 : 1)
		      : (*(const u64 *)a > *(const u64 *)b) - (*(const u64 *)a < *(const u64 *)b);
}

/* Sorts while it is called back from a sort. */
KEEP int back_nested(const void *a, const void *b)
{
	u64 few[5] = {5, *(const u64 *)a % 9, 3, *(const u64 *)b % 7, 1};
	CALLED(back_nested);
	qsort(few, 5, sizeof(few[0]), back_compare);
	int order = back_compare(a, b);
	return order ? order : few[2] > few[3];
}

static u64 walked;

KEEP void back_walk(const void *node, VISIT which, int depth)
{
	CALLED(back_walk);
	if (which == postorder || which == leaf)
		walked = walked * 31 + **(const u64 *const *)node + (u64)depth;
}

KEEP u64 back_all(u64 *values, u64 n)
{
	LOOP(finding);
	u64 x = 0;
	void *tree = NULL;
	CALLED(back_all);
	qsort(values, n, sizeof(values[0]), back_compare);
	ENTER(finding);
	for (u64 i = 0; i < n; i += 3) {
		ITER(finding);
		u64 *found = bsearch(&values[i], values, n, sizeof(values[0]), back_compare);
		x = x * 3 + (u64)(found - values);
		tsearch(&values[i], &tree, back_compare);
	}
	LEAVE(finding);
	twalk(tree, back_walk);
	for (u64 i = 0; i < n; i += 3)
		tdelete(&values[i], &tree, back_compare);
	return x;
}

u64 victim_callbacks(void)
{
	u64 values[120], x = 1;
	for (u64 i = 0; i < 120; i++)
		values[i] = (x = mix(x + i)) % 100000;
	u64 sum = back_all(values, 120);
	for (u64 i = 0; i < 20; i++)
		values[i] = (x = mix(x + i)) % 1000;
	qsort(values, 20, sizeof(values[0]), back_nested);
	for (u64 i = 0; i < 120; i++)
		sum = sum * 31 + values[i];
	return sum ^ walked;
}
