/* Hydrodynamics in two dimensions: four parallel sweeps over a grid in each step, with OpenMP's
 * barrier behind each. usage: hydro STEPS */
#include <stdio.h>
#include <stdlib.h>

enum { N = 512 };

static double density[N][N], pressure[N][N], u[N][N], v[N][N], next[N][N];

static void set_up(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			density[i][j] = i < N / 3 && j < N / 3 ? 1.0 : 0.125;
}

static void equation_of_state(void)
{
#pragma omp parallel for
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			pressure[i][j] = 0.4 * density[i][j] * (2.5 + 0.1 * u[i][j] * u[i][j]);
}

static void accelerate(double dt)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		for (int j = 1; j < N - 1; j++) {
			u[i][j] -= dt * (pressure[i + 1][j] - pressure[i - 1][j]) /
				   (2 * density[i][j]);
			v[i][j] -= dt * (pressure[i][j + 1] - pressure[i][j - 1]) /
				   (2 * density[i][j]);
		}
}

static void advect(double dt)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		for (int j = 1; j < N - 1; j++) {
			double flow =
				density[i + 1][j] * u[i + 1][j] - density[i - 1][j] * u[i - 1][j] +
				density[i][j + 1] * v[i][j + 1] - density[i][j - 1] * v[i][j - 1];
			double mean = density[i + 1][j] + density[i - 1][j] + density[i][j + 1] +
				      density[i][j - 1];
			next[i][j] = 0.9 * density[i][j] + 0.025 * mean - dt * flow / 2;
		}
}

static void copy_back(void)
{
#pragma omp parallel for
	for (int i = 1; i < N - 1; i++)
		for (int j = 1; j < N - 1; j++)
			density[i][j] = next[i][j];
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 100;
	double sum = 0;
	set_up();
	for (long i = 0; i < steps; i++) {
		equation_of_state();
		accelerate(0.01);
		advect(0.01);
		copy_back();
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += density[i][j];
	printf("%.9g\n", sum);
	return 0;
}
