#include "simulated_program.h"

#include <math.h>
#include <string.h>

static const double turn = 0.02;       /* s */
static const double sampling_hz = 100; /* of each thread */

/* ---- chance ---- */

static uint64_t next_random(struct simulation *p)
{
	uint64_t x = p->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint32_t simulation_random(struct simulation *p, uint32_t below)
{
	return (uint32_t)((next_random(p) >> 32) * below >> 32);
}

double simulation_uniform(struct simulation *p)
{
	return (double)(next_random(p) >> 11) / 9007199254740992.0;
}

/* Nearly normal: mean 0, deviation 1. */
static double noise(struct simulation *p)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += simulation_uniform(p);
	return sum;
}

/* ---- the program ---- */

static uint32_t add_code(struct simulation *p, uint32_t parent)
{
	uint32_t r = resources_child(search_resources(p->search), parent, p->code.len);
	hashmap_add(&p->code_index, r, p->code.len);
	vec_push(&p->code, (struct simulated_code){.resource = r, .caller = UINT32_MAX});
	return r;
}

static struct simulated_code *code_of(const struct simulation *p, uint32_t resource)
{
	return &p->code.data[hashmap_get(&p->code_index, resource)];
}

uint32_t simulation_function(struct simulation *p)
{
	return add_code(p, CODE);
}

uint32_t simulation_loop(struct simulation *p, uint32_t within)
{
	uint32_t loop = add_code(p, within);
	simulation_call(p, within, loop);
	return loop;
}

void simulation_call(struct simulation *p, uint32_t from, uint32_t to)
{
	vec_push(&code_of(p, from)->parts, to);
}

void simulation_entry(struct simulation *p, uint32_t function)
{
	vec_push(&p->entries, function);
}

void simulation_overhead(struct simulation *p, uint32_t code, double share)
{
	code_of(p, code)->overhead = share;
}

static resource_list *children_of(struct simulation *p, uint32_t resource)
{
	while (p->children.len <= resource)
		vec_push(&p->children, (resource_list){0});
	return &p->children.data[resource];
}

static uint32_t add_child(struct simulation *p, uint32_t parent, uint64_t key)
{
	uint32_t r = resources_child(search_resources(p->search), parent, key);
	resource_list *l = children_of(p, parent);
	vec_each (known, l)
		if (*known == r)
			return r;
	vec_push(l, r);
	return r;
}

uint32_t simulation_thread(struct simulation *p)
{
	uint32_t t = add_child(p, p->process, p->threads.len);
	vec_push(&p->threads, t);
	return t;
}

uint32_t simulation_object(struct simulation *p, enum hierarchy h, uint64_t kind, uint64_t key)
{
	return add_child(p, add_child(p, h, kind), key);
}

void simulation_does(struct simulation *p, const struct simulated_stack *x)
{
	vec_push(&p->stacks, *x);
	if (!x->thread)
		vec_last(&p->stacks).thread = p->threads.data[0];
}

/* ---- a large one ---- */

/* One in `callers` has callees, from the next `reach`: so it is as deep as large programs are, and
 * has as many callees. A third of all calls is in loops. */
void simulation_grow(struct simulation *p, uint32_t functions)
{
	enum { CALLERS = 10, REACH = 2400 };
	VEC(uint32_t) made = {0};
	uint32_t first = simulation_function(p);
	simulation_entry(p, first);
	vec_push(&made, hashmap_get(&p->code_index, first));
	for (uint32_t i = 1; i < functions; i++) {
		uint32_t back = 1 + simulation_random(p, i < REACH ? i : REACH);
		uint32_t caller = made.data[(i - back) / CALLERS * CALLERS];
		uint32_t from = p->code.data[caller].resource;
		if (simulation_random(p, 3) == 0) {
			from = simulation_loop(p, from);
			vec_last(&p->code).caller = caller;
			caller = p->code.len - 1;
		}
		uint32_t to = simulation_function(p);
		simulation_call(p, from, to);
		vec_last(&p->code).caller = caller;
		vec_push(&made, p->code.len - 1);
		if (simulation_random(p, 2) == 0) {
			uint32_t other = made.data[simulation_random(p, i)];
			simulation_call(p, p->code.data[other].resource, to);
		}
	}
	vec_free(&made);
}

uint32_t simulation_chain(const struct simulation *p, uint32_t code, uint32_t *chain)
{
	uint32_t n = 0;
	for (uint32_t at = code; at != UINT32_MAX && n < SIMULATED_CHAIN;
	     at = p->code.data[at].caller)
		chain[n++] = p->code.data[at].resource;
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t t = chain[i];
		chain[i] = chain[n - 1 - i];
		chain[n - 1 - i] = t;
	}
	return n;
}

/* ---- what it does ---- */

