/* Call paths: walks and those remembered, anchors, recursion, and what cannot be walked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "runtime_bench.h"

/* A function whose calls are counted, without activations. */
static struct rt_probe *add_counted(struct bench *b, uint64_t start_pc)
{
	return add_function(b, RT_PATH | RT_COUNT_ONLY, 0, start_pc).enter;
}

static void walks_to_the_root(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_counted(b, H);
	begin_program(b);
	add_code(b, MAIN + 4, 3);
	add_code(b, F + 4, 7);
	add_code(b, G + 4, 0);
	call(b, 3, MAIN + 4);
	call(b, 7, F + 4);
	call(b, 0, G + 4);
	hit(b, p);
	hit(b, p);
	const struct rt_path *path = newest(b);
	assert_int_equal(count_paths(b), 1);
	assert_int_equal(path->calls, 2);
	assert_int_equal(path->frame_count, 4);
	assert_int_equal(path->frames[0], G + 4);
	assert_int_equal(path->frames[1], F + 4);
	assert_int_equal(path->frames[2], MAIN + 4);
	assert_int_equal(path->frames[3], ROOT);
	assert_true(path->complete && !path->recursive && !path->raw && !path->parent);
	assert_int_equal(b->area->walks, 1);
	assert_int_equal(b->area->instance_hits, 1);
	assert_null(top_of(b, 0));
}

static void follows_frame_pointers(void **state)
{
	struct bench *b = *state;
	uint64_t by_fp = step(RT_STEP_FP, 16, 8, 16);
	struct rt_probe *p = add_counted(b, H);
	p->step = step(RT_STEP_SP, 16, 8, 16);
	begin_program(b);
	set_step(b, F + 4, by_fp);
	set_step(b, G + 4, by_fp);
	uint64_t *record = b->sp; /* of F */
	uint64_t outer = (uint64_t)record;
	call(b, 9, F + 4);
	b->sp[0] = outer;
	uint64_t inner = (uint64_t)b->sp;
	call(b, 5, G + 4);
	b->sp[0] = inner;
	hit(b, p);
	const struct rt_path *path = newest(b);
	assert_int_equal(path->frame_count, 3);
	assert_int_equal(path->frames[2], ROOT);
	/* What the outermost record says of its caller's frame pointer nobody depends on. */
	record[0] = 0x5678;
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
	b->sp[0] = outer; /* skips G's frame */
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
	assert_int_equal(newest(b)->frame_count, 2);
	assert_int_equal(newest(b)->frames[1], ROOT);
}

#ifdef __aarch64__
static void finds_returns_in_the_link_register(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_counted(b, H);
	p->step = step(RT_STEP_SP, 0, 0, 0) | RT_STEP_IN_LINK;
	begin_program(b);
	add_code(b, F + 4, 0);
	add_code(b, G + 4, 0);
	header(b)->link_mask = 0xffffffffff;
	b->link = (F + 4) | UINT64_C(0x123) << 52;
	hit(b, p);
	assert_int_equal(newest(b)->frames[0], F + 4);
	hit(b, p);
	assert_int_equal(newest(b)->calls, 2);
	b->link = G + 4;
	hit(b, p);
	assert_int_equal(newest(b)->frames[0], G + 4);
}
#endif

/* Whatever frame changes, the remembered walk must not be taken for this one. */
static void notices_changes_at_any_depth(void **state)
{
	struct bench *b = *state;
	enum { DEPTH = 40 };
	uint64_t *slots[DEPTH];
	struct rt_probe *p = add_counted(b, H);
	begin_program(b);
	for (unsigned i = 0; i < DEPTH; i++) {
		add_code(b, F + i * 8, i % 5);
		add_code(b, F + i * 8 + 4, i % 5);
		call(b, i % 5, F + i * 8);
		slots[i] = b->sp + 1;
	}
	hit(b, p);
	for (unsigned i = 0; i < DEPTH; i++) {
		*slots[i] += 4;
		hit(b, p);
		assert_int_equal(newest(b)->frames[DEPTH - 1 - i], F + i * 8 + 4);
		assert_int_equal(newest(b)->calls, 1);
		*slots[i] -= 4;
	}
	assert_int_equal(count_paths(b), DEPTH + 1);
	assert_int_equal(b->area->instance_hits, 0);
	hit(b, p);
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
	header(b)->epoch++;
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 2);
}

