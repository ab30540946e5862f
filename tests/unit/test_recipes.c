/* Recipes from the code alone against call frame information, at every instruction of real code;
 * and the state that they are made from, one instruction at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "flow/entry.h"
#include "module/cfi.h"
#include "module_tables.h"
#include "unwind/choose_recipe.h"
#include "unwind/prologue.h"
#include "unwind/recipes.h"

struct comparison {
	uint32_t compared, unknown, differing;
};

/* Both lead to the same CFA and return address; where they use different registers for it nothing
 * can be said. */
static bool agree(const struct recipe *r, const struct cfi_row *row)
{
	if (r->cfa == CFA_REGISTER && r->cfa_reg == row->cfa_reg &&
	    r->cfa_offset != row->cfa_offset)
		return false;
	return !(r->ret == RETURN_SAVED && row->ret == CFI_SAVED &&
		 r->ret_offset != row->ret_offset);
}

static void compare(const struct module *m, struct recipes *code, struct cfi *c, uint64_t va,
		    struct comparison *out)
{
	struct cfi_row row;
	if (!cfi_row_at(c, va, &row) || row.cfa != CFI_CFA_REGISTER || row.is_signal ||
	    row.ret == CFI_UNDEFINED || !module_is_code(m, va))
		return;
	const struct recipe *r = recipes_at(code, va);
	if (r->source == RECIPE_ASSUMED) /* padding between blocks, which is never executed */
		return;
	out->compared++;
	out->unknown += r->cfa == CFA_UNKNOWN || r->ret == RETURN_UNKNOWN;
	out->differing += !agree(r, &row);
}

static struct comparison compare_module(const char *path)
{
	struct comparison out = {0};
	struct recipes_options from_code = {.no_cfi = true};
	struct module *m;
	struct flow *f;
	struct err e;
	uint32_t count;
	assert_int_equal(module_open(&m, path, &e), 0);
	assert_int_equal(flow_open(&f, m, &e), 0);
	struct recipes *code = recipes_open(f, &from_code);
	struct cfi *c = cfi_open(m, NULL);
	assert_non_null(c);
	flow_discover(f);
	const struct function *all = flow_functions(f, &count);
	for (uint32_t i = 0; i < count; i++) {
		struct insn in;
		for (uint64_t va = all[i].start; va < all[i].end; va += in.length) {
			if (!decode_at(m, flow_arch(f), va, DECODE_FLOW, &in))
				break;
			compare(m, code, c, va, &out);
		}
	}
	cfi_close(c);
	recipes_close(code);
	flow_close(f);
	module_close(m);
	return out;
}

/* This program: compiled code, without oddities. */
static void agrees_with_cfi_on_compiled_code(void **state)
{
	(void)state;
	struct comparison c = compare_module("/proc/self/exe");
	assert_true(c.compared > 10000);
	/* _start never returns, and overwrites what it was entered with. */
	assert_in_range(c.unknown, 0, 12);
	assert_int_equal(c.differing, 0);
}

/* A register that was saved may still have its value: both are right. What became of it need not be
 * described. */
static bool are_saved_alike(const struct recipe *a, const struct recipe *described)
{
	for (unsigned i = 0; i < CALLEE_SAVED_MAX; i++)
		if (a->slot[i] != described->slot[i] && a->slot[i] != SLOT_SAME &&
		    described->slot[i] != SLOT_SAME && described->slot[i] != SLOT_LOST)
			return false;
	return true;
}

static bool lead_to_the_same_caller(const struct recipe *a, const struct recipe *b)
{
	return a->ret == b->ret && a->ret_offset == b->ret_offset &&
	       (a->cfa_reg != b->cfa_reg || a->cfa_offset == b->cfa_offset) &&
	       are_saved_alike(a, b);
}

/* Compares the descriptions of the calls in a function with the recipes from its analysis; returns
 * how many there are. */
