/* Spans of code whose recipes are known, sorted by address. Each has its part of the compact table
 * of entries. A span is made when a recipe for an address in it is first requested. */
#include "unwind/recipes.h"

#include <string.h>

#include "base/hashmap.h"
#include "base/log.h"
#include "base/order.h"
#include "flow/entry.h"
#include "unwind/analyse.h"
#include "unwind/merge.h"
#include "unwind/prologue.h"
#include "unwind/recipe_cache.h"

enum {
	LARGE_MODULE = 1 << 20, /* bytes; of smaller ones, few functions take the time */
	WORTH_STORING = 64,     /* functions: to analyse them takes longer than to write a file */
};

struct recipes {
	struct flow *flow;
	const struct module *module;
	const struct arch *arch;
	struct cfi *cfi; /* NULL: there is none, or the options exclude it */
	struct recipes_options options;
	uint64_t base;
	bool held;
	struct recipe_table table;
	struct recipe_table before; /* of earlier runs, from the cache */
	bool looked;                /* for that */
	uint32_t analysed;          /* functions that it lacks */
	struct hashmap index;       /* hash of a recipe -> its number */
	struct hashmap written;     /* start of a function -> index in written_sets */
	VEC(uint32_t) written_sets;
	unsigned callee_depth;
	struct analysis analysis;
	struct arena result, tmp;
};

/* The cache is for what the file itself gives. */
static bool may_be_cached(const struct recipes *r)
{
	const struct module *m = r->module;
	return r->options.cached && m->build_id.size && m->size >= LARGE_MODULE &&
	       !m->supplemented && !module_problem(m);
}

void recipes_hold(struct recipes *r, bool held)
{
	r->held = held;
}

struct recipes *recipes_open(struct flow *f, const struct recipes_options *options)
{
	struct recipes *r = xcalloc(1, sizeof(*r));
	r->flow = f;
	r->module = flow_module(f);
	r->arch = flow_arch(f);
	if (options)
		r->options = *options;
	if (!r->options.no_cfi)
		r->cfi = cfi_open(r->module, NULL);
	r->base = r->module->segment_count ? r->module->segments[0].va : 0;
	vec_push(&r->table.recipes, (struct recipe){.slot_reg = REG_NONE});
	return r;
}

void recipes_close(struct recipes *r)
{
	if (!r)
		return;
	cfi_close(r->cfi);
	if (r->analysed >= WORTH_STORING && may_be_cached(r))
		recipe_cache_store(&r->table, &r->before, r->module);
	recipe_table_release(&r->table);
	recipe_table_release(&r->before);
	vec_free(&r->analysis.runs);
	vec_free(&r->written_sets);
	hashmap_release(&r->written);
	hashmap_release(&r->index);
	arena_release(&r->result);
	arena_release(&r->tmp);
	free(r);
}

struct wanted_recipe {
	const struct recipes *recipes;
	const struct recipe *recipe;
};

static bool is_wanted(const void *ctx, uint32_t number)
{
	const struct wanted_recipe *w = ctx;
	return !memcmp(&w->recipes->table.recipes.data[number], w->recipe, sizeof(*w->recipe));
}

/* The number of a recipe; equal ones share it. */
static uint32_t intern(struct recipes *r, const struct recipe *recipe)
{
	const struct wanted_recipe w = {r, recipe};
	uint64_t hash = hash_bytes(recipe, sizeof(*recipe), 0);
	uint32_t known = hashmap_find(&r->index, hash, is_wanted, &w);
	if (known != HASHMAP_NONE)
		return known;
	vec_push(&r->table.recipes, *recipe);
	hashmap_insert(&r->index, hash, r->table.recipes.len - 1);
	return r->table.recipes.len - 1;
}

static void add_entry(struct recipes *r, uint32_t first, uint64_t va, uint32_t recipe)
{
	uint32_t count = r->table.entries.len - first;
	if (count && vec_last(&r->table.entries).recipe == recipe)
		return;
	vec_push(&r->table.entries, (struct recipe_entry){(uint32_t)(va - r->base), recipe});
}

static void insert_span(struct recipes *r, struct known_span s)
{
	uint32_t at = ORDER_UP_TO(r->table.spans.data, r->table.spans.len, start, s.start);
	vec_push(&r->table.spans, s);
	memmove(&r->table.spans.data[at + 1], &r->table.spans.data[at],
		(r->table.spans.len - 1 - at) * sizeof(r->table.spans.data[0]));
	r->table.spans.data[at] = s;
}

