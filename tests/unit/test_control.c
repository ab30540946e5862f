#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/control.h"
#include "process/launch.h"
#include "process/memory.h"
#include "process/threads.h"

/* Memory that victims and the test have in common. */
static struct common {
	struct counter {
		_Atomic uint64_t n;
	} work[8];
	_Atomic int ready, go, caught, urgent, child;
} * common;

/* What was told. */
static struct {
	int born, forked, shared, executed, signalled, ended, gone;
	int status; /* of the last process gone */
	uint64_t value;
} told;

static struct control *control;

static int setup(void **state)
{
	(void)state;
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	memset(&told, 0, sizeof(told));
	control = control_new();
	alarm(200); /* nothing here takes long: a hang is a failure */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	control_free(control);
	munmap(common, sizeof(*common));
	return 0;
}

static int start(void (*victim)(void))
{
	int pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(0);
	victim();
	_exit(0);
}

static void wait_for(_Atomic int *what, int value)
{
	while (*what < value)
		usleep(500);
}

static void attach(int pid)
{
	struct err e;
	assert_int_equal(control_attach(control, pid, &e), 0);
}

static void stop(int pid)
{
	struct err e;
	assert_int_equal(control_stop(control, pid, &e), 0);
}

static void note(const struct control_event *ev)
{
	told.born += ev->what == CONTROL_BORN;
	told.forked += ev->what == CONTROL_FORKED;
	told.shared += ev->what == CONTROL_FORKED && ev->shared;
	told.executed += ev->what == CONTROL_EXECUTED;
	told.signalled += ev->what == CONTROL_SIGNALLED_US;
	told.ended += ev->what == CONTROL_ENDED;
	told.gone += ev->what == CONTROL_GONE;
	if (ev->what == CONTROL_GONE)
		told.status = ev->status;
	if (ev->what == CONTROL_SIGNALLED_US)
		told.value = ev->value;
	if (ev->what == CONTROL_FORKED)
		assert_true(ev->parent > 0 && ev->parent != ev->pid);
	if (ev->what != CONTROL_ENDED && ev->what != CONTROL_GONE)
		assert_true(control_thread(control, ev->tid)->stopped);
}

/* Deals with what happens within some time; returns whether the process is still there. */
static bool run(int pid, int ms)
{
	struct control_event ev;
	while (control_wait(control, ms, &ev)) {
		note(&ev);
		control_go(control, ev.tid);
		if (ev.what == CONTROL_GONE && ev.pid == pid)
			return false;
	}
	return true;
}

static void run_to_end(int pid)
{
	while (run(pid, 1000))
		;
}

/* The same, with the process stopped again and again. */
static void storm(int pid)
{
	struct err e;
	struct registers r;
	struct control_thread *threads[256];
	while (run(pid, 1) && control_stop(control, pid, &e) == 0) {
		uint32_t n = control_threads(control, pid, threads, 256);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(threads[i]->stopped || threads[i]->in_kernel ||
				    threads[i]->dead);
			if (threads[i]->stopped && control_registers(threads[i], &r))
				assert_true(r.pc != 0);
		}
		control_resume(control, pid);
	}
	run(pid, 0);
}

/* Threads that work. */

static void *work(void *arg)
{
	struct counter *mine = arg;
	common->ready++;
	for (;;)
		mine->n++;
	return NULL;
}

static void be_busy(void)
{
	pthread_t t;
	for (int i = 1; i < 4; i++)
		pthread_create(&t, NULL, work, &common->work[i]);
	work(&common->work[0]);
}

static uint64_t done(void)
{
	return common->work[0].n + common->work[1].n + common->work[2].n + common->work[3].n;
}

static void test_stop(void **state)
{
	(void)state;
	int pid = start(be_busy);
	struct control_thread *threads[8];
	struct registers r;
	wait_for(&common->ready, 4);
	attach(pid);
	for (int i = 0; i < 20; i++) {
		stop(pid);
		uint64_t before = done();
		assert_int_equal(control_threads(control, pid, threads, 8), 4);
		for (int k = 0; k < 4; k++) {
			uint64_t tp;
			assert_true(threads[k]->stopped && control_registers(threads[k], &r));
			assert_true(r.pc && control_thread_pointer(threads[k], &tp) && tp);
		}
		usleep(300);
		assert_true(done() == before);
		control_resume(control, pid);
		while (done() == before)
			;
	}
	kill(pid, SIGKILL);
	run_to_end(pid);
	assert_true(WIFSIGNALED(told.status) && WTERMSIG(told.status) == SIGKILL);
	assert_int_equal(told.ended, 4);
}

