/* What a thread waits for in a system call on descriptors. By the call, its arguments and the kind
 * of descriptor, that is
 *
 *	work       that others bring: requests, or input from a terminal. The thread is idle
 *	an answer  on a connection that the process has opened, or through a pipe
 *	an event   that another thread or process signals; or a time
 *	a device   or a file, for which the kernel works */
#pragma once
#include "process/descriptors.h"
#include "process/sockets.h"
#include "search/object.h"

struct awaited {
	enum object_kind kind; /* OBJECT_KINDS: the call does not show it */
	int fd;                /* -1: none in particular */
	/* Of OBJECT_REQUESTS: accepted connections from which one may come. */
	uint32_t connections;
	/* Of a connection or an answer: "10.0.0.7:5432"; "" if there are several peers. */
	char peer[SOCKET_PEER_ROOM];
	uint64_t socket; /* inode of the connection, or of one of them; 0: none */
	bool varies;     /* what the same call waits for may soon be another */
};

/* The time `now` is in seconds. */
struct awaited awaited_in(struct sockets *s, int pid, const struct call_made *call, double now);
