/* Who is at the other end of a pipe. */
#pragma once
#include <stdbool.h>

struct holder {
	int pid;
	char name[16];
};

/* Finds a process that has the other end of a pipe than this descriptor of a process. Of several,
 * it is the youngest: a shell that has made the pipe is older than those that use it. */
bool pipe_peer(int pid, int fd, struct holder *out, bool *writes);