/* Leaves it, and it goes on as if nothing had been; then everything again. */
static void test_detach(void **state)
{
	(void)state;
	int pid = start(be_busy), status;
	wait_for(&common->ready, 4);
	for (int i = 0; i < 20; i++) {
		attach(pid);
		stop(pid);
		control_detach(control, pid);
		assert_int_equal(control_threads(control, pid, NULL, 0), 0);
		for (uint64_t before = done(); done() == before;)
			;
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void test_kill_while_stopped(void **state)
{
	(void)state;
	struct err e;
	struct registers r;
	int pid = start(be_busy);
	wait_for(&common->ready, 4);
	attach(pid);
	stop(pid);
	struct control_thread *t = control_thread(control, pid);
	kill(pid, SIGKILL);
	/* They cannot be read for a moment, or ever: it depends on whether it is told of its end.
	 */
	for (int i = 0; i < 100 && control_registers(t, &r); i++) {
		t->tracee.regset.size = 0;
		usleep(200);
	}
	run_to_end(pid);
	assert_true(WTERMSIG(told.status) == SIGKILL);
	assert_int_not_equal(control_stop(control, pid, &e), 0);
}

/* That they stood still does not mean that they still do. */
static void test_killed_is_not_stopped(void **state)
{
	(void)state;
	struct err e = {.code = 0};
	int pid = start(be_busy);
	wait_for(&common->ready, 4);
	attach(pid);
	stop(pid);
	kill(pid, SIGKILL);
	while (!control_stop(control, pid, &e)) /* as long as none has begun to end */
		usleep(200);
	assert_int_equal(e.code, ERR_ENDED);
}

/* Threads that come and go. */

enum { STORM_THREADS = 400, STORM_WIDTH = 4, STORM_FORKS = 120, STORM_SPAWNS = 60 };

static void *come_and_go(void *arg)
{
	((struct counter *)arg)->n++;
	return NULL;
}

static void make_threads(void)
{
	wait_for(&common->go, 1);
	for (int i = 0; i < STORM_THREADS / STORM_WIDTH; i++) {
		pthread_t t[STORM_WIDTH];
		for (int k = 0; k < STORM_WIDTH; k++)
			if (pthread_create(&t[k], NULL, come_and_go, &common->work[0]))
				_exit(99);
		for (int k = 0; k < STORM_WIDTH; k++)
			pthread_join(t[k], NULL);
	}
	_exit(common->work[0].n == STORM_THREADS ? 7 : 8);
}

static void test_thread_storm(void **state)
{
	(void)state;
	int pid = start(make_threads);
	attach(pid);
	common->go = 1;
	storm(pid);
	assert_int_equal(WEXITSTATUS(told.status), 7);
	assert_int_equal(told.born, STORM_THREADS);
	assert_int_equal(told.ended, STORM_THREADS + 1);
	assert_int_equal(told.gone, 1);
}

static void make_threads_on(void)
{
	common->ready = 1;
	for (;;) {
		pthread_t t;
		if (pthread_create(&t, NULL, come_and_go, &common->work[0]))
			_exit(99);
		pthread_join(t, NULL);
	}
}

/* A thread that is made by one of ours is ours, before we are told of it. */
static void test_attach_in_thread_storm(void **state)
{
	(void)state;
	int pid = start(make_threads_on), status;
	wait_for(&common->ready, 1);
	for (int i = 0; i < 500; i++) {
		attach(pid);
		stop(pid);
		control_detach(control, pid);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void make_processes(void)
{
	wait_for(&common->go, 1);
	for (int i = 0; i < STORM_FORKS; i++) {
		int status, pid = fork();
		if (!pid)
			_exit(i % 100);
		if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != i % 100)
			_exit(8);
	}
	_exit(9);
}

static void test_fork_storm(void **state)
{
	(void)state;
	int pid = start(make_processes);
	attach(pid);
	common->go = 1;
	storm(pid);
	assert_int_equal(WEXITSTATUS(told.status), 9);
	assert_int_equal(told.forked, STORM_FORKS);
	assert_int_equal(told.shared, 0);
	assert_int_equal(told.gone, STORM_FORKS + 1);
}

static void *spawn_some(void *arg)
{
	char name[] = "true", *argv[] = {name, NULL};
	for (int i = 0; i < STORM_SPAWNS / 2; i++) {
		int pid, status;
		if (posix_spawnp(&pid, name, NULL, NULL, argv, NULL) ||
		    waitpid(pid, &status, 0) != pid || status)
			_exit(8);
	}
	return arg;
}

static void spawn_programs(void)
{
	pthread_t t;
	wait_for(&common->go, 1);
	pthread_create(&t, NULL, spawn_some, NULL);
	spawn_some(NULL);
	pthread_join(t, NULL);
	_exit(10);
}

static void test_spawn_storm(void **state)
{
	(void)state;
	int pid = start(spawn_programs);
	attach(pid);
	common->go = 1;
	storm(pid);
	assert_int_equal(WEXITSTATUS(told.status), 10);
	assert_int_equal(told.forked, STORM_SPAWNS);
	assert_int_equal(told.shared, STORM_SPAWNS);
	assert_int_equal(told.executed, STORM_SPAWNS);
}

/* A parent that waits in the kernel for its vfork child cannot be stopped, and is not waited for.
 */

static void wait_in_vfork(void)
{
	wait_for(&common->ready, 1);
	if (!vfork()) {
		while (!common->go)
			;
		_exit(0);
	}
	common->caught = 1;
	_exit(waitpid(-1, NULL, 0) > 0 ? 11 : 8);
}

/* Returns the child. */
static int start_vfork(int *pid)
{
	struct control_event ev;
	*pid = start(wait_in_vfork);
	attach(*pid);
	common->ready = 1;
	assert_true(control_wait(control, 10000, &ev));
	note(&ev);
	assert_true(ev.what == CONTROL_FORKED && ev.shared && ev.parent == *pid);
	control_go(control, ev.tid);
	return ev.pid;
}

static void test_vfork(void **state)
{
	(void)state;
	struct control_thread *t[2];
	uint64_t sp, pc;
	int pid, child = start_vfork(&pid);
	for (int i = 0; i < 10; i++) {
		stop(pid);
		assert_int_equal(control_threads(control, pid, t, 2), 1);
		assert_true(t[0]->in_kernel && !t[0]->stopped);
		assert_true(control_kernel_place(t[0], &sp, &pc) && pc);
		assert_int_equal(control_threads(control, child, t, 2), 1);
		assert_true(t[0]->stopped);
		assert_int_equal(control_users(control, pid, t, 2), 2);
		assert_int_equal(t[0]->pid + t[1]->pid, pid + child);
		control_resume(control, pid);
		run(pid, 1);
	}
	stop(pid);
	common->go = 1;
	control_resume(control, pid);
	run_to_end(pid);
	assert_int_equal(WEXITSTATUS(told.status), 11);
}

/* The parent answers while all are stopped: it then is stopped as the others. */
static void test_vfork_ends_in_stop(void **state)
{
	(void)state;
	struct control_thread *t[2];
	int pid, child = start_vfork(&pid);
	stop(pid);
	kill(child, SIGKILL);
	for (int i = 0; i < 1000; i++) {
		run(pid, 1);
		assert_int_equal(control_threads(control, pid, t, 2), 1);
		if (t[0]->stopped)
			break;
	}
	assert_true(t[0]->stopped && !common->caught);
	control_resume(control, pid);
	run_to_end(pid);
	assert_int_equal(WEXITSTATUS(told.status), 11);
}

/* Once it has executed a program, a vfork child owns its memory, also for vfork children of its
 * own.
 */

static int signalled_pid;

static bool note_signal(void *ctx, struct control_signal *s)
{
	(void)ctx;
	if (s->signal == SIGUSR1)
		signalled_pid = s->pid;
	return true;
}

static void spawn_ourselves(void)
{
	wait_for(&common->ready, 1);
	if (!vfork()) {
		execl("/proc/self/exe", "test_control", "vfork-and-raise", NULL);
		_exit(9);
	}
	_exit(waitpid(-1, NULL, 0) > 0 ? 11 : 8);
}

static int vfork_and_raise(void)
{
	if (!vfork()) {
		kill(getpid(), SIGUSR1);
		_exit(9);
	}
	return waitpid(-1, NULL, 0) > 0 ? 0 : 8;
}

static void test_vfork_of_a_spawned_program(void **state)
{
	(void)state;
	struct control_event ev;
	int pid = start(spawn_ourselves), spawned = 0;
	signalled_pid = 0;
	control_watch(control, note_signal, NULL, NULL, NULL);
	attach(pid);
	common->ready = 1;
	do {
		assert_true(control_wait(control, 10000, &ev));
		note(&ev);
		if (ev.what == CONTROL_EXECUTED)
			spawned = ev.pid;
		control_go(control, ev.tid);
	} while (ev.what != CONTROL_GONE || ev.pid != pid);
	assert_int_equal(told.shared, 2);
	assert_true(spawned && signalled_pid == spawned);
	assert_int_equal(WEXITSTATUS(told.status), 11);
}

/* Programs. */

static void test_launch(void **state)
{
	(void)state;
	struct err e;
	struct control_event ev;
	struct registers r;
	int pid, why;
	char sh[] = "sh", c[] = "-c", script[] = "/bin/true; exit 3",
	     *argv[] = {sh, c, script, NULL};
	assert_int_equal(control_launch(control, argv, &pid, &why, &e), 0);
	assert_true(control_wait(control, 0, &ev));
	assert_true(ev.what == CONTROL_EXECUTED && ev.pid == pid);
	struct control_thread *first = control_thread(control, pid);
	assert_true(control_registers(first, &r) && r.pc);
	assert_false(first->in_call);
	control_go(control, pid);
	run_to_end(pid);
	assert_true(WIFEXITED(told.status) && WEXITSTATUS(told.status) == 3);
	assert_true(told.forked <= 1 && told.executed == told.forked);

	char missing[] = "/nonexistent/program", *none[] = {missing, NULL};
	assert_int_not_equal(control_launch(control, none, &pid, &why, &e), 0);
	assert_int_equal(why, ENOENT);
	assert_false(control_wait(control, 0, &ev));
}

static void *execute(void *arg)
{
	wait_for(&common->go, 1);
	execlp("sh", "sh", "-c", "exit 5", NULL);
	return arg;
}

static void execute_in_thread(void)
{
	pthread_t t;
	for (int i = 1; i < 4; i++)
		pthread_create(&t, NULL, work, &common->work[i]);
	pthread_create(&t, NULL, execute, NULL);
	work(&common->work[0]);
}

static void test_exec_in_thread(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		setup(NULL);
		int pid = start(execute_in_thread);
		wait_for(&common->ready, 4);
		attach(pid);
		common->go = 1;
		storm(pid);
		assert_int_equal(WEXITSTATUS(told.status), 5);
		assert_int_equal(told.executed, 1);
		teardown(NULL);
	}
}

static void *outlive(void *arg)
{
	for (common->ready = 1; !common->go;)
		++common->work[0].n;
	_exit(12);
	return arg;
}

static void leave_first(void)
{
	pthread_t t;
	pthread_create(&t, NULL, outlive, NULL);
	pthread_exit(NULL);
}

static void outlive_first(unsigned early_us)
{
	struct control_thread *t[4];
	struct err e;
	int pid = start(leave_first);
	usleep(early_us);
	if (control_attach(control, pid, &e)) { /* only its first thread shows what it is */
		for (int i = 0; i < 10000 && thread_state(pid) != 'Z'; i++)
			usleep(1000); /* it has no memory any more, but is not gone yet */
		assert_int_equal(thread_state(pid), 'Z');
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return;
	}
	while (!common->ready)
		run(pid, 1);
	for (int i = 0; i < 10; i++) {
		stop(pid);
		assert_true(control_threads(control, pid, t, 4) >= 1);
		uint64_t before = common->work[0].n;
		usleep(300);
		assert_true(common->work[0].n == before);
		control_resume(control, pid);
		run(pid, 1);
	}
	common->go = 1;
	run_to_end(pid);
	assert_int_equal(WEXITSTATUS(told.status), 12);
	assert_int_equal(told.gone, 1);
}

/* It goes before we come, while we do, and behind. */
static void test_first_thread_gone(void **state)
{
	for (unsigned us = 0; us < 1000; us += 50) {
		outlive_first(us);
		teardown(state);
		setup(state);
	}
}

/* Signals. */

static void caught(int signal)
{
	if (signal == SIGURG)
		common->urgent++;
	else
		common->caught++;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = caught};
	sigaction(SIGRTMIN, &action, NULL);
	sigaction(SIGURG, &action, NULL);
	work(&common->work[0]);
}

static void test_signals_while_stopped(void **state)
{
	(void)state;
	int pid = start(catch_signals), sent = 0;
	union sigval v = {.sival_int = 1};
	wait_for(&common->ready, 1);
	attach(pid);
	for (int i = 0; i < 20; i++) {
		sent += !sigqueue(pid, SIGRTMIN, v);
		stop(pid);
		sent += !sigqueue(pid, SIGRTMIN, v);
		sent += !sigqueue(pid, SIGRTMIN, v);
		run(pid, 0);
		control_resume(control, pid);
		sent += !sigqueue(pid, SIGRTMIN, v);
	}
	stop(pid);
	sent += !sigqueue(pid, SIGRTMIN, v);
	control_detach(control, pid);
	wait_for(&common->caught, sent);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void call_us(void)
{
	struct sigaction action = {.sa_handler = caught};
	siginfo_t info = {.si_code = SI_QUEUE};
	sigaction(SIGURG, &action, NULL);
	wait_for(&common->go, 1);
	info.si_pid = getpid();
	uint64_t value = CONTROL_MAGIC | 42;
	memcpy(&info.si_value, &value, sizeof(value));
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGURG, &info);
	common->child = 1 + common->urgent;
	raise(SIGURG);
	_exit(common->urgent == 1 && common->child == 1 ? 13 : 8);
}

static void test_rendezvous(void **state)
{
	(void)state;
	struct control_event ev;
	int pid = start(call_us);
	attach(pid);
	common->go = 1;
	assert_true(control_wait(control, 10000, &ev));
	assert_true(ev.what == CONTROL_SIGNALLED_US && ev.value == (CONTROL_MAGIC | 42));
	usleep(1000);
	assert_int_equal(common->child, 0);
	stop(pid);
	control_go(control, ev.tid);
	control_resume(control, pid);
	run_to_end(pid);
	assert_int_equal(WEXITSTATUS(told.status), 13);
}

static void wait_for_state(int pid, char state)
{
	while (thread_state(pid) != state)
		usleep(500);
}

static void test_suspended(void **state)
{
	(void)state;
	int pid = start(be_busy);
	wait_for(&common->ready, 4);
	attach(pid);
	kill(pid, SIGSTOP);
	for (int i = 0; i < 10; i++) {
		run(pid, 1);
		stop(pid);
		control_resume(control, pid);
	}
	uint64_t before = done();
	usleep(2000);
	run(pid, 1);
	assert_true(done() == before);
	stop(pid);
	control_detach(control, pid);
	wait_for_state(pid, 'T');
	assert_true(done() == before);
	kill(pid, SIGCONT);
	while (done() == before)
		;
	attach(pid);
	kill(pid, SIGSTOP);
	run(pid, 2);
	kill(pid, SIGCONT);
	for (before = done(); done() == before;)
		run(pid, 1);
	kill(pid, SIGKILL);
	run_to_end(pid);
	assert_int_equal(WTERMSIG(told.status), SIGKILL);
}

/* Moving a thread, and running one alone. */
static void test_one_thread(void **state)
{
	(void)state;
	struct registers a, b;
	struct control_thread *t;
	int pid = start(be_busy);
	wait_for(&common->ready, 4);
	attach(pid);
	stop(pid);
	assert_int_equal(control_threads(control, pid, &t, 1), 4);
	assert_true(control_registers(t, &a) && control_set_pc(t, a.pc) &&
		    control_registers(t, &b) && a.pc == b.pc);
	uint64_t before = done();
	/* On a busy machine it may not get so far at once. */
	for (int i = 0; i < 1000 && done() == before; i++) {
		control_run_on(control, &t->tracee.tid, 1, 1000000);
		assert_true(t->stopped);
	}
	assert_true(done() > before);
	before = done();
	usleep(300);
	assert_true(done() == before);
	control_resume(control, pid);
	while (done() == before)
		;
	kill(pid, SIGKILL);
	run_to_end(pid);
}

/* Run on into vfork, which it does not come out of as long as the child is not told of. */
static void test_run_into_vfork(void **state)
{
	(void)state;
	int pid = start(wait_in_vfork);
	attach(pid);
	stop(pid);
	struct control_thread *t = control_thread(control, pid);
	common->ready = 1;
	for (int i = 0; i < 1000 && t->stopped; i++)
		control_run_on(control, &pid, 1, 1000000);
	assert_true(t->in_kernel);
	common->go = 1;
	control_resume(control, pid);
	run_to_end(pid);
	assert_int_equal(WEXITSTATUS(told.status), 11);
}

/* A thread that uses no vectors keeps what they are set to. */
static void test_vectors(void **state)
{
	const uint64_t given[2] = {UINT64_C(0x1122334455667788), 3};
	uint64_t other[2], found[2];
	int pid = start(be_busy);
	(void)state;
	wait_for(&common->ready, 4);
	attach(pid);
	stop(pid);
	struct control_thread *t = control_thread(control, pid);
	assert_true(control_vector(t, 12, other));
	assert_true(control_set_vector(t, 13, given));
	control_resume(control, pid);
	uint64_t before = done();
	while (done() < before + 1000)
		usleep(500);
	stop(pid);
	t = control_thread(control, pid);
	assert_true(control_vector(t, 13, found));
	assert_memory_equal(found, given, sizeof(given));
	assert_true(control_vector(t, 12, found));
	assert_memory_equal(found, other, sizeof(other));
	kill(pid, SIGKILL);
	run_to_end(pid);
}

/* ---- a filter comes while a sleeper goes on ---- */

static void *sleep_long(void *unused)
{
	common->child = gettid();
	nanosleep(&(struct timespec){.tv_sec = 100}, NULL);
	return unused;
}

/* When told to, for all threads. */
static void forbid_restarts(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = 4, .filter = code};
	pthread_t t;
	pthread_create(&t, NULL, sleep_long, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	while (!common->go)
		common->work[0].n++;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter))
		_exit(77);
	common->caught = 1;
	while (common->go < 2)
		common->work[0].n++;
}

