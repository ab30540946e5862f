/* Runs the victims that the arguments name, and prints their checksums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"

#define EACH(DO)                                                                                   \
	DO(loops)                                                                                  \
	DO(leaving) DO(recursion) DO(jumps) DO(exceptions) DO(signals) DO(threads) DO(computed)    \
		DO(pointers) DO(virtuals) DO(callbacks) DO(startup) DO(loading) DO(forks)          \
			DO(execs) DO(contexts) DO(stacks) DO(tails) DO(many) DO(exits) DO(aborts)  \
				DO(vanishes) DO(ends)

#define DECLARE(name) u64 victim_##name(void) __attribute__((weak));
EACH(DECLARE)

static const struct victim {
	const char *name;
	u64 (*run)(void);
} victims[] = {
#define ROW(name) {#name, victim_##name},
	EACH(ROW)};

static const struct victim *find(const char *name)
{
	for (size_t i = 0; i < sizeof(victims) / sizeof(victims[0]); i++)
		if (!strcmp(victims[i].name, name) && victims[i].run)
			return &victims[i];
	fprintf(stderr, "no victim %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct victim *v = find(argv[i]);
		printf("%s %016llx\n", v->name, (unsigned long long)v->run());
	}
	return 7;
}
