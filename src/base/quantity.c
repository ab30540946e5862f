#include "base/quantity.h"

#include <math.h>

#include "base/check.h"

/* Relative error that rounding may add to sums of many numbers and to their quotients. */
static const double slack = 1e-6;

static const struct {
	double least, most;
} ranges[QUANTITIES] = {
	[A_SHARE] = {0, 1},   [A_PERCENT] = {0, 100}, [A_TIME] = {0, 3.2e9},
	[A_RATE] = {0, 1e15}, [A_FACTOR] = {0, 1e18}, [A_CHANGE] = {-1e300, 1e300},
};

bool can_be(enum quantity what, double value)
{
	return value >= ranges[what].least - slack && value <= ranges[what].most * (1 + slack);
}

double checked(enum quantity what, double value)
{
	if (checks_wanted())
		bug_on(!can_be(what, value), "Q1");
	return isnan(value) ? 0 : fmin(fmax(value, ranges[what].least), ranges[what].most);
}

double share_of(double part, double whole)
{
	return whole > 0 ? checked(A_SHARE, part / whole) : 0;
}

double percent(double share)
{
	return 100 * checked(A_SHARE, share);
}

double percent_change(double change, double whole)
{
	return whole > 0 ? checked(A_CHANGE, 100 * change / whole) : 0;
}

double percent_of(uint64_t part, uint64_t whole)
{
	return percent(share_of((double)part, (double)whole));
}
