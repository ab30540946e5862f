/* What a search over a running program asks for: who waits for what, where threads are, and which
 * probes are to do nothing from now on. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "probe.h"
#include "process/threads.h"

enum { LOOKS = 200 }; /* until a thread is seen waiting in moved code */

static void use_now(struct member *m, uint32_t from)
{
	use_named(m, from);
	m->kept = m->used.len;
	commit(m);
}

static void count_walk(void *ctx, struct target *t, int tid, const struct walk *w,
		       const struct call_made *call)
{
	uint32_t *complete = ctx;
	(void)t, (void)tid, (void)call;
	*complete += w->end == WALK_COMPLETE;
}

/* The pc of a thread that waits; 0 if it does not. */
static uint64_t waiting_at(int pid, int tid)
{
	char path[64], line[256];
	unsigned long long number, pc = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	FILE *f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f) &&
	    sscanf(line, "%llu %*x %*x %*x %*x %*x %*x %*x %llx", &number, &pc) != 2)
		pc = 0;
	if (f)
		fclose(f);
	return pc;
}

/* Threads that wait in code of ours, and how many of them are somewhere in the program then. */
static void count_moved(const struct member *m, uint32_t *moved, uint32_t *known)
{
	tid_list tids = {0};
	struct err ignored;
	int pid = target_pid(m->target);
	threads_list(pid, &tids, &ignored);
	vec_each (tid, &tids) {
		uint64_t pc = waiting_at(pid, *tid), was = pc;
		if (!pc || space_find(target_space(m->target), pc).code)
			continue;
		++*moved;
		*known += target_original(m->target, &pc) && pc != was &&
			  space_find(target_space(m->target), pc).code;
	}
	vec_free(&tids);
}

static void add_calls(void *ctx, const struct path_value *v)
{
	*(uint64_t *)ctx += v->calls;
}

static uint64_t all_calls(const struct member *m)
{
	uint64_t calls = 0;
	target_read(m->target, add_calls, &calls);
	return calls;
}

/* How many calls are counted of subjects that are to be quiet; a few may be on their way. */
static uint64_t calls_when_quiet(struct member *m)
{
	vec_each (u, &m->used)
		target_quiet(m->target, u->subject);
	sleep_seconds(0.01);
	uint64_t before = all_calls(m);
	sleep_seconds(0.1);
	return all_calls(m) - before;
}

static uint32_t count_spent(const struct member *m)
{
	uint32_t spent = 0;
	vec_each (u, &m->used)
		spent += target_spent(m->target, u->subject);
	return spent;
}

static void watch_one(struct family *f, struct member *m)
{
	struct err e;
	uint32_t complete = 0, moved = 0, known = 0;
	engine_walks(f->engine, NULL, NULL);
	if (target_look(m->target, &e))
		return;
	engine_walks(f->engine, count_walk, &complete);
	for (unsigned i = 0; i < LOOKS && !moved; i++, sleep_seconds(0.005))
		count_moved(m, &moved, &known);
	report_member(f, m);
	text_printf(&f->report, "walked %u\nmoved %u\nplaced %u\nspent %u\n", complete, moved,
		    known, count_spent(m));
	text_printf(&f->report, "spoke %" PRIu64 "\n", calls_when_quiet(m));
	commit(m);
}

int mode_watch(char **argv)
{
	struct family f = {.fresh = use_now};
	settings.only_named = true;
	family_begin(&f, argv);
	double end = now_seconds() + settings.seconds;
	while (!f.ended && now_seconds() < end)
		family_poll(&f, 10);
	if (!f.ended)
		watch_one(&f, f.members.data[0]);
	report_write(&f.report);
	int status = f.ended ? shell_status(f.status) : 0;
	family_end(&f);
	return status;
}
