/* Threads that count their iterations in a file, and are ended in the middle of their loops: by the
 * program's exit, or by a signal.
 *
 *	killed FILE exit|kill|fault
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ENOUGH = 100000 };

#define KEEP __attribute__((noinline, noclone))

static volatile uint64_t *counts;

/* Nothing but a loop. */
KEEP void spin(void)
{
	for (;;)
		counts[0]++;
}

KEEP void step(void)
{
	counts[2]++;
}

/* A loop with a call in it, and one without. */
KEEP void march(void)
{
	for (;;) {
		counts[1]++;
		step();
		for (volatile int i = 0; i < 5; i++)
			counts[3]++;
	}
}

static void *spinner(void *ignored)
{
	spin();
	return ignored;
}

static void *marcher(void *ignored)
{
	march();
	return ignored;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED || pthread_create(&thread, NULL, spinner, NULL) ||
	    pthread_create(&thread, NULL, marcher, NULL))
		return 1;
	while (counts[0] < ENOUGH || counts[1] < ENOUGH)
		usleep(1000);
	if (!strcmp(argv[2], "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(argv[2], "fault"))
		*(volatile int *)8 = 1;
	exit(3);
}