static const struct known_span *span_at(const struct recipes *r, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(r->table.spans.data, r->table.spans.len, start, va);
	return n && va < r->table.spans.data[n - 1].end ? &r->table.spans.data[n - 1] : NULL;
}

/* Converts the runs inside [start, end) to the entries of a span. Code that no run covers has
 * recipe 0. */
static void compile_span(struct recipes *r, uint64_t start, uint64_t end)
{
	struct known_span s = {start, end, r->table.entries.len, 0};
	uint64_t at = start;
	if (span_at(r, start) || end <= start || end - r->base > UINT32_MAX || start < r->base)
		return;
	vec_each (run, &r->analysis.runs) {
		uint64_t from = run->start > at ? run->start : at;
		uint64_t to = run->end < end ? run->end : end;
		if (from >= to)
			continue;
		if (from > at)
			add_entry(r, s.first, at, 0);
		add_entry(r, s.first, from, intern(r, &run->recipe));
		at = to;
	}
	if (at < end)
		add_entry(r, s.first, at, 0);
	s.count = r->table.entries.len - s.first;
	insert_span(r, s);
}

/* Whether `p` is a part split off a function (foo.cold) that is not yet joined to it: only call
 * frame information describes its frame at entry. */
static bool is_part(const struct recipes *r, const struct function *p)
{
	struct frame_range f;
	return module_frame_at(r->module, p->start, &f) && f.start == p->start && f.mid_frame &&
	       !(p->flags & FUNCTION_PLT);
}

static uint32_t kept_by(void *ctx, uint64_t target);

/* The registers written by the instructions of the block and by the functions it calls. A block
 * from which control never returns counts as writing none: it has no caller that could notice. */
static uint32_t written_in_block(struct recipes *r, const struct block *b)
{
	uint64_t written = 0;
	struct insn in;
	if (b->flags & BLOCK_NORETURN && !b->edge_count)
		return 0;
	for (uint64_t va = b->start; va < b->start + b->size; va += in.length) {
		if (!decode_at(r->module, r->arch, va, DECODE_FULL, &in))
			return UINT32_MAX;
		written |= in.writes.core;
	}
	switch (b->end) {
	case END_FALL:
	case END_JUMP:
	case END_BRANCH:
	case END_SWITCH:
	case END_RETURN: return (uint32_t)written;
	case END_CALL:
	case END_TAIL_CALL:
		return (uint32_t)written | (b->target ? ~kept_by(r, b->target) : UINT32_MAX);
	default: return UINT32_MAX;
	}
}

static uint32_t written_by(struct recipes *r, uint32_t function)
{
	enum { MAX_CALLEE_INSNS = 4000 };
	struct arena a = {0}, tmp = {0};
	const struct cfg *g = flow_cfg(r->flow, function, &a, &tmp);
	uint32_t written = g->insn_count > MAX_CALLEE_INSNS ? UINT32_MAX : 0;
	for (uint32_t b = 0; b < g->block_count && written != UINT32_MAX; b++)
		written |= written_in_block(r, &g->blocks[b]);
	arena_release(&a);
	arena_release(&tmp);
	return written;
}

/* The registers that the function at `target` does not write. During the analysis of a function it
 * counts as writing all registers, so that recursion ends. */
static uint32_t kept_by(void *ctx, uint64_t target)
{
	enum { MAX_CALLEE_DEPTH = 4 };
	struct recipes *r = ctx;
	uint32_t count, number = flow_function_at(r->flow, target);
	uint32_t known = hashmap_get(&r->written, target);
	if (known != HASHMAP_NONE)
		return ~r->written_sets.data[known];
	if (r->callee_depth == MAX_CALLEE_DEPTH || number == UINT32_MAX ||
	    flow_functions(r->flow, &count)[number].start != target)
		return 0;
	known = r->written_sets.len;
	hashmap_add(&r->written, target, known);
	vec_push(&r->written_sets, UINT32_MAX);
	r->callee_depth++;
	uint32_t written = written_by(r, number);
	r->callee_depth--;
	/* The call itself writes the link register. */
	if (r->arch->link != REG_NONE)
		written |= UINT32_C(1) << r->arch->link;
	r->written_sets.data[known] = written;
	return ~written;
}

/* ---- from the cache ---- */

/* The span of an earlier run that holds va, or NULL. */
static const struct known_span *span_before(struct recipes *r, uint64_t va)
{
	if (!r->looked && may_be_cached(r))
		recipe_cache_load(&r->before, r->module);
	r->looked = true;
	uint32_t n = ORDER_UP_TO(r->before.spans.data, r->before.spans.len, start, va);
	return n && va < r->before.spans.data[n - 1].end ? &r->before.spans.data[n - 1] : NULL;
}

