/* Jumps into the middle of functions, against those that are found by decoding all code: in this
 * program, in the C library and in whatever else the environment names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "patch/intrusions.h"

struct subject {
	struct module *module;
	struct flow *flow;
	const struct function *functions;
	uint32_t count;
	struct intrusions quick;
	VEC(struct far_jump) naive; /* all jumps out of functions; ascending by target */
	uint32_t found, more;
};

static void scan(struct subject *s, uint32_t function, uint64_t va, uint64_t end)
{
	const struct arch *arch = flow_arch(s->flow);
	size_t have, n;
	const uint8_t *bytes = module_at(s->module, va, end - va, &have);
	for (; bytes && va < end && have; va += n, bytes += n, have -= n) {
		struct insn in;
		n = arch->decode(bytes, have, va, DECODE_FLOW, &in);
		if (!n)
			n = arch->insn_align < have ? arch->insn_align : have;
		else if ((in.kind == INSN_JUMP || in.kind == INSN_BRANCH) &&
			 flow_function_at(s->flow, in.target) != function)
			vec_push(&s->naive, (struct far_jump){va, in.target, false});
	}
}

static void scan_all(struct subject *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct function *p = &s->functions[i];
		const struct part *parts = flow_parts(s->flow) + p->first_part;
		scan(s, i, p->start, p->end);
		for (uint32_t k = 0; k < p->part_count; k++)
			scan(s, i, parts[k].start, parts[k].end);
	}
	order_by_address(s->naive.data, s->naive.len, sizeof(struct far_jump),
			 offsetof(struct far_jump, target));
}

static bool holds(const place_list *list, uint64_t va)
{
	uint32_t n = order_up_to(list->data, list->len, sizeof(uint64_t), 0, va);
	return n && list->data[n - 1] == va;
}

static bool is_naively_found(const struct subject *s, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(s->naive.data, s->naive.len, target, va);
	return n && s->naive.data[n - 1].target == va;
}

/* Code may be in two functions. */
static bool is_from_elsewhere(const struct subject *s, uint32_t function, const struct cfg *g,
			      const struct far_jump *j)
{
	return j->target != g->blocks[g->entry].start &&
	       flow_function_at(s->flow, j->target) == function &&
	       flow_function_at(s->flow, j->from) != function &&
	       cfg_block_at(g, j->from) == BLOCK_NONE;
}

static void compare(struct subject *s, uint32_t function, const struct cfg *g)
{
	place_list quick = {0};
	intrusions_into(&s->quick, function, g, &quick);
	order_by_address(quick.data, quick.len, sizeof(uint64_t), 0);
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		uint32_t at = ORDER_UP_TO(s->naive.data, s->naive.len, target, b->start - 1);
		for (; at < s->naive.len && s->naive.data[at].target < b->start + b->size; at++) {
			const struct far_jump *j = &s->naive.data[at];
			if (!is_from_elsewhere(s, function, g, j))
				continue;
			if (!holds(&quick, j->target))
				fail_msg("%s: the jump from %#lx to %#lx is not found",
					 s->module->path, (unsigned long)j->from,
					 (unsigned long)j->target);
			s->found++;
		}
	}
	vec_each (va, &quick)
		s->more += !is_naively_found(s, *va) && flow_function_at(s->flow, *va) == function;
	vec_free(&quick);
}

static void look_into(const char *path, bool discovered)
{
	struct subject s = {0};
	struct err e;
	struct arena a, tmp;
	if (module_open(&s.module, path, &e))
		fail_msg("%s", e.text);
	assert_int_equal(flow_open(&s.flow, s.module, &e), 0);
	arena_init(&a);
	arena_init(&tmp);
	if (discovered)
		flow_discover(s.flow);
	else
		flow_join_parts(s.flow);
	s.functions = flow_functions(s.flow, &s.count);
	intrusions_find(&s.quick, s.flow);
	scan_all(&s);
	for (uint32_t i = 0; i < s.count; i++) {
		compare(&s, i, flow_cfg(s.flow, i, &a, &tmp));
		arena_clear(&a);
		arena_clear(&tmp);
	}
	print_message("# %s: %u functions, %u far jumps, %u places found, %u more\n", path, s.count,
		      s.quick.jumps.len, s.found, s.more);
	/* Between functions, nothing tells where instructions begin. */
	assert_true(s.more <= s.count / 20);
	arena_release(&a);
	arena_release(&tmp);
	intrusions_release(&s.quick);
	vec_free(&s.naive);
	flow_close(s.flow);
	module_close(s.module);
}

static int look_at_library(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	if (strstr(info->dlpi_name, "libc.so"))
		look_into(info->dlpi_name, *(const bool *)ctx);
	return 0;
}

static void look_at_all(bool discovered)
{
	const char *other = getenv("INTRUSIONS_OF");
	look_into("/proc/self/exe", discovered);
	dl_iterate_phdr(look_at_library, &discovered);
	if (other)
		look_into(other, discovered);
}

static void as_decoding_all_code_finds(void **state)
{
	(void)state;
	look_at_all(true);
}

static void before_functions_are_discovered(void **state)
{
	(void)state;
	look_at_all(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_decoding_all_code_finds),
		cmocka_unit_test(before_functions_are_discovered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
