/* Shared by the forms of `sonde dump`. */
#pragma once
#include "base/text.h"
#include "cli/args/options.h"
#include "flow/flow.h"
#include "flow/private.h"
#include "isa/text.h"
#include "patch/intrusions.h"
#include "unwind/recipes.h"

struct dump_args {
	const char *function;
	struct option_number start, end;
	bool lazy, text, cfi, analysis;
	const char *points;
	bool relocate, traps, count;
};

struct dump {
	const struct dump_args *args;
	const struct module *module;
	const struct arch *arch;
	struct flow *flow;
	struct insn_printer *printer;     /* dump insn and dump plan only */
	struct recipes *recipes;          /* dump recipes only */
	uint32_t kinds;                   /* dump plan only */
	struct intrusions intrusions;     /* dump plan only */
	struct private_registers private; /* dump private, and dump plan --count */
	struct arena result, tmp;         /* cleared after each function */
	struct text out;
};

/* Adds "function NAME 0x10-0x20 part=0x30-0x40", without a newline. */
void dump_heading(struct dump *d, const struct function *p);
void dump_bytes(const uint8_t *p, size_t n, struct text *out);
/* Adds " ; mnemonic operands", unless --no-text was given. */
void dump_assembly(struct dump *d, const uint8_t *p, size_t n, uint64_t pc);
/* Adds " flags=a,b" for the bits set, nothing if none is set; a bit without a name is "bit7". */
void dump_flags(uint16_t flags, const char *const names[16], struct text *out);
/* Adds the registers of a set by name, "x0,x1,flags", or "-" if it is empty. Vector registers are
 * v0, v1, ... */
void dump_registers(const struct dump *d, const struct regset *set, struct text *out);

/* Decodes [start, end) instruction by instruction; bytes that are no instruction are "bad". */
void dump_range(struct dump *d, uint64_t start, uint64_t end);
/* Each of these adds one function in one form. */
void dump_insns(struct dump *d, uint32_t function);
void dump_cfg(struct dump *d, uint32_t function);
void dump_loops(struct dump *d, uint32_t function);
void dump_recipes(struct dump *d, uint32_t function);
void dump_live(struct dump *d, uint32_t function);
void dump_private(struct dump *d, uint32_t function);
/* Adds the candidate registers that are private to no function of the module, one per line. */
void dump_losses(struct dump *d);
void dump_points(struct dump *d, uint32_t function);
void dump_plan(struct dump *d, uint32_t function);
/* Parses a list of names into a set of point kinds; false if a name is unknown. */
bool dump_parse_points(const char *list, uint32_t *kinds);