static void ends_at_an_anchor(void **state)
{
	struct bench *b = *state;
	struct probed outer = add_function(b, RT_PATH, BYTES, F);
	struct probed inner = add_function(b, RT_PATH, BYTES, H);
	begin_program(b);
	add_code(b, MAIN + 4, 1);
	add_code(b, F + 4, 2);
	add_code(b, G + 4, 3);
	call(b, 1, MAIN + 4);
	hit(b, outer.enter);
	const struct rt_path *of_outer = newest(b);
	for (unsigned i = 0; i < 3; i++) {
		call(b, 2, F + 4);
		call(b, 3, G + 4);
		hit(b, inner.enter);
		b->area->bytes += 7;
		hit(b, inner.leave);
		come_back(b, 3);
		come_back(b, 2);
	}
	b->area->bytes += 1;
	hit(b, outer.leave);
	const struct rt_path *path = newest(b);
	assert_int_equal(count_paths(b), 2);
	assert_ptr_equal(path_at(b, path->parent), of_outer);
	assert_int_equal(path->frame_count, 2);
	assert_int_equal(path->frames[1], F + 4);
	assert_true(path->complete);
	assert_int_equal(path->calls, 3);
	assert_int_equal(path->total[RT_BYTES], 21);
	assert_int_equal(of_outer->total[RT_BYTES], 22);
	assert_int_equal(of_outer->self[RT_BYTES], 1);
	assert_int_equal(b->area->instance_hits, 2);
}

/* The remembered walk ended at an activation that has ended since: the same frames, reached without
 * its probe, are no anchor. */
static void anchors_must_live(void **state)
{
	struct bench *b = *state;
	struct probed outer = add_function(b, RT_PATH, BYTES, F);
	struct rt_probe *inner = add_counted(b, H);
	begin_program(b);
	add_code(b, F + 4, 2);
	hit(b, outer.enter);
	call(b, 2, F + 4);
	hit(b, inner);
	assert_true(newest(b)->parent);
	come_back(b, 2);
	hit(b, outer.leave);
	call(b, 2, F + 4);
	hit(b, inner);
	assert_false(newest(b)->parent);
	assert_int_equal(newest(b)->frame_count, 2);
	assert_int_equal(newest(b)->calls, 1);
}

static void recursion_shows_in_the_path(void **state)
{
	struct bench *b = *state;
	enum { DEPTH = 100000 };
	struct probed f = add_function(b, RT_PATH, BYTES, F);
	begin_program(b);
	add_code(b, F + 4, 2);
	hit(b, f.enter);
	struct rt_path *outermost = newest(b);
	for (unsigned i = 1; i < DEPTH; i++) {
		call(b, 2, F + 4);
		hit(b, f.enter);
		b->area->bytes++;
	}
	assert_int_equal(count_paths(b), RT_WALK_FRAMES);
	assert_int_equal(newest(b)->depth, RT_WALK_FRAMES);
	assert_int_equal(newest(b)->calls, DEPTH - RT_WALK_FRAMES + 1);
	assert_true(newest(b)->recursive && newest(b)->parent && !outermost->recursive);
	for (unsigned i = 1; i < DEPTH; i++) {
		hit(b, f.leave);
		come_back(b, 2);
	}
	hit(b, f.leave);
	assert_int_equal(outermost->total[RT_BYTES], DEPTH - 1);
	assert_int_equal(outermost->self[RT_BYTES], 0);
	assert_null(top_of(b, 0));
	assert_int_equal(b->area->dropped, 0);
}

/* Two functions that call each other keep their own paths. */
static void mutual_recursion_is_folded(void **state)
{
	struct bench *b = *state;
	enum { TURNS = 5000 };
	struct rt_probe *f = add_function(b, RT_PATH, BYTES, F).enter;
	struct rt_probe *g = add_function(b, RT_PATH, BYTES, G).enter;
	begin_program(b);
	add_code(b, F + 4, 2);
	add_code(b, G + 4, 2);
	for (unsigned i = 0; i < TURNS; i++) {
		hit(b, f);
		call(b, 2, F + 4);
		hit(b, g);
		call(b, 2, G + 4);
	}
	assert_in_range(count_paths(b), RT_WALK_FRAMES, RT_WALK_FRAMES + 4);
	assert_in_range(newest(b)->depth, RT_WALK_FRAMES, RT_WALK_FRAMES + 4);
	assert_true(newest(b)->complete);
	assert_int_equal(newest(b)->frames[0], newest(b)->subject == f->subject ? G + 4 : F + 4);
}

