#include "profile/export_paths.h"

#include <string.h>

#include "base/vec.h"

/* Limits the size of exported files: a path is written with all its frames, and a recursion has
 * one path per level, so the size grows with the square of the depth. */
enum { DEPTH_MAX = 2000 };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void export_place(struct text *out, const char *word, const struct profile_scope *s)
{
	text_add(out, word);
	if (*s->file)
		text_printf(out, " %s", last_part(s->file));
	else
		text_printf(out, " at 0x%llx", (unsigned long long)s->address);
	if (s->first_line)
		text_printf(out, ":%u", s->first_line);
	if (s->first_line && s->last_line > s->first_line)
		text_printf(out, "-%u", s->last_line);
}

static void add_name(struct text *out, const struct profile *p, enum tree_kind kind, uint32_t scope)
{
	const struct profile_scope *s = scope == PROFILE_NONE ? NULL : &p->scopes.data[scope];
	switch (kind) {
	case TREE_KERNEL: text_add(out, "[kernel]"); return;
	case TREE_WAIT: text_add(out, "[waiting]"); return;
	case TREE_PARTIAL: text_add(out, "[callers unknown]"); return;
	case TREE_LOOP: export_place(out, "loop", s); return;
	case TREE_INLINE:
		if (*s->name)
			text_add(out, s->name);
		else
			export_place(out, "inlined", s);
		return;
	default: text_add(out, s && *s->name ? s->name : "[unknown]");
	}
}

void export_name(struct text *out, const struct profile *p, enum tree_kind kind, uint32_t scope)
{
	size_t start = out->len;
	add_name(out, p, kind, scope);
	for (size_t i = start; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ' || out->data[i] == 0x7f)
			out->data[i] = ' ';
}

void export_thread_name(struct text *out, const struct profile *p, uint32_t thread)
{
	const struct profile_thread *t = &p->threads.data[thread];
	text_printf(out, "%s %d", t->name, t->tid);
}

bool export_is_frame(const struct export_options *o, enum tree_kind kind)
{
	switch (kind) {
	case TREE_ROOT:
	case TREE_LINE: return false;
	case TREE_LOOP: return o->loops;
	case TREE_INLINE: return o->inlines;
	default: return true;
	}
}

void export_paths_init(struct export_paths *x)
{
	*x = (struct export_paths){0};
	text_pool_init(&x->pool);
	vec_push(&x->paths, (struct export_path){.parent = PROFILE_NONE, .frame = PROFILE_NONE});
}

void export_paths_release(struct export_paths *x)
{
	text_pool_release(&x->pool);
	vec_free(&x->frames);
	vec_free(&x->paths);
	hashmap_release(&x->file_index);
	hashmap_release(&x->frame_index);
	hashmap_release(&x->path_index);
}

/* Returns equal numbers for equal frames. Looks up in two steps, because a hash key has room for
 * two numbers. */
static uint32_t frame_number(struct export_paths *x, struct export_frame f)
{
	uint32_t place =
		hashmap_add(&x->file_index, (uint64_t)f.file << 32 | f.line, x->file_index.len);
	uint32_t next = x->frames.len;
	uint32_t at = hashmap_add(&x->frame_index, (uint64_t)place << 32 | f.name, next);
	if (at == next)
		vec_push(&x->frames, f);
	return at;
}

static uint32_t path_number(struct export_paths *x, uint32_t parent, uint32_t frame)
{
	uint32_t next = x->paths.len;
	uint32_t at = hashmap_add(&x->path_index, (uint64_t)parent << 32 | frame, next);
	if (at == next)
		vec_push(&x->paths, (struct export_path){.parent = parent,
							 .frame = frame,
							 .depth = x->paths.data[parent].depth + 1});
	return at;
}

static struct export_frame named_frame(struct export_paths *x, struct text *name)
{
	for (size_t i = 0; i < name->len && !x->semicolons; i++)
		if (name->data[i] == ';')
			name->data[i] = ':';
	return (struct export_frame){.name = text_pool_add(&x->pool, name->data)};
}

uint32_t export_paths_child(struct export_paths *x, uint32_t parent, const char *name)
{
	struct text copy = TEXT_INIT;
	text_add(&copy, name);
	uint32_t frame = frame_number(x, named_frame(x, &copy));
	text_release(&copy);
	return path_number(x, parent, frame);
}

/* Returns the path to extend for a frame that is called from `caller`. */
static uint32_t parent_path(struct export_paths *x, uint32_t caller)
{
	const struct export_path *c = &x->paths.data[caller];
	if (c->depth < DEPTH_MAX)
		return caller;
	if (c->depth == DEPTH_MAX)
		return export_paths_child(x, caller, "[frames left out]");
	return c->parent; /* `caller` is itself directly below the marker */
}

static uint32_t frame_of(struct export_paths *x, const struct profile *p, const struct tree_node *n,
			 struct text *tmp)
{
	text_clear(tmp);
	export_name(tmp, p, n->kind, n->scope);
	struct export_frame f = named_frame(x, tmp);
	if (x->places && n->scope != PROFILE_NONE) {
		f.file = text_pool_add(&x->pool, p->scopes.data[n->scope].file);
		f.line = p->scopes.data[n->scope].first_line;
	}
	return frame_number(x, f);
}

void export_paths_add(struct export_paths *x, const struct tree *t, const struct export_options *o,
		      uint32_t below)
{
	uint32_t *path_of = xmalloc(t->nodes.len * sizeof(*path_of));
	struct text tmp = TEXT_INIT;
	for (uint32_t i = 0; i < t->nodes.len; i++) {
		const struct tree_node *n = &t->nodes.data[i];
		path_of[i] = i ? path_of[n->parent] : below;
		if (export_is_frame(o, n->kind)) {
			uint32_t frame = frame_of(x, t->profile, n, &tmp);
			path_of[i] = path_number(x, parent_path(x, path_of[i]), frame);
		}
		x->paths.data[path_of[i]].amount += n->self;
		x->paths.data[path_of[i]].samples += n->self_samples;
	}
	text_release(&tmp);
	free(path_of);
}

struct one_thread {
	const struct tree_options *all;
	uint32_t thread;
};

static bool is_thread(void *ctx, uint32_t thread)
{
	const struct one_thread *one = ctx;
	return thread == one->thread &&
	       (!one->all->thread || one->all->thread(one->all->ctx, thread));
}

static bool is_focus(void *ctx, uint32_t scope)
{
	const struct one_thread *one = ctx;
	return one->all->focus(one->all->ctx, scope);
}

bool export_tree(struct tree *t, const struct profile *p, const struct export_options *o,
		 uint32_t thread, bool lines)
{
	struct one_thread one = {&o->tree, thread};
	struct tree_options options = o->tree;
	options.lines = lines;
	if (thread != PROFILE_NONE) {
		options.thread = is_thread;
		options.focus = o->tree.focus ? is_focus : NULL;
		options.ctx = &one;
	}
	tree_build(t, p, &options);
	if (thread == PROFILE_NONE || t->nodes.data[0].total_samples)
		return true;
	tree_release(t);
	return false;
}
