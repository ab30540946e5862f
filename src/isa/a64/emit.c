/* Writing A64 code: instruction words, branch distances, addresses. */
#include "isa/a64/words.h"
#include "isa/arch.h"

static const struct {
	uint8_t bits, shift;
} distances[A64_DISTANCES] = {
	[A64_DISTANCE_26] = {26, 0}, [A64_DISTANCE_19] = {19, 5}, [A64_DISTANCE_14] = {14, 5}};

static bool fits(int64_t value, unsigned bits)
{
	return value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1);
}

bool a64_set_distance(uint32_t *word, enum a64_distance kind, uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from);
	uint32_t mask = (UINT32_C(1) << distances[kind].bits) - 1;
	unsigned shift = distances[kind].shift;

	if (distance % A64_WORD || !fits(distance / A64_WORD, distances[kind].bits))
		return false;
	*word = (*word & ~(mask << shift)) | ((uint32_t)(distance / A64_WORD) & mask) << shift;
	return true;
}

uint32_t a64_word(const uint8_t *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

void a64_put_word(uint8_t *out, uint32_t word)
{
	for (unsigned i = 0; i < A64_WORD; i++)
		out[i] = (uint8_t)(word >> 8 * i);
}

void a64_put(struct emit *e, uint32_t word)
{
	uint8_t bytes[A64_WORD];
	a64_put_word(bytes, word);
	emit_bytes(e, bytes, sizeof(bytes));
}

void a64_put_to(struct emit *e, uint32_t word, enum a64_distance kind, struct emit_target to)
{
	if (to.label != LABEL_NONE)
		vec_push(&e->fixups, (struct emit_fixup){.at = e->bytes.len,
							 .label = to.label,
							 .kind = (uint8_t)kind});
	else if (!a64_set_distance(&word, kind, emit_here(e), to.pc))
		e->failed = true;
	a64_put(e, word);
}

/* The distance to a label that is not placed yet is only limited by the maximum size of the
 * code. */
bool a64_reaches(const struct emit *e, enum a64_distance kind, struct emit_target to)
{
	uint32_t word = 0;
	uint64_t pc = to.pc;
	if (to.label != LABEL_NONE) {
		uint32_t place = e->labels.data[to.label];
		if (place == UINT32_MAX)
			return kind == A64_DISTANCE_26 ||
			       e->extent < (uint32_t)A64_WORD << (distances[kind].bits - 1);
		pc = e->base + place;
	}
	return a64_set_distance(&word, kind, emit_here(e), pc);
}

static uint32_t adr(unsigned reg, int64_t distance)
{
	uint32_t imm = (uint32_t)distance;
	return 0x10000000 | (imm & 3) << 29 | (imm >> 2 & 0x7ffff) << 5 | reg;
}

static uint32_t adrp(unsigned reg, int64_t pages)
{
	return adr(reg, pages) | UINT32_C(1) << 31;
}

/* The number of 16-bit quarters of a constant that equal `usual`. */
static unsigned count_quarters(uint64_t value, uint32_t usual)
{
	unsigned count = 0;
	for (unsigned i = 0; i < 4; i++)
		count += (value >> 16 * i & 0xffff) == usual;
	return count;
}

/* Uses movz, or movn if more quarters are all ones, and movk for the remaining quarters. */
static void set_by_quarters(struct emit *e, unsigned reg, uint64_t value)
{
	enum { MOVN = 0x92800000, MOVZ = 0xd2800000, MOVK = 0xf2800000 };
	bool inverted = count_quarters(value, 0xffff) > count_quarters(value, 0), first = true;
	uint32_t usual = inverted ? 0xffff : 0;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t quarter = value >> 16 * i & 0xffff;
		if (quarter == usual && !(first && i == 3))
			continue;
		uint32_t opcode = !first ? MOVK : inverted ? MOVN : MOVZ;
		uint32_t imm = first && inverted ? quarter ^ 0xffff : quarter;
		a64_put(e, opcode | i << 21 | imm << 5 | reg);
		first = false;
	}
}

void a64_set_register(struct emit *e, unsigned reg, uint64_t value)
{
	uint64_t here = emit_here(e);
	int64_t distance = (int64_t)(value - here);
	int64_t pages = (int64_t)(value >> 12) - (int64_t)(here >> 12);
	uint32_t rest = value & 0xfff;
	bool one_quarter = count_quarters(value, 0) >= 3 || count_quarters(value, 0xffff) >= 3;

	if (fits(distance, 21)) {
		a64_put(e, adr(reg, distance));
	} else if (fits(pages, 21) && !one_quarter) {
		a64_put(e, adrp(reg, pages));
		if (rest)
			a64_put(e, a64_add_imm(reg, reg, rest));
	} else {
		set_by_quarters(e, reg, value);
	}
}
