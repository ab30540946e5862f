/* What the operations of a probe read and write: for those who choose registers for them. */
#pragma once
#include "isa/emit.h"

/* Sets of values: bit v is value v. Registers that are held are not among them. */
uint8_t op_reads(const struct emit_op *op);
uint8_t op_writes(const struct emit_op *op);
/* Whether control may go on to the aside. */
bool op_branches(const struct emit_op *op);

/* The probe in the form that architectures write: a counter by its operations, which are put into
 * `counter`; in `held` also what operations name; and nothing of that in `free`. */
enum { COUNTER_OPS = 2 };
struct emit_probe probe_in_full(const struct emit_probe *p, struct emit_op counter[COUNTER_OPS]);
/* Whether the probe keeps to what emit.h says about operations. */
bool ops_are_valid(const struct emit_probe *p);
/* The values that the operation does not name and that nothing needs from there on. */
uint8_t ops_spare(const struct emit_probe *p, uint32_t at);
