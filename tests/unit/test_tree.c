/* The calling-context tree and the views made of it (callers, flat, graph), compared with naive
 * versions that go over all contexts for each number, on random profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "profile/callers.h"
#include "profile/counts.h"
#include "profile/flat.h"
#include "profile/graph.h"

enum { ROUNDS = 1500, DEEP = 100000, MAX_PATH = 256 };

static uint64_t random_state;

static uint32_t roll(uint32_t sides)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % sides;
}

/* One step of a context: a scope, or a pseudo kind without one. */
struct step {
	uint32_t scope;
	uint8_t kind; /* enum tree_kind */
};

/* Where a value was measured, root to leaf; with the lines or without. */
struct context {
	struct step path[MAX_PATH];
	uint32_t depth;
	uint64_t amount, samples;
};

typedef VEC(struct context) contexts;

static uint32_t add_scope(struct profile *p, enum profile_scope_kind kind, uint32_t parent,
			  uint32_t module, const char *file)
{
	vec_push(&p->scopes, (struct profile_scope){.parent = parent,
						    .module = module,
						    .kind = (uint8_t)kind,
						    .name = "",
						    .file = file,
						    .call_file = ""});
	return p->scopes.len - 1;
}

static void start_profile(struct profile *p)
{
	profile_init(p);
	vec_push(&p->modules, (struct profile_module){.path = "/bin/one"});
	vec_push(&p->modules, (struct profile_module){.path = "/bin/two"});
	vec_push(&p->metrics, (struct profile_metric){.name = "cpu-clock", .unit = "ns"});
	vec_push(&p->metrics, (struct profile_metric){.name = "faults", .unit = ""});
	vec_push(&p->processes, (struct profile_process){.parent = PROFILE_NONE, .name = "one"});
	for (int i = 0; i < 3; i++)
		vec_push(&p->threads, (struct profile_thread){.tid = i, .name = "one"});
}

static void random_scopes(struct profile *p)
{
	static const char *const files[] = {"a.c", "b.c", ""};
	uint32_t functions = 1 + roll(5), others = roll(16);
	for (uint32_t i = 0; i < functions; i++)
		add_scope(p, PROFILE_FUNCTION, PROFILE_NONE, roll(2), files[roll(3)]);
	for (uint32_t i = 0; i < others; i++) {
		uint32_t parent = roll(p->scopes.len);
		if (p->scopes.data[parent].kind != PROFILE_LINE)
			add_scope(p, (enum profile_scope_kind)(PROFILE_INLINE + roll(3)), parent,
				  p->scopes.data[parent].module, files[roll(3)]);
	}
}

static void random_nodes(struct profile *p)
{
	uint32_t count = roll(40);
	for (uint32_t i = 0; i < count; i++) {
		/* Mostly deep: below one of the last. */
		uint32_t len = p->nodes.len,
			 parent = roll(3) ? len - 1 - roll(len < 3 ? len : 3) : roll(len);
		uint32_t dice = roll(16);
		enum node_kind kind = dice == 0   ? NODE_KERNEL
				      : dice == 1 ? NODE_WAIT
				      : dice == 2 ? NODE_PARTIAL
				      : dice < 6  ? NODE_LEAF
						  : NODE_FRAME;
		bool frame = kind == NODE_FRAME || kind == NODE_LEAF;
		uint32_t n = profile_child(p, kind == NODE_PARTIAL ? 0 : parent, kind, PROFILE_NONE,
					   frame ? roll(50) : 0);
		if (frame && p->nodes.data[n].scope == PROFILE_NONE && roll(20))
			p->nodes.data[n].scope = roll(p->scopes.len);
	}
}

static void random_profile(struct profile *p, uint64_t seed)
{
	random_state = seed;
	start_profile(p);
	random_scopes(p);
	random_nodes(p);
	for (uint32_t i = 0, count = roll(40); i < count; i++) {
		uint32_t samples = roll(5);
		profile_add(p, roll(p->nodes.len), roll(3), roll(4) == 0, samples,
			    (uint64_t)samples * roll(100));
	}
	struct err e;
	assert_int_equal(profile_check(p, &e), 0);
}

