/* Functions and graphs of this very program, whose symbols tell the truth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <link.h>
#include <string.h>

#include "flow/flow.h"
#include "flow/internal.h"
#include "flow/loops.h"
#include "module_tables.h"

struct fixture {
	struct module *module;
	struct flow *lazy, *full;
	struct arena a;
};

static int open_self(void **state)
{
	static struct fixture f;
	struct err e;
	if (module_open(&f.module, "/proc/self/exe", &e) || flow_open(&f.lazy, f.module, &e) ||
	    flow_open(&f.full, f.module, &e))
		return -1;
	flow_discover(f.full);
	arena_init(&f.a);
	*state = &f;
	return 0;
}

static int close_self(void **state)
{
	struct fixture *f = *state;
	flow_close(f->lazy);
	flow_close(f->full);
	module_close(f->module);
	arena_release(&f->a);
	return 0;
}

/* Found below by their names. Two nested loops, and none of them can be removed. */
__attribute__((noinline)) int test_flow_nest(volatile int *n);
__attribute__((noinline, noreturn)) void test_flow_never_returns(volatile int *n);
__attribute__((noinline)) int test_flow_may_not_return(volatile int *n);

int test_flow_nest(volatile int *n)
{
	int sum = 0;
	for (int i = 0; i < *n; i++)
		for (int k = 0; k < *n; k++)
			sum += *n;
	return sum;
}

void test_flow_never_returns(volatile int *n)
{
	for (;;)
		*n = *n + 1;
}

int test_flow_may_not_return(volatile int *n)
{
	if (*n < 0)
		test_flow_never_returns(n);
	return *n;
}

/* Global labels in the middle of a function, as glibc has them around a system call, and one after
 * its end, where only the label shows that another function begins. */
__asm__(".text\n"
	".globl test_flow_labels, test_flow_label_first, test_flow_label_last, test_flow_untyped\n"
	".type test_flow_labels, %function\n"
	"test_flow_labels: nop\n"
	"test_flow_label_first: nop\n"
	"test_flow_label_last: ret\n"
	".size test_flow_labels, . - test_flow_labels\n"
	"test_flow_untyped: ret\n");

static uint32_t find(const struct flow *f, const char *name)
{
	uint32_t n;
	const struct function *p = flow_functions(f, &n);
	for (uint32_t i = 0; i < n; i++)
		if (p[i].name && !strcmp(p[i].name, name))
			return i;
	fail_msg("there is no function %s", name);
	return 0;
}

static void every_symbol_is_a_function(void **state)
{
	struct fixture *f = *state;
	uint32_t n;
	const struct function *p = flow_functions(f->full, &n);
	for (uint32_t i = 0; i + 1 < n; i++)
		assert_true(p[i].start < p[i + 1].start);
	for (uint32_t i = 0; i < symbol_count(f->module); i++) {
		const struct symbol *s = &symbols_of(f->module)[i];
		if (s->flags & (SYMBOL_OBJECT | SYMBOL_DATA_MARK | SYMBOL_CODE_MARK) || !s->size ||
		    !module_is_code(f->module, s->va) || strstr(s->name, ".cold"))
			continue;
		uint32_t at = flow_function_at(f->full, s->va);
		assert_true(at < n);
		assert_int_equal(p[at].start, s->va);
	}
}

static uint64_t symbol_va(const struct module *m, const char *name)
{
	for (uint32_t i = 0; i < symbol_count(m); i++)
		if (!strcmp(symbols_of(m)[i].name, name))
			return symbols_of(m)[i].va;
	fail_msg("there is no symbol %s", name);
	return 0;
}

static void labels_in_a_function_begin_none(void **state)
{
	struct fixture *f = *state;
	const struct flow *flows[] = {f->lazy, f->full};
	for (unsigned i = 0; i < ARRAY_SIZE(flows); i++) {
		uint32_t n, around = find(flows[i], "test_flow_labels");
		const struct function *p = flow_functions(flows[i], &n);
		uint64_t last = symbol_va(f->module, "test_flow_label_last");
		assert_int_equal(flow_function_at(flows[i], last), around);
		assert_int_equal(p[around].end, symbol_va(f->module, "test_flow_untyped"));
		find(flows[i], "test_flow_untyped");
	}
	const struct cfg *g = flow_cfg(f->full, find(f->full, "test_flow_labels"), &f->a, &f->a);
	assert_int_equal(g->block_count, 1);
	assert_int_equal(g->blocks[0].end, END_RETURN);
}

