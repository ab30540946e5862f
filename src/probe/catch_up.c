/* Activations that were running already when their probes went in: found on the stacks of the
 * stopped threads, they count from now on. And those of subjects that are taken out, which end now.
 */
#include "probe/lists.h"

struct catching_up {
	struct target *target;
	struct lists lists;
	struct hashmap loops; /* hash of pc and subject -> whether that is in the loop */
};

static bool in_loop(struct target *t, const struct site *site, uint32_t loop, uint64_t va)
{
	struct engine *g = t->engine;
	struct loop_forest forest;
	const struct cfg *cfg =
		flow_cfg(site->code->flow, site_procedure(site), &g->arena, &g->tmp);
	loops_find(cfg, &forest, &g->arena, &g->tmp);
	uint32_t block = cfg_block_at(cfg, va);
	uint32_t in = block == BLOCK_NONE ? LOOP_NONE : forest.innermost[block];
	while (in != LOOP_NONE && in != loop)
		in = forest.loops[in].parent;
	arena_clear(&g->arena);
	arena_clear(&g->tmp);
	return in == loop;
}

/* Recursion asks the same thousands of times. */
static bool is_in_loop(struct catching_up *c, const struct site *site, uint32_t subject,
		       uint64_t va)
{
	uint64_t about[2] = {va + site->bias, subject};
	uint64_t key = hash_bytes(about, sizeof(about), 0);
	uint32_t known = hashmap_get(&c->loops, key);
	if (known == HASHMAP_NONE)
		known = hashmap_add(
			&c->loops, key,
			in_loop(c->target, site, c->target->subjects.data[subject].loop, va));
	return known;
}

/* The innermost frame may be just before the entry: then the probe will tell, unless those there
 * were executed already. */
static bool is_active(struct catching_up *c, uint32_t number, const struct site *site,
		      const struct frame *f, bool probed)
{
	const struct subject *s = &c->target->subjects.data[number];
	if (!s->fresh || s->purpose != PURPOSE_MEASURE || !(s->tracked || s->request.metrics))
		return false;
	uint64_t va = f->exact ? f->va : f->va - 1;
	bool at_entry = f->exact && va == s->entry && !probed;
	if (s->loop != LOOP_NONE)
		return !at_entry && is_in_loop(c, site, number, va);
	return !f->exact || va < site->start || (va >= s->entry && !at_entry);
}

/* Waiting in a system call whose probes have just gone in. */
static void begin_waiting(const struct lists *l, const struct stopped_walk *w)
{
	const struct target *t = l->target;
	const struct site *site = site_of(l->target, &w->walk.frames.data[0]);
	if (!site || l->area->wait_since || w->call < 0 || w->call >= 512)
		return;
	uint8_t kind = target_header(t)->calls[w->call];
	for (uint32_t i = 0; kind && i < site->subjects.len; i++) {
		const struct subject *s = &t->subjects.data[site->subjects.data[i]];
		if (!s->fresh || s->purpose != PURPOSE_BLOCK)
			continue;
		l->area->wait_kind = kind;
		l->area->wait_probe = RT_BLOCK;
		l->area->wait_cfa = w->walk.frames.data[0].cfa;
		l->area->wait_since = l->now[RT_WALL];
	}
}

/* Subjects of one frame, outermost loops first. */
static uint32_t begin_in_frame(struct catching_up *c, const struct stopped_walk *w, uint32_t frame)
{
	const struct frame *f = &w->walk.frames.data[frame];
	const struct site *site = site_of(c->target, f);
	uint32_t found = 0, deeper = 0;
	for (uint32_t depth = 0; site && depth != UINT32_MAX; depth = deeper) {
		deeper = UINT32_MAX;
		for (uint32_t k = 0; k < site->subjects.len; k++) {
			uint32_t number = site->subjects.data[k];
			uint32_t its = c->target->subjects.data[number].depth;
			if (its == depth && is_active(c, number, site, f, w->probed))
				found += lists_begin(&c->lists, number, &w->walk, frame);
			else if (its > depth && its < deeper)
				deeper = its;
		}
	}
	return found;
}

uint32_t catch_up(struct target *t, const struct stopped_walk *w)
{
	struct catching_up c = {.target = t};
	uint32_t found = 0;
	if (!w->walk.frames.len || !lists_open(&c.lists, t, w->tid))
		return 0;
	begin_waiting(&c.lists, w);
	for (uint32_t i = w->walk.frames.len; i-- > 0;)
		found += begin_in_frame(&c, w, i);
	lists_close(&c.lists);
	hashmap_release(&c.loops);
	return found;
}

void end_activations(struct target *t, int tid)
{
	struct lists l;
	if (!lists_open(&l, t, tid))
		return;
	lists_end(&l);
	lists_close(&l);
}
