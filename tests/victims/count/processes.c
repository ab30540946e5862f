/* Children by fork, which go on where the parent was; by vfork and exec, and by posix_spawn, which
 * begin anew. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

extern char **environ;

KEEP u64 process_work(u64 n)
{
	LOOP(worked);
	u64 x = n;
	CALLED(process_work);
	ENTER(worked);
	for (u64 i = 0; i < n; i++) {
		ITER(worked);
		x = x * 7 + i;
		BARRIER();
	}
	LEAVE(worked);
	return x;
}

KEEP u64 process_status(pid_t child)
{
	int status = 0;
	CALLED(process_status);
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	return (u64)(unsigned)status;
}

/* The children come out of the middle of a loop, and what of it they execute is theirs: their own
 * loop had no entry. */
KEEP u64 process_fork(u64 n)
{
	LOOP(forking);
	u64 x = 0;
	CALLED(process_fork);
	ENTER(forking);
	for (u64 i = 0; i < n; i++) {
		ITER(forking);
		pid_t child = fork();
		if (!child) {
			truth_forget();
			u64 y = process_work(i * 2 + 1);
			exit((int)(y % 100));
		}
		x = x * 31 + process_status(child);
		x ^= process_work(i);
	}
	LEAVE(forking);
	return x;
}

u64 victim_forks(void)
{
	fflush(stdout);
	return process_work(9) * 31 + process_fork(4);
}

KEEP u64 process_vfork(char **command)
{
	CALLED(process_vfork);
	pid_t child = vfork();
	if (!child) {
		execv(command[0], command);
		_exit(99);
	}
	return process_status(child);
}

u64 victim_execs(void)
{
	static char name[] = "/proc/self/exe", victim[] = "startup", echo[] = "/bin/echo",
		    text[] = "spawned";
	char *self[] = {name, victim, NULL}, *other[] = {echo, text, NULL};
	u64 sum = 0;
	fflush(stdout);
	for (u64 i = 0; i < 3; i++) {
		pid_t child;
		sum = sum * 31 + process_vfork(i == 1 ? other : self);
		if (posix_spawn(&child, other[0], NULL, NULL, other, environ))
			abort();
		sum = sum * 31 + process_status(child);
		if (posix_spawn(&child, self[0], NULL, NULL, self, environ))
			abort();
		sum = sum * 31 + process_status(child) + process_work(i);
	}
	return sum;
}