static uint32_t compare_calls(struct flow *f, struct recipes *analysed, struct recipes *r,
			      const struct function *p)
{
	uint32_t count = 0;
	struct insn in;
	for (uint64_t va = p->start; va < p->end; va += in.length) {
		struct recipe described;
		if (!decode_at(flow_module(f), flow_arch(f), va, DECODE_FLOW, &in))
			break;
		if ((in.kind != INSN_CALL && in.kind != INSN_CALL_INDIRECT) ||
		    !recipes_describe(r, va, &described) || described.ret == RETURN_NONE)
			continue;
		const struct recipe *right = recipes_at(analysed, va);
		if (right->source != RECIPE_ANALYSIS)
			continue;
		assert_true(lead_to_the_same_caller(right, &described));
		count++;
	}
	return count;
}

/* By call frame information or, if it is hidden, by prologues. This program keeps frame pointers.
 */
static void check_calls(bool hidden)
{
	struct module *m;
	struct flow *f;
	struct err e;
	uint32_t count, calls = 0;
	assert_int_equal(module_open(&m, "/proc/self/exe", &e), 0);
	assert_int_equal(flow_open(&f, m, &e), 0);
	if (hidden)
		hide_frames(m);
	struct recipes *analysed = recipes_open(f, NULL), *r = recipes_open(f, NULL);
	const struct function *all = flow_functions(f, &count);
	for (uint32_t i = 0; i < count; i++)
		calls += compare_calls(f, analysed, r, &all[i]);
	assert_true(calls > 1000);
	recipes_close(analysed);
	recipes_close(r);
	flow_close(f);
	module_close(m);
}

static void calls_are_described_right(void **state)
{
	(void)state;
	check_calls(false);
	check_calls(true);
}

/* One function that makes a frame record, and one that does not. Their addresses are taken, which
 * is wrong for local symbols of assembly on aarch64. */
void with_record(void), without_record(void);
__asm__(".text\n"
	".globl with_record, without_record\n"
	".hidden with_record, without_record\n"
	".p2align 4\n"
#ifdef __aarch64__
	"with_record:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	mov x29, sp\n"
	"	str x19, [sp, #16]\n"
	"	blr x0\n"
	"without_record:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	blr x0\n"
#else
	"with_record:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	sub $24, %rsp\n"
	"	call *%rdi\n"
	"without_record:\n"
	"	push %rbp\n"
	"	sub $32, %rsp\n"
	"	call *%rdi\n"
#endif
);

