/* A pipeline of eight threads: one makes blocks, six compress them, one adds up what came out;
 * queues between them, with a mutex and condition variables each. usage: pipeline BLOCKS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { WORKERS = 6, SLOTS = 16, BLOCK = 16384 };

struct block {
	unsigned char text[BLOCK], packed[BLOCK + 1024];
	unsigned long size;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct block *slots[SLOTS];
	unsigned first, count;
};

#define EMPTY                                                                                      \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER,          \
		.not_full = PTHREAD_COND_INITIALIZER                                               \
	}
static struct queue made = EMPTY, packed = EMPTY;
static long blocks;

static void put(struct queue *q, struct block *b)
{
	pthread_mutex_lock(&q->lock);
	while (q->count == SLOTS)
		pthread_cond_wait(&q->not_full, &q->lock);
	q->slots[(q->first + q->count++) % SLOTS] = b;
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
}

static struct block *take(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (!q->count)
		pthread_cond_wait(&q->not_empty, &q->lock);
	struct block *b = q->slots[q->first];
	q->first = (q->first + 1) % SLOTS;
	q->count--;
	pthread_cond_signal(&q->not_full);
	pthread_mutex_unlock(&q->lock);
	return b;
}

/* A null block tells a worker that no more will come. */
static void *make(void *unused)
{
	uint64_t x = 1;
	for (long i = 0; i < blocks; i++) {
		struct block *b = malloc(sizeof(*b));
		for (int k = 0; k < BLOCK; k++)
			b->text[k] = (unsigned char)("etaoin shrdlu "[(x = x * 6364136223846793005 +
									   1) >>
									      60 &
								      7] +
						     (k & 1));
		put(&made, b);
	}
	for (int i = 0; i < WORKERS; i++)
		put(&made, NULL);
	return unused;
}

static void *pack(void *unused)
{
	for (struct block *b; (b = take(&made));) {
		b->size = sizeof(b->packed);
		compress2(b->packed, &b->size, b->text, BLOCK, 6);
		put(&packed, b);
	}
	return unused;
}

static void *add_up(void *sum)
{
	for (long i = 0; i < blocks; i++) {
		struct block *b = take(&packed);
		*(unsigned long *)sum += b->size + crc32(0, b->packed, (unsigned)b->size);
		free(b);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKERS + 2];
	unsigned long sum = 0;
	blocks = argc > 1 ? atol(argv[1]) : 1000;
	pthread_create(&threads[0], NULL, make, NULL);
	pthread_create(&threads[1], NULL, add_up, &sum);
	for (int i = 2; i < WORKERS + 2; i++)
		pthread_create(&threads[i], NULL, pack, NULL);
	for (int i = 0; i < WORKERS + 2; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", sum);
	return 0;
}
