/* The overhead of a search: how much longer the program takes than alone, as somebody with a
 * stop-watch would find. It is added up from what can be measured:
 *
 *	start, end   before the program runs and after it has ended, if Sonde has started it
 *	stops        while it is stopped
 *	probes       hits, times the overhead of one hit
 *	samples      interrupts, times an estimate of their overhead
 *	contention   its threads were ready to run while Sonde had CPUs
 *
 * All of it delays the program; but of the last three, threads that run at the same time each have
 * their share. */
#pragma once
#include <stdint.h>

struct machine;

/* s, up to some time. */
struct overhead_sums {
	double time; /* that time, since the beginning of the search */
	double run;  /* CPU time of the program */
	double stops, probes, samples, contention;
};

struct overhead {
	struct overhead_sums sums, marks[32];
	uint32_t marked;
	/* s so far: CPU time of Sonde, ready time of the program, CPU time of all programs. */
	double own, ready, busy;
};

/* What was measured so far. */
struct overhead_reading {
	double stops, probes; /* s */
	uint64_t samples;
};
/* Call it after each step of the machine. */
void overhead_step(struct overhead *o, const struct machine *m, const struct overhead_reading *r);

/* The overhead in the last second or so, as a share of the time alone; and the part of it that
 * probes cause, with the stops for them. */
double overhead_now(const struct overhead *o);
double overhead_of_probing(const struct overhead *o);
/* That of the whole run, which took `seconds`, with `around` s before and after it. */
double overhead_whole(const struct overhead *o, double seconds, double around);
