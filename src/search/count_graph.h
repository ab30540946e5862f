/* The function count graph of one class of samples (Roth and Miller, section 3.2): the code that
 * was seen on stacks, with its calls. In the paper, a node has a tree of counts: one for all
 * samples, and one for those of each host, process and thread. Here these counts are the cells of a
 * table of nodes and parts of the machine. Each count is kept for the whole run, and for the last
 * seconds.
 *
 * A node or an edge counts once for each sample, however often a recursion has it on the stack. */
#pragma once
#include "search/search.h"

enum { COUNT_SECONDS = 3 }; /* the recent past: the current second and those before it */

struct count {
	double all, recent[COUNT_SECONDS];
	int64_t second; /* of the last change */
};

struct count_node {
	uint32_t resource;
	uint32_t first_in, first_out; /* edges */
	uint32_t stamp;               /* the last sample that it was in */
	uint32_t mark;                /* for deepest.c */
};

struct count_edge {
	uint32_t from, to;          /* nodes */
	uint32_t next_in, next_out; /* next edge of the same `to`, of the same `from` */
	uint32_t stamp;
	double all;
};

struct count_cell {
	uint32_t node;
	struct count count;
};

struct count_part {
	struct count count; /* all samples of the part */
	VEC(struct count_cell) cells;
};

struct count_graph {
	VEC(struct count_node) nodes;
	VEC(struct count_edge) edges;
	VEC(struct count_part) parts;
	struct hashmap node_index; /* resource of CODE -> node */
	struct hashmap edge_index; /* nodes -> edge */
	struct hashmap part_index; /* resource of MACHINE -> part */
	struct hashmap cell_index; /* part and node -> cell of the part */
	uint32_t samples;
	double now, begun;
};

enum { COUNT_NONE = UINT32_MAX };

void count_graph_release(struct count_graph *c);
void count_graph_advance(struct count_graph *c, double now);
void count_graph_add(struct count_graph *c, const struct resources *r,
		     const struct stack_sample *x);

double count_of(const struct count_graph *c, const struct count *k, bool recent);
/* Returns the weight of the samples of `machine` that are in `code`, or in code that it called. */
double count_graph_get(const struct count_graph *c, uint32_t machine, uint32_t code, bool recent);
/* Returns that weight per second, in the recent past. */
double count_graph_rate(const struct count_graph *c, uint32_t machine, uint32_t code);
/* NULL if there are no samples of it. */
const struct count_part *count_graph_part(const struct count_graph *c, uint32_t machine);

/* Adds the deepest parts of the code that have at least `share` of the samples of `machine`: no
 * edge leads from such a part to another one, except within a recursion. */
void count_graph_deepest(struct count_graph *c, uint32_t machine, double share, bool recent,
			 resource_list *out);
