#include "process/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/proc_text.h"

/* ---- hierarchies ---- */

enum { BEST_RANKS = 4, NO_CGROUP = BEST_RANKS + 1 };

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, word, n) && (!list[n] || list[n] == ','))
			return true;
	}
	return false;
}

/* Groups of processes are in all hierarchies or in some. systemd's has all of its units; the
 * controllers that are tried first are those that container engines use most. */
static unsigned rank_of(const char *type, const char *options)
{
	static const char *const best[BEST_RANKS] = {NULL, "name=systemd", "pids", "cpu"};
	unsigned rank = 1;
	if (!strcmp(type, "cgroup2"))
		return 0;
	if (strcmp(type, "cgroup") != 0)
		return NO_CGROUP;
	while (rank < BEST_RANKS && !has_word(options, best[rank]))
		rank++;
	return rank;
}

/* ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [FIELDS...] - TYPE SOURCE SUPER-OPTIONS */
static unsigned parse_mount(const char *line, char folder[512])
{
	char type[16], options[256];
	const char *rest = strstr(line, " - ");
	if (!rest || sscanf(line, "%*s %*s %*s %*s %511s", folder) != 1 ||
	    sscanf(rest, " - %15s %*s %255s", type, options) != 2)
		return NO_CGROUP;
	return rank_of(type, options);
}

void cgroup_hierarchies(const char *mountinfo, struct arena *a, cgroup_list *out)
{
	char line[1024], folder[512];
	for (unsigned rank = 0; rank <= BEST_RANKS; rank++) {
		for (const char *at = mountinfo; *at; at += *at == '\n') {
			size_t n = strcspn(at, "\n");
			snprintf(line, sizeof(line), "%.*s", (int)n, at);
			at += n;
			if (parse_mount(line, folder) == rank)
				vec_push(out, arena_strdup(a, folder));
		}
	}
}

/* ---- groups and their processes ---- */

static void add_folders(const char *folder, struct arena *a, cgroup_list *out)
{
	DIR *dir = opendir(folder);
	for (const struct dirent *d; dir && (d = readdir(dir));)
		if (d->d_type == DT_DIR && strcmp(d->d_name, ".") != 0 &&
		    strcmp(d->d_name, "..") != 0)
			vec_push(out, arena_printf(a, "%s/%s", folder, d->d_name));
	if (dir)
		closedir(dir);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void cgroup_tree(const char *folder, struct arena *a, cgroup_list *out)
{
	uint32_t first = out->len;
	vec_push(out, arena_strdup(a, folder));
	for (uint32_t next = first; next < out->len; next++)
		add_folders(out->data[next], a, out);
	qsort(out->data + first, out->len - first, sizeof(*out->data), by_path);
}

/* A process that has no ID in our PID namespace is listed as 0. */
static void add_listed(const char *list, struct cgroup_members *out)
{
	char *end;
	for (;; list = end) {
		int pid = (int)strtol(list, &end, 10);
		if (end == list)
			return;
		if (pid)
			vec_push(&out->pids, pid);
		else
			out->outside++;
	}
}

/* Groups of single threads have no list of processes. Those threads' processes are listed by a
 * group above, which we have read unless `first` is such a group. */
static void note_closed(const char *folder, bool first, struct cgroup_members *out)
{
	struct err e;
	if (errno == ENOENT || errno == ENODEV || (errno == EOPNOTSUPP && !first))
		return;
	if (errno == EOPNOTSUPP)
		err_set(&e, ERR_INPUT,
			"%s is a group of threads; their processes are in a group above it",
			folder);
	else
		err_errno(&e, "%s cannot be read", folder);
	if (!out->closed++)
		out->why = e;
}

void cgroup_read(const char *folder, struct cgroup_members *out)
{
	struct arena a;
	cgroup_list groups = {0};
	struct text list = TEXT_INIT;
	arena_init(&a);
	cgroup_tree(folder, &a, &groups);
	vec_each (group, &groups) {
		text_clear(&list);
		if (!proc_read_text(arena_printf(&a, "%s/cgroup.procs", *group), &list))
			note_closed(*group, group == groups.data, out);
		else if (list.len)
			add_listed(list.data, out);
	}
	text_release(&list);
	vec_free(&groups);
	arena_release(&a);
}

/* ---- units ---- */

/* systemd puts an underscore before names that could be taken for a file of the kernel's, such as
 * that of a unit cpu.service. */
const char *cgroup_unit(const char *folder)
{
	static const char *const types[] = {".service", ".scope", ".slice",
					    ".socket",  ".mount", ".swap"};
	const char *name = base_name(folder), *dot = strrchr(name, '.');
	for (size_t i = 0; dot && i < ARRAY_SIZE(types); i++)
		if (!strcmp(dot, types[i]))
			return name + (*name == '_');
	return NULL;
}

bool unit_has_name(const char *unit, const char *name)
{
	size_t n = strlen(name);
	return !strncmp(unit, name, n) &&
	       (!unit[n] || !strcmp(unit + n, ".service") || !strcmp(unit + n, ".scope"));
}
