#include "callpath/finish.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

enum {
	SIGNAL_FRAME_BYTES = 1024,  /* the registers that a handler returns to are among them */
	SAME_STACK_BYTES = 1 << 16, /* stack pointers that are closer than this are on one stack */
	VERIFIED_MAX = 64,          /* frames of a stack whose mappings are verified */
};

/* ns between two readings of a process's maps. */
static const uint64_t shortest_pause = 1000000, longest_pause = 500000000, blind_pause = 20000000;

/* A sample whose call stack is being found. */
struct finishing {
	struct path_finisher *paths;
	struct space *space;
	const struct sample *sample;
	struct stack_copy copy;
	struct held_stack *held;
};

/* The state of a walk before an attempt to continue it. Memory that has changed since the sample
 * may look like a valid stack for some frames, so an attempt that does not reach the root is
 * undone. */
struct attempt {
	struct walk *walk;
	struct registers at;
	enum walk_end end;
	uint32_t frames;
};

static struct attempt attempt_from(struct walk *w)
{
	return (struct attempt){w, w->at, w->end, w->frames.len};
}

static void keep_if(const struct attempt *a, bool good)
{
	if (good && a->walk->end == WALK_COMPLETE)
		return;
	a->walk->at = a->at;
	a->walk->end = a->end;
	a->walk->frames.len = a->frames;
}

void finisher_init(struct path_finisher *p, struct sampler *s)
{
	p->sampler = s;
	p->lean.sampler = s;
	p->walker = walker_new();
}

void finisher_release(struct path_finisher *p)
{
	walker_free(p->walker);
	held_release(&p->held);
	vec_free(&p->walk.frames);
	recent_release(&p->recent);
}

/* Reads the sample's copy or, outside of it, the memory of the process as it is now. */
static bool read_both(void *ctx, uint64_t address, uint64_t *out)
{
	struct finishing *f = ctx;
	return read_stack_copy(&f->copy, address, out) ||
	       memory_window_word(&f->paths->window, address, out);
}

static void walk_in_memory(struct finishing *f)
{
	walk_resume(f->paths->walker, f->space, read_both, f, &f->paths->walk);
}

static void walk_in_held(struct finishing *f)
{
	if (held_matches(f->held, &f->copy))
		held_walk(&f->paths->held, f->held, &f->copy, f->paths->walker, f->space,
			  &f->paths->walk);
}

static void read_stack(void *ctx, const struct registers *now)
{
	struct finishing *f = ctx;
	held_read(f->held, now->reg[arch_native()->sp]);
}

/* Continues in the thread's whole stack, as read at a stop. The thread is stopped again if the last
 * reading is older than the sample. If it cannot be stopped, there is nothing to continue in. */
static void walk_after_copy(struct finishing *f)
{
	const struct sample *s = f->sample;
	struct sampler *sampler = f->paths->sampler;
	const struct attempt attempt = attempt_from(&f->paths->walk);
	f->held = held_find(&f->paths->held, s->pid, s->tid);
	if (s->stopped)
		read_stack(f, &s->registers);
	else if (f->held->time <= s->time &&
		 !sampler->ops->hold(sampler, s->pid, s->tid, read_stack, f))
		f->held->time = 0;
	if (f->held->time)
		walk_in_held(f);
	if (!s->stopped)
		keep_if(&attempt, true);
}

/* The CFA of the last frame that is still in the copy. */
static uint64_t last_inside(const struct finishing *f)
{
	const struct walk *w = &f->paths->walk;
	for (uint32_t i = w->frames.len; i-- > 0;)
		if (w->frames.data[i].cfa - f->copy.address < f->copy.size)
			return w->frames.data[i].cfa;
	return f->copy.address;
}

/* Called while the thread is stopped. The walk has left the sampled stack for another one: it was
 * in a signal handler, or a coroutine. The other stack is unchanged if the thread has not gone back
 * to it. That is so if it is still on the sampled stack, below the frame from which it would go
 * back, and the bytes of that frame are unchanged. */
static void walk_if_same(void *ctx, const struct registers *now)
{
	struct finishing *f = ctx;
	uint8_t bytes[SIGNAL_FRAME_BYTES];
	uint64_t from = last_inside(f), sp = now->reg[arch_native()->sp];
	uint64_t left = f->copy.address + f->copy.size - from;
	size_t n = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
	if (sp <= from && from - sp <= f->copy.size + SAME_STACK_BYTES &&
	    memory_read(f->sample->pid, from, bytes, n) == n &&
	    (!n || !memcmp(bytes, f->copy.bytes + (from - f->copy.address), n)))
		walk_in_memory(f);
}

static void walk_other_stack(struct finishing *f)
{
	const struct sample *s = f->sample;
	struct sampler *sampler = f->paths->sampler;
	const struct attempt attempt = attempt_from(&f->paths->walk);
	if (s->stopped)
		walk_in_memory(f);
	else
		keep_if(&attempt, sampler->ops->hold(sampler, s->pid, s->tid, walk_if_same, f));
}

/* Whether the walk continues right after the copy, and not on another stack (that of a signal
 * handler, or of a coroutine). */
static bool continues_after_copy(const struct finishing *f)
{
	uint64_t sp = f->paths->walk.at.reg[arch_native()->sp];
	return f->copy.size && sp >= f->copy.address && sp - f->copy.address <= f->copy.size;
}

static struct finishing start(struct path_finisher *p, struct space *space, const struct sample *s)
{
	struct finishing f = {.paths = p,
			      .space = space,
			      .sample = s,
			      .copy = {.address = s->registers.reg[arch_native()->sp],
				       .bytes = s->stack,
				       .size = s->stack_size}};
	memory_window_init(&p->window, s->pid);
	if (!f.copy.size && s->stopped) {
		f.copy.bytes = p->first;
		f.copy.size = memory_read(s->pid, f.copy.address, p->first, sizeof(p->first));
	}
	return f;
}

