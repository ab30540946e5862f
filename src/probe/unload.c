/* Images that the program has unloaded: the patches in them went with them, and whatever is mapped
 * at their place later is none of our business. */
#include "probe/target.h"

static bool is_mapped(struct target *t, const struct site *s)
{
	struct place p = space_find(t->space, s->start + s->bias);
	return p.code == s->code && p.va == s->start;
}

static void forget_journal(struct target *t, struct site *s)
{
	vec_each (j, &s->journal) {
		struct rt_patch *p = target_at(t, RT_JOURNAL + *j * sizeof(*p));
		p->pc = 0;
		vec_push(&t->journal_free, *j);
	}
	vec_clear(&s->journal);
}

static void forget_subjects(struct target *t, struct site *s)
{
	vec_each (number, &s->subjects) {
		struct subject *sub = &t->subjects.data[*number];
		target_subject(t, *number)->active = 0;
		sub->wanted = sub->in = false;
		vec_each (p, &sub->probes)
			vec_push(&t->probe_retired, *p);
		vec_free(&sub->probes);
	}
	vec_clear(&s->subjects);
}

void forget_unloaded(struct target *t)
{
	bequest_forget(t);
	vec_each (s, &t->sites) {
		if ((!s->address && !s->subjects.len && !s->counted) || is_mapped(t, s))
			continue;
		if (s->counted)
			t->counted.data[s->counted - 1].wanted = false;
		s->counted = 0;
		forget_journal(t, s);
		forget_subjects(t, s);
		code_memory_retire(t, s);
		s->dirty = false;
	}
	uint32_t kept = 0;
	vec_each (key, &t->searched)
		if (space_find(t->space, key->start).code == key->code)
			t->searched.data[kept++] = *key;
	t->searched.len = kept;
}
