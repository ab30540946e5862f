/* The threads and processes that are ours. */
#include <stdlib.h>
#include <string.h>

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
	vec_each (t, &c->threads)
		if ((*t)->tracee.tid == tid)
			return *t;
	return NULL;
}

/* Of a process, or of all with the same memory. */
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
	t->tell = TELL_NOTHING;
	t->resumed = -1;
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

/* A process goes with its last thread. */
void control_remove(struct control *c, struct control_thread *t)
{
	int pid = t->pid;
	vec_each (at, &c->threads) {
		if (*at != t)
			continue;
		*at = vec_last(&c->threads);
		c->threads.len--;
		break;
	}
	free(t);
	if (!control_threads(c, pid, NULL, 0))
		remove_process(c, pid);
}

void control_ask(struct control_thread *t)
{
	t->asked = tracee_interrupt(&t->tracee);
}

void control_release(struct control *c, struct control_thread *t)
{
	t->stopped = false;
	if (!control_find_process(c, t->pid)->leaving)
		tracee_resume(&t->tracee, &t->stop);
	else if (tracee_detach(&t->tracee, &t->stop))
		control_remove(c, t);
	else
		t->asked = true; /* it has to make its call again, and stops there */
}