/* The first or the last CPU that we may use. */
static void keep_to(int tid, bool last)
{
	cpu_set_t all, one;
	sched_getaffinity(getpid(), sizeof(all), &all);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE && (last || !CPU_COUNT(&one)); i++)
		if (CPU_ISSET(i, &all)) {
			CPU_ZERO(&one);
			CPU_SET(i, &one);
		}
	sched_setaffinity(tid, sizeof(one), &one);
}

/* Leaves nothing of its CPU to others, as far as it may. */
static int start_hog(void)
{
	int pid = fork();
	if (pid)
		return pid;
	const struct sched_param first = {.sched_priority = 1};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	keep_to(0, false);
	sched_setscheduler(0, SCHED_FIFO, &first);
	common->urgent = 1;
	for (uint64_t end = now_ns() + 200000000; now_ns() < end;)
		;
	_exit(0);
}

static void test_sleepers_go_first(void **state)
{
	cpu_set_t all;
	(void)state;
	sched_getaffinity(0, sizeof(all), &all);
	int pid = start(forbid_restarts);
	wait_for(&common->child, 1);
	while (thread_call(pid, common->child).number < 0)
		usleep(500);
	attach(pid);
	stop(pid);
	keep_to(common->child, false);
	keep_to(pid, true);
	int hog = start_hog();
	keep_to(0, true);
	wait_for(&common->urgent, 1);
	common->go = 1;
	control_resume(control, pid);
	assert_true(run(pid, 300));
	assert_int_equal(common->caught, 1);
	common->go = 2;
	run_to_end(pid);
	assert_true(WIFEXITED(told.status));
	assert_int_equal(WEXITSTATUS(told.status), 0);
	sched_setaffinity(0, sizeof(all), &all);
	waitpid(hog, NULL, 0);
}

