/* Runs a target over files: usage: fuzz-replay TARGET FILE... Names each file before it runs, so
 * that a crash tells which it was. */
#include <string.h>

#include "base/vec.h"
#include "targets.h"

static const struct {
	const char *name;
	fuzz_fn run;
} targets[] = {
	{"module", fuzz_module},       {"decode", fuzz_decode}, {"debug", fuzz_debug},
	{"structure", fuzz_structure}, {"ring", fuzz_ring},
};

static void replay(fuzz_fn run, const char *path)
{
	VEC(uint8_t) bytes = {0};
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		exit(2);
	}
	for (int c; (c = getc(f)) != EOF;)
		vec_push(&bytes, (uint8_t)c);
	fclose(f);
	printf("%s\n", path);
	fflush(stdout);
	run(bytes.data, bytes.len);
	vec_free(&bytes);
}

int main(int argc, char **argv)
{
	for (size_t t = 0; argc > 1 && t < ARRAY_SIZE(targets); t++) {
		if (strcmp(targets[t].name, argv[1]) != 0)
			continue;
		for (int i = 2; i < argc; i++)
			replay(targets[t].run, argv[i]);
		return 0;
	}
	fprintf(stderr, "usage: fuzz-replay module|decode|debug|structure|ring FILE...\n");
	return 2;
}
