#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/holders.h"
#include "process/interrupted.h"
#include "process/launch.h"
#include "process/memory.h"
#include "process/started.h"
#include "process/threads.h"
#include "process/tracee.h"

enum { PAGE = 1 << 16 }; /* a multiple of any page size */

/* Two pages of which the second cannot be read; filled with their own addresses. */
static uint64_t *half_readable(void)
{
	uint64_t *p =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	for (size_t i = 0; i < PAGE / sizeof(*p); i++)
		p[i] = (uintptr_t)&p[i];
	assert_int_equal(mprotect((char *)p + PAGE, PAGE, PROT_NONE), 0);
	return p;
}

static void memory_is_read_up_to_the_first_bad_page(void **state)
{
	static char to[2 * PAGE];
	uint64_t *p = half_readable(), at = (uintptr_t)p;
	(void)state;
	assert_int_equal(memory_read(getpid(), at, to, 100), 100);
	assert_memory_equal(to, p, 100);
	assert_int_equal(memory_read(getpid(), at + PAGE - 24, to, sizeof(to)), 24);
	assert_memory_equal(to, (char *)p + PAGE - 24, 24);
	assert_int_equal(memory_read(getpid(), at + PAGE, to, 8), 0);
	assert_int_equal(memory_read(getpid(), UINT64_MAX - 3, to, 8), 0);
	assert_int_equal(memory_read(INT32_MAX, at, to, 8), 0);
	munmap(p, 2 * PAGE);
}

static void a_window_gives_words(void **state)
{
	static struct memory_window w;
	uint64_t word, *p = half_readable(), at = (uintptr_t)p;
	(void)state;
	memory_window_init(&w, getpid());
	for (uint64_t i = 0; i < PAGE; i += 8) {
		assert_true(memory_window_word(&w, at + i, &word));
		assert_int_equal(word, at + i);
	}
	assert_true(memory_window_word(&w, at + 8, &word));
	assert_int_equal(word, at + 8);
	assert_true(memory_window_word(&w, at + 4096 - 4, &word));
	assert_int_equal(word >> 32, (at + 4096) & UINT32_MAX);
	assert_false(memory_window_word(&w, at + PAGE - 4, &word));
	assert_false(memory_window_word(&w, at + PAGE, &word));
	assert_false(memory_window_word(&w, UINT64_MAX, &word));
	assert_true(memory_window_word(&w, at, &word));
	munmap(p, 2 * PAGE);
}

static int run(struct launch *l, char *const *argv)
{
	struct err e;
	int why, status;
	assert_int_equal(launch_prepare(l, argv, &e), 0);
	assert_int_equal(launch_go(l, argv[0], &why, &e), 0);
	assert_int_equal(waitpid(l->pid, &status, 0), l->pid);
	return status;
}

static void a_program_is_found_and_run(void **state)
{
	struct launch l;
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 9"}, NULL};
	(void)state;
	assert_int_equal(WEXITSTATUS(run(&l, argv)), 9);
}

static void expect_refusal(char *name, int expected, const char *part)
{
	struct launch l;
	struct err e;
	char *argv[] = {name, NULL};
	int why;
	assert_int_equal(launch_prepare(&l, argv, &e), 0);
	assert_int_equal(launch_go(&l, name, &why, &e), ERR_SYSTEM);
	assert_int_equal(why, expected);
	assert_non_null(strstr(e.text, part));
	assert_int_equal(waitpid(l.pid, NULL, 0), -1); /* it is reaped */
}

static void failures_to_start_are_told(void **state)
{
	(void)state;
	expect_refusal((char[]){"no-such-program-anywhere"}, ENOENT, "in PATH");
	expect_refusal((char[]){"/no/such/program"}, ENOENT, "does not exist");
	expect_refusal((char[]){"/"}, EACCES, "executable");
}