static void push_step(struct context *c, uint32_t scope, uint8_t kind)
{
	assert_true(c->depth < MAX_PATH);
	c->path[c->depth++] = (struct step){scope, kind};
}

/* Leaf to root, to be turned round. */
static void push_node(struct context *c, const struct profile *p, const struct profile_node *n,
		      bool lines)
{
	static const uint8_t pseudo[NODE_KINDS] = {[NODE_KERNEL] = TREE_KERNEL,
						   [NODE_WAIT] = TREE_WAIT,
						   [NODE_PARTIAL] = TREE_PARTIAL};
	if (pseudo[n->kind])
		push_step(c, PROFILE_NONE, pseudo[n->kind]);
	for (uint32_t s = n->scope; s != PROFILE_NONE; s = p->scopes.data[s].parent)
		if (lines || p->scopes.data[s].kind != PROFILE_LINE)
			push_step(c, s, (uint8_t)(TREE_FUNCTION + p->scopes.data[s].kind));
}

static struct context context_of(const struct profile *p, const struct profile_value *v, bool lines)
{
	struct context c = {.amount = v->amount, .samples = v->samples};
	for (uint32_t i = v->node; i; i = p->nodes.data[i].parent)
		push_node(&c, p, &p->nodes.data[i], lines);
	for (uint32_t i = 0; i < c.depth / 2; i++) {
		struct step swap = c.path[i];
		c.path[i] = c.path[c.depth - 1 - i];
		c.path[c.depth - 1 - i] = swap;
	}
	return c;
}

static bool passes(const struct context *c, uint32_t scope)
{
	for (uint32_t i = 0; i < c->depth; i++)
		if (c->path[i].scope == scope)
			return true;
	return false;
}

/* What the tree's options select; focus is on `focused`, or on nothing if that is none. */
struct selection {
	bool one_thread, lines;
	uint32_t focused;
};

static bool thread_one(void *ctx, uint32_t thread)
{
	(void)ctx;
	return thread == 1;
}

static bool is_focused(void *ctx, uint32_t scope)
{
	return scope == *(uint32_t *)ctx;
}

static struct tree_options options_of(struct selection *s)
{
	return (struct tree_options){.thread = s->one_thread ? thread_one : NULL,
				     .focus = s->focused == PROFILE_NONE ? NULL : is_focused,
				     .ctx = &s->focused,
				     .lines = s->lines};
}

static void find_contexts(contexts *out, const struct profile *p, const struct selection *s)
{
	vec_each (v, &p->values) {
		if (v->metric != 0 || (s->one_thread && v->thread != 1) ||
		    (!v->samples && !v->amount))
			continue;
		struct context full = context_of(p, v, true);
		if (s->focused == PROFILE_NONE || passes(&full, s->focused))
			vec_push(out, context_of(p, v, s->lines));
	}
}

static bool same_steps(const struct step *a, const struct step *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].scope != b[i].scope || a[i].kind != b[i].kind)
			return false;
	return true;
}

/* How many different beginnings the contexts have, of up to `most` steps, that come to `least`. */
static uint32_t count_prefixes(const contexts *all, uint32_t most, double least)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < all->len; i++) {
		const struct context *c = &all->data[i];
		for (uint32_t n = 1; n <= c->depth && n <= most; n++) {
			uint64_t sum = 0;
			bool new = true;
			for (uint32_t k = 0; k < all->len; k++) {
				const struct context *o = &all->data[k];
				if (o->depth < n || !same_steps(o->path, c->path, n))
					continue;
				sum += o->amount;
				new &= k >= i;
			}
			count += new && (double)sum >= least;
		}
	}
	return count;
}

