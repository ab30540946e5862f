/* The structure as JSON, for programs. The keys are a documented interface, sonde-structure(1): add
 * keys, but never change existing ones. */
#include "cli/structure/view.h"
#include "cli/term/output.h"

#include "base/vec.h"

enum { MAX_CHAIN = 100 };

static void add_text(const struct view *v, struct json *j, const char *key, uint32_t offset)
{
	json_string(j, key, offset ? view_text(v, offset) : NULL);
}

static void add_source(const struct view *v, struct json *j, const struct scope *s)
{
	add_text(v, j, "file", s->file);
	json_u64(j, "first_line", s->first_line);
	json_u64(j, "last_line", s->last_line);
}

static void add_ranges(const struct view *v, struct json *j, const struct scope *s)
{
	const struct address_range *r = v->structure->ranges + s->first_range;
	json_array(j, "ranges");
	for (uint32_t i = 0; i < s->range_count; i++) {
		json_array(j, NULL);
		json_hex(j, NULL, r[i].start);
		json_hex(j, NULL, r[i].end);
		json_end(j);
	}
	json_end(j);
}

void view_module_json(const struct view *v, struct json *j)
{
	char hex[65];
	build_id_hex(&v->structure->build_id, hex);
	json_string(j, "path", v->path);
	json_string(j, "machine", view_machine(v));
	json_string(j, "build_id", v->structure->build_id.size ? hex : NULL);
	json_bool(j, "debugging_information", v->structure->has_lines);
}

static void add_loop_scope(const struct view *v, struct json *j, const struct scope *s)
{
	json_hex(j, "header", v->structure->loops[s->loop].header);
	json_bool(j, "irreducible", s->flags & SCOPE_IRREDUCIBLE);
	json_bool(j, "compiler_generated", s->flags & SCOPE_NO_LINE);
}

static void add_inline_scope(const struct view *v, struct json *j, const struct scope *s)
{
	add_text(v, j, "name", s->name);
	add_text(v, j, "call_file", s->call_file);
	json_u64(j, "call_line", s->call_line);
	json_bool(j, "inferred", s->flags & SCOPE_ALIEN);
}

/* Opens the scope's object and its list of children. */
static void open_scope(const struct view *v, struct json *j, const struct scope *s)
{
	static const char *const names[] = {
		[SCOPE_FUNCTION] = "function",
		[SCOPE_INLINE] = "inlined",
		[SCOPE_LOOP] = "loop",
		[SCOPE_LINE] = "line",
	};
	json_object(j, NULL);
	json_string(j, "kind", names[s->kind]);
	if (s->kind == SCOPE_INLINE)
		add_inline_scope(v, j, s);
	if (s->kind == SCOPE_LOOP && s->loop < v->structure->loop_count)
		add_loop_scope(v, j, s);
	add_source(v, j, s);
	add_ranges(v, j, s);
	json_array(j, "scopes");
}

static void close_scope(struct json *j)
{
	json_end(j);
	json_end(j);
}

static void add_scopes(const struct view *v, struct json *j, uint32_t root)
{
	const struct scope *scopes = v->structure->scopes;
	VEC(uint32_t) ends = {0};
	json_array(j, "scopes");
	for (uint32_t i = root + 1; i < scopes[root].end; i++) {
		for (; ends.len && i >= vec_last(&ends); ends.len--)
			close_scope(j);
		open_scope(v, j, &scopes[i]);
		vec_push(&ends, scopes[i].end);
	}
	for (; ends.len; ends.len--)
		close_scope(j);
	json_end(j);
	vec_free(&ends);
}

static void add_found_by(struct json *j, const struct structure_function *p)
{
	json_array(j, "found_by");
	for (unsigned method = 0; method < FOUND_METHODS; method++)
		if (p->found_by >> method & 1)
			json_string(j, NULL, found_by_name[method]);
	json_end(j);
}

static void add_function(const struct view *v, struct json *j, const struct structure_function *p)
{
	const struct scope *s = &v->structure->scopes[p->scope];
	json_object(j, NULL);
	add_text(v, j, "name", p->name);
	add_text(v, j, "linkage_name", p->linkage);
	json_hex(j, "start", p->start);
	json_hex(j, "end", p->end);
	add_source(v, j, s);
	add_ranges(v, j, s);
	add_found_by(j, p);
	json_bool(j, "noreturn", p->flags & FUNCTION_NORETURN);
	json_bool(j, "plt", p->flags & FUNCTION_PLT);
	json_bool(j, "ifunc", p->flags & FUNCTION_IFUNC);
	json_u64(j, "blocks", p->block_count);
	json_u64(j, "instructions", p->insn_count);
	json_u64(j, "jump_tables", p->table_count);
	json_u64(j, "unresolved_jumps", p->unresolved);
	json_u64(j, "undecodable_blocks", p->bad);
	add_scopes(v, j, p->scope);
	json_end(j);
}

