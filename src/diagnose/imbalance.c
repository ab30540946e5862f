/* Load imbalance: threads or processes that do more than others with the same work.
 *
 * In the whole program, threads of a process that began at about the same time may have the same
 * work, and so may processes that began to execute the same program at about the same time. In a
 * part of the code, only threads that executed it are compared, or waited for others in it: one
 * that has very little to do may not be seen otherwise. Spinning is not work, and serial
 * code is not divided. Idle threads are left out,
 * and threads among which a runtime moves work. */
#include "diagnose/inside.h"

/* Returns the CPU time of each thread so far; the caller frees it. It is one pass over the amounts
 * of the code, because there may be thousands of threads that have ended. */
static double *cpu_by_thread(const struct diagnosis *d, const struct live_experiment *x,
			     bool sampled)
{
	double *sums = xcalloc(d->own->machine.threads.len + 1, sizeof(*sums));
	ledger_each (e, &d->own->ledger, x->focus.part[CODE])
		sums[e->thread] += sampled ? e->amount[AMOUNT_SEEN_CPU] - e->amount[AMOUNT_SERIAL]
					   : e->amount[AMOUNT_CPU] - e->amount[AMOUNT_SPIN];
	return sums;
}

void imbalance_begin(const struct diagnosis *d, struct live_experiment *x)
{
	double *by_probes = cpu_by_thread(d, x, false), *by_samples = cpu_by_thread(d, x, true);
	vec_clear(&x->before);
	for (uint32_t i = 0; i < d->own->machine.threads.len; i++)
		vec_push(&x->before, (struct thread_amount){i, {by_probes[i], by_samples[i]}});
	free(by_probes);
	free(by_samples);
}

/* Returns the CPU time of each thread since the experiment began; the caller frees it. */
static double *cpu_since_begin(const struct diagnosis *d, const struct live_experiment *x)
{
	double *sums = cpu_by_thread(d, x, x->sampled);
	vec_each (before, &x->before)
		sums[before->thread] -= before->cpu[x->sampled];
	for (uint32_t i = 0; i < d->own->machine.threads.len; i++)
		sums[i] = sums[i] > 0 ? sums[i] : 0;
	return sums;
}

/* Threads, or processes, that have the same work and began together. */
struct peer_group {
	double first_seen; /* s: of the first member */
	uint32_t count;
	double sum, most;
};

struct groups {
	VEC(struct peer_group) list;
	struct hashmap newest; /* key -> the newest group with it */
};

static const double start_window = 0.5; /* s between members of a group */

/* Members are added roughly in the order in which they were first seen. */
static struct peer_group *group_of(struct groups *groups, uint64_t key, double first_seen)
{
	uint32_t at = hashmap_get(&groups->newest, key);
	if (at != HASHMAP_NONE && first_seen - groups->list.data[at].first_seen < start_window)
		return &groups->list.data[at];
	hashmap_put(&groups->newest, key, groups->list.len);
	vec_push(&groups->list, (struct peer_group){.first_seen = first_seen});
	return &vec_last(&groups->list);
}

static void add_member(struct groups *groups, uint64_t key, double first_seen, double amount)
{
	struct peer_group *g = group_of(groups, key, first_seen);
	g->count++;
	g->sum += amount;
	g->most = amount > g->most ? amount : g->most;
}

/* Returns the largest loss of a group, and releases the groups. */
static double worst_loss(struct groups *groups)
{
	double loss = 0;
	vec_each (g, &groups->list)
		if (g->count > 1 && g->most - g->sum / g->count > loss)
			loss = g->most - g->sum / g->count;
	vec_free(&groups->list);
	hashmap_release(&groups->newest);
	return loss;
}

/* Returns which threads have waited for the others of a team in the code; the caller frees it. */
static bool *waits_for_team(const struct diagnosis *d, const struct live_experiment *x)
{
	bool *waits = xcalloc(d->own->machine.threads.len + 1, sizeof(*waits));
	ledger_each (e, &d->own->ledger, x->focus.part[CODE]) {
		uint8_t kind = e->object == LEDGER_NONE
				       ? OBJECT_KINDS
				       : d->own->waits.objects.data[e->object].kind;
		waits[e->thread] |= kind == OBJECT_OPENMP || kind == OBJECT_BARRIER;
	}
	return waits;
}

static bool takes_part(const struct diagnosis *d, const struct live_experiment *x, uint32_t thread,
		       double amount)
{
	const struct machine_thread *t = &d->own->machine.threads.data[thread];
	if (!t->tid || t->shares || !machine_has(&d->own->machine, x->focus.part[MACHINE], thread))
		return false;
	if (x->focus.part[CODE] != CODE)
		return amount > 0;
	return amount > 0 || (!t->gone && t->counted);
}

static double among_threads(const struct diagnosis *d, const struct live_experiment *x,
			    double *of_process)
{
	struct groups groups = {0};
	double *amounts = cpu_since_begin(d, x);
	bool *waits = waits_for_team(d, x);
	for (uint32_t i = 0; i < d->own->machine.threads.len; i++) {
		const struct machine_thread *t = &d->own->machine.threads.data[i];
		of_process[t->process] += amounts[i];
		if (takes_part(d, x, i, waits[i] ? 1 : amounts[i]))
			add_member(&groups, t->process, t->born, amounts[i]);
	}
	free(amounts);
	free(waits);
	return worst_loss(&groups);
}

/* Returns which processes do what their clients ask for, in their busiest threads; the caller frees
 * it. How much that is, nobody has divided among them. */
static bool *which_serve(const struct machine *m)
{
	bool *serve = xcalloc(m->processes.len + 1, sizeof(*serve));
	double *most = xcalloc(m->processes.len + 1, sizeof(*most));
	vec_each (t, &m->threads)
		if (t->cpu_all > most[t->process]) {
			most[t->process] = t->cpu_all;
			serve[t->process] = t->serves;
		}
	free(most);
	return serve;
}

/* Processes that do next to nothing are left out: a parent that waits for its children. */
static double among_processes(const struct diagnosis *d, const double *of_process)
{
	static const double least = 0.05; /* of the CPU time of the busiest process */
	const struct machine *m = &d->own->machine;
	struct groups groups = {0};
	bool *serve = which_serve(m);
	double most = 0;
	for (uint32_t i = 0; i < m->processes.len; i++)
		most = of_process[i] > most ? of_process[i] : most;
	for (uint32_t i = 0; i < m->processes.len; i++)
		if (of_process[i] > least * most && !serve[i])
			add_member(&groups, m->processes.data[i].program, m->processes.data[i].born,
				   of_process[i]);
	free(serve);
	return worst_loss(&groups);
}

double imbalance_loss(const struct diagnosis *d, const struct live_experiment *x)
{
	double *of_process = xcalloc(d->own->machine.processes.len + 1, sizeof(*of_process));
	double threads = among_threads(d, x, of_process);
	double processes = among_processes(d, of_process);
	free(of_process);
	return threads > processes ? threads : processes;
}
