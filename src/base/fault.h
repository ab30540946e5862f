/* Fault points: places where something outside of our control may fail. Tests make each fail in
 * turn (tests/live/check-faults), and kill Sonde at each, by the environment variable SONDE_FAULT:
 *
 *	SONDE_FAULT=NAME        the first pass of the point NAME fails
 *	SONDE_FAULT=NAME:3      its third pass
 *	SONDE_FAULT=NAME:3+     its third pass and all after it
 *	SONDE_FAULT=17          the 17th pass of any point
 *	SONDE_FAULT=die@NAME:3  Sonde is killed (SIGKILL) at that pass
 *	SONDE_FAULT=bug@NAME:3  Sonde aborts there, as it does on a violated invariant
 *	SONDE_FAULT=count       nothing fails
 *
 * What failed, and at the end how often each point was passed, is appended to the file that
 * SONDE_FAULT_LOG names, or goes to stderr:
 *
 *	fails NAME PASS        dies NAME PASS        passed NAME PASSES
 *
 * They are in every build, so that what is tested is what users have; without SONDE_FAULT a point
 * is a load and a branch, in front of a system call or something as slow. A program with more
 * rights than its user ignores the variables. */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct fault_point {
	const char *name;
	uint32_t passes;
	struct fault_point *next; /* of those that were passed */
};

extern bool faults_armed;
/* As if the process had been started with SONDE_FAULT=spec. */
void faults_arm(const char *spec);

/* What the macros below call: true if this pass is to fail, and errno is `error` then. */
bool fault_passed(struct fault_point *p, int error);

/* Whether the operation that would follow is to fail instead, with this errno:
 *
 *	int fd = fault("image-open", EMFILE) ? -1 : open(path, O_RDONLY);
 *
 * A name has one place. */
#define fault(what, error)                                                                         \
	(__builtin_expect(faults_armed, 0) && ({                                                   \
		 static struct fault_point fault_here = {.name = (what)};                          \
		 fault_passed(&fault_here, (error));                                               \
	 }))

/* Between two steps of a change of a program: nothing can fail here, but Sonde may be killed. */
#define fault_step(point)                                                                          \
	do {                                                                                       \
		if (__builtin_expect(faults_armed, 0))                                             \
			fault_passed(point, 0);                                                    \
	} while (0)
#define death_point(what)                                                                          \
	do {                                                                                       \
		static struct fault_point death_here = {.name = (what)};                           \
		fault_step(&death_here);                                                           \
	} while (0)