/* Each node's numbers are those of the contexts that begin with its path. */
static void check_sums(const struct tree *t, const contexts *all)
{
	for (uint32_t i = 0; i < t->nodes.len; i++) {
		struct step path[MAX_PATH];
		uint32_t depth = 0;
		struct tree_node sum = {0};
		const struct tree_node *n = &t->nodes.data[i];
		for (uint32_t k = i; k; k = t->nodes.data[k].parent)
			depth++;
		for (uint32_t k = i, at = depth; k; k = t->nodes.data[k].parent)
			path[--at] = (struct step){t->nodes.data[k].scope, t->nodes.data[k].kind};
		vec_each (c, all) {
			if (c->depth < depth || !same_steps(c->path, path, depth))
				continue;
			sum.total += c->amount;
			sum.total_samples += c->samples;
			sum.self += c->depth == depth ? c->amount : 0;
			sum.self_samples += c->depth == depth ? c->samples : 0;
		}
		assert_int_equal(n->total, sum.total);
		assert_int_equal(n->total_samples, sum.total_samples);
		assert_int_equal(n->self, sum.self);
		assert_int_equal(n->self_samples, sum.self_samples);
	}
}

/* Parents before children, and each node in its parent's list once, largest first. */
static void check_shape(const struct tree *t)
{
	uint32_t listed = 0, walked = 0;
	assert_int_equal(t->nodes.data[0].kind, TREE_ROOT);
	for (uint32_t i = 0; i < t->nodes.len; i++) {
		uint64_t last = UINT64_MAX;
		assert_true(!i || t->nodes.data[i].parent < i);
		for (uint32_t c = t->nodes.data[i].first_child; c != PROFILE_NONE;
		     c = t->nodes.data[c].next) {
			assert_int_equal(t->nodes.data[c].parent, i);
			assert_true(t->nodes.data[c].total <= last);
			last = t->nodes.data[c].total;
			listed++;
		}
	}
	assert_int_equal(listed, t->nodes.len - 1);
	for (struct tree_step s = {0}; tree_walk(t, &s);)
		walked++;
	assert_int_equal(walked, 2 * listed);
}

static void check_tree(const struct tree *t, const contexts *all)
{
	check_shape(t);
	check_sums(t, all);
	assert_int_equal(t->nodes.len - 1, count_prefixes(all, MAX_PATH, 0));
}

/* The context from the function measured up to the root, without lines. */
static struct context turned_round(const struct context *c)
{
	struct context out = {.amount = c->amount, .samples = c->samples};
	uint32_t from = c->depth;
	while (from && c->path[from - 1].kind != TREE_FUNCTION)
		from--;
	if (!from)
		from = c->depth;
	for (uint32_t i = from; i-- > 0;)
		if (c->path[i].kind != TREE_LINE)
			out.path[out.depth++] = c->path[i];
	return out;
}

static void check_callers(const struct tree *t, const contexts *all)
{
	struct callers_options every = {.min_share = 0, .max_depth = MAX_PATH};
	struct callers_options some = {.min_share = roll(30) / 100.0, .max_depth = roll(5)};
	contexts turned = {0};
	struct tree callers;
	vec_each (c, all)
		vec_push(&turned, turned_round(c));
	callers_build(&callers, t, &every);
	check_tree(&callers, &turned);
	tree_release(&callers);
	callers_build(&callers, t, &some);
	check_shape(&callers);
	check_sums(&callers, &turned);
	assert_int_equal(callers.nodes.len - 1,
			 count_prefixes(&turned, some.max_depth,
					some.min_share * (double)t->nodes.data[0].total));
	tree_release(&callers);
	vec_free(&turned);
}

/* The scope whose own code the context ends in, or none. */
static uint32_t last_scope(const struct context *c)
{
	for (uint32_t i = c->depth; i-- > 0;)
		if (c->path[i].scope != PROFILE_NONE)
			return c->path[i].scope;
	return PROFILE_NONE;
}

static bool row_has(const struct profile *p, const struct flat_row *r, uint32_t scope)
{
	if (scope == PROFILE_NONE)
		return false;
	const struct profile_scope *s = &p->scopes.data[scope];
	if (r->kind == FLAT_MODULE)
		return s->module == r->module;
	while (r->kind == FLAT_FILE && s->parent != PROFILE_NONE)
		s = &p->scopes.data[s->parent];
	if (r->kind == FLAT_FILE)
		return s->module == r->module && !strcmp(s->file, r->name);
	return scope == r->scope;
}

