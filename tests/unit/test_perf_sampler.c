#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "process/launch.h"
#include "process/threads.h"
#include "sample/sampler.h"
#include "sample/waiting.h"

/* What was told, as far as the tests ask for it. */
struct seen {
	uint64_t samples, blocked, lost;
	uint64_t weight, blocked_weight;
	uint64_t last; /* time of the last sample */
	unsigned disorder, unknown, without_registers;
	unsigned execs, forks, threads, exits, own_maps, vdso_maps;
	unsigned workers, children; /* threads with these names */
	unsigned early_maps;        /* before the exec */
	int alive;
	uint64_t stolen; /* ns of our CPUs, before it began */
	unsigned stall;  /* seconds that the next sample takes to be worked on */
	VEC(int) tids;
};

static bool is_known(const struct seen *s, int tid)
{
	vec_each (t, &s->tids)
		if (*t == tid)
			return true;
	return false;
}

static void on_sample(void *ctx, const struct sample *sample)
{
	struct seen *s = ctx;
	s->samples++;
	s->blocked += sample->blocked;
	*(sample->blocked ? &s->blocked_weight : &s->weight) += sample->weight;
	s->disorder += sample->time < s->last;
	s->last = sample->time;
	s->unknown += !is_known(s, sample->tid);
	s->without_registers += !registers_has(&sample->registers, arch_native()->sp);
	sleep(s->stall);
	s->stall = 0;
}

static void on_map(void *ctx, const struct mapping_event *m)
{
	struct seen *s = ctx;
	s->own_maps += strstr(m->path, "test_perf_sampler") != NULL;
	s->vdso_maps += !strcmp(m->path, "[vdso]");
	s->early_maps += !s->execs;
	assert_true(m->start < m->end);
}

static void on_name(void *ctx, int pid, int tid, const char *comm)
{
	struct seen *s = ctx;
	(void)pid;
	s->workers += is_known(s, tid) && !strcmp(comm, "worker");
	s->children += is_known(s, tid) && !strcmp(comm, "child");
}

static void on_exec(void *ctx, int pid)
{
	(void)pid;
	((struct seen *)ctx)->execs++;
}

static void on_fork(void *ctx, int parent, int pid)
{
	assert_int_not_equal(parent, pid);
	((struct seen *)ctx)->forks++;
}

static void on_thread(void *ctx, int pid, int tid)
{
	struct seen *s = ctx;
	(void)pid;
	s->threads++;
	s->alive++;
	if (!is_known(s, tid))
		vec_push(&s->tids, tid);
}

static void on_exit_of(void *ctx, int pid, int tid)
{
	struct seen *s = ctx;
	(void)pid;
	assert_true(is_known(s, tid));
	s->exits++;
	s->alive--;
}

static void on_lost(void *ctx, uint64_t samples)
{
	((struct seen *)ctx)->lost += samples;
}

static struct sampler_options options(struct seen *s, const char *event)
{
	struct sampler_options o = {.event_count = 1,
				    .hz = 997,
				    .max_stack = 4096,
				    .sink = {on_sample, on_map, on_name, on_exec, on_fork,
					     on_thread, on_exit_of, on_lost, s}};
	struct err e;
	*s = (struct seen){.stolen = cpus_stolen_ns()};
	assert_int_equal(event_find(&o.events[0], event, &e), 0);
	return o;
}

/* Skips the test where perf is not permitted at all. */
static struct sampler *new_sampler(const struct sampler_options *o)
{
	struct sampler *s = NULL;
	struct err e = {0};
	int rc = perf_sampler_new(&s, o, &e);
	if (rc == ERR_UNSUPPORTED) {
		print_message("skipped: %s\n", e.text);
		skip();
	}
	if (rc)
		fail_msg("%s", e.text);
	return s;
}

static void watch(struct sampler *s, int tid, bool whole, bool starting)
{
	struct err e = {0};
	if (s->ops->watch(s, tid, whole, starting, &e))
		fail_msg("%s", e.text);
}

static void run(struct sampler *s)
{
	struct err e = {0};
	if (s->ops->run(s, 100, &e))
		fail_msg("%s", e.text);
}

static void end(struct sampler *s, struct seen *seen)
{
	s->ops->finish(s);
	s->ops->free(s);
	vec_free(&seen->tids);
}

static struct launch prepare(const char *what)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct launch l;
	struct err e = {0};
	assert_true(n > 0);
	self[n] = '\0';
	char mode[32];
	snprintf(mode, sizeof(mode), "%s", what);
	char *argv[] = {self, mode, NULL};
	if (launch_prepare(&l, argv, &e))
		fail_msg("%s", e.text);
	return l;
}

