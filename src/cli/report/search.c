/* The search history graph as a tree. Below each experiment are those that it was refined to, true
 * ones first; a label says only what differs from the experiment above. An experiment with several
 * parents is shown below the first one shown, and referred to below the others. */
#include "cli/report/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/quantity.h"
#include "cli/args/choose.h"
#include "cli/report/findings.h"
#include "cli/report/view.h"
#include "cli/term/text.h"

enum {
	MAX_GUIDES = 24, /* levels of indentation */
	MIN_GUIDES = 4,
	COLUMNS = 35, /* left of the guides: state, value, times */
	MIN_LABEL = 24,
	TYPICAL_LABEL = 40,
};

static const double MIN_NOTED_OVERHEAD = 0.01; /* share of time: less is not worth a note */

static bool is_within(const struct profile *p, uint32_t part, uint32_t whole)
{
	while (part != whole && part != PROFILE_NONE)
		part = p->resources.data[part].parent;
	return part == whole;
}

static uint32_t function_around(const struct profile *p, uint32_t resource)
{
	while (resource != PROFILE_NONE && p->resources.data[resource].kind != RESOURCE_FUNCTION)
		resource = p->resources.data[resource].parent;
	return resource;
}

static const char *parent_name(const struct profile *p, const struct profile_resource *r)
{
	return r->parent == PROFILE_NONE ? "" : p->resources.data[r->parent].name;
}

/* Adds the place of a function: its first line, or its module. */
static void add_function_place(const struct profile *p, const struct profile_resource *r,
			       struct text *out)
{
	if (*r->file)
		add_place(out, r->file, r->first_line, 0);
	else if (r->module != PROFILE_NONE) {
		text_char(out, '[');
		output_name(out, base_name(p->modules.data[r->module].path));
		text_char(out, ']');
	}
}

static void add_function(const struct profile *p, const struct profile_resource *r, size_t width,
			 struct text *out)
{
	struct text place = TEXT_INIT;
	add_function_place(p, r, &place);
	size_t used = place.len ? 2 + text_columns(place.data, place.len) : 0;
	add_function_name(out, r->name, width > used + MIN_LABEL ? width - used : MIN_LABEL);
	if (place.len)
		text_printf(out, "  %s", place.data);
	text_release(&place);
}

/* Adds a loop, with its function unless that is clear from the experiment above. */
static void add_loop(const struct profile *p, uint32_t resource, uint32_t above, size_t width,
		     struct text *out)
{
	uint32_t function = function_around(p, resource);
	add_short(out, p->resources.data[resource].name, width);
	if (function == PROFILE_NONE || (above != PROFILE_NONE && is_within(p, above, function)))
		return;
	text_add(out, " in ");
	add_function_name(out, p->resources.data[function].name, MIN_LABEL);
}

static void add_group(const struct profile_resource *r, size_t width, struct text *out)
{
	static const char *const words[] = {
		[PROFILE_CODE] = "",
		[PROFILE_MACHINE] = "host ",
		[PROFILE_SYNC] = "any ",
		[PROFILE_FILES] = "any ",
	};
	text_add(out, words[r->hierarchy]);
	add_short(out, r->name, width);
}

static void add_resource(const struct profile *p, uint32_t resource, uint32_t above, size_t width,
			 struct text *out)
{
	const struct profile_resource *r = &p->resources.data[resource];
	switch (r->kind) {
	case RESOURCE_FUNCTION: add_function(p, r, width, out); return;
	case RESOURCE_LOOP: add_loop(p, resource, above, width, out); return;
	case RESOURCE_PROCESS: text_add(out, "process "); break;
	case RESOURCE_THREAD: text_add(out, "thread "); break;
	case RESOURCE_OBJECT:
		output_name(out, parent_name(p, r));
		text_char(out, ' ');
		break;
	default: add_group(r, width, out); return;
	}
	add_short(out, r->name, width);
}

static bool is_root(const struct profile *p, uint32_t resource)
{
	return p->resources.data[resource].parent == PROFILE_NONE;
}

