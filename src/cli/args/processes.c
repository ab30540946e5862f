#include "cli/args/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "cli/args/groups.h"
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

static void parse_pids(const char *option, const char *value, tid_list *out)
{
	char *copy = strdup(value), *list = copy;
	for (char *word; (word = strsep(&list, ","));)
		vec_push(out,
			 is_number(word) ? parse_number(option, word) : find_named(option, word));
	free(copy);
}

static void parse_groups(enum group_kind kind, const char *value, struct processes *out)
{
	char *copy = value ? strdup(value) : NULL, *list = copy;
	for (char *word; (word = strsep(&list, ","));)
		find_group(kind, word, &out->pids, &out->groups);
	free(copy);
}

static bool has_ancestor_in(const struct hashmap *known, int pid)
{
	while ((pid = process_parent(pid)) > 0)
		if (hashmap_get(known, (uint64_t)pid) != HASHMAP_NONE)
			return true;
	return false;
}

/* Keeps each process once, and none that is observed as the descendant of another one. */
static void keep_needed(struct processes *p, bool alone)
{
	struct hashmap known = {0};
	uint32_t named = p->pids.len - p->members, kept = 0, kept_named = 0;
	for (uint32_t i = 0; i < p->pids.len; i++)
		hashmap_add(&known, (uint64_t)p->pids.data[i], i);
	for (uint32_t i = 0; i < p->pids.len; i++) {
		int pid = p->pids.data[i];
		if (hashmap_get(&known, (uint64_t)pid) != i ||
		    (!alone && has_ancestor_in(&known, pid)))
			continue;
		p->pids.data[kept++] = pid;
		kept_named += i < named;
	}
	p->pids.len = kept;
	p->members = kept - kept_named;
	hashmap_release(&known);
}

bool names_processes(const struct process_args *a)
{
	return a->pids || a->cgroups || a->units || a->containers;
}

void parse_processes(const struct process_args *a, struct processes *out)
{
	*out = (struct processes){0};
	if (a->pids)
		parse_pids("--pid", a->pids, &out->pids);
	uint32_t named = out->pids.len;
	parse_groups(GROUP_CGROUP, a->cgroups, out);
	parse_groups(GROUP_UNIT, a->units, out);
	parse_groups(GROUP_CONTAINER, a->containers, out);
	out->members = out->pids.len - named;
	keep_needed(out, a->alone);
}

void processes_release(struct processes *p)
{
	vec_free(&p->pids);
	text_release(&p->groups);
}
