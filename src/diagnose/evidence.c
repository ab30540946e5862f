/* Selects what findings are made from out of all that a search has measured: profile/evidence.h.
 *
 * A large program has tens of thousands of different stacks. Findings need to know which true parts
 * a stack has, in which order, and its innermost part. Stacks that agree in these, and in what the
 * thread did, are merged into one chain. Only the heaviest chain through a true part can be
 * reported as a call path, and keeps all its parts. */
#include <math.h>
#include <unistd.h>

#include "diagnose/rows.h"

/* ---- chains ---- */

static void mark_true_parts(const struct diagnosis *d, struct kept_chains *k)
{
	k->true_parts = xcalloc(search_resources(d->own->search)->list.len, 1);
	for (uint32_t i = 0; i < search_count(d->own->search); i++) {
		const struct experiment *e = search_get(d->own->search, i);
		if (e->state == EXPERIMENT_TRUE)
			k->true_parts[e->focus.part[CODE]] = 1;
	}
}

static bool is_kept(const struct kept_chains *k, const uint32_t *parts, uint32_t i, uint32_t length)
{
	return k->true_parts[parts[i]] || i + 1 == length;
}

static uint64_t hash_chain(const struct diagnosis *d, const struct kept_chains *k,
			   const struct chain *c, uint64_t seed)
{
	const uint32_t *parts = d->own->samples.parts.data + c->first;
	uint64_t hash =
		hash_bytes((const uint32_t[]){c->object, c->class}, 2 * sizeof(uint32_t), seed);
	for (uint32_t i = 0; i < c->length; i++)
		if (is_kept(k, parts, i, c->length))
			hash = hash_bytes(&parts[i], sizeof(parts[i]), hash);
	return hash;
}

/* Returns the first part from i on that is kept, or `length`. */
static uint32_t next_kept(const struct kept_chains *k, const uint32_t *parts, uint32_t i,
			  uint32_t length)
{
	while (i < length && !is_kept(k, parts, i, length))
		i++;
	return i;
}

static bool is_same(const struct diagnosis *d, const struct kept_chains *k, const struct chain *a,
		    const struct chain *b)
{
	const uint32_t *all = d->own->samples.parts.data;
	const uint32_t *x = all + a->first, *y = all + b->first;
	uint32_t i = next_kept(k, x, 0, a->length), j = next_kept(k, y, 0, b->length);
	if (a->object != b->object || a->class != b->class)
		return false;
	while (i < a->length && j < b->length && x[i] == y[j]) {
		i = next_kept(k, x, i + 1, a->length);
		j = next_kept(k, y, j + 1, b->length);
	}
	return i == a->length && j == b->length;
}

static struct kept_chain *kept_chain_for(const struct diagnosis *d, struct kept_chains *k,
					 struct hashmap *index, uint32_t number)
{
	const struct chain *all = d->own->samples.chains.data, *c = &all[number];
	for (uint64_t seed = 0;; seed++) {
		uint32_t next = k->list.len;
		uint32_t at = hashmap_add(index, hash_chain(d, k, c, seed), next);
		if (at == next) {
			vec_push(&k->list, (struct kept_chain){.chain = number});
			return &vec_last(&k->list);
		}
		if (is_same(d, k, &all[k->list.data[at].chain], c))
			return &k->list.data[at];
	}
}

static void merge_chains(const struct diagnosis *d, struct kept_chains *k)
{
	const struct chain *all = d->own->samples.chains.data;
	struct hashmap index = {0};
	for (uint32_t i = 0; i < d->own->samples.chains.len; i++) {
		struct kept_chain *into = kept_chain_for(d, k, &index, i);
		into->seconds += all[i].seconds;
		into->samples += all[i].count;
		if (all[i].seconds > all[into->chain].seconds)
			into->chain = i;
	}
	hashmap_release(&index);
}

/* The heaviest chain for each class, part and object. */
struct heaviest {
	const struct diagnosis *d;
	struct kept_chains *k;
	struct hashmap at; /* hash of class, part and object -> kept chain */
	uint32_t chain;    /* the current one */
};

/* Makes the current chain the heaviest one for this part and object, if it is. */
static void keep_heavier(struct heaviest *h, uint32_t part, uint32_t object)
{
	const struct kept_chain *mine = &h->k->list.data[h->chain];
	const uint32_t key[] = {h->d->own->samples.chains.data[mine->chain].class, part, object};
	uint64_t hash = hash_bytes(key, sizeof(key), 0);
	uint32_t best = hashmap_add(&h->at, hash, h->chain);
	if (mine->seconds > h->k->list.data[best].seconds)
		hashmap_put(&h->at, hash, h->chain);
}

static void keep_heavier_at(void *ctx, uint32_t part)
{
	struct heaviest *h = ctx;
	uint32_t object = h->d->own->samples.chains.data[h->k->list.data[h->chain].chain].object;
	keep_heavier(h, part, LEDGER_NONE);
	if (object != LEDGER_NONE)
		keep_heavier(h, part, object);
}

/* Marks the chains that findings may report: the heaviest through each part, for each object and
 * for all of them together; and the heaviest of each class. */
