#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "isa/calls.h"
#include "process/memory.h"
#include "process/remote.h"

enum { WORKERS = 3 };

static struct common {
	_Atomic int ready, go, ticks, done, result, error;
	_Atomic uint64_t sum[WORKERS];
	_Atomic uint64_t rounds;
	_Atomic int pipe[2];
	_Atomic int word;
} * common;

static struct control *control;

static int setup(void **state)
{
	(void)state;
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	alarm(200); /* nothing here takes long: a hang is a failure */
	control = control_new();
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
	sigset_t none;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
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

static void enter(struct remote_slack *s, int pid, const char *text, uint64_t *at)
{
	struct err e = {.text = ""};
	if (remote_enter(s, control, pid, text, at, &e))
		fail_msg("%s", e.text);
}

static int64_t call(const struct remote_slack *s, struct control_thread *t, long number, uint64_t a,
		    uint64_t b, uint64_t c, uint64_t d, uint64_t f)
{
	struct err e = {.text = ""};
	int64_t result = 0;
	uint64_t args[6] = {a, b, c, d, f, 0};
	if (remote_call(control, t, &s->place, number, args, &result, &e))
		fail_msg("%s", e.text);
	return result;
}

static void drain(int pid)
{
	struct control_event ev;
	while (control_wait(control, 0, &ev))
		control_go(control, ev.tid);
	(void)pid;
}

/* Whether a < b, with the answer only in the flags for a while. */
static uint64_t keep_flags(uint64_t a, uint64_t b)
{
	uint64_t less;
#if defined(__aarch64__)
	__asm__ volatile("cmp %1, %2\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n cset %0, lo"
			 : "=r"(less)
			 : "r"(a), "r"(b)
			 : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("cmp %2, %1\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n setb %b0\n"
			 "movzbl %b0, %k0"
			 : "=r"(less)
			 : "r"(a), "r"(b)
			 : "cc");
#endif
	return less;
}

/* A checksum over integers, flags and floating point vectors: what a register too few, or a flag
 * that is not set back, would spoil. */
static uint64_t compute(uint64_t seed, uint64_t rounds, _Atomic uint64_t *progress)
{
	typedef double vector __attribute__((vector_size(16)));
	vector a = {1.0, 2.0}, b = {0.5, (double)seed}, c = {3.0, 0.25};
	uint64_t x = seed, carry = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		carry += x < i << 40;
		carry += keep_flags(x, i);
		a = a * 0.999 + b;
		b = b * 0.5 + c;
		c = c * 0.25 + a * 0.125;
		if (progress && i % 4096 == 0)
			++*progress;
	}
	double last = a[0] + a[1] + b[0] + b[1] + c[0] + c[1];
	uint64_t bits;
	memcpy(&bits, &last, sizeof(bits));
	return x + carry + bits;
}

static void tick(int signal)
{
	(void)signal;
	common->ticks++;
}

enum { ROUNDS = 8000000 };

static void *worker(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	common->ready++;
	uint64_t sum = compute(me + 12345, ROUNDS, NULL);
	while (!common->go) /* as long as the test likes, and always the same */
		if (compute(me + 12345, ROUNDS / 40, NULL) !=
		    compute(me + 12345, ROUNDS / 40, NULL))
			common->error = 1;
	common->sum[me] = sum;
	return NULL;
}

static void compute_in_threads(void)
{
	pthread_t t[WORKERS];
	struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerval interval = {{0, 2000}, {0, 2000}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	for (uintptr_t i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	_exit(17);
}

static unsigned count_mappings(int pid)
{
	char path[40];
	unsigned lines = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "r");
	for (int ch; (ch = fgetc(f)) != EOF;)
		lines += ch == '\n';
	fclose(f);
	return lines;
}

static void test_calls(void **state)
{
	(void)state;
	struct err e;
	struct remote_slack s;
	struct control_thread *threads[8];
	uint64_t text;
	int pid = start(compute_in_threads);
	wait_for(&common->ready, WORKERS);
	assert_int_equal(control_attach(control, pid, &e), 0);
	unsigned mappings = count_mappings(pid);
	for (int round = 0; round < 10; round++) {
		assert_int_equal(control_stop(control, pid, &e), 0);
		enter(&s, pid, "/memfd-name", &text);
		uint32_t n = control_threads(control, pid, threads, 8);
		assert_int_equal(n, WORKERS + 1);
		for (uint32_t i = 0; i < n; i++) {
			struct control_thread *t = threads[i];
			assert_int_equal(call(&s, t, SYS_getpid, 0, 0, 0, 0, 0), pid);
			assert_int_equal(call(&s, t, SYS_gettid, 0, 0, 0, 0, 0), t->tracee.tid);
			int64_t at = call(&s, t, SYS_mmap, 0, 65536, PROT_READ,
					  MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1);
			assert_true(at > 0);
			assert_true(memory_write(pid, (uint64_t)at, "hello", 6));
			int64_t fd = call(&s, t, SYS_memfd_create, text, 0, 0, 0, 0);
			assert_true(fd > 2);
			assert_int_equal(call(&s, t, SYS_close, (uint64_t)fd, 0, 0, 0, 0), 0);
			assert_int_equal(call(&s, t, SYS_munmap, (uint64_t)at, 65536, 0, 0, 0), 0);
			assert_int_equal(call(&s, t, SYS_close, 12345, 0, 0, 0, 0), -EBADF);
		}
		remote_leave(&s);
		control_resume(control, pid);
		usleep(1000);
		drain(pid);
	}
	assert_int_equal(count_mappings(pid), mappings);
	common->go = 1;
	struct control_event ev;
	do
		while (control_wait(control, 100, &ev) && ev.what != CONTROL_GONE)
			control_go(control, ev.tid);
	while (ev.what != CONTROL_GONE);
	assert_int_equal(WEXITSTATUS(ev.status), 17);
	assert_false(common->error);
	for (uint64_t i = 0; i < WORKERS; i++)
		assert_true(common->sum[i] == compute(i + 12345, ROUNDS, NULL));
}

/* Killed at any instant. */

/* What is killed: it stops, enters and calls without end. */
static void call_without_end(int victim)
{
	struct err e;
	struct remote_slack s;
	struct control_thread *threads[8];
	int64_t result;
	uint64_t args[6] = {0},
		 map[6] = {0, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1};
	control = control_new();
	if (control_attach(control, victim, &e)) {
		fprintf(stderr, "%s\n", e.text);
		_exit(1);
	}
	common->rounds++;
	for (unsigned i = 0;; i++) {
		if (control_stop(control, victim, &e) ||
		    remote_enter(&s, control, victim, NULL, NULL, &e)) {
			fprintf(stderr, "%s\n", e.text);
			_exit(2);
		}
		uint32_t n = control_threads(control, victim, threads, 8);
		struct control_thread *t = threads[i % (n < 8 ? n : 8)];
		if (remote_call(control, t, &s.place, SYS_getpid, args, &result, &e) ||
		    result != victim ||
		    remote_call(control, t, &s.place, SYS_mmap, map, &result, &e) || result < 0)
			_exit(3);
		uint64_t unmap[6] = {(uint64_t)result, 65536};
		if (remote_call(control, t, &s.place, SYS_munmap, unmap, &result, &e) || result)
			_exit(4);
		remote_leave(&s);
		control_resume(control, victim);
		drain(victim);
	}
}

/* Also if it cannot be known. */
static bool blocks_signals(int pid, int tid)
{
	char path[64], line[256];
	unsigned long long blocked = 1;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "SigBlk:", 7))
			blocked = strtoull(line + 7, NULL, 16);
	if (f)
		fclose(f);
	return blocked;
}

