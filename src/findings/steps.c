/* Advice on what to do next, as far as the data supports it. The most useful rules are first; at
 * most MOST_STEPS pieces of advice are given. */
#include <string.h>

#include "base/quantity.h"
#include "findings/limits.h"
#include "findings/wording.h"

struct advising {
	struct wording *t;
	uint32_t given;
};

#define advise(a, ...)                                                                             \
	do {                                                                                       \
		if ((a)->given++ < MOST_STEPS)                                                     \
			remark((a)->t, PROFILE_NONE, "step", __VA_ARGS__);                         \
	} while (0)

static bool is_lock(enum object_kind kind)
{
	return kind == OBJECT_MUTEX || kind == OBJECT_RWLOCK || kind == OBJECT_SPIN;
}

/* Two findings are about waiting for the same lock. */
static void same_object(struct advising *a)
{
	struct wording *t = a->t;
	for (uint32_t i = 0; i < t->list.len; i++)
		for (uint32_t k = i + 1; k < t->list.len; k++) {
			const struct candidate *x = &t->list.data[i], *y = &t->list.data[k];
			enum object_kind kind = known_kind(t->k, x->object);
			if (!is_lock(kind) || x->object != y->object || x->part == y->part ||
			    x->hypothesis != y->hypothesis)
				continue;
			advise(a,
			       "%s and %s wait for the same %s %s: two locks, or less work under "
			       "this one, would let them run concurrently",
			       known_noun(t->k, x->part), known_noun(t->k, y->part),
			       object_kinds[kind].name, t->k->e->objects.data[x->object].name);
		}
}

/* Returns true if samples of a node are in a call that flushes a file: fsync, fdatasync, ... */
static bool flushes(const struct profile *p, uint32_t node)
{
	uint32_t scope = node == PROFILE_NONE ? PROFILE_NONE : p->nodes.data[node].scope;
	while (scope != PROFILE_NONE && p->scopes.data[scope].parent != PROFILE_NONE)
		scope = p->scopes.data[scope].parent;
	return scope != PROFILE_NONE && strstr(p->scopes.data[scope].name, "sync");
}

/* Returns true if the program was seen to flush the object of a finding. */
static bool is_flushed(const struct wording *t, const struct candidate *c)
{
	const char *name = t->k->e->objects.data[c->object].name;
	vec_each (x, &t->k->e->chains)
		if (x->object == c->object && flushes(t->k->p, x->node))
			return true;
	vec_each (o, &t->k->e->objects)
		if (object_kind_named(o->kind) == OBJECT_CALL && strstr(o->name, "sync (") &&
		    strstr(o->name, name))
			return true;
	return false;
}

static void small_operations(struct advising *a)
{
	vec_each (c, &a->t->list) {
		if (c->hypothesis != SMALL_IO || c->object == PROFILE_NONE)
			continue;
		const struct evidence_object *o = &a->t->k->e->objects.data[c->object];
		if (!o->count)
			continue;
		double bytes = (double)o->bytes / (double)o->count;
		advise(a, "%.0f operations per second move %.0f byte%s each on average: %s",
		       known_object_rate(a->t->k, c->object), bytes, bytes < 1.5 ? "" : "s",
		       is_flushed(a->t, c) ? "buffer them, and fsync less often" : "buffer them");
		return;
	}
}

static void gpu_awaited(struct advising *a)
{
	struct known *k = a->t->k;
	bool copies = false, waits = false, launches = false;
	vec_each (c, &a->t->list) {
		bool gpu = known_kind(k, c->object) == OBJECT_GPU;
		bool copy = gpu && strstr(k->e->objects.data[c->object].name, "emcpy");
		copies |= copy;
		waits |= gpu && !copy;
		launches |= c->hypothesis == CPU_BOUND && c->part != k->whole.part[CODE] &&
			    strstr(known_code(k, c->part).function, "LaunchKernel");
	}
	if (copies)
		advise(a, "copy less between host and GPU, or copy from pinned memory, which the "
			  "GPU reads while the CPU goes on");
	if (waits)
		advise(a, "wait for the GPU later, or less often, and work meanwhile; what keeps "
			  "it busy is for its vendor's profiler");
	if (launches)
		advise(a, "launch fewer and larger kernels, or a graph of them");
}