static bool is_own(const struct profile *p, const struct flat_row *r, uint32_t scope)
{
	if (r->kind == FLAT_MODULE || r->kind == FLAT_FILE)
		return row_has(p, r, scope);
	for (bool loops = false; scope != PROFILE_NONE; scope = p->scopes.data[scope].parent) {
		bool loop = p->scopes.data[scope].kind == PROFILE_LOOP;
		if (scope == r->scope)
			return !loop || !loops;
		loops |= loop;
	}
	return false;
}

static void check_row(const struct profile *p, const struct flat_row *r, const contexts *all)
{
	uint64_t self = 0, self_samples = 0, total = 0, total_samples = 0;
	vec_each (c, all) {
		bool on_path = false, own = is_own(p, r, last_scope(c));
		for (uint32_t i = 0; i < c->depth; i++)
			on_path |= row_has(p, r, c->path[i].scope);
		total += on_path ? c->amount : 0;
		total_samples += on_path ? c->samples : 0;
		self += own ? c->amount : 0;
		self_samples += own ? c->samples : 0;
	}
	assert_int_equal(r->self, self);
	assert_int_equal(r->self_samples, self_samples);
	assert_int_equal(r->total, total);
	assert_int_equal(r->total_samples, total_samples);
}

static void check_flat(const struct tree *t, const contexts *all)
{
	const struct profile *p = t->profile;
	struct flat f;
	uint32_t scopes = 0, met = 0;
	flat_build(&f, t);
	for (uint32_t i = 0; i < f.rows.len; i++) {
		const struct flat_row *r = &f.rows.data[i];
		assert_true(r->parent == PROFILE_NONE ? r->kind == FLAT_MODULE : r->parent < i);
		assert_true(r->kind != FLAT_FILE || f.rows.data[r->parent].kind == FLAT_MODULE);
		if (r->scope != PROFILE_NONE && p->scopes.data[r->scope].parent != PROFILE_NONE)
			assert_int_equal(f.rows.data[r->parent].scope,
					 p->scopes.data[r->scope].parent);
		check_row(p, r, all);
		scopes += r->scope != PROFILE_NONE;
	}
	for (uint32_t s = 0; s < p->scopes.len; s++) {
		bool on_path = false;
		vec_each (c, all)
			on_path |= passes(c, s);
		met += on_path;
	}
	assert_int_equal(scopes, met);
	flat_release(&f);
}

/* The functions and loops of a context. */
static uint32_t project(const struct context *c, uint32_t *scopes)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < c->depth; i++)
		if (c->path[i].kind == TREE_FUNCTION || c->path[i].kind == TREE_LOOP)
			scopes[count++] = c->path[i].scope;
	return count;
}

static void check_edge(const struct graph *g, const struct graph_edge *e, const contexts *all)
{
	uint64_t amount = 0, samples = 0;
	vec_each (c, all) {
		uint32_t scopes[MAX_PATH], count = project(c, scopes);
		bool over = false;
		for (uint32_t i = 1; i < count; i++)
			over |= scopes[i - 1] == g->nodes.data[e->from].scope &&
				scopes[i] == g->nodes.data[e->to].scope;
		amount += over ? c->amount : 0;
		samples += over ? c->samples : 0;
	}
	assert_int_equal(e->amount, amount);
	assert_int_equal(e->samples, samples);
}

static void check_graph_node(const struct graph_node *n, const contexts *all)
{
	uint64_t self = 0, total = 0;
	vec_each (c, all) {
		uint32_t scopes[MAX_PATH], count = project(c, scopes);
		total += passes(c, n->scope) ? c->amount : 0;
		self += count && scopes[count - 1] == n->scope ? c->amount : 0;
	}
	assert_int_equal(n->self, self);
	assert_int_equal(n->total, total);
}

