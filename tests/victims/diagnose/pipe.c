/* A process waits in read() for what another, slow one writes into a pipe; never little at once. */
#include "victim.h"

enum { SIZE = 8192 };

static uint64_t first, second, made, waited;

OWN static uint64_t compose(uint64_t x)
{
	for (int i = 0; i < 4000000; i++) /* hot: compose */
		STIR(x);
	return x;
}

OWN static void write_all(int fd)
{
	static uint64_t message[SIZE / 8];
	while (running()) { /* hot: write_all */
		message[0] = compose(7);
		if (write(fd, message, SIZE) != SIZE)
			abort();
	}
}

OWN static uint64_t digest(uint64_t x)
{
	for (int i = 0; i < 100000; i++)
		STIR(x);
	return x;
}

OWN static bool fetch(int fd, uint64_t *message)
{
	ssize_t got;
	TIME_OF(waited, got = read(fd, message, SIZE));
	return got == SIZE;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	uint64_t message[SIZE / 8];
	int ends[2];
	if (pipe(ends))
		abort();
	if (fork() == 0) {
		close(ends[0]);
		write_all(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	while (fetch(ends[0], message)) { /* hot: main */
		same(&first, message[0]);
		same(&second, digest(message[0]));
	}
	wait(NULL);
	struct rusage r;
	getrusage(RUSAGE_CHILDREN, &r);
	made = (uint64_t)r.ru_utime.tv_sec * 1000000000u + (uint64_t)r.ru_utime.tv_usec * 1000u;
	finish("pipe");
	tell("io", "fetch", waited, elapsed() * 2);
	tell_cpu("compose", made);
}
