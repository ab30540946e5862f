/* Finds the entries of procedure linkage tables (PLTs) by what they do: a few instructions load a
 * pointer from a fixed slot and jump to it. The relocation of that slot names the function. */
#include "flow/constants.h"
#include "flow/internal.h"

#include <string.h>

static const char *entry_name(struct flow *f, uint64_t slot)
{
	const struct reloc *r = slot ? module_slot_at(f->module, slot) : NULL;
	if (r && r->symbol)
		return arena_printf(&f->arena, "%s@plt", r->symbol);
	if (r && r->kind == RELOC_IFUNC) {
		uint32_t count;
		const struct symbol *all = module_symbols(f->module, &count);
		for (uint32_t i = module_symbol_from(f->module, r->value);
		     i < count && all[i].va == r->value; i++)
			if (!(all[i].flags & SYMBOL_OBJECT))
				return arena_printf(&f->arena, "%s@plt", all[i].name);
		return arena_printf(&f->arena, "*%#lx@plt", (unsigned long)r->value);
	}
	return "plt0"; /* into the dynamic linker */
}

/* An entry ends in a jump through its slot. Code that ends in a direct jump is the lazy half of the
 * entry before it, which leads into the dynamic linker. */
static void add_entry(struct flow *f, uint64_t start, uint64_t end, uint64_t slot, bool lazy)
{
	struct func *last = f->added.len ? &vec_last(&f->added) : NULL;
	if (lazy && last && last->flags & FUNCTION_PLT && last->end == start)
		last->end = end;
	else
		add_start(f, start, end, entry_name(f, slot), FOUND_PLT, FUNCTION_PLT);
}

static void scan_section(struct flow *f, const struct section *s)
{
	struct constants known = {0};
	const uint8_t *bytes = module_section_bytes(f->module, s);
	uint64_t at = 0, start = 0, slot = 0;
	bool open = false;
	while (at < s->size) {
		struct insn in;
		size_t n = f->arch->decode(bytes + at, s->size - at, s->va + at, DECODE_FULL, &in);
		if (!n) {
			at += f->arch->insn_align;
			open = false;
			continue;
		}
		if (!open && !(in.flags & INSN_NOP)) {
			open = true;
			start = s->va + at;
			slot = 0;
			known = (struct constants){0};
		}
		if (in.op == OP_LOAD && in.width == 8) {
			uint64_t address = constants_address(&known, &in);
			slot = address ? address : slot;
		}
		constants_track(&known, &in);
		at += n;
		if (open && (in.kind == INSN_JUMP_INDIRECT || in.kind == INSN_JUMP)) {
			add_entry(f, start, s->va + at, slot, in.kind == INSN_JUMP);
			open = false;
		}
	}
}

bool is_plt_section(const struct section *s)
{
	return s->execute && (!strncmp(s->name, ".plt", 4) || !strcmp(s->name, ".iplt"));
}

void starts_from_plt(struct flow *f)
{
	for (uint32_t i = 0; i < f->module->section_count; i++)
		if (is_plt_section(&f->module->sections[i]) && f->module->sections[i].in_file)
			scan_section(f, &f->module->sections[i]);
}
