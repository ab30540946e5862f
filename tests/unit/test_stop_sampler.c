#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/launch.h"
#include "process/memory.h"
#include "process/threads.h"
#include "sample/sampler.h"

/* What the sink was told. */
static struct {
	uint64_t samples, weight, blocked, held, threads, forks, execs, exits;
	int pid;
	int over;       /* pid of the last process that ended or executed a program */
	int late_forks; /* of that one */
	bool named;
	struct sampler *hold; /* hold() the sampled thread in the sink */
	struct registers last;
} seen;

static void inside(void *ctx, const struct registers *regs)
{
	uint64_t word;
	(void)ctx;
	seen.held += memory_read(seen.pid, regs->reg[arch_native()->sp], &word, 8) == 8;
}

static void on_sample(void *ctx, const struct sample *s)
{
	(void)ctx;
	assert_true(s->registers.pc && registers_has(&s->registers, arch_native()->sp));
	assert_true(s->stopped != s->blocked);
	assert_true(s->weight > 0);
	seen.blocked += s->blocked;
	seen.samples += !s->blocked;
	seen.weight += s->blocked ? 0 : s->weight;
	if (seen.hold && s->stopped)
		assert_true(seen.hold->ops->hold(seen.hold, s->pid, s->tid, inside, NULL));
}

static void on_map(void *ctx, const struct mapping_event *m)
{
	(void)ctx, (void)m;
	fail();
}

static void on_name(void *ctx, int pid, int tid, const char *comm)
{
	(void)ctx, (void)pid, (void)tid;
	seen.named |= !strcmp(comm, "a worker");
}

static void on_exec(void *ctx, int pid)
{
	(void)ctx;
	seen.over = pid;
	seen.execs++;
}

static void on_fork(void *ctx, int parent, int pid)
{
	(void)ctx;
	assert_int_not_equal(parent, pid);
	seen.late_forks += parent == seen.over;
	seen.forks++;
}

static void on_thread(void *ctx, int pid, int tid)
{
	(void)ctx, (void)pid, (void)tid;
	seen.threads++;
}

static void on_end(void *ctx, int pid, int tid)
{
	(void)ctx;
	seen.over = pid == tid ? pid : seen.over;
	seen.exits++;
}

static void on_lost(void *ctx, uint64_t samples)
{
	(void)ctx, (void)samples;
	fail();
}

static struct sampler_options options = {
	.events = {{.name = "cpu-clock", .unit = "ns", .clock = true}},
	.event_count = 1,
	.hz = 999,
	.max_stack = 1024,
	.sink = {on_sample, on_map, on_name, on_exec, on_fork, on_thread, on_end, on_lost, NULL},
};

static struct sampler *new_sampler(bool wall)
{
	struct sampler *s;
	struct err e;
	memset(&seen, 0, sizeof(seen));
	options.wall = wall;
	assert_int_equal(stop_sampler_new(&s, &options, &e), 0);
	return s;
}

static void run_until_ended(struct sampler *s, int pid, int *status)
{
	struct err e;
	while (!s->ops->ended(s, pid, status))
		assert_int_equal(s->ops->run(s, 10, &e), 0);
}

static void burn(clock_t ticks)
{
	while (clock() < ticks)
		;
}

static void *work(void *arg)
{
	prctl(PR_SET_NAME, "a worker");
	burn(CLOCKS_PER_SEC / 5);
	return arg;
}

/* A child that waits for a byte, then does its work and ends with the status of that. It waits when
 * this returns, so that no sample can find it on its way there. */
static int start(int (*program)(void), int *go)
{
	int pipes[2];
	assert_int_equal(pipe(pipes), 0);
	int pid = fork();
	if (!pid) {
		char byte;
		close(pipes[1]);
		_Exit(read(pipes[0], &byte, 1) == 1 ? program() : 1);
	}
	close(pipes[0]);
	*go = pipes[1];
	while (thread_state(pid) != 'S')
		usleep(1000);
	return pid;
}

/* In two threads. */
static int do_work(void)
{
	pthread_t t;
	if (pthread_create(&t, NULL, work, NULL))
		return 1;
	work(NULL);
	pthread_join(t, NULL);
	return 6;
}

static int start_worker(int *go)
{
	return start(do_work, go);
}

static void let_work(int go)
{
	assert_int_equal(write(go, "", 1), 1);
	close(go);
}

