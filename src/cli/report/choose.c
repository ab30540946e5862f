/* Selects the part of a profile that a report is about, from the options. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pattern.h"
#include "cli/args/choose.h"
#include "cli/report/search.h"
#include "cli/report/view.h"
#include "cli/term/terminal.h"
#include "cli/term/text.h"

enum { DEFAULT_WIDTH = 100, WIDTH_MIN = 70, WIDTH_MAX = 300 };

static const double DEFAULT_MIN_SHARE = 0.005; /* in text; JSON and CSV have all rows */

static unsigned width_of_output(void)
{
	unsigned columns = terminal_columns(STDOUT_FILENO, DEFAULT_WIDTH);
	return columns < WIDTH_MIN ? WIDTH_MIN : columns > WIDTH_MAX ? WIDTH_MAX : columns;
}

/* Returns the first metric that has values: a program that was only blocked has no CPU time. */
static uint32_t first_metric(const struct profile *p)
{
	uint32_t first = PROFILE_NONE;
	vec_each (v, &p->values)
		if (v->samples && v->metric < first)
			first = v->metric;
	return first == PROFILE_NONE ? 0 : first;
}

/* The views of counts always show instructions. */
static int choose_instructions(struct report *r, struct err *e)
{
	const struct profile *p = r->profile;
	const char *view = report_chosen_view(r->args)->name;
	r->metric = profile_metric_named(p, PROFILE_INSTRUCTIONS);
	if (!profile_has_counts(p) || r->metric == PROFILE_NONE)
		return err_set(e, ERR_INPUT,
			       "this profile has no --view=%s: it has samples, not counts; 'sonde "
			       "count -- COMMAND' writes a profile with counts",
			       view);
	if (r->args->metric && strcmp(r->args->metric, PROFILE_INSTRUCTIONS) != 0)
		return err_set(e, ERR_INPUT, "--view=%s shows instructions, not '%s'", view,
			       r->args->metric);
	return 0;
}

/* Views of a search have no metric; their experiments are selected by the parts they are about. */
static int choose_experiments(struct report *r, struct err *e)
{
	const struct report_args *a = r->args;
	const struct report_view *v = report_chosen_view(a);
	const char *option = report_measure_option(a);
	if (!option && a->focus && v->text == findings_text)
		option = "--focus";
	if (!profile_has_search(r->profile))
		return err_set(e, ERR_INPUT,
			       "this profile has no --view=%s: it is not from a search; 'sonde "
			       "diagnose -- COMMAND' writes such a profile",
			       v->name);
	if (option)
		return err_set(e, ERR_INPUT,
			       "%s has no effect in --view=%s; it works in views that show where "
			       "time goes, such as --view=tree",
			       option, v->name);
	if (a->focus)
		r->experiments = search_choose(r->profile, a->focus);
	if (a->focus && !r->experiments)
		return err_set(e, ERR_INPUT,
			       "no experiment is about '%s': neither a function, loop, process, "
			       "thread, object nor FILE:LINE; use '*%s*' to match a part",
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
	return err_set(
		e, ERR_INPUT,
		"no thread is called '%s'; --view=threads lists all threads (*, ?, [] match)",
		pattern);
}

/* True if the pattern matches the scope's place: "file.c:12" or "file.c:12-20", with the whole path
 * or only the file name; for a loop also with "loop " before it. */
static bool is_at(const struct profile_scope *s, const char *pattern, struct text *tmp)
{
	const char *names[] = {s->file, base_name(s->file)};
	for (size_t i = 0; s->first_line && i < ARRAY_SIZE(names); i++) {
		text_clear(tmp);
		text_printf(tmp, "loop %s:%u-%u", names[i], s->first_line, s->last_line);
		if (pattern_match(pattern, tmp->data + strlen("loop ")))
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
		       "nothing measured matches '%s': neither a function nor FILE:LINE; use "
		       "'*%s*' to match a part",
		       pattern, pattern);
}

static int parse_share(struct report *r, struct err *e)
{
	const char *word = r->args->min_percent;
	char *end;
	r->min_share = r->format == REPORT_TEXT ? DEFAULT_MIN_SHARE : 0;
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

int report_init(struct report *r, const struct report_args *args, const struct profile *p,
		struct err *e)
{
	*r = (struct report){.args = args,
			     .profile = p,
			     .thread = PROFILE_NONE,
			     .width = width_of_output(),
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
