/* A function with thousands of call sites, and one with hundreds of loops. */
#include "truth.h"

KEEP u64 many_leaf(u64 x)
{
	CALLED(many_leaf);
	return x * 3 + 1;
}

KEEP u64 many_other(u64 x)
{
	CALLED(many_other);
	return many_leaf(x) ^ 5;
}

/* Not written out six hundred times, which compilers take long for. */
KEEP void many_left(struct tally *t, u64 trip)
{
	tally_left(t, trip);
}

#define TEN(DO)     DO DO DO DO DO DO DO DO DO DO
#define HUNDRED(DO) TEN(TEN(DO))

/* Which of the sites are executed depends on the argument. */
#define SITE                                                                                       \
	x = many_leaf(x);                                                                          \
	if (x & mask)                                                                              \
		x += many_other(x) ^ many_leaf(mask);

KEEP u64 many_sites(u64 x, u64 mask)
{
	CALLED(many_sites);
	HUNDRED(TEN(SITE))
	return x;
}

#define PLAIN(n)                                                                                   \
	{                                                                                          \
		LOOP(many_##n);                                                                    \
		u64 bound = (x + n) % 5;                                                           \
		OPAQUE(bound);                                                                     \
		ENTER(many_##n);                                                                   \
		for (u64 i = 0; i < bound; i++) {                                                  \
			ITER(many_##n);                                                            \
			x = x * 3 + n;                                                             \
			BARRIER();                                                                 \
		}                                                                                  \
		many_left(&truth_of_many_##n.of[0], trip_many_##n);                                \
	}
#define CALLING(n)                                                                                 \
	{                                                                                          \
		LOOP(many_##n);                                                                    \
		u64 bound = (x + n) % 4;                                                           \
		OPAQUE(bound);                                                                     \
		ENTER(many_##n);                                                                   \
		while (bound--) {                                                                  \
			ITER(many_##n);                                                            \
			x = x * 3 + many_leaf(n);                                                  \
		}                                                                                  \
		many_left(&truth_of_many_##n.of[0], trip_many_##n);                                \
	}
#define LOOPS_10(p)                                                                                \
	PLAIN(p##0)                                                                                \
	PLAIN(p##1) CALLING(p##2) PLAIN(p##3) PLAIN(p##4) CALLING(p##5) PLAIN(p##6) CALLING(p##7)  \
		PLAIN(p##8) PLAIN(p##9)
#define LOOPS_100(p)                                                                               \
	LOOPS_10(p##0)                                                                             \
	LOOPS_10(p##1) LOOPS_10(p##2) LOOPS_10(p##3) LOOPS_10(p##4) LOOPS_10(p##5) LOOPS_10(p##6)  \
		LOOPS_10(p##7) LOOPS_10(p##8) LOOPS_10(p##9)

KEEP u64 many_loops(u64 x)
{
	CALLED(many_loops);
	LOOPS_100(1) LOOPS_100(2) LOOPS_100(3) LOOPS_100(4) LOOPS_100(5) LOOPS_100(6) return x;
}

u64 victim_many(void)
{
	u64 sum = 1;
	for (u64 i = 0; i < 6; i++) {
		sum = many_sites(sum, i);
		sum = many_loops(sum);
	}
	return sum;
}
