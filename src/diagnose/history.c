/* Writes the search into the profile: all parts and experiments, as they are now. While the search
 * runs, parts are named by symbols, which is cheap; the last time, by source lines. */
#include <math.h>
#include <string.h>

#include "diagnose/rows.h"

/* Marks the parts that experiments are about, and all parts above them. */
static void mark_used(const struct diagnosis *d, uint8_t *used)
{
	const struct resources *r = search_resources(d->own->search);
	for (uint32_t i = 0; i < search_count(d->own->search); i++)
		for (int h = 0; h < HIERARCHIES; h++)
			for (uint32_t part = search_get(d->own->search, i)->focus.part[h];
			     part != RESOURCE_NONE && !used[part]; part = r->list.data[part].parent)
				used[part] = 1;
}

static void write_experiment(struct rows *w, const struct experiment *e)
{
	struct profile_experiment row = {
		.hypothesis = hypotheses[e->hypothesis].name,
		.state = e->state,
		.origin = e->origin,
		.priority = e->priority,
		.flags = (uint8_t)((e->sampled ? EXPERIMENT_SAMPLED : 0) |
				   (e->unsure ? EXPERIMENT_UNSURE : 0) |
				   (e->over ? EXPERIMENT_OVER : 0)),
		/* It may be out of range: amount and base are read at different moments. */
		.value = fmax(0, fmin(e->value, 1)),
		.threshold = e->threshold,
		.confidence = e->confidence,
		.created = e->created,
		.begun = e->begun < 0 ? -1 : e->begun,
		.decided = e->decided < 0 ? -1 : e->decided,
		.observed = e->observed,
		.overhead = e->overhead,
		.tests = e->tests,
	};
	for (int h = 0; h < HIERARCHIES; h++)
		row.focus[h] = rows_of(w, e->focus.part[h]);
	vec_push(&w->d->profile.experiments, row);
}

static void write_all(struct rows *w)
{
	struct profile *p = &w->d->profile;
	vec_clear(&p->resources);
	vec_clear(&p->experiments);
	vec_clear(&p->refinements);
	for (uint32_t i = 0; i < search_count(w->d->own->search); i++)
		write_experiment(w, search_get(w->d->own->search, i));
	for (uint32_t i = 0; i < search_count(w->d->own->search); i++) {
		const struct experiment *e = search_get(w->d->own->search, i);
		vec_each (parent, &e->parents)
			vec_push(&p->refinements, (struct profile_refinement){*parent, i});
	}
}

static void mark_part(void *ctx, uint32_t part)
{
	uint8_t *used = ctx;
	used[part] = 1;
}

/* Chains that may be reported as call paths need all their parts named by source lines; of other
 * chains, only the innermost part is ever named. */
static void mark_chains(const struct diagnosis *d, const struct kept_chains *k, uint8_t *used)
{
	vec_each (c, &k->list)
		if (c->whole)
			kept_chain_parts(d, k, c, mark_part, used);
}

struct finding_names *history_names(const struct diagnosis *d)
{
	struct finding_names *n = names_new(d, false);
	struct kept_chains chains = {0};
	uint32_t count = search_resources(d->own->search)->list.len;
	uint8_t *used = xcalloc(count, 1);
	VEC(uint32_t) parts = {0};
	evidence_choose(d, &chains);
	mark_used(d, used);
	mark_chains(d, &chains, used);
	for (uint32_t i = 0; i < count; i++)
		if (used[i])
			vec_push(&parts, i);
	names_prepare(n, parts.data, parts.len);
	kept_chains_release(&chains);
	free(used);
	vec_free(&parts);
	return n;
}

void history_write(struct diagnosis *d, struct finding_names *names)
{
	uint32_t count = search_resources(d->own->search)->list.len;
	struct rows rows = {.d = d, .names = names ? names : names_new(d, true)};
	struct kept_chains chains = {0};
	rows.of = xmalloc(count * sizeof(*rows.of));
	memset(rows.of, 0xff, count * sizeof(*rows.of));
	evidence_choose(d, &chains);
	write_all(&rows);
	evidence_write(&rows, &chains);
	kept_chains_release(&chains);
	if (!names)
		names_free(rows.names);
	hashmap_release(&rows.files);
	free(rows.of);
}
