/* Callgrind's format: for each function its costs by line, and its calls with their inclusive
 * costs.
 *
 * Inlined calls and, if selected, loops are functions too. Readers compute the inclusive cost of
 * a function as the sum over the calls to it. So a call has a cost only if the function is not
 * active already; otherwise recursion would count several times. Samples do not show the number
 * of calls, so the number of samples takes its place. Where calls were counted, recursive calls
 * are included, and the calls of a loop are its entries. */
#include <stdlib.h>
#include <string.h>

#include "profile/counts.h"
#include "profile/export_paths.h"

struct callgrind_function {
	uint32_t name, file; /* indices in the pool */
	uint32_t module;
	uint32_t active; /* activations on the current path */
};

struct callgrind_place {
	uint32_t file, line;
};

/* The amount measured in a line of a function or, with a callee, in the calls made there. */
struct cost {
	uint32_t function, callee; /* callee: PROFILE_NONE for the function's own cost */
	uint32_t place;
	uint32_t file, line; /* copied from the place, for sorting */
	uint64_t amount, samples;
	uint64_t calls; /* counted, not sampled */
};

/* Function and place of one tree node. */
struct position {
	uint32_t function, place;
};

struct callgrind {
	const struct tree *t;
	const struct export_options *o;
	struct text_pool pool;
	VEC(struct callgrind_function) functions;
	VEC(struct callgrind_place) places;
	VEC(struct cost) costs;
	struct hashmap pairs, function_index, place_index, call_index, cost_index;
	struct position *positions;
	bool counted;    /* calls were counted */
	uint64_t *calls; /* by node of the tree of calls, during the walk over that tree; otherwise
			    NULL */
	struct counts entries; /* of loops; empty if unknown */
	bool *entered;         /* by scope: its entries have been added */
	uint8_t *written; /* by text: the kinds of names (enum name_kind) that have introduced it */
	struct text tmp;
};

static uint32_t place_of(struct callgrind *x, const char *file, uint32_t line)
{
	uint32_t f = text_pool_add(&x->pool, file), next = x->places.len;
	uint32_t at = hashmap_add(&x->place_index, (uint64_t)f << 32 | line, next);
	if (at == next)
		vec_push(&x->places, (struct callgrind_place){f, line});
	return at;
}

static uint32_t function_of(struct callgrind *x, const struct tree_node *n)
{
	const struct profile *p = x->t->profile;
	bool known = n->scope != PROFILE_NONE;
	text_clear(&x->tmp);
	export_name(&x->tmp, p, n->kind, n->scope);
	struct callgrind_function f = {
		.name = text_pool_add(&x->pool, x->tmp.data),
		.file = text_pool_add(&x->pool, known ? p->scopes.data[n->scope].file : ""),
		.module = known ? p->scopes.data[n->scope].module : PROFILE_NONE};
	uint32_t pair = hashmap_add(&x->pairs, (uint64_t)f.name << 32 | f.file, x->pairs.len);
	uint32_t next = x->functions.len;
	uint32_t at = hashmap_add(&x->function_index, (uint64_t)pair << 32 | f.module, next);
	if (at == next)
		vec_push(&x->functions, f);
	return at;
}

static void add_cost(struct callgrind *x, struct cost c)
{
	uint32_t call = hashmap_add(&x->call_index, (uint64_t)c.function << 32 | c.callee,
				    x->call_index.len);
	uint32_t next = x->costs.len;
	uint32_t at = hashmap_add(&x->cost_index, (uint64_t)call << 32 | c.place, next);
	if (at == next) {
		c.file = x->places.data[c.place].file;
		c.line = x->places.data[c.place].line;
		vec_push(&x->costs, c);
	} else {
		x->costs.data[at].amount += c.amount;
		x->costs.data[at].samples += c.samples;
		x->costs.data[at].calls += c.calls;
	}
}

/* Returns the place in the caller's source where a function is called. */
static uint32_t call_place(struct callgrind *x, const struct tree_node *n)
{
	const struct profile_scope *scopes = x->t->profile->scopes.data;
	if (n->kind == TREE_INLINE && scopes[n->scope].call_line)
		return place_of(x, scopes[n->scope].call_file, scopes[n->scope].call_line);
	if (n->kind == TREE_LOOP && scopes[n->scope].first_line)
		return place_of(x, scopes[n->scope].file, scopes[n->scope].first_line);
	return x->positions[n->parent].place;
}