static void mark_whole(const struct diagnosis *d, struct kept_chains *k)
{
	struct heaviest h = {.d = d, .k = k};
	for (h.chain = 0; h.chain < k->list.len; h.chain++) {
		keep_heavier(&h, CODE, LEDGER_NONE);
		kept_chain_parts(d, k, &k->list.data[h.chain], keep_heavier_at, &h);
	}
	for (uint32_t i = 0; i < h.at.cap; i++)
		if (h.at.values[i] != HASHMAP_NONE)
			k->list.data[h.at.values[i]].whole = true;
	hashmap_release(&h.at);
}

void evidence_choose(const struct diagnosis *d, struct kept_chains *out)
{
	*out = (struct kept_chains){0};
	mark_true_parts(d, out);
	merge_chains(d, out);
	mark_whole(d, out);
}

void kept_chains_release(struct kept_chains *k)
{
	free(k->true_parts);
	vec_free(&k->list);
}

void kept_chain_parts(const struct diagnosis *d, const struct kept_chains *k,
		      const struct kept_chain *c, void (*each)(void *ctx, uint32_t part), void *ctx)
{
	const struct chain *chain = &d->own->samples.chains.data[c->chain];
	const uint32_t *parts = d->own->samples.parts.data + chain->first;
	for (uint32_t i = 0; i < chain->length; i++)
		if (c->whole || is_kept(k, parts, i, chain->length))
			each(ctx, parts[i]);
}

/* ---- writing ---- */

struct evidence_writer {
	struct rows *rows;
	const struct diagnosis *d;
	struct evidence *e;
	struct arena *arena;
	uint32_t *thread; /* of the evidence, by thread of the machine */
};

static void write_run(struct evidence_writer *g)
{
	const struct diagnose_private *own = g->d->own;
	struct machine_span s = machine_span(&own->machine, MACHINE);
	struct evidence_run *run = &g->e->run;
	*run = (struct evidence_run){
		.seconds = g->d->session.seconds > 0 ? g->d->session.seconds : 1e-9,
		.time = s.time,
		.cpu = s.cpu,
		.threads = s.threads,
		.idle = own->machine.idle_all,
		.ran = own->machine.cpu_all,
		.ready = own->machine.ready_all,
		.calls_sampled = own->samples.sampler || own->waits.ignored.len};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	run->cpus = cpus > 0 ? (uint32_t)cpus : 1;
	for (int i = 0; i < SAMPLE_CLASSES; i++)
		run->sampled[i] = own->samples.seconds[i];
	run->spun = own->samples.spun;
	for (enum hierarchy h = 0; h < HIERARCHIES; h++)
		run->ignored += search_ignored(own->search, h);
}

static void write_threads(struct evidence_writer *g)
{
	const struct machine *m = &g->d->own->machine;
	vec_each (t, &m->threads) {
		g->thread[t - m->threads.data] = g->e->threads.len;
		vec_push(&g->e->threads,
			 (struct evidence_thread){.resource = rows_of(g->rows, t->part),
						  .tid = t->tid,
						  .name = arena_strdup(g->arena, t->name),
						  .cpu = t->cpu_all,
						  .idle = t->idle});
	}
}

/* How long a program was idle is measured by samples, whatever probes have seen of it. */
static double seconds_of(const struct wait_object *o)
{
	return object_wait_counts(&object_kinds[o->kind]) || o->sampled < o->seconds ? o->seconds
										     : o->sampled;
}

/* Returns the operations per second while they were counted. */
static double rate_of(const struct diagnosis *d, const struct wait_object *o)
{
	double counted = d->own->machine.processes.data[o->process].counted;
	return o->rate > 0 || counted <= 0 ? o->rate : (double)o->count / counted;
}

static void write_objects(struct evidence_writer *g)
{
	const struct waits *w = &g->d->own->waits;
	for (uint32_t i = 0; i < w->objects.len; i++) {
		const struct wait_object *o = &w->objects.data[i];
		const char *name = names_object(g->rows->names, i);
		vec_push(&g->e->objects,
			 (struct evidence_object){
				 .kind = object_kinds[o->kind].name,
				 .name = arena_strdup(g->arena, name),
				 .resource = o->part == RESOURCE_NONE ? PROFILE_NONE
								      : rows_of(g->rows, o->part),
				 .count = o->count,
				 .bytes = o->bytes,
				 .seconds = seconds_of(o),
				 .rate = rate_of(g->d, o),
				 .peer = o->peer ? o->peer : "",
				 .peer_pid = o->peer_pid,
				 .peer_root = o->peer_root,
			 });
	}
}

static void add_part(void *ctx, uint32_t part)
{
	struct evidence_writer *g = ctx;
	vec_push(&g->e->parts, rows_of(g->rows, part));
}

static void write_chains(struct evidence_writer *g, const struct kept_chains *k)
{
	vec_each (c, &k->list) {
		const struct chain *x = &g->d->own->samples.chains.data[c->chain];
		struct evidence_chain row = {.first = g->e->parts.len,
					     .object = x->object,
					     .node = x->node,
					     .class = x->class,
					     .seconds = c->seconds,
					     .samples = c->samples};
		kept_chain_parts(g->d, k, c, add_part, g);
		row.length = g->e->parts.len - row.first;
		vec_push(&g->e->chains, row);
	}
}

