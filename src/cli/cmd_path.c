/* `sonde path`: call-path profiles of selected functions while the program runs.
 *
 * If we started the program, the three standard streams belong to the program, and we write to
 * stderr. If we attached to it, stdout is ours. The table is redrawn in place only if the program
 * does not write to the same terminal. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/args/overhead.h"
#include "cli/args/seconds.h"
#include "cli/command.h"
#include "cli/live/path_commands.h"
#include "cli/live/path_keys.h"
#include "cli/live/path_table.h"
#include "cli/live/screen.h"
#include "cli/observe.h"
#include "cli/term/die.h"
#include "cli/term/output.h"
#include "cli/term/terminal.h"
#include "cli/term/text.h"

enum {
	TURN_MS = 50,     /* upper limit of the wait for events in one turn */
	MAX_MESSAGES = 3, /* shown below the table */
	WORDS_MAX = 256,  /* names from one option */
};

struct path_args {
	const char *output, *interval, *duration, *max_overhead, *control;
	struct option_number pid;
	bool threads, live;
};

/* Names from options that may be repeated and take lists. */
struct words {
	const char *list[WORDS_MAX];
	unsigned count;
};

static struct words functions, metrics;

/* Splits at commas, but not inside the parameters or template arguments of a name. */
static int add_words(struct words *w, const char *option, const char *value, struct err *e)
{
	char *list = strdup(value); /* the names live as long as the process */
	unsigned depth = 0;
	if (!list)
		return err_errno(e, "%s", option);
	for (char *at = list, *start = list;; at++) {
		depth += *at == '(' || *at == '<';
		depth -= depth && (*at == ')' || *at == '>');
		if (*at && (*at != ',' || depth))
			continue;
		bool end = !*at;
		*at = '\0';
		if (!*start)
			return err_set(e, ERR_INPUT, "%s needs names between its commas", option);
		if (w->count == WORDS_MAX)
			return err_set(e, ERR_INPUT,
				       "%s takes at most %d names; a pattern such as "
				       "'parse_*' names many functions at once",
				       option, WORDS_MAX);
		w->list[w->count++] = start;
		start = at + 1;
		if (end)
			return 0;
	}
}

static int add_functions(const char *value, struct err *e)
{
	return add_words(&functions, "--function", value, e);
}

static int add_metrics(const char *value, struct err *e)
{
	return add_words(&metrics, "--metric", value, e);
}

/* ---- showing ---- */

struct path_show {
	const struct path_args *args;
	struct path_session *s;
	struct places *places;
	struct keys keys;
	struct command_pipe commands;
	int fd;
	bool live;                        /* the table is redrawn in place */
	double interval;                  /* s between updates; 0: only at the end */
	uint64_t next;                    /* ns: when the next update is due */
	char messages[MAX_MESSAGES][900]; /* newest last */
	unsigned message_count;
	struct text out;
};

static void write_out(struct path_show *w)
{
	terminal_write(w->fd, w->out.data, w->out.len); /* on failure, measuring continues */
	text_clear(&w->out);
}

/* Reports a sentence. While the table is on the screen, messages are shown below it, and printed
 * again at the end. */
static void show_message(void *ctx, const char *sentence)
{
	struct path_show *w = ctx;
	if (!w->live) {
		complain("path: %s", sentence);
		return;
	}
	if (w->message_count == MAX_MESSAGES)
		memmove(w->messages[0], w->messages[1],
			sizeof(w->messages[0]) * (MAX_MESSAGES - 1));
	else
		w->message_count++;
	snprintf(w->messages[w->message_count - 1], sizeof(w->messages[0]), "%s", sentence);
}

static void add_status(struct path_show *w)
{
	text_printf(&w->out, "sonde path  %.1f s  ", w->s->session.seconds);
	if (w->args->pid.given)
		text_printf(&w->out, "process %" PRIu64, w->args->pid.value);
	text_char(&w->out, '\n');
}

static void draw_live(struct path_show *w)
{
	struct terminal_size size = {80, 24};
	struct text body = TEXT_INIT, frame = TEXT_INIT;
	unsigned below = w->message_count + 1;
	terminal_size(w->fd, &size);
	const struct table_options o = {.threads = w->args->threads,
					.width = size.columns,
					.lines = size.rows > below + 2 ? size.rows - below - 2 : 1};
	add_status(w);
	text_addn(&body, w->out.data, w->out.len);
	text_clear(&w->out);
	table_render(w->s, w->places, &o, &body);
	screen_draw(&w->out, &body, o.lines + 1);
	for (unsigned i = 0; i < w->message_count; i++) {
		add_short(&frame, w->messages[i], size.columns);
		text_add(&frame, "\r\n");
	}
	struct text keys = TEXT_INIT;
	keys_line(&w->keys, &keys);
	add_short(&frame, keys.len ? keys.data : "", size.columns - 1u);
	text_addn(&w->out, frame.len ? frame.data : "", frame.len);
	write_out(w);
	text_release(&keys);
	text_release(&frame);
	text_release(&body);
}

