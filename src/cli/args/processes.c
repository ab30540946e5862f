#include "cli/args/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/term/die.h"
#include "process/named.h"

enum { MOST_LISTED = 8 };

static _Noreturn void die_of_many(const char *name, const tid_list *list)
{
	struct text all = TEXT_INIT;
	char title[60];
	for (uint32_t i = 0; i < list->len && i < MOST_LISTED; i++) {
		process_title(list->data[i], title, sizeof(title));
		text_printf(&all, "%s%d (%s)", i ? ", " : "", list->data[i], title);
	}
	die("%s is the name of %u processes: %s%s; -p takes process IDs, too", name, list->len,
	    all.data, list->len > MOST_LISTED ? ", ..." : "");
}

static int parse_number(const char *option, const char *word)
{
	char *end;
	long n = strtol(word, &end, 10);
	if (*end || n <= 0 || n > INT32_MAX)
		die("%s takes process IDs and names, not '%s'", option, word);
	return (int)n;
}

static int find_named(const char *option, const char *name)
{
	tid_list found = {0};
	processes_named(name, &found);
	if (!found.len)
		die("%s: there is no process %s", option, name);
	if (found.len > 1)
		die_of_many(name, &found);
	int pid = found.data[0];
	vec_free(&found);
	return pid;
}

static bool is_number(const char *word)
{
	return *word == '-' || !word[strspn(word, "0123456789")];
}

void parse_processes(const char *option, const char *value, tid_list *out)
{
	char *copy = strdup(value), *list = copy;
	for (char *word; (word = strsep(&list, ","));) {
		int pid = is_number(word) ? parse_number(option, word) : find_named(option, word);
		bool known = false;
		vec_each (x, out)
			known |= *x == pid;
		if (!known)
			vec_push(out, pid);
	}
	free(copy);
}
