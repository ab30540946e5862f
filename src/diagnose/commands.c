#include "diagnose/commands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "process/threads.h"

static const double asked_after = 0.02; /* s: shorter runs are not worth a question */

void commands_init(struct commands *c, struct arena *a)
{
	*c = (struct commands){.arena = a};
}

void commands_release(struct commands *c)
{
	vec_free(&c->list);
	vec_free(&c->runs);
	vec_free(&c->free);
	hashmap_release(&c->at);
	hashmap_release(&c->run_at);
}

static uint32_t command_named(struct commands *c, const char *name)
{
	name = c->list.len < MOST_COMMANDS ? name : "";
	uint32_t next = c->list.len;
	uint32_t at = hashmap_add(&c->at, hash_bytes(name, strlen(name), 0), next);
	if (at == next)
		vec_push(&c->list, (struct command_sum){.name = arena_strdup(c->arena, name)});
	return at;
}

/* ---- who works ---- */

/* Adds the time since the last change to the only run that works. */
static void account(struct commands *c, double now)
{
	double passed = now > c->since ? now - c->since : 0;
	c->since = now > c->since ? now : c->since;
	if (c->working != 1)
		return;
	struct command_sum *only = &c->list.data[c->runs.data[c->which].command];
	only->alone += passed;
	only->closing = passed + (only->stretch == c->stretch ? only->closing : 0);
	only->stretch = c->stretch;
}

static void begin_work(struct commands *c, uint32_t run)
{
	c->which ^= run;
	if (++c->working == 2)
		c->stretch++;
}

static void end_work(struct commands *c, uint32_t run)
{
	c->which ^= run;
	c->working--;
}

static bool works(const struct command_run *r)
{
	return !r->given && !r->children;
}

/* ---- runs ---- */

/* Hash maps do not forget keys: a run that has ended has another pid. */
static uint32_t run_of(const struct commands *c, int pid)
{
	uint32_t at = hashmap_get(&c->run_at, (uint64_t)pid);
	return at != HASHMAP_NONE && c->runs.data[at].pid == pid ? at : UINT32_MAX;
}

static void begin_run(struct commands *c, const struct command_run *r)
{
	uint32_t at = c->free.len ? vec_pop(&c->free) : c->runs.len;
	if (at == c->runs.len)
		vec_push(&c->runs, (struct command_run){0});
	c->runs.data[at] = *r;
	hashmap_put(&c->run_at, (uint64_t)r->pid, at);
	account(c, r->began);
	if (works(r))
		begin_work(c, at);
}

static void add_run(struct command_sum *to, const struct command_run *r, double now)
{
	double wall = now > r->began ? now - r->began : 0;
	to->first = to->last <= 0 || r->began < to->first ? r->began : to->first;
	to->last = fmax(to->last, r->began + wall);
	if (r->given)
		return;
	to->processes++;
	to->wall += wall;
	if (wall < to->longest)
		return;
	to->longest = wall;
	memcpy(to->argument, r->argument, sizeof(to->argument));
}

static void add_child(struct commands *c, int parent)
{
	uint32_t at = run_of(c, parent);
	if (at == UINT32_MAX)
		return;
	if (works(&c->runs.data[at]))
		end_work(c, at);
	c->runs.data[at].children++;
}

static void remove_child(struct commands *c, int parent)
{
	uint32_t at = run_of(c, parent);
	if (at == UINT32_MAX || !c->runs.data[at].children)
		return;
	c->runs.data[at].children--;
	if (works(&c->runs.data[at]))
		begin_work(c, at);
}

/* ---- reports ---- */

void commands_forked(struct commands *c, int parent, int pid, double when)
{
	commands_ended(c, pid, when); /* if its end was not reported */
	uint32_t from = run_of(c, parent);
	if (from == UINT32_MAX)
		return;
	struct command_run child = {
		.pid = pid, .parent = parent, .command = c->runs.data[from].command, .began = when};
	account(c, when);
	add_child(c, parent);
	begin_run(c, &child);
}

/* The program that Sonde has started; or, without perf, one that was started by vfork(). */
static void begin_unknown(struct commands *c, int pid, double when)
{
	struct command_run r = {.pid = pid,
				.parent = process_parent(pid),
				.command = command_named(c, ""),
				.began = when,
				.executed = true};
	account(c, when);
	add_child(c, r.parent);
	begin_run(c, &r);
}

/* A process that was forked to execute a program has done nothing else. */
void commands_executed(struct commands *c, int pid, double when)
{
	uint32_t at = run_of(c, pid);
	if (at == UINT32_MAX) {
		begin_unknown(c, pid, when);
		return;
	}
	struct command_run *r = &c->runs.data[at];
	account(c, when);
	if (r->executed || r->given) {
		add_run(&c->list.data[r->command], r, when);
		r->began = when;
	}
	r->executed = true;
	r->named = r->asked = false;
	r->argument[0] = '\0';
}

