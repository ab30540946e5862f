#include "cli/term/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "cli/term/die.h"
#include "cli/term/terminal.h"

enum { FLUSH_BYTES = 1 << 20 }; /* output_flush() writes a longer text */

static bool use_color;
static pid_t pager_pid;

static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	if (strchr(program, '/'))
		return access(program, X_OK) == 0;
	for (const char *at = path ? path : ""; *at;) {
		size_t n = strcspn(at, ":");
		struct text file = TEXT_INIT;
		text_addn(&file, at, n);
		text_printf(&file, "/%s", program);
		bool found = access(file.data, X_OK) == 0;
		text_release(&file);
		if (found)
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

/* Returns the pager's command line, or NULL for no pager. */
static const char *pager_command(void)
{
	const char *command = getenv("SONDE_PAGER");
	if (!command)
		command = getenv("PAGER");
	if (!command)
		return in_path("less") ? "less" : NULL;
	if (!*command || !strcmp(command, "cat"))
		return NULL;
	char word[256];
	size_t n = strcspn(command, " \t");
	if (n >= sizeof(word) || strpbrk(command, "$`'\"\\;|&<>()"))
		return command; /* the shell parses it and reports errors */
	memcpy(word, command, n);
	word[n] = '\0';
	if (in_path(word))
		return command;
	complain("the pager '%s' was not found; showing the output without it", word);
	return NULL;
}

static _Noreturn void become_pager(const char *command, const int pipe_ends[2])
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	dup2(pipe_ends[0], STDIN_FILENO);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	/* F: quit if the text fits on one screen; R: pass colours through; X: leave the text on the
	 * screen. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(EXIT_NOT_FOUND);
}

/* If a pager cannot be started, stdout stays the terminal. */
static void start_pager(void)
{
	int ends[2];
	const char *command = pager_command();
	if (!command || pipe(ends) != 0)
		return;
	signal(SIGINT, SIG_IGN); /* the pager handles it, and we end when the pager does */
	pager_pid = fork();
	if (pager_pid == 0)
		become_pager(command, ends);
	if (pager_pid > 0)
		dup2(ends[1], STDOUT_FILENO);
	else
		pager_pid = 0;
	close(ends[0]);
	close(ends[1]);
}

void output_color(enum color_when color, int fd)
{
	use_color = color == COLOR_ALWAYS || (color == COLOR_AUTO && terminal_has_color(fd));
}

void output_begin(enum color_when color, bool pager)
{
	output_color(color, STDOUT_FILENO);
	signal(SIGPIPE, SIG_IGN);
	if (pager && isatty(STDOUT_FILENO)) {
		atexit(output_end);
		start_pager();
	}
}

void output_write(struct text *t)
{
	size_t done = 0;
	while (done < t->len) {
		ssize_t n = fault("output-write", ENOSPC)
				    ? -1
				    : write(STDOUT_FILENO, t->data + done, t->len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno == EPIPE)
			exit(EXIT_SUCCESS);
		else if (errno != EINTR)
			die("cannot write the output: %s", strerror(errno));
	}
	text_clear(t);
}

void output_flush(struct text *t)
{
	if (t->len > FLUSH_BYTES)
		output_write(t);
}

void output_end(void)
{
	int status;
	if (!pager_pid)
		return;
	close(STDOUT_FILENO); /* the pager sees end of file */
	while (waitpid(pager_pid, &status, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}

bool output_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *locale = getenv(variables[i]);
		if (locale && *locale)
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

void output_style(struct text *t, enum style style)
{
	static const char *const codes[] = {
		[STYLE_NONE] = TERMINAL_PLAIN,     [STYLE_HEADING] = TERMINAL_BOLD,
		[STYLE_NAME] = TERMINAL_BOLD_CYAN, [STYLE_LOOP] = TERMINAL_YELLOW,
		[STYLE_INLINE] = TERMINAL_GREEN,   [STYLE_ADDRESS] = TERMINAL_DIM,
	};
	if (use_color)
		text_add(t, codes[style]);
}

void output_name(struct text *t, const char *name)
{
	while (*name) {
		const char *run = name;
		while ((unsigned char)*name >= 0x20 && *name != 0x7f)
			name++;
		text_addn(t, run, (size_t)(name - run));
		if (*name)
			text_printf(t, "\\x%02x", (unsigned char)*name++);
	}
}
