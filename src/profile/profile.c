#include "profile/profile.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

const char *const profile_hierarchy_names[PROFILE_HIERARCHIES] = {
	[PROFILE_CODE] = "code",
	[PROFILE_MACHINE] = "machine",
	[PROFILE_SYNC] = "sync",
	[PROFILE_FILES] = "file",
};

const char *const profile_resource_names[RESOURCE_KINDS] = {
	[RESOURCE_GROUP] = "group",   [RESOURCE_FUNCTION] = "function",
	[RESOURCE_LOOP] = "loop",     [RESOURCE_PROCESS] = "process",
	[RESOURCE_THREAD] = "thread", [RESOURCE_OBJECT] = "object",
};

const char *const profile_state_names[PROFILE_EXPERIMENT_STATES] = {
	[PROFILE_READY] = "ready", [PROFILE_ACTIVE] = "active",   [PROFILE_TRUE] = "true",
	[PROFILE_FALSE] = "false", [PROFILE_UNKNOWN] = "unknown",
};

const char *const profile_origin_names[PROFILE_ORIGINS] = {
	[PROFILE_FROM_START] = "start",
	[PROFILE_REFINED] = "refined",
	[PROFILE_DEEP_STARTER] = "deep-starter",
	[PROFILE_CONNECTING] = "connecting",
};

const char *const profile_priority_names[PROFILE_PRIORITIES] = {
	[PROFILE_NORMAL] = "normal",
	[PROFILE_HIGH] = "high",
};

void profile_init(struct profile *p)
{
	*p = (struct profile){0};
	arena_init(&p->arena);
	vec_push(&p->nodes, (struct profile_node){.parent = PROFILE_NONE,
						  .module = PROFILE_NONE,
						  .scope = PROFILE_NONE,
						  .kind = NODE_ROOT});
}

void profile_release(struct profile *p)
{
	vec_free(&p->metrics);
	vec_free(&p->modules);
	vec_free(&p->processes);
	vec_free(&p->threads);
	vec_free(&p->nodes);
	vec_free(&p->values);
	vec_free(&p->scopes);
	vec_free(&p->counts);
	vec_free(&p->facts);
	vec_free(&p->counters);
	vec_free(&p->trips);
	vec_free(&p->uncovered);
	vec_free(&p->resources);
	vec_free(&p->experiments);
	vec_free(&p->refinements);
	evidence_release(&p->evidence);
	vec_free(&p->findings);
	vec_free(&p->remarks);
	hashmap_release(&p->node_index);
	hashmap_release(&p->value_index);
	hashmap_release(&p->counters_index);
	hashmap_release(&p->trips_index);
	arena_release(&p->arena);
}

/* Keys of the indices. Each node except the root, and each value, row of counters and row of trips,
 * has one entry in its index. The multipliers are those of base/hashmap.c. */
static uint64_t hash3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = (a ^ c << 56) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 32 ^ b) * 0xd6e8feb86659fd93u;
	return h ^ h >> 29;
}

static uint64_t node_key(uint32_t parent, unsigned kind, uint32_t module, uint64_t address)
{
	return hash3((uint64_t)parent << 32 | module, address, kind);
}

static uint64_t value_key(uint32_t node, uint32_t thread, uint32_t metric)
{
	return hash3((uint64_t)node << 32 | thread, metric, 0);
}

/* Rows read from a file are indexed on the first addition to the profile. */
static void index_nodes(struct profile *p)
{
	for (uint32_t i = p->node_index.len + 1; i < p->nodes.len; i++) {
		const struct profile_node *n = &p->nodes.data[i];
		hashmap_insert(&p->node_index, node_key(n->parent, n->kind, n->module, n->address),
			       i);
	}
}

static void index_values(struct profile *p)
{
	for (uint32_t i = p->value_index.len; i < p->values.len; i++) {
		const struct profile_value *v = &p->values.data[i];
		hashmap_insert(&p->value_index, value_key(v->node, v->thread, v->metric), i);
	}
}

struct node_query {
	const struct profile *profile;
	struct profile_node node;
};

static bool matches_node(const void *ctx, uint32_t number)
{
	const struct node_query *w = ctx;
	const struct profile_node *n = &w->profile->nodes.data[number], *k = &w->node;
	return n->parent == k->parent && n->address == k->address && n->module == k->module &&
	       n->kind == k->kind;
}

uint32_t profile_child(struct profile *p, uint32_t parent, enum node_kind kind, uint32_t module,
		       uint64_t address)
{
	const struct node_query w = {p,
				     {.parent = parent,
				      .module = module,
				      .address = address,
				      .scope = PROFILE_NONE,
				      .kind = (uint8_t)kind}};
	uint64_t key = node_key(parent, kind, module, address);
	if (p->node_index.len + 1 != p->nodes.len)
		index_nodes(p);
	uint32_t at = hashmap_find(&p->node_index, key, matches_node, &w);
	if (at != HASHMAP_NONE)
		return at;
	vec_push(&p->nodes, w.node);
	hashmap_insert(&p->node_index, key, p->nodes.len - 1);
	return p->nodes.len - 1;
}