static void go(struct launch *l)
{
	struct err e = {0};
	int why;
	if (launch_go(l, "test_perf_sampler", &why, &e))
		fail_msg("%s", e.text);
}

/* CPU time in ns that the program and its children took; it must have ended well. */
static uint64_t reap(int pid)
{
	struct rusage u;
	int status;
	assert_int_equal(wait4(pid, &status, 0, &u), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
}

/* Of what a hypervisor took from our CPUs, there are no samples; but it may be among the time
 * that the program took. */
static void expect_sampled(const struct seen *s, uint64_t cpu)
{
	uint64_t stolen = cpus_stolen_ns() - s->stolen;
	uint64_t least = stolen < cpu ? (cpu - stolen) / 2 : 0, most = cpu + cpu / 2;
	if (s->weight < least || s->weight > most)
		fail_msg("%.3f s were sampled of %.3f s, %.3f s stolen", (double)s->weight * 1e-9,
			 (double)cpu * 1e-9, (double)stolen * 1e-9);
}

static void a_program_is_sampled_from_its_start(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	struct sampler *s = new_sampler(&o);
	struct launch l = prepare("busy");
	(void)state;
	watch(s, l.pid, true, true);
	go(&l);
	while (seen.alive > 0)
		run(s);
	uint64_t cpu = reap(l.pid);
	s->ops->finish(s);
	expect_sampled(&seen, cpu);
	assert_int_equal(seen.disorder, 0);
	assert_int_equal(seen.unknown, 0);
	assert_int_equal(seen.without_registers, 0);
	assert_int_equal(seen.lost, 0);
	assert_int_equal(seen.execs, 1);
	assert_int_equal(seen.early_maps, 0);
	assert_true(seen.own_maps >= 1);
	assert_int_equal(seen.forks, 1);
	assert_int_equal(seen.threads, 5);
	assert_int_equal(seen.exits, 5);
	assert_int_equal(seen.workers, 3);
	assert_int_equal(seen.children, 1);
	end(s, &seen);
}

/* Of many samples a part is delivered, and stands for all. */
static void many_samples_are_thinned(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	o.most_per_second = 200;
	struct sampler *s = new_sampler(&o);
	struct launch l = prepare("busy");
	(void)state;
	watch(s, l.pid, true, true);
	go(&l);
	while (seen.alive > 0)
		run(s);
	uint64_t cpu = reap(l.pid);
	s->ops->finish(s);
	expect_sampled(&seen, cpu);
	if (s->left_out < seen.samples / 4)
		fail_msg("%llu of %llu samples were left out", (unsigned long long)s->left_out,
			 (unsigned long long)(s->left_out + seen.samples));
	end(s, &seen);
}

/* Rings hold a quarter of what is written during the stall, or less. */
static void nothing_is_lost_while_the_sink_stalls(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	(void)state;
	o.max_stack = 32 << 10;
	struct sampler *s = new_sampler(&o);
	struct launch l = prepare("burn");
	watch(s, l.pid, true, true);
	go(&l);
	seen.stall = 1;
	while (seen.alive > 0)
		run(s);
	uint64_t cpu = reap(l.pid);
	s->ops->finish(s);
	assert_int_equal(seen.lost, 0);
	expect_sampled(&seen, cpu);
	assert_int_equal(seen.disorder, 0);
	end(s, &seen);
}

/* Starts the program without observing it, and waits until it is under way. */
static struct launch start_alone(const char *what)
{
	struct launch l = prepare(what);
	tid_list tids = {0};
	struct err e;
	go(&l);
	for (int i = 0; i < 2000 && tids.len < 3; i++) {
		usleep(1000);
		vec_clear(&tids);
		threads_list(l.pid, &tids, &e);
	}
	assert_true(tids.len >= 3);
	vec_free(&tids);
	return l;
}

static void a_running_program_is_told_first(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	struct sampler *s = new_sampler(&o);
	struct launch l = start_alone("busy");
	(void)state;
	watch(s, l.pid, true, false);
	assert_true(seen.threads >= 3);
	assert_true(seen.own_maps >= 1);
	assert_int_equal(seen.samples, 0);
	while (seen.alive > 0)
		run(s);
	assert_true(seen.samples > 0);
	assert_int_equal(seen.disorder, 0);
	assert_int_equal(seen.unknown, 0);
	assert_int_equal(seen.threads, seen.exits);
	assert_int_equal(seen.execs, 0);
	reap(l.pid);
	end(s, &seen);
}

/* A child that is started while events are opened on its parent may not tell of its own end; and it
 * may be gone before anybody hears of its start. */
static void short_lived_children_are_told_to_end(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct seen seen;
		struct sampler_options o = options(&seen, "cpu-clock");
		struct sampler *s = new_sampler(&o);
		struct launch l = prepare("forks");
		go(&l);
		usleep(10000);
		watch(s, l.pid, true, false);
		reap(l.pid);
		for (int k = 0; k < 100 && seen.alive > 0; k++)
			run(s);
		assert_int_equal(seen.alive, 0);
		assert_int_equal(seen.unknown, 0);
		end(s, &seen);
	}
}

