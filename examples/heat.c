/* Spreads heat over a plate, and tells how far it came. The loops of relax() and of
 * largest_change() end up inside main(): the compiler inlines both. */
#include <stdio.h>

enum { SIDE = 256, STEPS = 10000 };

static double plate[2][SIDE][SIDE];

static inline double neighbours(double (*p)[SIDE], int y, int x)
{
	return p[y - 1][x] + p[y + 1][x] + p[y][x - 1] + p[y][x + 1];
}

static inline void relax(double (*from)[SIDE], double (*to)[SIDE])
{
	for (int y = 1; y < SIDE - 1; y++)
		for (int x = 1; x < SIDE - 1; x++)
			to[y][x] = neighbours(from, y, x) / 4;
}

static inline double largest_change(const double *a, const double *b)
{
	double largest = 0;
	for (int i = 0; i < SIDE * SIDE; i++) {
		double change = a[i] - b[i];
		largest = change > largest ? change : largest;
	}
	return largest;
}

int main(void)
{
	double change = 0;
	for (int x = 0; x < SIDE; x++)
		plate[0][0][x] = plate[1][0][x] = 100;
	for (int step = 0; step < STEPS; step++) {
		relax(plate[step & 1], plate[~step & 1]);
		change = largest_change(plate[~step & 1][0], plate[step & 1][0]);
	}
	printf("last change %.3f\n", change);
	return 0;
}