struct value_query {
	const struct profile *profile;
	struct profile_value value;
};

static bool matches_value(const void *ctx, uint32_t number)
{
	const struct value_query *w = ctx;
	const struct profile_value *v = &w->profile->values.data[number], *k = &w->value;
	return v->node == k->node && v->thread == k->thread && v->metric == k->metric;
}

static struct profile_value *value_of(struct profile *p, uint32_t node, uint32_t thread,
				      uint32_t metric)
{
	const struct value_query w = {p, {.node = node, .thread = thread, .metric = metric}};
	uint64_t key = value_key(node, thread, metric);
	if (p->value_index.len != p->values.len)
		index_values(p);
	uint32_t at = hashmap_find(&p->value_index, key, matches_value, &w);
	if (at == HASHMAP_NONE) {
		at = p->values.len;
		vec_push(&p->values, w.value);
		hashmap_insert(&p->value_index, key, at);
	}
	return &p->values.data[at];
}

void profile_add(struct profile *p, uint32_t node, uint32_t thread, uint32_t metric,
		 uint64_t samples, uint64_t amount)
{
	struct profile_value *v = value_of(p, node, thread, metric);
	v->samples += samples;
	v->amount += amount;
}

static uint64_t counters_row_key(uint32_t module, uint64_t address, bool loop, uint32_t thread)
{
	return hash3((uint64_t)module << 32 | thread, address, loop);
}

static void index_counters(struct profile *p)
{
	for (uint32_t i = p->counters_index.len; i < p->counters.len; i++) {
		const struct profile_counters *t = &p->counters.data[i];
		hashmap_insert(&p->counters_index,
			       counters_row_key(t->module, t->address, t->loop, t->thread), i);
	}
}

struct counters_query {
	const struct profile *profile;
	struct profile_counters counters;
};

static bool matches_counters(const void *ctx, uint32_t number)
{
	const struct counters_query *w = ctx;
	const struct profile_counters *t = &w->profile->counters.data[number], *k = &w->counters;
	return t->module == k->module && t->address == k->address && t->loop == k->loop &&
	       t->thread == k->thread;
}

uint32_t profile_counters(struct profile *p, uint32_t module, uint64_t address, bool loop,
			  uint32_t thread)
{
	const struct counters_query w = {p,
					 {.module = module,
					  .address = address,
					  .loop = loop,
					  .thread = thread,
					  .scope = PROFILE_NONE}};
	uint64_t key = counters_row_key(module, address, loop, thread);
	if (p->counters_index.len != p->counters.len)
		index_counters(p);
	uint32_t at = hashmap_find(&p->counters_index, key, matches_counters, &w);
	if (at != HASHMAP_NONE)
		return at;
	vec_push(&p->counters, w.counters);
	hashmap_insert(&p->counters_index, key, p->counters.len - 1);
	return p->counters.len - 1;
}

static uint64_t trips_key(uint32_t counters, uint64_t low)
{
	return hash3(counters, low, 0);
}

static void index_trips(struct profile *p)
{
	for (uint32_t i = p->trips_index.len; i < p->trips.len; i++)
		hashmap_insert(&p->trips_index,
			       trips_key(p->trips.data[i].counters, p->trips.data[i].low), i);
}

struct trips_query {
	const struct profile *profile;
	struct profile_trips trips;
};

static bool matches_trips(const void *ctx, uint32_t number)
{
	const struct trips_query *w = ctx;
	const struct profile_trips *t = &w->profile->trips.data[number];
	return t->counters == w->trips.counters && t->low == w->trips.low;
}

void profile_add_trips(struct profile *p, uint32_t counters, uint64_t low, uint64_t high,
		       uint64_t entries)
{
	const struct trips_query w = {p, {counters, low, high, entries}};
	uint64_t key = trips_key(counters, low);
	if (p->trips_index.len != p->trips.len)
		index_trips(p);
	uint32_t at = hashmap_find(&p->trips_index, key, matches_trips, &w);
	if (at != HASHMAP_NONE) {
		p->trips.data[at].entries += entries;
		return;
	}
	hashmap_insert(&p->trips_index, key, p->trips.len);
	vec_push(&p->trips, w.trips);
}

uint32_t profile_metric_named(const struct profile *p, const char *name)
{
	vec_each (m, &p->metrics)
		if (!strcmp(m->name, name))
			return (uint32_t)(m - p->metrics.data);
	return PROFILE_NONE;
}

bool profile_has_counts(const struct profile *p)
{
	return p->counters.len;
}

