/* The first walk through a module opens it, and collects its functions: up to a second for the
 * largest ones, which the program would have to wait. So stacks are walked once beforehand while
 * the program runs. It may change them meanwhile, and the walks are of no use themselves; but
 * threads will be in mostly the same modules when the program is stopped to be changed. */
#include "probe/stop/rehearse.h"

#include "base/clock.h"
#include "process/control.h"
#include "process/memory.h"

enum {
	MAX_REHEARSED = 64, /* threads: of a thousand, most are in the same code */
	MAX_ROUNDS = 8,     /* a program may always be where it was not before */
};

static uint32_t read_registers(struct target *t, struct registers *out)
{
	struct control_thread *threads[MAX_REHEARSED];
	uint32_t count = control_threads(t->shared->control, t->pid, threads, MAX_REHEARSED);
	uint32_t found = 0;
	for (uint32_t i = 0; i < count && i < MAX_REHEARSED; i++)
		if (threads[i]->stopped && control_registers(threads[i], &out[found]))
			found++;
	return found;
}

static void walk_from(struct target *t, const struct registers *registers, uint32_t count)
{
	struct shared *g = t->shared;
	for (uint32_t i = 0; i < count; i++) {
		struct walk w = {0};
		memory_window_init(g->window, t->pid);
		walk_stack(g->walker, t->space, &registers[i], memory_window_word, g->window, &w);
		vec_free(&w.frames);
	}
}

/* Whether all modules are analysed that the stacks lead through. */
static bool is_analysed(struct target *t, const struct registers *registers, uint32_t count)
{
	struct walker *w = t->shared->walker;
	walker_hurry(w, true);
	walk_from(t, registers, count);
	bool missed = walker_missed(w);
	walker_hurry(w, false);
	return !missed;
}

/* `*begin`: see stop_to_walk(). */
static int stop_analysed(struct target *t, int (*stop)(struct target *, struct err *),
			 uint64_t *begin, struct err *e)
{
	struct registers registers[MAX_REHEARSED];
	uint64_t before = 0; /* ns of the stops that were in vain */
	for (unsigned round = 0;; round++) {
		*begin = now_ns() - before;
		int rc = stop(t, e);
		if (rc)
			return rc;
		uint32_t count = read_registers(t, registers);
		if (round == MAX_ROUNDS || is_analysed(t, registers, count))
			return 0;
		control_resume(t->shared->control, t->pid);
		before = now_ns() - *begin;
		walk_from(t, registers, count);
	}
}

int stop_to_walk(struct target *t, uint64_t *begin, struct err *e)
{
	uint64_t ignored;
	return stop_analysed(t, target_stop, begin ? begin : &ignored, e);
}

static int stop_untouched(struct target *t, struct err *e)
{
	return control_stop(t->shared->control, t->pid, e);
}

int stop_rehearsed(struct target *t, struct err *e)
{
	struct registers registers[MAX_REHEARSED];
	uint64_t ignored;
	int rc = stop_untouched(t, e);
	if (rc)
		return rc;
	uint32_t count = read_registers(t, registers);
	control_resume(t->shared->control, t->pid);
	walk_from(t, registers, count);
	return stop_analysed(t, stop_untouched, &ignored, e);
}
