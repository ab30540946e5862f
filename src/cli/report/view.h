/* The views of a report: one file report_NAME.c each. A view either builds an outline, and all
 * formats follow from that, or writes the formats itself. */
#pragma once
#include "cli/report/outline.h"

struct report_view {
	const char *name;
	enum report_sort sort; /* unless the user says otherwise */
	bool counts;           /* of runs that were counted only; of instructions */
	bool search;           /* of searches only; of no metric */
	outline_build build;
	/* Instead of what follows from `build`; NULL: there is none. */
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

/* The largest loops, or procedures, of an outline of them: at most `most` rows. */
void loops_table(const struct report *r, const struct outline *o, uint32_t most, struct text *out);
void procedures_outline(const struct report *r, struct outline *out);
/* Both. */
void hot_scopes_outline(const struct report *r, struct outline *out);
/* "main > relax > max": the procedure of a scope and the inlined calls on the way to it. */
void add_chain(const struct profile *p, uint32_t scope, size_t width, struct text *out);
void threads_table(const struct report *r, uint32_t most, struct text *out);
/* What could not be counted; nothing if there is none. */
void uncovered_table(const struct report *r, struct text *out);
void uncovered_json(const struct report *r, struct json *j);

/* Checks what of a flattening the user wrote: a number of levels or "loops". */
int flatten_parse(const char *word, uint32_t *levels, struct err *e);

/* The view of a profile if the user asks for none: an index in report_views. */
unsigned report_best_view(const struct report_args *args, const struct profile *p);
/* The view that the options ask for; --lines and --asm are views of their own. */
const struct report_view *report_chosen_view(const struct report_args *args);
/* Writes it in the report's format, with what is common to all views around it. */
void report_write(const struct report *r, const char *file, struct text *out);
/* The metric, the choice made and what its shares are of. */
void report_heading(const struct report *r, struct text *out);
