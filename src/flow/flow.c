#include "flow/flow.h"

#include <stdlib.h>

#include "base/order.h"
#include "flow/internal.h"
#include "flow/start_cache.h"

/* Limits of the analysis of a single function before flow_discover(): how deep into callees to look
 * for a return, and how many split-off parts to add. */
enum { LOOK_DEPTH = 4, MAX_PARTS_FOUND = 16 };

const char *const found_by_name[FOUND_METHODS] = {
	"symbol", "dynamic-symbol", "unwind-range", "debug-info", "entry-point", "plt",
	"call",   "tail-call",      "pointer",      "address",    "inference",
};

/* The context of the callbacks in struct build_env. `depth` is the number of calls from the
 * function whose graph is needed to the one that is being looked at. */
struct callee_query {
	struct flow *f;
	unsigned depth;
};

static int flow_new(struct flow **out, const struct module *m, struct err *e)
{
	const struct arch *arch = arch_of_machine(m->machine);
	if (!arch)
		return err_set(e, ERR_UNSUPPORTED, "its machine type (%u) is not supported",
			       m->machine);
	*out = xcalloc(1, sizeof(**out));
	(*out)->module = m;
	(*out)->arch = arch;
	pthread_mutex_init(&(*out)->starting, NULL);
	known_graphs_init(&(*out)->known);
	atomic_store(&(*out)->started, true);
	return 0;
}

int flow_open(struct flow **out, const struct module *m, struct err *e)
{
	int rc = flow_new(out, m, e);
	if (rc)
		return rc;
	starts_from_file(*out);
	publish(*out);
	return 0;
}

int flow_open_cached(struct flow **out, const struct module *m, struct err *e)
{
	int rc = flow_new(out, m, e);
	if (rc)
		return rc;
	(*out)->cached = true;
	atomic_store(&(*out)->started, false);
	return 0;
}

/* What was searched in a large module without symbols is kept for the next run. */
static bool is_worth_storing(const struct flow *f)
{
	enum { WORTH_STORING = 16 }; /* searches: they take longer than to write a file */
	return f->cached && !f->joined && !f->discovered &&
	       f->searched.len - f->stored >= WORTH_STORING;
}

void flow_close(struct flow *f)
{
	if (!f)
		return;
	if (is_worth_storing(f))
		start_cache_store(f);
	for (uint32_t i = 0; i < MAX_WORKERS; i++) {
		arena_release(&f->graphs[i]);
		arena_release(&f->tmp[i]);
	}
	arena_release(&f->arena);
	hashmap_release(&f->by_start);
	vec_free(&f->funcs);
	vec_free(&f->added);
	vec_free(&f->fragments);
	vec_free(&f->code_pointers);
	vec_free(&f->searched);
	vec_free(&f->parts);
	vec_free(&f->owned_parts);
	free(f->published);
	pthread_mutex_destroy(&f->starting);
	free(f->published_graphs);
	known_graphs_release(&f->known);
	free(f);
}

void flow_add_start(struct flow *f, uint64_t start, uint64_t end, const char *name,
		    enum found_by how)
{
	need_starts(f);
	f->cached = false;
	add_start(f, start, end, name ? arena_strdup(&f->arena, name) : NULL, how, 0);
}

const struct arch *flow_arch(const struct flow *f)
{
	return f->arch;
}

const struct module *flow_module(const struct flow *f)
{
	return f->module;
}

/* An unwind range alone does not prove a start: split-off parts have one, too. */
static bool is_start(void *ctx, uint64_t va)
{
	const struct flow *f = ((struct callee_query *)ctx)->f;
	uint32_t i = func_from(f, va);
	return i != HASHMAP_NONE && f->funcs.data[i].found_by & ~(FOUND_FRAME | FOUND_JUMP);
}

static bool slot_returns(void *ctx, uint64_t slot)
{
	const struct reloc *r = module_slot_at(((struct callee_query *)ctx)->f->module, slot);
	return !r || !r->symbol || !is_noreturn_name(r->symbol, true);
}

/* Whether control returns to the caller by this block. */
static bool block_returns(const struct flow *f, const struct block *b)
{
	if (b->end == END_RETURN || b->end == END_UNRESOLVED || b->end == END_BAD)
		return true;
	if (b->end != END_TAIL_CALL)
		return false;
	uint32_t callee = b->target ? func_from(f, b->target) : (uint32_t)HASHMAP_NONE;
	return callee == HASHMAP_NONE || !(f->funcs.data[callee].flags & FUNCTION_NORETURN);
}

bool graph_returns(const struct flow *f, const struct packed_graph *g)
{
	struct packed_reader r;
	struct block b;
	packed_open(&r, g);
	while (packed_block(&r, &b))
		if (block_returns(f, &b))
			return true;
	return false;
}

static bool cfg_returns(const struct flow *f, const struct cfg *g)
{
	for (uint32_t i = 0; i < g->block_count; i++)
		if (block_returns(f, &g->blocks[i]))
			return true;
	return false;
}

static struct build_env env_of(struct callee_query *q, const struct func *p, struct arena *tmp);

/* The cheap test comes first: most functions have a return that is found without their jump tables.
 */
