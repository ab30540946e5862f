#include "diagnose/probes.h"

#include <math.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/quantity.h"

static const double fresh_time = 0.06; /* s in which a new probe is watched closely */
static const double trusted_time = 1;  /* s: a trusted probe has a budget of calls for this time */
/* Probes read the CPU clock only if they take less than this many times as long as probes that read
 * only the wall clock. */
static const double max_clock_overhead = 2.5;

void probes_init(struct probes *p, struct engine *g, struct machine *m, struct mapped *mapped,
		 struct code_parts *code, struct ledger *l)
{
	*p = (struct probes){
		.engine = g, .machine = m, .mapped = mapped, .code = code, .ledger = l};
}

void probes_release(struct probes *p)
{
	vec_each (x, &p->list)
		vec_free(&x->in);
	vec_free(&p->list);
	vec_free(&p->rows);
	vec_free(&p->reported);
	vec_free(&p->dirty);
	hashmap_release(&p->at);
	hashmap_release(&p->avoided);
	hashmap_release(&p->subject_at);
	hashmap_release(&p->row_at);
}

bool probes_read_cpu_clock(const struct probes *p)
{
	const struct probe_overheads *c = engine_probe_overheads(p->engine);
	return c->enter + c->exit < max_clock_overhead * 2 * c->wall;
}

static struct probe *find(const struct probes *p, uint32_t part)
{
	uint32_t i = hashmap_get(&p->at, part);
	return i == HASHMAP_NONE ? NULL : &p->list.data[i];
}

static struct probe *find_or_add(struct probes *p, uint32_t part)
{
	uint32_t next = p->list.len, i = hashmap_add(&p->at, part, next);
	if (i == next)
		vec_push(&p->list, (struct probe){.part = part});
	return &p->list.data[i];
}

/* ---- in and out ---- */

static void mark_dirty(struct probes *p, uint32_t process)
{
	vec_each (d, &p->dirty)
		if (*d == process)
			return;
	vec_push(&p->dirty, process);
}

static bool is_in(const struct probe *x, uint32_t process)
{
	vec_each (in, &x->in)
		if (in->process == process)
			return true;
	return false;
}

static void note_in(struct probes *p, struct probe *x, uint32_t process, uint32_t subject)
{
	vec_push(&x->in, (struct probe_in){process, subject});
	hashmap_put(&p->subject_at, (uint64_t)process << 32 | subject,
		    (uint32_t)(x - p->list.data));
}

static double call_overhead(const struct probes *p)
{
	const struct probe_overheads *c = engine_probe_overheads(p->engine);
	return 1e-9 * (probes_read_cpu_clock(p) ? c->enter + c->exit : 2 * c->wall);
}

/* Returns the overhead above which a single new probe is too hot: a third of the limit. */
static double most_share(const struct probes *p)
{
	return p->max_overhead / 3;
}

/* Returns how many calls a probe may measure in this time before it is checked. The budget limits
 * its overhead even if Sonde does not get a CPU in time to check it. */
static uint32_t budget_for(const struct probes *p, double seconds)
{
	return p->max_overhead > 0 ? 1 + (uint32_t)(most_share(p) * seconds / call_overhead(p)) : 0;
}

uint32_t probes_add(struct probes *p, uint32_t part, uint32_t process,
		    struct subject_request request)
{
	struct code_part what = code_part(p->code, part);
	struct err e;
	request.code = what.code;
	request.va = what.va;
	request.loop = what.loop;
	if (!mapped_bias(p->mapped, process, what.code, &request.bias))
		return SUBJECT_NONE;
	enum reach reach = p->reach(p->ctx, process);
	p->later |= reach == REACHED_LATER;
	if (reach != REACHED)
		return SUBJECT_NONE;
	struct target *t = p->machine->processes.data[process].target;
	uint32_t subject = target_add(t, &request, &e);
	if (subject == SUBJECT_NONE)
		debug(LOG_SEARCH, 1, "part %u cannot be probed: %s", part, e.text);
	else
		mark_dirty(p, process);
	return subject;
}

void probes_remove(struct probes *p, const struct probe_in *in)
{
	struct target *t = p->machine->processes.data[in->process].target;
	if (!t)
		return;
	target_remove(t, in->subject);
	mark_dirty(p, in->process);
}

