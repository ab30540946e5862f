#include "probe/code/subjects.h"

#include <string.h>

#include "base/fault.h"
#include "probe/code/sites.h"
#include "probe/region/read.h"

uint32_t subject_points(const struct subject *s)
{
	bool loop = s->request.loop;
	if (s->request.call_sites)
		return 1 << POINT_CALL;
	switch (s->purpose) {
	case PURPOSE_BLOCK:
		return 1 << POINT_SYSCALL | 1 << POINT_SYSCALL_DONE | 1 << POINT_PASS |
		       1 << POINT_PASS_DONE;
	case PURPOSE_MADE:
	case PURPOSE_RENDEZVOUS: return 1 << POINT_ENTRY;
	case PURPOSE_SPIN: return 1 << POINT_ENTRY | 1 << POINT_EXIT;
	default: break;
	}
	uint32_t kinds = loop ? 1 << POINT_LOOP_ENTRY : 1 << POINT_ENTRY;
	if (s->request.metrics || s->request.counters)
		kinds |= loop ? 1 << POINT_LOOP_EXIT : 1 << POINT_EXIT;
	if (s->request.iterations && loop)
		kinds |= 1 << POINT_ITERATION_BEGIN;
	if (s->request.iterations && loop && s->request.counters)
		kinds |= 1 << POINT_ITERATION_END;
	return kinds;
}

static int check_function(const struct shared *g, const struct subject_request *r,
			  uint32_t *function, struct err *e)
{
	if (!r->code->flow)
		return err_set(e, ERR_INPUT, "%s cannot be analysed: %s", r->code->path,
			       r->code->problem ? r->code->problem : "it is no module");
	if (r->code->arch != g->arch)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s is code for %s, and only %s can be probed here", r->code->path,
			       r->code->arch->name, g->arch->name);
	*function = flow_function_at(r->code->flow, r->va);
	if (*function == UINT32_MAX)
		return err_set(e, ERR_INPUT, "there is no function at 0x%llx in %s",
			       (unsigned long long)r->va, r->code->path);
	return 0;
}

/* A subject has its own counters for as long as the process lives. False if there are not enough
 * left. */
static bool reserve_counters(struct target *t, const struct subject *s)
{
	bool counts = s->request.counters || s->request.iterations;
	uint32_t need = counts ? (uint32_t)__builtin_popcount(subject_points(s)) : 0;
	if (need &&
	    (fault("counter-room", ENOSPC) || RT_COUNTERS - t->code->counters_reserved < need))
		return false;
	t->code->counters_reserved += need;
	return true;
}

uint32_t target_add_subject(struct target *t, const struct subject_request *r, enum purpose purpose,
			    struct err *e)
{
	uint32_t function;
	if (check_function(t->shared, r, &function, e))
		return SUBJECT_NONE;
	if (t->code->subjects.len == RT_SUBJECTS) {
		err_set(e, ERR_UNSUPPORTED, "at most %d functions and loops can be measured",
			RT_SUBJECTS);
		return SUBJECT_NONE;
	}
	struct site *site = target_site(t, r->code, function, r->bias);
	struct subject s = {.request = *r,
			    .site = (uint32_t)(site - t->code->sites.data),
			    .loop = LOOP_NONE,
			    .purpose = (uint8_t)purpose,
			    .wanted = true};
	memset(s.counters, 0xff, sizeof(s.counters));
	if (!reserve_counters(t, &s)) {
		err_set(e, ERR_UNSUPPORTED,
			"all %d counters of process %d are in use; count fewer functions and loops",
			RT_COUNTERS, t->pid);
		return SUBJECT_NONE;
	}
	vec_push(&site->subjects, t->code->subjects.len);
	/* First in the list, so that a wait ends before the activation of the function that
	 * waits. */
	for (uint32_t i = site->subjects.len - 1; purpose == PURPOSE_SPIN && i > 0; i--) {
		site->subjects.data[i] = site->subjects.data[i - 1];
		site->subjects.data[i - 1] = t->code->subjects.len;
	}
	site->dirty = true;
	vec_push(&t->code->subjects, s);
	vec_push(&t->region.reported, (uint8_t)(REPORT_PATHS | REPORT_WAITS));
	return t->code->subjects.len - 1;
}

