/* Function starts in code that no call, pointer, symbol or unwind range leads to.
 *
 * The paper (see discover.c) takes every instruction after a return or jump for a start, unless it
 * lies in a protected interval. Here the graphs of all other functions are known, so only the gaps
 * between them are searched. A gap may also hold landing pads, or targets of an unresolved jump.
 * They differ from functions in what they rely on: code at the start of a function can only read
 * what a caller passes, and must save registers before it overwrites them. */
#include "base/order.h"
#include "base/parallel.h"
#include "flow/constants.h"
#include "flow/entry.h"
#include "flow/internal.h"

enum {
	MIN_ADDRESS_SCAN = 64,    /* bytes of gaps that justify a scan of all code for addresses */
	ALIGNMENT = 16,           /* compilers align functions to at most this */
	MIN_ALIGNED = 50,         /* functions needed to see which alignments are usual */
	UNUSUAL_SHARE = 50,       /* alignments of at most 1 in this many functions are unusual */
	MAX_INFERRED = 64 * 1024, /* bytes that one inferred function may have */
	GAP_BATCH = 4,            /* gaps that a worker takes at a time */
	SCAN_BATCH = 64,          /* functions that a worker takes at a time */
};

typedef VEC(struct part) part_list;

/* Lists the data among the code, by the symbols: objects, and everything from a data mark to the
 * next code mark ($d and $x on A64). */
static void list_data(const struct flow *f, part_list *out)
{
	const struct module *m = f->module;
	uint64_t marked = 0;
	uint32_t count;
	const struct symbol *all = module_symbols(m, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *s = &all[i];
		if (marked && s->flags & (SYMBOL_CODE_MARK | SYMBOL_DATA_MARK)) {
			vec_push(out, (struct part){marked, s->va});
			marked = 0;
		}
		if (s->flags & SYMBOL_DATA_MARK && module_is_code(m, s->va))
			marked = s->va;
		if (s->flags & SYMBOL_OBJECT && s->size && module_is_code(m, s->va))
			vec_push(out, (struct part){s->va, s->va + s->size});
	}
	if (marked) {
		const struct section *s = module_section_at(m, marked);
		vec_push(out, (struct part){marked, s->va + s->size});
	}
}

static void list_blocks(const struct packed_graph *g, part_list *out)
{
	struct packed_reader r;
	struct block b;
	packed_open(&r, g);
	while (packed_block(&r, &b))
		vec_push(out, (struct part){b.start, b.start + b.size});
}

/* Lists the code of the known functions: whole functions if their bounds are known, and otherwise
 * their blocks. */
static void list_covered(const struct flow *f, part_list *out)
{
	vec_each (p, &f->funcs) {
		if (p->bounded)
			vec_push(out, (struct part){p->start, p->end});
		if (p->graph && (!p->bounded || p->part_count))
			list_blocks(p->graph, out);
	}
}

static void add_gap(const struct flow *f, struct gap_list *out, uint64_t start, uint64_t end)
{
	if (start < end && padding_at(f->module, f->arch, start, end) < end - start)
		vec_push(&out->gaps, (struct part){start, end});
}

void find_gaps(const struct flow *f, struct gap_list *out)
{
	part_list covered = {0};
	uint32_t at = 0;
	list_covered(f, &covered);
	list_data(f, &covered);
	order_by_address(covered.data, covered.len, sizeof(struct part),
			 offsetof(struct part, start));
	for (uint32_t i = 0; i < f->module->section_count; i++) {
		const struct section *s = &f->module->sections[i];
		if (!s->execute || !s->in_file || is_plt_section(s))
			continue;
		uint64_t free_from = s->va, end = s->va + s->size;
		for (; at < covered.len && covered.data[at].start < end; at++) {
			if (covered.data[at].end <= free_from)
				continue;
			add_gap(f, out, free_from, covered.data[at].start);
			free_from = covered.data[at].end;
		}
		add_gap(f, out, free_from, end);
	}
	vec_free(&covered);
}

/* Whether the call does not return, because its callee never does or because another function seems
 * to begin after it, at va. */
static bool call_is_last(const struct flow *f, const struct insn *call, uint64_t va, uint64_t end)
{
	uint32_t callee = func_from(f, call->target);
	if (call->kind == INSN_CALL && callee != HASHMAP_NONE &&
	    f->funcs.data[callee].flags & FUNCTION_NORETURN)
		return true;
	uint64_t padding = padding_at(f->module, f->arch, va, end);
	return padding ? looks_like_entry(f->module, f->arch, va + padding)
		       : looks_like_prologue(f->module, f->arch, va);
}

