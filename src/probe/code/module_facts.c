#include "probe/code/module_facts.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "probe/code/scout.h"

/* Indexed by the id of the code; NULL: not found yet. */
struct module_facts {
	VEC(struct intrusions *) intrusions;
	VEC(struct private_registers *) private_registers;
	VEC(call_sites *) calls;
	struct scout *scout;
};

struct module_facts *module_facts_new(void)
{
	struct module_facts *f = xcalloc(1, sizeof(*f));
	f->scout = scout_new();
	return f;
}

void module_facts_free(struct module_facts *f)
{
	vec_each (in, &f->intrusions) {
		if (*in)
			intrusions_release(*in);
		free(*in);
	}
	vec_each (r, &f->private_registers) {
		if (*r)
			private_release(*r);
		free(*r);
	}
	vec_each (c, &f->calls) {
		if (*c)
			vec_free(*c);
		free(*c);
	}
	scout_free(f->scout);
	vec_free(&f->calls);
	vec_free(&f->intrusions);
	vec_free(&f->private_registers);
	free(f);
}

const struct intrusions *intrusions_of(struct shared *s, const struct site *site)
{
	const struct code *code = site->code;
	struct module_facts *f = s->facts;
	if (s->arch->emit->jump_size <= s->arch->insn_align && !site->counted)
		return NULL;
	while (f->intrusions.len <= code->id)
		vec_push(&f->intrusions, NULL);
	struct intrusions **in = &f->intrusions.data[code->id];
	if (!*in) {
		*in = xcalloc(1, sizeof(**in));
		intrusions_find(*in, code->flow);
	}
	return *in;
}

void private_registers_find(struct shared *s, const struct code *code)
{
	struct module_facts *f = s->facts;
	while (f->private_registers.len <= code->id)
		vec_push(&f->private_registers, NULL);
	struct private_registers **known = &f->private_registers.data[code->id];
	if (*known)
		return;
	*known = xcalloc(1, sizeof(**known));
	flow_discover(code->flow);
	private_find(*known, code->flow);
}

bool private_registers_known(const struct shared *s, const struct code *code)
{
	const struct module_facts *f = s->facts;
	return code->id < f->private_registers.len && f->private_registers.data[code->id];
}

struct regset private_registers_of(struct shared *s, const struct site *site)
{
	private_registers_find(s, site->code);
	const struct private_registers *known = s->facts->private_registers.data[site->code->id];
	return known->of[site_function(site)].registers;
}

static call_sites **calls_of(struct module_facts *f, const struct code *code)
{
	while (f->calls.len <= code->id)
		vec_push(&f->calls, NULL);
	return &f->calls.data[code->id];
}

/* A module whose system calls are to be found. */
struct unsearched {
	struct flow *flow;
	call_sites *out;
};

static void search(void *list, uint32_t item, uint32_t worker)
{
	struct unsearched *x = &((struct unsearched *)list)[item];
	(void)worker;
	call_sites_find(x->out, x->flow, NULL);
}

void call_sites_prepare(struct shared *s, struct code *const *codes, uint32_t count)
{
	VEC(struct unsearched) list = {0};
	for (uint32_t i = 0; i < count; i++) {
		call_sites **known = calls_of(s->facts, codes[i]);
		if (*known)
			continue;
		*known = xcalloc(1, sizeof(**known));
		vec_push(&list, (struct unsearched){codes[i]->flow, *known});
	}
	parallel_for(list.len, 1, search, list.data);
	vec_free(&list);
}

const call_sites *call_sites_of(struct shared *s, struct code *code)
{
	call_sites_prepare(s, &code, 1);
	return *calls_of(s->facts, code);
}

bool call_sites_known(struct shared *s, const struct code *code)
{
	call_sites **known = calls_of(s->facts, code), found = {0};
	if (*known)
		return true;
	if (!call_sites_find_soon(&found, code->flow) &&
	    !scout_ask(s->facts->scout, code, &found)) {
		vec_free(&found);
		return false;
	}
	*known = xcalloc(1, sizeof(**known));
	**known = found;
	return true;
}