/* ---- single threads ---- */

static void seize(int tid, bool whole)
{
	struct err e;
	assert_int_equal(control_seize(control, tid, whole, &e), 0);
}

/* Waits for the thread that was asked to tell. */
static struct control_thread *next_interrupted(int tid)
{
	struct control_event ev;
	assert_true(control_wait(control, 10000, &ev));
	assert_int_equal(ev.what, CONTROL_INTERRUPTED);
	assert_int_equal(ev.tid, tid);
	struct control_thread *t = control_thread(control, tid);
	assert_true(t->stopped && !t->asked);
	return t;
}

static void wait_for_work(struct counter *c)
{
	for (uint64_t before = c->n; c->n == before;)
		run(0, 1);
}

/* The first thread stands still, and the others do not. */
static void test_interrupt(void **state)
{
	struct control_event ev;
	struct registers r;
	int pid = start(be_busy);
	(void)state;
	wait_for(&common->ready, 4);
	seize(pid, true);
	assert_int_equal(control_count(control), 4);
	for (int i = 0; i < 20; i++) {
		control_interrupt(control, pid);
		control_interrupt(control, pid); /* it tells once */
		struct control_thread *t = next_interrupted(pid);
		assert_true(control_registers(t, &r) && r.pc);
		uint64_t before = common->work[0].n;
		wait_for_work(&common->work[1]);
		assert_true(common->work[0].n == before);
		control_go(control, pid);
		wait_for_work(&common->work[0]);
		assert_false(control_wait(control, 0, &ev));
	}
	kill(pid, SIGKILL);
	run_to_end(pid);
	assert_int_equal(told.ended, 4);
}

