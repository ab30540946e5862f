#include "diagnose/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "diagnose/waits.h"
#include "probe/engine/engine.h"
#include "process/threads.h"

static const double look_period = 0.1; /* s between looks for new threads */
static const double grown_up = 0.25;   /* s after which a thread is one of its own */
static const double period = 0.6;      /* s that idleness is decided from, once or twice */
/* Of it, waiting for the work of others, or for whatever happens. */
static const double idle_beside = 0.98, idle_always = 0.95;
enum {
	MOST_THREADS = 256, /* of their own, alive */
	FEW_THREADS = 16,   /* so many need not grow up */
};

void machine_init(struct machine *m, struct resources *r, struct ledger *l, struct arena *a)
{
	*m = (struct machine){.resources = r,
			      .ledger = l,
			      .arena = a,
			      .at_once = FEW_THREADS,
			      .brief = RESOURCE_NONE};
	m->host = resources_child(r, MACHINE, 0);
	m->stolen_ns = processors_stolen_ns();
}

void machine_release(struct machine *m)
{
	vec_free(&m->processes);
	vec_free(&m->threads);
	vec_free(&m->spans);
	vec_free(&m->news);
	vec_free(&m->live_threads);
	vec_free(&m->live_processes);
	hashmap_release(&m->thread_at);
	hashmap_release(&m->seen);
}

/* Runs the body with `t` pointing at each thread that lives, pools included; or with `p` at each
 * such process. A script starts thousands of processes: those that are gone cost nothing. */
#define each_thread(t, m)                                                                          \
	vec_each (at_, &(m)->live_threads)                                                         \
		for (struct machine_thread *t = &(m)->threads.data[*at_]; t; t = NULL)
#define each_process(p, m)                                                                         \
	vec_each (at_, &(m)->live_processes)                                                       \
		for (struct machine_process *p = &(m)->processes.data[*at_]; p; p = NULL)

/* ---- who is there ---- */

static uint32_t new_part(struct machine *m, uint32_t parent, uint64_t key)
{
	uint32_t part = resources_child(m->resources, parent, key);
	vec_push(&m->news, part);
	return part;
}

static uint32_t add_thread(struct machine *m, uint32_t process, int tid, double born)
{
	const struct machine_process *p = &m->processes.data[process];
	struct machine_thread t = {
		.tid = tid, .process = process, .part = p->part, .counted = true, .born = born};
	if (tid) {
		thread_name(p->pid, tid, t.name);
		thread_ran(p->pid, tid, &t.cpu_ns, &t.ready_ns);
		if (!p->young)
			t.part = new_part(m, p->part, (uint64_t)m->threads.len);
		hashmap_put(&m->thread_at, (uint64_t)tid, m->threads.len);
	}
	vec_push(&m->live_threads, m->threads.len);
	vec_push(&m->threads, t);
	return m->threads.len - 1;
}

static const char *program_of(struct machine *m, int pid, uint32_t *hash)
{
	char link[64], path[1024];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	*hash = (uint32_t)hash_bytes(path, n > 0 ? (uint64_t)n : 0, 0);
	const char *name = strrchr(path, '/');
	return arena_strdup(m->arena, name ? name + 1 : path);
}

/* All young processes are one part of the search. */
static uint32_t brief_part(struct machine *m)
{
	if (m->brief == RESOURCE_NONE)
		m->brief = new_part(m, m->host, UINT64_MAX);
	return m->brief;
}

uint32_t machine_add_process(struct machine *m, struct target *t, bool young)
{
	struct machine_process p = {
		.target = t, .pid = target_pid(t), .born = m->time, .young = young};
	uint32_t number = m->processes.len;
	p.name = program_of(m, p.pid, &p.program);
	p.part = young ? brief_part(m) : new_part(m, m->host, number);
	p.cpu_ns = process_cpu_ns(p.pid);
	vec_push(&m->live_processes, number);
	vec_push(&m->processes, p);
	uint32_t pool = add_thread(m, number, 0, m->time);
	m->processes.data[number].pool = pool;
	add_thread(m, number, p.pid, m->time);
	return number;
}

