/* Where an indirect jump goes: the targets of jump tables and computed gotos.
 *
 * The jump's target is written as a value expression (value.h) and must have the form
 *     base + (extend(entry) << shift),  entry = load(table + index * size)
 * with constant base and table; every form that gcc and clang make on either architecture is one of
 * these. The number of entries comes from the compare that guards the jump, on every way to it. */
#pragma once
#include "base/vec.h"
#include "flow/build.h"
#include "flow/value.h"

enum jump_verdict {
	JUMP_TABLE,     /* `targets` are all there are */
	JUMP_TAIL_CALL, /* leaves the procedure through a pointer */
	JUMP_UNBOUNDED, /* a table, but nothing tells its size */
	JUMP_UNKNOWN,
};

struct jump {
	enum jump_verdict verdict;
	uint64_t table;
	uint64_t target; /* JUMP_TAIL_CALL to a constant address (a linker's veneer); else 0 */
	uint32_t count;
	uint8_t entry_size;
	uint8_t bound;         /* enum table_bound */
	bool closed;           /* see struct jump_table */
	bool likely;           /* JUMP_TAIL_CALL, if no frame is on the stack */
	VEC(uint64_t) targets; /* in table order, with repetitions */
};

/* Decides the indirect jump that ends `block`. `limit` is the most entries an unguarded table may
 * have (0: answer JUMP_UNBOUNDED instead). The caller frees out->targets. */
void jump_resolve(struct slicer *s, const struct build_env *env, uint32_t block, uint32_t limit,
		  struct jump *out);
