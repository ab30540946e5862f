/* What a program of several processes spends its time in, by command; how many of them worked at a
 * time; and what the end waited for. */
#include <math.h>

#include "base/quantity.h"
#include "findings/limits.h"
#include "findings/wording.h"

static int by_cpu(const void *a, const void *b)
{
	const struct evidence_command *x = *(const struct evidence_command *const *)a,
				      *y = *(const struct evidence_command *const *)b;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? 1 : -1;
	return (x > y) - (x < y);
}

/* The commands with most CPU time first. */
struct ranking {
	const struct evidence *e;
	VEC(const struct evidence_command *) list;
	double cpu; /* s of all */
};

static void rank(const struct evidence *e, struct ranking *out)
{
	*out = (struct ranking){.e = e};
	vec_each (c, &e->commands) {
		vec_push(&out->list, c);
		out->cpu += c->cpu;
	}
	if (out->list.len)
		qsort(out->list.data, out->list.len, sizeof(*out->list.data), by_cpu);
}

bool runs_commands(const struct evidence *e)
{
	uint64_t processes = 0;
	double cpu = 0;
	vec_each (c, &e->commands) {
		processes += c->processes;
		cpu += c->cpu;
	}
	return processes >= SEVERAL_PROCESSES && cpu > 0;
}

static const char *name_of(const struct evidence_command *c)
{
	return *c->name ? c->name : "(other names)";
}

/* Adds how long a process ran, and which one it was. */
static void add_longest(const struct evidence_command *c, struct text *out)
{
	text_printf(out, "%.*f s", c->longest < 9.95 ? 1 : 0, checked(A_TIME, c->longest));
	if (*c->argument)
		text_printf(out, ", %s", c->argument);
}

static void add_command(const struct ranking *r, uint32_t i, struct text *out)
{
	const struct evidence_command *c = r->list.data[i];
	text_printf(out, "%s%s %.0f %%%s", i ? ", " : "", name_of(c),
		    percent(share_of(c->cpu, r->cpu)), i ? "" : " of CPU time");
	if (c->processes > 1)
		text_printf(out, " (%u processes", c->processes);
	if (c->longest < told_longest || c->cpu < told_share * r->cpu)
		text_add(out, c->processes > 1 ? ")" : "");
	else if (c->processes > 1) {
		text_add(out, "; longest ");
		add_longest(c, out);
		text_char(out, ')');
	} else if (*c->argument)
		text_printf(out, " (%s)", c->argument);
}

static void add_others(const struct ranking *r, uint32_t shown, struct text *out)
{
	double rest = 0;
	for (uint32_t i = shown; i < r->list.len; i++)
		rest += r->list.data[i]->cpu;
	if (shown + 1 < r->list.len)
		text_printf(out, ", %u others %.0f %%", r->list.len - shown,
			    percent(share_of(rest, r->cpu)));
	else if (shown < r->list.len)
		add_command(r, shown, out);
}

static void word_shares(struct wording *t, const struct ranking *r)
{
	struct text line = TEXT_INIT;
	uint32_t shown = 0;
	text_add(&line, "Commands: ");
	while (shown < r->list.len && shown < MOST_COMMANDS_SHOWN &&
	       (!shown || r->list.data[shown]->cpu >= least_portion * r->cpu))
		add_command(r, shown++, &line);
	add_others(r, shown, &line);
	remark(t, PROFILE_NONE, "command", "%s", line.data);
	text_release(&line);
}

/* ---- side by side ---- */

struct alone {
	double all, closing;                        /* s in which one process worked */
	const struct evidence_command *most, *last; /* the ones with most of that */
};

static struct alone find_alone(const struct evidence *e)
{
	struct alone a = {0};
	vec_each (c, &e->commands) {
		a.all += c->alone;
		a.closing += c->closing;
		if (!a.most || c->alone > a.most->alone)
			a.most = c;
		if (!a.last || c->closing > a.last->closing)
			a.last = c;
	}
	return a;
}

/* The times of processes are a bit more exact than that of the search. */
static double of_run(const struct evidence_run *run, double seconds)
{
	return share_of(fmin(seconds, run->seconds), run->seconds);
}

static void add_alone(const struct evidence_run *run, const struct alone *a, struct text *out)
{
	double share = of_run(run, a->all);
	if (share < noticeable_alone)
		return;
	text_printf(out, "; one process at a time for %.0f %% of the run", percent(share));
	if (a->most->alone < nearly_all * a->all)
		text_printf(out, ", mostly %s (%.0f %%)", name_of(a->most),
			    percent(of_run(run, a->most->alone)));
	else
		text_printf(out, ": %s", name_of(a->most));
}

/* Where hardly ever several processes worked, the last stretch without is the whole run. */
static void add_closing(const struct evidence_run *run, const struct alone *a, struct text *out)
{
	double share = of_run(run, a->closing);
	if (share < noticeable_closing || a->closing < told_longest || share > nearly_all)
		return;
	text_printf(out, "; in the last %.1f s %s%s", checked(A_TIME, a->closing),
		    a->last->closing < nearly_all * a->closing ? "one at a time, mostly " : "only ",
		    name_of(a->last));
	if (*a->last->argument)
		text_printf(out, " (%s)", a->last->argument);
}

static void word_concurrency(struct wording *t, double cpu)
{
	const struct evidence_run *run = &t->k->e->run;
	struct alone a = find_alone(t->k->e);
	struct text line = TEXT_INIT;
	text_printf(&line, "%.1f of %u CPUs used on average", fmin(cpu / run->seconds, run->cpus),
		    run->cpus);
	add_alone(run, &a, &line);
	add_closing(run, &a, &line);
	remark(t, PROFILE_NONE, "command", "%s", line.data);
	text_release(&line);
}

void word_commands(struct wording *t)
{
	struct ranking r;
	if (!runs_commands(t->k->e))
		return;
	rank(t->k->e, &r);
	word_shares(t, &r);
	word_concurrency(t, r.cpu);
	vec_free(&r.list);
}
