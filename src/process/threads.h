/* What /proc says about processes and threads. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "isa/registers.h"

typedef VEC(int) tid_list;

/* Adds the threads of a process to `out`, in ascending order. The error says why they cannot be
 * seen. */
int threads_list(int pid, tid_list *out, struct err *e);
/* How many threads the process has; 0 if it is gone. */
uint32_t process_threads(int pid);
/* The process that a thread belongs to, or -1. */
int thread_process(int tid);
/* The process that started this one, or -1. */
int process_parent(int pid);
/* Returns the first of a process and those of its ancestors that have its name, one after the
 * other: the master of a server's workers. */
int process_first_of_name(int pid);
/* Adds the processes that this one has started, and those that they have, as far as they live and
 * their parents do. */
void process_descendants(int pid, tid_list *out);
/* How often the thread has given up its CPU voluntarily, ptrace stops included; 0 if it has
 * ended. */
uint64_t thread_switches(int tid);
/* The same, and how often it has given up a CPU in all. */
bool thread_turns(int tid, uint64_t *waits, uint64_t *turns);
/* The letter for the state of the thread (R, S, D, T, t, Z, ...), or 0 if it is gone. */
char thread_state(int tid);
/* Whether the thread exists and is no zombie. */
bool thread_lives(int tid);
/* The system call that a thread is in, if it does not run; number -1: none. */
struct call_made {
	int number;
	uint64_t arguments[3]; /* the first three arguments */
};
struct call_made thread_call(int pid, int tid);
/* The same from the text of /proc/PID/task/TID/syscall. */
struct call_made parse_call(const char *text);
/* The name of a thread (comm); empty if it is gone. */
void thread_name(int pid, int tid, char out[16]);

/* The process that traces the thread; 0 if none does, -1 if the thread is gone. */
int thread_tracer(int tid);

/* Whether the thread's program has a handler for the signal. */
bool thread_catches(int tid, int signal);
/* Whether the signal would not reach the thread: the program ignores it, or the thread blocks
 * it. */
bool thread_withholds(int tid, int signal);

/* Whether the process has a shadow stack: a second stack of return addresses, against which returns
 * are checked (x86-64). */
bool process_has_shadow_stack(int pid);
/* Whether the program would have privileges that it does not get while Sonde traces it: it is
 * set-user-ID, set-group-ID or has file capabilities, and Sonde is not root. */
bool process_lacks_privileges(int pid);
/* Whether the thread has the capability (CAP_*). */
bool thread_is_capable(int tid, int capability);
/* The seccomp mode of the thread: 0 none, 1 strict, 2 filter; -1 if the thread is gone. See
 * process/seccomp.h. */
int thread_seccomp(int tid);

/* CPU time of all threads of the process, including those that have ended. Also works for a process
 * that has ended but was not waited for yet. 0 if it is gone. */
uint64_t process_cpu_ns(int pid);
/* CPU time of one thread, at least up to the last clock tick of its CPU; 0 if it is gone. */
uint64_t thread_cpu_ns(int pid, int tid);
/* The same, and for how long the thread was ready to run but had no CPU. False if it is gone. */
bool thread_ran(int pid, int tid, uint64_t *cpu_ns, uint64_t *ready_ns);

/* Stolen time of all CPUs together: how long they wanted to run while the host of this virtual
 * machine ran others. The times above do not include it. */
uint64_t cpus_stolen_ns(void);
/* The time that all CPUs of the machine have been busy for somebody, in ns. */
uint64_t cpus_busy_ns(void);

/* Where the heap (brk) of the process begins; 0 if that is unknown. */
uint64_t process_heap(int pid);

/* Checks that we may observe the process (perf events, its maps), and that its architecture is
 * ours. The error says why not, and what to do. */
int process_check_access(int pid, struct err *e);
/* Checks in addition that we may stop its threads and read its memory, which needs more: Yama may
 * forbid it, and no other tracer may be attached. */
int process_check_attach(int pid, struct err *e);
