/* What can be probed in a process: its modules' functions, and their loops. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "flow/loops.h"
#include "probe.h"

bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == n && !strncmp(p, name, n))
			return true;
	return false;
}

static bool is_chosen(const struct function *p)
{
	if ((p->flags & FUNCTION_PLT) && !settings.plt)
		return false;
	if (p->found_by == FOUND_GAP && !settings.gaps)
		return false;
	const char *name = p->name ? p->name : "";
	return !settings.only_named || !settings.names || is_listed(settings.names, name) ||
	       is_listed(settings.paths, name);
}

/* Names live as long as we do. */
static struct arena names;

struct finder {
	struct member *out;
	struct code *code;
	uint64_t bias;
	struct arena graph, tmp;
};

static void add_loops(struct finder *f, uint32_t function, uint64_t va, const char *name)
{
	struct loop_forest forest;
	const struct cfg *g = flow_cfg(f->code->flow, function, &f->graph, &f->tmp);
	loops_find(g, &forest, &f->graph, &f->tmp);
	for (uint32_t i = 0; i < forest.loop_count; i++) {
		struct candidate c = {.name = name, .depth = forest.loops[i].depth};
		c.request = (struct subject_request){.code = f->code, .va = va, .bias = f->bias};
		c.request.loop = g->blocks[forest.loops[i].header].start;
		c.request.iterations = true;
		vec_push(&f->out->candidates, c);
	}
	arena_clear(&f->graph);
	arena_clear(&f->tmp);
}

static void add_function(struct finder *f, uint32_t i, const struct function *p)
{
	const char *name = arena_strdup(&names, p->name ? p->name : "");
	struct candidate c = {.name = name};
	c.request = (struct subject_request){.code = f->code, .va = p->start, .bias = f->bias};
	vec_push(&f->out->candidates, c);
	if (!settings.no_loops)
		add_loops(f, i, p->start, name);
}

static void add_code(struct member *out, struct code *code, uint64_t bias)
{
	struct finder f = {.out = out, .code = code, .bias = bias};
	uint32_t count;
	arena_init(&f.graph);
	arena_init(&f.tmp);
	flow_discover(code->flow);
	const struct function *list = flow_functions(code->flow, &count);
	for (uint32_t i = 0; i < count; i++)
		if (is_chosen(&list[i]))
			add_function(&f, i, &list[i]);
	arena_release(&f.graph);
	arena_release(&f.tmp);
}

static bool is_main(const struct mapped_module *mi, int pid)
{
	struct stat st;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !stat(path, &st) && st.st_ino == mi->inode && major(st.st_dev) == mi->device_major;
}

static bool is_wanted(const struct mapped_module *mi, int pid)
{
	if (settings.module)
		return strstr(mi->path, settings.module) != NULL;
	return settings.all_modules || is_main(mi, pid);
}

static bool is_seen(const struct member *m, const struct code *code, uint64_t bias)
{
	vec_each (s, &m->seen)
		if (s->code == code && s->bias == bias)
			return true;
	return false;
}

void candidates_find(struct member *m)
{
	VEC(struct seen_module) now = {0};
	struct maps maps;
	struct err e;
	int pid = target_pid(m->target);
	if (maps_read(&maps, pid, &e))
		return;
	for (uint32_t i = 0; i < maps.module_count; i++) {
		const struct mapped_module *mi = &maps.modules[i];
		if (mi->vdso || !is_wanted(mi, pid))
			continue;
		struct place p = space_find(target_space(m->target), mi->code[0].start);
		if (!p.code || !p.code->flow)
			continue;
		uint64_t bias = mi->code[0].start - p.va;
		vec_push(&now, (struct seen_module){p.code, bias});
		if (!is_seen(m, p.code, bias))
			add_code(m, p.code, bias);
	}
	vec_free(&m->seen);
	m->seen.data = now.data;
	m->seen.len = now.len;
	m->seen.cap = now.cap;
	maps_release(&maps);
}
