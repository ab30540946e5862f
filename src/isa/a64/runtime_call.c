/* Calls of the runtime in A64. */
#include "isa/a64/words.h"
#include "isa/arch.h"

void a64_call_runtime(struct emit *e, uint64_t routine)
{
	struct emit_target to = {.label = LABEL_NONE, .pc = routine};
	if (a64_reaches(e, A64_DISTANCE_26, to)) {
		a64_put_to(e, A64_BL, A64_DISTANCE_26, to);
	} else {
		a64_set_register(e, A64_IP1, routine);
		a64_put(e, a64_blr(A64_IP1));
	}
}

void a64_restore_after_call(struct emit *e, uint64_t keep)
{
	bool ip0 = !(keep >> A64_IP0 & 1), ip1 = !(keep >> A64_IP1 & 1);

	if (!(keep >> A64_LINK & 1))
		a64_put(e, a64_ldr(A64_LINK, A64_SP, 16));
	if (ip0 && ip1) {
		a64_put(e, a64_pop_pair(A64_IP0, A64_IP1, RUNTIME_CALL_FRAME_A64));
		return;
	}
	if (ip0)
		a64_put(e, a64_ldr(A64_IP0, A64_SP, 0));
	if (ip1)
		a64_put(e, a64_ldr(A64_IP1, A64_SP, 8));
	a64_put(e, a64_add_imm(A64_SP, A64_SP, RUNTIME_CALL_FRAME_A64));
}
