/* Walks random functions of both architectures at random and executes the spots that they pass:
 * whatever begins must end, in the reverse order, before the function is left. And what is never
 * changed, whatever is to be there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_code.h"
#include "patch/fragment.h"

enum { FUNCTIONS = 1500, WALKS = 20, STEPS = 200, ALL = (1u << POINT_KINDS) - 1 };

/* What has begun and not ended. */
struct open {
	uint8_t kind; /* of the point that began it */
	uint32_t loop;
};

struct walk {
	const struct made *m;
	const struct cfg *g;
	const struct spot_list *spots;
	VEC(struct open) stack;
	uint64_t passed; /* spots executed */
};

static void ends(struct walk *w, enum point_kind began, uint32_t loop)
{
	assert_true(w->stack.len > 0);
	assert_int_equal(vec_last(&w->stack).kind, began);
	assert_int_equal(vec_last(&w->stack).loop, loop);
	(void)vec_pop(&w->stack);
}

static void execute(struct walk *w, const struct spot *s)
{
	w->passed++;
	switch (s->kind) {
	case POINT_ENTRY: assert_int_equal(w->stack.len, 0); /* fall through */
	case POINT_LOOP_ENTRY:
	case POINT_ITERATION_BEGIN:
	case POINT_SYSCALL:
	case POINT_PASS: vec_push(&w->stack, (struct open){s->kind, s->loop}); break;
	case POINT_EXIT: ends(w, POINT_ENTRY, LOOP_NONE); break;
	case POINT_LOOP_EXIT: ends(w, POINT_LOOP_ENTRY, s->loop); break;
	case POINT_ITERATION_END: ends(w, POINT_ITERATION_BEGIN, s->loop); break;
	case POINT_SYSCALL_DONE: ends(w, POINT_SYSCALL, LOOP_NONE); break;
	case POINT_PASS_DONE: ends(w, POINT_PASS, LOOP_NONE); break;
	default: break;
	}
}

static void pass(struct walk *w, enum spot_place place, uint32_t edge, uint64_t va)
{
	for (uint32_t i = 0; i < w->spots->len; i++) {
		const struct spot *s = &w->spots->data[i];
		if (s->place == place && (place == SPOT_EDGE ? s->edge == edge : s->va == va))
			execute(w, s);
	}
}

/* The instructions of a block; returns the last one's address. */
static uint64_t pass_block(struct walk *w, const struct block *b, bool from_outside)
{
	uint64_t last = b->start, va = b->start;
	struct insn in;
	for (; va < b->start + b->size; va += in.length) {
		size_t n;
		const uint8_t *p = module_at(w->m->module, va, b->start + b->size - va, &n);
		assert_true(w->m->arch->decode(p, n, va, DECODE_FLOW, &in));
		if (from_outside && !(in.flags & INSN_LANDING)) {
			pass(w, SPOT_ENTRY, 0, va);
			from_outside = false;
		}
		pass(w, SPOT_BEFORE, 0, va);
		last = va;
	}
	if (from_outside)
		pass(w, SPOT_ENTRY, 0, va);
	return last;
}

/* From the entry to an exit, or as long as it takes; true if it ended at an exit. */
static bool walk_once(struct walk *w)
{
	uint32_t at = w->g->entry;
	for (uint32_t step = 0; step < STEPS; step++) {
		const struct block *b = &w->g->blocks[at];
		uint64_t last = pass_block(w, b, step == 0);
		bool may_leave = b->flags & BLOCK_CONDITIONAL;
		if (may_leave && made_random(4) == 0) {
			pass(w, SPOT_TAKEN, 0, last);
			return true;
		}
		if (!b->edge_count)
			return b->end == END_RETURN || b->end == END_TAIL_CALL;
		uint32_t edge = b->first_edge + made_random(b->edge_count);
		pass(w, SPOT_EDGE, edge, 0);
		at = w->g->edges[edge].to;
	}
	return false;
}

