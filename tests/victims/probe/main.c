/* Runs the victims that the arguments name, and prints their checksums.
 *
 *	victim [-r ROUNDS] [-t THREADS] [-u] [-w] NAME...
 *
 * Each runs ROUNDS times in the first thread, one after the other; with -t in THREADS threads of
 * its own, all at once; with -u until SIGTERM. -w: waits for SIGUSR1 before it begins. Rounds whose
 * checksum differs from that of the others are reported. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "victim.h"

#define EACH(DO)                                                                                   \
	DO(calls) DO(paths) DO(deep) DO(loops) DO(shapes) DO(exceptions) DO(jumps) DO(contexts)    \
	DO(signals) DO(threads) DO(forks) DO(execs) DO(loading) DO(waits) DO(vectors) DO(locks)    \
	DO(interrupted) DO(objects) DO(cancelled) DO(restartable)

#define DECLARE(name) u64 victim_##name(void) __attribute__((weak));
EACH(DECLARE)

static const struct victim {
	const char *name;
	u64 (*run)(void);
} victims[] = {
#define ROW(name) {#name, victim_##name},
	EACH(ROW)
};

enum { JOBS = 64 };

struct job {
	const struct victim *victim;
	pthread_t thread;
	u64 sum, rounds, wrong, last;
};

static u64 rounds = 1;
static int endless;
static volatile sig_atomic_t stop;

extern struct truth __start_truths[], __stop_truths[];

/* A line in one write, so that those of several processes do not mix. */
void truth_tell(void)
{
	const char *path = getenv("PROBE_TRUTH");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
	char line[512];
	if (fd < 0)
		return;
	for (struct truth *t = __start_truths; t < __stop_truths; t++) {
		int n = snprintf(line, sizeof(line), "%d %s %s %llu\n", (int)getpid(), t->kind,
				 t->name, (unsigned long long)t->count);
		if (write(fd, line, (size_t)n) != n)
			abort();
	}
	close(fd);
}

void truth_forget(void)
{
	for (struct truth *t = __start_truths; t < __stop_truths; t++)
		t->count = 0;
}

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void on_begin(int sig)
{
	(void)sig;
}

static void *run_job(void *arg)
{
	struct job *j = arg;
	/* One round at least: on a slow machine the end may come before the beginning. */
	for (u64 i = 0; endless ? !stop || !i : i < rounds; i++) {
		u64 sum = j->victim->run();
		if (!j->rounds++)
			j->sum = sum;
		else if (sum != j->sum)
			j->last = sum, j->wrong++;
	}
	return NULL;
}

static int tell(const struct job *j)
{
	if (j->wrong)
		printf("%s wrong in %llu of %llu rounds: %016llx\n", j->victim->name,
		       (unsigned long long)j->wrong, (unsigned long long)j->rounds,
		       (unsigned long long)j->last);
	printf("%s %016llx\n", j->victim->name, (unsigned long long)j->sum);
	return j->wrong != 0;
}

static const struct victim *find(const char *name)
{
	for (size_t i = 0; i < sizeof(victims) / sizeof(victims[0]); i++)
		if (!strcmp(victims[i].name, name) && victims[i].run)
			return &victims[i];
	fprintf(stderr, "no victim %s\n", name);
	exit(2);
}

static void wait_for_begin(void)
{
	sigset_t set, before;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGUSR1, on_begin);
	sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char **argv)
{
	struct job jobs[JOBS];
	unsigned threads = 0, count = 0;
	int wait = 0, failed = 0;
	for (int c; (c = getopt(argc, argv, "r:t:uw")) >= 0;) {
		if (c == 'r')
			rounds = strtoull(optarg, NULL, 0);
		else if (c == 't')
			threads = (unsigned)atoi(optarg);
		else if (c == 'u')
			endless = 1;
		else if (c == 'w')
			wait = 1;
	}
	signal(SIGTERM, on_term);
	if (wait)
		wait_for_begin();
	for (int i = optind; i < argc; i++)
		for (unsigned k = 0; k < (threads ? threads : 1) && count < JOBS; k++)
			jobs[count++] = (struct job){.victim = find(argv[i])};
	for (unsigned i = 0; i < count; i++)
		if (!threads)
			run_job(&jobs[i]);
		else if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]))
			abort();
	for (unsigned i = 0; threads && i < count; i++)
		pthread_join(jobs[i].thread, NULL);
	for (unsigned i = 0; i < count; i++)
		failed |= tell(&jobs[i]);
	truth_tell();
	return failed ? 1 : 7;
}
