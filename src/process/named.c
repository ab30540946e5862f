#include "process/named.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "process/proc_text.h"
#include "process/started.h"

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void process_title(int pid, char *out, size_t size)
{
	struct text words = TEXT_INIT;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	size_t n = proc_read_text(path, &words) ? words.len : 0;
	n = n < size ? n : size - 1;
	for (size_t i = 0; i < n; i++)
		out[i] = words.data[i] ? words.data[i] : ' ';
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	text_release(&words);
}

/* "nginx" of "nginx: master process /usr/sbin/nginx" */
static bool title_has(int pid, const char *name)
{
	char title[256];
	process_title(pid, title, sizeof(title));
	title[strcspn(title, " ")] = '\0';
	const char *word = file_of(title);
	size_t n = strlen(name);
	return !strncmp(word, name, n) && (!word[n] || (word[n] == ':' && !word[n + 1]));
}

static bool file_has(int pid, const char *name)
{
	char link[32], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	return !strcmp(file_of(path), name) ||
	       (started_as(pid, path, sizeof(path)) && !strcmp(file_of(path), name));
}

static bool has_name(int pid, const char *name)
{
	char comm[16];
	thread_name(pid, pid, comm);
	return !strcmp(comm, name) || title_has(pid, name) || file_has(pid, name);
}

static void list_all(const char *name, tid_list *out)
{
	DIR *proc = opendir("/proc");
	for (struct dirent *d; proc && (d = readdir(proc));) {
		int pid = atoi(d->d_name);
		if (pid > 0 && pid != getpid() && has_name(pid, name))
			vec_push(out, pid);
	}
	if (proc)
		closedir(proc);
}

void processes_named(const char *name, tid_list *out)
{
	struct hashmap started = {0};
	tid_list all = {0};
	list_all(name, &all);
	vec_each (pid, &all) {
		tid_list below = {0};
		process_descendants(*pid, &below);
		vec_each (x, &below)
			hashmap_put(&started, (uint64_t)*x, 0);
		vec_free(&below);
	}
	vec_each (pid, &all)
		if (hashmap_get(&started, (uint64_t)*pid) == HASHMAP_NONE)
			vec_push(out, *pid);
	vec_free(&all);
	hashmap_release(&started);
}