static int32_t slot_of(const struct recipe *r, unsigned reg)
{
	uint8_t list[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(arch_native(), list);
	for (unsigned i = 0; i < count; i++)
		if (list[i] == reg)
			return r->slot[i];
	fail_msg("it is not preserved");
	return 0;
}

static void a_prologue_describes_its_frame_record(void **state)
{
	extern const char __executable_start[];
	const uint64_t base = (uint64_t)(uintptr_t)__executable_start;
	const struct arch *arch = arch_native();
	const bool linked = arch->link != REG_NONE;
	struct module *m;
	struct recipe r;
	struct err e;
	(void)state;
	assert_int_equal(module_open(&m, "/proc/self/exe", &e), 0);
	assert_true(prologue_describes(m, arch, (uint64_t)(uintptr_t)with_record - base, &r));
	assert_true(r.cfa == CFA_REGISTER && r.cfa_reg == arch->fp && r.record);
	assert_int_equal(r.cfa_offset, linked ? 32 : 16);
	assert_int_equal(r.ret, RETURN_SAVED);
	assert_int_equal(r.ret_offset, linked ? -24 : -8);
	assert_int_equal(slot_of(&r, arch->fp), linked ? -32 : -16);
	assert_int_equal(slot_of(&r, linked ? 19 : 3), linked ? -16 : -24);
	assert_int_equal(slot_of(&r, linked ? 20 : 12), SLOT_LOST);
	assert_false(prologue_describes(m, arch, (uint64_t)(uintptr_t)without_record - base, &r));
	module_close(m);
}

/* Straight through a function: what state_execute() says to change nothing leads to no other
 * recipe. Returns how often it said so. */
static uint32_t check_told_changes(const struct module *m, const struct arch *arch,
				   const struct function *p)
{
	uint32_t unchanged = 0;
	struct state s;
	struct insn in;
	state_at_entry(&s, arch, arch->link == REG_NONE ? 8 : 0);
	for (uint64_t va = p->start; va < p->end; va += in.length) {
		if (!decode_at(m, arch, va, DECODE_FULL, &in))
			break;
		struct recipe before = choose_recipe(&s, arch);
		if (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT) {
			state_call(&s, arch, &in, 0);
		} else if (!state_execute(&s, arch, &in, 1)) {
			struct recipe after = choose_recipe(&s, arch);
			assert_memory_equal(&before, &after, sizeof(before));
			unchanged++;
		}
	}
	return unchanged;
}

static void changes_are_told(void **state)
{
	struct module *m;
	struct flow *f;
	struct err e;
	uint32_t count, unchanged = 0;
	(void)state;
	assert_int_equal(module_open(&m, "/proc/self/exe", &e), 0);
	assert_int_equal(flow_open(&f, m, &e), 0);
	const struct function *all = flow_functions(f, &count);
	for (uint32_t i = 0; i < count; i++)
		unchanged += check_told_changes(m, flow_arch(f), &all[i]);
	assert_true(unchanged > 10000);
	flow_close(f);
	module_close(m);
}

static bool is_discovered(const struct flow *f)
{
	uint32_t count, called = 0;
	const struct function *all = flow_functions(f, &count);
	for (uint32_t i = 0; i < count; i++)
		called += (all[i].found_by & FOUND_CALL) != 0;
	return called;
}

/* Hand-written code whose symbol has no size, without call frame information. Start-up code of the
 * C compiler is not enough: on aarch64, it has call frame information. */
__asm__(".text\n"
	".p2align 4\n"
	".type code_of_unknown_extent, %function\n"
	"code_of_unknown_extent:\n"
	"	ret\n");

static bool is_of_unknown_extent(const struct module *m, const struct function *p)
{
	return !p->bounded && !strcmp(module_section_at(m, p->start)->name, ".text");
}

/* Most linkage tables have no call frame information, nor has much hand-written code. To discover a
 * whole module for such a place, which samples hit soon, costs seconds. */
static void only_code_of_unknown_extent_needs_discovery(void **state)
{
	struct module *m;
	struct flow *f;
	struct err e;
	uint32_t count, i = 0;
	(void)state;
	assert_int_equal(module_open(&m, "/proc/self/exe", &e), 0);
	assert_int_equal(flow_open(&f, m, &e), 0);
	hide_frames(m);
	struct recipes *r = recipes_open(f, NULL);
	const struct function *all = flow_functions(f, &count);
	while (i < count && !(all[i].flags & FUNCTION_PLT))
		i++;
	assert_in_range(i, 0, count - 1);
	assert_int_equal(recipes_at(r, all[i].start)->cfa, CFA_REGISTER);
	assert_false(is_discovered(f));
	for (i = 0; i < count && !all[i].bounded;)
		i++;
	assert_in_range(i, 0, count - 1);
	assert_int_equal(recipes_at(r, all[i].start)->cfa, CFA_REGISTER);
	assert_false(is_discovered(f));
	for (i = 0; i < count && !is_of_unknown_extent(m, &all[i]);)
		i++;
	assert_in_range(i, 0, count - 1);
	const uint64_t unknown = all[i].start;
	assert_false(flow_is_searched(f, unknown));
	recipes_at(r, unknown);
	assert_true(flow_is_searched(f, unknown));
	recipes_close(r);
	flow_close(f);
	module_close(m);
}

static const struct arch *const both[] = {&arch_a64, &arch_x64};

static void entry_state_is_restored(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct state s;
		struct insn last = {.kind = INSN_RETURN};
		int32_t off;
		int32_t pushed = both[i]->link == REG_NONE ? 8 : 0;
		state_at_entry(&s, both[i], pushed);
		assert_true(state_is_restored(&s, both[i], &last, &off));
		struct recipe r = choose_recipe(&s, both[i]);
		assert_int_equal(r.cfa, CFA_REGISTER);
		assert_int_equal(r.cfa_reg, both[i]->sp);
		assert_int_equal(r.cfa_offset, pushed);
		state_at_entry(&s, both[i], pushed + 16);
		assert_false(state_is_restored(&s, both[i], &last, &off));
		assert_int_equal(off, -16);
	}
}