static bool runs(const struct simulation *p, const struct simulated_stack *x)
{
	return p->now > x->from && (x->until <= 0 || p->now <= x->until);
}

static bool measures(enum hypothesis_id h, const struct simulated_stack *x)
{
	switch (hypotheses[h].measure) {
	case MEASURE_CPU:
	case MEASURE_IMBALANCE: return x->class == SAMPLE_CPU;
	case MEASURE_SYNC: return x->class == SAMPLE_SYNC;
	case MEASURE_IO: return x->class == SAMPLE_IO;
	case MEASURE_MEMORY: return x->class == SAMPLE_MEMORY;
	default: return x->class == SAMPLE_IO && x->small;
	}
}

static bool is_in(struct simulation *p, const struct simulated_stack *x, const struct focus *f)
{
	const struct resources *r = search_resources(p->search);
	bool code = f->part[CODE] == CODE;
	for (uint32_t i = 0; i < x->length; i++)
		code |= x->chain[i] == f->part[CODE];
	return code && resources_within(r, x->thread, f->part[MACHINE]) &&
	       (f->part[SYNC] == SYNC || resources_within(r, x->object, f->part[SYNC])) &&
	       (f->part[FILES] == FILES || resources_within(r, x->object, f->part[FILES]));
}

struct sums {
	double all, most; /* of all threads, of the busiest */
};

/* Of the stacks in the probe's focus. */
static struct sums sum_up(const struct simulation *p, const struct simulated_probe *probe)
{
	struct sums sums = {0};
	for (uint32_t t = 0; t < p->threads.len; t++) {
		double own = 0;
		vec_each (i, &probe->stacks) {
			const struct simulated_stack *x = &p->stacks.data[*i];
			if (x->thread == p->threads.data[t] && runs(p, x))
				own += x->share;
		}
		sums.all += own;
		sums.most = fmax(sums.most, own);
	}
	return sums;
}

static uint32_t threads_in(struct simulation *p, const struct focus *f)
{
	uint32_t n = 0;
	vec_each (t, &p->threads)
		n += *t != p->joining &&
		     resources_within(search_resources(p->search), *t, f->part[MACHINE]);
	return n;
}

/* Of CPU time in that part of the machine, for each second. */
static double busy(struct simulation *p, const struct focus *f)
{
	double sum = 0;
	vec_each (x, &p->stacks)
		if ((x->class == SAMPLE_CPU || x->class == SAMPLE_MEMORY) && runs(p, x) &&
		    resources_within(search_resources(p->search), x->thread, f->part[MACHINE]))
			sum += x->share;
	return sum;
}

static void rates(struct simulation *p, const struct simulated_probe *probe, double *amount,
		  double *base)
{
	struct sums sums = sum_up(p, probe);
	uint32_t threads = threads_in(p, &probe->focus);
	switch (hypotheses[probe->hypothesis].measure) {
	case MEASURE_CPU:
	case MEASURE_MEMORY:
		*amount = sums.all;
		*base = fmax(1, busy(p, &probe->focus));
		break;
	case MEASURE_IMBALANCE:
		*amount = sums.most - sums.all / threads;
		*base = 1;
		break;
	default: *amount = sums.all; *base = threads;
	}
}

static void aim(struct simulation *p, struct simulated_probe *probe, enum hypothesis_id h,
		const struct focus *f)
{
	vec_clear(&probe->stacks);
	probe->hypothesis = (uint8_t)h;
	probe->focus = *f;
	for (uint32_t i = 0; i < p->stacks.len; i++)
		if (measures(h, &p->stacks.data[i]) && is_in(p, &p->stacks.data[i], f))
			vec_push(&probe->stacks, i);
}

double simulation_truth(struct simulation *p, enum hypothesis_id h, const struct focus *f)
{
	struct simulated_probe probe = {0};
	double amount, base;
	aim(p, &probe, h, f);
	rates(p, &probe, &amount, &base);
	vec_free(&probe.stacks);
	return amount / base;
}

/* ---- what the search asks for ---- */

static double probe_overhead(const struct simulation *p, const struct simulated_probe *probe)
{
	uint32_t code = probe->focus.part[CODE];
	return code == CODE || probe->sampled ? 0 : code_of(p, code)->overhead;
}

static void parts(void *ctx, const struct focus *f, enum hierarchy h, resource_list *out)
{
	struct simulation *p = ctx;
	bool whole = f->part[CODE] == CODE;
	const resource_list *l = h != CODE ? children_of(p, f->part[h])
				 : whole   ? &p->entries
					   : &code_of(p, f->part[CODE])->parts;
	p->asked += h == CODE && !whole;
	vec_each (r, l)
		vec_push(out, *r);
}

static bool are_probed(void *ctx, enum hypothesis_id h)
{
	(void)h;
	return !((struct simulation *)ctx)->unprobed;
}

