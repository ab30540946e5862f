/* Paths are finished with those of the same thread at another moment, by a frame that both have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "record/splice.h"

struct fixture {
	struct codes *codes;
	struct space *space;
	uint64_t pc[2]; /* in two procedures of this program */
};

__attribute__((noinline)) int test_splice_first(volatile int *n);
__attribute__((noinline)) int test_splice_second(volatile int *n);

int test_splice_first(volatile int *n)
{
	return *n * 3;
}

int test_splice_second(volatile int *n)
{
	return *n * 5;
}

static int open_self(void **state)
{
	static struct fixture f;
	struct err e;
	f.codes = codes_new(NULL);
	f.space = space_new(f.codes, getpid());
	f.pc[0] = (uint64_t)(uintptr_t)test_splice_first;
	f.pc[1] = (uint64_t)(uintptr_t)test_splice_second;
	*state = &f;
	return space_refresh(f.space, &e);
}

static int close_self(void **state)
{
	struct fixture *f = *state;
	space_free(f->space);
	codes_free(f->codes);
	return 0;
}

static void add_frame(struct fixture *f, struct walk *w, unsigned procedure, uint64_t cfa)
{
	struct place p = space_find(f->space, f->pc[procedure]);
	assert_non_null(p.code);
	vec_push(&w->frames, (struct frame){.pc = f->pc[procedure],
					    .cfa = cfa,
					    .code = p.code,
					    .va = p.va,
					    .exact = true});
}

static void common_frame_joins(void **state)
{
	struct fixture *f = *state;
	struct walk path = {.end = WALK_STACK_COPY}, other = {.end = WALK_COMPLETE};
	add_frame(f, &path, 0, 0x1000);
	add_frame(f, &path, 1, 0x2000);
	add_frame(f, &other, 0, 0x1800);
	add_frame(f, &other, 1, 0x2000);
	add_frame(f, &other, 0, 0x3000);
	assert_true(splice_paths(&path, &other));
	assert_int_equal(path.end, WALK_COMPLETE);
	assert_int_equal(path.frames.len, 3);
	assert_int_equal(path.frames.data[0].cfa, 0x1000);
	assert_int_equal(path.frames.data[2].cfa, 0x3000);
	vec_free(&path.frames);
	vec_free(&other.frames);
}

/* The same place on the stack is not enough, nor the same procedure; an unknown CFA is no place. */
static void others_do_not(void **state)
{
	struct fixture *f = *state;
	struct walk path = {.end = WALK_STACK_COPY}, other = {.end = WALK_COMPLETE};
	add_frame(f, &path, 0, 0x1000);
	add_frame(f, &path, 1, 0);
	add_frame(f, &other, 1, 0x1000);
	add_frame(f, &other, 0, 0x3000);
	add_frame(f, &other, 1, 0);
	assert_false(splice_paths(&path, &other));
	assert_int_equal(path.end, WALK_STACK_COPY);
	assert_int_equal(path.frames.len, 2);
	vec_free(&path.frames);
	vec_free(&other.frames);
}

static void recent_paths_are_a_threads_own(void **state)
{
	struct fixture *f = *state;
	struct recent_paths recent = {0};
	struct walk path = {.end = WALK_STACK_COPY}, other = {.end = WALK_COMPLETE};
	add_frame(f, &path, 0, 0x1000);
	add_frame(f, &other, 0, 0x1000);
	add_frame(f, &other, 1, 0x2000);
	recent_keep(&recent, 7, f->space, &other);
	assert_false(splice_with_recent(&path, &recent, 7 + RECENT_PATHS, f->space));
	assert_true(splice_with_recent(&path, &recent, 7, f->space));
	assert_int_equal(path.frames.len, 2);
	/* Partial paths are not kept. */
	other.end = WALK_BAD_LINK;
	recent_keep(&recent, 8, f->space, &other);
	path.frames.len = 1;
	assert_false(splice_with_recent(&path, &recent, 8, f->space));
	recent_release(&recent);
	vec_free(&path.frames);
	vec_free(&other.frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(common_frame_joins),
		cmocka_unit_test(others_do_not),
		cmocka_unit_test(recent_paths_are_a_threads_own),
	};
	return cmocka_run_group_tests(tests, open_self, close_self);
}
