/* Whose waiting counts. Threads are real ones of this process, and of a child, which do nothing;
 * what they do, and how time passes, is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "diagnose/waits.h"

/* What a thread does in a step. */
enum doing {
	WORKS,
	IS_LOCKED_OUT,  /* by a mutex */
	IS_STARVED,     /* of its CPU, for three quarters of the time */
	WAITS_MOSTLY,   /* as the next, but for 1.5 % */
	WAITS_FOR_WORK, /* for a condition */
	SLEEPS,
	SLEEPS_STARVED, /* as before, but for a tenth of the time it is ready to run */
	WAITS_UNKNOWN,  /* it is not known yet for what; it runs for 1 % */
	ASKS,           /* another process, and waits for its answer */
	JOINS,
	SERVES,       /* it waits for requests */
	SERVES_A_FEW, /* as before, for three quarters of the time; it works otherwise */
};

enum { MOST_HELPERS = 5 };

struct helper {
	pthread_t thread;
	int tid;
	sem_t known, end;
};

struct fixture {
	struct resources resources;
	struct ledger ledger;
	struct arena arena;
	struct machine machine;
	double now;
	int child;
	struct helper helpers[MOST_HELPERS];
	uint32_t helper_count;
};

static const double step = 0.125; /* which adds up exactly */

static int start(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	resources_init(&f->resources);
	arena_init(&f->arena);
	machine_init(&f->machine, &f->resources, &f->ledger, &f->arena);
	f->machine.at_once = 0;
	machine_add_process(&f->machine, getpid(), NULL);
	*state = f;
	return 0;
}

/* They are gone from /proc as well. */
static void end_helpers(struct fixture *f)
{
	while (f->helper_count) {
		struct helper *h = &f->helpers[--f->helper_count];
		sem_post(&h->end);
		pthread_join(h->thread, NULL);
		while (!tgkill(getpid(), h->tid, 0))
			usleep(1000);
		sem_destroy(&h->known);
		sem_destroy(&h->end);
	}
}

static int finish(void **state)
{
	struct fixture *f = *state;
	end_helpers(f);
	if (f->child) {
		kill(f->child, SIGKILL);
		waitpid(f->child, NULL, 0);
	}
	machine_release(&f->machine);
	ledger_release(&f->ledger);
	resources_release(&f->resources);
	arena_release(&f->arena);
	free(f);
	return 0;
}

/* ---- who is there ---- */

/* It is a thread of this process, and does nothing. */
static void *wait_for_the_end(void *helper)
{
	struct helper *h = helper;
	pthread_setname_np(pthread_self(), "helper");
	h->tid = gettid();
	sem_post(&h->known);
	sem_wait(&h->end);
	return NULL;
}

static int start_helper(struct fixture *f)
{
	assert_true(f->helper_count < MOST_HELPERS);
	struct helper *h = &f->helpers[f->helper_count];
	sem_init(&h->known, 0, 0);
	sem_init(&h->end, 0, 0);
	assert_int_equal(pthread_create(&h->thread, NULL, wait_for_the_end, h), 0);
	f->helper_count++;
	sem_wait(&h->known);
	return h->tid;
}

