/* The loops worth parallelising, with the reason in words and the possible speed-up. */
#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/report/counts.h"
#include "cli/report/view.h"
#include "cli/term/text.h"
#include "profile/parallel.h"

enum {
	SHARE = 7,
	ENTRIES = 8,
	ITERATIONS = 9,
	INSTRUCTIONS = 10,
	GAIN = 5,
	LEFT = SHARE + ENTRIES + ITERATIONS + INSTRUCTIONS, /* columns left of the gains */
	COLUMNS = LEFT + PARALLEL_STEPS * GAIN + 2,
	NUMBER = 4, /* width of the number before the label */
	INDENT = 4,
	MAX_REFUSED = 3,
	MAX_INSIDE = 4,
};

static const double MIN_SHARE = 0.02; /* the default of --min-percent */

/* Below these values the text says that a loop has few iterations, small iterations or small
 * entries. */
static const double MANY_ITERATIONS = 64;   /* enough for the largest number of threads shown */
static const double LARGE_ITERATION = 1000; /* instructions */
static const double LARGE_ENTRY = 10.0 * PARALLEL_ENTRY_COST; /* instructions */

struct parallel_report {
	const struct report *r;
	struct counts counts;
	struct tree whole; /* the tree without the focus */
	struct parallel loops;
};

static bool is_chosen(void *ctx, uint32_t thread)
{
	return report_has_thread(ctx, thread);
}

static void find_parallel(struct parallel_report *f, const struct report *r)
{
	struct report all = *r;
	double least = r->args->min_percent ? r->min_share : MIN_SHARE;
	*f = (struct parallel_report){.r = r};
	all.focus = NULL;
	counts_build(&f->counts, r->profile, is_chosen, &all);
	report_tree(&all, false, &f->whole);
	parallel_build(&f->loops, &r->tree, &f->whole, &f->counts, least);
}

static void release(struct parallel_report *f)
{
	parallel_release(&f->loops);
	tree_release(&f->whole);
	counts_release(&f->counts);
}

static void add_label(const struct parallel_report *f, const struct parallel_loop *l, size_t width,
		      struct text *out)
{
	struct text marks = TEXT_INIT;
	text_add(&marks, "");
	counted_marks(l->counts, &marks);
	add_loop_label(f->r->profile, l->scope, marks.data, width, out);
	text_release(&marks);
}

static bool knows_iterations(const struct parallel_loop *l)
{
	return !(l->counts->flags & COUNTS_ITERATIONS_UNKNOWN);
}

/* ---- the reason ---- */

static void add_merits(const struct parallel_loop *l, struct text *out)
{
	text_printf(out, "Has %.1f %% of all instructions in ", percent(l->share));
	add_counted(out, l->counts->entries, "entry", "entries");
	if (!knows_iterations(l)) {
		text_add(out, "; its iterations could not be counted, and do not limit the "
			      "speed-ups shown.");
		return;
	}
	text_add(out, l->counts->entries == 1 ? ", with " : ", each with ");
	add_mean(out, l->trips);
	text_add(out, l->trips == 1 ? " iteration of " : " iterations of ");
	add_mean(out, l->iteration);
	text_add(out, " instructions.");
}

static void add_limits(const struct parallel_loop *l, struct text *out)
{
	if (knows_iterations(l) && l->busy < MANY_ITERATIONS) {
		text_add(out, " Few iterations: at most ");
		add_counted(out, (uint64_t)l->busy, "thread is busy.", "threads are busy.");
	}
	if (l->entry < LARGE_ENTRY) {
		text_add(out, " Small entries: ");
		add_mean(out, round(l->entry));
		text_add(out, " instructions each, and starting threads or a barrier takes about ");
		add_count(out, PARALLEL_ENTRY_COST);
		text_char(out, '.');
	}
	if (knows_iterations(l) && l->iteration < LARGE_ITERATION)
		text_add(out, " Small iterations: schedule many at a time.");
	if (l->recursive)
		text_add(out, " It is entered again from its own body (recursion): make only the "
			      "outermost entry parallel.");
	if (l->counts->flags & COUNTS_IRREDUCIBLE)
		text_add(out, " It has several entries, so it is no plain loop.");
	if (l->counts->threads > 1) {
		text_add(out, " It already runs in ");
		add_count(out, l->counts->threads);
		text_add(out, " threads.");
	}
}

