#include "cli/args/groups.h"

#include <string.h>
#include <unistd.h>

#include "cli/args/options.h"
#include "cli/term/die.h"
#include "process/container.h"
#include "process/named.h"
#include "process/proc_text.h"

enum { MOST_LISTED = 5, SHORT_ID = 12 };

struct found_group {
	const char *folder, *called;
	bool nameless; /* a container that is called by its ID */
	struct cgroup_members members;
};

typedef VEC(struct found_group) group_list;

struct group_search {
	enum group_kind kind;
	const char *noun, *name;
	cgroup_list hierarchies;
	struct arena arena;
};

/* ---- the groups of a hierarchy ---- */

/* "system.slice/nginx.service" of "/sys/fs/cgroup/system.slice/nginx.service"; "/" of the root */
static const char *path_within(const char *hierarchy, const char *folder)
{
	const char *rest = folder + strlen(hierarchy);
	return *rest ? rest + 1 : "/";
}

/* With or without the folder at which the hierarchy is mounted, and slashes around. */
static bool is_path(const char *hierarchy, const char *folder, const char *name)
{
	size_t n = strlen(hierarchy);
	const char *path = folder + n;
	if (!strncmp(name, hierarchy, n) && (!name[n] || name[n] == '/'))
		name += n;
	path += *path == '/';
	name += strspn(name, "/");
	n = strlen(path);
	return !strncmp(name, path, n) && !name[n + strspn(name + n, "/")];
}

static void add_group(group_list *out, const char *folder, const char *called)
{
	vec_push(out, (struct found_group){.folder = folder, .called = called});
}

static void add_containers(struct group_search *s, const cgroup_list *folders, const char *name,
			   group_list *out)
{
	container_list containers = {0};
	containers_among(folders, "", &s->arena, &containers);
	if (name)
		containers_keep(&containers, name);
	vec_each (c, &containers) {
		add_group(out, c->folder,
			  c->name ? c->name : arena_strndup(&s->arena, c->id, SHORT_ID));
		vec_last(out).nameless = !c->name;
	}
	vec_free(&containers);
}

/* Adds those with this name; NULL: all of the kind. */
static void add_groups(struct group_search *s, const char *hierarchy, const char *name,
		       group_list *out)
{
	cgroup_list folders = {0};
	cgroup_tree(hierarchy, &s->arena, &folders);
	if (s->kind == GROUP_CONTAINER)
		add_containers(s, &folders, name, out);
	vec_each (folder, &folders) {
		const char *unit = cgroup_unit(*folder);
		if (s->kind == GROUP_UNIT && unit && (!name || unit_has_name(unit, name)))
			add_group(out, *folder, unit);
		if (s->kind == GROUP_CGROUP && (!name || is_path(hierarchy, *folder, name)))
			add_group(out, *folder, path_within(hierarchy, *folder));
	}
	vec_free(&folders);
}

/* ---- which one ---- */

static _Noreturn void die_of_many(const struct group_search *s, const char *hierarchy,
				  const group_list *found)
{
	struct text all = TEXT_INIT;
	for (uint32_t i = 0; i < found->len && i < MOST_LISTED; i++)
		text_printf(&all, "%s%s", i ? ", " : "",
			    path_within(hierarchy, found->data[i].folder));
	die("there are %u %ss %s: %s%s; --cgroup takes the path of one", found->len, s->noun,
	    s->name, all.data, found->len > MOST_LISTED ? ", ..." : "");
}

/* The part that people remember: "nginx" of "system.slice/nginx.service". */
static const char *stem_of(const char *name, struct arena *a)
{
	const char *base = base_name(name), *dot = strrchr(base, '.');
	return arena_strndup(a, base, dot > base ? (size_t)(dot - base) : strlen(base));
}

static bool is_among(const group_list *list, const char *called)
{
	bool found = false;
	vec_each (g, list)
		found |= !strcmp(g->called, called);
	return found;
}

/* All that there are, once each: the same unit may run for several users, and a group is in several
 * hierarchies. */
static void list_all(struct group_search *s, group_list *out)
{
	group_list all = {0};
	vec_each (hierarchy, &s->hierarchies)
		add_groups(s, *hierarchy, NULL, &all);
	vec_each (g, &all)
		if (!is_among(out, g->called))
			vec_push(out, *g);
	vec_free(&all);
}

static void add_nearest(struct group_search *s, const group_list *all, struct text *out)
{
	VEC(const char *) stems = {0};
	size_t nearest[MOST_NEAREST];
	vec_each (g, all)
		vec_push(&stems, stem_of(g->called, &s->arena));
	size_t n = nearest_words(stem_of(s->name, &s->arena), stems.data, stems.len, nearest,
				 MOST_NEAREST);
	for (size_t i = 0; i < n; i++)
		text_printf(out, "%s%s", i ? ", " : "; similar: ", all->data[nearest[i]].called);
	vec_free(&stems);
}

/* The name may be that of one of these. */
static void add_nameless(group_list *all, struct text *out)
{
	vec_keep_if(all, g, g->nameless);
	if (all->len)
		text_printf(out, "; %u known by ID only%s: ", all->len,
			    geteuid() ? " (try sudo for names)" : "");
	for (uint32_t i = 0; i < all->len && i < MOST_LISTED; i++)
		text_printf(out, "%s%s", i ? ", " : "", all->data[i].called);
	text_add(out, all->len > MOST_LISTED ? ", ..." : "");
}