/* Out of turn: what others tell meanwhile is kept. */
static void test_await(void **state)
{
	struct control_event ev;
	struct control_thread *t[4];
	int pid = start(be_busy);
	(void)state;
	wait_for(&common->ready, 4);
	seize(pid, true);
	assert_int_equal(control_threads(control, pid, t, 4), 4);
	int others[] = {t[1]->tracee.tid, t[2]->tracee.tid, t[3]->tracee.tid};
	assert_false(control_await_stop(control, t[0]->tracee.tid, 1000000)); /* it was not asked */
	for (int i = 0; i < 3; i++)
		control_interrupt(control, others[i]);
	assert_true(control_await_stop(control, others[1], UINT64_C(10000000000)));
	assert_true(control_thread(control, others[1])->stopped);
	control_go(control, others[1]);
	for (int i = 0; i < 2; i++) {
		assert_true(control_wait(control, 10000, &ev));
		assert_int_equal(ev.what, CONTROL_INTERRUPTED);
		assert_true(ev.tid == others[0] || ev.tid == others[2]);
		control_go(control, ev.tid);
	}
	assert_false(control_wait(control, 0, &ev));
	kill(pid, SIGKILL);
	run_to_end(pid);
}

/* Deals with what happens, and asks the first thread to stop again and again. */
static void storm_of_one(int pid)
{
	while (run(pid, 1))
		control_interrupt(control, pid);
}

