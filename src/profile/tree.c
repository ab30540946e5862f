/* All work is done in passes over flat arrays in which parents come before children: forwards to
 * create nodes below their parents, backwards to add up. So the depth of the tree does not
 * matter, and time is linear in nodes (times the depth of a function's scopes) and values. */
#include "profile/tree.h"

#include "profile/rank.h"

/* The selected values of one node of the profile. */
struct measured {
	uint64_t amount, samples;
	uint32_t at;    /* its tree node */
	bool needed;    /* it or a node below it has a value */
	bool has_focus; /* one of its scopes, or of its callers' scopes, is focused on */
};

struct building {
	struct tree *t;
	const struct profile *p;
	const struct tree_options *o;
	struct measured *measured; /* by node of the profile */
	struct hashmap children;   /* (parent, scope or pseudo kind) -> tree node */
	VEC(uint32_t) path;        /* scopes of one frame, innermost first */
};

static uint8_t kind_of_scope(const struct profile_scope *s)
{
	static const uint8_t kinds[] = {[PROFILE_FUNCTION] = TREE_FUNCTION,
					[PROFILE_INLINE] = TREE_INLINE,
					[PROFILE_LOOP] = TREE_LOOP,
					[PROFILE_LINE] = TREE_LINE};
	return kinds[s->kind];
}

/* Returns, by scope, whether the scope or one around it is focused on. */
static bool *find_focus(const struct profile *p, const struct tree_options *o)
{
	bool *found = xcalloc(p->scopes.len + (size_t)1, sizeof(*found));
	for (uint32_t i = 0; i < p->scopes.len; i++) {
		uint32_t parent = p->scopes.data[i].parent;
		found[i] = (parent != PROFILE_NONE && found[parent]) || o->focus(o->ctx, i);
	}
	return found;
}

static void mark_focus(struct building *b)
{
	bool *found = find_focus(b->p, b->o);
	for (uint32_t i = 1; i < b->p->nodes.len; i++) {
		const struct profile_node *n = &b->p->nodes.data[i];
		b->measured[i].has_focus = b->measured[n->parent].has_focus ||
					   (n->scope != PROFILE_NONE && found[n->scope]);
	}
	free(found);
}

static bool is_selected(const struct building *b, const struct profile_value *v)
{
	if (v->metric != b->o->metric || (!v->amount && !v->samples))
		return false;
	if (b->o->focus && !b->measured[v->node].has_focus)
		return false;
	return !b->o->thread || b->o->thread(b->o->ctx, v->thread);
}

static void add_values(struct building *b)
{
	vec_each (v, &b->p->values) {
		if (!is_selected(b, v))
			continue;
		struct measured *m = &b->measured[v->node];
		m->amount += v->amount;
		m->samples += v->samples;
		m->needed = true;
	}
	for (uint32_t i = b->p->nodes.len; i-- > 1;)
		if (b->measured[i].needed)
			b->measured[b->p->nodes.data[i].parent].needed = true;
}

/* Returns the child of a tree node for a scope or, without one, of a pseudo kind; creates it if
 * it is new. */
static uint32_t child(struct building *b, uint32_t parent, uint32_t scope, uint8_t kind)
{
	/* Kinds count down from UINT32_MAX; there are never enough scopes to collide with them. */
	uint32_t what = scope == PROFILE_NONE ? UINT32_MAX - kind : scope;
	uint32_t next = b->t->nodes.len;
	uint32_t at = hashmap_add(&b->children, (uint64_t)parent << 32 | what, next);
	if (at == next)
		vec_push(&b->t->nodes, (struct tree_node){.parent = parent,
							  .first_child = PROFILE_NONE,
							  .next = PROFILE_NONE,
							  .scope = scope,
							  .kind = kind});
	return at;
}

/* Adds the scopes of a frame below the tree node of its caller. */
static uint32_t add_frame(struct building *b, uint32_t at, uint32_t scope)
{
	const struct profile_scope *scopes = b->p->scopes.data;
	vec_clear(&b->path);
	for (; scope != PROFILE_NONE; scope = scopes[scope].parent)
		if (b->o->lines || scopes[scope].kind != PROFILE_LINE)
			vec_push(&b->path, scope);
	while (b->path.len) {
		uint32_t s = vec_pop(&b->path);
		at = child(b, at, s, kind_of_scope(&scopes[s]));
	}
	return at;
}

static uint32_t add_node(struct building *b, const struct profile_node *n)
{
	uint32_t caller = b->measured[n->parent].at;
	switch (n->kind) {
	case NODE_KERNEL: return child(b, caller, PROFILE_NONE, TREE_KERNEL);
	case NODE_WAIT: return child(b, caller, PROFILE_NONE, TREE_WAIT);
	case NODE_PARTIAL: return child(b, caller, PROFILE_NONE, TREE_PARTIAL);
	default: return add_frame(b, caller, n->scope);
	}
}

static void add_nodes(struct building *b)
{
	vec_push(&b->t->nodes, (struct tree_node){.parent = PROFILE_NONE,
						  .first_child = PROFILE_NONE,
						  .next = PROFILE_NONE,
						  .scope = PROFILE_NONE,
						  .kind = TREE_ROOT});
	for (uint32_t i = 0; i < b->p->nodes.len; i++) {
		struct measured *m = &b->measured[i];
		if (!m->needed)
			continue;
		m->at = i ? add_node(b, &b->p->nodes.data[i]) : 0;
		b->t->nodes.data[m->at].self += m->amount;
		b->t->nodes.data[m->at].self_samples += m->samples;
	}
}

static void add_totals(struct tree *t)
{
	for (uint32_t i = t->nodes.len; i-- > 0;) {
		struct tree_node *n = &t->nodes.data[i];
		n->total += n->self;
		n->total_samples += n->self_samples;
		if (!i)
			break;
		t->nodes.data[n->parent].total += n->total;
		t->nodes.data[n->parent].total_samples += n->total_samples;
	}
}

void tree_link(struct tree *t)
{
	uint32_t *order = RANK_BY(t->nodes.data, t->nodes.len, total);
	for (uint32_t i = 0; i < t->nodes.len; i++) {
		struct tree_node *n = &t->nodes.data[order[i]];
		if (n->parent == PROFILE_NONE)
			continue;
		n->next = t->nodes.data[n->parent].first_child;
		t->nodes.data[n->parent].first_child = order[i];
	}
	free(order);
}

void tree_build(struct tree *t, const struct profile *p, const struct tree_options *o)
{
	struct building b = {.t = t, .p = p, .o = o};
	*t = (struct tree){.profile = p};
	b.measured = xcalloc(p->nodes.len + (size_t)1, sizeof(*b.measured));
	if (o->focus)
		mark_focus(&b);
	add_values(&b);
	add_nodes(&b);
	add_totals(t);
	tree_link(t);
	free(b.measured);
	hashmap_release(&b.children);
	vec_free(&b.path);
}

void tree_release(struct tree *t)
{
	vec_free(&t->nodes);
}

bool tree_walk(const struct tree *t, struct tree_step *s)
{
	const struct tree_node *n = &t->nodes.data[s->node];
	if (!s->leaving && n->first_child != PROFILE_NONE) {
		s->node = n->first_child;
	} else if (!s->leaving) {
		s->leaving = true;
	} else if (n->next != PROFILE_NONE) {
		s->node = n->next;
		s->leaving = false;
	} else {
		s->node = n->parent;
	}
	return s->node && s->node != PROFILE_NONE;
}
