/* The file descriptors of perf events, and those that wake run(). */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/log.h"
#include "sample/perf_sampler.h"

bool perf_wake_on(struct perf_sampler *p, int fd, int what)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = what};
	return epoll_ctl(p->wakeups, EPOLL_CTL_ADD, fd, &ev) == 0;
}

int perf_add_file(struct perf_sampler *p, int fd, bool lean, const struct cpu_ring *c,
		  const struct event_source *source, struct err *e)
{
	uint64_t id;
	vec_push(&p->files, (struct perf_file){fd, lean});
	if (fault("perf-lead", EINVAL) || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->fd) ||
	    ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return err_errno(e, "perf events cannot be redirected to one ring");
	hashmap_put(&p->by_id, id, p->sources.len);
	vec_push(&p->sources, *source);
	return 0;
}

void perf_close_first(struct perf_sampler *p, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		close(p->files.data[i].fd);
	p->files.len -= count;
	memmove(p->files.data, p->files.data + count, p->files.len * sizeof(*p->files.data));
}

static void switch_files(struct perf_sampler *p, bool lean, unsigned long what)
{
	vec_each (f, &p->files)
		if (f->lean == lean)
			ioctl(f->fd, what, 0);
}

/* The events that new threads and children have inherited need no calls of their own: the kernel
 * enables and disables them with the event of the parent. For a moment both kinds are enabled, so
 * that no record of a start is missed. */
void perf_lean(struct sampler *s, bool lean)
{
	struct perf_sampler *p = perf_sampler(s);
	if (perf_kinds(p) == 1)
		return;
	p->lean = lean;
	switch_files(p, lean, PERF_EVENT_IOC_ENABLE);
	switch_files(p, !lean, PERF_EVENT_IOC_DISABLE);
	debug(LOG_SAMPLE, 1, "samples with %s of the stack", lean ? "little" : "much");
}

/* Kernels before 5.3 have no pidfd: then run() wakes up at its time limit only. For a process that
 * has ended already, the file is one that is ready at once: run() first delivers the records of the
 * process, then its end. */
void perf_await_end(struct perf_sampler *p, int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno == ESRCH)
		fd = eventfd(1, EFD_CLOEXEC);
	if (fd < 0)
		return;
	vec_push(&p->ends, (struct end){pid, fd});
	perf_wake_on(p, fd, fd);
}