void commands_named(struct commands *c, int pid, const char *name, double when)
{
	uint32_t at = run_of(c, pid), command = command_named(c, name);
	if (at == UINT32_MAX) {
		begin_run(c, &(struct command_run){.pid = pid,
						   .command = command,
						   .began = when,
						   .named = true,
						   .given = true});
		return;
	}
	struct command_run *r = &c->runs.data[at];
	if (r->named || !r->executed)
		return;
	account(c, when);
	r->command = command;
	r->named = true;
}

void commands_ended(struct commands *c, int pid, double when)
{
	uint32_t at = run_of(c, pid);
	if (at == UINT32_MAX)
		return;
	struct command_run *r = &c->runs.data[at];
	account(c, when);
	add_run(&c->list.data[r->command], r, when);
	if (works(r))
		end_work(c, at);
	r->pid = 0;
	remove_child(c, r->parent);
	vec_push(&c->free, at);
}

void commands_ran(struct commands *c, int pid, double seconds)
{
	uint32_t at = run_of(c, pid);
	if (at != UINT32_MAX)
		c->list.data[c->runs.data[at].command].cpu += seconds;
}

void commands_used(struct commands *c, int pid, uint64_t cpu_ns)
{
	uint32_t at = run_of(c, pid);
	if (at == UINT32_MAX || cpu_ns <= c->runs.data[at].cpu_ns)
		return;
	commands_ran(c, pid, 1e-9 * (double)(cpu_ns - c->runs.data[at].cpu_ns));
	c->runs.data[at].cpu_ns = cpu_ns;
}

/* ---- arguments ---- */

static bool ends_in(const char *text, const char *const *endings)
{
	const char *dot = strrchr(text, '.');
	for (; dot && dot != text && *endings; endings++)
		if (!strcmp(dot, *endings))
			return true;
	return false;
}

static bool is_source(const char *text)
{
	static const char *const endings[] = {".c",  ".cc",   ".cpp", ".cxx",   ".C",   ".m",
					      ".mm", ".f",    ".F",   ".f90",   ".F90", ".f95",
					      ".rs", ".go",   ".d",   ".ads",   ".adb", ".S",
					      ".cu", ".java", ".hs",  ".swift", ".zig", NULL};
	return *text != '-' && ends_in(text, endings);
}

/* A script that is an argument itself is shown up to the end of its first line. */
static void keep_argument(const char *text, char out[ARGUMENT_SIZE])
{
	size_t length = strcspn(text, "\n");
	const char *slash = strchr(text, ' ') ? NULL : strrchr(text, '/');
	text = slash && slash[1] ? slash + 1 : text;
	length = slash && slash[1] ? strcspn(text, "\n") : length;
	snprintf(out, ARGUMENT_SIZE, "%.*s", (int)length, text);
}

void distinguishing_argument(const char *arguments, size_t size, char out[ARGUMENT_SIZE])
{
	const char *source = NULL, *written = NULL, *last = NULL, *before = "";
	size_t first = strnlen(arguments, size) + 1;
	for (size_t i = first; i < size; i += strlen(arguments + i) + 1) {
		const char *word = arguments + i;
		source = is_source(word) ? word : source;
		written = !strcmp(before, "-o") ? word : written;
		last = *word && *word != '-' ? word : last;
		before = word;
	}
	const char *best = source ? source : written ? written : last;
	keep_argument(best ? best : "", out);
}

static void ask(struct command_run *r)
{
	char path[40], text[4096];
	snprintf(path, sizeof(path), "/proc/%d/cmdline", r->pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	distinguishing_argument(text, n, r->argument);
	r->asked = true;
}

void commands_look(struct commands *c, double now)
{
	vec_each (r, &c->runs) {
		const struct command_sum *of = &c->list.data[r->command];
		double ran = now - r->began;
		if (r->pid && r->executed && !r->asked && ran >= asked_after &&
		    2 * ran > of->longest)
			ask(r);
	}
}

/* ---- reading ---- */

static double closing_of(const struct commands *c, const struct command_sum *x)
{
	return c->working <= 1 && x->stretch == c->stretch ? x->closing : 0;
}

void commands_until(const struct commands *c, double now, command_list *out)
{
	struct commands all = *c;
	*out = (command_list){0};
	vec_each (x, &c->list)
		vec_push(out, *x);
	all.list = *out;
	account(&all, now);
	vec_each (r, &c->runs)
		if (r->pid)
			add_run(&out->data[r->command], r, now);
	vec_each (x, out)
		x->closing = closing_of(c, x);
}
