#include "callpath/stacks.h"

#include <sys/stat.h>

void modules_init(struct modules *m, struct profile *p)
{
	*m = (struct modules){.profile = p};
}

void modules_release(struct modules *m)
{
	vec_free(&m->of_code);
	vec_free(&m->codes);
}

static struct profile_module describe(struct profile *p, const struct code *c)
{
	struct profile_module module = {.path = arena_strdup(&p->arena, c->path)};
	struct stat st;
	if (c->problem)
		module.problem = arena_strdup(&p->arena, c->problem);
	if (c->module) {
		module.build_id = c->module->build_id;
		module.file_size = c->module->size;
	}
	if (!c->deleted && stat(c->path, &st) == 0)
		module.mtime = (uint64_t)st.st_mtime;
	return module;
}

uint32_t modules_find(struct modules *m, struct code *c)
{
	if (!c)
		return PROFILE_NONE;
	while (m->of_code.len <= c->id)
		vec_push(&m->of_code, PROFILE_NONE);
	uint32_t *module = &m->of_code.data[c->id];
	if (*module == PROFILE_NONE) {
		*module = m->profile->modules.len;
		vec_push(&m->profile->modules, describe(m->profile, c));
		vec_push(&m->codes, c);
	}
	return *module;
}

/* The node of one frame. A caller gets the address of the last byte of its call, which is in the
 * line and loop of the call; its return address may already be in another one. */
static struct profile_node node_of(struct modules *m, const struct frame *f, bool innermost)
{
	return (struct profile_node){
		.module = modules_find(m, f->code),
		.address = f->exact ? f->va : f->va - 1,
		.kind = innermost ? NODE_LEAF : NODE_FRAME,
	};
}

static bool is_same(const struct profile_node *a, const struct profile_node *b)
{
	return a->address == b->address && a->module == b->module && a->kind == b->kind;
}

/* Returns the node of the innermost frame. */
static uint32_t insert_path(struct modules *m, struct watched_thread *t, const struct walk *w)
{
	struct profile *p = m->profile;
	bool partial = w->end != WALK_COMPLETE;
	node_list *path = &t->path[partial];
	uint32_t at = partial ? profile_child(p, 0, NODE_PARTIAL, PROFILE_NONE, 0) : 0, depth = 0;
	for (uint32_t f = w->frames.len; f-- > 0; depth++) {
		struct profile_node node = node_of(m, &w->frames.data[f], f == 0);
		if (depth < path->len && is_same(&p->nodes.data[path->data[depth]], &node)) {
			at = path->data[depth];
			continue;
		}
		path->len = depth;
		at = profile_child(p, at, node.kind, node.module, node.address);
		vec_push(path, at);
	}
	path->len = depth;
	return at;
}

void stacks_init(struct stacks *s, struct profile *p, struct codes *c)
{
	s->profile = p;
	watched_init(&s->watched, p, c);
	modules_init(&s->modules, p);
}

void stacks_release(struct stacks *s)
{
	watched_release(&s->watched);
	modules_release(&s->modules);
}

uint32_t stacks_add(struct stacks *s, const struct stack *x)
{
	static const uint8_t below[] = {[STACK_IN_KERNEL] = NODE_KERNEL, [STACK_WAITS] = NODE_WAIT};
	struct watched_thread *t = watched_thread(&s->watched, x->pid, x->tid);
	uint32_t node = x->walk ? insert_path(&s->modules, t, x->walk) : 0;
	if (x->state != STACK_RUNS)
		node = profile_child(s->profile, node, below[x->state], PROFILE_NONE, 0);
	profile_add(s->profile, node, watched_row(&s->watched, t), x->metric, 1, x->amount);
	return node;
}
