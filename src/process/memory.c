/* process_vm_readv() needs no file and no stop. Where a sandbox forbids it (seccomp), /proc/PID/mem
 * gives the same bytes with the same permission. Both end before a page that cannot be read, and
 * return how many bytes they have read. */
#include "process/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fault.h"
#include "process/maps.h"
#include "process/maps_line.h"

/* Reads are aligned to this. Larger pages of a machine are multiples of it. */
enum { PAGE = 4096 };

static size_t read_file(int pid, uint64_t address, void *to, size_t n)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t got = pread(fd, to, n, (off_t)address);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

size_t memory_read(int pid, uint64_t address, void *to, size_t n)
{
	struct iovec local = {to, n};
	struct iovec remote = {(void *)(uintptr_t)address, n}; // NOLINT(performance-no-int-to-ptr)
	ssize_t got =
		fault("memory-read", EFAULT) ? -1 : process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (got >= 0)
		return (size_t)got;
	return errno == ENOSYS || errno == EPERM ? read_file(pid, address, to, n) : 0;
}

/* Through this file the kernel lets a tracer write where the program may not, and makes CPUs that
 * execute the bytes see the change. */
bool memory_write(int pid, uint64_t address, const void *from, size_t n)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	int fd = fault("memory-open", EMFILE) ? -1 : open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t put = fault("memory-write", EIO) ? -1 : pwrite(fd, from, n, (off_t)address);
	if (put >= 0 && (size_t)put < n)
		errno = put ? EFAULT : ESRCH; /* 0 bytes: the process has no memory any more */
	close(fd);
	return put >= 0 && (size_t)put == n;
}

void memory_window_init(struct memory_window *w, int pid)
{
	w->pid = pid;
	w->address = 0;
	w->size = 0;
}

static bool holds(const struct memory_window *w, uint64_t address)
{
	return w->size >= sizeof(uint64_t) && address >= w->address &&
	       address - w->address <= w->size - sizeof(uint64_t);
}

/* Most walks end within a page or two of their start. A walk that continues upwards gets twice as
 * much with every read. At least two pages are read, because a word may cross their border. */
static void move_to(struct memory_window *w, uint64_t address)
{
	bool onwards = w->size && address - w->address < w->size + PAGE;
	size_t want = onwards && w->size * 2 > 2 * PAGE ? w->size * 2 : 2 * PAGE;
	if (want > sizeof(w->bytes))
		want = sizeof(w->bytes);
	w->address = address & ~(uint64_t)(PAGE - 1);
	if (want > UINT64_MAX - w->address)
		want = (size_t)(UINT64_MAX - w->address);
	w->size = memory_read(w->pid, w->address, w->bytes, want);
}

bool memory_window_word(void *window, uint64_t address, uint64_t *out)
{
	struct memory_window *w = window;
	if (!holds(w, address))
		move_to(w, address);
	if (!holds(w, address))
		return false;
	memcpy(out, w->bytes + (address - w->address), sizeof(*out));
	return true;
}

bool memory_is_shared(int pid, uint64_t address, uint64_t *inode, uint64_t *offset)
{
	struct text maps = TEXT_INIT;
	struct maps_line l;
	bool shared = false;
	const char *next = maps_read_text(pid, &maps) && maps.data ? maps.data : "";
	while (!shared && maps_next_line(&next, &l))
		shared = address >= l.start && address < l.end && l.access[3] == 's';
	*inode = shared ? l.inode : 0;
	*offset = shared ? l.offset + (address - l.start) : 0;
	text_release(&maps);
	return shared;
}