uint32_t search_label(const struct profile *p, uint32_t experiment, uint32_t parent, size_t width,
		      struct text *out)
{
	const struct profile_experiment *x = &p->experiments.data[experiment];
	const struct profile_experiment *above =
		parent == PROFILE_NONE ? NULL : &p->experiments.data[parent];
	uint32_t main = PROFILE_NONE;
	for (int h = 0; h < PROFILE_HIERARCHIES; h++) {
		uint32_t from = above ? above->focus[h] : PROFILE_NONE;
		if (above ? x->focus[h] == from : is_root(p, x->focus[h]))
			continue;
		text_add(out, main == PROFILE_NONE ? "" : ", ");
		main = main == PROFILE_NONE ? x->focus[h] : main;
		if (is_root(p, x->focus[h]))
			text_printf(out, "any %s", profile_hierarchy_names[h]);
		else
			add_resource(p, x->focus[h], from, width, out);
	}
	if (above && strcmp(x->hypothesis, above->hypothesis) != 0) {
		text_add(out, main == PROFILE_NONE ? "" : ": ");
		add_title(out, x->hypothesis);
	} else if (main == PROFILE_NONE)
		text_add(out, "the whole program");
	return main;
}

bool search_has(const struct report *r, uint32_t experiment)
{
	return !r->experiments || r->experiments[experiment];
}

bool search_is_folded(const struct report *r, const struct experiment_tree *h, uint32_t experiment)
{
	const struct profile_experiment *x = &r->profile->experiments.data[experiment];
	bool all = !r->args->fold || (r->args->min_percent && r->min_share <= 0);
	if (h->leads[experiment] || all)
		return false;
	return !r->args->min_percent || experiment_is_untested(x) || x->value < r->min_share;
}

static bool has_part(const struct profile *p, uint32_t resource, const struct choice *c)
{
	const struct profile_resource *r = &p->resources.data[resource];
	struct text place = TEXT_INIT;
	bool has = choice_has_name(c, r->name, NULL);
	if (!has && *r->file) {
		add_place(&place, r->file, r->first_line, r->last_line);
		has = pattern_match(c->pattern, place.data);
	}
	if (!has) {
		text_clear(&place);
		profile_resource_path(p, resource, &place);
		has = pattern_match(c->pattern, place.data);
	}
	text_release(&place);
	return has;
}

/* Returns, by resource, whether it or one that contains it matches. */
static bool *matching_resources(const struct profile *p, const char *pattern)
{
	struct choice c;
	bool *match = xcalloc((size_t)p->resources.len + 1, sizeof(*match));
	choice_init(&c, pattern);
	for (uint32_t i = 0; i < p->resources.len; i++) {
		uint32_t parent = p->resources.data[i].parent;
		match[i] = (parent != PROFILE_NONE && match[parent]) || has_part(p, i, &c);
	}
	choice_release(&c);
	return match;
}

/* Propagates marks along refinements, in one direction. */
static void propagate(const struct profile *p, bool down, bool *marked)
{
	for (bool again = true; again;) {
		again = false;
		vec_each (r, &p->refinements) {
			uint32_t from = down ? r->parent : r->child;
			uint32_t to = down ? r->child : r->parent;
			again |= marked[from] && !marked[to];
			marked[to] |= marked[from];
		}
	}
}

bool *search_choose(const struct profile *p, const char *pattern)
{
	uint32_t n = p->experiments.len;
	bool *match = matching_resources(p, pattern), any = false;
	bool *chosen = xcalloc((size_t)n + 1, sizeof(*chosen));
	bool *above = xcalloc((size_t)n + 1, sizeof(*above));
	for (uint32_t i = 0; i < n; i++) {
		for (int h = 0; h < PROFILE_HIERARCHIES; h++)
			chosen[i] |= match[p->experiments.data[i].focus[h]];
		above[i] = chosen[i];
		any |= chosen[i];
	}
	propagate(p, true, chosen);
	propagate(p, false, above);
	for (uint32_t i = 0; i < n; i++)
		chosen[i] |= above[i];
	free(match);
	free(above);
	if (any)
		return chosen;
	free(chosen);
	return NULL;
}

