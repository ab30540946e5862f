#include "callpath/watched.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "process/threads.h"

enum { GONE = UINT32_MAX - 1 };

void watched_init(struct watched *w, struct profile *p, struct codes *c)
{
	*w = (struct watched){.profile = p, .codes = c};
}

static void free_process(struct watched_process *p)
{
	if (!p)
		return;
	space_free(p->space);
	free(p);
}

static void free_thread(struct watched_thread *t)
{
	if (!t)
		return;
	vec_free(&t->path[0]);
	vec_free(&t->path[1]);
	free(t);
}

void watched_release(struct watched *w)
{
	vec_each (p, &w->processes)
		free_process(*p);
	vec_each (t, &w->threads)
		free_thread(*t);
	vec_free(&w->processes);
	vec_free(&w->threads);
	vec_free(&w->free_processes);
	vec_free(&w->free_threads);
	hashmap_release(&w->process_at);
	hashmap_release(&w->thread_at);
	hashmap_release(&w->process_pools);
	hashmap_release(&w->thread_pools);
}

/* The index of a process or thread, or GONE. */
static uint32_t index_of(const struct hashmap *m, int number)
{
	uint32_t i = hashmap_get(m, (uint64_t)number);
	return i == HASHMAP_NONE ? GONE : i;
}

/* The row of the pool that has this name below the row `owner`. If the pool is new, its row is
 * `next`, which the caller adds. */
static uint32_t pool_row(struct hashmap *pools, uint32_t owner, const char *name, uint32_t next)
{
	return hashmap_add(pools, hash_bytes(name, strlen(name), owner), next);
}

static void find_process_row(struct watched *w, struct watched_process *p, const char *name)
{
	struct profile *profile = w->profile;
	uint32_t next = profile->processes.len;
	p->shares_row = w->pools && next >= OWN_ROWS;
	p->row = p->shares_row ? pool_row(&w->process_pools, p->parent, name, next) : next;
	if (p->row == next)
		vec_push(&profile->processes,
			 (struct profile_process){.pid = p->pid,
						  .parent = p->parent,
						  .name = arena_strdup(&profile->arena, name)});
}

static struct watched_process *add_process(struct watched *w, int pid, uint32_t parent_row,
					   const char *name, struct space *space)
{
	struct watched_process *p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->parent = parent_row;
	p->space = space;
	find_process_row(w, p, name);
	uint32_t i = w->free_processes.len ? vec_pop(&w->free_processes) : w->processes.len;
	if (i == w->processes.len)
		vec_push(&w->processes, NULL);
	w->processes.data[i] = p;
	hashmap_put(&w->process_at, (uint64_t)pid, i);
	return p;
}

static void drop_process(struct watched *w, int pid)
{
	uint32_t i = index_of(&w->process_at, pid);
	if (i == GONE)
		return;
	free_process(w->processes.data[i]);
	w->processes.data[i] = NULL;
	vec_push(&w->free_processes, i);
	hashmap_put(&w->process_at, (uint64_t)pid, GONE);
}

void watched_lost(struct watched *w)
{
	vec_each (p, &w->processes)
		if (*p)
			(*p)->unsure = true;
}

/* The row of the process that has started this one, if that is watched. */
static uint32_t parent_row(const struct watched *w, int pid)
{
	uint32_t i = index_of(&w->process_at, process_parent(pid));
	return i == GONE ? PROFILE_NONE : w->processes.data[i]->row;
}

struct watched_process *watched_process(struct watched *w, int pid)
{
	uint32_t i = index_of(&w->process_at, pid);
	if (i != GONE)
		return w->processes.data[i];
	return add_process(w, pid, parent_row(w, pid), "", space_new(w->codes, pid));
}

struct watched_thread *watched_thread(struct watched *w, int pid, int tid)
{
	uint32_t i = index_of(&w->thread_at, tid);
	if (i != GONE && w->threads.data[i]->pid == pid)
		return w->threads.data[i];
	if (i != GONE) /* its end was not reported, and another thread has its tid now */
		watched_exit(w, tid);
	struct watched_thread *t = xcalloc(1, sizeof(*t));
	*t = (struct watched_thread){.pid = pid, .tid = tid, .row = PROFILE_NONE};
	i = w->free_threads.len ? vec_pop(&w->free_threads) : w->threads.len;
	if (i == w->threads.len)
		vec_push(&w->threads, NULL);
	w->threads.data[i] = t;
	hashmap_put(&w->thread_at, (uint64_t)tid, i);
	watched_process(w, pid)->live++;
	w->live++;
	return t;
}

