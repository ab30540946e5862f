#include "sample/stop_threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"

/* Up to this number of threads, their files stay open. With more threads, files are opened for
 * every look, so that the limit of open files is not reached. */
enum { KEPT_OPEN = 200 };

static void close_files(struct stop_thread *t)
{
	if (t->call_fd >= 0)
		close(t->call_fd);
	if (t->run_fd >= 0)
		close(t->run_fd);
	t->call_fd = t->run_fd = -1;
}

static void free_thread(struct stop_thread *t)
{
	close_files(t);
	waiting_release(&t->waiting);
	free(t);
}

void stop_threads_release(struct stop_threads *s)
{
	for (uint32_t i = 0; i < s->list.len; i++)
		free_thread(s->list.data[i]);
	vec_free(&s->list);
	tid_index_release(&s->by_tid);
}

struct stop_thread *stop_threads_find(const struct stop_threads *s, int tid)
{
	uint32_t at = tid_index_find(&s->by_tid, tid);
	return at == TID_NOWHERE ? NULL : s->list.data[at];
}

struct stop_thread *stop_threads_add(struct stop_threads *s, int pid, int tid)
{
	struct stop_thread *t = xcalloc(1, sizeof(*t));
	t->pid = pid;
	t->tid = tid;
	t->call_fd = t->run_fd = t->waiting.fd = -1;
	tid_index_put(&s->by_tid, tid, s->list.len);
	vec_push(&s->list, t);
	return t;
}

void stop_threads_remove(struct stop_threads *s, struct stop_thread *t)
{
	uint32_t at = tid_index_find(&s->by_tid, t->tid);
	struct stop_thread *last = vec_pop(&s->list);
	s->list.data[at] = last;
	tid_index_put(&s->by_tid, last->tid, at);
	tid_index_remove(&s->by_tid, t->tid);
	free_thread(t);
}

static bool read_thread_file(const struct stop_threads *s, const struct stop_thread *t, int *fd,
			     const char *name, char *out, size_t size)
{
	char path[80];
	if (*fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", t->pid, t->tid, name);
		*fd = fault("stop-open", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	}
	ssize_t n = *fd < 0 ? -1 : pread(*fd, out, size - 1, 0);
	out[n > 0 ? n : 0] = '\0';
	if (*fd >= 0 && s->list.len > KEPT_OPEN) {
		close(*fd);
		*fd = -1;
	}
	return n > 0;
}

bool stop_thread_runs(const struct stop_threads *s, struct stop_thread *t)
{
	char text[16];
	return read_thread_file(s, t, &t->call_fd, "syscall", text, sizeof(text)) &&
	       !strncmp(text, "running", 7);
}

uint64_t stop_thread_run_time(const struct stop_threads *s, struct stop_thread *t)
{
	char text[80];
	if (!read_thread_file(s, t, &t->run_fd, "schedstat", text, sizeof(text)))
		return 0;
	return strtoull(text, NULL, 10);
}
