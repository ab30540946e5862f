#include "cli/report/diff.h"

#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "base/vec.h"
#include "cli/term/text.h"

enum {
	COLUMN = 11,
	EXACT_COLUMN = 18, /* width of an exact change */
	MAX_NAME_COLUMNS = 40,
	MAX_COMMAND_COLUMNS = 60,
};

double diff_percent(const struct diff_view *v, const struct diff_change *c)
{
	double total = (double)v->diff->a.total;
	if (v->normalise)
		return c->change;
	return percent_change(c->change, total);
}

bool diff_exceeds(const struct diff_view *v, const struct diff_change *c)
{
	return v->gate >= 0 && c->significant && diff_percent(v, c) > v->gate;
}

static bool any_exceeds(const struct diff_view *v, const struct diff_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (diff_exceeds(v, &rows[i].self))
			return true;
	return false;
}

bool diff_gate_exceeded(const struct diff_view *v)
{
	const struct diff *d = v->diff;
	return diff_exceeds(v, &d->whole) || any_exceeds(v, d->functions.data, d->functions.len) ||
	       any_exceeds(v, d->loops.data, d->loops.len);
}

/* Returns the newer profile if it has the row, otherwise the older one. */
static const struct profile *profile_of(const struct diff_view *v, const struct diff_row *r)
{
	return r->scope_b != PROFILE_NONE ? &v->b->profile : &v->a->profile;
}

static const struct profile_scope *scope_of(const struct diff_view *v, const struct diff_row *r)
{
	uint32_t scope = r->scope_b != PROFILE_NONE ? r->scope_b : r->scope_a;
	return &profile_of(v, r)->scopes.data[scope];
}

static const struct profile_scope *function_of(const struct diff_view *v, const struct diff_row *r)
{
	const struct profile_scope *s = scope_of(v, r);
	while (s->parent != PROFILE_NONE)
		s = &profile_of(v, r)->scopes.data[s->parent];
	return s;
}

static bool is_worth_showing(const struct diff_view *v, const struct diff_row *r)
{
	return fabs(diff_percent(v, &r->self)) >= v->min_percent;
}

static const struct profile_metric *metric_of(const struct diff_view *v)
{
	return &v->a->profile.metrics.data[v->a->metric];
}

/* "520 ms", or "3.2 %" of the whole. */
static void add_size(const struct diff_view *v, struct text *out, double size)
{
	if (v->normalise)
		text_printf(out, "%.1f %%", size);
	else
		add_amount(out, metric_of(v), (uint64_t)fmin(round(size), 0x1p63));
}

static const char *plus_minus(void)
{
	return output_is_utf8() ? "\u00b1" : "+/-";
}

static void add_change(const struct diff_view *v, struct text *out, double change)
{
	text_char(out, change < 0 ? '-' : '+');
	add_size(v, out, fabs(change));
}

static void add_value(const struct diff_view *v, struct text *out, uint64_t amount, uint64_t total)
{
	struct text cell = TEXT_INIT;
	if (!amount)
		text_char(&cell, '-');
	else if (v->normalise)
		text_printf(&cell, "%.1f %%", percent_of(amount, total));
	else
		add_brief_amount(&cell, metric_of(v), amount);
	add_cell(out, &cell, COLUMN);
	text_release(&cell);
}

static void add_label(const struct diff_view *v, const struct diff_row *r, struct text *out)
{
	const struct profile *p = profile_of(v, r);
	const struct profile_scope *s = scope_of(v, r);
	if (s->kind == PROFILE_LOOP) {
		add_scope_place(out, p, s);
		text_add(out, " in ");
		add_short(out, function_of(v, r)->name, MAX_NAME_COLUMNS);
	} else {
		add_short(out, s->name, MAX_NAME_COLUMNS);
		text_add(out, "  ");
		add_scope_place(out, p, s);
	}
	if (r->scope_a == PROFILE_NONE)
		text_add(out, "  (new)");
	if (r->scope_b == PROFILE_NONE)
		text_add(out, "  (gone)");
}

