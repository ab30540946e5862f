#include "diagnose/spinning.h"

#include "diagnose/plumbing.h"
#include "flow/entry.h"

void spinning_release(struct spin_objects *s)
{
	hashmap_release(&s->object_of);
}

static uint64_t key_of(uint32_t process, uint32_t part)
{
	return (uint64_t)process << 32 | part;
}

/* Returns the variable that the loop reads, if the thread is in the loop itself and the variable
 * has a name. */
static uint32_t variable_of(struct spin_objects *s, uint32_t process, const struct frame *f,
			    const struct spin *spin, const struct registers *r)
{
	struct insn in;
	if (!r || !f->exact || !spin->read ||
	    !decode_at(f->code->module, f->code->arch, spin->read, DECODE_FULL, &in))
		return LEDGER_NONE;
	uint64_t address = spin_address(&in, r->reg, f->pc - f->va);
	return waits_on_variable(s->waits, process, OBJECT_VARIABLE, address);
}

uint32_t spinning_for(struct spin_objects *s, uint32_t process, const resource_list *chain,
		      const struct walk *w, const struct registers *r)
{
	const struct machine *m = s->waits->machine;
	uint32_t depth = chain->len, frame = 0;
	/* Each process has a pool besides its threads. A thread alone has nobody to wait for. */
	if (m->live_threads.len < m->live_processes.len + 2)
		return LEDGER_NONE;
	while (depth && is_plumbing(s->code, chain->data[depth - 1]))
		depth--;
	while (frame < w->frames.len && w->frames.data[frame].code &&
	       is_plumbing_at(w->frames.data[frame].code, w->frames.data[frame].va))
		frame++;
	if (!depth || frame == w->frames.len)
		return LEDGER_NONE;
	uint32_t part = chain->data[depth - 1];
	const struct spin spin = code_part_spin(s->code, part);
	if (!spin.spins)
		return LEDGER_NONE;
	uint32_t function = code_part_function(s->code, part);
	uint32_t blocks = hashmap_get(&s->object_of, key_of(process, function));
	uint32_t known = hashmap_get(&s->object_of, key_of(process, part));
	if (blocks != HASHMAP_NONE && known != HASHMAP_NONE)
		waits_merge(s->waits, known, blocks);
	if (blocks != HASHMAP_NONE)
		return blocks;
	uint32_t object = variable_of(s, process, &w->frames.data[frame], &spin, r);
	if (object == LEDGER_NONE)
		object = known != HASHMAP_NONE ? known : waits_in_loop(s->waits, process, part);
	hashmap_put(&s->object_of, key_of(process, part), object);
	return object;
}

void spinning_blocks(struct spin_objects *s, uint32_t process, uint32_t part, uint32_t object)
{
	uint32_t function = code_part_function(s->code, part);
	switch (s->waits->objects.data[object].kind) {
	case OBJECT_CONDITION:
		if (code_function_is_barrier(s->code, function))
			waits_is_barrier(s->waits, object);
		break;
	case OBJECT_FUTEX:
	case OBJECT_BARRIER:
	case OBJECT_SEMAPHORE: break;
	default: return;
	}
	if (code_function_spins(s->code, function))
		hashmap_put(&s->object_of, key_of(process, function), object);
}
