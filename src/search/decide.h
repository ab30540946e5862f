/* Deciding whether a rate is above a threshold, by A. Wald's sequential probability ratio test
 * ("Sequential tests of statistical hypotheses", 1945): observations are added up until one of two
 * means, a bit below and a bit above the threshold, is a hundred times as likely as the other. A
 * rate far from the threshold is decided at once, one near to it takes longer.
 *
 * An observation is how much the amount and its base grew. Its rate is assumed to be normally
 * distributed, with the variance s2 / base. s2 is estimated from the observations and has a floor,
 * because a few that happen to agree prove little: however clear a case is, an activity must be
 * absent for 0.3 s before the test takes it for absent. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Sums over observations; all zero if there are none. */
struct test {
	double amount, base;
	double squares; /* of amount^2 / base */
	uint32_t observations;
};

void test_add(struct test *t, double amount, double base);
/* Returns the logarithm of the ratio of two likelihoods: of a mean above and below the
 * threshold. */
double test_evidence(const struct test *t, double threshold);
/* Returns 1: true, -1: false, 0: not decided yet. */
int test_verdict(const struct test *t, double threshold);
/* Returns the probability that the true mean is on the same side of the threshold as the observed
 * one: 0.5 .. 0.999. */
double test_confidence(const struct test *t, double threshold);
double test_value(const struct test *t); /* 0 if nothing was observed */

/* The observations of the last two seconds. */
enum { RECENT_SLOTS = 8 };

struct recent {
	struct test slots[RECENT_SLOTS];
	int64_t slot; /* the number of the current one, counted from time 0 */
};

void recent_add(struct recent *r, double now, double amount, double base);
struct test recent_sum(const struct recent *r, double now);
