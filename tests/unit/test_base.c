#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/hashmap.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/vec.h"

static void arena_memory_is_aligned_and_apart(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	unsigned char *blocks[500];
	for (size_t i = 0; i < 500; i++) {
		size_t align = (size_t)1 << i % 5;
		blocks[i] = arena_alloc(&a, 1 + i, align);
		assert_int_equal((uintptr_t)blocks[i] % align, 0);
		memset(blocks[i], (int)(i & 0xff), 1 + i);
	}
	for (size_t i = 0; i < 500; i++)
		for (size_t k = 0; k <= i; k++)
			assert_int_equal(blocks[i][k], i & 0xff);
	arena_release(&a);
}

static void arena_takes_large_blocks_and_starts_over(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	arena_clear(&a);
	memset(arena_alloc(&a, 10000000, 64), 1, 10000000);
	assert_string_equal(arena_printf(&a, "%d-%s", 12, "x"), "12-x");
	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	arena_clear(&a);
	char *p = ARENA_ARRAY(&a, char, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(p[i], 0);
	arena_release(&a);
}

static void err_sentences(void **state)
{
	(void)state;
	struct err e;
	assert_int_equal(err_set(&e, ERR_INPUT, "bad %d", 7), ERR_INPUT);
	assert_string_equal(e.text, "bad 7");
	err_prefix(&e, "file %s", "x");
	assert_string_equal(e.text, "file x: bad 7");
	errno = ENOENT;
	assert_int_equal(err_errno(&e, "cannot open"), ERR_SYSTEM);
	assert_string_equal(e.text, "cannot open: No such file or directory");
}

static void err_prefix_cuts_what_does_not_fit(void **state)
{
	(void)state;
	struct err e;
	char big[2000];
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	err_set(&e, ERR_INPUT, "%s", big);
	err_prefix(&e, "%s", big);
	err_prefix(&e, "p");
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_memory_equal(e.text, "p: xxx", 6);
}

/* Things by their content: all with one hash. */
static bool is_the_same(const void *ctx, uint32_t value)
{
	return *(const uint32_t *)ctx == value * 7;
}

static void hashmap_tells_things_with_one_hash_apart(void **state)
{
	struct hashmap m = {0};
	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t thing = i * 7;
		assert_int_equal(hashmap_find(&m, 42, is_the_same, &thing), HASHMAP_NONE);
		hashmap_insert(&m, 42, i);
	}
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t thing = i * 7;
		assert_int_equal(hashmap_find(&m, 42, is_the_same, &thing), i);
		assert_int_equal(hashmap_find(&m, 43, is_the_same, &thing), HASHMAP_NONE);
	}
	hashmap_clear(&m);
	assert_int_equal(m.len, 0);
	uint32_t thing = 7;
	assert_int_equal(hashmap_find(&m, 42, is_the_same, &thing), HASHMAP_NONE);
	hashmap_insert(&m, 1, 1);
	hashmap_clear(&m);
	assert_int_equal(hashmap_get(&m, 1), HASHMAP_NONE);
	hashmap_release(&m);
}

static void hashmap_holds_what_was_put(void **state)
{
	(void)state;
	struct hashmap m = {0};
	assert_int_equal(hashmap_get(&m, 0), HASHMAP_NONE);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(hashmap_add(&m, (uint64_t)i << 32 | i % 3, i), i);
	assert_int_equal(hashmap_add(&m, 0, 77), 0);
	hashmap_put(&m, 0, 77);
	assert_int_equal(hashmap_get(&m, 0), 77);
	for (uint32_t i = 1; i < 5000; i++)
		assert_int_equal(hashmap_get(&m, (uint64_t)i << 32 | i % 3), i);
	assert_int_equal(hashmap_get(&m, 12345), HASHMAP_NONE);
	assert_int_equal(m.len, 5000);
	hashmap_release(&m);
}

static void hash_depends_on_every_byte(void **state)
{
	(void)state;
	unsigned char bytes[40] = {0};
	uint64_t before = hash_bytes(bytes, sizeof(bytes), 0);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_true(hash_bytes(bytes, sizeof(bytes), 0) != before);
		bytes[i] = 0;
	}
	assert_true(hash_bytes(bytes, 39, 0) != before);
	assert_true(hash_bytes(bytes, 40, 1) != before);
	assert_true(hash_bytes(NULL, 0, 1) == hash_bytes(bytes, 0, 1));
}

static void text_numbers(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	text_u64(&t, 0);
	text_char(&t, ' ');
	text_u64(&t, UINT64_MAX);
	text_char(&t, ' ');
	text_hex(&t, 0);
	text_char(&t, ' ');
	text_hex(&t, UINT64_MAX);
	text_fill(&t, '.', 3);
	text_printf(&t, "%s", "end");
	assert_string_equal(t.data, "0 18446744073709551615 0x0 0xffffffffffffffff...end");
	assert_int_equal(t.len, strlen(t.data));
	text_clear(&t);
	assert_string_equal(t.data, "");
	text_release(&t);
}

