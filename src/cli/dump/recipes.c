#include <inttypes.h>

#include "cli/dump/dump.h"
#include "unwind/recipes.h"

static void add_cfa(const struct recipe *r, const struct arch *arch, struct text *out)
{
	const char *reg = arch->reg_name(r->cfa_reg);
	switch (r->cfa) {
	case CFA_REGISTER: text_printf(out, " cfa=%s%+d", reg, r->cfa_offset); break;
	case CFA_MEMORY:
		text_printf(out, " cfa=*(%s%+d)%+d", reg, r->cfa_offset, r->cfa_add);
		break;
	default: text_add(out, " cfa=?"); break;
	}
}

static void add_return(const struct recipe *r, const struct arch *arch, struct text *out)
{
	switch (r->ret) {
	case RETURN_SAVED: text_printf(out, " return=%+d", r->ret_offset); break;
	case RETURN_REGISTER: text_printf(out, " return=%s", arch->reg_name(r->ret_reg)); break;
	case RETURN_NONE: text_add(out, " return=none"); break;
	default: text_add(out, " return=?"); break;
	}
}

static void add_slots(const struct recipe *r, const struct arch *arch, struct text *out)
{
	uint8_t list[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(arch, list);
	if (r->cfa == CFA_UNKNOWN && !r->switches)
		return;
	if (r->slot_reg != REG_NONE)
		text_printf(out, " from=%s", arch->reg_name(r->slot_reg));
	for (unsigned i = 0; i < count; i++) {
		if (r->slot[i] == SLOT_LOST)
			text_printf(out, " %s=?", arch->reg_name(list[i]));
		else if (r->slot[i] != SLOT_SAME)
			text_printf(out, " %s=%+d", arch->reg_name(list[i]), r->slot[i]);
	}
}

static void add_span(struct dump *d, uint64_t start)
{
	static const char *const sources[] = {"", " cfi", " assumed"};
	struct recipe_span span = recipes_span(d->recipes, start);
	for (uint32_t i = 0; i < span.count; i++) {
		const struct recipe *r = recipes_recipe(d->recipes, span.entries[i].recipe);
		text_printf(&d->out, "  0x%" PRIx64,
			    recipes_base(d->recipes) + span.entries[i].start);
		add_cfa(r, d->arch, &d->out);
		add_return(r, d->arch, &d->out);
		add_slots(r, d->arch, &d->out);
		text_add(&d->out, r->record ? " record" : "");
		text_add(&d->out, r->switches ? " switches" : "");
		text_add(&d->out, sources[r->source]);
		text_char(&d->out, '\n');
	}
}

void dump_recipes(struct dump *d, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(d->flow, &count)[function];
	dump_heading(d, p);
	text_char(&d->out, '\n');
	add_span(d, p->start);
	for (uint32_t i = 0; i < p->part_count; i++)
		add_span(d, flow_parts(d->flow)[p->first_part + i].start);
}
