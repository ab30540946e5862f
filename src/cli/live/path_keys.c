#include "cli/live/path_keys.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/term/output.h"

enum { ESCAPE = 27, BACKSPACE = 8, DELETE = 127, KILL_LINE = 21 };

static const struct {
	char key;
	const char *command, *question;
} asking_keys[] = {
	{'a', "add", "add function: "},
	{'r', "remove", "remove function: "},
	{'m', "metric", "metric to switch on or off: "},
};

/* Only line mode and echo are switched off; Ctrl-C still sends a signal. */
void keys_open(struct keys *k, int fd)
{
	*k = (struct keys){.fd = -1};
	if (fd < 0 || tcgetattr(fd, &k->before))
		return;
	struct termios raw = k->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(fd, TCSANOW, &raw) == 0)
		k->fd = fd;
}

void keys_close(struct keys *k)
{
	if (k->fd >= 0)
		tcsetattr(k->fd, TCSANOW, &k->before);
	k->fd = -1;
	text_release(&k->command);
}

static const char *finish_line(struct keys *k)
{
	char asked = k->asking;
	k->asking = 0;
	k->line[k->len] = '\0';
	if (!k->len)
		return NULL;
	text_clear(&k->command);
	for (size_t i = 0; i < ARRAY_SIZE(asking_keys); i++)
		if (asking_keys[i].key == asked)
			text_printf(&k->command, "%s %s", asking_keys[i].command, k->line);
	return k->command.data;
}

static const char *type_key(struct keys *k, char c)
{
	if (c == '\n' || c == '\r')
		return finish_line(k);
	if (c == ESCAPE)
		k->asking = 0;
	else if (c == BACKSPACE || c == DELETE)
		k->len -= k->len > 0;
	else if (c == KILL_LINE)
		k->len = 0;
	else if ((unsigned char)c >= ' ' && k->len + 1 < sizeof(k->line))
		k->line[k->len++] = c;
	return NULL;
}

static const char *press_key(struct keys *k, char c)
{
	k->help = c == '?' && !k->help;
	if (c == 'q')
		return "quit";
	for (size_t i = 0; i < ARRAY_SIZE(asking_keys); i++)
		if (asking_keys[i].key == c) {
			k->asking = c;
			k->len = 0;
		}
	return NULL;
}

const char *keys_next(struct keys *k, bool *changed)
{
	char c;
	struct pollfd ready = {.fd = k->fd, .events = POLLIN};
	while (k->fd >= 0 && poll(&ready, 1, 0) > 0 && read(k->fd, &c, 1) == 1) {
		*changed = true;
		const char *command = k->asking ? type_key(k, c) : press_key(k, c);
		if (command)
			return command;
	}
	return NULL;
}

void keys_line(const struct keys *k, struct text *out)
{
	char typed[sizeof(k->line)];
	if (k->fd < 0)
		return;
	memcpy(typed, k->line, k->len);
	typed[k->len] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(asking_keys); i++)
		if (k->asking && asking_keys[i].key == k->asking) {
			text_add(out, asking_keys[i].question);
			output_name(out, typed);
			text_char(out, '_');
			return;
		}
	text_add(out, k->help ? "NAME GLOB* FILE:NAME MODULE!NAME FILE:LINE, m: wall cpu sync io "
				"bytes EVENT"
			      : "a add  r remove  m metric  q quit  ? help");
}