static void start_child(struct fixture *f)
{
	f->child = fork();
	assert_true(f->child >= 0);
	if (!f->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
}

static void add_child(struct fixture *f)
{
	start_child(f);
	machine_add_process(&f->machine, f->child, NULL);
}

static struct machine_thread *thread_of(struct fixture *f, int tid)
{
	uint32_t process = tid == f->child ? 1 : 0;
	return &f->machine.threads.data[machine_thread_of(&f->machine, process, tid)];
}

/* ---- time passes ---- */

/* What this process really did meanwhile is none of the test's business. */
static void begin_step(struct fixture *f)
{
	f->now += step;
	machine_begin_step(&f->machine, f->now);
	f->machine.stolen = 0;
	vec_each (t, &f->machine.threads)
		t->cpu = t->ready = 0;
	vec_each (p, &f->machine.processes)
		p->cpu = 0;
}

static void let(struct fixture *f, int tid, enum doing what)
{
	static const double share[] = {[WORKS] = 1,
				       [IS_STARVED] = 0.25,
				       [WAITS_MOSTLY] = 0.015,
				       [WAITS_UNKNOWN] = 0.01,
				       [SERVES_A_FEW] = 0.25};
	struct machine_thread *t = thread_of(f, tid);
	t->cpu = what < ARRAY_SIZE(share) ? share[what] * step : 0;
	f->machine.processes.data[t->process].cpu += t->cpu;
	double rest = step - t->cpu;
	if (what == IS_STARVED || what == SLEEPS_STARVED)
		t->ready = what == IS_STARVED ? rest : 0.1 * step;
	if (what == IS_STARVED || what == WAITS_UNKNOWN)
		return;
	rest -= t->ready;
	t->waited = rest;
	if (what == WAITS_FOR_WORK || what == WAITS_MOSTLY)
		t->idled[IDLE_BESIDE] = rest;
	if (what == ASKS)
		t->idled[IDLE_ASKING] = rest;
	if (what == SLEEPS || what == SLEEPS_STARVED)
		t->idled[IDLE_ALWAYS] = rest;
	if (what == JOINS)
		t->joined = rest;
	if (what == SERVES || what == SERVES_A_FEW)
		t->idled[IDLE_AT_ONCE] = rest;
}

struct plan {
	int tid;
	enum doing what;
};

static void run(struct fixture *f, uint32_t steps, const struct plan *plans, uint32_t count)
{
	for (uint32_t i = 0; i < steps; i++) {
		begin_step(f);
		for (uint32_t k = 0; k < count; k++)
			let(f, plans[k].tid, plans[k].what);
		machine_end_step(&f->machine);
	}
}

#define RUN(f, steps, ...)                                                                         \
	do {                                                                                       \
		const struct plan plans[] = {__VA_ARGS__};                                         \
		run(f, steps, plans, ARRAY_SIZE(plans));                                           \
	} while (0)

/* s of threads that count in one more step. */
static double counted_in(struct fixture *f, const struct plan *plans, uint32_t count)
{
	double before = machine_span(&f->machine, MACHINE).threads;
	run(f, 1, plans, count);
	return machine_span(&f->machine, MACHINE).threads - before;
}

#define assert_near(a, b) assert_true((a) > (b)-1e-6 && (a) < (b) + 1e-6)

/* ---- tests ---- */

static void a_thread_has_to_grow_up(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	vec_clear(&f->machine.news);
	RUN(f, 2, {getpid(), WORKS});
	assert_int_equal(thread_of(f, h)->tid, 0);
	assert_int_equal(f->machine.processes.data[0].pooled, 1);
	assert_int_equal(f->machine.news.len, 0);
	RUN(f, 4, {getpid(), WORKS});
	assert_int_equal(thread_of(f, h)->tid, h);
	assert_string_equal(thread_of(f, h)->name, "helper");
	assert_near(thread_of(f, h)->born, step);
	assert_int_equal(f->machine.processes.data[0].pooled, 0);
	assert_int_equal(f->machine.news.len, 1);
	uint32_t own = machine_thread_of(&f->machine, 0, h);
	assert_true(machine_has(&f->machine, f->machine.processes.data[0].part, own));
	assert_true(machine_has(&f->machine, f->machine.threads.data[own].part, own));
	assert_false(machine_has(&f->machine, f->machine.threads.data[own].part,
				 machine_thread_of(&f->machine, 0, getpid())));

	end_helpers(f);
	RUN(f, 2, {getpid(), WORKS});
	assert_true(f->machine.threads.data[own].gone);
	assert_int_equal(thread_of(f, h)->tid, 0);
}

static void a_few_need_not_grow_up(void **state)
{
	struct fixture *f = *state;
	f->machine.at_once = 1;
	int first = start_helper(f);
	RUN(f, 1, {getpid(), WORKS});
	assert_int_equal(thread_of(f, first)->tid, first);
	assert_int_equal(f->machine.processes.data[0].pooled, 0);
	int second = start_helper(f);
	RUN(f, 1, {getpid(), WORKS});
	assert_int_equal(thread_of(f, second)->tid, 0);
	assert_int_equal(f->machine.processes.data[0].pooled, 1);
}

static void who_waits_for_work_beside_others_is_idle(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 25, {getpid(), WORKS}, {h, WAITS_FOR_WORK});
	assert_false(thread_of(f, h)->counted);
	assert_true(thread_of(f, getpid())->counted);
	const struct plan idle[] = {{getpid(), WORKS}, {h, WAITS_FOR_WORK}};
	assert_near(counted_in(f, idle, 2), step);
	/* It gets something to do now and then. */
	RUN(f, 1, {getpid(), WORKS}, {h, WORKS});
	assert_true(thread_of(f, h)->counted);
	assert_near(counted_in(f, idle, 2), 2 * step);
}

