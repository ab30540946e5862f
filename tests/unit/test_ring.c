#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "sample/ring.h"

enum { SIZE = 1024, REGISTERS_HERE = 3 };

/* A ring that is filled by the test instead of the kernel. */
struct bench {
	_Alignas(8) uint8_t data[SIZE];
	_Alignas(8) uint8_t record[SIZE];
	size_t length; /* of `record`, which is being put together */
	struct ring ring;
	struct record found;
};

static void start(struct bench *b, uint64_t position)
{
	memset(b, 0, sizeof(*b));
	b->ring = (struct ring){.data = b->data,
				.size = SIZE,
				.tail = position,
				.head = position,
				.copy = malloc(RECORD_MAX),
				.registers = REGISTERS_HERE};
}

static void finish(struct bench *b)
{
	free(b->ring.copy);
}

static void add(struct bench *b, const void *p, size_t n)
{
	memcpy(b->record + b->length, p, n);
	b->length += n;
}

static void add_u64(struct bench *b, uint64_t v)
{
	add(b, &v, sizeof(v));
}

static void add_u32(struct bench *b, uint32_t v)
{
	add(b, &v, sizeof(v));
}

static void add_text(struct bench *b, const char *text)
{
	add(b, text, strlen(text) + 1);
	while (b->length % 8)
		add(b, "", 1);
}

static void begin(struct bench *b)
{
	b->length = sizeof(struct perf_event_header);
}

static void put_bytes(struct bench *b, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->data[b->ring.head++ % SIZE] = ((const uint8_t *)p)[i];
}

/* Writes the record as it is, whatever size its header tells. */
static void put_sized(struct bench *b, uint32_t type, uint16_t misc, uint16_t size)
{
	struct perf_event_header h = {.type = type, .misc = misc, .size = size};
	memcpy(b->record, &h, sizeof(h));
	put_bytes(b, b->record, b->length);
}

static void put(struct bench *b, uint32_t type, uint16_t misc)
{
	put_sized(b, type, misc, (uint16_t)b->length);
}

/* pid 7, thread 8, at time 1000, by event 42 */
static void put_with_trailer(struct bench *b, uint32_t type, uint16_t misc)
{
	add_u32(b, 7);
	add_u32(b, 8);
	add_u64(b, 1000);
	add_u64(b, 42);
	put(b, type, misc);
}

static void begin_sample(struct bench *b, uint64_t time)
{
	begin(b);
	add_u64(b, 42);
	add_u64(b, 0x1234);
	add_u32(b, 7);
	add_u32(b, 8);
	add_u64(b, time);
	add_u64(b, 2004008);
}

/* Of the kernel and the user, as far as they were asked for. */
static void add_chain(struct bench *b)
{
	const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL,
				  0xffff0001,
				  (uint64_t)PERF_CONTEXT_USER,
				  0x1234,
				  0x2345,
				  0x3456};
	add_u64(b, ARRAY_SIZE(chain));
	add(b, chain, sizeof(chain));
}

