/* The views of a report, one file each. A view either builds an outline, from which all formats are
 * derived, or writes the formats itself. */
#pragma once
#include "cli/report/outline.h"

struct report_view {
	const char *name;
	enum report_sort sort; /* the default sort order */
	bool counts;           /* only for counted runs; shows instructions */
	bool search;           /* only for searches; has no metric */
	outline_build build;
	/* Formats that are not derived from `build`; NULL if there is no such format. */
	void (*text)(const struct report *r, struct text *out);
	void (*json)(const struct report *r, struct json *j);
	void (*csv)(const struct report *r, struct text *out);
};

extern const struct report_view report_views[]; /* ends with a NULL name */
extern const char *const report_view_names[];   /* the same order; ends with NULL */

void summary_text(const struct report *r, struct text *out);
void summary_json(const struct report *r, struct json *j);
void tree_outline(const struct report *r, struct outline *out);
void callers_outline(const struct report *r, struct outline *out);
void flat_outline(const struct report *r, struct outline *out);
void loops_outline(const struct report *r, struct outline *out);
void loops_text(const struct report *r, struct text *out);
void graph_text(const struct report *r, struct text *out);
void graph_json(const struct report *r, struct json *j);
void threads_text(const struct report *r, struct text *out);
void threads_json(const struct report *r, struct json *j);
void threads_csv(const struct report *r, struct text *out);
void lines_text(const struct report *r, struct text *out);
void lines_json(const struct report *r, struct json *j);
void assembly_text(const struct report *r, struct text *out);
void trips_text(const struct report *r, struct text *out);
void trips_json(const struct report *r, struct json *j);
void trips_csv(const struct report *r, struct text *out);
void mix_text(const struct report *r, struct text *out);
void mix_json(const struct report *r, struct json *j);
void mix_csv(const struct report *r, struct text *out);
void parallel_text(const struct report *r, struct text *out);
void parallel_json(const struct report *r, struct json *j);
void parallel_csv(const struct report *r, struct text *out);
void search_text(const struct report *r, struct text *out);
void search_json(const struct report *r, struct json *j);
void search_csv(const struct report *r, struct text *out);
void findings_text(const struct report *r, struct text *out);
void findings_view_json(const struct report *r, struct json *j);

/* Adds the largest loops of an outline of loops: at most `most` rows. */
void loops_table(const struct report *r, const struct outline *o, uint32_t most, struct text *out);
void functions_outline(const struct report *r, struct outline *out);
/* Lists loops and functions at one level. */
void hot_scopes_outline(const struct report *r, struct outline *out);
/* Adds "main > relax > max": the function of a scope and the inlined calls down to it. */
void add_chain(const struct profile *p, uint32_t scope, size_t width, struct text *out);
void threads_table(const struct report *r, uint32_t most, struct text *out);
/* Add the code that could not be counted; nothing if there is none. */
void uncovered_table(const struct report *r, struct text *out);
void uncovered_json(const struct report *r, struct json *j);

/* Parses the value of --flatten: a number of levels or "loops". */
int flatten_parse(const char *word, uint32_t *levels, struct err *e);

/* Returns the default view of a profile: an index in report_views. */
unsigned report_best_view(const struct report_args *args, const struct profile *p);
/* Returns the view that the options select; --lines and --asm are views of their own. */
const struct report_view *report_chosen_view(const struct report_args *args);
/* Writes the report in its format, with the parts that are common to all views. */
void report_write(const struct report *r, const char *file, struct text *out);
/* Adds the metric, the selection, and the amount that is 100 %. */
void report_heading(const struct report *r, struct text *out);