/* One after the other is left while the rest is still ours. */
static void test_leave(void **state)
{
	struct control_thread *t;
	int pid = start(be_busy), status;
	(void)state;
	wait_for(&common->ready, 4);
	seize(pid, true);
	for (uint32_t left = 4; left--;) {
		assert_true(control_threads(control, pid, &t, 1) > 0);
		int tid = t->tracee.tid;
		assert_false(control_leave(control, tid)); /* it runs */
		control_interrupt(control, tid);
		next_interrupted(tid);
		assert_true(control_leave(control, tid));
		assert_int_equal(control_count(control), left);
		assert_int_equal(thread_tracer(tid), 0);
	}
	for (int i = 0; i < 4; i++)
		wait_for_work(&common->work[i]);
	seize(pid, true); /* it can be observed again */
	control_leave_all(control, now_ns() + UINT64_C(10000000000));
	assert_int_equal(control_count(control), 0);
	for (int i = 0; i < 4; i++)
		wait_for_work(&common->work[i]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* A single thread: neither the others of its process nor those that it makes are ours. */
static void test_seize_alone(void **state)
{
	int pid = start(make_threads);
	(void)state;
	seize(pid, false);
	common->go = 1;
	storm_of_one(pid);
	assert_int_equal(WEXITSTATUS(told.status), 7);
	assert_int_equal(told.born, 0);
	assert_int_equal(told.ended, 1);
}

/* What a seized process makes is ours as well. */
static void test_seize_thread_storm(void **state)
{
	struct err e;
	int pid = start(make_threads);
	(void)state;
	seize(pid, true);
	assert_int_equal(control_seize(control, pid, true, &e), ERR_INPUT);
	common->go = 1;
	storm_of_one(pid);
	assert_int_equal(WEXITSTATUS(told.status), 7);
	assert_int_equal(told.born, STORM_THREADS);
	assert_int_equal(told.ended, STORM_THREADS + 1);
}

static int channel[2];

/* Waits in a call that a stop ends with EINTR; that the program would never see without us. */
static void wait_undisturbed(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int fd = epoll_create1(0);
	if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, channel[0], &ev))
		_exit(77);
	common->ready = 1;
	_exit(epoll_wait(fd, &ev, 1, -1) == 1 ? 15 : 8);
}