static void add_row(const struct diff_view *v, const struct diff_row *r, struct text *out)
{
	struct text cell = TEXT_INIT;
	add_change(v, &cell, r->self.change);
	add_cell(out, &cell, v->diff->exact ? EXACT_COLUMN : COLUMN);
	if (!v->diff->exact) {
		add_size(v, &cell, r->self.margin);
		add_cell(out, &cell, COLUMN);
	}
	add_value(v, out, r->a.self, v->diff->a.total);
	add_value(v, out, r->b.self, v->diff->b.total);
	add_value(v, out, r->a.total, v->diff->a.total);
	add_value(v, out, r->b.total, v->diff->b.total);
	text_add(out, "  ");
	add_label(v, r, out);
	text_char(out, '\n');
	text_release(&cell);
}

static void add_heading(const struct diff_view *v, const char *what, struct text *out)
{
	output_style(out, STYLE_HEADING);
	text_printf(out, "\n%*s", v->diff->exact ? EXACT_COLUMN : COLUMN, "change");
	if (!v->diff->exact)
		text_printf(out, "%*s", COLUMN + output_is_utf8(), plus_minus());
	text_printf(out, "%11s%11s%11s%11s  %s\n", "self A", "self B", "total A", "total B", what);
	output_style(out, STYLE_NONE);
}

/* Returns the number of rows left out. */
static uint32_t add_table(const struct diff_view *v, const char *what, const struct diff_row *rows,
			  uint32_t count, struct text *out)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_worth_showing(v, &rows[i]) || (!rows[i].self.significant && !v->all))
			continue;
		if (!shown++) {
			add_heading(v, what, out);
		}
		add_row(v, &rows[i], out);
	}
	return count - shown;
}

static void add_input(const struct diff_input *in, const char *letter, const struct diff_value *all,
		      struct text *out)
{
	const char *command = profile_get_fact(&in->profile, "command");
	text_printf(out, "%s  ", letter);
	add_amount(out, &in->profile.metrics.data[in->metric], all->total);
	if (!profile_is_counted(&in->profile, in->metric)) {
		text_add(out, " in ");
		add_counted(out, all->total_samples, "sample", "samples");
	}
	text_add(out, "  ");
	add_short(out, in->path, MAX_NAME_COLUMNS);
	if (command) {
		text_add(out, ": ");
		add_short(out, command, MAX_COMMAND_COLUMNS);
	}
	text_char(out, '\n');
}

static void add_exact_verdict(const struct diff_view *v, struct text *out)
{
	const struct diff_change *c = &v->diff->whole;
	double percent = fabs(diff_percent(v, c));
	text_printf(out, "%s: ", metric_of(v)->name);
	if (!c->significant) {
		text_add(out, "no difference in total\n");
		return;
	}
	text_add(out, "B has ");
	add_size(v, out, fabs(c->change));
	text_add(out, c->change > 0 ? " more, " : " less, ");
	/* The difference is real however small it is, so it must not be printed as 0.0. */
	if (percent < 0.1)
		text_printf(out, "%.1g %%\n", percent);
	else
		text_printf(out, "%.1f %%\n", percent);
}

/* The change of the whole: what most people want to know. */
static void add_verdict(const struct diff_view *v, struct text *out)
{
	const struct diff_change *c = &v->diff->whole;
	double percent = diff_percent(v, c);
	if (v->normalise)
		text_printf(out, "%s, shares of the total\n", metric_of(v)->name);
	else if (v->diff->exact)
		add_exact_verdict(v, out);
	else if (!c->significant)
		text_printf(out, "%s: no significant difference in total (%+.1f %%)\n",
			    metric_of(v)->name, percent);
	else
		text_printf(out, "%s: B has %.1f %% %s, %s%.1f %%\n", metric_of(v)->name,
			    fabs(percent), percent > 0 ? "more" : "less", plus_minus(),
			    percent_change(c->margin, (double)v->diff->a.total));
}

