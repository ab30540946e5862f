/* Filters of system calls (seccomp): what would become of a call that a thread of the program made
 * for us.
 *
 * Filters are programs for the kernel's classic BPF machine (linux/filter.h,
 * Documentation/userspace-api/seccomp_filter.rst). A thread has a stack of them; all are run for
 * each call, and the most restrictive answer counts. They are never taken off again, only added to,
 * by the thread itself or, with SECCOMP_FILTER_FLAG_TSYNC, by another one of its process. Reading
 * them takes CAP_SYS_ADMIN, and that no filter is on us. */
#pragma once
#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "process/threads.h"

/* The worse, the higher. */
enum call_verdict {
	CALL_PASSES, /* it is made */
	CALL_FAILS,  /* it returns an error, and nobody else learns of it */
	CALL_HARMS,  /* it might kill, raise a signal, or be told to somebody */
};

/* A call that is asked about. */
struct asked_call {
	long number;
	uint64_t args[6];
	uint8_t known; /* set of the arguments that are known; the filter may think of the others
			  what it likes */
};

/* What one filter makes of it, whatever is not known; `audit` is the architecture (AUDIT_ARCH_*).
 */
enum call_verdict filter_verdict(const struct sock_filter *code, uint32_t count, uint32_t audit,
				 const struct asked_call *call);

/* The filters of a thread that is traced and stopped. */
struct thread_filters {
	enum {
		FILTERS_NONE,
		FILTERS_KNOWN,
		FILTERS_UNKNOWN /* also of a thread in strict mode, which permits next to nothing */
	} state;
	VEC(struct sock_filter) code; /* of all of them, one after the other */
	VEC(uint32_t) counts;
};
void filters_read(struct thread_filters *f, int tid);
void filters_release(struct thread_filters *f);
enum call_verdict filters_verdict(const struct thread_filters *f, const struct asked_call *call);

/* Whether we are permitted to read them, of any thread. */
bool filters_are_readable(void);

/* As /proc tells it, of any thread: whether it is confined at all. A thread that is gone is not. */
bool thread_is_confined(int tid);
/* The same, or about to be: it is in the call that does it. */
bool thread_may_be_confined(int pid, int tid);
/* Of any thread of the process. */
bool process_is_confined(int pid);
/* Whether it is such a call. */
bool call_confines(const struct call_made *call);