static void put_in(struct probes *p, struct probe *x, uint32_t process)
{
	const struct subject_request request = {
		.metrics = 1 << RT_WALL | (probes_read_cpu_clock(p) ? 1 << RT_CPU : 0),
		.budget = budget_for(p, fresh_time),
	};
	uint32_t subject =
		is_in(x, process) ? SUBJECT_NONE : probes_add(p, x->part, process, request);
	if (subject == SUBJECT_NONE)
		return;
	note_in(p, x, process, subject);
	x->fresh = true;
	x->since = -1;
	x->checked = x->calls;
}

static void take_out(struct probes *p, struct probe *x)
{
	vec_each (in, &x->in)
		probes_remove(p, in);
	vec_clear(&x->in);
}

static uint64_t function_key(const struct probes *p, uint32_t part)
{
	struct code_part what = code_part(p->code, part);
	const uint64_t key[] = {what.code->id, what.va};
	return hash_bytes(key, sizeof(key), 0);
}

/* A function that needs too many patches for one of its parts needs them for the others, too. */
static bool is_avoided(const struct probes *p, uint32_t part)
{
	return hashmap_get(&p->avoided, function_key(p, part)) != HASHMAP_NONE;
}

uint32_t probes_busiest(const struct probes *p, uint32_t part)
{
	double most = 0;
	uint32_t busiest = UINT32_MAX;
	vec_each (process, &p->machine->live_processes) {
		double seen = 0;
		ledger_each (e, p->ledger, part)
			if (p->machine->threads.data[e->thread].process == *process)
				seen += e->amount[AMOUNT_SEEN_CPU];
		if (seen > most) {
			most = seen;
			busiest = *process;
		}
	}
	return busiest;
}

/* Whether samples have shown the part in the process; in any, if that is UINT32_MAX. */
static bool was_seen(const struct probes *p, uint32_t part, uint32_t process)
{
	ledger_each (e, p->ledger, part)
		if ((process == UINT32_MAX ||
		     p->machine->threads.data[e->thread].process == process) &&
		    (e->amount[AMOUNT_SEEN_CPU] > 0 || e->amount[AMOUNT_SEEN_WAIT] > 0))
			return true;
	return false;
}

/* The part is probed where samples have shown it. If they have not, it may be in any process. */
void probes_want(struct probes *p, uint32_t part)
{
	struct probe *x = find_or_add(p, part);
	if (x->state == PROBE_OUT && is_avoided(p, part))
		x->state = PROBE_REFUSED;
	if (x->users++ || x->state == PROBE_HOT || x->state == PROBE_REFUSED)
		return;
	bool anywhere = !was_seen(p, part, UINT32_MAX);
	p->later = false;
	for (uint32_t i = 0; i < p->machine->live_processes.len; i++) {
		uint32_t process = p->machine->live_processes.data[i];
		if (anywhere || was_seen(p, part, process))
			put_in(p, x, process);
	}
	x->state = x->in.len ? PROBE_IN : p->later ? PROBE_OUT : PROBE_REFUSED;
}

void probes_drop(struct probes *p, uint32_t part)
{
	struct probe *x = find(p, part);
	if (!x || !x->users || --x->users || x->state != PROBE_IN)
		return;
	take_out(p, x);
	x->state = PROBE_OUT;
	x->fresh = false;
}

bool probes_measure(const struct probes *p, uint32_t part)
{
	const struct probe *x = find(p, part);
	return x && x->state == PROBE_IN;
}

bool probes_are_hot(const struct probes *p, uint32_t part)
{
	const struct probe *x = find(p, part);
	return x && x->state == PROBE_HOT;
}

/* Marks the probes that a batch could not insert. */
static void mark_refused(struct probes *p, uint32_t process)
{
	const struct target *t = p->machine->processes.data[process].target;
	vec_each (x, &p->list) {
		uint32_t kept = 0;
		if (x->state != PROBE_IN)
			continue;
		vec_each (in, &x->in) {
			enum refusal why = in->process == process ? target_refused(t, in->subject)
								  : REFUSED_NONE;
			if (why == REFUSED_NONE)
				x->in.data[kept++] = *in;
			if (why == REFUSED_TOO_MANY)
				hashmap_put(&p->avoided, function_key(p, x->part), 1);
		}
		x->in.len = kept;
		if (!kept) {
			x->state = PROBE_REFUSED;
			x->fresh = false;
		}
	}
}

