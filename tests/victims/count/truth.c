/* Where what was counted goes: truth.h. */
#include "truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread unsigned truth_thread;
static int tids[TRUTH_THREADS], told;

extern struct subject __start_subjects[], __stop_subjects[];

static void gettid_into(int *to)
{
	*to = (int)syscall(SYS_gettid);
}

void truth_begin_thread(unsigned number)
{
	truth_thread = number;
	gettid_into(&tids[number]);
}

/* A line in one write, so that those of several processes do not mix. */
static void tell_of(int fd, const struct subject *s, unsigned thread)
{
	const struct tally *t = &s->of[thread];
	char line[4096];
	int n = snprintf(line, sizeof(line), "%d %d %s %s %llu", (int)getpid(), tids[thread],
			 s->kind, s->name, (unsigned long long)t->entries);
	if (!strcmp(s->kind, "loop")) {
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %llu %llu %llu ",
			      (unsigned long long)t->iterations, (unsigned long long)t->min,
			      (unsigned long long)t->max);
		for (unsigned i = 0; i < TRIP_BUCKETS; i++)
			if (t->trips[i])
				n += snprintf(line + n, sizeof(line) - (size_t)n, "%llu:%llu,",
					      i < EXACT_TRIPS ? (unsigned long long)i
							      : 1ull << (i - EXACT_TRIPS + 5),
					      (unsigned long long)t->trips[i]);
	}
	n += snprintf(line + n, sizeof(line) - (size_t)n, "\n");
	if (write(fd, line, (size_t)n) != n)
		abort();
}

void truth_tell(void)
{
	const char *path = getenv("COUNT_TRUTH");
	int fd = path && !told ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	if (fd < 0)
		return;
	told = 1;
	if (!tids[0])
		tids[0] = (int)getpid();
	for (struct subject *s = __start_subjects; s < __stop_subjects; s++)
		for (unsigned i = 0; i < TRUTH_THREADS; i++)
			if (s->of[i].entries)
				tell_of(fd, s, i);
	close(fd);
}

void truth_forget(void)
{
	for (struct subject *s = __start_subjects; s < __stop_subjects; s++)
		memset(s->of, 0, sizeof(s->of));
	memset(tids, 0, sizeof(tids));
	gettid_into(&tids[0]);
	truth_thread = 0;
}

/* Behind all that counts. */
__attribute__((destructor(101))) static void at_end(void)
{
	truth_tell();
}