static void who_waits_for_the_starved_is_not_idle(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 25, {getpid(), WORKS}, {h, WAITS_MOSTLY});
	assert_false(thread_of(f, h)->counted);
	RUN(f, 60, {getpid(), IS_STARVED}, {h, WAITS_MOSTLY});
	assert_true(thread_of(f, h)->counted);
	/* Who never does anything is. */
	RUN(f, 60, {getpid(), IS_STARVED}, {h, WAITS_FOR_WORK});
	assert_false(thread_of(f, h)->counted);
}

/* As helpers of servers that wake now and then, on a busy machine. */
static void who_sleeps_and_then_lacks_a_cpu_is_idle(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 25, {getpid(), WORKS}, {h, SLEEPS_STARVED});
	assert_false(thread_of(f, h)->counted);
}

static void who_hardly_runs_is_idle_before_it_is_known_what_it_waits_for(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 3, {getpid(), WORKS}, {h, WAITS_UNKNOWN});
	assert_false(thread_of(f, h)->counted);
}

static void who_is_locked_out_is_not_idle(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 25, {getpid(), WORKS}, {h, IS_LOCKED_OUT});
	assert_true(thread_of(f, h)->counted);
}

static void where_nobody_works_everybody_counts(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 25, {getpid(), SLEEPS}, {h, WAITS_FOR_WORK});
	assert_true(thread_of(f, h)->counted);
	assert_true(thread_of(f, getpid())->counted);
}

/* Who waits for another process waits for its work; who sleeps has nothing to do, as long as
 * anybody has. */
static void another_process_works(void **state)
{
	struct fixture *f = *state;
	add_child(f);
	RUN(f, 25, {getpid(), WAITS_FOR_WORK}, {f->child, WORKS});
	assert_true(thread_of(f, getpid())->counted);
	RUN(f, 25, {getpid(), SLEEPS}, {f->child, WORKS});
	assert_false(thread_of(f, getpid())->counted);
	RUN(f, 25, {getpid(), SLEEPS}, {f->child, SLEEPS});
	assert_true(thread_of(f, getpid())->counted);
	assert_true(thread_of(f, f->child)->counted);
}

/* Who waits for the answer of another process is idle if that works on it, but not because somebody
 * waits for requests. */
static void who_asks_another_process(void **state)
{
	struct fixture *f = *state;
	add_child(f);
	RUN(f, 25, {getpid(), ASKS}, {f->child, WORKS});
	assert_false(thread_of(f, getpid())->counted);
	RUN(f, 25, {getpid(), ASKS}, {f->child, SERVES});
	assert_true(thread_of(f, getpid())->counted);
	double idle = f->machine.idle_all;
	RUN(f, 10, {getpid(), ASKS}, {f->child, SERVES});
	assert_near(f->machine.idle_all, idle);
}

