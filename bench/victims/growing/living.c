/* Processes that wait for the end while their parent computes. usage: living COUNT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static uint64_t compute(long rounds)
{
	uint64_t x = 1;
	for (long i = 0; i < rounds; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	return x;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 10;
	int ends[2];
	char none;
	if (pipe(ends))
		return 1;
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return 1;
		if (pid == 0) {
			close(ends[1]);
			_exit(read(ends[0], &none, 1) != 0);
		}
	}
	uint64_t x = compute(1000000000);
	close(ends[1]);
	while (wait(NULL) > 0)
		;
	printf("%lu\n", (unsigned long)x);
	return 0;
}
