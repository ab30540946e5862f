/* The code that ran uninstrumented because it could not be counted, so that the reader knows what
 * the counts cover. */
#include <stdlib.h>

#include "cli/report/view.h"
#include "cli/term/text.h"

enum { MAX_ROWS = 3, INDENT = 12, ALL = 1000000 /* shares are in millionths */ };

static int by_share(const void *a, const void *b)
{
	const struct profile_uncovered *x = *(const struct profile_uncovered *const *)a;
	const struct profile_uncovered *y = *(const struct profile_uncovered *const *)b;
	bool p = x->share != PROFILE_NONE, q = y->share != PROFILE_NONE;
	if (p != q)
		return p ? -1 : 1;
	if (p && x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* True for a module that was not selected for counting. */
static bool is_whole_module(const struct profile_uncovered *u)
{
	return !u->address && !*u->name && u->module != PROFILE_NONE;
}

/* True for code that belongs to no function of its module: stubs and the like. */
static bool is_other(const struct profile_uncovered *u)
{
	return !u->address && *u->name;
}

static void add_row(const struct report *r, const struct profile_uncovered *u, struct text *out)
{
	struct text label = TEXT_INIT;
	text_fill(out, ' ', INDENT);
	add_share(out, u->share == PROFILE_NONE ? 0 : u->share, ALL);
	text_add(out, "  ");
	if (is_whole_module(u))
		text_add(&label, "all");
	else if (*u->name)
		add_function_name(&label, u->name, 30);
	else
		text_hex(&label, u->address);
	if (u->module != PROFILE_NONE) {
		text_add(&label, is_whole_module(u) ? " of " : " [");
		output_name(&label, base_name(r->profile->modules.data[u->module].path));
		text_add(&label, is_whole_module(u) ? "" : "]");
	}
	text_add(&label, ": ");
	output_name(&label, u->reason);
	text_addn(out, label.data, label.len);
	text_char(out, '\n');
	text_release(&label);
}

/* "4 functions, 1 module and other code that ran uninstrumented" */
static void add_numbers(struct text *out, uint32_t functions, uint32_t modules, uint32_t others)
{
	if (functions)
		add_counted(out, functions, "function", "functions");
	if (functions && modules)
		text_add(out, others ? ", " : " and ");
	if (modules)
		add_counted(out, modules, "module", "modules");
	if (others)
		text_add(out, functions + modules ? " and other code" : "code");
	text_add(out, " that ran uninstrumented");
}

void uncovered_table(const struct report *r, struct text *out)
{
	VEC(const struct profile_uncovered *) list = {0};
	uint32_t shown = 0, modules = 0, others = 0;
	uint64_t share = 0;
	vec_each (u, &r->profile->uncovered) {
		vec_push(&list, u);
		modules += is_whole_module(u);
		others += is_other(u);
		share += u->share == PROFILE_NONE ? 0 : u->share;
	}
	if (!list.len)
		return;
	qsort(list.data, list.len, sizeof(*list.data), by_share);
	text_add(out, "not counted ");
	add_numbers(out, list.len - modules - others, modules, others);
	if (list.data[0]->share != PROFILE_NONE)
		text_printf(out, ", about %.1f %% of run time (by samples)",
			    percent_of(share, ALL));
	text_char(out, '\n');
	while (shown < list.len && (shown < MAX_ROWS || r->min_share <= 0))
		add_row(r, list.data[shown++], out);
	if (shown < list.len) {
		text_fill(out, ' ', INDENT + 9);
		text_printf(out, "... %u more (--min-percent=0)\n", list.len - shown);
	}
	vec_free(&list);
}

void uncovered_json(const struct report *r, struct json *j)
{
	const struct profile *p = r->profile;
	if (!profile_has_counts(p))
		return;
	json_array(j, "uncovered");
	vec_each (u, &p->uncovered) {
		json_object(j, NULL);
		json_string(j, "name", *u->name ? u->name : NULL);
		json_string(j, "module",
			    u->module == PROFILE_NONE ? NULL : p->modules.data[u->module].path);
		json_hex(j, "address", u->address);
		if (u->share == PROFILE_NONE)
			json_string(j, "percent", NULL);
		else
			json_quantity(j, "percent", A_PERCENT, percent_of(u->share, ALL), 4);
		json_string(j, "reason", u->reason);
		json_end(j);
	}
	json_end(j);
}
