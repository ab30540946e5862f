/* Runs a program, or watches a process for some time, with the sampler that stops threads, and does
 * nothing with the samples but count them.
 *
 *	stop_driver [--wall] [--hz N] [--seconds S] [--counts FILE] (-p PID | CMD ARGS...)
 *
 * Ends with the status of the program; --counts gets one line of what was seen. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/launch.h"
#include "process/memory.h"
#include "sample/sampler.h"

static struct {
	uint64_t samples, weight, blocked, blocked_weight, threads, forks, execs, exits, unread;
} counts;

static volatile sig_atomic_t interrupted;

/* What a sink does at least: looks at the stack of the stopped thread. */
static void on_sample(void *ctx, const struct sample *s)
{
	uint64_t word;
	uint64_t sp = s->registers.reg[arch_native()->sp];
	(void)ctx;
	counts.samples += !s->blocked;
	counts.blocked += s->blocked;
	counts.weight += s->blocked ? 0 : s->weight;
	counts.blocked_weight += s->blocked ? s->weight : 0;
	if (s->stopped && memory_read(s->pid, sp, &word, sizeof(word)) != sizeof(word))
		counts.unread++;
}

static void on_map(void *ctx, const struct mapping_event *m)
{
	(void)ctx, (void)m;
}

static void on_name(void *ctx, int pid, int tid, const char *comm)
{
	(void)ctx, (void)pid, (void)tid, (void)comm;
}

static void on_exec(void *ctx, int pid)
{
	(void)ctx, (void)pid;
	counts.execs++;
}

static void on_fork(void *ctx, int parent, int pid)
{
	(void)ctx, (void)parent, (void)pid;
	counts.forks++;
}

static void on_thread(void *ctx, int pid, int tid)
{
	(void)ctx, (void)pid, (void)tid;
	counts.threads++;
}

static void on_end(void *ctx, int pid, int tid)
{
	(void)ctx, (void)pid, (void)tid;
	counts.exits++;
}

static void on_lost(void *ctx, uint64_t samples)
{
	(void)ctx, (void)samples;
}

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static struct sampler_options options = {
	.events = {{.name = "cpu-clock", .unit = "ns", .clock = true}},
	.event_count = 1,
	.hz = 999,
	.max_stack = 4096,
	.sink = {on_sample, on_map, on_name, on_exec, on_fork, on_thread, on_end, on_lost, NULL},
};

static void die(const char *text)
{
	fprintf(stderr, "stop_driver: %s\n", text);
	exit(125);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_counts(const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "samples=%" PRIu64 " weight=%" PRIu64 " blocked=%" PRIu64, counts.samples,
		counts.weight, counts.blocked);
	fprintf(f, " blocked_weight=%" PRIu64 " threads=%" PRIu64 " forks=%" PRIu64,
		counts.blocked_weight, counts.threads, counts.forks);
	fprintf(f, " execs=%" PRIu64 " exits=%" PRIu64 " unread=%" PRIu64 "\n", counts.execs,
		counts.exits, counts.unread);
	fclose(f);
}

/* As a shell tells it. */
static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct sampler *s;
	struct err e;
	double seconds = 0;
	const char *file = NULL;
	int i = 1, pid = 0, why, status = 0;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--wall"))
			options.wall = true;
		else if (i + 1 == argc)
			die("an option lacks its value");
		else if (!strcmp(argv[i], "--hz"))
			options.hz = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = atof(argv[++i]);
		else if (!strcmp(argv[i], "--counts"))
			file = argv[++i];
		else if (!strcmp(argv[i], "-p"))
			pid = atoi(argv[++i]);
		else
			die("no such option");
	}
	launch_remember_signals();
	signal(SIGINT, on_interrupt);
	if (stop_sampler_new(&s, &options, &e))
		die(e.text);
	struct launch l = {.pid = pid};
	if (!pid && (i == argc || launch_prepare(&l, argv + i, &e)))
		die("no program");
	if (s->ops->watch(s, l.pid, true, !pid, &e))
		die(e.text);
	if (!pid && launch_go(&l, argv[i], &why, &e))
		die(e.text);
	double end = seconds > 0 ? now() + seconds : 0;
	bool ended;
	while (!(ended = s->ops->ended(s, l.pid, &status)) && !interrupted &&
	       (end == 0 || now() < end))
		if (s->ops->run(s, 20, &e))
			die(e.text);
	s->ops->finish(s);
	write_counts(file);
	/* What is left of the program runs on without us; its status is ours all the same. */
	while (!pid && !ended && !(ended = s->ops->ended(s, l.pid, &status)))
		usleep(1000);
	s->ops->free(s);
	return pid ? 0 : status_of(status);
}
