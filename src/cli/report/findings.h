/* What a search for bottlenecks found, in words and as JSON: at its end and in reports of its
 * profile, so all of it comes from the profile alone. */
#pragma once
#include "base/json.h"
#include "profile/profile.h"

/* Findings, remarks and next steps, wrapped at `width` columns. */
void findings_render(const struct profile *p, size_t width, struct text *out);
/* What ran and how long it was searched: its first line. */
void findings_headline(const struct profile *p, size_t width, struct text *out);
/* How to see more of the profile, which is in `file`; NULL: where reports look for it anyway. */
void findings_more(const struct profile *p, const char *file, size_t width, struct text *out);
/* The same as members of the object that is open; sonde-report(1) documents them. */
void findings_json(const struct profile *p, struct json *j);

/* "CPU bound": what people call a hypothesis, as a heading. */
void add_title(struct text *out, const char *hypothesis);
/* The procedure or loop that an experiment is about, or the innermost one around; PROFILE_NONE if
 * it is about code of several. */
uint32_t findings_code(const struct profile *p, uint32_t experiment);
/* The paths of its four resources, as an object. */
void focus_json(const struct profile *p, const struct profile_experiment *x, struct json *j);
/* Adds text from column `at` on, in lines of at most `width` columns, the later ones indented.
 * Control characters come out as \xNN. */
void add_wrapped(struct text *out, const char *text, size_t at, size_t indent, size_t width);
/* "12.4 s" */
void add_seconds(struct text *out, double seconds);
