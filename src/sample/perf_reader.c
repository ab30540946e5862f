/* The reader: a thread that empties the rings while samples are being processed. It sleeps until
 * the kernel reports that a ring is filled to its watermark. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/log.h"
#include "sample/perf_rings.h"

enum {
	/* bytes in copies; above that, rings fill up, and the kernel drops and counts samples */
	HELD_LARGEST = 256 << 20,
	/* until the rings are looked at again after that: a full ring causes no wakeup */
	PAUSE_MS = 10,
};

static bool is_full(const struct perf_rings *p)
{
	return __atomic_load_n(&p->held, __ATOMIC_RELAXED) >= HELD_LARGEST;
}

static void copy_and_report(struct perf_rings *p)
{
	if (is_full(p))
		return;
	pthread_mutex_lock(&p->lock);
	bool news = perf_rings_copy(p);
	pthread_mutex_unlock(&p->lock);
	if (news)
		eventfd_write(p->news, 1);
}

/* The files to poll: one for each ring, and `stop` as the last one. */
static struct pollfd *what_to_poll(const struct perf_rings *p)
{
	struct pollfd *polled = xcalloc(p->count + 1, sizeof(*polled));
	for (unsigned i = 0; i < p->count; i++)
		polled[i] = (struct pollfd){.fd = p->rings[i].fd, .events = POLLIN};
	polled[p->count] = (struct pollfd){.fd = p->stop, .events = POLLIN};
	return polled;
}

/* The event of a thread that has ended is always ready: poll() would never sleep again. */
static void forget_ended(struct pollfd *polled, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (polled[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			polled[i].fd = -1;
}

static void *read_rings(void *arg)
{
	struct perf_rings *p = arg;
	struct pollfd *polled = what_to_poll(p);
	while (poll(polled, p->count + 1, is_full(p) ? PAUSE_MS : -1) >= 0 &&
	       !polled[p->count].revents) {
		forget_ended(polled, p->count);
		copy_and_report(p);
	}
	free(polled);
	return NULL;
}

/* Signals are for the thread that runs the sampler. */
static bool start_without_signals(struct perf_rings *p)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = !fault("perf-reader", EAGAIN) &&
		       pthread_create(&p->reader, NULL, read_rings, p) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static void close_both(struct perf_rings *p)
{
	if (p->news >= 0)
		close(p->news);
	if (p->stop >= 0)
		close(p->stop);
}

void perf_reader_start(struct perf_rings *p)
{
	p->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->has_reader = p->news >= 0 && p->stop >= 0 && start_without_signals(p);
	if (p->has_reader)
		return;
	close_both(p);
	debug(LOG_SAMPLE, 1, "no thread reads the rings: samples may be lost");
}

void perf_reader_stop(struct perf_rings *p)
{
	if (!p->has_reader)
		return;
	eventfd_write(p->stop, 1);
	pthread_join(p->reader, NULL);
	close_both(p);
	p->has_reader = false;
}