static int start_waiting(void)
{
	assert_int_equal(pipe(channel), 0);
	int pid = start(wait_undisturbed);
	wait_for(&common->ready, 1);
	while (thread_call(pid, pid).number < 0)
		usleep(500);
	return pid;
}

static void end_waiting(void)
{
	assert_int_equal(write(channel[1], "", 1), 1);
	close(channel[0]);
	close(channel[1]);
}

static void test_interrupt_waiting(void **state)
{
	int pid = start_waiting();
	(void)state;
	seize(pid, true);
	for (int i = 0; i < 20; i++) {
		control_interrupt(control, pid);
		next_interrupted(pid);
		control_go(control, pid);
	}
	end_waiting();
	run_to_end(pid);
	assert_int_equal(WEXITSTATUS(told.status), 15);
}

static void test_leave_waiting(void **state)
{
	int pid = start_waiting(), status;
	(void)state;
	seize(pid, true);
	control_interrupt(control, pid);
	next_interrupted(pid);
	assert_true(control_leave(control, pid));
	control_leave_all(control, now_ns() + UINT64_C(10000000000));
	assert_int_equal(control_count(control), 0);
	end_waiting();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 15);
}

/* A child that could not execute its program was waited for by launch_go(). */
static void test_leave_reaped(void **state)
{
	struct err e;
	struct launch l;
	int why;
	char missing[] = "/nonexistent/program", *argv[] = {missing, NULL};
	(void)state;
	assert_int_equal(launch_prepare(&l, argv, &e), 0);
	seize(l.pid, true);
	assert_int_not_equal(launch_go(&l, argv[0], &why, &e), 0);
	control_leave_all(control, now_ns() + UINT64_C(10000000000));
	assert_int_equal(control_count(control), 0);
}

