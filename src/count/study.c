#include "count/study.h"

#include <string.h>

#include "base/hashmap.h"
#include "flow/effects.h"
#include "structure/structure.h"

/* A module with counted functions. */
struct studied_module {
	const struct code *code;
	struct structure *structure; /* NULL: it is not available */
	struct scope_index *index;
	VEC(uint64_t) prepared; /* functions */
	uint32_t fresh;         /* how many of the last ones were not prepared before */
	uint32_t covered;       /* how many of the last ones are in the structure */
};

struct studies {
	struct arena arena, tmp;
	VEC(struct studied_module) modules;
	VEC(struct study *) list;
	struct hashmap at; /* code and va -> list */
};

struct studies *studies_new(void)
{
	struct studies *s = xcalloc(1, sizeof(*s));
	arena_init(&s->arena);
	arena_init(&s->tmp);
	return s;
}

void studies_free(struct studies *s)
{
	vec_each (i, &s->modules) {
		scope_index_free(i->index);
		structure_free(i->structure);
		vec_free(&i->prepared);
	}
	vec_free(&s->modules);
	vec_free(&s->list);
	hashmap_release(&s->at);
	arena_release(&s->arena);
	arena_release(&s->tmp);
	free(s);
}

/* ---- source ---- */

static struct studied_module *module_of(struct studies *s, const struct code *code)
{
	vec_each (i, &s->modules)
		if (i->code == code)
			return i;
	vec_push(&s->modules, (struct studied_module){.code = code});
	return &vec_last(&s->modules);
}

/* Recovers the structure of the last `count` functions that were prepared. The cache has whole
 * modules. */
static void recover(struct studied_module *i, uint32_t count)
{
	const struct structure_options options = {
		.use_cache = true, .use_debug = true, .flow = i->code->flow};
	const uint64_t *addresses = i->prepared.data + (i->prepared.len - count);
	struct err ignored;
	if (i->structure && i->structure->cached)
		return;
	scope_index_free(i->index);
	structure_free(i->structure);
	i->structure = NULL;
	i->index = NULL;
	i->covered = count;
	if (!structure_of_addresses(&i->structure, i->code->module, addresses, count, &options,
				    &ignored))
		i->index = scope_index_new(i->structure);
}

static bool is_known(const struct studies *s, const struct counted_function *p)
{
	const uint64_t key[] = {p->code->id, p->va};
	return hashmap_get(&s->at, hash_bytes(key, sizeof(key), 0)) != HASHMAP_NONE;
}

void studies_prepare(struct studies *s, const struct counted_function *list, uint32_t count)
{
	vec_each (i, &s->modules)
		i->fresh = 0;
	for (uint32_t k = 0; k < count; k++) {
		struct studied_module *i = module_of(s, list[k].code);
		if (is_known(s, &list[k]))
			continue;
		vec_push(&i->prepared, list[k].va);
		i->fresh++;
	}
	vec_each (i, &s->modules)
		if (i->fresh)
			recover(i, i->fresh);
}

const struct structure *studies_structure(struct studies *s, const struct code *code)
{
	struct studied_module *i = module_of(s, code);
	if (i->prepared.len && i->covered < i->prepared.len)
		recover(i, i->prepared.len);
	return i->structure;
}

/* ---- runs ---- */

static uint32_t scope_at(const struct studied_module *i, uint64_t va)
{
	return i->index ? scope_index_at(i->index, va) : INDEX_NONE;
}

struct cutting {
	const struct studied_module *module;
	VEC(struct insn_run) runs;
	VEC(uint64_t) places;
	struct hashmap place_of; /* scope -> place */
};

static uint32_t place_of(struct cutting *c, uint32_t scope, uint64_t va)
{
	uint32_t next = c->places.len, at = hashmap_add(&c->place_of, scope, next);
	if (at == next)
		vec_push(&c->places, va);
	return at;
}