/* Drops a process whose end was not reported: another process has its pid now. */
static void drop_stale(struct watched *w, int pid)
{
	for (uint32_t i = 0; i < w->threads.len; i++)
		if (w->threads.data[i] && w->threads.data[i]->pid == pid)
			watched_exit(w, w->threads.data[i]->tid);
	drop_process(w, pid);
}

void watched_fork(struct watched *w, int parent, int pid)
{
	if (index_of(&w->process_at, pid) != GONE)
		drop_stale(w, pid);
	const struct watched_process *from = watched_process(w, parent);
	struct space *space = space_copy(from->space, pid);
	add_process(w, pid, from->row, w->profile->processes.data[from->row].name, space);
}

void watched_exec(struct watched *w, int pid)
{
	struct watched_process *p = watched_process(w, pid);
	space_clear(p->space);
	p->named = false;
	p->refreshed = p->pause = 0;
}

/* A thread may be given the same name over and over: that must not make the profile grow. */
static void replace_name(struct profile *p, const char **name, const char *by)
{
	if (strcmp(*name, by) != 0)
		*name = arena_strdup(&p->arena, by);
}

bool watched_is_over(const struct watched *w)
{
	vec_each (p, &w->processes)
		if (*p && (!kill((*p)->pid, 0) || errno != ESRCH))
			return false;
	return true;
}

void watched_name(struct watched *w, int pid, int tid, const char *name)
{
	struct watched_process *p = watched_process(w, pid);
	struct watched_thread *t = watched_thread(w, pid, tid);
	strncpy(t->name, name, sizeof(t->name) - 1);
	if (tid == pid && !p->named && p->shares_row) {
		find_process_row(w, p, t->name);
		t->row = PROFILE_NONE;
	} else if (tid == pid && !p->named) {
		replace_name(w->profile, &w->profile->processes.data[p->row].name, t->name);
	}
	p->named |= tid == pid;
	if (t->row != PROFILE_NONE && !t->shares_row)
		replace_name(w->profile, &w->profile->threads.data[t->row].name, t->name);
}

void watched_name_process(struct watched *w, int pid)
{
	char name[16];
	thread_name(pid, pid, name);
	if (name[0])
		watched_name(w, pid, pid, name);
}

bool watched_exit(struct watched *w, int tid)
{
	uint32_t i = index_of(&w->thread_at, tid);
	if (i == GONE)
		return false;
	int pid = w->threads.data[i]->pid;
	free_thread(w->threads.data[i]);
	w->threads.data[i] = NULL;
	vec_push(&w->free_threads, i);
	hashmap_put(&w->thread_at, (uint64_t)tid, GONE);
	w->live--;
	if (--watched_process(w, pid)->live > 0)
		return false;
	drop_process(w, pid);
	return true;
}

static const char *name_of_thread(struct watched *w, struct watched_thread *t, uint32_t process)
{
	if (!t->name[0] && !t->shares_row)
		thread_name(t->pid, t->tid, t->name);
	return t->name[0] ? t->name : w->profile->processes.data[process].name;
}

uint32_t watched_row(struct watched *w, struct watched_thread *t)
{
	struct profile *p = w->profile;
	uint32_t next = p->threads.len;
	if (t->row != PROFILE_NONE)
		return t->row;
	t->shares_row = w->pools && next >= OWN_ROWS;
	uint32_t process = watched_process(w, t->pid)->row;
	const char *name = name_of_thread(w, t, process);
	t->row = t->shares_row ? pool_row(&w->thread_pools, process, name, next) : next;
	if (t->row == next)
		vec_push(&p->threads,
			 (struct profile_thread){.process = process,
						 .tid = t->tid,
						 .name = arena_strdup(&p->arena, name)});
	return t->row;
}
