/* The loop-call graph for Graphviz. Functions are boxes, loops are ovals; a node is darker the
 * larger its self, an edge thicker the larger its amount. Nodes and edges below the minimum
 * share are left out. */
#include <string.h>

#include "base/quantity.h"
#include "profile/export_paths.h"
#include "profile/graph.h"

enum { NAME_MAX_BYTES = 44 };

/* Escapes quotes and backslashes, which are special in labels. Long names lose their middle. */
static void add_quoted(struct text *out, const char *name)
{
	size_t n = strlen(name), half = (NAME_MAX_BYTES - 3) / 2;
	for (size_t i = 0; i < n; i++) {
		if (n > NAME_MAX_BYTES && i == half) {
			text_add(out, "...");
			i = n - half;
		}
		if (strchr("\"\\", name[i]))
			text_char(out, '\\');
		text_char(out, name[i]);
	}
}

/* From white over yellow to red, as hue, saturation and value. Text stays readable on all of
 * them. */
static void add_color(struct text *out, double share)
{
	double heat = share > 50 ? 1 : share / 50;
	text_printf(out, "fillcolor=\"%.3f %.3f 1\"", 0.13 - 0.13 * heat, 0.08 + 0.62 * heat);
}

static void add_node(const struct profile *p, const struct graph_node *n, uint32_t number,
		     uint64_t total, struct text *out)
{
	const struct profile_scope *s = &p->scopes.data[n->scope];
	struct text name = TEXT_INIT;
	export_name(&name, p, n->loop ? TREE_LOOP : TREE_FUNCTION, n->scope);
	text_printf(out, "\tn%u [shape=%s, label=\"", number, n->loop ? "ellipse" : "box");
	add_quoted(out, name.data);
	if (!n->loop && *s->file) {
		text_clear(&name);
		export_place(&name, "", s);
		text_add(out, "\\n");
		add_quoted(out, name.data + 1);
	}
	text_printf(out, "\\n%.1f %%", percent_of(n->total, total));
	if (n->self != n->total && percent_of(n->self, total) >= 0.05)
		text_printf(out, ", self %.1f %%", percent_of(n->self, total));
	text_add(out, "\", ");
	add_color(out, percent_of(n->self, total));
	text_add(out, "];\n");
	text_release(&name);
}

static void add_edge(const struct graph *g, const struct graph_edge *e, uint64_t total,
		     struct text *out)
{
	double share = percent_of(e->amount, total);
	text_printf(out, "\tn%u -> n%u [label=\" %.1f %%", e->from, e->to, share);
	if (e->counted) {
		bool one = e->calls == 1, loop = g->nodes.data[e->to].loop;
		text_printf(out, "\\n %llu %s", (unsigned long long)e->calls,
			    loop ? (one ? "entry" : "entries") : (one ? "call" : "calls"));
	}
	text_printf(out, "\", penwidth=%.1f, weight=%d];\n", 0.8 + share / 25, 1 + (int)share);
}

static void add_title(const struct profile *p, const struct export_options *o, uint64_t total,
		      struct text *out)
{
	const char *command = profile_get_fact(p, "command");
	const struct profile_metric *m =
		o->tree.metric < p->metrics.len ? &p->metrics.data[o->tree.metric] : NULL;
	text_add(out, "\tlabel=\"");
	add_quoted(out, command ? command : "");
	if (m && !strcmp(m->unit, "ns"))
		text_printf(out, "\\n%s: %.3g s", m->name, (double)total / 1e9);
	else if (m)
		text_printf(out, "\\n%s: %llu", m->name, (unsigned long long)total);
	text_printf(out, "; threshold %.4g %%\";\n", o->min_percent);
}

void export_dot(const struct profile *p, const struct export_options *o, struct text *out)
{
	struct tree t;
	struct graph g;
	export_tree(&t, p, o, PROFILE_NONE, false);
	graph_build(&g, &t);
	graph_count(&g, p, &o->tree);
	uint64_t total = t.nodes.data[0].total;
	text_add(out, "digraph profile {\n"
		      "\tlabelloc=t; fontname=\"sans-serif\"; nodesep=0.3; ranksep=0.4;\n"
		      "\tnode [style=filled, fontname=\"sans-serif\", fontsize=11, "
		      "margin=\"0.1,0.05\"];\n"
		      "\tedge [fontname=\"sans-serif\", fontsize=9, arrowsize=0.7, "
		      "color=\"#555555\"];\n");
	add_title(p, o, total, out);
	for (uint32_t i = 0; i < g.nodes.len; i++)
		if (percent_of(g.nodes.data[i].total, total) >= o->min_percent)
			add_node(p, &g.nodes.data[i], i, total, out);
	vec_each (e, &g.edges)
		if (percent_of(e->amount, total) >= o->min_percent)
			add_edge(&g, e, total, out); /* both of its nodes have at least as much */
	text_add(out, "}\n");
	graph_release(&g);
	tree_release(&t);
}
