/* System calls made by a stopped thread of the program on our behalf, such that nothing is lost if
 * we are killed at any instant: the thread then makes the call, restores itself and goes on.
 *
 * The thread is sent to code that does `system call; rt_sigreturn` with its stack pointer at a
 * signal frame that holds its present registers. Normally we catch it between the two. */
#pragma once
#include "process/control.h"

/* Where the code and the frame are. */
struct remote_place {
	uint64_t code;  /* of the bytes that remote_code() gives */
	uint64_t frame; /* room for the signal frame, REMOTE_FRAME bytes, 64-byte aligned; what is
			   below it is left alone */
};

enum { REMOTE_FRAME = 16384, REMOTE_CODE_MAX = 32 };

/* The code for this machine; returns its size. */
size_t remote_code(uint8_t out[REMOTE_CODE_MAX]);

/* Makes the call; *result is as the kernel returned it (-4095..-1 is an errno). The thread must be
 * stopped, and is as before afterwards. Fails if the thread is gone, or the system forbids it. */
int remote_call(struct control *c, struct control_thread *t, const struct remote_place *p,
		long number, const uint64_t args[6], int64_t *result, struct err *e);

/* Before we own memory in the program: finds slack in an executable mapping for the code and room
 * below a thread's stack pointer for the frame, and puts the code there. remote_leave() puts the
 * slack's bytes back. `text`, of at most 15 characters, may be NULL: a string for a system call, of
 * which *text_at will be the address. */
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

/* A thread of the stopped process that is best for making calls: in user mode, if there is one. */
struct control_thread *remote_choose(struct control *c, int pid);
