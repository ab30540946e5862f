#include "cli/report/data.h"

#include <stdlib.h>

static bool is_chosen(void *ctx, uint32_t thread)
{
	return report_has_thread(ctx, thread);
}

static bool is_focus(void *ctx, uint32_t scope)
{
	const struct report *r = ctx;
	return r->focus[scope];
}

bool report_has_thread(const struct report *r, uint32_t thread)
{
	if (r->thread != PROFILE_NONE)
		return thread == r->thread;
	return !r->threads || r->threads[thread];
}

bool report_is_counted(const struct report *r)
{
	return profile_is_counted(r->profile, r->metric);
}

struct tree_options report_tree_options(struct report *r, bool lines)
{
	bool all = !r->threads && r->thread == PROFILE_NONE;
	return (struct tree_options){.metric = r->metric,
				     .thread = all ? NULL : is_chosen,
				     .focus = r->focus ? is_focus : NULL,
				     .ctx = r,
				     .lines = lines};
}

void report_tree(const struct report *r, bool lines, struct tree *out)
{
	struct report ctx = *r;
	const struct tree_options o = report_tree_options(&ctx, lines);
	tree_build(out, r->profile, &o);
}

void report_release(struct report *r)
{
	free(r->threads);
	free(r->focus);
	free(r->experiments);
	tree_release(&r->tree);
	r->threads = r->focus = r->experiments = NULL;
}

bool *report_focused_nodes(const struct report *r)
{
	const struct profile *p = r->profile;
	bool *in = xcalloc(p->nodes.len, sizeof(*in));
	for (uint32_t i = 0; i < p->nodes.len; i++) {
		const struct profile_node *n = &p->nodes.data[i];
		in[i] = !r->focus || (i && in[n->parent]);
		for (uint32_t s = n->scope; !in[i] && s != PROFILE_NONE;
		     s = p->scopes.data[s].parent)
			in[i] = r->focus[s];
	}
	return in;
}

struct thread_total {
	uint32_t thread;
	uint64_t amount;
};

static int by_amount(const void *a, const void *b)
{
	const struct thread_total *x = a, *y = b;
	if (x->amount != y->amount)
		return x->amount < y->amount ? 1 : -1;
	return x->thread < y->thread ? -1 : 1;
}

uint32_t report_top_threads(const struct report *r, uint32_t **out)
{
	uint32_t n = r->profile->threads.len, count = 0;
	struct thread_total *all = xcalloc(n + 1, sizeof(*all));
	bool *in = report_focused_nodes(r);
	*out = xcalloc(n + 1, sizeof(**out));
	for (uint32_t i = 0; i < n; i++)
		all[i].thread = i;
	vec_each (v, &r->profile->values)
		if (v->metric == r->metric && in[v->node])
			all[v->thread].amount += v->amount;
	qsort(all, n, sizeof(*all), by_amount);
	for (uint32_t i = 0; i < n; i++)
		if (report_has_thread(r, all[i].thread))
			(*out)[count++] = all[i].thread;
	free(in);
	free(all);
	return count;
}

uint32_t report_hot_scope(const struct profile *p, uint32_t scope)
{
	while (scope != PROFILE_NONE && p->scopes.data[scope].kind != PROFILE_LOOP &&
	       p->scopes.data[scope].kind != PROFILE_FUNCTION)
		scope = p->scopes.data[scope].parent;
	return scope;
}

uint32_t report_function(const struct profile *p, uint32_t scope)
{
	while (scope != PROFILE_NONE && p->scopes.data[scope].kind != PROFILE_FUNCTION)
		scope = p->scopes.data[scope].parent;
	return scope;
}

const char *report_measure_option(const struct report_args *a)
{
	return a->thread              ? "--thread"
	       : a->metric            ? "--metric"
	       : a->flatten           ? "--flatten"
	       : a->sort != SORT_BEST ? "--sort"
	       : a->by_line           ? "--by-line"
	       : a->per_thread        ? "--per-thread"
				      : NULL;
}