static void one_thread_is_told_apart(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	struct sampler *s = new_sampler(&o);
	struct launch l = start_alone("busy");
	tid_list tids = {0};
	struct err e;
	(void)state;
	assert_int_equal(threads_list(l.pid, &tids, &e), 0);
	watch(s, tids.data[1], false, false);
	while (seen.alive > 0)
		run(s);
	assert_int_equal(seen.threads, 1);
	assert_int_equal(seen.exits, 1);
	assert_int_equal(seen.tids.data[0], tids.data[1]);
	assert_int_equal(seen.unknown, 0);
	assert_int_equal(seen.forks, 0);
	vec_free(&tids);
	reap(l.pid);
	end(s, &seen);
}

static void several_events_are_told_apart(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "page-faults");
	struct err e;
	(void)state;
	assert_int_equal(event_find(&o.events[o.event_count++], "cpu-clock", &e), 0);
	struct sampler *s = new_sampler(&o);
	struct launch l = prepare("busy");
	watch(s, l.pid, true, true);
	go(&l);
	while (seen.alive > 0)
		run(s);
	uint64_t cpu = reap(l.pid);
	s->ops->finish(s);
	/* Counts of page faults are nothing against ns. */
	expect_sampled(&seen, cpu);
	end(s, &seen);
}

/* Three threads wait for 400 ms: in epoll_wait, at a mutex, and in short sleeps. */
static void waiting_is_sampled_without_disturbing(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	(void)state;
	o.wall = true;
	struct sampler *s = new_sampler(&o);
	struct launch l = prepare("wait");
	watch(s, l.pid, true, true);
	go(&l);
	while (seen.alive > 0)
		run(s);
	reap(l.pid); /* it checks that epoll_wait was not interrupted */
	s->ops->finish(s);
	assert_true(seen.blocked > 10);
	assert_int_equal(seen.disorder, 0);
	assert_true(seen.blocked_weight > 3 * 200000000u);
	end(s, &seen);
}

static void remember_registers(void *ctx, const struct registers *regs)
{
	*(struct registers *)ctx = *regs;
}

/* A thread that runs is stopped, one that waits is not: it would see EINTR. */
static void threads_are_held_unharmed(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	struct sampler *s = new_sampler(&o);
	struct launch l = start_alone("wait");
	tid_list tids = {0};
	struct err e;
	unsigned held = 0;
	(void)state;
	watch(s, l.pid, true, false);
	assert_int_equal(threads_list(l.pid, &tids, &e), 0);
	for (int i = 0; i < 50; i++)
		for (uint32_t k = 0; k < tids.len; k++) {
			struct registers r = {0};
			if (!s->ops->hold(s, l.pid, tids.data[k], remember_registers, &r))
				continue;
			held++;
			assert_true(r.pc && registers_has(&r, arch_native()->sp));
		}
	assert_true(held > 0);
	vec_free(&tids);
	while (seen.alive > 0)
		run(s);
	reap(l.pid);
	end(s, &seen);
}

/* Each ends long before its first sample would be due. Needs the clocks of CPUs. */
static void short_lived_threads_are_sampled(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	struct sampler *s = new_sampler(&o);
	(void)state;
	if (geteuid() != 0) {
		s->ops->free(s);
		print_message("skipped: needs root\n");
		skip();
	}
	struct launch l = prepare("storm");
	watch(s, l.pid, true, true);
	go(&l);
	while (seen.alive > 0)
		run(s);
	reap(l.pid);
	assert_true(seen.samples > 0);
	assert_int_equal(seen.unknown, 0);
	assert_int_equal(seen.threads, seen.exits);
	end(s, &seen);
}

static void missing_counters_are_explained(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cycles");
	struct sampler *s = NULL;
	struct err e = {0};
	(void)state;
	int rc = perf_sampler_new(&s, &o, &e);
	if (!rc) {
		s->ops->free(s);
		print_message("skipped: this machine has counters\n");
		skip();
	}
	assert_int_equal(rc, ERR_UNSUPPORTED);
	if (!strstr(e.text, "no hardware counters") && !strstr(e.text, "perf"))
		fail_msg("%s", e.text);
}

