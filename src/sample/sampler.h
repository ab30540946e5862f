/* Sources of samples. A sampler observes processes and reports what happens in the order in which
 * it happened. The two kinds (perf rings, stopping threads) look the same from here.
 *
 * A sampler does not unwind. It delivers the registers and the stack bytes that it has, and says
 * whether the thread is stopped at this moment, so that its memory may be read as well. */
#pragma once
#include <signal.h>

#include "base/err.h"
#include "base/text.h"
#include "isa/arch.h"
#include "isa/registers.h"
#include "process/threads.h"

/* What is sampled. Each event is one metric of the profile. */
struct event {
	const char *name; /* as the user wrote it: cpu-clock, page-faults, cycles, ... */
	const char *unit; /* "ns" for clocks, "" for counts */
	uint32_t type;    /* of perf_event_attr */
	uint64_t config, config1, config2;
	bool clock;                        /* measures time: the period is in ns */
	bool exclude_user, exclude_kernel; /* from the modifiers */
};

enum { EVENTS_MAX = 8 };

/* Looks up an event by name: software events, generic hardware and cache events, raw events (r1a8),
 * and all that libpfm4 knows for this machine, with modifiers (:u, :k). The strings live as long as
 * the process. An error says which events there are instead. */
int event_find(struct event *out, const char *name, struct err *e);

struct sample {
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	int pid, tid;
	uint32_t event;  /* index */
	uint64_t weight; /* events, or ns of a clock, that this sample stands for */
	bool in_kernel;  /* the CPU was in the kernel; the registers are those of user code */
	bool blocked;    /* the thread was waiting, not running: --wall only */
	bool stopped;    /* the thread is stopped now: its memory is as it was at the sample */
	struct call_made call; /* of a blocked thread: the system call that it waits in */
	/* `registers.known` is empty for a sample without user state (thread start or exit). */
	struct registers registers;
	const uint8_t *stack; /* bytes from the stack pointer up, or NULL */
	size_t stack_size;
	/* Return addresses in the frame records that the frame pointer leads to. */
	const uint64_t *returns;
	uint32_t return_count;
};

struct mapping_event {
	int pid;
	uint64_t start, end, offset, inode;
	uint32_t device_major, device_minor;
	const char *path; /* as in /proc/PID/maps; empty for code that is in no file */
};

/* What a sampler reports, all in time order. A function that is not needed is NULL. For a process
 * that runs already, watch() first reports its threads, their names and its code. */
struct sampler_sink {
	void (*sample)(void *ctx, const struct sample *s);
	void (*map)(void *ctx, const struct mapping_event *m);
	void (*name)(void *ctx, int pid, int tid, const char *comm); /* a thread got a name */
	/* A process executed a program. Its only thread has the pid as its tid now. The maps of the
	 * new program follow. */
	void (*exec)(void *ctx, int pid);
	void (*fork)(void *ctx, int parent, int pid); /* a new process */
	void (*thread)(void *ctx, int pid, int tid);  /* a new thread, its first one included */
	void (*exit)(void *ctx, int pid, int tid);    /* a thread ended */
	void (*lost)(void *ctx, uint64_t samples);    /* samples that could not be recorded */
	void *ctx;
};

struct sampler_options {
	struct event events[EVENTS_MAX];
	unsigned event_count;
	unsigned hz;
	uint64_t period; /* instead of hz: events (ns of a clock) per sample; 0: use hz */
	/* Samples of running threads per second; of more, a part is delivered, each for several.
	 * 0: all are. */
	unsigned most_per_second;
	bool wall;        /* also sample threads that wait */
	size_t max_stack; /* bytes copied in a sample */
	bool perf_only;   /* do not stop threads: they are traced already, or it is not worth it */
	struct sampler_sink sink;
};

/* Bytes of the stack in a lean sample. They are needed besides the frame records, for frames that
 * have no record yet, or no longer have one. */
enum { LEAN_STACK = 1024 };

struct sampler;

struct sampler_ops {
	const char *name; /* "perf", "ptrace" */
	/* Observes a process with all its threads (whole), or one thread; children and new threads
	 * of a whole process too. `starting` is a process that launch_prepare() made. */
	int (*watch)(struct sampler *s, int tid, bool whole, bool starting, struct err *e);
	/* Waits at most `timeout_ms` and delivers what there is. Returns after a signal at once. */
	int (*run)(struct sampler *s, int timeout_ms, struct err *e);
	/* From now on, samples have only the first LEAN_STACK bytes of the stack (lean), or again
	 * all that is permitted. May be NULL. */
	void (*lean)(struct sampler *s, bool lean);
	/* Stops one thread and keeps it stopped while `inside` runs, which gets its registers and
	 * may read its memory. Returns false if that cannot be done now. */
	bool (*hold)(struct sampler *s, int pid, int tid,
		     void (*inside)(void *ctx, const struct registers *regs), void *ctx);
	/* Ends observation: detaches from everything and delivers what is left. */
	void (*finish)(struct sampler *s);
	/* Whether a process has ended, with its status as from waitpid(). May be NULL: then use
	 * waitpid(). A sampler that traces waits for its children itself: a waitpid() elsewhere
	 * would take away the events that it needs. */
	bool (*ended)(struct sampler *s, int pid, int *status);
	void (*free)(struct sampler *s);
};

struct sampler {
	const struct sampler_ops *ops;
	/* If samples are not as good as they could be, says why in a sentence for the user; else
	 * empty. */
	char note[700];
	/* True if what the program does in the kernel is not seen (perf_event_paranoid 2). */
	bool user_only;
	/* True if it is not reported any more what processes execute that live for some
	 * milliseconds only: there are too many of them. */
	bool short_unseen;
	/* ns, CLOCK_MONOTONIC: of the newest event that was reported. With perf only. */
	uint64_t delivered;
	uint64_t left_out; /* samples that others stand for */
};

/* Makes a sampler with perf rings or, if these do not work here, one that stops threads. The
 * environment variable SONDE_SAMPLER (perf or ptrace) demands one of them, for tests. If perf is
 * not permitted or lacks an event, and stopping threads is no replacement, fails with
 * ERR_UNSUPPORTED and a sentence that names the setting and how to change it. */
int sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e);

/* Measures how long (s) a sample of perf interrupts a thread, on the calling one, for a millisecond
 * or so. */
double sample_overhead(void);

/* The two kinds. In their options, all functions of the sink must be set. */
int perf_sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e);
/* Measures clocks only. */
int stop_sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e);
