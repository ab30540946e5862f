/* Shared by the forms of a search history graph: the labels of experiments, and which of them are
 * shown. */
#pragma once
#include "cli/report/data.h"
#include "profile/lineage.h"

/* Adds the part of the program that an experiment is about, as far as it differs from that of its
 * parent (PROFILE_NONE: from the whole program). Returns the main resource of the label, or
 * PROFILE_NONE if only the hypothesis differs. */
uint32_t search_label(const struct profile *p, uint32_t experiment, uint32_t parent, size_t width,
		      struct text *out);
/* True if the user selected the experiment, or all. */
bool search_has(const struct report *r, uint32_t experiment);
/* True for experiments that are only counted in a common line: false ones that lead to no true one,
 * and untested ones, unless the user wants to see them. */
bool search_is_folded(const struct report *r, const struct experiment_tree *h, uint32_t experiment);
/* Selects the experiments of which a part matches the pattern, with all experiments that lead to
 * them and all that they were refined to; the caller frees. Returns NULL if none matches. */
bool *search_choose(const struct profile *p, const char *pattern);
/* Adds the whole graph for Graphviz. */
void search_dot(const struct report *r, struct text *out);
