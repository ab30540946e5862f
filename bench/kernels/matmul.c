/* Matrix multiplication as textbooks have it. usage: matmul SIZE */
#include <stdio.h>
#include <stdlib.h>

static void multiply(int n, const double *a, const double *b, double *c)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			double x = a[i * n + k];
			for (int j = 0; j < n; j++)
				c[i * n + j] += x * b[k * n + j];
		}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;
	size_t all = (size_t)n * (size_t)n;
	double *a = calloc(all, sizeof(*a)), *b = calloc(all, sizeof(*b)),
	       *c = calloc(all, sizeof(*c)), sum = 0;
	if (!a || !b || !c)
		return 1;
	for (size_t i = 0; i < all; i++) {
		a[i] = (double)(i % 17) / 3;
		b[i] = (double)(i % 23) / 5;
	}
	multiply(n, a, b, c);
	for (size_t i = 0; i < all; i++)
		sum += c[i];
	printf("%.6e\n", sum);
	return 0;
}
