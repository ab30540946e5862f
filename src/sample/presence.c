#include "sample/presence.h"

#include "isa/arch.h"
#include "isa/registers.h"
#include "process/memory.h"

void presence_make(struct presence *p, const struct record *sample)
{
	const struct arch *arch = arch_native();
	struct registers regs;
	if (!sample->registers || sample->stack_size == sample->stack_room)
		return;
	registers_from_perf(arch, sample->registers, &regs);
	uint64_t end = regs.reg[arch->sp] + sample->stack_size;
	unsigned slot = (unsigned)sample->tid % PRESENCE_THREADS;
	if (p->seen[slot].tid == sample->tid && p->seen[slot].end == end)
		return;
	p->seen[slot].tid = sample->tid;
	p->seen[slot].end = end;
	memory_read(sample->pid, end, p->bytes, sample->stack_room - sample->stack_size);
}
