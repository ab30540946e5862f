/* The input of a report: a profile, and the part of it that the user selected. All views read this.
 *
 * Shares are relative to `total`: the amount of the selected metric in the selected threads, in
 * contexts that pass through the focus. */
#pragma once
#include "base/err.h"
#include "cli/args/options.h"
#include "cli/term/startup.h"
#include "profile/tree.h"

enum report_sort { SORT_SELF, SORT_TOTAL, SORT_NAME, SORT_BEST };
enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV };

enum { VIEW_BEST = UINT8_MAX };

/* Shares are printed with one decimal: less than 1/2000 of the total would be 0.0 %. */
enum { REPORT_RESOLUTION = 2000 };

struct report_args {
	unsigned view; /* index in report_views; VIEW_BEST: the default for the profile */
	unsigned sort; /* enum report_sort; SORT_BEST: the default for the view */
	const char *min_percent, *thread, *focus, *metric, *flatten, *source_path, *output;
	struct option_number depth;
	bool lines, assembly, by_line, per_thread, fold, long_names, json, csv;
	unsigned export; /* index in the list of exports */
};

struct report {
	const struct report_args *args;
	const struct profile *profile;
	enum report_format format;
	uint32_t metric;
	double min_share;        /* rows with less are summed up */
	uint32_t depth;          /* number of levels shown */
	unsigned width;          /* columns of text */
	bool *threads;           /* the selected threads, or NULL for all */
	bool *focus;             /* scopes that contexts must pass through, or NULL for all */
	bool *experiments;       /* of a search: the selected ones, or NULL for all */
	uint32_t thread;         /* a single thread instead of `threads`, or PROFILE_NONE */
	uint64_t whole;          /* amount of the metric in the whole profile */
	uint64_t total, samples; /* of the selected part */
	struct tree tree;        /* of the selected part, with lines */
};

/* Applies the selection; args and profile must live as long as the report. Errors: no such metric
 * or thread, nothing to focus on, an invalid number. */
int report_init(struct report *r, const struct report_args *args, const struct profile *p,
		struct err *e);
void report_release(struct report *r);

/* Returns the first option given that applies only to views of measured amounts, not to those of a
 * search; NULL if there is none. */
const char *report_measure_option(const struct report_args *args);
/* Returns the selection, in the form that trees and exports need. */
struct tree_options report_tree_options(struct report *r, bool lines);
/* Builds the tree of the selected part. */
void report_tree(const struct report *r, bool lines, struct tree *out);
/* Returns, by node of the profile, whether its path passes through the focus; the caller frees. */
bool *report_focused_nodes(const struct report *r);
/* Lists the selected threads by their amount of the metric, largest first; the caller frees.
 * Returns their number. */
uint32_t report_top_threads(const struct report *r, uint32_t **out);
bool report_has_thread(const struct report *r, uint32_t thread);
/* True if the metric was counted, not sampled. */
bool report_is_counted(const struct report *r);

/* Returns the innermost loop that a scope is in or, without one, its function. */
uint32_t report_hot_scope(const struct profile *p, uint32_t scope);
/* Returns the function that a scope is in. */
uint32_t report_function(const struct profile *p, uint32_t scope);
