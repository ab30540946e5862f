/* The flat view: module, file, function, inlined call, loop, line. Outer levels can be removed
 * ("flattening", Tallent et al.), so that the contents of different modules, files or functions are
 * side by side. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/view.h"

enum {
	FLATTEN_LOOPS = UINT32_MAX,
	MAX_FLATTEN = 1000, /* levels: a larger number is a typing error */
};

int flatten_parse(const char *word, uint32_t *levels, struct err *e)
{
	char *end;
	*levels = 0;
	if (!word)
		return 0;
	*levels = FLATTEN_LOOPS;
	if (!strcmp(word, "loops"))
		return 0;
	errno = 0;
	unsigned long n = strtoul(word, &end, 10);
	if (errno || *end || end == word || *word == '-' || n > MAX_FLATTEN)
		return err_set(e, ERR_INPUT,
			       "--flatten needs a number of levels or 'loops', not '%s'", word);
	*levels = (uint32_t)n;
	return 0;
}

/* Returns the nodes to remove. Nodes without children stay, so that no amount is lost. */
static bool *outer_levels(const struct outline *o, uint32_t levels)
{
	uint32_t *depth = xcalloc(o->nodes.len, sizeof(*depth));
	bool *away = xcalloc(o->nodes.len, sizeof(*away));
	for (uint32_t i = 1; i < o->nodes.len; i++) {
		uint32_t parent = o->nodes.data[i].parent;
		depth[i] = depth[parent] + 1;
		if (parent && depth[parent] <= levels)
			away[parent] = true;
	}
	free(depth);
	return away;
}

/* Returns all nodes outside loops, so that removing them brings the outermost loops to the top. */
static bool *outside_loops(const struct outline *o)
{
	bool *away = xcalloc(o->nodes.len, sizeof(*away));
	away[0] = true;
	for (uint32_t i = 1; i < o->nodes.len; i++)
		away[i] = away[o->nodes.data[i].parent] && o->nodes.data[i].kind != OUTLINE_LOOP;
	away[0] = false;
	return away;
}

/* Adds a row for all code outside loops. The self of a loop excludes inner loops, so the self
 * amounts of loops can be added up. */
static void add_outside(struct outline *o, const struct report *r)
{
	uint64_t inside = 0, samples = 0;
	vec_each (n, &o->nodes) {
		inside += n->kind == OUTLINE_LOOP ? n->self : 0;
		samples += n->kind == OUTLINE_LOOP ? n->self_samples : 0;
	}
	uint64_t rest = r->total > inside ? r->total - inside : 0;
	uint64_t rest_samples = r->samples > samples ? r->samples - samples : 0;
	outline_add(o, (struct outline_node){.scope = PROFILE_NONE,
					     .kind = OUTLINE_OUTSIDE,
					     .self = rest,
					     .total = rest,
					     .self_samples = rest_samples,
					     .total_samples = rest_samples});
}

void flat_outline(const struct report *r, struct outline *out)
{
	struct flat f;
	struct err e;
	uint32_t levels;
	flat_build(&f, &r->tree);
	outline_from_flat(out, &f);
	flat_release(&f);
	if (flatten_parse(r->args->flatten, &levels, &e) || !levels)
		return;
	bool *away = levels == FLATTEN_LOOPS ? outside_loops(out) : outer_levels(out, levels);
	outline_remove(out, away);
	free(away);
	if (levels == FLATTEN_LOOPS)
		add_outside(out, r);
}

/* Lists all rows of some kinds, given as a set of 1 << kind, at one level. */
static void list_peers(const struct report *r, unsigned kinds, struct outline *out)
{
	struct outline all;
	struct flat f;
	flat_build(&f, &r->tree);
	outline_from_flat(&all, &f);
	flat_release(&f);
	*out = (struct outline){.overlapping = true};
	outline_add(out, all.nodes.data[0]);
	vec_each (n, &all.nodes) {
		struct outline_node top = *n;
		top.parent = 0;
		if (kinds >> n->kind & 1)
			outline_add(out, top);
	}
	outline_release(&all);
}

void functions_outline(const struct report *r, struct outline *out)
{
	list_peers(r, 1 << OUTLINE_FUNCTION, out);
}

void loops_outline(const struct report *r, struct outline *out)
{
	list_peers(r, 1 << OUTLINE_LOOP, out);
}

void hot_scopes_outline(const struct report *r, struct outline *out)
{
	list_peers(r, 1 << OUTLINE_LOOP | 1 << OUTLINE_FUNCTION, out);
}