/* Continues in the stack as it is now, while the thread runs: callers that far out usually have not
 * returned yet. The result is used if it reaches the root, and if the first return address after
 * the copy follows a call of the very function in which the copy ended. */
static void walk_running_stack(struct finishing *f)
{
	struct walk *w = &f->paths->walk;
	const struct attempt attempt = attempt_from(w);
	memory_window_init(&f->paths->window, f->sample->pid);
	walk_in_memory(f);
	keep_if(&attempt, w->frames.len > attempt.frames &&
				  w->frames.data[attempt.frames].link == LINK_VALID);
}

/* Takes the callers that are still missing from another stack, from where the thread was a moment
 * ago, or from where it is now, in this order. */
static void find_missing_callers(struct finishing *f)
{
	struct walk *w = &f->paths->walk;
	if (w->end == WALK_STACK_COPY && !continues_after_copy(f))
		walk_other_stack(f);
	if (w->end == WALK_STACK_COPY && !f->sample->stopped &&
	    !splice_with_recent(w, &f->paths->recent, f->sample, f->space))
		walk_running_stack(f);
}

static void walk_part(struct finishing *f, const struct stack_copy *copy)
{
	struct path_finisher *p = f->paths;
	const struct sample *s = f->sample;
	const struct frame_chain chain = {s->returns, s->return_count};
	struct stack_copy c = *copy;
	walk_stack(p->walker, f->space, &s->registers, read_stack_copy, &c, &p->walk);
	if (p->walk.end == WALK_STACK_COPY)
		walk_by_records(p->walker, f->space, &s->registers, &chain, copy, &p->walk);
}

/* Walks LEAN_STACK bytes of the copy and the frame records after them, to find out whether a lean
 * sample would do. Only if that is not enough, the whole copy is walked. */
static void walk_in_copy(struct finishing *f)
{
	struct path_finisher *p = f->paths;
	struct stack_copy first = f->copy;
	if (first.size > LEAN_STACK)
		first.size = LEAN_STACK;
	walk_part(f, &first);
	bool enough = p->walk.end != WALK_STACK_COPY;
	if (f->sample->stack)
		lean_learn(&p->lean, f->sample, f->space, enough);
	if (!enough && first.size < f->copy.size)
		walk_part(f, &f->copy);
}

static void walk(struct path_finisher *p, struct space *space, const struct sample *s)
{
	struct finishing f = start(p, space, s);
	walk_in_copy(&f);
	if (p->walk.end == WALK_STACK_COPY) {
		if (continues_after_copy(&f))
			walk_after_copy(&f);
		find_missing_callers(&f);
	}
	recent_keep(&p->recent, s, space, &p->walk);
	debug(LOG_RECORD, 2, "thread %d: %u frames, %s", s->tid, p->walk.frames.len,
	      walk_end_name[p->walk.end]);
}

/* What is mapped now is what was mapped at the sample only if the thread is still stopped.
 * Otherwise it may only add to what was reported up to then. */
static bool read_maps(struct watched_process *process, bool stopped)
{
	struct err ignored;
	int rc = stopped || process->unsure ? space_refresh(process->space, &ignored)
					    : space_complete(process->space, &ignored);
	process->refreshed = now_ns();
	process->unsure = false;
	return !rc;
}

/* Reads the process's maps again: the sampler may not have reported a mapping yet, such as the
 * libraries of a program that starts. That never helps in JIT-compiled code, so the pause between
 * readings grows as long as they do not help. */
static bool refresh(struct watched_process *process, bool stopped)
{
	bool recently = process->refreshed && now_ns() - process->refreshed < process->pause;
	return !recently && read_maps(process, stopped);
}

/* Whether all code on the call stack of a stopped thread is still where the space has it. A frame
 * in the code of the one before is not looked up again. */
static enum maps_answer verify_frames(struct path_finisher *p, struct space *space, int pid)
{
	enum maps_answer answer = MAPS_SAME;
	const struct code *last = NULL;
	uint32_t verified = 0;
	int fd = maps_query_open(pid);
	if (fd < 0)
		return MAPS_UNKNOWN;
	for (uint32_t i = 0; i < p->walk.frames.len && verified < VERIFIED_MAX; i++) {
		const struct frame *f = &p->walk.frames.data[i];
		if (!f->code || f->code == last)
			continue;
		answer = space_verify(space, fd, f->exact ? f->pc : f->pc - 1);
		if (answer != MAPS_SAME)
			break;
		last = f->code;
		verified++;
	}
	close(fd);
	return answer;
}

/* A sampler that stops threads reports no mappings, and a program may unload a library and load
 * another one at the same address. A kernel that cannot be asked about single addresses makes that
 * expensive to know: there, the maps are read again now and then. */
static bool is_outdated(struct path_finisher *p, struct watched_process *process)
{
	switch (verify_frames(p, process->space, process->pid)) {
	case MAPS_SAME: return false;
	case MAPS_OTHER: return true;
	default: return now_ns() - process->refreshed > blind_pause;
	}
}

void finisher_find(struct path_finisher *p, struct watched_process *process, const struct sample *s)
{
	walk(p, process->space, s);
	if (s->stopped && is_outdated(p, process)) {
		read_maps(process, true);
		walk(p, process->space, s);
	}
	if (p->walk.end != WALK_NO_CODE || !refresh(process, s->stopped))
		return;
	walk(p, process->space, s);
	uint64_t pause = p->walk.end == WALK_NO_CODE ? 2 * process->pause : 0;
	process->pause = pause < shortest_pause  ? shortest_pause
			 : pause > longest_pause ? longest_pause
						 : pause;
}
