/* What the descriptors of a process refer to, and which of them a system call waits for. */
#pragma once
#include "base/vec.h"
#include "process/threads.h"

enum descriptor_kind {
	DESCRIPTOR_UNKNOWN, /* closed, or hidden from us */
	DESCRIPTOR_FILE,
	DESCRIPTOR_PIPE,
	DESCRIPTOR_SOCKET,
	DESCRIPTOR_TERMINAL,
	DESCRIPTOR_DEVICE,
	DESCRIPTOR_TIMER,
	DESCRIPTOR_EVENT, /* eventfd, signalfd, inotify, ...: somebody wakes the thread */
	DESCRIPTOR_EPOLL,
	DESCRIPTOR_PROCESS, /* pidfd */
	DESCRIPTOR_KINDS,
};

enum { DESCRIPTOR_PATH_ROOM = 1024 };

struct descriptor {
	enum descriptor_kind kind;
	uint64_t inode;                  /* of a socket or pipe */
	char path[DESCRIPTOR_PATH_ROOM]; /* "/var/log/messages", "socket:[4711]" */
};

typedef VEC(int) descriptor_list;

/* Reads what a descriptor refers to; false if that is not known. */
bool descriptor_read(int pid, int fd, struct descriptor *out);
/* The same from a link of /proc/PID/fd, without looking at the file. */
void descriptor_parse(const char *path, struct descriptor *out);

/* Adds the descriptors that a process has, up to `most`. */
void descriptors_list(int pid, uint32_t most, descriptor_list *out);
/* Adds the descriptors that a call waits for, up to `most`: for epoll, those that it watches. False
 * if the call waits for no descriptors, or its arguments are not known any more. */
bool descriptors_awaited(int pid, const struct call_made *call, uint32_t most,
			 descriptor_list *out);
/* Adds the descriptors that an epoll instance watches, from the text of /proc/PID/fdinfo/FD. */
void descriptors_of_epoll(const char *text, uint32_t most, descriptor_list *out);

/* Returns how many descriptors of a process refer to this pipe or socket: one that has both ends
 * wakes itself. */
uint32_t descriptors_of_inode(int pid, enum descriptor_kind kind, uint64_t inode);
