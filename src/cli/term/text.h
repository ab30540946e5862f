/* How values and source locations are written in reports: shares, amounts with a unit, shortened
 * names. Names come from files that may contain anything, so they are escaped here. */
#pragma once
#include "base/quantity.h"
#include "cli/term/output.h"
#include "profile/profile.h"

/* " 12.3%", always seven columns; blank if the amount is 0. */
void add_share(struct text *out, uint64_t amount, uint64_t total);
/* "1,234,567" */
void add_count(struct text *out, uint64_t n);
/* "1.23 s", "45.6 ms"; metrics without a unit as add_count(). */
void add_amount(struct text *out, const struct profile_metric *m, uint64_t amount);
/* "12,345", but at most six columns: "1.23 M", "45.6 G" */
void add_brief_count(struct text *out, uint64_t n);
/* A mean: "3", "3.14", "12.5"; large means as add_brief_count(). */
void add_mean(struct text *out, double mean);
/* As add_amount(), but with brief counts, for columns. */
void add_brief_amount(struct text *out, const struct profile_metric *m, uint64_t amount);
/* "1 thread", "2 threads" */
void add_counted(struct text *out, uint64_t n, const char *one, const char *many);

/* A name in at most `width` columns, shortened in the middle. */
void add_short(struct text *out, const char *name, size_t width);
/* The name of a function in at most `width` columns. A name that is too long first loses its
 * template arguments, parameters and result: "std::map::at" says more than both ends of the whole
 * name. */
void add_function_name(struct text *out, const char *name, size_t width);
/* From now on, these two functions do not shorten names. */
void text_long_names(bool on);
/* Adds that short form of a function's name, of any length. */
void add_bare(struct text *out, const char *name);
/* A path without "./" and "folder/../", in at most `width` columns, shortened in the middle. */
void add_path(struct text *out, const char *path, size_t width);
/* "file.c:12-20", the file without its folders. */
void add_place(struct text *out, const char *file, uint32_t first, uint32_t last);
/* The source location of a scope, or its module if that is unknown. */
void add_scope_place(struct text *out, const struct profile *p, const struct profile_scope *s);
/* Returns the number of columns that a text occupies. */
size_t text_columns(const char *s, size_t n);
/* Adds spaces up to `column`, counted from byte `start` of the text; at least one. The text from
 * `start` on must not contain colour codes. */
void pad_to(struct text *out, size_t start, size_t column);

/* Adds a cell, right-aligned in `columns`, with at least one space before it, and clears it. */
void add_cell(struct text *out, struct text *cell, size_t columns);
void add_word_cell(struct text *out, const char *word, size_t columns);
void add_count_cell(struct text *out, uint64_t n, size_t columns); /* as add_brief_count() */

/* A CSV field followed by a comma. */
void csv_text(struct text *out, const char *value);
void csv_u64(struct text *out, uint64_t value);
/* Ends a line: replaces the last comma by a newline. */
void csv_end(struct text *out);
