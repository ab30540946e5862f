/* The C library: its hand-written assembly, callbacks through it, and first calls that the dynamic
 * linker binds. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "victim.h"

static u64 compared;

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	compared = mix(compared, 1);
	return x < y ? -1 : x > y;
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static u64 hash(const char *text, size_t n)
{
	u64 sum = n;
	for (size_t i = 0; i < n; i++)
		sum = mix(sum, (unsigned char)text[i]);
	return sum;
}

SEPARATE static u64 sorting(void)
{
	int numbers[] = {5, 3, 9, -1, 7, 2, 8, 0};
	const char *words[] = {"pear", "apple", "fig", "plum"};
	int key = 7;
	qsort(numbers, 8, sizeof(numbers[0]), compare);
	qsort(words, 4, sizeof(words[0]), compare_text);
	const int *found = bsearch(&key, numbers, 8, sizeof(numbers[0]), compare);
	return hash((const char *)numbers, sizeof(numbers)) + hash(words[0], 5) +
	       (u64)(found - numbers);
}

SEPARATE static u64 printing(void)
{
	char text[120];
	int n = snprintf(text, sizeof(text), "%d %s %-8x|%5.2f %c %lld", -12, "word", 0xabcu, 3.25,
			 'z', 1ll << 40);
	u64 sum = hash(text, (size_t)n);
	double number = strtod("2.5e3", NULL);
	return mix(sum, (u64)number) + (u64)strtol("-77", NULL, 10);
}

SEPARATE static u64 strings(void)
{
	char a[300], b[300];
	u64 sum = 0;
	for (size_t n = 1; n < 300; n = n * 3 + 1) {
		memset(a, (int)n, n);
		a[n - 1] = 0;
		memcpy(b, a, n);
		memmove(b + 1, b, n - 1);
		b[0] = 'x';
		sum = mix(sum,
			  strlen(a) + (u64)(memcmp(a, b, n) != 0) + (u64)(strchr(a, 'x') != NULL));
		sum = mix(sum, hash(strncpy(b, a, n), n));
	}
	return sum + (u64)(strstr("some words here", "here") != NULL) + (u64)toupper('a');
}

SEPARATE static u64 memory(void)
{
	void *blocks[6];
	for (size_t i = 0; i < 6; i++)
		blocks[i] = malloc(16u << i);
	blocks[2] = realloc(blocks[2], 500);
	u64 sum = blocks[2] != NULL;
	for (size_t i = 0; i < 6; i++)
		free(blocks[i]);
	free(calloc(3, 1000));
	return sum;
}

SEPARATE static u64 clocks(void)
{
	struct timespec now;
	return (u64)clock_gettime(CLOCK_MONOTONIC, &now) + (u64)(getenv("NO_SUCH_NAME") != NULL);
}

u64 victim_library(void)
{
	compared = 0;
	u64 sum = sorting();
	sum = mix(sum, printing());
	sum = mix(sum, strings());
	sum = mix(sum, memory());
	return mix(sum, clocks());
}
