#include "flow/known_graphs.h"

void known_graphs_init(struct known_graphs *k)
{
	*k = (struct known_graphs){0};
	pthread_mutex_init(&k->lock, NULL);
	arena_init(&k->arena);
}

void known_graphs_release(struct known_graphs *k)
{
	pthread_mutex_destroy(&k->lock);
	hashmap_release(&k->at);
	vec_free(&k->list);
	arena_release(&k->arena);
}

const struct packed_graph *known_graph(struct known_graphs *k, uint64_t key)
{
	pthread_mutex_lock(&k->lock);
	uint32_t i = hashmap_get(&k->at, key);
	const struct packed_graph *p = i == HASHMAP_NONE ? NULL : k->list.data[i];
	pthread_mutex_unlock(&k->lock);
	return p;
}

void known_graph_add(struct known_graphs *k, uint64_t key, const struct cfg *g, struct arena *tmp)
{
	pthread_mutex_lock(&k->lock);
	uint32_t next = k->list.len;
	if (hashmap_add(&k->at, key, next) == next)
		vec_push(&k->list, graph_pack(g, &k->arena, tmp));
	pthread_mutex_unlock(&k->lock);
}
