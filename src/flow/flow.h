/* An image's procedures, and the flow graph of each on demand.
 *
 * flow_open() gathers the starts that the file itself tells (symbols, unwind tables, PLTs, entry
 * points) and is quick. flow_discover() adds what only the code tells (call targets, pointers,
 * inference in what is left over), decides which procedures never return and joins split-off parts
 * to their owners; it uses every processor. Without it, single procedures can be had at once:
 * flow_cfg() then decides about the callees it meets by looking at them. After either, calls from
 * several threads are safe. */
#pragma once
#include "flow/cfg.h"
#include "image/image.h"
#include "isa/arch.h"

/* How a procedure's start was found; a set. In the order in which --stats names them. */
enum found_by {
	FOUND_SYMBOL = 1 << 0,
	FOUND_DYNAMIC = 1 << 1, /* symbol in .dynsym */
	FOUND_FRAME = 1 << 2,   /* range in .eh_frame */
	FOUND_DEBUG = 1 << 3,   /* DWARF subprogram */
	FOUND_ENTRY = 1 << 4,   /* ELF entry point, init and fini functions */
	FOUND_PLT = 1 << 5,
	FOUND_CALL = 1 << 6,    /* direct call's target */
	FOUND_JUMP = 1 << 7,    /* tail call's target */
	FOUND_POINTER = 1 << 8, /* pointer in relocated data */
	FOUND_ADDRESS = 1 << 9, /* address computed by code */
	FOUND_GAP = 1 << 10,    /* inferred in code that nothing refers to */
	FOUND_WAYS = 11,
};

enum procedure_flag {
	PROCEDURE_NORETURN = 1 << 0,
	PROCEDURE_PLT = 1 << 1,
	PROCEDURE_IFUNC = 1 << 2,
};

struct procedure {
	uint64_t start, end; /* main part */
	const char *name;    /* mangled; "memcpy@plt" for a PLT entry; NULL if unknown */
	uint16_t found_by;
	uint8_t flags;
	bool bounded; /* the file says where it ends: no other will be found to start in it */
	/* Further ranges split off by the compiler (foo.cold), in flow_parts(). */
	uint32_t first_part, part_count;
};

struct flow;

extern const char *const found_by_name[FOUND_WAYS];

/* The image must outlive the result. Fails only for a machine that is not supported. */
int flow_open(struct flow **out, const struct image *im, struct err *e);
void flow_close(struct flow *f);

/* Adds a start known from elsewhere (DWARF); end and name may be 0 and NULL. Before
 * flow_discover(). */
void flow_add_start(struct flow *f, uint64_t start, uint64_t end, const char *name,
		    enum found_by how);

/* Finds whose parts were split off, by what looks like a jump to them, and which of them are
 * procedures after all, by what looks like a call: a part of flow_discover() that takes little
 * time. Does nothing the second time. Pointers from flow_procedures() and flow_parts() are void
 * after. */
void flow_join_parts(struct flow *f);

/* Does nothing the second time. Pointers from flow_procedures() and flow_parts() are void after. */
void flow_discover(struct flow *f);

const struct arch *flow_arch(const struct flow *f);
const struct image *flow_image(const struct flow *f);
/* Sorted by start. */
const struct procedure *flow_procedures(const struct flow *f, uint32_t *count);
const struct part *flow_parts(const struct flow *f);
/* The procedure that holds va in its main or a further part, or UINT32_MAX. */
uint32_t flow_procedure_at(const struct flow *f, uint64_t va);
/* The procedure's flow graph, in `a`. */
const struct cfg *flow_cfg(struct flow *f, uint32_t procedure, struct arena *a, struct arena *tmp);
