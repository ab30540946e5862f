/* The modules of a process, each with the difference between its run-time addresses and its own. */
#include "probe/region/modules.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"

static void visit_module(struct target *t, const struct mapped_module *mi, module_visitor visit,
			 void *ctx)
{
	if (!mi->code_count || mi->vdso)
		return;
	struct place at = space_find(t->space, mi->code[0].start);
	if (at.code && at.code->flow)
		visit(ctx, t, at.code, mi->code[0].start - at.va);
}

int target_modules(struct target *t, module_visitor visit, void *ctx, struct err *e)
{
	struct maps maps;
	int rc = maps_read(&maps, t->pid, e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < maps.module_count; i++)
		visit_module(t, &maps.modules[i], visit, ctx);
	maps_release(&maps);
	return 0;
}

/* The module whose code comes first after this address. The dynamic linker is mapped as one piece,
 * which begins at its base. */
static const struct mapped_module *module_from(const struct maps *maps, uint64_t base)
{
	const struct mapped_module *found = NULL;
	for (uint32_t i = 0; i < maps->module_count; i++) {
		const struct mapped_module *mi = &maps->modules[i];
		if (mi->code_count && !mi->vdso && mi->code[0].start >= base &&
		    (!found || mi->code[0].start < found->code[0].start))
			found = mi;
	}
	return found;
}

int target_dynamic_linker(struct target *t, module_visitor visit, void *ctx, struct err *e)
{
	struct maps maps;
	uint64_t base = dynamic_linker_base(t->pid);
	if (!base)
		return target_modules(t, visit, ctx, e);
	int rc = maps_read(&maps, t->pid, e);
	if (rc)
		return rc;
	const struct mapped_module *linker = module_from(&maps, base);
	if (linker)
		visit_module(t, linker, visit, ctx);
	maps_release(&maps);
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
	char path[32];
	uint64_t pair[2], base = 0;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	FILE *f = fault("auxv-open", EMFILE) ? NULL : fopen(path, "re");
	while (f && fread(pair, sizeof(pair), 1, f) == 1 && pair[0] != AT_NULL)
		if (pair[0] == AT_BASE)
			base = pair[1];
	if (f)
		fclose(f);
	return base;
}
