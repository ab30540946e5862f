#include "diagnose/rows.h"

#include <string.h>

static uint8_t kind_of(const struct diagnosis *d, uint32_t part)
{
	const struct resources *r = search_resources(d->own->search);
	struct code_part p = code_part(d->own->code, part);
	if (part < HIERARCHIES)
		return RESOURCE_GROUP;
	switch (r->list.data[part].hierarchy) {
	case CODE: return !p.code ? RESOURCE_GROUP : p.loop ? RESOURCE_LOOP : RESOURCE_FUNCTION;
	case MACHINE:
		if (part == d->own->machine.host)
			return RESOURCE_GROUP;
		return r->list.data[part].parent == d->own->machine.host ? RESOURCE_PROCESS
									 : RESOURCE_THREAD;
	default: return r->list.data[part].parent < HIERARCHIES ? RESOURCE_GROUP : RESOURCE_OBJECT;
	}
}

/* Returns the row of a source file, which is a level between a module and its functions. */
static uint32_t file_row(struct rows *w, uint32_t module_row, const char *file)
{
	struct profile *p = &w->d->profile;
	uint32_t next = p->resources.len;
	if (!*file)
		return module_row;
	uint64_t key = hash_bytes(file, strlen(file), module_row);
	uint32_t row = hashmap_add(&w->files, key, next);
	if (row == next)
		vec_push(&p->resources,
			 (struct profile_resource){.parent = module_row,
						   .hierarchy = PROFILE_CODE,
						   .kind = RESOURCE_GROUP,
						   .name = arena_strdup(&p->arena, file),
						   .module = PROFILE_NONE,
						   .file = ""});
	return row;
}

static uint32_t write_code(struct rows *w, uint32_t part, uint32_t parent,
			   struct profile_resource *row)
{
	struct profile *p = &w->d->profile;
	struct code_part code = code_part(w->d->own->code, part);
	struct code_name name = names_code(w->names, part);
	row->module = modules_find(&w->d->own->sink.stacks.modules, code.code);
	row->address = code.loop ? code.loop : code.va;
	row->file = arena_strdup(&p->arena, name.path);
	row->first_line = name.first_line;
	row->last_line = name.last_line;
	return code.loop ? parent : file_row(w, parent, name.file);
}

uint32_t rows_of(struct rows *w, uint32_t part)
{
	struct profile *p = &w->d->profile;
	const struct resource *r = &search_resources(w->d->own->search)->list.data[part];
	if (w->of[part] != PROFILE_NONE)
		return w->of[part];
	uint32_t parent = r->parent == RESOURCE_NONE ? PROFILE_NONE : rows_of(w, r->parent);
	struct profile_resource row = {.parent = parent,
				       .hierarchy = r->hierarchy,
				       .kind = kind_of(w->d, part),
				       .module = PROFILE_NONE,
				       .file = ""};
	row.name = arena_strdup(&p->arena, names_component(w->names, part));
	if (row.kind == RESOURCE_FUNCTION || row.kind == RESOURCE_LOOP)
		row.parent = write_code(w, part, parent, &row);
	w->of[part] = p->resources.len;
	vec_push(&p->resources, row);
	return w->of[part];
}