static void begin(void *ctx, uint32_t experiment, enum hypothesis_id h, const struct focus *f,
		  bool by_samples)
{
	struct simulation *p = ctx;
	while (p->probes.len <= experiment)
		vec_push(&p->probes, (struct simulated_probe){0});
	struct simulated_probe *probe = &p->probes.data[experiment];
	aim(p, probe, h, f);
	probe->begun = true;
	probe->reading = (struct reading){0};
	probe->sampled = false;
	probe->sampled = by_samples || p->unprobed ||
			 (p->sampled_above > 0 && probe_overhead(p, probe) > p->sampled_above);
	probe->reading.sampled = probe->sampled;
	p->changes++;
	p->uncommitted++;
}

static void end(void *ctx, uint32_t experiment)
{
	struct simulation *p = ctx;
	p->probes.data[experiment].begun = false;
	p->changes++;
	p->uncommitted++;
}

static void commit(void *ctx)
{
	struct simulation *p = ctx;
	p->commits++;
	p->uncommitted = 0;
}

static void read_one(void *ctx, uint32_t experiment, struct reading *out)
{
	struct simulation *p = ctx;
	*out = p->probes.data[experiment].reading;
}

static double overhead(void *ctx)
{
	struct simulation *p = ctx;
	double sum = 0;
	vec_each (probe, &p->probes)
		if (probe->begun)
			sum += probe_overhead(p, probe);
	return sum;
}

/* It has no kernel. */
static bool can_measure(void *ctx, enum hypothesis_id h)
{
	(void)ctx;
	return h != SYSTEM_TIME;
}

static bool is_alike(void *ctx, uint32_t machine)
{
	const struct simulation *p = ctx;
	bool thread = false;
	vec_each (t, &p->threads)
		thread |= *t == machine;
	return thread && p->alike;
}

static const struct program_ops ops = {
	.parts = parts,
	.alike = is_alike,
	.measures = can_measure,
	.probes = are_probed,
	.begin = begin,
	.end = end,
	.commit = commit,
	.read = read_one,
	.overhead = overhead,
};

/* ---- its run ---- */

static void measure(struct simulation *p)
{
	vec_each (probe, &p->probes) {
		if (!probe->begun)
			continue;
		double amount, base;
		rates(p, probe, &amount, &base);
		probe->reading.amount += amount * turn;
		if (probe->stacks.len)
			probe->reading.amount += p->noise * sqrt(turn) * noise(p);
		probe->reading.base += base * turn;
		probe->reading.overhead += probe_overhead(p, probe) * turn;
	}
}

static void sample(struct simulation *p, uint32_t thread)
{
	double at = simulation_uniform(p);
	vec_each (x, &p->stacks) {
		if (x->thread != thread || !runs(p, x))
			continue;
		at -= x->share;
		if (at >= 0)
			continue;
		struct stack_sample seen = {.class = x->class,
					    .thread = thread,
					    .chain = x->chain,
					    .length = x->length,
					    .weight = 1};
		search_sample(p->search, &seen);
		return;
	}
}

static void count_active(struct simulation *p)
{
	uint32_t active = 0;
	for (uint32_t i = 0; i < p->probes.len; i++)
		active += p->probes.data[i].begun && !p->probes.data[i].sampled &&
			  p->probes.data[i].focus.part[CODE] != CODE &&
			  search_get(p->search, i)->state == EXPERIMENT_ACTIVE;
	if (active > p->most_begun)
		p->most_begun = active;
}

void simulation_run(struct simulation *p, double until)
{
	while (p->now < until - turn / 2) {
		double lasting = overhead(p);
		p->now += turn;
		measure(p);
		for (uint32_t k = 0; k < (uint32_t)(sampling_hz * turn + 0.5); k++)
			vec_each (t, &p->threads)
				sample(p, *t);
		search_turn(p->search, p->now);
		count_active(p);
		p->most_overhead = fmax(p->most_overhead, fmin(lasting, overhead(p)));
	}
}

void simulation_init(struct simulation *p, const struct search_options *o, uint64_t seed)
{
	*p = (struct simulation){.random = seed, .noise = 0.03};
	p->search = search_new(o, &ops, p);
	p->host = add_child(p, MACHINE, 0);
	p->process = add_child(p, p->host, 0);
	simulation_thread(p);
}

void simulation_release(struct simulation *p)
{
	search_free(p->search);
	vec_each (c, &p->code)
		vec_free(&c->parts);
	vec_each (probe, &p->probes)
		vec_free(&probe->stacks);
	vec_each (l, &p->children)
		vec_free(l);
	vec_free(&p->code);
	vec_free(&p->stacks);
	vec_free(&p->probes);
	vec_free(&p->children);
	vec_free(&p->threads);
	vec_free(&p->entries);
	hashmap_release(&p->code_index);
}
