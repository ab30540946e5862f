#include "diagnose/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "diagnose/waits.h"
#include "probe/engine/engine.h"
#include "process/threads.h"

static const double look_period = 0.1;     /* s between looks for new threads */
static const double thread_warm_up = 0.25; /* s until a thread is tracked */
static const double idle_period = 0.6;     /* s: idleness is decided from one or two of them */
/* Shares of its time that a thread must wait to be idle, by enum idleness: IDLE_BESIDE waits for
 * the work of other threads of its process, IDLE_ALWAYS for something else. */
static const double idle_beside = 0.98, idle_always = 0.95;
enum {
	MAX_TRACKED = 512,    /* live threads */
	MAX_IDLE = 64,        /* of these, threads that samples have not shown running */
	MAX_SEEN = 100000,    /* tids in machine.seen, and in machine.busy */
	TRACKED_AT_ONCE = 16, /* threads that need no warm-up */
	DOUBLED_AFTER = 1024, /* threads, or processes */
};

/* What was tracked is kept to the end. So that a run of days does not keep ever more, a thread or
 * process has to live the longer, the more there were before. */
static double longer(double seconds, uint32_t before)
{
	return ldexp(seconds, (int)(before / DOUBLED_AFTER));
}

void machine_init(struct machine *m, struct resources *r, struct ledger *l, struct arena *a)
{
	*m = (struct machine){.resources = r,
			      .ledger = l,
			      .arena = a,
			      .at_once = TRACKED_AT_ONCE,
			      .brief = UINT32_MAX};
	m->host = resources_child(r, MACHINE, 0);
	m->stolen_ns = cpus_stolen_ns();
}

/* Hash maps do not forget keys: this value stands for none. */
static const uint32_t forgotten = HASHMAP_NONE - 1;

static uint32_t look_up(const struct hashmap *map, int id)
{
	uint32_t i = hashmap_get(map, (uint64_t)id);
	return i == HASHMAP_NONE ? forgotten : i;
}

void machine_release(struct machine *m)
{
	vec_free(&m->processes);
	vec_free(&m->threads);
	vec_free(&m->spans);
	vec_free(&m->news);
	vec_free(&m->live_threads);
	vec_free(&m->live_processes);
	vec_free(&m->young);
	hashmap_release(&m->young_at);
	hashmap_release(&m->process_at);
	hashmap_release(&m->thread_at);
	hashmap_release(&m->seen);
	hashmap_release(&m->busy);
}

/* Runs the body with `t` pointing at each live thread, pools included; or with `p` at each live
 * process. Those that have ended are not visited: a script starts thousands of processes. */
#define each_thread(t, m)                                                                          \
	vec_each (at_, &(m)->live_threads)                                                         \
		for (struct machine_thread *t = &(m)->threads.data[*at_]; t; t = NULL)
#define each_process(p, m)                                                                         \
	vec_each (at_, &(m)->live_processes)                                                       \
		for (struct machine_process *p = &(m)->processes.data[*at_]; p; p = NULL)

/* ---- processes and threads ---- */

static uint32_t new_part(struct machine *m, uint32_t parent, uint64_t key)
{
	uint32_t part = resources_child(m->resources, parent, key);
	vec_push(&m->news, part);
	return part;
}

static uint32_t add_thread(struct machine *m, uint32_t process, int tid, double first_seen)
{
	const struct machine_process *p = &m->processes.data[process];
	struct machine_thread t = {.tid = tid,
				   .process = process,
				   .part = p->part,
				   .counted = true,
				   .born = first_seen};
	if (tid) {
		thread_name(p->pid, tid, t.name);
		thread_ran(p->pid, tid, &t.cpu_ns, &t.ready_ns);
		t.part = new_part(m, p->part, (uint64_t)m->threads.len);
		hashmap_put(&m->thread_at, (uint64_t)tid, m->threads.len);
		m->processes.data[process].newborn = true;
	}
	vec_push(&m->live_threads, m->threads.len);
	vec_push(&m->threads, t);
	return m->threads.len - 1;
}

