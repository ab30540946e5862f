#include "session/facts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/text.h"

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

void facts_of_process(struct profile *p, int pid)
{
	struct text t = TEXT_INIT;
	char path[32], *word = NULL;
	size_t room = 0;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	FILE *f = fault("command-open", EMFILE) ? NULL : fopen(path, "re");
	while (f && getdelim(&word, &room, 0, f) >= 0)
		add_next_word(&t, word);
	if (f)
		fclose(f);
	if (t.len)
		profile_fact(p, "command", t.data);
	free(word);
	text_release(&t);
}
