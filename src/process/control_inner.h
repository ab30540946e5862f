/* What the files of control share. */
#pragma once
#include "base/vec.h"
#include "process/control.h"

struct control_process {
	int pid;
	uint32_t memory; /* processes with the same number share their memory */
	bool stopped;
	bool leaving;  /* whatever stops is detached */
	bool complete; /* all its threads are known */
	int parent;
	bool shared;
};

struct control {
	VEC(struct control_thread *) threads;
	VEC(struct control_process) processes;
	VEC(struct control_event) events;
	uint32_t told; /* of the events */
	uint32_t memories;
	uint32_t turn;  /* of dealing with what has happened */
	bool expecting; /* the end of a process that is not traced */
	bool more;      /* has happened since, without a sign */
	int child_fd;   /* tells of SIGCHLD */
	signal_watcher watcher;
	fork_watcher fork_watcher;
	end_watcher end_watcher;
	void *watcher_ctx;
	sigset_t mask_before;
	struct sigaction child_before;
};

enum { TELL_NOTHING = -1 };

/* Bytes of the largest regset with wide registers. */
enum { WIDE_MAX = 9216 };

struct control_process *control_find_process(struct control *c, int pid);
struct control_thread *control_add(struct control *c, int pid, int tid);
void control_remove(struct control *c, struct control_thread *t);
/* Asks it to stop. */
void control_ask(struct control_thread *t);
/* Deals with everything that has happened so far; or, if more happens meanwhile, with one thing of
 * each thread. */
void control_drain(struct control *c);
/* Lets a stopped thread go on, or detaches it if its process is being left. */
void control_release(struct control *c, struct control_thread *t);

/* The registers as the kernel gives them are read, and calls that our stop has ended set back. */
bool control_read(struct control_thread *t);
bool control_write(struct control_thread *t);
/* The same before registers are changed, so that a handler still ends the call that the thread is
 * in. */
bool control_settle(struct control_thread *t);
/* Whether the kernel, and nobody else, can let the call that the thread may be in go on with the
 * time that is left. The registers have been read. */
bool control_resumes(const struct control_thread *t);
/* Has a thread that is in some stop go on into the ordinary one, without executing anything. */
bool control_trap(struct control_thread *t);
/* The same from another kind of stop that was told, with its signal delivered. */
bool control_pass(struct control_thread *t, const struct tracee_event *ev);
/* Whether an instruction raised it. */
bool control_is_trap(const siginfo_t *info);
uint64_t control_word(const struct control_thread *t, unsigned offset);
void control_put(struct control_thread *t, unsigned offset, uint64_t value);
