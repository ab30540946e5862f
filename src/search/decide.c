#include "search/decide.h"

#include <math.h>
#include <string.h>

static const double enough_base = 0.15; /* s of base that a verdict needs */
static const uint32_t enough_observations = 3;
static const double silence = 0.3;      /* s for which an activity may be absent by chance */
static const double decisive = 4.59512; /* log((1 - a) / a); a = 0.01: the error rate */
static const double most_confidence = 0.999;
static const double slot_seconds = 0.25;

void test_add(struct test *t, double amount, double base)
{
	t->amount += amount;
	t->base += base;
	t->squares += amount * amount / base;
	t->observations++;
}

double test_value(const struct test *t)
{
	return t->base > 0 ? t->amount / t->base : 0;
}

/* Returns half of the distance between the two means that the test distinguishes: a fifth of the
 * threshold, but at least two percentage points. */
static double margin(double threshold)
{
	return fmax(0.02, threshold / 5);
}

/* The floor (`least`) keeps a program that works in bursts from being judged between two of
 * them. */
static double variance(const struct test *t, double threshold)
{
	double least = 2 * margin(threshold) * threshold * silence / decisive;
	double sum = t->squares - test_value(t) * t->amount;
	return t->observations > 1 ? fmax(sum / (t->observations - 1), least) : least;
}

double test_evidence(const struct test *t, double threshold)
{
	return 2 * margin(threshold) * (t->amount - threshold * t->base) / variance(t, threshold);
}

int test_verdict(const struct test *t, double threshold)
{
	if (t->base < enough_base || t->observations < enough_observations)
		return 0;
	double evidence = test_evidence(t, threshold);
	return evidence >= decisive ? 1 : evidence <= -decisive ? -1 : 0;
}

double test_confidence(const struct test *t, double threshold)
{
	return fmin(1 / (1 + exp(-fabs(test_evidence(t, threshold)))), most_confidence);
}

static int64_t slot_at(double now)
{
	return (int64_t)floor(now / slot_seconds);
}

static struct test *slot_of(struct recent *r, int64_t slot)
{
	return &r->slots[(uint64_t)slot % RECENT_SLOTS];
}

void recent_add(struct recent *r, double now, double amount, double base)
{
	int64_t slot = slot_at(now);
	if (slot - r->slot >= RECENT_SLOTS)
		memset(r->slots, 0, sizeof(r->slots));
	else
		for (int64_t i = r->slot + 1; i <= slot; i++)
			*slot_of(r, i) = (struct test){0};
	r->slot = slot;
	test_add(slot_of(r, slot), amount, base);
}

struct test recent_sum(const struct recent *r, double now)
{
	struct test sum = {0};
	int64_t first = slot_at(now) - RECENT_SLOTS + 1;
	for (int64_t i = first; i <= r->slot; i++) {
		if (r->slot - i >= RECENT_SLOTS)
			continue;
		const struct test *t = &r->slots[(uint64_t)i % RECENT_SLOTS];
		sum.amount += t->amount;
		sum.base += t->base;
		sum.squares += t->squares;
		sum.observations += t->observations;
	}
	return sum;
}
