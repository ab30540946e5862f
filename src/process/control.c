/* Creates and frees a control; attaches to programs, and starts them. */
#include "process/control.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/control_inner.h"
#include "process/launch.h"

void control_watch(struct control *c, signal_watcher signals, fork_watcher forks, end_watcher ends,
		   void *ctx)
{
	c->watcher = signals;
	c->fork_watcher = forks;
	c->end_watcher = ends;
	c->watcher_ctx = ctx;
}

/* A thread that is not traced yet may create others during a pass. Passes are therefore repeated
 * until one finds no new thread. Returns how many threads were seized; *last is the result of the
 * last pass. */
static int seize_process(struct control *c, int pid, enum tracee_extent extent, int *last,
			 struct err *e)
{
	int total = 0;
	while ((*last = control_seize_threads(c, pid, extent, e)) > 0)
		total += *last;
	return total;
}

int control_attach(struct control *c, int pid, struct err *e)
{
	int last, rc = process_check_attach(pid, e);
	if (rc)
		return rc;
	if (control_find_process(c, pid))
		return err_set(e, ERR_INPUT, "process %d is observed already", pid);
	struct err why = {.code = 0};
	int total = seize_process(c, pid, c->extent, &last, &why);
	if (total && !last)
		return 0;
	if (total)
		control_detach(c, pid);
	*e = why;
	return last < 0 ? last : why.code;
}

int control_seize(struct control *c, int tid, bool whole, struct err *e)
{
	int last, pid = thread_process(tid);
	struct err why = {.code = 0};
	if (pid < 0)
		return err_set(e, ERR_SYSTEM, "there is no process %d", tid);
	if (!whole)
		return control_seize_thread(c, pid, tid, TRACEE_ALONE, e);
	if (seize_process(c, pid, TRACEE_CHILDREN, &last, &why))
		return 0;
	if (!why.code)
		return err_set(e, ERR_INPUT, "process %d is observed already", pid);
	*e = why;
	return why.code;
}

static bool is_reported(const struct control *c, int pid)
{
	for (uint32_t i = c->reported; i < c->events.len; i++)
		if (c->events.data[i].pid == pid)
			return true;
	return false;
}

int control_launch(struct control *c, char *const *argv, int *pid, int *why, struct err *e)
{
	struct launch l;
	*why = 0;
	int rc = launch_prepare(&l, argv, e);
	if (rc)
		return rc;
	*pid = l.pid;
	rc = control_seize_thread(c, l.pid, l.pid, TRACEE_ENDS, e);
	if (rc) {
		close(l.go); /* the child reads end of file, and ends */
		close(l.failed);
		waitpid(l.pid, NULL, 0);
		return rc;
	}
	rc = launch_go(&l, argv[0], why, e);
	if (rc)
		control_remove(c, control_thread(c, l.pid));
	while (!rc && !is_reported(c, l.pid)) {
		control_sleep_until(c, UINT64_MAX, false);
		control_drain(c);
	}
	return rc;
}

/* SIGCHLD is kept blocked. A blocked signal stays pending even if its default action is to ignore
 * it. The action must not be SIG_IGN, however: the kernel would reap our children itself, and their
 * status would be lost. */
struct control *control_new(void)
{
	sigset_t child;
	struct sigaction action = {.sa_handler = SIG_DFL};
	struct control *c = xcalloc(1, sizeof(*c));
	c->extent = TRACEE_ENDS;
	launch_remember_signals();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	c->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	pthread_sigmask(SIG_BLOCK, &child, &c->mask_before);
	sigaction(SIGCHLD, &action, &c->child_before);
	return c;
}

void control_ignore_births(struct control *c)
{
	c->extent = TRACEE_PROCESSES;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	if (!c->left)
		control_leave_all(c, now_ns() + LEAVE_NS);
	vec_each (t, &c->threads)
		free(*t);
	vec_free(&c->threads);
	tid_index_release(&c->by_tid);
	vec_free(&c->processes);
	vec_free(&c->events);
	close(c->child_fd);
	sigaction(SIGCHLD, &c->child_before, NULL);
	pthread_sigmask(SIG_SETMASK, &c->mask_before, NULL);
	free(c);
}