static void a_child_killed_before_it_starts_is_told(void **state)
{
	struct launch l;
	struct err e;
	char *argv[] = {(char[]){"true"}, NULL};
	int why;
	(void)state;
	assert_int_equal(launch_prepare(&l, argv, &e), 0);
	kill(l.pid, SIGKILL);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)l.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(launch_go(&l, "true", &why, &e), ERR_SYSTEM);
	assert_non_null(strstr(e.text, "killed"));
}

/* Somebody prepares and is killed: the child ends by itself, having run nothing. */
static void a_child_does_not_outlive_us(void **state)
{
	int report[2], mark[2], child;
	char byte;
	(void)state;
	assert_int_equal(pipe(report), 0);
	assert_int_equal(pipe2(mark, O_CLOEXEC), 0);
	int pid = fork();
	if (!pid) {
		struct launch l;
		struct err e;
		char *argv[] = {(char[]){"sleep"}, (char[]){"100"}, NULL};
		launch_prepare(&l, argv, &e);
		ssize_t n = write(report[1], &l.pid, sizeof(l.pid));
		raise(n ? SIGKILL : SIGTERM);
	}
	assert_int_equal(read(report[0], &child, sizeof(child)), sizeof(child));
	waitpid(pid, NULL, 0);
	/* Both held the write end of `mark`. */
	close(mark[1]);
	assert_int_equal(read(mark[0], &byte, 1), 0);
	close(mark[0]);
	close(report[0]);
	close(report[1]);
}

/* The ignored and blocked signals of a process, as its status file has them. */
static void read_signals(const char *path, char out[128])
{
	char line[256];
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	out[0] = '\0';
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "SigIgn", 6) || !strncmp(line, "SigBlk", 6))
			strncat(out, line, 127 - strlen(out));
	fclose(f);
	assert_true(strlen(out) > 32);
}

/* What we do to our own signals is not the program's concern. */
static void a_program_gets_the_signals_that_we_were_given(void **state)
{
	struct launch l;
	struct err e;
	int why;
	sigset_t usr1, before;
	char *argv[] = {(char[]){"sleep"}, (char[]){"100"}, NULL};
	char ours[128], changed[128], theirs[128], path[32];
	(void)state;
	read_signals("/proc/self/status", ours);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &before);
	void (*old)(int) = signal(SIGUSR2, SIG_IGN);
	read_signals("/proc/self/status", changed);
	assert_string_not_equal(changed, ours);
	assert_int_equal(launch_prepare(&l, argv, &e), 0);
	assert_int_equal(launch_go(&l, argv[0], &why, &e), 0);
	signal(SIGUSR2, old);
	sigprocmask(SIG_SETMASK, &before, NULL);
	snprintf(path, sizeof(path), "/proc/%d/status", l.pid);
	read_signals(path, theirs);
	kill(l.pid, SIGKILL);
	waitpid(l.pid, NULL, 0);
	assert_string_equal(theirs, ours);
}

static void *be_named(void *arg)
{
	prctl(PR_SET_NAME, "a) strange (x");
	pthread_barrier_wait(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

static void threads_are_listed(void **state)
{
	pthread_t t;
	pthread_barrier_t barrier;
	tid_list tids = {0};
	struct err e;
	char name[16];
	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&t, NULL, be_named, &barrier), 0);
	pthread_barrier_wait(&barrier);
	assert_int_equal(threads_list(getpid(), &tids, &e), 0);
	assert_true(tids.len >= 2);
	assert_int_equal(tids.data[0], getpid());
	int last = vec_last(&tids);
	assert_int_equal(thread_process(last), getpid());
	assert_int_equal(thread_process(getpid()), getpid());
	assert_int_equal(process_parent(getpid()), getppid());
	thread_name(getpid(), last, name);
	assert_string_equal(name, "a) strange (x");
	assert_int_equal(thread_state(gettid()), 'R');
	/* On its way to the second barrier it still runs. */
	for (int i = 0; i < 10000 && thread_state(last) != 'S'; i++)
		usleep(1000);
	assert_int_equal(thread_state(last), 'S');
	pthread_barrier_wait(&barrier);
	pthread_join(t, NULL);
	vec_free(&tids);
}

