#include "sample/perf_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/log.h"

/* A sample takes up to 64 KiB (--max-stack), so that a ring of the smallest size holds two. */
enum {
	RING_LARGEST = 8 << 20,
	RING_SMALLEST = 128 << 10,
	ALL_LARGEST = 128 << 20,
	/* The sooner a sample is processed, the less of its thread's stack has changed, if more is
	 * needed than was copied. But a wakeup for each sample has an overhead of 1 % at 999 Hz. */
	WAKE_AT = 1 << 20,
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
		.use_clockid = 1, /* as for all events that write here */
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = WAKE_AT < bytes / 4 ? WAKE_AT : (uint32_t)(bytes / 4),
	};
	return perf_open(&a, 0, cpu);
}

static bool map_ring(struct cpu_ring *c, size_t bytes, unsigned registers)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = fault("perf-map", EPERM)
			  ? MAP_FAILED
			  : mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (p == MAP_FAILED)
		return false;
	c->page = p;
	c->whole = (struct ring){.data = (const uint8_t *)p + page,
				 .size = bytes,
				 .copy = xmalloc(RECORD_MAX),
				 .registers = registers};
	/* A copy is smaller than the ring, and no record in it runs over the end: so none has to be
	 * pieced together. */
	c->ring = (struct ring){.size = bytes, .registers = registers};
	return true;
}

static void release_copies(struct cpu_ring *c)
{
	copies_append(&c->unread, c->copied);
	for (struct ring_copy *r; (r = copies_take(&c->unread));)
		free(r);
	free(c->reading);
}

void perf_rings_close(struct perf_rings *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	perf_reader_stop(p);
	for (unsigned i = 0; i < p->count; i++) {
		struct cpu_ring *c = &p->rings[i];
		if (c->page)
			munmap(c->page, page + p->bytes);
		free(c->whole.copy);
		release_copies(c);
		close(c->fd);
	}
	free(p->rings);
	free(p->presence);
	*p = (struct perf_rings){0};
}

/* Opens all rings with one size. If one of them fails, none is open, and errno says why. */
static bool open_all(struct perf_rings *p, size_t bytes)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned registers = (unsigned)__builtin_popcountll(arch_native()->layout->perf_mask);
	*p = (struct perf_rings){.rings = xcalloc((size_t)cpus, sizeof(*p->rings)),
				 .bytes = bytes,
				 .presence = xcalloc(1, sizeof(*p->presence)),
				 .lock = PTHREAD_MUTEX_INITIALIZER};
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = open_holder(cpu, bytes);
		if (fd < 0 && errno == ENODEV) /* this CPU is offline */
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
			perf_reader_start(p);
			return 0;
		}
	return err_set(e, ERR_UNSUPPORTED,
		       "there is no memory for perf rings of %d KiB on each CPU (%s); end other "
		       "profilers, or raise kernel.perf_event_mlock_kb or ulimit -l",
		       RING_SMALLEST >> 10, strerror(errno));
}

/* Moves all that has been written up to now to `unread`, and nothing that is written later. */
static void take_written(struct perf_rings *p)
{
	eventfd_t ignored;
	if (p->has_reader)
		eventfd_read(p->news, &ignored);
	pthread_mutex_lock(&p->lock);
	perf_rings_copy(p);
	for (unsigned i = 0; i < p->count; i++) {
		copies_append(&p->rings[i].unread, p->rings[i].copied);
		p->rings[i].copied = (struct ring_copies){0};
	}
	pthread_mutex_unlock(&p->lock);
}

static bool open_next_copy(struct perf_rings *p, struct cpu_ring *c)
{
	if (c->reading)
		__atomic_sub_fetch(&p->held, c->reading->size, __ATOMIC_RELAXED);
	free(c->reading);
	c->reading = copies_take(&c->unread);
	c->ring.tail = c->ring.head = 0;
	if (!c->reading)
		return false;
	c->ring.data = (const uint8_t *)c->reading->bytes;
	c->ring.head = c->reading->size;
	return true;
}

/* Finds the next record. Pointers into the record before it become invalid. */
static void find_record(struct perf_rings *p, struct cpu_ring *c)
{
	do
		c->filled = ring_next(&c->ring, &c->record);
	while (!c->filled && open_next_copy(p, c));
}

static void step(struct perf_rings *p, struct cpu_ring *c)
{
	ring_done(&c->ring);
	find_record(p, c);
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
	take_written(p);
	for (unsigned i = 0; i < p->count; i++)
		find_record(p, &p->rings[i]);
	for (struct cpu_ring *c; (c = earliest(p)) && c->record.time <= until; step(p, c))
		deliver(ctx, &c->record);
}
