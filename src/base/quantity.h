/* Numbers as they leave Sonde. Every share, rate and time that a person or a program gets to see,
 * in words or in JSON, goes through here and is one that can be: a share is from 0 to 1, a time no
 * longer than a life. Anything else is a bug where it comes from: checked builds stop (Q1), others
 * show the nearest that can be. tools/check-layers knows that percents are made nowhere else. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum quantity {
	A_SHARE,   /* 0 .. 1 */
	A_PERCENT, /* 0 .. 100 */
	A_TIME,    /* 0 .. a hundred years */
	A_RATE,    /* a second: no machine does more than 1e15 */
	A_FACTOR,  /* how many of something there are to one other: 0 .. 1e18 */
	A_CHANGE,  /* of anything: below zero, too */
	QUANTITIES,
};

double checked(enum quantity what, double value);
/* For what comes from elsewhere: whether it is in the range, but for what rounding adds. */
bool can_be(enum quantity what, double value);
/* part / whole, of what is a part; 0 if there is no whole. */
double share_of(double part, double whole);
/* A share in percent. */
double percent(double share);
/* A change in percent of a whole; 0 if there is none. */
double percent_change(double change, double whole);
/* share_of() of counts, in percent. */
double percent_of(uint64_t part, uint64_t whole);
