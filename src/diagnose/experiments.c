/* The operations of a search (program_ops) on live processes. */
#include "diagnose/inside.h"
#include "diagnose/plumbing.h"

/* ---- parts ---- */

static void add_children(const struct diagnosis *d, uint32_t parent, resource_list *out)
{
	const struct resources *r = search_resources(d->own->search);
	for (uint32_t i = HIERARCHIES; i < r->list.len; i++)
		if (r->list.data[i].parent == parent)
			vec_push(out, i);
}

/* Returns true if anything was measured that belongs both to the code of the focus and to the
 * part. */
static bool overlaps(const struct diagnosis *d, const struct focus *f, enum hierarchy h,
		     uint32_t part)
{
	const struct resources *r = search_resources(d->own->search);
	ledger_each (e, &d->own->ledger, f->part[CODE]) {
		uint32_t at = h == MACHINE ? d->own->machine.threads.data[e->thread].part
			      : e->object == LEDGER_NONE
				      ? RESOURCE_NONE
				      : d->own->waits.objects.data[e->object].part;
		if (at != RESOURCE_NONE && resources_within(r, at, part))
			return true;
	}
	return false;
}

static void find_parts(void *ctx, const struct focus *f, enum hierarchy h, resource_list *out)
{
	struct diagnosis *d = ctx;
	uint32_t kept = 0;
	if (h == CODE) {
		code_parts_below(d->own->code, f->part[CODE], out);
		return;
	}
	add_children(d, f->part[h], out);
	vec_each (part, out)
		if (overlaps(d, f, h, *part))
			out->data[kept++] = *part;
	out->len = kept;
}

/* Returns true for what only samples of perf show: probes do not tell it from other CPU time. */
static bool is_only_sampled(enum measure m)
{
	return m == MEASURE_SYSTEM || m == MEASURE_MEMORY;
}

/* What runs in the kernel is sampled only if that is permitted. */
static bool can_measure(void *ctx, enum hypothesis_id h)
{
	const struct sampler *s = ((const struct diagnosis *)ctx)->own->samples.sampler;
	enum measure m = hypotheses[h].measure;
	return !is_only_sampled(m) || (s && (m != MEASURE_SYSTEM || !s->user_only));
}

/* Waiting is not tested on plumbing (plumbing.h): all waits go through it, and the question is
 * which code calls it. It is the same with system calls and allocators. CPU time is not tested on
 * code that spins, because that is waiting, nor on relays (relay.h), because they run for their
 * callers. */
static bool concerns(void *ctx, enum hypothesis_id h, uint32_t code)
{
	const struct diagnosis *d = ctx;
	enum measure m = hypotheses[h].measure;
	bool calls = m != MEASURE_CPU && m != MEASURE_IMBALANCE;
	return calls ? !is_plumbing(d->own->code, code)
		     : !is_spinning(d->own->code, code) && !code_part_relays(d->own->code, code);
}

/* ---- amounts ---- */

static const struct measure_row {
	uint8_t by_probes, by_samples; /* enum amount */
	uint8_t hierarchy;             /* of the objects that it is about; HIERARCHIES: none */
} measures[MEASURES] = {
	[MEASURE_CPU] = {AMOUNT_CPU, AMOUNT_SEEN_CPU, HIERARCHIES},
	[MEASURE_SYSTEM] = {AMOUNT_SYSTEM, AMOUNT_SYSTEM, HIERARCHIES},
	[MEASURE_MEMORY] = {AMOUNT_MEMORY, AMOUNT_MEMORY, HIERARCHIES},
	[MEASURE_SYNC] = {AMOUNT_WAIT, AMOUNT_SEEN_WAIT, SYNC},
	[MEASURE_IO] = {AMOUNT_WAIT, AMOUNT_SEEN_WAIT, FILES},
	[MEASURE_SMALL_IO] = {AMOUNT_SMALL, AMOUNT_SEEN_SMALL, FILES},
	[MEASURE_IMBALANCE] = {AMOUNT_CPU, AMOUNT_SEEN_CPU, HIERARCHIES},
};

