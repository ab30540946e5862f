/* What the forms of `sonde dump` share. */
#pragma once
#include "base/text.h"
#include "cli/args/options.h"
#include "flow/flow.h"
#include "flow/private.h"
#include "isa/text.h"
#include "patch/intrusions.h"
#include "unwind/recipes.h"

struct dump_args {
	const char *procedure;
	struct option_number start, end;
	bool lazy, text, cfi, analysis;
	const char *points;
	bool relocate, traps;
};

struct dump {
	const struct dump_args *args;
	const struct image *image;
	const struct arch *arch;
	struct flow *flow;
	struct insn_printer *printer;     /* dump insn and dump plan only */
	struct recipes *recipes;          /* dump recipes only */
	uint32_t kinds;                   /* dump plan only */
	struct intrusions intrusions;     /* dump plan only */
	struct private_registers private; /* dump private only */
	struct arena result, tmp;         /* cleared after each procedure */
	struct text out;
};

/* "procedure NAME 0x10-0x20 part=0x30-0x40", without end of line. */
void dump_heading(struct dump *d, const struct procedure *p);
void dump_bytes(const uint8_t *p, size_t n, struct text *out);
/* " ; mnemonic operands", if that is wanted. */
void dump_assembly(struct dump *d, const uint8_t *p, size_t n, uint64_t pc);
/* " flags=a,b" for the bits set, nothing if none is; a bit without a name comes out as "bit7". */
void dump_flags(uint16_t flags, const char *const names[16], struct text *out);
/* Registers of a set by name, "-" if there are none: "x0,x1,flags". Vector registers as v0, v1, ...
 */
void dump_registers(const struct dump *d, const struct regset *set, struct text *out);

/* Decodes [start, end) one after the other; bytes that are no instruction are "bad". */
void dump_range(struct dump *d, uint64_t start, uint64_t end);
/* One procedure in each form. */
void dump_insns(struct dump *d, uint32_t procedure);
void dump_cfg(struct dump *d, uint32_t procedure);
void dump_loops(struct dump *d, uint32_t procedure);
void dump_recipes(struct dump *d, uint32_t procedure);
void dump_live(struct dump *d, uint32_t procedure);
void dump_private(struct dump *d, uint32_t procedure);
/* Candidates that are private to no procedure of the image, a line each. */
void dump_losses(struct dump *d);
void dump_points(struct dump *d, uint32_t procedure);
void dump_plan(struct dump *d, uint32_t procedure);
/* The set of point kinds that a list of their names means; false if one is unknown. */
bool dump_parse_points(const char *list, uint32_t *kinds);
