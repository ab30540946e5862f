/* Shared by the views of counts (trips, mix): loops and functions as a flat list with their counts,
 * over all selected threads and, with --per-thread, for single threads. */
#pragma once
#include "cli/report/outline.h"
#include "profile/counts.h"

struct counts_view {
	struct outline outline;
	struct outline_rows rows;
	struct outline_threads threads; /* empty without --per-thread */
	struct counts all, *single;     /* single: by thread of `threads` */
};

/* One row of such a view: a loop or function, in one thread or in all. */
struct counted_item {
	const struct outline_node *node;
	struct outline_amount amount;
	const struct counts *counts;
	const struct counts_row *row; /* NULL: it has no counts */
	uint32_t thread;              /* PROFILE_NONE: all selected threads */
};

/* `best` is the default sort order. If it is SORT_SELF, a row is shown only if its self has the
 * minimum share. */
void counted_build(struct counts_view *c, const struct report *r, outline_build build,
		   enum report_sort best);
void counted_release(struct counts_view *c);

/* Adds one line per item, and one that sums up the hidden items. `add` writes everything before the
 * label. */
void counted_text(const struct counts_view *c, const struct report *r, size_t columns,
		  void (*add)(const struct counted_item *i, const struct report *r,
			      struct text *out),
		  struct text *out);
/* Adds "rows": each as outline_node_json(), followed by the members that `add` writes; with
 * --per-thread also "threads" in each. */
void counted_json(const struct counts_view *c, const struct report *r,
		  void (*add)(const struct counted_item *i, const struct report *r, struct json *j),
		  struct json *j);
/* Adds the heading line; `names` are the columns that `add` of counted_csv() writes. */
void counted_csv_heading(const char *names, struct text *out);
void counted_csv(const struct counts_view *c, const struct report *r,
		 void (*add)(const struct counted_item *i, struct text *out), struct text *out);

/* With --focus, adds a line that says that counts cover all call paths: they are not recorded per
 * call path. */
void counted_note(const struct report *r, struct text *out);
/* Adds marks for special properties of a loop, to be written after its place. */
void counted_marks(const struct counts_row *row, struct text *out);
/* Adds the lines that explain the marks used. */
void counted_legend(const struct counts_view *c, struct text *out);
/* Adds "heat.c:12-20 in main > relax", in at most `width` columns. */
void add_loop_label(const struct profile *p, uint32_t scope, const char *marks, size_t width,
		    struct text *out);
