/* Functions whose executions are counted: their probes, and their entries in the runtime's
 * tables. */
#include "probe/code/counters.h"

#include <string.h>

#include "base/parallel.h"
#include "probe/code/module_facts.h"
#include "probe/code/sites.h"
#include "probe/region/contexts.h"
#include "probe/region/layout.h"
#include "runtime/blob.h"

static uint32_t number_of(const struct site *site)
{
	return site->counted; /* 0 is the root */
}

static struct counted *counted_of(struct target *t, const struct site *site)
{
	return &t->code->counted.data[site->counted - 1];
}

static struct counters_numbers numbers_of(const struct target *t, const struct site *site,
					  const struct counted *c)
{
	const struct rt_entry_table *entries = (const struct rt_entry_table *)runtime_blob;
	return (struct counters_numbers){
		.table = t->region.table,
		.find = t->region.text + entries->find,
		.called = t->region.text + entries->called,
		.returned = t->region.text + entries->returned,
		.landed = t->region.text + entries->landed,
		.tripped = t->region.text + entries->tripped,
		.function = number_of(site),
		.first_loop = c->first_loop,
	};
}

/* The site's entry if it is to be counted, as far as is known by now; otherwise NULL. */
static struct counted *to_be_counted(struct target *t, const struct site *site)
{
	struct counted *c = site->counted ? counted_of(t, site) : NULL;
	return c && c->wanted && !c->refused ? c : NULL;
}

/* ---- numbers of loops ---- */

struct numbering {
	struct target *target;
	const uint32_t *sites;
	struct {
		struct arena a, tmp;
	} * workers;
};

static void count_loops(void *ctx, uint32_t item, uint32_t worker)
{
	struct numbering *k = ctx;
	const struct site *site = &k->target->code->sites.data[k->sites[item]];
	struct counted *c = to_be_counted(k->target, site);
	struct arena *a = &k->workers[worker].a, *tmp = &k->workers[worker].tmp;
	struct loop_forest forest;
	if (!c || c->numbered)
		return;
	loops_find(flow_cfg(site->code->flow, site_function(site), a, tmp), &forest, a, tmp);
	c->loop_count = forest.loop_count;
	arena_clear(a);
	arena_clear(tmp);
}

/* Loops keep their numbers each time the function is planned again. */
static void assign_numbers(struct target *t, struct counted *c)
{
	if (c->numbered)
		return;
	if (t->code->loops_used + c->loop_count > RT_LOOPS) {
		c->refused = REFUSED_UNRESOLVED;
		return;
	}
	c->numbered = true;
	c->first_loop = t->code->loops_used;
	t->code->loops_used += c->loop_count;
}

void counters_number_loops(struct target *t, const uint32_t *sites, uint32_t count)
{
	uint32_t workers = parallel_workers();
	struct numbering k = {.target = t, .sites = sites};
	k.workers = xcalloc(workers, sizeof(*k.workers));
	parallel_for(count, 16, count_loops, &k);
	for (uint32_t i = 0; i < count; i++) {
		struct counted *c = to_be_counted(t, &t->code->sites.data[sites[i]]);
		if (c)
			assign_numbers(t, c);
	}
	for (uint32_t i = 0; i < workers; i++) {
		arena_release(&k.workers[i].a);
		arena_release(&k.workers[i].tmp);
	}
	free(k.workers);
}

/* ---- probes ---- */

void counters_study(struct target *t, struct site_plan *p, const struct site *site)
{
	struct counted *c = to_be_counted(t, site);
	vec_clear(&p->counting);
	if (!c)
		return;
	struct counters_options o = {.live = &p->live,
				     .private = private_registers_of(t->shared, site),
				     .without_trips = c->without_trips};
	if (!counters_plan(&p->counters, site->code->flow, p->cfg, &p->forest, &o, p->a, p->tmp)) {
		c->refused = REFUSED_UNRESOLVED;
		return;
	}
	p->numbers = numbers_of(t, site, c);
	counters_code(&p->counters, site->code->flow, &p->numbers, &p->counting, p->a);
}

struct emit_probe counters_recover_at(const void *plan, uint32_t distance, struct arena *a)
{
	const struct site_plan *p = plan;
	return counters_recover(&p->counters, &p->numbers, distance, a);
}

void counters_add_probes(struct target *t, struct site_plan *p, const struct site *site)
{
	uint32_t first = p->probes.len;
	if (!to_be_counted(t, site) || !p->counting.len)
		return;
	vec_reserve(&p->probes, first + p->counting.len);
	p->probes.len += p->counting.len;
	for (uint32_t i = first; i < p->probes.len; i++) {
		p->probes.data[i] = p->counting.data[i - first];
		p->probes.data[i].owner += COUNTER_OWNERS;
	}
}

bool counters_of_site(struct target *t, const struct site *site, struct arena *a,
		      struct counters *out)
{
	struct flow *f = site->code->flow;
	struct arena *tmp = &t->shared->tmp;
	const struct counted *c = counted_of(t, site);
	struct counters_options o = {.private = private_registers_of(t->shared, site),
				     .without_trips = c->without_trips};
	const struct cfg *g = flow_cfg(f, site_function(site), a, tmp);
	struct loop_forest *forest = ARENA_NEW(a, struct loop_forest);
	struct liveness *live = ARENA_NEW(a, struct liveness);
	loops_find(g, forest, a, tmp);
	liveness_find(live, f, g, o.private, a, tmp);
	o.live = live;
	bool good = counters_plan(out, f, g, forest, &o, a, tmp);
	arena_clear(tmp);
	return good;
}