/* ---- the public calls ---- */

uint32_t target_add(struct target *t, const struct subject_request *r, struct err *e)
{
	if (!t->alive || !t->region.in) {
		target_unusable(t, e);
		return SUBJECT_NONE;
	}
	return target_add_subject(t, r, PURPOSE_MEASURE, e);
}

void target_remove(struct target *t, uint32_t subject)
{
	if (subject >= t->code->subjects.len)
		return;
	struct subject *s = &t->code->subjects.data[subject];
	t->region.reported.data[subject] &= (uint8_t)~REPORT_WAITS;
	s->wanted = false;
	if (s->in)
		t->code->sites.data[s->site].dirty = true;
}

void target_quiet(struct target *t, uint32_t subject)
{
	if (subject >= t->code->subjects.len)
		return;
	target_remove(t, subject);
	if (t->region.in)
		__atomic_store_n(&target_subject(t, subject)->active, 0, __ATOMIC_RELAXED);
}

bool target_spent(const struct target *t, uint32_t subject)
{
	if (!t->region.in || !t->code->subjects.data[subject].in)
		return false;
	const struct rt_subject *s = target_subject(t, subject);
	return s->budget && !s->active;
}

void target_set_budget(struct target *t, uint32_t subject, uint32_t budget)
{
	if (t->region.in && !target_spent(t, subject))
		__atomic_store_n(&target_subject(t, subject)->budget, budget, __ATOMIC_RELAXED);
}

enum refusal target_refused(const struct target *t, uint32_t subject)
{
	return t->code->subjects.data[subject].refused;
}

void target_watch_waits(struct target *t, bool on)
{
	t->code->watch_waits = on;
	if (on)
		return;
	for (uint32_t i = 0; i < t->code->subjects.len; i++) {
		uint8_t purpose = t->code->subjects.data[i].purpose;
		if (purpose == PURPOSE_BLOCK || purpose == PURPOSE_SPIN || purpose == PURPOSE_MADE)
			target_remove(t, i);
	}
	/* What guards against seccomp filters is among them, and is added again. */
	vec_clear(&t->code->searched);
}

void target_ignore_waits(struct target *t, uint64_t pc)
{
	struct place p = space_find(t->space, pc);
	uint32_t count, function = p.code ? flow_function_at(p.code->flow, p.va) : UINT32_MAX;
	if (function == UINT32_MAX)
		return;
	uint64_t start = flow_functions(p.code->flow, &count)[function].start;
	for (uint32_t i = 0; i < t->code->subjects.len; i++) {
		const struct subject *s = &t->code->subjects.data[i];
		if (s->purpose == PURPOSE_BLOCK && s->request.code == p.code &&
		    s->request.va == start)
			target_remove(t, i);
	}
}

void target_counters(struct target *t, uint32_t subject, uint64_t out[POINT_KINDS])
{
	const struct subject *s = &t->code->subjects.data[subject];
	for (unsigned kind = 0; kind < POINT_KINDS; kind++) {
		uint32_t c = s->counters[kind];
		out[kind] = c == UINT32_MAX ? 0 : read_counter(t, c);
	}
}

struct calls_of_subject {
	const struct site *site;
	call_visitor visit;
	void *ctx;
};

static void visit_if_in_site(void *ctx, uint64_t site, uint64_t target, uint64_t count)
{
	const struct calls_of_subject *c = ctx;
	const struct flow *f = c->site->code->flow;
	if (flow_function_at(f, site - c->site->bias) == site_function(c->site))
		c->visit(c->ctx, site, target, count);
}

void target_calls(struct target *t, uint32_t subject, call_visitor visit, void *ctx)
{
	const struct codespace *code = t->code;
	struct calls_of_subject c = {&code->sites.data[code->subjects.data[subject].site], visit,
				     ctx};
	read_calls(t, visit_if_in_site, &c);
}