static _Noreturn void die_of_none(struct group_search *s)
{
	group_list all = {0};
	struct text hints = TEXT_INIT;
	list_all(s, &all);
	add_nearest(s, &all, &hints);
	add_nameless(&all, &hints);
	die("there is no %s%s %s%s", s->kind == GROUP_CGROUP ? "" : "running ", s->noun, s->name,
	    hints.data);
}

static bool has_members(const struct found_group *g)
{
	return g->members.pids.len || g->members.outside || g->members.closed;
}

/* A group may be in several hierarchies, and have its processes in one of them only. */
static struct found_group choose(struct group_search *s)
{
	bool exists = false;
	vec_each (hierarchy, &s->hierarchies) {
		group_list found = {0};
		add_groups(s, *hierarchy, s->name, &found);
		exists |= found.len > 0;
		vec_each (g, &found)
			cgroup_read(g->folder, &g->members);
		vec_keep_if(&found, g, has_members(g));
		if (found.len > 1)
			die_of_many(s, *hierarchy, &found);
		if (found.len) {
			struct found_group g = found.data[0];
			vec_free(&found);
			return g;
		}
		vec_free(&found);
	}
	if (exists)
		die("%s %s has no processes", s->noun, s->name);
	die_of_none(s);
}

/* ---- its processes ---- */

struct examination {
	tid_list *out;
	tid_list starters; /* Sonde, what has started it, and so on */
	unsigned left_out, own;
	struct text who; /* the first that were left out */
	struct err why;  /* the first of them */
};

static void list_starters(tid_list *out)
{
	for (int pid = getpid(); pid > 0; pid = process_parent(pid))
		vec_push(out, pid);
}

static bool has_started_us(const struct examination *x, int pid)
{
	bool found = false;
	vec_each (starter, &x->starters)
		found |= *starter == pid;
	return found;
}

static void leave_out(struct examination *x, int pid, const struct err *why)
{
	char title[60];
	if (!x->left_out)
		x->why = *why;
	if (x->left_out++ >= MOST_LISTED)
		return;
	process_title(pid, title, sizeof(title));
	text_printf(&x->who, "%s%d (%s)", x->left_out > 1 ? ", " : "", pid, title);
}

/* Kernel threads and what has ended since are nothing that anybody would miss. */
static void examine(struct examination *x, int pid)
{
	struct err why;
	if (has_started_us(x, pid)) {
		x->own++;
		return;
	}
	int rc = process_check_access(pid, &why);
	if (!rc)
		vec_push(x->out, pid);
	else if (rc != ERR_INPUT && thread_lives(pid))
		leave_out(x, pid, &why);
}

static void tell_left_out(const struct found_group *g, const char *noun,
			  const struct examination *x)
{
	const struct cgroup_members *m = &g->members;
	if (m->closed)
		complain("%s %s is observed in part: %s", noun, g->called, m->why.text);
	if (m->outside)
		complain("%s %s is observed without %u of its processes, which are not in Sonde's "
			 "PID namespace (container)",
			 noun, g->called, m->outside);
	if (x->left_out)
		complain("%s %s is observed without %u of its %u processes, %s%s: %s", noun,
			 g->called, x->left_out, m->pids.len, x->who.data,
			 x->left_out > MOST_LISTED ? ", ..." : "", x->why.text);
}

static _Noreturn void die_of_nobody(const struct found_group *g, const char *noun,
				    const struct examination *x)
{
	const struct cgroup_members *m = &g->members;
	if (x->left_out)
		die("%s %s: none of its processes may be examined: %s%s: %s", noun, g->called,
		    x->who.data, x->left_out > MOST_LISTED ? ", ..." : "", x->why.text);
	if (m->closed)
		die("%s %s: %s", noun, g->called, m->why.text);
	if (m->outside)
		die("%s %s: its processes are not in Sonde's PID namespace (container)", noun,
		    g->called);
	if (x->own)
		die("%s %s has no processes besides Sonde and those that have started it", noun,
		    g->called);
	die("%s %s has no program: its processes have ended, or are kernel threads", noun,
	    g->called);
}

static void find_hierarchies(struct group_search *s)
{
	struct text mountinfo = TEXT_INIT;
	if (proc_read_text("/proc/self/mountinfo", &mountinfo) && mountinfo.len)
		cgroup_hierarchies(mountinfo.data, &s->arena, &s->hierarchies);
	text_release(&mountinfo);
	if (!s->hierarchies.len)
		die("--%s: no file system of control groups (cgroup2) is mounted", s->noun);
}

void find_group(enum group_kind kind, const char *name, tid_list *out, struct text *called)
{
	static const char *const nouns[GROUP_KINDS] = {"cgroup", "unit", "container"};
	struct group_search s = {.kind = kind, .noun = nouns[kind], .name = name};
	struct examination examination = {.out = out};
	const uint32_t before = out->len;
	if (!*name)
		die("--%s needs a name", s.noun);
	arena_init(&s.arena);
	find_hierarchies(&s);
	struct found_group g = choose(&s);
	list_starters(&examination.starters);
	vec_each (pid, &g.members.pids)
		examine(&examination, *pid);
	if (out->len == before)
		die_of_nobody(&g, s.noun, &examination);
	tell_left_out(&g, s.noun, &examination);
	text_printf(called, "%s%s %s", called->len ? ", " : "", s.noun, g.called);
	text_release(&examination.who);
	vec_free(&examination.starters);
	vec_free(&g.members.pids);
	vec_free(&s.hierarchies);
	arena_release(&s.arena);
}
