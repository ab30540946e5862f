/* From what is to be measured to code: subjects, the spots of each in its function, and the
 * fragment that carries all probes of a function. */
#include "probe/code/plan.h"

#include "base/check.h"
#include "base/parallel.h"
#include "probe/code/code_memory.h"
#include "probe/code/counters.h"
#include "probe/code/module_facts.h"
#include "probe/code/sites.h"
#include "probe/code/traps.h"
#include "probe/region/steps.h"
#include "runtime/blob.h"

/* Publishes the subject with the range of its function's main part. */
static void publish_subject(struct target *t, uint32_t number)
{
	const struct subject *s = &t->code->subjects.data[number];
	const struct site *site = &t->code->sites.data[s->site];
	uint32_t count;
	const struct function *p = &flow_functions(site->code->flow, &count)[site_function(site)];
	struct rt_subject *out = target_subject(t, number);
	out->start = p->start + site->bias;
	out->end = p->end + site->bias;
	out->metrics = s->request.metrics;
	out->flags = (s->request.path ? RT_PATH : 0) | (s->request.loop ? RT_LOOP : 0) |
		     (s->request.metrics || s->tracked ? 0 : RT_COUNT_ONLY);
	if (!s->in)
		out->budget = s->request.budget;
	out->active = 1;
	if (number >= target_header(t)->subjects)
		target_header(t)->subjects = number + 1;
}

/* ---- which points a subject needs ---- */

enum { PROBED_BY_COUNTER = -2 };
/* In bytes. If the upper bound of a fragment's size is above TRIAL_ABOVE, the fragment is made once
 * as a trial. It then gets room for the trial's size, an eighth of that, and TRIAL_SPARE: the
 * fragment may be larger at its real address. */
enum { TRIAL_ABOVE = 1 << 20, TRIAL_SPARE = 4096 };

/* The kind of the probe where exceptions leave a tracked loop, or one of its iterations. */
static int tracked_kind(enum point_kind kind)
{
	return kind == POINT_ITERATION_END ? RT_ITERATED
	       : kind == POINT_LOOP_EXIT   ? RT_LEFT
					   : PROBED_BY_COUNTER;
}

static int runtime_kind(const struct subject *s, enum point_kind kind)
{
	bool entry = kind == POINT_ENTRY || kind == POINT_LOOP_ENTRY;
	switch (s->purpose) {
	case PURPOSE_BLOCK:
		return kind == POINT_SYSCALL || kind == POINT_PASS ? RT_BLOCK : RT_BLOCK_DONE;
	case PURPOSE_MADE: return RT_MADE;
	case PURPOSE_RENDEZVOUS: return RT_RENDEZVOUS;
	case PURPOSE_SPIN: return entry ? RT_WAIT : RT_WAIT_DONE;
	default: break;
	}
	if (kind == POINT_CALL)
		return RT_TARGET;
	if (s->request.counters || kind == POINT_ITERATION_BEGIN || kind == POINT_ITERATION_END)
		return PROBED_BY_COUNTER;
	return entry ? RT_ENTER : RT_EXIT;
}

static bool wants_spot(const struct subject *s, const struct spot *spot)
{
	if (!s->wanted || s->refused || !(subject_points(s) >> spot->kind & 1))
		return false;
	bool loop_point = spot->kind >= POINT_LOOP_ENTRY && spot->kind <= POINT_ITERATION_END;
	return !loop_point || spot->loop == s->loop;
}

/* ---- probes ---- */

/* The address whose recipe holds at the spot: that of the instruction executed next. */
static uint64_t recipe_address(const struct site_plan *p, const struct spot *spot)
{
	if (spot->place == SPOT_EDGE)
		return p->cfg->blocks[p->cfg->edges[spot->edge].to].start;
	return spot->va;
}

/* Returns the subject's nth entry in the runtime's table of probes. It is reused when the
 * function's fragment is made again. */
static uint32_t runtime_probe(struct target *t, struct subject *s, uint32_t nth)
{
	if (nth < s->probes.len)
		return s->probes.data[nth];
	uint32_t number = t->code->probe_free.len ? vec_pop(&t->code->probe_free)
						  : target_header(t)->probes++;
	bug_on(number >= RT_PROBES, "P10");
	vec_push(&s->probes, number);
	return number;
}