static void loops_of_a_function_nest_as_written(void **state)
{
	struct fixture *f = *state;
	struct loop_forest loops;
	const struct cfg *g = flow_cfg(f->full, find(f->full, "test_flow_nest"), &f->a, &f->a);
	loops_find(g, &loops, &f->a, &f->a);
	uint32_t deepest = 0;
	for (uint32_t i = 0; i < loops.loop_count; i++)
		deepest = loops.loops[i].depth > deepest ? loops.loops[i].depth : deepest;
	assert_int_equal(deepest, 2);
	assert_int_equal(g->unresolved + g->bad, 0);
}

static void calls_that_do_not_return_are_seen_through(void **state)
{
	struct fixture *f = *state;
	uint32_t n;
	const struct function *p = flow_functions(f->full, &n);
	assert_true(p[find(f->full, "test_flow_never_returns")].flags & FUNCTION_NORETURN);
	assert_false(p[find(f->full, "test_flow_may_not_return")].flags & FUNCTION_NORETURN);
}

static bool same_graph(const struct cfg *x, const struct cfg *y)
{
	if (x->block_count != y->block_count || x->edge_count != y->edge_count)
		return false;
	for (uint32_t i = 0; i < x->block_count; i++)
		if (x->blocks[i].start != y->blocks[i].start ||
		    x->blocks[i].end != y->blocks[i].end)
			return false;
	return true;
}

/* A graph asked for on its own is the one that discovering everything gives. Callees that do not
 * return are looked for to a limited depth only, so a few may differ. */
static void one_function_alone_is_as_among_all(void **state)
{
	struct fixture *f = *state;
	struct arena tmp;
	uint32_t n, same = 0, different = 0;
	const struct function *p = flow_functions(f->lazy, &n);
	arena_init(&tmp);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t other = flow_function_at(f->full, p[i].start);
		const struct cfg *alone = flow_cfg(f->lazy, i, &tmp, &tmp);
		const struct cfg *among = flow_cfg(f->full, other, &tmp, &tmp);
		bool equal = same_graph(alone, among);
		same += equal;
		different += !equal;
		arena_clear(&tmp);
	}
	arena_release(&tmp);
	assert_true(same > 100);
	assert_true(different * 100 <= same);
}

static void assert_same_block(const struct block *x, const struct block *y)
{
	assert_int_equal(x->start, y->start);
	assert_int_equal(x->target, y->target);
	assert_int_equal(x->size, y->size);
	assert_int_equal(x->insn_count, y->insn_count);
	assert_int_equal(x->first_edge, y->first_edge);
	assert_int_equal(x->edge_count, y->edge_count);
	assert_int_equal(x->end, y->end);
	assert_int_equal(x->flags, y->flags);
}

static void assert_same_edges(const struct cfg *x, const struct cfg *y)
{
	assert_int_equal(x->edge_count, y->edge_count);
	for (uint32_t i = 0; i < x->edge_count; i++) {
		assert_int_equal(x->edges[i].from, y->edges[i].from);
		assert_int_equal(x->edges[i].to, y->edges[i].to);
		assert_int_equal(x->edges[i].kind, y->edges[i].kind);
		assert_int_equal(x->pred_edges[i], y->pred_edges[i]);
	}
	for (uint32_t i = 0; i <= x->block_count; i++)
		assert_int_equal(x->first_pred[i], y->first_pred[i]);
}

static void assert_same_table(const struct jump_table *x, const struct jump_table *y)
{
	assert_int_equal(x->block, y->block);
	assert_int_equal(x->va, y->va);
	assert_int_equal(x->count, y->count);
	assert_int_equal(x->entry_size, y->entry_size);
	assert_int_equal(x->bound, y->bound);
	assert_int_equal(x->closed, y->closed);
}

static void assert_packs(const struct cfg *g)
{
	struct arena a;
	arena_init(&a);
	const struct cfg *again = graph_unpack(graph_pack(g, &a, &a), &a);
	assert_int_equal(g->block_count, again->block_count);
	assert_int_equal(g->entry, again->entry);
	assert_int_equal(g->insn_count, again->insn_count);
	assert_int_equal(g->unresolved, again->unresolved);
	assert_int_equal(g->bad, again->bad);
	for (uint32_t i = 0; i < g->block_count; i++)
		assert_same_block(&g->blocks[i], &again->blocks[i]);
	assert_same_edges(g, again);
	assert_int_equal(g->table_count, again->table_count);
	for (uint32_t i = 0; i < g->table_count; i++)
		assert_same_table(&g->tables[i], &again->tables[i]);
	assert_int_equal(g->escape_count, again->escape_count);
	for (uint32_t i = 0; i < g->escape_count; i++)
		assert_int_equal(g->escapes[i], again->escapes[i]);
	arena_release(&a);
}

