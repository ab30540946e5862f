#include "cli/live/path_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/live/path_line.h"
#include "cli/term/output.h"
#include "cli/term/text.h"

enum {
	MAX_PATHS = 20, /* paths shown per function, if the number of lines is not limited */
	COUNT_COLUMNS = 14,
	SHARE_COLUMNS = 8,
	AMOUNT_COLUMNS = 11,
	MAX_METRIC_COLUMNS = 26,
	MAX_FUNCTION_COLUMNS = 60,
	MAX_IDLE_COLUMNS = 40, /* the same in the list of functions without calls */
	MIN_PATH_COLUMNS = 48,
	INDENT = 6,
	MAX_IDLE_NAMES = 12,
};

/* A call path with its values, of one thread or of all. */
struct path_row {
	uint32_t function, node, thread;
	bool recursive, complete;
	struct path_amounts values;
	uint64_t weight; /* the sort key */
};

typedef VEC(struct path_row) row_list;

struct path_table {
	const struct path_session *s;
	struct places *places;
	const struct table_options *o;
	const struct path_metric *first; /* the metric that shares and the order are based on */
	row_list rows;                   /* sorted by function, then heaviest first */
	bool per_call;                   /* there is room for columns per call */
	bool below; /* paths do not fit beside the values: each is on a line of its own below */
	struct text *out;
};

static const struct profile_metric calls_metric = {.name = "calls", .unit = ""};

/* ---- rows ---- */

static void add_amounts(struct path_amounts *sum, const struct path_amounts *a)
{
	sum->calls += a->calls;
	sum->running += a->running;
	for (int i = 0; i < RT_METRICS; i++) {
		sum->total[i] += a->total[i];
		sum->self[i] += a->self[i];
	}
}

static uint64_t amount_of(const struct path_amounts *a, const struct path_metric *m)
{
	return !m || m->index == PATH_CALLS ? a->calls : a->total[m->index];
}

static void add_entry(struct path_table *t, struct hashmap *index, const struct path_entry *n)
{
	uint32_t thread = t->o->threads ? n->thread : PROFILE_NONE, next = t->rows.len;
	const uint32_t key[] = {n->function, n->node, thread, n->recursive};
	if (!n->values.calls && !n->values.running && !amount_of(&n->values, t->first))
		return;
	uint32_t at = hashmap_add(index, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&t->rows, (struct path_row){.function = n->function,
						     .node = n->node,
						     .thread = thread,
						     .recursive = n->recursive,
						     .complete = n->complete});
	add_amounts(&t->rows.data[at].values, &n->values);
}

static int compare_rows(const void *a, const void *b)
{
	const struct path_row *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->values.calls != y->values.calls)
		return x->values.calls > y->values.calls ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void find_rows(struct path_table *t)
{
	struct hashmap index = {0};
	vec_each (n, &t->s->data.entries)
		add_entry(t, &index, n);
	vec_each (r, &t->rows)
		r->weight = amount_of(&r->values, t->first);
	if (t->rows.len)
		qsort(t->rows.data, t->rows.len, sizeof(*t->rows.data), compare_rows);
	hashmap_release(&index);
}

static void add_path_text(struct path_table *t, const struct path_row *r, size_t width)
{
	struct text line = TEXT_INIT;
	if (r->recursive)
		text_add(&line, "recursive: ");
	if (t->o->threads)
		text_printf(&line, "[%d] ", t->s->data.profile.threads.data[r->thread].tid);
	if (r->values.running)
		text_printf(&line, "%llu running: ", (unsigned long long)r->values.running);
	size_t used = text_columns(line.len ? line.data : "", line.len);
	bool function = !t->s->data.functions.data[r->function].loop;
	path_line(&line, t->places, &t->s->data.profile, r->node, function,
		  width > used + MIN_PATH_COLUMNS ? width - used : width);
	if (width)
		add_short(t->out, line.len ? line.data : "", width);
	else
		text_addn(t->out, line.len ? line.data : "", line.len);
	text_release(&line);
}

/* ---- cells ---- */

static void add_value(struct text *out, const struct path_metric *m, uint64_t amount,
		      size_t columns)
{
	struct text cell = TEXT_INIT;
	const struct profile_metric unit = {.name = m->name, .unit = m->unit};
	if (amount)
		add_amount(&cell, m->index == PATH_CALLS ? &calls_metric : &unit, amount);
	else
		text_char(&cell, '-');
	add_cell(out, &cell, columns);
	text_release(&cell);
}

static size_t metric_columns(const struct path_metric *m)
{
	size_t least = metrics_is_time(m) ? AMOUNT_COLUMNS : COUNT_COLUMNS;
	size_t name = strlen(m->name) + 2;
	return name < least ? least : name < MAX_METRIC_COLUMNS ? name : MAX_METRIC_COLUMNS;
}