static void text_grows(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	for (int i = 0; i < 10000; i++)
		text_printf(&t, "%d,", i % 10);
	assert_int_equal(t.len, 20000);
	assert_memory_equal(t.data + 19998, "9,", 3);
	text_release(&t);
}

static void text_distances(void **state)
{
	(void)state;
	assert_int_equal(text_distance("", ""), 0);
	assert_int_equal(text_distance("abc", ""), 3);
	assert_int_equal(text_distance("structure", "strcture"), 1);
	assert_int_equal(text_distance("loops", "lopos"), 1);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
}

static void vec_grows_and_pops(void **state)
{
	(void)state;
	VEC(uint32_t) v = {0};
	for (uint32_t i = 0; i < 1000; i++)
		vec_push(&v, i * i);
	uint64_t sum = 0;
	vec_each (p, &v)
		sum += *p;
	assert_int_equal(sum, 332833500);
	assert_int_equal(vec_last(&v), 999 * 999);
	assert_int_equal(vec_pop(&v), 999 * 999);
	assert_int_equal(v.len, 999);
	vec_free(&v);
	assert_null(v.data);
}

static void log_levels(void **state)
{
	(void)state;
	const char *bad = NULL;
	assert_true(log_configure("flow:2,module", &bad));
	assert_int_equal(log_level[LOG_FLOW], 2);
	assert_int_equal(log_level[LOG_MODULE], 1);
	assert_int_equal(log_level[LOG_JUMP], 0);
	assert_true(log_configure("all:0", &bad));
	assert_int_equal(log_level[LOG_FLOW], 0);
	assert_false(log_configure("flow,nonsense:2", &bad));
	assert_string_equal(bad, "nonsense:2");
	assert_false(log_configure("flow:x", &bad));
	assert_false(log_configure("flow:33", &bad));
	memset(log_level, 0, sizeof(log_level));
}

struct counters {
	atomic_uint seen[1000];
	atomic_uint wrong_worker;
};

static void count_item(void *ctx, uint32_t item, uint32_t worker)
{
	struct counters *t = ctx;
	atomic_fetch_add(&t->seen[item], 1);
	if (worker >= parallel_workers())
		atomic_fetch_add(&t->wrong_worker, 1);
}

static void parallel_for_does_each_item_once(void **state)
{
	(void)state;
	static const uint32_t batches[] = {0, 1, 7, 1000, 5000};
	for (size_t i = 0; i < ARRAY_SIZE(batches); i++) {
		struct counters *t = xcalloc(1, sizeof(*t));
		parallel_for(1000, batches[i], count_item, t);
		parallel_for(0, batches[i], count_item, t);
		for (int k = 0; k < 1000; k++)
			assert_int_equal(atomic_load(&t->seen[k]), 1);
		assert_int_equal(atomic_load(&t->wrong_worker), 0);
		free(t);
	}
}

/* Places of items, few enough that makers have to wait for them. */
struct queue {
	atomic_uint places[4]; /* the item in it, plus one */
	uint32_t ahead, taken;
	atomic_uint wrong;
	pthread_t taker;
};

static void put_in_place(void *ctx, uint32_t item, uint32_t worker)
{
	struct queue *q = ctx;
	unsigned before = atomic_exchange(&q->places[item % q->ahead], item + 1);
	if (before || worker >= parallel_workers())
		atomic_fetch_add(&q->wrong, 1);
}

static void take_from_place(void *ctx, uint32_t item)
{
	struct queue *q = ctx;
	unsigned there = atomic_exchange(&q->places[item % q->ahead], 0);
	if (there != item + 1 || item != q->taken || !pthread_equal(q->taker, pthread_self()))
		atomic_fetch_add(&q->wrong, 1);
	q->taken++;
}

static void parallel_in_order_takes_one_after_the_other(void **state)
{
	(void)state;
	static const uint32_t counts[] = {0, 1, 2, 3, 4, 5, 1000};
	for (uint32_t ahead = 1; ahead <= 4; ahead++) {
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
			struct queue q = {.ahead = ahead, .taker = pthread_self()};
			parallel_in_order(counts[i], ahead, put_in_place, take_from_place, &q);
			assert_int_equal(q.taken, counts[i]);
			assert_int_equal(atomic_load(&q.wrong), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_memory_is_aligned_and_apart),
		cmocka_unit_test(arena_takes_large_blocks_and_starts_over),
		cmocka_unit_test(err_sentences),
		cmocka_unit_test(err_prefix_cuts_what_does_not_fit),
		cmocka_unit_test(hashmap_holds_what_was_put),
		cmocka_unit_test(hashmap_tells_things_with_one_hash_apart),
		cmocka_unit_test(hash_depends_on_every_byte),
		cmocka_unit_test(text_numbers),
		cmocka_unit_test(text_grows),
		cmocka_unit_test(text_distances),
		cmocka_unit_test(vec_grows_and_pops),
		cmocka_unit_test(log_levels),
		cmocka_unit_test(parallel_for_does_each_item_once),
		cmocka_unit_test(parallel_in_order_takes_one_after_the_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
