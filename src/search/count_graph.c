#include "search/count_graph.h"

#include <math.h>

void count_graph_release(struct count_graph *c)
{
	vec_each (p, &c->parts)
		vec_free(&p->cells);
	vec_free(&c->nodes);
	vec_free(&c->edges);
	vec_free(&c->parts);
	hashmap_release(&c->node_index);
	hashmap_release(&c->edge_index);
	hashmap_release(&c->part_index);
	hashmap_release(&c->cell_index);
}

void count_graph_advance(struct count_graph *c, double now)
{
	if (!c->samples)
		c->begun = now;
	c->now = now;
}

static int64_t second_of(const struct count_graph *c)
{
	return (int64_t)floor(c->now);
}

static void count_add(struct count *k, int64_t second, double weight)
{
	for (int64_t i = 0; i < COUNT_SECONDS && k->second + i < second; i++)
		k->recent[(uint64_t)(second - i) % COUNT_SECONDS] = 0;
	k->second = second;
	k->recent[(uint64_t)second % COUNT_SECONDS] += weight;
	k->all += weight;
}

double count_of(const struct count_graph *c, const struct count *k, bool recent)
{
	if (!recent)
		return k->all;
	double sum = 0;
	int64_t first = second_of(c) - COUNT_SECONDS + 1;
	for (int64_t i = first; i <= k->second; i++)
		if (k->second - i < COUNT_SECONDS)
			sum += k->recent[(uint64_t)i % COUNT_SECONDS];
	return sum;
}

static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static uint32_t node_of(struct count_graph *c, uint32_t resource)
{
	uint32_t n = hashmap_add(&c->node_index, resource, c->nodes.len);
	if (n == c->nodes.len)
		vec_push(&c->nodes, (struct count_node){.resource = resource,
							.first_in = COUNT_NONE,
							.first_out = COUNT_NONE});
	return n;
}

static void add_edge(struct count_graph *c, uint32_t from, uint32_t to, double weight)
{
	uint32_t e = hashmap_add(&c->edge_index, pair(from, to), c->edges.len);
	if (e == c->edges.len) {
		struct count_node *f = &c->nodes.data[from], *t = &c->nodes.data[to];
		vec_push(&c->edges, (struct count_edge){.from = from,
							.to = to,
							.next_in = t->first_in,
							.next_out = f->first_out});
		t->first_in = f->first_out = e;
	}
	struct count_edge *edge = &c->edges.data[e];
	if (edge->stamp == c->samples)
		return;
	edge->stamp = c->samples;
	edge->all += weight;
}

static uint32_t part_of(struct count_graph *c, uint32_t machine)
{
	uint32_t p = hashmap_add(&c->part_index, machine, c->parts.len);
	if (p == c->parts.len)
		vec_push(&c->parts, (struct count_part){0});
	return p;
}

static void add_cell(struct count_graph *c, uint32_t part, uint32_t node, double weight)
{
	struct count_part *p = &c->parts.data[part];
	uint32_t at = hashmap_add(&c->cell_index, pair(part, node), p->cells.len);
	if (at == p->cells.len)
		vec_push(&p->cells, (struct count_cell){.node = node});
	count_add(&p->cells.data[at].count, second_of(c), weight);
}

static void add_chain(struct count_graph *c, uint32_t part, const struct stack_sample *x,
		      bool first)
{
	uint32_t caller = COUNT_NONE;
	for (uint32_t i = 0; i < x->length; i++) {
		if (x->chain[i] == CODE)
			continue;
		uint32_t node = node_of(c, x->chain[i]);
		if (first && caller != COUNT_NONE && caller != node)
			add_edge(c, caller, node, x->weight);
		caller = node;
		if (c->nodes.data[node].stamp == c->samples)
			continue;
		c->nodes.data[node].stamp = c->samples;
		add_cell(c, part, node, x->weight);
	}
}

void count_graph_add(struct count_graph *c, const struct resources *r, const struct stack_sample *x)
{
	bool first = true;
	for (uint32_t m = x->thread; m != RESOURCE_NONE; m = r->list.data[m].parent) {
		uint32_t part = part_of(c, m);
		/* Counted for each part of the machine: a stamp belongs to one walk along the
		 * chain. */
		c->samples++;
		count_add(&c->parts.data[part].count, second_of(c), x->weight);
		add_chain(c, part, x, first);
		first = false;
	}
}

const struct count_part *count_graph_part(const struct count_graph *c, uint32_t machine)
{
	uint32_t p = hashmap_get(&c->part_index, machine);
	return p == HASHMAP_NONE ? NULL : &c->parts.data[p];
}

double count_graph_get(const struct count_graph *c, uint32_t machine, uint32_t code, bool recent)
{
	uint32_t part = hashmap_get(&c->part_index, machine);
	uint32_t node = hashmap_get(&c->node_index, code);
	if (part == HASHMAP_NONE || node == HASHMAP_NONE)
		return 0;
	uint32_t cell = hashmap_get(&c->cell_index, pair(part, node));
	return cell == HASHMAP_NONE
		       ? 0
		       : count_of(c, &c->parts.data[part].cells.data[cell].count, recent);
}

double count_graph_rate(const struct count_graph *c, uint32_t machine, uint32_t code)
{
	double since = fmax(c->begun, (double)(second_of(c) - COUNT_SECONDS + 1));
	static const double least = 0.1; /* s: a rate over less time means nothing */
	return count_graph_get(c, machine, code, true) / fmax(c->now - since, least);
}
