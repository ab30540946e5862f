/* Loads small libraries with dlopen and calls the function of each in turn; the work is the same
 * for any number of them. usage: libraries COUNT PREFIX, where PREFIX and a number make a path */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 100000 };

typedef uint64_t work_fn(uint64_t);

int main(int argc, char **argv)
{
	char path[4096], name[32];
	long count = argc > 1 ? atol(argv[1]) : 10;
	work_fn **functions = calloc((size_t)count, sizeof(*functions));
	uint64_t x = 1;
	for (long i = 0; i < count && argc > 2; i++) {
		snprintf(path, sizeof(path), "%s%ld.so", argv[2], i);
		snprintf(name, sizeof(name), "work%ld", i);
		void *library = dlopen(path, RTLD_NOW);
		if (!library || !(functions[i] = (work_fn *)dlsym(library, name)))
			return 1;
	}
	for (long i = 0; i < CALLS; i++)
		x = functions[i % count](x);
	printf("%lu\n", (unsigned long)x);
	return 0;
}