/* Without a process, a wait takes as long as it was asked to, unless it would never end. */
static void test_nobody_is_traced(void **state)
{
	struct control_event ev;
	uint64_t begin = now_ns();
	(void)state;
	assert_false(control_wait(control, 30, &ev));
	assert_true(now_ns() - begin >= 30000000);
	assert_false(control_wait(control, -1, &ev));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "vfork-and-raise"))
		return vfork_and_raise();
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_nobody_is_traced),
		TEST(test_stop),
		TEST(test_detach),
		TEST(test_sleepers_go_first),
		TEST(test_kill_while_stopped),
		TEST(test_killed_is_not_stopped),
		TEST(test_thread_storm),
		TEST(test_attach_in_thread_storm),
		TEST(test_fork_storm),
		TEST(test_spawn_storm),
		TEST(test_vfork),
		TEST(test_vfork_ends_in_stop),
		TEST(test_vfork_of_a_spawned_program),
		TEST(test_launch),
		cmocka_unit_test(test_exec_in_thread),
		TEST(test_first_thread_gone),
		TEST(test_signals_while_stopped),
		TEST(test_rendezvous),
		TEST(test_suspended),
		TEST(test_one_thread),
		TEST(test_run_into_vfork),
		TEST(test_vectors),
		TEST(test_interrupt),
		TEST(test_await),
		TEST(test_leave),
		TEST(test_seize_alone),
		TEST(test_seize_thread_storm),
		TEST(test_interrupt_waiting),
		TEST(test_leave_waiting),
		TEST(test_leave_reaped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
