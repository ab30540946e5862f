#include "cli/live/path_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int switch_metric(struct path_session *s, const char *name, struct err *e)
{
	bool on = *name != '-';
	const char *plain = name + (*name == '+' || *name == '-');
	if (plain == name) { /* without a sign: toggle */
		on = true;
		for (uint32_t i = 0; i < s->metrics.count; i++)
			if (!strcmp(s->metrics.list[i].name, name))
				on = !s->metrics.list[i].on;
	}
	return path_metric(s, plain, on, e);
}

static const struct path_command {
	const char *word;
	int (*run)(struct path_session *s, const char *what, struct err *e);
	enum command_result result; /* if `run` is NULL */
} commands[] = {
	{.word = "add", .run = path_add},         {.word = "remove", .run = path_remove},
	{.word = "metric", .run = switch_metric}, {.word = "print", .result = COMMAND_PRINT},
	{.word = "quit", .result = COMMAND_QUIT},
};

static enum command_result run_command(struct path_session *s, const struct path_command *o,
				       const char *what, struct err *e)
{
	if (!o->run)
		return o->result;
	if (!*what) {
		err_set(e, ERR_INPUT, "'%s' needs an argument", o->word);
		return COMMAND_FAILED;
	}
	return o->run(s, what, e) ? COMMAND_FAILED : COMMAND_DONE;
}

enum command_result path_command(struct path_session *s, const char *line, struct err *e)
{
	line += strspn(line, " \t");
	size_t n = strcspn(line, " \t");
	const char *what = line + n + strspn(line + n, " \t");
	if (!n)
		return COMMAND_DONE;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strlen(commands[i].word) == n && !strncmp(commands[i].word, line, n))
			return run_command(s, &commands[i], what, e);
	err_set(e, ERR_INPUT,
		"'%.100s' is not a command; commands are: add FUNC, remove FUNC, metric +NAME or "
		"-NAME, print, quit",
		line);
	return COMMAND_FAILED;
}

/* We open the FIFO for writing as well: otherwise reading would reach end of file whenever a script
 * closes its end. */
int command_pipe_open(struct command_pipe *p, const char *path, struct err *e)
{
	struct stat st;
	*p = (struct command_pipe){.fd = -1, .path = path};
	if (!path)
		return 0;
	if (mkfifo(path, 0600) == 0)
		p->made = true;
	else if (errno != EEXIST)
		return err_errno(e, "cannot create the FIFO %s", path);
	p->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (p->fd < 0)
		return err_errno(e, "cannot open %s", path);
	if (fstat(p->fd, &st) || !S_ISFIFO(st.st_mode)) {
		command_pipe_close(p);
		return err_set(e, ERR_INPUT,
			       "--control needs a FIFO, and %s is something else; a FIFO that does "
			       "not exist is created",
			       path);
	}
	return 0;
}

static const char *take_line(struct command_pipe *p)
{
	p->line[p->len] = '\0';
	p->len = 0;
	bool whole = !p->skipping;
	p->skipping = false;
	return whole ? p->line : "(line too long)";
}

const char *command_pipe_next(struct command_pipe *p)
{
	char c;
	while (p->fd >= 0 && read(p->fd, &c, 1) == 1) {
		if (c == '\n')
			return take_line(p);
		if (p->len + 1 < sizeof(p->line))
			p->line[p->len++] = c;
		else
			p->skipping = true;
	}
	return NULL;
}

void command_pipe_close(struct command_pipe *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->made)
		unlink(p->path);
	p->fd = -1;
	p->made = false;
}
