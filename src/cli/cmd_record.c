/* `sonde record`: runs a program, or attaches to running ones, and writes a profile. The three
 * standard streams belong to the program. Sonde itself writes only a sentence or two to stderr at
 * the end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/args/processes.h"
#include "cli/args/seconds.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/term/die.h"
#include "cli/term/progress.h"
#include "record/record.h"

enum {
	TURN_MS = 100, /* upper limit of the wait for events in one turn */
	HZ_MAX = 100000,
	STACK_MIN = 512,
	STACK_MAX = 65000, /* the most that fits into a perf record, with the registers */
};

struct record_args {
	const char *output, *tids, *duration;
	struct process_args who;
	struct option_number hz, max_stack;
	bool wall;
};

/* --event may be repeated, and takes lists. */
static const char *events[EVENTS_MAX];
static unsigned event_count;

/* Returns the next word of a list; NULL at its end. */
static char *next_word(char **list)
{
	return strsep(list, ",");
}

static int add_events(const char *value, struct err *e)
{
	char *list = strdup(value); /* the names live as long as the process */
	if (!list)
		return err_errno(e, "--event");
	for (char *name; (name = next_word(&list));) {
		if (!*name)
			return err_set(e, ERR_INPUT, "--event needs names between its commas");
		if (event_count == EVENTS_MAX)
			return err_set(e, ERR_INPUT, "--event: at most %d events at once",
				       EVENTS_MAX);
		events[event_count++] = name;
	}
	return 0;
}

typedef VEC(int) numbers;

static void add_numbers(numbers *out, const char *option, const char *value)
{
	char *copy = value ? strdup(value) : NULL, *list = copy;
	for (char *word; (word = next_word(&list));) {
		char *end;
		errno = 0;
		long n = strtol(word, &end, 10);
		if (end == word || *end || errno || n <= 0 || n > INT32_MAX)
			die("%s takes numbers separated by commas, not '%s'", option, value);
		vec_push(out, (int)n);
	}
	free(copy);
}

/* Returns the default of --max-stack. For root it is nearly as much as perf can copy. For other
 * users it is less: their rings are small and would hold few samples of that size. */
static size_t default_stack(void)
{
	return geteuid() ? 32768 : 64000;
}

static void check_ranges(const struct record_args *a)
{
	if (!a->hz.value || a->hz.value > HZ_MAX)
		die("--frequency takes 1 to %d samples per second, not %" PRIu64, HZ_MAX,
		    a->hz.value);
	if (a->max_stack.given &&
	    (a->max_stack.value < STACK_MIN || a->max_stack.value > STACK_MAX))
		die("--max-stack takes %d to %d bytes, not %" PRIu64
		    "; deeper stacks are recorded too",
		    STACK_MIN, STACK_MAX, a->max_stack.value);
	check_output(a->output);
}

/* Returns a share in hundredths of a percent. It is rounded down, so that 100 % means that all call
 * paths are complete. */
static uint64_t share(uint64_t part, uint64_t whole)
{
	return part * 10000 / whole;
}

static void report(const struct record_args *a, const struct recording *r)
{
	char lost[64] = "";
	if (r->note[0])
		complain("%s", r->note);
	if (!r->samples) {
		complain("no samples in %.1f s, written to %s: the program hardly ran%s",
			 r->session.seconds, a->output,
			 a->wall ? "" : "; --wall also samples waiting threads");
		return;
	}
	if (r->lost)
		snprintf(lost, sizeof(lost), " (%" PRIu64 " more were lost)", r->lost);
	uint64_t complete = share(r->complete, r->samples);
	observe_done(a->output,
		     "%" PRIu64 " sample%s%s of %" PRIu32 " thread%s in %.1f s, %" PRIu64
		     ".%02" PRIu64 " %% complete call paths",
		     r->samples, r->samples == 1 ? "" : "s", lost, r->threads,
		     r->threads == 1 ? "" : "s", r->session.seconds, complete / 100,
		     complete % 100);
}

