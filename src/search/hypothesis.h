/* Reasons why a program is slow. A hypothesis is a row of a table: what is measured, what that is a
 * share of, the threshold above which it is true, and how it is refined. To add one, add a row and,
 * if it measures something new, the measure. */
#pragma once
#include "search/resource.h"

/* All amounts are seconds, and so are their bases:
 *
 *	measure    amount                                      base
 *	CPU        CPU time outside of the kernel and of       elapsed time, or the CPU time of all
 *	           allocators                                  threads if that is more
 *	SYSTEM     CPU time in the kernel, not for allocators  the same
 *	MEMORY     CPU time in allocators, and in the kernel   the same
 *	           for them
 *	SYNC       time waiting for synchronisation            time of all threads that are not idle
 *	IO         time blocked in I/O                         the same
 *	SMALL_IO   time in I/O that moves few bytes            the same
 *	IMBALANCE  CPU time of the busiest of the threads, or  elapsed time
 *	           processes, with the same work, less their
 *	           average
 */
enum measure {
	MEASURE_CPU,
	MEASURE_SYSTEM,
	MEASURE_MEMORY,
	MEASURE_SYNC,
	MEASURE_IO,
	MEASURE_SMALL_IO,
	MEASURE_IMBALANCE,
	MEASURES,
};

/* What a sampled thread was doing. Each class has a count graph of its own. */
enum sample_class {
	SAMPLE_CPU,
	SAMPLE_SYNC,
	SAMPLE_IO,
	SAMPLE_SYSTEM,
	SAMPLE_MEMORY,
	SAMPLE_CLASSES,
};

enum hypothesis_id {
	CPU_BOUND,
	SYSTEM_TIME,
	MEMORY_MANAGEMENT,
	SYNC_WAITING,
	IO_BLOCKED,
	SMALL_IO,
	IMBALANCE,
	HYPOTHESES,
};

enum { HYPOTHESIS_NONE = 255 };

struct hypothesis {
	const char *name;  /* for options and files: "cpu", "system", "sync", ... */
	const char *title; /* "CPU-bound", ... */
	uint8_t measure;   /* enum measure */
	uint8_t samples;   /* enum sample_class: the count graph for its deep starters */
	/* The hypothesis that it refines, at the same focus. HYPOTHESIS_NONE: it is tested on the
	 * whole program from the beginning. */
	uint8_t general;
	uint8_t axes;              /* number of entries in `axis` */
	uint8_t axis[HIERARCHIES]; /* enum hierarchy: it is refined along these, in this order */
	double threshold;          /* the default */
};

extern const struct hypothesis hypotheses[HYPOTHESES];

/* Returns HYPOTHESES if none has this name. */
enum hypothesis_id hypothesis_named(const char *name);