static bool function_returns(struct callee_query *q, const struct func *p)
{
	struct arena tmp;
	arena_init(&tmp);
	struct build_env env = env_of(q, p, &tmp);
	bool yes = cfg_reaches_return(&env, &tmp) || cfg_returns(q->f, cfg_build(&env, &tmp, &tmp));
	arena_release(&tmp);
	return yes;
}

/* Whether the callee returns, found by looking at its code. Only needed for single functions before
 * flow_discover(). */
static bool callee_returns(struct callee_query *q, struct func *p)
{
	unsigned known = atomic_load(&p->returns);
	if (known != RETURNS_UNKNOWN)
		return known == RETURNS_YES;
	if (q->depth >= LOOK_DEPTH)
		return true;
	struct callee_query deeper = {.f = q->f, .depth = q->depth + 1};
	bool yes = function_returns(&deeper, p);
	/* At the depth limit, callees are taken to return. So a no is certain, and a yes may be
	 * wrong; it is kept nevertheless, or each function would be looked at many times. */
	atomic_store(&p->returns, (unsigned char)(yes ? RETURNS_YES : RETURNS_NO));
	return yes;
}

static bool call_returns(void *ctx, uint64_t target)
{
	struct callee_query *q = ctx;
	uint32_t i = func_from(q->f, target);
	if (i == HASHMAP_NONE)
		return true;
	struct func *p = &q->f->funcs.data[i];
	if (p->flags & FUNCTION_NORETURN)
		return false;
	return q->f->discovered || p->flags & FUNCTION_PLT || callee_returns(q, p);
}

/* The number of label addresses in [start, end); *first points to the first of them in order. */
static uint32_t labels_in(const struct flow *f, uint64_t start, uint64_t end,
			  const uint64_t **first)
{
	const uint64_t *all = f->code_pointers.data;
	uint32_t from = order_up_to(all, f->code_pointers.len, sizeof(*all), 0, start - 1);
	uint32_t to = order_up_to(all, f->code_pointers.len, sizeof(*all), 0, end - 1);
	*first = all ? all + from : NULL;
	return to > from ? to - from : 0;
}

static void set_labels(const struct flow *f, struct build_env *env, struct arena *tmp)
{
	const uint64_t *more;
	uint32_t total = 0;
	for (uint32_t i = 0; i < env->range_count; i++)
		total += labels_in(f, env->ranges[i].start, env->ranges[i].end, &more);
	uint64_t *labels = total ? ARENA_ARRAY(tmp, uint64_t, total) : NULL;
	for (uint32_t i = 0; i < env->range_count && total; i++) {
		uint32_t n = labels_in(f, env->ranges[i].start, env->ranges[i].end, &more);
		for (uint32_t k = 0; k < n; k++)
			if (more[k] != env->ranges[0].start)
				labels[env->label_count++] = more[k];
	}
	env->labels = labels;
}

static struct build_env env_of(struct callee_query *q, const struct func *p, struct arena *tmp)
{
	struct flow *f = q->f;
	struct build_env env = {
		.module = f->module,
		.arch = f->arch,
		.range_count = p->part_count + 1,
		.bounded = p->bounded,
		.reach = p->reach,
		.is_start = is_start,
		.call_returns = call_returns,
		.slot_returns = slot_returns,
		.ctx = q,
	};
	struct part *ranges = ARENA_ARRAY(tmp, struct part, env.range_count);
	ranges[0] = (struct part){p->start, p->end};
	for (uint32_t i = 0; i < p->part_count; i++)
		ranges[i + 1] = p->parts[i];
	env.ranges = ranges;
	set_labels(f, &env, tmp);
	return env;
}

const struct cfg *build_func(struct flow *f, const struct func *p, struct arena *a,
			     struct arena *tmp)
{
	struct callee_query q = {.f = f};
	struct build_env env = env_of(&q, p, tmp);
	return cfg_build(&env, a, tmp);
}

/* Builds the graph of a function whose parts were not searched for yet: adds those that its graph
 * leads to, one per round. */
static const struct cfg *build_with_parts(struct flow *f, const struct func *known, struct arena *a,
					  struct arena *tmp)
{
	struct func p = *known;
	const struct cfg *g = build_func(f, &p, a, tmp);
	for (unsigned round = 0; round < MAX_PARTS_FOUND; round++) {
		struct part part;
		if (!find_part(f, &p, g, &part))
			break;
		append_part(tmp, &p, part);
		g = build_func(f, &p, a, tmp);
	}
	return g;
}

/* What the graph of a function depends on, besides the code: its bounds, and which other functions
 * are known. */
static uint64_t graph_key(const struct flow *f, const struct func *p)
{
	const uint64_t parts[] = {p->start,      p->end,       p->reach, p->bounded,
				  p->part_count, f->funcs.len, f->joined};
	return hash_bytes(parts, sizeof(parts), 0);
}

const struct cfg *flow_cfg(struct flow *f, uint32_t function, struct arena *a, struct arena *tmp)
{
	need_starts(f);
	if (f->discovered)
		return graph_unpack(f->published_graphs[function], a);
	const struct func *p = &f->funcs.data[function];
	uint64_t key = graph_key(f, p);
	const struct packed_graph *known = known_graph(&f->known, key);
	if (known)
		return graph_unpack(known, a);
	const struct cfg *g = build_with_parts(f, p, a, tmp);
	known_graph_add(&f->known, key, g, tmp);
	return g;
}
