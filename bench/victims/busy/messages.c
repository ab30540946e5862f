/* Four threads in a ring that pass messages of 4 KB through pipes: little but system calls and
 * waiting. Each thread has a message under way. usage: messages ROUNDS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, WORDS = 512 };

static int pipes[THREADS][2];
static uint64_t results[THREADS][8];
static long rounds;

static void stamp(uint64_t *message, uint64_t with)
{
	for (int i = 0; i < WORDS; i++)
		message[i] = message[i] * 31 + with;
}

static void *pass(void *argument)
{
	uintptr_t me = (uintptr_t)argument;
	uint64_t message[WORDS] = {me};
	for (long i = 0; i < rounds; i++) {
		stamp(message, me);
		if (write(pipes[(me + 1) % THREADS][1], message, sizeof(message)) !=
			    sizeof(message) ||
		    read(pipes[me][0], message, sizeof(message)) != sizeof(message))
			abort();
	}
	results[me][0] = message[0] ^ message[WORDS - 1];
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;
	rounds = argc > 1 ? atol(argv[1]) : 10000;
	for (int i = 0; i < THREADS; i++)
		if (pipe(pipes[i]))
			return 1;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, pass, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum ^= results[i][0];
	}
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
