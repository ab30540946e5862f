/* How a comparison of two profiles is shown. */
#pragma once
#include "base/json.h"
#include "profile/diff.h"

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_CSV };

/* A profile that is compared. */
struct diff_input {
	const char *path;
	struct profile profile;
	uint32_t metric;
};

struct diff_view {
	const struct diff_input *a, *b;
	const struct diff *diff;
	bool normalise;
	bool all;           /* text: also what has not changed significantly */
	double min_percent; /* of A's total: leaves out rows with smaller changes of self */
	double gate;        /* per cent; negative: none */
};

/* A change as a share of A's total, in per cent. */
double diff_percent(const struct diff_view *v, const struct diff_change *c);
/* True if this is slower than the gate permits. */
bool diff_exceeds(const struct diff_view *v, const struct diff_change *c);
/* True if anything is: the whole, or a row's own code. */
bool diff_gate_exceeded(const struct diff_view *v);

void diff_text(const struct diff_view *v, struct text *out);
void diff_json(const struct diff_view *v, struct text *out);
void diff_csv(const struct diff_view *v, struct text *out);