/* Returns the entries of a loop on the first visit, and 0 afterwards. */
static uint64_t entries_of(struct callgrind *x, const struct tree_node *n)
{
	const struct counts_row *r = n->kind == TREE_LOOP ? counts_of(&x->entries, n->scope) : NULL;
	if (!r || x->entered[n->scope])
		return 0;
	x->entered[n->scope] = true;
	return r->entries;
}

static void enter_function(struct callgrind *x, uint32_t number, struct position *here)
{
	const struct tree_node *n = &x->t->nodes.data[number];
	struct cost c = {.function = here->function, .place = call_place(x, n)};
	here->function = c.callee = function_of(x, n);
	struct callgrind_function *f = &x->functions.data[here->function];
	bool first = !f->active++;
	c.calls = x->calls ? x->calls[number] : entries_of(x, n);
	if (first && !x->calls) {
		c.amount = n->total;
		c.samples = n->total_samples;
	}
	if (c.function != PROFILE_NONE && (c.calls || (first && !x->calls)))
		add_cost(x, c);
	here->place = place_of(x, text_pool_get(&x->pool, f->file), 0);
}

static void enter_node(struct callgrind *x, uint32_t number)
{
	const struct tree_node *n = &x->t->nodes.data[number];
	struct position *here = &x->positions[number];
	*here = x->positions[n->parent];
	if (n->kind == TREE_LINE) {
		const struct profile_scope *s = &x->t->profile->scopes.data[n->scope];
		here->place = place_of(x, s->file, s->first_line);
	} else if (export_is_frame(x->o, n->kind)) {
		enter_function(x, number, here);
	}
	if (n->self && !x->calls)
		add_cost(x, (struct cost){.function = here->function,
					  .callee = PROFILE_NONE,
					  .place = here->place,
					  .amount = n->self,
					  .samples = n->self_samples});
}

/* Amounts in no function at all are at the root. */
static void enter_root(struct callgrind *x)
{
	const struct tree_node *root = &x->t->nodes.data[0];
	x->positions[0] = (struct position){PROFILE_NONE, place_of(x, "", 0)};
	if (root->self)
		add_cost(x, (struct cost){.function = function_of(x, root),
					  .callee = PROFILE_NONE,
					  .place = x->positions[0].place,
					  .amount = root->self,
					  .samples = root->self_samples});
}

static void walk(struct callgrind *x)
{
	for (struct tree_step s = {0}; tree_walk(x->t, &s);) {
		const struct tree_node *n = &x->t->nodes.data[s.node];
		if (!s.leaving)
			enter_node(x, s.node);
		else if (export_is_frame(x->o, n->kind))
			x->functions.data[x->positions[s.node].function].active--;
	}
}

/* Values of the metric "calls" are at the callee's entry, which may be inside a loop of the
 * callee. Adds them up by function node. */
static uint64_t *calls_of_functions(const struct tree *t)
{
	uint64_t *calls = xcalloc(t->nodes.len, sizeof(*calls));
	for (uint32_t i = 1; i < t->nodes.len; i++) {
		uint32_t at = i;
		while (at && t->nodes.data[at].kind != TREE_FUNCTION)
			at = t->nodes.data[at].parent;
		calls[at] += t->nodes.data[i].self;
	}
	return calls;
}

/* Counted calls need a second walk, over the tree of the metric "calls". */
static void walk_calls(struct callgrind *x)
{
	const struct profile *p = x->t->profile;
	struct export_options o = *x->o;
	const struct tree *amounts = x->t;
	struct tree t;
	o.tree.metric = profile_metric_named(p, PROFILE_CALLS);
	if (!x->counted || o.tree.metric == PROFILE_NONE)
		return;
	export_tree(&t, p, &o, PROFILE_NONE, true);
	free(x->positions);
	x->positions = xmalloc(t.nodes.len * sizeof(*x->positions));
	x->positions[0] = (struct position){PROFILE_NONE, place_of(x, "", 0)};
	x->t = &t;
	x->calls = calls_of_functions(&t);
	walk(x);
	free(x->calls);
	tree_release(&t);
	x->calls = NULL;
	x->t = amounts;
}

/* Sorts by function, own costs before calls, then by file and line. */
static int by_function(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	bool x_calls = x->callee != PROFILE_NONE, y_calls = y->callee != PROFILE_NONE;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x_calls != y_calls)
		return x_calls ? 1 : -1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

enum name_kind { NAME_OBJECT = 1, NAME_FILE = 2, NAME_FUNCTION = 4 };

