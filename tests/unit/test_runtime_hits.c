/* What a hit does: activations and what counts for them, calls' targets, and whose area is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "runtime_bench.h"

/* Not the probe's own, and not what nobody may touch. */
static bool is_preserved(unsigned reg)
{
#ifdef __aarch64__
	return reg < 16 || (reg > 18 && reg < 30) || reg == SP;
#else
	return reg && reg < 16;
#endif
}

static void keeps_registers(void **state)
{
	struct bench *b = *state;
	struct probed f = add_function(b, RT_PATH, 1 << RT_WALL | 1 << RT_CPU, F);
	struct rt_probe *p[] = {f.enter, f.leave,
				add_probe(b, RT_TARGET, f.enter->subject, F, ENTRY_STEP)};
	begin_program(b);
	for (unsigned round = 0; round < 48; round++) {
		for (unsigned i = 0; i < 32; i++)
			b->in.reg[i] = i * UINT64_C(0x0123456789abcdef) + round;
		b->fp = b->in.reg[FP];
		b->in.flags = (round % 16 * UINT64_C(0x10000000) | round * 0x45) & FLAG_BITS;
		hit(b, p[round % 3]);
		for (unsigned i = 0; i < 32; i++)
			if (is_preserved(i))
				assert_int_equal(b->in.reg[i], b->out.reg[i]);
		assert_int_equal(b->in.flags, b->out.flags & FLAG_BITS);
	}
	assert_int_equal(b->area->hits[RT_ENTER], 16);
	assert_int_equal(b->area->hits[RT_EXIT], 16);
	assert_int_equal(newest(b)->calls, 16);
}

#ifdef __x86_64__
/* The stack pointer of a program may be anything that is a multiple of 8. */
static void needs_no_alignment(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_function(b, RT_PATH, 1 << RT_CPU, F).enter;
	begin_program(b);
	hit(b, p);
	p->step = step(RT_STEP_SP, 8, 8, 0);
	b->sp++;
	hit(b, p);
	assert_int_equal(newest(b)->calls, 2);
}
#endif

static void plain_subject_has_one_path(void **state)
{
	struct bench *b = *state;
	struct probed f = add_function(b, 0, BYTES, F);
	begin_program(b);
	for (unsigned i = 0; i < 3; i++) {
		hit(b, f.enter);
		b->area->bytes += 5;
		hit(b, f.leave);
	}
	assert_int_equal(count_paths(b), 1);
	assert_int_equal(newest(b)->calls, 3);
	assert_int_equal(newest(b)->frame_count, 0);
	assert_int_equal(newest(b)->total[RT_BYTES], 15);
	assert_int_equal(newest(b)->self[RT_BYTES], 15);
	assert_null(top_of(b, 0));
}

static void plain_recursion_counts_once(void **state)
{
	struct bench *b = *state;
	struct probed f = add_function(b, 0, BYTES, F);
	begin_program(b);
	hit(b, f.enter);
	b->area->bytes += 1;
	call(b, 4, F + 0x20);
	hit(b, f.enter);
	b->area->bytes += 10;
	hit(b, f.leave);
	come_back(b, 4);
	b->area->bytes += 100;
	hit(b, f.leave);
	struct rt_path *inner = newest(b), *outer = path_at(b, inner->next);
	assert_true(inner->recursive && !outer->recursive);
	assert_int_equal(inner->calls + outer->calls, 2);
	assert_int_equal(outer->total[RT_BYTES], 111);
	assert_int_equal(inner->total[RT_BYTES], 10);
	assert_int_equal(outer->self[RT_BYTES] + inner->self[RT_BYTES], 111);
}

static void longjmp_leaves_nothing_behind(void **state)
{
	struct bench *b = *state;
	struct probed f = add_function(b, 0, BYTES, F), g = add_function(b, 0, BYTES, G);
	begin_program(b);
	hit(b, f.enter);
	const struct rt_path *of_f = newest(b);
	for (unsigned i = 0; i < 3; i++) {
		call(b, 2, F + 4);
		hit(b, g.enter);
		b->area->bytes++;
		come_back(b, 2);
	}
	const struct rt_path *of_g = newest(b);
	call(b, 1, F + 4); /* further out than before */
	hit(b, g.enter);
	hit(b, g.enter);
	assert_int_equal(of_g->calls, 5);
	assert_int_equal(of_g->total[RT_BYTES], 3);
	come_back(b, 1);
	hit(b, f.leave);
	assert_null(top_of(b, 0));
	assert_int_equal(of_f->total[RT_BYTES], 3);
	assert_int_equal(of_f->self[RT_BYTES], 0);
	assert_false(of_g->recursive);
	hit(b, f.leave); /* ended already */
	assert_int_equal(of_f->total[RT_BYTES], 3);
}