/* A program that was started by a link has the link's name, and that of its process begins so. */
static const char *program_of(struct machine *m, int pid, uint32_t *hash)
{
	char started[16];
	char link[64], path[1024];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	*hash = (uint32_t)hash_bytes(path, n > 0 ? (uint64_t)n : 0, 0);
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	thread_name(pid, pid, started);
	bool same = !*started || !strncmp(name, started, strlen(started));
	return arena_strdup(m->arena, same ? name : started);
}

static uint32_t add_process(struct machine *m, struct machine_process *p, uint64_t key)
{
	uint32_t number = m->processes.len;
	p->born = m->time;
	p->part = new_part(m, m->host, key);
	vec_push(&m->live_processes, number);
	vec_push(&m->processes, *p);
	uint32_t pool = add_thread(m, number, 0, m->time);
	m->processes.data[number].pool = pool;
	return number;
}

uint32_t machine_add_process(struct machine *m, int pid, struct target *t)
{
	struct machine_process p = {.target = t, .pid = pid, .cpu_ns = process_cpu_ns(pid)};
	p.name = program_of(m, pid, &p.program);
	uint32_t number = add_process(m, &p, m->processes.len);
	hashmap_put(&m->process_at, (uint64_t)pid, number);
	add_thread(m, number, pid, m->time);
	return number;
}

uint32_t machine_process_of(const struct machine *m, int pid)
{
	uint32_t i = look_up(&m->process_at, pid);
	return i == forgotten ? UINT32_MAX : i;
}

bool machine_lives(const struct machine *m)
{
	return m->young.len || m->live_processes.len > (m->brief != UINT32_MAX);
}

uint32_t machine_brief(struct machine *m)
{
	struct machine_process p = {.name = ""};
	if (m->brief == UINT32_MAX)
		m->brief = add_process(m, &p, UINT64_MAX);
	return m->brief;
}

/* ---- young processes ---- */

static struct young_process take_young(struct machine *m, uint32_t i)
{
	struct young_process taken = m->young.data[i], last = vec_pop(&m->young);
	if (i < m->young.len) {
		m->young.data[i] = last;
		hashmap_put(&m->young_at, (uint64_t)last.pid, i);
	}
	hashmap_put(&m->young_at, (uint64_t)taken.pid, forgotten);
	return taken;
}

void machine_add_young(struct machine *m, int pid, struct target *t)
{
	uint32_t i = look_up(&m->young_at, pid);
	if (i != forgotten)
		take_young(m, i); /* its end was not reported */
	hashmap_put(&m->young_at, (uint64_t)pid, m->young.len);
	vec_push(&m->young, (struct young_process){pid, t, m->time, 0});
}

void machine_note_fork(struct machine *m, int parent)
{
	uint32_t process = machine_process_of(m, parent), young = look_up(&m->young_at, parent);
	if (process != UINT32_MAX)
		m->processes.data[process].forks++;
	else if (young != forgotten)
		m->young.data[young].forks++;
}

bool machine_is_young(const struct machine *m, int pid)
{
	return look_up(&m->young_at, pid) != forgotten;
}

bool machine_end_young(struct machine *m, int pid, struct target **t)
{
	uint32_t i = look_up(&m->young_at, pid);
	*t = NULL;
	if (i == forgotten)
		return false;
	*t = take_young(m, i).target;
	return true;
}

bool machine_take_grown(struct machine *m, double seconds, struct young_process *out)
{
	vec_each (y, &m->young) {
		if (m->time - y->born < longer(seconds, m->processes.len))
			continue;
		*out = take_young(m, (uint32_t)(y - m->young.data));
		return true;
	}
	return false;
}

static void end_thread(struct machine *m, struct machine_thread *t)
{
	t->gone = true;
	if (t->tid)
		hashmap_put(&m->thread_at, (uint64_t)t->tid, forgotten);
}

