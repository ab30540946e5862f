/* Meeting the dynamic linker: it calls an empty procedure whenever it has changed its list of
 * images, for debuggers to stop at. A probe there has the runtime tell us. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "probe/images.h"
#include "process/memory.h"

/* Of struct r_debug: version, map and breakpoint come before. */
enum { STATE_OFFSET = 24, STATE_CONSISTENT = 0 };

static void look_at(void *ctx, struct target *t, struct code *code, uint64_t bias)
{
	struct err ignored;
	(void)ctx;
	const struct symbol *stop = image_find_symbol(code->image, "_dl_debug_state");
	if (!stop || t->rendezvous_in)
		return;
	const struct symbol *state = image_find_symbol(code->image, "_r_debug");
	struct subject_request r = {.code = code, .va = stop->va, .bias = bias};
	if (target_add_subject(t, &r, PURPOSE_RENDEZVOUS, &ignored) == SUBJECT_NONE)
		return;
	t->rendezvous_in = true;
	t->rendezvous_state = state ? state->va + bias + STATE_OFFSET : 0;
}

void rendezvous_add(struct target *t)
{
	struct err ignored;
	if (!t->rendezvous_in)
		engine_images(t, look_at, NULL, &ignored);
}

/* AT_BASE: where the kernel has put a dynamic linker beside the program. */
static uint64_t linker_base(int pid)
{
	char path[32];
	uint64_t pair[2], base = 0;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	FILE *f = fault("auxv-open", EMFILE) ? NULL : fopen(path, "re");
	while (f && fread(pair, sizeof(pair), 1, f) == 1 && pair[0] != AT_NULL)
		if (pair[0] == AT_BASE)
			base = pair[1];
	if (f)
		fclose(f);
	return base;
}

/* A static program has the same procedure, but does not call it when it starts. */
bool rendezvous_comes(const struct target *t)
{
	return t->rendezvous_in && linker_base(t->pid);
}

bool rendezvous_consistent(struct target *t)
{
	int32_t state;
	if (!t->rendezvous_state ||
	    memory_read(t->pid, t->rendezvous_state, &state, sizeof(state)) != sizeof(state))
		return true;
	return state == STATE_CONSISTENT;
}