static uint64_t children_ns(void)
{
	struct rusage u;
	getrusage(RUSAGE_CHILDREN, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/* The weights add up to the CPU time, but for what follows the last samples. */
static void weights_are_cpu_time(void **state)
{
	struct err e;
	int go, status, pid = start_worker(&go);
	uint64_t before = children_ns();
	struct sampler *s = new_sampler(false);
	(void)state;
	assert_int_equal(s->ops->watch(s, pid, true, false, &e), 0);
	let_work(go);
	run_until_ended(s, pid, &status);
	s->ops->finish(s);
	s->ops->free(s);
	uint64_t used = children_ns() - before;
	assert_int_equal(WEXITSTATUS(status), 6);
	assert_true(seen.samples > 2);
	assert_true(seen.weight > used / 2 && seen.weight <= used + used / 10);
	assert_int_equal(seen.threads, 2);
	assert_int_equal(seen.exits, 2);
	assert_true(seen.named);
	assert_int_equal(seen.blocked, 0);
}

static void a_sampled_thread_can_be_held(void **state)
{
	struct err e;
	int go, status, pid = start_worker(&go);
	struct sampler *s = new_sampler(false);
	(void)state;
	seen.hold = s;
	seen.pid = pid;
	assert_int_equal(s->ops->watch(s, pid, true, false, &e), 0);
	assert_false(s->ops->hold(s, pid, pid, inside, NULL)); /* it waits: not to be woken */
	assert_false(s->ops->hold(s, 1, 1, inside, NULL));
	let_work(go);
	while (!seen.held)
		assert_int_equal(s->ops->run(s, 10, &e), 0);
	seen.hold = NULL;
	uint64_t held = seen.held;
	/* Also between samples, as long as it works. */
	for (int i = 0; i < 20 && seen.held == held; i++)
		if (!s->ops->hold(s, pid, pid, inside, NULL))
			assert_int_equal(s->ops->run(s, 1, &e), 0);
	assert_true(seen.held > held);
	run_until_ended(s, pid, &status);
	s->ops->free(s);
}

static void after_finish_the_program_runs_on(void **state)
{
	struct err e;
	char path[40], text[4096] = "";
	int go, status, pid = start_worker(&go);
	struct sampler *s = new_sampler(false);
	(void)state;
	assert_int_equal(s->ops->watch(s, pid, true, false, &e), 0);
	s->ops->finish(s); /* while it waits in read() */
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *f = fopen(path, "r");
	assert_true(f && fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(text, "TracerPid:\t0\n"));
	let_work(go);
	while (!s->ops->ended(s, pid, &status))
		usleep(1000);
	assert_int_equal(WEXITSTATUS(status), 6);
	s->ops->free(s);
}

static void waiting_is_sampled_on_demand(void **state)
{
	struct err e;
	int go, status, pid = start_worker(&go);
	struct sampler *s = new_sampler(true);
	(void)state;
	assert_int_equal(s->ops->watch(s, pid, true, false, &e), 0);
	while (!seen.blocked)
		assert_int_equal(s->ops->run(s, 10, &e), 0);
	assert_int_equal(seen.samples, 0);
	let_work(go);
	run_until_ended(s, pid, &status);
	s->ops->free(s);
}

static void a_launched_program_is_seen_from_its_start(void **state)
{
	struct err e;
	struct launch l;
	int why, status;
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"(exit 3); exit $?"}, NULL};
	struct sampler *s = new_sampler(false);
	(void)state;
	assert_int_equal(launch_prepare(&l, argv, &e), 0);
	assert_int_equal(s->ops->watch(s, l.pid, true, true, &e), 0);
	assert_int_equal(launch_go(&l, argv[0], &why, &e), 0);
	run_until_ended(s, l.pid, &status);
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_true(seen.execs == 1 && seen.forks >= 1);
	assert_int_equal(seen.threads, seen.exits);
	s->ops->free(s);
}

/* The child is ours and traced: that its exec fails must come through all the same. */
static void a_failing_launch_is_told(void **state)
{
	struct err e;
	struct launch l;
	int why;
	char *argv[] = {(char[]){"/no/such/program"}, NULL};
	struct sampler *s = new_sampler(false);
	(void)state;
	assert_int_equal(launch_prepare(&l, argv, &e), 0);
	assert_int_equal(s->ops->watch(s, l.pid, true, true, &e), 0);
	assert_int_equal(launch_go(&l, argv[0], &why, &e), ERR_SYSTEM);
	s->ops->finish(s);
	s->ops->free(s);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

static void a_signal_ends_run(void **state)
{
	struct err e;
	int go, pid = start_worker(&go), status;
	struct sampler *s = new_sampler(false);
	struct sigaction a = {.sa_handler = on_alarm}, old;
	(void)state;
	sigaction(SIGALRM, &a, &old);
	assert_int_equal(s->ops->watch(s, pid, true, false, &e), 0);
	alarm(1);
	assert_int_equal(s->ops->run(s, 600000, &e), 0);
	assert_int_equal(alarms, 1);
	sigaction(SIGALRM, &old, NULL);
	kill(pid, SIGKILL);
	run_until_ended(s, pid, &status);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	close(go);
	s->ops->free(s);
}

/* What happens to the program. */

static void run_program(int (*program)(void), int expected)
{
	struct err e;
	int go, status, pid = start(program, &go);
	struct sampler *s = new_sampler(false);
	assert_int_equal(s->ops->watch(s, pid, true, false, &e), 0);
	let_work(go);
	run_until_ended(s, pid, &status);
	s->ops->finish(s);
	s->ops->free(s);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), expected);
}

static void *execute(void *arg)
{
	burn(CLOCKS_PER_SEC / 50);
	execlp("sh", "sh", "-c", "exit 5", NULL);
	return arg;
}

static int execute_in_thread(void)
{
	pthread_t t;
	if (pthread_create(&t, NULL, execute, NULL))
		return 1;
	for (;;)
		pause();
	return 1;
}