/* A line to be written: an experiment below another, or the number of those that are not shown. */
struct history_line {
	uint32_t experiment; /* PROFILE_NONE: the line represents `folded` experiments */
	uint32_t parent, depth;
	uint32_t folded;
	bool untested; /* the folded ones are untested; otherwise they are false */
	double most;   /* the largest value of the folded ones */
};

struct history_walk {
	const struct report *r;
	struct experiment_tree h;
	VEC(struct history_line) todo; /* the next line is the last element */
	bool *shown;
	bool folded;      /* some experiments were folded */
	bool probed;      /* probes measured some: then it is noted what samples measured */
	double threshold; /* of the hypothesis that is being written */
};

static bool were_probes_used(const struct profile *p)
{
	vec_each (x, &p->experiments)
		if (!experiment_is_untested(x) && !(x->flags & EXPERIMENT_SAMPLED) &&
		    p->resources.data[x->focus[PROFILE_CODE]].parent != PROFILE_NONE)
			return true;
	return false;
}

static void add_columns(const struct profile_experiment *x, struct text *out)
{
	static const enum style styles[PROFILE_EXPERIMENT_STATES] = {
		[PROFILE_TRUE] = STYLE_HEADING,
		[PROFILE_FALSE] = STYLE_ADDRESS,
	};
	struct text cell = TEXT_INIT;
	output_style(out, styles[x->state]);
	text_printf(out, "%-7s", profile_state_names[x->state]);
	output_style(out, STYLE_NONE);
	if (!experiment_is_untested(x))
		text_printf(&cell, "%.1f%%", percent(x->value));
	add_cell(out, &cell, 8);
	if (x->decided >= 0)
		add_seconds(&cell, x->decided);
	add_cell(out, &cell, 9);
	if (x->begun >= 0)
		add_seconds(&cell, x->observed);
	add_cell(out, &cell, 9);
	text_release(&cell);
}

/* Returns the maximum number of guides: more would leave no room for labels. */
static uint32_t max_guides(const struct report *r)
{
	unsigned used = COLUMNS + TYPICAL_LABEL;
	unsigned room = r->width > used ? (r->width - used) / 2 : 0;
	return room < MIN_GUIDES ? MIN_GUIDES : room > MAX_GUIDES ? MAX_GUIDES : room;
}

static void add_guides(const struct report *r, uint32_t depth, struct text *out)
{
	uint32_t most = max_guides(r);
	output_style(out, STYLE_ADDRESS);
	for (uint32_t i = 0; i < depth && i < most; i++)
		text_add(out, "| ");
	if (depth > most)
		text_printf(out, "+%u ", depth - most);
	output_style(out, STYLE_NONE);
}

/* " (a, b)" */
static void add_note(struct text *notes, const char *note)
{
	text_add(notes, notes->len ? ", " : " (");
	text_add(notes, note);
}

static void add_notes(const struct history_walk *w, const struct profile_experiment *x,
		      struct text *out)
{
	struct text notes = TEXT_INIT;
	char number[48];
	if (x->origin == PROFILE_DEEP_STARTER)
		add_note(&notes, "deep starter");
	if (x->origin == PROFILE_CONNECTING)
		add_note(&notes, "connecting");
	if (w->probed && x->flags & EXPERIMENT_SAMPLED)
		add_note(&notes, "sampled");
	if (x->flags & EXPERIMENT_UNSURE)
		add_note(&notes, "borderline");
	if (x->flags & EXPERIMENT_OVER)
		add_note(&notes, "was true");
	if (x->threshold != w->threshold) {
		snprintf(number, sizeof(number), "threshold %.3g %%", percent(x->threshold));
		add_note(&notes, number);
	}
	if (x->observed > 0 && x->overhead / x->observed >= MIN_NOTED_OVERHEAD) {
		snprintf(number, sizeof(number), "overhead %.3g %%",
			 percent(fmin(x->overhead / x->observed, 1)));
		add_note(&notes, number);
	}
	if (x->tests > 1) {
		snprintf(number, sizeof(number), "%u tests", x->tests);
		add_note(&notes, number);
	}
	if (notes.len)
		text_printf(out, "%s)", notes.data);
	text_release(&notes);
}

