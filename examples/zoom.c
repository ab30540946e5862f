/* Zooms into the Mandelbrot set. Each picture is cut into bands, one for each thread; a picture is
 * done when all bands are. */
#include <complex.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, WIDTH = 240, HEIGHT = 180, PICTURES = 160, DEEPEST = 1500 };

static unsigned short picture[HEIGHT][WIDTH];
static pthread_barrier_t picture_done;
static unsigned long total;

static int escape_time(double complex c)
{
	double x = 0, y = 0;
	int n = 0;
	while (n < DEEPEST && x * x + y * y < 4) {
		double next = x * x - y * y + creal(c);
		y = 2 * x * y + cimag(c);
		x = next;
		n++;
	}
	return n;
}

void draw_row(int y, double zoom)
{
	for (int x = 0; x < WIDTH; x++) {
		double re = ((double)x / WIDTH - 0.5) * 3 / zoom - 0.6;
		double im = ((double)y / HEIGHT - 0.5) * 4 / zoom;
		picture[y][x] = (unsigned short)escape_time(CMPLX(re, im));
	}
}

void draw_band(int band, double zoom)
{
	for (int y = band * HEIGHT / THREADS; y < (band + 1) * HEIGHT / THREADS; y++)
		draw_row(y, zoom);
}

static void look_at_picture(void)
{
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			total += picture[y][x];
}

static void *draw(void *band)
{
	double zoom = 1;
	for (int n = 0; n < PICTURES; n++, zoom *= 1.001) {
		draw_band(*(int *)band, zoom);
		if (pthread_barrier_wait(&picture_done) == PTHREAD_BARRIER_SERIAL_THREAD)
			look_at_picture();
		pthread_barrier_wait(&picture_done);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int bands[THREADS];
	pthread_barrier_init(&picture_done, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		bands[i] = i;
		pthread_create(&threads[i], NULL, draw, &bands[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d pictures, %lu iterations\n", PICTURES, total);
	return 0;
}