enum { KILLS = 300, KILLS_MIN = 30, KILLING_SECONDS = 3 };

static void test_killed(void **state)
{
	(void)state;
	struct err e;
	tid_list tids = {0};
	int status, pid = start(compute_in_threads);
	wait_for(&common->ready, WORKERS);
	unsigned mappings = count_mappings(pid);
	srandom(1);
	time_t end = time(NULL) + KILLING_SECONDS;
	for (int i = 0; i < KILLS && (i < KILLS_MIN || time(NULL) < end); i++) {
		uint64_t before = common->rounds;
		int killer = fork();
		if (!killer)
			call_without_end(pid);
		while (common->rounds == before && !waitpid(killer, &status, WNOHANG))
			;
		for (long spin = random() % 60000; spin > 0; spin--)
			__asm__ volatile("");
		usleep((useconds_t)(random() % 700));
		kill(killer, SIGKILL);
		assert_int_equal(waitpid(killer, &status, 0), killer);
		if (!WIFSIGNALED(status))
			fail_msg("the caller ended by itself: %d", WEXITSTATUS(status));
	}
	unsigned after = count_mappings(pid);
	assert_true(after >= mappings && after <= mappings + KILLS);
	assert_int_equal(threads_list(pid, &tids, &e), 0);
	assert_int_equal(tids.len, WORKERS + 1);
	/* One that was left in the middle of a call needs its turn to restore itself. */
	vec_each (tid, &tids)
		for (int i = 0; blocks_signals(pid, *tid); i++, usleep(1000))
			assert_true(i < 10000);
	vec_free(&tids);
	int ticks = common->ticks;
	wait_for(&common->ticks, ticks + 3);
	common->go = 1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 17);
	assert_false(common->error);
	for (uint64_t i = 0; i < WORKERS; i++)
		assert_true(common->sum[i] == compute(i + 12345, ROUNDS, NULL));
}

