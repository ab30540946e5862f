/* Loops left by exceptions: caught in the loop, around it, in the caller; through frames with and without destructors;
 * thrown again; and loops in the handlers. */
#include <stdexcept>

#include "truth.h"

struct Held {
	u64 *to;
	explicit Held(u64 *where) : to(where) {}
	~Held() { *to = *to * 3 + 1; }
};

extern "C" KEEP u64 throw_if(u64 x, u64 at)
{
	CALLED(throw_if);
	if (x == at)
		throw x;
	return x + 1;
}

extern "C" KEEP u64 throw_inside(u64 n)
{
	LOOP(caught_inside);
	u64 x = 0;
	CALLED(throw_inside);
	ENTER(caught_inside);
	for (u64 i = 0; i < n; i++) {
		ITER(caught_inside);
		try {
			x += throw_if(i, i / 3 * 3);
		} catch (u64 value) {
			x = x * 3 + value;
		}
	}
	LEAVE(caught_inside);
	return x;
}

extern "C" KEEP u64 throw_around(u64 n, u64 at)
{
	LOOP_ELSEWHERE(caught_around);
	u64 x = 0;
	CALLED(throw_around);
	try {
		ENTER(caught_around);
		for (u64 i = 0; i < n; i++) {
			ITER(caught_around);
			x += throw_if(i, at);
		}
		LEAVE(caught_around);
	} catch (u64 value) {
		LEAVE(caught_around);
		x = x * 5 + value;
	}
	return x;
}

LOOP_ELSEWHERE(thrown);
LOOP_ELSEWHERE(thrown_inner);

extern "C" KEEP u64 throw_middle(u64 n, u64 at, u64 *log)
{
	u64 x = 0;
	CALLED(throw_middle);
	ENTER(thrown);
	for (u64 i = 0; i < n; i++) {
		ITER(thrown);
		Held held(log);
		ENTER(thrown_inner);
		for (u64 j = 0; j < n; j++) {
			ITER(thrown_inner);
			x += throw_if(i * 4 + j, at);
		}
		LEAVE(thrown_inner);
	}
	LEAVE(thrown);
	return x;
}

extern "C" KEEP u64 throw_again(u64 n, u64 at, u64 *log)
{
	CALLED(throw_again);
	Held held(log);
	try {
		return throw_middle(n, at, log);
	} catch (u64 value) {
		LEAVE(thrown_inner);
		LEAVE(thrown);
		if (value % 2)
			throw std::runtime_error("odd");
		throw;
	}
}

/* An outer loop goes on when an inner one is left so. */
extern "C" KEEP u64 throw_outer(u64 n, u64 *log)
{
	LOOP(catching);
	LOOP(handling);
	u64 x = 0;
	CALLED(throw_outer);
	ENTER(catching);
	for (u64 i = 0; i < n; i++) {
		ITER(catching);
		try {
			x += throw_again(i % 4, i % 6, log);
		} catch (const std::exception &e) {
			x = x * 7 + (u64)e.what()[0];
		} catch (u64 value) {
			ENTER(handling);
			for (u64 j = 0; j < value; j++) {
				ITER(handling);
				x ^= j << 3;
				BARRIER();
			}
			LEAVE(handling);
		}
	}
	LEAVE(catching);
	return x;
}

/* Recursion unwound many levels at a time; each level's loop has its own trip count when that happens, which is its
 * level's. */
extern "C" KEEP u64 throw_deep(u64 level, u64 depth)
{
	LOOP(unwound);
	CALLED(throw_deep);
	if (level == depth)
		throw level;
	ENTER(unwound);
	for (u64 i = 0;; i++) {
		ITER(unwound);
		BRANCH(i & 1);
		if (i == level % 5) {
			LEAVE(unwound);
			throw_deep(level + 1, depth);
		}
		BARRIER();
	}
}

extern "C" u64 victim_exceptions(void)
{
	u64 sum = 0, log = 0;
	for (u64 i = 0; i < 12; i++) {
		sum += throw_inside(i);
		sum = sum * 3 + throw_around(i, i * 3 / 2 % 7);
		sum ^= throw_outer(i * 2, &log);
		try {
			sum += throw_deep(0, i * 4);
		} catch (u64 value) {
			sum = sum * 5 + value;
		}
	}
	return sum ^ log;
}
