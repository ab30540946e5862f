/* The numbers by which findings are chosen and worded, with their reasons. */
#pragma once

enum {
	MOST_FINDINGS = 8, /* users do not read more than a screen */
	MOST_STEPS = 3,
	/* Samples of a class: with fewer, a share of them is off by more than a quarter, and the
	 * experiments are more accurate. */
	FEW_SAMPLES = 20,
	PATH_FIRST = 3, /* parts of a long call path that are shown: where it begins, */
	PATH_LAST = 7,  /* and where it leads */
};

/* Share of its own samples that a part must explain: with less, most of its time is in its callees
 * and inner loops. */
static const double own_share = 0.5;
/* An object is reported if it has at least this share of a part's waiting. At most three can. */
static const double object_share = 0.3;
/* Standard errors by which a share that only samples support must exceed its threshold: 99 %. */
static const double sure_errors = 2.33;
/* Share of the waiting at a place: if more than this is by idle threads, it is not a problem. */
static const double idle_share = 0.5;
/* Share of its threshold that a finding must reach over the whole run. It was tested for a part of
 * the run only, and a rate that is estimated from both varies by some percent. */
static const double whole_run_share = 0.9;
/* Thread time above this multiple of the run time means that there were several threads. */
static const double several_threads = 1.2;
/* A finding is reported as that of one thread if the thread has more than this share of its time.
 */
static const double nearly_all = 0.9;
/* The place of lock holders is reported if it has at least this share of their samples. */
static const double holder_share = 0.2;
/* The value while it was measured is reported as well if it is this many times that of the run. */
static const double much_higher = 1.5;
/* If a smaller share of the samples has a chain of code that is in files, most of the code is
 * JIT-compiled or anonymous. */
static const double named_share = 0.5;
/* The machine was busy if threads were ready without a CPU for these shares of the time that they
 * ran, and of the run. */
static const double ready_share = 0.3, ready_of_run = 0.1;

/* Steps. */
static const double short_trip = 4;      /* iterations: longer trips are worth a loop */
static const double often_begun = 50000; /* per second: the calls themselves take time */
static const double short_call = 1e-6;   /* s */
/* Share of the run in one loop: by Amdahl's law, two threads gain a fifth of the run. */
static const double worth_threads = 0.4;
static const double busy_thread = 0.1; /* of all CPU time: with more, a thread takes part */
/* CPU time per elapsed time, up to which hardly more than one CPU was used. */
static const double one_cpu = 1.3;