static void packed_graphs_lose_nothing(void **state)
{
	struct fixture *f = *state;
	struct arena tmp;
	uint32_t n;
	flow_functions(f->lazy, &n);
	arena_init(&tmp);
	for (uint32_t i = 0; i < n; i++) {
		assert_packs(flow_cfg(f->lazy, i, &tmp, &tmp));
		arena_clear(&tmp);
	}
	arena_release(&tmp);
}

/* Everything that graphs of real functions hardly ever have: blocks that overlap, targets and
 * escapes on all sides, instructions of any length, many edges, extreme numbers. */
static void unusual_graphs_are_packed(void **state)
{
	enum { SWITCH_EDGES = 300 };
	struct fixture *f = *state;
	static struct edge edges[SWITCH_EDGES + 1];
	static const struct block blocks[] = {
		{.start = 0x1000,
		 .size = 7,
		 .insn_count = 3,
		 .edge_count = SWITCH_EDGES,
		 .end = END_SWITCH,
		 .flags = BLOCK_LANDING},
		{.start = 0x1003,
		 .size = UINT32_MAX,
		 .insn_count = UINT32_MAX,
		 .end = END_BAD,
		 .first_edge = SWITCH_EDGES},
		{.start = UINT64_MAX - 64,
		 .size = 4,
		 .insn_count = 1,
		 .edge_count = 1,
		 .first_edge = SWITCH_EDGES,
		 .end = END_TAIL_CALL,
		 .target = 1,
		 .flags = BLOCK_OPEN_FRAME | BLOCK_CONDITIONAL},
		{.start = UINT64_MAX - 60,
		 .size = 0,
		 .first_edge = SWITCH_EDGES + 1,
		 .end = END_UNRESOLVED},
	};
	static const struct jump_table tables[] = {
		{.va = UINT64_MAX,
		 .count = UINT32_MAX,
		 .entry_size = 8,
		 .bound = BOUND_LABELS,
		 .closed = true},
		{.block = 3, .va = 0, .count = 0, .bound = BOUND_COMPARE},
	};
	static const uint64_t escapes[] = {UINT64_MAX, 0, 0x1000, 0x1000};
	for (uint32_t i = 0; i < SWITCH_EDGES; i++)
		edges[i] = (struct edge){.to = i % 4, .kind = (uint8_t)(i % EDGE_KINDS)};
	edges[SWITCH_EDGES] = (struct edge){.from = 2, .to = 0, .kind = EDGE_UNWIND};
	struct cfg g = {
		.blocks = blocks,
		.block_count = ARRAY_SIZE(blocks),
		.edges = edges,
		.edge_count = ARRAY_SIZE(edges),
		.tables = tables,
		.table_count = ARRAY_SIZE(tables),
		.escapes = escapes,
		.escape_count = ARRAY_SIZE(escapes),
		.entry = 3,
		.insn_count = 3,
		.unresolved = 1,
		.bad = 1,
	};
	cfg_index_predecessors(&g, &f->a);
	assert_packs(&g);

	const struct packed_graph *p = graph_pack(&g, &f->a, &f->a);
	assert_true(packed_has(p, 0x1006));
	assert_false(packed_has(p, 0xfff));
	assert_false(packed_has(p, UINT64_MAX));
	assert_packs(&(struct cfg){.first_pred = (const uint32_t[]){0}});
}

static void reports_of_sanitizers_do_not_come_back_unless_told_to(void **state)
{
	static const char *const last[] = {"__asan_report_load8", "__asan_report_store_n",
					   "__ubsan_handle_out_of_bounds_abort",
					   "__ubsan_handle_builtin_unreachable"};
	static const char *const others[] = {"__asan_report_load8_noabort", "__asan_report_present",
					     "__asan_handle_no_return",
					     "__ubsan_handle_out_of_bounds"};
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(last); i++)
		assert_true(is_noreturn_name(last[i], true));
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(is_noreturn_name(others[i], true));
}

static int open_c_library(struct dl_phdr_info *info, size_t size, void *out)
{
	struct err e;
	(void)size;
	return strstr(info->dlpi_name, "libc.so") && !module_open(out, info->dlpi_name, &e);
}

/* Without graphs, parts are given to the same functions as with them. */
static void parts_are_joined_by_what_looks_like_jumps(void **state)
{
	struct module *m = NULL;
	struct flow *quick, *full;
	struct err e;
	uint32_t count, quick_count, parts = 0, same = 0;
	(void)state;
	dl_iterate_phdr(open_c_library, &m);
	assert_non_null(m);
	assert_int_equal(flow_open(&quick, m, &e), 0);
	assert_int_equal(flow_open(&full, m, &e), 0);
	flow_join_parts(quick);
	flow_discover(full);
	const struct function *all = flow_functions(full, &count);
	const struct function *known = flow_functions(quick, &quick_count);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < all[i].part_count; k++) {
			uint64_t part = flow_parts(full)[all[i].first_part + k].start;
			uint32_t owner = flow_function_at(quick, part);
			if (!fragment_at(quick, part))
				continue;
			parts++;
			same += owner != UINT32_MAX && known[owner].start == all[i].start;
		}
	}
	print_message("# %u of %u parts have the same owner\n", same, parts);
	assert_true(same * 10 >= parts * 9);
	flow_close(quick);
	flow_close(full);
	module_close(m);
}