/* Threads that wait in the kernel. */

static void finish(long result)
{
	common->error = result < 0 ? errno : 0;
	common->result = (int)result;
	common->done = 1;
	_exit(result < 0 ? 8 : 18);
}

static const struct timespec tenth = {0, 100000000};

static void sleep_some(void)
{
	common->ready = 1;
	finish(syscall(SYS_nanosleep, &tenth, NULL));
}

static void sleep_by_clock(void)
{
	common->ready = 1;
	finish(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &tenth, NULL));
}

static void wait_futex(void)
{
	common->ready = 1;
	long rc = syscall(SYS_futex, &common->word, FUTEX_WAIT, 0, &tenth, NULL, 0);
	finish(rc < 0 && errno == ETIMEDOUT ? 1 : -1);
}

static void read_pipe(void)
{
	char byte;
	common->ready = 1;
	finish(read(common->pipe[0], &byte, 1));
}

static void wait_epoll(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int fd = epoll_create1(0);
	epoll_ctl(fd, EPOLL_CTL_ADD, common->pipe[0], &ev);
	common->ready = 1;
	finish(epoll_wait(fd, &ev, 1, 60000));
}

static void wait_poll(void)
{
	struct pollfd p = {.fd = common->pipe[0], .events = POLLIN};
	common->ready = 1;
	finish(poll(&p, 1, 60000));
}

static void poll_some(void)
{
	struct pollfd p = {.fd = common->pipe[0], .events = POLLIN};
	common->ready = 1;
	finish(poll(&p, 1, 100) == 0 ? 1 : -1);
}

