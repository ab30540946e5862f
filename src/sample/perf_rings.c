#include "sample/perf_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

/* A sample takes what --max-stack says: a ring of the smallest size holds two of the largest. */
enum {
	RING_LARGEST = 4 << 20,
	RING_SMALLEST = 128 << 10,
	ALL_LARGEST = 128 << 20,
};

/* The event belongs to the calling thread, which is expected to live as long as the sampler. */
static int open_holder(int cpu, size_t bytes)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1, /* as of the events that are led here */
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(bytes / 4),
	};
	return perf_open(&a, 0, cpu);
}

static bool map_ring(struct cpu_ring *c, size_t bytes, unsigned registers)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (p == MAP_FAILED)
		return false;
	c->page = p;
	c->ring = (struct ring){.data = (const uint8_t *)p + page,
				.size = bytes,
				.copy = xmalloc(RECORD_MAX),
				.registers = registers};
	return true;
}

void perf_rings_close(struct perf_rings *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (unsigned i = 0; i < p->count; i++) {
		struct cpu_ring *c = &p->rings[i];
		if (c->page)
			munmap(c->page, page + p->bytes);
		free(c->ring.copy);
		close(c->fd);
	}
	free(p->rings);
	*p = (struct perf_rings){0};
}

/* All rings of one size, or none with errno. */
static bool open_all(struct perf_rings *p, size_t bytes)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned registers = (unsigned)__builtin_popcountll(arch_native()->layout->perf_mask);
	*p = (struct perf_rings){.rings = xcalloc((size_t)cpus, sizeof(*p->rings)), .bytes = bytes};
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = open_holder(cpu, bytes);
		if (fd < 0 && errno == ENODEV) /* switched off */
			continue;
		struct cpu_ring *c = &p->rings[p->count];
		*c = (struct cpu_ring){.cpu = cpu, .fd = fd};
		p->count += fd >= 0;
		if (fd < 0 || !map_ring(c, bytes, registers)) {
			int saved = errno;
			perf_rings_close(p);
			errno = saved;
			return false;
		}
	}
	return true;
}

static size_t largest_size(void)
{
	size_t bytes = RING_LARGEST;
	while (bytes > RING_SMALLEST && bytes * (size_t)sysconf(_SC_NPROCESSORS_CONF) > ALL_LARGEST)
		bytes /= 2;
	return bytes;
}

int perf_rings_open(struct perf_rings *p, struct err *e)
{
	int fd = open_holder(-1, RING_SMALLEST);
	if (fd < 0)
		return perf_explain(NULL, e);
	close(fd);
	for (size_t bytes = largest_size(); bytes >= RING_SMALLEST; bytes /= 2)
		if (open_all(p, bytes)) {
			debug(LOG_SAMPLE, 1, "%u rings of %zu KiB", p->count, bytes >> 10);
			return 0;
		}
	return err_set(
		e, ERR_UNSUPPORTED,
		"there is no memory for perf rings of %d KiB on each processor (%s); end other "
		"profilers, or raise kernel.perf_event_mlock_kb or ulimit -l",
		RING_SMALLEST >> 10, strerror(errno));
}

/* Finds the next record, and gives what was passed over back to the kernel: what pointed into the
 * record before is no more. */
static void advance(struct cpu_ring *c)
{
	c->filled = ring_next(&c->ring, &c->record);
	__atomic_store_n(&c->page->data_tail, c->ring.tail, __ATOMIC_RELEASE);
}

static void look_into(struct cpu_ring *c)
{
	c->ring.head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
	advance(c);
}

static void step(struct cpu_ring *c)
{
	ring_done(&c->ring);
	advance(c);
}

static struct cpu_ring *earliest(struct perf_rings *p)
{
	struct cpu_ring *best = NULL;
	for (unsigned i = 0; i < p->count; i++) {
		struct cpu_ring *c = &p->rings[i];
		if (c->filled && (!best || c->record.time < best->record.time))
			best = c;
	}
	return best;
}

void perf_rings_drain(struct perf_rings *p, uint64_t until, record_fn deliver, void *ctx)
{
	for (unsigned i = 0; i < p->count; i++)
		look_into(&p->rings[i]);
	for (struct cpu_ring *c; (c = earliest(p)) && c->record.time <= until; step(c))
		deliver(ctx, &c->record);
}
