/* The numbers by which findings are chosen and told, with their reasons. */
#pragma once

enum {
	MOST_FINDINGS = 8, /* more than a screen is not read */
	MOST_STEPS = 3,
	/* Of a class: with fewer, a share of them is off by more than a quarter, and experiments
	 * know better. */
	FEW_SAMPLES = 20,
	PATH_FIRST = 3, /* procedures of a long call path that are told: where it begins, */
	PATH_LAST = 7,  /* and where it leads */
};

/* A part that explains less of its own samples than this only passes on what its parts do. */
static const double own_share = 0.5;
/* Of a part's waiting, for an object to be told: at most three are. */
static const double object_share = 0.3;
/* Standard errors that a share which samples alone tell must be above its threshold: 99 %. */
static const double sure_errors = 2.33;
/* Of the waiting at a place: more than that by idle threads is no problem of the program's. */
static const double idle_share = 0.5;
/* Of its threshold that something must have over the whole run: it was tested for a part of it, and
 * a rate that is estimated from both wobbles by some percent. */
static const double whole_run_share = 0.9;
/* From which factor on threads together had clearly more time than passed. */
static const double several_threads = 1.2;
/* One thread has nearly all of it. */
static const double nearly_all = 0.9;
/* Of the samples of who holds a lock, for their place to be told. */
static const double holder_share = 0.2;
/* A rate while it was measured that is worth telling beside that of the run. */
static const double much_higher = 1.5;
/* Less of the samples than this have a chain of code that is in files: most code is not. */
static const double named_share = 0.5;
/* Threads that were ready for this part of the time that they ran, and of the run: the machine was
 * busy. */
static const double ready_share = 0.3, ready_of_run = 0.1;

/* Steps. */
static const double short_trip = 4;      /* iterations: more of them are worth a loop */
static const double often_begun = 50000; /* a second: calling is a part of the cost */
static const double short_call = 1e-6;   /* s */
static const double worth_threads = 0.4; /* of the run in one loop: by Amdahl, a fifth to gain */
static const double busy_thread = 0.1;   /* of all computing: a thread that takes part */
static const double one_processor = 1.3; /* times what passes, at most: hardly more than one ran */
