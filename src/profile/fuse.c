/* Works module by module. The structure of the sampled functions is loaded from the cache or
 * recovered. Then only those of its scopes are copied into the profile that lie on a path from a
 * node's address up to its function. */
#include "profile/fuse.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/log.h"
#include "base/order.h"
#include "profile/short_name.h"
#include "structure/structure.h"

/* The state of fusing one module. */
struct fusing {
	struct profile *p;
	uint32_t module;
	const uint32_t *nodes; /* its nodes that have no scope yet */
	uint32_t count;
	VEC(uint32_t) counters;    /* its counters that have no scope yet */
	const struct structure *s; /* NULL if it cannot be recovered */
	struct structure *own;     /* the same, if it was recovered here and must be freed */
	struct scope_index *index;
	struct hashmap scope_of; /* scope of the structure -> scope of the profile */
	struct hashmap text_of;  /* text of the structure -> index in `texts` */
	VEC(const char *) texts;
	struct hashmap unknown; /* address in no function -> scope */
	struct hashmap loops;   /* loop header -> scope of the profile */
	VEC(uint32_t) path;
};

static const struct structure_options structure_options = {.use_cache = true, .use_debug = true};

static bool same_build_id(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static int wrong_file(struct err *e)
{
	return err_set(e, ERR_INPUT,
		       "the file is not the one that was recorded; put that one back in its place, "
		       "or record again");
}

static int check_file(const struct profile_module *i, struct err *e)
{
	struct build_id id;
	struct stat st;
	if (i->path[0] != '/')
		return err_set(e, ERR_INPUT,
			       "this code is in no file; only the recorder can name its functions, "
			       "when it ends properly");
	if (stat(i->path, &st))
		return err_errno(e, "the file cannot be read; put the one that was recorded back "
				    "in its place, or record again");
	if (!i->build_id.size)
		return (uint64_t)st.st_size == i->file_size && (uint64_t)st.st_mtime == i->mtime
			       ? 0
			       : wrong_file(e);
	int rc = module_read_build_id(i->path, &id, e);
	return rc < 0 ? rc : same_build_id(&id, &i->build_id) ? 0 : wrong_file(e);
}

/* Returns the sorted, distinct addresses that structure is needed for. */
static uint64_t *find_addresses(const struct fusing *f, uint32_t *count)
{
	uint32_t all = f->count + f->counters.len;
	uint64_t *a = xmalloc((all + (size_t)1) * sizeof(*a));
	for (uint32_t i = 0; i < f->count; i++)
		a[i] = f->p->nodes.data[f->nodes[i]].address;
	for (uint32_t i = 0; i < f->counters.len; i++)
		a[f->count + i] = f->p->counters.data[f->counters.data[i]].address;
	order_by_address(a, all, sizeof(*a), 0);
	*count = 0;
	for (uint32_t i = 0; i < all; i++)
		if (!i || a[i] != a[i - 1])
			a[(*count)++] = a[i];
	return a;
}

static int recover(struct fusing *f, struct module *m, struct flow *known, struct err *e)
{
	struct structure_options options = structure_options;
	uint32_t count;
	uint64_t *addresses = find_addresses(f, &count);
	options.flow = known;
	int rc = structure_of_addresses(&f->own, m, addresses, count, &options, e);
	free(addresses);
	return rc;
}

static int recover_from_file(struct fusing *f, struct err *e)
{
	const struct profile_module *i = &f->p->modules.data[f->module];
	struct module *m;
	int rc = check_file(i, e);
	if (rc < 0)
		return rc;
	f->own = structure_cached(i->path, &structure_options);
	if (f->own)
		return 0;
	rc = module_open(&m, i->path, e);
	if (rc < 0)
		return rc;
	rc = recover(f, m, NULL, e);
	module_close(m);
	return rc;
}

static void find_structure(struct fusing *f, const struct fuse_options *o)
{
	struct profile_module *i = &f->p->modules.data[f->module];
	struct module *m = o && o->module ? o->module(o->ctx, f->module) : NULL;
	struct flow *known = o && o->flow ? o->flow(o->ctx, f->module) : NULL;
	struct err e;
	f->s = o && o->structure ? o->structure(o->ctx, f->module) : NULL;
	if (!f->s && (m ? recover(f, m, known, &e) : recover_from_file(f, &e)) < 0) {
		debug(LOG_STRUCTURE, 1, "%s: %s", i->path, e.text);
		i->problem = arena_strdup(&f->p->arena, e.text);
		return;
	}
	i->problem = NULL;
	f->s = f->s ? f->s : f->own;
	f->index = scope_index_new(f->s);
}

/* Copies a text of the structure into the profile, each text only once. */
static const char *copy_text(struct fusing *f, uint32_t offset)
{
	uint32_t next = f->texts.len, at = hashmap_add(&f->text_of, offset, next);
	if (at == next)
		vec_push(&f->texts, arena_strdup(&f->p->arena, f->s->text + offset));
	return f->texts.data[at];
}

/* A function's address is its start, even if a cold part of it is at a lower address. */
static uint64_t address_of(const struct fusing *f, const struct scope *c, uint64_t start)
{
	if (c->kind == SCOPE_FUNCTION)
		return start;
	if (c->kind == SCOPE_LOOP && c->loop != INDEX_NONE)
		return f->s->loops[c->loop].header;
	return c->range_count ? f->s->ranges[c->first_range].start : 0;
}

static uint32_t add_scope(struct fusing *f, const struct profile_scope *s)
{
	vec_push(&f->p->scopes, *s);
	return f->p->scopes.len - 1;
}

static const char *name_of(struct fusing *f, const struct scope *c, uint64_t start, uint8_t *flags)
{
	if (c->kind == SCOPE_FUNCTION && !f->s->text[c->name]) {
		*flags |= PROFILE_UNNAMED;
		return arena_printf(&f->p->arena, "function at 0x%" PRIx64, start);
	}
	return short_name(&f->p->arena, copy_text(f, c->name));
}

/* Copies a scope of the function that begins at `start`; `parent` is a scope of the profile. */
static uint32_t copy_scope(struct fusing *f, const struct scope *c, uint32_t parent, uint64_t start)
{
	static const uint8_t kinds[] = {[SCOPE_FUNCTION] = PROFILE_FUNCTION,
					[SCOPE_INLINE] = PROFILE_INLINE,
					[SCOPE_LOOP] = PROFILE_LOOP,
					[SCOPE_LINE] = PROFILE_LINE};
	uint8_t flags = 0;
	flags |= c->flags & SCOPE_ALIEN ? PROFILE_ALIEN : 0;
	flags |= c->flags & SCOPE_IRREDUCIBLE ? PROFILE_IRREDUCIBLE : 0;
	const char *name = name_of(f, c, start, &flags);
	return add_scope(f, &(struct profile_scope){.parent = parent,
						    .module = f->module,
						    .kind = kinds[c->kind],
						    .flags = flags,
						    .name = name,
						    .file = copy_text(f, c->file),
						    .first_line = c->first_line,
						    .last_line = c->last_line,
						    .call_file = copy_text(f, c->call_file),
						    .call_line = c->call_line,
						    .address = address_of(f, c, start)});
}

/* Returns the profile's scope for a scope of the structure. Copies it, with all scopes around
 * it, if it is new. */
static uint32_t scope_for(struct fusing *f, uint32_t scope, uint64_t start)
{
	uint32_t at = PROFILE_NONE;
	vec_clear(&f->path);
	for (; scope != INDEX_NONE; scope = f->s->scopes[scope].parent) {
		at = hashmap_get(&f->scope_of, scope);
		if (at != HASHMAP_NONE)
			break;
		vec_push(&f->path, scope);
	}
	while (f->path.len) {
		scope = vec_pop(&f->path);
		at = copy_scope(f, &f->s->scopes[scope], at, start);
		hashmap_put(&f->scope_of, scope, at);
	}
	return at;
}

static uint32_t unknown_scope(struct fusing *f, uint64_t va)
{
	uint32_t next = f->p->scopes.len, at = hashmap_add(&f->unknown, va, next);
	if (at != next)
		return at;
	return add_scope(
		f, &(struct profile_scope){.parent = PROFILE_NONE,
					   .module = f->module,
					   .kind = PROFILE_FUNCTION,
					   .flags = PROFILE_UNNAMED,
					   .name = arena_printf(&f->p->arena, "0x%" PRIx64, va),
					   .file = "",
					   .call_file = "",
					   .address = va});
}

static uint32_t scope_at(struct fusing *f, uint64_t va)
{
	uint32_t function = f->s ? scope_index_function(f->index, va) : INDEX_NONE;
	if (function == INDEX_NONE)
		return unknown_scope(f, va);
	return scope_for(f, scope_index_at(f->index, va), f->s->functions[function].start);
}

/* Returns the deepest loop with this header among `count` loops, or INDEX_NONE. */
static uint32_t deepest_loop(const struct fusing *f, uint32_t first, uint32_t count,
			     uint64_t header)
{
	const struct machine_loop *loops = f->s->loops;
	uint32_t found = INDEX_NONE;
	for (uint32_t i = first; i < first + count; i++)
		if (loops[i].header == header &&
		    (found == INDEX_NONE || loops[i].depth > loops[found].depth))
			found = i;
	return found;
}

/* Prefers a loop of the function that nodes at this address belong to: where functions share
 * code, the loop may also be found in another function. */
static uint32_t find_loop(struct fusing *f, uint64_t header)
{
	uint32_t function = scope_index_function(f->index, header), loop = INDEX_NONE;
	if (function != INDEX_NONE) {
		const struct structure_function *p = &f->s->functions[function];
		loop = deepest_loop(f, p->first_loop, p->loop_count, header);
	}
	if (loop == INDEX_NONE)
		loop = deepest_loop(f, 0, f->s->loop_count, header);
	if (loop == INDEX_NONE || f->s->loops[loop].scope == INDEX_NONE)
		return PROFILE_NONE;
	const struct machine_loop *l = &f->s->loops[loop];
	return scope_for(f, l->scope, f->s->functions[l->function].start);
}

/* Cached, because every thread that executed the loop has counters of it. */
static uint32_t loop_at(struct fusing *f, uint64_t header)
{
	uint32_t scope = hashmap_get(&f->loops, header);
	if (scope == HASHMAP_NONE && f->s)
		scope = find_loop(f, header);
	if (scope != PROFILE_NONE)
		hashmap_put(&f->loops, header, scope);
	return scope;
}

_Static_assert((uint32_t)PROFILE_NONE == (uint32_t)HASHMAP_NONE,
	       "loop_at() takes one for the other");

static uint32_t function_at(struct fusing *f, uint64_t va)
{
	uint32_t function = f->s ? scope_index_function(f->index, va) : INDEX_NONE;
	if (function == INDEX_NONE)
		return unknown_scope(f, va);
	const struct structure_function *p = &f->s->functions[function];
	return scope_for(f, p->scope, p->start);
}

static void find_counters(struct fusing *f)
{
	for (uint32_t i = 0; i < f->p->counters.len; i++)
		if (f->p->counters.data[i].module == f->module &&
		    f->p->counters.data[i].scope == PROFILE_NONE)
			vec_push(&f->counters, i);
}

static void fuse_module(struct profile *p, const struct fuse_options *o, uint32_t module,
			const uint32_t *nodes, uint32_t count)
{
	struct fusing f = {.p = p, .module = module, .nodes = nodes, .count = count};
	find_counters(&f);
	if (!f.count && !f.counters.len)
		return;
	if (o && o->recovers)
		o->recovers(o->ctx, module);
	find_structure(&f, o);
	for (uint32_t i = 0; i < count; i++) {
		struct profile_node *n = &p->nodes.data[nodes[i]];
		n->scope = scope_at(&f, n->address);
	}
	vec_each (i, &f.counters) {
		struct profile_counters *t = &p->counters.data[*i];
		t->scope = t->loop ? loop_at(&f, t->address) : function_at(&f, t->address);
	}
	scope_index_free(f.index);
	structure_free(f.own);
	hashmap_release(&f.scope_of);
	hashmap_release(&f.text_of);
	hashmap_release(&f.unknown);
	hashmap_release(&f.loops);
	vec_free(&f.counters);
	vec_free(&f.texts);
	vec_free(&f.path);
}

/* JIT-compiled or unmapped code. Its functions cannot be distinguished, so all of it becomes one
 * function in a module of its own. */
static void fuse_code_without_module(struct profile *p, const uint32_t *nodes, uint32_t count)
{
	struct fusing f = {.p = p, .module = p->modules.len};
	if (!count)
		return;
	vec_push(&p->modules, (struct profile_module){.path = "[anonymous code]"});
	uint32_t scope = add_scope(&f, &(struct profile_scope){.parent = PROFILE_NONE,
							       .module = f.module,
							       .kind = PROFILE_FUNCTION,
							       .flags = PROFILE_UNNAMED,
							       .name = "[anonymous code]",
							       .file = "",
							       .call_file = ""});
	for (uint32_t i = 0; i < count; i++)
		p->nodes.data[nodes[i]].scope = scope;
}

static bool needs_scope(const struct profile_node *n)
{
	return (n->kind == NODE_FRAME || n->kind == NODE_LEAF) && n->scope == PROFILE_NONE;
}

static uint32_t bucket_of(const struct profile *p, const struct profile_node *n)
{
	return n->module == PROFILE_NONE ? p->modules.len : n->module;
}

void profile_fuse(struct profile *p, const struct fuse_options *o)
{
	uint32_t modules = p->modules.len;
	uint32_t *nodes = xmalloc((p->nodes.len + (size_t)1) * sizeof(*nodes));
	uint32_t *ends = xcalloc(modules + (size_t)2, sizeof(*ends));
	vec_each (n, &p->nodes)
		ends[bucket_of(p, n) + 1] += needs_scope(n);
	for (uint32_t i = 0; i <= modules; i++)
		ends[i + 1] += ends[i];
	/* Now ends[i] is where module i begins. The next loop turns it into where module i ends. */
	for (uint32_t i = 0; i < p->nodes.len; i++)
		if (needs_scope(&p->nodes.data[i]))
			nodes[ends[bucket_of(p, &p->nodes.data[i])]++] = i;
	for (uint32_t i = 0, first = 0; i < modules; first = ends[i++])
		fuse_module(p, o, i, nodes + first, ends[i] - first);
	uint32_t first = modules ? ends[modules - 1] : 0;
	fuse_code_without_module(p, nodes + first, ends[modules] - first);
	p->fused = true;
	free(nodes);
	free(ends);
}