bool profile_is_counted(const struct profile *p, uint32_t metric)
{
	if (!profile_has_counts(p) || metric >= p->metrics.len)
		return false;
	const char *name = p->metrics.data[metric].name;
	return !strcmp(name, PROFILE_INSTRUCTIONS) || !strcmp(name, PROFILE_CALLS) ||
	       !strcmp(name, PROFILE_RUNS);
}

void profile_count(struct profile *p, const char *name, uint64_t samples)
{
	vec_each (c, &p->counts) {
		if (!strcmp(c->name, name)) {
			c->samples += samples;
			return;
		}
	}
	vec_push(&p->counts, (struct profile_count){arena_strdup(&p->arena, name), samples});
}

void profile_fact(struct profile *p, const char *name, const char *value)
{
	vec_each (f, &p->facts) {
		if (!strcmp(f->name, name)) {
			if (strcmp(f->value, value) != 0)
				f->value = arena_strdup(&p->arena, value);
			return;
		}
	}
	vec_push(&p->facts, (struct profile_fact){arena_strdup(&p->arena, name),
						  arena_strdup(&p->arena, value)});
}

const char *profile_get_fact(const struct profile *p, const char *name)
{
	vec_each (f, &p->facts)
		if (!strcmp(f->name, name))
			return f->value;
	return NULL;
}

bool profile_has_search(const struct profile *p)
{
	return p->resources.len || p->findings.len || p->remarks.len;
}

void profile_resource_path(const struct profile *p, uint32_t resource, struct text *out)
{
	VEC(const char *) names = {0};
	for (; resource < p->resources.len; resource = p->resources.data[resource].parent)
		vec_push(&names, p->resources.data[resource].name);
	while (names.len) {
		text_char(out, '/');
		text_add(out, vec_pop(&names));
	}
	vec_free(&names);
}

static bool is_index(uint32_t i, uint32_t len)
{
	return i == PROFILE_NONE || i < len;
}

static bool node_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_node *n = &p->nodes.data[i];
	if (!is_index(n->module, p->modules.len) || !is_index(n->scope, p->scopes.len))
		return false;
	if (i == 0)
		return n->kind == NODE_ROOT && n->parent == PROFILE_NONE;
	return n->kind > NODE_ROOT && n->kind < NODE_KINDS && n->parent < i &&
	       (n->kind != NODE_PARTIAL || n->parent == 0);
}

static bool scope_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_scope *s = &p->scopes.data[i];
	if (s->module >= p->modules.len || s->kind > PROFILE_LINE)
		return false;
	if (s->kind == PROFILE_FUNCTION)
		return s->parent == PROFILE_NONE;
	return s->parent < i && p->scopes.data[s->parent].module == s->module &&
	       p->scopes.data[s->parent].kind != PROFILE_LINE;
}

static bool value_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_value *v = &p->values.data[i];
	return v->node < p->nodes.len && v->thread < p->threads.len && v->metric < p->metrics.len;
}

static bool thread_is_sound(const struct profile *p, uint32_t i)
{
	return p->threads.data[i].process < p->processes.len;
}

/* Its scope, if any, must be in the same module and of the right kind. */
static bool counters_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_counters *t = &p->counters.data[i];
	if (t->module >= p->modules.len || t->thread >= p->threads.len ||
	    t->flags >= COUNTS_FLAGS || t->trip_min > t->trip_max ||
	    !is_index(t->scope, p->scopes.len))
		return false;
	return t->scope == PROFILE_NONE ||
	       (p->scopes.data[t->scope].module == t->module &&
		p->scopes.data[t->scope].kind == (t->loop ? PROFILE_LOOP : PROFILE_FUNCTION));
}

static bool trips_are_sound(const struct profile *p, uint32_t i)
{
	const struct profile_trips *t = &p->trips.data[i];
	return t->counters < p->counters.len && p->counters.data[t->counters].loop &&
	       t->low <= t->high;
}

static bool uncovered_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_uncovered *u = &p->uncovered.data[i];
	return is_index(u->module, p->modules.len) &&
	       (u->share <= 1000000 || u->share == PROFILE_NONE);
}

static bool resource_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_resource *r = &p->resources.data[i];
	if (r->hierarchy >= PROFILE_HIERARCHIES || r->kind >= RESOURCE_KINDS ||
	    !is_index(r->module, p->modules.len))
		return false;
	return r->parent == PROFILE_NONE ||
	       (r->parent < i && p->resources.data[r->parent].hierarchy == r->hierarchy);
}

static bool are_numbers(const double *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(list[i]))
			return false;
	return true;
}

