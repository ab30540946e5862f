#include "profile/places.h"

#include <stdlib.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "profile/short_name.h"

/* The structure recovered for one batch. */
struct recovered {
	struct structure *structure;
	struct scope_index *index;
};

/* The recovered parts of one module. */
struct known_module {
	VEC(struct recovered) parts;
	struct hashmap part_of; /* address -> part */
	bool failed;
};

struct places {
	place_module module;
	place_flow flow;
	void *ctx;
	VEC(struct known_module) modules;
	struct arena arena;
};

struct places *places_new(place_module module, place_flow flow, void *ctx)
{
	struct places *p = xcalloc(1, sizeof(*p));
	p->module = module;
	p->flow = flow;
	p->ctx = ctx;
	arena_init(&p->arena);
	return p;
}

void places_free(struct places *p)
{
	if (!p)
		return;
	vec_each (k, &p->modules) {
		vec_each (part, &k->parts) {
			scope_index_free(part->index);
			structure_free(part->structure);
		}
		vec_free(&k->parts);
		hashmap_release(&k->part_of);
	}
	vec_free(&p->modules);
	arena_release(&p->arena);
	free(p);
}

/* ---- recovering ---- */

typedef VEC(uint64_t) address_list;

static bool has_function(const struct recovered *part, uint64_t va)
{
	return scope_index_function(part->index, va) != INDEX_NONE;
}

/* A part may contain more functions than it was requested for, so all parts are searched. */
static bool is_known(struct known_module *k, uint64_t va)
{
	if (hashmap_get(&k->part_of, va) != HASHMAP_NONE)
		return true;
	for (uint32_t i = 0; i < k->parts.len; i++)
		if (has_function(&k->parts.data[i], va)) {
			hashmap_put(&k->part_of, va, i);
			return true;
		}
	return false;
}

/* Sorts the addresses, and removes those that are known, or listed twice. */
static void keep_unknown(struct known_module *k, address_list *addresses)
{
	uint32_t kept = 0;
	order_by_address(addresses->data, addresses->len, sizeof(*addresses->data), 0);
	vec_each (va, addresses)
		if ((!kept || *va != addresses->data[kept - 1]) && !is_known(k, *va))
			addresses->data[kept++] = *va;
	addresses->len = kept;
}

static void recover(struct places *p, uint32_t module, const address_list *addresses)
{
	const struct structure_options options = {.use_cache = true,
						  .use_debug = true,
						  .flow = p->flow ? p->flow(p->ctx, module) : NULL};
	struct known_module *k = &p->modules.data[module];
	struct recovered part = {0};
	struct err ignored;
	struct module *m = p->module(p->ctx, module);
	if (!m || structure_of_addresses(&part.structure, m, addresses->data, addresses->len,
					 &options, &ignored)) {
		k->failed = true;
		return;
	}
	part.index = scope_index_new(part.structure);
	vec_each (va, addresses)
		hashmap_put(&k->part_of, *va, k->parts.len);
	vec_push(&k->parts, part);
}

void places_prepare(struct places *p, const struct place_asked *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		while (list[i].module != INDEX_NONE && p->modules.len <= list[i].module)
			vec_push(&p->modules, (struct known_module){0});
	address_list *asked = xcalloc(p->modules.len + (size_t)1, sizeof(*asked));
	for (uint32_t i = 0; i < count; i++)
		if (list[i].module != INDEX_NONE)
			vec_push(&asked[list[i].module], list[i].address);
	for (uint32_t i = 0; i < p->modules.len; i++) {
		keep_unknown(&p->modules.data[i], &asked[i]);
		if (asked[i].len && !p->modules.data[i].failed)
			recover(p, i, &asked[i]);
		vec_free(&asked[i]);
	}
	free(asked);
}

const struct structure *places_structure(const struct places *p, uint32_t module)
{
	const struct known_module *k = module < p->modules.len ? &p->modules.data[module] : NULL;
	return k && k->parts.len == 1 ? k->parts.data[0].structure : NULL;
}

/* ---- levels ---- */

