/* Loops that wait: they read memory until another thread has changed it, and compute nothing
 * besides. They may pause, yield their CPU, count their tries and try an atomic operation; they
 * call nothing else, and write no memory but the stack. */
#pragma once
#include "flow/loops.h"
#include "unwind/space.h"

struct spin {
	bool spins;
	/* An instruction that reads what is waited for, from an address that the loop does not
	 * change; 0 if there is none. */
	uint64_t read;
};

struct spin spin_in(const struct code *code, const struct cfg *g, const struct loop_forest *f,
		    uint32_t loop);

/* Returns the address that the instruction reads. `bias` is that of its module. */
uint64_t spin_address(const struct insn *in, const uint64_t *registers, uint64_t bias);
