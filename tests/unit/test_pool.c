/* Pieces of code memory, and places for it in layouts as Linux makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "patch/pool.h"

enum { MB = 1 << 20 };

static const uint64_t reach_a64 = (UINT64_C(1) << 27) - 4, reach_x64 = (UINT64_C(1) << 31) - 32;

/* There is one region, and nothing of it is taken. */
static void assert_free(const struct pool *p, uint64_t start, uint64_t end)
{
	assert_int_equal(p->regions.len, 1);
	const struct pool_region *r = &p->regions.data[0];
	assert_true(r->start == start && r->end == end);
	assert_int_equal(r->free.len, 1);
	assert_true(r->free.data[0].start == start && r->free.data[0].end == end);
}

static void test_takes_and_gives(void **state)
{
	struct pool p = {0};
	uint64_t a, b, c, start;
	(void)state;
	assert_false(pool_take(&p, 0x1000, 0x2000, reach_a64, 16, &a));
	pool_add(&p, 0x100000, 0x1000);
	assert_true(pool_take(&p, 0x1000, 0x2000, reach_a64, 100, &a));
	assert_true(pool_take(&p, 0x1000, 0x2000, reach_a64, 1, &b));
	assert_true(pool_take(&p, 0x1000, 0x2000, reach_a64, 16, &c));
	assert_true(a == 0x100000 && b == a + 112 && c == b + 16);
	start = 1;
	assert_false(pool_take(&p, 0x1000, 0x2000, reach_a64, 0x1000, &start));
	assert_int_equal(start, 1);
	pool_give(&p, b, 1);
	assert_true(pool_take(&p, 0x1000, 0x2000, reach_a64, 16, &start));
	assert_true(start == b);
	pool_give(&p, a, 100);
	pool_give(&p, c, 16);
	pool_give(&p, b, 16);
	assert_free(&p, 0x100000, 0x101000);
	pool_release(&p);
}

/* What does not fit into either of two regions fits where one goes on in the other. */
static void test_regions_join(void **state)
{
	struct pool p = {0};
	uint64_t at, other;
	(void)state;
	pool_add(&p, 0x100000, 0x1000);
	assert_true(pool_take(&p, 0, 1, UINT64_MAX, 0x800, &at));
	pool_add(&p, 0x101000, 0x1000);
	assert_true(pool_take(&p, 0, 1, UINT64_MAX, 0x1800, &other));
	assert_true(at == 0x100000 && other == 0x100800);
	pool_give(&p, other, 0x1800);
	pool_give(&p, at, 0x800);
	assert_free(&p, 0x100000, 0x102000);
	pool_release(&p);
}

static void test_keeps_to_the_reach(void **state)
{
	struct pool p = {0};
	uint64_t a;
	(void)state;
	pool_add(&p, 0x10000, 0x10000);
	/* From the far end of the code to the near end of the piece, and the other way round. */
	assert_false(pool_take(&p, 0x100000, 0x110000, 0xf0000, 0x100, &a));
	assert_true(pool_take(&p, 0x100000, 0x110000, 0xf0000 + 0x8000, 0x100, &a));
	assert_true(a >= 0x110000 - 0xf8000);
	assert_false(pool_take(&p, 0x100, 0x200, 0x10000 - 0x100, 0x100, &a));
	assert_true(pool_take(&p, 0x100, 0x200, 0x10000, 0x100, &a));
	pool_release(&p);
}

static void test_many_pieces(void **state)
{
	enum { PIECES = 1000 };
	struct pool p = {0};
	uint64_t at[PIECES];
	(void)state;
	pool_add(&p, 1 << 20, 1 << 20);
	for (uint64_t i = 0; i < PIECES; i++)
		assert_true(pool_take(&p, 0, 1, UINT64_MAX, 16 + i % 5 * 16, &at[i]));
	for (uint64_t i = 0; i < PIECES; i += 2)
		pool_give(&p, at[i], 16 + i % 5 * 16);
	for (uint64_t i = 1; i < p.regions.data[0].free.len; i++)
		assert_true(p.regions.data[0].free.data[i - 1].end <
			    p.regions.data[0].free.data[i].start);
	for (uint64_t i = 1; i < PIECES; i += 2)
		pool_give(&p, at[i], 16 + i % 5 * 16);
	assert_free(&p, 1 << 20, 2 << 20);
	pool_release(&p);
}

/* A place must be free, in reach, and leave the heap and the stack their room. */
static uint64_t find(const char *maps, uint64_t low, uint64_t high, uint64_t reach, uint64_t size)
{
	const struct pool_need need = {low, high, reach, 4096, size};
	uint64_t at = 0;
	assert_int_equal(pool_find_gap(maps, 0, &need, &at), size);
	assert_int_equal(at % 4096, 0);
	assert_true(at + size <= low || at >= high);
	assert_true((at >= high ? at + size - low : high - at) <= reach);
	return at;
}

static const char pie_a64[] =
	"aaaad5e20000-aaaad5e28000 r-xp 00000000 fe:00 123  /usr/bin/cat\n"
	"aaaad5e37000-aaaad5e38000 r--p 00007000 fe:00 123  /usr/bin/cat\n"
	"aaaad5e38000-aaaad5e39000 rw-p 00008000 fe:00 123  /usr/bin/cat\n"
	"aaaaf7c51000-aaaaf7c72000 rw-p 00000000 00:00 0    [heap]\n"
	"ffff8ae10000-ffff8af97000 r-xp 00000000 fe:00 77   /usr/lib/libc.so.6\n"
	"ffff8af97000-ffff8afac000 ---p 00187000 fe:00 77   /usr/lib/libc.so.6\n"
	"ffff8afac000-ffff8afb0000 r--p 0018c000 fe:00 77   /usr/lib/libc.so.6\n"
	"ffff8afb0000-ffff8afc0000 rw-p 00000000 00:00 0\n"
	"ffff8afc9000-ffff8afef000 r-xp 00000000 fe:00 78   /usr/lib/ld-linux-aarch64.so.1\n"
	"ffff8b000000-ffff8b002000 r--p 00000000 00:00 0    [vvar]\n"
	"ffff8b002000-ffff8b003000 r-xp 00000000 00:00 0    [vdso]\n"
	"ffff8b003000-ffff8b006000 rw-p 0002f000 fe:00 78   /usr/lib/ld-linux-aarch64.so.1\n"
	"ffffc6a5c000-ffffc6a7d000 rw-p 00000000 00:00 0    [stack]\n";