/* The owner of a split-off part that is known by an address in it. */
static uint64_t owner_at(const struct module *m, uint64_t va)
{
	struct flow *f;
	struct err e;
	uint32_t count;
	assert_int_equal(flow_open(&f, m, &e), 0);
	flow_discover_near(f, va);
	uint32_t n = flow_function_at(f, va);
	uint64_t start = n == UINT32_MAX ? 0 : flow_functions(f, &count)[n].start;
	flow_close(f);
	return start;
}

static void parts_are_found_by_an_address(void **state)
{
	enum { TRIED = 3 };
	struct module *m = NULL;
	struct flow *f, *full;
	struct err e;
	uint32_t count, tried = 0;
	(void)state;
	dl_iterate_phdr(open_c_library, &m);
	assert_non_null(m);
	assert_int_equal(flow_open(&f, m, &e), 0);
	assert_int_equal(flow_open(&full, m, &e), 0);
	flow_functions(f, &count);
	flow_discover(full);
	const struct function *all = flow_functions(full, &count);
	for (uint32_t i = 0; i < count && tried < TRIED; i++) {
		uint64_t va = all[i].part_count ? flow_parts(full)[all[i].first_part].start : 0;
		if (!va || !fragment_at(f, va) || flow_function_at(f, va) != UINT32_MAX)
			continue;
		assert_int_equal(owner_at(m, va), all[i].start);
		tried++;
	}
	print_message("# %u parts\n", tried);
	flow_close(f);
	flow_close(full);
	module_close(m);
}

/* Only the code and the pointers in data are left to tell where functions are. */
static struct flow *open_without_starts(const struct module *m)
{
	struct flow *f;
	struct err e;
	assert_int_equal(flow_open(&f, m, &e), 0);
	vec_clear(&f->funcs);
	vec_clear(&f->fragments);
	publish(f);
	return f;
}

static bool is_found_near(struct flow *f, const struct function *p)
{
	uint32_t count;
	uint64_t middle = p->start + (p->end - p->start) / 2;
	middle -= middle % flow_arch(f)->insn_align;
	search_near(f, middle);
	assert_true(flow_is_searched(f, middle));
	uint32_t n = flow_function_at(f, middle);
	return n != UINT32_MAX && flow_functions(f, &count)[n].start == p->start;
}

static void functions_are_found_near_an_address(void **state)
{
	const struct fixture *x = *state;
	uint32_t count, tried = 0, found = 0;
	const struct function *all = flow_functions(x->full, &count);
	struct flow *f = open_without_starts(x->module);
	for (uint32_t i = 0; i < count; i += 7) {
		if (!(all[i].found_by & FOUND_SYMBOL) || !all[i].bounded ||
		    all[i].flags & FUNCTION_PLT)
			continue;
		tried++;
		found += is_found_near(f, &all[i]);
	}
	assert_true(tried > 20);
	/* Where a function begins like the code before it, nothing tells the two apart. */
	if (found * 100 < tried * 90)
		fail_msg("%u of %u functions found", found, tried);
	/* The list is as sorted as before. */
	all = flow_functions(f, &count);
	for (uint32_t i = 1; i < count; i++)
		assert_true(all[i - 1].start < all[i].start && all[i - 1].end <= all[i].start);
	flow_close(f);
}

int main(void)
{
	volatile int three = 3;
	if (test_flow_nest(&three) != 27 || test_flow_may_not_return(&three) != 3)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_symbol_is_a_function),
		cmocka_unit_test(labels_in_a_function_begin_none),
		cmocka_unit_test(loops_of_a_function_nest_as_written),
		cmocka_unit_test(calls_that_do_not_return_are_seen_through),
		cmocka_unit_test(one_function_alone_is_as_among_all),
		cmocka_unit_test(packed_graphs_lose_nothing),
		cmocka_unit_test(unusual_graphs_are_packed),
		cmocka_unit_test(reports_of_sanitizers_do_not_come_back_unless_told_to),
		cmocka_unit_test(parts_are_joined_by_what_looks_like_jumps),
		cmocka_unit_test(parts_are_found_by_an_address),
		cmocka_unit_test(functions_are_found_near_an_address),
	};
	return cmocka_run_group_tests(tests, open_self, close_self);
}