static void on_recovery(void *progress, const char *path)
{
	progress_show(progress, "the samples are saved; finding functions, loops and lines of %s",
		      path);
}

static void on_sentence(void *ctx, const char *sentence)
{
	(void)ctx;
	complain("record: %s", sentence);
}

static int record(const struct record_args *a, const struct record_options *o)
{
	struct err e;
	int not_started = 0;
	struct recording *r = record_new(o, &e);
	if (!r || session_start(&r->session, &not_started, &e)) {
		if (r)
			record_free(r);
		return observe_failed("record", not_started, &e);
	}
	while (session_turn(&r->session, TURN_MS))
		;
	session_leave(&r->session);
	session_finish(&r->session);
	progress_end(o->recovers_ctx);
	report(a, r);
	int status = observe_end("record", &r->session);
	record_free(r);
	return status;
}

static int run(const void *args, const struct operands *operands)
{
	const struct record_args *a = args;
	struct processes who;
	numbers tids = {0};
	check_ranges(a);
	if (!event_count)
		events[event_count++] = "cpu-clock";
	parse_processes(&a->who, &who);
	add_numbers(&tids, "--tid", a->tids);
	if (operands->count && who.pids.len + tids.len)
		die("record takes a program to run or processes to observe, not both");
	if (!operands->count && !(who.pids.len + tids.len))
		die("record needs a program or a process: sonde record -- CMD, or sonde record -p "
		    "PID");
	struct progress progress = {0};
	const struct record_options o = {
		.session = {.argv = operands->count ? operands->list : NULL,
			    .pids = who.pids.data,
			    .pid_count = who.pids.len,
			    .members = who.members,
			    .groups = who.groups.data,
			    .alone = a->who.alone,
			    .output = a->output,
			    .seconds = parse_seconds("--duration", a->duration),
			    .message = on_sentence},
		.tids = tids.data,
		.tid_count = tids.len,
		.events = events,
		.event_count = event_count,
		.hz = (unsigned)a->hz.value,
		.max_stack = a->max_stack.given ? a->max_stack.value : default_stack(),
		.wall = a->wall,
		.recovers = on_recovery,
		.recovers_ctx = &progress,
	};
	int status = record(a, &o);
	processes_release(&who);
	vec_free(&tids);
	return status;
}

static const struct option options[] = {
	OPTION("frequency", OPTION_NUMBER, struct record_args, hz, .letter = 'F', .value = "HZ",
	       .help = "samples per second of each running thread (499)"),
	{.name = "event",
	 .letter = 'e',
	 .type = OPTION_CALL,
	 .value = "EVENT",
	 .parse = add_events,
	 .help = "events to sample, separated by commas (cpu-clock)"},
	OPTION_OUTPUT(struct record_args, output),
	OPTION("wall", OPTION_FLAG, struct record_args, wall,
	       .help = "also sample waiting threads (off-CPU)"),
	OPTION("duration", OPTION_TEXT, struct record_args, duration, .value = "SECONDS",
	       .help = "stop recording after this time; the program continues"),
	OPTION("max-stack", OPTION_NUMBER, struct record_args, max_stack, .value = "BYTES",
	       .help = "stack bytes copied with each sample"),
	OPTIONS_PROCESSES(struct record_args, who),
	OPTION("tid", OPTION_TEXT, struct record_args, tids, .letter = 't', .value = "TID[,TID]",
	       .help = "observe single threads"),
	{0},
};

static const struct record_args defaults = {
	.output = DEFAULT_PROFILE,
	.hz = {.value = 499},
};

const struct command cmd_record = {
	.name = "record",
	.summary = "Record call paths of a program or of running processes",
	.usage = "[options] -- CMD ARGS|-p PID|-t TID",
	.details = "The program's exit status is passed through. Ctrl-C ends the recording of "
		   "running\nprocesses and leaves them running.\n",
	.options = options,
	.order = OPTIONS_FIRST,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