static void add_gate(const struct diff_view *v, struct text *out)
{
	if (v->gate < 0)
		return;
	text_char(out, '\n');
	if (!diff_gate_exceeded(v)) {
		text_printf(out, "Nothing %s by more than %.4g %% of A's total.\n",
			    v->diff->exact ? "grew" : "got slower", v->gate);
		return;
	}
	text_printf(out, "%s by more than %.4g %% of A's total:\n",
		    v->diff->exact ? "Grown" : "Slower", v->gate);
	if (diff_exceeds(v, &v->diff->whole))
		text_printf(out, "%+8.1f %%  total\n", diff_percent(v, &v->diff->whole));
	const struct diff_row *rows[] = {v->diff->functions.data, v->diff->loops.data};
	const uint32_t counts[] = {v->diff->functions.len, v->diff->loops.len};
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		for (uint32_t i = 0; i < counts[k]; i++) {
			if (!diff_exceeds(v, &rows[k][i].self))
				continue;
			text_printf(out, "%+8.1f %%  %s", diff_percent(v, &rows[k][i].self),
				    k ? "loop " : "");
			add_label(v, &rows[k][i], out);
			text_char(out, '\n');
		}
	}
}

struct changes {
	uint32_t changed, small; /* small: changed, but by less than the minimum shown */
};

static void count_changes(const struct diff_view *v, const struct diff_row *rows, uint32_t count,
			  struct changes *t)
{
	for (uint32_t i = 0; i < count; i++) {
		t->changed += rows[i].self.significant;
		t->small += rows[i].self.significant && !is_worth_showing(v, &rows[i]);
	}
}

static void add_both(uint32_t functions, uint32_t loops, struct text *out)
{
	add_counted(out, functions, "function", "functions");
	text_add(out, " and ");
	add_counted(out, loops, "loop", "loops");
}

/* Summarises the rows that are not in the tables, for exact counts. */
static void add_exact_rest(const struct diff_view *v, struct text *out)
{
	const struct diff *d = v->diff;
	struct changes functions = {0}, loops = {0};
	count_changes(v, d->functions.data, d->functions.len, &functions);
	count_changes(v, d->loops.data, d->loops.len, &loops);
	if (!functions.changed && !loops.changed) {
		text_add(out, "No difference in any function or loop.\n");
		return;
	}
	if (functions.small || loops.small) {
		text_add(out, "Not shown: ");
		add_both(functions.small, loops.small, out);
		text_printf(out,
			    " with changes below %.4g %% of A's total (--min-percent=0 shows "
			    "them).\n",
			    v->min_percent);
	}
	text_add(out, "Without a difference: ");
	add_both(d->functions.len - functions.changed, d->loops.len - loops.changed, out);
	text_add(out, ".\n");
}

void diff_text(const struct diff_view *v, struct text *out)
{
	const struct diff *d = v->diff;
	add_input(v->a, "A", &d->a, out);
	add_input(v->b, "B", &d->b, out);
	add_verdict(v, out);
	uint32_t functions = add_table(v, "function", d->functions.data, d->functions.len, out);
	uint32_t loops = add_table(v, "loop", d->loops.data, d->loops.len, out);
	text_char(out, '\n');
	if (d->exact)
		add_exact_rest(v, out);
	else if (functions == d->functions.len && loops == d->loops.len)
		text_add(out, "No function or loop changed significantly.\n");
	else if (functions || loops)
		text_printf(out, "Not shown: %u functions and %u loops, %s.\n", functions, loops,
			    v->all ? "with smaller changes" : "without a significant change");
	add_gate(v, out);
}

static void add_change_json(const struct diff_view *v, const char *key, const struct diff_change *c,
			    struct json *j)
{
	int digits = v->normalise ? 4 : 0;
	json_object(j, key);
	json_quantity(j, "change", A_CHANGE, c->change, digits);
	json_quantity(j, "low", A_CHANGE, c->change - c->margin, digits);
	json_quantity(j, "high", A_CHANGE, c->change + c->margin, digits);
	json_quantity(j, "percent", A_CHANGE, diff_percent(v, c), 4);
	json_bool(j, "significant", c->significant);
	json_end(j);
}

