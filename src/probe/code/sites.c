#include "probe/code/sites.h"

static uint64_t function_start(const struct code *code, uint32_t function)
{
	uint32_t count;
	return flow_functions(code->flow, &count)[function].start;
}

struct site *target_site(struct target *t, struct code *code, uint32_t function, uint64_t bias)
{
	uint64_t start = function_start(code, function);
	uint32_t i = hashmap_get(&t->code->site_index, start + bias);
	if (i != HASHMAP_NONE && t->code->sites.data[i].code == code)
		return &t->code->sites.data[i];
	hashmap_put(&t->code->site_index, start + bias, t->code->sites.len);
	vec_push(&t->code->sites, (struct site){.code = code, .start = start, .bias = bias});
	return &vec_last(&t->code->sites);
}

const struct site *site_of(const struct target *t, const struct frame *f)
{
	uint32_t count, function;
	if (!f->code || !f->code->flow)
		return NULL;
	function = flow_function_at(f->code->flow, f->exact ? f->va : f->va - 1);
	if (function == UINT32_MAX)
		return NULL;
	uint64_t start = flow_functions(f->code->flow, &count)[function].start;
	uint32_t i = hashmap_get(&t->code->site_index, start + f->pc - f->va);
	return i == HASHMAP_NONE ? NULL : &t->code->sites.data[i];
}

uint64_t site_next_pc(const struct site *s, uint64_t pc, bool probed)
{
	uint32_t offset;
	uint64_t start = s->dirty ? s->next_address : s->address;
	struct thread_place at = {pc - s->bias, probed};
	if (!start || !fragment_moved(s->dirty ? &s->next : &s->fragment, &at, &offset))
		return pc;
	return start + offset;
}

void site_forget_journal(struct target *t, struct site *s)
{
	vec_each (j, &s->journal) {
		struct rt_patch *p = target_at(t, RT_JOURNAL + *j * sizeof(*p));
		p->pc = 0;
		vec_push(&t->code->journal_free, *j);
	}
	vec_clear(&s->journal);
}

void site_forget_subjects(struct target *t, struct site *s)
{
	vec_each (number, &s->subjects) {
		struct subject *sub = &t->code->subjects.data[*number];
		target_subject(t, *number)->active = 0;
		sub->wanted = sub->in = false;
		vec_each (p, &sub->probes)
			vec_push(&t->code->probe_retired, *p);
		vec_free(&sub->probes);
	}
	vec_clear(&s->subjects);
}
