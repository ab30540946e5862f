/* Both decoders over any bytes. The first byte chooses the architecture.
 *
 * Holds for every instruction: its length is possible; the same bytes alone decode the same; a byte
 * less does not decode; both details agree on what both give. */
#include <string.h>

#include "isa/arch.h"
#include "targets.h"

/* Flags that only DECODE_FULL gives. */
enum { VALUE_FLAGS = INSN_SIGNED | INSN_COMPARES | INSN_PC_RELATIVE };

static void check_same_flow(const struct insn *a, const struct insn *b)
{
	FUZZ_CHECK(a->pc == b->pc && a->length == b->length && a->kind == b->kind);
	FUZZ_CHECK(a->class == b->class);
	FUZZ_CHECK((a->flags & ~VALUE_FLAGS) == (b->flags & ~VALUE_FLAGS));
	FUZZ_CHECK(a->target == b->target);
}

static void check_fields(const struct arch *arch, const struct insn *in)
{
	FUZZ_CHECK(in->kind < INSN_KINDS && in->class < INSN_CLASSES);
	FUZZ_CHECK(in->length <= arch->insn_max && in->length % arch->insn_align == 0);
	FUZZ_CHECK(in->op < INSN_OPS && in->cond <= COND_SGE && in->extend <= EXTEND_S32);
	FUZZ_CHECK(in->writeback <= WRITEBACK_POST && in->width <= 64);
}

/* Decodes from a buffer of its own, so that a sanitizer sees reads behind it. */
static size_t decode_alone(const struct arch *arch, const uint8_t *p, size_t n, uint64_t pc,
			   enum insn_detail detail, struct insn *out)
{
	uint8_t *copy = malloc(n ? n : 1);
	memcpy(copy, p, n);
	size_t length = arch->decode(copy, n, pc, detail, out);
	free(copy);
	return length;
}

static void check_one(const struct arch *arch, const uint8_t *p, size_t n, uint64_t pc)
{
	struct insn full = {0}, flow = {0}, alone = {0};
	size_t length = arch->decode(p, n, pc, DECODE_FULL, &full);
	FUZZ_CHECK(arch->decode(p, n, pc, DECODE_FLOW, &flow) == length);
	FUZZ_CHECK(length <= n);
	if (length == 0)
		return;
	FUZZ_CHECK(length == full.length && full.pc == pc);
	check_fields(arch, &full);
	check_same_flow(&full, &flow);
	FUZZ_CHECK(decode_alone(arch, p, length, pc, DECODE_FULL, &alone) == length);
	check_same_flow(&full, &alone);
	FUZZ_CHECK(alone.op == full.op && alone.imm == full.imm && alone.stack == full.stack);
	FUZZ_CHECK(alone.reads.core == full.reads.core && alone.writes.core == full.writes.core);
	FUZZ_CHECK(decode_alone(arch, p, length - 1, pc, DECODE_FULL, &alone) == 0);
}

void fuzz_decode(const uint8_t *data, size_t size)
{
	if (size < 1)
		return;
	const struct arch *arch = data[0] & 1 ? &arch_x64 : &arch_a64;
	size_t n = size - 1 < 4096 ? size - 1 : 4096;
	for (size_t i = 0; i < n; i += arch->insn_align)
		check_one(arch, data + 1 + i, n - i, 0x10000 + i);
}
