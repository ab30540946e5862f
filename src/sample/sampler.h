/* Sources of samples. A sampler observes processes and reports what happens in the order in which
 * it happened; the two kinds (perf rings, stopping threads) look the same from here.
 *
 * A sampler never decides about unwinding: it hands over registers and what stack bytes it has, and
 * whether the thread is stopped at this very moment so that its memory may be read as well. */
#pragma once
#include <signal.h>

#include "base/err.h"
#include "base/text.h"
#include "isa/arch.h"
#include "isa/registers.h"
#include "process/threads.h"

/* What is counted: one metric of the profile each. */
struct event {
	const char *name; /* as the user wrote it: cpu-clock, page-faults, cycles, ... */
	const char *unit; /* "ns" for clocks, "" for counts */
	uint32_t type;    /* of perf_event_attr */
	uint64_t config, config1, config2;
	bool clock;                        /* measures time: the period is in ns */
	bool exclude_user, exclude_kernel; /* of modifiers */
};

enum { EVENTS_MAX = 8 };

/* Looks up an event by name: software events, generic hardware and cache events, raw (r1a8), and
 * all that libpfm4 knows of this machine, with modifiers (:u, :k). The strings live as long as the
 * process. An error says what there is instead. */
int event_find(struct event *out, const char *name, struct err *e);

struct sample {
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	int pid, tid;
	uint32_t event;  /* index */
	uint64_t weight; /* events, or ns of a clock, that this sample stands for */
	bool in_kernel;  /* the CPU was in the kernel, on behalf of the registers' place */
	bool blocked;    /* the thread was waiting, not running: --wall only */
	bool stopped;    /* the thread is stopped now: its memory is as it was at the sample */
	struct call_made call; /* of a blocked one: that it waits in */
	/* `registers.known` is empty for a sample without user state (thread start or exit). */
	struct registers registers;
	const uint8_t *stack; /* bytes from the stack pointer up, or NULL */
	size_t stack_size;
	const uint64_t
		*returns; /* return addresses in the records that the frame pointer leads to */
	uint32_t return_count;
};

struct mapping_event {
	int pid;
	uint64_t start, end, offset, inode;
	uint32_t device_major, device_minor;
	const char *path; /* as in /proc/PID/maps; empty for code that is in no file */
};

/* What a sampler tells; all in time order. What nobody wants to know is NULL. Of a process that
 * runs already, its threads, their names and its code come first, during watch(). */
struct sampler_sink {
	void (*sample)(void *ctx, const struct sample *s);
	void (*map)(void *ctx, const struct mapping_event *m);
	void (*name)(void *ctx, int pid, int tid, const char *comm); /* a thread got a name */
	/* Before the new program's maps. The only thread now has the number of the process. */
	void (*exec)(void *ctx, int pid);
	void (*fork)(void *ctx, int parent, int pid); /* a new process */
	void (*thread)(void *ctx, int pid, int tid);  /* a new thread, its first one included */
	void (*exit)(void *ctx, int pid, int tid);    /* a thread ended */
	void (*lost)(void *ctx, uint64_t samples);    /* could not be recorded */
	void *ctx;
};

struct sampler_options {
	struct event events[EVENTS_MAX];
	unsigned event_count;
	unsigned hz;
	uint64_t period;  /* instead of hz: a sample every so many events; 0: use hz */
	bool wall;        /* also sample threads that wait */
	size_t max_stack; /* bytes copied in a sample */
	bool perf_only;   /* do not stop threads: they are traced already, or it is not worth it */
	struct sampler_sink sink;
};

/* Bytes that frame records need beside them: of the frames that have none yet, or no more. */
enum { LEAN_STACK = 1024 };

struct sampler;

struct sampler_ops {
	const char *name; /* "perf", "ptrace" */
	/* Observes a process with all its threads (whole), or one thread; children and new threads
	 * of a whole process too. `starting` is a process that launch_prepare() made. */
	int (*watch)(struct sampler *s, int tid, bool whole, bool starting, struct err *e);
	/* Waits at most `timeout_ms` and delivers what there is. Returns after a signal at once. */
	int (*run)(struct sampler *s, int timeout_ms, struct err *e);
	/* From now on, samples have the first LEAN_STACK bytes of the stack only, or all that is
	 * permitted again. May be NULL. */
	void (*lean)(struct sampler *s, bool lean);
	/* Stops one thread and keeps it stopped while `inside` runs, which may read its memory.
	 * Returns false if that cannot be done now. Its registers then are in *regs. */
	bool (*hold)(struct sampler *s, int pid, int tid,
		     void (*inside)(void *ctx, const struct registers *regs), void *ctx);
	/* Ends observation: detaches from everything and delivers what is left. */
	void (*finish)(struct sampler *s);
	/* Whether a process has ended, with its status as of waitpid(). May be NULL: then waitpid()
	 * tells. A sampler that traces hears of the end of a child itself, and waiting for it
	 * elsewhere would take what it needs to see. */
	bool (*ended)(struct sampler *s, int pid, int *status);
	void (*free)(struct sampler *s);
};

struct sampler {
	const struct sampler_ops *ops;
	/* Why not the better way, in a sentence for the user; empty if it is the better way. */
	char note[700];
	/* True if what the program does in the kernel is not seen (perf_event_paranoid 2). */
	bool user_only;
};

/* perf rings, or if they do not work here, stopping threads. The environment variable SONDE_SAMPLER
 * (perf or ptrace) demands one of them, for tests. Fails with ERR_UNSUPPORTED if perf is not
 * permitted or lacks an event, and nothing else will do, with a sentence that names the setting and
 * how to change it. */
int sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e);

/* The two kinds, whose options have all functions of their sink. */
int perf_sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e);
/* At o->hz; measures cpu-clock only. */
int stop_sampler_new(struct sampler **out, const struct sampler_options *o, struct err *e);
