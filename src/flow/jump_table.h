/* Finds the targets of an indirect jump: of jump tables and computed gotos.
 *
 * The target of the jump is written as a value expression (value.h) and must have the form
 *	base + (extend(entry) << shift),  entry = load(table + index * size)
 * with constant base and table; gcc and clang use only this form, on either architecture. The
 * number of entries comes from the compare that guards the jump, on every path to it. */
#pragma once
#include "base/vec.h"
#include "flow/build.h"
#include "flow/value.h"

enum jump_verdict {
	JUMP_TABLE,     /* `targets` are all targets */
	JUMP_TAIL_CALL, /* a tail call through a pointer */
	JUMP_UNBOUNDED, /* a table of unknown size */
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
	bool likely;           /* JUMP_TAIL_CALL holds only if the frame is off the stack */
	VEC(uint64_t) targets; /* in table order, with duplicates */
};

/* Decides the indirect jump that ends `block`. `limit` is the number of entries that an unguarded
 * table may have at most (0: the verdict is JUMP_UNBOUNDED instead). The caller frees out->targets.
 */
void jump_resolve(struct slicer *s, const struct build_env *env, uint32_t block, uint32_t limit,
		  struct jump *out);