static void waiting_for_an_end_never_counts(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 25, {getpid(), JOINS}, {h, IS_LOCKED_OUT});
	const struct plan beside[] = {{getpid(), JOINS}, {h, IS_LOCKED_OUT}};
	assert_near(counted_in(f, beside, 2), step);
	const struct plan alone[] = {{getpid(), JOINS}, {h, JOINS}};
	RUN(f, 25, {getpid(), JOINS}, {h, JOINS});
	assert_near(counted_in(f, alone, 2), 0);
}

/* The time in which a server has no requests is in no base. */
static void a_server_without_requests_has_no_time(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	struct machine_span before = machine_span(&f->machine, MACHINE);
	double idle = f->machine.idle_all;
	RUN(f, 24, {getpid(), SERVES_A_FEW}, {h, SERVES});
	struct machine_span after = machine_span(&f->machine, MACHINE);
	assert_near(after.time - before.time, 6 * step);
	assert_near(after.cpu - before.cpu, 6 * step);
	assert_near(after.threads - before.threads, 6 * step);
	assert_near(f->machine.idle_all - idle, 18 * step);
	/* Of two threads that are busy for half of the time, one may be when the other is not. */
	RUN(f, 8, {getpid(), SERVES_A_FEW}, {h, IS_LOCKED_OUT});
	assert_near(f->machine.idle_all - idle, 18 * step);
}

/* Threads that wait for work beside one that waits for requests do not count, though nobody
 * works. */
static void a_pool_without_requests_does_not_count(void **state)
{
	struct fixture *f = *state;
	int h = start_helper(f);
	RUN(f, 6, {getpid(), WORKS});
	RUN(f, 25, {getpid(), SERVES}, {h, WAITS_FOR_WORK});
	const struct plan all[] = {{getpid(), SERVES}, {h, WAITS_FOR_WORK}};
	assert_near(counted_in(f, all, 2), 0);
	assert_false(thread_of(f, h)->counted);
	add_child(f);
	RUN(f, 25, {getpid(), SERVES}, {f->child, SLEEPS});
	assert_false(thread_of(f, f->child)->counted);
	RUN(f, 25, {getpid(), SERVES}, {f->child, IS_LOCKED_OUT});
	assert_true(thread_of(f, f->child)->counted);
}

static void short_lived_threads_are_one(void **state)
{
	struct fixture *f = *state;
	RUN(f, 3, {getpid(), WORKS});
	int one = start_helper(f);
	for (int i = 1; i < MOST_HELPERS; i++)
		start_helper(f);
	begin_step(f);
	struct machine_process *p = &f->machine.processes.data[0];
	struct machine_thread *pool = &f->machine.threads.data[p->pool];
	double before = machine_span(&f->machine, p->part).threads;
	assert_int_equal(p->pooled, MOST_HELPERS);
	assert_ptr_equal(thread_of(f, one), pool);
	pool->cpu = 2 * step;
	p->cpu = 3 * step;
	let(f, getpid(), IS_LOCKED_OUT);
	machine_end_step(&f->machine);
	assert_near(machine_span(&f->machine, p->part).threads - before, (MOST_HELPERS + 1) * step);
	end_helpers(f);
	begin_step(f);
	assert_int_equal(p->pooled, 0);
	machine_end_step(&f->machine);
}

static void samples_that_were_lost_are_made_up_for(void **state)
{
	struct fixture *f = *state;
	uint32_t thread = machine_thread_of(&f->machine, 0, getpid());
	double told = 0;
	for (int i = 0; i < 40; i++) {
		told = machine_seen(&f->machine, thread, getpid(), step);
		RUN(f, 1, {getpid(), WORKS});
	}
	assert_near(told, step);
	for (int i = 0; i < 40; i++) {
		told = machine_seen(&f->machine, thread, getpid(), step / 10);
		RUN(f, 1, {getpid(), WORKS});
	}
	assert_true(told > 0.8 * step && told < 1.2 * step);
}