static bool overlaps_known(const struct recipes *r, const struct known_span *s)
{
	uint32_t n = ORDER_UP_TO(r->table.spans.data, r->table.spans.len, start, s->end - 1);
	return n && r->table.spans.data[n - 1].end > s->start;
}

static void take_span(struct recipes *r, const struct known_span *before)
{
	struct known_span s = {before->start, before->end, r->table.entries.len, before->count};
	for (uint32_t i = 0; i < s.count; i++) {
		struct recipe_entry e = r->before.entries.data[before->first + i];
		e.recipe = intern(r, &r->before.recipes.data[e.recipe]);
		vec_push(&r->table.entries, e);
	}
	insert_span(r, s);
}

/* The span that holds va, if an earlier run has made it. The bounds of functions need not be known
 * for that: to collect those of a large module takes time. */
static const struct known_span *find_span(struct recipes *r, uint64_t va)
{
	const struct known_span *s = span_at(r, va), *before = s ? NULL : span_before(r, va);
	if (!before || overlaps_known(r, before))
		return s;
	take_span(r, before);
	return span_at(r, va);
}

/* ---- functions ---- */

static void add_function(struct recipes *r, uint32_t number)
{
	uint32_t count;
	const struct function *p = &flow_functions(r->flow, &count)[number];
	struct part *spans = ARENA_ARRAY(&r->tmp, struct part, p->part_count + 1);
	spans[0] = (struct part){p->start, p->end};
	for (uint32_t i = 0; i < p->part_count; i++)
		spans[i + 1] = flow_parts(r->flow)[p->first_part + i];
	r->analysed++;
	vec_clear(&r->analysis.runs);
	r->analysis.proven = false;
	if (!r->options.no_analysis && !is_part(r, p)) {
		struct analysis_input in = {
			.module = r->module,
			.arch = r->arch,
			.function = p,
			.g = flow_cfg(r->flow, number, &r->result, &r->tmp),
			.spans = spans,
			.span_count = p->part_count + 1,
			.kept = kept_by,
			.ctx = r,
		};
		analyse_function(&r->analysis, &in, &r->tmp);
	}
	for (uint32_t i = 0; i <= p->part_count; i++)
		merge_cfi(&r->analysis, r->module, r->cfi, r->arch, &spans[i]);
	debug(LOG_UNWIND, 2, "recipes of %s at 0x%lx%s", p->name ? p->name : "?",
	      (unsigned long)p->start, r->analysis.proven ? ", proven" : "");
	for (uint32_t i = 0; i <= p->part_count; i++)
		compile_span(r, spans[i].start, spans[i].end);
	arena_clear(&r->result);
	arena_clear(&r->tmp);
}

/* Whether va is in a small gap between two functions. Call frame information leaves out single
 * instructions of some functions: those after the system call that creates a thread, where each
 * thread begins. */
static bool is_in_gap(const struct recipes *r, uint64_t va)
{
	enum { MAX_GAP = 32 };
	uint32_t count;
	const struct function *all = flow_functions(r->flow, &count);
	uint32_t next = ORDER_UP_TO(all, count, start, va);
	return next && next < count && all[next - 1].bounded &&
	       all[next].start - all[next - 1].end <= MAX_GAP;
}

/* Whether the bounds of the function at va are known, or discovery would not find them. PLTs are
 * found by their sections, and so is the code that runs when a module is loaded (.init, .fini);
 * most of these have no call frame information. */
static bool are_bounds_known(const struct recipes *r, uint64_t va)
{
	uint32_t count, function = flow_function_at(r->flow, va);
	struct frame_range f;
	if (flow_is_searched(r->flow, va) ||
	    (module_frame_at(r->module, va, &f) && !r->options.no_cfi))
		return true;
	if (function == UINT32_MAX)
		return is_in_gap(r, va);
	const struct function *p = &flow_functions(r->flow, &count)[function];
	const char *section = module_section_at(r->module, va)->name;
	return p->flags & FUNCTION_PLT || p->bounded || !strcmp(section, ".init") ||
	       !strcmp(section, ".fini");
}

/* The function that contains va. The file's own tables may not show which one does. */
static uint32_t function_with(struct recipes *r, uint64_t va)
{
	if (!module_is_code(r->module, va))
		return UINT32_MAX;
	if (!are_bounds_known(r, va))
		flow_discover_near(r->flow, va);
	if (flow_function_at(r->flow, va) == UINT32_MAX)
		flow_join_part(r->flow, va);
	return flow_function_at(r->flow, va);
}

