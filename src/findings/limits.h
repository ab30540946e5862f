/* The numbers by which findings are chosen and worded, with their reasons. */
#pragma once

enum {
	MOST_FINDINGS = 8, /* users do not read more than a screen */
	MOST_STEPS = 3,
	MOST_PORTIONS = 5,   /* functions that a finding is made of */
	MOST_ALLOCATORS = 3, /* of their functions, in a sentence */
	/* With fewer samples of a class, a share of them is off by more than a quarter, and
	 * experiments are more accurate. */
	FEW_SAMPLES = 20,
	SEVERAL_PROCESSES = 3,   /* with fewer, the findings say it all */
	MOST_COMMANDS_SHOWN = 5, /* a line or two */
	PATH_FIRST = 3,          /* parts shown at the beginning of a long call path, */
	PATH_LAST = 7,           /* and at its end */
};

/* Share of its own samples that a part must explain: with less, most of its time is in its callees
 * and inner loops. */
static const double own_share = 0.5;
/* A function that a finding is made of is named if it has at least this share of the run. */
static const double least_portion = 0.02;
/* A function of an allocator is in the sentence if it has at least this share of the finding. */
static const double least_allocator = 0.1;
/* A finding whose largest function has less is flat. */
static const double flat_below = 0.05;
/* An object is reported if it has at least this share of a part's waiting: at most three
 * objects. */
static const double object_share = 0.3;
/* A share that only samples support must exceed its threshold by this many standard errors, so that
 * it is above the threshold with a probability of 99 %. */
static const double sure_errors = 2.33;
/* Waiting at a place is not reported if idle threads have more than this share of it. */
static const double idle_share = 0.5;
/* Share of its threshold that a finding must reach over the whole run. Not 1: the experiment was
 * tested in only a part of the run, and estimates of its value vary by some percent. */
static const double whole_run_share = 0.9;
/* Share of the run for which a program has to be idle for that to be told. */
static const double noticeable_idle = 0.05;
/* Share of its busy time for which a process has to wait for another one, to be told in the chain
 * of those who wait for each other. */
static const double chain_share = 0.2;
/* Thread time above this multiple of the run time means that there were several threads. */
static const double several_threads = 1.2;
/* A finding is reported for a single thread if that has more than this share of its time. */
static const double nearly_all = 0.9;
/* The place where a lock was held is reported if it has at least this share of the holders'
 * samples. */
static const double holder_share = 0.2;
/* The value of the experiment is reported as well if it is more than this many times the share of
 * the run. */
static const double much_higher = 1.5;
/* If fewer samples than this share have a chain, most of the code is JIT-compiled or anonymous:
 * chains have only code that is in files. */
static const double named_share = 0.5;
/* The machine was busy if threads were ready without a CPU for these shares of the time that they
 * ran, and of the run. */
static const double ready_share = 0.3, ready_of_run = 0.1;

/* Shares of the run in which only one process worked: in all, and at the end. */
static const double noticeable_alone = 0.2, noticeable_closing = 0.05;
/* A single process is told of if it ran for this long (s), and if its command has this share of all
 * CPU time. */
static const double told_longest = 0.1, told_share = 0.05;

/* For next steps: */
static const double short_trip = 4;      /* iterations per entry, up to which a loop is short */
static const double often_begun = 50000; /* calls per second: calling itself takes time */
static const double short_call = 1e-6;   /* s per call */
/* Share of the run in one loop: by Amdahl's law, two threads gain a fifth of the run. */
static const double worth_threads = 0.4;
/* Share of thread time in which threads wait for serial code. */
static const double worth_dividing = 0.1;
/* Of the time of page faults: if less is spent on giving memory back, it is not given back. */
static const double least_given_back = 0.05;
static const double busy_thread = 0.1; /* share of all CPU time that makes a thread busy */
/* CPU time per elapsed time: up to this, hardly more than one CPU was used. */
static const double one_cpu = 1.3;
