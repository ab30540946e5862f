#include "diagnose/code.h"

#include <string.h>

#include "base/arena.h"
#include "diagnose/hand_barrier.h"
#include "diagnose/relay.h"
#include "flow/flow.h"
#include "flow/loops.h"

const char *code_name_at(const struct code *code, uint64_t va)
{
	uint32_t count, i = code && code->flow ? flow_function_at(code->flow, va) : UINT32_MAX;
	const char *name = i == UINT32_MAX ? NULL : flow_functions(code->flow, &count)[i].name;
	return name ? name : "";
}

const char *code_plain_name(const char *name)
{
	while (*name == '_')
		name++;
	name += strncmp(name, "GI___", 5) ? 0 : 5;
	name += strncmp(name, "libc_", 5) ? 0 : 5;
	return name;
}

/* The results of the analysis of a function. */
struct function_shape {
	uint32_t loop_count, block_count, call_count;
	struct shape_loop {
		uint64_t header;
		uint32_t parent; /* or LOOP_NONE */
		struct spin spin;
	} * loops;
	struct shape_block {
		uint64_t start, end;
		uint32_t loop; /* innermost, or LOOP_NONE */
	} * blocks;            /* by address */
	struct shape_call {
		uint64_t target;
		uint32_t loop;
	} * calls;
	struct relay relay;
	bool hand_barrier;
};

struct edge_seen {
	uint32_t to, next; /* next of the same caller; UINT32_MAX: none */
};

/* A list of parts in `flat`. */
struct part_span {
	uint32_t first, count;
};

struct definition {
	struct code *code;
	uint64_t va;
};

struct code_parts {
	struct resources *resources;
	bool loops;
	VEC(struct code_part) list;  /* by resource */
	VEC(struct code *) modules;  /* in the order of mapping */
	struct hashmap module_known; /* by the code's id */
	struct hashmap names;        /* hash of a name -> definition, the first one */
	VEC(struct definition) definitions;
	VEC(struct function_shape) shapes;
	struct hashmap shape_at; /* resource of a function -> shape */
	VEC(struct part_span) around;
	struct hashmap around_at; /* hash of code and va -> around */
	resource_list flat;
	VEC(struct edge_seen) edges;
	struct hashmap first_edge; /* caller -> the newest edge */
	struct hashmap edge_known; /* caller << 32 | callee */
	struct arena arena, tmp;
};

struct code_parts *code_parts_new(struct resources *r, bool loops)
{
	struct code_parts *c = xcalloc(1, sizeof(*c));
	c->resources = r;
	c->loops = loops;
	arena_init(&c->arena);
	arena_init(&c->tmp);
	return c;
}

void code_parts_free(struct code_parts *c)
{
	if (!c)
		return;
	vec_free(&c->list);
	vec_free(&c->modules);
	vec_free(&c->definitions);
	vec_free(&c->shapes);
	vec_free(&c->around);
	vec_free(&c->flat);
	vec_free(&c->edges);
	hashmap_release(&c->module_known);
	hashmap_release(&c->names);
	hashmap_release(&c->shape_at);
	hashmap_release(&c->around_at);
	hashmap_release(&c->first_edge);
	hashmap_release(&c->edge_known);
	arena_release(&c->arena);
	arena_release(&c->tmp);
	free(c);
}

struct code_part code_part(const struct code_parts *c, uint32_t part)
{
	return part < c->list.len ? c->list.data[part] : (struct code_part){0};
}

static uint32_t add_part(struct code_parts *c, uint32_t parent, uint64_t key,
			 const struct code_part *what)
{
	uint32_t part = resources_child(c->resources, parent, key);
	while (c->list.len <= part)
		vec_push(&c->list, (struct code_part){0});
	c->list.data[part] = *what;
	return part;
}

/* ---- names ---- */

static uint64_t hash_name(const char *name, size_t n)
{
	return hash_bytes(name, n, 0);
}

void code_parts_module(struct code_parts *c, struct code *code)
{
	if (!code->flow || hashmap_get(&c->module_known, code->id) != HASHMAP_NONE)
		return;
	hashmap_put(&c->module_known, code->id, c->modules.len);
	vec_push(&c->modules, code);
	uint32_t count;
	const struct symbol *all = module_symbols(code->module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *s = &all[i];
		if (!module_is_code(code->module, s->va))
			continue;
		uint64_t key = hash_name(s->name, strlen(s->name));
		if (hashmap_add(&c->names, key, c->definitions.len) == c->definitions.len)
			vec_push(&c->definitions, (struct definition){code, s->va});
	}
}

/* Returns the definition that an entry of a linkage table leads to, or NULL. */
static const struct definition *find_linked(const struct code_parts *c, const char *entry)
{
	const char *end = strstr(entry, "@plt");
	uint32_t at = end ? hashmap_get(&c->names, hash_name(entry, (size_t)(end - entry)))
			  : HASHMAP_NONE;
	return at == HASHMAP_NONE ? NULL : &c->definitions.data[at];
}

