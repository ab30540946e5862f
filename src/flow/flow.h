/* The functions of a module, and the flow graph of each on demand.
 *
 * flow_open() collects the starts that the file itself gives (symbols, unwind tables, PLTs, entry
 * points); it is quick. flow_discover() adds the starts that only the code shows (call targets,
 * pointers, inference in what is left over), decides which functions never return, and joins
 * split-off parts to their owners; it uses every CPU. Without flow_discover(), flow_cfg() gives the
 * graph of a single function at once; it then looks at the callees to see whether they return.
 * After either, calls from several threads are safe. */
#pragma once
#include "flow/cfg.h"
#include "isa/arch.h"
#include "module/module.h"

/* How the start of a function was found: a set of these. --stats lists them in this order. */
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
	FOUND_METHODS = 11,
};

enum function_flag {
	FUNCTION_NORETURN = 1 << 0,
	FUNCTION_PLT = 1 << 1,
	FUNCTION_IFUNC = 1 << 2,
};

struct function {
	uint64_t start, end; /* main part */
	const char *name;    /* mangled; "memcpy@plt" for a PLT entry; NULL if unknown */
	uint16_t found_by;
	uint8_t flags;
	bool bounded; /* the file says where it ends, so no other function starts inside */
	/* Ranges that the compiler split off (foo.cold), in flow_parts(). */
	uint32_t first_part, part_count;
};

struct flow;

extern const char *const found_by_name[FOUND_METHODS];

/* `m` must outlive the result. Fails only for an unsupported machine type. */
int flow_open(struct flow **out, const struct module *m, struct err *e);
/* The same, with the help of the cache (start_cache.h). Starts are collected when they are first
 * asked for: programs have hundreds of libraries, of which few are sampled. Not for modules that
 * module_add_*() changed, or changes before that. */
int flow_open_cached(struct flow **out, const struct module *m, struct err *e);
/* Whether they are collected. */
bool flow_is_ready(const struct flow *f);
void flow_close(struct flow *f);

/* Adds a start known from elsewhere (DWARF); end and name may be 0 and NULL. Call it before
 * flow_discover(). */
void flow_add_start(struct flow *f, uint64_t start, uint64_t end, const char *name,
		    enum found_by how);

/* A part of flow_discover() that takes little time. It joins split-off parts to the functions that
 * seem to jump to them. Parts that seem to be called become functions. A second call does nothing.
 * Pointers from flow_functions() and flow_parts() become invalid. */
void flow_join_parts(struct flow *f);
/* The same, if the code at va is a part that was split off; else it does nothing. Returns true if
 * that part has an owner, then. */
bool flow_join_part(struct flow *f, uint64_t va);

/* A second call does nothing. Pointers from flow_functions() and flow_parts() become invalid. */
void flow_discover(struct flow *f);

/* Makes the function known that has va, also in a split-off part, without the others:
 * flow_discover() for a few addresses. It takes some tens of microseconds in a large module; a
 * small one is discovered as a whole, unless the functions next to va are known. Pointers from
 * flow_functions() and numbers of functions become invalid. */
void flow_discover_near(struct flow *f, uint64_t va);
/* Whether flow_discover_near() has nothing to add. */
bool flow_is_searched(const struct flow *f, uint64_t va);

const struct arch *flow_arch(const struct flow *f);
const struct module *flow_module(const struct flow *f);
/* Sorted by start. */
const struct function *flow_functions(const struct flow *f, uint32_t *count);
const struct part *flow_parts(const struct flow *f);
/* The function that has va in its main part or in a split-off part, or UINT32_MAX. */
uint32_t flow_function_at(const struct flow *f, uint64_t va);
/* The flow graph of the function, in `a`. */
const struct cfg *flow_cfg(struct flow *f, uint32_t function, struct arena *a, struct arena *tmp);