void machine_grow_up(struct machine *m, uint32_t process)
{
	struct machine_process *p = &m->processes.data[process];
	if (!p->young)
		return;
	p->young = false;
	p->part = new_part(m, m->host, process);
	vec_each (i, &m->live_threads) {
		struct machine_thread *t = &m->threads.data[*i];
		if (t->process == process)
			t->part = t->tid ? new_part(m, p->part, *i) : p->part;
	}
}

uint32_t machine_process_of(const struct machine *m, const struct target *t)
{
	for (uint32_t i = m->processes.len; i-- > 0;)
		if (m->processes.data[i].target == t)
			return i;
	return UINT32_MAX;
}

uint32_t machine_process_of_pid(const struct machine *m, int pid)
{
	for (uint32_t i = m->processes.len; i-- > 0;)
		if (m->processes.data[i].pid == pid && m->processes.data[i].target)
			return i;
	return UINT32_MAX;
}

static void end_thread(struct machine *m, struct machine_thread *t)
{
	t->gone = true;
	if (t->tid)
		hashmap_put(&m->thread_at, (uint64_t)t->tid, THREAD_NONE);
}

static void forget_gone(struct machine *m)
{
	uint32_t threads = 0, processes = 0;
	vec_each (i, &m->live_threads)
		if (!m->threads.data[*i].gone)
			m->live_threads.data[threads++] = *i;
	vec_each (i, &m->live_processes)
		if (m->processes.data[*i].target)
			m->live_processes.data[processes++] = *i;
	m->live_threads.len = threads;
	m->live_processes.len = processes;
}

void machine_end_process(struct machine *m, uint32_t process)
{
	m->processes.data[process].target = NULL;
	each_thread (t, m)
		if (t->process == process && !t->gone)
			end_thread(m, t);
	forget_gone(m);
}

uint32_t machine_thread_of(const struct machine *m, uint32_t process, int tid)
{
	uint32_t i = hashmap_get(&m->thread_at, (uint64_t)tid);
	if (i != HASHMAP_NONE && m->threads.data[i].process == process)
		return i;
	return m->processes.data[process].pool;
}

static uint32_t count_threads(const struct machine *m)
{
	uint32_t n = 0;
	each_thread (t, m)
		n += t->tid != 0;
	return n;
}

/* A thread that is not known by itself: it may be old enough by now. */
static void look_at_young(struct machine *m, uint32_t process, int tid, uint32_t *alive)
{
	uint32_t now = (uint32_t)(m->time * 1000), since = hashmap_get(&m->seen, (uint64_t)tid);
	if (since == HASHMAP_NONE || since > now) {
		hashmap_put(&m->seen, (uint64_t)tid, now);
		since = now;
	}
	bool at_once = m->at_once > 0;
	if ((!at_once && now - since < (uint32_t)(grown_up * 1000)) || *alive >= MOST_THREADS) {
		m->processes.data[process].pooled++;
		return;
	}
	m->at_once -= at_once;
	add_thread(m, process, tid, 1e-3 * since);
	++*alive;
}