/* Only a histogram of trip counts can be left out. If any other probe is refused, so is the
 * function. */
bool counters_gives_up(struct target *t, const struct site_plan *p, struct site *site)
{
	bool again = false;
	vec_each (probe, &p->probes) {
		if (!is_counting(probe) || !probe->refused)
			continue;
		struct counted *c = counted_of(t, site);
		again = true;
		if (probe->spot.loop == LOOP_NONE) {
			c->refused = probe->refused;
			break;
		}
		if (!c->without_trips)
			c->without_trips = xcalloc(c->loop_count, sizeof(*c->without_trips));
		c->without_trips[probe->spot.loop] = true;
	}
	return again;
}

void counters_publish(struct target *t, const struct site_plan *p, const struct site *site)
{
	const struct counted *c = to_be_counted(t, site);
	const struct counters *y = &p->counters;
	if (!c)
		return;
	struct rt_counted *out = target_at(t, RT_COUNTED);
	struct rt_counted_loop *loops = target_at(t, RT_COUNTED_LOOPS);
	uint32_t *sites = target_at(t, RT_SITE_TABLE);
	uint32_t first = t->code->call_sites_used;
	t->code->call_sites_used += y->site_count + 1;
	for (uint32_t i = 0; i < y->site_count; i++)
		sites[first + i + 1] =
			y->sites[i].loop == LOOP_NONE ? 0 : c->first_loop + y->sites[i].loop + 1;
	for (uint32_t i = 0; i < c->loop_count; i++) {
		const struct counters_loop *l = &y->loops[i];
		loops[c->first_loop + i] = (struct rt_counted_loop){
			.word = l->word,
			.slot = l->slot,
			.outer = l->outer == LOOP_NONE ? 0 : c->first_loop + l->outer + 1,
		};
	}
	out[number_of(site)] = (struct rt_counted){.words = y->word_count,
						   .sites = y->site_count,
						   .frame = counters_frame_size(y),
						   .first_site = first};
}

/* ---- what is counted ---- */

struct adding {
	module_chooser wants;
	void *ctx;
	uint32_t added;
};

/* Stubs that only jump to other modules are not worth counting. */
static void add_functions(void *ctx, struct target *t, struct code *code, uint64_t bias)
{
	struct adding *a = ctx;
	uint32_t count;
	if (code->arch != t->shared->arch || !a->wants(a->ctx, code))
		return;
	private_registers_find(t->shared, code);
	const struct function *list = flow_functions(code->flow, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (list[i].flags & FUNCTION_PLT)
			continue;
		struct site *site = target_site(t, code, i, bias);
		if (site->counted)
			continue;
		vec_push(&t->code->counted,
			 (struct counted){.site = (uint32_t)(site - t->code->sites.data),
					  .wanted = true});
		vec_push(&t->counting.starts, site->start);
		site->counted = t->code->counted.len;
		site->dirty = true;
		a->added++;
	}
}

int target_count(struct target *t, module_chooser wants, void *ctx, uint32_t *added, struct err *e)
{
	struct adding a = {.wants = wants, .ctx = ctx};
	if (!t->alive || !t->region.in)
		return target_unusable(t, e);
	if (!contexts_begin(t))
		return err_errno(e, "there is no memory to count in process %d", t->pid);
	int rc = target_modules(t, add_functions, &a, e);
	/* A large program has ten thousands of them, and more come only with another library. */
	vec_trim(&t->code->sites);
	vec_trim(&t->code->counted);
	vec_trim(&t->counting.starts);
	*added = a.added;
	return rc;
}

bool target_counted(const struct target *t, uint32_t number, struct counted_function *out)
{
	if (!number || number > t->code->counted.len)
		return false;
	const struct counted *c = &t->code->counted.data[number - 1];
	const struct site *site = &t->code->sites.data[c->site];
	*out = (struct counted_function){
		.code = site->code,
		.va = site->start,
		.bias = site->bias,
		.refused = c->refused,
		.private = private_registers_of(t->shared, site),
		.without_trips = c->without_trips,
		.first_loop = c->first_loop,
	};
	return true;
}

struct counted_place target_counted_place(struct target *t, uint64_t pc)
{
	struct place at = space_find(t->space, pc);
	struct counted_place out = {.status = PLACE_NO_COUNT, .code = at.code};
	if (!at.code || !at.code->flow) {
		/* It is unknown where our memory was in a process that has ended. */
		bool ours = !t->region.map || is_code_memory(t, pc);
		out.status = ours ? PLACE_COUNTED : PLACE_NO_MODULE;
		return out;
	}
	if (!private_registers_known(t->shared, at.code))
		return out;
	uint32_t count, function = flow_function_at(at.code->flow, at.va);
	out.status = function == UINT32_MAX ? PLACE_BETWEEN : PLACE_STUB;
	if (function == UINT32_MAX)
		return out;
	out.va = flow_functions(at.code->flow, &count)[function].start;
	uint32_t i = hashmap_get(&t->code->site_index, out.va + pc - at.va);
	const struct site *site = i == HASHMAP_NONE ? NULL : &t->code->sites.data[i];
	if (site && site->counted)
		out.status = counted_of(t, site)->refused ? PLACE_REFUSED : PLACE_COUNTED;
	return out;
}
