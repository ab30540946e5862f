/* Range checks for numbers that Sonde outputs. Every share, rate and time that is shown to users or
 * written as JSON passes through here, and must be in the range of its quantity. A value out of
 * range is a bug where it was computed: builds with checks stop (Q1), others show the nearest value
 * in range. tools/check-layers enforces that percentages are computed nowhere else. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum quantity {
	A_SHARE,   /* 0 .. 1 */
	A_PERCENT, /* 0 .. 100 */
	A_TIME,    /* 0 .. a hundred years */
	A_RATE,    /* per second: no machine does more than 1e15 */
	A_FACTOR,  /* a ratio of two amounts: 0 .. 1e18 */
	A_CHANGE,  /* a difference of any quantity; may be negative */
	QUANTITIES,
};

/* The value, limited to the range of its quantity. Stops at a bug (Q1) in builds with checks. */
double checked(enum quantity what, double value);
/* Whether a value from outside of Sonde is in the range, apart from rounding errors. */
bool can_be(enum quantity what, double value);
/* part / whole, where `part` is contained in `whole`; 0 if the whole is 0. */
double share_of(double part, double whole);
/* A share in percent. */
double percent(double share);
/* A change in percent of a whole; 0 if the whole is 0. */
double percent_change(double change, double whole);
/* share_of() for counts, in percent. */
double percent_of(uint64_t part, uint64_t whole);
