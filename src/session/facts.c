#include "session/facts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "process/proc_text.h"

static void add_time(struct profile *p)
{
	char text[64];
	time_t now = time(NULL);
	struct tm local;
	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &local);
	profile_fact(p, "started", text);
}

void facts_number(struct profile *p, const char *name, double value, int digits)
{
	char text[64];
	snprintf(text, sizeof(text), "%.*f", digits, value);
	profile_fact(p, name, text);
}

void facts_of_host(struct profile *p)
{
	struct utsname u;
	char directory[PATH_MAX];
	if (uname(&u) == 0) {
		profile_fact(p, "host", u.nodename);
		profile_fact(p, "machine", u.machine);
		profile_fact(p, "kernel", u.release);
	}
	if (getcwd(directory, sizeof(directory)))
		profile_fact(p, "directory", directory);
	facts_number(p, "cpus", (double)sysconf(_SC_NPROCESSORS_ONLN), 0);
	add_time(p);
}

static void add_word(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_=+./,:@%^";
	if (*word && strspn(word, plain) == strlen(word)) {
		text_add(t, word);
		return;
	}
	text_char(t, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			text_add(t, "'\\''");
		else
			text_char(t, *word);
	}
	text_char(t, '\'');
}

static void add_next_word(struct text *t, const char *word)
{
	if (t->len)
		text_char(t, ' ');
	add_word(t, word);
}

void facts_of_command(struct profile *p, char *const *argv)
{
	struct text t = TEXT_INIT;
	for (; *argv; argv++)
		add_next_word(&t, *argv);
	profile_fact(p, "command", t.data ? t.data : "");
	text_release(&t);
}

/* Some servers write a title in the place of their arguments: one text, and then nothing up to
 * where these ended. A program without arguments has a path there. */
static bool is_title(const char *text, size_t size)
{
	size_t end = size;
	while (end && !text[end - 1])
		end--;
	bool padded = size > end + 1, path = *text == '/' || *text == '.';
	return !memchr(text, '\0', end) && memchr(text, ' ', end) && (padded || !path);
}

static void add_process(struct text *command, int pid)
{
	struct text words = TEXT_INIT;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (!proc_read_text(path, &words))
		words.len = 0;
	if (words.len && command->len)
		text_add(command, ", ");
	if (words.len && is_title(words.data, words.len))
		text_add(command, words.data);
	else
		for (size_t at = 0; at < words.len; at += strlen(words.data + at) + 1) {
			text_add(command, at ? " " : "");
			add_word(command, words.data + at);
		}
	text_release(&words);
}

void facts_of_processes(struct profile *p, const struct session_options *o)
{
	struct text command = TEXT_INIT, numbers = TEXT_INIT;
	for (unsigned i = 0; i < o->pid_count; i++) {
		if (i < o->pid_count - o->members)
			add_process(&command, o->pids[i]);
		text_printf(&numbers, "%s%d", i ? "," : "", o->pids[i]);
	}
	if (o->groups)
		text_printf(&command, "%s%s", command.len ? ", " : "", o->groups);
	if (command.len)
		profile_fact(p, "command", command.data);
	if (numbers.len)
		profile_fact(p, "attached", numbers.data);
	text_release(&command);
	text_release(&numbers);
}