static void add_reason(const struct parallel_loop *l, struct text *out)
{
	add_merits(l, out);
	add_limits(l, out);
}

/* Adds why a loop is not worth parallelising. */
static void add_refusal(const struct parallel_loop *l, struct text *out)
{
	switch (l->verdict) {
	case PARALLEL_FEW_ITERATIONS:
		add_mean(out, l->trips);
		text_add(out, l->trips == 1 ? " iteration" : " iterations");
		text_add(out, " per entry: there is nothing to distribute");
		break;
	case PARALLEL_SMALL_ENTRIES:
		add_mean(out, round(l->entry));
		text_add(out,
			 " instructions per entry, and starting threads or a barrier takes about ");
		add_count(out, PARALLEL_ENTRY_COST);
		break;
	default: text_add(out, "too small a share of the program");
	}
}

/* ---- text ---- */

/* Adds words, indented, in lines of at most `width` columns. */
static void add_paragraph(const char *words, size_t indent, size_t width, struct text *out)
{
	size_t used = 0;
	while (*words) {
		size_t n = strcspn(words, " "), columns = text_columns(words, n);
		bool starts = !used || indent + used + 1 + columns > width;
		if (starts) {
			text_add(out, used ? "\n" : "");
			text_fill(out, ' ', indent);
			used = 0;
		} else {
			text_char(out, ' ');
		}
		text_addn(out, words, n);
		used += columns + !starts;
		words += n + (words[n] == ' ');
	}
	text_char(out, '\n');
}

static void add_gains(const double *gain, struct text *out)
{
	for (int i = 0; i < PARALLEL_STEPS; i++)
		text_printf(out, "%*.*f", GAIN, gain[i] < 9.995 ? 2 : 1, gain[i]);
	text_add(out, "  ");
}

static void add_heading(struct text *out)
{
	output_style(out, STYLE_ADDRESS);
	text_add(out, "Speed-up is an upper bound for the whole program, if the iterations of the "
		      "loop ran in parallel.\nWhether they are independent is not known.\n");
	output_style(out, STYLE_HEADING);
	text_printf(out, "%*s%*s", SHARE + ENTRIES + ITERATIONS, "iter./", INSTRUCTIONS, "instr./");
	text_printf(out, "%*s\n", PARALLEL_STEPS * GAIN, "speed-up by thread count");
	text_printf(out, "%*s%*s%*s%*s", SHARE, "total", ENTRIES, "entries", ITERATIONS, "entry",
		    INSTRUCTIONS, "iteration");
	for (int i = 0; i < PARALLEL_STEPS; i++)
		text_printf(out, "%*u", GAIN, parallel_threads[i]);
	text_add(out, "  loop\n");
	output_style(out, STYLE_NONE);
}

static void add_mean_cell(double mean, bool known, size_t columns, struct text *out)
{
	struct text cell = TEXT_INIT;
	if (known)
		add_mean(&cell, mean);
	else
		text_char(&cell, '?');
	add_cell(out, &cell, columns);
	text_release(&cell);
}

static void add_row(const struct parallel_report *f, const struct parallel_loop *l,
		    const char *before, struct text *out)
{
	size_t width = f->r->width > COLUMNS + 24 ? f->r->width - COLUMNS - NUMBER : 20;
	add_share(out, l->total, f->r->total);
	add_count_cell(out, l->counts->entries, ENTRIES);
	add_mean_cell(l->trips, knows_iterations(l), ITERATIONS, out);
	add_mean_cell(l->iteration, knows_iterations(l), INSTRUCTIONS, out);
	add_gains(l->gain, out);
	output_style(out, STYLE_LOOP);
	text_printf(out, "%-*s", NUMBER - 1, before);
	add_label(f, l, width, out);
	output_style(out, STYLE_NONE);
	text_char(out, '\n');
}

static void add_together(const double *gain, uint32_t count, struct text *out)
{
	if (count < 2)
		return;
	text_fill(out, ' ', LEFT);
	add_gains(gain, out);
	text_printf(out, "%-*sthese %u together\n", NUMBER - 1, "", count);
}

