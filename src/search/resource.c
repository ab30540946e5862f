#include "search/resource.h"

/* If two resources have the same hash, the second one is found with the next seed. */
static uint64_t hash(uint32_t parent, uint64_t key, uint64_t seed)
{
	const uint64_t both[2] = {parent, key};
	return hash_bytes(both, sizeof(both), seed);
}

void resources_init(struct resources *r)
{
	*r = (struct resources){0};
	for (uint32_t h = 0; h < HIERARCHIES; h++)
		vec_push(&r->list,
			 (struct resource){.parent = RESOURCE_NONE, .hierarchy = (uint8_t)h});
}

void resources_release(struct resources *r)
{
	vec_free(&r->list);
	hashmap_release(&r->index);
}

uint32_t resources_child(struct resources *r, uint32_t parent, uint64_t key)
{
	for (uint64_t seed = 0;; seed++) {
		uint32_t known = hashmap_add(&r->index, hash(parent, key, seed), r->list.len);
		if (known == r->list.len) {
			uint8_t h = r->list.data[parent].hierarchy;
			vec_push(&r->list,
				 (struct resource){.parent = parent, .hierarchy = h, .key = key});
			return known;
		}
		const struct resource *k = &r->list.data[known];
		if (k->parent == parent && k->key == key)
			return known;
	}
}

bool resources_within(const struct resources *r, uint32_t part, uint32_t whole)
{
	while (part != whole && part != RESOURCE_NONE)
		part = r->list.data[part].parent;
	return part == whole;
}