/* Describes the target of the call at va, as far as the instruction determines it. */
static void describe_target(const struct target *t, const struct site *site, uint64_t va,
			    struct rt_probe *p)
{
	struct insn in;
	size_t n;
	const uint8_t *bytes = module_at(site->code->module, va, t->shared->arch->insn_max, &n);
	p->base = p->index = RT_NO_REGISTER;
	if (!bytes || !t->shared->arch->decode(bytes, n, va, DECODE_FULL, &in))
		return;
	if (in.kind == INSN_CALL) {
		p->constant = in.target + site->bias;
		return;
	}
	p->memory = in.op == OP_LOAD;
	p->base = in.a;
	p->index = p->memory ? in.b : RT_NO_REGISTER;
	p->shift = in.shift;
	/* A constant without registers was computed from the address of the instruction. */
	p->constant = !p->memory                             ? 0
		      : in.a == REG_NONE && in.b == REG_NONE ? (uint64_t)in.imm + site->bias
							     : (uint64_t)in.imm;
}

/* The offset in an area of the counter for points of this kind. */
static uint32_t counter_of(struct target *t, struct subject *s, enum point_kind kind)
{
	if (s->counters[kind] == UINT32_MAX)
		s->counters[kind] = t->region.counters++;
	bug_on(t->region.counters > t->code->counters_reserved, "P10");
	return (uint32_t)(RT_AREA_COUNTERS + s->counters[kind] * sizeof(uint64_t));
}

static void call_runtime(struct target *t, const struct site_plan *p, uint32_t subject, int kind,
			 const struct spot *spot, uint32_t nth, struct emit_probe *out)
{
	const struct rt_entry_table *entries = (const struct rt_entry_table *)runtime_blob;
	struct subject *s = &t->code->subjects.data[subject];
	const struct site *site = &t->code->sites.data[s->site];
	uint64_t at = RT_PROBE_TABLE + runtime_probe(t, s, nth) * sizeof(struct rt_probe);
	struct rt_probe *probe = target_at(t, at);
	*probe = (struct rt_probe){
		.unless_active = probe->unless_active, /* the old fragment may be using it: see
							  mark_shared() */
		.kind = (uint32_t)kind,
		.subject = subject,
		.pc = spot->va + site->bias,
		.step = step_at(t, site->code, recipe_address(p, spot)),
	};
	if (kind == RT_TARGET)
		describe_target(t, site, spot->va, probe);
	if (kind == RT_ITERATED || kind == RT_LEFT)
		probe->constant = counter_of(t, s, spot->kind);
	if (kind == RT_WAIT)
		probe->constant = s->argument;
	if (kind == RT_BLOCK)
		probe->constant = spot->kind == POINT_PASS;
	out->routine = t->region.text + entries->hit;
	out->argument = t->region.base + at;
}

static void use_counter(struct target *t, struct subject *s, enum point_kind kind,
			struct emit_probe *out)
{
	const struct rt_entry_table *entries = (const struct rt_entry_table *)runtime_blob;
	out->counter = counter_of(t, s, kind);
	out->table = t->region.table;
	out->table_bits = RT_TABLE_BITS;
	out->find = t->region.text + entries->find;
}

/* An exit without an activation is ignored, and an entry can be made to ignore a running one: see
 * mark_shared(). */
static enum tolerance tolerance_of(const struct subject *s, int kind)
{
	if (kind == RT_EXIT || kind == RT_ITERATED || kind == RT_LEFT)
		return TOLERATES_ALL;
	return kind == RT_ENTER && s->request.loop && (s->request.metrics || s->tracked)
		       ? TOLERATES_MARKED
		       : TOLERATES_NONE;
}

static void add_single_probe(struct target *t, struct site_plan *p, uint32_t subject,
			     const struct spot *spot, int kind, uint32_t *nth)
{
	struct subject *s = &t->code->subjects.data[subject];
	struct spot_probe probe = {
		.spot = *spot, .owner = subject, .tolerance = (uint8_t)tolerance_of(s, kind)};
	if (kind == PROBED_BY_COUNTER)
		use_counter(t, s, spot->kind, &probe.code);
	else
		call_runtime(t, p, subject, kind, spot, (*nth)++, &probe.code);
	vec_push(&p->probes, probe);
}