bool probes_commit(struct probes *p)
{
	bool any = p->dirty.len;
	vec_each (process, &p->dirty) {
		struct target *t = p->machine->processes.data[*process].target;
		struct batch_result b = {0};
		struct err e;
		if (!t || !target_alive(t))
			continue;
		if (target_commit(t, &b, &e))
			debug(LOG_SEARCH, 1, "a batch failed: %s", e.text);
		debug(LOG_SEARCH, 2, "batch: %u patches, %.3f ms pause", b.patches,
		      1e-6 * (double)b.pause_ns);
		mark_refused(p, *process);
	}
	vec_clear(&p->dirty);
	double now = now_seconds();
	vec_each (x, &p->list)
		if (x->fresh && x->since < 0)
			x->since = now;
	return any;
}

/* ---- processes end, load modules, lose their probes ---- */

void probes_ended(struct probes *p, uint32_t process)
{
	vec_each (x, &p->list)
		vec_keep_if(&x->in, in, in->process != process);
}

bool probes_are_in(const struct probes *p, uint32_t process)
{
	vec_each (x, &p->list)
		if (is_in(x, process))
			return true;
	return false;
}

void probes_left(struct probes *p, uint32_t process)
{
	probes_ended(p, process);
	vec_each (x, &p->list)
		if (x->state == PROBE_IN && !x->in.len)
			x->state = PROBE_REFUSED;
}

/* Probes in a module that was unloaded are gone with it. The module may be loaded again. */
static void forget_unloaded(struct probes *p, uint32_t process)
{
	uint64_t bias;
	vec_each (x, &p->list)
		if (!mapped_bias(p->mapped, process, code_part(p->code, x->part).code, &bias))
			vec_keep_if(&x->in, in, in->process != process);
}

void probes_loaded(struct probes *p, uint32_t process)
{
	forget_unloaded(p, process);
	for (uint32_t i = 0; i < p->list.len; i++) {
		struct probe *x = &p->list.data[i];
		if (x->users && (x->state == PROBE_IN || x->state == PROBE_OUT))
			put_in(p, x, process);
		if (x->users && x->in.len)
			x->state = PROBE_IN;
	}
}

/* ---- values ---- */

struct probe_reading {
	struct probes *p;
	uint32_t process;
};

uint32_t probes_part(void *probes, uint32_t process, uint32_t subject)
{
	const struct probes *p = probes;
	uint32_t i = hashmap_get(&p->subject_at, (uint64_t)process << 32 | subject);
	return i == HASHMAP_NONE ? RESOURCE_NONE : p->list.data[i].part;
}

static uint32_t row_of(struct probes *p, uint32_t process, const struct path_value *v)
{
	const uint64_t key[] = {(uint64_t)p->machine->processes.data[process].begun << 32 | process,
				(uint64_t)v->tid << 32 | v->subject, v->recursive};
	uint32_t next = p->rows.len;
	uint32_t at = hashmap_add(&p->row_at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&p->rows, (struct probe_row){0});
	return at;
}

static void on_value(void *ctx, const struct path_value *v)
{
	struct probe_reading *s = ctx;
	struct probes *p = s->p;
	uint32_t probe = hashmap_get(&p->subject_at, (uint64_t)s->process << 32 | v->subject);
	if (probe == HASHMAP_NONE)
		return;
	uint32_t at = row_of(p, s->process, v);
	struct probe_row *r = &p->rows.data[at];
	if (r->reading != p->reading) {
		r->reading = p->reading;
		r->reported_ns = r->reported_calls = 0;
		vec_push(&p->reported, at);
	}
	r->probe = probe;
	r->thread = machine_thread_of(p->machine, s->process, v->tid);
	r->recursive = v->recursive;
	r->reported_ns += v->total[probes_read_cpu_clock(p) ? RT_CPU : RT_WALL];
	r->reported_calls += v->calls;
}

