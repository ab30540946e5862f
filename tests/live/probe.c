/* Programs with probes in them: the proof that they do not notice, and that the counts are right.
 *
 *	probe MODE [OPTIONS] (-p PID | CMD ARGS...)
 *
 *	all       every function and every loop at once, from the start to the end
 *	torture   random batches in and out until the program ends, or until there were --batches
 *	          or --seconds: it is sent SIGTERM then. What --names and --paths name stays in all
 *	          the time
 *	death     the same by lives that are killed at random, or with --die NAME at that fault
 *	          point; a last one takes out what they left
 *	clean     everything in and out of a running program; compares it with what it was
 *	steps     everything out and in again at every instruction that a thread comes to, or with
 *	          --islands at all of these, for --seconds and at --batches places at least
 *	watch     probes for --seconds, and what a search asks then: where threads are, what they
 *	          wait for, with probes that do nothing at last
 *
 * `death`, `clean` and `steps` start CMD by themselves and end it with SIGTERM. Ends with the
 *status of the program, with 3 if it was changed, with 125 if something else went wrong. --report
 *gets what was done and counted. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"
#include "process/launch.h"

struct settings settings = {.deaths = 20, .times = 1, .seed = 1};

void die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "probe: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(125);
}

void sleep_seconds(double s)
{
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
	nanosleep(&t, NULL);
}

int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

uint64_t chance(uint64_t n)
{
	settings.seed =
		settings.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (settings.seed >> 33) % n;
}

static void use_all(struct member *m, uint32_t from)
{
	use_named(m, from);
	m->kept = m->used.len;
	commit(m);
}

int mode_all(char **argv)
{
	struct family f = {.fresh = use_all};
	settings.only_named = true;
	family_begin(&f, argv);
	/* Children may outlive the program: they are ours as well. */
	while (!f.ended || f.members.len)
		family_poll(&f, 100);
	report_write(&f.report);
	int status = shell_status(f.status);
	family_end(&f);
	return status;
}

static const struct mode {
	const char *name;
	int (*run)(char **argv);
} modes[] = {
	{"all", mode_all},     {"torture", mode_torture}, {"death", mode_death},
	{"clean", mode_clean}, {"watch", mode_watch},     {"steps", mode_steps},
};

static const struct {
	const char *name;
	bool *to;
} switches[] = {
	{"--poison", &settings.engine.poison},
	{"--relocate", &settings.engine.relocate},
	{"--traps", &settings.engine.trap_all},
	{"--no-perf-clock", &settings.engine.no_perf_clock},
	{"--all-modules", &settings.all_modules},
	{"--no-loops", &settings.no_loops},
	{"--plt", &settings.plt},
	{"--gaps", &settings.gaps},
	{"--activations", &settings.activations},
	{"--counts", &settings.counts},
	{"--waits", &settings.waits},
	{"--loose", &settings.loose},
	{"--lazy", &settings.engine.lazy},
	{"--islands", &settings.islands},
};

static bool set_switch(const char *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		if (!strcmp(arg, switches[i].name))
			return *switches[i].to = true;
	return false;
}

static void set_value(const char *name, const char *value)
{
	if (!strcmp(name, "--names"))
		settings.names = value;
	else if (!strcmp(name, "--module"))
		settings.module = value;
	else if (!strcmp(name, "--paths"))
		settings.paths = value;
	else if (!strcmp(name, "--most-patches"))
		settings.engine.most_patches = (uint32_t)atoi(value);
	else if (!strcmp(name, "--metrics"))
		settings.metrics = (uint32_t)strtoul(value, NULL, 0);
	else if (!strcmp(name, "--budget"))
		settings.budget = (uint32_t)atoi(value);
	else if (!strcmp(name, "--report"))
		settings.report = value;
	else if (!strcmp(name, "--seed"))
		settings.seed = strtoull(value, NULL, 0);
	else if (!strcmp(name, "--batches"))
		settings.batches = (unsigned)atoi(value);
	else if (!strcmp(name, "--die"))
		settings.die = value;
	else if (!strcmp(name, "--deaths"))
		settings.deaths = (unsigned)atoi(value);
	else if (!strcmp(name, "--times"))
		settings.times = (unsigned)atoi(value);
	else if (!strcmp(name, "--seconds"))
		settings.seconds = atof(value);
	else if (!strcmp(name, "-p"))
		settings.pid = atoi(value);
	else
		die("no such option: %s", name);
}

int main(int argc, char **argv)
{
	const struct mode *mode = NULL;
	int i = 2;
	for (size_t k = 0; argc > 1 && k < ARRAY_SIZE(modes); k++)
		if (!strcmp(argv[1], modes[k].name))
			mode = &modes[k];
	if (!mode)
		die("the first argument is the mode");
	for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
		if (set_switch(argv[i]))
			continue;
		if (i + 1 == argc)
			die("%s lacks its value", argv[i]);
		set_value(argv[i], argv[i + 1]);
		i++;
	}
	i += i < argc && !strcmp(argv[i], "--");
	if (i == argc && !settings.pid)
		die("no program");
	launch_remember_signals();
	return mode->run(argv + i);
}
