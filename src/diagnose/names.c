#include "diagnose/names.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "diagnose/inside.h"
#include "module/demangle.h"
#include "profile/short_name.h"

struct finding_names {
	const struct diagnosis *d;
	struct places *places;
	bool running;
	VEC(struct module *) copies; /* while the search runs; by the code's number */
	bool prepared;               /* names_prepare() was called */
	struct arena arena;
};

static struct module *named_module(void *ctx, uint32_t number)
{
	struct finding_names *n = ctx;
	struct codes *codes = engine_codes(n->d->probing.engine);
	const struct code *c = codes_get(codes, number);
	struct err ignored;
	if (!n->running)
		return c->module;
	while (n->copies.len <= number)
		vec_push(&n->copies, NULL);
	struct module **copy = &n->copies.data[number];
	if (!*copy && c->module && module_open_again(copy, c->module, &ignored))
		*copy = NULL;
	return *copy;
}

static struct flow *known_flow(void *ctx, uint32_t number)
{
	const struct finding_names *n = ctx;
	return codes_get(engine_codes(n->d->probing.engine), number)->flow;
}

struct finding_names *names_new(const struct diagnosis *d, bool running)
{
	struct finding_names *n = xcalloc(1, sizeof(*n));
	n->d = d;
	n->running = running;
	n->places = places_new(named_module, known_flow, n);
	arena_init(&n->arena);
	return n;
}

void names_free(struct finding_names *n)
{
	if (!n)
		return;
	places_free(n->places);
	vec_each (copy, &n->copies)
		if (*copy)
			module_close(*copy);
	vec_free(&n->copies);
	arena_release(&n->arena);
	free(n);
}

static const struct wait_object *object_of_part(const struct finding_names *n, uint32_t part)
{
	const struct resource *r = &search_resources(n->d->own->search)->list.data[part];
	return r->hierarchy == SYNC && r->parent != RESOURCE_NONE && r->parent >= HIERARCHIES
		       ? &n->d->own->waits.objects.data[r->key]
		       : NULL;
}

typedef VEC(struct place_asked) asked_list;

static void ask_for_code(const struct finding_names *n, uint32_t part, asked_list *asked)
{
	struct code_part p = code_part(n->d->own->code, part);
	if (p.code)
		vec_push(asked, (struct place_asked){p.code->id, p.loop ? p.loop : p.va});
}

static void ask_for_object(const struct finding_names *n, const struct wait_object *o,
			   asked_list *asked)
{
	if (o->maker)
		vec_push(asked, (struct place_asked){o->maker->id, o->made_at});
	else if (o->user != RESOURCE_NONE && !o->named)
		ask_for_code(n, o->user, asked);
}

static const struct code *code_of_module(const struct finding_names *n, uint32_t module)
{
	const struct diagnosis *d = n->d;
	return module < d->own->sink.stacks.modules.codes.len
		       ? d->own->sink.stacks.modules.codes.data[module]
		       : NULL;
}

static void ask_for_profile(const struct finding_names *n, asked_list *asked)
{
	vec_each (node, &n->d->profile.nodes) {
		const struct code *c = node->kind == NODE_FRAME || node->kind == NODE_LEAF
					       ? code_of_module(n, node->module)
					       : NULL;
		if (c)
			vec_push(asked, (struct place_asked){c->id, node->address});
	}
}

void names_prepare(struct finding_names *n, const uint32_t *parts, uint32_t count)
{
	asked_list asked = {0};
	if (!n->running)
		ask_for_profile(n, &asked);
	n->prepared = true;
	for (uint32_t i = 0; i < count; i++) {
		const struct wait_object *o = object_of_part(n, parts[i]);
		if (o)
			ask_for_object(n, o, &asked);
		else
			ask_for_code(n, parts[i], &asked);
	}
	places_prepare(n->places, asked.data, asked.len);
	vec_free(&asked);
}

const struct structure *names_structure(const struct finding_names *n, uint32_t module)
{
	const struct code *c = code_of_module(n, module);
	return c ? places_structure(n->places, c->id) : NULL;
}

static const char *chain_of(struct finding_names *n, const level_list *levels)
{
	struct text t = TEXT_INIT;
	vec_each (l, levels)
		text_printf(&t, "%s%s", l == levels->data ? "" : " > ", l->name);
	const char *chain = arena_strdup(&n->arena, t.data ? t.data : "");
	text_release(&t);
	return chain;
}

/* The name from the module's symbols. */
static const char *symbol_of(struct finding_names *n, const struct code_part *p)
{
	uint32_t count, i = flow_function_at(p->code->flow, p->va);
	const struct function *list = flow_functions(p->code->flow, &count);
	if (i == UINT32_MAX || !list[i].name)
		return arena_printf(&n->arena, "function at 0x%llx", (unsigned long long)p->va);
	return short_name(&n->arena, demangle(&n->arena, list[i].name));
}

