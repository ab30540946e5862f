/* Moving A64 instructions.
 *
 * Only a few depend on their address: adr, adrp, loads and prefetches of a literal, and direct
 * branches and calls. (paciasppc, which signs the return address together with the pc, is unknown
 * to the decoder.) All others are copied. */
#include "isa/a64/words.h"
#include "isa/arch.h"

static bool is_address(uint32_t word)
{
	return (word & 0x1f000000) == 0x10000000;
}

static bool is_literal(uint32_t word)
{
	return (word & 0x3b000000) == 0x18000000;
}

static bool is_vector(uint32_t word)
{
	return word >> 26 & 1;
}

static bool is_prefetch(uint32_t word)
{
	return (word & 0xff000000) == 0xd8000000;
}

static uint64_t literal_address(uint32_t word, uint64_t pc)
{
	return pc + (uint64_t)((int64_t)(int32_t)(word << 8) >> 11 & ~INT64_C(3));
}

/* The load from [base] that corresponds to a load of a literal. */
static uint32_t load_from(uint32_t word, unsigned base)
{
	static const uint32_t general[] = {0xb9400000, 0xf9400000, 0xb9800000};
	static const uint32_t vector[] = {0xbd400000, 0xfd400000, 0x3dc00000};
	uint32_t size = word >> 30;
	return (is_vector(word) ? vector[size] : general[size]) | base << 5 | (word & 31);
}

/* Loads a literal that may be out of reach. A general register receives the literal's address
 * before its value; for other destinations x16 is saved and used. */
static void move_literal(struct emit *e, uint32_t word, uint64_t pc)
{
	struct emit_target from = {.label = LABEL_NONE, .pc = literal_address(word, pc)};
	unsigned reg = word & 31;

	if (a64_reaches(e, A64_DISTANCE_19, from)) {
		a64_put_to(e, word, A64_DISTANCE_19, from);
	} else if (is_prefetch(word)) {
		a64_put(e, A64_NOP);
	} else if (is_vector(word) || reg == A64_ZERO) {
		a64_put(e, a64_push(A64_IP0, 16));
		a64_set_register(e, A64_IP0, from.pc);
		a64_put(e, load_from(word, A64_IP0));
		a64_put(e, a64_pop(A64_IP0, 16));
	} else {
		a64_set_register(e, reg, from.pc);
		a64_put(e, load_from(word, reg));
	}
}

static void move_address(struct emit *e, const struct insn *in, uint32_t word)
{
	if ((word & 31) == A64_ZERO)
		a64_put(e, A64_NOP);
	else
		a64_set_register(e, word & 31, (uint64_t)in->imm);
}

static bool is_direct_or_call(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL ||
	       in->kind == INSN_CALL_INDIRECT;
}

void a64_move(struct emit *e, const struct insn *in, const uint8_t *bytes)
{
	uint32_t word = a64_word(bytes);
	if (is_direct_or_call(in))
		e->failed = true;
	else if (is_address(word))
		move_address(e, in, word);
	else if (is_literal(word))
		move_literal(e, word, in->pc);
	else
		a64_put(e, word);
}

static bool on_flags(uint32_t word)
{
	return (word & 0xff000000) == 0x54000000;
}

static bool on_bit(uint32_t word)
{
	return (word & 0x7e000000) == 0x36000000;
}

/* The branch with the opposite condition. "Always" and "never" have none; they are decoded as
 * jumps. */
static uint32_t inverted(uint32_t word)
{
	return on_flags(word) ? word ^ 1 : word ^ UINT32_C(1) << 24;
}

/* If the branch may not reach the target, its inverse skips a jump, which does. */
void a64_branch(struct emit *e, const struct insn *in, const uint8_t *bytes,
		struct emit_target taken)
{
	uint32_t word = a64_word(bytes);
	enum a64_distance kind = on_bit(word) ? A64_DISTANCE_14 : A64_DISTANCE_19;

	if (in->kind != INSN_BRANCH) {
		e->failed = true;
	} else if (a64_reaches(e, kind, taken)) {
		a64_put_to(e, word, kind, taken);
	} else {
		struct emit_target around = {.label = LABEL_NONE, .pc = emit_here(e) + 8};
		a64_put_to(e, inverted(word), kind, around);
		a64_put_to(e, A64_B, A64_DISTANCE_26, taken);
	}
}

/* The authenticating forms (blraa, ...) use a second register. */
static bool uses_link(uint32_t word)
{
	bool authenticates = word >> 11 & 1;
	return (word >> 5 & 31) == A64_LINK || (authenticates && (word & 31) == A64_LINK);
}

/* The call becomes: set the link register to `return_pc`, then jump. The target of an indirect call
 * must be in a register at that jump. The callee may read any register except the link register,
 * and that holds the return address by then. So a call through the link register cannot be moved.
 * Compilers do not generate any.
 *
 * Branch targets (BTI): our memory is not guarded, and a jump from unguarded memory may go wherever
 * a call may go ("bti c"). */
void a64_call(struct emit *e, const struct insn *in, const uint8_t *bytes, uint64_t return_pc)
{
	const uint32_t call_bit = UINT32_C(1) << 21; /* distinguishes blr from br */
	uint32_t word = a64_word(bytes);

	if (in->kind == INSN_CALL) {
		a64_set_register(e, A64_LINK, return_pc);
		a64_put_to(e, A64_B, A64_DISTANCE_26,
			   (struct emit_target){.label = LABEL_NONE, .pc = in->target});
	} else if (in->kind == INSN_CALL_INDIRECT && !uses_link(word)) {
		a64_set_register(e, A64_LINK, return_pc);
		a64_put(e, word & ~call_bit);
	} else {
		e->failed = true;
	}
}
