/* A process with two threads is stopped and continued by its parent, as by a shell; each stop and
 * each continuation is waited for. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 30 };

static volatile int go_on = 1;

static void *burn(void *arg)
{
	volatile unsigned long *x = arg;
	while (go_on)
		*x = *x * 31 + 7;
	return NULL;
}

static void on_term(int sig)
{
	(void)sig;
	go_on = 0;
}

static int be_child(void)
{
	pthread_t t;
	unsigned long a = 1, b = 1;
	signal(SIGTERM, on_term);
	if (write(1, "ready\n", 6) != 6 || pthread_create(&t, NULL, burn, &a))
		abort();
	burn(&b);
	pthread_join(t, NULL);
	return 42;
}

int main(void)
{
	static const int stops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
	int status, ready[2], stopped = 0, continued = 0;
	char text[8];
	if (pipe(ready))
		abort();
	pid_t pid = fork();
	if (!pid) {
		setpgid(0, 0);
		dup2(ready[1], 1);
		_exit(be_child());
	}
	if (read(ready[0], text, 6) != 6)
		abort();
	for (int i = 0; i < TIMES; i++) {
		kill(pid, stops[i % 4]);
		if (waitpid(pid, &status, WUNTRACED) != pid)
			abort();
		stopped += WIFSTOPPED(status) && WSTOPSIG(status) == stops[i % 4];
		usleep(2000);
		kill(pid, SIGCONT);
		if (waitpid(pid, &status, WCONTINUED) != pid)
			abort();
		continued += WIFCONTINUED(status) != 0;
		usleep(2000);
	}
	kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	printf("stopped %d continued %d status %d\n", stopped, continued, WEXITSTATUS(status));
	return 0;
}
