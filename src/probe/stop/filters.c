/* A filter may have been installed since the last stop. The runtime gets its permissions again if
 * the filters are known and harmless, and no thread is between the probe before a system call and
 * the call itself. */
#include "probe/stop/filters.h"

#include <string.h>

#include "isa/calls.h"
#include "probe/region/confinement.h"
#include "process/memory.h"
#include "process/seccomp.h"

static bool makes_call_at(const struct target *t, uint64_t pc)
{
	const struct arch_calls *k = arch_calls(t->shared->arch);
	uint8_t insn[sizeof(k->insn)];
	return memory_read(t->pid, pc, insn, k->insn_size) == k->insn_size &&
	       !memcmp(insn, k->insn, k->insn_size);
}

/* Whether the thread may have executed the probe before a call, and not yet made the call. */
static bool is_before_call(const struct target *t, const struct stopped_walk *w)
{
	if (!w->known || w->unsettled || w->interrupted)
		return true;
	bool passed_on = calling_frame(&w->walk) != w->walk.frames.data;
	return !w->in_call && (passed_on || (w->probed && makes_call_at(t, w->registers.pc)));
}

/* Whether a thread may be about to install a filter, or is installing one. */
static bool is_filter_pending(const struct stop *s)
{
	const struct target *t = s->target;
	bool passed = target_header(t)->confined != t->confinement.before;
	vec_each (w, &s->walks)
		if ((w->in_call && call_confines(&w->call)) || (passed && is_before_call(t, w)))
			return true;
	return false;
}

bool filters_look(const struct stop *s)
{
	struct target *t = s->target;
	struct confinement *c = &t->confinement;
	struct rt_header *h = target_header(t);
	struct err e;
	if (!c->guarded)
		return true;
	if (h->may == c->permitted && h->confined == c->before)
		return c->permitted;
	h->may = 0;
	if (is_filter_pending(s))
		return true;
	if (confinement_check(t, &e))
		return false;
	c->before = h->confined;
	h->calling = 0; /* threads that were in a call have got out, or never will */
	__atomic_store_n(&h->may, c->permitted, __ATOMIC_SEQ_CST);
	return true;
}
