/* One line per distinct call path: its frames, outermost first, separated by semicolons, then
 * the amount measured there. The amount is the number of samples if all samples represent the
 * same amount. */
#include "profile/export_paths.h"

static void add_path(const struct export_paths *x, uint32_t path, struct text *out)
{
	VEC(uint32_t) frames = {0};
	for (; path; path = x->paths.data[path].parent)
		vec_push(&frames, x->paths.data[path].frame);
	if (!frames.len)
		text_add(out, "[unknown]");
	for (bool more = false; frames.len; more = true) {
		if (more)
			text_char(out, ';');
		text_add(out, text_pool_get(&x->pool, x->frames.data[vec_pop(&frames)].name));
	}
	vec_free(&frames);
}

static void add_threads(struct export_paths *x, const struct profile *p,
			const struct export_options *o)
{
	struct tree t;
	struct text name = TEXT_INIT;
	for (uint32_t i = 0; i < p->threads.len; i++) {
		if (!export_tree(&t, p, o, i, false))
			continue;
		text_clear(&name);
		export_thread_name(&name, p, i);
		export_paths_add(x, &t, o, export_paths_child(x, 0, name.data));
		tree_release(&t);
	}
	text_release(&name);
}

static void add_all(struct export_paths *x, const struct profile *p, const struct export_options *o)
{
	struct tree t;
	export_tree(&t, p, o, PROFILE_NONE, false);
	export_paths_add(x, &t, o, 0);
	tree_release(&t);
}

void export_collapsed(const struct profile *p, const struct export_options *o, struct text *out)
{
	uint32_t metric = o->tree.metric;
	bool in_samples = metric < p->metrics.len && p->metrics.data[metric].period;
	struct export_paths x;
	text_add(out, ""); /* without samples the output is an empty text, not NULL */
	export_paths_init(&x);
	if (o->by_thread)
		add_threads(&x, p, o);
	else
		add_all(&x, p, o);
	for (uint32_t i = 0; i < x.paths.len; i++) {
		const struct export_path *path = &x.paths.data[i];
		uint64_t count = in_samples ? path->samples : path->amount;
		if (!count)
			continue;
		add_path(&x, i, out);
		text_char(out, ' ');
		text_u64(out, count);
		text_char(out, '\n');
	}
	export_paths_release(&x);
}
