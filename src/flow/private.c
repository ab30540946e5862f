/* Joins the register uses of all functions along the call edges between them, until nothing
 * changes. What a function reads at its entry, its callers pass, and keep over the calls that they
 * make before. What it destroys, its callers destroy as well. A value that is kept over a call of a
 * function is also kept over the calls that this function makes. */
#include "flow/private.h"

#include <string.h>

#include "base/log.h"
#include "base/order.h"
#include "base/parallel.h"
#include "flow/effects.h"
#include "flow/internal.h"
#include "flow/uses.h"

enum { BATCH = 16 }; /* functions that a worker takes at a time */

const char *const private_loss_name[LOSS_KINDS] = {"none",    "entry", "call",
						   "unknown", "go",    "linker"};

struct private_search {
	struct flow *flow;
	const struct function *functions;
	struct uses *uses; /* for each function */
	struct uses_finder finders[MAX_WORKERS];
	uint32_t finder_count;
	call_edge_list edges;
	/* Sets of candidates for each function. `expected`: it has their values from its caller.
	 * `passed`: it gives their values to functions that expect them. `kept`: a caller keeps a
	 * value in them over the function, or gets one from it. */
	uint64_t *expected, *passed, *kept;
	struct private_registers *out;
};

/* Records that the registers are private to no function, with the lowest address that shows it. */
static void lose(struct private_registers *p, uint64_t registers, uint64_t va,
		 enum private_loss_kind kind)
{
	for (; registers; registers &= registers - 1) {
		struct private_loss *l = &p->lost[__builtin_ctzll(registers)];
		debug(LOG_FLOW, 2, "register %d is not private: %s %#lx",
		      __builtin_ctzll(registers), private_loss_name[kind], (unsigned long)va);
		if (!l->kind || va < l->va)
			*l = (struct private_loss){(uint8_t)kind, va};
	}
}

static bool is_linkage(const struct function *p)
{
	return p->flags & FUNCTION_PLT;
}

static void find_one(void *ctx, uint32_t item, uint32_t worker)
{
	struct private_search *s = ctx;
	if (!is_linkage(&s->functions[item]))
		s->uses[item] = uses_find(&s->finders[worker], item);
}

static void find_all(struct private_search *s)
{
	s->finder_count = parallel_workers();
	for (uint32_t i = 0; i < s->finder_count; i++)
		uses_init(&s->finders[i], s->flow);
	parallel_for(s->out->count, BATCH, find_one, s);
	for (uint32_t i = 0; i < s->finder_count; i++)
		vec_each (edge, &s->finders[i].edges)
			vec_push(&s->edges, *edge);
}

/* An edge into the middle of a function. */
struct middle_edge {
	uint64_t va;
	uint32_t from, to;
	struct call_edge *edge;
};

/* Handles edges into the middle of one function. The function that such an edge leaves passes what
 * is read from there on, and expects it from its own caller unless it writes the register itself.
 * The registers are not private to the function that the edge enters, either. */
static void join_middle_edges_of(struct private_search *s, const struct middle_edge *in,
				 uint32_t count)
{
	uint64_t *va = xcalloc(count, sizeof(*va)), *reads = xcalloc(count, sizeof(*reads));
	for (uint32_t i = 0; i < count; i++)
		va[i] = in[i].va;
	uses_from(&s->finders[0], in->to, va, count, reads);
	for (uint32_t i = 0; i < count; i++) {
		in[i].edge->passed = reads[i];
		s->passed[in[i].from] |= reads[i];
		s->passed[in[i].to] |= reads[i];
		s->expected[in[i].from] |= reads[i] & ~s->uses[in[i].from].written;
	}
	free(va);
	free(reads);
}

static void join_middle_edges(struct private_search *s)
{
	VEC(struct middle_edge) all = {0};
	vec_each (e, &s->edges)
		if (e->inside)
			vec_push(&all, (struct middle_edge){e->inside, e->from, e->to, e});
	order_by_address(all.data, all.len, sizeof(struct middle_edge),
			 offsetof(struct middle_edge, va));
	for (uint32_t i = 0, n; i < all.len; i += n) {
		for (n = 1; i + n < all.len && all.data[i + n].to == all.data[i].to;)
			n++;
		join_middle_edges_of(s, &all.data[i], n);
	}
	vec_free(&all);
}

