#include "cli/report/counts.h"

#include <stdlib.h>

#include "cli/report/view.h"
#include "cli/term/text.h"

static bool is_chosen(void *ctx, uint32_t thread)
{
	return report_has_thread(ctx, thread);
}

static void count_threads(struct counts_view *c, const struct report *r)
{
	c->single = xcalloc(c->threads.count + (size_t)1, sizeof(*c->single));
	for (uint32_t i = 0; i < c->threads.count; i++) {
		struct report single = *r;
		single.thread = c->threads.threads[i];
		counts_build(&c->single[i], r->profile, is_chosen, &single);
	}
}

/* Removes rows that are shown only for their total, and adds them to the sum of the hidden rows. */
static void keep_rows_with_self(struct counts_view *c, const struct report *r)
{
	struct outline_row more = {.node = PROFILE_NONE, .parent = PROFILE_NONE};
	double least = r->min_share * (double)r->total;
	uint32_t kept = 0;
	vec_each (row, &c->rows.list) {
		uint64_t self = row->node == PROFILE_NONE ? row->amount
							  : c->outline.nodes.data[row->node].self;
		if (row->node != PROFILE_NONE && self && (double)self >= least) {
			c->rows.list.data[kept++] = *row;
			continue;
		}
		more.hidden += row->node == PROFILE_NONE ? row->hidden : self > 0;
		more.amount += self;
	}
	c->rows.list.len = kept;
	if (more.hidden && (double)more.amount * REPORT_RESOLUTION >= (double)r->total)
		vec_push(&c->rows.list, more);
}

void counted_build(struct counts_view *c, const struct report *r, outline_build build,
		   enum report_sort best)
{
	struct report ctx = *r;
	*c = (struct counts_view){0};
	build(r, &c->outline);
	outline_link(&c->outline, r->profile, r->args->sort == SORT_BEST ? best : r->args->sort);
	outline_rows(&c->outline, r, &c->rows);
	if (best == SORT_SELF)
		keep_rows_with_self(c, r);
	counts_build(&c->all, r->profile, is_chosen, &ctx);
	if (r->args->per_thread)
		outline_by_thread(&c->outline, r, build, &c->threads);
	count_threads(c, r);
}

void counted_release(struct counts_view *c)
{
	for (uint32_t i = 0; i < c->threads.count; i++)
		counts_release(&c->single[i]);
	free(c->single);
	counts_release(&c->all);
	outline_threads_release(&c->threads);
	vec_free(&c->rows.list);
	outline_release(&c->outline);
}

static struct counted_item item_of(const struct counts_view *c, uint32_t node)
{
	const struct outline_node *n = &c->outline.nodes.data[node];
	return (struct counted_item){.node = n,
				     .amount = {n->self, n->total},
				     .counts = &c->all,
				     .row = counts_of(&c->all, n->scope),
				     .thread = PROFILE_NONE};
}

/* Finds the same row for one of the threads. Returns false if the thread did not execute it. */
static bool thread_item(const struct counts_view *c, uint32_t node, uint32_t i,
			struct counted_item *out)
{
	*out = item_of(c, node);
	out->amount = c->threads.amounts[(size_t)node * c->threads.count + i];
	out->counts = &c->single[i];
	out->row = counts_of(out->counts, out->node->scope);
	out->thread = c->threads.threads[i];
	return out->row && (out->row->entries || out->row->instructions);
}

void add_loop_label(const struct profile *p, uint32_t scope, const char *marks, size_t width,
		    struct text *out)
{
	const struct outline_node n = {.scope = scope, .kind = OUTLINE_LOOP};
	struct text place = TEXT_INIT;
	outline_place(p, &n, &place);
	text_add(&place, marks);
	/* The place is the important part: the function gets the remaining columns. */
	size_t used = text_columns(place.data, place.len) + 4; /* " in " */
	size_t room = used < width ? width - used : 0;
	struct text chain = TEXT_INIT;
	add_short(out, place.data, width < 12 ? 12 : width);
	add_chain(p, p->scopes.data[scope].parent, room < 8 ? SIZE_MAX : room, &chain);
	if (text_columns(chain.data, chain.len) <= room) {
		text_add(out, " in ");
		text_addn(out, chain.data, chain.len);
	}
	text_release(&chain);
	text_release(&place);
}

static void add_label(const struct counted_item *i, const struct report *r, size_t width,
		      struct text *out)
{
	struct text marks = TEXT_INIT;
	text_add(&marks, "");
	if (i->thread != PROFILE_NONE) {
		const struct profile_thread *t = &r->profile->threads.data[i->thread];
		text_printf(out, "| thread %d ", t->tid);
		add_short(out, t->name, 16);
	} else if (i->node->kind == OUTLINE_LOOP) {
		counted_marks(i->row, &marks);
		output_style(out, STYLE_LOOP);
		add_loop_label(r->profile, i->node->scope, marks.data, width, out);
		output_style(out, STYLE_NONE);
	} else {
		outline_label(r->profile, i->node, width, out);
	}
	text_release(&marks);
}