static enum style style_of(const struct profile *p, uint32_t resource)
{
	if (resource == PROFILE_NONE)
		return STYLE_NONE;
	switch (p->resources.data[resource].kind) {
	case RESOURCE_FUNCTION: return STYLE_NAME;
	case RESOURCE_LOOP: return STYLE_LOOP;
	default: return STYLE_INLINE;
	}
}

static void add_experiment(const struct history_walk *w, const struct history_line *l,
			   struct text *out)
{
	const struct profile *p = w->r->profile;
	const struct profile_experiment *x = &p->experiments.data[l->experiment];
	struct text label = TEXT_INIT, suffix = TEXT_INIT;
	uint32_t most = max_guides(w->r), guides = l->depth < most ? l->depth : most;
	bool again = w->shown[l->experiment];
	uint32_t parents = lineage_parents(&w->h, l->experiment);
	if (again)
		text_printf(&suffix, ", see [%u]", l->experiment);
	else if (parents > (l->parent == PROFILE_NONE ? 0 : 1))
		text_printf(&suffix, " [%u]", l->experiment);
	if (!again)
		add_notes(w, x, &suffix);
	size_t used = COLUMNS + 2 * guides + text_columns(suffix.data, suffix.len);
	size_t width = w->r->width > used + MIN_LABEL ? w->r->width - used : MIN_LABEL;
	add_columns(x, out);
	text_add(out, "  ");
	add_guides(w->r, l->depth, out);
	uint32_t main = search_label(p, l->experiment, l->parent, width, &label);
	output_style(out, again ? STYLE_ADDRESS : style_of(p, main));
	text_addn(out, label.data, label.len);
	output_style(out, STYLE_NONE);
	text_addn(out, suffix.len ? suffix.data : "", suffix.len);
	text_char(out, '\n');
	text_release(&label);
	text_release(&suffix);
}

static void add_folded(const struct report *r, const struct history_line *l, struct text *out)
{
	text_printf(out, "%-33s  ", l->untested ? "" : "false");
	add_guides(r, l->depth, out);
	if (l->untested) {
		add_counted(out, l->folded, "other was", "others were");
		text_add(out, " not tested\n");
	} else {
		add_count(out, l->folded);
		text_printf(out, " others false, at most %.1f %%\n", percent(l->most));
	}
}

/* Pushes the lines of a list of experiments in reverse, so that the first is popped first. Foldable
 * experiments become one line for false and one for untested ones; if there is only one of a kind,
 * it is shown itself. */
static void push_lines(struct history_walk *w, const uint32_t *list, uint32_t count,
		       struct history_line l)
{
	const struct profile *p = w->r->profile;
	struct history_line sums[2] = {l, l};
	uint32_t start = w->todo.len;
	for (uint32_t i = 0; i < count; i++) {
		if (!search_has(w->r, list[i]) || !search_is_folded(w->r, &w->h, list[i]))
			continue;
		const struct profile_experiment *x = &p->experiments.data[list[i]];
		struct history_line *sum = &sums[experiment_is_untested(x)];
		sum->most = !sum->folded || x->value > sum->most ? x->value : sum->most;
		sum->folded++;
	}
	for (uint32_t i = 0; i < count; i++) {
		bool untested = experiment_is_untested(&p->experiments.data[list[i]]);
		l.experiment = list[i];
		if (search_has(w->r, list[i]) &&
		    (!search_is_folded(w->r, &w->h, list[i]) || sums[untested].folded == 1))
			vec_push(&w->todo, l);
	}
	for (int i = 0; i < 2; i++) {
		sums[i].experiment = PROFILE_NONE;
		sums[i].untested = i;
		if (sums[i].folded > 1)
			vec_push(&w->todo, sums[i]);
		w->folded |= sums[i].folded > 1;
	}
	for (uint32_t a = start, b = w->todo.len; a + 1 < b;) {
		struct history_line swap = w->todo.data[a];
		w->todo.data[a++] = w->todo.data[--b];
		w->todo.data[b] = swap;
	}
}