static void loops_share_a_frame(void **state)
{
	struct bench *b = *state;
	uint32_t f = add_subject(b, RT_PATH, BYTES, F);
	uint32_t outer = add_subject(b, RT_PATH | RT_LOOP, BYTES, F);
	uint32_t inner = add_subject(b, RT_PATH | RT_LOOP, BYTES, F);
	struct rt_probe *enter[] = {add_probe(b, RT_ENTER, f, F, ENTRY_STEP),
				    add_probe(b, RT_ENTER, outer, F + 8, ENTRY_STEP),
				    add_probe(b, RT_ENTER, inner, F + 16, ENTRY_STEP)};
	struct rt_probe *leave[] = {add_probe(b, RT_EXIT, f, F + 32, ENTRY_STEP),
				    add_probe(b, RT_EXIT, outer, F + 28, ENTRY_STEP),
				    add_probe(b, RT_EXIT, inner, F + 24, ENTRY_STEP)};
	begin_program(b);
	hit(b, enter[0]);
	hit(b, enter[1]);
	for (unsigned i = 0; i < 2; i++) {
		hit(b, enter[2]);
		b->area->bytes += 3;
		hit(b, leave[2]);
	}
	struct rt_path *of_inner = newest(b), *of_outer = path_at(b, of_inner->parent);
	assert_int_equal(of_outer->subject, outer);
	assert_int_equal(path_at(b, of_outer->parent)->subject, f);
	assert_int_equal(of_inner->frame_count, 0);
	assert_int_equal(of_inner->calls, 2);
	/* Left by a jump and entered again. */
	hit(b, enter[2]);
	b->area->bytes += 5;
	hit(b, enter[1]);
	assert_int_equal(of_outer->calls, 2);
	assert_false(newest(b)->recursive);
	hit(b, leave[1]);
	hit(b, leave[0]);
	assert_int_equal(of_inner->total[RT_BYTES], 11);
	assert_int_equal(of_outer->total[RT_BYTES], 11);
	assert_int_equal(of_outer->self[RT_BYTES], 0);
	assert_int_equal(path_at(b, of_outer->parent)->total[RT_BYTES], 11);
	assert_null(top_of(b, 0));
}

/* Only if the loop is active in this frame: not outside, nor in a deeper frame of a recursion. */
static void exceptions_out_of_loops_are_told_apart(void **state)
{
	struct bench *b = *state;
	uint32_t loop = add_subject(b, RT_LOOP, 0, F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, loop, F + 8, ENTRY_STEP);
	struct rt_probe *iterated = add_probe(b, RT_ITERATED, loop, F + 16, ENTRY_STEP);
	struct rt_probe *left = add_probe(b, RT_LEFT, loop, F + 16, ENTRY_STEP);
	const uint64_t *counters = (const void *)((uint8_t *)b->area + RT_AREA_COUNTERS);
	iterated->constant = RT_AREA_COUNTERS + 8;
	left->constant = RT_AREA_COUNTERS + 16;
	add_code(b, F + 4, 2);
	begin_program(b);
	hit(b, iterated);
	hit(b, left);
	assert_int_equal(counters[1] + counters[2], 0);
	hit(b, enter);
	call(b, 2, F + 4);
	hit(b, iterated);
	hit(b, left);
	assert_int_equal(counters[1] + counters[2], 0);
	come_back(b, 2);
	hit(b, iterated);
	hit(b, left);
	assert_int_equal(counters[1], 1);
	assert_int_equal(counters[2], 1);
	hit(b, iterated);
	hit(b, left);
	assert_int_equal(counters[1], 1);
	assert_int_equal(counters[2], 1);
	assert_int_equal(b->area->hits[RT_LEFT], 4);
}

static void values_pass_through_subjects_without_the_metric(void **state)
{
	struct bench *b = *state;
	uint32_t metrics[] = {BYTES, 1 << RT_SYNC, BYTES};
	struct probed f[3];
	for (unsigned i = 0; i < 3; i++)
		f[i] = add_function(b, 0, metrics[i], F + i * 0x100);
	begin_program(b);
	for (unsigned i = 0; i < 3; i++) {
		call(b, 1, F + 4);
		hit(b, f[i].enter);
		b->area->bytes += 1;
	}
	for (unsigned i = 3; i-- > 0;) {
		hit(b, f[i].leave);
		come_back(b, 1);
	}
	const struct rt_path *outermost = newest(b);
	while (outermost->subject != 0)
		outermost = path_at(b, outermost->next);
	assert_int_equal(outermost->total[RT_BYTES], 3);
	assert_int_equal(outermost->self[RT_BYTES], 2);
}