static void forget_gone(struct machine *m)
{
	uint32_t threads = 0, processes = 0;
	vec_each (i, &m->live_threads)
		if (!m->threads.data[*i].gone)
			m->live_threads.data[threads++] = *i;
	vec_each (i, &m->live_processes)
		if (!m->processes.data[*i].gone)
			m->live_processes.data[processes++] = *i;
	m->live_threads.len = threads;
	m->live_processes.len = processes;
}

void machine_end_process(struct machine *m, uint32_t process)
{
	m->processes.data[process].target = NULL;
	m->processes.data[process].gone = true;
	hashmap_put(&m->process_at, (uint64_t)m->processes.data[process].pid, forgotten);
	each_thread (t, m)
		if (t->process == process && !t->gone)
			end_thread(m, t);
	forget_gone(m);
}

uint32_t machine_thread_of(const struct machine *m, uint32_t process, int tid)
{
	uint32_t i = look_up(&m->thread_at, tid);
	if (i != forgotten && m->threads.data[i].process == process)
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

/* Tracks a thread if it is old enough by now; otherwise the pool represents it. */
static void track_or_pool(struct machine *m, uint32_t process, int tid, uint32_t *alive)
{
	uint32_t now = (uint32_t)(m->time * 1000), since = hashmap_get(&m->seen, (uint64_t)tid);
	if (since == HASHMAP_NONE || since > now) {
		hashmap_put(&m->seen, (uint64_t)tid, now);
		since = now;
	}
	bool at_once = m->at_once > 0;
	bool busy = hashmap_get(&m->busy, (uint64_t)tid) != HASHMAP_NONE;
	if ((!at_once && now - since < 1000 * longer(thread_warm_up, m->threads.len)) ||
	    *alive >= (busy ? MAX_TRACKED : MAX_IDLE)) {
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
			uint32_t known = look_up(&m->thread_at, *tid);
			if (known == forgotten || m->threads.data[known].process != process)
				track_or_pool(m, process, *tid, alive);
		}
	}
	vec_free(&tids);
}

static void update_threads(struct machine *m)
{
	uint32_t alive = count_threads(m);
	vec_each (process, &m->live_processes)
		if (m->processes.data[*process].pid)
			look_for_threads(m, *process, &alive);
	forget_gone(m);
	/* The kernel reuses tids, so old times are useless: they are all dropped now and then. */
	if (m->seen.len > MAX_SEEN)
		hashmap_release(&m->seen);
	if (m->busy.len > MAX_SEEN)
		hashmap_release(&m->busy);
	m->looked = m->time;
}

/* ---- steps ---- */

static double seconds_since(uint64_t *last, uint64_t now)
{
	double s = now > *last ? 1e-9 * (double)(now - *last) : 0;
	*last = now > *last ? now : *last;
	return s;
}

/* Finds out how much of its ready time a thread was ready because a wait had ended. Otherwise it
 * was preempted. It is told apart by counts, and only where it matters. */
static void find_woken(struct machine_thread *t, double dt)
{
	static const double noticeable = 0.02; /* ready time as a share of elapsed time */
	uint64_t waits, turns;
	if (t->ready < noticeable * dt || !thread_turns(t->tid, &waits, &turns))
		return;
	uint64_t waited = waits - t->waits, began = turns - t->turns;
	if (t->turns && began)
		t->woken = waited < began ? (double)waited / (double)began : 1;
	t->waits = waits;
	t->turns = turns;
}

