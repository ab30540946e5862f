/* Clocks and perf events that need the kernel. Each thread opens its own when it first needs
 * them. */
#include "runtime/clock.h"

#include "runtime/permit.h"

/* Most of these are constants of the kernel's interface, under other names. */
enum {
	CLOCK_THREAD_CPU = 3,
	PROTECTION_READ = 1,
	MAPPING_SHARED = 1,
	MAPPING_FIXED = 16,
	PAGE = 4096,
	ERRNO_MAX = 4095, /* results from -4095 to -1 are errors */
	DUPLICATE_CLOEXEC = 1030,
	/* Programs get the lowest free descriptors and may rely on their numbers. So ours are from
	 * FIRST_DESCRIPTOR on, or if that fails, from LOW_DESCRIPTOR on. */
	FIRST_DESCRIPTOR = 500,
	LOW_DESCRIPTOR = 3,
	NO_LOCK = 1, /* never equals the page's lock, which is even */
};

static bool is_error(long result)
{
	return (unsigned long)result >= (unsigned long)-ERRNO_MAX;
}

static uint64_t ask_kernel(void)
{
	int64_t time[2] = {0, 0};
	system_call(__NR_clock_gettime, CLOCK_THREAD_CPU, (long)time, 0, 0, 0);
	return (uint64_t)(time[0] * 1000000000 + time[1]);
}

/* Only the first version of struct perf_event_attr, which is enough: the stack is the program's,
 * and may be short of room. */
struct event_attr {
	uint32_t type, size;
	uint64_t config, sample_period, sample_type, read_format, flags, wakeup, address;
};
_Static_assert(sizeof(struct event_attr) == PERF_ATTR_SIZE_VER0, "the kernel's first version");

/* Kernel mode is excluded, because counting it is not permitted everywhere. (CPU time includes it
 * anyway.) */
enum { EXCLUDE_KERNEL = 1 << 5, EXCLUDE_HYPERVISOR = 1 << 6 };

