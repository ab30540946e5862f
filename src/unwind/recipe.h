/* Recipes: how to find the caller's registers from those of a function that is stopped at some
 * address (Tallent et al., PLDI 2009, section 2.2).
 *
 * The caller's stack pointer after the callee has returned is called CFA, as in DWARF. Saved
 * registers are at fixed distances from it, or from another register. Recipes are plain data and
 * shared by all addresses that need the same one. struct recipe_entry is the compact table that
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
	RETURN_REGISTER, /* in return_reg: only before the function calls anything */
	/* there is none: nothing called this code, a thread or the process begins here */
	RETURN_NONE,
};

/* Where a recipe comes from. */
enum recipe_source {
	RECIPE_ANALYSIS, /* analysis of the code itself */
	RECIPE_CFI,      /* call frame information */
	RECIPE_ASSUMED,  /* assumed for code that no path reaches: the function's usual frame */
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
	/* For each register of callee_saved_list(): saved at CFA + slot bytes; or still in the
	 * register (SLOT_SAME); or lost (SLOT_LOST). */
	int32_t slot[CALLEE_SAVED_MAX];
	/* The register that slots are relative to, or REG_NONE for the CFA: code that aligns its
	 * stack saves registers at an unknown distance from the CFA. */
	uint8_t slot_reg;
	uint8_t source; /* enum recipe_source */
	/* The frame pointer points to a frame record: the caller's frame pointer, followed by the
	 * return address. The kernel follows these. */
	bool record;
	/* The code switches to another frame than its caller's (longjmp), and no longer knows its
	 * caller. Then the recipe leads to the frame that it switches to, and the return address is
	 * the target of its jump. If the CFA is unknown, the frame pointer is already that of the
	 * new frame. */
	bool switches;
};

/* Maps addresses from `start` (relative to the module's lowest address) up to the next entry. */
struct recipe_entry {
	uint32_t start;
	uint32_t recipe;
};

/* The general registers that a function must preserve, without the stack pointer and the link
 * register, ascending; returns their number. */
unsigned callee_saved_list(const struct arch *arch, uint8_t out[CALLEE_SAVED_MAX]);
