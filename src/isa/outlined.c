#include "isa/outlined.h"

#include <string.h>

/* Both take the address last, after the values, in the first registers; the result is in the
 * first. */
static const struct {
	const char *beginning;
	uint64_t reads;
} functions[] = {
	{"__aarch64_cas", 1 << 0 | 1 << 1 | 1 << 2},
	{"__aarch64_swp", 1 << 0 | 1 << 1},
};

bool outlined_atomic(const char *function, struct insn *call)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strncmp(function, functions[i].beginning, strlen(functions[i].beginning)) != 0)
			continue;
		call->kind = INSN_PLAIN;
		call->class = CLASS_ATOMIC;
		call->op = OP_OTHER;
		call->reads = (struct regset){.core = functions[i].reads};
		call->writes = (struct regset){.core = 1};
		return true;
	}
	return false;
}