static void recursion_without_anchors(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_counted(b, F);
	begin_program(b);
	add_code(b, F + 4, 2);
	for (unsigned i = 0; i < 400; i++) {
		hit(b, p);
		call(b, 2, F + 4);
	}
	assert_int_equal(count_paths(b), 400);
	assert_int_equal(newest(b)->frame_count, 400);
	assert_true(newest(b)->recursive);
}

static void cuts_deep_recursion_off(void **state)
{
	struct bench *b = *state;
	enum { DEPTH = 20000 };
	struct rt_probe *p = add_counted(b, F);
	begin_program(b);
	add_code(b, F + 4, 2);
	for (unsigned i = 0; i < DEPTH; i++) {
		hit(b, p);
		call(b, 2, F + 4);
	}
	assert_int_equal(count_paths(b), RT_WALK_FRAMES + 1);
	assert_int_equal(newest(b)->frame_count, RT_WALK_FRAMES);
	assert_int_equal(newest(b)->calls, DEPTH - RT_WALK_FRAMES);
	assert_true(newest(b)->recursive && !newest(b)->complete);
	assert_int_equal(b->area->raw_walks, 0);
}

/* Room for what the kernel saves; `sp` is that of the interrupted code. */
static void interrupt(struct bench *b, uint64_t pc, uint64_t link)
{
	uint64_t *sp = b->sp;
	b->sp -= 128;
	memset(b->sp, 0x55, 128 * 8);
#ifdef __aarch64__
	b->sp[544 / 8] = b->fp;
	b->sp[552 / 8] = link;
	b->sp[560 / 8] = (uint64_t)sp;
	b->sp[568 / 8] = pc;
#else
	(void)link;
	b->sp[120 / 8] = b->fp;
	b->sp[160 / 8] = (uint64_t)sp;
	b->sp[168 / 8] = pc;
#endif
}

/* What was interrupted is known by its exact address, which may be a return address as well. */
static void walks_over_signal_frames(void **state)
{
	struct bench *b = *state;
	enum { TRAMPOLINE = 0x7000 };
	struct rt_probe *p = add_counted(b, F);
	begin_program(b);
	set_step(b, TRAMPOLINE, RT_STEP_SIGNAL);
	set_step(b, (G + 4) | RT_STEP_EXACT, ENTRY_STEP);
	set_step(b, G + 4, RT_STEP_NONE);
	uint64_t *interrupted = b->sp;
	interrupt(b, G + 4, 0);
	uint64_t *signal_frame = b->sp;
	call(b, 0, TRAMPOLINE);
	hit(b, p);
	hit(b, p);
	const uint64_t expected[] = {TRAMPOLINE, G + 4, ROOT};
	assert_int_equal(newest(b)->frame_count, 3);
	assert_memory_equal(newest(b)->frames, expected, sizeof(expected));
	assert_int_equal(newest(b)->calls, 2);
	assert_true(newest(b)->complete && b->area->instance_hits == 1);
#ifdef __aarch64__
	/* Right behind a call, nothing is on the stack yet. */
	set_step(b, (H + 4) | RT_STEP_EXACT, step(RT_STEP_SP, 16, 0, 0) | RT_STEP_IN_LINK);
	b->sp = interrupted;
	interrupt(b, H + 4, ROOT);
	call(b, 0, TRAMPOLINE);
	hit(b, p);
	assert_int_equal(newest(b)->frames[1], H + 4);
	assert_int_equal(newest(b)->frames[2], ROOT);
	assert_true(newest(b)->complete);
#endif
	/* A probe was interrupted. */
	header(b)->code_regions = 1;
	header(b)->code[0].start = 0x9000;
	header(b)->code[0].size = 0x100;
	b->sp = interrupted;
	interrupt(b, 0x9010, 0);
	assert_ptr_equal(b->sp, signal_frame);
	call(b, 0, TRAMPOLINE);
	hit(b, p);
	assert_int_equal(newest(b)->frame_count, 1);
	assert_false(newest(b)->complete);
	assert_int_equal(b->area->raw_walks, 0);
}

