/* `sonde diagnose`: reports why a program is slow, and where.
 *
 * If we started the program, the three standard streams belong to the program, and we write to
 * stderr. If we attached to it, stdout is ours. While the program runs, a few lines at the bottom
 * of the terminal show the progress of the search; without a terminal, a line is printed now and
 * then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cli/args/overhead.h"
#include "cli/args/processes.h"
#include "cli/args/seconds.h"
#include "cli/command.h"
#include "cli/live/region.h"
#include "cli/observe.h"
#include "cli/report/findings.h"
#include "cli/term/die.h"
#include "cli/term/output.h"
#include "cli/term/terminal.h"
#include "diagnose/session.h"

enum {
	TURN_MS = 20,          /* upper limit of the wait for events in one turn */
	DEFAULT_COLUMNS = 100, /* without a terminal */
	LIVE_FINDINGS = 3,     /* the live region has room for these below its headline */
};

struct diagnose_args {
	const char *output, *duration, *max_overhead, *deep_threshold;
	struct process_args who;
	unsigned strategy;
	bool loops, long_names, json;
};

static double thresholds[HYPOTHESES]; /* set by the user; 0: not set */

static const char *const strategies[] = {"deep-start", "call-graph", NULL};

/* Parses a value of --threshold: NAME=PERCENT. */
static int set_threshold(const char *value, struct err *e)
{
	char name[32], *end;
	const char *number = strchr(value, '=');
	size_t n = number ? (size_t)(number - value) : strlen(value);
	snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : 0, value);
	enum hypothesis_id h = hypothesis_named(name);
	if (h == HYPOTHESES)
		return err_set(e, ERR_INPUT,
			       "--threshold takes NAME=PERCENT, with cpu, system, memory, sync, "
			       "io, small-io or imbalance as NAME, such as cpu=10; not '%s'",
			       value);
	double percent = number ? strtod(number + 1, &end) : 0;
	if (!number || end == number + 1 || end[*end == '%'] || !(percent > 0) || percent > 100)
		return err_set(e, ERR_INPUT,
			       "--threshold %s takes a share in percent, such as %s=10", name,
			       name);
	thresholds[h] = percent / 100;
	return 0;
}

/* Parses percent; returns a share. */
static double parse_deep_threshold(const char *value)
{
	char *end;
	double percent = strtod(value, &end);
	end += *end == '%';
	if (end == value || *end || !(percent > 0) || percent > 100)
		die("--deep-threshold takes a percentage of samples such as 40, not '%s'", value);
	return percent / 100;
}

static void on_sentence(void *ctx, const char *sentence)
{
	live_region_clear(ctx);
	complain("diagnose: %s", sentence);
}

/* ---- while the program runs ---- */

static void show_progress(struct live_region *region, struct diagnosis *d)
{
	const char *lines[LIVE_FINDINGS];
	struct text head = TEXT_INIT;
	uint32_t count =
		live_region_is_wide(region) ? diagnose_strongest(d, lines, LIVE_FINDINGS) : 0;
	text_printf(&head, "%.0f s  %u experiment%s active, %u true, %u false, overhead %.1f %%%s",
		    d->session.seconds, d->active, d->active == 1 ? "" : "s", d->found, d->refuted,
		    percent(d->overhead), d->settled ? ", nothing left to test" : "");
	live_region_show(region, head.data, lines, count);
	text_release(&head);
}

static void watch(struct live_region *region, struct diagnosis *d)
{
	while (session_turn(&d->session, TURN_MS))
		if (live_region_is_due(region))
			show_progress(region, d);
	live_region_clear(region);
}

/* ---- at the end ---- */

static void write_json(const struct profile *p)
{
	struct text out = TEXT_INIT;
	struct json j = {.out = &out};
	json_object(&j, NULL);
	findings_json(p, &j);
	json_end(&j);
	terminal_write(STDOUT_FILENO, out.data, out.len);
	text_release(&out);
}

static void write_findings(const struct diagnose_args *a, const struct diagnosis *d, int fd)
{
	struct text out = TEXT_INIT;
	unsigned columns = terminal_columns(fd, DEFAULT_COLUMNS);
	output_color(common.color, fd);
	text_char(&out, '\n');
	findings_render(&d->profile, columns, &out);
	findings_more(&d->profile, a->output, columns, &out);
	terminal_write(fd, out.data, out.len); /* not an error if the reader is gone */
	text_release(&out);
}