static void add_probe(struct target *t, struct site_plan *p, uint32_t subject,
		      const struct spot *spot, uint32_t *nth)
{
	const struct subject *s = &t->code->subjects.data[subject];
	bool unwinds = spot->place == SPOT_EDGE && p->cfg->edges[spot->edge].kind == EDGE_UNWIND;
	int kind = runtime_kind(s, spot->kind);
	if (s->tracked && unwinds)
		kind = tracked_kind(spot->kind);
	add_single_probe(t, p, subject, spot, kind, nth);
	if (s->tracked && kind == PROBED_BY_COUNTER && spot->kind == POINT_LOOP_ENTRY)
		add_single_probe(t, p, subject, spot, RT_ENTER, nth);
	if (s->tracked && kind == PROBED_BY_COUNTER && spot->kind == POINT_LOOP_EXIT)
		add_single_probe(t, p, subject, spot, RT_EXIT, nth);
}

/* Whether the runtime's table has room: a subject needs at most two entries for a spot. */
static bool table_has_room(const struct target *t, const struct site_plan *p,
			   const struct subject *s)
{
	uint32_t left =
		RT_PROBES - target_header(t)->probes + t->code->probe_free.len + s->probes.len;
	uint32_t need = 0;
	vec_each (spot, &p->spots)
		need += wants_spot(s, spot) ? 2 : 0;
	return need <= left && !(need && fault("probe-room", ENOSPC));
}

static void refuse_too_many(struct target *t, const struct site_plan *p, const struct site *site,
			    struct batch_result *result)
{
	vec_each (number, &site->subjects) {
		struct subject *s = &t->code->subjects.data[*number];
		if (!s->wanted || s->refused || table_has_room(t, p, s))
			continue;
		s->refused = REFUSED_TABLE_FULL;
		result->refused[REFUSED_TABLE_FULL]++;
	}
}

/* Adds the probes in the order of spots, which nests them properly; at one spot, in the order of
 * subjects. */
static void add_probes(struct target *t, struct site_plan *p, const struct site *site,
		       struct batch_result *result)
{
	uint32_t nth[64] = {0}, many = site->subjects.len;
	uint32_t *used = many <= ARRAY_SIZE(nth) ? nth : ARENA_ARRAY(p->tmp, uint32_t, many);
	refuse_too_many(t, p, site, result);
	vec_clear(&p->probes);
	vec_each (spot, &p->spots) {
		for (uint32_t i = 0; i < many; i++) {
			uint32_t number = site->subjects.data[i];
			if (wants_spot(&t->code->subjects.data[number], spot))
				add_probe(t, p, number, spot, &used[i]);
		}
	}
}

/* ---- fragments ---- */

static bool is_in_loop(const struct loop_forest *forest, uint32_t block, uint32_t loop)
{
	uint32_t in = forest->innermost[block];
	while (in != LOOP_NONE && in != loop)
		in = forest->loops[in].parent;
	return in == loop;
}

static void find_loop_code(const struct site_plan *p, struct subject *s)
{
	vec_clear(&s->loop_code);
	for (uint32_t i = 0; i < p->cfg->block_count; i++) {
		const struct block *b = &p->cfg->blocks[i];
		if (!is_in_loop(&p->forest, i, s->loop))
			continue;
		if (s->loop_code.len && vec_last(&s->loop_code).end == b->start)
			vec_last(&s->loop_code).end += b->size;
		else
			vec_push(&s->loop_code, (struct part){b->start, b->start + b->size});
	}
}

static void find_loops_of_subjects(struct target *t, struct site_plan *p, const struct site *site)
{
	for (uint32_t i = 0; i < site->subjects.len; i++) {
		struct subject *s = &t->code->subjects.data[site->subjects.data[i]];
		if (!s->request.loop || !s->wanted)
			continue;
		uint32_t header = cfg_block_at(p->cfg, s->request.loop);
		s->loop = LOOP_NONE;
		for (uint32_t k = 0; k < p->forest.loop_count && s->loop == LOOP_NONE; k++)
			if (p->forest.loops[k].header == header)
				s->loop = k;
		if (s->loop == LOOP_NONE) {
			s->refused = REFUSED_UNREACHED;
			continue;
		}
		s->depth = p->forest.loops[s->loop].depth;
		find_loop_code(p, s);
	}
}

