/* Threads that prevent a change because of a place that they will return to. The places where
 * threads are stopped are handled elsewhere; but a signal handler will return to what it
 * interrupted, and an old fragment that a thread is still in leads back to the program. So there
 * are three cases:
 *
 * 1. A patch that is longer than an instruction (x86-64) must not go in where control returns to
 *    the middle of it.
 * 2. The islands that some patches need must not be removed while control returns to one.
 * 3. The lists of a thread whose handler interrupted a probe may be in the middle of a change.
 *
 * In each case the thread runs on for a moment, for about as long as a handler takes. A site that
 * is still in use then stays as it is, and so do the lists. If a stack cannot be walked to its end
 * (for example because the thread is in a probe that it does not get out of), every word on it that
 * looks like a place inside a patch is taken for a return address. */
#include "probe/stop/busy.h"

#include "base/clock.h"
#include "base/order.h"
#include "probe/code/moved.h"
#include "probe/code/sites.h"
#include "probe/code/traps.h"
#include "probe/region/layout.h"
#include "probe/stop/where.h"

enum {
	FIRST_RUN_NS = 20000,  /* how long threads run on at first; later runs are longer */
	GIVE_UP_NS = 20000000, /* all runs together */
};
enum { STACK_WORDS_MAX = 1 << 17 }; /* words of a stack that are searched */

static bool is_inside_patch(const struct fragment *f, uint64_t va)
{
	vec_each (p, &f->patches)
		if (va > p->va && va < p->va + p->size)
			return true;
	return false;
}

static bool overwrites_dead_blocks(const struct fragment *f)
{
	vec_each (p, &f->patches)
		if (p->phase == PHASE_DEAD)
			return true;
	return false;
}

static bool has_patch(const struct fragment *f, uint64_t va)
{
	vec_each (p, &f->patches)
		if (p->va == va)
			return true;
	return false;
}

/* Displaced instructions lead back to the instruction after the last one that a patch replaced. */
static bool leads_back_into(const struct fragment *old, const struct fragment *next)
{
	struct moved_reader r;
	struct moved m, after = {0};
	moved_open(&r, &old->moved);
	for (bool more = moved_next(&r, &m); more; m = after) {
		uint64_t back = m.va + m.length;
		more = moved_next(&r, &after);
		bool last = !more || after.va != back || has_patch(old, back);
		if (last && is_inside_patch(next, back))
			return true;
	}
	return false;
}

/* Relocated code leads only to the places where springboards are, and to the calls left in
 * place. */
static bool leads_into(const struct fragment *old, const struct fragment *next)
{
	if (old->mechanism != MECHANISM_RELOCATED &&
	    (overwrites_dead_blocks(next) || leads_back_into(old, next)))
		return true;
	struct moved_reader r;
	struct moved m;
	moved_open(&r, &old->moved);
	while (moved_next(&r, &m))
		if (m.in_place && is_inside_patch(next, m.va))
			return true;
	return false;
}

static void add_clash(clash_list *out, int tid, uint32_t site)
{
	vec_push(out, (struct clash){tid, site});
}

/* Checks a place of the original code that control returns to. If all of the function is relocated,
 * control would pass no probe before the next springboard. */
static void check_frame(struct target *t, int tid, const struct frame *f, clash_list *out)
{
	const struct site *s = site_of(t, f);
	if (s && s->dirty && s->next_address &&
	    (s->next.mechanism == MECHANISM_RELOCATED || is_inside_patch(&s->next, f->va)))
		add_clash(out, tid, (uint32_t)(s - t->code->sites.data));
}

/* Checks a place that control returns to, which is an island as long as the site's patches are
 * in. */
static void check_island(struct target *t, int tid, uint64_t pc, clash_list *out)
{
	uint32_t site;
	if (island_leads_to(t, pc, &site) && t->code->sites.data[site].dirty)
		add_clash(out, tid, site);
}

/* Checks a place in a fragment where control is, or that it returns to. */
static void check_fragment(struct target *t, int tid, uint64_t pc, clash_list *out)
{
	struct moved_code m;
	if (!moved_code_at(t, pc, &m))
		return;
	const struct site *s = &t->code->sites.data[m.site];
	if (s->dirty && s->next_address && leads_into(m.fragment, &s->next))
		add_clash(out, tid, m.site);
}

