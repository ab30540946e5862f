/* Storms of threads, of forks and of vfork and exec. A fork's child tells its own truth. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

KEEP u64 storm_work(u64 n)
{
	u64 x = n;
	CALLED("storm_work");
	ENTERED("storm_work@1");
	do {
		ITERATED("storm_work@1");
		x = mix(x + n);
		BARRIER();
	} while (--n);
	LEFT("storm_work");
	return x;
}

KEEP void *storm_thread(void *arg)
{
	u64 *x = arg;
	CALLED("storm_thread");
	*x = storm_work(*x % 50 + 1);
	LEFT("storm_thread");
	return NULL;
}

/* Some of them detached: nobody waits, and they may end at any time. */
u64 victim_threads(void)
{
	enum { ROUNDS = 30, AT_ONCE = 5 };
	u64 sum = 0;
	for (u64 round = 0; round < ROUNDS; round++) {
		pthread_t t[AT_ONCE];
		u64 value[AT_ONCE];
		for (unsigned i = 0; i < AT_ONCE; i++) {
			value[i] = round * AT_ONCE + i;
			if (pthread_create(&t[i], NULL, storm_thread, &value[i]))
				abort();
		}
		for (unsigned i = 0; i < AT_ONCE; i++) {
			pthread_join(t[i], NULL);
			sum = sum * 31 + value[i];
		}
	}
	return sum;
}

static int wait_for(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) != pid)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "a child ended by signal %d\n", WTERMSIG(status));
	return 1000 + WTERMSIG(status);
}

KEEP int storm_child(u64 n)
{
	truth_forget();
	int result = (int)(storm_work(n + 1) % 100);
	if (n % 4 == 3) { /* a grandchild */
		pid_t pid = fork();
		if (!pid) {
			truth_forget();
			result = (int)(storm_work(n + 2) % 100);
			truth_tell();
			_exit(result);
		}
		result = (result + wait_for(pid)) % 100;
	}
	truth_tell();
	return result;
}

u64 victim_forks(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 12; i++) {
		pid_t pid[2];
		for (unsigned k = 0; k < 2; k++) {
			pid[k] = fork();
			if (!pid[k])
				_exit(storm_child(i + k * 3));
		}
		sum = sum * 31 + storm_work(i + 1);
		for (unsigned k = 0; k < 2; k++)
			sum = sum * 31 + (u64)wait_for(pid[k]);
	}
	return sum;
}

KEEP int storm_vfork(const char *what)
{
	CALLED("storm_vfork");
	pid_t pid = vfork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", what, (char *)NULL);
		_exit(99);
	}
	int status = wait_for(pid);
	LEFT("storm_vfork");
	return status;
}

u64 victim_execs(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 6; i++) {
		char command[32];
		snprintf(command, sizeof(command), "exit %d", (int)(storm_work(i + 1) % 100));
		sum = sum * 31 + (u64)storm_vfork(command);
		sum = sum * 31 + (u64)system("true");
	}
	return sum;
}
