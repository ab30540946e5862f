/* One screen for a first look: what ran, the quality of the data, where the time goes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/report/view.h"
#include "cli/term/text.h"
#include "unwind/walk.h"

/* Rows of each table, so that everything fits on one screen. */
enum {
	MAX_PATH = 14,
	PATH_HEAD = 4, /* rows before the gap in a longer path */
	MAX_BRANCHES = 3,
	MAX_LOOPS = 6,
	MAX_FUNCTIONS = 8,
	MAX_THREADS = 5,
	MAX_JSON_ROWS = 10,
};

static const char *fact(const struct report *r, const char *name)
{
	const char *value = profile_get_fact(r->profile, name);
	return value ? value : "";
}

/* Numbers of samples: all, those with a complete call path, and those that are missing. */
struct quality {
	uint64_t all, complete, lost, throttled;
};

static struct quality quality(const struct profile *p)
{
	struct quality q = {0};
	vec_each (c, &p->counts) {
		if (!strcmp(c->name, "lost"))
			q.lost += c->samples;
		else if (!strcmp(c->name, "throttled"))
			q.throttled += c->samples;
		else {
			q.all += c->samples;
			q.complete += strcmp(c->name, "complete") ? 0 : c->samples;
		}
	}
	return q;
}

static const char *explain(const char *name)
{
	for (int i = 0; i < WALK_ENDS; i++)
		if (!strcmp(walk_end_name[i], name))
			return walk_end_text[i];
	return name;
}

/* Returns the share of complete call paths in percent. It is never rounded up to 100. */
static double complete_percent(const struct quality *q)
{
	double percent = percent_of(q->complete, q->all);
	return q->complete < q->all && percent > 99.99 ? 99.99 : percent;
}

static void add_quality(const struct report *r, struct text *out)
{
	struct quality q = quality(r->profile);
	if (q.all) {
		text_printf(out, "call paths  %.*f %% complete", q.complete < q.all ? 2 : 0,
			    complete_percent(&q));
		vec_each (c, &r->profile->counts) {
			if (!strcmp(c->name, "complete") || !strcmp(c->name, "lost") ||
			    !strcmp(c->name, "throttled") || !c->samples)
				continue;
			text_add(out, "; ");
			add_count(out, c->samples);
			text_add(out, ": ");
			output_name(out, explain(c->name));
		}
		text_char(out, '\n');
	}
	if (q.lost || q.throttled) {
		text_add(out, "lost        ");
		add_counted(out, q.lost + q.throttled, "sample", "samples");
		text_printf(out, ", %.1f %% of all\n",
			    percent_of(q.lost + q.throttled, q.all + q.lost + q.throttled));
	}
}

/* Adds the number of threads of the metric shown, and its sampling rate. */
static void add_extent(const struct report *r, struct text *out)
{
	const struct profile *p = r->profile;
	text_add(out, report_is_counted(r) ? " in " : " of ");
	add_counted(out, p->threads.len, "thread", "threads");
	if (p->processes.len > 1) {
		text_add(out, ", ");
		add_counted(out, p->processes.len, "process", "processes");
	}
	if (*fact(r, "hz") && !report_is_counted(r)) {
		text_add(out, " at ");
		output_name(out, fact(r, "hz"));
		text_add(out, " Hz");
	}
	text_add(out, p->metrics.len > 1 ? " (shown below; --metric selects)" : "");
}

static void add_metrics(const struct report *r, struct text *out)
{
	const struct profile *p = r->profile;
	for (uint32_t i = 0; i < p->metrics.len; i++) {
		uint64_t amount = 0, samples = 0;
		vec_each (v, &p->values) {
			amount += v->metric == i ? v->amount : 0;
			samples += v->metric == i ? v->samples : 0;
		}
		const struct profile_metric *m = &p->metrics.data[i];
		size_t start = out->len;
		if (i == profile_metric_named(p, PROFILE_RUNS))
			continue; /* the same instructions again, for --asm */
		add_short(out, m->name, 40);
		pad_to(out, start, 12);
		add_amount(out, m, amount);
		if (profile_is_counted(p, i)) {
			text_add(out, " counted");
		} else {
			text_add(out, " in ");
			add_counted(out, samples, "sample", "samples");
		}
		if (i == r->metric)
			add_extent(r, out);
		text_char(out, '\n');
	}
}

static void add_note(const char *note, struct text *out)
{
	if (!*note)
		return;
	text_add(out, "note        ");
	output_name(out, note);
	text_char(out, '\n');
}

static void add_partial(const char *why, struct text *out)
{
	if (!*why)
		return;
	text_add(out, "partial     ");
	output_name(out, why);
	text_add(out, ": counted until then\n");
}