bool control_ends(const struct flow *f, const struct insn *in, uint64_t next, uint64_t end)
{
	switch (in->kind) {
	case INSN_RETURN:
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_TRAP: return true;
	case INSN_CALL:
	case INSN_CALL_INDIRECT: return call_is_last(f, in, next, end);
	default: return false;
	}
}

/* Skips code at va that is not a function, and returns where to look next: after the first
 * instruction that does not continue to the next one and that no branch seen so far jumps over (the
 * paper's protected intervals). */
static uint64_t end_of_stretch(const struct flow *f, uint64_t va, uint64_t end)
{
	uint64_t protected_to = va;
	while (va < end) {
		struct insn in;
		size_t length = decode_at(f->module, f->arch, va, DECODE_FLOW, &in);
		if (!length)
			return va + f->arch->insn_align;
		va += length;
		if (in.kind == INSN_BRANCH && in.target > protected_to && in.target < end)
			protected_to = in.target;
		if (va > protected_to && control_ends(f, &in, va, end))
			return va;
	}
	return end;
}

/* The remainders modulo ALIGNMENT, as a bit set, that the starts of called functions usually have.
 */
static uint32_t usual_alignments(const struct flow *f)
{
	uint32_t count[ALIGNMENT] = {0}, total = 0, usual = 0;
	vec_each (p, &f->funcs) {
		if (!(p->found_by & FOUND_CALL) || p->flags & FUNCTION_PLT)
			continue;
		count[p->start % ALIGNMENT]++;
		total++;
	}
	for (uint32_t i = 0; i < ALIGNMENT; i++)
		if (total < MIN_ALIGNED || count[i] * UNUSUAL_SHARE > total)
			usual |= 1u << i;
	return usual;
}

/* The search of all gaps, dealt out to workers. */
struct gap_search {
	struct flow *f;
	const struct gap_list *gaps;
	uint32_t usual;
	VEC(uint64_t) found[MAX_WORKERS];
	uint32_t before[MAX_WORKERS]; /* how many of them are from gaps before the current one */
};

/* Whether a function is known to start at va, or was found there in this gap. Starts found in other
 * gaps do not count: which gaps a worker gets is chance, and the result must not depend on it. */
static bool is_known_start(const struct gap_search *s, uint64_t va, uint32_t worker)
{
	for (uint32_t i = s->before[worker]; i < s->found[worker].len; i++)
		if (s->found[worker].data[i] == va)
			return true;
	return func_from(s->f, va) != HASHMAP_NONE;
}

/* Whether all jumps out of the code lead to starts of functions. Code that jumps elsewhere is a
 * part of something. If two unknown functions jump to each other, the next round knows more. */
static bool is_complete(const struct gap_search *s, const struct cfg *g, uint32_t worker)
{
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		if (b->end == END_BAD ||
		    (b->end == END_TAIL_CALL && b->target && !is_known_start(s, b->target, worker)))
			return false;
	}
	return true;
}

uint64_t end_of_graph(const struct cfg *g)
{
	uint64_t end = 0;
	for (uint32_t i = 0; i < g->block_count; i++)
		if (g->blocks[i].start + g->blocks[i].size > end)
			end = g->blocks[i].start + g->blocks[i].size;
	return end;
}

/* Code after a call that does not return may still end in a jump. A lone jump is not a function,
 * unless it leads to one. */
static bool is_leftover_jump(const struct flow *f, uint64_t va)
{
	struct insn in;
	return decode_at(f->module, f->arch, va, DECODE_FLOW, &in) && in.kind == INSN_JUMP &&
	       func_from(f, in.target) == HASHMAP_NONE;
}

/* The end of the function that begins at va; 0 if none does. */
static uint64_t function_in_gap(struct gap_search *s, const struct part *gap, uint64_t va,
				uint32_t worker)
{
	struct flow *f = s->f;
	if (!(s->usual >> va % ALIGNMENT & 1) || is_leftover_jump(f, va) ||
	    !looks_like_entry(f->module, f->arch, va))
		return 0;
	struct func p = {.start = va, .end = gap->end};
	if (p.end - va > MAX_INFERRED)
		p.end = va + MAX_INFERRED;
	const struct cfg *g = build_func(f, &p, &f->tmp[worker], &f->tmp[worker]);
	uint64_t result = is_complete(s, g, worker) ? end_of_graph(g) : 0;
	arena_clear(&f->tmp[worker]);
	return result;
}

