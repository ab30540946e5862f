/* What was counted, as lines that victims print as well (tests/victims/probe/victim.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "probe.h"

struct totals totals;

void totals_add(const struct batch_result *r)
{
	totals.batches++;
	totals.spots += r->spots;
	for (int i = 0; i < REFUSAL_REASONS; i++)
		totals.refused[i] += r->refused[i];
	totals.patches += r->patches;
	totals.displaced += r->displaced;
	totals.relocated += r->relocated;
	totals.traps += r->traps;
	totals.adopted += r->adopted;
	totals.pause_ns += r->pause_ns;
	if (r->pause_ns > totals.longest_pause_ns)
		totals.longest_pause_ns = r->pause_ns;
}

static const char *const metric_name[] = {"wall", "cpu", "sync", "io", "bytes"};

static const struct {
	uint8_t point;
	const char *word;
} words[] = {{POINT_ENTRY, "calls"},
	     {POINT_EXIT, "left"},
	     {POINT_LOOP_ENTRY, "entered"},
	     {POINT_LOOP_EXIT, "exited"},
	     {POINT_ITERATION_BEGIN, "iterated"},
	     {POINT_ITERATION_END, "ended"}};

static void report_counts(struct text *out, struct target *t, const struct candidate *c,
			  uint32_t subject)
{
	uint64_t counts[POINT_KINDS] = {0};
	char depth[16] = "";
	target_counters(t, subject, counts);
	if (c->depth)
		snprintf(depth, sizeof(depth), "@%u", c->depth);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if ((words[i].point >= POINT_LOOP_ENTRY) == (c->depth > 0))
			text_printf(out, "%d %s %s%s %" PRIu64 "\n", target_pid(t), words[i].word,
				    c->name, depth, counts[words[i].point]);
}

struct visit {
	struct text *out;
	struct target *target;
	const struct member *member;
};

static const char *name_of(struct target *t, uint64_t pc)
{
	struct place p = space_find(target_space(t), pc - 1);
	uint32_t i = p.code && p.code->flow ? flow_function_at(p.code->flow, p.va) : UINT32_MAX;
	uint32_t count;
	const char *name = i == UINT32_MAX ? NULL : flow_functions(p.code->flow, &count)[i].name;
	return name ? name : "?";
}

/* From the frame of victim_* inwards. */
static void print_path(struct visit *x, const struct path_value *v, const char *subject)
{
	uint32_t from = v->frame_count;
	for (uint32_t i = 0; i < v->frame_count && from == v->frame_count; i++)
		if (!strncmp(name_of(x->target, v->frames[i]), "victim_", 7))
			from = i + 1;
	text_printf(x->out, "%d %s ", target_pid(x->target), v->complete ? "path" : "partial");
	for (uint32_t i = from; i-- > 0;)
		text_printf(x->out, "%s;", name_of(x->target, v->frames[i]));
	text_printf(x->out, "%s %" PRIu64 "\n", subject, v->calls);
}

static void print_value(void *ctx, const struct path_value *v)
{
	struct visit *x = ctx;
	const struct used *u = NULL;
	for (uint32_t i = 0; i < x->member->kept; i++)
		if (x->member->used.data[i].subject == v->subject)
			u = &x->member->used.data[i];
	if (!u)
		return;
	const struct candidate *c = &x->member->candidates.data[u->candidate];
	if (c->depth)
		return;
	if (u->path)
		print_path(x, v, c->name);
	else
		text_printf(x->out, "%d calls %s %" PRIu64 "\n", target_pid(x->target), c->name,
			    v->calls);
	for (size_t i = 0; i < ARRAY_SIZE(metric_name) && !v->recursive; i++)
		if (settings.metrics & 1u << i)
			text_printf(x->out, "%d %s %s %" PRIu64 "\n", target_pid(x->target),
				    metric_name[i], c->name, v->total[i]);
}

