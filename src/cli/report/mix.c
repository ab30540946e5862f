/* The mix of instruction classes of loops and functions. */
#include "cli/report/counts.h"
#include "cli/report/view.h"
#include "cli/term/text.h"

enum {
	SELF = 7,
	INSTRUCTIONS = 9,
	COLUMNS = SELF + INSTRUCTIONS + 6 * 6 + 2 * 7 + 2 /* the classes, then two spaces */
};

_Static_assert(INSN_CLASSES == 8, "COLUMNS is for that many");

static const struct {
	const char *name;
	size_t columns;
} classes[INSN_CLASSES] = {
	[CLASS_LOAD] = {"load", 6},     [CLASS_STORE] = {"store", 6},
	[CLASS_INTEGER] = {"int", 6},   [CLASS_FLOAT] = {"float", 6},
	[CLASS_SIMD] = {"simd", 6},     [CLASS_BRANCH] = {"branch", 7},
	[CLASS_ATOMIC] = {"atomic", 7}, [CLASS_OTHER] = {"other", 6},
};

static void add_classes(const uint64_t *mix, uint64_t all, struct text *out)
{
	struct text cell = TEXT_INIT;
	for (int i = 0; i < INSN_CLASSES; i++) {
		if (mix[i])
			text_printf(&cell, "%.1f", percent_of(mix[i], all));
		add_cell(out, &cell, classes[i].columns);
	}
	text_add(out, "  ");
	text_release(&cell);
}

static void add_text(const struct counted_item *i, const struct report *r, struct text *out)
{
	static const struct counts_row none;
	const struct counts_row *row = i->row ? i->row : &none;
	add_share(out, i->amount.self, r->total);
	add_count_cell(out, row->instructions, INSTRUCTIONS);
	add_classes(row->mix, row->instructions, out);
}

static void add_heading(struct text *out)
{
	output_style(out, STYLE_ADDRESS);
	text_add(out,
		 "self: the row's own instructions (a function's include its loops); classes: in "
		 "percent of self\n");
	output_style(out, STYLE_HEADING);
	add_word_cell(out, "self", SELF);
	add_word_cell(out, "instr.", INSTRUCTIONS);
	for (int i = 0; i < INSN_CLASSES; i++)
		add_word_cell(out, classes[i].name, classes[i].columns);
	text_add(out, "  loop or function\n");
	output_style(out, STYLE_NONE);
}

void mix_text(const struct report *r, struct text *out)
{
	struct counts_view c;
	counted_build(&c, r, hot_scopes_outline, SORT_SELF);
	counted_note(r, out);
	add_heading(out);
	add_share(out, r->total, r->total);
	add_count_cell(out, c.all.instructions, INSTRUCTIONS);
	add_classes(c.all.mix, c.all.instructions, out);
	text_add(out, r->args->thread ? "all these threads\n" : "the whole program\n");
	counted_text(&c, r, COLUMNS, add_text, out);
	counted_legend(&c, out);
	counted_release(&c);
}

static void add_mix_json(const uint64_t *mix, uint64_t all, struct json *j)
{
	json_u64(j, "instructions", all);
	json_object(j, "mix");
	for (int i = 0; i < INSN_CLASSES; i++)
		json_u64(j, insn_class_name[i], mix[i]);
	json_end(j);
}

static void add_json(const struct counted_item *i, const struct report *r, struct json *j)
{
	(void)r;
	if (i->row)
		add_mix_json(i->row->mix, i->row->instructions, j);
}

void mix_json(const struct report *r, struct json *j)
{
	struct counts_view c;
	counted_build(&c, r, hot_scopes_outline, SORT_SELF);
	json_object(j, "program");
	add_mix_json(c.all.mix, c.all.instructions, j);
	json_end(j);
	counted_json(&c, r, add_json, j);
	counted_release(&c);
}

static void add_mix_csv(const uint64_t *mix, uint64_t all, struct text *out)
{
	csv_u64(out, all);
	for (int i = 0; i < INSN_CLASSES; i++)
		csv_u64(out, mix[i]);
}

static void add_csv(const struct counted_item *i, struct text *out)
{
	static const struct counts_row none;
	const struct counts_row *row = i->row ? i->row : &none;
	add_mix_csv(row->mix, row->instructions, out);
}

void mix_csv(const struct report *r, struct text *out)
{
	struct counts_view c;
	struct text names = TEXT_INIT;
	text_add(&names, "instructions");
	for (int i = 0; i < INSN_CLASSES; i++)
		text_printf(&names, ",%s", insn_class_name[i]);
	counted_build(&c, r, hot_scopes_outline, SORT_SELF);
	counted_csv_heading(names.data, out);
	text_add(out, ",\"program\",\"\",\"\",\"\",0,0,\"\",");
	csv_u64(out, r->total);
	csv_u64(out, r->total);
	text_add(out, r->total ? "100.000,100.000," : "0.000,0.000,");
	add_mix_csv(c.all.mix, c.all.instructions, out);
	csv_end(out);
	counted_csv(&c, r, add_csv, out);
	counted_release(&c);
	text_release(&names);
}