static long open_event(uint32_t type, uint64_t config)
{
	struct event_attr attr = {.type = type,
				  .size = sizeof(attr),
				  .config = config,
				  .flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR};
	return system_call(__NR_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void close_event(long fd)
{
	system_call(__NR_close, fd, 0, 0, 0, 0);
}

/* The mapping keeps the event alive, so the descriptor is closed at once, and the program does not
 * notice it. */
static uint64_t open_clock(struct rt_area *a)
{
	long flags = MAPPING_SHARED | (a->left_page ? MAPPING_FIXED : 0);
	long fd = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	if (is_error(fd))
		return RT_CLOCK_UNAVAILABLE;
	long page = system_call(__NR_mmap, (long)a->left_page, PAGE, PROTECTION_READ, flags, fd);
	close_event(fd);
	if (is_error(page))
		return RT_CLOCK_UNAVAILABLE;
	a->left_page = 0;
	if (((const struct perf_event_mmap_page *)page)->cap_user_time)
		return (uint64_t)page;
	system_call(__NR_munmap, page, PAGE, 0, 0, 0);
	return RT_CLOCK_UNAVAILABLE;
}

/* Reads the page of the task-clock event. The kernel writes there how long the thread had run when
 * it was last switched in, and how to convert the ticks since then: see linux/perf_event.h.
 * open_clock() has rejected pages that lack these values. */
COLD uint64_t read_page_anew(struct rt_area *a)
{
	const volatile struct perf_event_mmap_page *p = (const void *)a->clock_page;
	uint32_t lock;
	uint64_t enabled, now, offset, mult, cyclic;
	unsigned shift;
	do {
		lock = p->lock;
		keep_order();
		enabled = p->time_enabled;
		now = cyclic = ticks();
		offset = p->time_offset;
		mult = p->time_mult;
		shift = p->time_shift & 63;
		if (p->cap_user_time_short) {
			uint64_t cycles = p->time_cycles;
			cyclic = cycles + ((now - cycles) & p->time_mask);
		}
		keep_order();
	} while (unlikely(p->lock != lock));
	uint64_t rest = cyclic & ((UINT64_C(1) << shift) - 1);
	a->clock_ns = enabled + offset + (cyclic >> shift) * mult + (rest * mult >> shift) +
		      (uint64_t)a->clock_offset;
	a->clock_ticks = now;
	a->clock_mult = mult;
	a->clock_shift = shift;
	a->clock_lock = lock;
	return a->clock_ns;
}

/* Asks the kernel. Without permission the clock stops. */
static uint64_t ask_if_permitted(struct rt_area *a)
{
	if (!permit(RT_MAY_ASK_CLOCK))
		return a->clock_ns;
	a->clock_ns = ask_kernel();
	permit_end();
	return a->clock_ns;
}

/* The page's time starts with the event; clock_offset makes it the thread's whole CPU time, which
 * only the kernel knows. */
static void open_page(struct rt_area *a)
{
	bool wanted = region_header()->clock_kind && region_guard();
	if (wanted && !permit(RT_MAY_OPEN_CLOCK))
		return; /* tried again at the next reading */
	uint64_t page = wanted ? open_clock(a) : RT_CLOCK_UNAVAILABLE;
	if (wanted)
		permit_end();
	uint64_t time = ask_if_permitted(a);
	a->clock_page = page;
	a->clock_offset = 0;
	if (page > RT_CLOCK_UNAVAILABLE) {
		a->clock_offset = (int64_t)(time - read_page_anew(a));
		a->clock_lock = NO_LOCK;
		a->clock_ns = time;
	}
}

COLD uint64_t read_cpu_slowly(struct rt_area *a)
{
	if (a->clock_page)
		return ask_if_permitted(a);
	open_page(a);
	return a->clock_page > RT_CLOCK_UNAVAILABLE ? a->clock_ns : ask_if_permitted(a);
}

static long move_up(long fd)
{
	long up = system_call(__NR_fcntl, fd, DUPLICATE_CLOEXEC, FIRST_DESCRIPTOR, 0, 0);
	if (is_error(up))
		up = system_call(__NR_fcntl, fd, DUPLICATE_CLOEXEC, LOW_DESCRIPTOR, 0, 0);
	close_event(fd);
	return up;
}

static uint64_t event_identity(long fd)
{
	uint64_t id = 0;
	long result = system_call(__NR_ioctl, fd, (long)PERF_EVENT_IOC_ID, (long)&id, 0, 0);
	return is_error(result) ? 0 : id;
}

static void open_counter(struct rt_area *a, unsigned i)
{
	const struct rt_header *h = region_header();
	if (a->left_fd[i] > 0 && event_identity(a->left_fd[i]) == a->left_id[i])
		close_event(a->left_fd[i]);
	a->left_fd[i] = 0;
	long fd = open_event(h->events[i].type, h->events[i].config);
	if (!is_error(fd))
		fd = move_up(fd);
	a->event_id[i] = is_error(fd) ? 0 : event_identity(fd);
	a->event_fd[i] = a->event_id[i] ? fd : -1;
}

/* A program may close descriptors that it does not know, and get the same number for a file of its
 * own. Reading from that file would take data away from it. So the event's id is checked before
 * each read. */
static uint64_t read_permitted(struct rt_area *a, unsigned i)
{
	uint64_t value = 0;
	if (!a->event_fd[i])
		open_counter(a, i);
	if (a->event_fd[i] < 0)
		return 0;
	if (event_identity(a->event_fd[i]) != a->event_id[i]) {
		a->event_fd[i] = -1;
		return 0;
	}
	system_call(__NR_read, a->event_fd[i], (long)&value, sizeof(value), 0, 0);
	return value;
}

COLD uint64_t read_event(struct rt_area *a, unsigned i)
{
	if (!permit(RT_MAY_EVENTS))
		return 0;
	uint64_t value = read_permitted(a, i);
	permit_end();
	return value;
}
