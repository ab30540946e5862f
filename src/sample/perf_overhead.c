/* What a sample takes from the thread that it interrupts: the interrupt, and copying its registers
 * and stack. On a virtual machine, that is several times as much as on the bare one, because the
 * timer is programmed by its host. So it is measured, on ourselves: a thread that reads the clock
 * all the time sees each interrupt as a gap. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "sample/perf_open.h"
#include "sample/ring.h"

enum {
	PERIOD_NS = 50000, /* between samples */
	RING_PAGES = 8,    /* room for all of them */
	GAP_NS = 1500,     /* longer than reading the clock takes */
	LONGEST_NS = 4000000,
};

static const double estimate = 4e-6; /* s, where it cannot be measured */

static int open_clock(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = RING_SAMPLE_TYPE,
		.sample_regs_user = arch_native()->layout->perf_mask,
		.sample_stack_user = LEAN_STACK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1,
	};
	return perf_open(&a, 0, -1);
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* The median of the gaps: a longer one may be that of another interrupt, or of another program that
 * had the CPU. */
static double typical_gap(void)
{
	uint64_t gaps[16], begin = now_ns(), before = begin, now;
	size_t count = 0;
	for (now = before; count < ARRAY_SIZE(gaps) && now - begin < LONGEST_NS; before = now) {
		now = now_ns();
		if (now - before > GAP_NS)
			gaps[count++] = now - before;
	}
	if (count < ARRAY_SIZE(gaps) / 2)
		return estimate;
	qsort(gaps, count, sizeof(*gaps), by_length);
	const size_t middle = count / 2;
	return 1e-9 * (double)gaps[middle];
}

double sample_overhead(void)
{
	size_t size = (1 + RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	double overhead = estimate;
	int fd = open_clock();
	if (fd < 0)
		return overhead;
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring != MAP_FAILED) {
		overhead = typical_gap();
		munmap(ring, size);
	}
	close(fd);
	return overhead;
}
