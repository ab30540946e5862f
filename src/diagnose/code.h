/* Code as parts of a search: procedures and loops of all images, what they call, and in which of
 * them an address lies. Procedures are looked into when they are first asked about, and no others.
 *
 * Calls come from two sources: direct calls in the code, those through linkage tables by name; and
 * calls that were seen on stacks, which tell where indirect ones lead. The root of the hierarchy
 * "calls" the procedures that programs and threads begin with. */
#pragma once
#include "search/resource.h"
#include "unwind/space.h"

struct code_parts;

/* The name of the procedure that has va, as the image has it; "" if it is not known. */
const char *code_name_at(const struct code *code, uint64_t va);

/* A procedure, or a loop of it. */
struct code_part {
	struct code *code; /* NULL: neither, but an image or the root */
	uint64_t va;       /* start of the procedure */
	uint64_t loop;     /* header of the loop, or 0 */
};

/* Without `loops`, procedures are all there is. */
struct code_parts *code_parts_new(struct resources *r, bool loops);
void code_parts_free(struct code_parts *c);

/* An image is mapped: calls by name may lead there. Those of earlier ones go first. */
void code_parts_image(struct code_parts *c, struct code *code);

struct code_part code_part(const struct code_parts *c, uint32_t part);
/* The part of the procedure that has va, or RESOURCE_NONE. */
uint32_t code_part_at(struct code_parts *c, struct code *code, uint64_t va);
/* Adds that and the loops around va, the outermost first. */
void code_parts_around(struct code_parts *c, struct code *code, uint64_t va, resource_list *out);
/* Adds what a procedure or loop is refined to: its outermost loops, and what it calls outside of
 * them. */
void code_parts_below(struct code_parts *c, uint32_t part, resource_list *out);
/* Whether the procedure makes whichever system call its caller asks for (relay.h), by itself or by
 * another one that it hands its arguments on to. */
bool code_part_relays(struct code_parts *c, uint32_t part);
/* One was seen to call the other; false if that was seen before. */
bool code_parts_called(struct code_parts *c, uint32_t from, uint32_t to);
