/* Runs the victims named in the arguments, or all, and prints their checksums. */
#include <stdio.h>
#include <string.h>

#include "victim.h"

volatile u64 opaque;

#define EACH(DO)                                                                                   \
	DO(calls)                                                                                  \
	DO(registers) DO(frames) DO(exits) DO(switches) DO(tails) DO(arguments) DO(jumps)          \
		DO(signals) DO(aligned) DO(vectors) DO(builtins) DO(library) DO(oddities)          \
			DO(nested)

#define DECLARE(name) u64 victim_##name(void) __attribute__((weak));
EACH(DECLARE)

static const struct victim {
	const char *name;
	u64 (*run)(void);
} victims[] = {
#define ROW(name) {#name, victim_##name},
	EACH(ROW)};

static int chosen(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc < 2;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(victims) / sizeof(victims[0]); i++)
		if (victims[i].run && chosen(victims[i].name, argc, argv))
			printf("%s %016llx\n", victims[i].name,
			       (unsigned long long)victims[i].run());
	return 0;
}
