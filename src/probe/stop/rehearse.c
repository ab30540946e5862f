/* The first walk through a module opens it, and collects its functions: up to a second for the
 * largest ones, which the program would have to wait. So stacks are walked once beforehand while
 * the program runs. It may change them meanwhile, and the walks are of no use themselves; but
 * threads will be in mostly the same modules when the program is stopped to be changed. */
#include "probe/stop/rehearse.h"

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

/* Whether the functions of all modules are collected in which a thread is right now. */
static bool is_analysed(struct target *t, const struct registers *registers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct place at = space_find(t->space, registers[i].pc);
		if (at.code && at.code->flow && !flow_is_ready(at.code->flow))
			return false;
	}
	return true;
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

int stop_rehearsed(struct target *t, struct err *e)
{
	struct control *c = t->shared->control;
	struct registers registers[MAX_REHEARSED];
	for (unsigned round = 0;; round++) {
		int rc = control_stop(c, t->pid, e);
		if (rc)
			return rc;
		uint32_t count = read_registers(t, registers);
		/* The first round is for the stacks. */
		if (round == MAX_ROUNDS || (round && is_analysed(t, registers, count)))
			return 0;
		control_resume(c, t->pid);
		walk_from(t, registers, count);
	}
}
