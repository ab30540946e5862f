/* What /proc tells about processes and threads. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "isa/registers.h"

typedef VEC(int) tid_list;

/* The threads of a process, ascending, added to `out`. An error says why they cannot be seen. */
int threads_list(int pid, tid_list *out, struct err *e);
/* The process that a thread belongs to, or -1. */
int thread_process(int tid);
/* The process that started this one, or -1. */
int process_parent(int pid);
/* How often the thread gave its CPU away by itself, ptrace stops included; 0 if it is gone.
 */
uint64_t thread_switches(int tid);
/* The letter that tells what a thread is doing (R, S, D, T, t, Z, ...), or 0 if it is gone. */
char thread_state(int tid);
/* Whether it is there and has not ended. */
bool thread_lives(int tid);
/* The system call that a thread which does not run is in; number -1: none. */
struct call_made {
	int number;
	uint64_t arguments[2]; /* the first ones */
};
struct call_made thread_call(int pid, int tid);
/* What the thread's file `syscall` says. */
struct call_made parse_call(const char *text);
/* The name of a thread (comm); empty if it is gone. */
void thread_name(int pid, int tid, char out[16]);

/* The process that traces the thread; 0 if none does, less if the thread is gone. */
int thread_tracer(int tid);

/* Whether the thread's program has a handler for the signal. */
bool thread_catches(int tid, int signal);
/* Whether it would not be told of it: the program ignores it or the thread blocks it. */
bool thread_withholds(int tid, int signal);

/* Whether the kernel keeps a second stack of return addresses, against which returns are checked
 * (x86-64). */
bool process_has_shadow_stack(int pid);
/* Whether its program is one that gets privileges when it is started (set-user-ID and the like),
 * but not while somebody like us traces it. */
bool process_lacks_privileges(int pid);
/* Whether it has the capability (CAP_*). */
bool thread_is_capable(int tid, int capability);
/* What decides which system calls the thread may make (seccomp): 0 nothing, 1 strict mode, 2 a
 * filter; -1 if it is gone. See process/seccomp.h. */
int thread_seccomp(int tid);

/* Time on a CPU of all its threads, also those that have ended; also of a process that has
 * ended itself and was not waited for yet. 0 if it is gone. */
uint64_t process_cpu_ns(int pid);
/* Of one thread, as of the last tick of its CPU's clock at least; 0 if it is gone. */
uint64_t thread_cpu_ns(int pid, int tid);
/* The same, and for how long it was ready to run but others had the CPUs. */
bool thread_ran(int pid, int tid, uint64_t *cpu_ns, uint64_t *ready_ns);

/* For how long this machine's CPUs, all of them, wanted to run but were others': it may be a
 * virtual one. Neither of the above has such time. */
uint64_t cpus_stolen_ns(void);

/* Where the process's heap (brk) begins; 0 if that cannot be known. */
uint64_t process_heap(int pid);

/* Whether we may observe the process (perf events, its maps), and whether its architecture is ours;
 * the sentence says why not and what to do. */
int process_check_access(int pid, struct err *e);
/* The same, and whether we may stop its threads and read its memory, which needs more: Yama may
 * forbid it, and nobody else may be doing so already. */
int process_check_attach(int pid, struct err *e);