/* If a call began anew with every stop it would not end as long as we go on. */
static void interrupt_while(void (*victim)(void), int byte_after)
{
	struct err e;
	int pipes[2];
	setup(NULL);
	assert_int_equal(pipe(pipes), 0);
	common->pipe[0] = pipes[0];
	int pid = start(victim);
	wait_for(&common->ready, 1);
	assert_int_equal(control_attach(control, pid, &e), 0);
	int i;
	for (i = 0; i < 300 && !common->done; i++) {
		struct remote_slack s;
		if (i == byte_after)
			assert_int_equal(write(pipes[1], "", 1), 1);
		if (control_stop(control, pid, &e))
			break;
		if (remote_enter(&s, control, pid, NULL, NULL, &e)) {
			/* It may let the victim run for a moment, which can be its last one. */
			assert_int_equal(e.code, ERR_ENDED);
			break;
		}
		for (int k = 0; k < 3; k++)
			assert_int_equal(call(&s, s.thread, SYS_getpid, 0, 0, 0, 0, 0), pid);
		remote_leave(&s);
		if (i % 4 == 3) {
			control_detach(control, pid);
			if (control_attach(control, pid, &e))
				break;
		} else {
			control_resume(control, pid);
		}
		usleep(10000);
	}
	assert_true(i < 300);
	for (struct control_event ev; control_wait(control, 1000, &ev);)
		if (ev.what == CONTROL_GONE)
			assert_int_equal(WEXITSTATUS(ev.status), 18);
	assert_int_equal(common->error, 0);
	assert_int_equal(common->done, 1);
	assert_int_equal(common->result, victim == sleep_some || victim == sleep_by_clock ? 0 : 1);
	close(pipes[0]);
	close(pipes[1]);
	teardown(NULL);
}

static void test_waiting(void **state)
{
	(void)state;
	interrupt_while(sleep_some, -1);
	interrupt_while(sleep_by_clock, -1);
	interrupt_while(wait_futex, -1);
	interrupt_while(poll_some, -1);
	interrupt_while(read_pipe, 10);
	interrupt_while(wait_epoll, 10);
	interrupt_while(wait_poll, 10);
}

/* A signal that comes while it is stopped ends a sleep with EINTR, as it does without us. */
static void sleep_with_handler(void)
{
	struct sigaction action = {.sa_handler = tick};
	struct timespec long_time = {100, 0}, left = {0};
	sigaction(SIGUSR1, &action, NULL);
	common->ready = 1;
	long rc = syscall(SYS_nanosleep, &long_time, &left);
	finish(rc == -1 && errno == EINTR && common->ticks == 1 && left.tv_sec > 50 ? 1 : -1);
}

static void test_signal_ends_sleep(void **state)
{
	(void)state;
	struct err e;
	struct remote_slack s;
	struct control_event ev = {.status = 0};
	int pid = start(sleep_with_handler);
	wait_for(&common->ready, 1);
	while (thread_state(pid) != 'S')
		usleep(500);
	assert_int_equal(control_attach(control, pid, &e), 0);
	assert_int_equal(control_stop(control, pid, &e), 0);
	enter(&s, pid, NULL, NULL);
	kill(pid, SIGUSR1);
	assert_int_equal(call(&s, s.thread, SYS_getpid, 0, 0, 0, 0, 0), pid);
	assert_int_equal(common->ticks, 0);
	remote_leave(&s);
	control_resume(control, pid);
	while (control_wait(control, 5000, &ev) && ev.what != CONTROL_GONE)
		;
	assert_int_equal(WEXITSTATUS(ev.status), 18);
}

/* Where the engine needs it most: in a program, process or thread that is at its beginning. */

static void *nothing(void *arg)
{
	return arg;
}

static void begin_things(void)
{
	pthread_t t;
	int status, pid;
	wait_for(&common->go, 1);
	pthread_create(&t, NULL, nothing, NULL);
	pthread_join(t, NULL);
	pid = fork();
	if (!pid)
		_exit(19);
	waitpid(pid, &status, 0);
	_exit(WEXITSTATUS(status));
}

static void call_at_begin(const struct control_event *ev)
{
	struct err e;
	struct remote_slack s;
	assert_int_equal(control_stop(control, ev->pid, &e), 0);
	enter(&s, ev->pid, NULL, NULL);
	struct control_thread *t = control_thread(control, ev->tid);
	assert_true(t && t->stopped);
	assert_int_equal(call(&s, t, SYS_gettid, 0, 0, 0, 0, 0), ev->tid);
	assert_int_equal(call(&s, t, SYS_getpid, 0, 0, 0, 0, 0), ev->pid);
	remote_leave(&s);
	control_resume(control, ev->pid);
	control_go(control, ev->tid);
}