static void add_scope_json(const struct diff_view *v, const struct diff_row *r, struct json *j)
{
	const struct profile_scope *s = scope_of(v, r);
	const struct profile *p = profile_of(v, r);
	json_string(j, "function", function_of(v, r)->name);
	json_string(j, "module", p->modules.data[s->module].path);
	json_string(j, "file", *s->file ? s->file : NULL);
	json_u64(j, "first_line", s->first_line);
	json_u64(j, "last_line", s->last_line);
	json_bool(j, "in_a", r->scope_a != PROFILE_NONE);
	json_bool(j, "in_b", r->scope_b != PROFILE_NONE);
}

static void add_rows_json(const struct diff_view *v, const char *key, const struct diff_row *rows,
			  uint32_t count, struct json *j)
{
	json_array(j, key);
	for (uint32_t i = 0; i < count; i++) {
		const struct diff_row *r = &rows[i];
		if (!is_worth_showing(v, r))
			continue;
		json_object(j, NULL);
		add_scope_json(v, r, j);
		json_u64(j, "self_a", r->a.self);
		json_u64(j, "self_b", r->b.self);
		json_u64(j, "total_a", r->a.total);
		json_u64(j, "total_b", r->b.total);
		json_u64(j, "self_samples_a", r->a.self_samples);
		json_u64(j, "self_samples_b", r->b.self_samples);
		add_change_json(v, "self", &r->self, j);
		add_change_json(v, "total", &r->total, j);
		json_end(j);
	}
	json_end(j);
}

static void add_input_json(const struct diff_input *in, const char *key,
			   const struct diff_value *all, struct json *j)
{
	json_object(j, key);
	json_string(j, "file", in->path);
	json_string(j, "command", profile_get_fact(&in->profile, "command"));
	json_u64(j, "total", all->total);
	json_u64(j, "samples", all->total_samples);
	json_end(j);
}

void diff_json(const struct diff_view *v, struct text *out)
{
	struct json j = JSON_INIT(out);
	const struct diff *d = v->diff;
	json_object(&j, NULL);
	json_string(&j, "metric", metric_of(v)->name);
	json_string(&j, "unit", metric_of(v)->unit);
	json_bool(&j, "normalised", v->normalise);
	json_bool(&j, "exact", d->exact);
	add_input_json(v->a, "a", &d->a, &j);
	add_input_json(v->b, "b", &d->b, &j);
	add_change_json(v, "whole", &d->whole, &j);
	if (v->gate >= 0)
		json_bool(&j, "gate_exceeded", diff_gate_exceeded(v));
	add_rows_json(v, "functions", d->functions.data, d->functions.len, &j);
	add_rows_json(v, "loops", d->loops.data, d->loops.len, &j);
	json_end(&j);
	text_char(out, '\n');
}

static void add_rows_csv(const struct diff_view *v, const char *kind, const struct diff_row *rows,
			 uint32_t count, struct text *out)
{
	int digits = v->normalise ? 4 : 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct diff_row *r = &rows[i];
		const struct profile_scope *s = scope_of(v, r);
		if (!is_worth_showing(v, r))
			continue;
		csv_text(out, kind);
		csv_text(out, function_of(v, r)->name);
		csv_text(out, s->file);
		csv_u64(out, s->first_line);
		csv_u64(out, s->last_line);
		csv_u64(out, r->a.self);
		csv_u64(out, r->b.self);
		csv_u64(out, r->a.total);
		csv_u64(out, r->b.total);
		text_printf(out, "%.*f,%.*f,%.*f,%.4f,%d,", digits, r->self.change, digits,
			    r->self.change - r->self.margin, digits,
			    r->self.change + r->self.margin, diff_percent(v, &r->self),
			    r->self.significant);
		csv_end(out);
	}
}

void diff_csv(const struct diff_view *v, struct text *out)
{
	const struct diff *d = v->diff;
	text_add(out, "kind,function,file,first_line,last_line,self_a,self_b,total_a,total_b,"
		      "change,low,high,percent,significant\n");
	add_rows_csv(v, "function", d->functions.data, d->functions.len, out);
	add_rows_csv(v, "loop", d->loops.data, d->loops.len, out);
}