/* The part of planning that is independent of other sites: any thread may do it. `p` has its
 * arenas. */
static void study_site(struct target *t, struct site_plan *p, const struct site *site)
{
	uint32_t kinds = 0;
	p->cfg = flow_cfg(site->code->flow, site_function(site), p->a, p->tmp);
	loops_find(p->cfg, &p->forest, p->a, p->tmp);
	find_loops_of_subjects(t, p, site);
	struct regset unshared = {0};
	if (site->counted)
		unshared = private_registers_of(t->shared, site);
	liveness_find(&p->live, site->code->flow, p->cfg, unshared, p->a, p->tmp);
	for (uint32_t i = 0; i < site->subjects.len; i++) {
		const struct subject *s = &t->code->subjects.data[site->subjects.data[i]];
		if (s->wanted && !s->refused)
			kinds |= subject_points(s);
	}
	spots_find(site->code->flow, p->cfg, &p->forest, kinds, LOOP_NONE, &p->spots);
	counters_study(t, p, site);
}

static void plan_release(struct site_plan *p)
{
	vec_free(&p->spots);
	vec_free(&p->probes);
	vec_free(&p->counting);
}

/* Marks loops as tracked if their probes were refused at shared landing pads. Returns whether there
 * are new ones. */
static bool track_refused(struct target *t, const struct site_plan *p)
{
	bool any = false;
	vec_each (probe, &p->probes) {
		if (is_counting(probe))
			continue;
		struct subject *s = &t->code->subjects.data[probe->owner];
		bool loop = s->request.counters && s->request.loop;
		if (probe->refused != REFUSED_SHARED_LANDING || !loop || s->tracked)
			continue;
		s->tracked = any = true;
		t->region.reported.data[probe->owner] &= (uint8_t)~REPORT_PATHS;
	}
	return any;
}

/* Refuses subjects with activations that lack a probe, because they need all of them. Returns
 * whether there are new ones. */
static bool give_up_refused(struct target *t, const struct site_plan *p,
			    struct batch_result *result)
{
	bool any = false;
	for (uint32_t i = 0; i < p->probes.len; i++) {
		if (is_counting(&p->probes.data[i]))
			continue;
		struct subject *s = &t->code->subjects.data[p->probes.data[i].owner];
		uint8_t why = p->probes.data[i].refused;
		if (!why || (s->request.counters && !s->tracked) || s->refused)
			continue;
		s->refused = why;
		result->refused[why]++;
		any = true;
	}
	return any;
}

/* Counts the refused probes of subjects that can do without some of them. */
static void count_refused(const struct site_plan *p, struct batch_result *result)
{
	vec_each (probe, &p->probes)
		if (probe->refused)
			result->refused[probe->refused]++;
}

/* Marks entry probes of loops that run on other paths, too: the runtime then begins no activation
 * if the loop is already active (rt_probe.unless_active). */
static void mark_shared(struct target *t, const struct site_plan *p)
{
	vec_each (probe, &p->probes) {
		uint64_t at = probe->code.argument - t->region.base;
		if (probe->tolerance == TOLERATES_MARKED)
			((struct rt_probe *)target_at(t, at))->unless_active = probe->shared;
	}
}

static void publish(struct target *t, const struct site_plan *p)
{
	for (uint32_t i = 0; i < p->probes.len; i++) {
		if (is_counting(&p->probes.data[i]))
			continue;
		struct subject *s = &t->code->subjects.data[p->probes.data[i].owner];
		uint8_t kind = (uint8_t)p->probes.data[i].spot.kind;
		uint64_t at = p->probes.data[i].runs_at;
		if (kind == POINT_ENTRY || (kind == POINT_LOOP_ENTRY && at))
			s->entry = at;
		publish_subject(t, p->probes.data[i].owner);
	}
}

static int refuse_site(struct target *t, struct site *site, struct site_plan *p, enum refusal why)
{
	code_memory_drop_next(t, site);
	vec_each (probe, &p->probes)
		probe->refused = (uint8_t)why;
	return 0;
}

/* Whether the journal has room for these patches and for those that are planned already. */
static bool journal_has_room(const struct target *t, const struct site *site)
{
	uint32_t left = RT_PATCHES - target_header(t)->patches + t->code->journal_free.len;
	return t->code->patches_planned + site->next.patches.len <= left &&
	       !fault("journal-room", ENOSPC);
}