bool focus_has(const struct diagnosis *d, const struct focus *f, enum measure m,
	       const struct ledger_entry *e)
{
	const struct measure_row *row = &measures[m];
	if (!machine_has(&d->own->machine, f->part[MACHINE], e->thread))
		return false;
	if (row->hierarchy == HIERARCHIES)
		return e->object == LEDGER_NONE;
	if (e->object == LEDGER_NONE)
		return false;
	const struct wait_object *o = &d->own->waits.objects.data[e->object];
	uint32_t whole = f->part[row->hierarchy];
	if (object_kinds[o->kind].hierarchy != row->hierarchy)
		return false;
	return whole == row->hierarchy ||
	       (o->part != RESOURCE_NONE &&
		resources_within(search_resources(d->own->search), o->part, whole));
}

/* Returns the time spent spinning, which is waiting on a CPU. Samples count it as waiting, but
 * probes as CPU time, so it has to be subtracted. */
static double spin_time(const struct diagnosis *d, const struct focus *f)
{
	double sum = 0;
	ledger_each (e, &d->own->ledger, f->part[CODE])
		if (machine_has(&d->own->machine, f->part[MACHINE], e->thread))
			sum += e->amount[AMOUNT_SPIN];
	return sum;
}

static double amount_of(const struct diagnosis *d, const struct live_experiment *x, bool sampled)
{
	enum measure m = hypotheses[x->hypothesis].measure;
	enum amount what = sampled ? measures[m].by_samples : measures[m].by_probes;
	double sum = 0;
	if (m == MEASURE_IMBALANCE)
		return imbalance_loss(d, x);
	ledger_each (e, &d->own->ledger, x->focus.part[CODE]) {
		if (!focus_has(d, &x->focus, m, e))
			continue;
		sum += e->amount[what];
		if (m == MEASURE_CPU)
			sum -= e->amount[AMOUNT_SYSTEM] + e->amount[AMOUNT_MEMORY];
	}
	return m == MEASURE_CPU && !sampled ? sum - spin_time(d, &x->focus) : sum;
}

static double base_of(const struct diagnosis *d, const struct live_experiment *x)
{
	struct machine_span s = machine_span(&d->own->machine, x->focus.part[MACHINE]);
	switch (hypotheses[x->hypothesis].measure) {
	case MEASURE_CPU:
	case MEASURE_SYSTEM:
	case MEASURE_MEMORY: return s.cpu;
	case MEASURE_IMBALANCE: return s.time;
	default: return s.threads;
	}
}

/* Where probes do not read the CPU clock, CPU time is derived from elapsed time. That is misleading
 * while threads wait for CPUs, because they wait in some code more than in other code. */
static bool is_misleading(const struct diagnosis *d, const struct live_experiment *x)
{
	enum measure m = hypotheses[x->hypothesis].measure;
	return (m == MEASURE_CPU || m == MEASURE_IMBALANCE) && x->probed &&
	       d->own->machine.crowded && !probes_read_cpu_clock(&d->own->probes);
}

static bool is_about_waits(uint32_t hypothesis)
{
	return measures[hypotheses[hypothesis].measure].hierarchy != HIERARCHIES;
}

/* Samples decide, if there are any. They show each wait for what it is. And what a probe in hot
 * code costs is more than its hits: the code around it was moved, and jumps there and back. */
static bool are_probed(void *ctx, enum hypothesis_id h)
{
	(void)h;
	return !((struct diagnosis *)ctx)->own->samples.sampler;
}

/* The kernel measures the CPU time of all code. */
static bool has_probes(const struct diagnosis *d, const struct live_experiment *x)
{
	bool all = x->focus.part[CODE] == CODE;
	if (x->by_samples || is_misleading(d, x) ||
	    is_only_sampled(hypotheses[x->hypothesis].measure))
		return false;
	if (is_about_waits(x->hypothesis) && (d->own->samples.sampler || d->own->waits.ignored.len))
		return false;
	return all || probes_measure(&d->own->probes, x->focus.part[CODE]);
}

