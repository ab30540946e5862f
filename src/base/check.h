/* Bugs. A violated invariant ends Sonde at once, because whatever it would do next may be wrong.
 * The message cites the invariant's number and the place. The program under study survives this
 * just as it survives Sonde being killed: see docs/PROBING.md, which also lists the invariants P1,
 * P2, ...; other invariants are listed in the header of the data structure that they are about.
 *
 * bug_on() is for conditions that cost nothing to check, and is in every build. Checkers that walk
 * over whole tables (check_memory(), profile_check(), ...) are called only if checks_wanted(): in
 * builds with AddressSanitizer or with -DSONDE_CHECKS=1, and in any build when SONDE_FAULT is set
 * (base/fault.h), because that is a test. */
#pragma once
#include <stdbool.h>

#include "base/fault.h"

#ifndef SONDE_CHECKS
#if defined(__SANITIZE_ADDRESS__)
#define SONDE_CHECKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SONDE_CHECKS 1
#endif
#endif
#endif
#ifndef SONDE_CHECKS
#define SONDE_CHECKS 0
#endif

#define bug_on(condition, invariant)                                                               \
	do {                                                                                       \
		if (__builtin_expect(!!(condition), 0))                                            \
			bug_found(invariant, #condition, __FILE__, __LINE__);                      \
	} while (0)

/* Reports the violated invariant on stderr and aborts. */
_Noreturn void bug_found(const char *invariant, const char *what, const char *file, int line);

static inline bool checks_wanted(void)
{
	return SONDE_CHECKS || faults_armed;
}
