/* Short processes, two at a time. usage: processes COUNT */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	char *const command[] = {"true", NULL};
	long count = argc > 1 ? atol(argv[1]) : 100, living = 0, ended = 0;
	for (long i = 0; i < count; i++) {
		pid_t pid;
		if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ))
			return 1;
		if (++living == 2 && wait(NULL) > 0) {
			living--;
			ended++;
		}
	}
	while (wait(NULL) > 0)
		ended++;
	printf("%ld\n", ended);
	return ended != count;
}
