#include "callpath/finish.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"

enum {
	SIGNAL_FRAME = 1024, /* bytes: the registers that a handler returns to are in there */
	NEAR = 1 << 16,      /* bytes between places on one stack */
};

static const uint64_t shortest_pause = 1000000, longest_pause = 500000000; /* ns */

/* One sample's path being looked for. */
struct finishing {
	struct path_finisher *paths;
	struct space *space;
	const struct sample *sample;
	struct stack_copy copy;
	struct held_stack *held;
};

/* How far a walk has come, to try from there. What memory that has changed leads to may look like a
 * path for a while: an attempt that does not reach the root counts for nothing. */
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

/* The copy first, then memory as it is now. */
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

/* A thread that went on while it was read has left nothing of use. */
static void walk_behind_copy(struct finishing *f)
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

/* The stack pointer that the walk left the copy from. */
static uint64_t last_inside(const struct finishing *f)
{
	const struct walk *w = &f->paths->walk;
	for (uint32_t i = w->frames.len; i-- > 0;)
		if (w->frames.data[i].cfa - f->copy.address < f->copy.size)
			return w->frames.data[i].cfa;
	return f->copy.address;
}

/* The other stack is as it was if the thread has not gone back to it: if it still stands on this
 * one, below the place from where it would, and what is there has not changed. */
static void walk_if_same(void *ctx, const struct registers *now)
{
	struct finishing *f = ctx;
	uint8_t bytes[SIGNAL_FRAME];
	uint64_t from = last_inside(f), sp = now->reg[arch_native()->sp];
	uint64_t left = f->copy.address + f->copy.size - from;
	size_t n = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
	if (sp <= from && from - sp <= f->copy.size + NEAR &&
	    memory_read(f->sample->pid, from, bytes, n) == n &&
	    (!n || !memcmp(bytes, f->copy.bytes + (from - f->copy.address), n)))
		walk_in_memory(f);
}

static void walk_elsewhere(struct finishing *f)
{
	const struct sample *s = f->sample;
	struct sampler *sampler = f->paths->sampler;
	const struct attempt attempt = attempt_from(&f->paths->walk);
	if (s->stopped)
		walk_in_memory(f);
	else
		keep_if(&attempt, sampler->ops->hold(sampler, s->pid, s->tid, walk_if_same, f));
}

/* Whether the walk wants to go on right behind the copy, and not on another stack (that of a signal
 * handler, of a coroutine). */
static bool goes_on_behind(const struct finishing *f)
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

/* The stack as it is now, while the thread runs: callers that far away usually still wait. What is
 * there is believed if it leads to the root, and if the first return address behind the copy is
 * that of a call of the very procedure that the copy ended in. */
static void walk_as_it_is(struct finishing *f)
{
	struct walk *w = &f->paths->walk;
	const struct attempt attempt = attempt_from(w);
	memory_window_init(&f->paths->window, f->sample->pid);
	walk_in_memory(f);
	keep_if(&attempt, w->frames.len > attempt.frames &&
				  w->frames.data[attempt.frames].link == LINK_VALID);
}

/* What is still missing is taken from where the thread was before, or is by now. */
static void finish_elsewhere(struct finishing *f)
{
	struct walk *w = &f->paths->walk;
	if (w->end == WALK_STACK_COPY && !goes_on_behind(f))
		walk_elsewhere(f);
	if (w->end == WALK_STACK_COPY && !f->sample->stopped &&
	    !splice_with_recent(w, &f->paths->recent, f->sample, f->space))
		walk_as_it_is(f);
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

/* As far as the copy leads, and the frame records behind it. */
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
		if (goes_on_behind(&f))
			walk_behind_copy(&f);
		finish_elsewhere(&f);
	}
	recent_keep(&p->recent, s, space, &p->walk);
	debug(LOG_RECORD, 2, "thread %d: %u frames, %s", s->tid, p->walk.frames.len,
	      walk_end_name[p->walk.end]);
}

/* The sampler may not have heard of a mapping, such as the libraries of a program that starts.
 * Generated code is never found: where reading the maps does not help, it is done more and more
 * rarely. */
static bool refresh(struct watched_process *process)
{
	struct err ignored;
	uint64_t now = now_ns();
	if (process->refreshed && now - process->refreshed < process->pause)
		return false;
	process->refreshed = now;
	return !space_refresh(process->space, &ignored);
}

void finisher_find(struct path_finisher *p, struct watched_process *process, const struct sample *s)
{
	walk(p, process->space, s);
	if (p->walk.end != WALK_NO_CODE || !refresh(process))
		return;
	walk(p, process->space, s);
	uint64_t pause = p->walk.end == WALK_NO_CODE ? 2 * process->pause : 0;
	process->pause = pause < shortest_pause  ? shortest_pause
			 : pause > longest_pause ? longest_pause
						 : pause;
}
