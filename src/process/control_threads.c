/* The lists of traced threads and processes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "process/control_inner.h"

struct control_process *control_find_process(struct control *c, int pid)
{
	vec_each (p, &c->processes)
		if (p->pid == pid)
			return p;
	return NULL;
}

struct control_thread *control_thread(struct control *c, int tid)
{
	uint32_t at = tid_index_find(&c->by_tid, tid);
	return at == TID_NOWHERE ? NULL : c->threads.data[at];
}

uint32_t control_count(const struct control *c)
{
	return c->threads.len;
}

/* The threads of process `p` or, with `sharing`, of all processes with its memory. */
static uint32_t collect(struct control *c, const struct control_process *p, bool sharing,
			struct control_thread **out, uint32_t room)
{
	uint32_t count = 0;
	vec_each (t, &c->threads) {
		bool own = p && (*t)->pid == p->pid;
		bool shares =
			p && sharing && control_find_process(c, (*t)->pid)->memory == p->memory;
		if (!own && !shares)
			continue;
		if (count < room)
			out[count] = *t;
		count++;
	}
	return count;
}

uint32_t control_threads(struct control *c, int pid, struct control_thread **out, uint32_t room)
{
	return collect(c, control_find_process(c, pid), false, out, room);
}

uint32_t control_users(struct control *c, int pid, struct control_thread **out, uint32_t room)
{
	return collect(c, control_find_process(c, pid), true, out, room);
}

struct control_thread *control_add(struct control *c, int pid, int tid)
{
	struct control_thread *t = xcalloc(1, sizeof(*t));
	tracee_adopt(&t->tracee, tid);
	t->pid = pid;
	t->report = REPORT_NOTHING;
	t->resumed = -1;
	tid_index_put(&c->by_tid, tid, c->threads.len);
	vec_push(&c->threads, t);
	debug(LOG_PROBE, 2, "thread %d of process %d", tid, pid);
	return t;
}

static void remove_process(struct control *c, int pid)
{
	struct control_process *p = control_find_process(c, pid);
	if (p)
		*p = vec_last(&c->processes), c->processes.len--;
}

/* Removes the process, too, if this was its last thread. */
void control_remove(struct control *c, struct control_thread *t)
{
	int pid = t->pid;
	uint32_t at = tid_index_find(&c->by_tid, t->tracee.tid);
	struct control_thread *last = vec_pop(&c->threads);
	c->threads.data[at] = last;
	tid_index_put(&c->by_tid, last->tracee.tid, at);
	tid_index_remove(&c->by_tid, t->tracee.tid);
	free(t);
	if (!control_threads(c, pid, NULL, 0))
		remove_process(c, pid);
}

int control_seize_thread(struct control *c, int pid, int tid, enum tracee_extent extent,
			 struct err *e)
{
	struct tracee tracee;
	int rc = tracee_seize(&tracee, tid, extent, e);
	if (rc)
		return rc;
	if (!control_find_process(c, pid))
		vec_push(&c->processes,
			 (struct control_process){.pid = pid, .memory = ++c->memories});
	control_add(c, pid, tid);
	return 0;
}

/* A thread may be refused because it has ended by now, or because it is traced already: a traced
 * thread has created it, and its first stop will add it. */
int control_seize_threads(struct control *c, int pid, enum tracee_extent extent, struct err *e)
{
	tid_list tids = {0};
	int count = 0, rc = threads_list(pid, &tids, e);
	vec_each (tid, &tids) {
		if (rc || control_thread(c, *tid))
			continue;
		int refused = control_seize_thread(c, pid, *tid, extent, e);
		count += !refused;
		if (refused && extent == c->extent && thread_lives(*tid) &&
		    thread_tracer(*tid) != getpid())
			rc = refused;
	}
	vec_free(&tids);
	return rc ? rc : count;
}

bool control_is_leaving(struct control *c, const struct control_thread *t)
{
	return t->leaving || control_find_process(c, t->pid)->leaving;
}

void control_ask(struct control_thread *t)
{
	t->asked = tracee_interrupt(&t->tracee);
}

void control_release(struct control *c, struct control_thread *t)
{
	t->stopped = false;
	if (!control_is_leaving(c, t))
		tracee_resume(&t->tracee, &t->stop);
	else if (tracee_detach(&t->tracee, &t->stop))
		control_remove(c, t);
	else
		t->asked = true; /* it makes its call again first, and stops there */
}