/* The room to take for a fragment: see TRIAL_ABOVE. */
static uint32_t room_for(struct fragment_request *r, uint64_t near, struct arena *tmp)
{
	uint32_t bound = fragment_bound(r);
	struct fragment trial;
	if (bound <= TRIAL_ABOVE)
		return bound;
	r->address = near;
	fragment_make(&trial, r, tmp);
	uint32_t room = trial.size + trial.size / 8 + TRIAL_SPARE;
	fragment_release(&trial);
	return room < bound ? room : bound;
}

/* Takes room for the fragment and makes it there. */
static int make_fragment(struct target *t, struct site *site, struct site_plan *p, bool traps,
			 struct err *e)
{
	struct fragment_request r = {.flow = site->code->flow,
				     .function = site_function(site),
				     .cfg = p->cfg,
				     .live = &p->live,
				     .probes = p->probes.data,
				     .count = p->probes.len,
				     .bias = site->bias,
				     .intrusions = intrusions_of(t->shared, site),
				     .poison = t->shared->options.poison,
				     .shadow_stack = t->shadow_stack,
				     .allow_traps = traps,
				     .trap_all = traps && t->shared->options.trap_all,
				     .relocate = t->shared->options.relocate || site->counted};
	if (site->counted && p->counters.cfg) {
		r.held = counters_held(&p->counters);
		r.recover = counters_recover_at;
		r.recover_ctx = p;
	}
	if (!site->next_address) {
		bool taken;
		site->next_room = room_for(&r, site->start + site->bias, p->tmp);
		int rc = code_memory_take(t, site, &taken, e);
		if (rc || !taken)
			return rc ? rc : refuse_site(t, site, p, REFUSED_OUT_OF_REACH);
	}
	r.address = site->next_address;
	fragment_release(&site->next);
	fragment_make(&site->next, &r, p->tmp);
	if (fault("fragment-size", ENOMEM) || site->next.size > site->next_room)
		return refuse_site(t, site, p, REFUSED_OUT_OF_REACH);
	return journal_has_room(t, site) ? 0 : refuse_site(t, site, p, REFUSED_TABLE_FULL);
}

static bool any_refused(const struct site_plan *p)
{
	vec_each (probe, &p->probes)
		if (probe->refused)
			return true;
	return false;
}

/* Uses traps only if some probe is refused without them. */
static int plan_fragment(struct target *t, struct site *site, struct site_plan *p, struct err *e)
{
	bool at_once = t->shared->options.trap_all && traps_possible(t, site);
	int rc = make_fragment(t, site, p, at_once, e);
	if (!rc && !at_once && any_refused(p) && !site->counted && traps_possible(t, site)) {
		vec_each (probe, &p->probes)
			probe->refused = REFUSED_NONE;
		code_memory_drop_next(t, site);
		rc = make_fragment(t, site, p, true, e);
	}
	return rc;
}

/* Refuses the subjects that measure a function which takes too many patches. Its other probes,
 * which watch waits, may need fewer. */
static bool give_up_measuring(struct target *t, const struct site *site, const struct site_plan *p,
			      struct batch_result *result)
{
	uint32_t most = t->shared->options.most_patches;
	bool any = false;
	if (!most || site->counted || site->next.patches.len <= most)
		return false;
	vec_each (probe, &p->probes) {
		struct subject *s = &t->code->subjects.data[probe->owner];
		if (s->purpose != PURPOSE_MEASURE || s->refused)
			continue;
		s->refused = REFUSED_TOO_MANY;
		result->refused[REFUSED_TOO_MANY]++;
		any = true;
	}
	return any;
}

/* Makes `next` of a site that was studied, in code memory of its own. A site without probes gets
 * none. */
