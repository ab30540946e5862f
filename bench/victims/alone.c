/* Runs a command and writes what it took, so that a profiler's own time around it does not count:
 *
 *   alone FILE PROCESSOR COMMAND ARGS...      PROCESSOR -1: any
 *
 * FILE gets "user+system-seconds wall-seconds". */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void run(int CPU, char **command)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU < 0 || i == CPU)
			CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	if (argc < 4)
		return 125;
	double start = now();
	pid_t pid = fork();
	if (pid == 0)
		run(atoi(argv[2]), argv + 3);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 125;
	double wall = now() - start;
	FILE *f = fopen(argv[1], "w");
	if (!f)
		return 125;
	fprintf(f, "%.6f %.6f\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), wall);
	return fclose(f) || !WIFEXITED(status) ? 125 : WEXITSTATUS(status);
}