static void cut_block(const struct study *y, struct cutting *k, const struct block *b)
{
	uint32_t first = k->runs.len, last = INDEX_NONE, number = 0;
	struct decoder c;
	struct insn in;
	cursor_set(&c, y->what.code->module, y->what.code->arch, b->start, b->size);
	for (; cursor_next(&c, DECODE_FLOW, &in); number++) {
		uint32_t scope = scope_at(k->module, in.pc);
		bool begins = k->runs.len == first || scope != last;
		if (begins)
			vec_push(&k->runs, (struct insn_run){.va = in.pc,
							     .place = place_of(k, scope, in.pc),
							     .first = number});
		/* A system call may be the last instruction that is executed, so it ends a run. */
		last = in.kind == INSN_SYSCALL ? INDEX_NONE - 1 : scope;
		vec_last(&k->runs).count++;
		vec_last(&k->runs).mix[in.class]++;
	}
}

static void cut(struct studies *s, struct study *y, const struct cfg *g)
{
	struct cutting k = {.module = module_of(s, y->what.code)};
	y->first_run = ARENA_ARRAY(&s->arena, uint32_t, g->block_count + 1);
	for (uint32_t b = 0; b < g->block_count; b++) {
		y->first_run[b] = k.runs.len;
		cut_block(y, &k, &g->blocks[b]);
	}
	y->first_run[g->block_count] = k.runs.len;
	y->runs = ARENA_DUP(&s->arena, k.runs.data, k.runs.len);
	y->places = ARENA_DUP(&s->arena, k.places.data, k.places.len);
	y->place_count = k.places.len;
	vec_free(&k.runs);
	vec_free(&k.places);
	hashmap_release(&k.place_of);
}

/* ---- studies ---- */

static const uint64_t *list_headers(const struct study *y, const struct cfg *g, struct arena *a)
{
	uint64_t *out = ARENA_ARRAY(a, uint64_t, y->forest.loop_count);
	for (uint32_t i = 0; i < y->forest.loop_count; i++)
		out[i] = g->blocks[y->forest.loops[i].header].start;
	return out;
}

/* Makes the same plan as when the probes were made. Returns the graph, in s->tmp, or NULL. */
static const struct cfg *plan(struct studies *s, struct study *y)
{
	struct flow *f = y->what.code->flow;
	struct arena *a = &s->arena, *tmp = &s->tmp;
	struct liveness live;
	uint32_t function = flow_function_at(f, y->what.va);
	struct counters_options o = {
		.live = &live, .private = y->what.private, .without_trips = y->what.without_trips};
	if (function == UINT32_MAX)
		return NULL;
	const struct cfg *g = flow_cfg(f, function, tmp, tmp);
	loops_find(g, &y->forest, a, tmp);
	liveness_find(&live, f, g, y->what.private, tmp, tmp);
	if (!counters_plan(&y->counters, f, g, &y->forest, &o, a, tmp))
		return NULL;
	y->counters.cfg = NULL;
	y->counters.live = NULL;
	y->block_count = g->block_count;
	y->entry = g->entry;
	y->headers = list_headers(y, g, a);
	return g;
}

struct counters_place study_place(struct studies *s, const struct study *y, uint64_t va)
{
	struct flow *f = y->what.code->flow;
	struct counters whole = y->counters;
	whole.cfg = flow_cfg(f, flow_function_at(f, y->what.va), &s->tmp, &s->tmp);
	struct counters_place p = counters_place(&whole, f, va);
	arena_clear(&s->tmp);
	return p;
}

uint32_t studies_count(const struct studies *s)
{
	return s->list.len;
}

const struct study *studies_find(struct studies *s, const struct counted_function *what)
{
	const uint64_t key[] = {what->code->id, what->va};
	uint32_t next = s->list.len;
	uint32_t at = hashmap_add(&s->at, hash_bytes(key, sizeof(key), 0), next);
	if (at != next)
		return s->list.data[at];
	struct study *y = ARENA_NEW(&s->arena, struct study);
	y->what = *what;
	y->number = next;
	const struct cfg *g = plan(s, y);
	if (g)
		cut(s, y, g);
	else
		y = NULL;
	arena_clear(&s->tmp);
	vec_push(&s->list, y);
	return y;
}