/* Compilers pad up to an alignment. So a function whose first instruction looks like padding begins
 * at the aligned address. */
uint64_t skip_padding(const struct flow *f, uint64_t va, uint64_t end)
{
	uint64_t code = va + padding_at(f->module, f->arch, va, end);
	uint64_t aligned = code & ~(uint64_t)(ALIGNMENT - 1);
	return code < end && aligned > va ? aligned : code;
}

static void search_gap(void *ctx, uint32_t item, uint32_t worker)
{
	struct gap_search *s = ctx;
	const struct part *gap = &s->gaps->gaps.data[item];
	s->before[worker] = s->found[worker].len;
	for (uint64_t va = gap->start; va < gap->end;) {
		va = skip_padding(s->f, va, gap->end);
		if (va >= gap->end)
			break;
		uint64_t end = function_in_gap(s, gap, va, worker);
		if (end)
			vec_push(&s->found[worker], va);
		va = end ? end : end_of_stretch(s->f, va, gap->end);
	}
}

void starts_from_gaps(struct flow *f, const struct gap_list *gaps)
{
	struct gap_search s = {.f = f, .gaps = gaps, .usual = usual_alignments(f)};
	parallel_for(gaps->gaps.len, GAP_BATCH, search_gap, &s);
	for (uint32_t w = 0; w < MAX_WORKERS; w++) {
		vec_each (va, &s.found[w])
			add_start(f, *va, 0, NULL, FOUND_GAP, 0);
		vec_free(&s.found[w]);
	}
}

static bool in_gap(const struct gap_list *gaps, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(gaps->gaps.data, gaps->gaps.len, start, va);
	return n && va < gaps->gaps.data[n - 1].end;
}

struct found_address {
	uint64_t va;
	enum found_by how;
};

struct address_scan {
	const struct flow *f;
	const struct gap_list *gaps;
	VEC(struct found_address) found[MAX_WORKERS];
};

static void note_address(struct address_scan *scan, uint64_t va, enum found_by how, uint32_t worker)
{
	if (va && in_gap(scan->gaps, va))
		vec_push(&scan->found[worker], (struct found_address){va, how});
}

static void scan_block(struct address_scan *scan, const struct block *b, uint32_t worker)
{
	const struct flow *f = scan->f;
	struct constants known = {0};
	/* When the graph was built, the target was taken for code of the function before it. */
	if (b->end == END_TAIL_CALL && !(b->flags & (BLOCK_OPEN_FRAME | BLOCK_CONDITIONAL)))
		note_address(scan, b->target, FOUND_JUMP, worker);
	for (uint64_t at = 0; at < b->size;) {
		struct insn in;
		size_t length = decode_at(f->module, f->arch, b->start + at, DECODE_FULL, &in);
		if (!length)
			return;
		constants_track(&known, &in);
		note_address(scan, constants_made(&known, &in), FOUND_ADDRESS, worker);
		at += length;
	}
}

static void scan_func(void *ctx, uint32_t item, uint32_t worker)
{
	struct address_scan *scan = ctx;
	const struct packed_graph *g = scan->f->funcs.data[item].graph;
	struct packed_reader r;
	struct block b;
	if (!g)
		return;
	packed_open(&r, g);
	while (packed_block(&r, &b))
		scan_block(scan, &b, worker);
}

void starts_from_addresses(struct flow *f, const struct gap_list *gaps)
{
	uint64_t total = 0;
	vec_each (gap, &gaps->gaps)
		total += gap->end - gap->start;
	if (total < MIN_ADDRESS_SCAN)
		return;
	struct address_scan scan = {.f = f, .gaps = gaps};
	parallel_for(f->funcs.len, SCAN_BATCH, scan_func, &scan);
	for (uint32_t w = 0; w < MAX_WORKERS; w++) {
		vec_each (r, &scan.found[w])
			if (looks_like_entry(f->module, f->arch, r->va))
				add_start(f, r->va, 0, NULL, r->how, 0);
		vec_free(&scan.found[w]);
	}
}
