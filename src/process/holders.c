#include "process/holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "process/descriptors.h"
#include "process/proc_text.h"

/* On a machine with very many descriptors it is better not to know. */
enum { MOST_LINKS = 50000 };

struct end_search {
	const char *link; /* "pipe:[4711]" */
	int except;       /* pid */
	int mode;         /* O_RDONLY or O_WRONLY, of the end that is looked for; -1: any */
	uint32_t links;
	int found; /* pid, or 0 */
};

/* Returns the mode in which a descriptor is open, or -1. */
static int mode_of(int pid, const char *fd)
{
	struct text info = TEXT_INIT;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", pid, fd);
	const char *flags =
		proc_read_text(path, &info) && info.len ? strstr(info.data, "flags:") : NULL;
	int mode = flags ? (int)strtol(flags + strlen("flags:"), NULL, 8) & O_ACCMODE : -1;
	text_release(&info);
	return mode;
}

static bool has_end(struct end_search *s, int pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *dir = opendir(path);
	bool found = false;
	for (struct dirent *d; dir && !found && (d = readdir(dir)) && s->links < MOST_LINKS;) {
		char link[64];
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);
		s->links++;
		link[n > 0 ? n : 0] = '\0';
		if (strcmp(link, s->link) != 0)
			continue;
		int mode = s->mode < 0 ? s->mode : mode_of(pid, d->d_name);
		found = mode == s->mode || mode == O_RDWR;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Finds the youngest process. */
static void search_all(struct end_search *s)
{
	DIR *proc = opendir("/proc");
	for (struct dirent *d; proc && (d = readdir(proc));) {
		int pid = atoi(d->d_name);
		if (pid > s->found && pid != s->except && has_end(s, pid))
			s->found = pid;
	}
	if (proc)
		closedir(proc);
}

/* Names the process that was found, if one was. */
static bool take(const struct end_search *s, struct holder *h)
{
	*h = (struct holder){.pid = s->found};
	if (!h->pid)
		return false;
	thread_name(h->pid, h->pid, h->name);
	return *h->name;
}

bool pipe_peer(int pid, int fd, struct holder *out, bool *writes)
{
	struct descriptor d;
	char number[16];
	snprintf(number, sizeof(number), "%d", fd);
	int own = mode_of(pid, number);
	if (own < 0 || own == O_RDWR || !descriptor_read(pid, fd, &d) || d.kind != DESCRIPTOR_PIPE)
		return false;
	*writes = own == O_RDONLY;
	struct end_search s = {
		.link = d.path, .except = pid, .mode = *writes ? O_WRONLY : O_RDONLY};
	search_all(&s);
	return take(&s, out);
}

bool socket_peer(struct sockets *sockets, int pid, uint64_t inode, double now, struct holder *out)
{
	char link[32];
	struct end_search s = {.link = link, .except = pid, .mode = -1};
	uint64_t other = sockets_other_end(sockets, pid, inode, now);
	snprintf(link, sizeof(link), "socket:[%llu]", (unsigned long long)other);
	if (other)
		search_all(&s);
	return take(&s, out);
}
