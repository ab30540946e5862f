/* `sonde count`: counts what a program executes; it launches the program or attaches to it. The
 * three standard streams belong to the program. Sonde itself writes only a sentence or two to
 * stderr at the end. */
#include "cli/args/seconds.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/term/die.h"
#include "cli/term/progress.h"
#include "cli/term/text.h"
#include "count/session.h"

/* Upper limit of the wait for events in one turn. */
enum { TURN_MS = 1000 };

struct count_args {
	const char *output, *modules, *duration;
	struct option_number pid;
};

static void on_sentence(void *ctx, const char *sentence)
{
	progress_end(ctx);
	complain("%s", sentence);
}

static void on_progress(void *ctx, enum count_work what, uint32_t done, uint32_t total)
{
	if (what == COUNT_PREPARING)
		progress_show(ctx, "rewriting functions: %u of %u", done, total);
	else
		progress_show(ctx, "reading call paths: %u of %u", done, total);
}

static void report(const struct count_args *a, const struct count_session *s)
{
	struct text number = TEXT_INIT;
	add_count(&number, s->instructions);
	observe_done(a->output, "%s instructions counted in %.1f s%s%s%s", number.data,
		     s->session.seconds, s->partial[0] ? " (partial: " : "", s->partial,
		     s->partial[0] ? ")" : "");
	text_release(&number);
}

static int run(const void *args, const struct operands *operands)
{
	const struct count_args *a = args;
	struct progress progress = {0};
	struct err e;
	int not_started;
	check_program("count", "", operands, &a->pid);
	check_output(a->output);
	const int pid = (int)a->pid.value;
	const struct count_options o = {
		.session = {.argv = operands->count ? operands->list : NULL,
			    .pids = &pid,
			    .pid_count = a->pid.given,
			    .output = a->output,
			    .seconds = parse_seconds("--duration", a->duration),
			    .message = on_sentence,
			    .ctx = &progress},
		.modules = a->modules,
		.progress = on_progress,
	};
	struct count_session *s = count_new(&o);
	int rc = session_start(&s->session, &not_started, &e);
	progress_end(&progress);
	if (rc) {
		count_free(s);
		return observe_failed("count", not_started, &e);
	}
	while (session_turn(&s->session, TURN_MS))
		;
	session_leave(&s->session);
	session_finish(&s->session);
	progress_end(&progress);
	/* The profile is written only once, at the end: after a problem there is none to report. */
	if (!s->session.problem[0])
		report(a, s);
	int status = observe_end("count", &s->session);
	count_free(s);
	return status;
}

static const struct option options[] = {
	OPTION("modules", OPTION_TEXT, struct count_args, modules, .value = "main|all|NAME,...",
	       .help = "main (the program), all (libraries too), or file name patterns (main)"),
	OPTION("duration", OPTION_TEXT, struct count_args, duration, .value = "SECONDS",
	       .help = "stop counting after this time; the program continues"),
	OPTION_PID(struct count_args, pid),
	OPTION_OUTPUT(struct count_args, output),
	{0},
};

static const struct count_args defaults = {.output = DEFAULT_PROFILE, .modules = "main"};

const struct command cmd_count = {
	.name = "count",
	.summary = "Count a program's loops, calls and instructions exactly",
	.usage = "[options] -- CMD ARGS|-p PID",
	.details = "Ctrl-C leaves an attached process as it was; the exit status of a started "
		   "program is\npassed through.\n",
	.options = options,
	.order = OPTIONS_FIRST,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