/* ---- functions ---- */

static const struct function *function_at(const struct code *code, uint64_t va)
{
	uint32_t count, i = code->flow ? flow_function_at(code->flow, va) : UINT32_MAX;
	return i == UINT32_MAX ? NULL : &flow_functions(code->flow, &count)[i];
}

static uint32_t function_part(struct code_parts *c, struct code *code, uint64_t start)
{
	const struct code_part none = {0};
	const struct code_part what = {code, start, 0};
	uint32_t module = add_part(c, CODE, code->id, &none);
	return add_part(c, module, start, &what);
}

uint32_t code_part_at(struct code_parts *c, struct code *code, uint64_t va)
{
	const struct function *p = function_at(code, va);
	return p && !(p->flags & FUNCTION_PLT) ? function_part(c, code, p->start) : RESOURCE_NONE;
}

/* Returns the part that a direct call leads to, or RESOURCE_NONE. For an IFUNC there is none: only
 * stacks show the function that its resolver chooses. */
static uint32_t callee_part(struct code_parts *c, struct code *code, uint64_t target)
{
	const struct function *p = function_at(code, target);
	if (p && p->flags & FUNCTION_PLT) {
		const struct definition *d = p->name ? find_linked(c, p->name) : NULL;
		code = d ? d->code : NULL;
		p = d ? function_at(d->code, d->va) : NULL;
	}
	return p && !(p->flags & (FUNCTION_PLT | FUNCTION_IFUNC)) ? function_part(c, code, p->start)
								  : RESOURCE_NONE;
}

/* ---- what is in a function ---- */

static void keep_loops(struct code_parts *c, const struct code *code, struct function_shape *s,
		       const struct cfg *g, const struct loop_forest *f)
{
	s->loop_count = c->loops ? f->loop_count : 0;
	s->loops = ARENA_ARRAY(&c->arena, struct shape_loop, s->loop_count);
	for (uint32_t i = 0; i < s->loop_count; i++)
		s->loops[i] = (struct shape_loop){g->blocks[f->loops[i].header].start,
						  f->loops[i].parent, spin_in(code, g, f, i)};
	s->block_count = s->loop_count ? g->block_count : 0;
	s->blocks = ARENA_ARRAY(&c->arena, struct shape_block, s->block_count);
	for (uint32_t i = 0; i < s->block_count; i++)
		s->blocks[i] = (struct shape_block){g->blocks[i].start,
						    g->blocks[i].start + g->blocks[i].size,
						    f->innermost[i]};
}

static bool ends_in_call(const struct block *b)
{
	if (b->end == END_TAIL_CALL)
		return b->target && !(b->flags & BLOCK_OPEN_FRAME);
	return b->end == END_CALL;
}

static void keep_calls(struct code_parts *c, struct function_shape *s, const struct cfg *g,
		       const struct loop_forest *f)
{
	s->calls = ARENA_ARRAY(&c->arena, struct shape_call, g->block_count);
	for (uint32_t i = 0; i < g->block_count; i++)
		if (ends_in_call(&g->blocks[i]))
			s->calls[s->call_count++] = (struct shape_call){
				g->blocks[i].target, c->loops ? f->innermost[i] : LOOP_NONE};
}

static struct function_shape make_shape(struct code_parts *c, const struct code_part *p)
{
	struct function_shape s = {0};
	struct loop_forest forest;
	uint32_t function = flow_function_at(p->code->flow, p->va);
	if (function == UINT32_MAX)
		return s;
	const struct cfg *g = flow_cfg(p->code->flow, function, &c->tmp, &c->tmp);
	loops_find(g, &forest, &c->tmp, &c->tmp);
	keep_loops(c, p->code, &s, g, &forest);
	keep_calls(c, &s, g, &forest);
	if (!forest.loop_count)
		s.relay = relay_in(p->code, g);
	s.hand_barrier = is_hand_barrier(p->code, g);
	arena_clear(&c->tmp);
	return s;
}

static const struct function_shape *shape_of(struct code_parts *c, uint32_t function)
{
	uint32_t at = hashmap_add(&c->shape_at, function, c->shapes.len);
	if (at == c->shapes.len)
		vec_push(&c->shapes, make_shape(c, &c->list.data[function]));
	return &c->shapes.data[at];
}

static uint32_t loop_part(struct code_parts *c, uint32_t function, const struct function_shape *s,
			  uint32_t loop)
{
	const struct shape_loop *l = &s->loops[loop];
	struct code_part what = c->list.data[function];
	uint32_t parent = l->parent == LOOP_NONE ? function : loop_part(c, function, s, l->parent);
	what.loop = l->header;
	return add_part(c, parent, l->header, &what);
}

bool code_part_relays(struct code_parts *c, uint32_t part)
{
	enum { MAX_HANDOVERS = 4 }; /* functions that pass their arguments on, one to the next */
	for (int i = 0; i < MAX_HANDOVERS && part != RESOURCE_NONE; i++) {
		const struct code_part p = code_part(c, part);
		if (!p.code || p.loop)
			return false;
		const struct relay r = shape_of(c, part)->relay;
		if (r.calls || !r.next)
			return r.calls;
		part = callee_part(c, p.code, r.next);
	}
	return false;
}

