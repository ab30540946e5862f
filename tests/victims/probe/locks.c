/* Threads that fight for locks: mutex, spin lock, reader-writer lock, atomics. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "victim.h"

enum { THREADS = 3, TIMES = 400 };

struct bank {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	u64 by_mutex, by_spin, by_rwlock;
	_Atomic u64 by_atomic, by_compare;
};

KEEP void lock_mutex(struct bank *b, u64 x)
{
	CALLED("lock_mutex");
	pthread_mutex_lock(&b->mutex);
	b->by_mutex += x;
	pthread_mutex_unlock(&b->mutex);
	LEFT("lock_mutex");
}

KEEP void lock_spin(struct bank *b, u64 x)
{
	CALLED("lock_spin");
	pthread_spin_lock(&b->spin);
	b->by_spin += x;
	pthread_spin_unlock(&b->spin);
	LEFT("lock_spin");
}

KEEP void lock_rwlock(struct bank *b, u64 x)
{
	CALLED("lock_rwlock");
	if (x % 8 == 0) {
		pthread_rwlock_wrlock(&b->rwlock);
		b->by_rwlock += x;
	} else {
		pthread_rwlock_rdlock(&b->rwlock);
	}
	pthread_rwlock_unlock(&b->rwlock);
	LEFT("lock_rwlock");
}

KEEP void lock_atomic(struct bank *b, u64 x)
{
	CALLED("lock_atomic");
	atomic_fetch_add(&b->by_atomic, x);
	u64 old = atomic_load(&b->by_compare);
	while (!atomic_compare_exchange_weak(&b->by_compare, &old, old + mix(x)))
		;
	LEFT("lock_atomic");
}

KEEP void *lock_thread(void *arg)
{
	CALLED("lock_thread");
	for (u64 i = 0; i < TIMES; i++) {
		lock_mutex(arg, i);
		lock_spin(arg, i);
		lock_rwlock(arg, i);
		lock_atomic(arg, i);
	}
	return NULL;
}

u64 victim_locks(void)
{
	struct bank b = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rwlock = PTHREAD_RWLOCK_INITIALIZER};
	pthread_t t[THREADS];
	pthread_spin_init(&b.spin, PTHREAD_PROCESS_PRIVATE);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, lock_thread, &b))
			abort();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_spin_destroy(&b.spin);
	return b.by_mutex ^ b.by_spin << 7 ^ b.by_rwlock << 13 ^ b.by_atomic << 17 ^ b.by_compare;
}
