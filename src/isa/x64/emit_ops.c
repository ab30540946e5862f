/* The table of operations that write x86-64 code. */
#include "isa/x64/encode.h"
#include "isa/x64/x64.h"

static size_t x64_jump(uint8_t *out, uint64_t from, uint64_t to)
{
	if (!x64_distance_fits(from + 5, to))
		return 0;
	out[0] = 0xe9;
	x64_put_word(out + 1, (uint32_t)(to - from - 5));
	return 5;
}

static size_t x64_short_jump(uint8_t *out, uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from - 2);
	if (distance != (int8_t)distance)
		return 0;
	out[0] = X64_JUMP8;
	out[1] = (uint8_t)distance;
	return 2;
}

static bool x64_fix(struct emit *e, const struct emit_fixup *f, uint64_t target)
{
	uint64_t end = e->base + f->at + 4;
	if (!x64_distance_fits(end, target))
		return false;
	x64_put_word(e->bytes.data + f->at, (uint32_t)(target - end));
	return true;
}

static const uint8_t int3[] = {0xcc};

static void leave(struct emit *e)
{
	emit_bytes(e, &(uint8_t){0xc3}, 1);
}

const struct emit_ops x64_emit = {
	.jump_size = 5,
	.short_jump_size = 2,
	.trap_size = sizeof(int3),
	.trap_advance = sizeof(int3),
	.trap = int3,
	.jump_reach = INT32_MAX - 4, /* distances count from the end of the jump */
	.short_reach = INT8_MAX - 1,
	.small_size = UINT32_MAX,
	.jump = x64_jump,
	.short_jump = x64_short_jump,
	.go = x64_go,
	.leave = leave,
	.move = x64_move,
	.branch = x64_branch,
	.can_match = x64_can_match,
	.match = x64_match,
	.call = x64_call,
	.probe = x64_probe,
	.aside = x64_aside,
	.restart = x64_restart,
	.fix = x64_fix,
};
