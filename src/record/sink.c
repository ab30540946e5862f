#include "record/sink.h"

#include "base/log.h"

/* Time in the kernel or waiting hangs off the place that called for it. */
static uint32_t add_system(struct profile *p, uint32_t node, const struct sample *s)
{
	if (s->blocked)
		return profile_child(p, node, NODE_WAIT, PROFILE_NONE, 0);
	if (s->in_kernel)
		return profile_child(p, node, NODE_KERNEL, PROFILE_NONE, 0);
	return node;
}

/* While the kernel replaces a program or takes it down, the registers that user code had are of no
 * meaning: what they point to is gone. */
static bool is_between_programs(const struct sink *s, struct space *space,
				const struct sample *sample)
{
	struct place p = space_find(space, sample->registers.pc);
	return sample->in_kernel && s->paths.walk.end == WALK_NO_CODE && !p.code && !p.anonymous;
}

/* Without user state (a thread that starts or ends) there are no callers in user code to miss. */
static uint32_t find_node(struct sink *s, struct watched_thread *t, const struct sample *sample,
			  enum walk_end *end)
{
	*end = WALK_COMPLETE;
	if (!sample->registers.known)
		return 0;
	struct watched_process *process = watched_process(&s->watched, sample->pid);
	path_find(&s->paths, process, sample);
	if (is_between_programs(s, process->space, sample))
		return 0;
	*end = s->paths.walk.end;
	return insert_path(&s->images, t, &s->paths.walk);
}

static void on_sample(void *ctx, const struct sample *sample)
{
	struct sink *s = ctx;
	enum walk_end end;
	struct watched_thread *t = watched_thread(&s->watched, sample->pid, sample->tid);
	uint32_t node = find_node(s, t, sample, &end);
	uint32_t metric = sample->blocked ? s->wait_metric : sample->event;
	node = add_system(s->profile, node, sample);
	profile_add(s->profile, node, watched_row(&s->watched, t), metric, 1, sample->weight);
	profile_count(s->profile, walk_end_name[end], 1);
	s->samples++;
	s->tick(s->tick_ctx);
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
	space_map(watched_process(&s->watched, m->pid)->space, &mapping);
}

static void on_name(void *ctx, int pid, int tid, const char *name)
{
	watched_name(&((struct sink *)ctx)->watched, pid, tid, name);
}

static void on_exec(void *ctx, int pid)
{
	debug(LOG_RECORD, 1, "process %d executes a program", pid);
	watched_exec(&((struct sink *)ctx)->watched, pid);
}

static void on_fork(void *ctx, int parent, int pid)
{
	debug(LOG_RECORD, 1, "process %d starts process %d", parent, pid);
	watched_fork(&((struct sink *)ctx)->watched, parent, pid);
}

static void on_thread(void *ctx, int pid, int tid)
{
	debug(LOG_RECORD, 2, "thread %d of process %d", tid, pid);
	watched_thread(&((struct sink *)ctx)->watched, pid, tid);
}

static void on_end(void *ctx, int pid, int tid)
{
	debug(LOG_RECORD, 2, "thread %d of process %d ended", tid, pid);
	watched_exit(&((struct sink *)ctx)->watched, tid);
}

static void on_lost(void *ctx, uint64_t samples)
{
	profile_count(((struct sink *)ctx)->profile, "lost", samples);
}

void sink_init(struct sink *s, struct profile *p, struct codes *c)
{
	s->profile = p;
	watched_init(&s->watched, p, c);
	images_init(&s->images, p);
}

void sink_release(struct sink *s)
{
	watched_release(&s->watched);
	images_release(&s->images);
	paths_release(&s->paths);
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
