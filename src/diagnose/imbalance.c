/* Who does more than others that do the same.
 *
 * Of the whole program, threads of a process that began at about the same time may do the same, and
 * processes that began to execute the same program then; of a part of the code, threads that came
 * there do. Time in which a thread spins for something is no work. Threads that are idle, that is,
 * have nothing to do, are left out. */
#include "diagnose/inside.h"

/* What a thread has computed so far. */
static double computed(const struct diagnosis *d, const struct live_experiment *x, uint32_t thread,
		       bool sampled)
{
	double sum = 0;
	ledger_each (e, &d->own->ledger, x->focus.part[CODE])
		if (e->thread == thread)
			sum += sampled ? e->amount[AMOUNT_SEEN_CPU]
				       : e->amount[AMOUNT_CPU] - e->amount[AMOUNT_SPIN];
	return sum;
}

void imbalance_begin(const struct diagnosis *d, struct live_experiment *x)
{
	vec_clear(&x->before);
	for (uint32_t i = 0; i < d->own->machine.threads.len; i++)
		vec_push(&x->before,
			 (struct thread_amount){
				 i, {computed(d, x, i, false), computed(d, x, i, true)}});
}

static double since(const struct diagnosis *d, const struct live_experiment *x, uint32_t thread)
{
	double before = thread < x->before.len ? x->before.data[thread].cpu[x->sampled] : 0;
	double now = computed(d, x, thread, x->sampled) - before;
	return now > 0 ? now : 0;
}

/* Threads, or processes, that do the same. */
struct group {
	uint64_t key;
	double born; /* s: the first of them */
	uint32_t count;
	double sum, most;
};

typedef VEC(struct group) group_list;

static const double together = 0.5; /* s between births */

static void add_member(group_list *groups, uint64_t key, double born, double amount)
{
	struct group *g = NULL;
	vec_each (x, groups)
		g = x->key == key && born - x->born < together ? x : g;
	if (!g) {
		vec_push(groups, (struct group){.key = key, .born = born});
		g = &vec_last(groups);
	}
	g->count++;
	g->sum += amount;
	g->most = amount > g->most ? amount : g->most;
}

static double worst(const group_list *groups)
{
	double loss = 0;
	vec_each (g, groups)
		if (g->count > 1 && g->most - g->sum / g->count > loss)
			loss = g->most - g->sum / g->count;
	return loss;
}

static bool takes_part(const struct diagnosis *d, const struct live_experiment *x, uint32_t thread,
		       double amount)
{
	const struct machine_thread *t = &d->own->machine.threads.data[thread];
	if (!t->tid || !machine_has(&d->own->machine, x->focus.part[MACHINE], thread))
		return false;
	if (x->focus.part[CODE] != CODE)
		return amount > 0;
	return amount > 0 || (!t->gone && t->counted);
}

static double among_threads(const struct diagnosis *d, const struct live_experiment *x,
			    double *of_process)
{
	group_list groups = {0};
	for (uint32_t i = 0; i < d->own->machine.threads.len; i++) {
		const struct machine_thread *t = &d->own->machine.threads.data[i];
		double amount = since(d, x, i);
		of_process[t->process] += amount;
		if (takes_part(d, x, i, amount))
			add_member(&groups, t->process, t->born, amount);
	}
	double loss = worst(&groups);
	vec_free(&groups);
	return loss;
}

/* Those that do nothing at all are no part of it: a parent that waits for its children. */
static double among_processes(const struct diagnosis *d, const double *of_process)
{
	static const double least = 0.01; /* s */
	group_list groups = {0};
	for (uint32_t i = 0; i < d->own->machine.processes.len; i++)
		if (of_process[i] > least)
			add_member(&groups, d->own->machine.processes.data[i].program,
				   d->own->machine.processes.data[i].born, of_process[i]);
	double loss = worst(&groups);
	vec_free(&groups);
	return loss;
}

double imbalance_loss(const struct diagnosis *d, const struct live_experiment *x)
{
	double *of_process = xcalloc(d->own->machine.processes.len + 1, sizeof(*of_process));
	double threads = among_threads(d, x, of_process);
	double processes = among_processes(d, of_process);
	free(of_process);
	return threads > processes ? threads : processes;
}
