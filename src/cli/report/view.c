/* The table of views, and the parts of a report that are common to all. */
#include "cli/report/view.h"

#include <string.h>

#include "cli/report/findings.h"
#include "cli/term/text.h"

const struct report_view report_views[] = {
	{"summary", .text = summary_text, .json = summary_json},
	{"tree", SORT_TOTAL, .build = tree_outline},
	{"callers", SORT_TOTAL, .build = callers_outline},
	{"flat", SORT_BEST, .build = flat_outline},
	{"loops", SORT_SELF, .build = loops_outline, .text = loops_text},
	{"graph", .text = graph_text, .json = graph_json},
	{"threads", .text = threads_text, .json = threads_json, .csv = threads_csv},
	{"trips", .counts = true, .text = trips_text, .json = trips_json, .csv = trips_csv},
	{"mix", .counts = true, .text = mix_text, .json = mix_json, .csv = mix_csv},
	{"parallel", .counts = true, .text = parallel_text, .json = parallel_json,
	 .csv = parallel_csv},
	{"findings", .search = true, .text = findings_text, .json = findings_view_json},
	{"search", .search = true, .text = search_text, .json = search_json, .csv = search_csv},
	{0},
};

const char *const report_view_names[] = {"summary",  "tree",    "callers", "flat", "loops",
					 "graph",    "threads", "trips",   "mix",  "parallel",
					 "findings", "search",  NULL};

static const struct report_view annotated_lines = {"lines", .text = lines_text, .json = lines_json};
static const struct report_view annotated_code = {"asm", .text = assembly_text};

const struct report_view *report_chosen_view(const struct report_args *args)
{
	return args->lines      ? &annotated_lines
	       : args->assembly ? &annotated_code
				: &report_views[args->view == VIEW_BEST ? 0 : args->view];
}

/* Findings are the default for a search, unless the user selects a part of the measurements:
 * findings cover the whole run. */
unsigned report_best_view(const struct report_args *args, const struct profile *p)
{
	unsigned best = 0;
	if (profile_has_search(p) && !args->focus && !report_measure_option(args))
		while (report_views[best].name && strcmp(report_views[best].name, "findings") != 0)
			best++;
	return best;
}

static void write_outline(const struct report *r, const struct report_view *v, struct text *out,
			  struct json *j)
{
	struct outline o;
	struct outline_threads threads = {0}, *t = r->args->per_thread ? &threads : NULL;
	v->build(r, &o);
	outline_link(&o, r->profile, r->args->sort == SORT_BEST ? v->sort : r->args->sort);
	if (t)
		outline_by_thread(&o, r, v->build, t);
	if (j)
		outline_json(&o, r, t, j);
	else if (r->format == REPORT_CSV)
		outline_csv(&o, r, t, out);
	else
		outline_text(&o, r, t, out);
	outline_threads_release(&threads);
	outline_release(&o);
}

static void write_json(const struct report *r, const struct report_view *v, const char *file,
		       struct text *out)
{
	struct json j = JSON_INIT(out);
	const struct profile *p = r->profile;
	bool any = r->metric < p->metrics.len;
	json_object(&j, NULL);
	json_string(&j, "file", file);
	json_string(&j, "view", v->name);
	if (!v->search) {
		json_string(&j, "metric", any ? p->metrics.data[r->metric].name : NULL);
		json_string(&j, "unit", any ? p->metrics.data[r->metric].unit : NULL);
		json_u64(&j, "total", r->total);
		json_u64(&j, "samples", r->samples);
		json_u64(&j, "whole", r->whole);
	}
	if (v->json)
		v->json(r, &j);
	else
		write_outline(r, v, out, &j);
	json_end(&j);
}

/* Says why there is nothing to show. */
static void explain_empty(const struct report *r, struct text *out)
{
	if (r->whole && report_is_counted(r))
		text_add(out, "Nothing that --thread and --focus select was executed; omit them to "
			      "see the rest.\n");
	else if (r->whole)
		text_add(out, "There are no samples of what --thread and --focus select; omit them "
			      "to see the rest.\n");
	else if (!r->profile->finished)
		text_add(out, "This profile is empty: recording is still in progress, or the "
			      "recorder was killed or ran out of disk space.\n");
	else if (report_is_counted(r))
		text_add(out, "Nothing was counted.\n");
	else
		text_add(out, "This profile has no samples: the program used less CPU time than "
			      "one sampling period, or only waited. Record a longer run, more "
			      "samples per second (sonde record -F 4999), or waiting as well "
			      "(sonde record --wall).\n");
}

void report_write(const struct report *r, const char *file, struct text *out)
{
	const struct report_view *v = report_chosen_view(r->args);
	bool table = v->text && !(v->build && r->args->per_thread);
	if (r->format == REPORT_JSON)
		write_json(r, v, file, out);
	else if (r->format == REPORT_CSV && v->csv)
		v->csv(r, out);
	else if (r->format == REPORT_CSV)
		write_outline(r, v, out, NULL);
	else if (v->search) {
		v->text(r, out);
		if (v->text == findings_text)
			findings_more(r->profile, file, r->width, out);
	} else if (!r->total)
		explain_empty(r, out);
	else {
		if (v->text != summary_text)
			report_heading(r, out);
		if (table)
			v->text(r, out);
		else
			write_outline(r, v, out, NULL);
	}
}