static bool add(uint64_t *set, uint64_t more)
{
	bool grows = more & ~*set;
	*set |= more;
	return grows;
}

/* Spreads what is expected from callees to callers, except to a function that sets the register
 * itself; and what is destroyed, except registers that the caller may save. */
static void join_entries_and_ends(struct private_search *s)
{
	bool more;
	for (uint32_t i = 0; i < s->out->count; i++) {
		if (s->uses[i].entry)
			debug(LOG_FLOW, 2, "%#lx reads registers %#lx at its entry",
			      (unsigned long)s->functions[i].start,
			      (unsigned long)s->uses[i].entry);
		s->expected[i] |= s->uses[i].entry;
	}
	do {
		more = false;
		vec_each (e, &s->edges) {
			struct uses *from = &s->uses[e->from];
			uint64_t expected = e->inside ? 0 : s->expected[e->to];
			if (!e->inside && !e->noreturn && !e->doubtful)
				more |= add(&from->destroys,
					    s->uses[e->to].destroys & ~from->entry);
			more |= add(&s->expected[e->from], expected & ~from->written);
			s->passed[e->from] |= expected;
		}
	} while (more);
}

static bool passes_after_call(const struct call_edge *edges, uint32_t count)
{
	bool passes = false, calls = false;
	for (uint32_t i = 0; i < count; i++) {
		passes |= edges[i].passed != 0;
		calls |= !edges[i].jump && !edges[i].noreturn;
	}
	return passes && calls;
}

/* For each function, the registers that it expects and that some caller has set. */
static uint64_t *find_given(const struct private_search *s)
{
	uint64_t *given = xcalloc(s->out->count + (size_t)1, sizeof(*given));
	bool more;
	do {
		more = false;
		vec_each (e, &s->edges) {
			uint64_t has = s->uses[e->from].written | given[e->from];
			more |= !e->inside && add(&given[e->to], s->expected[e->to] & has);
		}
	} while (more);
	return given;
}

/* An edge to a function that expects a register counts as a read of it: the value may have been
 * kept over calls before. glibc's __clone3 keeps what its thread_start expects over a call of
 * __libc_arm_za_disable. The edges from one function are next to each other. */
static void join_passed(struct private_search *s)
{
	uint64_t *given = find_given(s);
	for (uint32_t i = 0, n; i < s->edges.len; i += n) {
		struct call_edge *edges = &s->edges.data[i];
		uint64_t has = s->uses[edges->from].written | given[edges->from];
		for (n = 0; i + n < s->edges.len && edges[n].from == edges->from; n++) {
			struct call_edge *e = &edges[n];
			e->passed = has & (e->inside ? e->passed : s->expected[e->to]);
		}
		if (passes_after_call(edges, n))
			uses_add_passed(&s->finders[0], edges, n);
	}
	free(given);
}

/* Finds the values that are kept over calls. No value is kept over a call that destroys it. If the
 * register is read after such a call nevertheless, there are two cases:
 * 1. It is read right after the call, or the caller never sets it: the value comes from the callee.
 * 2. Otherwise the read is on a path that is never taken after this call, and is ignored. */
static void join_kept(struct private_search *s)
{
	uint64_t *got = xcalloc(s->out->count + (size_t)1, sizeof(*got));
	bool more;
	vec_each (e, &s->edges) {
		uint64_t destroyed = e->read_after & s->uses[e->to].destroys;
		if (e->read_after)
			debug(LOG_FLOW, 2, "%#lx reads registers %#lx behind calls of %#lx",
			      (unsigned long)s->functions[e->from].start,
			      (unsigned long)e->read_after,
			      (unsigned long)s->functions[e->to].start);
		s->kept[e->to] |= e->read_after & ~destroyed;
		got[e->to] |= destroyed & (e->read_next | ~s->uses[e->from].written);
	}
	do {
		more = false;
		vec_each (e, &s->edges) {
			more |= !e->noreturn && add(&s->kept[e->to], s->kept[e->from]);
			more |= e->jump && add(&got[e->to], got[e->from]);
		}
	} while (more);
	for (uint32_t i = 0; i < s->out->count; i++)
		s->kept[i] |= got[i];
	free(got);
}

/* A function that is not called directly in this module, or also through pointers, has unknown
 * callers. Candidates that it reads at its entry are private to no function, and neither are those
 * that any function reads right after a call of something unknown. */