void view_tree_json(const struct view *v, struct json *j)
{
	json_array(j, "functions");
	for (uint32_t i = 0; i < v->count; i++) {
		add_function(v, j, &v->structure->functions[v->functions[i]]);
		output_flush(j->out);
	}
	json_end(j);
}

static void add_chain(const struct view *v, struct json *j, uint32_t scope)
{
	const struct scope *chain[MAX_CHAIN];
	uint32_t count = view_inline_chain(v, scope, chain, MAX_CHAIN);
	json_array(j, "inlined");
	for (uint32_t i = 0; i < count && i < MAX_CHAIN; i++) {
		json_object(j, NULL);
		add_inline_scope(v, j, chain[i]);
		json_end(j);
	}
	json_end(j);
}

static void add_loop(const struct view *v, struct json *j, const struct structure_function *p,
		     const struct machine_loop *l)
{
	const struct scope *s = &v->structure->scopes[l->scope];
	json_object(j, NULL);
	json_hex(j, "header", l->header);
	if (l->parent != INDEX_NONE)
		json_hex(j, "parent", v->structure->loops[l->parent].header);
	else
		json_string(j, "parent", NULL);
	add_text(v, j, "function", p->name);
	json_hex(j, "function_start", p->start);
	add_source(v, j, s);
	json_bool(j, "compiler_generated", s->flags & SCOPE_NO_LINE);
	json_bool(j, "irreducible", l->irreducible);
	json_u64(j, "depth", l->depth);
	json_u64(j, "blocks", l->block_count);
	json_u64(j, "bytes", l->bytes);
	json_u64(j, "calls", l->call_count);
	json_u64(j, "entry_edges", l->entry_count);
	json_u64(j, "exit_edges", l->exit_count);
	json_u64(j, "back_edges", l->back_count);
	add_chain(v, j, l->scope);
	json_end(j);
}

void view_loops_json(const struct view *v, struct json *j)
{
	json_array(j, "loops");
	for (uint32_t i = 0; i < v->count; i++) {
		const struct structure_function *p = &v->structure->functions[v->functions[i]];
		for (uint32_t k = 0; k < p->loop_count; k++)
			add_loop(v, j, p, &v->structure->loops[p->first_loop + k]);
		output_flush(j->out);
	}
	json_end(j);
}

static void add_methods(struct json *j, const char *key, const uint64_t counts[FOUND_METHODS])
{
	json_object(j, key);
	for (unsigned method = 0; method < FOUND_METHODS; method++)
		json_u64(j, found_by_name[method], counts[method]);
	json_end(j);
}

static void add_times(const struct view *v, struct json *j)
{
	const struct structure_stats *t = &v->structure->stats;
	json_object(j, "seconds");
	json_quantity(j, "module", A_TIME, t->seconds_module, 6);
	json_quantity(j, "debug", A_TIME, t->seconds_debug, 6);
	json_quantity(j, "flow", A_TIME, t->seconds_flow, 6);
	json_quantity(j, "structure", A_TIME, t->seconds_structure, 6);
	json_end(j);
	json_u64(j, "peak_memory", t->peak_memory);
	json_bool(j, "cached", v->structure->cached);
}

void view_stats_json(const struct view *v, struct json *j)
{
	struct view_counts c;
	view_count(v, &c);
	json_object(j, "stats");
	json_u64(j, "functions", v->count);
	add_methods(j, "found_by", c.found);
	add_methods(j, "first_found_by", c.first);
	json_u64(j, "noreturn", c.noreturn);
	json_u64(j, "bytes", c.bytes);
	json_u64(j, "instructions", c.instructions);
	json_u64(j, "blocks", c.blocks);
	json_u64(j, "undecodable_blocks", c.bad);
	json_u64(j, "jump_tables", c.tables);
	json_u64(j, "unresolved_jumps", c.unresolved);
	json_u64(j, "loops", c.loops);
	json_array(j, "loops_by_depth");
	for (unsigned d = 0; d < VIEW_DEPTHS; d++)
		json_u64(j, NULL, c.by_depth[d]);
	json_end(j);
	json_u64(j, "irreducible_loops", c.irreducible);
	json_u64(j, "source_loops", c.source_loops);
	json_u64(j, "inlined_calls", c.inlined);
	add_times(v, j);
	json_end(j);
}
