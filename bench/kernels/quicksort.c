/* The C library's sort, which calls back for every comparison. usage: quicksort COUNT */
#include <stdio.h>
#include <stdlib.h>

struct record {
	unsigned key;
	char text[12];
};

static int by_key(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	struct record *all = calloc(count, sizeof(*all));
	unsigned x = 1, sum = 0;
	if (!all)
		return 1;
	for (size_t i = 0; i < count; i++) {
		x = x * 1103515245 + 12345;
		all[i].key = x >> 4;
	}
	qsort(all, count, sizeof(*all), by_key);
	for (size_t i = 0; i < count; i++)
		sum = sum * 31 + all[i].key;
	printf("%u\n", sum);
	return 0;
}