static void test_position_independent(void **state)
{
	(void)state;
	/* Right below the program, and right below libc. */
	assert_true(find(pie_a64, 0xaaaad5e20000, 0xaaaad5e28000, reach_a64, MB) == 0xaaaad5d20000);
	assert_true(find(pie_a64, 0xffff8ae10000, 0xffff8af97000, reach_a64, MB) == 0xffff8ad10000);
	/* A small one fits between. */
	assert_true(find(pie_a64, 0xffff8afc9000, 0xffff8afef000, reach_a64, 0x1000) ==
		    0xffff8afc8000);
}

static const char fixed_x64[] =
	"00400000-00401000 r--p 00000000 08:01 5  /opt/program\n"
	"00401000-00c56000 r-xp 00001000 08:01 5  /opt/program\n"
	"00c56000-00d00000 rw-p 00856000 08:01 5  /opt/program\n"
	"00d00000-00d40000 rw-p 00000000 00:00 0\n"
	"01c2f000-01c50000 rw-p 00000000 00:00 0  [heap]\n"
	"7f7f10000000-7f7f101c0000 r-xp 00000000 08:01 9  /lib/libc.so.6\n"
	"7ffd3a5d7000-7ffd3a5f8000 rw-p 00000000 00:00 0  [stack]\n"
	"7ffd3a5fb000-7ffd3a5fd000 r-xp 00000000 00:00 0  [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n";

static void test_fixed_address(void **state)
{
	(void)state;
	/* Between the program's data and its heap, or below it, but not right above the heap. */
	uint64_t at = find(fixed_x64, 0x401000, 0xc56000, reach_x64, MB);
	assert_true(at + MB <= 0x400000 || (at >= 0xd40000 && at + MB <= 0x1c2f000));
	at = find(fixed_x64, 0x401000, 0xc56000, reach_x64, 64 * MB);
	assert_true(at >= 0x1c50000 + 64 * (uint64_t)MB);
	/* Nothing is between the vdso and the kernel's page. */
	at = find(fixed_x64, 0x7ffd3a5fb000, 0x7ffd3a5fd000, reach_x64, MB);
	assert_true(at + MB <= 0x7ffd3a5d7000 - 32 * (uint64_t)MB);
}

static const char static_without_heap[] = "00400000-00500000 r-xp 00000000 08:01 5  /opt/static\n"
					  "00500000-00510000 rw-p 00100000 08:01 5  /opt/static\n"
					  "7ffd3a5d7000-7ffd3a5f8000 rw-p 00000000 00:00 0 [stack]";

static void test_heap_to_come(void **state)
{
	(void)state;
	assert_true(find(static_without_heap, 0x400000, 0x500000, reach_a64, MB) == 0x300000);
	uint64_t at = find(static_without_heap, 0x400000, 0x500000, reach_a64, 8 * MB);
	assert_true(at >= 0x510000 + 64 * (uint64_t)MB);
}

static void test_no_place(void **state)
{
	struct pool_need need = {0xaaaad5e20000, 0xaaaad5e28000, MB, 2 * MB, 2 * MB};
	uint64_t at;
	(void)state;
	assert_int_equal(pool_find_gap(pie_a64, 0, &need, &at), 0);
	need = (struct pool_need){0x1000, 0x2000, reach_a64, 4096, 4096};
	assert_int_equal(pool_find_gap("", 0, &need, &at), 0);
	assert_int_equal(pool_find_gap("nonsense\n\n-\n", 0, &need, &at), 0);
}

/* Nothing so large is free in reach: as much as there is. */
static void test_smaller(void **state)
{
	const struct pool_need need = {0xaaaad5e20000, 0xaaaad5e28000, MB, 4096, 2 * MB};
	uint64_t at;
	(void)state;
	assert_int_equal(pool_find_gap(pie_a64, 0, &need, &at), MB - 0x8000);
	assert_int_equal(at, 0xaaaad5e28000 - MB);
}

static void test_aside(void **state)
{
	(void)state;
	uint64_t size = UINT64_C(1) << 40, at = pool_aside(pie_a64, size);
	assert_true(at - 0xaaaaf7c72000 > size && 0xffff8ae10000 - (at + size) > size);
	/* MPI's libraries share memory in the middle of the largest gap, and at a quarter of it. */
	for (uint64_t quarter = 0xaaaad5e20000 / 4, i = 1; i < 3; i++)
		assert_true(at > i * quarter + size || at + size < i * quarter - size);
	assert_int_equal(pool_aside(pie_a64, UINT64_C(1) << 46), 0);
	assert_int_equal(pool_aside("", 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes_and_gives),
		cmocka_unit_test(test_regions_join),
		cmocka_unit_test(test_keeps_to_the_reach),
		cmocka_unit_test(test_many_pieces),
		cmocka_unit_test(test_position_independent),
		cmocka_unit_test(test_fixed_address),
		cmocka_unit_test(test_heap_to_come),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_smaller),
		cmocka_unit_test(test_aside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