static int run_with_calls(int pid)
{
	int calls = 0;
	for (struct control_event ev; control_wait(control, 10000, &ev);) {
		if (ev.what == CONTROL_GONE && ev.pid == pid)
			assert_int_equal(WEXITSTATUS(ev.status), 19);
		if (ev.what == CONTROL_GONE && ev.pid == pid)
			break;
		if (ev.what == CONTROL_ENDED || ev.what == CONTROL_GONE)
			continue;
		call_at_begin(&ev);
		calls++;
	}
	return calls;
}

static void test_begin(void **state)
{
	(void)state;
	struct err e;
	int why, pid = start(begin_things);
	assert_int_equal(control_attach(control, pid, &e), 0);
	common->go = 1;
	assert_int_equal(run_with_calls(pid), 2);

	char sh[] = "sh", c[] = "-c", script[] = "/bin/true; exit 19",
	     *argv[] = {sh, c, script, NULL};
	assert_int_equal(control_launch(control, argv, &pid, &why, &e), 0);
	assert_true(run_with_calls(pid) >= 1);
}

/* One that is stopped by SIGSTOP makes the call, and is stopped as before. */
static void test_suspended(void **state)
{
	(void)state;
	struct err e;
	struct remote_slack s;
	int status, pid = start(compute_in_threads);
	wait_for(&common->ready, WORKERS);
	kill(pid, SIGSTOP);
	while (thread_state(pid) != 'T')
		usleep(500);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(control_attach(control, pid, &e), 0);
		assert_int_equal(control_stop(control, pid, &e), 0);
		enter(&s, pid, NULL, NULL);
		assert_int_equal(call(&s, s.thread, SYS_getpid, 0, 0, 0, 0, 0), pid);
		remote_leave(&s);
		control_resume(control, pid);
		drain(pid);
		assert_int_equal(control_stop(control, pid, &e), 0);
		control_detach(control, pid);
		while (thread_state(pid) != 'T')
			usleep(500);
	}
	int ticks = common->ticks;
	usleep(5000);
	assert_int_equal(common->ticks, ticks);
	common->go = 1;
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 17 && !common->error);
}

/* A program that may not make the call: it is made all the same, or refused, but never harms. */

static void filtered(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(20);
	common->ready = 1;
	while (!common->go)
		;
	_exit(20);
}

static void test_filtered(void **state)
{
	(void)state;
	struct err e;
	struct remote_slack s;
	struct control_event ev = {.status = 0};
	int64_t result;
	uint64_t args[6] = {0};
	int pid = start(filtered);
	wait_for(&common->ready, 1);
	assert_int_equal(control_attach(control, pid, &e), 0);
	assert_int_equal(control_stop(control, pid, &e), 0);
	enter(&s, pid, NULL, NULL);
	if (remote_call(control, s.thread, &s.place, SYS_getppid, args, &result, &e) == 0)
		assert_int_equal(result, getpid());
	else
		assert_non_null(strstr(e.text, "seccomp"));
	remote_leave(&s);
	control_resume(control, pid);
	common->go = 1;
	while (control_wait(control, 5000, &ev) && ev.what != CONTROL_GONE)
		;
	assert_true(WIFEXITED(ev.status) && WEXITSTATUS(ev.status) == 20);
}

/* Frames of both architectures, read as the kernel does. */

static uint64_t get(const uint8_t *p, size_t size)
{
	uint64_t v = 0;
	memcpy(&v, p, size);
	return v;
}

