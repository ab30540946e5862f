#include "diagnose/teams.h"

#include <string.h>

#include "base/vec.h"

/* Serial code may be seen before the waiting that it causes, by this many seconds: a thread that
 * waits long is looked at every 0.1 s. */
static const double longest_delay = 0.2;

struct team {
	uint32_t master, region;
	double serial;         /* s in which the master ran outside of regions */
	resource_list outside; /* the master's last call path outside of regions */
};

struct team_region {
	uint32_t process, part;
	uint32_t first, length; /* the master's call path, in teams.parts */
};

void teams_release(struct teams *t)
{
	vec_each (team, &t->list)
		vec_free(&team->outside);
	vec_free(&t->list);
	vec_free(&t->regions);
	vec_free(&t->parts);
	vec_free(&t->waited);
	hashmap_release(&t->at);
	hashmap_release(&t->region_at);
	hashmap_release(&t->served);
}

/* ---- call paths ---- */

static void copy_list(resource_list *out, const uint32_t *from, uint32_t n)
{
	vec_clear(out);
	for (uint32_t i = 0; i < n; i++)
		vec_push(out, from[i]);
}

static const struct team_region *find_region(const struct teams *t, uint32_t process, uint32_t part)
{
	uint32_t at = hashmap_get(&t->region_at, (uint64_t)process << 32 | part);
	return at == HASHMAP_NONE ? NULL : &t->regions.data[at];
}

/* Remembers by which path the program comes to a region. */
static void note_path(struct teams *t, uint32_t process, const resource_list *chain, uint32_t n)
{
	uint64_t key = (uint64_t)process << 32 | chain->data[n];
	uint32_t at = hashmap_add(&t->region_at, key, t->regions.len);
	if (at == t->regions.len)
		vec_push(&t->regions,
			 (struct team_region){.process = process, .part = chain->data[n]});
	struct team_region *r = &t->regions.data[at];
	if (n > r->length) {
		r->first = t->parts.len;
		for (uint32_t i = 0; i < n; i++)
			vec_push(&t->parts, 0);
	}
	r->length = n;
	memcpy(t->parts.data + r->first, chain->data, n * sizeof(*chain->data));
}

static void put_before(resource_list *chain, const uint32_t *path, uint32_t n)
{
	uint32_t own = chain->len;
	for (uint32_t i = 0; i < n; i++)
		vec_push(chain, 0);
	memmove(chain->data + n, chain->data, own * sizeof(*chain->data));
	memcpy(chain->data, path, n * sizeof(*path));
}

/* Returns the region to which the program comes by this path, or NULL. */
static const struct team_region *region_behind(const struct teams *t, uint32_t process,
					       const resource_list *chain)
{
	vec_each (r, &t->regions)
		if (r->process == process && r->length == chain->len &&
		    !memcmp(t->parts.data + r->first, chain->data,
			    chain->len * sizeof(*chain->data)))
			return r;
	return NULL;
}

/* ---- teams ---- */

static struct team *team_of(const struct teams *t, uint32_t process)
{
	uint32_t at = hashmap_get(&t->at, process);
	return at == HASHMAP_NONE ? NULL : &t->list.data[at];
}

static struct team *begin_team(struct teams *t, uint32_t process)
{
	uint32_t at = hashmap_add(&t->at, process, t->list.len);
	if (at == t->list.len)
		vec_push(&t->list, (struct team){.master = RESOURCE_NONE, .region = RESOURCE_NONE});
	return &t->list.data[at];
}

/* The seconds of serial code that a worker has waited for, or that have passed without it. */
static double *waited_by(struct teams *t, const struct team *team, uint32_t worker)
{
	uint32_t at = hashmap_add(&t->served, worker, t->waited.len);
	if (at == t->waited.len)
		vec_push(&t->waited, team->serial);
	return &t->waited.data[at];
}

static void note_worker(struct teams *t, struct team *team, uint32_t process, uint32_t thread,
			const struct team_place *place, resource_list *chain)
{
	double *waited = waited_by(t, team, thread);
	if (*waited < team->serial - longest_delay)
		*waited = team->serial - longest_delay;
	const struct team_region *r =
		place->region_count ? find_region(t, process, chain->data[0]) : NULL;
	if (r)
		put_before(chain, t->parts.data + r->first, r->length);
}