/* The time of a recursive activation is not added: it is part of that of the outer activation. */
static void add_row(struct probes *p, struct probe_row *r)
{
	struct probe *x = &p->list.data[r->probe];
	double seconds = r->reported_ns > r->ns ? 1e-9 * (double)(r->reported_ns - r->ns) : 0;
	if (seconds > 0 && !r->recursive && probes_read_cpu_clock(p))
		ledger_add(p->ledger, x->part, r->thread, LEDGER_NONE, AMOUNT_CPU, seconds);
	else if (seconds > 0 && !r->recursive)
		ledger_step(p->ledger, x->part, r->thread, STEP_WALL, seconds);
	if (r->reported_calls > r->calls) {
		uint64_t calls = r->reported_calls - r->calls;
		ledger_add(p->ledger, x->part, r->thread, LEDGER_NONE, AMOUNT_CALLS, (double)calls);
		x->calls += calls;
		x->overhead += (double)calls * call_overhead(p);
	}
	r->ns = r->reported_ns > r->ns ? r->reported_ns : r->ns;
	r->calls = r->reported_calls > r->calls ? r->reported_calls : r->calls;
}

static void read_overhead(struct probes *p, struct target *t)
{
	p->spent += 1e-9 * (double)target_overhead(t).probe_ns;
}

static void read_all(struct probes *p)
{
	p->reading++;
	vec_clear(&p->reported);
	vec_each (process, &p->machine->live_processes) {
		struct probe_reading s = {p, *process};
		struct target *t = p->machine->processes.data[*process].target;
		if (!t)
			continue;
		target_read(t, on_value, &s);
		read_overhead(p, t);
	}
	vec_each (row, &p->reported)
		add_row(p, &p->rows.data[*row]);
	p->read = now_seconds();
}

/* ---- overhead ---- */

double probes_overhead_of(const struct probes *p, uint32_t part)
{
	const struct probe *x = find(p, part);
	return x ? x->overhead : 0;
}

bool probes_are_fresh(const struct probes *p)
{
	vec_each (x, &p->list)
		if (x->fresh && x->since >= 0)
			return p->max_overhead > 0;
	return false;
}

static void silence(struct probes *p, struct probe *x, double share)
{
	debug(LOG_SEARCH, 1, "part %u is too hot: %.3f of the time", x->part, share);
	vec_each (in, &x->in) {
		struct target *t = p->machine->processes.data[in->process].target;
		if (!t)
			continue;
		target_quiet(t, in->subject);
		mark_dirty(p, in->process);
	}
	vec_clear(&x->in);
	x->state = PROBE_HOT;
	x->fresh = false;
}

/* Returns true if the budget of a probe is used up in some process. */
static bool has_spent_budget(const struct probes *p, const struct probe *x)
{
	vec_each (in, &x->in) {
		const struct target *t = p->machine->processes.data[in->process].target;
		if (t && target_spent(t, in->subject))
			return true;
	}
	return false;
}

/* The probe has passed a check: from now on it has the budget of a trusted one. */
static void trust(struct probes *p, struct probe *x, double now)
{
	x->fresh = false;
	x->since = now;
	x->checked = x->calls;
	vec_each (in, &x->in) {
		struct target *t = p->machine->processes.data[in->process].target;
		if (t)
			target_set_budget(t, in->subject, budget_for(p, trusted_time));
	}
}

static double share_since(const struct probes *p, const struct probe *x, double now)
{
	return (double)(x->calls - x->checked) * call_overhead(p) / (now - x->since);
}

void probes_check(struct probes *p, double now)
{
	static const double least = 0.004; /* s: a rate over less time means nothing */
	read_all(p);
	vec_each (x, &p->list) {
		if (x->state != PROBE_IN || !x->fresh || x->since < 0 || now - x->since < least)
			continue;
		double share = share_since(p, x, now);
		if (share > most_share(p) || has_spent_budget(p, x))
			silence(p, x, share);
		else if (now - x->since >= fresh_time)
			trust(p, x, now);
	}
}

/* A cheap probe may become hot when the program does something else. */
static void check_trusted(struct probes *p, double now)
{
	static const double least = 0.04; /* s since the last check */
	vec_each (x, &p->list) {
		if (x->state != PROBE_IN || x->fresh || now - x->since < least)
			continue;
		double share = share_since(p, x, now);
		if (share > p->max_overhead || has_spent_budget(p, x))
			silence(p, x, share);
		else
			trust(p, x, now);
	}
}

void probes_step(struct probes *p)
{
	read_all(p);
	if (p->max_overhead > 0)
		check_trusted(p, p->read);
}