/* With few samples, what a thread ran and what they stand for differ by chance. */
static void few_samples_are_not_taken_for_lost_ones(void **state)
{
	struct fixture *f = *state;
	uint32_t thread = machine_thread_of(&f->machine, 0, getpid());
	double seen = 0, told = 0;
	srand(1);
	for (int i = 0; i < 2000; i++) {
		if (rand() % 4 == 0) {
			seen += 4 * step;
			told += machine_seen(&f->machine, thread, getpid(), 4 * step);
		}
		RUN(f, 1, {getpid(), WORKS});
	}
	assert_true(told < 1.01 * seen);
}

static void spans_are_of_what_passes_or_of_more(void **state)
{
	struct fixture *f = *state;
	add_child(f);
	uint32_t own = f->machine.processes.data[0].part, other = f->machine.processes.data[1].part;
	RUN(f, 8, {getpid(), WORKS}, {f->child, WORKS});
	assert_near(machine_span(&f->machine, own).time, 1);
	assert_near(machine_span(&f->machine, own).cpu, 1);
	assert_near(machine_span(&f->machine, MACHINE).time, 1);
	assert_near(machine_span(&f->machine, MACHINE).cpu, 2);
	assert_near(machine_span(&f->machine, f->machine.host).cpu, 2);
	RUN(f, 8, {getpid(), IS_LOCKED_OUT}, {f->child, IS_LOCKED_OUT});
	assert_near(machine_span(&f->machine, MACHINE).cpu, 3);
	machine_end_process(&f->machine, 1);
	RUN(f, 8, {getpid(), WORKS});
	assert_near(machine_span(&f->machine, other).time, 2);
	assert_near(machine_span(&f->machine, own).time, 3);
	assert_near(machine_span(&f->machine, MACHINE).threads, 5);
}

/* Of what is stolen, only what a thread misses is left out. */
static void stolen_time_is_no_time(void **state)
{
	struct fixture *f = *state;
	uint32_t own = f->machine.processes.data[0].part;
	begin_step(f);
	thread_of(f, getpid())->cpu = f->machine.processes.data[0].cpu = 0.75 * step;
	f->machine.stolen = 0.375 * step;
	machine_end_step(&f->machine);
	assert_near(machine_span(&f->machine, own).cpu, 0.75 * step);
	assert_false(f->machine.crowded);

	begin_step(f);
	let(f, getpid(), IS_LOCKED_OUT);
	f->machine.stolen = step;
	machine_end_step(&f->machine);
	assert_near(machine_span(&f->machine, own).cpu, 1.75 * step);
}

static void processes_come_and_go(void **state)
{
	struct fixture *f = *state;
	add_child(f);
	assert_int_equal(machine_process_of(&f->machine, getpid()), 0);
	assert_int_equal(machine_process_of(&f->machine, f->child), 1);
	machine_end_process(&f->machine, 1);
	assert_int_equal(machine_process_of(&f->machine, f->child), UINT32_MAX);
	/* It executes another program: the same process, with new numbers. */
	assert_int_equal(machine_add_process(&f->machine, f->child, NULL), 2);
	assert_int_equal(machine_process_of(&f->machine, f->child), 2);
	uint32_t thread = machine_thread_of(&f->machine, 2, f->child);
	assert_int_equal(f->machine.threads.data[thread].process, 2);
	assert_int_equal(machine_thread_of(&f->machine, 1, f->child),
			 f->machine.processes.data[1].pool);
}

/* Scripts start thousands of processes: what is soon over is one part of the search, of which only
 * samples are known. */
