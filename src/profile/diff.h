/* Two profiles of a program, compared procedure by procedure and loop by loop.
 *
 * Samples are counts, so an amount is known only so far: as if each sample could as well have been
 * missed or met twice (Poisson). A difference comes with the interval that holds the true one in 95
 * of 100 cases. Among many rows some differ by chance; those called significant are chosen such
 * that at most one in twenty is (Benjamini and Hochberg, "Controlling the false discovery rate",
 * 1995). Both are about sampling: two runs of one program also differ for other reasons.
 *
 * If both were counted, differences are exact: any is significant. */
#pragma once
#include "profile/flat.h"

struct diff_options {
	uint32_t metric_a, metric_b;
	bool normalise; /* differences of shares of the whole, in per cent, not of amounts */
};

struct diff_value {
	uint64_t self, self_samples, total, total_samples; /* as in flat.h */
};

/* B minus A, in the metric's unit or in per cent of the whole. */
struct diff_change {
	double change, margin; /* the interval is change - margin to change + margin */
	bool significant;
};

struct diff_row {
	uint32_t scope_a, scope_b; /* PROFILE_NONE: only in the other */
	struct diff_value a, b;
	struct diff_change self, total;
};

struct diff {
	bool exact;                  /* both were counted */
	struct diff_value a, b;      /* of all; total only */
	struct diff_change whole;    /* of the total; 0 if normalised */
	double matched_a, matched_b; /* share of the total in procedures that both have, 0 to 1 */
	VEC(struct diff_row)
	procedures;                 /* significant ones first, then by change of self: largest, */
	VEC(struct diff_row) loops; /* up or down, first */
};

void diff_build(struct diff *d, const struct profile *a, const struct profile *b,
		const struct diff_options *o);
void diff_release(struct diff *d);