/* What is waited for is made by a process that is not in the search. */
static void peer_unknown(struct advising *a)
{
	const struct known *k = a->t->k;
	const char *searched = profile_get_fact(k->p, "attached");
	vec_each (c, &a->t->list) {
		const struct evidence_object *o =
			c->object == PROFILE_NONE ? NULL : &k->e->objects.data[c->object];
		if (!o || !o->peer_pid || party_at_end(&k->parties, o) != PROFILE_NONE)
			continue;
		advise(a, "see what %s (%d) does meanwhile: sonde -p %s%s%d", o->peer, o->peer_root,
		       searched ? searched : "", searched ? "," : "", o->peer_root);
		return;
	}
}

static void lock_held(struct advising *a)
{
	vec_each (c, &a->t->list) {
		enum object_kind kind = known_kind(a->t->k, c->object);
		if (!is_lock(kind))
			continue;
		advise(a, "do less work while %s %s is held, or split what it protects",
		       kind == OBJECT_SPIN ? "spin lock" : object_kinds[kind].name,
		       a->t->k->e->objects.data[c->object].name);
		return;
	}
}

/* Returns the outermost part on the call path of a finding for which the same hypothesis is true:
 * that is where the work is divided among threads. */
static uint32_t divided_at(const struct wording *t, const struct candidate *c)
{
	const struct evidence *e = t->k->e;
	struct focus f = known_focus(&t->k->p->experiments.data[c->experiment]);
	for (uint32_t i = 0; c->chain != PROFILE_NONE && i < e->chains.data[c->chain].length; i++) {
		f.part[CODE] = e->parts.data[e->chains.data[c->chain].first + i];
		if (known_true(t->k, (enum hypothesis_id)c->hypothesis, &f) != PROFILE_NONE)
			return f.part[CODE];
	}
	return c->part;
}

static void uneven_work(struct advising *a)
{
	struct known *k = a->t->k;
	vec_each (c, &a->t->list) {
		if (c->part == k->whole.part[CODE])
			continue;
		uint32_t region = region_of(k, c);
		if (known_kind(k, c->object) == OBJECT_OPENMP && region != PROFILE_NONE)
			advise(a,
			       "give all threads of %s the same work: schedule(dynamic) may help",
			       known_noun(k, region));
		if (c->hypothesis != IMBALANCE)
			continue;
		bool divides = region != PROFILE_NONE;
		advise(a, "balance the work of %s%s: this could save up to %.0f %% of run time",
		       known_noun(k, divides ? region : divided_at(a->t, c)),
		       divides ? ", for example with schedule(dynamic)" : "", percent(c->share));
	}
}

/* Serial code that other threads wait for. */
static void serial_code(struct advising *a)
{
	const struct known *k = a->t->k;
	vec_each (c, &a->t->list) {
		if (c->part == k->whole.part[CODE] ||
		    known_waited_for(k, c->part, OBJECT_SERIAL) < worth_dividing)
			continue;
		advise(a,
		       "%s runs in one thread while the others wait: sonde count, then sonde "
		       "report --view=parallel, shows what dividing its loops could gain",
		       known_noun(a->t->k, c->part));
		return;
	}
}

/* Returns true if the work is already divided among threads, unevenly. */
static bool is_divided(const struct wording *t)
{
	vec_each (c, &t->list)
		if (c->hypothesis == IMBALANCE)
			return true;
	return false;
}

/* Returns true if one thread did most of the work, on hardly more than one of several CPUs. */
static bool uses_one_cpu(const struct evidence *e)
{
	double all = 0;
	uint32_t busy = 0;
	vec_each (t, &e->threads)
		all += t->cpu;
	vec_each (t, &e->threads)
		busy += t->cpu > busy_thread * all;
	return e->run.cpus > 1 && busy <= 1 && e->run.cpu <= one_cpu * e->run.time;
}