/* Run-time addresses that control must not return to: the bytes of a patch except its first one. */
struct patch_interior {
	uint64_t start, end;
	uint32_t site;
};
typedef VEC(struct patch_interior) interior_list;

static void find_interiors(const struct target *t, interior_list *out)
{
	vec_clear(out);
	for (uint32_t i = 0; i < t->code->sites.len; i++) {
		const struct site *s = &t->code->sites.data[i];
		if (!s->dirty || !s->next_address)
			continue;
		vec_each (p, &s->next.patches)
			vec_push(out, (struct patch_interior){p->va + s->bias + 1,
							      p->va + s->bias + p->size, i});
	}
	order_by_address(out->data, out->len, sizeof(*out->data),
			 offsetof(struct patch_interior, start));
}

struct word_check {
	const interior_list *interiors;
	int tid;
	clash_list *out;
	uint32_t left; /* words still to be searched */
};

static bool check_word(void *ctx, uint64_t word)
{
	struct word_check *c = ctx;
	uint32_t n = ORDER_UP_TO(c->interiors->data, c->interiors->len, start, word);
	if (n && word < c->interiors->data[n - 1].end)
		add_clash(c->out, c->tid, c->interiors->data[n - 1].site);
	return !--c->left;
}

/* Searches the stack from the stack pointer, and from where the walk got stuck. */
static void check_stack_words(struct target *t, const struct stopped_walk *w, uint64_t sp,
			      clash_list *out)
{
	uint64_t further = w->walk.at.reg[t->shared->arch->sp];
	interior_list interiors = {0};
	find_interiors(t, &interiors);
	struct word_check here = {&interiors, w->tid, out, STACK_WORDS_MAX}, beyond = here;
	if (interiors.len)
		stack_has(t, sp, check_word, &here);
	if (interiors.len && further != sp)
		stack_has(t, further, check_word, &beyond);
	vec_free(&interiors);
}

static void check_thread(struct target *t, struct stopped_walk *w, clash_list *out)
{
	struct control_thread *th = control_thread(t->shared->control, w->tid);
	struct registers now;
	if (!w->known || !th || !control_registers(th, &now))
		return;
	if ((w->unsettled || w->in_call) && is_code_memory(t, now.pc))
		check_fragment(t, w->tid, now.pc, out);
	else if (w->unsettled) /* it has trapped, and will go to the old fragment */
		check_fragment(t, w->tid, trap_leads_to(t, now.pc), out);
	w->interrupted =
		!w->unsettled && w->walk.end == WALK_NO_CODE && is_code_memory(t, w->walk.at.pc);
	if (w->interrupted) {
		add_clash(out, w->tid, SITE_NONE);
		check_fragment(t, w->tid, w->walk.at.pc, out);
	}
	if (w->unsettled || w->walk.end != WALK_COMPLETE)
		check_stack_words(t, w, now.reg[t->shared->arch->sp], out);
	for (uint32_t i = 1; i < w->walk.frames.len; i++) {
		const struct frame *f = &w->walk.frames.data[i];
		if (!f->exact)
			continue;
		check_frame(t, w->tid, f, out);
		check_island(t, w->tid, f->pc, out);
	}
}

static void find_clashes(struct stop *s, clash_list *out)
{
	vec_clear(out);
	vec_each (w, &s->walks)
		check_thread(s->target, w, out);
}

static void run_clashing_threads(struct target *t, const clash_list *clashes, uint64_t ns)
{
	int tids[RT_AREAS];
	uint32_t count = 0;
	vec_each (c, clashes) {
		const struct control_thread *th = control_thread(t->shared->control, c->tid);
		if (th && !th->held && count < RT_AREAS && (!count || tids[count - 1] != c->tid))
			tids[count++] = c->tid;
	}
	control_run_on(t->shared->control, tids, count, ns);
}

void stop_settle_apart(struct stop *s, clash_list *clashes)
{
	uint64_t ns = FIRST_RUN_NS, end = now_ns() + GIVE_UP_NS;
	stop_settle(s);
	find_clashes(s, clashes);
	for (; clashes->len && now_ns() < end; ns += ns / 8) {
		run_clashing_threads(s->target, clashes, ns);
		stop_settle(s);
		find_clashes(s, clashes);
	}
}