static void young_processes_are_one_part(void **state)
{
	struct fixture *f = *state;
	uint32_t before = f->resources.list.len;
	struct target *none;
	for (int pid = 1000001; pid <= 1000100; pid++) {
		machine_add_young(&f->machine, pid, NULL);
		begin_step(f);
		uint32_t process = machine_brief(&f->machine);
		uint32_t thread = machine_thread_of(&f->machine, process, pid);
		double seen = machine_seen(&f->machine, thread, pid, 0.5 * step);
		assert_near(seen, 0.5 * step);
		machine_end_step(&f->machine);
		assert_true(machine_end_young(&f->machine, pid, &none));
		assert_false(machine_end_young(&f->machine, pid, &none));
	}
	begin_step(f);
	const struct machine_process *brief = &f->machine.processes.data[f->machine.brief];
	assert_near(f->machine.threads.data[brief->pool].cpu_all, 50 * step);
	assert_int_equal(f->resources.list.len, before + 1);
	assert_int_equal(f->machine.live_processes.len, 2);
	assert_int_equal(f->machine.young.len, 0);
}

static void young_processes_grow_up(void **state)
{
	struct fixture *f = *state;
	struct young_process grown;
	begin_step(f);
	machine_add_young(&f->machine, 1000001, NULL);
	machine_end_step(&f->machine);
	assert_false(machine_take_grown(&f->machine, 2 * step, &grown));
	begin_step(f);
	machine_add_young(&f->machine, 1000002, NULL);
	machine_end_step(&f->machine);
	begin_step(f);
	assert_true(machine_take_grown(&f->machine, 2 * step, &grown));
	assert_int_equal(grown.pid, 1000001);
	assert_false(machine_take_grown(&f->machine, 2 * step, &grown));
	begin_step(f);
	assert_true(machine_take_grown(&f->machine, 2 * step, &grown));
	assert_int_equal(grown.pid, 1000002);
}

/* A run of days must not keep ever more of them. */
static void processes_grow_up_later_the_more_there_were(void **state)
{
	struct fixture *f = *state;
	struct young_process grown;
	struct target *none;
	uint32_t taken = 0;
	for (int pid = 1000001; pid <= 1005000; pid++) {
		begin_step(f);
		machine_add_young(&f->machine, pid, NULL);
		machine_end_step(&f->machine);
		machine_end_young(&f->machine, pid - 5, &none);
		while (machine_take_grown(&f->machine, 1.5 * step, &grown)) {
			uint32_t process = machine_add_process(&f->machine, grown.pid, NULL);
			machine_end_process(&f->machine, process);
			taken++;
		}
	}
	assert_in_range(taken, 1024,
			2048); /* they live for 5 steps: 2 * 1.5 is less, 4 * 1.5 more */
}

/* A process is not known for all that it has ever started. */
static void forks_are_those_of_the_last_second(void **state)
{
	struct fixture *f = *state;
	begin_step(f);
	machine_end_step(&f->machine);
	uint32_t process = machine_process_of(&f->machine, getpid());
	assert_true(process != UINT32_MAX);
	for (int i = 0; i < 100; i++)
		machine_note_fork(&f->machine, getpid());
	assert_near(f->machine.processes.data[process].forks, 100);
	for (double passed = 0; passed < 4; passed += step) {
		begin_step(f);
		machine_end_step(&f->machine);
	}
	assert_true(f->machine.processes.data[process].forks < 5);
}

/* Without probes, a thread waits whenever it does not run, and samples show what for. */
static void samples_show_what_threads_wait_for(void **state)
{
	struct fixture *f = *state;
	uint32_t thread = machine_thread_of(&f->machine, 0, getpid());
	begin_step(f);
	machine_slept(&f->machine, thread, &object_kinds[OBJECT_CONDITION], 0.2 * step);
	machine_slept(&f->machine, thread, &object_kinds[OBJECT_JOIN], 0.6 * step);
	thread_of(f, getpid())->cpu = 0.5 * step;
	thread_of(f, getpid())->ready = 0.1 * step;
	machine_end_step(&f->machine);
	assert_near(thread_of(f, getpid())->waited, 0.4 * step);
	assert_near(thread_of(f, getpid())->joined, 0.3 * step);

	f->machine.processes.data[0].watched = true;
	begin_step(f);
	machine_slept(&f->machine, thread, &object_kinds[OBJECT_CONDITION], 0.2 * step);
	machine_end_step(&f->machine);
	assert_near(thread_of(f, getpid())->waited, 0);
}