static void what_is_gone_is_told(void **state)
{
	struct err e;
	char name[16] = "x";
	tid_list tids = {0};
	(void)state;
	assert_int_equal(threads_list(INT32_MAX, &tids, &e), ERR_SYSTEM);
	assert_non_null(strstr(e.text, "no process"));
	assert_int_equal(process_check_access(INT32_MAX, &e), ERR_SYSTEM);
	assert_non_null(strstr(e.text, "no process"));
	assert_int_equal(thread_process(INT32_MAX), -1);
	assert_int_equal(thread_process(-1), -1);
	assert_int_equal(thread_state(INT32_MAX), 0);
	thread_name(INT32_MAX, INT32_MAX, name);
	assert_string_equal(name, "");
	vec_free(&tids);
}

static void caught_signals_are_known(void **state)
{
	(void)state;
	signal(SIGUSR2, SIG_IGN);
	assert_false(thread_catches(getpid(), SIGUSR2));
	signal(SIGUSR2, (void (*)(int))abort);
	assert_true(thread_catches(getpid(), SIGUSR2));
	signal(SIGUSR2, SIG_DFL);
	assert_false(thread_catches(getpid(), SIGUSR2));
}

static int sleeper(void)
{
	int pid = fork();
	while (!pid)
		pause();
	return pid;
}

