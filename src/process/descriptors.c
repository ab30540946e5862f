#include "process/descriptors.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/memory.h"
#include "process/proc_text.h"

/* ---- one descriptor ---- */

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static enum descriptor_kind kind_of_path(const char *path)
{
	static const struct {
		const char *begin;
		enum descriptor_kind kind;
	} kinds[] = {
		{"socket:", DESCRIPTOR_SOCKET},
		{"pipe:", DESCRIPTOR_PIPE},
		{"/dev/tty", DESCRIPTOR_TERMINAL},
		{"/dev/pts/", DESCRIPTOR_TERMINAL},
		{"/dev/console", DESCRIPTOR_TERMINAL},
		{"/dev/shm/", DESCRIPTOR_FILE},
		{"/dev/", DESCRIPTOR_DEVICE},
		{"anon_inode:[eventpoll]", DESCRIPTOR_EPOLL},
		{"anon_inode:[timerfd]", DESCRIPTOR_TIMER},
		{"anon_inode:[pidfd]", DESCRIPTOR_PROCESS},
		{"pidfd:", DESCRIPTOR_PROCESS},
		{"anon_inode:", DESCRIPTOR_EVENT},
		{"/", DESCRIPTOR_FILE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (begins(path, kinds[i].begin))
			return kinds[i].kind;
	return DESCRIPTOR_UNKNOWN;
}

void descriptor_parse(const char *path, struct descriptor *out)
{
	const char *number = strchr(path, '[');
	snprintf(out->path, sizeof(out->path), "%s", path);
	out->kind = kind_of_path(path);
	bool numbered = out->kind == DESCRIPTOR_SOCKET || out->kind == DESCRIPTOR_PIPE;
	out->inode = numbered && number ? strtoull(number + 1, NULL, 10) : 0;
}

bool descriptor_read(int pid, int fd, struct descriptor *out)
{
	char link[64], path[DESCRIPTOR_PATH_ROOM];
	struct stat st;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	ssize_t n = fd >= 0 ? readlink(link, path, sizeof(path) - 1) : -1;
	path[n > 0 ? n : 0] = '\0';
	descriptor_parse(path, out);
	if (out->kind == DESCRIPTOR_FILE && !stat(link, &st) && S_ISFIFO(st.st_mode)) {
		out->kind = DESCRIPTOR_PIPE;
		out->inode = st.st_ino;
	}
	return n > 0;
}

void descriptors_list(int pid, uint32_t most, descriptor_list *out)
{
	char folder[64];
	snprintf(folder, sizeof(folder), "/proc/%d/fd", pid);
	DIR *dir = opendir(folder);
	for (struct dirent *d; dir && out->len < most && (d = readdir(dir));)
		if (*d->d_name != '.')
			vec_push(out, atoi(d->d_name));
	if (dir)
		closedir(dir);
}

uint32_t descriptors_of_inode(int pid, enum descriptor_kind kind, uint64_t inode)
{
	enum { MOST = 1024 }; /* descriptors that are looked at */
	descriptor_list list = {0};
	uint32_t found = 0;
	descriptors_list(pid, MOST, &list);
	vec_each (fd, &list) {
		struct descriptor x;
		found += descriptor_read(pid, *fd, &x) && x.kind == kind && x.inode == inode;
	}
	vec_free(&list);
	return found;
}

/* ---- the descriptors of a call ---- */

void descriptors_of_epoll(const char *text, uint32_t most, descriptor_list *out)
{
	for (const char *at = text; (at = strstr(at, "tfd:")) && out->len < most; at++)
		vec_push(out, atoi(at + strlen("tfd:")));
}

static bool add_epoll(int pid, int fd, uint32_t most, descriptor_list *out)
{
	char path[64];
	struct text text = TEXT_INIT;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	bool known = proc_read_text(path, &text) && text.len;
	if (known)
		descriptors_of_epoll(text.data, most, out);
	text_release(&text);
	return known;
}

static bool add_polled(int pid, uint64_t address, uint64_t count, uint32_t most,
		       descriptor_list *out)
{
	uint32_t n = count < most ? (uint32_t)count : most;
	struct pollfd *polled = xcalloc(n + 1, sizeof(*polled));
	bool known =
		!n || memory_read(pid, address, polled, n * sizeof(*polled)) == n * sizeof(*polled);
	for (uint32_t i = 0; known && i < n; i++)
		if (polled[i].fd >= 0)
			vec_push(out, polled[i].fd);
	free(polled);
	return known;
}

/* Sets that are larger than an fd_set are read as far as that. */
static bool add_selected(int pid, uint64_t address, uint64_t count, uint32_t most,
			 descriptor_list *out)
{
	fd_set set;
	int n = count < FD_SETSIZE ? (int)count : FD_SETSIZE;
	size_t size = ((size_t)n + 63) / 64 * 8;
	FD_ZERO(&set);
	if (!address || !size)
		return true;
	if (memory_read(pid, address, &set, size) != size)
		return false;
	for (int fd = 0; fd < n && out->len < most; fd++)
		if (FD_ISSET(fd, &set))
			vec_push(out, fd);
	return true;
}

bool descriptors_awaited(int pid, const struct call_made *call, uint32_t most, descriptor_list *out)
{
	const uint64_t *a = call->arguments;
	switch (call->number) {
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
		return add_epoll(pid, (int)a[0], most, out);
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll: return add_polled(pid, a[0], a[1], most, out);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return add_selected(pid, a[1], a[0], most, out) &&
		       add_selected(pid, a[2], a[0], most, out);
	default: return false;
	}
}