/* For an address without known structure. */
static void add_unknown(struct places *p, uint32_t module, uint64_t address, level_list *out)
{
	const char *name = module == INDEX_NONE
				   ? "[anonymous code]"
				   : arena_printf(&p->arena, "0x%llx", (unsigned long long)address);
	vec_push(out, (struct place_level){.name = name, .file = ""});
}

static void add_loop(struct place_level *level, const struct scope *c)
{
	if (level->loop_count < PLACE_LOOPS && c->first_line)
		level->loops[level->loop_count++] =
			(struct place_lines){c->first_line, c->last_line};
}

/* Functions of stripped programs have no names. Inlined calls have none if only the line table
 * reveals them. */
static const char *level_name(struct places *p, const struct structure *t, const struct scope *c)
{
	const char *name = t->text + c->name;
	if (*name)
		return short_name(&p->arena, name);
	if (c->kind == SCOPE_INLINE || !c->range_count)
		return "inlined code";
	return arena_printf(&p->arena, "function at 0x%llx",
			    (unsigned long long)t->ranges[c->first_range].start);
}

static void add_function_level(struct places *p, const struct structure *t, const struct scope *c,
			       level_list *out)
{
	if (c->kind == SCOPE_INLINE && out->len) {
		struct place_level *caller = &vec_last(out);
		caller->line = c->call_line;
		if (c->call_line)
			caller->file = t->text + c->call_file;
	}
	vec_push(out, (struct place_level){.name = level_name(p, t, c),
					   .file = t->text + c->file,
					   .inlined = c->kind == SCOPE_INLINE});
}

static void add_scope(struct places *p, const struct structure *t, const struct scope *c,
		      level_list *out)
{
	switch (c->kind) {
	case SCOPE_FUNCTION:
	case SCOPE_INLINE: add_function_level(p, t, c, out); break;
	case SCOPE_LOOP: add_loop(&vec_last(out), c); break;
	case SCOPE_LINE:
		vec_last(out).line = c->first_line;
		if (c->first_line)
			vec_last(out).file = t->text + c->file;
		break;
	}
}

/* Returns the part that contains the address, or NULL. */
static const struct recovered *part_of(const struct places *p, uint32_t module, uint64_t address)
{
	const struct known_module *k = module < p->modules.len ? &p->modules.data[module] : NULL;
	uint32_t part = k ? hashmap_get(&k->part_of, address) : HASHMAP_NONE;
	return part == HASHMAP_NONE ? NULL : &k->parts.data[part];
}

static void add_chain(struct places *p, const struct structure *t, uint32_t scope, level_list *out)
{
	VEC(uint32_t) chain = {0};
	for (; scope != INDEX_NONE; scope = t->scopes[scope].parent)
		vec_push(&chain, scope);
	while (chain.len)
		add_scope(p, t, &t->scopes[vec_pop(&chain)], out);
	vec_free(&chain);
}

void places_levels(struct places *p, uint32_t module, uint64_t address, level_list *out)
{
	const struct recovered *r = part_of(p, module, address);
	uint32_t scope = r ? scope_index_at(r->index, address) : INDEX_NONE;
	if (scope == INDEX_NONE)
		add_unknown(p, module, address, out);
	else
		add_chain(p, r->structure, scope, out);
}

static const struct machine_loop *loop_at(const struct recovered *r, uint64_t header)
{
	uint32_t i = scope_index_function(r->index, header);
	if (i == INDEX_NONE)
		return NULL;
	const struct structure_function *p = &r->structure->functions[i];
	for (uint32_t k = 0; k < p->loop_count; k++)
		if (r->structure->loops[p->first_loop + k].header == header)
			return &r->structure->loops[p->first_loop + k];
	return NULL;
}

bool places_loop(struct places *p, uint32_t module, uint64_t header, level_list *out)
{
	const struct recovered *r = part_of(p, module, header);
	const struct machine_loop *loop = r ? loop_at(r, header) : NULL;
	if (!loop || loop->scope == INDEX_NONE) {
		places_levels(p, module, header, out);
		return false;
	}
	add_chain(p, r->structure, loop->scope, out);
	return true;
}