static void note_master(struct teams *t, struct team *team, uint32_t process, uint32_t thread,
			const struct team_place *place, resource_list *chain)
{
	const struct team_region *r = NULL;
	team->master = thread;
	if (place->region_count)
		team->region = chain->data[place->regions[0]];
	else
		r = region_behind(t, process, chain);
	if (r) {
		team->region = r->part;
		vec_push(chain, r->part);
	}
}

bool teams_sample(struct teams *t, uint32_t process, uint32_t thread,
		  const struct team_place *place, double seconds, resource_list *chain)
{
	bool works = place->inside || place->region_count;
	struct team *team = works ? begin_team(t, process) : team_of(t, process);
	if (!team)
		return false;
	bool serial = !works && thread == team->master;
	uint32_t before = chain->len;
	if (works && place->worker)
		note_worker(t, team, process, thread, place, chain);
	else if (works)
		note_master(t, team, process, thread, place, chain);
	else if (serial) {
		team->serial += seconds;
		copy_list(&team->outside, chain->data, chain->len);
	}
	for (uint32_t i = place->worker; i < place->region_count; i++)
		note_path(t, process, chain, place->regions[i] + (chain->len - before));
	return serial;
}

double teams_wait(struct teams *t, uint32_t process, uint32_t thread, double seconds)
{
	const struct team *team = team_of(t, process);
	if (!team)
		return 0;
	double *waited = waited_by(t, team, thread), left = team->serial - *waited;
	double serial = left < 0 ? 0 : left < seconds ? left : seconds;
	*waited += serial;
	return serial;
}

void teams_serial(const struct teams *t, uint32_t process, resource_list *chain)
{
	const struct team *team = team_of(t, process);
	if (team)
		copy_list(chain, team->outside.data, team->outside.len);
}

void teams_region(const struct teams *t, uint32_t process, resource_list *chain)
{
	const struct team *team = team_of(t, process);
	const struct team_region *r = team ? find_region(t, process, team->region) : NULL;
	vec_clear(chain);
	if (!r)
		return;
	copy_list(chain, t->parts.data + r->first, r->length);
	vec_push(chain, r->part);
}

/* ---- what the runtime's functions wait for ---- */

const char team_region_end[] = "the end of the parallel region";

const char *team_waits_for(const char *function)
{
	static const char barrier[] = "a barrier";
	static const struct {
		const char *beginning, *what;
	} rows[] = {
		{"GOMP_parallel", team_region_end},
		{"GOMP_teams", team_region_end},
		{"__kmpc_fork", team_region_end},
		{"__kmpc_serialized", team_region_end},
		{"GOMP_critical", "a critical section"},
		{"__kmpc_critical", "a critical section"},
		{"GOMP_atomic", "an atomic region"},
		{"GOMP_taskwait", "tasks"},
		{"GOMP_taskgroup_end", "tasks"},
		{"__kmpc_omp_taskwait", "tasks"},
		{"__kmpc_end_taskgroup", "tasks"},
		{"GOMP_ordered", "an ordered section"},
		{"GOMP_doacross", "an ordered section"},
		{"__kmpc_ordered", "an ordered section"},
		{"__kmpc_doacross", "an ordered section"},
		{"omp_set_", "an OpenMP lock"},
		{"__kmpc_set_", "an OpenMP lock"},
		{"GOMP_loop_end", barrier},
		{"GOMP_sections_end", barrier},
		/* These hand out work, or tell something. */
		{"GOMP_loop", NULL},
		{"GOMP_sections", NULL},
		{"GOMP_single", NULL},
		{"GOMP_task", NULL},
		{"__kmpc_dispatch", NULL},
		{"__kmpc_for_static", NULL},
		{"__kmpc_single", NULL},
		{"__kmpc_omp_task", NULL},
		{"__kmpc_global_thread_num", NULL},
		{"__kmpc_push", NULL},
		{"omp_get_", NULL},
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strncmp(function, rows[i].beginning, strlen(rows[i].beginning)))
			return rows[i].what;
	return barrier;
}
