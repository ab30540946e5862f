/* The calling contexts from the leaves up: below each function, its callers. With a focus, shows
 * the callers of the focus: everything below it counts as its own. */
#include "profile/callers.h"
#include "cli/report/view.h"

enum { MAX_LEVELS = 100 }; /* of callers */

/* Moves the amounts below a focus to the focus. */
static void cut_below_focus(struct tree *t, const bool *focus)
{
	uint32_t *place = xcalloc(t->nodes.len, sizeof(*place));
	bool *inside = xcalloc(t->nodes.len, sizeof(*inside));
	uint32_t kept = 1;
	for (uint32_t i = 1; i < t->nodes.len; i++) {
		struct tree_node n = t->nodes.data[i];
		uint32_t parent = place[n.parent];
		n.first_child = n.next = PROFILE_NONE;
		inside[i] = inside[n.parent] || (n.scope != PROFILE_NONE && focus[n.scope]);
		place[i] = inside[n.parent] ? parent : kept;
		if (inside[n.parent])
			continue;
		n.parent = parent;
		if (inside[i]) {
			n.self = n.total;
			n.self_samples = n.total_samples;
		}
		t->nodes.data[kept++] = n;
	}
	t->nodes.len = kept;
	t->nodes.data[0].first_child = PROFILE_NONE;
	tree_link(t);
	free(place);
	free(inside);
}

/* callers_build() leaves out callers with too small a share. This adds rows for their sums. */
static void add_rest(struct outline *o, const struct report *r, uint32_t max_depth)
{
	uint32_t count = o->nodes.len;
	uint64_t *rest = xcalloc(count, sizeof(*rest));
	uint32_t *depth = xcalloc(count, sizeof(*depth));
	for (uint32_t i = 0; i < count; i++) {
		const struct outline_node *n = &o->nodes.data[i];
		rest[i] = n->total - n->self;
		if (!i)
			continue;
		depth[i] = depth[n->parent] + 1;
		rest[n->parent] -= n->total;
	}
	for (uint32_t i = 0; i < count; i++)
		if (depth[i] < max_depth && (double)rest[i] * REPORT_RESOLUTION >= (double)r->total)
			outline_add(o, (struct outline_node){.parent = i,
							     .scope = PROFILE_NONE,
							     .kind = OUTLINE_REST,
							     .total = rest[i]});
	free(rest);
	free(depth);
}

void callers_outline(const struct report *r, struct outline *out)
{
	struct tree t, callers;
	struct folded f;
	struct callers_options o = {.min_share = r->min_share, .max_depth = MAX_LEVELS};
	o.max_depth = r->depth < o.max_depth ? r->depth : o.max_depth;
	report_tree(r, true, &t);
	if (r->focus)
		cut_below_focus(&t, r->focus);
	if (r->args->fold) {
		fold_tree(&f, &t);
		callers_build(&callers, &f.tree, &o);
		folded_release(&f);
	} else
		callers_build(&callers, &t, &o);
	outline_from_tree(out, &callers);
	out->no_self = true;
	if (r->min_share > 0)
		add_rest(out, r, o.max_depth);
	if (r->args->fold && r->format == REPORT_TEXT)
		outline_skip_startup(out, r->profile);
	tree_release(&callers);
	tree_release(&t);
}
