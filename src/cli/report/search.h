/* What the forms of a search history graph share: how experiments are told apart, and which of them
 * are shown. */
#pragma once
#include "cli/report/data.h"
#include "profile/lineage.h"

/* What of the program an experiment is about, as far as its parent was not: PROFILE_NONE, the whole
 * program. Returns the resource to say it by, or PROFILE_NONE if it is the hypothesis that became
 * another. */
uint32_t search_label(const struct profile *p, uint32_t experiment, uint32_t parent, size_t width,
		      struct text *out);
/* False of what the user did not choose. */
bool search_has(const struct report *r, uint32_t experiment);
/* True of those that, with others, are only counted: false ones, and those that were never tested,
 * unless the user wants to see them. */
bool search_is_folded(const struct report *r, const struct lineage *h, uint32_t experiment);
/* Chooses the experiments that lead to, are or follow from one whose parts match the pattern; the
 * caller frees. NULL: there is none. */
bool *search_choose(const struct profile *p, const char *pattern);
/* The whole graph for Graphviz. */
void search_dot(const struct report *r, struct text *out);
