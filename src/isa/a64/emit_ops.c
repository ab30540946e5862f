/* The table of operations that write A64 code. */
#include "isa/a64/words.h"
#include "isa/arch.h"

static size_t jump(uint8_t *out, uint64_t from, uint64_t to)
{
	uint32_t word = A64_B;
	if (!a64_set_distance(&word, A64_DISTANCE_26, from, to))
		return 0;
	a64_put_word(out, word);
	return A64_WORD;
}

static void go(struct emit *e, struct emit_target to)
{
	a64_put_to(e, A64_B, A64_DISTANCE_26, to);
}

static void leave(struct emit *e)
{
	static const uint8_t ret[] = {0xc0, 0x03, 0x5f, 0xd6};
	emit_bytes(e, ret, sizeof(ret));
}

static bool fix(struct emit *e, const struct emit_fixup *f, uint64_t target)
{
	uint8_t *at = e->bytes.data + f->at;
	uint32_t word = a64_word(at);
	if (!a64_set_distance(&word, f->kind, e->base + f->at, target))
		return false;
	a64_put_word(at, word);
	return true;
}

/* brk #0x5d: it raises SIGTRAP whatever its number is; the number only helps readers of the
 * code. */
static const uint8_t trap[A64_WORD] = {0xa0, 0x0b, 0x20, 0xd4};

const struct emit_ops a64_emit = {
	.jump_size = A64_WORD,
	.trap_size = A64_WORD,
	.trap = trap,
	.jump_reach = (UINT64_C(1) << 27) - A64_WORD,
	.small_size = A64_SMALL_SIZE,
	.vector_begun = {UINT64_C(0xffffffff00000000), 0},
	.vector_count = 1,
	.jump = jump,
	.go = go,
	.leave = leave,
	.move = a64_move,
	.branch = a64_branch,
	.can_match = a64_can_match,
	.match = a64_match,
	.call = a64_call,
	.probe = a64_probe,
	.restart = a64_restart,
	.aside = a64_aside,
	.fix = fix,
};
