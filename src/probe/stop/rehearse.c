/* The first walk through a module opens it, and collects its functions: up to a second for the
 * largest ones, which the program would have to wait. So stacks are walked once beforehand while
 * the program runs. It may change them meanwhile, and the walks are of no use themselves; but
 * threads will be in mostly the same modules when the program is stopped to be changed. */
#include "probe/stop/rehearse.h"

#include "process/control.h"
#include "process/memory.h"

enum { MAX_REHEARSED = 64 }; /* threads: of a thousand, most are in the same code */

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

void stop_rehearse(struct target *t)
{
	struct shared *g = t->shared;
	struct registers registers[MAX_REHEARSED];
	struct err ignored;
	if (control_stop(g->control, t->pid, &ignored))
		return;
	uint32_t count = read_registers(t, registers);
	control_resume(g->control, t->pid);
	for (uint32_t i = 0; i < count; i++) {
		struct walk w = {0};
		memory_window_init(g->window, t->pid);
		walk_stack(g->walker, t->space, &registers[i], memory_window_word, g->window, &w);
		vec_free(&w.frames);
	}
}
