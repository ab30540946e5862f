/* Fault points: places where something outside of our control may fail. Tests make each of them
 * fail in turn (tests/live/check-faults), and kill Sonde at each, by setting SONDE_FAULT:
 *
 *	SONDE_FAULT=NAME        the first pass of the point NAME fails
 *	SONDE_FAULT=NAME:3      its third pass
 *	SONDE_FAULT=NAME:3+     its third pass and all after it
 *	SONDE_FAULT=17          the 17th pass of any point
 *	SONDE_FAULT=die@NAME:3  Sonde is killed (SIGKILL) at that pass
 *	SONDE_FAULT=bug@NAME:3  Sonde aborts there, as it does on a violated invariant
 *	SONDE_FAULT=count       nothing fails
 *
 * Each failure, and at exit the number of passes of each point, is appended to the file that
 * SONDE_FAULT_LOG names, or written to stderr:
 *
 *	fails NAME PASS        dies NAME PASS        passed NAME PASSES
 *
 * Fault points are in every build, so that the tests exercise the code that users run. Without
 * SONDE_FAULT a point is a load and a branch, in front of a system call or something as slow. The
 * variables are ignored in a set-user-ID program (secure_getenv()). */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct fault_point {
	const char *name;
	uint32_t passes;
	struct fault_point *next; /* list of the points passed so far */
};

extern bool faults_armed;
/* Has the same effect as starting the process with SONDE_FAULT=spec. */
void faults_arm(const char *spec);

/* Called by the macros below. Returns true, with errno set to `error`, if this pass is to fail. */
bool fault_passed(struct fault_point *p, int error);

/* True if the operation that would follow is to fail instead, with this errno:
 *
 *	int fd = fault("module-open", EMFILE) ? -1 : open(path, O_RDONLY);
 *
 * Each name is used in one place only. */
#define fault(what, error)                                                                         \
	(__builtin_expect(faults_armed, 0) && ({                                                   \
		 static struct fault_point fault_here = {.name = (what)};                          \
		 fault_passed(&fault_here, (error));                                               \
	 }))

/* Marks the place between two steps that change the program. Nothing can fail here, but Sonde may
 * be killed. */
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
