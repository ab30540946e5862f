#include "process/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fault.h"

static int read_all(struct text *out, int fd)
{
	char piece[16384];
	for (;;) {
		ssize_t n = fault("proc-text-read", EIO) ? -1 : read(fd, piece, sizeof(piece));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		text_addn(out, piece, (size_t)n);
	}
}

bool proc_read_text(const char *path, struct text *out)
{
	int fd = fault("proc-text-open", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	int rc = read_all(out, fd), error = errno;
	close(fd);
	errno = error;
	return rc == 0;
}