/* Writes "KEY=(number) name"; without the name if it was written before. */
static void put_name(struct callgrind *x, struct text *out, const char *key, enum name_kind kind,
		     uint32_t name)
{
	const char *text = name ? text_pool_get(&x->pool, name) : "???";
	text_printf(out, "%s=(%u)", key, name + 1);
	if (!(x->written[name] & kind))
		text_printf(out, " %s", text);
	x->written[name] |= (uint8_t)kind;
	text_char(out, '\n');
}

static uint32_t object_of(struct callgrind *x, uint32_t module)
{
	const struct profile *p = x->t->profile;
	return text_pool_add(&x->pool, module == PROFILE_NONE ? "" : p->modules.data[module].path);
}

static void put_function(struct callgrind *x, struct text *out, const struct callgrind_function *f)
{
	text_char(out, '\n');
	put_name(x, out, "ob", NAME_OBJECT, object_of(x, f->module));
	put_name(x, out, "fl", NAME_FILE, f->file);
	put_name(x, out, "fn", NAME_FUNCTION, f->name);
}

static void put_cost(struct callgrind *x, struct text *out, const struct cost *c, uint32_t *file)
{
	if (c->file != *file)
		put_name(x, out, "fi", NAME_FILE, c->file);
	*file = c->file;
	if (c->callee != PROFILE_NONE) {
		const struct callgrind_function *f = &x->functions.data[c->callee];
		put_name(x, out, "cob", NAME_OBJECT, object_of(x, f->module));
		put_name(x, out, "cfi", NAME_FILE, f->file);
		put_name(x, out, "cfn", NAME_FUNCTION, f->name);
		uint64_t calls = x->counted ? c->calls : c->samples;
		text_printf(out, "calls=%llu 0\n", (unsigned long long)(calls ? calls : 1));
	}
	text_printf(out, "%u %llu\n", c->line, (unsigned long long)c->amount);
}

static void put_head(const struct callgrind *x, struct text *out)
{
	const struct profile *p = x->t->profile;
	const char *command = profile_get_fact(p, "command");
	uint32_t metric = x->o->tree.metric;
	text_add(out, "# callgrind format\nversion: 1\ncreator: sonde\n");
	text_printf(out, "cmd: %s\n", command ? command : "");
	text_add(out, x->counted
			      ? "desc: Calls: as counted; of loops, entries; of inlined code, 1\n"
			      : "desc: Calls: samples that passed through\n");
	text_add(out, "positions: line\nevents: ");
	size_t start = out->len;
	text_add(out, metric < p->metrics.len ? p->metrics.data[metric].name : "amount");
	for (size_t i = start; i < out->len; i++)
		if ((unsigned char)out->data[i] <= ' ')
			out->data[i] = '_';
	text_printf(out, "\nsummary: %llu\n", (unsigned long long)x->t->nodes.data[0].total);
}

static void put_all(struct callgrind *x, struct text *out)
{
	uint32_t function = PROFILE_NONE, file = PROFILE_NONE;
	vec_each (i, &x->t->profile->modules)
		text_pool_add(&x->pool, i->path);
	x->written = xcalloc(x->pool.starts.len, 1);
	put_head(x, out);
	if (x->costs.len)
		qsort(x->costs.data, x->costs.len, sizeof(*x->costs.data), by_function);
	vec_each (c, &x->costs) {
		const struct callgrind_function *f = &x->functions.data[c->function];
		if (c->function != function) {
			put_function(x, out, f);
			file = f->file;
		}
		function = c->function;
		put_cost(x, out, c, &file);
	}
}

void export_callgrind(const struct profile *p, const struct export_options *o, struct text *out)
{
	struct callgrind x = {.o = o};
	struct tree t;
	export_tree(&t, p, o, PROFILE_NONE, true);
	x.t = &t;
	text_pool_init(&x.pool);
	x.positions = xmalloc(t.nodes.len * sizeof(*x.positions));
	x.counted = profile_is_counted(p, o->tree.metric);
	x.entered = xcalloc(p->scopes.len + (size_t)1, sizeof(*x.entered));
	if (x.counted && !o->tree.focus)
		counts_build(&x.entries, p, o->tree.thread, o->tree.ctx);
	enter_root(&x);
	walk(&x);
	walk_calls(&x);
	put_all(&x, out);
	counts_release(&x.entries);
	free(x.entered);
	free(x.written);
	free(x.positions);
	text_release(&x.tmp);
	text_pool_release(&x.pool);
	vec_free(&x.functions);
	vec_free(&x.places);
	vec_free(&x.costs);
	hashmap_release(&x.pairs);
	hashmap_release(&x.function_index);
	hashmap_release(&x.place_index);
	hashmap_release(&x.call_index);
	hashmap_release(&x.cost_index);
	tree_release(&t);
}
