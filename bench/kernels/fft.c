/* Fast Fourier transforms, there and back: butterflies at every distance, and a permutation.
 * usage: fft ROUNDS */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BITS = 16, SIZE = 1 << BITS };

static double complex signal_of[SIZE], roots[SIZE / 2];

static void permute(double complex *x)
{
	for (unsigned i = 1, j = 0; i < SIZE; i++) {
		unsigned bit = SIZE >> 1;
		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			double complex t = x[i];
			x[i] = x[j];
			x[j] = t;
		}
	}
}

static void transform(double complex *x)
{
	permute(x);
	for (unsigned length = 2; length <= SIZE; length *= 2) {
		unsigned half = length / 2, stride = SIZE / length;
		for (unsigned start = 0; start < SIZE; start += length)
			for (unsigned k = 0; k < half; k++) {
				double complex a = x[start + k], w = roots[k * stride],
					       b = x[start + k + half];
				double re = creal(b) * creal(w) - cimag(b) * cimag(w);
				double m = creal(b) * cimag(w) + cimag(b) * creal(w);
				x[start + k] = CMPLX(creal(a) + re, cimag(a) + m);
				x[start + k + half] = CMPLX(creal(a) - re, cimag(a) - m);
			}
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	for (int i = 0; i < SIZE / 2; i++)
		roots[i] = CMPLX(cos(2 * M_PI * i / SIZE), -sin(2 * M_PI * i / SIZE));
	for (int i = 0; i < SIZE; i++)
		signal_of[i] = CMPLX(i % 97, i % 31);
	for (int r = 0; r < rounds; r++) {
		transform(signal_of);
		for (int i = 0; i < SIZE; i++)
			signal_of[i] = conj(signal_of[i]) / sqrt(SIZE);
	}
	printf("%.6f %.6f\n", creal(signal_of[1]), cimag(signal_of[SIZE / 3]));
	return 0;
}
