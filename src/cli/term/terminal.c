#include "cli/term/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fault.h"

enum { COLUMNS_MIN = 40 };

bool terminal_size(int fd, struct terminal_size *out)
{
	struct winsize size;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return false;
	*out = (struct terminal_size){size.ws_col, size.ws_row};
	return true;
}

unsigned terminal_columns(int fd, unsigned otherwise)
{
	struct terminal_size size;
	return terminal_size(fd, &size) && size.columns >= COLUMNS_MIN ? size.columns : otherwise;
}

bool terminal_draws(int fd)
{
	const char *term = getenv("TERM");
	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool terminal_has_color(int fd)
{
	const char *no = getenv("NO_COLOR");
	return terminal_draws(fd) && !(no && *no);
}

bool terminal_write(int fd, const char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n =
			fault("terminal-write", EINTR) ? -1 : write(fd, bytes + done, size - done);
		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}
