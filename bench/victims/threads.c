/* Three threads at one time, each with its own mix of the same two loops. */
#include "truth.h"

enum { THREADS = 3 };

SEPARATE static u64 first(u64 x, u64 n)
{
	SPIN(x, n);
	return x + n;
}
SEPARATE static u64 second(u64 x, u64 n)
{
	SPIN(x, n);
	return x * n;
}

struct worker {
	pthread_t thread;
	long tid;
	u64 part; /* per cent of the first loop */
	double limit, took[2];
	u64 x;
};

static void *work(void *p)
{
	const u64 unit = 10000;
	struct worker *w = p;
	w->tid = thread_number();
	while (w->took[0] + w->took[1] < w->limit) {
		double a = thread_seconds();
		w->x = first(w->x, w->part * unit);
		double b = thread_seconds();
		w->x = second(w->x, (100 - w->part) * unit);
		double c = thread_seconds();
		w->took[0] += b - a;
		w->took[1] += c - b;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double limit = argc > 1 ? atof(argv[1]) : 1, all[2] = {0};
	struct worker w[THREADS];
	for (u64 i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.part = 10 + 30 * i,
				       .limit = limit / THREADS * (double)(i + 1) / 2};
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		tell("first", w[i].tid, "any", w[i].took[0]);
		tell("second", w[i].tid, "any", w[i].took[1]);
		all[0] += w[i].took[0];
		all[1] += w[i].took[1];
	}
	tell("first", 0, "any", all[0]);
	tell("second", 0, "any", all[1]);
	return 0;
}
