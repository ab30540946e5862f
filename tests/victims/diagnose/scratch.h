/* A file to write to, which is gone when the program is. */
#pragma once
#include <fcntl.h>

#include "victim.h"

static inline int scratch_file(const char *name, int flags)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s-%d", folder ? folder : "/tmp", name, (int)getpid());
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | flags, 0600);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	unlink(path);
	return fd;
}
