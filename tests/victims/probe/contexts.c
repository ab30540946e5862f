/* Coroutines: several stacks in one thread, switched in the middle of probed functions. */
#include <stdlib.h>
#include <ucontext.h>

#include "victim.h"

enum { COROUTINES = 3, STACK = 128 << 10 };

struct schedule {
	ucontext_t main, each[COROUTINES];
	u64 value[COROUTINES];
	unsigned running, done[COROUTINES];
};

static _Thread_local struct schedule *here;

KEEP void context_yield(void)
{
	CALLED("context_yield");
	struct schedule *s = here;
	swapcontext(&s->each[s->running], &s->main);
	LEFT("context_yield");
}

KEEP u64 context_deeper(u64 x, unsigned depth)
{
	CALLED("context_deeper");
	if (depth == 0)
		context_yield();
	else
		x = context_deeper(x * 3 + 1, depth - 1);
	LEFT("context_deeper");
	return mix(x);
}

KEEP void context_body(void)
{
	CALLED("context_body");
	unsigned me = here->running;
	u64 x = me + 1;
	for (unsigned i = 0; i < 12; i++) {
		x = context_deeper(x, (me + i) % 4);
		context_yield();
	}
	here->value[me] = x;
	here->done[me] = 1;
	LEFT("context_body");
}

KEEP void context_resume(struct schedule *s, unsigned who)
{
	CALLED("context_resume");
	s->running = who;
	swapcontext(&s->main, &s->each[who]);
	LEFT("context_resume");
}

u64 victim_contexts(void)
{
	struct schedule *s = calloc(1, sizeof(*s));
	char *stacks = malloc(COROUTINES * STACK);
	u64 sum = 0;
	here = s;
	for (unsigned i = 0; i < COROUTINES; i++) {
		getcontext(&s->each[i]);
		s->each[i].uc_stack.ss_sp = stacks + i * STACK;
		s->each[i].uc_stack.ss_size = STACK;
		s->each[i].uc_link = &s->main;
		makecontext(&s->each[i], context_body, 0);
	}
	for (unsigned left = COROUTINES; left;) {
		left = 0;
		for (unsigned i = 0; i < COROUTINES; i++)
			if (!s->done[i]) {
				left++;
				context_resume(s, i);
			}
	}
	for (unsigned i = 0; i < COROUTINES; i++)
		sum = sum * 31 + s->value[i];
	free(stacks);
	free(s);
	return sum;
}
