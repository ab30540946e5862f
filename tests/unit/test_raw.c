/* Stacks that the runtime has recorded, in a made-up region: paths may refer to records that have
 * not been walked yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "probe/region/raw.h"

enum { SIZE = 4096 };

static struct shared shared;
static struct target target;

static int start(void **state)
{
	struct err e;
	(void)state;
	shared = (struct shared){
		.arch = arch_native(), .codes = codes_new(NULL), .walker = walker_new()};
	target = (struct target){.shared = &shared, .pid = getpid()};
	target.region.map = mmap(NULL, RT_MAPPED_SIZE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(target.region.map, MAP_FAILED);
	target.space = space_new(shared.codes, getpid());
	return space_refresh(target.space, &e);
}

static int finish(void **state)
{
	(void)state;
	raw_release(&target);
	vec_free(&target.region.steps);
	space_free(target.space);
	munmap(target.region.map, RT_MAPPED_SIZE);
	walker_free(shared.walker);
	codes_free(shared.codes);
	return 0;
}

__attribute__((noinline)) static uint64_t where_called(void)
{
	__asm__ volatile("");
	return (uint64_t)(uintptr_t)__builtin_return_address(0) & arch_native()->layout->code_mask;
}

/* Writes a record of a thread that has just entered where_called() from `caller`, except its size,
 * which is written last. */
static struct rt_raw *put_record(uint64_t offset, uint64_t caller)
{
	struct rt_raw *r = target_at(&target, offset);
	uint64_t *stack = (uint64_t *)(r + 1);
	*r = (struct rt_raw){.pc = (uint64_t)(uintptr_t)where_called,
			     .sp = UINT64_C(0x7ff000000000),
			     .link = caller,
			     .stack_size = sizeof(*stack)};
	stack[0] = caller;
	return r;
}

static void check_record(uint64_t offset, uint64_t caller)
{
	struct raw_path path = {0};
	assert_true(raw_find(&target, offset, &path));
	assert_int_equal(path.count, 1);
	assert_int_equal(path.frames[0], caller);
	assert_false(path.complete);
}

static void a_record_is_found_before_it_was_resolved(void **state)
{
	uint64_t caller = where_called();
	(void)state;
	put_record(RT_RAW, caller)->size = SIZE;
	check_record(RT_RAW, caller);
	assert_true(raw_resolve(&target));
	assert_false(raw_resolve(&target));
	check_record(RT_RAW, caller);
}

static void a_record_is_found_after_one_that_is_being_written(void **state)
{
	uint64_t caller = where_called();
	(void)state;
	struct rt_raw *first = put_record(RT_RAW, caller);
	put_record(RT_RAW + SIZE, caller)->size = SIZE;
	assert_false(raw_resolve(&target));
	check_record(RT_RAW + SIZE, caller);
	first->size = SIZE;
	assert_true(raw_resolve(&target));
	check_record(RT_RAW, caller);
	check_record(RT_RAW + SIZE, caller);
}

static void what_is_no_record_is_not_found(void **state)
{
	static const uint64_t offsets[] = {0,           16,
					   RT_RAW - 16, RT_RAW,
					   RT_RAW + 8,  RT_RAW + RT_RAW_BYTES - 16,
					   UINT64_MAX,  UINT64_MAX - 15};
	struct raw_path path;
	(void)state;
	put_record(RT_RAW + 8, where_called())->size = SIZE;
	((struct rt_raw *)target_at(&target, RT_RAW))->size = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(offsets); i++)
		assert_false(raw_find(&target, offsets[i], &path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_record_is_found_before_it_was_resolved, start,
						finish),
		cmocka_unit_test_setup_teardown(a_record_is_found_after_one_that_is_being_written,
						start, finish),
		cmocka_unit_test_setup_teardown(what_is_no_record_is_not_found, start, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
