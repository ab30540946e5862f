/* Runs the victims of the stepping tests round and round for the given seconds of CPU time.
 * They are built with all unwind information taken out. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "victim.h"

volatile u64 opaque;

#define EACH(DO)                                                                                   \
	DO(calls)                                                                                  \
	DO(registers) DO(frames) DO(exits) DO(switches) DO(tails) DO(arguments) DO(jumps)          \
		DO(aligned) DO(vectors) DO(builtins) DO(library) DO(oddities)

#define DECLARE(name) u64 victim_##name(void);
EACH(DECLARE)

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	u64 sum = 0, rounds = 0;
	while ((double)clock() / CLOCKS_PER_SEC < seconds) {
#define RUN(name) sum += victim_##name();
		EACH(RUN)
		rounds++;
	}
	printf("%llu rounds, %016llx\n", (unsigned long long)rounds, (unsigned long long)sum);
	return 0;
}
