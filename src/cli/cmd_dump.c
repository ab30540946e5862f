/* `sonde dump`: shows intermediate forms of the analysis, for developers and for golden tests. The
 * text is stable: one item per line, fields in a fixed order, names only from this project's own
 * tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/args/choose.h"
#include "cli/command.h"
#include "cli/dump/dump.h"
#include "cli/term/die.h"
#include "cli/term/output.h"
#include "module/demangle.h"

static bool overlaps(const struct dump_args *a, uint64_t start, uint64_t end)
{
	return end > a->start.value && (!a->end.given || start < a->end.value);
}

static bool is_chosen(struct dump *d, const struct choice *c, const struct function *p)
{
	const struct part *parts = flow_parts(d->flow) + p->first_part;
	bool in_range = overlaps(d->args, p->start, p->end);
	bool at_address = c->address >= p->start && c->address < p->end;
	for (uint32_t i = 0; i < p->part_count; i++) {
		in_range |= overlaps(d->args, parts[i].start, parts[i].end);
		at_address |= c->address >= parts[i].start && c->address < parts[i].end;
	}
	if (!in_range || !c->pattern)
		return in_range;
	if (c->by_address)
		return at_address;
	return p->name && choice_has_name(c, demangle(&d->tmp, p->name), p->name);
}

static void dump_functions(struct dump *d, void (*dump_one)(struct dump *d, uint32_t function))
{
	uint32_t count, shown = 0;
	struct choice choice;
	choice_init(&choice, d->args->function);
	if (!d->args->lazy)
		flow_discover(d->flow);
	const struct function *all = flow_functions(d->flow, &count);
	for (uint32_t i = 0; i < count; i++) {
		bool chosen = is_chosen(d, &choice, &all[i]);
		arena_clear(&d->tmp);
		if (!chosen)
			continue;
		dump_one(d, i);
		arena_clear(&d->result);
		arena_clear(&d->tmp);
		output_flush(&d->out);
		shown++;
	}
	if (!shown)
		die("no function matches%s%s", d->args->function ? " " : "",
		    d->args->function ? d->args->function : "");
	choice_release(&choice);
}

static void dump_code(struct dump *d)
{
	const struct dump_args *a = d->args;
	d->printer = insn_printer_new(d->arch);
	if (a->function) {
		dump_functions(d, dump_insns);
	} else {
		for (uint32_t i = 0; i < d->module->section_count; i++) {
			const struct section *s = &d->module->sections[i];
			uint64_t start = s->va > a->start.value ? s->va : a->start.value;
			uint64_t end = s->va + s->size;
			if (a->end.given && a->end.value < end)
				end = a->end.value;
			if (s->execute && s->in_file)
				dump_range(d, start, end);
		}
	}
	insn_printer_free(d->printer);
}

static void dump_unwinding(struct dump *d)
{
	struct recipes_options options = {.no_cfi = !d->args->cfi,
					  .no_analysis = !d->args->analysis};
	/* Recipes may need to discover functions, and that must not happen while functions are
	 * being listed. */
	flow_discover(d->flow);
	d->recipes = recipes_open(d->flow, &options);
	dump_functions(d, dump_recipes);
	recipes_close(d->recipes);
}

static void dump_plans(struct dump *d)
{
	if (!dump_parse_points(d->args->points, &d->kinds))
		die("--points is a list of entry, exit, call, loop-entry, loop-exit, "
		    "iteration-begin, iteration-end, syscall, syscall-done, pass and "
		    "pass-done, or all; not '%s'",
		    d->args->points);
	flow_discover(d->flow);
	intrusions_find(&d->intrusions, d->flow);
	if (d->args->count)
		private_find(&d->private, d->flow);
	d->printer = insn_printer_new(d->arch);
	dump_functions(d, dump_plan);
	insn_printer_free(d->printer);
	private_release(&d->private);
	intrusions_release(&d->intrusions);
}

static void dump_private_registers(struct dump *d)
{
	flow_discover(d->flow);
	private_find(&d->private, d->flow);
	dump_losses(d);
	dump_functions(d, dump_private);
	private_release(&d->private);
}

