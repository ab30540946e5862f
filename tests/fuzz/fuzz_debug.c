/* Reading of debugging information: every unit of it, from the module itself. */
#include <string.h>

#include "module/debug.h"
#include "targets.h"

enum { MAX_UNITS = 2000 };

static volatile uint64_t sink;

static void check_scopes(const struct debug_unit *u)
{
	for (uint32_t i = 0; i < u->scope_count; i++) {
		const struct debug_scope *s = &u->scopes[i];
		FUZZ_CHECK(s->parent == DEBUG_NONE || s->parent < i);
		FUZZ_CHECK(s->decl_file == DEBUG_NONE || s->decl_file < u->file_count);
		FUZZ_CHECK(s->call_file == DEBUG_NONE || s->call_file < u->file_count);
		FUZZ_CHECK(s->first_range <= u->range_count);
		FUZZ_CHECK(s->range_count <= u->range_count - s->first_range);
		sink += strlen(s->name) + (s->linkage ? strlen(s->linkage) : 0);
	}
}

static void check_lines(const struct debug_unit *u)
{
	for (uint32_t i = 0; i < u->line_count; i++) {
		const struct debug_line *l = &u->lines[i];
		FUZZ_CHECK(i == 0 || u->lines[i - 1].va <= l->va);
		FUZZ_CHECK(l->file == DEBUG_NONE || l->file < u->file_count);
		sink += debug_line_at(u, l->va) != NULL;
		uint32_t scope = debug_scope_at(u, l->va);
		FUZZ_CHECK(scope == DEBUG_NONE || scope < u->scope_count);
	}
}

static void check_unit(const struct debug_unit *u)
{
	check_scopes(u);
	check_lines(u);
	for (uint32_t i = 0; i < u->file_count; i++)
		sink += strlen(u->files[i]);
	for (uint32_t i = 0; i < u->decl_count; i++)
		sink += strlen(u->decls[i].name);
	for (uint32_t i = 0; i < u->entry_count; i++)
		FUZZ_CHECK(u->entries[i].scope < u->scope_count);
}

static void read_units(struct debug *d)
{
	uint32_t count = debug_unit_count(d);
	for (uint32_t i = 0; i < count && i < MAX_UNITS; i++) {
		struct debug_unit *u = debug_unit_load(d, i);
		if (!u)
			continue;
		check_unit(u);
		debug_unit_free(u);
	}
}

void fuzz_debug(const uint8_t *data, size_t size)
{
	struct module *m = NULL;
	struct debug *d = NULL;
	struct debug_options options = {0};
	struct err e;
	if (module_open_memory(&m, "fuzz", data, size, &e))
		return;
	if (debug_open(&d, m, &options, &e) == 0 && d) {
		sink += debug_unit_at(d, m->entry);
		read_units(d);
		debug_close(d);
	}
	module_close(m);
}