/* A register that was saved and overwritten is found again; once its slot is overwritten, it is
 * not. */
static void slots_follow_stores(void **state)
{
	(void)state;
	const struct arch *arch = &arch_a64;
	enum { X19 = 19, SP = 31, INDEX = 0 };
	struct state s;
	state_at_entry(&s, arch, 0);
	struct insn save = {.op = OP_STORE,
			    .dst = X19,
			    .a = SP,
			    .b = REG_NONE,
			    .width = 8,
			    .imm = -16,
			    .writeback = WRITEBACK_PRE,
			    .stack_known = true,
			    .stack = -16,
			    .writes.core = UINT64_C(1) << SP};
	struct insn overwrite = {.op = OP_OTHER,
				 .dst = REG_NONE,
				 .a = REG_NONE,
				 .b = REG_NONE,
				 .dst2 = REG_NONE,
				 .stack_known = true,
				 .writes.core = UINT64_C(1) << X19};
	assert_true(state_execute(&s, arch, &save, 0));
	assert_int_equal(choose_recipe(&s, arch).slot[INDEX], SLOT_SAME);
	assert_true(state_execute(&s, arch, &overwrite, 0));
	assert_int_equal(choose_recipe(&s, arch).slot[INDEX], -16);
	struct insn clobber = {.op = OP_STORE,
			       .dst = REG_NONE,
			       .a = SP,
			       .b = REG_NONE,
			       .width = 4,
			       .imm = 4,
			       .stack_known = true};
	assert_true(state_execute(&s, arch, &clobber, 0));
	assert_int_equal(choose_recipe(&s, arch).slot[INDEX], SLOT_LOST);
}

static void meeting_keeps_what_both_know(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct state a, b;
		bool disagree = false;
		state_at_entry(&a, both[i], 8);
		b = a;
		assert_false(state_meet(&a, both[i], &b, false, &disagree));
		assert_false(disagree);
		b.reg[both[i]->fp].kind = VALUE_UNKNOWN;
		assert_true(state_meet(&a, both[i], &b, false, &disagree));
		assert_int_equal(a.reg[both[i]->fp].kind, VALUE_UNKNOWN);
		b.reg[both[i]->sp].offset -= 8;
		disagree = false;
		assert_false(state_meet(&a, both[i], &b, true, &disagree));
		assert_true(disagree);
		assert_int_equal(a.reg[both[i]->sp].kind, VALUE_STACK);
		assert_true(state_meet(&a, both[i], &b, false, &disagree));
		assert_int_equal(a.reg[both[i]->sp].kind, VALUE_UNKNOWN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_cfi_on_compiled_code),
		cmocka_unit_test(calls_are_described_right),
		cmocka_unit_test(a_prologue_describes_its_frame_record),
		cmocka_unit_test(changes_are_told),
		cmocka_unit_test(only_code_of_unknown_extent_needs_discovery),
		cmocka_unit_test(entry_state_is_restored),
		cmocka_unit_test(slots_follow_stores),
		cmocka_unit_test(meeting_keeps_what_both_know),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
