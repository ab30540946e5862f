/* The findings of a search for bottlenecks as text and JSON. Used at the end of the search and in
 * reports of its profile, so nothing but the profile is used. */
#pragma once
#include "base/json.h"
#include "profile/profile.h"

/* Adds findings, remarks and next steps, wrapped at `width` columns. */
void findings_render(const struct profile *p, size_t width, struct text *out);
/* Adds the first line: what ran and for how long, and how long the search took. */
void findings_headline(const struct profile *p, size_t width, struct text *out);
/* Adds the commands that show more of the profile in `file`; NULL: the default file. */
void findings_more(const struct profile *p, const char *file, size_t width, struct text *out);
/* Adds findings, remarks and next steps as members of the open JSON object; sonde-report(1)
 * documents them. */
void findings_json(const struct profile *p, struct json *j);

/* Adds the title of a hypothesis, as a heading: "CPU-bound". */
void add_title(struct text *out, const char *hypothesis);
/* Returns the function or loop that an experiment is about, or the innermost one around it;
 * PROFILE_NONE if it is about the code of several. */
uint32_t findings_code(const struct profile *p, uint32_t experiment);
/* Adds the focus of an experiment, as an object: the paths of its four resources. */
void focus_json(const struct profile *p, const struct profile_experiment *x, struct json *j);
/* Adds text, starting at column `at`, wrapped at `width` columns; further lines are indented.
 * Control characters become \xNN. */
void add_wrapped(struct text *out, const char *text, size_t at, size_t indent, size_t width);
/* "12.4 s" */
void add_seconds(struct text *out, double seconds);