static void a_thread_that_executes_is_the_first_one(void **state)
{
	(void)state;
	run_program(execute_in_thread, 5);
	assert_int_equal(seen.execs, 1);
	assert_int_equal(seen.threads, 2);
	assert_int_equal(seen.exits, 2);
}

enum { FORKS = 60 };

/* Parents go on to be something else without waiting for their child. */
static int fork_and_go(void)
{
	for (int i = 0; i < FORKS; i++) {
		int status, pid = fork();
		if (!pid && fork() && i % 2)
			execlp("true", "true", NULL);
		if (!pid)
			_Exit(0);
		if (waitpid(pid, &status, 0) != pid || status)
			return 8;
	}
	return 9;
}

static void children_are_told_before_their_parent_is_gone(void **state)
{
	(void)state;
	run_program(fork_and_go, 9);
	assert_true(seen.forks > FORKS);
	assert_int_equal(seen.late_forks, 0);
	assert_int_equal(seen.execs, FORKS / 2);
}

/* Works a little and waits a little, so that many stops find it on its way to a wait. EINTR would
 * be ours: nobody sends signals. */
static int wait_often(void)
{
	struct epoll_event ev;
	int fd = epoll_create1(0);
	for (int i = 0; i < 200; i++) {
		burn(clock() + CLOCKS_PER_SEC / 2000);
		if (epoll_wait(fd, &ev, 1, 1))
			return 8;
	}
	return 10;
}

static void waits_are_not_ended(void **state)
{
	(void)state;
	run_program(wait_often, 10);
	assert_true(seen.samples > 0);
}

static int suspend_itself(void)
{
	int status, pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;; usleep(2000))
			kill(getppid(), SIGCONT);
	}
	for (int i = 0; i < 10; i++) {
		raise(SIGSTOP);
		burn(clock() + CLOCKS_PER_SEC / 100);
	}
	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 11 : 8;
}

static void suspending_works(void **state)
{
	(void)state;
	run_program(suspend_itself, 11);
	assert_true(seen.samples > 0);
}

static int later[2];

static void *work_later(void *arg)
{
	char byte;
	return read(later[0], &byte, 1) == 1 ? work(arg) : arg;
}

static int wait_for_worker(void)
{
	pthread_t t;
	if (pthread_create(&t, NULL, work_later, NULL))
		return 1;
	pthread_join(t, NULL);
	return 12;
}

static void one_thread_is_watched_alone(void **state)
{
	struct err e;
	tid_list tids = {0};
	int go, status;
	(void)state;
	assert_int_equal(pipe(later), 0);
	int pid = start(wait_for_worker, &go);
	let_work(go);
	while (tids.len < 2) {
		vec_clear(&tids);
		assert_int_equal(threads_list(pid, &tids, &e), 0);
	}
	int tid = tids.data[tids.data[0] == pid];
	while (thread_state(tid) != 'S')
		usleep(1000);
	struct sampler *s = new_sampler(false);
	assert_int_equal(s->ops->watch(s, tid, false, false, &e), 0);
	let_work(later[1]);
	while (!seen.exits)
		assert_int_equal(s->ops->run(s, 10, &e), 0);
	assert_true(seen.threads == 1 && seen.exits == 1 && seen.samples > 0);
	run_until_ended(s, pid, &status);
	assert_int_equal(WEXITSTATUS(status), 12);
	s->ops->free(s);
	close(later[0]);
	vec_free(&tids);
}

static void only_time_is_measured(void **state)
{
	struct sampler *s;
	struct err e;
	struct sampler_options o = options;
	(void)state;
	o.events[0] = (struct event){.name = "page-faults"};
	assert_int_equal(stop_sampler_new(&s, &o, &e), ERR_UNSUPPORTED);
	assert_non_null(strstr(e.text, "page-faults"));
}

static void what_cannot_be_watched_is_told(void **state)
{
	struct err e;
	struct sampler *s = new_sampler(false);
	(void)state;
	assert_int_equal(s->ops->watch(s, INT32_MAX, true, false, &e), ERR_SYSTEM);
	assert_non_null(strstr(e.text, "no process"));
	s->ops->free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_cpu_time),
		cmocka_unit_test(a_sampled_thread_can_be_held),
		cmocka_unit_test(after_finish_the_program_runs_on),
		cmocka_unit_test(waiting_is_sampled_on_demand),
		cmocka_unit_test(a_launched_program_is_seen_from_its_start),
		cmocka_unit_test(a_failing_launch_is_told),
		cmocka_unit_test(a_signal_ends_run),
		cmocka_unit_test(a_thread_that_executes_is_the_first_one),
		cmocka_unit_test(children_are_told_before_their_parent_is_gone),
		cmocka_unit_test(waits_are_not_ended),
		cmocka_unit_test(suspending_works),
		cmocka_unit_test(one_thread_is_watched_alone),
		cmocka_unit_test(only_time_is_measured),
		cmocka_unit_test(what_cannot_be_watched_is_told),
	};
	return cmocka_run_group_tests_name("stop_sampler", tests, NULL, NULL);
}
