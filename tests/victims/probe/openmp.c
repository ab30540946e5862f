/* A stencil, a reduction and critical sections with OpenMP; the result does not depend on the
 * number of threads. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 200, STEPS = 600 };

static uint64_t grid[2][N][N];

static void relax(uint64_t (*to)[N], uint64_t (*from)[N])
{
#pragma omp parallel for schedule(dynamic, 8)
	for (int i = 1; i < N - 1; i++)
		for (int j = 1; j < N - 1; j++)
			to[i][j] = from[i][j] * 5 + from[i - 1][j] + from[i + 1][j] +
				   from[i][j - 1] + from[i][j + 1];
}

static uint64_t total(uint64_t (*of)[N])
{
	uint64_t sum = 0, seen = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++)
			sum += of[i][j] * (uint64_t)(i * N + j + 1);
#pragma omp critical
		seen++;
	}
	return sum ^ seen;
}

int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			grid[0][i][j] = grid[1][i][j] = (uint64_t)(i * j % 97);
	for (int step = 0; step < STEPS; step++)
		relax(grid[(step + 1) % 2], grid[step % 2]);
	printf("openmp %016llx\n", (unsigned long long)total(grid[STEPS % 2]));
	return 0;
}
