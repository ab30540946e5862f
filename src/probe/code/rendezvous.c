/* The rendezvous with the dynamic linker. Before and after each change of its list of modules, the
 * dynamic linker calls an empty function, in which debuggers put a breakpoint. A probe there makes
 * the runtime signal us. */
#include "probe/code/rendezvous.h"

#include "probe/code/sites.h"
#include "probe/region/modules.h"
#include "process/memory.h"

/* Offset of r_state in struct r_debug: version, map and breakpoint come before it. */
enum { STATE_OFFSET = 24, STATE_CONSISTENT = 0 };

static void add_in_module(void *ctx, struct target *t, struct code *code, uint64_t bias)
{
	struct err ignored;
	(void)ctx;
	const struct symbol *stop = module_find_symbol(code->module, "_dl_debug_state");
	if (!stop || t->code->rendezvous_in)
		return;
	const struct symbol *state = module_find_symbol(code->module, "_r_debug");
	struct subject_request r = {.code = code, .va = stop->va, .bias = bias};
	if (target_add_subject(t, &r, PURPOSE_RENDEZVOUS, &ignored) == SUBJECT_NONE)
		return;
	t->code->rendezvous_in = true;
	t->code->rendezvous_state = state ? state->va + bias + STATE_OFFSET : 0;
}

static void prepare_in_module(void *ctx, struct target *t, struct code *code, uint64_t bias)
{
	(void)ctx;
	(void)t;
	(void)bias;
	const struct symbol *stop = module_find_symbol(code->module, "_dl_debug_state");
	if (stop)
		recipes_at(code->recipes, stop->va);
}

void rendezvous_prepare(struct target *t)
{
	struct err ignored;
	target_dynamic_linker(t, prepare_in_module, NULL, &ignored);
}

void rendezvous_add(struct target *t)
{
	struct err ignored;
	if (!t->code->rendezvous_in)
		target_dynamic_linker(t, add_in_module, NULL, &ignored);
}

/* A static program has the same function, but does not call it when it starts. */
bool rendezvous_comes(const struct target *t)
{
	return t->code->rendezvous_in && dynamic_linker_base(t->pid) != 0;
}

bool rendezvous_consistent(struct target *t)
{
	int32_t state;
	if (!t->code->rendezvous_state ||
	    memory_read(t->pid, t->code->rendezvous_state, &state, sizeof(state)) != sizeof(state))
		return true;
	return state == STATE_CONSISTENT;
}
