#include "cli/report_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/pattern.h"
#include "cli/choose.h"
#include "cli/report_search.h"
#include "cli/report_view.h"
#include "cli/view.h"

enum { WIDTH_UNKNOWN = 100, WIDTH_MIN = 70, WIDTH_MAX = 300 };

static unsigned terminal_width(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
		return WIDTH_UNKNOWN;
	return size.ws_col < WIDTH_MIN   ? WIDTH_MIN
	       : size.ws_col > WIDTH_MAX ? WIDTH_MAX
					 : size.ws_col;
}

/* The first metric that was measured at all: a program that only waited has no processor time. */
static uint32_t first_metric(const struct profile *p)
{
	uint32_t first = PROFILE_NONE;
	vec_each (v, &p->values)
		if (v->samples && v->metric < first)
			first = v->metric;
	return first == PROFILE_NONE ? 0 : first;
}

/* The views of counts are of instructions. */
static int choose_instructions(struct report *r, struct err *e)
{
	const struct profile *p = r->profile;
	const char *view = report_chosen_view(r->args)->name;
	r->metric = profile_metric_named(p, PROFILE_INSTRUCTIONS);
	if (!profile_has_counts(p) || r->metric == PROFILE_NONE)
		return err_set(e, ERR_INPUT,
			       "there is no --view=%s of this profile: it has samples, not counts; "
			       "'sonde count -- COMMAND' makes one with counts",
			       view);
	if (r->args->metric && strcmp(r->args->metric, PROFILE_INSTRUCTIONS) != 0)
		return err_set(e, ERR_INPUT, "--view=%s is of instructions, not of '%s'", view,
			       r->args->metric);
	return 0;
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

/* Searches have no metric, and what is chosen of one is chosen by its parts. */
static int choose_experiments(struct report *r, struct err *e)
{
	const struct report_args *a = r->args;
	const struct report_view *v = report_chosen_view(a);
	const char *option = report_measure_option(a);
	if (!option && a->focus && v->text == findings_text)
		option = "--focus";
	if (!profile_has_search(r->profile))
		return err_set(e, ERR_INPUT,
			       "there is no --view=%s of this profile: no search made it; 'sonde "
			       "diagnose -- COMMAND' makes one",
			       v->name);
	if (option)
		return err_set(e, ERR_INPUT,
			       "%s chooses nothing in --view=%s; it is for the views of where time "
			       "goes, such as --view=tree",
			       option, v->name);
	if (a->focus)
		r->experiments = search_choose(r->profile, a->focus);
	if (a->focus && !r->experiments)
		return err_set(e, ERR_INPUT,
			       "no experiment is about '%s': neither a procedure, loop, process, "
			       "thread, object nor FILE:LINE; '*%s*' would match a part",
			       a->focus, a->focus);
	return 0;
}

static int choose_metric(struct report *r, struct err *e)
{
	struct text names = TEXT_INIT;
	const struct profile *p = r->profile;
	if (report_chosen_view(r->args)->counts)
		return choose_instructions(r, e);
	if (!r->args->metric) {
		r->metric = first_metric(p);
		return 0;
	}
	vec_each (m, &p->metrics) {
		if (!strcmp(m->name, r->args->metric)) {
			r->metric = (uint32_t)(m - p->metrics.data);
			text_release(&names);
			return 0;
		}
		text_printf(&names, "%s%s", names.len ? ", " : "", m->name);
	}
	err_set(e, ERR_INPUT, "this profile has no metric '%s'; it has: %s", r->args->metric,
		names.len ? names.data : "none");
	text_release(&names);
	return ERR_INPUT;
}

static int choose_threads(struct report *r, struct err *e)
{
	const char *pattern = r->args->thread;
	const struct profile *p = r->profile;
	bool any = false;
	if (!pattern)
		return 0;
	r->threads = xcalloc(p->threads.len + 1, sizeof(*r->threads));
	vec_each (t, &p->threads) {
		char tid[16];
		snprintf(tid, sizeof(tid), "%d", t->tid);
		bool chosen = !strcmp(tid, pattern) || pattern_match(pattern, t->name);
		r->threads[t - p->threads.data] = chosen;
		any |= chosen;
	}
	if (any)
		return 0;
	return err_set(e, ERR_INPUT,
		       "no thread is called '%s'; --view=threads lists those there are (*, ?, [] "
		       "match)",
		       pattern);
}

/* "file.c:12" and "file.c:12-20", with the whole path or its last part; of a loop also behind "loop
 * ". */
static bool is_at(const struct profile_scope *s, const char *pattern, struct text *tmp)
{
	const char *names[] = {s->file, view_base_name(s->file)};
	for (size_t i = 0; s->first_line && i < ARRAY_SIZE(names); i++) {
		text_clear(tmp);
		text_printf(tmp, "loop %s:%u-%u", names[i], s->first_line, s->last_line);
		if (pattern_match(pattern, tmp->data + 5))
			return true;
		if (s->kind == PROFILE_LOOP && pattern_match(pattern, tmp->data))
			return true;
		text_clear(tmp);
		text_printf(tmp, "%s:%u", names[i], s->first_line);
		if (pattern_match(pattern, tmp->data))
			return true;
	}
	return false;
}

static int choose_focus(struct report *r, struct err *e)
{
	const char *pattern = r->args->focus;
	const struct profile *p = r->profile;
	struct choice choice;
	struct text tmp = TEXT_INIT;
	bool any = false;
	if (!pattern)
		return 0;
	choice_init(&choice, pattern);
	r->focus = xcalloc(p->scopes.len + 1, sizeof(*r->focus));
	vec_each (s, &p->scopes) {
		bool named = *s->name && choice_has_name(&choice, s->name, NULL);
		bool chosen = named || is_at(s, pattern, &tmp);
		r->focus[s - p->scopes.data] = chosen;
		any |= chosen;
	}
	choice_release(&choice);
	text_release(&tmp);
	if (any)
		return 0;
	return err_set(e, ERR_INPUT,
		       "nothing that was measured matches '%s': neither a procedure nor FILE:LINE; "
		       "'*%s*' would match a part",
		       pattern, pattern);
}

static int parse_share(struct report *r, struct err *e)
{
	const char *word = r->args->min_percent;
	char *end;
	r->min_share = r->format == REPORT_TEXT ? 0.005 : 0;
	if (!word)
		return 0;
	errno = 0;
	double percent = strtod(word, &end);
	if (end == word || *end || errno || !isfinite(percent) || percent < 0 || percent > 100)
		return err_set(e, ERR_INPUT, "--min-percent needs a number from 0 to 100, not '%s'",
			       word);
	r->min_share = percent / 100;
	return 0;
}

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

int report_init(struct report *r, const struct report_args *args, const struct profile *p,
		struct err *e)
{
	*r = (struct report){.args = args,
			     .profile = p,
			     .thread = PROFILE_NONE,
			     .width = terminal_width(),
			     .depth = UINT32_MAX};
	r->format = args->json ? REPORT_JSON : args->csv ? REPORT_CSV : REPORT_TEXT;
	if (args->depth.given && args->depth.value < UINT32_MAX)
		r->depth = (uint32_t)args->depth.value;
	bool search = report_chosen_view(args)->search;
	int failed = parse_share(r, e);
	if (!failed && search)
		failed = choose_experiments(r, e);
	if (!failed)
		failed = choose_metric(r, e);
	if (!failed)
		failed = choose_threads(r, e);
	if (!failed && !search)
		failed = choose_focus(r, e);
	if (failed) {
		report_release(r);
		return failed;
	}
	vec_each (v, &p->values)
		if (v->metric == r->metric)
			r->whole += v->amount;
	report_tree(r, true, &r->tree);
	if (r->tree.nodes.len) {
		r->total = r->tree.nodes.data[0].total;
		r->samples = r->tree.nodes.data[0].total_samples;
	}
	return 0;
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

struct thread_amount {
	uint32_t thread;
	uint64_t amount;
};

static int by_amount(const void *a, const void *b)
{
	const struct thread_amount *x = a, *y = b;
	if (x->amount != y->amount)
		return x->amount < y->amount ? 1 : -1;
	return x->thread < y->thread ? -1 : 1;
}

uint32_t report_top_threads(const struct report *r, uint32_t **out)
{
	uint32_t n = r->profile->threads.len, count = 0;
	struct thread_amount *all = xcalloc(n + 1, sizeof(*all));
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
	       p->scopes.data[scope].kind != PROFILE_PROCEDURE)
		scope = p->scopes.data[scope].parent;
	return scope;
}

uint32_t report_procedure(const struct profile *p, uint32_t scope)
{
	while (scope != PROFILE_NONE && p->scopes.data[scope].kind != PROFILE_PROCEDURE)
		scope = p->scopes.data[scope].parent;
	return scope;
}

bool is_startup_name(const char *procedure)
{
	static const char *const names[] = {
		"_start",
		"__libc_start_main*",
		"__libc_start_call_main",
		"libc_start_main*",
		"start_thread",
		"thread_start",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (pattern_match(names[i], procedure))
			return true;
	return false;
}

bool is_startup(const struct profile *p, uint32_t scope)
{
	return scope != PROFILE_NONE && p->scopes.data[scope].kind == PROFILE_PROCEDURE &&
	       is_startup_name(p->scopes.data[scope].name);
}
