/* Teams of OpenMP: threads that work in parallel regions, and wait in between.
 *
 * The compiler moves the code of a region to a function of its own, which the runtime calls in all
 * threads of the team. The stack of the thread that has started the team (the master) shows how the
 * program came there. Workers have nothing but the runtime below the region's function, so they
 * take over the master's call path. */
#pragma once
#include "base/hashmap.h"
#include "search/resource.h"

/* Regions within regions are told apart up to this depth. */
enum { MOST_REGIONS = 4 };

/* What a stack says about its thread and the runtime. */
struct team_place {
	bool worker; /* the runtime has started the thread */
	bool inside; /* the thread is in the runtime itself */
	uint32_t region_count;
	uint32_t regions[MOST_REGIONS]; /* indices in the chain of functions that it has called */
};

struct teams {
	VEC(struct team) list;
	struct hashmap at; /* process -> team */
	VEC(struct team_region) regions;
	struct hashmap region_at; /* process << 32 | part -> region */
	resource_list parts;      /* call paths of regions */
	struct hashmap served;    /* worker -> index in waited */
	VEC(double) waited;       /* s of serial code that it has waited for */
};

void teams_release(struct teams *t);

/* Learns from a sample, and completes its chain: with the master's call path, and the region for
 * whose end the master waits. Returns true for a master between two regions. */
bool teams_sample(struct teams *t, uint32_t process, uint32_t thread,
		  const struct team_place *place, double seconds, resource_list *chain);

/* A worker waits outside of all regions: either until the master's code between two regions is
 * through, or for others at the end of a region. Puts what it waits for into the chain. Returns the
 * seconds of these for which it waits for serial code; the rest is at the end of the region. */
double teams_wait(struct teams *t, uint32_t process, uint32_t thread, double seconds);
void teams_serial(const struct teams *t, uint32_t process, resource_list *chain);
void teams_region(const struct teams *t, uint32_t process, resource_list *chain);

extern const char team_region_end[];
/* Returns what a thread waits for in this function of the runtime; NULL if it does not wait. */
const char *team_waits_for(const char *function);