/* Returns true if a loop has the code of a finding. */
static bool is_in_loop(const struct wording *t, const struct candidate *c)
{
	const struct evidence *e = t->k->e;
	for (uint32_t i = 0; c->chain != PROFILE_NONE && i < e->chains.data[c->chain].length; i++) {
		uint32_t part = e->parts.data[e->chains.data[c->chain].first + i];
		if (t->k->p->resources.data[part].kind == RESOURCE_LOOP)
			return true;
	}
	return false;
}

/* If only one CPU is used, some loop may be worth dividing among threads. Which one, samples do not
 * show: the outermost is mostly one of time steps, or of a server's requests. Counts do. */
static void one_busy_cpu(struct advising *a)
{
	const struct wording *t = a->t;
	const struct evidence_run *run = &t->k->e->run;
	bool serves = run->idle > noticeable_idle * run->seconds;
	if (!uses_one_cpu(t->k->e) || is_divided(t) || serves || runs_commands(t->k->e))
		return;
	vec_each (c, &t->list) {
		if (c->hypothesis != CPU_BOUND || c->share < worth_threads || !is_in_loop(t, c))
			continue;
		advise(a,
		       "only 1 of %u CPUs is busy: sonde count, then sonde report "
		       "--view=parallel, ranks the loops by what threads could gain",
		       run->cpus);
		return;
	}
}

/* How often a part of the code was entered while that was counted; NULL if it was not. */
static const struct evidence_trip *trip_of(const struct known *k, uint32_t part)
{
	vec_each (x, &k->e->trips)
		if (x->resource == part && x->entries && x->seconds > 0)
			return x;
	return NULL;
}

static bool is_function(const struct known *k, uint32_t part)
{
	return k->p->resources.data[part].kind == RESOURCE_FUNCTION;
}

/* Adds advice about a loop that is entered often, for a few iterations each time. */
static bool add_trips(struct advising *a, const struct candidate *c)
{
	const struct evidence_trip *trip = trip_of(a->t->k, c->part);
	if (!trip || is_function(a->t->k, c->part) ||
	    (double)trip->entries < often_begun * trip->seconds)
		return false;
	double length = (double)trip->iterations / (double)trip->entries;
	if (length > short_trip)
		return false;
	advise(a,
	       "%s is entered about %.3g million times per second, for %.1f iterations on average: "
	       "consider special-casing short trip counts, or batching iterations",
	       known_noun(a->t->k, c->part),
	       1e-6 * checked(A_RATE, (double)trip->entries / trip->seconds), length);
	return true;
}

/* Adds advice about a function with many short calls, where calling itself takes time. */
static bool add_calls(struct advising *a, const struct candidate *c)
{
	const struct known *k = a->t->k;
	const struct evidence_trip *counted = trip_of(k, c->part);
	if (!is_function(k, c->part))
		return false;
	double rate = counted ? (double)counted->entries / counted->seconds
			      : known_rate(k, &k->p->experiments.data[c->experiment]);
	bool millions = rate >= 1e6;
	if (rate < often_begun || c->share / rate > short_call)
		return false;
	advise(a,
	       "%s is called about %.3g %s times per second, %.2g us each: consider batching "
	       "the work of several calls",
	       known_noun(a->t->k, c->part), millions ? 1e-6 * rate : 1e-3 * rate,
	       millions ? "million" : "thousand", 1e6 * c->share / rate);
	return true;
}

static void begun_often(struct advising *a)
{
	vec_each (c, &a->t->list)
		if (c->hypothesis == CPU_BOUND && (add_trips(a, c) || add_calls(a, c)))
			return;
}

static bool is_freeing(const char *function)
{
	return strstr(function, "free") || strstr(function, "delete");
}

