/* Loops as a flat list, each with its function, the inlined calls around it, and the caller of
 * the function in the loop's heaviest context. */
#include <stdlib.h>
#include <string.h>

#include "cli/report/view.h"
#include "cli/term/text.h"

/* If there is not enough room, only both ends are shown: they matter most. */
void add_chain(const struct profile *p, uint32_t scope, size_t width, struct text *out)
{
	VEC(const char *) names = {0};
	struct text chain = TEXT_INIT, ends = TEXT_INIT;
	for (uint32_t s = scope; s != PROFILE_NONE; s = p->scopes.data[s].parent)
		if (*p->scopes.data[s].name)
			vec_push(&names, p->scopes.data[s].name);
	for (uint32_t i = names.len; i-- > 0;) {
		add_bare(&chain, names.data[i]);
		text_add(&chain, i ? " > " : "");
	}
	if (names.len > 2 && text_columns(chain.data, chain.len) > width) {
		add_bare(&ends, vec_last(&names));
		text_add(&ends, " > ... > ");
		add_bare(&ends, names.data[0]);
	}
	add_short(out, ends.len ? ends.data : chain.len ? chain.data : "?", width);
	text_release(&ends);
	text_release(&chain);
	vec_free(&names);
}

/* Returns, by scope, its tree node with the largest total; 0 if there is none. */
static uint32_t *heaviest_contexts(const struct tree *t)
{
	const struct tree_node *n = t->nodes.data;
	uint32_t *heaviest = xcalloc(t->profile->scopes.len + (size_t)1, sizeof(*heaviest));
	for (uint32_t i = 1; i < t->nodes.len; i++) {
		if (n[i].scope == PROFILE_NONE)
			continue;
		uint32_t *best = &heaviest[n[i].scope];
		if (!*best || n[i].total > n[*best].total)
			*best = i;
	}
	return heaviest;
}

/* Returns the function that calls the function of a node, other than itself; PROFILE_NONE if there
 * is none. */
static uint32_t find_caller(const struct tree *t, uint32_t at)
{
	const struct tree_node *n = t->nodes.data;
	while (at && n[at].kind != TREE_FUNCTION)
		at = n[at].parent;
	uint32_t own = at ? n[at].scope : PROFILE_NONE;
	while (at && (n[at].kind != TREE_FUNCTION || n[at].scope == own))
		at = n[at].parent;
	return at ? n[at].scope : PROFILE_NONE;
}

static void add_loop_row(const struct report *r, const struct outline_node *n, uint32_t context,
			 struct text *out)
{
	const struct profile *p = r->profile;
	uint32_t caller = find_caller(&r->tree, context);
	size_t start = out->len;
	add_share(out, n->self, r->total);
	add_share(out, n->total, r->total);
	text_add(out, "  ");
	size_t place = 30, chain = (r->width - 18 - place) * 3 / 5;
	struct text label = TEXT_INIT;
	outline_place(p, n, &label);
	add_short(out, label.data, place);
	pad_to(out, start, 16 + place + 1);
	start = out->len;
	add_chain(p, p->scopes.data[n->scope].parent, chain - 1, out);
	if (caller != PROFILE_NONE && !is_startup(p, caller)) {
		pad_to(out, start, chain);
		text_add(out, "< ");
		add_function_name(out, p->scopes.data[caller].name, r->width - 19 - place - chain);
	}
	text_char(out, '\n');
	text_release(&label);
}

void loops_table(const struct report *r, const struct outline *o, uint32_t most, struct text *out)
{
	uint32_t shown = 0, hidden = 0, *contexts = heaviest_contexts(&r->tree);
	uint64_t rest = 0;
	output_style(out, STYLE_HEADING);
	text_printf(out, "   self  total  %-30s in (< called from)\n", "loop");
	output_style(out, STYLE_NONE);
	for (uint32_t i = o->nodes.data[0].first_child; i != PROFILE_NONE;
	     i = o->nodes.data[i].next) {
		const struct outline_node *n = &o->nodes.data[i];
		double least = r->min_share * (double)r->total;
		if (shown < most && ((double)n->self >= least || (double)n->total >= least)) {
			add_loop_row(r, n, contexts[n->scope], out);
			shown++;
		} else {
			rest += n->self;
			hidden++;
		}
	}
	free(contexts);
	if (hidden && (double)rest * REPORT_RESOLUTION >= (double)r->total) {
		add_share(out, rest, r->total);
		text_printf(out, "         ... %u more\n", hidden);
	}
}

void loops_text(const struct report *r, struct text *out)
{
	struct outline o;
	loops_outline(r, &o);
	outline_link(&o, r->profile, r->args->sort == SORT_BEST ? SORT_SELF : r->args->sort);
	if (o.nodes.data[0].first_child == PROFILE_NONE)
		text_add(out, report_is_counted(r) ? "nothing was executed in a loop\n"
						   : "no sample was in a loop\n");
	else
		loops_table(r, &o, UINT32_MAX, out);
	outline_release(&o);
}
