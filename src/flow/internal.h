/* What the files of flow/ share while the functions of a module are being found. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "flow/build.h"
#include "flow/flow.h"
#include "flow/known_graphs.h"
#include "flow/packed_graph.h"

enum { MAX_WORKERS = 64 };

/* What is known of a function so far. */
struct func {
	uint64_t start, end;
	const char *name;
	/* The next start that is more than a guess. The function extends up to there if the guessed
	 * starts before it turn out to be labels of this function. set_reaches() sets it before
	 * graphs are built. */
	uint64_t reach;
	uint16_t found_by;
	uint8_t flags;
	bool like_label; /* the code at `start` could be in the middle of a function */
	bool bounded;    /* the file says where it ends; otherwise `end` is only the next start */
	bool dirty;      /* its graph has to be built again */
	bool fresh;      /* its graph was built in this round */
	atomic_uchar returns; /* enum returns; only used before flow_discover() */
	uint32_t part_count;
	struct part *parts;               /* its split-off parts */
	const struct packed_graph *graph; /* NULL before flow_discover() built it */
};

enum returns { RETURNS_UNKNOWN, RETURNS_YES, RETURNS_NO };

/* Code that was split off some function, according to the file: foo.cold, or an unwind range that
 * begins with a frame in place. */
struct detached_part {
	uint64_t start, end;
	const char *name; /* or NULL */
	bool taken;       /* its owner is known, or it is a function itself */
};

struct owned_part {
	struct part part;
	uint32_t owner; /* index in funcs */
};

typedef VEC(struct func) func_list;

struct flow {
	const struct module *module;
	const struct arch *arch;
	func_list funcs; /* sorted by start, no two with the same; empty after flow_discover() */
	func_list added; /* starts not merged into funcs yet */
	VEC(struct detached_part) fragments; /* sorted by start */
	VEC(uint64_t) code_pointers; /* addresses of code in data: sorted, without duplicates */
	struct hashmap by_start;     /* start -> index in funcs; empty before flow_discover() */
	struct arena arena;          /* names, parts */
	struct arena graphs[MAX_WORKERS], tmp[MAX_WORKERS];
	VEC(struct part) searched; /* code that flow_discover_near() has searched, sorted */
	uint32_t stored;           /* how many of these the cache has */
	bool cached;               /* the cache is used */
	bool joined, discovered;
	atomic_bool started; /* the starts that the file gives are known: need_starts() */
	pthread_mutex_t starting;

	struct function *published;
	uint32_t published_count;
	const struct packed_graph **published_graphs; /* after flow_discover() */
	struct known_graphs known;                    /* before it */
	VEC(struct part) parts;
	VEC(struct owned_part) owned_parts; /* sorted by start */
};

/* functions.c */
void add_start(struct flow *f, uint64_t start, uint64_t end, const char *name, unsigned found_by,
	       unsigned flags);
/* Moves `added` into `funcs`: sorts, merges starts at the same address, sets the ends, and marks
 * functions that became shorter as dirty. */
void merge_starts(struct flow *f);
/* Adds one function at once, also to the published list. Other functions get other numbers. */
void insert_start(struct flow *f, uint64_t start, uint64_t end, enum found_by how);
/* Whether nothing proves that a function begins there: p may be a label of the function before it.
 */
bool is_guess(const struct func *p);
/* Makes by_start, if the functions are being discovered: many look-ups follow. */
void index_starts(struct flow *f);
/* The function that starts there; HASHMAP_NONE if none does. */
uint32_t func_from(const struct flow *f, uint64_t start);
/* Sets func.reach of all functions. */
void set_reaches(struct flow *f);
/* The function whose main part holds va; UINT32_MAX if none. */
uint32_t func_at(const struct flow *f, uint64_t va);
/* Sorts `added`. */
void sort_starts(struct flow *f);
void append_part(struct arena *a, struct func *p, struct part part);
/* Adds a part to the function for good; its graph has to be built again. */
void add_part(struct flow *f, struct func *p, uint64_t start, uint64_t end);
void publish(struct flow *f);

/* lookup.c */
/* Collects the starts that the file gives, if flow_open_cached() has put that off. To be called by
 * each function of flow.h before it looks at any. */
void need_starts(const struct flow *f);

/* starts.c: the starts and parts that the file itself gives. */
void starts_from_file(struct flow *f);

/* plt.c: a function for each PLT entry, named after what it calls. */
bool is_plt_section(const struct section *s);
void starts_from_plt(struct flow *f);

/* noreturn.c */
/* `imported`: the function is in another module, so its code cannot be looked at. */
bool is_noreturn_name(const char *name, bool imported);

/* flow.c */
const struct cfg *build_func(struct flow *f, const struct func *p, struct arena *a,
			     struct arena *tmp);
/* Whether any path through the graph returns to the caller. */
bool graph_returns(const struct flow *f, const struct packed_graph *g);

/* parts.c */
/* The fragment that holds va, or NULL. */
struct detached_part *fragment_at(const struct flow *f, uint64_t va);
/* Gives p the fragment that holds va, if that has no owner yet; true if so. */
bool take_fragment(struct flow *f, struct func *p, uint64_t va);
/* Gives functions the fragments that hold their landing pads. */
void take_landings(struct flow *f);
/* Whether the jump that ends b, which leaves its function, leads to a part of the same function;
 * *out is that part. */
bool part_of_jump(const struct flow *f, const struct block *b, struct part *out);
/* Finds a part that p's graph leads to and that p does not have yet. */
bool find_part(const struct flow *f, const struct func *p, const struct cfg *g, struct part *out);

/* gaps.c: starts in code that nothing refers to. They are put into `added`. */
struct gap_list {
	VEC(struct part) gaps;
};
/* The code that belongs to no function and is not only padding. */
void find_gaps(const struct flow *f, struct gap_list *out);
/* Adds starts in gaps whose addresses known functions compute or tail-call. */
void starts_from_addresses(struct flow *f, const struct gap_list *gaps);
void starts_from_gaps(struct flow *f, const struct gap_list *gaps);
/* Whether control does not go on after the instruction, to `next`; code ends at `end`. */
bool control_ends(const struct flow *f, const struct insn *in, uint64_t next, uint64_t end);
/* Where code begins after the padding at va. */
uint64_t skip_padding(const struct flow *f, uint64_t va, uint64_t end);
/* The highest end of a block. */
uint64_t end_of_graph(const struct cfg *g);

/* near.c: flow_discover_near(), also in small modules. */
void search_near(struct flow *f, uint64_t va);

/* discover.c */
/* Bytes of code that the file has. */
uint64_t code_size(const struct module *m);