static void missing_processes_are_explained(void **state)
{
	struct seen seen;
	struct sampler_options o = options(&seen, "cpu-clock");
	struct sampler *s = new_sampler(&o);
	struct err e = {0};
	(void)state;
	assert_int_equal(s->ops->watch(s, 0x7fffffff, true, false, &e), ERR_SYSTEM);
	assert_string_equal(e.text, "there is no process 2147483647");
	end(s, &seen);
}

static void await_wait(int pid)
{
	struct registers r;
	int tries = 5000;
	while (waiting_hold(pid, pid, remember_registers, &r) != HELD && tries--)
		usleep(1000);
}

static void a_thread_that_waits_is_looked_at(void **state)
{
	struct launch l = prepare("wait"); /* waits for us to let it start */
	struct waiting w;
	struct sample sample = {.event = 3};
	uint8_t stack[256];
	uint64_t told = 0;
	(void)state;
	await_wait(l.pid);
	waiting_init(&w, l.pid, l.pid, 1000000);
	/* Time goes as we say; the program does nothing meanwhile. */
	for (uint64_t now = 2000000; now <= 1001000000; now += 1000000)
		if (waiting_look(&w, now, 1, stack, sizeof(stack), &sample)) {
			told += sample.weight;
			assert_true(sample.blocked && sample.event == 3 && sample.tid == l.pid);
			assert_true(sample.registers.pc && sample.stack_size == sizeof(stack));
		}
	waiting_release(&w);
	go(&l);
	reap(l.pid);
	/* All but the wait since the last look. */
	assert_true(told > 900000000 && told <= 1000000000);
}

static double thread_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void burn(double seconds)
{
	volatile unsigned sink = 0;
	for (double start = thread_seconds(); thread_seconds() - start < seconds;)
		for (unsigned i = 0; i < 100000; i++)
			sink += i;
}

static void *worker(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	burn(0.08);
	return arg;
}

static int be_busy(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	pid_t child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "child");
		burn(0.08);
		_exit(0);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return waitpid(child, NULL, 0) != child;
}

static void *fork_often(void *failed)
{
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();
		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return failed;
	}
	return NULL;
}

static int fork_everywhere(void)
{
	pthread_t threads[4];
	void *failed = NULL, *one;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, fork_often, threads);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &one);
		failed = one ? one : failed;
	}
	return failed != NULL;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *arg)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return arg;
}

static void *nap(void *arg)
{
	for (int i = 0; i < 40; i++)
		usleep(10000);
	return arg;
}

static int wait_everywhere(void)
{
	pthread_t threads[2];
	struct epoll_event ev;
	int epoll = epoll_create1(0);
	pthread_mutex_lock(&gate);
	pthread_create(&threads[0], NULL, lock, NULL);
	pthread_create(&threads[1], NULL, nap, NULL);
	int rc = epoll_wait(epoll, &ev, 1, 400);
	pthread_mutex_unlock(&gate);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	close(epoll);
	return rc != 0;
}

static void *brief(void *arg)
{
	volatile unsigned sink = 0;
	for (unsigned i = 0; i < 30000; i++)
		sink += i;
	return arg;
}

static int storm(void)
{
	for (int i = 0; i < 3000; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, brief, NULL) || pthread_join(t, NULL))
			return 1;
	}
	return 0;
}

static int be_victim(const char *what)
{
	if (!strcmp(what, "busy"))
		return be_busy();
	if (!strcmp(what, "forks"))
		return fork_everywhere();
	if (!strcmp(what, "burn")) {
		burn(1.5);
		return 0;
	}
	return !strcmp(what, "storm") ? storm() : wait_everywhere();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_sampled_from_its_start),
		cmocka_unit_test(many_samples_are_thinned),
		cmocka_unit_test(nothing_is_lost_while_the_sink_stalls),
		cmocka_unit_test(a_running_program_is_told_first),
		cmocka_unit_test(short_lived_children_are_told_to_end),
		cmocka_unit_test(one_thread_is_told_apart),
		cmocka_unit_test(several_events_are_told_apart),
		cmocka_unit_test(waiting_is_sampled_without_disturbing),
		cmocka_unit_test(threads_are_held_unharmed),
		cmocka_unit_test(short_lived_threads_are_sampled),
		cmocka_unit_test(missing_counters_are_explained),
		cmocka_unit_test(missing_processes_are_explained),
		cmocka_unit_test(a_thread_that_waits_is_looked_at),
	};
	if (argc > 1)
		_exit(be_victim(argv[1])); /* without a sanitizer's search for leaks */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