static int by_resource(const void *a, const void *b)
{
	const struct evidence_amount *x = a, *y = b;
	if (x->resource != y->resource)
		return x->resource < y->resource ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->object > y->object) - (x->object < y->object);
}

/* Adds up rows with the same resource, thread and object: there are several if several threads
 * became one. */
static void add_up_amounts(struct evidence *e)
{
	uint32_t kept = 0;
	if (e->amounts.len)
		qsort(e->amounts.data, e->amounts.len, sizeof(*e->amounts.data), by_resource);
	vec_each (a, &e->amounts) {
		struct evidence_amount *last = kept ? &e->amounts.data[kept - 1] : NULL;
		if (!last || by_resource(last, a)) {
			e->amounts.data[kept++] = *a;
			continue;
		}
		last->cpu += a->cpu;
		last->wait += a->wait;
		last->calls += a->calls;
		last->seen_cpu += a->seen_cpu;
		last->seen_wait += a->seen_wait;
		last->asked += a->asked;
	}
	e->amounts.len = kept;
}

static void write_amounts(struct evidence_writer *g, const struct kept_chains *k)
{
	vec_each (x, &g->d->own->ledger.list) {
		if (x->part != CODE && !k->true_parts[x->part])
			continue;
		vec_push(&g->e->amounts,
			 (struct evidence_amount){.resource = rows_of(g->rows, x->part),
						  .thread = g->thread[x->thread],
						  .object = x->object,
						  .cpu = x->amount[AMOUNT_CPU],
						  .wait = x->amount[AMOUNT_WAIT],
						  .calls = x->amount[AMOUNT_CALLS],
						  .seen_cpu = x->amount[AMOUNT_SEEN_CPU],
						  .seen_wait = x->amount[AMOUNT_SEEN_WAIT],
						  .asked = x->amount[AMOUNT_ASKED]});
	}
	add_up_amounts(g->e);
}

static void write_holders_and_trips(struct evidence_writer *g)
{
	vec_each (h, &g->d->own->samples.holders)
		vec_push(&g->e->holders, (struct evidence_holder){h->object, g->thread[h->thread],
								  h->node, h->seconds});
	vec_each (t, &g->d->own->trips.list)
		if (t->entries)
			vec_push(&g->e->trips,
				 (struct evidence_trip){rows_of(g->rows, t->part), t->seconds,
							t->entries, t->iterations});
}

static void write_commands(struct evidence_writer *g)
{
	const struct diagnose_private *own = g->d->own;
	command_list all;
	if (own->samples.sampler && own->samples.sampler->short_unseen)
		return;
	commands_until(&own->commands, own->opened + own->machine.time, &all);
	vec_each (c, &all) {
		if (c->last <= 0)
			continue;
		vec_push(&g->e->commands, (struct evidence_command){
						  .name = arena_strdup(g->arena, c->name),
						  .processes = c->processes,
						  .cpu = c->cpu,
						  .wall = c->wall,
						  .longest = c->longest,
						  .argument = arena_strdup(g->arena, c->argument),
						  .first = fmax(c->first - own->opened, 0),
						  .last = fmax(c->last - own->opened, 0),
						  .alone = c->alone,
						  .closing = c->closing,
					  });
	}
	vec_free(&all);
}

/* Names all functions and loops that have a row by now. */
static void write_names(struct evidence_writer *g)
{
	const struct resources *r = search_resources(g->d->own->search);
	VEC(uint32_t) part_of = {0};
	for (uint32_t i = 0; i < g->d->profile.resources.len; i++)
		vec_push(&part_of, RESOURCE_NONE);
	for (uint32_t i = 0; i < r->list.len; i++)
		if (g->rows->of[i] != PROFILE_NONE && code_part(g->d->own->code, i).code)
			part_of.data[g->rows->of[i]] = i;
	for (uint32_t i = 0; i < part_of.len; i++) {
		if (part_of.data[i] == RESOURCE_NONE)
			continue;
		struct code_name name = names_code(g->rows->names, part_of.data[i]);
		vec_push(&g->e->names,
			 (struct evidence_name){i, arena_strdup(g->arena, name.function),
						arena_strdup(g->arena, name.chain)});
	}
	vec_free(&part_of);
}

void evidence_write(struct rows *r, const struct kept_chains *k)
{
	struct evidence_writer g = {
		.rows = r, .d = r->d, .e = &r->d->profile.evidence, .arena = &r->d->profile.arena};
	g.thread = xcalloc(r->d->own->machine.threads.len + 1, sizeof(*g.thread));
	evidence_clear(g.e);
	write_run(&g);
	write_threads(&g);
	write_objects(&g);
	write_chains(&g, k);
	write_amounts(&g, k);
	write_holders_and_trips(&g);
	write_commands(&g);
	write_names(&g);
	free(g.thread);
}