struct code_name names_code(struct finding_names *n, uint32_t part)
{
	struct code_part p = code_part(n->d->own->code, part);
	struct code_name out = {
		.function = "", .chain = "", .file = "", .path = "", .loop = p.loop};
	level_list levels = {0};
	if (!p.code)
		return out;
	if (!n->prepared) {
		out.function = out.chain = symbol_of(n, &p);
		return out;
	}
	if (p.loop)
		places_loop(n->places, p.code->id, p.loop, &levels);
	else
		places_levels(n->places, p.code->id, p.va, &levels);
	if (!p.loop)
		levels.len = 1; /* not the code inlined at its first instruction */
	const struct place_level *last = &vec_last(&levels);
	out.function = last->name;
	out.chain = chain_of(n, &levels);
	out.path = last->file ? last->file : "";
	out.file = base_name(out.path);
	out.first_line = out.last_line = last->line;
	if (p.loop && last->loop_count) {
		out.first_line = last->loops[last->loop_count - 1].first;
		out.last_line = last->loops[last->loop_count - 1].last;
	} else if (p.loop) {
		out.first_line = out.last_line = 0;
	}
	vec_free(&levels);
	return out;
}

static const char *loop_component(struct finding_names *n, uint32_t part)
{
	struct code_name c = names_code(n, part);
	if (!c.first_line)
		return arena_printf(&n->arena, "loop 0x%llx",
				    (unsigned long long)code_part(n->d->own->code, part).loop);
	return arena_printf(&n->arena, "loop %s:%u-%u", c.file, c.first_line, c.last_line);
}

static const char *code_component(struct finding_names *n, uint32_t part)
{
	struct code_part p = code_part(n->d->own->code, part);
	const struct resource *r = &search_resources(n->d->own->search)->list.data[part];
	if (!p.code)
		return base_name(
			codes_get(engine_codes(n->d->probing.engine), (uint32_t)r->key)->path);
	return p.loop ? loop_component(n, part) : names_code(n, part).function;
}

static const char *machine_component(struct finding_names *n, uint32_t part)
{
	const struct machine *m = &n->d->own->machine;
	char host[256];
	if (part == m->host) {
		gethostname(host, sizeof(host));
		host[sizeof(host) - 1] = 0;
		return arena_strdup(&n->arena, host);
	}
	if (m->brief != UINT32_MAX && part == m->processes.data[m->brief].part)
		return "short-lived processes";
	vec_each (t, &m->threads)
		if (t->part == part && t->tid)
			return arena_printf(&n->arena, "%d %s", t->tid, t->name);
	vec_each (p, &m->processes)
		if (p->part == part)
			return arena_printf(&n->arena, "%d %s", p->pid, p->name);
	return "?";
}

/* The innermost level that is not in a system header. */
static const struct place_level *own_level(const level_list *levels)
{
	const struct place_level *l = &vec_last(levels);
	while (l > levels->data && l->file && !strncmp(l->file, "/usr/include/", 13))
		l--;
	return l;
}

/* Objects are told apart by more than the functions that use them: short names will do. */
static const char *bare(struct finding_names *n, const char *function)
{
	struct text t = TEXT_INIT;
	bare_name(&t, function);
	const char *name = arena_strdup(&n->arena, t.len ? t.data : function);
	text_release(&t);
	return name;
}

static const char *maker_of(struct finding_names *n, const struct wait_object *o)
{
	struct code_part p = {.code = o->maker, .va = o->made_at};
	level_list levels = {0};
	if (!n->prepared)
		return symbol_of(n, &p);
	places_levels(n->places, p.code->id, p.va, &levels);
	const struct place_level *l = own_level(&levels);
	const char *name = l->line ? arena_printf(&n->arena, "%s (%s:%u)", bare(n, l->name),
						  base_name(l->file), l->line)
				   : arena_printf(&n->arena, "%s (%s)", bare(n, l->name),
						  base_name(p.code->path));
	vec_free(&levels);
	return name;
}

const char *names_object(struct finding_names *n, uint32_t object)
{
	const struct wait_object *o = &n->d->own->waits.objects.data[object];
	if (o->connections)
		return arena_printf(&n->arena, "%s on %u connection%s", o->name, o->connections,
				    o->connections == 1 ? "" : "s");
	if (o->maker)
		return arena_printf(&n->arena, "%s created in %s", o->name, maker_of(n, o));
	if (!o->named && o->user != RESOURCE_NONE && object_kinds[o->kind].hierarchy == SYNC)
		return arena_printf(&n->arena, "%s used in %s", o->name,
				    bare(n, names_code(n, o->user).function));
	return o->name;
}

static const char *object_component(struct finding_names *n, uint32_t part)
{
	const struct resources *r = search_resources(n->d->own->search);
	if (r->list.data[part].parent < HIERARCHIES)
		return object_kinds[r->list.data[part].key].name;
	return names_object(n, (uint32_t)r->list.data[part].key);
}

const char *names_component(struct finding_names *n, uint32_t part)
{
	static const char *const roots[HIERARCHIES] = {"Code", "Machine", "SyncObject", "File"};
	if (part < HIERARCHIES)
		return roots[part];
	switch (search_resources(n->d->own->search)->list.data[part].hierarchy) {
	case CODE: return code_component(n, part);
	case MACHINE: return machine_component(n, part);
	default: return object_component(n, part);
	}
}

const char *names_sentence(struct finding_names *n, uint32_t part)
{
	struct code_name c = names_code(n, part);
	if (c.loop && c.first_line)
		return arena_printf(&n->arena, "the loop %s:%u-%u of %s", c.file, c.first_line,
				    c.last_line, c.function);
	if (c.first_line)
		return arena_printf(&n->arena, "%s (%s:%u)", c.function, c.file, c.first_line);
	struct code_part p = code_part(n->d->own->code, part);
	return arena_printf(&n->arena, "%s%s (%s)", c.loop ? "a loop of " : "", c.function,
			    p.code ? base_name(p.code->path) : "?");
}