static void check_a64_frame(uint16_t vl, bool live)
{
	static uint8_t out[REMOTE_FRAME], general[272], vector[528], wide[9216];
	const uint64_t at = 0x7000;
	for (size_t i = 0; i < sizeof(wide); i++)
		wide[i] = (uint8_t)(i * 7);
	memset(general, 1, sizeof(general));
	memset(vector, 2, sizeof(vector));
	memcpy(wide + 8, &vl, 2);
	wide[12] = live;
	wide[13] = 0;
	struct frame_state s = {general, vector, sizeof(vector), wide, sizeof(wide), 3};
	size_t size = a64_calls.frame(out, sizeof(out), at, &s), end = 592 + 4096, pos = 592;
	assert_true(size >= 592 + 528 + 16);
	assert_memory_equal(out + 312, general, sizeof(general));
	assert_int_equal(get(out + 168, 8), 3);
	assert_int_equal(get(out + pos, 4), 0x46508001);
	assert_memory_equal(out + pos + 16, vector, 512);
	pos += get(out + pos + 4, 4);
	if (get(out + pos, 4) == 0x45585401) {
		assert_int_equal(get(out + pos + 4, 4), 32);
		assert_int_equal(get(out + pos + 8, 8), at + pos + 48);
		end = pos + 48 + get(out + pos + 16, 4);
		assert_int_equal(get(out + pos + 32, 8), 0);
		pos += 48;
	}
	if (live) {
		size_t registers = 32 * (size_t)vl + 17 * (size_t)vl / 8;
		assert_int_equal(get(out + pos, 4), 0x53564501);
		assert_int_equal(get(out + pos + 8, 2), vl);
		assert_memory_equal(out + pos + 16, wide + 16, registers);
		assert_true(get(out + pos + 4, 4) >= 16 + registers);
		pos += get(out + pos + 4, 4);
	}
	assert_int_equal(pos % 16, 0);
	assert_int_equal(get(out + pos, 8), 0);
	assert_true(pos + 16 <= end && pos + 16 <= size);
}

static void test_a64_frame(void **state)
{
	(void)state;
	uint8_t out[64], general[272] = {0}, vector[528] = {0};
	struct frame_state s = {general, vector, sizeof(vector), NULL, 0, 0};
	check_a64_frame(32, false);
	for (uint16_t vl = 16; vl <= 256; vl = (uint16_t)(vl + 16))
		check_a64_frame(vl, true);
	assert_int_equal(a64_calls.frame(out, sizeof(out), 0, &s), 0);
}

static void check_x64_frame(size_t state_size, uint64_t mask, uint64_t features, size_t expected)
{
	static uint8_t out[REMOTE_FRAME], general[216], vector[11008];
	for (size_t i = 0; i < sizeof(general); i++)
		general[i] = (uint8_t)i;
	memcpy(vector + 464, &mask, 8);
	memcpy(vector + 512, &features, 8);
	struct frame_state s = {general, vector, state_size, NULL, 0, 5};
	assert_true(x64_calls.frame(out, sizeof(out), 0x8000, &s) > 512 + expected);
	const uint8_t *uc = out + 64, *fp = out + get(uc + 40 + 184, 8) - 0x8000;
	assert_memory_equal(uc + 40 + 128, general + 128, 8); /* pc */
	assert_memory_equal(uc + 40 + 120, general + 152, 8); /* sp */
	assert_int_equal(get(uc + 296, 8), 5);
	assert_int_equal((fp - out) % 64, 0);
	assert_int_equal(get(fp + 464, 4), 0x46505853);
	assert_int_equal(get(fp + 464 + 16, 4), expected);
	assert_int_equal(get(fp + 464 + 4, 4), expected + 4);
	assert_int_equal(get(fp + 512, 8), features | 3);
	assert_int_equal(get(fp + expected, 4), 0x46505845);
}

static void test_x64_frame(void **state)
{
	(void)state;
	check_x64_frame(832, 7, 7, 832);
	check_x64_frame(2696, 0x2e7, 0xe7, 2696);
	check_x64_frame(11008, 0x602e7, 7, 2696); /* tiles not in use */
	check_x64_frame(11008, 0x600e7, 7, 2688);
	check_x64_frame(11008, 0x602e7, 0x602e7, 11008);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_calls),
		cmocka_unit_test(test_waiting),
		TEST(test_signal_ends_sleep),
		TEST(test_killed),
		TEST(test_begin),
		TEST(test_suspended),
		TEST(test_filtered),
		cmocka_unit_test(test_a64_frame),
		cmocka_unit_test(test_x64_frame),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
