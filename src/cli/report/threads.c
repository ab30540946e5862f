/* Threads, each with its hottest scope: the loop, or the function outside loops, with the largest
 * self. */
#include <stdlib.h>
#include <string.h>

#include "cli/report/view.h"
#include "cli/term/text.h"

struct thread_row {
	uint64_t amount, samples;
	uint32_t hot; /* the hottest scope; PROFILE_NONE if there is none */
	uint64_t hot_amount;
};

/* Work of the kernel counts for the code that entered it. */
static uint32_t scope_of(const struct profile *p, uint32_t node)
{
	while (node && p->nodes.data[node].scope == PROFILE_NONE)
		node = p->nodes.data[node].parent;
	return report_hot_scope(p, p->nodes.data[node].scope);
}

/* Returns one row per thread of the profile. */
static struct thread_row *measure(const struct report *r)
{
	const struct profile *p = r->profile;
	struct thread_row *rows = xcalloc(p->threads.len + 1, sizeof(*rows));
	struct hashmap sums = {0};
	VEC(uint64_t) amounts = {0};
	bool *in = report_focused_nodes(r);
	for (uint32_t i = 0; i < p->threads.len; i++)
		rows[i].hot = PROFILE_NONE;
	vec_each (v, &p->values) {
		struct thread_row *row = &rows[v->thread];
		if (v->metric != r->metric || !in[v->node])
			continue;
		row->amount += v->amount;
		row->samples += v->samples;
		uint32_t scope = scope_of(p, v->node);
		uint64_t key = (uint64_t)v->thread << 32 | scope;
		uint32_t sum = hashmap_add(&sums, key, amounts.len);
		if (sum == amounts.len)
			vec_push(&amounts, 0);
		amounts.data[sum] += v->amount;
		if (scope != PROFILE_NONE && amounts.data[sum] > row->hot_amount) {
			row->hot = scope;
			row->hot_amount = amounts.data[sum];
		}
	}
	free(in);
	vec_free(&amounts);
	hashmap_release(&sums);
	return rows;
}

static struct outline_node as_outline(const struct report *r, const struct thread_row *row)
{
	bool loop = r->profile->scopes.data[row->hot].kind == PROFILE_LOOP;
	return (struct outline_node){.scope = row->hot,
				     .kind = loop ? OUTLINE_LOOP : OUTLINE_FUNCTION};
}

static void add_hot(const struct report *r, const struct thread_row *row, size_t width,
		    struct text *out)
{
	const struct profile *p = r->profile;
	struct text place = TEXT_INIT;
	if (row->hot == PROFILE_NONE)
		return;
	struct outline_node n = as_outline(r, row);
	uint32_t function = report_function(p, row->hot);
	add_share(out, row->hot_amount, row->amount);
	text_char(out, ' ');
	outline_label(p, &n, width, out);
	if (n.kind == OUTLINE_LOOP && function != PROFILE_NONE) {
		outline_place(p, &n, &place);
		size_t used = text_columns(place.data, place.len) + strlen("loop  in ");
		text_add(out, " in ");
		add_function_name(out, p->scopes.data[function].name,
				  width > used + 12 ? width - used : 12);
	}
	text_release(&place);
}

static void add_row(const struct report *r, const struct thread_row *row,
		    const struct profile_thread *t, struct text *out)
{
	const struct profile *p = r->profile;
	size_t start = out->len;
	add_share(out, row->amount, r->total);
	text_add(out, "  ");
	add_brief_amount(out, &p->metrics.data[r->metric], row->amount);
	pad_to(out, start, 20);
	text_printf(out, "%d", t->tid);
	pad_to(out, start, 29);
	add_short(out, t->name, 16);
	pad_to(out, start, 46);
	if (p->processes.len > 1) {
		text_printf(out, "%d", p->processes.data[t->process].pid);
		pad_to(out, start, 55);
	}
	size_t used = text_columns(out->data + start, out->len - start);
	add_hot(r, row, r->width > used + 38 ? r->width - used - 8 : 30, out);
	text_char(out, '\n');
}