static bool has_edge(const struct graph *g, uint32_t from, uint32_t to)
{
	vec_each (e, &g->edges)
		if (g->nodes.data[e->from].scope == from && g->nodes.data[e->to].scope == to)
			return true;
	return false;
}

static void check_graph(const struct tree *t, const contexts *all)
{
	struct graph g;
	graph_build(&g, t);
	for (uint32_t i = 0; i < g.nodes.len; i++) {
		assert_true(!i || g.nodes.data[i].total <= g.nodes.data[i - 1].total);
		check_graph_node(&g.nodes.data[i], all);
	}
	for (uint32_t i = 0; i < g.edges.len; i++) {
		const struct graph_edge *e = &g.edges.data[i], *before = e - 1;
		assert_true(!i || before->from < e->from ||
			    (before->from == e->from && before->amount >= e->amount));
		check_edge(&g, e, all);
	}
	vec_each (c, all) {
		uint32_t scopes[MAX_PATH], count = project(c, scopes);
		for (uint32_t i = 1; i < count; i++)
			assert_true(has_edge(&g, scopes[i - 1], scopes[i]));
	}
	graph_release(&g);
}

static void check_selection(const struct profile *p, struct selection *s)
{
	struct tree_options o = options_of(s);
	contexts all = {0};
	struct tree t;
	find_contexts(&all, p, s);
	tree_build(&t, p, &o);
	check_tree(&t, &all);
	check_callers(&t, &all);
	check_graph(&t, &all);
	if (s->lines)
		check_flat(&t, &all);
	tree_release(&t);
	vec_free(&all);
}

static void like_naive(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct profile p;
		random_profile(&p, seed);
		struct selection s = {.one_thread = roll(4) == 0,
				      .lines = roll(3) != 0,
				      .focused = roll(4) ? PROFILE_NONE : roll(p.scopes.len)};
		check_selection(&p, &s);
		profile_release(&p);
	}
}

/* The same profile as if it had been counted: counters with random numbers for all loops. */
static void make_counted(struct profile *p)
{
	p->metrics.data[0].name = PROFILE_INSTRUCTIONS;
	p->metrics.data[1].name = PROFILE_CALLS;
	profile_counters(p, 0, 0, false, 0);
	for (uint32_t i = 0; i < 30; i++) {
		uint32_t scope = roll(p->scopes.len);
		if (p->scopes.data[scope].kind != PROFILE_LOOP)
			continue;
		uint32_t counters = profile_counters(p, p->scopes.data[scope].module,
						     scope << 4 | roll(2), true, roll(3));
		struct profile_counters *t = &p->counters.data[counters];
		t->scope = scope;
		t->entries = roll(5);
		t->iterations = t->entries * roll(10);
		t->trip_min = t->entries ? roll(3) : 0;
		t->trip_max = t->entries ? 3 + roll(100) : 0;
		t->mix[CLASS_LOAD] = roll(100);
		t->mix[roll(INSN_CLASSES)] += 3;
		t->flags = (uint8_t)(roll(8) ? 0 : COUNTS_TRIPS_UNKNOWN);
		for (uint32_t k = 0; k < 3; k++)
			profile_add_trips(p, counters, 10 * k, 10 * k + 9, roll(3));
	}
	struct err e;
	assert_int_equal(profile_check(p, &e), 0);
}

static bool is_node(const struct step *s)
{
	return s->kind == TREE_FUNCTION || s->kind == TREE_LOOP;
}

/* Calls over an edge, or with no `from` of a function in all. */
static uint64_t naive_calls(const struct profile *p, const struct selection *s, uint32_t from,
			    uint32_t to)
{
	uint64_t calls = 0;
	vec_each (v, &p->values) {
		struct context c = context_of(p, v, true);
		uint32_t at = c.depth, above;
		if (v->metric != 1 || (s->one_thread && v->thread != 1) ||
		    (s->focused != PROFILE_NONE && !passes(&c, s->focused)))
			continue;
		while (at > 0 && c.path[at - 1].kind != TREE_FUNCTION)
			at--;
		for (above = at ? at - 1 : 0; above > 0 && !is_node(&c.path[above - 1]);)
			above--;
		bool same = from == PROFILE_NONE || (above && c.path[above - 1].scope == from);
		calls += at && c.path[at - 1].scope == to && same ? v->amount : 0;
	}
	return calls;
}

