/* Machine code of hot functions with shares in the margin: the instructions that have a share, and
 * a few around them. */
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/report/view.h"
#include "cli/term/text.h"
#include "isa/text.h"
#include "module/module.h"

enum {
	CONTEXT = 4,             /* instructions shown before and after one with a share */
	LINE_COLUMN = 60,        /* where the source line is written */
	MAX_GAP_BYTES = 1 << 20, /* code without amounts that is decoded; more is skipped */
};

/* The amount measured at one instruction. */
struct hot_insn {
	uint32_t function; /* scope of its function */
	uint64_t address;
	uint64_t self;
	uint32_t scope;      /* scope of the instruction */
	uint64_t executions; /* if counted: executions of the run of instructions that begins here
				and that `self` covers */
};

struct hot_insns {
	VEC(struct hot_insn) list; /* sorted by function, then address */
};

struct hot_function {
	uint32_t scope, first, count;
	uint64_t self;
};

static int by_address(const void *a, const void *b)
{
	const struct hot_insn *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_self(const void *a, const void *b)
{
	const struct hot_function *x = a, *y = b;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

/* Work of the kernel counts for the instruction that entered it. */
static void collect(struct hot_insns *out, const struct report *r)
{
	const struct profile *p = r->profile;
	bool *in = report_focused_nodes(r), counted = report_is_counted(r);
	/* Counts of contexts are per scope. Those of single instructions are in a metric of their
	 * own, without contexts. */
	uint32_t runs = counted && !r->focus ? profile_metric_named(p, PROFILE_RUNS) : PROFILE_NONE;
	uint32_t metric = runs == PROFILE_NONE ? r->metric : runs;
	vec_each (v, &p->values) {
		uint32_t node = v->node;
		if (v->metric != metric || !in[node] || !report_has_thread(r, v->thread))
			continue;
		while (node && p->nodes.data[node].scope == PROFILE_NONE)
			node = p->nodes.data[node].parent;
		uint32_t function = report_function(p, p->nodes.data[node].scope);
		if (node && function != PROFILE_NONE)
			vec_push(&out->list,
				 (struct hot_insn){function, p->nodes.data[node].address, v->amount,
						   p->nodes.data[node].scope,
						   counted ? v->samples : 0});
	}
	free(in);
	if (out->list.len)
		qsort(out->list.data, out->list.len, sizeof(*out->list.data), by_address);
	uint32_t kept = 0;
	vec_each (s, &out->list) {
		if (kept && !by_address(&out->list.data[kept - 1], s)) {
			out->list.data[kept - 1].self += s->self;
			out->list.data[kept - 1].executions += s->executions;
		} else {
			out->list.data[kept++] = *s;
		}
	}
	out->list.len = kept;
}

/* Returns the module if it is the one recorded, otherwise NULL with the reason in *e. */
static struct module *open_module(const struct profile_module *pi, struct err *e)
{
	struct module *m;
	struct stat st;
	if (module_open(&m, pi->path, e))
		return NULL;
	bool same = m->build_id.size == pi->build_id.size;
	for (unsigned i = 0; same && i < pi->build_id.size; i++)
		same = m->build_id.bytes[i] == pi->build_id.bytes[i];
	if (same && !pi->build_id.size)
		same = stat(pi->path, &st) == 0 && (uint64_t)st.st_size == pi->file_size &&
		       (uint64_t)st.st_mtime == pi->mtime;
	if (same)
		return m;
	err_set(e, ERR_INPUT, "it has changed since the recording");
	module_close(m);
	return NULL;
}

/* The state of listing one function. */
struct listing {
	const struct report *r;
	const struct module *module;
	const struct arch *arch;
	struct insn_printer *printer;
	const struct hot_insn *spots;
	uint32_t count;
	VEC(uint64_t) recent; /* addresses passed since the last one that was shown */
	uint32_t after;       /* number of instructions still to be shown after one with a share */
	struct hot_insn run;  /* if counted: the values of each of the next instructions ... */
	uint64_t run_left;    /* ... and how many instructions those are */
};

/* Adds the source line of an instruction that has a share. */
static void add_line(const struct profile *p, uint32_t scope, size_t start, struct text *out)
{
	if (scope == PROFILE_NONE || p->scopes.data[scope].kind != PROFILE_LINE)
		return;
	pad_to(out, start, LINE_COLUMN);
	output_style(out, STYLE_ADDRESS);
	add_scope_place(out, p, &p->scopes.data[scope]);
	output_style(out, STYLE_NONE);
}

static void add_insn(struct listing *l, uint64_t va, const struct hot_insn *spot, struct text *out)
{
	size_t start = out->len;
	size_t n;
	const uint8_t *p = module_at(l->module, va, l->arch->insn_max, &n);
	add_share(out, spot->self, l->r->total);
	text_add(out, "  ");
	text_hex(out, va);
	text_add(out, "  ");
	if (p)
		insn_print(l->printer, p, n, va, out);
	if (spot->self)
		add_line(l->r->profile, spot->scope, start, out);
	text_char(out, '\n');
}

static struct hot_insn next_of_run(struct listing *l)
{
	static const struct hot_insn none = {.scope = PROFILE_NONE};
	if (!l->run_left)
		return none;
	l->run_left--;
	return l->run;
}

/* Instructions that are always executed together were counted at the first of them. */
static struct hot_insn begin_run(struct listing *l, const struct hot_insn *first)
{
	l->run = *first;
	l->run.self = first->executions;
	l->run_left = first->self / first->executions;
	return next_of_run(l);
}

/* Merges all amounts in [va, end); those before `va` are skipped. The amount of a call is at its
 * last byte. */
static struct hot_insn take_amounts(struct listing *l, uint64_t va, uint64_t end)
{
	struct hot_insn all = {.scope = PROFILE_NONE};
	for (; l->count && l->spots->address < end; l->spots++, l->count--) {
		if (l->spots->address < va)
			continue;
		all.self += l->spots->self;
		all.scope = l->spots->scope;
		all.executions += l->spots->executions;
	}
	return all.executions ? begin_run(l, &all) : all.self ? all : next_of_run(l);
}

/* Shows an instruction if it has a share, with its context; otherwise remembers it as the context
 * of the next one. */
static void pass_insn(struct listing *l, uint64_t va, uint64_t end, struct text *out)
{
	static const struct hot_insn none;
	struct hot_insn here = take_amounts(l, va, end);
	/* A smaller share would be printed as 0.0 %. */
	if ((double)here.self < 0.0005 * (double)l->r->total || !here.self) {
		if (l->after && l->after--)
			add_insn(l, va, &here, out);
		else
			vec_push(&l->recent, va);
		return;
	}
	if (l->recent.len > CONTEXT)
		text_add(out, "         ...\n");
	for (uint32_t i = l->recent.len > CONTEXT ? l->recent.len - CONTEXT : 0; i < l->recent.len;
	     i++)
		add_insn(l, l->recent.data[i], &none, out);
	vec_clear(&l->recent);
	add_insn(l, va, &here, out);
	l->after = CONTEXT;
}

/* Lists from the function's start, or from the first amount if that is elsewhere (in a cold
 * part). */
static void list_code(struct listing *l, uint64_t start, struct text *out)
{
	uint64_t va = start, last = l->spots[l->count - 1].address;
	if (l->spots->address < start || l->spots->address - start > MAX_GAP_BYTES)
		va = l->spots->address;
	while (va <= last || l->after || l->run_left) {
		size_t n;
		struct insn in;
		const uint8_t *p = module_at(l->module, va, l->arch->insn_max, &n);
		if (!p)
			break;
		size_t length = l->arch->decode(p, n, va, DECODE_FLOW, &in);
		uint64_t end = va + (length ? length : l->arch->insn_align);
		pass_insn(l, va, end, out);
		va = end;
		if (l->count && l->spots->address > va + MAX_GAP_BYTES)
			va = l->spots->address;
	}
}

static void add_code(const struct report *r, const struct hot_insns *spots,
		     const struct hot_function *h, struct text *out)
{
	const struct profile_scope *s = &r->profile->scopes.data[h->scope];
	const struct outline_node label = {.scope = h->scope, .kind = OUTLINE_FUNCTION};
	struct err e;
	text_char(out, '\n');
	add_share(out, h->self, r->total);
	text_add(out, "  ");
	outline_label(r->profile, &label, r->width - 9, out);
	text_char(out, '\n');
	if (s->module >= r->profile->modules.len)
		return;
	struct module *m = open_module(&r->profile->modules.data[s->module], &e);
	const struct arch *arch = m ? arch_of_machine(m->machine) : NULL;
	if (arch) {
		struct listing l = {.r = r, .module = m, .arch = arch, .count = h->count};
		l.printer = insn_printer_new(arch);
		l.spots = &spots->list.data[h->first];
		list_code(&l, s->address, out);
		insn_printer_free(l.printer);
		vec_free(&l.recent);
	} else {
		text_add(out, "         (its code cannot be shown: ");
		output_name(out, m ? "no decoder for its machine" : e.text);
		text_add(out, ")\n");
	}
	module_close(m);
}

void assembly_text(const struct report *r, struct text *out)
{
	struct hot_insns spots = {0};
	VEC(struct hot_function) hot = {0};
	collect(&spots, r);
	for (uint32_t i = 0; i < spots.list.len; i++) {
		const struct hot_insn *s = &spots.list.data[i];
		if (!hot.len || vec_last(&hot).scope != s->function)
			vec_push(&hot, (struct hot_function){.scope = s->function, .first = i});
		vec_last(&hot).count++;
		vec_last(&hot).self += s->self;
	}
	if (hot.len)
		qsort(hot.data, hot.len, sizeof(*hot.data), by_self);
	vec_each (h, &hot) {
		if ((double)h->self >= r->min_share * (double)r->total)
			add_code(r, &spots, h, out);
		output_flush(out);
	}
	vec_free(&hot);
	vec_free(&spots.list);
}