static void print_table(struct path_show *w)
{
	const struct table_options o = {.threads = w->args->threads,
					.width = isatty(w->fd) ? terminal_columns(w->fd, 80) : 0};
	text_printf(&w->out, "%.1f s\n", w->s->session.seconds);
	table_render(w->s, w->places, &o, &w->out);
	write_out(w);
}

static void show_now(struct path_show *w)
{
	path_read(w->s);
	if (w->live)
		draw_live(w);
	else
		print_table(w);
	w->next = now_ns() + (uint64_t)(w->interval * 1e9);
}

/* ---- while the program runs ---- */

/* Executes a command; returns false if it was "quit". */
static bool run_command(struct path_show *w, const char *line)
{
	struct err e;
	enum command_result done = path_command(w->s, line, &e);
	if (done == COMMAND_FAILED)
		show_message(w, e.text);
	if (done == COMMAND_PRINT || (w->live && done != COMMAND_QUIT))
		show_now(w);
	return done != COMMAND_QUIT;
}

static bool run_pending_commands(struct path_show *w)
{
	const char *line;
	bool changed = false;
	while ((line = command_pipe_next(&w->commands)))
		if (!run_command(w, line))
			return false;
	while ((line = keys_next(&w->keys, &changed)))
		if (!run_command(w, line))
			return false;
	if (changed)
		draw_live(w);
	return true;
}

static void watch(struct path_show *w)
{
	while (session_turn(&w->s->session, TURN_MS)) {
		if (!run_pending_commands(w))
			break;
		if (w->interval > 0 && now_ns() >= w->next)
			show_now(w);
	}
}

/* ---- the terminal ---- */

/* The table is redrawn in place only where that cannot overwrite the program's output, or if the
 * user asks for it (--live). */
static bool can_be_live(const struct path_args *a, bool launched, int fd)
{
	if (!terminal_draws(fd))
		return false;
	return a->live || !launched || !isatty(STDOUT_FILENO);
}

/* Returns the terminal to read keys from, or -1. A program that we launched may read stdin: then
 * keys are not taken from it, unless the user asks for that (--live). */
static int keys_source(const struct path_args *a, bool launched)
{
	if (!launched || (a->live && isatty(STDIN_FILENO)))
		return isatty(STDIN_FILENO) ? STDIN_FILENO : -1;
	return isatty(STDIN_FILENO) ? -1 : open("/dev/tty", O_RDWR | O_CLOEXEC);
}

static void begin_showing(struct path_show *w, bool launched)
{
	output_color(common.color, w->fd);
	if (!w->live)
		return;
	keys_open(&w->keys, keys_source(w->args, launched));
	screen_enter(&w->out);
	write_out(w);
}

static void end_showing(struct path_show *w)
{
	keys_close(&w->keys);
	if (!w->live)
		return;
	screen_leave(&w->out);
	write_out(w);
	w->live = false;
	for (unsigned i = 0; i < w->message_count; i++)
		complain("path: %s", w->messages[i]);
}

/* ---- from beginning to end ---- */

static void report(const struct path_args *a, const struct path_session *s)
{
	uint64_t calls = 0;
	vec_each (f, &s->data.functions)
		calls += f->calls;
	observe_done(a->output, "%" PRIu64 " call%s of %u function%s in %.1f s", calls,
		     calls == 1 ? "" : "s", s->data.functions.len,
		     s->data.functions.len == 1 ? "" : "s", s->session.seconds);
}

static struct module *copied_module(void *ctx, uint32_t module)
{
	const struct path_profile *p = ctx;
	return module < p->copies.len ? p->copies.data[module] : NULL;
}