static void check_function(struct made *m, uint32_t *ended, uint32_t *loop_count)
{
	struct arena a, tmp;
	struct loop_forest forest;
	struct spot_list spots = {0};
	arena_init(&a);
	arena_init(&tmp);
	const struct cfg *g = made_cfg(m, &a, &tmp);
	assert_non_null(g);
	loops_find(g, &forest, &a, &tmp);
	spots_find(m->flow, g, &forest, ALL, LOOP_NONE, &spots);
	struct walk w = {.m = m, .g = g, .spots = &spots};
	*loop_count += forest.loop_count;
	for (int i = 0; i < WALKS; i++) {
		vec_clear(&w.stack);
		if (walk_once(&w)) {
			assert_int_equal(w.stack.len, 0);
			++*ended;
		}
	}
	assert_true(w.passed > 0);
	vec_free(&w.stack);
	vec_free(&spots);
	arena_release(&a);
	arena_release(&tmp);
}

static void what_begins_ends_in_order(void **state)
{
	uint32_t ended = 0, loop_count = 0;
	(void)state;
	for (int i = 0; i < FUNCTIONS; i++) {
		struct made m;
		assert_true(made_open(&m, i & 1 ? &arch_a64 : &arch_x64));
		check_function(&m, &ended, &loop_count);
		made_close(&m);
	}
	assert_true(ended > FUNCTIONS);
	assert_true(loop_count > FUNCTIONS / 2);
}

static bool same_spot(const struct spot *x, const struct spot *y)
{
	return x->kind == y->kind && x->place == y->place && x->loop == y->loop &&
	       x->edge == y->edge && x->va == y->va;
}

/* Asking for some kinds, or one loop, gives those of all that are of them, in the same order. */
static void a_part_is_as_in_the_whole(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		struct made m;
		struct arena a;
		struct loop_forest forest;
		struct spot_list all = {0}, some = {0};
		uint32_t kinds = made_random(ALL), at = 0;
		assert_true(made_open(&m, i & 1 ? &arch_a64 : &arch_x64));
		arena_init(&a);
		const struct cfg *g = made_cfg(&m, &a, &a);
		loops_find(g, &forest, &a, &a);
		uint32_t loop = forest.loop_count ? made_random(forest.loop_count) : 0;
		spots_find(m.flow, g, &forest, ALL, LOOP_NONE, &all);
		spots_find(m.flow, g, &forest, kinds, loop, &some);
		vec_each (s, &all) {
			if (!(kinds >> s->kind & 1) || (s->loop != LOOP_NONE && s->loop != loop))
				continue;
			assert_true(at < some.len);
			assert_true(same_spot(s, &some.data[at++]));
		}
		assert_int_equal(at, some.len);
		vec_free(&all);
		vec_free(&some);
		arena_release(&a);
		made_close(&m);
	}
}

static enum refusal refusal_of_entry(const struct arch *arch, const struct made_code *code)
{
	struct made m;
	struct arena a;
	struct loop_forest forest;
	struct liveness live;
	struct spot_list spots = {0};
	struct fragment f;
	assert_true(made_open_code(&m, arch, code, code->size));
	arena_init(&a);
	const struct cfg *g = made_cfg(&m, &a, &a);
	loops_find(g, &forest, &a, &a);
	spots_find(m.flow, g, &forest, 1u << POINT_ENTRY, LOOP_NONE, &spots);
	liveness_find(&live, m.flow, g, (struct regset){0}, &a, &a);
	assert_int_equal(spots.len, 1);
	struct spot_probe probe = {.spot = spots.data[0]};
	struct fragment_request r = {.flow = m.flow,
				     .function = made_function(&m, "big"),
				     .cfg = g,
				     .live = &live,
				     .probes = &probe,
				     .count = 1,
				     .address = MADE_BASE + 0x10000,
				     .relocate = true};
	bool made = fragment_make(&f, &r, &a);
	assert_int_equal(made, probe.refused == REFUSED_NONE);
	fragment_release(&f);
	vec_free(&spots);
	arena_release(&a);
	made_close(&m);
	return probe.refused;
}

