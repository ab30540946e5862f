/* What the views of counts share: loops and procedures as peers with what was counted of them, in
 * all chosen threads and, with --per-thread, in single ones. */
#pragma once
#include "cli/report/outline.h"
#include "profile/counts.h"

struct counted {
	struct outline outline;
	struct outline_rows rows;
	struct outline_threads threads; /* none without --per-thread */
	struct counts all, *single;     /* single: of each of these threads */
};

/* One row of such a view. */
struct counted_item {
	const struct outline_node *node;
	struct outline_amount amount;
	const struct counts *counts;
	const struct counts_row *row; /* NULL: nothing was counted of it */
	uint32_t thread;              /* PROFILE_NONE: all */
};

/* `best` is the order unless the user says otherwise; if it is SORT_SELF, rows need a share of
 * their own. */
void counted_build(struct counted *c, const struct report *r, outline_build build,
		   enum report_sort best);
void counted_release(struct counted *c);

/* A line for each item; of what is hidden, one that sums it up. `add` writes all before the label.
 */
void counted_text(const struct counted *c, const struct report *r, size_t columns,
		  void (*add)(const struct counted_item *i, const struct report *r,
			      struct text *out),
		  struct text *out);
/* "rows": each as outline_node_json() and what `add` adds; "threads" in each with --per-thread. */
void counted_json(const struct counted *c, const struct report *r,
		  void (*add)(const struct counted_item *i, const struct report *r, struct json *j),
		  struct json *j);
/* The line on top; `names` are of what `add` of the next writes. */
void counted_csv_heading(const char *names, struct text *out);
void counted_csv(const struct counted *c, const struct report *r,
		 void (*add)(const struct counted_item *i, struct text *out), struct text *out);

/* The counts of a row as they cannot be chosen by call path: a line that says so, with --focus. */
void counted_note(const struct report *r, struct text *out);
/* Marks behind the place of a loop for what is special about it, and lines that explain those used.
 */
void counted_marks(const struct counts_row *row, struct text *out);
void counted_legend(const struct counted *c, struct text *out);
/* "heat.c:12-20 in main > relax", in at most `width` columns. */
void add_loop_label(const struct profile *p, uint32_t scope, const char *marks, size_t width,
		    struct text *out);
