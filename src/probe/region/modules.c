/* The modules of a process, each with the difference between its run-time addresses and its own. */
#include "probe/region/modules.h"

#include <elf.h>
#include <string.h>

#include "process/auxv.h"
#include "process/memory.h"

int target_modules(struct target *t, module_visitor visit, void *ctx, struct err *e)
{
	struct maps maps;
	int rc = maps_read(&maps, t->pid, e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < maps.module_count; i++) {
		const struct mapped_module *mi = &maps.modules[i];
		if (!mi->code_count || mi->vdso)
			continue;
		struct place at = space_find(t->space, mi->code[0].start);
		if (at.code && at.code->flow)
			visit(ctx, t, at.code, mi->code[0].start - at.va);
	}
	maps_release(&maps);
	return 0;
}

/* A run-time address in the dynamic linker's code: its entry point. 0: unknown. */
static uint64_t dynamic_linker_code(int pid)
{
	Elf64_Ehdr h;
	uint64_t base = dynamic_linker_base(pid);
	if (!base || memory_read(pid, base, &h, sizeof(h)) != sizeof(h) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	return base + h.e_entry;
}

int target_dynamic_linker(struct target *t, module_visitor visit, void *ctx, struct err *e)
{
	uint64_t pc = dynamic_linker_code(t->pid);
	struct place at = pc ? space_find(t->space, pc) : (struct place){0};
	if (!at.code)
		return target_modules(t, visit, ctx, e);
	if (at.code->flow)
		visit(ctx, t, at.code, pc - at.va);
	return 0;
}

const struct symbol *module_find_symbol(const struct module *m, const char *name)
{
	uint32_t count;
	const struct symbol *all = module_symbols(m, &count);
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

uint64_t dynamic_linker_base(int pid)
{
	return auxv_value(pid, AT_BASE);
}