static void add_code_at(struct recipes *r, uint64_t va)
{
	uint32_t function = function_with(r, va);
	if (function != UINT32_MAX)
		add_function(r, function);
}

/* The code around va that is in no function, up to a limit. */
static struct part loose_code_at(const struct recipes *r, uint64_t va)
{
	enum { MAX_LOOSE_CODE = 1 << 14 };
	uint32_t count;
	const struct function *all = flow_functions(r->flow, &count);
	const struct section *s = module_section_at(r->module, va);
	uint32_t after = ORDER_UP_TO(all, count, start, va);
	struct part p = {va < MAX_LOOSE_CODE ? 0 : va - MAX_LOOSE_CODE, va + MAX_LOOSE_CODE};
	if (s && p.start < s->va)
		p.start = s->va;
	if (s && p.end > s->va + s->size)
		p.end = s->va + s->size;
	if (after && all[after - 1].end > p.start)
		p.start = all[after - 1].end;
	if (after < count && all[after].start < p.end)
		p.end = all[after].start;
	return p;
}

/* Adds code that is in no function. Call frame information may still describe it. */
static void add_code_without_function(struct recipes *r, uint64_t va)
{
	struct frame_range f;
	bool framed = module_frame_at(r->module, va, &f);
	struct part span = framed ? (struct part){f.start, f.end} : loose_code_at(r, va);
	if (span_at(r, span.start) || va < span.start || va >= span.end)
		span = (struct part){va, va + 1};
	vec_clear(&r->analysis.runs);
	r->analysis.proven = false;
	if (!framed && !r->options.no_analysis && module_is_code(r->module, va))
		analyse_loose_code(&r->analysis, r->module, r->arch,
				   span.start +
					   padding_at(r->module, r->arch, span.start, span.end),
				   span.end);
	merge_cfi(&r->analysis, r->module, r->cfi, r->arch, &span);
	compile_span(r, span.start, span.end);
}

static const struct known_span *find_or_make_span(struct recipes *r, uint64_t va)
{
	const struct known_span *s = find_span(r, va);
	if (s || (r->held && !are_bounds_known(r, va)))
		return s;
	add_code_at(r, va);
	if (!(s = span_at(r, va))) {
		add_code_without_function(r, va);
		s = span_at(r, va);
	}
	return s;
}

const struct recipe *recipes_at(struct recipes *r, uint64_t va)
{
	const struct known_span *s = find_or_make_span(r, va);
	if (!s)
		return &r->table.recipes.data[0];
	const struct recipe_entry *e = r->table.entries.data + s->first;
	uint32_t low = 0, high = s->count, want = (uint32_t)(va - r->base);
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		if (e[middle].start <= want)
			low = middle;
		else
			high = middle;
	}
	return &r->table.recipes.data[e[low].recipe];
}

static bool describe_by_row(const struct recipes *r, const struct cfi_row *row, struct recipe *out)
{
	*out = recipe_of_row(row, r->arch);
	if (row->is_signal || out->ret == RETURN_NONE)
		return !row->is_signal;
	return out->ret == RETURN_SAVED && out->cfa != CFA_UNKNOWN && has_usual_cfa(out, r->arch);
}

static bool describe_by_prologue(struct recipes *r, uint64_t va, struct recipe *out)
{
	uint32_t count, function;
	if (r->options.no_analysis || (r->held && !are_bounds_known(r, va)))
		return false;
	function = function_with(r, va);
	return function != UINT32_MAX &&
	       prologue_describes(r->module, r->arch,
				  flow_functions(r->flow, &count)[function].start, out);
}

bool recipes_describe(struct recipes *r, uint64_t va, struct recipe *out)
{
	struct cfi_row row;
	if (find_span(r, va))
		return false;
	if (r->cfi && cfi_row_at(r->cfi, va, &row))
		return describe_by_row(r, &row, out);
	return describe_by_prologue(r, va, out);
}

struct recipe_span recipes_span(struct recipes *r, uint64_t va)
{
	const struct known_span *s = find_or_make_span(r, va);
	if (!s)
		return (struct recipe_span){0};
	return (struct recipe_span){s->start, s->end, r->table.entries.data + s->first, s->count};
}

const struct recipe *recipes_recipe(const struct recipes *r, uint32_t number)
{
	return &r->table.recipes.data[number];
}

uint64_t recipes_base(const struct recipes *r)
{
	return r->base;
}