static void add_run(const struct report *r, struct text *out)
{
	const char *seconds = fact(r, "seconds");
	output_style(out, STYLE_HEADING);
	add_short(out, *fact(r, "command") ? fact(r, "command") : "(unknown command)", r->width);
	output_style(out, STYLE_NONE);
	text_char(out, '\n');
	double ran = strtod(seconds, NULL);
	if (*seconds && ran >= 0 && ran < 1e9) {
		const struct profile_metric wall = {.name = "", .unit = "ns"};
		text_add(out, "ran         ");
		add_amount(out, &wall, (uint64_t)(ran * 1e9));
		if (*fact(r, "host"))
			text_add(out, " on ");
		output_name(out, fact(r, "host"));
		text_add(out,
			 r->profile->finished ? "\n" : ", or more: the recording was cut short\n");
	}
	add_partial(fact(r, "partial"), out);
	add_metrics(r, out);
	uncovered_table(r, out);
	add_quality(r, out);
	add_note(fact(r, "note"), out);
	if (!strcmp(fact(r, "user_only"), "1") && !report_is_counted(r))
		add_note("kernel time was not measured; that needs root, or sysctl "
			 "kernel.perf_event_paranoid=1",
			 out);
}

struct hot_path {
	VEC(uint32_t) nodes;
};

/* Follows the heaviest child, as long as it has at least half of its parent's total and 5 % of the
 * whole. */
static void follow_hot_path(const struct report *r, const struct outline *o, struct hot_path *out)
{
	uint32_t at = 0;
	for (;;) {
		uint32_t child = o->nodes.data[at].first_child;
		if (child == PROFILE_NONE)
			return;
		uint64_t total = o->nodes.data[child].total;
		if ((at && total < o->nodes.data[at].total / 2) || total < r->total / 20)
			return;
		vec_push(&out->nodes, child);
		at = child;
	}
}

static void hot_outline(const struct report *r, struct outline *out)
{
	struct tree t;
	struct folded f;
	report_tree(r, false, &t);
	fold_tree(&f, &t);
	outline_from_folded(out, &f);
	outline_link(out, r->profile, SORT_TOTAL);
	folded_release(&f);
	tree_release(&t);
}

static void add_path_row(const struct report *r, const struct outline_node *n, struct text *out)
{
	add_share(out, n->total, r->total);
	add_share(out, n->self, r->total);
	text_add(out, "  ");
	outline_label(r->profile, n, r->width - 16, out);
	text_char(out, '\n');
}

/* Adds the largest branches at the end of the path, where it divides, down to 2 % of the whole. */
static void add_branches(const struct report *r, const struct outline *o, uint32_t end,
			 struct text *out)
{
	uint32_t shown = 0;
	for (uint32_t i = o->nodes.data[end].first_child; i != PROFILE_NONE && shown < MAX_BRANCHES;
	     i = o->nodes.data[i].next) {
		const struct outline_node *n = &o->nodes.data[i];
		if (n->total < r->total / 50)
			break;
		text_add(out, shown++ ? ", " : "                then ");
		text_printf(out, "%.1f%% ", percent_of(n->total, r->total));
		if (n->scope != PROFILE_NONE && *r->profile->scopes.data[n->scope].name)
			add_function_name(out, r->profile->scopes.data[n->scope].name, 24);
		else
			outline_label(r->profile, n, 24, out);
	}
	text_add(out, shown ? "\n" : "");
}

/* Adds the startup code on one line. Returns the number of nodes of the path that it covers. */
static uint32_t add_startup(const struct report *r, const struct outline *o,
			    const struct hot_path *path, struct text *out)
{
	uint32_t count = 0;
	struct text names = TEXT_INIT;
	while (count + 1 < path->nodes.len &&
	       outline_is_startup(o, path->nodes.data[count], r->profile)) {
		const struct outline_node *n = &o->nodes.data[path->nodes.data[count++]];
		text_printf(&names, "%s%s", names.len ? " > " : "",
			    r->profile->scopes.data[n->scope].name);
	}
	if (count) {
		add_share(out, o->nodes.data[path->nodes.data[0]].total, r->total);
		text_add(out, "         ");
		add_short(out, names.data, r->width - 16);
		text_char(out, '\n');
	}
	text_release(&names);
	return count;
}

static void add_hot_path(const struct report *r, struct text *out)
{
	struct outline o;
	struct hot_path path = {0};
	hot_outline(r, &o);
	follow_hot_path(r, &o, &path);
	output_style(out, STYLE_HEADING);
	text_add(out, "\n  total   self  hot path\n");
	output_style(out, STYLE_NONE);
	uint32_t first = add_startup(r, &o, &path, out);
	uint32_t count = path.nodes.len - first;
	uint32_t left_out = count > MAX_PATH ? count - MAX_PATH : 0;
	for (uint32_t i = 0; i < count; i++) {
		if (left_out && i == PATH_HEAD) {
			text_printf(out, "                ... %u levels\n", left_out);
			i += left_out;
		}
		add_path_row(r, &o.nodes.data[path.nodes.data[first + i]], out);
	}
	add_branches(r, &o, path.nodes.len ? vec_last(&path.nodes) : 0, out);
	vec_free(&path.nodes);
	outline_release(&o);
}

