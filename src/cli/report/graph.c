/* The loop-call graph as a list: each function and loop with its outgoing edges (LoopSampler,
 * Moseley et al., section 4). */
#include "profile/graph.h"
#include "cli/report/view.h"
#include "cli/term/text.h"

enum { CALLS_COLUMNS = 10 };

/* Adds the calls of a node or edge, if they were counted. */
static void add_calls(const struct report *r, bool counted, uint64_t calls, struct text *out)
{
	if (counted)
		add_count_cell(out, calls, CALLS_COLUMNS);
	else if (report_is_counted(r))
		text_fill(out, ' ', CALLS_COLUMNS);
}

static size_t calls_columns(const struct report *r)
{
	return report_is_counted(r) ? CALLS_COLUMNS : 0;
}

static void build(const struct report *r, struct graph *g)
{
	struct report ctx = *r;
	const struct tree_options o = report_tree_options(&ctx, false);
	graph_build(g, &r->tree);
	graph_count(g, r->profile, &o);
}

static bool is_shown(const struct report *r, uint64_t amount)
{
	return (double)amount >= r->min_share * (double)r->total;
}

static struct outline_node as_outline(const struct graph_node *n)
{
	return (struct outline_node){.scope = n->scope,
				     .kind = n->loop ? OUTLINE_LOOP : OUTLINE_FUNCTION,
				     .self = n->self,
				     .total = n->total,
				     .self_samples = n->self_samples,
				     .total_samples = n->total_samples};
}

/* Adds the edges of one node, which begin at `edge`. Returns where those of the next node begin. */
static uint32_t add_edges(const struct report *r, const struct graph *g, uint32_t edge,
			  uint32_t from, struct text *out)
{
	for (; edge < g->edges.len && g->edges.data[edge].from == from; edge++) {
		const struct graph_edge *e = &g->edges.data[edge];
		if (!is_shown(r, e->amount))
			continue;
		struct outline_node to = as_outline(&g->nodes.data[e->to]);
		text_fill(out, ' ', 10);
		add_share(out, e->amount, r->total);
		add_calls(r, e->counted, e->calls, out);
		text_add(out, "  -> ");
		outline_label(r->profile, &to, r->width - 22 - calls_columns(r), out);
		text_char(out, '\n');
	}
	return edge;
}

void graph_text(const struct report *r, struct text *out)
{
	struct graph g;
	struct text edges = TEXT_INIT;
	uint32_t edge = 0;
	build(r, &g);
	output_style(out, STYLE_HEADING);
	text_add(out, "  total   self");
	if (report_is_counted(r))
		text_add(out, "     calls");
	text_add(out, "  function or loop, with its callees and inner loops\n");
	output_style(out, STYLE_NONE);
	for (uint32_t i = 0; i < g.nodes.len; i++) {
		struct outline_node n = as_outline(&g.nodes.data[i]);
		text_clear(&edges);
		edge = add_edges(r, &g, edge, i, &edges);
		if (!is_shown(r, n.total))
			continue;
		add_share(out, n.total, r->total);
		add_share(out, n.self, r->total);
		add_calls(r, g.nodes.data[i].counted, g.nodes.data[i].calls, out);
		text_add(out, "  ");
		outline_label(r->profile, &n, r->width - 16 - calls_columns(r), out);
		text_char(out, '\n');
		text_addn(out, edges.len ? edges.data : "", edges.len);
		output_flush(out);
	}
	text_release(&edges);
	graph_release(&g);
}

void graph_json(const struct report *r, struct json *j)
{
	struct graph g;
	build(r, &g);
	json_array(j, "nodes");
	vec_each (node, &g.nodes) {
		struct outline_node n = as_outline(node);
		json_object(j, NULL);
		outline_node_json(&n, r, j);
		if (node->counted)
			json_u64(j, "calls", node->calls);
		json_end(j);
	}
	json_end(j);
	json_array(j, "edges");
	vec_each (e, &g.edges) {
		json_object(j, NULL);
		json_u64(j, "from", e->from);
		json_u64(j, "to", e->to);
		json_u64(j, "amount", e->amount);
		json_u64(j, "samples", e->samples);
		json_quantity(j, "percent", A_PERCENT, percent_of(e->amount, r->total), 3);
		if (e->counted)
			json_u64(j, "calls", e->calls);
		json_end(j);
	}
	json_end(j);
	graph_release(&g);
}
