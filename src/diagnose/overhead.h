/* The overhead of a search: how much longer the program takes than alone, as somebody with a
 * stop-watch would find. It is added up from what can be measured:
 *
 *	start, end   before the program runs and after it has ended, if Sonde has started it
 *	stops        while it is stopped
 *	probes       hits, times the overhead of one hit
 *	samples      interrupts, times the overhead of one
 *	contention   its threads were ready to run while Sonde had CPUs, or no CPU was idle
 *
 * All of it delays the program. Of the last three, threads that run at the same time each have
 * their share; but if they spin for each other, as in OpenMP and MPI, what delays one of them
 * delays all. */
#pragma once
#include <stdint.h>

struct machine;

/* s, up to some time. */
struct overhead_sums {
	double time; /* that time, since the beginning of the search */
	double run;  /* CPU time of the program */
	double own;  /* of Sonde */
	double busy; /* of all programs */
	double spun; /* CPU time of the program in which it spun */
	double stops, probes, samples, contention;
};

struct overhead {
	struct overhead_sums sums, marks[32];
	uint32_t marked;
	double cpus;        /* how many there are */
	double ready;       /* s so far: of the program's threads */
	double sample_time; /* s that the program loses with each sample; 0: not measured yet */
};

/* What was measured so far. */
struct overhead_reading {
	double stops, probes, spun; /* s */
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