static bool is_listed(const tid_list *tids, int tid)
{
	uint32_t low = 0, high = tids->len;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (tids->data[mid] < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < tids->len && tids->data[low] == tid;
}

static void look_for_threads(struct machine *m, uint32_t process, uint32_t *alive)
{
	struct err ignored;
	tid_list tids = {0};
	m->processes.data[process].pooled = 0;
	if (!threads_list(m->processes.data[process].pid, &tids, &ignored)) {
		each_thread (t, m)
			if (t->process == process && t->tid && !is_listed(&tids, t->tid))
				end_thread(m, t);
		vec_each (tid, &tids) {
			uint32_t known = hashmap_get(&m->thread_at, (uint64_t)*tid);
			if (known == HASHMAP_NONE || m->threads.data[known].process != process)
				look_at_young(m, process, *tid, alive);
		}
	}
	vec_free(&tids);
}

static void look(struct machine *m)
{
	uint32_t alive = count_threads(m);
	vec_each (process, &m->live_processes)
		look_for_threads(m, *process, &alive);
	forget_gone(m);
	/* What has been seen is forgotten now and then: numbers are given to others. */
	if (m->seen.len > 100000)
		hashmap_release(&m->seen);
	m->looked = m->time;
}

/* ---- steps ---- */

static double seconds_since(uint64_t *last, uint64_t now)
{
	double s = now > *last ? 1e-9 * (double)(now - *last) : 0;
	*last = now > *last ? now : *last;
	return s;
}

/* What no thread of its own has used was used by others. */
static void read_processors(struct machine *m)
{
	each_process (p, m) {
		p->cpu = seconds_since(&p->cpu_ns, process_cpu_ns(p->pid));
		m->threads.data[p->pool].cpu = p->cpu;
	}
	each_thread (t, m) {
		const struct machine_process *p = &m->processes.data[t->process];
		if (!t->tid)
			continue;
		uint64_t cpu = 0, ready = 0;
		thread_ran(p->pid, t->tid, &cpu, &ready);
		t->cpu = seconds_since(&t->cpu_ns, cpu);
		t->ready = seconds_since(&t->ready_ns, ready);
		m->threads.data[p->pool].cpu -= t->cpu;
	}
	/* The two are read one after the other. */
	each_process (p, m)
		if (m->threads.data[p->pool].cpu < 1e-3)
			m->threads.data[p->pool].cpu = 0;
}

static void clear_step(struct machine *m)
{
	each_thread (t, m)
		t->cpu = t->ready = t->stolen = t->waited = t->joined = t->idled[IDLE_BESIDE] =
			t->idled[IDLE_ALWAYS] = 0;
}

void machine_begin_step(struct machine *m, double now)
{
	clear_step(m);
	m->time = now;
	if (now - m->looked >= look_period)
		look(m);
	read_processors(m);
	m->stolen += seconds_since(&m->stolen_ns, processors_stolen_ns());
	vec_each (i, &m->live_threads) {
		struct machine_thread *t = &m->threads.data[*i];
		t->cpu_all += t->cpu;
		if (t->cpu > 0)
			ledger_add(m->ledger, CODE, *i, LEDGER_NONE, AMOUNT_CPU, t->cpu);
	}
}

static void remember(const struct machine *m, struct machine_thread *t, double dt)
{
	if (t->passed[1] >= period) {
		t->passed[0] = t->passed[1];
		t->rested[0] = t->rested[1];
		t->unneeded[0] = t->unneeded[1];
		t->passed[1] = t->rested[1] = t->unneeded[1] = 0;
	}
	/* What began to wait before it was looked into may wait for what nobody knows. */
	bool rests = t->tid && t->cpu + t->ready + t->waited <= 0;
	double unneeded = rests ? dt : t->idled[IDLE_ALWAYS] + t->joined;
	t->passed[1] += t->tid ? dt : dt * m->processes.data[t->process].pooled;
	t->rested[1] += t->idled[IDLE_BESIDE] + unneeded;
	t->unneeded[1] += unneeded;
}

/* Idle whoever has something to do, or only if somebody of the same process has. */
static bool is_unneeded(const struct machine_thread *t)
{
	return t->unneeded[0] + t->unneeded[1] >= 0.5 * (t->rested[0] + t->rested[1]);
}

/* Who waits for the work of others waits longer if these hardly get a processor. That is no reason
 * to call it idle: only the time counts in which they could work. */
static bool is_idle(const struct machine *m, const struct machine_thread *t)
{
	double passed = t->passed[0] + t->passed[1], rested = t->rested[0] + t->rested[1];
	double beside = rested - t->unneeded[0] - t->unneeded[1];
	double wanted = m->ran + m->queued;
	double lost = wanted > 0 ? beside * m->queued / wanted : 0;
	return passed > 0 &&
	       rested - lost >= (passed - lost) * (is_unneeded(t) ? idle_always : idle_beside);
}

static void decide_who_counts(struct machine *m, double dt)
{
	bool any = false;
	each_process (p, m)
		p->works = false;
	each_thread (t, m)
		if ((t->tid || t->cpu > 0) && !is_idle(m, t))
			any = m->processes.data[t->process].works = true;
	each_thread (t, m) {
		const struct machine_process *p = &m->processes.data[t->process];
		bool others = p->works || (any && is_unneeded(t));
		t->counted = !p->young && (!others || !is_idle(m, t));
		t->idle += t->counted ? -dt : dt;
	}
}

static struct machine_span *span_of(struct machine *m, uint32_t part)
{
	while (m->spans.len <= part)
		vec_push(&m->spans, (struct machine_span){0});
	return &m->spans.data[part];
}

/* What threads of a part of the machine did in a step, s. */
struct doing {
	double cpu, ready, free, threads;
	double most; /* on a processor, of one of them */
};

/* What passed, without what was lost to others: no more than threads were ready for a processor,
 * outside of waits, and than their share in what they wanted. The kernel tells how long a thread
 * was ready when that is over: then more may be lost than this step has, of what was missing
 * before. */
static double effective(struct machine_span *s, const struct doing *x, double dt)
{
	static const double most = 1; /* s that may be missing */
	double missing = s->missing + (x->free > x->cpu ? x->free - x->cpu : 0);
	double wanted = x->cpu + x->ready;
	double share = wanted > 0 ? (dt + s->missing) * x->ready / wanted : 0;
	double lost = x->ready < missing ? x->ready : missing;
	lost = lost < share ? lost : share;
	s->missing = missing - lost < most ? missing - lost : most;
	return dt - lost;
}

/* What passed, or what was used if that is more. Steps are short: what one has too much of and the
 * next too little is no more. */
static double at_least(double passed, double used, double *ahead)
{
	static const double evens_out = 0.25; /* s */
	double now = *ahead + used - passed;
	*ahead = now > 0 ? 0 : now > -evens_out ? now : -evens_out;
	return now > 0 ? passed + now : passed;
}

static void add_span(struct machine *m, uint32_t part, double dt, const struct doing *x)
{
	struct machine_span *s = span_of(m, part);
	double passed = effective(s, x, dt);
	s->time += at_least(passed, x->most, &s->time_ahead);
	s->cpu += at_least(passed, x->cpu, &s->cpu_ahead);
	s->threads += x->threads;
}

static double thread_time(const struct machine *m, const struct machine_thread *t, double dt)
{
	if (!t->counted)
		return 0;
	double each = t->tid ? dt : dt * m->processes.data[t->process].pooled;
	each -= t->joined;
	return each > 0 ? each : 0;
}

/* Outside of waits a thread runs, unless others have its processor; if it ran for longer than it
 * did not wait, it ran in waits. */
static struct ledger_rate rate_of(const struct machine *m, const struct machine_thread *t,
				  double dt)
{
	double passed = t->tid ? dt : dt * m->processes.data[t->process].pooled;
	double free = passed > t->waited ? passed - t->waited : 0;
	struct ledger_rate r = {.running = free > 0 ? t->cpu / free : 0};
	if (r.running <= 1)
		return r;
	r.running = 1;
	r.waiting = t->waited > 0 ? (t->cpu - free) / t->waited : 0;
	r.waiting = r.waiting < 1 ? r.waiting : 1;
	return r;
}

static void settle(struct machine *m, double dt)
{
	struct ledger_rate *rates = xcalloc(m->threads.len + 1, sizeof(*rates));
	vec_each (i, &m->live_threads)
		rates[*i] = rate_of(m, &m->threads.data[*i], dt);
	ledger_settle(m->ledger, rates);
	free(rates);
}

/* s of this step in which a thread that is known neither ran nor waited, nor was ready. */
static double missing_of(const struct machine_thread *t, double dt)
{
	double rest = dt - t->waited - t->cpu - t->ready;
	return t->tid && rest > 0 ? rest : 0;
}

/* A thread whose processor was stolen was ready to run; which one that was is not known. What is
 * stolen from a processor that rests is missed by nobody. */
static void share_stolen(struct machine *m, double dt)
{
	static const double most_kept = 0.1; /* s: both are known a bit late */
	double missing = 0;
	each_thread (t, m)
		missing += missing_of(t, dt);
	double given = m->stolen < missing ? m->stolen : missing;
	if (given > 0)
		each_thread (t, m)
			t->stolen = missing_of(t, dt) * given / missing;
	m->stolen -= given;
	m->stolen = m->stolen < most_kept ? m->stolen : most_kept;
}

static void add_threads(struct machine *m, double dt)
{
	each_process (p, m)
		p->threads = p->ready = p->free = p->most = 0;
	each_thread (t, m) {
		struct machine_process *p = &m->processes.data[t->process];
		bool own = t->tid != 0;
		struct doing x = {.cpu = t->cpu,
				  .ready = t->ready + t->stolen,
				  .free = own && dt > t->waited ? dt - t->waited : 0,
				  .threads = thread_time(m, t, dt),
				  .most = t->cpu};
		p->most = own && t->cpu > p->most ? t->cpu : p->most;
		p->threads += x.threads;
		p->ready += x.ready;
		p->free += x.free;
		if (own && !p->young)
			add_span(m, t->part, dt, &x);
	}
}

/* What is stolen does not count here: it strikes anywhere alike. */
static void note_crowd(struct machine *m, double dt, double cpu)
{
	static const double much = 0.12, little = 0.05;
	double kept = dt < 1 ? 1 - dt : 0;
	m->ran = m->ran * kept + cpu;
	m->queued *= kept;
	each_thread (t, m)
		m->queued += t->ready;
	double share = m->ran + m->queued > 0 ? m->queued / (m->ran + m->queued) : 0;
	m->crowded = share > (m->crowded ? little : much);
}

static void add_doing(struct doing *sum, const struct doing *x)
{
	sum->cpu += x->cpu;
	sum->ready += x->ready;
	sum->free += x->free;
	sum->threads += x->threads;
	sum->most = x->most > sum->most ? x->most : sum->most;
}

static void add_processes(struct machine *m, double dt)
{
	struct doing all = {0}, young = {0};
	each_process (p, m) {
		const struct doing x = {p->cpu, p->ready, p->free, p->threads, p->most};
		if (p->young)
			add_doing(&young, &x);
		else
			add_span(m, p->part, dt, &x);
		add_doing(&all, &x);
	}
	if (m->brief != RESOURCE_NONE)
		add_span(m, m->brief, dt, &young);
	note_crowd(m, dt, all.cpu);
	m->cpu_all += all.cpu;
	m->ready_all += all.ready;
	add_span(m, m->host, dt, &all);
	add_span(m, MACHINE, dt, &all);
}

static void forget_samples(struct machine *m, double dt)
{
	double kept = dt < 1 ? 1 - dt : 0;
	each_thread (t, m) {
		t->ran = t->ran * kept + t->cpu;
		t->seen *= kept;
	}
}

void machine_end_step(struct machine *m)
{
	static const double least = 1e-6;
	double dt = m->time - m->before;
	dt = dt > least ? dt : least;
	m->before = m->time;
	settle(m, dt);
	each_thread (t, m)
		if (!m->processes.data[t->process].young)
			remember(m, t, dt);
	forget_samples(m, dt);
	decide_who_counts(m, dt);
	share_stolen(m, dt);
	add_threads(m, dt);
	add_processes(m, dt);
}

double machine_stretch(const struct machine_thread *t)
{
	static const double most = 20; /* in a step that hardly ran it is chance */
	double stretch = t->cpu > 0 ? (t->cpu + t->ready + t->stolen) / t->cpu : 1;
	return stretch < most ? stretch : most;
}

double machine_seen(struct machine *m, uint32_t thread, double seconds)
{
	static const double noticeable = 1.25, most = 50;
	struct machine_thread *t = &m->threads.data[thread];
	t->seen += seconds;
	double lost = t->seen > 0 ? t->ran / t->seen : 1;
	return lost < noticeable ? seconds : seconds * (lost < most ? lost : most);
}

struct machine_span machine_span(const struct machine *m, uint32_t part)
{
	return part < m->spans.len ? m->spans.data[part] : (struct machine_span){0};
}

bool machine_has(const struct machine *m, uint32_t part, uint32_t thread)
{
	return part == MACHINE ||
	       resources_within(m->resources, m->threads.data[thread].part, part);
}