/* Two coroutines and the thread's own stack, in turns. */
static void stacks_do_not_mix(void **state)
{
	struct bench *b = *state;
	enum { OTHERS = 2 };
	struct probed f = add_function(b, 0, BYTES, F);
	static _Alignas(16) uint64_t other[OTHERS][512];
	uint64_t *sp[OTHERS + 1];
	begin_program(b);
	add_code(b, F + 4, 2);
	for (unsigned i = 0; i < OTHERS; i++)
		other[i][401] = ROOT, sp[i] = &other[i][400];
	sp[OTHERS] = b->sp;
	for (unsigned depth = 0; depth < 3; depth++)
		for (unsigned i = 0; i <= OTHERS; i++) {
			b->sp = sp[i];
			hit(b, f.enter);
			call(b, 2, F + 4);
			sp[i] = b->sp;
		}
	for (unsigned depth = 0; depth < 3; depth++)
		for (unsigned i = 0; i <= OTHERS; i++) {
			b->sp = sp[i];
			come_back(b, 2);
			b->area->bytes++;
			hit(b, f.leave);
			sp[i] = b->sp;
		}
	const struct rt_path *nested = newest(b), *outermost = path_at(b, nested->next);
	assert_int_equal(nested->calls + outermost->calls, 9);
	assert_int_equal(outermost->total[RT_BYTES],
			 7); /* the first to begin is the seventh to end */
	for (unsigned i = 0; i < RT_STACKS; i++)
		assert_null(top_of(b, i));
	assert_int_equal(b->area->raw_walks, 0);
}

static void counts_targets(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_TARGET, 0, F + 8, 0);
	p->index = RT_NO_REGISTER;
	const struct rt_target *table = (struct rt_target *)((uint8_t *)b->area + RT_AREA_TARGETS);
	unsigned found = 0;
	for (unsigned reg = 0; reg < 16; reg++) {
		if (reg == SP || reg == FP)
			continue;
		p->base = (uint8_t)reg;
		b->in.reg[reg] = 0x1000 + reg;
		hit(b, p);
		hit(b, p);
	}
#ifdef __aarch64__
	for (unsigned reg = 16; reg < 31; reg++) {
		if (reg == 18 || reg == FP)
			continue;
		p->base = (uint8_t)reg;
		b->in.reg[reg] = b->link = 0x1000 + reg;
		hit(b, p);
		hit(b, p);
	}
	enum { EXPECTED = 16 + 13 };
#else
	enum { EXPECTED = 14 };
#endif
	for (unsigned i = 0; i < RT_TARGETS; i++)
		if (table[i].site) {
			assert_int_equal(table[i].site, F + 8);
			assert_int_equal(table[i].count, 2);
			found++;
		}
	assert_int_equal(found, EXPECTED);
}

static void interrupted_probes_use_the_sibling(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter = add_function(b, 0, BYTES, F).enter;
	struct rt_area *sibling = (struct rt_area *)(b->region + RT_AREA(RT_AREAS));
	begin_program(b);
	b->area->busy = (uint64_t)(b->sp + 16); /* further out: it was interrupted */
	hit(b, enter);
	assert_int_equal(b->area->hits[RT_ENTER], 0);
	assert_int_equal(sibling->hits[RT_ENTER], 1);
	sibling->busy = b->area->busy;
	hit(b, enter);
	assert_int_equal(sibling->hits[RT_ENTER], 1);
	assert_int_equal(b->area->dropped, 1);
	/* Further in: it never came back. */
	b->area->busy = (uint64_t)(b->sp - 1024);
	hit(b, enter);
	assert_int_equal(b->area->hits[RT_ENTER], 1);
	assert_int_equal(b->area->busy, 0);
}

static void does_nothing_unless_prepared(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter = add_function(b, 0, BYTES, F).enter;
	struct rt_subject *subject =
		(struct rt_subject *)(b->region + RT_SUBJECT_TABLE) + enter->subject;
	struct rt_probe *garbage = add_probe(b, 77, UINT32_MAX, F, ENTRY_STEP);
	begin_program(b);
	b->guard = 0;
	hit(b, enter);
	b->guard = RT_GUARD;
	subject->active = 0;
	hit(b, enter);
	hit(b, garbage);
	subject->active = 1;
	b->area->tid = 0;
	hit(b, enter);
	assert_int_equal(b->area->hits[RT_ENTER], 0);
	assert_int_equal(b->area->sequence, 0);
}

