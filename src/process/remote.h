/* System calls that a stopped thread of the program makes for us. Nothing is lost if Sonde is
 * killed at any instant: the thread then makes the call, restores itself and continues.
 *
 * The thread is sent to code that does `system call; rt_sigreturn`, with its stack pointer at a
 * signal frame that holds its present registers. Normally we stop it between the two. */
#pragma once
#include "process/control.h"

/* The addresses of the code and the frame. */
struct remote_place {
	uint64_t code;  /* the bytes that remote_code() gives */
	uint64_t frame; /* REMOTE_FRAME bytes for the signal frame, 64-byte aligned; memory below
			   them is left alone */
};

enum { REMOTE_FRAME = 16384, REMOTE_CODE_MAX = 32 };

/* The code for this machine; returns its size. */
size_t remote_code(uint8_t out[REMOTE_CODE_MAX]);

/* Makes the call; *result is as the kernel returned it (-4095..-1 is an errno). The thread must be
 * stopped, and is in the same state afterwards. Fails if the thread has ended, or cannot make the
 * call safely (shadow stack, seccomp, ...). */
int remote_call(struct control *c, struct control_thread *t, const struct remote_place *p,
		long number, const uint64_t args[6], int64_t *result, struct err *e);

/* For the time before Sonde has memory in the program. remote_enter() finds unused bytes of an
 * executable mapping (slack) for the code, and room in the main stack for the frame, and writes the
 * code. remote_leave() restores the slack. `text` may be NULL. Otherwise it is a string for a
 * system call, of at most 15 characters; *text_at is set to its address in the program. */
struct remote_slack {
	struct control *control;
	int pid;
	struct remote_place place;
	struct control_thread *thread;
	int tid; /* of `thread` */
	uint64_t start;
	uint32_t size;
};
int remote_enter(struct remote_slack *s, struct control *c, int pid, const char *text,
		 uint64_t *text_at, struct err *e);
void remote_leave(struct remote_slack *s);

/* The thread of the stopped process that is best for making calls: in user mode, if there is one.
 * NULL if none is stopped. */
struct control_thread *remote_choose(struct control *c, int pid);
