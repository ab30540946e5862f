/* Work of known places for `record` to find: in the process itself, in two threads, in a child.
 * The argument says for how many milliseconds each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static long milliseconds;

/* Time of this thread's own, whatever else the machine does. */
static long used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

__attribute__((noinline)) static void spin(void)
{
	for (long end = used() + milliseconds; used() < end;)
		for (unsigned i = 0; i < 20000; i++)
			sink += i;
}

__attribute__((noinline)) static int descend(int depth)
{
	int deepest = depth;
	if (depth < 20)
		deepest = descend(depth + 1);
	else
		spin();
	sink++; /* so that the calls above are not tail calls */
	return deepest;
}

static void *in_thread(void *arg)
{
	spin();
	return arg;
}

static int in_child(void)
{
	spin();
	sink++;
	return 4;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int status = 0;
	milliseconds = argc > 1 ? atol(argv[1]) : 400;
	pid_t child = fork();
	if (!child)
		_exit(in_child());
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	int depth = descend(0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, &status, 0);
	printf("depth %d, child %d\n", depth, WEXITSTATUS(status));
	return 7;
}
