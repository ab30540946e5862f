#include "diagnose/relay.h"

#include "isa/calls.h"

static bool insn_at(const struct code *code, const struct block *b, uint64_t va, struct insn *in)
{
	size_t n;
	uint64_t at = va - b->start;
	const uint8_t *p = at < b->size ? module_at(code->module, va, b->size - at, &n) : NULL;
	return p && code->arch->decode(p, n, va, DECODE_FULL, in);
}

/* Returns true if the function makes system calls and sets no call's number itself. A function that
 * chooses the call sets the number to a constant; otherwise its caller does. */
static bool only_passes_numbers(const struct code *code, const struct cfg *g)
{
	unsigned number = calls_number_register(code->arch);
	bool calls = false;
	struct insn in;
	for (uint32_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		for (uint64_t va = b->start; insn_at(code, b, va, &in); va += in.length) {
			calls |= in.kind == INSN_SYSCALL;
			if (in.op == OP_SET && in.dst == number)
				return false;
		}
	}
	return calls;
}

/* Returns the registers of arguments, without those that every function may change on entry. */
static uint64_t argument_registers(const struct arch *arch)
{
	uint64_t kept = arch->callee_saved.core | UINT64_C(1) << arch->sp | UINT64_C(1) << arch->fp;
	if (arch->link != REG_NONE)
		kept |= UINT64_C(1) << arch->link;
	return arch->arguments.core & ~kept;
}

/* Returns the function that the entry block calls with all arguments unchanged, or 0. */
static uint64_t passes_on_to(const struct code *code, const struct cfg *g)
{
	const struct block *b = &g->blocks[g->entry];
	uint64_t arguments = argument_registers(code->arch), last = 0;
	struct insn in;
	if (!b->target || (b->end != END_CALL && b->end != END_TAIL_CALL) ||
	    b->flags & (BLOCK_CONDITIONAL | BLOCK_OPEN_FRAME))
		return 0;
	for (uint64_t va = b->start; insn_at(code, b, va, &in); va += in.length) {
		if (in.kind == INSN_PLAIN && in.writes.core & arguments)
			return 0;
		last = va + in.length;
	}
	return last == b->start + b->size ? b->target : 0;
}

/* Relays are small: they make one call. */
enum { MAX_BLOCKS = 24 };

struct relay relay_in(const struct code *code, const struct cfg *g)
{
	if (!g->block_count || g->block_count > MAX_BLOCKS)
		return (struct relay){0};
	return (struct relay){only_passes_numbers(code, g), passes_on_to(code, g)};
}
