/* Chains of fork, vfork, posix_spawn and exec, the last also from a thread that is not the first.
 * Every program of a chain returns a status that depends on all below it. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;

static int wait_for(pid_t pid)
{
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		abort();
	return WEXITSTATUS(status);
}

static void become(int depth)
{
	char text[16];
	snprintf(text, sizeof(text), "%d", depth);
	execl(self, self, text, (char *)NULL);
	_exit(99);
}

static void *become_in_thread(void *depth)
{
	become(*(int *)depth);
	return NULL;
}

static void *burn(void *arg)
{
	for (volatile unsigned long i = 0; !arg; i = i + 1)
		;
	return NULL;
}

/* Others run while one of them executes. */
static void become_from_thread(int depth)
{
	pthread_t t, other;
	pthread_create(&other, NULL, burn, NULL);
	pthread_create(&t, NULL, become_in_thread, &depth);
	pthread_join(t, NULL);
}

static int by_fork(int depth, int threaded)
{
	pid_t pid = fork();
	if (!pid && threaded)
		become_from_thread(depth);
	else if (!pid)
		become(depth);
	return wait_for(pid);
}

static int by_vfork(int depth)
{
	pid_t pid = vfork();
	if (!pid)
		become(depth);
	return wait_for(pid);
}

static int by_spawn(int depth)
{
	pid_t pid;
	char text[16];
	char *argv[] = {self, text, NULL};
	snprintf(text, sizeof(text), "%d", depth);
	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		abort();
	return wait_for(pid);
}

static int burn_some(int depth)
{
	unsigned x = (unsigned)depth;
	for (int i = 0; i < 300000; i++)
		x = x * 1103515245u + 12345u;
	return (int)(x >> 16 & 0x3f);
}

static int run(int depth)
{
	if (!depth)
		return burn_some(depth);
	int below = by_fork(depth - 1, 0) + 3 * by_vfork(depth - 1) + 5 * by_spawn(depth - 1) +
		    7 * by_fork(depth - 1, 1);
	return (below + burn_some(depth)) & 0x7f;
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 1)
		return run(atoi(argv[1]));
	for (int i = 0; i < 2; i++) {
		printf("chain %d status %d\n", i, run(2));
		fflush(stdout);
	}
	return 5;
}