double begun_per_second(const struct diagnosis *d, const struct experiment *e)
{
	double calls = 0;
	ledger_each (x, &d->own->ledger, e->focus.part[CODE])
		calls += x->amount[AMOUNT_CALLS];
	return e->observed > 0 ? calls / e->observed : 0;
}

/* ---- experiments ---- */

static void begin(void *ctx, uint32_t experiment, enum hypothesis_id h, const struct focus *f,
		  bool by_samples)
{
	struct diagnosis *d = ctx;
	while (d->own->live.len <= experiment)
		vec_push(&d->own->live, (struct live_experiment){0});
	struct live_experiment *x = &d->own->live.data[experiment];
	vec_clear(&x->before);
	x->hypothesis = (uint8_t)h;
	x->active = x->new = true;
	x->by_samples = by_samples;
	x->focus = *f;
	x->probed = f->part[CODE] != CODE && !by_samples && are_probed(d, h);
	if (x->probed)
		probes_want(&d->own->probes, f->part[CODE]);
	vec_push(&d->own->beginning, experiment);
}

static void end(void *ctx, uint32_t experiment)
{
	struct diagnosis *d = ctx;
	struct live_experiment *x = &d->own->live.data[experiment];
	if (!x->active)
		return;
	x->active = false;
	if (x->probed)
		probes_drop(&d->own->probes, x->focus.part[CODE]);
}

static void note_starting_amounts(const struct diagnosis *d, struct live_experiment *x)
{
	bool imbalance = hypotheses[x->hypothesis].measure == MEASURE_IMBALANCE;
	x->new = false;
	x->sampled = !has_probes(d, x);
	if (imbalance)
		imbalance_begin(d, x);
	for (int by = 0; by < 2; by++)
		x->amount[by] = imbalance ? 0 : amount_of(d, x, by);
	x->base = base_of(d, x);
}

/* Inserting probes takes a while, in which nothing is measured. Samples up to now are taken first,
 * because they belong to the time before the new experiments. */
static void commit(void *ctx)
{
	struct diagnosis *d = ctx;
	if (probes_commit(&d->own->probes)) {
		samples_take(&d->own->samples);
		samples_take_walks(&d->own->samples);
		diagnose_step(d);
	}
	vec_each (i, &d->own->beginning)
		note_starting_amounts(d, &d->own->live.data[*i]);
	vec_clear(&d->own->beginning);
}

static void read_one(void *ctx, uint32_t experiment, struct reading *out)
{
	struct diagnosis *d = ctx;
	struct live_experiment *x = &d->own->live.data[experiment];
	x->sampled |= !has_probes(d, x);
	*out = (struct reading){
		.amount = amount_of(d, x, x->sampled) - x->amount[x->sampled],
		.base = base_of(d, x) - x->base,
		.overhead = probes_overhead_of(&d->own->probes, x->focus.part[CODE]),
		.sampled = x->sampled,
	};
}

/* Threads of a team, or of a runtime that moves work among them. */
static bool is_alike(void *ctx, uint32_t machine)
{
	const struct diagnosis *d = ctx;
	vec_each (t, &d->own->machine.threads)
		if (t->part == machine && t->tid)
			return t->shares || t->in_team;
	return false;
}

static double overhead(void *ctx)
{
	return overhead_of_probing(&((struct diagnosis *)ctx)->own->overhead);
}

const struct program_ops diagnose_ops = {
	.parts = find_parts,
	.measures = can_measure,
	.concerns = concerns,
	.alike = is_alike,
	.probes = are_probed,
	.begin = begin,
	.end = end,
	.commit = commit,
	.read = read_one,
	.overhead = overhead,
};
