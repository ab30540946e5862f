/* What a report is about: a profile, and the part of it that the user chose. All views read this.
 *
 * Shares are of `total`: the amount of the chosen metric in the chosen threads, in contexts that
 * pass through the focus. */
#pragma once
#include "base/err.h"
#include "cli/args/options.h"
#include "cli/term/startup.h"
#include "profile/tree.h"

enum report_sort { SORT_SELF, SORT_TOTAL, SORT_NAME, SORT_BEST };
enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV };

enum { VIEW_BEST = UINT8_MAX };

struct report_args {
	unsigned view; /* index in report_views; VIEW_BEST: what suits the profile */
	unsigned sort; /* enum report_sort; SORT_BEST: what suits the view */
	const char *min_percent, *thread, *focus, *metric, *flatten, *source_path, *output;
	struct option_number depth;
	bool lines, assembly, by_line, per_thread, fold, json, csv;
	unsigned export; /* index in the list of exports */
};

struct report {
	const struct report_args *args;
	const struct profile *profile;
	enum report_format format;
	uint32_t metric;
	double min_share;        /* what is less is summed up */
	uint32_t depth;          /* levels shown */
	unsigned width;          /* columns of text */
	bool *threads;           /* the chosen ones, or NULL for all */
	bool *focus;             /* the scopes to pass through, or NULL for all */
	bool *experiments;       /* of a search: the chosen ones, or NULL for all */
	uint32_t thread;         /* one of the chosen alone, or PROFILE_NONE */
	uint64_t whole;          /* amount before anything was chosen */
	uint64_t total, samples; /* of what is chosen */
	struct tree tree;        /* of what is chosen, with lines */
};

/* Chooses; args and profile must live as long as the report. Errors: no such metric or thread,
 * nothing to focus on, a bad number. */
int report_init(struct report *r, const struct report_args *args, const struct profile *p,
		struct err *e);
void report_release(struct report *r);

/* The option given that only matters for what was measured, or NULL. */
const char *report_measure_option(const struct report_args *args);
/* The choice, as trees and exports take it. */
struct tree_options report_tree_options(struct report *r, bool lines);
/* The tree of what is chosen. */
void report_tree(const struct report *r, bool lines, struct tree *out);
/* Of each node of the profile, whether its path passes through the focus; the caller frees. */
bool *report_focused_nodes(const struct report *r);
/* Chosen threads, by their amount of the metric, largest first; the caller frees. */
uint32_t report_top_threads(const struct report *r, uint32_t **out);
bool report_has_thread(const struct report *r, uint32_t thread);
/* True if the metric was counted, not sampled. */
bool report_is_counted(const struct report *r);

/* The procedure or, if there is one, the innermost loop that a scope is in. */
uint32_t report_hot_scope(const struct profile *p, uint32_t scope);
/* The procedure that a scope is in. */
uint32_t report_procedure(const struct profile *p, uint32_t scope);