/* The CPU time of a process that no tracked thread has used is that of its pool. */
static void read_cpu_times(struct machine *m)
{
	each_process (p, m) {
		p->cpu = p->pid ? seconds_since(&p->cpu_ns, process_cpu_ns(p->pid)) : m->brief_cpu;
		m->threads.data[p->pool].cpu = p->cpu;
	}
	m->brief_cpu = 0;
	each_thread (t, m) {
		const struct machine_process *p = &m->processes.data[t->process];
		if (!t->tid)
			continue;
		uint64_t cpu = 0, ready = 0;
		thread_ran(p->pid, t->tid, &cpu, &ready);
		t->cpu = seconds_since(&t->cpu_ns, cpu);
		t->ready = seconds_since(&t->ready_ns, ready);
		if (m->sampled)
			find_woken(t, m->time - m->before);
		m->threads.data[p->pool].cpu -= t->cpu;
	}
	/* Process and threads are read one after the other: a small difference means nothing. */
	each_process (p, m)
		if (m->threads.data[p->pool].cpu < 1e-3)
			m->threads.data[p->pool].cpu = 0;
}

static void clear_step(struct machine *m)
{
	each_thread (t, m) {
		t->cpu = t->ready = t->stolen = t->waited = t->joined = 0;
		memset(t->idled, 0, sizeof(t->idled));
	}
}

void machine_begin_step(struct machine *m, double now)
{
	clear_step(m);
	m->time = now;
	if (now - m->looked >= look_period)
		update_threads(m);
	read_cpu_times(m);
	m->stolen += seconds_since(&m->stolen_ns, cpus_stolen_ns());
	vec_each (i, &m->live_threads) {
		struct machine_thread *t = &m->threads.data[*i];
		t->cpu_all += t->cpu;
		if (t->cpu > 0)
			ledger_add(m->ledger, CODE, *i, LEDGER_NONE, AMOUNT_CPU, t->cpu);
	}
}

static void add_to_period(const struct machine *m, struct machine_thread *t, double dt)
{
	if (t->passed[1] >= idle_period) {
		t->passed[0] = t->passed[1];
		t->rested[0] = t->rested[1];
		t->unneeded[0] = t->unneeded[1];
		t->asked[0] = t->asked[1];
		t->passed[1] = t->rested[1] = t->unneeded[1] = t->asked[1] = 0;
	}
	/* A thread that began to wait before it was examined waits for something unknown: it
	 * hardly runs, nor is it known to wait. */
	bool rests = t->tid && t->waited <= 0 && t->cpu + t->ready <= (1 - idle_always) * dt;
	double unneeded = rests ? dt : t->idled[IDLE_ALWAYS] + t->idled[IDLE_AT_ONCE] + t->joined;
	t->passed[1] +=
		t->tid ? dt - fmin(t->ready, dt) : dt * m->processes.data[t->process].pooled;
	t->rested[1] += t->idled[IDLE_BESIDE] + unneeded;
	t->unneeded[1] += unneeded;
	t->asked[1] += t->idled[IDLE_ASKING];
}

/* True if a thread has nothing to do whichever process has work, for most of the time that it
 * rests. Otherwise it has nothing to do only while other threads of its process have work. */
static bool is_unneeded(const struct machine_thread *t)
{
	double asked = t->asked[0] + t->asked[1];
	return t->unneeded[0] + t->unneeded[1] + asked >=
	       0.5 * (t->rested[0] + t->rested[1] + asked);
}

/* A thread that waits for the work of others waits longer if these hardly get a CPU. That does not
 * make it idle: the time in which the others were ready, but could not run, is left out. Waiting
 * for an answer is idle if somebody works on it, which `answered` tells. */
static bool is_idle(const struct machine *m, const struct machine_thread *t, bool answered)
{
	double passed = t->passed[0] + t->passed[1], rested = t->rested[0] + t->rested[1];
	double beside = rested - t->unneeded[0] - t->unneeded[1];
	double wanted = m->ran + m->queued;
	double lost = wanted > 0 ? beside * m->queued / wanted : 0;
	rested += answered ? t->asked[0] + t->asked[1] : 0;
	return passed > 0 &&
	       rested - lost >= (passed - lost) * (is_unneeded(t) ? idle_always : idle_beside);
}