static int plan_site(struct target *t, struct site *site, struct site_plan *p,
		     struct batch_result *result, struct err *e)
{
	int rc = 0;
	add_probes(t, p, site, result);
	counters_add_probes(t, p, site);
	result->spots += p->probes.len;
	while (p->probes.len) {
		rc = plan_fragment(t, site, p, e);
		if (!rc && (track_refused(t, p) || counters_gives_up(t, p, site)))
			code_memory_drop_next(t, site); /* because the probes change */
		else if (rc ||
			 !(give_up_measuring(t, site, p, result) || give_up_refused(t, p, result)))
			break;
		add_probes(t, p, site, result);
		counters_study(t, p, site);
		counters_add_probes(t, p, site);
	}
	if (!rc)
		count_refused(p, result);
	if (!rc && p->probes.len && site->next.size) {
		mark_shared(t, p);
		publish(t, p);
		counters_publish(t, p, site);
		code_memory_trim_next(t, site);
		t->code->traps.planned += count_traps(&site->next);
		t->code->patches_planned += site->next.patches.len;
	} else {
		code_memory_drop_next(t, site);
	}
	return rc;
}

/* ---- all sites ---- */

/* Sites are studied on all CPUs, in groups. The thread that traces the program plans them one after
 * the other, because the place of a fragment depends on the sizes of those before it. At most
 * GROUPS_AHEAD groups are studied and not yet planned, which limits the memory they take. */
enum { SITES_PER_GROUP = 16, GROUPS_AHEAD = 32 };

struct group {
	struct arena a, tmp;
	struct site_plan plans[SITES_PER_GROUP];
};

struct planning {
	struct target *target;
	const uint32_t *sites;
	uint32_t count;
	struct group *groups;
	struct batch_result *result;
	int rc;
	struct err *e;
};

static void study_group(void *ctx, uint32_t item, uint32_t worker)
{
	struct planning *k = ctx;
	struct group *g = &k->groups[item % GROUPS_AHEAD];
	(void)worker;
	for (uint32_t i = 0; i < SITES_PER_GROUP && item * SITES_PER_GROUP + i < k->count; i++) {
		uint32_t number = k->sites[item * SITES_PER_GROUP + i];
		g->plans[i] = (struct site_plan){.a = &g->a, .tmp = &g->tmp};
		study_site(k->target, &g->plans[i], &k->target->code->sites.data[number]);
		arena_clear(&g->tmp);
	}
}

static void plan_group(void *ctx, uint32_t item)
{
	struct planning *k = ctx;
	struct group *g = &k->groups[item % GROUPS_AHEAD];
	const struct engine_options *o = &k->target->shared->options;
	for (uint32_t i = 0; i < SITES_PER_GROUP && item * SITES_PER_GROUP + i < k->count; i++) {
		uint32_t number = k->sites[item * SITES_PER_GROUP + i];
		if (!k->rc)
			k->rc = plan_site(k->target, &k->target->code->sites.data[number],
					  &g->plans[i], k->result, k->e);
		plan_release(&g->plans[i]);
		arena_clear(&g->tmp);
	}
	arena_clear(&g->a);
	if (o->progress)
		o->progress(o->ctx, item * SITES_PER_GROUP, k->count);
}

/* Finds the facts about the whole module that planning needs, before several threads study its
 * sites. */
static void study_module(struct shared *g, const struct site *site)
{
	if (site->counted)
		private_registers_of(g, site);
	flow_join_parts(site->code->flow);
	recipes_at(site->code->recipes, site->start);
	intrusions_of(g, site);
}

int sites_plan(struct target *t, const uint32_t *sites, uint32_t count, struct batch_result *result,
	       struct err *e)
{
	struct planning k = {.target = t, .sites = sites, .count = count, .result = result, .e = e};
	for (uint32_t i = 0; i < count; i++)
		study_module(t->shared, &t->code->sites.data[sites[i]]);
	for (uint32_t i = 0; i < count; i++)
		recipes_hold(t->code->sites.data[sites[i]].code->recipes, true);
	counters_number_loops(t, sites, count);
	k.groups = xcalloc(GROUPS_AHEAD, sizeof(*k.groups));
	parallel_in_order((count + SITES_PER_GROUP - 1) / SITES_PER_GROUP, GROUPS_AHEAD,
			  study_group, plan_group, &k);
	for (uint32_t i = 0; i < count; i++)
		recipes_hold(t->code->sites.data[sites[i]].code->recipes, false);
	for (uint32_t i = 0; i < GROUPS_AHEAD; i++) {
		arena_release(&k.groups[i].a);
		arena_release(&k.groups[i].tmp);
	}
	free(k.groups);
	return k.rc;
}
