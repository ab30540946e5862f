/* Finds the parts of the code to start at: the deepest of all parts that have enough samples.
 *
 * A function that calls itself, directly or through others, would be below itself. So whole
 * recursions are considered: the strongly connected components of the parts above the threshold, by
 * R. Tarjan's algorithm. A component is deepest if no edge leads from it to another one. In it, a
 * breadth-first walk begins at the part with the highest count and visits parts with nearly as high
 * a count; the last one it reaches is chosen. */
#include "search/count_graph.h"

struct node_visit {
	uint32_t node;
	double count;
	uint32_t edge;        /* the next edge to look at */
	uint32_t number, low; /* Tarjan's; 0: not visited yet */
	uint32_t component;   /* COUNT_NONE: not known yet */
	bool reached;         /* by furthest() */
};

static const double nearly_highest = 0.9; /* of the highest count in a component */

struct component_walk {
	struct count_graph *graph;
	/* All nodes above the threshold. The index of a visit is count_node.mark - 1. */
	VEC(struct node_visit) visits;
	VEC(uint32_t) path, open; /* indices of visits */
	uint32_t numbers, components;
};

/* Returns the visit of the node that an edge leads to; COUNT_NONE if that is below the
 * threshold. */
static uint32_t target(const struct component_walk *w, uint32_t edge)
{
	return w->graph->nodes.data[w->graph->edges.data[edge].to].mark - 1;
}

static void enter(struct component_walk *w, uint32_t i)
{
	struct node_visit *v = &w->visits.data[i];
	v->number = v->low = ++w->numbers;
	v->edge = w->graph->nodes.data[v->node].first_out;
	vec_push(&w->path, i);
	vec_push(&w->open, i);
}

static void close_component(struct component_walk *w, uint32_t first)
{
	uint32_t i;
	do {
		i = vec_pop(&w->open);
		w->visits.data[i].component = w->components;
	} while (i != first);
	w->components++;
}

static void leave(struct component_walk *w, uint32_t i)
{
	struct node_visit *v = &w->visits.data[i];
	(void)vec_pop(&w->path);
	if (v->low == v->number)
		close_component(w, i);
	if (w->path.len) {
		struct node_visit *caller = &w->visits.data[vec_last(&w->path)];
		if (v->low < caller->low)
			caller->low = v->low;
	}
}

static void step(struct component_walk *w)
{
	uint32_t i = vec_last(&w->path);
	struct node_visit *v = &w->visits.data[i];
	if (v->edge == COUNT_NONE) {
		leave(w, i);
		return;
	}
	uint32_t to = target(w, v->edge);
	v->edge = w->graph->edges.data[v->edge].next_out;
	if (to == COUNT_NONE)
		return;
	const struct node_visit *t = &w->visits.data[to];
	if (!t->number)
		enter(w, to);
	else if (t->component == COUNT_NONE && t->number < v->low)
		v->low = t->number;
}

static void find_components(struct component_walk *w)
{
	for (uint32_t i = 0; i < w->visits.len; i++) {
		if (!w->visits.data[i].number)
			enter(w, i);
		while (w->path.len)
			step(w);
	}
}

/* Returns for each component the visit with the highest count; COUNT_NONE if an edge leads out of
 * the component. */
static uint32_t *choose_in_components(struct component_walk *w)
{
	uint32_t *choice = xmalloc((w->components + 1) * sizeof(*choice));
	bool *leads_on = xcalloc(w->components + 1, sizeof(*leads_on));
	for (uint32_t k = 0; k < w->components; k++)
		choice[k] = COUNT_NONE;
	for (uint32_t i = 0; i < w->visits.len; i++) {
		const struct node_visit *v = &w->visits.data[i];
		uint32_t *best = &choice[v->component];
		if (*best == COUNT_NONE || v->count > w->visits.data[*best].count)
			*best = i;
		const struct count_node *n = &w->graph->nodes.data[v->node];
		for (uint32_t e = n->first_out; e != COUNT_NONE;
		     e = w->graph->edges.data[e].next_out) {
			uint32_t to = target(w, e);
			if (to != COUNT_NONE && w->visits.data[to].component != v->component)
				leads_on[v->component] = true;
		}
	}
	for (uint32_t k = 0; k < w->components; k++)
		if (leads_on[k])
			choice[k] = COUNT_NONE;
	free(leads_on);
	return choice;
}

/* Returns the last visit that a breadth-first walk from `first` reaches, within the component and
 * among nearly as high counts. */
static uint32_t furthest(struct component_walk *w, uint32_t first)
{
	double least = nearly_highest * w->visits.data[first].count;
	vec_clear(&w->path);
	vec_push(&w->path, first);
	w->visits.data[first].reached = true;
	for (uint32_t i = 0; i < w->path.len; i++) {
		const struct node_visit *v = &w->visits.data[w->path.data[i]];
		for (uint32_t e = w->graph->nodes.data[v->node].first_out; e != COUNT_NONE;
		     e = w->graph->edges.data[e].next_out) {
			uint32_t to = target(w, e);
			struct node_visit *t = to == COUNT_NONE ? NULL : &w->visits.data[to];
			if (!t || t->reached || t->component != v->component || t->count < least)
				continue;
			t->reached = true;
			vec_push(&w->path, to);
		}
	}
	return vec_last(&w->path);
}

static void gather(struct component_walk *w, const struct count_part *p, double least, bool recent)
{
	vec_each (cell, &p->cells) {
		double count = count_of(w->graph, &cell->count, recent);
		if (count < least)
			continue;
		vec_push(&w->visits, (struct node_visit){.node = cell->node,
							 .count = count,
							 .component = COUNT_NONE});
		w->graph->nodes.data[cell->node].mark = w->visits.len;
	}
}

void count_graph_deepest(struct count_graph *c, uint32_t machine, double share, bool recent,
			 resource_list *out)
{
	const double enough = 4; /* with fewer samples, a share means nothing */
	const struct count_part *p = count_graph_part(c, machine);
	double total = p ? count_of(c, &p->count, recent) : 0;
	if (total < enough)
		return;
	struct component_walk w = {.graph = c};
	gather(&w, p, share * total, recent);
	find_components(&w);
	uint32_t *choice = choose_in_components(&w);
	for (uint32_t i = 0; i < w.visits.len; i++)
		if (choice[w.visits.data[i].component] == i)
			vec_push(out, c->nodes.data[w.visits.data[furthest(&w, i)].node].resource);
	vec_each (v, &w.visits)
		c->nodes.data[v->node].mark = 0;
	free(choice);
	vec_free(&w.visits);
	vec_free(&w.path);
	vec_free(&w.open);
}
