/* `sonde count`: counts what a program executes, that it runs or that runs already. The three
 * standard streams belong to the program; ours are a sentence or two on stderr at the end. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/command.h"
#include "cli/die.h"
#include "cli/progress.h"
#include "cli/seconds.h"
#include "count/session.h"
#include "record/record.h"

enum { TURN_MS = 1000 };

struct count_args {
	const char *output, *images, *duration;
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
		progress_show(ctx, "rewriting procedures: %u of %u", done, total);
	else
		progress_show(ctx, "reading call paths: %u of %u", done, total);
}

static int failed(int not_started, const struct err *e)
{
	complain("count: %s", e->text);
	if (!not_started)
		return EXIT_OURS;
	return not_started == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void report(const struct count_args *a, const struct count_session *s)
{
	bool named = strcmp(a->output, "sonde.data") != 0;
	complain("%" PRIu64
		 " instructions counted in %.1f s%s%s%s -> %s; see them with: sonde report%s%s",
		 s->instructions, s->seconds, s->partial[0] ? " (partial: " : "", s->partial,
		 s->partial[0] ? ")" : "", a->output, named ? " " : "", named ? a->output : "");
}

/* 0 seconds: to the end. */
static void watch(struct count_session *s, double seconds)
{
	int wait_ms = TURN_MS;
	do {
		double left = seconds > 0 ? seconds - s->seconds : TURN_MS;
		if (left <= 0)
			break;
		wait_ms = left * 1000 < TURN_MS ? (int)(left * 1000) + 1 : TURN_MS;
	} while (count_turn(s, wait_ms));
}

/* The program may run on after --duration. */
static int end_status(const struct count_session *s, bool launched)
{
	struct record_result r = {.program = s->program, .status = s->status};
	record_wait(&r);
	if (s->problem[0]) {
		complain("count: %s", s->problem);
		return EXIT_OURS;
	}
	return launched ? exit_status(r.status) : EXIT_SUCCESS;
}

static void check_args(const struct count_args *a, const struct operands *operands)
{
	if (operands->count && a->pid.given)
		die("count takes a program to run or a process to attach to, not both");
	if (!operands->count && !a->pid.given)
		die("count needs a program or a process: sonde count -- CMD, or sonde count -p "
		    "PID");
	if (a->pid.given && (!a->pid.value || a->pid.value > INT32_MAX))
		die("--pid takes the number of a process, not %" PRIu64, a->pid.value);
	if (!*a->output)
		die("--output needs the name of a file");
}

static int run(const void *args, const struct operands *operands)
{
	const struct count_args *a = args;
	struct progress progress = {0};
	struct count_session *s;
	struct err e;
	int not_started;
	check_args(a, operands);
	double seconds = parse_seconds("--duration", a->duration);
	const struct count_options o = {.argv = operands->count ? operands->list : NULL,
					.pid = (int)a->pid.value,
					.images = a->images,
					.output = a->output,
					.tell = on_sentence,
					.progress = on_progress,
					.ctx = &progress};
	int rc = count_start(&s, &o, &not_started, &e);
	progress_end(&progress);
	if (rc)
		return failed(not_started, &e);
	watch(s, seconds);
	count_finish(s);
	progress_end(&progress);
	report(a, s);
	int status = end_status(s, o.argv);
	count_free(s);
	return status;
}

static const struct option options[] = {
	OPTION("images", OPTION_TEXT, struct count_args, images, .value = "main|all|NAME,...",
	       .help = "what to count: the program itself (main), libraries, too (all), or those "
		       "whose file names match"),
	OPTION("duration", OPTION_TEXT, struct count_args, duration, .value = "SECONDS",
	       .help = "stop counting after this time; the program goes on"),
	OPTION("pid", OPTION_NUMBER, struct count_args, pid, .letter = 'p', .value = "PID",
	       .help = "attach to a running process"),
	OPTION("output", OPTION_TEXT, struct count_args, output, .letter = 'o', .value = "FILE",
	       .help = "the profile (sonde.data); a previous one is kept as FILE.old"),
	{0},
};

static const struct count_args defaults = {.output = "sonde.data", .images = "main"};

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
