/* Reasons to be slow. A hypothesis is a row of a table: what is measured, what that is a share of,
 * from which share on it is true, and how it refines. To add one is to add a row, and, if it
 * measures something new, the measure. */
#pragma once
#include "search/resource.h"

/* Amounts are seconds, whatever they are of; so are their bases. */
enum measure {
	MEASURE_CPU,       /* time on a processor; of the time that passes, or of all such time if
			      that is more: several threads at once */
	MEASURE_SYNC,      /* time waiting for synchronisation; of the time of all threads that do
			      something */
	MEASURE_IO,        /* time in input and output; of the same */
	MEASURE_SMALL_IO,  /* time in operations that move little; of the same */
	MEASURE_IMBALANCE, /* what the busiest of threads, or processes, that do the same computes
			      more than they do on average; of the time that passes */
	MEASURES,
};

/* What threads do in samples: each class has a count graph of its own. */
enum sample_class { SAMPLE_CPU, SAMPLE_SYNC, SAMPLE_IO, SAMPLE_CLASSES };

enum hypothesis_id {
	CPU_BOUND,
	SYNC_WAITING,
	IO_BLOCKED,
	SMALL_IO,
	IMBALANCE,
	HYPOTHESES,
};

enum { HYPOTHESIS_NONE = 255 };

struct hypothesis {
	const char *name;  /* for options and files: "cpu", "sync", "io", "small-io", "imbalance" */
	const char *title; /* "CPU bound", ... */
	uint8_t measure;   /* enum measure */
	uint8_t samples;   /* enum sample_class: the count graph that its deep starters come from */
	uint8_t general;   /* the hypothesis that it refines, of the same focus; HYPOTHESIS_NONE: it
			      is tested from the beginning, of the whole program */
	uint8_t axes;      /* how many of `axis` there are */
	uint8_t axis[HIERARCHIES]; /* enum hierarchy: its refinements, in this order */
	double threshold;          /* unless the user sets another */
};

extern const struct hypothesis hypotheses[HYPOTHESES];

/* HYPOTHESES if there is none of the name. */
enum hypothesis_id hypothesis_named(const char *name);