/* An allocator gives memory back to the kernel. */
static bool gives_back(const struct evidence_object *o)
{
	return is_freeing(o->name) && (strstr(o->name, "(munmap)") || strstr(o->name, "(brk)") ||
				       strstr(o->name, "(madvise)"));
}

/* The kernel finds a page for memory that is touched first, by an allocator or after it. */
static bool is_page_fault(const struct evidence_object *o)
{
	return strstr(o->name, "page faults");
}

/* Returns the share of the run in which such things are done for a part of the code. *most is the
 * heaviest chain of it, or NULL. */
static double share_of_work(const struct known *k, uint32_t part,
			    bool (*is)(const struct evidence_object *),
			    const struct evidence_chain **most)
{
	double seconds = 0;
	*most = NULL;
	vec_each (x, &k->e->chains) {
		if ((x->class != SAMPLE_SYSTEM && x->class != SAMPLE_MEMORY) ||
		    x->object == PROFILE_NONE || !is(&k->e->objects.data[x->object]) ||
		    (part != k->whole.part[CODE] && !known_passes(k, x, part)))
			continue;
		seconds += x->seconds;
		*most = !*most || x->seconds > (*most)->seconds ? x : *most;
	}
	return known_share(k, SYSTEM_TIME, seconds);
}

/* The kernel clears memory for the program that the program has just given back. */
static void memory_given_back(struct advising *a)
{
	struct known *k = a->t->k;
	const struct evidence_chain *giver, *ignored;
	double back = share_of_work(k, k->whole.part[CODE], gives_back, &giver);
	vec_each (c, &a->t->list) {
		if (c->hypothesis != SYSTEM_TIME && c->hypothesis != MEMORY_MANAGEMENT)
			continue;
		double faults = share_of_work(k, c->part, is_page_fault, &ignored);
		if (!giver || faults < own_share * c->share || back < least_given_back * faults)
			continue;
		advise(a,
		       "memory that %s frees goes back to the kernel, and new memory costs page "
		       "faults (%.0f %% of run time): reuse it, or have glibc keep it, by "
		       "mallopt() with M_MMAP_MAX and M_TRIM_THRESHOLD",
		       known_noun(k, k->e->parts.data[giver->first + giver->length - 1]),
		       percent(faults));
		return;
	}
}

/* Adds how often a part of the code is executed, if that is known and often. */
static void add_rate(const struct known *k, uint32_t part, struct text *out)
{
	const struct evidence_trip *trip = trip_of(k, part);
	if (!trip)
		return;
	bool calls = is_function(k, part);
	double rate = (double)(calls ? trip->entries : trip->iterations) / trip->seconds;
	if (checked(A_RATE, rate) >= often_begun)
		text_printf(out, " (%.3g million %s per second)", 1e-6 * rate,
			    calls ? "calls" : "iterations");
}

/* Whose source is not there is not who can change it. */
static void allocated_often(struct advising *a)
{
	struct known *k = a->t->k;
	vec_each (c, &a->t->list) {
		struct text names = TEXT_INIT, rate = TEXT_INIT;
		if (c->hypothesis != MEMORY_MANAGEMENT || c->part == k->whole.part[CODE] ||
		    !known_code(k, c->part).first_line || !is_in_loop(a->t, c))
			continue;
		word_allocators(a->t, c, &names);
		add_rate(k, c->part, &rate);
		bool allocates = strstr(names.data, "alloc") || strstr(names.data, "new");
		if (allocates)
			advise(a,
			       "allocate less often in %s%s: reuse a buffer, reserve room once, or "
			       "use an arena",
			       known_noun(k, c->part), rate.len ? rate.data : "");
		text_release(&names);
		text_release(&rate);
		if (allocates)
			return;
	}
}

/* The most useful first. */
static void (*const rules[])(struct advising *) = {
	same_object, peer_unknown,      small_operations, uneven_work,  serial_code, gpu_awaited,
	lock_held,   memory_given_back, allocated_often,  one_busy_cpu, begun_often,
};

void steps_add(struct wording *t)
{
	struct advising a = {t, 0};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		rules[i](&a);
}
