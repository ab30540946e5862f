/* Scopes in the making, found by what they are below their parent. */
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "structure/builder.h"

static uint32_t slot_of(const struct structure_builder *b, uint32_t parent, enum scope_kind kind,
			uint32_t id, uint32_t file)
{
	uint32_t key[4] = {parent, id, file, kind};
	uint32_t mask = b->node_slot_count - 1;
	uint32_t i = (uint32_t)hash_bytes(key, sizeof(key), 0) & mask;
	for (; b->node_slots[i]; i = (i + 1) & mask) {
		const struct node *n = &b->nodes.data[b->node_slots[i]];
		if (n->parent == parent && n->id == id && n->file == file && n->kind == kind)
			break;
	}
	return i;
}

static void put_slot(struct structure_builder *b, uint32_t number)
{
	const struct node *n = &b->nodes.data[number];
	b->node_slots[slot_of(b, n->parent, n->kind, n->id, n->file)] = number;
}

static void grow_slots(struct structure_builder *b)
{
	b->node_slot_count *= 2;
	if (b->node_slot_count > b->node_slot_room) {
		b->node_slot_room = b->node_slot_count;
		free(b->node_slots);
		b->node_slots = xmalloc(b->node_slot_room * sizeof(*b->node_slots));
	}
	memset(b->node_slots, 0, b->node_slot_count * sizeof(*b->node_slots));
	for (uint32_t i = 1; i < b->nodes.len; i++)
		put_slot(b, i);
}

uint32_t node_find(const struct structure_builder *b, uint32_t parent, enum scope_kind kind,
		   uint32_t id, uint32_t file)
{
	return b->node_slots[slot_of(b, parent, kind, id, file)];
}

uint32_t node_get(struct structure_builder *b, uint32_t parent, enum scope_kind kind, uint32_t id,
		  uint32_t file)
{
	uint32_t found = node_find(b, parent, kind, id, file);
	if (found)
		return found;
	if (b->nodes.len * 2 > b->node_slot_count)
		grow_slots(b);
	struct node n = {
		.parent = parent,
		.id = id,
		.file = file,
		.kind = (uint8_t)kind,
		.first_range = INDEX_NONE,
		.last_range = INDEX_NONE,
		.loop = INDEX_NONE,
	};
	vec_push(&b->nodes, n);
	put_slot(b, b->nodes.len - 1);
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
	memset(b->node_slots, 0, b->node_slot_count * sizeof(*b->node_slots));
	b->node_slot_count = FIRST_NODE_SLOTS;
	vec_clear(&b->nodes);
	vec_clear(&b->range_links);
}
