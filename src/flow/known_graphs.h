/* Graphs that were built already. One function is asked for several times: to unwind it, for its
 * loops, to name its lines, to put probes into it. Any thread may call these. */
#pragma once
#include <pthread.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "flow/packed_graph.h"

struct known_graphs {
	pthread_mutex_t lock;
	struct hashmap at; /* key -> index in list */
	VEC(const struct packed_graph *) list;
	struct arena arena;
};

void known_graphs_init(struct known_graphs *k);
void known_graphs_release(struct known_graphs *k);

/* The key stands for all that the graph depends on. NULL: it is not known. */
const struct packed_graph *known_graph(struct known_graphs *k, uint64_t key);
void known_graph_add(struct known_graphs *k, uint64_t key, const struct cfg *g, struct arena *tmp);