static void decide_which_count(struct machine *m, double dt)
{
	bool work = false, serve = false;
	each_process (p, m)
		p->works = p->serves = false;
	each_thread (t, m) {
		struct machine_process *p = &m->processes.data[t->process];
		p->works |= (t->tid || t->cpu > 0) && !is_idle(m, t, true);
		p->serves |= t->idled[IDLE_AT_ONCE] > 0;
		t->serves |= t->idled[IDLE_AT_ONCE] > 0;
		work |= p->works;
		serve |= p->serves;
	}
	each_thread (t, m) {
		const struct machine_process *p = &m->processes.data[t->process];
		bool others = p->works || p->serves || ((work || serve) && is_unneeded(t));
		t->counted = p->pid && (!others || !is_idle(m, t, work));
		t->idle += t->counted ? -dt : dt;
	}
}

static struct machine_span *span_of(struct machine *m, uint32_t part)
{
	while (m->spans.len <= part)
		vec_push(&m->spans, (struct machine_span){0});
	return &m->spans.data[part];
}

/* Times of the threads of a part of the machine in one step, as in struct machine_process. */
struct step_times {
	double cpu, worked, ready, free, threads;
	double most, idle;
};

/* Returns the elapsed time without what was lost to other programs. The loss is the smallest of
 *
 *	1. the time for which threads were ready for a CPU;
 *	2. the time outside of waits in which they did not run;
 *	3. the elapsed time, times their ready time as a share of ready and CPU time.
 *
 * The kernel reports ready time only when the thread runs again. So a loss may belong to earlier
 * steps: their time outside of waits without a CPU is kept in `missing`. */
static double without_lost_time(struct machine_span *s, const struct step_times *x, double dt)
{
	static const double most = 1; /* s of missing time that is kept */
	double missing = s->missing + (x->free > x->cpu ? x->free - x->cpu : 0);
	double wanted = x->cpu + x->ready;
	double share = wanted > 0 ? (dt + s->missing) * x->ready / wanted : 0;
	double lost = x->ready < missing ? x->ready : missing;
	lost = lost < share ? lost : share;
	s->missing = missing - lost < most ? missing - lost : most;
	return dt - lost;
}

/* Returns the elapsed time, or the CPU time used if that is more. Steps are short: what one of them
 * used more first makes up for recent steps that used less (`ahead`). */
static double at_least(double passed, double used, double *ahead)
{
	static const double evens_out = 0.25; /* s */
	double now = *ahead + used - passed;
	*ahead = now > 0 ? 0 : now > -evens_out ? now : -evens_out;
	return now > 0 ? passed + now : passed;
}

static void add_span(struct machine *m, uint32_t part, double dt, const struct step_times *x)
{
	struct machine_span *s = span_of(m, part);
	double passed = without_lost_time(s, x, dt) - x->idle;
	passed = passed > 0 ? passed : 0;
	s->time += at_least(passed, x->most, &s->time_ahead);
	s->cpu += at_least(passed, x->worked, &s->cpu_ahead);
	s->threads += x->threads;
}

static double thread_time(const struct machine *m, const struct machine_thread *t, double dt)
{
	if (!t->counted)
		return 0;
	double each = t->tid ? dt : dt * m->processes.data[t->process].pooled;
	each -= t->joined + t->idled[IDLE_AT_ONCE];
	return each > 0 ? each : 0;
}

/* Outside of waits a thread runs, unless others have its CPU. If it ran for longer than it was
 * outside of waits, it also ran in waits. */
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

static void derive_cpu_times(struct machine *m, double dt)
{
	struct ledger_rate *rates = xcalloc(m->threads.len + 1, sizeof(*rates));
	vec_each (i, &m->live_threads)
		rates[*i] = rate_of(m, &m->threads.data[*i], dt);
	ledger_settle(m->ledger, rates);
	free(rates);
}

/* Returns the s of this step in which a tracked thread neither ran nor waited nor was ready. */
static double missing_of(const struct machine_thread *t, double dt)
{
	double rest = dt - t->waited - t->cpu - t->ready;
	return t->tid && rest > 0 ? rest : 0;
}