/* Adds the loops inside, as alternatives in case the outer iterations depend on each other. */
static void add_inside(const struct parallel_report *f, const struct parallel_loop *l,
		       struct text *out)
{
	const struct parallel *x = &f->loops;
	bool few = knows_iterations(l) && l->busy < MANY_ITERATIONS;
	uint32_t shown = l->inside_count < MAX_INSIDE ? l->inside_count : MAX_INSIDE;
	if (!shown)
		return;
	text_fill(out, ' ', INDENT);
	text_add(out, few ? "Inner loops keep more threads busy:\n"
			  : "If its iterations depend on each other, these inner loops remain:\n");
	for (uint32_t i = 0; i < shown; i++)
		add_row(f, &x->loops.data[x->inside.data[l->first_inside + i]], "-", out);
	if (shown < l->inside_count) {
		text_fill(out, ' ', COLUMNS + NUMBER - 1);
		text_printf(out, "... %u more\n", l->inside_count - shown);
	}
	add_together(l->inside_gain, l->inside_count, out);
}

static void add_around(const struct parallel_report *f, struct text *out)
{
	const struct parallel *x = &f->loops;
	if (!x->around.len)
		return;
	text_fill(out, ' ', INDENT);
	text_add(out, "Outer loops, with less to gain on many threads:\n");
	for (uint32_t i = 0; i < x->around.len && i < MAX_INSIDE; i++)
		add_row(f, &x->loops.data[x->around.data[i]], "-", out);
}

static void add_chosen(const struct parallel_report *f, uint32_t number, struct text *out)
{
	const struct parallel_loop *l = &f->loops.loops.data[f->loops.chosen.data[number]];
	struct text words = TEXT_INIT;
	text_printf(&words, "%u.", number + 1);
	add_row(f, l, words.data, out);
	text_clear(&words);
	add_reason(l, &words);
	add_paragraph(words.data, INDENT, f->r->width, out);
	add_inside(f, l, out);
	text_release(&words);
}

static void add_none(const struct parallel_report *f, struct text *out)
{
	const struct parallel *x = &f->loops;
	if (!x->loops.len) {
		text_add(out, "No loop was executed, so there is none to run in parallel.\n");
		return;
	}
	text_add(out, "No loop is worth parallelising. The largest are\n");
	for (uint32_t i = 0; i < x->loops.len && i < MAX_REFUSED; i++) {
		add_share(out, x->loops.data[i].total, f->r->total);
		text_add(out, "  ");
		add_label(f, &x->loops.data[i], 48, out);
		text_add(out, ": ");
		add_refusal(&x->loops.data[i], out);
		text_char(out, '\n');
	}
}

/* Adds a note if several threads ran: then shares of instructions are not shares of time. */
static void add_threads_note(const struct report *r, struct text *out)
{
	uint32_t *threads, count = report_top_threads(r, &threads), working = 0;
	bool *in = xcalloc(r->profile->threads.len + (size_t)1, sizeof(*in));
	vec_each (v, &r->profile->values)
		in[v->thread] |= v->metric == r->metric && v->amount;
	for (uint32_t i = 0; i < count; i++)
		working += in[threads[i]];
	free(in);
	free(threads);
	if (working < 2)
		return;
	struct text words = TEXT_INIT;
	add_count(&words, working);
	text_add(&words, " threads ran; shares are of the instructions of all threads together. "
			 "--thread=THREAD shows one.");
	add_paragraph(words.data, 0, r->width, out);
	text_release(&words);
}

void parallel_text(const struct report *r, struct text *out)
{
	struct parallel_report f;
	find_parallel(&f, r);
	counted_note(r, out);
	add_threads_note(r, out);
	if (f.loops.chosen.len) {
		add_heading(out);
		for (uint32_t i = 0; i < f.loops.chosen.len; i++)
			add_chosen(&f, i, out);
		add_together(f.loops.together, f.loops.chosen.len, out);
		add_around(&f, out);
	} else {
		add_none(&f, out);
	}
	release(&f);
}

/* ---- JSON and CSV ---- */

static void add_gains_json(const char *key, const double *gain, struct json *j)
{
	json_array(j, key);
	for (int i = 0; i < PARALLEL_STEPS; i++) {
		json_object(j, NULL);
		json_u64(j, "threads", parallel_threads[i]);
		json_quantity(j, "speedup", A_FACTOR, gain[i], 4);
		json_end(j);
	}
	json_end(j);
}

