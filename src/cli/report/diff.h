/* Output of a comparison of two profiles. */
#pragma once
#include "base/json.h"
#include "profile/diff.h"

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
	bool all;           /* text: also rows without a significant change */
	double min_percent; /* of A's total: rows with a smaller change of self are left out */
	double gate;        /* percent of A's total; negative: none */
};

/* Returns a change in percent of A's total. */
double diff_percent(const struct diff_view *v, const struct diff_change *c);
/* True if the change is a slowdown beyond the gate. */
bool diff_exceeds(const struct diff_view *v, const struct diff_change *c);
/* True if the whole, or the self of any row, exceeds the gate. */
bool diff_gate_exceeded(const struct diff_view *v);

void diff_text(const struct diff_view *v, struct text *out);
void diff_json(const struct diff_view *v, struct text *out);
void diff_csv(const struct diff_view *v, struct text *out);