static int measure(struct path_show *w, const struct path_options *o)
{
	struct err e;
	int not_started;
	bool launched = o->session.argv;
	if (command_pipe_open(&w->commands, w->args->control, &e))
		die("path: %s", e.text);
	w->s = path_new(o);
	if (session_start(&w->s->session, &not_started, &e)) {
		command_pipe_close(&w->commands);
		path_free(w->s);
		return observe_failed("path", not_started, &e);
	}
	w->live = w->live && can_be_live(w->args, launched, w->fd);
	w->places = places_new(copied_module, NULL, &w->s->data);
	begin_showing(w, launched);
	watch(w);
	session_leave(&w->s->session);
	end_showing(w);
	command_pipe_close(&w->commands);
	session_finish(&w->s->session);
	print_table(w);
	report(w->args, w->s);
	int status = observe_end("path", &w->s->session);
	places_free(w->places);
	path_free(w->s);
	text_release(&w->out);
	return status;
}

static void check_args(const struct path_args *a, const struct operands *operands)
{
	struct err e;
	if (!functions.count)
		die("path needs functions to measure: sonde path -f FUNC -- CMD");
	check_program("path", "-f FUNC ", operands, &a->pid);
	check_output(a->output);
	for (unsigned i = 0; i < metrics.count; i++)
		if (metrics_check(metrics.list[i], &e))
			die("path: %s", e.text);
}

static int run(const void *args, const struct operands *operands)
{
	static const char *const default_metrics[] = {"calls", "wall", "cpu"};
	const struct path_args *a = args;
	check_args(a, operands);
	double interval = parse_seconds("--interval", a->interval);
	struct path_show w = {.args = a, .fd = a->pid.given ? STDOUT_FILENO : STDERR_FILENO};
	w.live = can_be_live(a, !a->pid.given, w.fd);
	w.interval = interval > 0 ? interval : w.live ? 1 : 0;
	const int pid = (int)a->pid.value;
	const struct path_options o = {
		.session = {.argv = operands->count ? operands->list : NULL,
			    .pids = &pid,
			    .pid_count = a->pid.given,
			    .output = a->output,
			    .seconds = parse_seconds("--duration", a->duration),
			    .message = show_message,
			    .ctx = &w},
		.functions = functions.list,
		.function_count = functions.count,
		.metrics = metrics.count ? metrics.list : default_metrics,
		.metric_count = metrics.count ? metrics.count : ARRAY_SIZE(default_metrics),
		.max_overhead = parse_overhead(a->max_overhead),
	};
	return measure(&w, &o);
}

static const struct option options[] = {
	{.name = "function",
	 .letter = 'f',
	 .type = OPTION_CALL,
	 .value = "FUNC[,FUNC]",
	 .parse = add_functions,
	 .help = "functions to measure: NAME, GLOB*, FILE:NAME, MODULE!NAME, or FILE:LINE of a "
		 "loop"},
	{.name = "metric",
	 .letter = 'm',
	 .type = OPTION_CALL,
	 .value = "METRIC[,METRIC]",
	 .parse = add_metrics,
	 .help = "calls, wall, cpu, sync, io, bytes, or a perf event (calls,wall,cpu)"},
	OPTION("interval", OPTION_TEXT, struct path_args, interval, .value = "SECONDS",
	       .help = "refresh interval (1 in a terminal, otherwise only at the end)"),
	OPTION_OUTPUT(struct path_args, output),
	OPTION("max-overhead", OPTION_TEXT, struct path_args, max_overhead, .value = "PERCENT",
	       .help = "overhead limit in percent of run time (5); none: no limit"),
	OPTION("control", OPTION_TEXT, struct path_args, control, .value = "FIFO",
	       .help = "read commands from this FIFO: add FUNC, remove FUNC, metric +NAME|-NAME, "
		       "print, quit"),
	OPTION("duration", OPTION_TEXT, struct path_args, duration, .value = "SECONDS",
	       .help = "stop measuring after this time; the program continues"),
	OPTION("threads", OPTION_FLAG, struct path_args, threads,
	       .help = "show each thread separately"),
	OPTION("live", OPTION_FLAG, struct path_args, live,
	       .help = "redraw the table in place even if the program shares the terminal"),
	OPTION_PID(struct path_args, pid),
	{0},
};

static const struct path_args defaults = {.output = DEFAULT_PROFILE, .max_overhead = "5"};

const struct command cmd_path = {
	.name = "path",
	.summary = "Measure call paths of chosen functions while the program runs",
	.usage = "-f FUNC [options] -- CMD ARGS|-p PID",
	.details = "Functions and metrics can be added and removed while the program runs, by keys "
		   "in a\nterminal and by --control. Ctrl-C leaves an attached process as it was; "
		   "the exit\nstatus of a started program is passed through.\n",
	.options = options,
	.order = OPTIONS_FIRST,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