uint32_t code_part_function(const struct code_parts *c, uint32_t part)
{
	while (c->list.data[part].loop)
		part = c->resources->list.data[part].parent;
	return part;
}

static uint32_t loop_number(const struct function_shape *s, uint64_t header)
{
	uint32_t i = 0;
	while (i < s->loop_count && s->loops[i].header != header)
		i++;
	return i < s->loop_count && header ? i : LOOP_NONE;
}

struct spin code_part_spin(struct code_parts *c, uint32_t part)
{
	const struct code_part what = code_part(c, part);
	struct spin found = {0};
	if (!what.loop)
		return found;
	const struct function_shape *s = shape_of(c, code_part_function(c, part));
	uint32_t loop = loop_number(s, what.loop);
	for (; loop != LOOP_NONE && !found.spins; loop = s->loops[loop].parent)
		found = s->loops[loop].spin;
	return found;
}

bool code_function_is_barrier(struct code_parts *c, uint32_t part)
{
	return code_part(c, part).code && shape_of(c, code_part_function(c, part))->hand_barrier;
}

bool code_function_spins(struct code_parts *c, uint32_t part)
{
	bool spins = false;
	if (!code_part(c, part).code)
		return false;
	const struct function_shape *s = shape_of(c, code_part_function(c, part));
	for (uint32_t i = 0; i < s->loop_count; i++)
		spins |= s->loops[i].spin.spins;
	return spins;
}

/* ---- addresses ---- */

static uint32_t innermost_loop(const struct function_shape *s, uint64_t va)
{
	uint32_t low = 0, high = s->block_count;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (s->blocks[mid].end <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->block_count && s->blocks[low].start <= va ? s->blocks[low].loop : LOOP_NONE;
}

static struct part_span find_around(struct code_parts *c, struct code *code, uint64_t va)
{
	struct part_span span = {c->flat.len, 0};
	uint32_t function = code_part_at(c, code, va);
	if (function == RESOURCE_NONE)
		return span;
	const struct function_shape *s = shape_of(c, function);
	uint32_t loop = innermost_loop(s, va), depth = 1;
	for (uint32_t l = loop; l != LOOP_NONE; l = s->loops[l].parent)
		depth++;
	for (uint32_t i = 0; i < depth; i++)
		vec_push(&c->flat, function);
	for (; loop != LOOP_NONE; loop = s->loops[loop].parent)
		c->flat.data[span.first + --depth] = loop_part(c, function, s, loop);
	span.count = c->flat.len - span.first;
	return span;
}

void code_parts_around(struct code_parts *c, struct code *code, uint64_t va, resource_list *out)
{
	const uint64_t key[] = {code->id, va};
	uint32_t at = hashmap_add(&c->around_at, hash_bytes(key, sizeof(key), 0), c->around.len);
	if (at == c->around.len)
		vec_push(&c->around, find_around(c, code, va));
	const struct part_span s = c->around.data[at];
	for (uint32_t i = 0; i < s.count; i++)
		vec_push(out, c->flat.data[s.first + i]);
}

/* ---- refinement ---- */

static void add_once(resource_list *out, uint32_t part)
{
	vec_each (p, out)
		if (*p == part)
			return;
	vec_push(out, part);
}

static void add_from_code(struct code_parts *c, uint32_t part, resource_list *out)
{
	struct code_part what = code_part(c, part);
	uint32_t function = code_part_function(c, part);
	const struct function_shape s = *shape_of(c, function);
	uint32_t loop = loop_number(&s, what.loop);
	for (uint32_t i = 0; i < s.loop_count; i++)
		if (s.loops[i].parent == loop)
			add_once(out, loop_part(c, function, &s, i));
	for (uint32_t i = 0; i < s.call_count; i++) {
		if (s.calls[i].loop != loop)
			continue;
		uint32_t callee = callee_part(c, what.code, s.calls[i].target);
		if (callee != RESOURCE_NONE && callee != function)
			add_once(out, callee);
	}
}

void code_parts_below(struct code_parts *c, uint32_t part, resource_list *out)
{
	if (code_part(c, part).code)
		add_from_code(c, part, out);
	for (uint32_t e = hashmap_get(&c->first_edge, part); e != HASHMAP_NONE;
	     e = c->edges.data[e].next)
		add_once(out, c->edges.data[e].to);
}

bool code_parts_called(struct code_parts *c, uint32_t from, uint32_t to)
{
	if (hashmap_get(&c->edge_known, (uint64_t)from << 32 | to) != HASHMAP_NONE)
		return false;
	hashmap_put(&c->edge_known, (uint64_t)from << 32 | to, 0);
	vec_push(&c->edges, (struct edge_seen){to, hashmap_get(&c->first_edge, from)});
	hashmap_put(&c->first_edge, from, c->edges.len - 1);
	return true;
}
