/* The search history graph for Graphviz: functions are boxes, loops ovals, locks hexagons. The
 * colour shows the state; it is darker for larger values. Deep starters have a double border. Large
 * graphs show only true experiments and those that lead to them, and count the rest. */
#include <string.h>

#include "base/quantity.h"
#include "cli/report/findings.h"
#include "cli/report/search.h"
#include "cli/term/text.h"

enum { MAX_DRAWN = 200, LABEL_COLUMNS = 44 };

struct drawing {
	const struct report *r;
	struct experiment_tree h;
	bool large;
	struct text *out;
};

/* Escapes quotes and backslashes, which are special in labels. */
static void add_quoted(struct text *out, const char *name)
{
	for (; *name; name++) {
		if (strchr("\"\\", *name))
			text_char(out, '\\');
		text_char(out, *name);
	}
}

static bool is_drawn(const struct drawing *d, uint32_t experiment)
{
	const struct profile_experiment *x = &d->r->profile->experiments.data[experiment];
	if (!search_has(d->r, experiment))
		return false;
	if (d->r->args->min_percent && !d->h.leads[experiment] && x->value < d->r->min_share)
		return false;
	return !d->large || d->h.leads[experiment];
}

static const char *shape_of(const struct profile *p, uint32_t resource)
{
	static const char *const shapes[RESOURCE_KINDS] = {
		[RESOURCE_GROUP] = "folder",     [RESOURCE_FUNCTION] = "box",
		[RESOURCE_LOOP] = "ellipse",     [RESOURCE_PROCESS] = "box3d",
		[RESOURCE_THREAD] = "component", [RESOURCE_OBJECT] = "hexagon",
	};
	if (resource == PROFILE_NONE)
		return "octagon";
	if (p->resources.data[resource].hierarchy == PROFILE_FILES &&
	    p->resources.data[resource].kind == RESOURCE_OBJECT)
		return "note";
	return shapes[p->resources.data[resource].kind];
}

/* Adds the colour as hue, saturation and value. Text stays readable on all colours. */
static void add_color(const struct profile_experiment *x, struct text *out)
{
	double heat = x->value > 1 ? 1 : x->value < 0 ? 0 : x->value;
	if (x->state == PROFILE_TRUE)
		text_printf(out,
			    ", fillcolor=\"%.3f %.3f 1\", penwidth=2.2, fontname=\"sans-serif "
			    "bold\"",
			    0.10 - 0.09 * heat, 0.35 + 0.4 * heat);
	else if (x->state == PROFILE_FALSE)
		text_add(out, ", fillcolor=\"#f0f0f0\", color=\"#999999\", fontcolor=\"#555555\"");
	else
		text_add(out,
			 ", fillcolor=\"#e3ecf8\", color=\"#5577aa\", style=\"filled,dashed\"");
}

static void add_label(const struct drawing *d, uint32_t number, const char *label)
{
	const struct profile_experiment *x = &d->r->profile->experiments.data[number];
	struct text *out = d->out;
	add_quoted(out, label);
	text_printf(out, "\\n%s", profile_state_names[x->state]);
	if (!experiment_is_untested(x))
		text_printf(out, " %.1f %%", percent(x->value));
	if (x->decided >= 0) {
		text_add(out, ", ");
		add_seconds(out, x->decided);
	}
	if (x->flags & EXPERIMENT_SAMPLED)
		text_add(out, ", sampled");
	if (x->origin == PROFILE_DEEP_STARTER)
		text_add(out, "\\ndeep starter");
}

static void add_node(const struct drawing *d, uint32_t number)
{
	const struct profile *p = d->r->profile;
	const struct profile_experiment *x = &p->experiments.data[number];
	const uint32_t *parents = d->h.parents + d->h.parent_at[number];
	uint32_t parent = lineage_parents(&d->h, number) ? parents[0] : PROFILE_NONE;
	struct text label = TEXT_INIT, title = TEXT_INIT;
	uint32_t main = search_label(p, number, parent, LABEL_COLUMNS, &label);
	if (parent == PROFILE_NONE) {
		add_title(&title, x->hypothesis);
		if (main != PROFILE_NONE)
			text_printf(&title, ": %s", label.data);
	}
	text_printf(d->out, "\tn%u [shape=%s, label=\"", number, shape_of(p, main));
	add_label(d, number, title.len ? title.data : label.data);
	text_char(d->out, '"');
	if (x->origin == PROFILE_DEEP_STARTER)
		text_add(d->out, ", peripheries=2");
	add_color(x, d->out);
	text_add(d->out, "];\n");
	text_release(&label);
	text_release(&title);
}

/* Adds the edges to children that are drawn, and the number of the others. */
static void add_edges(const struct drawing *d, uint32_t number)
{
	const struct profile *p = d->r->profile;
	uint32_t others = 0, untested = 0;
	for (uint32_t i = d->h.child_at[number]; i < d->h.child_at[number + 1]; i++) {
		uint32_t child = d->h.children[i];
		const struct profile_experiment *x = &p->experiments.data[child];
		if (!is_drawn(d, child)) {
			others += search_has(d->r, child) && !experiment_is_untested(x);
			untested += search_has(d->r, child) && experiment_is_untested(x);
			continue;
		}
		text_printf(d->out, "\tn%u -> n%u%s;\n", number, child,
			    x->state == PROFILE_TRUE ? " [penwidth=2, color=\"#a03010\"]" : "");
	}
	if (!others && !untested)
		return;
	text_printf(d->out, "\tm%u [shape=plaintext, style=\"\", fontcolor=\"#777777\", label=\"",
		    number);
	if (others)
		text_printf(d->out, "%u false", others);
	if (untested)
		text_printf(d->out, "%s%u not tested", others ? "\\n" : "", untested);
	text_printf(d->out, "\"];\n\tn%u -> m%u [style=dotted, arrowhead=none];\n", number, number);
}

static void add_headline(const struct report *r, struct text *out)
{
	struct text line = TEXT_INIT;
	findings_headline(r->profile, SIZE_MAX, &line);
	while (line.len && line.data[line.len - 1] == '\n')
		line.data[--line.len] = '\0';
	text_add(out, "\tlabel=\"");
	add_quoted(out, line.data);
	text_add(out, "\";\n");
	text_release(&line);
}

void search_dot(const struct report *r, struct text *out)
{
	uint32_t n = r->profile->experiments.len, chosen = 0;
	struct drawing d = {.r = r, .out = out};
	lineage_build(&d.h, r->profile);
	for (uint32_t i = 0; i < n; i++)
		chosen += is_drawn(&d, i);
	d.large = chosen > MAX_DRAWN && r->args->fold;
	text_add(out, "digraph search {\n"
		      "\trankdir=LR; labelloc=t; fontname=\"sans-serif\"; nodesep=0.12; "
		      "ranksep=0.45;\n"
		      "\tnode [style=filled, fontname=\"sans-serif\", fontsize=11, "
		      "margin=\"0.1,0.04\"];\n"
		      "\tedge [arrowsize=0.6, color=\"#777777\"];\n");
	add_headline(r, out);
	for (uint32_t i = 0; i < n; i++)
		if (is_drawn(&d, i))
			add_node(&d, i);
	for (uint32_t i = 0; i < n; i++)
		if (is_drawn(&d, i))
			add_edges(&d, i);
	text_add(out, "}\n");
	lineage_release(&d.h);
}
