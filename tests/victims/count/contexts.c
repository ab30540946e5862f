/* Coroutines: several stacks in one thread, switched in the middle of loops of functions at various
 * depths. */
#include <stdlib.h>
#include <ucontext.h>

#include "truth.h"

enum { COROUTINES = 3, STACK = 128 << 10 };

static struct schedule {
	ucontext_t main, each[COROUTINES];
	u64 value[COROUTINES];
	unsigned running, done[COROUTINES];
} schedule;

KEEP void context_yield(void)
{
	CALLED(context_yield);
	swapcontext(&schedule.each[schedule.running], &schedule.main);
}

KEEP u64 context_deeper(u64 x, unsigned depth)
{
	LOOP(switching);
	CALLED(context_deeper);
	ENTER(switching);
	for (unsigned i = 0; i <= depth; i++) {
		ITER(switching);
		if (i == depth)
			context_yield();
		else
			x = context_deeper(x * 3 + 1, i);
	}
	LEAVE(switching);
	return x;
}

KEEP void context_body(void)
{
	LOOP(body);
	unsigned me = schedule.running;
	u64 x = me + 1;
	CALLED(context_body);
	ENTER(body);
	for (unsigned i = 0; i < 6 + me; i++) {
		ITER(body);
		x = context_deeper(x, (me + i) % 4);
		context_yield();
	}
	LEAVE(body);
	schedule.value[me] = x;
	schedule.done[me] = 1;
}

KEEP void context_resume(unsigned who)
{
	CALLED(context_resume);
	schedule.running = who;
	swapcontext(&schedule.main, &schedule.each[who]);
}

u64 victim_contexts(void)
{
	char *stacks = malloc(COROUTINES * STACK);
	u64 sum = 0;
	for (unsigned i = 0; i < COROUTINES; i++) {
		ucontext_t *c = &schedule.each[i];
		getcontext(c);
		c->uc_stack.ss_sp = stacks + i * STACK;
		c->uc_stack.ss_size = STACK;
		c->uc_link = &schedule.main;
		makecontext(c, context_body, 0);
	}
	for (unsigned left = COROUTINES; left;) {
		left = 0;
		for (unsigned i = 0; i < COROUTINES; i++)
			if (!schedule.done[i]) {
				left++;
				context_resume(i);
			}
	}
	for (unsigned i = 0; i < COROUTINES; i++)
		sum = sum * 31 + schedule.value[i];
	free(stacks);
	return sum;
}