static const char *const forms[] = {"insn",    "cfg",    "loops", "recipes", "live",
				    "private", "points", "plan",  NULL};

static void dump_form(struct dump *d, const char *form)
{
	if (!strcmp(form, "insn"))
		dump_code(d);
	else if (!strcmp(form, "cfg"))
		dump_functions(d, dump_cfg);
	else if (!strcmp(form, "recipes"))
		dump_unwinding(d);
	else if (!strcmp(form, "live"))
		dump_functions(d, dump_live);
	else if (!strcmp(form, "private"))
		dump_private_registers(d);
	else if (!strcmp(form, "points"))
		dump_functions(d, dump_points);
	else if (!strcmp(form, "plan"))
		dump_plans(d);
	else
		dump_functions(d, dump_loops);
}

static void check_form(const char *form)
{
	for (const char *const *f = forms; *f; f++)
		if (!strcmp(*f, form))
			return;
	int suggestion = nearest_word(form, forms, ARRAY_SIZE(forms) - 1);
	die("dump shows insn, cfg, loops, recipes, live, private, points or plan, not '%s'%s%s%s",
	    form, suggestion < 0 ? "" : "; did you mean '", suggestion < 0 ? "" : forms[suggestion],
	    suggestion < 0 ? "" : "'?");
}

static int run(const void *args, const struct operands *operands)
{
	struct dump d = {.args = args};
	struct module *module;
	struct err e;
	if (operands->count != 2)
		die("dump needs a form and a file: sonde dump insn|cfg|loops|recipes|live|private|"
		    "points|plan FILE");
	const char *form = operands->list[0], *path = operands->list[1];
	check_form(form);
	if (module_open(&module, path, &e) || flow_open(&d.flow, module, &e))
		die("%s: %s", path, e.text);
	d.module = module;
	d.arch = flow_arch(d.flow);
	output_begin(common.color, common.pager);
	dump_form(&d, form);
	output_write(&d.out);
	output_end();
	text_release(&d.out);
	arena_release(&d.result);
	arena_release(&d.tmp);
	flow_close(d.flow);
	module_close(module);
	return EXIT_SUCCESS;
}

static const struct option options[] = {
	OPTION("function", OPTION_TEXT, struct dump_args, function, .letter = 'f',
	       .value = "PATTERN",
	       .help = "only functions of this name (*, ?, [] match) or address"),
	OPTION("start", OPTION_NUMBER, struct dump_args, start, .value = "ADDRESS",
	       .help = "only from this address"),
	OPTION("end", OPTION_NUMBER, struct dump_args, end, .value = "ADDRESS",
	       .help = "only before this address"),
	OPTION("lazy", OPTION_FLAG, struct dump_args, lazy,
	       .help = "only functions that the file's own tables list"),
	OPTION("no-text", OPTION_UNFLAG, struct dump_args, text,
	       .help = "insn: omit the assembly text"),
	OPTION("no-cfi", OPTION_UNFLAG, struct dump_args, cfi,
	       .help = "recipes: from the code alone"),
	OPTION("no-analysis", OPTION_UNFLAG, struct dump_args, analysis,
	       .help = "recipes: from call frame information alone"),
	OPTION("points", OPTION_TEXT, struct dump_args, points, .value = "KINDS",
	       .help = "plan: points to probe, such as entry,exit (all)"),
	OPTION("relocate", OPTION_FLAG, struct dump_args, relocate,
	       .help = "plan: relocate whole functions even if displacing is enough"),
	OPTION("traps", OPTION_FLAG, struct dump_args, traps,
	       .help = "plan: allow traps where a jump does not fit"),
	OPTION("count", OPTION_FLAG, struct dump_args, count,
	       .help = "plan: the code with which `sonde count` counts the function"),
	{0},
};

static const struct dump_args defaults = {
	.text = true, .cfi = true, .analysis = true, .points = "all"};

const struct command cmd_dump = {
	.name = "dump",
	.summary = "Show intermediate forms of the analysis, for developers",
	.usage = "insn|cfg|loops|recipes|live|private|points|plan FILE [options]",
	.options = options,
	.words = forms,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