static const struct {
	uint32_t call;
	const char *name;
} call_names[] = {
	{SYS_read, "read"},   {SYS_write, "write"},           {SYS_pwrite64, "write"},
	{SYS_fsync, "fsync"}, {SYS_futex, "futex"},           {SYS_wait4, "child"},
	{SYS_openat, "open"}, {SYS_clock_nanosleep, "sleep"}, {SYS_nanosleep, "sleep"},
	{UINT32_MAX, "spin"},
};

static const char *call_name(uint32_t call)
{
	for (size_t i = 0; i < ARRAY_SIZE(call_names); i++)
		if (call_names[i].call == call)
			return call_names[i].name;
	return "other";
}

static void name_object(char out[32], const struct wait_value *v)
{
	if (v->object == UINT64_MAX)
		snprintf(out, 32, "%s", call_name(v->call));
	else
		snprintf(out, 32, "%s:%" PRIx64, call_name(v->call), v->object);
}

/* PID made WHAT@FUNCTION 1 */
static void print_maker(const struct visit *x, const struct wait_value *v, const char *what)
{
	uint64_t pc = v->subject == SUBJECT_NONE ? target_made(x->target, v->object) : 0;
	if (pc)
		text_printf(x->out, "%d made %s@%s 1\n", target_pid(x->target), what,
			    name_of(x->target, pc));
}

/* PID waits|waited|moved|small|small_ns|waiting WHAT[@SUBJECT] N */
static void print_wait(void *ctx, const struct wait_value *v)
{
	struct visit *x = ctx;
	const char *subject = "", *at = "";
	char what[32];
	for (uint32_t i = 0; i < x->member->used.len; i++)
		if (x->member->used.data[i].subject == v->subject) {
			at = "@";
			subject =
				x->member->candidates.data[x->member->used.data[i].candidate].name;
		}
	name_object(what, v);
	print_maker(x, v, what);
	const struct {
		const char *kind;
		uint64_t value;
	} values[] = {{"waits", v->count},       {"waited", v->wall_ns},
		      {"moved", v->bytes},       {"small", v->small_count},
		      {"small_ns", v->small_ns}, {"waiting", v->since_ns}};
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i].value)
			text_printf(x->out, "%d %s %s%s%s %" PRIu64 "\n", target_pid(x->target),
				    values[i].kind, what, at, subject, values[i].value);
}

void report_member(struct family *f, const struct member *m)
{
	struct visit x = {&f->report, m->target, m};
	if (settings.report && settings.waits)
		target_waits(m->target, print_wait, &x);
	if (!settings.report || !settings.counts)
		return;
	for (const struct used *u = m->used.data; u < m->used.data + m->kept; u++)
		if (!u->path && !settings.activations)
			report_counts(&f->report, m->target, &m->candidates.data[u->candidate],
				      u->subject);
	if (settings.activations || settings.paths)
		target_read(m->target, print_value, &x);
}

void report_write(const struct text *body)
{
	FILE *f = settings.report ? fopen(settings.report, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "batches %" PRIu64 "\nspots %" PRIu64 "\n", totals.batches, totals.spots);
	for (int i = 1; i < REFUSAL_REASONS; i++)
		if (totals.refused[i])
			fprintf(f, "refused %s %" PRIu64 "\n", refusal_word[i], totals.refused[i]);
	fprintf(f, "added %" PRIu64 "\nrejected %" PRIu64 " %s\n", totals.added, totals.rejected,
		totals.why_rejected);
	fprintf(f, "failed %" PRIu64 " %s\n", totals.failed_batches, totals.why_failed);
	fprintf(f, "patches %" PRIu64 "\ndisplaced %" PRIu64 "\nrelocated %" PRIu64 "\n",
		totals.patches, totals.displaced, totals.relocated);
	fprintf(f, "traps %" PRIu64 "\nadopted %" PRIu64 "\n", totals.traps, totals.adopted);
	fprintf(f, "pause_ns %" PRIu64 "\nlongest_pause_ns %" PRIu64 "\n", totals.pause_ns,
		totals.longest_pause_ns);
	fprintf(f, "deaths %" PRIu64 "\n", totals.planned_deaths);
	if (body && body->data)
		fputs(body->data, f);
	fclose(f);
}
