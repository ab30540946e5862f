/* Code as parts of a search: functions and loops of all modules, what they call, and which of them
 * contain an address. A function is analysed when it is first needed.
 *
 * Calls are found in two ways. Direct calls are read from the code; those through linkage tables
 * are resolved by name. Other calls are seen on stacks, which show the targets of indirect calls.
 * The root of the hierarchy "calls" the functions that programs and threads begin with. */
#pragma once
#include "diagnose/spin.h"
#include "search/resource.h"
#include "unwind/space.h"

struct code_parts;

/* Returns the name of the function at va, as the module has it; "" if it is not known. */
const char *code_name_at(const struct code *code, uint64_t va);
/* Returns a name without what C libraries put in front of their internal ones: "write" of
 * "__GI___libc_write". */
const char *code_plain_name(const char *name);

/* A function, or a loop of it. */
struct code_part {
	struct code *code; /* NULL: neither, but a module or the root */
	uint64_t va;       /* start of the function */
	uint64_t loop;     /* header of the loop, or 0 */
};

/* Without `loops`, all parts are functions. */
struct code_parts *code_parts_new(struct resources *r, bool loops);
void code_parts_free(struct code_parts *c);

/* Adds a mapped module, which calls by name may lead to. If several define a name, the first one
 * that was added counts. */
void code_parts_module(struct code_parts *c, struct code *code);

struct code_part code_part(const struct code_parts *c, uint32_t part);
/* Returns the part of the function at va, or RESOURCE_NONE. */
uint32_t code_part_at(struct code_parts *c, struct code *code, uint64_t va);
/* Adds the part of the function at va and those of the loops around va, the outermost first. */
void code_parts_around(struct code_parts *c, struct code *code, uint64_t va, resource_list *out);
/* Adds what a function or loop is refined to: its outermost inner loops, and its callees outside of
 * these. */
void code_parts_below(struct code_parts *c, uint32_t part, resource_list *out);
/* True if the part is a relay (relay.h), by itself or because it passes all its arguments on to
 * one. */
bool code_part_relays(struct code_parts *c, uint32_t part);
/* Returns the function of a part: the first ancestor that is not a loop. */
uint32_t code_part_function(const struct code_parts *c, uint32_t part);
/* Whether the part is a loop that spins, or is within one. */
struct spin code_part_spin(struct code_parts *c, uint32_t part);
/* Whether the part's function has a loop that spins, or is a barrier (hand_barrier.h). */
bool code_function_spins(struct code_parts *c, uint32_t part);
bool code_function_is_barrier(struct code_parts *c, uint32_t part);
/* Notes that `from` was seen to call `to`. Returns false if that was seen before. */
bool code_parts_called(struct code_parts *c, uint32_t from, uint32_t to);
