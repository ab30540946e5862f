/* Two profiles of a program, compared function by function and loop by loop.
 *
 * Samples are counts, so an amount has a statistical error; the number of samples is taken as
 * Poisson distributed. A difference comes with its 95 % confidence interval. Among many rows some
 * differ by chance. Significant rows are selected such that at most one in twenty of them is
 * expected to be a false discovery (Benjamini and Hochberg, "Controlling the false discovery rate",
 * 1995). Both cover sampling error only: two runs of one program also differ for other reasons.
 *
 * If both profiles were counted, differences are exact, and any difference is significant. */
#pragma once
#include "profile/flat.h"

struct diff_options {
	uint32_t metric_a, metric_b;
	bool normalise; /* compare shares of the whole, in percent, instead of amounts */
};

struct diff_value {
	uint64_t self, self_samples, total, total_samples; /* as in flat.h */
};

/* B minus A, in the metric's unit or in percent of the whole. */
struct diff_change {
	double change, margin; /* the interval is change - margin to change + margin */
	bool significant;
};

struct diff_row {
	uint32_t scope_a, scope_b; /* PROFILE_NONE: the row is only in the other profile */
	struct diff_value a, b;
	struct diff_change self, total;
};

struct diff {
	bool exact;                  /* both profiles were counted */
	struct diff_value a, b;      /* the whole profiles; only `total` is set */
	struct diff_change whole;    /* change of the total; 0 if normalised */
	double matched_a, matched_b; /* share of the total in functions that both have, 0 to 1 */
	/* Significant rows first, then by absolute change of self, largest first. */
	VEC(struct diff_row) functions;
	VEC(struct diff_row) loops;
};

void diff_build(struct diff *d, const struct profile *a, const struct profile *b,
		const struct diff_options *o);
void diff_release(struct diff *d);