/* Unwinders find the bytes that they know. */
static void where_handlers_return_to_is_left_alone(void **state)
{
	const struct arch *arches[] = {&arch_a64, &arch_x64};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		const struct arch_layout *layout = arches[i]->layout;
		struct made_code code = {0};
		made_add(&code, layout->sigreturn, layout->sigreturn_size);
		made_add_callee(arches[i], &code);
		assert_int_equal(refusal_of_entry(arches[i], &code), REFUSED_TRAMPOLINE);
		code.size = 0;
		made_add_callee(arches[i], &code);
		assert_int_equal(refusal_of_entry(arches[i], &code), REFUSED_NONE);
	}
}

/* Behind what is there for landing: as musl has it, and glibc since 2.41. */
static const uint8_t a64_pinned[] = {
	0x5f, 0x24, 0x03, 0xd5, /* bti c */
	0x00, 0x00, 0x40, 0xb9, /* ldr w0, [x0] */
	0x60, 0x00, 0x18, 0x37, /* tbnz w0, 3, + 12 */
	0xe8, 0x03, 0x01, 0xaa, /* mov x8, x1 */
	0x01, 0x00, 0x00, 0xd4, /* svc 0 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
};
static const uint8_t x64_pinned[] = {
	0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
	0x8b, 0x07,             /* mov (%rdi), %eax */
	0xf6, 0x07, 0x08,       /* testb $8, (%rdi) */
	0x75, 0x05,             /* jne + 5 */
	0x48, 0x89, 0xf0,       /* mov %rsi, %rax */
	0x0f, 0x05,             /* syscall */
	0xc3,                   /* ret */
};

static enum refusal refusal_of(const struct arch *arch, const uint8_t *bytes, uint32_t size)
{
	struct made_code code = {0};
	made_add(&code, bytes, size);
	made_add_callee(arch, &code);
	return refusal_of_entry(arch, &code);
}

/* One instruction made another one after the other: whatever the handler could not take for what it
 * knows may be moved. */
static void code_that_handlers_compare_the_pc_with_is_left_alone(void **state)
{
	static const struct {
		const struct arch *arch;
		const uint8_t *bytes;
		uint32_t size, landing;
		struct {
			uint32_t at, size;
		} needed[4];
	} known[] = {
		{&arch_a64, a64_pinned, sizeof(a64_pinned), 4, {{4, 4}, {8, 4}, {12, 4}, {16, 4}}},
		{&arch_x64, x64_pinned, sizeof(x64_pinned), 4, {{4, 2}, {9, 2}, {11, 3}, {14, 2}}},
	};
	static const uint8_t a64_nop[] = {0x1f, 0x20, 0x03, 0xd5},
			     x64_nop[] = {0x90, 0x90, 0x90, 0x90};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		uint8_t bytes[64];
		const uint8_t *nop = known[i].arch == &arch_a64 ? a64_nop : x64_nop;
		assert_int_equal(refusal_of(known[i].arch, known[i].bytes, known[i].size),
				 REFUSED_PINNED);
		assert_int_equal(refusal_of(known[i].arch, known[i].bytes + known[i].landing,
					    known[i].size - known[i].landing),
				 REFUSED_PINNED);
		for (size_t k = 0; k < ARRAY_SIZE(known[i].needed); k++) {
			memcpy(bytes, known[i].bytes, known[i].size);
			memcpy(bytes + known[i].needed[k].at, nop, known[i].needed[k].size);
			assert_int_equal(refusal_of(known[i].arch, bytes, known[i].size),
					 REFUSED_NONE);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_begins_ends_in_order),
		cmocka_unit_test(a_part_is_as_in_the_whole),
		cmocka_unit_test(where_handlers_return_to_is_left_alone),
		cmocka_unit_test(code_that_handlers_compare_the_pc_with_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
