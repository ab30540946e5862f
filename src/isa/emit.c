#include "isa/emit.h"

#include <assert.h>
#include <string.h>

#include "isa/arch.h"
#include "isa/native.h"

enum {
	NOT_PLACED = UINT32_MAX,
	/* More than any jump spans: a larger buffer is unusable anyway. */
	BYTES_MAX = 1 << 28,
	/* How many of the latest constants are searched for an equal one. The constants that all
	 * probes use are always among the last few. */
	LITERALS_SEARCHED = 32,
	LITERAL_SIZE = 16,
	/* Upper limits, in bytes, for parts of a probe on any architecture. */
	FRAME_MAX = 64, /* saving and restoring registers, and the jump out of an aside */
	OP_MAX = 24,
	CALL_MAX = 136, /* a call of the runtime, or the search for the area */
	POISON_MAX = 272,
};

void emit_init(struct emit *e, const struct arch *arch, uint64_t base)
{
	*e = (struct emit){.arch = arch, .base = base, .extent = EMIT_EXTENT};
	e->avx = arch == &arch_x64 && avx_is_usable();
}

void emit_release(struct emit *e)
{
	vec_free(&e->bytes);
	vec_free(&e->labels);
	vec_free(&e->fixups);
	vec_free(&e->literals);
	vec_free(&e->asides);
}

uint32_t emit_label(struct emit *e)
{
	vec_push(&e->labels, NOT_PLACED);
	return e->labels.len - 1;
}

void emit_place(struct emit *e, uint32_t label)
{
	assert(label < e->labels.len && e->labels.data[label] == NOT_PLACED);
	e->labels.data[label] = e->bytes.len;
}

uint64_t emit_here(const struct emit *e)
{
	return e->base + e->bytes.len;
}

void emit_bytes(struct emit *e, const void *bytes, size_t n)
{
	if (n > BYTES_MAX - e->bytes.len) {
		e->failed = true;
		return;
	}
	if (n == 0)
		return;
	vec_reserve(&e->bytes, e->bytes.len + (uint32_t)n);
	memcpy(e->bytes.data + e->bytes.len, bytes, n);
	e->bytes.len += (uint32_t)n;
}

uint32_t emit_probe_bound(const struct emit_probe *p)
{
	uint32_t bound = FRAME_MAX + (p->poison ? POISON_MAX : 0);
	if (!p->ops)
		bound += CALL_MAX + OP_MAX;
	for (uint32_t i = 0; i < p->op_count; i++) {
		uint8_t kind = p->ops[i].kind;
		bound += kind == EMIT_AREA || kind == EMIT_CALL ? CALL_MAX : OP_MAX;
	}
	return bound;
}

uint32_t emit_literal(struct emit *e, uint64_t low, uint64_t high)
{
	uint32_t len = e->literals.len,
		 last = len > LITERALS_SEARCHED ? len - LITERALS_SEARCHED : 0;
	for (uint32_t i = len; i-- > last;) {
		const struct emit_literal *l = &e->literals.data[i];
		if (l->low == low && l->high == high)
			return l->label;
	}
	uint32_t label = emit_label(e);
	vec_push(&e->literals, (struct emit_literal){.low = low, .high = high, .label = label});
	return label;
}

static void put_u64(uint8_t *out, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

static void place_literals(struct emit *e)
{
	static const uint8_t zeros[LITERAL_SIZE];
	if (e->literals.len)
		emit_bytes(e, zeros, -emit_here(e) % LITERAL_SIZE);
	vec_each (l, &e->literals) {
		uint8_t bytes[LITERAL_SIZE];
		put_u64(bytes, l->low);
		put_u64(bytes + 8, l->high);
		emit_place(e, l->label);
		emit_bytes(e, bytes, sizeof(bytes));
	}
}

static bool resolve(struct emit *e, const struct emit_fixup *f)
{
	uint32_t place = e->labels.data[f->label];
	return place != NOT_PLACED && e->arch->emit->fix(e, f, e->base + place);
}

bool emit_finish(struct emit *e)
{
	e->rare = e->bytes.len;
	/* By index, and from a copy: writing an aside may add to any of the lists. */
	for (uint32_t i = 0; i < e->asides.len; i++) {
		struct emit_aside a = e->asides.data[i];
		emit_place(e, a.here);
		e->arch->emit->aside(e, &a);
	}
	place_literals(e);
	/* In a buffer that overflowed, fixups may lie beyond its end. */
	for (uint32_t i = 0; i < e->fixups.len && !e->failed; i++)
		if (!resolve(e, &e->fixups.data[i]))
			e->failed = true;
	return !e->failed;
}
