/* Modules that the program has unloaded. Their patches are gone with them, and code that is mapped
 * at the same address later must not be touched. */
#include "probe/code/unload.h"

#include "probe/code/code_memory.h"
#include "probe/code/sites.h"

static bool is_mapped(struct target *t, const struct site *s)
{
	struct place p = space_find(t->space, s->start + s->bias);
	return p.code == s->code && p.va == s->start;
}

void forget_unloaded(struct target *t)
{
	target_changing(t);
	vec_each (s, &t->code->sites) {
		if ((!s->address && !s->subjects.len && !s->counted) || is_mapped(t, s))
			continue;
		if (s->counted)
			t->code->counted.data[s->counted - 1].wanted = false;
		s->counted = 0;
		site_forget_journal(t, s);
		site_forget_subjects(t, s);
		code_memory_retire(t, s);
		s->dirty = false;
	}
	vec_keep_if(&t->code->searched, key, space_find(t->space, key->start).code == key->code);
}