/* ---- from beginning to end ---- */

static struct diagnose_options options_of(const struct diagnose_args *a,
					  const struct operands *operands,
					  const struct processes *who)
{
	struct diagnose_options o = {
		.session = {.argv = operands->count ? operands->list : NULL,
			    .pids = who->pids.data,
			    .pid_count = who->pids.len,
			    .members = who->members,
			    .groups = who->groups.data,
			    .alone = a->who.alone,
			    .output = a->output,
			    .seconds = parse_seconds("--duration", a->duration),
			    .message = on_sentence},
		.loops = a->loops,
		.long_names = a->long_names,
		.search = search_defaults,
	};
	o.search.deep_start = a->strategy == 0;
	o.search.max_overhead = parse_overhead(a->max_overhead);
	if (a->deep_threshold)
		o.search.deep_threshold = parse_deep_threshold(a->deep_threshold);
	for (int h = 0; h < HYPOTHESES; h++)
		if (thresholds[h] > 0)
			o.search.threshold[h] = thresholds[h];
	return o;
}

static int run(const void *args, const struct operands *operands)
{
	const struct diagnose_args *a = args;
	const bool attaches = names_processes(&a->who);
	int fd = attaches && !a->json ? STDOUT_FILENO : STDERR_FILENO, not_started;
	struct live_region region = {0};
	struct processes who;
	struct err e;
	check_either("diagnose", "", operands, attaches);
	check_output(a->output);
	parse_processes(&a->who, &who);
	struct diagnose_options o = options_of(a, operands, &who);
	o.session.ctx = &region;
	live_region_init(&region, fd);
	struct diagnosis *d = diagnose_new(&o);
	if (session_start(&d->session, &not_started, &e)) {
		diagnose_free(d);
		processes_release(&who);
		return observe_failed("diagnose", not_started, &e);
	}
	watch(&region, d);
	session_leave(&d->session);
	session_finish(&d->session);
	if (a->json)
		write_json(&d->profile);
	else
		write_findings(a, d, fd);
	int status = observe_end("diagnose", &d->session);
	diagnose_free(d);
	processes_release(&who);
	return status;
}

static const struct option options[] = {
	OPTION("strategy", OPTION_CHOICE, struct diagnose_args, strategy, .value = "STRATEGY",
	       .choices = strategies,
	       .help = "deep-start (start where the samples are) or call-graph (start at main)"),
	OPTION("no-loops", OPTION_UNFLAG, struct diagnose_args, loops,
	       .help = "search functions only, not their loops"),
	{.name = "threshold",
	 .type = OPTION_CALL,
	 .value = "NAME=PERCENT",
	 .parse = set_threshold,
	 .help = "report a problem above this share (cpu=20, system=20, memory=20, sync=20, io=20, "
		 "small-io=10, imbalance=15)"},
	OPTION("deep-threshold", OPTION_TEXT, struct diagnose_args, deep_threshold,
	       .value = "PERCENT", .help = "minimum share of samples for a deep starter (40)"),
	OPTION("max-overhead", OPTION_TEXT, struct diagnose_args, max_overhead, .value = "PERCENT",
	       .help = "overhead limit in percent of run time (5); none: no limit"),
	OPTION("duration", OPTION_TEXT, struct diagnose_args, duration, .value = "SECONDS",
	       .help = "stop searching after this time; the program continues"),
	OPTION("json", OPTION_FLAG, struct diagnose_args, json, .letter = 'j',
	       .help = "write the findings as JSON to standard output"),
	OPTION_LONG_NAMES(struct diagnose_args, long_names),
	OPTIONS_PROCESSES(struct diagnose_args, who),
	OPTION_OUTPUT(struct diagnose_args, output),
	{0},
};

static const struct diagnose_args defaults = {
	.output = DEFAULT_PROFILE, .max_overhead = "5", .loops = true};

const struct command cmd_diagnose = {
	.name = "diagnose",
	.summary = "Find out why a program is slow",
	.usage = "[options] -- CMD ARGS|-p WHO",
	.details =
		"'sonde CMD ARGS' and 'sonde -p PID' are short for this. Findings go to standard "
		"error, those of\nrunning processes to standard output. Ctrl-C ends the search and "
		"shows the findings so far; the\nexit status of a started program is passed "
		"through.\n",
	.options = options,
	.order = OPTIONS_FIRST,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
