/* Recording a profile: a sampler's samples are walked, put into a calling-context tree, and saved
 * as they come. Once observation has ended, what was sampled is fused with its source structure. */
#pragma once
#include "sample/sampler.h"

struct record_options {
	/* What to observe: a program to start (NULL-terminated), or processes and threads that run
	 * already. */
	char *const *argv;
	const int *pids, *tids;
	unsigned pid_count, tid_count;
	const char *const *events; /* names */
	unsigned event_count;      /* 1 .. EVENTS_MAX */
	unsigned hz;
	size_t max_stack;
	bool wall;
	double seconds; /* 0: to the end of what is observed */
	const char *output;
};

struct record_result {
	uint64_t samples, complete, lost;
	uint32_t threads;
	double seconds;
	char note[700];  /* the sampler's */
	int program;     /* the started program's pid while it runs on, else 0 */
	int status;      /* once it has ended, as of waitpid() */
	int not_started; /* the errno of exec, or 0 */
	/* Empty, or why observation ended early or the last save failed: a sentence. The profile
	 * has what came before. */
	char problem[700];
};

/* On an error nothing was recorded, and the program was not started or was not able to run
 * (r->not_started). */
int record_run(const struct record_options *o, struct record_result *r, struct err *e);