static void add_loops(const struct report *r, struct text *out)
{
	struct outline o;
	loops_outline(r, &o);
	outline_link(&o, r->profile, SORT_SELF);
	text_char(out, '\n');
	if (o.nodes.len > 1)
		loops_table(r, &o, MAX_LOOPS, out);
	else
		text_add(out, report_is_counted(r) ? "Nothing was executed in a loop.\n"
						   : "No sample was in a loop.\n");
	outline_release(&o);
}

static void add_functions(const struct report *r, struct text *out)
{
	struct outline o;
	uint32_t shown = 0, i;
	functions_outline(r, &o);
	outline_link(&o, r->profile, SORT_SELF);
	output_style(out, STYLE_HEADING);
	text_add(out, "\n   self  total  function\n");
	output_style(out, STYLE_NONE);
	for (i = o.nodes.data[0].first_child; i != PROFILE_NONE && shown < MAX_FUNCTIONS;
	     i = o.nodes.data[i].next, shown++) {
		const struct outline_node *n = &o.nodes.data[i];
		if ((double)n->self < r->min_share * (double)r->total)
			break;
		add_share(out, n->self, r->total);
		add_share(out, n->total, r->total);
		text_add(out, "  ");
		outline_label(r->profile, n, r->width - 16, out);
		text_char(out, '\n');
	}
	outline_release(&o);
}

void summary_text(const struct report *r, struct text *out)
{
	add_run(r, out);
	if (r->threads || r->focus)
		report_heading(r, out);
	add_hot_path(r, out);
	add_loops(r, out);
	add_functions(r, out);
	if (r->profile->threads.len > 1) {
		text_char(out, '\n');
		threads_table(r, MAX_THREADS, out);
	}
	output_style(out, STYLE_ADDRESS);
	text_add(out, profile_has_counts(r->profile)
			      ? "\nCounts: --view=trips (iterations of loops), mix (of "
				"instructions), parallel (loops to parallelise)"
			      : "");
	text_add(out, "\nMore: --view=tree|callers|flat|loops|graph|threads, --lines, --asm, "
		      "--focus=FUNCTION, --help\n");
	output_style(out, STYLE_NONE);
}

static void add_facts_json(const struct report *r, struct json *j)
{
	struct quality q = quality(r->profile);
	json_object(j, "facts");
	vec_each (f, &r->profile->facts)
		json_string(j, f->name, f->value);
	json_end(j);
	json_bool(j, "finished", r->profile->finished);
	json_u64(j, "processes", r->profile->processes.len);
	json_quantity(j, "complete_percent", A_PERCENT, percent_of(q.complete, q.all), 4);
	json_object(j, "counts");
	vec_each (c, &r->profile->counts)
		json_u64(j, c->name, c->samples);
	json_end(j);
	json_array(j, "metrics");
	vec_each (m, &r->profile->metrics) {
		json_object(j, NULL);
		json_string(j, "name", m->name);
		json_string(j, "unit", m->unit);
		json_u64(j, "period", m->period);
		json_end(j);
	}
	json_end(j);
}

static void add_top_json(const struct report *r, const char *key, outline_build build,
			 struct json *j)
{
	struct outline o;
	uint32_t left = MAX_JSON_ROWS;
	build(r, &o);
	outline_link(&o, r->profile, SORT_SELF);
	json_array(j, key);
	for (uint32_t i = o.nodes.data[0].first_child; i != PROFILE_NONE && left--;
	     i = o.nodes.data[i].next) {
		json_object(j, NULL);
		outline_node_json(&o.nodes.data[i], r, j);
		json_end(j);
	}
	json_end(j);
	outline_release(&o);
}

void summary_json(const struct report *r, struct json *j)
{
	struct outline o;
	struct hot_path path = {0};
	add_facts_json(r, j);
	uncovered_json(r, j);
	hot_outline(r, &o);
	follow_hot_path(r, &o, &path);
	json_array(j, "hot_path");
	vec_each (i, &path.nodes) {
		json_object(j, NULL);
		outline_node_json(&o.nodes.data[*i], r, j);
		json_end(j);
	}
	json_end(j);
	vec_free(&path.nodes);
	outline_release(&o);
	add_top_json(r, "loops", loops_outline, j);
	add_top_json(r, "functions", functions_outline, j);
	threads_json(r, j);
}
