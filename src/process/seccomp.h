/* Filters of system calls (seccomp): predicts what they would do to a call that a thread of the
 * program made for us.
 *
 * Filters are programs for the kernel's classic BPF machine (linux/filter.h,
 * Documentation/userspace-api/seccomp_filter.rst). A thread has a stack of them. All are run for
 * each call, and the most restrictive result counts. Filters are never removed. They are added by
 * the thread itself or, with SECCOMP_FILTER_FLAG_TSYNC, by another thread of its process. To read
 * them, Sonde needs CAP_SYS_ADMIN and must not have a filter itself. */
#pragma once
#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "process/threads.h"

/* In ascending order: a worse verdict is higher. */
enum call_verdict {
	CALL_PASSES, /* the call is made */
	CALL_FAILS,  /* the call returns an error, which nobody else notices */
	CALL_HARMS,  /* the call might kill, raise a signal, or be reported to somebody */
};

/* A call whose verdict is asked for. */
struct asked_call {
	long number;
	uint64_t args[6];
	uint8_t known; /* bit set of the arguments that are known; the others may have any value */
};

/* The verdict of one filter: the worst one over all values of what is unknown. `audit` is the
 * architecture (AUDIT_ARCH_*). */
enum call_verdict filter_verdict(const struct sock_filter *code, uint32_t count, uint32_t audit,
				 const struct asked_call *call);

/* The filters of a thread that is traced and stopped. */
struct thread_filters {
	enum {
		FILTERS_NONE,
		FILTERS_KNOWN,
		FILTERS_UNKNOWN /* or the thread is in strict mode, which permits hardly any call */
	} state;
	VEC(struct sock_filter) code; /* of all filters, one after the other */
	VEC(uint32_t) counts;         /* instructions of each filter */
};
void filters_read(struct thread_filters *f, int tid);
void filters_release(struct thread_filters *f);
enum call_verdict filters_verdict(const struct thread_filters *f, const struct asked_call *call);

/* Whether Sonde is permitted to read filters. */
bool filters_are_readable(void);

/* Whether the thread has filters or is in strict mode, according to /proc. The thread need not be
 * traced. False if it has ended. */
bool thread_is_confined(int tid);
/* The same, or the thread is in a call that will confine it. */
bool thread_may_be_confined(int pid, int tid);
/* Whether any thread of the process is confined. */
bool process_is_confined(int pid);
/* Whether the call confines the thread that makes it. */
bool call_confines(const struct call_made *call);
