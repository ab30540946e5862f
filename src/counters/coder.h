/* Writes the probes of a function, operation by operation: the parts that all probes share.
 *
 * Invariants:
 *	T1  a probe has no more asides than struct emit_probe has room for
 *	T2  operations of a probe have numbers of 16 bits */
#pragma once
#include <stddef.h>

#include "base/check.h"
#include "base/vec.h"
#include "counters/code.h"
#include "runtime/abi.h"

/* Values of a probe. V3 is the context if no register holds it. */
enum { V0, V1, V2, V3 };

struct coder {
	const struct counters *t;
	const struct flow *flow;
	const struct counters_numbers *n;
	struct counters_probes *out;
	struct arena *a;
	uint32_t owners;
	/* The probe being written. */
	VEC(struct emit_op) ops; /* up to about 100, if a loop counts in all registers */
	uint16_t froms[EMIT_ASIDES], backs[EMIT_ASIDES];
	uint8_t asides;
	uint64_t routine, argument;
	bool checks; /* it tests whether the frame is its own, and needs an aside to branch to */
};

static inline void op(struct coder *c, enum emit_op_kind kind, unsigned d, unsigned a, unsigned b,
		      int64_t imm)
{
	vec_push(&c->ops, (struct emit_op){(uint8_t)kind, (uint8_t)d, (uint8_t)a, (uint8_t)b, imm});
}

static inline void load(struct coder *c, unsigned d, unsigned base, size_t offset)
{
	op(c, EMIT_LOAD, d, base, 0, (int64_t)offset);
}

static inline void store(struct coder *c, unsigned base, size_t offset, unsigned value)
{
	op(c, EMIT_STORE, 0, base, value, (int64_t)offset);
}

static inline void begin(struct coder *c)
{
	vec_clear(&c->ops);
	c->asides = 0;
	c->routine = c->argument = 0;
	c->checks = false;
}

/* The index of the next operation. */
static inline uint16_t next_op(const struct coder *c)
{
	bug_on(c->ops.len > UINT16_MAX, "T2");
	return (uint16_t)c->ops.len;
}

/* The operations that follow are executed only if a test branches to them. Then control continues
 * at `back`. */
static inline void aside(struct coder *c, uint16_t back)
{
	bug_on(c->asides == EMIT_ASIDES, "T1");
	c->froms[c->asides] = next_op(c);
	c->backs[c->asides++] = back;
}

/* The last aside, which calls the runtime. Control then continues after all main operations. */
static inline void last_aside(struct coder *c, uint64_t routine, uint64_t argument)
{
	aside(c, c->asides ? c->froms[0] : next_op(c));
	c->routine = routine;
	c->argument = argument;
}

static inline unsigned held_context(const struct coder *c)
{
	return EMIT_HELD + c->t->context;
}

static inline size_t word_offset(uint32_t word)
{
	return offsetof(struct rt_context, words) + 8 * (size_t)word;
}

/* Adds the finished probe. Probes of the same owner are merged where their edges meet
 * (patch/fragment.h). */
void code_put(struct coder *c, struct spot spot, uint32_t owner);
void code_put_alone(struct coder *c, struct spot spot);
struct emit_probe code_finished(struct coder *c);
struct spot code_on_edge(const struct coder *c, uint32_t edge);

/* The operand that holds the context: the held register, or `where`, into which it is loaded. */
unsigned code_context(struct coder *c, unsigned where, unsigned tmp);
/* Keeps the context, which is at `at`, for the rest of the function. If a general register holds
 * it, `at` is that register. */
void code_keep_context(struct coder *c, unsigned at);
void code_area(struct coder *c, unsigned d);
/* The operand that holds the frame of this activation: the held register, or `where`, into which it
 * is loaded. */
unsigned code_frame(struct coder *c, unsigned where, unsigned tmp);

/* calls.c */
void code_enter(struct coder *c, struct spot spot);
void code_leave(struct coder *c, struct spot spot);
/* At the exits of a function without a frame. */
void code_pass_back(struct coder *c, struct spot spot);
void code_call(struct coder *c, struct spot spot, uint32_t site);
void code_come_back(struct coder *c, struct spot spot, uint32_t site);
/* At a landing pad; `word` counts the exceptions, or is NO_WORD. */
void code_land(struct coder *c, uint32_t block, uint32_t word);
