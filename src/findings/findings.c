#include "findings/findings.h"

#include "findings/limits.h"
#include "findings/wording.h"

static void make_all(struct wording *t)
{
	candidates_find(t->k, &t->list);
	word_chain(t);
	uint32_t more = t->list.len > MOST_FINDINGS ? t->list.len - MOST_FINDINGS : 0;
	t->list.len -= more;
	for (uint32_t i = 0; i < t->list.len; i++)
		word_finding(t, i);
	if (more)
		remark(t, PROFILE_NONE, "note", "%u smaller findings are not shown: --view=search",
		       more);
	if (!t->list.len)
		word_no_findings(t);
	word_commands(t);
	word_limits(t);
	steps_add(t);
}

void findings_make(struct profile *p, bool long_names)
{
	struct known k;
	struct wording t = {.k = &k};
	if (!evidence_exists(&p->evidence))
		return;
	if (known_init(&k, p, long_names)) {
		vec_clear(&p->findings);
		vec_clear(&p->remarks);
		make_all(&t);
	}
	vec_free(&t.list);
	known_release(&k);
}
