/* Puts probes into a program and takes them out, as it is told, for benchmarks:
 *
 *	probe_orders PID                 orders come on standard input, each is answered by a line
 *	probe_orders --all FILE CMD ARGS counts entries and exits of all functions of CMD, and of
 * the libraries that it is loaded with
 *
 * Orders: "in counters|METRICS|METRICS,path NAME[,NAME...]", where METRICS is a number, a set of
 * 1 << enum rt_metric; "out" takes everything out; "hits" tells what was counted since the last
 * time; "overheads" prints what the engine assumes as the overhead of a probe. FILE gets "probes
 *refused hits seconds", the CPU time of CMD. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/engine/engine.h"
#include "process/launch.h"

struct orders {
	struct engine *engine;
	struct target *target;
	VEC(uint32_t) subjects;
};

_Noreturn static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "probe_orders: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(125);
}

static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == n && !strncmp(p, name, n))
			return true;
	return false;
}

/* Without names: all that are no guesses. */
static bool is_wanted(const struct function *p, const char *names)
{
	if (names)
		return p->name && is_listed(names, p->name);
	return !(p->flags & FUNCTION_PLT) && p->found_by != FOUND_GAP;
}

static void add_module(struct orders *o, struct place where, uint64_t bias, const char *names,
		       const struct subject_request *how)
{
	uint32_t count;
	flow_discover(where.code->flow);
	const struct function *list = flow_functions(where.code->flow, &count);
	for (uint32_t i = 0; i < count; i++) {
		struct subject_request r = *how;
		struct err e;
		if (!is_wanted(&list[i], names))
			continue;
		r.code = where.code;
		r.va = list[i].start;
		r.bias = bias;
		uint32_t subject = target_add(o->target, &r, &e);
		if (subject != SUBJECT_NONE)
			vec_push(&o->subjects, subject);
		else if (names)
			die("%s", e.text);
	}
}

static void add_all(struct orders *o, const char *names, const struct subject_request *how)
{
	struct maps maps;
	struct err e;
	if (maps_read(&maps, target_pid(o->target), &e))
		die("%s", e.text);
	for (uint32_t i = 0; i < maps.module_count; i++) {
		const struct mapped_module *mi = &maps.modules[i];
		if (mi->vdso)
			continue;
		struct place p = space_find(target_space(o->target), mi->code[0].start);
		if (p.code && p.code->flow)
			add_module(o, p, mi->code[0].start - p.va, names, how);
	}
	maps_release(&maps);
}

static struct batch_result commit(struct orders *o)
{
	struct batch_result r = {0};
	struct err e;
	if (target_commit(o->target, &r, &e))
		die("%s", e.text);
	return r;
}

static uint32_t refused(const struct batch_result *r)
{
	uint32_t sum = 0;
	for (int i = 0; i < REFUSAL_REASONS; i++)
		sum += r->refused[i];
	return sum;
}

static void tell_batch(const struct batch_result *r)
{
	printf("%u %u %" PRIu64 "\n", r->spots, refused(r), r->pause_ns);
}

static void order_in(struct orders *o, char *arguments)
{
	char *how = strtok(arguments, " \n"), *names = strtok(NULL, " \n");
	if (!how || !names)
		die("in what?");
	struct subject_request r = {.counters = !strcmp(how, "counters"),
				    .path = strstr(how, ",path")};
	r.metrics = r.counters ? 0 : (uint32_t)strtoul(how, NULL, 0);
	add_all(o, names, &r);
	if (!o->subjects.len)
		die("the program has none of %s", names);
	struct batch_result result = commit(o);
	tell_batch(&result);
}

static void order_out(struct orders *o)
{
	vec_each (s, &o->subjects)
		target_remove(o->target, *s);
	vec_clear(&o->subjects);
	struct batch_result result = commit(o);
	tell_batch(&result);
}

static void order_overheads(struct orders *o)
{
	const struct probe_overheads *c = engine_probe_overheads(o->engine);
	printf("%.2f %.2f %.2f %.2f\n", c->count, c->enter, c->exit, c->path);
}

static void obey(struct orders *o, char *line)
{
	if (!strncmp(line, "in ", 3))
		order_in(o, line + 3);
	else if (!strncmp(line, "out", 3))
		order_out(o);
	else if (!strncmp(line, "hits", 4))
		printf("%" PRIu64 "\n", target_overhead(o->target).hits);
	else if (!strncmp(line, "overheads", 9))
		order_overheads(o);
	else
		die("no such order: %s", line);
	fflush(stdout);
}

static void live_on(struct orders *o)
{
	struct engine_event event;
	if (!engine_poll(o->engine, 20, &event))
		return;
	if (event.what == ENGINE_ENDED)
		die("the program has ended");
	target_go(event.target);
}

static int take_orders(struct orders *o, int pid)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char line[8192];
	struct err e;
	if (engine_attach(o->engine, pid, &o->target, &e))
		die("%s", e.text);
	printf("attached\n");
	fflush(stdout);
	/* One order at a time: what poll() tells is not behind what stdio has read. */
	for (;;) {
		live_on(o);
		if (poll(&in, 1, 0) <= 0)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		obey(o, line);
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static uint64_t counted(struct orders *o)
{
	uint64_t sum = 0;
	vec_each (s, &o->subjects) {
		uint64_t counts[POINT_KINDS] = {0};
		target_counters(o->target, *s, counts);
		sum += counts[POINT_ENTRY] + counts[POINT_EXIT];
	}
	return sum;
}

static int run_to_the_end(struct orders *o)
{
	struct engine_event event;
	target_go(o->target);
	for (;;) {
		if (!engine_poll(o->engine, 1000, &event))
			continue;
		if (event.what == ENGINE_ENDED && event.target == o->target)
			return event.status;
		if (event.what == ENGINE_ENDED)
			engine_drop(o->engine, event.target);
		else
			target_go(event.target);
	}
}

static int count_all(struct orders *o, const char *file, char **argv)
{
	struct err e;
	int why;
	if (engine_launch(o->engine, argv, &o->target, &why, &e))
		die("%s", e.text);
	add_all(o, NULL, &(struct subject_request){.counters = true});
	struct batch_result r = commit(o);
	int status = run_to_the_end(o);
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	FILE *f = fopen(file, "w");
	if (!f)
		die("%s: %s", file, strerror(errno));
	fprintf(f, "%u %u %" PRIu64 " %.6f\n", r.spots, refused(&r), counted(o),
		seconds(usage.ru_utime) + seconds(usage.ru_stime));
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

int main(int argc, char **argv)
{
	struct orders o = {0};
	int status;
	bool all = argc > 3 && !strcmp(argv[1], "--all");
	if (argc != 2 && !all)
		die("what to do? the head of the source tells");
	launch_remember_signals();
	o.engine = engine_new(&(struct engine_options){0});
	status = all ? count_all(&o, argv[2], argv + 3) : take_orders(&o, atoi(argv[1]));
	vec_free(&o.subjects);
	engine_free(o.engine);
	return status;
}
