/* Paths are finished with those of the same thread at another moment, by a frame that both have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "callpath/lean.h"
#include "callpath/unfinished.h"

struct fixture {
	struct codes *codes;
	struct space *space;
	uint64_t pc[2]; /* in two functions of this program */
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

static void add_frame(struct fixture *f, struct walk *w, unsigned function, uint64_t cfa)
{
	struct place p = space_find(f->space, f->pc[function]);
	assert_non_null(p.code);
	vec_push(&w->frames, (struct frame){.pc = f->pc[function],
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

/* The same place on the stack is not enough, nor the same function; an unknown CFA is no place. */
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

static struct sample sample_at(int tid, uint64_t time)
{
	return (struct sample){.pid = 1, .tid = tid, .time = time};
}

static void recent_paths_are_a_threads_own(void **state)
{
	struct fixture *f = *state;
	struct recent_paths recent = {0};
	struct walk path = {.end = WALK_STACK_COPY}, other = {.end = WALK_COMPLETE};
	add_frame(f, &path, 0, 0x1000);
	add_frame(f, &other, 0, 0x1000);
	add_frame(f, &other, 1, 0x2000);
	struct sample s = sample_at(7, 100), stranger = sample_at(7 + RECENT_PATHS, 200);
	struct sample soon = sample_at(7, 200), late = sample_at(7, 200 + SPLICE_MAX_NS);
	recent_keep(&recent, &s, f->space, &other);
	assert_false(splice_with_recent(&path, &recent, &stranger, f->space));
	assert_false(splice_with_recent(&path, &recent, &late, f->space));
	assert_true(splice_with_recent(&path, &recent, &soon, f->space));
	assert_int_equal(path.frames.len, 2);
	/* Partial paths are not kept. */
	other.end = WALK_BAD_LINK;
	s.tid = 8;
	recent_keep(&recent, &s, f->space, &other);
	path.frames.len = 1;
	assert_false(splice_with_recent(&path, &recent, &s, f->space));
	recent_release(&recent);
	vec_free(&path.frames);
	vec_free(&other.frames);
}

/* --- paths that wait ------------------------------------------------------------------------- */

struct given {
	unsigned whole, partial;
	uint64_t last; /* time */
};

static void take_given(void *ctx, const struct sample *s, const struct walk *w)
{
	struct given *g = ctx;
	*(w->end == WALK_COMPLETE ? &g->whole : &g->partial) += 1;
	g->last = s->time;
}

static void a_later_path_finishes_those_that_wait(void **state)
{
	struct fixture *f = *state;
	static struct unfinished u;
	struct given given = {0};
	struct walk path = {.end = WALK_STACK_COPY}, whole = {.end = WALK_COMPLETE};
	struct sample s = sample_at(7, 100), other = sample_at(8, 200);
	u.give = take_given;
	u.ctx = &given;
	add_frame(f, &path, 0, 0x1000);
	add_frame(f, &whole, 0, 0x1000);
	add_frame(f, &whole, 1, 0x2000);
	unfinished_keep(&u, &s, f->space, &path);
	unfinished_keep(&u, &other, f->space, &path);
	s.time = 300;
	unfinished_finish(&u, &s, f->space, &whole);
	assert_int_equal(given.whole, 1); /* of thread 7 only */
	assert_int_equal(given.last, 100);
	assert_int_equal(given.partial, 0);
	unfinished_give_up(&u);
	assert_int_equal(given.whole, 1);
	assert_int_equal(given.partial, 1);
	assert_int_equal(u.count, 0);
	unfinished_release(&u);
	vec_free(&path.frames);
	vec_free(&whole.frames);
}

/* Not for ever, and not without limit; each exactly once. */
static void waiting_is_limited(void **state)
{
	struct fixture *f = *state;
	static struct unfinished u;
	struct given given = {0};
	struct walk path = {.end = WALK_STACK_COPY};
	u.give = take_given;
	u.ctx = &given;
	add_frame(f, &path, 0, 0x1000);
	for (unsigned i = 0; i < 3 * UNFINISHED_MAX; i++) {
		struct sample s = sample_at(7, 100 + i);
		unfinished_keep(&u, &s, f->space, &path);
	}
	assert_int_equal(given.partial, 2 * UNFINISHED_MAX);
	struct sample much_later = sample_at(9, 1000000000);
	unfinished_finish(&u, &much_later, f->space, &path);
	assert_int_equal(given.partial, 3 * UNFINISHED_MAX);
	assert_int_equal(given.last, 100 + 3 * UNFINISHED_MAX - 1);
	unfinished_release(&u);
	vec_free(&path.frames);
}

/* --- lean samples ---------------------------------------------------------------------------- */

static unsigned switches;
static bool is_lean;

static void note_lean(struct sampler *s, bool lean)
{
	(void)s;
	switches++;
	is_lean = lean;
}

static void learn(struct lean *l, struct fixture *f, unsigned count, uint64_t from, bool enough)
{
	for (unsigned i = 0; i < count; i++) {
		struct sample s = sample_at(7, from + i);
		lean_learn(l, &s, f->space, enough);
	}
}

static void little_is_asked_for_only_where_it_was_enough(void **state)
{
	struct fixture *f = *state;
	const struct sampler_ops ops = {.lean = note_lean};
	struct sampler sampler = {.ops = &ops};
	struct lean l = {.sampler = &sampler};
	switches = 0;
	learn(&l, f, 150, 0, true);
	learn(&l, f, 1, 150, false);
	learn(&l, f, 150, 151, true);
	assert_int_equal(switches, 0);
	/* Long enough for any code. */
	learn(&l, f, 1000, 2000000000, true);
	assert_true(is_lean);
	assert_int_equal(switches, 1);
	learn(&l, f, 1, 3000000000, false);
	assert_false(is_lean);
	learn(&l, f, 10000, 4000000000, true);
	assert_int_equal(switches, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(common_frame_joins),
		cmocka_unit_test(others_do_not),
		cmocka_unit_test(recent_paths_are_a_threads_own),
		cmocka_unit_test(a_later_path_finishes_those_that_wait),
		cmocka_unit_test(waiting_is_limited),
		cmocka_unit_test(little_is_asked_for_only_where_it_was_enough),
	};
	return cmocka_run_group_tests(tests, open_self, close_self);
}