static void records_what_it_cannot_walk(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_counted(b, H);
	header(b)->text[0].start = MAIN;
	header(b)->text[0].end = H + 0x100;
	header(b)->text_ranges = 1;
	begin_program(b);
	add_code(b, F + 4, 3);
	call(b, 3, F + 4);
	call(b, 2, G + 4); /* unknown */
	b->sp[2] = 0xdead;
	hit(b, p);
	struct rt_path *raw = newest(b);
	const struct rt_raw *r = (struct rt_raw *)(b->region + raw->raw);
	assert_int_equal(raw->raw, RT_RAW);
	assert_int_equal(r->sp, (uint64_t)b->sp);
	assert_int_equal(r->pc, H);
	assert_int_equal(r->stack_size, b->area->stack_high - (uint64_t)b->sp);
	assert_memory_equal(r + 1, b->sp, r->stack_size);
	assert_int_equal(header(b)->raw_seen, 1);
	assert_int_equal(header(b)->raw_used, r->size);
	b->sp[2] = 0xbeef; /* no code */
	hit(b, p);
	assert_int_equal(raw->calls, 2);
	b->sp[2] = MAIN + 0x20;
	hit(b, p);
	assert_int_equal(raw->calls, 2);
	assert_int_equal(header(b)->raw_seen, 2);
	/* Sonde adds the step. */
	add_code(b, G + 4, 2);
	hit(b, p);
	assert_int_equal(newest(b)->frame_count, 3);
	assert_false(newest(b)->raw);
}

static void records_other_stacks_as_far_as_they_go(void **state)
{
	struct bench *b = *state;
	struct probed h = add_function(b, RT_PATH, BYTES, H);
	uint8_t *page =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(page + 8192, 4096, PROT_NONE);
	b->sp = (uint64_t *)(page + 8192 - 64);
	b->sp[1] = G + 4; /* unknown */
	hit(b, h.enter);
	const struct rt_raw *r = (struct rt_raw *)(b->region + newest(b)->raw);
	assert_int_equal(r->stack_size, 64);
	assert_memory_equal(r + 1, b->sp, 64);
	b->area->bytes += 2;
	hit(b, h.leave);
	assert_int_equal(newest(b)->total[RT_BYTES], 2);
	munmap(page, 3 * 4096);
}

static void goes_on_when_raw_room_is_used_up(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_counted(b, H);
	header(b)->raw_used = RT_RAW_BYTES - 64;
	call(b, 0, G + 4);
	hit(b, p);
	hit(b, p);
	assert_true(newest(b)->raw == RT_RAW_UNKNOWN);
	assert_int_equal(newest(b)->calls, 2);
}

/* A walk must not leave the stack, whatever the steps say. */
static void wrong_steps_do_no_harm(void **state)
{
	struct bench *b = *state;
	uint64_t wrong[] = {step(RT_STEP_SP, -8, 8, 0),  step(RT_STEP_SP, 1 << 26, 8, 0),
			    step(RT_STEP_FP, 0, 8, 8),   step(RT_STEP_SP, 8, 0xffff * 8, 0),
			    step(RT_STEP_SP, 8, 0, 8),   step(RT_STEP_SP, 8, 8, 0xffff * 8),
			    step(RT_STEP_SP, 0, 0, 0),   step(9, 8, 8, 0),
			    ENTRY_STEP | RT_STEP_IN_LINK};
	struct rt_probe *p = add_counted(b, H);
	begin_program(b);
	call(b, 4, F + 4);
	b->fp = 0x10;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		set_step(b, F + 4, wrong[i]);
		hit(b, p);
	}
	assert_int_equal(newest(b)->calls, sizeof(wrong) / sizeof(wrong[0]));
	assert_int_equal(b->area->raw_walks, sizeof(wrong) / sizeof(wrong[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(walks_to_the_root),
		TEST(follows_frame_pointers),
#ifdef __aarch64__
		TEST(finds_returns_in_the_link_register),
#endif
		TEST(notices_changes_at_any_depth),
		TEST(ends_at_an_anchor),
		TEST(anchors_must_live),
		TEST(recursion_shows_in_the_path),
		TEST(mutual_recursion_is_folded),
		TEST(recursion_without_anchors),
		TEST(cuts_deep_recursion_off),
		TEST(walks_over_signal_frames),
		TEST(records_what_it_cannot_walk),
		TEST(records_other_stacks_as_far_as_they_go),
		TEST(goes_on_when_raw_room_is_used_up),
		TEST(wrong_steps_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
