/* What the runtime measures: CPU and wall time, events, waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime_bench.h"

static uint64_t thread_cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t read_start(struct bench *b, struct rt_probe *enter, unsigned metric)
{
	hit(b, enter);
	return top_of(b, 0)->start[metric];
}

/* A reading lies between two of the kernel's, but for what the kernel accounts late. */
static void check_cpu_clock(struct bench *b, struct rt_probe *enter)
{
	enum { TOLERANCE = 20000000 };
	uint64_t last = 0;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t before = thread_cpu();
		uint64_t now = read_start(b, enter, RT_CPU);
		assert_true(now >= last);
		assert_true(now + TOLERANCE > before && now < thread_cpu() + TOLERANCE);
		last = now;
		if (i % 100 == 0)
			usleep(1000);
	}
}

static void cpu_time_is_the_threads(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter = add_function(b, 0, 1 << RT_CPU, F).enter;
	begin_program(b);
	check_cpu_clock(b, enter);
	assert_true(b->area->clock_page);
}

static void cpu_time_without_perf(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter = add_function(b, 0, 1 << RT_CPU, F).enter;
	header(b)->clock_kind = 0;
	begin_program(b);
	check_cpu_clock(b, enter);
	assert_int_equal(b->area->clock_page, 1);
}

static void wall_time_grows(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter = add_function(b, 0, 1 << RT_WALL, F).enter;
	begin_program(b);
	uint64_t first = read_start(b, enter, RT_WALL);
	usleep(1000);
	assert_true(read_start(b, enter, RT_WALL) > first);
}

/* A fault for each of them; next to another mapping they could be part of one huge page. */
static void touch_pages(void)
{
	volatile uint8_t *p =
		mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)(uintptr_t)p, 1 << 16, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < 1 << 16; i += 4096)
		p[i] = 1;
	munmap((void *)(uintptr_t)p, 1 << 16);
}

static void reads_events(void **state)
{
	struct bench *b = *state;
	struct probed f = add_function(b, 0, 1 << (RT_EVENT + 1), F);
	header(b)->events[1].type = PERF_TYPE_SOFTWARE;
	header(b)->events[1].config = PERF_COUNT_SW_PAGE_FAULTS;
	begin_program(b);
	hit(b, f.enter);
	if (b->area->event_fd[1] < 0)
		skip();
	touch_pages();
	hit(b, f.leave);
	assert_in_range(newest(b)->total[RT_EVENT + 1], 16, 100);
	/* The program closes it and has a file of its own under that number. */
	int fd = (int)b->area->event_fd[1], ends[2];
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], "12345678", 8), 8);
	dup2(ends[0], fd);
	hit(b, f.enter);
	char text[8];
	assert_int_equal(read(fd, text, sizeof(text)), 8);
	assert_int_equal(b->area->event_fd[1], -1);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void system_call_at(struct bench *b, struct rt_probe *before, struct rt_probe *after,
			   uint64_t number, uint64_t operation, int64_t result)
{
	b->in.reg[NUMBER] = number;
	b->in.reg[OPERATION] = operation;
	hit(b, before);
	b->in.reg[RESULT] = (uint64_t)result;
	hit(b, after);
}

static void counts_waiting(void **state)
{
	struct bench *b = *state;
	struct rt_probe *block = add_probe(b, RT_BLOCK, 0, F, ENTRY_STEP);
	struct rt_probe *done = add_probe(b, RT_BLOCK_DONE, 0, F + 4, ENTRY_STEP);
	struct rt_area *a = b->area;
	begin_program(b);
	header(b)->calls[SYS_futex] = RT_WAIT_SYNC | RT_CALL_FUTEX;
	header(b)->calls[SYS_ppoll] = RT_WAIT_IO;
	header(b)->calls[SYS_read] = RT_WAIT_BYTES;
	system_call_at(b, block, done, SYS_getpid, 0, 100);
	system_call_at(b, block, done, 1 << 30, 0, 100);
	system_call_at(b, block, done, SYS_futex, 1 /* wake */, 100);
	assert_int_equal(a->waited_sync + a->waited_io + a->bytes + a->wait_since, 0);
	system_call_at(b, block, done, SYS_futex, 9 | 128, 0);
	assert_true(a->waited_sync && !a->waited_io);
	system_call_at(b, block, done, SYS_ppoll, 0, 1);
	assert_true(a->waited_io && !a->bytes && !a->wait_since);
	system_call_at(b, block, done, SYS_read, 0, 100);
	system_call_at(b, block, done, SYS_read, 0, -4);
	assert_int_equal(a->bytes, 100);
}

static void the_outermost_wait_counts(void **state)
{
	struct bench *b = *state;
	struct rt_probe *wait = add_probe(b, RT_WAIT, 0, F, ENTRY_STEP);
	struct rt_probe *wait_done = add_probe(b, RT_WAIT_DONE, 0, F, ENTRY_STEP);
	struct rt_probe *block = add_probe(b, RT_BLOCK, 0, G, ENTRY_STEP);
	struct rt_probe *done = add_probe(b, RT_BLOCK_DONE, 0, G + 4, ENTRY_STEP);
	struct rt_area *a = b->area;
	begin_program(b);
	header(b)->calls[SYS_read] = RT_WAIT_BYTES;
	hit(b, wait);
	call(b, 3, F + 4);
	system_call_at(b, block, done, SYS_read, 0, 7);
	come_back(b, 3);
	assert_true(!a->waited_io && a->bytes == 7 && a->wait_since);
	hit(b, wait_done);
	assert_true(a->waited_sync && !a->wait_since);
	/* A wait that was left further in does not hide this one. */
	call(b, 3, F + 4);
	b->in.reg[NUMBER] = SYS_read;
	hit(b, block);
	come_back(b, 3);
	system_call_at(b, block, done, SYS_read, 0, 1);
	assert_true(a->waited_io && a->bytes == 8 && !a->wait_since);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cpu_time_is_the_threads), TEST(cpu_time_without_perf),
		TEST(wall_time_grows),         TEST(reads_events),
		TEST(counts_waiting),          TEST(the_outermost_wait_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