/* Room for `room` bytes of stack, `filled` of them used. */
static void put_sample(struct bench *b, uint64_t time, size_t room, size_t filled)
{
	begin_sample(b, time);
	add_chain(b);
	add_u64(b, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < REGISTERS_HERE; i++)
		add_u64(b, 100 + i);
	add_u64(b, room);
	for (size_t i = 0; i < room; i++)
		add(b, &(uint8_t){(uint8_t)i}, 1);
	add_u64(b, filled);
	put(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}

static bool next(struct bench *b)
{
	return ring_next(&b->ring, &b->found);
}

static void expect_sample(struct bench *b, uint64_t time, size_t filled)
{
	assert_true(next(b));
	assert_int_equal(b->found.type, PERF_RECORD_SAMPLE);
	assert_int_equal(b->found.time, time);
	assert_int_equal(b->found.id, 42);
	assert_int_equal(b->found.ip, 0x1234);
	assert_int_equal(b->found.pid, 7);
	assert_int_equal(b->found.tid, 8);
	assert_int_equal(b->found.by, 8);
	assert_int_equal(b->found.period, 2004008);
	assert_int_equal(b->found.return_count, 2);
	assert_int_equal(b->found.returns[0], 0x2345);
	assert_int_equal(b->found.returns[1], 0x3456);
	assert_int_equal(b->found.registers[2], 102);
	assert_int_equal(b->found.stack_size, filled);
	for (size_t i = 0; i < filled; i++)
		assert_int_equal(b->found.stack[i], i);
}

static void samples_are_read_in_order(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	assert_false(next(&b));
	put_sample(&b, 1, 64, 40);
	put_sample(&b, 2, 64, 64);
	expect_sample(&b, 1, 40);
	assert_ptr_equal(b.found.stack, b.data + 8 + 40 + 56 + 8 + 24 + 8);
	expect_sample(&b, 1, 40); /* until it is done with */
	ring_done(&b.ring);
	expect_sample(&b, 2, 64);
	ring_done(&b.ring);
	assert_false(next(&b));
	assert_int_equal(b.ring.tail, b.ring.head);
	assert_false(b.ring.broken);
	finish(&b);
}

/* At every place where the end of the ring can cut a record in two. */
static void records_run_over_the_end(void **state)
{
	struct bench b;
	(void)state;
	for (uint64_t position = 0; position < 3 * SIZE; position += 8) {
		start(&b, UINT64_MAX - SIZE - 7 + position); /* positions may overflow too */
		put_sample(&b, 5, 200, 199);
		put_sample(&b, 6, 200, 0);
		expect_sample(&b, 5, 199);
		ring_done(&b.ring);
		expect_sample(&b, 6, 0);
		ring_done(&b.ring);
		assert_false(next(&b) || b.ring.broken);
		finish(&b);
	}
}

static void a_sample_may_lack_user_state(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin_sample(&b, 3);
	add_u64(&b, 0);
	add_u64(&b, PERF_SAMPLE_REGS_ABI_NONE);
	add_u64(&b, 0);
	put(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	assert_true(next(&b));
	assert_null(b.found.returns);
	assert_null(b.found.registers);
	assert_null(b.found.stack);
	assert_int_equal(b.found.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL);
	finish(&b);
}

static void thirty_two_bit_registers_are_not_ours(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin_sample(&b, 3);
	add_u64(&b, 1);
	add_u64(&b, (uint64_t)PERF_CONTEXT_USER);
	add_u64(&b, PERF_SAMPLE_REGS_ABI_32);
	for (uint64_t i = 0; i < REGISTERS_HERE; i++)
		add_u64(&b, i);
	add_u64(&b, 0);
	put(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	assert_true(next(&b));
	assert_null(b.found.registers);
	finish(&b);
}

static void begin_map(struct bench *b, uint64_t at, uint64_t length)
{
	begin(b);
	add_u32(b, 11);
	add_u32(b, 12);
	add_u64(b, at);
	add_u64(b, length);
	add_u64(b, 0x2000);
	add_u32(b, 254);
	add_u32(b, 1);
	add_u64(b, 99);
	add_u64(b, 0);
	add_u32(b, 5);
	add_u32(b, 2);
}

static void mappings_are_read(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin_map(&b, 0x400000, 0x1000);
	add_text(&b, "/usr/lib/libc.so.6");
	put_with_trailer(&b, PERF_RECORD_MMAP2, 0);
	assert_true(next(&b));
	assert_int_equal(b.found.pid, 11);
	assert_int_equal(b.found.tid, 12);
	assert_int_equal(b.found.by, 8);
	assert_int_equal(b.found.start, 0x400000);
	assert_int_equal(b.found.length, 0x1000);
	assert_int_equal(b.found.offset, 0x2000);
	assert_int_equal(b.found.device_major, 254);
	assert_int_equal(b.found.device_minor, 1);
	assert_int_equal(b.found.inode, 99);
	assert_string_equal(b.found.text, "/usr/lib/libc.so.6");
	assert_int_equal(b.found.time, 1000);
	assert_int_equal(b.found.id, 42);
	finish(&b);
}

static void names_and_tasks_are_read(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 512);
	begin(&b);
	add_u32(&b, 11);
	add_u32(&b, 12);
	add_text(&b, "worker");
	put_with_trailer(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	begin(&b);
	add_u32(&b, 20);
	add_u32(&b, 11);
	add_u32(&b, 21);
	add_u32(&b, 12);
	add_u64(&b, 1000);
	put_with_trailer(&b, PERF_RECORD_FORK, 0);
	assert_true(next(&b));
	assert_string_equal(b.found.text, "worker");
	assert_true(b.found.misc & PERF_RECORD_MISC_COMM_EXEC);
	assert_int_equal(b.found.tid, 12);
	ring_done(&b.ring);
	assert_true(next(&b));
	assert_int_equal(b.found.type, PERF_RECORD_FORK);
	assert_int_equal(b.found.pid, 20);
	assert_int_equal(b.found.parent_pid, 11);
	assert_int_equal(b.found.tid, 21);
	assert_int_equal(b.found.parent_tid, 12);
	assert_int_equal(b.found.by, 8);
	finish(&b);
}

static void losses_are_read(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin(&b);
	add_u64(&b, 42);
	add_u64(&b, 17);
	put_with_trailer(&b, PERF_RECORD_LOST, 0);
	begin(&b);
	add_u64(&b, 18);
	put_with_trailer(&b, PERF_RECORD_LOST_SAMPLES, 0);
	begin(&b);
	put_with_trailer(&b, PERF_RECORD_THROTTLE, 0);
	assert_true(next(&b));
	assert_int_equal(b.found.lost, 17);
	ring_done(&b.ring);
	assert_true(next(&b));
	assert_int_equal(b.found.lost, 18);
	ring_done(&b.ring);
	assert_true(next(&b));
	assert_int_equal(b.found.type, PERF_RECORD_THROTTLE);
	assert_int_equal(b.found.time, 1000);
	finish(&b);
}

/* Each of these must be passed over, and the sample behind it found. */
static void expect_passed_over(struct bench *b)
{
	put_sample(b, 9, 8, 8);
	expect_sample(b, 9, 8);
	assert_false(b->ring.broken);
	finish(b);
}

static void unknown_types_are_passed_over(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin(&b);
	add_u64(&b, 1);
	put_with_trailer(&b, 4711, 0);
	begin(&b);
	put(&b, PERF_RECORD_COMM, 0); /* too short for its trailer */
	expect_passed_over(&b);
}

static void texts_without_an_end_are_passed_over(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin_map(&b, 0x1000, 0x1000);
	add(&b, "/no/end.", 8);
	put_with_trailer(&b, PERF_RECORD_MMAP2, 0);
	expect_passed_over(&b);
}

static void mappings_beyond_the_address_space_are_passed_over(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin_map(&b, UINT64_MAX - 10, 0x1000);
	add_text(&b, "/x");
	put_with_trailer(&b, PERF_RECORD_MMAP2, 0);
	expect_passed_over(&b);
}

static void stacks_larger_than_their_record_are_passed_over(void **state)
{
	const uint64_t sizes[] = {9, 64, UINT64_MAX, UINT64_MAX - 7, 1 << 20};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bench b;
		start(&b, 0);
		begin_sample(&b, 1);
		add_u64(&b, PERF_SAMPLE_REGS_ABI_NONE);
		add_u64(&b, sizes[i]);
		add_u64(&b, 0);
		put(&b, PERF_RECORD_SAMPLE, 0);
		expect_passed_over(&b);
	}
}

static void more_stack_than_room_is_passed_over(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	put_sample(&b, 1, 16, 17);
	expect_passed_over(&b);
}

static void missing_registers_are_passed_over(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	begin_sample(&b, 1);
	add_u64(&b, PERF_SAMPLE_REGS_ABI_64);
	add_u64(&b, 1);
	put(&b, PERF_RECORD_SAMPLE, 0);
	expect_passed_over(&b);
}

static void impossible_sizes_end_the_reading(void **state)
{
	const uint16_t sizes[] = {0, 7, 12, 1000, 65528, 65535};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bench b;
		start(&b, 64);
		begin(&b);
		add_u64(&b, 1);
		put_sized(&b, PERF_RECORD_SWITCH, 0, sizes[i]);
		assert_false(next(&b));
		assert_true(b.ring.broken);
		assert_int_equal(b.ring.tail, b.ring.head);
		put_sample(&b, 9, 8, 8);
		expect_sample(&b, 9, 8);
		finish(&b);
	}
}

static void a_ring_cannot_hold_more_than_its_size(void **state)
{
	struct bench b;
	(void)state;
	start(&b, 0);
	b.ring.head = SIZE + 8;
	assert_false(next(&b));
	assert_true(b.ring.broken);
	finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_read_in_order),
		cmocka_unit_test(records_run_over_the_end),
		cmocka_unit_test(a_sample_may_lack_user_state),
		cmocka_unit_test(thirty_two_bit_registers_are_not_ours),
		cmocka_unit_test(mappings_are_read),
		cmocka_unit_test(names_and_tasks_are_read),
		cmocka_unit_test(losses_are_read),
		cmocka_unit_test(unknown_types_are_passed_over),
		cmocka_unit_test(texts_without_an_end_are_passed_over),
		cmocka_unit_test(mappings_beyond_the_address_space_are_passed_over),
		cmocka_unit_test(stacks_larger_than_their_record_are_passed_over),
		cmocka_unit_test(more_stack_than_room_is_passed_over),
		cmocka_unit_test(missing_registers_are_passed_over),
		cmocka_unit_test(impossible_sizes_end_the_reading),
		cmocka_unit_test(a_ring_cannot_hold_more_than_its_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