static void lose_entries(struct private_search *s)
{
	bool *called = xcalloc(s->out->count + (size_t)1, sizeof(*called));
	vec_each (e, &s->edges)
		called[e->to] |= !e->inside;
	for (uint32_t i = 0; i < s->out->count; i++) {
		const struct uses *u = &s->uses[i];
		const struct function *p = &s->functions[i];
		if (!called[i] || p->found_by & (FOUND_POINTER | FOUND_ADDRESS))
			lose(s->out, u->entry, p->start, LOSS_ENTRY);
		lose(s->out, u->strange, u->place, LOSS_CALL);
	}
	free(called);
}

static void lose_gaps(struct private_search *s)
{
	struct gap_list gaps = {0};
	find_gaps(s->flow, &gaps);
	vec_each (g, &gaps.gaps) {
		uint64_t lowest = 0;
		if (flow_function_at(s->flow, g->start) == UINT32_MAX)
			lose(s->out, uses_in_range(&s->finders[0], g->start, g->end, &lowest),
			     lowest, LOSS_UNKNOWN);
	}
	vec_free(&gaps.gaps);
}

/* Splits a set of candidate numbers into general registers and vector registers. */
static struct regset split(const struct private_search *s, uint64_t set)
{
	const struct regset *all = &s->flow->arch->private_candidates;
	return (struct regset){.core = set & all->core, .vec = (uint32_t)set & all->vec};
}

static void conclude(struct private_search *s)
{
	struct private_registers *out = s->out;
	uint64_t candidates = s->finders[0].candidates;
	for (unsigned reg = 0; reg <= REG_FLAGS; reg++)
		if (out->lost[reg].kind)
			candidates &= ~(UINT64_C(1) << reg);
	for (uint32_t i = 0; i < out->count; i++) {
		uint64_t expected = s->expected[i] | s->passed[i];
		uint64_t shared = expected | s->uses[i].held | s->kept[i];
		if (is_linkage(&s->functions[i]))
			continue;
		out->of[i] = (struct private_set){
			.registers = split(s, candidates & ~shared),
			.expected = split(s, expected),
			.held = split(s, s->uses[i].held),
			.kept = split(s, s->kept[i]),
		};
	}
}

/* Other modules call the TLS descriptor resolvers of the dynamic linker, and rely on them to
 * preserve all registers but the flags. */
static bool is_dynamic_linker(const struct module *m)
{
	uint32_t count;
	const struct symbol *all = module_symbols(m, &count);
	for (uint32_t i = 0; i < count; i++)
		if (all[i].flags & SYMBOL_DYNAMIC && !strcmp(all[i].name, "__tls_get_addr"))
			return true;
	return false;
}

static void lose_by_kind(struct private_registers *out, const struct flow *f)
{
	const struct regset *all = &f->arch->private_candidates;
	uint64_t candidates = all->core | all->vec;
	if (is_go(f->module))
		lose(out, candidates, 0, LOSS_GO);
	else if (is_dynamic_linker(f->module))
		lose(out, candidates & ~(UINT64_C(1) << REG_FLAGS), 0, LOSS_LINKER);
}

void private_find(struct private_registers *out, struct flow *f)
{
	struct private_search s = {.flow = f, .out = out};
	*out = (struct private_registers){0};
	s.functions = flow_functions(f, &out->count);
	out->of = xcalloc(out->count + (size_t)1, sizeof(*out->of));
	s.uses = xcalloc(out->count + (size_t)1, sizeof(*s.uses));
	s.expected = xcalloc(out->count + (size_t)1, sizeof(*s.expected));
	s.passed = xcalloc(out->count + (size_t)1, sizeof(*s.passed));
	s.kept = xcalloc(out->count + (size_t)1, sizeof(*s.kept));
	lose_by_kind(out, f);
	find_all(&s);
	join_middle_edges(&s);
	join_entries_and_ends(&s);
	join_passed(&s);
	join_kept(&s);
	lose_entries(&s);
	lose_gaps(&s);
	conclude(&s);
	for (uint32_t i = 0; i < s.finder_count; i++)
		uses_release(&s.finders[i]);
	vec_free(&s.edges);
	free(s.uses);
	free(s.expected);
	free(s.passed);
	free(s.kept);
}

void private_release(struct private_registers *p)
{
	free(p->of);
	*p = (struct private_registers){0};
}
