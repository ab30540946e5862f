/* Where modules are mapped in each process: for probes, which need the bias, and for the names of
 * variables. */
#pragma once
#include "probe/engine/engine.h"

struct mapped_at {
	struct code *code;
	uint64_t bias; /* run-time address - va */
};

struct mapped_process {
	VEC(struct mapped_at) list;
	uint64_t condition_signals; /* see condition.h; 0: not looked up yet */
};

struct mapped {
	VEC(struct mapped_process) processes; /* by number */
};

void mapped_release(struct mapped *m);
/* Reads the modules of a process again; calls `each` with every one. */
void mapped_refresh(struct mapped *m, uint32_t process, struct space *space,
		    void (*each)(void *ctx, struct code *code), void *ctx);
/* Whether the process no longer has a module that it had. */
bool mapped_has_lost(const struct mapped *m, uint32_t process, struct space *space);
void mapped_forget(struct mapped *m, uint32_t process);
/* False if the process has not mapped the module. */
bool mapped_bias(const struct mapped *m, uint32_t process, const struct code *code, uint64_t *bias);
/* Returns the name of the variable at a run-time address, with its size and the offset of the
 * address in it; NULL if none is known. */
const char *mapped_variable(const struct mapped *m, uint32_t process, uint64_t address,
			    uint64_t *offset, uint64_t *size);
