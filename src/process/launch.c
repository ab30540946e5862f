/* Two channels, both closed by exec: the child reads a byte from the first before it does anything,
 * and writes the errno of a failed exec into the second. End of file on the first means that Sonde
 * died, on the second that the program runs. The first is a socket because writing to a pipe whose
 * reader was killed would kill us as well. */
#include "process/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "process/threads.h"

/* Exit statuses of a shell for a program that was found but cannot be executed, and for one that
 * was not found. */
enum { STATUS_CANNOT = 126, STATUS_NOT_FOUND = 127 };

/* How long to wait for exec before the state of the child is looked at. */
enum { EXEC_POLL_MS = 20 };

static struct {
	bool known;
	sigset_t blocked, ignored;
} initial_signals; /* the signals as Sonde was started with them */

void launch_remember_signals(void)
{
	if (initial_signals.known)
		return;
	sigemptyset(&initial_signals.ignored);
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction old;
		if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN)
			sigaddset(&initial_signals.ignored, sig);
	}
	sigprocmask(SIG_SETMASK, NULL, &initial_signals.blocked);
	initial_signals.known = true;
}

/* Ignored signals and the mask are inherited through exec. Our handlers are not, but they must not
 * run in the child before exec either. */
static void restore_signals(void)
{
	for (int sig = 1; sig < NSIG; sig++) {
		bool ignore = sigismember(&initial_signals.ignored, sig) == 1;
		struct sigaction action = {.sa_handler = ignore ? SIG_IGN : SIG_DFL};
		sigaction(sig, &action, NULL);
	}
	sigprocmask(SIG_SETMASK, &initial_signals.blocked, NULL);
}

static bool read_fully(int fd, void *to, size_t n)
{
	ssize_t got;
	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)n;
}

/* Ends only the child, without flushing what it has inherited from us. */
__attribute__((noreturn)) static void end_child(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

__attribute__((noreturn)) static void run_child(int go, int failed, char *const *argv)
{
	char byte;
	if (!read_fully(go, &byte, 1))
		end_child(STATUS_NOT_FOUND);
	restore_signals();
	if (!fault("launch-exec", ENOEXEC))
		execvp(argv[0], argv);
	int why = errno;
	ssize_t reported = write(failed, &why, sizeof(why));
	(void)reported; /* there is nobody to report a failure to */
	end_child(why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT);
}

static void close_channels(int go[2], int failed[2])
{
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(failed[i]);
	}
}

int launch_prepare(struct launch *l, char *const *argv, struct err *e)
{
	int go[2], failed[2];
	sigset_t all, before;
	launch_remember_signals();
	if (fault("launch-socket", EMFILE) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return err_errno(e, "a socket to the program cannot be made");
	if (fault("launch-pipe", EMFILE) || pipe2(failed, O_CLOEXEC)) {
		int rc = err_errno(e, "a pipe to the program cannot be made");
		close(go[0]);
		close(go[1]);
		return rc;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	l->pid = fault("launch-fork", EAGAIN) ? -1 : fork();
	if (!l->pid) {
		/* With its own copy of the write end, the child would never see the end of file. */
		close(go[1]);
		close(failed[0]);
		run_child(go[0], failed[1], argv);
	}
	int rc = l->pid < 0 ? err_errno(e, "a process cannot be started") : 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		close_channels(go, failed);
		return rc;
	}
	close(go[0]);
	close(failed[1]);
	l->go = go[1];
	l->failed = failed[0];
	return 0;
}

/* Returns the errno of exec, or 0 if the program runs or that cannot be known now. The latter is
 * the case if the child is traced by us and a signal has stopped it before exec: it cannot exec
 * while we wait here. */
static int wait_for_exec(const struct launch *l)
{
	struct pollfd p = {.fd = l->failed, .events = POLLIN};
	int why = 0;
	for (;;) {
		int ready = poll(&p, 1, EXEC_POLL_MS);
		if (ready > 0)
			return read_fully(l->failed, &why, sizeof(why)) ? why : 0;
		if (!ready && thread_state(l->pid) == 't')
			return 0;
	}
}

static int explain(const char *name, int why, struct err *e)
{
	bool path = strchr(name, '/');
	if (why == ENOENT && !path)
		return err_set(e, ERR_SYSTEM,
			       "there is no program \"%s\" in PATH; give its path if it is "
			       "somewhere else",
			       name);
	if (why == ENOENT)
		return err_set(e, ERR_SYSTEM,
			       "\"%s\" cannot be started: it, or the interpreter that it names, "
			       "does not exist",
			       name);
	if (why == EACCES)
		return err_set(e, ERR_SYSTEM,
			       "\"%s\" cannot be started: it is not an executable file, or you "
			       "may not run it",
			       name);
	if (why == ESRCH)
		return err_set(e, ERR_SYSTEM, "\"%s\" was killed before it could start", name);
	if (why == ENOEXEC)
		return err_set(e, ERR_SYSTEM,
			       "\"%s\" cannot be started: this system does not know its format",
			       name);
	errno = why;
	return err_errno(e, "\"%s\" cannot be started", name);
}

/* A traced child may stop before it ends, and has to be resumed then. */
static void kill_and_reap(int pid)
{
	int status, got;
	kill(pid, SIGKILL);
	while ((got = waitpid(pid, &status, __WALL)) < 0 ? errno == EINTR : WIFSTOPPED(status))
		if (got == pid)
			ptrace(PTRACE_CONT, pid, NULL, NULL);
}

int launch_go(struct launch *l, const char *name, int *why, struct err *e)
{
	ssize_t n = fault("launch-go", EPIPE) ? -1 : send(l->go, "", 1, MSG_NOSIGNAL);
	*why = n == 1 ? wait_for_exec(l) : ESRCH;
	close(l->go);
	close(l->failed);
	l->go = l->failed = -1;
	if (!*why)
		return 0;
	kill_and_reap(l->pid);
	return explain(name, *why, e);
}

void launch_wait(int pid, int *status)
{
	int got;
	do
		got = waitpid(pid, status, 0);
	while (got < 0 ? errno == EINTR : WIFSTOPPED(*status));
}

static bool is_runnable(const char *path)
{
	struct stat st;
	return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool launch_can_start(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];
	if (strchr(name, '/') || !path)
		return strchr(name, '/') ? is_runnable(name) : true;
	for (const char *end; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		snprintf(file, sizeof(file), "%.*s%s%s", (int)(end - path), path,
			 end == path ? "" : "/", name);
		if (is_runnable(file))
			return true;
	}
	return false;
}
