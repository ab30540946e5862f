#include "process/container.h"

#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_strings.h"
#include "process/proc_text.h"

enum { ID_DIGITS = 64, LEAST_DIGITS = 4 };

static const char hex_digits[] = "0123456789abcdef";

/* ---- what the group's own name says ---- */

static bool begins_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* The name without its type: "docker-ID" of "docker-ID.scope". */
static char *without(const char *name, const char *type, struct arena *a)
{
	size_t n = strlen(name), m = strlen(type);
	bool has = n > m && !strcmp(name + n - m, type);
	return arena_strndup(a, name, has ? n - m : n);
}

/* Engines put a word before the ID. That of a container's monitor (conmon) is none of the
 * container. */
static const char *find_id(const char *name, struct arena *a)
{
	char *stem = without(name, ".scope", a);
	size_t n = strlen(stem);
	const char *id = n >= ID_DIGITS ? stem + n - ID_DIGITS : NULL;
	if (!id || strspn(id, hex_digits) != ID_DIGITS || (id > stem && id[-1] != '-') ||
	    strstr(stem, "conmon-"))
		return NULL;
	return id;
}

/* systemd does not permit hyphens in a UID that is part of a slice's name. */
static const char *find_pod(const char *folder, struct arena *a)
{
	char *stem = without(base_name(folder), ".slice", a), *uid = strstr(stem, "pod");
	if (!strstr(folder, "kubepods"))
		return NULL;
	for (char *next = uid; next; next = strstr(next + 1, "pod"))
		uid = next;
	if (!uid || strlen(uid += strlen("pod")) < 32 || uid[strspn(uid, "0123456789abcdef-_")])
		return NULL;
	for (char *c = uid; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return uid;
}

/* "web-1" of "web\x2d1": so systemd writes what units' names may not have. */
static void unescape(char *name)
{
	unsigned byte;
	char *to = name;
	for (const char *at = name; *at;) {
		bool escaped = begins_with(at, "\\x") && sscanf(at + 2, "%2x", &byte) == 1;
		*to++ = escaped ? (char)byte : *at;
		at += escaped ? 4 : 1;
	}
	*to = '\0';
}

/* The last two folders of a path: "lxc/web". */
static const char *last_two(const char *folder)
{
	const char *at = base_name(folder);
	for (at -= at > folder; at > folder && at[-1] != '/';)
		at--;
	return at;
}

static const char *find_name(const char *folder, struct arena *a)
{
	static const struct {
		const char *before, *after;
	} forms[] = {
		{"lxc.payload.", ""},
		{"lxc.payload/", ""},
		{"lxc/", ""},
		{"machine-", ".scope"},
		{"systemd-nspawn@", ".service"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *before = forms[i].before;
		const char *at = strchr(before, '/') ? last_two(folder) : base_name(folder);
		const char *rest = at + strlen(before);
		if (!begins_with(at, before) || !*rest)
			continue;
		char *name = without(rest, forms[i].after, a);
		if (*forms[i].after && !strcmp(name, rest))
			continue;
		unescape(name);
		return name;
	}
	return NULL;
}

/* ---- what the engines' state files say ---- */

struct lookup {
	const char *id;
	struct arena *a;
	const char *name;
	bool here; /* the strings are those of this container */
};

/* {"ID": ..., "Name": "/web", "MountPoints": {"/data": {"Name": ...}}} */
static bool on_docker_string(void *ctx, unsigned depth, const char *key, const char *value)
{
	struct lookup *l = ctx;
	if (depth == 1 && !strcmp(key, "Name"))
		l->name = arena_strdup(l->a, value + (*value == '/'));
	return !l->name;
}

/* [{"id": ..., "names": ["web"], "metadata": ...}, ...] */
static bool on_podman_string(void *ctx, unsigned depth, const char *key, const char *value)
{
	struct lookup *l = ctx;
	if (depth == 2 && !strcmp(key, "id"))
		l->here = !strcmp(value, l->id);
	if (depth == 3 && !strcmp(key, "names") && l->here)
		l->name = arena_strdup(l->a, value);
	return !l->name;
}

static void look_into(const char *path, json_on_string on, struct lookup *l)
{
	struct text json = TEXT_INIT;
	if (proc_read_text(path, &json) && json.len)
		json_each_string(json.data, on, l);
	text_release(&json);
}

/* Podman's lists are in the folder of the storage driver; those that --rm will remove have one of
 * their own. */
static void look_in_podman(const char *storage, struct lookup *l)
{
	glob_t lists;
	const char *pattern =
		arena_printf(l->a, "%s/containers/storage/*-containers/*containers.json", storage);
	if (glob(pattern, GLOB_NOSORT, NULL, &lists))
		return;
	for (size_t i = 0; i < lists.gl_pathc && !l->name; i++)
		look_into(lists.gl_pathv[i], on_podman_string, l);
	globfree(&lists);
}

/* Engines without privileges keep their state at the home of the user, who owns the group. */
static const char *state_of(const char *folder, const char *root, struct arena *a)
{
	struct stat st;
	if (stat(folder, &st) || st.st_uid == 0)
		return arena_printf(a, "%s/var/lib", root);
	const struct passwd *user = getpwuid(st.st_uid);
	return user ? arena_printf(a, "%s%s/.local/share", root, user->pw_dir) : NULL;
}

static const char *look_up(const struct container *c, const char *root, struct arena *a)
{
	struct lookup l = {.id = c->id, .a = a};
	const char *state = state_of(c->folder, root, a);
	if (!state)
		return NULL;
	look_into(arena_printf(a, "%s/docker/containers/%s/config.v2.json", state, c->id),
		  on_docker_string, &l);
	if (!l.name)
		look_in_podman(state, &l);
	return l.name;
}

/* ---- containers ---- */

void containers_among(const cgroup_list *groups, const char *root, struct arena *a,
		      container_list *out)
{
	vec_each (group, groups) {
		struct container c = {.folder = *group, .id = find_id(base_name(*group), a)};
		if (c.id)
			c.name = look_up(&c, root, a);
		else
			c.id = find_pod(*group, a);
		if (!c.id)
			c.name = find_name(*group, a);
		if (c.id || c.name)
			vec_push(out, c);
	}
}

static bool has_id(const struct container *c, const char *digits)
{
	return c->id && strlen(digits) >= LEAST_DIGITS && begins_with(c->id, digits);
}

void containers_keep(container_list *containers, const char *name)
{
	bool named = false;
	vec_each (c, containers)
		named |= c->name && !strcmp(c->name, name);
	vec_keep_if(containers, c, named ? c->name && !strcmp(c->name, name) : has_id(c, name));
}
