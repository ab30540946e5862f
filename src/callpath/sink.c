#include "callpath/sink.h"

#include "base/log.h"

/* Whether the kernel is replacing or ending the program: then the user registers are meaningless,
 * as the memory that they point to is gone. */
static bool is_between_programs(const struct sink *s, struct space *space,
				const struct sample *sample)
{
	struct place p = space_find(space, sample->registers.pc);
	return sample->in_kernel && s->finisher.walk.end == WALK_NO_CODE && !p.code && !p.anonymous;
}

/* Adds a sample with its call stack, or without one if that is NULL. */
static void add_sample(void *ctx, const struct sample *sample, const struct walk *w)
{
	struct sink *s = ctx;
	uint32_t node = stacks_add(
		&s->stacks,
		&(struct stack){.pid = sample->pid,
				.tid = sample->tid,
				.walk = w,
				.state = sample->blocked     ? STACK_WAITS
					 : sample->in_kernel ? STACK_IN_KERNEL
							     : STACK_RUNS,
				.metric = sample->blocked ? s->wait_metric : sample->event,
				.amount = sample->weight});
	profile_count(s->stacks.profile, walk_end_name[w ? w->end : WALK_COMPLETE], 1);
	s->samples++;
	if (s->placed)
		s->placed(s->ctx, sample, w, node);
}

/* A sample without user registers, of a thread that starts or ends, has no callers in user code
 * that could be missing. */
static void add_with_path(struct sink *s, const struct sample *sample)
{
	struct watched_process *process = watched_process(&s->stacks.watched, sample->pid);
	const struct walk *w = &s->finisher.walk;
	if (!sample->registers.known) {
		add_sample(s, sample, NULL);
		return;
	}
	finisher_find(&s->finisher, process, sample);
	if (is_between_programs(s, process->space, sample)) {
		add_sample(s, sample, NULL);
	} else if (w->end == WALK_STACK_COPY) {
		unfinished_keep(&s->unfinished, sample, process->space, w);
	} else {
		add_sample(s, sample, w);
		if (w->end == WALK_COMPLETE)
			unfinished_finish(&s->unfinished, sample, process->space, w);
	}
}

static void on_sample(void *ctx, const struct sample *sample)
{
	struct sink *s = ctx;
	struct sample x = *sample;
	if (s->before)
		s->before(s->ctx, &x);
	add_with_path(s, &x);
	if (s->tick)
		s->tick(s->tick_ctx);
}

static void report(const struct sink *s, enum process_happening what, int pid, int parent)
{
	if (s->process)
		s->process(s->ctx, what, pid, parent);
}

static void on_map(void *ctx, const struct mapping_event *m)
{
	struct sink *s = ctx;
	const struct mapping mapping = {
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.device_major = m->device_major,
		.device_minor = m->device_minor,
		.inode = m->inode,
		.path = m->path,
	};
	space_map(watched_process(&s->stacks.watched, m->pid)->space, &mapping);
	report(s, PROCESS_MAPPED, m->pid, 0);
}

static void on_name(void *ctx, int pid, int tid, const char *name)
{
	struct sink *s = ctx;
	watched_name(&s->stacks.watched, pid, tid, name);
	if (pid == tid)
		report(s, PROCESS_NAMED, pid, 0);
}

static void on_exec(void *ctx, int pid)
{
	struct sink *s = ctx;
	debug(LOG_RECORD, 1, "process %d executes a program", pid);
	unfinished_give_up(&s->unfinished);
	watched_exec(&s->stacks.watched, pid);
	report(s, PROCESS_EXECUTED, pid, 0);
}

static void on_fork(void *ctx, int parent, int pid)
{
	struct sink *s = ctx;
	debug(LOG_RECORD, 1, "process %d starts process %d", parent, pid);
	watched_fork(&s->stacks.watched, parent, pid);
	report(s, PROCESS_FORKED, pid, parent);
}

static void on_thread(void *ctx, int pid, int tid)
{
	debug(LOG_RECORD, 2, "thread %d of process %d", tid, pid);
	watched_thread(&((struct sink *)ctx)->stacks.watched, pid, tid);
}

static void on_end(void *ctx, int pid, int tid)
{
	struct sink *s = ctx;
	debug(LOG_RECORD, 2, "thread %d of process %d ended", tid, pid);
	unfinished_give_up(&s->unfinished);
	if (watched_exit(&s->stacks.watched, tid))
		report(s, PROCESS_ENDED, pid, 0);
}

static void on_lost(void *ctx, uint64_t samples)
{
	struct sink *s = ctx;
	profile_count(s->stacks.profile, "lost", samples);
	watched_lost(&s->stacks.watched);
}

void sink_init(struct sink *s, struct profile *p, struct codes *c)
{
	stacks_init(&s->stacks, p, c);
	s->stacks.watched.pools = true;
	s->unfinished.give = add_sample;
	s->unfinished.ctx = s;
}

void sink_finish(struct sink *s)
{
	unfinished_give_up(&s->unfinished);
}

void sink_release(struct sink *s)
{
	stacks_release(&s->stacks);
	finisher_release(&s->finisher);
	unfinished_release(&s->unfinished);
}

struct sampler_sink sink_callbacks(struct sink *s)
{
	return (struct sampler_sink){
		.sample = on_sample,
		.map = on_map,
		.name = on_name,
		.exec = on_exec,
		.fork = on_fork,
		.thread = on_thread,
		.exit = on_end,
		.lost = on_lost,
		.ctx = s,
	};
}
