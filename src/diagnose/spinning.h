/* What running threads wait for that spin in loops of the program's own (spin.h). */
#pragma once
#include "base/hashmap.h"
#include "diagnose/code.h"
#include "diagnose/waits.h"
#include "unwind/walk.h"

struct spin_objects {
	struct code_parts *code;
	struct waits *waits;
	struct hashmap object_of; /* process << 32 | loop -> what threads were seen to wait for */
};

void spinning_release(struct spin_objects *s);

/* Returns what the thread waits for; LEDGER_NONE if it does not spin. `chain` are the parts of the
 * code on its stack; the registers may be NULL. */
uint32_t spinning_for(struct spin_objects *s, uint32_t process, const resource_list *chain,
		      const struct walk *w, const struct registers *r);
/* Notes that a function waits for an object, by a system call. If it also spins, it does so for the
 * same reason. */
void spinning_blocks(struct spin_objects *s, uint32_t process, uint32_t part, uint32_t object);
