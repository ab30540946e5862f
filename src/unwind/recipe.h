/* Recipes: how to find the caller's registers from those of a procedure that is stopped at some
 * address (Tallent et al., PLDI 2009, section 2.2).
 *
 * The caller's stack pointer is called CFA, as in DWARF: its value once the callee has returned.
 * Saved registers are at fixed distances from it, or from another register. Recipes are plain data
 * and shared by all addresses that need the same one; struct recipe_entry is the compact table that
 * maps addresses to them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "isa/arch.h"

enum cfa_kind {
	CFA_UNKNOWN,
	CFA_REGISTER, /* reg + offset */
	CFA_MEMORY,   /* *(reg + offset) + add */
};

/* Where the return address is. */
enum return_kind {
	RETURN_UNKNOWN,
	RETURN_SAVED,    /* at CFA + return_offset */
	RETURN_REGISTER, /* in return_reg: only before the procedure calls anything */
	RETURN_NONE, /* nowhere: nothing called this code, a thread or the process begins here */
};

/* Where a recipe comes from. */
enum recipe_source {
	RECIPE_ANALYSIS, /* the code itself */
	RECIPE_CFI,      /* call frame information */
	RECIPE_ASSUMED,  /* code that no path reaches: the procedure's usual frame */
};

enum { CALLEE_SAVED_MAX = 12, SLOT_SAME = INT32_MAX, SLOT_LOST = INT32_MIN };

struct recipe {
	uint8_t cfa; /* enum cfa_kind */
	uint8_t cfa_reg;
	uint8_t ret; /* enum return_kind */
	uint8_t ret_reg;
	int32_t cfa_offset;
	int32_t cfa_add;
	int32_t ret_offset;
	/* For each register of callee_saved_list(): at CFA + slot bytes; or still in the register
	 * (SLOT_SAME); or not to be found (SLOT_LOST). */
	int32_t slot[CALLEE_SAVED_MAX];
	/* Slots count from the value of this register, or with REG_NONE from the CFA: code that
	 * aligns its stack saves registers at an unknown distance from the CFA. */
	uint8_t slot_reg;
	uint8_t source; /* enum recipe_source */
	/* The frame pointer points at a frame record: at the caller's frame pointer, behind which
	 * is the return address. The kernel follows these. */
	bool record;
	/* The code goes to another frame than its caller's (longjmp), and has forgotten its caller:
	 * all this is about the frame it goes to, and the return address is where it jumps. If the
	 * CFA is unknown, the frame pointer is that frame's already. */
	bool switches;
};

/* From `start` (relative to the image's lowest address) up to the next entry. */
struct recipe_entry {
	uint32_t start;
	uint32_t recipe;
};

/* The general registers a procedure must preserve, without the stack pointer and the link register,
 * ascending; returns how many. */
unsigned callee_saved_list(const struct arch *arch, uint8_t out[CALLEE_SAVED_MAX]);
