/* The views of a report: one file report_NAME.c each. A view either builds an outline, and all
 * formats follow from that, or writes the formats itself. */
#pragma once
#include "cli/report_outline.h"

struct report_view {
	const char *name;
	enum report_sort sort; /* unless the user says otherwise */
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

/* The largest loops, or procedures, of an outline of them: at most `most` rows. */
void loops_table(const struct report *r, const struct outline *o, uint32_t most, struct text *out);
void procedures_outline(const struct report *r, struct outline *out);
void threads_table(const struct report *r, uint32_t most, struct text *out);

/* Checks what of a flattening the user wrote: a number of levels or "loops". */
int flatten_parse(const char *word, uint32_t *levels, struct err *e);

/* The view that the options ask for; --lines and --asm are views of their own. */
const struct report_view *report_chosen_view(const struct report_args *args);
/* Writes it in the report's format, with what is common to all views around it. */
void report_write(const struct report *r, const char *file, struct text *out);
/* The metric, the choice made and what its shares are of. */
void report_heading(const struct report *r, struct text *out);