static bool experiment_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_experiment *x = &p->experiments.data[i];
	const double numbers[] = {x->value, x->threshold, x->confidence, x->created,
				  x->begun, x->decided,   x->observed,   x->overhead};
	for (int h = 0; h < PROFILE_HIERARCHIES; h++)
		if (x->focus[h] >= p->resources.len ||
		    p->resources.data[x->focus[h]].hierarchy != h)
			return false;
	return x->state < PROFILE_EXPERIMENT_STATES && x->origin < PROFILE_ORIGINS &&
	       x->priority < PROFILE_PRIORITIES && x->flags < EXPERIMENT_FLAGS &&
	       are_numbers(numbers, ARRAY_SIZE(numbers));
}

/* Cycles are allowed: recursion causes them. */
static bool refinement_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_refinement *r = &p->refinements.data[i];
	return r->parent < p->experiments.len && r->child < p->experiments.len;
}

static bool finding_is_sound(const struct profile *p, uint32_t i)
{
	const struct profile_finding *f = &p->findings.data[i];
	return is_index(f->experiment, p->experiments.len) && is_index(f->node, p->nodes.len) &&
	       isfinite(f->share) && isfinite(f->confidence);
}

static bool remark_is_sound(const struct profile *p, uint32_t i)
{
	return is_index(p->remarks.data[i].finding, p->findings.len);
}

static int check_each(const struct profile *p, uint32_t len, const char *what,
		      bool (*sound)(const struct profile *p, uint32_t i), struct err *e)
{
	for (uint32_t i = 0; i < len; i++)
		if (!sound(p, i))
			return err_set(e, ERR_INPUT, "%s %u is invalid", what, i);
	return 0;
}

/* Checks for cycles: each walk up the parents must end at a process without a parent, or at one
 * that an earlier walk has visited. */
static int check_processes(const struct profile *p, struct err *e)
{
	uint32_t *walk = xcalloc((size_t)p->processes.len + 1, sizeof(*walk));
	int r = 0;
	for (uint32_t i = 0; i < p->processes.len && !r; i++) {
		uint32_t at = i;
		for (; at < p->processes.len && !walk[at]; at = p->processes.data[at].parent)
			walk[at] = i + 1;
		if (at != PROFILE_NONE && (at >= p->processes.len || walk[at] == i + 1))
			r = err_set(e, ERR_INPUT, "process %u is invalid", i);
	}
	free(walk);
	return r;
}

static bool counters_overflow(const struct profile *p)
{
	uint64_t entries = 0, iterations = 0, instructions = 0, ended = 0;
	bool over = false;
	vec_each (t, &p->counters) {
		over |= __builtin_add_overflow(entries, t->entries, &entries);
		over |= __builtin_add_overflow(iterations, t->iterations, &iterations);
		for (int i = 0; i < INSN_CLASSES; i++)
			over |= __builtin_add_overflow(instructions, t->mix[i], &instructions);
	}
	vec_each (t, &p->trips)
		over |= __builtin_add_overflow(ended, t->entries, &ended);
	return over;
}

/* Rejects profiles whose sums exceed 64 bits, so that code that adds up values needs no overflow
 * checks. */
static int check_sums(const struct profile *p, struct err *e)
{
	uint64_t samples = 0, amount = 0;
	bool over = counters_overflow(p);
	vec_each (v, &p->values) {
		over |= __builtin_add_overflow(samples, v->samples, &samples);
		over |= __builtin_add_overflow(amount, v->amount, &amount);
	}
	return over ? err_set(e, ERR_INPUT, "its values add up to more than 64 bits") : 0;
}

int profile_check(const struct profile *p, struct err *e)
{
	int r = p->nodes.len ? 0 : err_set(e, ERR_INPUT, "there is no root");
	r = r ? r : check_each(p, p->nodes.len, "node", node_is_sound, e);
	r = r ? r : check_each(p, p->scopes.len, "scope", scope_is_sound, e);
	r = r ? r : check_each(p, p->values.len, "value", value_is_sound, e);
	r = r ? r : check_each(p, p->threads.len, "thread", thread_is_sound, e);
	r = r ? r : check_each(p, p->counters.len, "counters", counters_is_sound, e);
	r = r ? r : check_each(p, p->trips.len, "row of trips", trips_are_sound, e);
	r = r ? r : check_each(p, p->uncovered.len, "row of uncovered", uncovered_is_sound, e);
	r = r ? r : check_each(p, p->resources.len, "resource", resource_is_sound, e);
	r = r ? r : check_each(p, p->experiments.len, "experiment", experiment_is_sound, e);
	r = r ? r : check_each(p, p->refinements.len, "refinement", refinement_is_sound, e);
	if (!r && !evidence_is_sound(p))
		r = err_set(e, ERR_INPUT, "the evidence of its findings is invalid");
	r = r ? r : check_each(p, p->findings.len, "finding", finding_is_sound, e);
	r = r ? r : check_each(p, p->remarks.len, "remark", remark_is_sound, e);
	r = r ? r : check_processes(p, e);
	return r ? r : check_sums(p, e);
}