static void add_lines(struct history_walk *w, struct text *out)
{
	while (w->todo.len) {
		struct history_line l = vec_pop(&w->todo);
		if (l.experiment == PROFILE_NONE) {
			add_folded(w->r, &l, out);
			continue;
		}
		add_experiment(w, &l, out);
		output_flush(out);
		if (!w->shown[l.experiment] && l.depth + 1 < w->r->depth)
			push_lines(w, w->h.children + w->h.child_at[l.experiment],
				   lineage_children(&w->h, l.experiment),
				   (struct history_line){.parent = l.experiment,
							 .depth = l.depth + 1});
		w->shown[l.experiment] = true;
	}
}

static void add_hypotheses(struct history_walk *w, struct text *out)
{
	const struct profile *p = w->r->profile;
	for (uint32_t i = 0, end; i < w->h.top_count; i = end) {
		const struct profile_experiment *x = &p->experiments.data[w->h.tops[i]];
		bool any = false;
		for (end = i; end < w->h.top_count; end++) {
			if (strcmp(p->experiments.data[w->h.tops[end]].hypothesis, x->hypothesis) !=
			    0)
				break;
			any |= search_has(w->r, w->h.tops[end]);
		}
		if (!any)
			continue;
		w->threshold = x->threshold;
		output_style(out, STYLE_HEADING);
		add_title(out, x->hypothesis);
		output_style(out, STYLE_NONE);
		text_printf(out, ", threshold %.3g %%\n", percent(x->threshold));
		push_lines(w, w->h.tops + i, end - i,
			   (struct history_line){.parent = PROFILE_NONE});
		add_lines(w, out);
	}
}

static void add_summary(const struct report *r, struct text *out)
{
	const struct profile *p = r->profile;
	const char *strategy = profile_get_fact(p, "strategy"),
		   *loops = profile_get_fact(p, "loops");
	uint64_t counts[PROFILE_EXPERIMENT_STATES] = {0}, tested = 0;
	vec_each (x, &p->experiments) {
		counts[x->state]++;
		tested += !experiment_is_untested(x);
	}
	if (strategy)
		output_name(out, strategy);
	if (strategy && loops)
		text_add(out, !strcmp(loops, "1") ? " with loops" : " without loops");
	text_add(out, strategy ? ": " : "");
	text_printf(out, "%llu true, %llu false, ", (unsigned long long)counts[PROFILE_TRUE],
		    (unsigned long long)counts[PROFILE_FALSE]);
	text_printf(out, "%llu not decided, ",
		    (unsigned long long)(tested - counts[PROFILE_TRUE] - counts[PROFILE_FALSE]));
	text_printf(out, "%llu not tested\n\n", (unsigned long long)(p->experiments.len - tested));
}

void search_text(const struct report *r, struct text *out)
{
	struct history_walk w = {.r = r, .probed = were_probes_used(r->profile)};
	const struct profile *p = r->profile;
	findings_headline(p, r->width, out);
	if (!p->experiments.len) {
		text_add(out, "The search ran no experiments.\n");
		return;
	}
	add_summary(r, out);
	output_style(out, STYLE_HEADING);
	text_add(out, "state     value  decided measured  part of the run\n");
	output_style(out, STYLE_NONE);
	lineage_build(&w.h, p);
	w.shown = xcalloc((size_t)p->experiments.len + 1, sizeof(*w.shown));
	add_hypotheses(&w, out);
	if (w.folded)
		text_add(out, "\n--min-percent=0 shows all experiments.\n");
	free(w.shown);
	vec_free(&w.todo);
	lineage_release(&w.h);
}

static bool is_listed(const struct report *r, uint32_t experiment)
{
	const struct profile_experiment *x = &r->profile->experiments.data[experiment];
	return search_has(r, experiment) &&
	       (x->state != PROFILE_FALSE || x->value >= r->min_share || r->min_share <= 0);
}

static void time_json(struct json *j, const char *key, double seconds)
{
	if (seconds < 0)
		json_string(j, key, NULL);
	else
		json_quantity(j, key, A_TIME, seconds, 6);
}