static double computed_in(const struct fixture *f, uint32_t part)
{
	double sum = 0;
	ledger_each (e, &f->ledger, part)
		sum += e->amount[AMOUNT_CPU];
	return sum;
}

/* Time that passed in code becomes CPU time by what the whole thread did. */
static void code_runs_as_its_thread_does(void **state)
{
	enum { BUSY = 100, CROWDED, SPINNING };
	struct fixture *f = *state;
	uint32_t thread = machine_thread_of(&f->machine, 0, getpid());
	begin_step(f);
	let(f, getpid(), WORKS);
	ledger_step(&f->ledger, BUSY, thread, STEP_WALL, 0.8 * step);
	machine_end_step(&f->machine);
	assert_near(computed_in(f, BUSY), 0.8 * step);

	begin_step(f);
	thread_of(f, getpid())->cpu = 0.25 * step;
	thread_of(f, getpid())->waited = 0.5 * step;
	ledger_step(&f->ledger, CROWDED, thread, STEP_WALL, step);
	ledger_step(&f->ledger, CROWDED, thread, STEP_WAITED, 0.5 * step);
	machine_end_step(&f->machine);
	assert_near(computed_in(f, CROWDED), 0.25 * step);

	begin_step(f);
	thread_of(f, getpid())->cpu = step;
	thread_of(f, getpid())->waited = 0.5 * step;
	ledger_step(&f->ledger, SPINNING, thread, STEP_WALL, step);
	ledger_step(&f->ledger, SPINNING, thread, STEP_WAITED, 0.5 * step);
	machine_end_step(&f->machine);
	assert_near(computed_in(f, SPINNING), step);
}

#define MACHINE_TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(a_thread_has_to_grow_up),
		MACHINE_TEST(a_few_need_not_grow_up),
		MACHINE_TEST(young_processes_are_one_part),
		MACHINE_TEST(young_processes_grow_up),
		MACHINE_TEST(processes_grow_up_later_the_more_there_were),
		MACHINE_TEST(forks_are_those_of_the_last_second),
		MACHINE_TEST(samples_show_what_threads_wait_for),
		MACHINE_TEST(who_waits_for_work_beside_others_is_idle),
		MACHINE_TEST(who_waits_for_the_starved_is_not_idle),
		MACHINE_TEST(who_sleeps_and_then_lacks_a_cpu_is_idle),
		MACHINE_TEST(who_hardly_runs_is_idle_before_it_is_known_what_it_waits_for),
		MACHINE_TEST(who_is_locked_out_is_not_idle),
		MACHINE_TEST(where_nobody_works_everybody_counts),
		MACHINE_TEST(another_process_works),
		MACHINE_TEST(who_asks_another_process),
		MACHINE_TEST(waiting_for_an_end_never_counts),
		MACHINE_TEST(a_server_without_requests_has_no_time),
		MACHINE_TEST(a_pool_without_requests_does_not_count),
		MACHINE_TEST(short_lived_threads_are_one),
		MACHINE_TEST(samples_that_were_lost_are_made_up_for),
		MACHINE_TEST(few_samples_are_not_taken_for_lost_ones),
		MACHINE_TEST(spans_are_of_what_passes_or_of_more),
		MACHINE_TEST(stolen_time_is_no_time),
		MACHINE_TEST(processes_come_and_go),
		MACHINE_TEST(code_runs_as_its_thread_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