#define EACH_METRIC(m, t)                                                                          \
	for (const struct path_metric *m = (t)->s->metrics.list,                                   \
				      *m##_end = m + (t)->s->metrics.count;                        \
	     m < m##_end; m++)                                                                     \
		if (m->on)

static size_t table_columns(const struct path_table *t)
{
	size_t n = SHARE_COLUMNS;
	EACH_METRIC(m, t)
	{
		n += m->index == PATH_CALLS ? COUNT_COLUMNS
					    : metric_columns(m) * (t->per_call ? 2 : 1);
	}
	return n;
}

static void add_heading(const struct path_table *t)
{
	output_style(t->out, STYLE_HEADING);
	EACH_METRIC(m, t)
	{
		struct text name = TEXT_INIT;
		add_short(&name, m->name, metric_columns(m) - 1);
		add_cell(t->out, &name, m->index == PATH_CALLS ? COUNT_COLUMNS : metric_columns(m));
		text_release(&name);
		if (m->index != PATH_CALLS && t->per_call)
			add_word_cell(t->out, "per call", metric_columns(m));
		if (m == t->first)
			add_word_cell(t->out, "share", SHARE_COLUMNS);
	}
	text_add(t->out, t->below ? "" : "  call path");
	output_style(t->out, STYLE_NONE);
	text_char(t->out, '\n');
}

static void add_cells(const struct path_table *t, const struct path_amounts *a, uint64_t all)
{
	EACH_METRIC(m, t)
	{
		uint64_t amount = amount_of(a, m);
		add_value(t->out, m, amount,
			  m->index == PATH_CALLS ? COUNT_COLUMNS : metric_columns(m));
		if (m->index != PATH_CALLS && t->per_call)
			add_value(t->out, m, a->calls ? amount / a->calls : 0, metric_columns(m));
		if (m == t->first) {
			text_char(t->out, ' ');
			add_share(t->out, amount, all);
		}
	}
}

static void add_row(struct path_table *t, const struct path_row *r, uint64_t all)
{
	size_t used = t->below ? INDENT : table_columns(t) + 2;
	add_cells(t, &r->values, all);
	text_add(t->out, t->below ? "\n" : "  ");
	text_fill(t->out, ' ', t->below ? INDENT : 0);
	add_path_text(t, r, !t->o->width ? 0 : t->o->width > used ? t->o->width - used : 1);
	text_char(t->out, '\n');
}

/* ---- a function ---- */

static void add_state(const struct path_table *t, const struct path_function *f)
{
	static const char *const words[] = {
		[PATH_IN] = "",
		[PATH_REMOVED] = "removed",
		[PATH_TOO_HOT] = "removed",
		[PATH_REFUSED] = "not measured",
	};
	if (f->state == PATH_IN)
		return;
	text_printf(t->out, "  [%s", words[f->state]);
	if (f->reason) {
		text_add(t->out, ": ");
		output_name(t->out, f->reason);
	}
	text_char(t->out, ']');
}

static void add_title(const struct path_table *t, const struct path_function *f)
{
	if (f->loop) {
		output_style(t->out, STYLE_LOOP);
		text_add(t->out, "loop in ");
	} else {
		output_style(t->out, STYLE_NAME);
	}
	add_function_name(t->out, f->name, MAX_FUNCTION_COLUMNS);
	output_style(t->out, STYLE_NONE);
	if (*f->file) {
		text_add(t->out, "  ");
		add_place(t->out, f->file, f->first_line, f->last_line);
	}
	text_add(t->out, "  ");
	output_name(t->out, base_name(t->s->data.profile.modules.data[f->module].path));
	if (f->loop) {
		text_char(t->out, ' ');
		text_hex(t->out, f->loop);
	}
	add_state(t, f);
	text_char(t->out, '\n');
}

/* The inclusive amounts of recursive calls are already in those of the outer calls. */
static struct path_amounts sum_rows(const struct path_row *rows, uint32_t count)
{
	struct path_amounts sum = {0};
	for (uint32_t i = 0; i < count; i++) {
		struct path_amounts a = rows[i].values;
		if (rows[i].recursive)
			memset(a.total, 0, sizeof(a.total));
		add_amounts(&sum, &a);
	}
	return sum;
}

static void prepare_places(struct path_table *t, const struct path_row *rows, uint32_t count)
{
	const struct profile *p = &t->s->data.profile;
	node_numbers nodes = {0};
	VEC(struct place_asked) asked = {0};
	for (uint32_t i = 0; i < count; i++)
		path_line_nodes(p, rows[i].node, &nodes);
	vec_each (n, &nodes)
		if (*n != PROFILE_NONE)
			vec_push(&asked, (struct place_asked){p->nodes.data[*n].module,
							      p->nodes.data[*n].address});
	places_prepare(t->places, asked.data, asked.len);
	vec_free(&nodes);
	vec_free(&asked);
}

static void add_rest(const struct path_table *t, const struct path_row *rows, uint32_t count,
		     uint64_t all)
{
	struct path_amounts rest = sum_rows(rows, count);
	add_cells(t, &rest, all);
	text_printf(t->out, "  %u more path%s\n", count, count == 1 ? "" : "s");
}

static void add_function(struct path_table *t, uint32_t function, const struct path_row *rows,
			 uint32_t count, uint32_t most)
{
	struct path_amounts sum = sum_rows(rows, count);
	uint64_t all = amount_of(&sum, t->first);
	uint32_t shown = count <= most ? count : most;
	add_title(t, &t->s->data.functions.data[function]);
	prepare_places(t, rows, shown);
	for (uint32_t i = 0; i < shown; i++)
		add_row(t, &rows[i], all);
	if (shown < count)
		add_rest(t, rows + shown, count - shown, all);
}

/* ---- below ---- */

static void add_overhead(const struct path_table *t)
{
	const struct path_overhead *c = &t->s->overhead;
	if (!c->run_ns)
		return;
	text_printf(t->out,
		    "overhead about %.2f %% of run time: ", percent_of(c->probe_ns, c->run_ns));
	add_counted(t->out, c->hits, "probe hit", "probe hits");
	text_char(t->out, '\n');
}

static void add_refused(const struct path_table *t)
{
	const struct batch_result *b = &t->s->batches;
	for (int i = 1; i < REFUSAL_REASONS; i++)
		if (b->refused[i])
			text_printf(t->out, "%u of %u points are not measured: each %s\n",
				    b->refused[i], b->spots, refusal_text[i]);
	if (b->traps) {
		add_counted(t->out, b->traps, "function uses", "functions use");
		text_add(t->out, " slow traps: there is no room for a jump\n");
	}
}

/* ---- all functions ---- */

/* The rows of one function. */
struct function_rows {
	uint32_t function, first, count;
	uint64_t weight;
};

typedef VEC(struct function_rows) function_list;

static int compare_functions(const void *a, const void *b)
{
	const struct function_rows *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Sorts the functions to show, heaviest first. Functions without calls and without a state to
 * report go to `idle`, which is one line at the end. */
static void find_functions(const struct path_table *t, function_list *shown, function_list *idle)
{
	for (uint32_t f = 0, at = 0; f < t->s->data.functions.len; f++) {
		struct function_rows b = {.function = f, .first = at};
		while (at < t->rows.len && t->rows.data[at].function == f)
			at++;
		b.count = at - b.first;
		struct path_amounts sum = sum_rows(t->rows.data + b.first, b.count);
		b.weight = amount_of(&sum, t->first);
		bool silent = !b.count && t->s->data.functions.data[f].state == PATH_IN;
		if (silent)
			vec_push(idle, b);
		else
			vec_push(shown, b);
	}
	if (shown->len)
		qsort(shown->data, shown->len, sizeof(*shown->data), compare_functions);
}

static void add_idle(const struct path_table *t, const function_list *idle)
{
	struct text line = TEXT_INIT;
	if (!idle->len)
		return;
	add_counted(&line, idle->len, "function was", "functions were");
	text_add(&line, " not called: ");
	for (uint32_t i = 0; i < idle->len && i < MAX_IDLE_NAMES; i++) {
		text_add(&line, i ? ", " : "");
		add_function_name(&line, t->s->data.functions.data[idle->data[i].function].name,
				  MAX_IDLE_COLUMNS);
	}
	text_add(&line, idle->len > MAX_IDLE_NAMES ? ", ..." : "");
	if (t->o->width)
		add_short(t->out, line.data, t->o->width);
	else
		text_addn(t->out, line.data, line.len);
	text_char(t->out, '\n');
	text_release(&line);
}

/* Returns the number of paths that each function may show, so that the table fits in its lines.
 * Fixed are the heading and about four lines below the table, and for each function its title and
 * the line that sums up its other paths. */
static uint32_t share_of_lines(const struct path_table *t, uint32_t functions)
{
	uint32_t fixed = 5 + 2 * functions;
	if (!t->o->lines)
		return MAX_PATHS;
	if (t->o->lines <= fixed + functions || !functions)
		return 1;
	return (t->o->lines - fixed) / functions / (t->below ? 2 : 1) + t->below;
}

void table_render(const struct path_session *s, struct places *places,
		  const struct table_options *o, struct text *out)
{
	struct path_table t = {.s = s,
			       .places = places,
			       .o = o,
			       .first = metrics_first(&s->metrics),
			       .per_call = true,
			       .out = out};
	function_list shown = {0}, idle = {0};
	t.per_call = !o->width || table_columns(&t) <= o->width;
	t.below = o->width && table_columns(&t) + MIN_PATH_COLUMNS > o->width;
	find_rows(&t);
	find_functions(&t, &shown, &idle);
	add_heading(&t);
	uint32_t most = share_of_lines(&t, shown.len);
	vec_each (b, &shown)
		add_function(&t, b->function, t.rows.data + b->first, b->count, most);
	add_idle(&t, &idle);
	add_overhead(&t);
	add_refused(&t);
	vec_free(&shown);
	vec_free(&idle);
	vec_free(&t.rows);
}
