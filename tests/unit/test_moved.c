/* Tables of moved instructions and of probes, compared with the lists they were made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/vec.h"
#include "patch/moved.h"
#include "patch/placed.h"

enum { MOST = 300, ROUNDS = 400 };

static void assert_same(const struct moved *x, const struct moved *y)
{
	assert_int_equal(x->va, y->va);
	assert_int_equal(x->arrival, y->arrival);
	assert_int_equal(x->offset, y->offset);
	assert_int_equal(x->size, y->size);
	assert_int_equal(x->length, y->length);
	assert_int_equal(x->syscall, y->syscall);
	assert_int_equal(x->landing, y->landing);
	assert_int_equal(x->in_place, y->in_place);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)rand() % n;
}

/* Mostly instructions in sequence, as in real code; now and then everything else. */
static uint32_t make_list(struct moved *out)
{
	uint32_t count = below(MOST), offset = below(3) * 1000;
	uint64_t va = below(2) ? 0x400000 : UINT64_MAX / 2;
	bool mixed = below(2);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t arrival = offset + (below(8) ? 0 : below(1 << below(20)));
		offset = arrival + (below(4) ? 0 : below(200));
		va += below(20) ? 0 : (uint64_t)below(1 << 30) << below(10);
		out[i] = (struct moved){.va = va,
					.arrival = arrival,
					.offset = offset,
					.length = (uint8_t)(mixed ? 1 + below(15) : 4),
					.syscall = !below(9),
					.landing = !below(9),
					.in_place = !below(9)};
		out[i].size = below(5) ? out[i].length : below(60);
		offset += out[i].size;
		va += out[i].length;
	}
	return count;
}

static void check_searches(const struct moved *list, uint32_t count, const struct moved_table *t)
{
	struct moved_reader r;
	struct moved m;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t last = i;
		while (last + 1 < count && list[last + 1].arrival <= list[i].offset)
			last++;
		assert_true(moved_find_offset(&r, t, list[i].offset, &m));
		assert_same(&m, &list[last]);
		assert_int_equal(moved_next(&r, &m), last + 1 < count);
		if (last + 1 < count)
			assert_same(&m, &list[last + 1]);
		assert_true(moved_find_va(&r, t, list[i].va + list[i].length - 1, &m));
		assert_same(&m, &list[i]);
	}
	assert_false(count && list[0].arrival && moved_find_offset(&r, t, list[0].arrival - 1, &m));
	assert_false(count && moved_find_va(&r, t, list[0].va - 1, &m));
}

static void tables_lose_nothing(void **state)
{
	static struct moved list[MOST];
	struct arena tmp;
	(void)state;
	arena_init(&tmp);
	srand(1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t count = make_list(list), read = 0;
		struct moved_table original, t;
		struct moved_reader r;
		struct moved m;
		moved_table_init(&original, list, count, &tmp);
		moved_table_copy(&t, &original);
		moved_table_release(&original);
		moved_open(&r, &t);
		for (; moved_next(&r, &m); read++)
			assert_same(&m, &list[read]);
		assert_int_equal(read, count);
		check_searches(list, count, &t);
		moved_table_release(&t);
		arena_clear(&tmp);
	}
	arena_release(&tmp);
}

static void places_of_probes_lose_nothing(void **state)
{
	static struct placed_probe list[MOST];
	struct arena tmp;
	(void)state;
	arena_init(&tmp);
	srand(2);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t count = below(MOST), offset = 0, read = 0;
		struct placed_table original, t;
		struct placed_reader r;
		struct placed_probe p;
		for (uint32_t i = 0; i < count; i++) {
			list[i] = (struct placed_probe){below(1 << below(30)), offset, below(900)};
			offset += list[i].size + (below(3) ? 0 : below(1 << below(20)));
		}
		placed_table_init(&original, list, count, &tmp);
		placed_table_copy(&t, &original);
		placed_table_release(&original);
		placed_open(&r, &t);
		for (; placed_next(&r, &p); read++)
			assert_memory_equal(&p, &list[read], sizeof(p));
		assert_int_equal(read, count);
		placed_table_release(&t);
		arena_clear(&tmp);
	}
	arena_release(&tmp);
}

static void instructions_in_sequence_take_a_byte(void **state)
{
	static struct moved list[MOST];
	struct moved_table t;
	struct arena tmp;
	(void)state;
	for (uint32_t i = 0; i < MOST; i++)
		list[i] = (struct moved){.va = 0x1000 + 4 * i,
					 .arrival = 4 * i,
					 .offset = 4 * i,
					 .size = 4,
					 .length = 4};
	arena_init(&tmp);
	moved_table_init(&t, list, MOST, &tmp);
	assert_in_range(t.size, MOST, MOST + MOST / 10);
	moved_table_release(&t);
	arena_release(&tmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_lose_nothing),
		cmocka_unit_test(places_of_probes_lose_nothing),
		cmocka_unit_test(instructions_in_sequence_take_a_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