/* A thread whose CPU was stolen was ready to run, but it is not known which thread that was. So
 * stolen time is divided among the threads by their missing time. Time stolen from an idle CPU is
 * missed by no thread. */
static void share_stolen(struct machine *m, double dt)
{
	static const double most_kept = 0.1; /* s carried over: both times are known a bit late */
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

/* Samples may show spinning a bit before the kernel counts its CPU time. */
static void leave_out_spinning(struct machine_thread *t)
{
	static const double most_kept = 0.1; /* s */
	double spun = t->spun < t->cpu ? t->spun : t->cpu;
	t->worked = t->cpu - spun;
	t->spun -= spun;
	t->spun = t->spun < most_kept ? t->spun : most_kept;
}

static void add_threads(struct machine *m, double dt)
{
	each_process (p, m) {
		p->threads = p->active = p->ready = p->free = p->most = 0;
		p->worked = p->cpu;
	}
	each_thread (t, m) {
		struct machine_process *p = &m->processes.data[t->process];
		bool own = t->tid != 0;
		leave_out_spinning(t);
		p->worked -= t->cpu - t->worked;
		struct step_times x = {.cpu = t->cpu,
				       .worked = t->worked,
				       .ready = t->ready + t->stolen,
				       .free = own && dt > t->waited ? dt - t->waited : 0,
				       .threads = thread_time(m, t, dt),
				       .most = t->cpu,
				       .idle = t->idled[IDLE_AT_ONCE]};
		p->most = own && t->cpu > p->most ? t->cpu : p->most;
		p->threads += x.threads;
		p->active += fmax(x.threads - t->idled[IDLE_ALWAYS], 0);
		p->ready += x.ready;
		p->free += x.free;
		if (own)
			add_span(m, t->part, dt, &x);
	}
}

/* Decides whether threads have to wait for CPUs. Stolen time does not count here, because it
 * affects all code alike. */
static void note_crowded(struct machine *m, double dt, double cpu)
{
	/* Ready time as a share of ready and CPU time. */
	static const double crowded_above = 0.12, crowded_until = 0.05;
	double kept = dt < 1 ? 1 - dt : 0;
	m->ran = m->ran * kept + cpu;
	m->seen_cpu *= kept;
	m->queued *= kept;
	each_thread (t, m)
		m->queued += t->ready;
	double share = m->ran + m->queued > 0 ? m->queued / (m->ran + m->queued) : 0;
	m->crowded = share > (m->crowded ? crowded_until : crowded_above);
}

/* Returns the s of a step in which no thread did anything, because nobody brought work. `active`,
 * the times of threads one after the other, is the longest for which some did. */
static double without_work(bool serves, double active, double dt)
{
	return serves && active < dt ? dt - active : 0;
}

static void add_times(struct step_times *sum, const struct step_times *x)
{
	sum->cpu += x->cpu;
	sum->worked += x->worked;
	sum->ready += x->ready;
	sum->free += x->free;
	sum->threads += x->threads;
	sum->most = x->most > sum->most ? x->most : sum->most;
}

static void add_processes(struct machine *m, double dt)
{
	struct step_times all = {0};
	bool serves = false, brief = m->young.len;
	double active = 0;
	each_process (p, m) {
		p->idle = without_work(p->serves, p->active, dt);
		const struct step_times x = {p->cpu,     p->worked, p->ready, p->free,
					     p->threads, p->most,   p->idle};
		add_span(m, p->part, dt, &x);
		add_times(&all, &x);
		serves |= p->serves;
		active += p->active;
		brief |= !p->pid && p->cpu > 0;
	}
	all.idle = without_work(serves && !brief, active, dt);
	m->idle_all += all.idle;
	note_crowded(m, dt, all.cpu);
	m->cpu_all += all.cpu;
	m->ready_all += all.ready;
	add_span(m, m->host, dt, &all);
	add_span(m, MACHINE, dt, &all);
}

/* What is of the last second or so: older values count less. */
static void decay_recent(struct machine *m, double dt)
{
	double kept = dt < 1 ? 1 - dt : 0;
	each_process (p, m)
		p->forks *= kept;
	each_thread (t, m) {
		t->ran = t->ran * kept + t->cpu;
		t->was_ready = t->was_ready * kept + t->ready;
		t->in_calls *= kept;
		t->seen *= kept;
		t->slept_joining *= kept;
		for (uint32_t i = 0; i < ARRAY_SIZE(t->slept); i++)
			t->slept[i] *= kept;
	}
}

/* Where probes do not measure waits, a thread waits whenever it neither runs nor is ready to. What
 * for is known from samples. */
static void derive_waits(struct machine *m, double dt)
{
	each_thread (t, m) {
		const struct machine_process *p = &m->processes.data[t->process];
		double seen = 0;
		for (uint32_t i = 0; i < IDLENESSES; i++)
			seen += t->slept[i];
		double rest = (t->tid ? dt : dt * p->pooled) - t->cpu - t->ready;
		if (p->watched || seen <= 0 || rest <= 0)
			continue;
		t->waited = rest;
		t->joined = rest * t->slept_joining / seen;
		for (uint32_t i = 0; i < ARRAY_SIZE(t->slept); i++)
			t->idled[i] = rest * t->slept[i] / seen;
	}
}

void machine_slept(struct machine *m, uint32_t thread, const struct object_kind_row *row,
		   double seconds)
{
	struct machine_thread *t = &m->threads.data[thread];
	if (m->processes.data[t->process].watched)
		return;
	t->slept[row->idles] += seconds;
	t->slept_joining += row->joins ? seconds : 0;
}

void machine_end_step(struct machine *m)
{
	static const double least = 1e-6;
	double dt = m->time - m->before;
	dt = dt > least ? dt : least;
	m->before = m->time;
	derive_waits(m, dt);
	derive_cpu_times(m, dt);
	each_thread (t, m)
		add_to_period(m, t, dt);
	decay_recent(m, dt);
	decide_which_count(m, dt);
	share_stolen(m, dt);
	add_threads(m, dt);
	add_processes(m, dt);
}

/* In a step in which a thread hardly ran, or hardly waited, the rate is chance. */
static const double most_stretch = 20;

double machine_stretch(const struct machine_thread *t)
{
	double ready = (1 - t->woken) * t->ready + t->stolen;
	double stretch = t->cpu > 0 ? (t->cpu + ready) / t->cpu : 1;
	return stretch < most_stretch ? stretch : most_stretch;
}

double machine_wait_stretch(const struct machine_thread *t)
{
	return t->in_calls > 0 ? 1 + t->woken * t->was_ready / t->in_calls : 1;
}

void machine_seen_in_call(struct machine *m, uint32_t thread, double seconds)
{
	m->threads.data[thread].in_calls += seconds;
}

/* Returns CPU time per sampled time; 1 if the difference may be chance: of n samples that there
 * should be, as many as the square root of n come more or less. */
static double lost_samples(double ran, double seen, double each)
{
	static const double sure = 3;  /* standard errors */
	static const double most = 50; /* above this, it is not believed */
	if (seen <= 0 || ran - seen < sure * sqrt(ran * each))
		return 1;
	return ran < most * seen ? ran / seen : most;
}

double machine_seen(struct machine *m, uint32_t thread, int tid, double seconds)
{
	struct machine_thread *t = &m->threads.data[thread];
	m->seen_cpu += seconds;
	if (t->process == m->brief) {
		m->brief_cpu += seconds;
		return seconds;
	}
	if (!t->tid)
		hashmap_put(&m->busy, (uint64_t)tid, 0);
	t->seen += seconds;
	double own = lost_samples(t->ran, t->seen, seconds);
	return seconds * (own > 1 ? own : lost_samples(m->ran, m->seen_cpu, seconds));
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
