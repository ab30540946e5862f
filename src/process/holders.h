/* Who is at the other end of a pipe or socket. */
#pragma once
#include "process/sockets.h"

struct holder {
	int pid;
	char name[16];
};

/* Finds a process that has the other end of a pipe than this descriptor of a process. Of several,
 * it is the youngest: a shell that has made the pipe is older than those that use it. */
bool pipe_peer(int pid, int fd, struct holder *out, bool *writes);
/* Finds another process that has the socket to which one of a process is connected, by its inode.
 */
bool socket_peer(struct sockets *s, int pid, uint64_t inode, double now, struct holder *out);