static uint64_t naive_entries(const struct profile *p, const struct selection *s, uint32_t scope)
{
	uint64_t entries = 0;
	vec_each (t, &p->counters)
		if (t->scope == scope && (!s->one_thread || t->thread == 1))
			entries += t->entries;
	return entries;
}

static void check_calls(const struct profile *p, struct selection *s)
{
	struct tree_options o = options_of(s);
	struct tree t;
	struct graph g;
	bool focused = s->focused != PROFILE_NONE;
	tree_build(&t, p, &o);
	graph_build(&g, &t);
	graph_count(&g, p, &o);
	vec_each (n, &g.nodes) {
		assert_int_equal(n->counted, !n->loop || !focused);
		if (n->counted)
			assert_int_equal(n->calls,
					 n->loop ? naive_entries(p, s, n->scope)
						 : naive_calls(p, s, PROFILE_NONE, n->scope));
	}
	vec_each (e, &g.edges) {
		const struct graph_node *from = &g.nodes.data[e->from], *to = &g.nodes.data[e->to];
		assert_int_equal(e->counted, to->counted);
		if (e->counted)
			assert_int_equal(e->calls,
					 to->loop ? to->calls
						  : naive_calls(p, s, from->scope, to->scope));
	}
	graph_release(&g);
	tree_release(&t);
}

static uint64_t naive_trips(const struct profile *p, const struct selection *s, uint32_t scope,
			    uint64_t trips)
{
	uint64_t entries = 0;
	vec_each (t, &p->trips) {
		const struct profile_counters *of = &p->counters.data[t->counters];
		if (t->low <= trips && trips <= t->high && of->scope == scope &&
		    (!s->one_thread || of->thread == 1))
			entries += t->entries;
	}
	return entries;
}

/* Everything of one scope, counters by counters. */
static void check_counts_row(const struct profile *p, const struct selection *s,
			     const struct counts *c, const struct counts_row *r)
{
	struct counts_row sum = {.trip_min = UINT64_MAX};
	vec_each (t, &p->counters) {
		if (t->scope != r->scope || (s->one_thread && t->thread != 1))
			continue;
		bool seen_address = false, seen_thread = false;
		for (const struct profile_counters *o = p->counters.data; o < t; o++) {
			bool same = o->scope == r->scope && (!s->one_thread || o->thread == 1);
			seen_address |= same && o->address == t->address;
			seen_thread |= same && o->thread == t->thread && o->entries;
		}
		sum.machine_loops += !seen_address;
		sum.threads += !seen_thread && t->entries;
		sum.entries += t->entries;
		sum.iterations += t->iterations;
		sum.flags |= t->flags;
		for (int i = 0; i < INSN_CLASSES; i++)
			sum.mix[i] += t->mix[i];
		bool ended = false;
		vec_each (b, &p->trips)
			ended |= b->entries && &p->counters.data[b->counters] == t;
		if (ended && t->trip_min < sum.trip_min)
			sum.trip_min = t->trip_min;
		if (ended && t->trip_max > sum.trip_max)
			sum.trip_max = t->trip_max;
	}
	assert_int_equal(r->machine_loops, sum.machine_loops);
	assert_int_equal(r->threads, sum.threads);
	assert_int_equal(r->entries, sum.entries);
	assert_int_equal(r->iterations, sum.iterations);
	assert_int_equal(r->flags, sum.flags);
	assert_int_equal(r->trip_min, r->trips_count ? sum.trip_min : 0);
	assert_int_equal(r->trip_max, sum.trip_max);
	assert_memory_equal(r->mix, sum.mix, sizeof(sum.mix));
	for (uint32_t i = 0; i < r->trips_count; i++) {
		const struct counts_trips *t = &c->trips.data[r->first_trips + i];
		assert_true(!i || t->low > t[-1].high);
		assert_int_equal(t->entries, naive_trips(p, s, r->scope, t->low));
		assert_int_equal(t->entries, naive_trips(p, s, r->scope, t->high));
	}
}