void counted_text(const struct counts_view *c, const struct report *r, size_t columns,
		  void (*add)(const struct counted_item *i, const struct report *r,
			      struct text *out),
		  struct text *out)
{
	size_t width = r->width > columns + 20 ? r->width - columns : 20;
	vec_each (row, &c->rows.list) {
		if (row->node == PROFILE_NONE) {
			add_share(out, row->amount, r->total);
			text_printf(out, "  ... %u more\n", row->hidden);
			continue;
		}
		struct counted_item i = item_of(c, row->node);
		add(&i, r, out);
		add_label(&i, r, width, out);
		text_char(out, '\n');
		for (uint32_t t = 0; t < c->threads.count; t++) {
			if (!thread_item(c, row->node, t, &i))
				continue;
			add(&i, r, out);
			add_label(&i, r, width, out);
			text_char(out, '\n');
		}
		output_flush(out);
	}
}

static void add_threads_json(const struct counts_view *c, const struct report *r, uint32_t node,
			     void (*add)(const struct counted_item *i, const struct report *r,
					 struct json *j),
			     struct json *j)
{
	struct counted_item i;
	json_array(j, "threads");
	for (uint32_t t = 0; t < c->threads.count; t++) {
		if (!thread_item(c, node, t, &i))
			continue;
		json_object(j, NULL);
		json_u64(j, "tid", (uint64_t)r->profile->threads.data[i.thread].tid);
		json_u64(j, "self", i.amount.self);
		json_u64(j, "total", i.amount.total);
		add(&i, r, j);
		json_end(j);
	}
	json_end(j);
}

void counted_json(const struct counts_view *c, const struct report *r,
		  void (*add)(const struct counted_item *i, const struct report *r, struct json *j),
		  struct json *j)
{
	json_array(j, "rows");
	vec_each (row, &c->rows.list) {
		json_object(j, NULL);
		if (row->node == PROFILE_NONE) {
			json_string(j, "kind", "more");
			json_u64(j, "hidden", row->hidden);
			json_u64(j, "self", row->amount);
		} else {
			struct counted_item i = item_of(c, row->node);
			outline_node_json(i.node, r, j);
			add(&i, r, j);
			if (r->args->per_thread)
				add_threads_json(c, r, row->node, add, j);
		}
		json_end(j);
		output_flush(j->out);
	}
	json_end(j);
}

static void add_csv(const struct counted_item *i, const struct report *r,
		    void (*add)(const struct counted_item *i, struct text *out), struct text *out)
{
	if (i->thread != PROFILE_NONE)
		csv_u64(out, (uint64_t)r->profile->threads.data[i->thread].tid);
	else
		text_char(out, ',');
	outline_scope_csv(r->profile, i->node, out);
	csv_u64(out, i->amount.self);
	csv_u64(out, i->amount.total);
	text_printf(out, "%.3f,%.3f,", percent_of(i->amount.self, r->total),
		    percent_of(i->amount.total, r->total));
	add(i, out);
	csv_end(out);
}

void counted_csv_heading(const char *names, struct text *out)
{
	text_add(out, "tid,kind,name,function,file,first_line,last_line,module,self,total,"
		      "self_percent,total_percent,");
	text_add(out, names);
	text_char(out, '\n');
}

void counted_csv(const struct counts_view *c, const struct report *r,
		 void (*add)(const struct counted_item *i, struct text *out), struct text *out)
{
	vec_each (row, &c->rows.list) {
		if (row->node == PROFILE_NONE)
			continue;
		struct counted_item i = item_of(c, row->node);
		add_csv(&i, r, add, out);
		for (uint32_t t = 0; t < c->threads.count; t++)
			if (thread_item(c, row->node, t, &i))
				add_csv(&i, r, add, out);
		output_flush(out);
	}
}

void counted_note(const struct report *r, struct text *out)
{
	if (r->focus)
		text_add(out, "Shares refer to the selected call paths, counts to all call "
			      "paths.\n");
}

static const struct {
	uint8_t flag; /* 0: the mark for several machine loops */
	const char *mark, *meaning;
} marks[] = {
	{0, "+", "several machine loops of one source loop, added up"},
	{COUNTS_IRREDUCIBLE, "~", "a region with several entries, counted as a whole"},
	{COUNTS_MACHINE_ITERATIONS, "^",
	 "unrolled or vectorised: iterations are those of the machine code"},
};

static bool has_mark(const struct counts_row *row, size_t mark)
{
	if (!row || !row->loop)
		return false;
	return marks[mark].flag ? row->flags & marks[mark].flag : row->machine_loops > 1;
}

void counted_marks(const struct counts_row *row, struct text *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (has_mark(row, i))
			text_add(out, marks[i].mark);
}

void counted_legend(const struct counts_view *c, struct text *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		bool used = false;
		vec_each (row, &c->rows.list) {
			if (row->node == PROFILE_NONE)
				continue;
			uint32_t scope = c->outline.nodes.data[row->node].scope;
			used |= has_mark(counts_of(&c->all, scope), i);
		}
		if (used)
			text_printf(out, "%s  %s\n", marks[i].mark, marks[i].meaning);
	}
}