void threads_table(const struct report *r, uint32_t most, struct text *out)
{
	struct thread_row *rows = measure(r);
	uint32_t *order, count = report_top_threads(r, &order);
	bool several = r->profile->processes.len > 1;
	output_style(out, STYLE_HEADING);
	text_printf(out, "  share  %-11s%-9s%-17s%shottest loop or function, share of the thread\n",
		    "amount", "thread", "name", several ? "process  " : "");
	output_style(out, STYLE_NONE);
	while (count && !rows[order[count - 1]].samples)
		count--; /* threads without samples have nothing to show */
	for (uint32_t i = 0; i < count && i < most; i++) {
		add_row(r, &rows[order[i]], &r->profile->threads.data[order[i]], out);
		output_flush(out);
	}
	if (count > most) {
		uint64_t rest = 0;
		for (uint32_t i = most; i < count; i++)
			rest += rows[order[i]].amount;
		add_share(out, rest, r->total);
		text_printf(out, "  ... %u more\n", count - most);
	}
	free(order);
	free(rows);
}

void threads_text(const struct report *r, struct text *out)
{
	threads_table(r, UINT32_MAX, out);
}

void threads_json(const struct report *r, struct json *j)
{
	const struct profile *p = r->profile;
	struct thread_row *rows = measure(r);
	uint32_t *order, count = report_top_threads(r, &order);
	json_array(j, "threads");
	for (uint32_t i = 0; i < count; i++) {
		const struct thread_row *row = &rows[order[i]];
		const struct profile_thread *t = &p->threads.data[order[i]];
		json_object(j, NULL);
		json_u64(j, "tid", (uint64_t)t->tid);
		json_string(j, "name", t->name);
		json_u64(j, "pid", (uint64_t)p->processes.data[t->process].pid);
		json_string(j, "process", p->processes.data[t->process].name);
		json_u64(j, "total", row->amount);
		json_u64(j, "samples", row->samples);
		json_quantity(j, "percent", A_PERCENT, percent_of(row->amount, r->total), 3);
		if (row->hot != PROFILE_NONE) {
			struct outline_node n = as_outline(r, row);
			json_object(j, "hottest");
			outline_scope_json(&n, r, j);
			json_u64(j, "self", row->hot_amount);
			json_end(j);
		}
		json_end(j);
		output_flush(j->out);
	}
	json_end(j);
	free(order);
	free(rows);
}

static void add_hot_csv(const struct report *r, const struct thread_row *row, struct text *out)
{
	const struct profile *p = r->profile;
	const struct profile_scope *s = &p->scopes.data[row->hot];
	uint32_t function = report_function(p, row->hot);
	csv_text(out, s->kind == PROFILE_LOOP ? "loop" : "function");
	csv_text(out, function == PROFILE_NONE ? "" : p->scopes.data[function].name);
	csv_text(out, s->file);
	csv_u64(out, s->first_line);
	csv_u64(out, s->last_line);
	csv_u64(out, row->hot_amount);
}

void threads_csv(const struct report *r, struct text *out)
{
	const struct profile *p = r->profile;
	struct thread_row *rows = measure(r);
	uint32_t *order, count = report_top_threads(r, &order);
	text_add(out, "tid,name,pid,process,total,samples,percent,hottest_kind,hottest_function,"
		      "hottest_file,hottest_first_line,hottest_last_line,hottest_self\n");
	for (uint32_t i = 0; i < count; i++) {
		const struct thread_row *row = &rows[order[i]];
		const struct profile_thread *t = &p->threads.data[order[i]];
		text_printf(out, "%d,", t->tid);
		csv_text(out, t->name);
		text_printf(out, "%d,", p->processes.data[t->process].pid);
		csv_text(out, p->processes.data[t->process].name);
		csv_u64(out, row->amount);
		csv_u64(out, row->samples);
		text_printf(out, "%.3f,", percent_of(row->amount, r->total));
		if (row->hot == PROFILE_NONE)
			text_add(out, "\"\",\"\",\"\",0,0,0,");
		else
			add_hot_csv(r, row, out);
		csv_end(out);
	}
	free(order);
	free(rows);
}