static void experiment_json(const struct report *r, const struct experiment_tree *h,
			    uint32_t number, struct json *j)
{
	const struct profile_experiment *x = &r->profile->experiments.data[number];
	json_object(j, NULL);
	json_u64(j, "number", number);
	json_string(j, "hypothesis", x->hypothesis);
	focus_json(r->profile, x, j);
	json_string(j, "state", profile_state_names[x->state]);
	json_string(j, "origin", profile_origin_names[x->origin]);
	json_string(j, "priority", profile_priority_names[x->priority]);
	json_quantity(j, "value", A_SHARE, x->value, 6);
	json_quantity(j, "threshold", A_SHARE, x->threshold, 6);
	json_quantity(j, "confidence", A_SHARE, x->confidence, 6);
	time_json(j, "created", x->created);
	time_json(j, "begun", x->begun);
	time_json(j, "decided", x->decided);
	json_quantity(j, "observed", A_TIME, x->observed, 6);
	json_quantity(j, "overhead", A_TIME, x->overhead, 9);
	json_u64(j, "tests", x->tests);
	json_string(j, "measured", x->flags & EXPERIMENT_SAMPLED ? "samples" : "probes");
	json_bool(j, "unsure", x->flags & EXPERIMENT_UNSURE);
	json_bool(j, "over", x->flags & EXPERIMENT_OVER);
	json_array(j, "parents");
	for (uint32_t i = h->parent_at[number]; i < h->parent_at[number + 1]; i++)
		json_u64(j, NULL, h->parents[i]);
	json_end(j);
	json_end(j);
}

void search_json(const struct report *r, struct json *j)
{
	struct experiment_tree h;
	lineage_build(&h, r->profile);
	json_array(j, "experiments");
	for (uint32_t i = 0; i < r->profile->experiments.len; i++) {
		if (is_listed(r, i))
			experiment_json(r, &h, i, j);
		output_flush(j->out);
	}
	json_end(j);
	lineage_release(&h);
}

static void csv_number(struct text *out, double number, int digits)
{
	text_printf(out, "%.*f,", digits, number);
}

static void csv_time(struct text *out, double seconds)
{
	if (seconds >= 0)
		csv_number(out, seconds, 6);
	else
		text_char(out, ',');
}

static void csv_focus(const struct profile *p, const struct profile_experiment *x, struct text *out)
{
	struct text path = TEXT_INIT;
	for (int h = 0; h < PROFILE_HIERARCHIES; h++) {
		text_clear(&path);
		profile_resource_path(p, x->focus[h], &path);
		csv_text(out, path.data);
	}
	text_release(&path);
}

static void experiment_csv(const struct report *r, const struct experiment_tree *h, uint32_t number,
			   struct text *out)
{
	const struct profile_experiment *x = &r->profile->experiments.data[number];
	csv_u64(out, number);
	csv_text(out, x->hypothesis);
	csv_focus(r->profile, x, out);
	csv_text(out, profile_state_names[x->state]);
	csv_text(out, profile_origin_names[x->origin]);
	csv_text(out, profile_priority_names[x->priority]);
	csv_number(out, x->value, 6);
	csv_number(out, x->threshold, 6);
	csv_number(out, x->confidence, 6);
	csv_time(out, x->created);
	csv_time(out, x->begun);
	csv_time(out, x->decided);
	csv_number(out, x->observed, 6);
	csv_number(out, x->overhead, 9);
	csv_u64(out, x->tests);
	csv_text(out, x->flags & EXPERIMENT_SAMPLED ? "samples" : "probes");
	csv_u64(out, (x->flags & EXPERIMENT_UNSURE) != 0);
	csv_u64(out, (x->flags & EXPERIMENT_OVER) != 0);
	text_char(out, '"');
	for (uint32_t i = h->parent_at[number]; i < h->parent_at[number + 1]; i++)
		text_printf(out, i > h->parent_at[number] ? " %u" : "%u", h->parents[i]);
	text_add(out, "\",");
	csv_end(out);
}

void search_csv(const struct report *r, struct text *out)
{
	struct experiment_tree h;
	lineage_build(&h, r->profile);
	text_add(out,
		 "number,hypothesis,code,machine,sync,file,state,origin,priority,value,threshold,"
		 "confidence,created,begun,decided,observed,overhead,tests,measured,unsure,over,"
		 "parents\n");
	for (uint32_t i = 0; i < r->profile->experiments.len; i++) {
		if (is_listed(r, i))
			experiment_csv(r, &h, i, out);
		output_flush(out);
	}
	lineage_release(&h);
}
