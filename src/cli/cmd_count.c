/* `sonde count`: runs a program and counts what it executes. The three standard streams belong to
 * the program; ours are a sentence or two on stderr at the end. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/command.h"
#include "cli/die.h"
#include "count/session.h"

struct count_args {
	const char *output, *images;
};

static void on_sentence(void *ctx, const char *sentence)
{
	(void)ctx;
	complain("%s", sentence);
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
		 " instructions counted in %.1f s -> %s; see them with: sonde report%s%s",
		 s->instructions, s->seconds, a->output, named ? " " : "", named ? a->output : "");
}

static int run(const void *args, const struct operands *operands)
{
	const struct count_args *a = args;
	struct count_session *s;
	struct err e;
	int not_started;
	if (!operands->count)
		die("count needs a program: sonde count -- CMD");
	if (!*a->output)
		die("--output needs the name of a file");
	const struct count_options o = {.argv = operands->list,
					.images = a->images,
					.output = a->output,
					.tell = on_sentence};
	if (count_start(&s, &o, &not_started, &e))
		return failed(not_started, &e);
	while (count_turn(s, 1000))
		;
	count_finish(s);
	report(a, s);
	int status = exit_status(s->status);
	if (s->problem[0]) {
		complain("count: %s", s->problem);
		status = EXIT_OURS;
	}
	count_free(s);
	return status;
}

static const struct option options[] = {
	OPTION("images", OPTION_TEXT, struct count_args, images, .value = "main|all|NAME,...",
	       .help = "what to count: the program itself (main), libraries, too (all), or those "
		       "whose file names match"),
	OPTION("output", OPTION_TEXT, struct count_args, output, .letter = 'o', .value = "FILE",
	       .help = "the profile (sonde.data); a previous one is kept as FILE.old"),
	{0},
};

static const struct count_args defaults = {.output = "sonde.data", .images = "main"};

const struct command cmd_count = {
	.name = "count",
	.summary = "Count a program's loops, calls and instructions exactly",
	.usage = "[options] -- CMD ARGS",
	.details = "The program's exit status is passed through.\n",
	.options = options,
	.order = OPTIONS_FIRST,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