static void end(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void who_is_at_the_other_end_of_a_pipe_is_found(void **state)
{
	struct holder peer;
	bool writes;
	int ends[2], own[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	int writer = sleeper();
	close(ends[1]);
	assert_true(pipe_peer(getpid(), ends[0], &peer, &writes));
	assert_int_equal(peer.pid, writer);
	assert_string_equal(peer.name, "test_process");
	assert_true(writes);
	/* The child has both ends, and nobody else writes. */
	assert_true(pipe_peer(writer, ends[1], &peer, &writes));
	assert_int_equal(peer.pid, getpid());
	assert_false(writes);
	end(writer);
	assert_false(pipe_peer(getpid(), ends[0], &peer, &writes));
	close(ends[0]);
	assert_int_equal(pipe(own), 0);
	assert_false(pipe_peer(getpid(), own[0], &peer, &writes)); /* only itself */
	assert_false(pipe_peer(getpid(), own[1], &peer, &writes));
	close(own[0]);
	close(own[1]);
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_false(pipe_peer(getpid(), file, &peer, &writes));
	close(file);
	assert_false(pipe_peer(getpid(), 12345, &peer, &writes));
}

/* By the name of a link to it. */
static void a_program_is_called_as_it_was_started(void **state)
{
	char link[] = "/tmp/sonde-started-XXXXXX", name[4096];
	(void)state;
	assert_non_null(mkdtemp(link));
	char path[64];
	snprintf(path, sizeof(path), "%s/another", link);
	assert_int_equal(symlink("/bin/sleep", path), 0);
	int pid = fork();
	if (!pid) {
		execl(path, path, "100", NULL);
		_exit(1);
	}
	for (int i = 0; i < 1000 && (!started_as(pid, name, sizeof(name)) || strcmp(name, path));
	     i++)
		usleep(1000);
	assert_string_equal(name, path);
	end(pid);
	assert_false(started_as(pid, name, sizeof(name)));
	unlink(path);
	rmdir(link);
}

static void a_process_that_ended_is_refused(void **state)
{
	struct err e;
	siginfo_t info;
	int pid = sleeper();
	(void)state;
	assert_int_equal(process_check_attach(pid, &e), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(process_check_access(pid, &e) < 0);
	end(pid);
}

static void another_tracer_is_named(void **state)
{
	struct err e;
	int ready[2], pid = sleeper();
	char byte, expected[32];
	(void)state;
	assert_int_equal(pipe(ready), 0);
	int tracer = fork();
	if (!tracer) {
		prctl(PR_SET_NAME, "other tracer");
		ptrace(PTRACE_SEIZE, pid, NULL, NULL);
		ssize_t n = write(ready[1], "", 1);
		while (n)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(process_check_access(pid, &e), 0);
	assert_int_equal(process_check_attach(pid, &e), ERR_SYSTEM);
	snprintf(expected, sizeof(expected), "%d (other tracer)", tracer);
	assert_non_null(strstr(e.text, expected));
	end(tracer);
	end(pid);
	close(ready[0]);
	close(ready[1]);
}

/* As somebody else, our process may not be looked at. */
static void another_user_is_told(void **state)
{
	int status, answer[2], pid;
	struct err e = {0};
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(answer), 0);
	pid = fork();
	if (!pid) {
		ssize_t n = setgid(65534) || setuid(65534) || !process_check_access(getppid(), &e);
		n += write(answer[1], &e, sizeof(e)) < 0;
		_Exit((int)n);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(answer[0], &e, sizeof(e)), sizeof(e));
	assert_non_null(strstr(e.text, "another user (uid 0)"));
	assert_non_null(strstr(e.text, "sudo"));
	close(answer[0]);
	close(answer[1]);
}

static void wait_for_event(struct tracee_event *ev)
{
	while (!tracee_next(ev))
		usleep(100);
}

/* SIGTRAP is a signal like others, and a stop of ours is not a signal. */
static void stops_are_told_apart(void **state)
{
	struct tracee t;
	struct tracee_event ev;
	struct registers regs;
	struct err e;
	bool in_call;
	int pid = sleeper();
	(void)state;
	assert_int_equal(tracee_seize(&t, pid, true, &e), 0);
	tracee_interrupt(&t);
	wait_for_event(&ev);
	assert_int_equal(ev.tid, pid);
	assert_int_equal(ev.what, TRACEE_TRAPPED);
	assert_true(tracee_registers(&t, &regs, &in_call));
	assert_true(regs.known && regs.pc);
	kill(pid, SIGSTOP);
	tracee_resume(&t, &ev);
	wait_for_event(&ev);
	assert_int_equal(ev.what, TRACEE_SIGNALLED);
	assert_int_equal(ev.signal, SIGSTOP);
	tracee_resume(&t, &ev);
	wait_for_event(&ev);
	assert_int_equal(ev.what, TRACEE_SUSPENDED);
	tracee_resume(&t, &ev);
	kill(pid, SIGCONT);
	do {
		wait_for_event(&ev);
		tracee_resume(&t, &ev);
	} while (ev.what != TRACEE_SIGNALLED);
	assert_int_equal(ev.signal, SIGCONT);
	kill(pid, SIGTRAP);
	wait_for_event(&ev);
	assert_int_equal(ev.what, TRACEE_SIGNALLED);
	assert_int_equal(ev.signal, SIGTRAP);
	tracee_resume(&t, &ev);
	wait_for_event(&ev);
	assert_int_equal(ev.what, TRACEE_ENDED);
	assert_true(WIFSIGNALED(ev.status) && WTERMSIG(ev.status) == SIGTRAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_read_up_to_the_first_bad_page),
		cmocka_unit_test(a_window_gives_words),
		cmocka_unit_test(a_program_is_found_and_run),
		cmocka_unit_test(failures_to_start_are_told),
		cmocka_unit_test(a_child_killed_before_it_starts_is_told),
		cmocka_unit_test(a_child_does_not_outlive_us),
		cmocka_unit_test(a_program_gets_the_signals_that_we_were_given),
		cmocka_unit_test(threads_are_listed),
		cmocka_unit_test(what_is_gone_is_told),
		cmocka_unit_test(caught_signals_are_known),
		cmocka_unit_test(who_is_at_the_other_end_of_a_pipe_is_found),
		cmocka_unit_test(a_program_is_called_as_it_was_started),
		cmocka_unit_test(a_process_that_ended_is_refused),
		cmocka_unit_test(another_tracer_is_named),
		cmocka_unit_test(another_user_is_told),
		cmocka_unit_test(stops_are_told_apart),
	};
	launch_remember_signals();
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
