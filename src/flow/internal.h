/* What the files of flow/ share about an image whose procedures are being found. */
#pragma once
#include <stdatomic.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "flow/build.h"
#include "flow/flow.h"

enum { MAX_WORKERS = 64 };

/* A procedure as it is known so far. */
struct proc {
	uint64_t start, end;
	const char *name;
	uint16_t found_by;
	uint8_t flags;
	/* Where the next start is that is more than a guess: as far as the procedure goes if those
	 * before it turn out to be labels in it. As of when its graph was built. */
	uint64_t reach;
	bool like_label; /* its code could be in the middle of a procedure */
	bool bounded;    /* the file itself says where it ends; else `end` is only the next start */
	bool dirty;      /* what its graph was built from has changed */
	bool fresh;      /* its graph was built in this round */
	atomic_uchar returns; /* enum returns; used when graphs are built one by one */
	const struct cfg *cfg;
	struct part *parts; /* split off */
	uint32_t part_count;
};

enum returns { RETURNS_UNKNOWN, RETURNS_YES, RETURNS_NO };

/* Code that the file says was split off some procedure: foo.cold, or an unwind range that begins
 * with a frame in place. */
struct fragment {
	uint64_t start, end;
	const char *name; /* or NULL */
	bool taken;       /* has found its owner */
};

struct owned_part {
	struct part part;
	uint32_t owner; /* index in procs */
};

typedef VEC(struct proc) proc_list;

struct flow {
	const struct image *im;
	const struct arch *arch;
	proc_list procs;                /* sorted by start, one at each */
	proc_list added;                /* starts not merged into procs yet */
	VEC(struct fragment) fragments; /* sorted by start */
	VEC(uint64_t) code_pointers;    /* addresses of code found in data; sorted, each once */
	struct hashmap by_start;        /* start -> index in procs */
	struct arena arena;             /* names, parts */
	struct arena graphs[MAX_WORKERS], tmp[MAX_WORKERS];
	bool joined, discovered;

	struct procedure *published;
	VEC(struct part) parts;
	VEC(struct owned_part) owned_parts; /* sorted by start */
};

/* procs.c */
void add_start(struct flow *f, uint64_t start, uint64_t end, const char *name, unsigned found_by,
	       unsigned flags);
/* Moves `added` into `procs`: sorts, merges what starts at the same address, sets ends, marks as
 * dirty what became shorter. */
void merge_starts(struct flow *f);
/* Whether nothing proves that a procedure begins there: it may be a label in the one before. */
bool is_guess(const struct proc *p);
/* Sets how far each procedure may reach. */
void set_reaches(struct flow *f);
/* The procedure whose main part holds va; UINT32_MAX if none. */
uint32_t proc_at(const struct flow *f, uint64_t va);
/* Brings `added` in order. */
void sort_starts(struct flow *f);
void append_part(struct arena *a, struct proc *p, struct part part);
/* Gives the procedure a further range for good; its graph has to be built again. */
void add_part(struct flow *f, struct proc *p, uint64_t start, uint64_t end);
void publish(struct flow *f);

/* starts.c: what the file tells. */
void starts_from_file(struct flow *f);

/* plt.c: one procedure for each entry, named after what it calls. */
bool is_plt_section(const struct section *s);
void starts_from_plt(struct flow *f);

/* noreturn.c */
/* `imported`: the name is of another image's procedure, not one that can be looked at. */
bool is_noreturn_name(const char *name, bool imported);

/* flow.c */
const struct cfg *build_proc(struct flow *f, const struct proc *p, struct arena *a,
			     struct arena *tmp);
/* Whether any way through the graph comes back to the caller. */
bool graph_returns(const struct flow *f, const struct cfg *g);

/* parts.c */
/* The fragment that holds va, or NULL. */
struct fragment *fragment_at(const struct flow *f, uint64_t va);
/* If va is in a part without owner, p owns it. */
bool take_fragment(struct flow *f, struct proc *p, uint64_t va);
/* Landing pads may be in parts of their procedures. */
void take_landings(struct flow *f);
/* Whether the jump out of its procedure that ends b leads to a part of the same procedure, and to
 * which. */
bool part_of_jump(const struct flow *f, const struct block *b, struct part *out);
/* A part that p's graph leads to and that p does not have yet. */
bool find_part(const struct flow *f, const struct proc *p, const struct cfg *g, struct part *out);

/* gaps.c: starts in code that nothing led to. They add to `added`. */
struct gap_list {
	VEC(struct part) gaps;
};
/* The code that belongs to no procedure, and is not all padding. */
void find_gaps(const struct flow *f, struct gap_list *out);
/* From what the code of known procedures computes, or leaves to by a tail call. */
void starts_from_addresses(struct flow *f, const struct gap_list *gaps);
void starts_from_gaps(struct flow *f, const struct gap_list *gaps);