static void add_loop_json(const struct parallel_report *f, const struct parallel_loop *l,
			  struct json *j)
{
	const struct outline_node n = {.scope = l->scope, .kind = OUTLINE_LOOP};
	outline_scope_json(&n, f->r, j);
	json_u64(j, "total", l->total);
	json_quantity(j, "total_percent", A_PERCENT, percent(l->share), 3);
	json_u64(j, "entries", l->counts->entries);
	if (knows_iterations(l)) {
		json_u64(j, "iterations", l->counts->iterations);
		json_quantity(j, "iterations_per_entry", A_FACTOR, l->trips, 4);
		json_quantity(j, "instructions_per_iteration", A_FACTOR, l->iteration, 2);
	}
	json_quantity(j, "instructions_per_entry", A_FACTOR, l->entry, 2);
	json_bool(j, "recursive", l->recursive);
	json_u64(j, "threads", l->counts->threads);
	add_gains_json("speedup", l->gain, j);
}

static void add_chosen_json(const struct parallel_report *f, const struct parallel_loop *l,
			    struct json *j)
{
	const struct parallel *x = &f->loops;
	struct text reason = TEXT_INIT;
	add_reason(l, &reason);
	add_loop_json(f, l, j);
	json_string(j, "reason", reason.data);
	json_array(j, "inside");
	for (uint32_t i = 0; i < l->inside_count; i++) {
		json_object(j, NULL);
		add_loop_json(f, &x->loops.data[x->inside.data[l->first_inside + i]], j);
		json_end(j);
	}
	json_end(j);
	if (l->inside_count > 1)
		add_gains_json("inside_together", l->inside_gain, j);
	text_release(&reason);
}

static void add_refused_json(const struct parallel_report *f, const struct parallel_loop *l,
			     struct json *j)
{
	struct text reason = TEXT_INIT;
	add_refusal(l, &reason);
	add_loop_json(f, l, j);
	json_string(j, "reason", reason.data);
	text_release(&reason);
}

void parallel_json(const struct report *r, struct json *j)
{
	struct parallel_report f;
	uint32_t refused = 0;
	find_parallel(&f, r);
	json_array(j, "loops");
	vec_each (i, &f.loops.chosen) {
		json_object(j, NULL);
		add_chosen_json(&f, &f.loops.loops.data[*i], j);
		json_end(j);
	}
	json_end(j);
	if (f.loops.chosen.len > 1)
		add_gains_json("together", f.loops.together, j);
	json_array(j, "around");
	vec_each (i, &f.loops.around) {
		json_object(j, NULL);
		add_loop_json(&f, &f.loops.loops.data[*i], j);
		json_end(j);
	}
	json_end(j);
	json_array(j, "refused");
	vec_each (l, &f.loops.loops) {
		if (l->verdict == PARALLEL_WORTH_IT || refused == MAX_REFUSED)
			continue;
		refused++;
		json_object(j, NULL);
		add_refused_json(&f, l, j);
		json_end(j);
	}
	json_end(j);
	release(&f);
}

static void add_row_csv(const struct parallel_report *f, const struct parallel_loop *l,
			struct text *out)
{
	const struct outline_node n = {.scope = l->scope, .kind = OUTLINE_LOOP};
	struct text reason = TEXT_INIT;
	outline_scope_csv(f->r->profile, &n, out);
	csv_u64(out, l->total);
	text_printf(out, "%.3f,", percent(l->share));
	csv_u64(out, l->counts->entries);
	if (knows_iterations(l))
		text_printf(out, "%llu,%.4f,%.2f,", (unsigned long long)l->counts->iterations,
			    l->trips, l->iteration);
	else
		text_add(out, ",,,");
	for (int i = 0; i < PARALLEL_STEPS; i++)
		text_printf(out, "%.4f,", l->gain[i]);
	add_reason(l, &reason);
	csv_text(out, reason.data);
	csv_end(out);
	text_release(&reason);
}

void parallel_csv(const struct report *r, struct text *out)
{
	struct parallel_report f;
	find_parallel(&f, r);
	text_add(out, "kind,name,function,file,first_line,last_line,module,total,total_percent,"
		      "entries,iterations,iterations_per_entry,instructions_per_iteration,");
	for (int i = 0; i < PARALLEL_STEPS; i++)
		text_printf(out, "speedup_%u,", parallel_threads[i]);
	text_add(out, "reason\n");
	vec_each (i, &f.loops.chosen)
		add_row_csv(&f, &f.loops.loops.data[*i], out);
	release(&f);
}
