/* Scopes that are being built, found by their properties and their parent. */
#include "structure/builder.h"

/* What identifies a scope. */
struct node_key {
	uint32_t parent, id, file, kind;
};

struct wanted_scope_node {
	const struct structure_builder *builder;
	struct node_key key;
};

static bool is_wanted(const void *ctx, uint32_t number)
{
	const struct wanted_scope_node *w = ctx;
	const struct node *n = &w->builder->nodes.data[number];
	return n->parent == w->key.parent && n->id == w->key.id && n->file == w->key.file &&
	       n->kind == w->key.kind;
}

static uint64_t hash_of(const struct node_key *k)
{
	return hash_bytes(k, sizeof(*k), 0);
}

uint32_t node_find(const struct structure_builder *b, uint32_t parent, enum scope_kind kind,
		   uint32_t id, uint32_t file)
{
	const struct wanted_scope_node w = {b, {parent, id, file, kind}};
	uint32_t found = hashmap_find(&b->node_at, hash_of(&w.key), is_wanted, &w);
	return found == HASHMAP_NONE ? 0 : found;
}

uint32_t node_get(struct structure_builder *b, uint32_t parent, enum scope_kind kind, uint32_t id,
		  uint32_t file)
{
	const struct node_key key = {parent, id, file, kind};
	uint32_t found = node_find(b, parent, kind, id, file);
	if (found)
		return found;
	vec_push(&b->nodes, (struct node){.parent = parent,
					  .id = id,
					  .file = file,
					  .kind = (uint8_t)kind,
					  .first_range = INDEX_NONE,
					  .last_range = INDEX_NONE,
					  .loop = INDEX_NONE});
	hashmap_insert(&b->node_at, hash_of(&key), b->nodes.len - 1);
	return b->nodes.len - 1;
}

void node_add_range(struct structure_builder *b, struct node *n, uint64_t start, uint64_t end)
{
	uint32_t at = b->range_links.len;
	if (n->last_range == INDEX_NONE) {
		n->first_range = at;
	} else {
		struct range_link *last = &b->range_links.data[n->last_range];
		if (last->end >= start) {
			last->end = end > last->end ? end : last->end;
			return;
		}
		last->next = at;
	}
	n->last_range = at;
	vec_push(&b->range_links, (struct range_link){start, end, INDEX_NONE});
}

void nodes_clear(struct structure_builder *b)
{
	hashmap_clear(&b->node_at);
	vec_clear(&b->nodes);
	vec_clear(&b->range_links);
}