/* What is running ends, and nothing else begins. */
static void removed_subjects_end(void **state)
{
	struct bench *b = *state;
	struct probed f = add_function(b, 0, BYTES, F), g = add_function(b, 0, BYTES, G);
	struct rt_subject *subjects = (struct rt_subject *)(b->region + RT_SUBJECT_TABLE);
	begin_program(b);
	hit(b, f.enter);
	call(b, 1, G);
	hit(b, g.enter);
	b->area->bytes += 5;
	subjects[g.enter->subject].active = 0;
	hit(b, g.leave);
	b->area->bytes += 2;
	hit(b, g.enter);
	b->area->bytes += 1;
	hit(b, g.leave);
	come_back(b, 1);
	hit(b, g.leave); /* not its frame */
	assert_int_equal(newest(b)->calls, 1);
	assert_int_equal(newest(b)->live, 0);
	assert_int_equal(newest(b)->total[RT_BYTES], 5);
	hit(b, f.leave);
	const struct rt_path *outer = path_at(b, newest(b)->next);
	assert_int_equal(outer->total[RT_BYTES], 8);
	assert_int_equal(outer->self[RT_BYTES], 3);
}

static uint64_t find_area(const struct bench *b)
{
	static _Thread_local _Alignas(16) uint64_t stack[512];
	struct machine in = {0}, out;
	in.reg[SP] = (uint64_t)(stack + 480);
	in.flags = 0;
	call_routine(&in, &out, (uint64_t)b->text + entries(b)->find, 0);
	return out.reg[ARGUMENT];
}

enum { TEST_THREADS = 8 };

struct finder {
	struct bench *bench;
	uint32_t number;
	uint64_t found[3], expected;
	pthread_barrier_t *ready;
};

static void *find_in_thread(void *arg)
{
	struct finder *f = arg;
	if (f->number < TEST_THREADS - 1)
		f->expected = (uint64_t)prepare_area(f->bench, f->number + 1, (uint32_t)gettid());
	else
		f->expected = (uint64_t)f->bench->region + RT_NO_AREA;
	/* Somebody else's pointer is where this one belongs. */
	if (f->number % 2)
		*table_home(f->bench, here_thread_pointer()) = (struct rt_thread){99, 99};
	pthread_barrier_wait(f->ready);
	for (unsigned i = 0; i < 3; i++)
		f->found[i] = find_area(f->bench);
	pthread_barrier_wait(f->ready);
	return NULL;
}

static void threads_find_their_areas(void **state)
{
	struct bench *b = *state;
	struct finder finders[TEST_THREADS];
	pthread_t threads[TEST_THREADS];
	pthread_barrier_t ready;
	assert_int_equal(find_area(b), (uint64_t)b->area);
	header(b)->threads = TEST_THREADS;
	pthread_barrier_init(&ready, NULL, TEST_THREADS);
	for (uint32_t i = 0; i < TEST_THREADS; i++) {
		finders[i] = (struct finder){.bench = b, .number = i, .ready = &ready};
		assert_int_equal(pthread_create(&threads[i], NULL, find_in_thread, &finders[i]), 0);
	}
	for (uint32_t i = 0; i < TEST_THREADS; i++) {
		pthread_join(threads[i], NULL);
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(finders[i].found[k], finders[i].expected);
	}
	pthread_barrier_destroy(&ready);
}

/* A child that nobody prepared: fork has wiped its guard and its table. */
static void orphans_have_no_area(void **state)
{
	struct bench *b = *state;
	b->guard = 0;
	*table_home(b, here_thread_pointer()) = (struct rt_thread){0};
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(find_area(b), (uint64_t)b->region + RT_NO_AREA);
	assert_int_equal(table_home(b, here_thread_pointer())->area,
			 (uint64_t)b->region + RT_NO_AREA);
	assert_int_equal(b->area->thread_pointer, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_registers),
#ifdef __x86_64__
		TEST(needs_no_alignment),
#endif
		TEST(plain_subject_has_one_path),
		TEST(plain_recursion_counts_once),
		TEST(longjmp_leaves_nothing_behind),
		TEST(loops_share_a_frame),
		TEST(exceptions_out_of_loops_are_told_apart),
		TEST(values_pass_through_subjects_without_the_metric),
		TEST(stacks_do_not_mix),
		TEST(counts_targets),
		TEST(interrupted_probes_use_the_sibling),
		TEST(does_nothing_unless_prepared),
		TEST(removed_subjects_end),
		TEST(threads_find_their_areas),
		TEST(orphans_have_no_area),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