static void check_counts(const struct profile *p, struct selection *s)
{
	struct counts c;
	counts_build(&c, p, s->one_thread ? thread_one : NULL, NULL);
	for (uint32_t i = 0; i < p->scopes.len; i++) {
		const struct counts_row *r = counts_of(&c, i);
		bool any = false;
		vec_each (t, &p->counters)
			any |= t->scope == i && (!s->one_thread || t->thread == 1);
		assert_int_equal(r != NULL, any);
		if (r)
			check_counts_row(p, s, &c, r);
	}
	counts_release(&c);
}

static void counts_like_naive(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= ROUNDS / 3; seed++) {
		struct profile p;
		random_profile(&p, seed);
		make_counted(&p);
		struct selection s = {.one_thread = roll(4) == 0,
				      .focused = roll(4) ? PROFILE_NONE : roll(p.scopes.len)};
		check_calls(&p, &s);
		check_counts(&p, &s);
		profile_release(&p);
	}
}

/* Two functions that call each other, 100,000 deep, measured at each level. */
static void deep_profile(struct profile *p)
{
	uint32_t at = 0;
	start_profile(p);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t f = add_scope(p, PROFILE_FUNCTION, PROFILE_NONE, 0, "a.c");
		uint32_t loop = add_scope(p, PROFILE_LOOP, f, 0, "a.c");
		add_scope(p, PROFILE_LINE, loop, 0, "a.c");
	}
	for (uint32_t i = 0; i < DEEP; i++) {
		at = profile_child(p, at, NODE_FRAME, 0, i % 2);
		p->nodes.data[at].scope = i % 2 ? 5 : 2;
		profile_add(p, at, 0, 0, 1, 10);
	}
}

static void deep_recursion(void **state)
{
	(void)state;
	struct profile p;
	struct tree t, callers;
	struct flat f;
	struct graph g;
	struct tree_options o = {.lines = true};
	struct callers_options limits = {.min_share = 0.01, .max_depth = 40};
	deep_profile(&p);
	tree_build(&t, &p, &o);
	assert_int_equal(t.nodes.len, 1 + 3 * DEEP);
	assert_int_equal(t.nodes.data[0].total, 10 * DEEP);
	flat_build(&f, &t);
	vec_each (r, &f.rows) {
		bool second = r->scope != PROFILE_NONE && r->scope >= 3;
		bool both = r->scope == PROFILE_NONE;
		assert_int_equal(r->total, second ? 10 * (DEEP - 1) : 10 * DEEP);
		assert_int_equal(r->self, both ? 10 * DEEP : 5 * DEEP);
	}
	graph_build(&g, &t);
	assert_int_equal(g.nodes.len, 4);
	assert_int_equal(g.edges.len, 4);
	vec_each (e, &g.edges)
		assert_true(e->amount >= 10 * (DEEP - 2) && e->amount <= 10 * DEEP);
	callers_build(&callers, &t, &limits);
	assert_int_equal(callers.nodes.len, 1 + 2 * 40);
	assert_int_equal(callers.nodes.data[1].total, 5 * DEEP);
	graph_release(&g);
	flat_release(&f);
	tree_release(&callers);
	tree_release(&t);
	profile_release(&p);
}

/* Nothing measured, and nothing but a sample without a context. */
static void empty(void **state)
{
	(void)state;
	struct profile p;
	start_profile(&p);
	struct selection s = {.lines = true, .focused = PROFILE_NONE};
	check_selection(&p, &s);
	profile_add(&p, 0, 0, 0, 1, 7);
	check_selection(&p, &s);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_naive),
		cmocka_unit_test(counts_like_naive),
		cmocka_unit_test(deep_recursion),
		cmocka_unit_test(empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
