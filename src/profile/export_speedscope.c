/* speedscope's own JSON: a list of all frames, then profiles that list call paths, by frame index,
 * with their weights. There is one profile for the whole, or one per thread. */
#include <string.h>

#include "base/json.h"
#include "profile/export_paths.h"

/* One profile of the output, as a range of paths. The profiles share the list of frames, which
 * comes first in the file, so all paths are collected before anything is written. */
struct speedscope_profile {
	struct text name;
	uint32_t root, end; /* paths: its root, and one past its last */
};

typedef VEC(struct speedscope_profile) part_list;

static void add_profile(struct export_paths *x, part_list *parts, const struct tree *t,
			const struct export_options *o, const char *name)
{
	struct speedscope_profile part = {.root = x->paths.len};
	vec_push(&x->paths, (struct export_path){.frame = PROFILE_NONE});
	text_add(&part.name, name);
	export_paths_add(x, t, o, part.root);
	part.end = x->paths.len;
	vec_push(parts, part);
}

static void collect_profiles(struct export_paths *x, part_list *parts, const struct profile *p,
			     const struct export_options *o)
{
	struct tree t;
	struct text name = TEXT_INIT;
	for (uint32_t i = 0; o->by_thread && i < p->threads.len; i++) {
		if (!export_tree(&t, p, o, i, false))
			continue;
		text_clear(&name);
		export_thread_name(&name, p, i);
		add_profile(x, parts, &t, o, name.data);
		tree_release(&t);
	}
	if (!parts->len) {
		export_tree(&t, p, o, PROFILE_NONE, false);
		add_profile(x, parts, &t, o, "all threads");
		tree_release(&t);
	}
	text_release(&name);
}

static void add_frames(const struct export_paths *x, struct json *j)
{
	json_object(j, "shared");
	json_array(j, "frames");
	vec_each (f, &x->frames) {
		json_object(j, NULL);
		json_string(j, "name", text_pool_get(&x->pool, f->name));
		if (f->file)
			json_string(j, "file", text_pool_get(&x->pool, f->file));
		if (f->line)
			json_u64(j, "line", f->line);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void add_sample(const struct export_paths *x, uint32_t path, uint32_t root, struct json *j)
{
	VEC(uint32_t) frames = {0};
	for (; path != root; path = x->paths.data[path].parent)
		vec_push(&frames, x->paths.data[path].frame);
	json_array(j, NULL);
	while (frames.len)
		json_u64(j, NULL, vec_pop(&frames));
	json_end(j);
	vec_free(&frames);
}

static void add_samples(const struct export_paths *x, const struct speedscope_profile *part,
			struct json *j)
{
	uint64_t total = 0;
	json_array(j, "samples");
	for (uint32_t i = part->root; i < part->end; i++)
		if (x->paths.data[i].amount)
			add_sample(x, i, part->root, j);
	json_end(j);
	json_array(j, "weights");
	for (uint32_t i = part->root; i < part->end; i++) {
		if (x->paths.data[i].amount)
			json_u64(j, NULL, x->paths.data[i].amount);
		total += x->paths.data[i].amount;
	}
	json_end(j);
	json_u64(j, "startValue", 0);
	json_u64(j, "endValue", total);
}

static void add_profiles(const struct export_paths *x, part_list *parts, const char *unit,
			 struct json *j)
{
	json_array(j, "profiles");
	vec_each (part, parts) {
		json_object(j, NULL);
		json_string(j, "type", "sampled");
		json_string(j, "name", part->name.data);
		json_string(j, "unit", unit);
		add_samples(x, part, j);
		json_end(j);
		text_release(&part->name);
	}
	json_end(j);
}

void export_speedscope(const struct profile *p, const struct export_options *o, struct text *out)
{
	struct json j = JSON_INIT(out);
	struct export_paths x;
	part_list parts = {0};
	const char *command = profile_get_fact(p, "command");
	bool time = o->tree.metric < p->metrics.len &&
		    !strcmp(p->metrics.data[o->tree.metric].unit, "ns");
	export_paths_init(&x);
	x.places = x.semicolons = true;
	collect_profiles(&x, &parts, p, o);
	json_object(&j, NULL);
	json_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_string(&j, "exporter", "sonde");
	json_string(&j, "name", command ? command : "sonde");
	add_frames(&x, &j);
	add_profiles(&x, &parts, time ? "nanoseconds" : "none", &j);
	json_end(&j);
	text_char(out, '\n');
	vec_free(&parts);
	export_paths_release(&x);
}
