#include "findings/parties.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "findings/limits.h"
#include "search/object.h"

/* ---- parties ---- */

/* Returns the first of a process and those of its ancestors that have its name. */
static const struct profile_process *first_of(const struct profile *p, uint32_t process)
{
	const struct profile_process *all = p->processes.data, *first = &all[process];
	while (first->parent != PROFILE_NONE && !strcmp(all[first->parent].name, first->name))
		first = &all[first->parent];
	return first;
}

static uint32_t add_party(struct parties *s, const struct profile_process *first)
{
	uint32_t next = s->list.len, at = hashmap_add(&s->at, (uint64_t)first->pid, next);
	if (at == next)
		vec_push(&s->list, (struct party){.first = first->pid,
						  .name = first->name,
						  .awaited = PROFILE_NONE});
	return at;
}

static void find_parties(struct parties *s, const struct profile *p)
{
	for (uint32_t i = 0; i < p->processes.len; i++)
		if (*p->processes.data[i].name)
			hashmap_put(&s->at, (uint64_t)p->processes.data[i].pid,
				    add_party(s, first_of(p, i)));
}

/* Returns the party of a thread, by its process's resource: "4711 nginx". */
static uint32_t party_of(const struct parties *s, const struct profile *p, uint32_t thread)
{
	uint32_t r = p->evidence.threads.data[thread].resource;
	while (r != PROFILE_NONE && p->resources.data[r].kind != RESOURCE_PROCESS)
		r = p->resources.data[r].parent;
	int pid = r == PROFILE_NONE ? 0 : atoi(p->resources.data[r].name);
	uint32_t at = hashmap_get(&s->at, (uint64_t)pid);
	return at == HASHMAP_NONE ? PROFILE_NONE : at;
}

uint32_t party_at_end(const struct parties *s, const struct evidence_object *o)
{
	uint32_t at = o->peer_pid ? hashmap_get(&s->at, (uint64_t)o->peer_pid) : HASHMAP_NONE;
	if (at == HASHMAP_NONE && o->peer_root)
		at = hashmap_get(&s->at, (uint64_t)o->peer_root);
	return at == HASHMAP_NONE ? PROFILE_NONE : at;
}

/* ---- what they do ---- */

static void add_asking(struct parties *s, uint32_t from, uint32_t to, uint32_t object,
		       const struct evidence_object *objects, double seconds)
{
	vec_each (a, &s->askings) {
		bool same_peer = objects[a->object].peer_root == objects[object].peer_root;
		if (a->from == from && a->to == to && (to != PROFILE_NONE || same_peer)) {
			a->seconds += seconds;
			return;
		}
	}
	vec_push(&s->askings, (struct asking){from, to, object, seconds});
}

/* Adds what a thread did in all of the code. */
static void add_amount(struct parties *s, const struct profile *p, const struct evidence_amount *a)
{
	const struct evidence *e = &p->evidence;
	uint32_t from = party_of(s, p, a->thread);
	if (from == PROFILE_NONE)
		return;
	struct party *party = &s->list.data[from];
	bool idles = e->threads.data[a->thread].idle > 0;
	double waited = idles ? 0 : e->run.calls_sampled ? a->seen_wait : a->wait;
	waited = fmax(waited, a->asked);
	party->computed += a->object == PROFILE_NONE ? a->cpu : 0;
	if (a->object == PROFILE_NONE || waited <= 0)
		return;
	party->waited += waited;
	const struct evidence_object *o = &e->objects.data[a->object];
	uint32_t to = party_at_end(s, o);
	if (o->peer_pid && a->asked > 0 && to != from) {
		add_asking(s, from, to, a->object, e->objects.data, waited);
	} else if (waited > party->awaited_seconds) {
		party->awaited = a->object;
		party->awaited_seconds = waited;
	}
}

void parties_find(struct parties *s, const struct profile *p)
{
	const struct evidence_run *run = &p->evidence.run;
	*s = (struct parties){.stretch = run->ran > 0 ? (run->ran + run->ready) / run->ran : 1};
	find_parties(s, p);
	vec_each (a, &p->evidence.amounts) {
		const struct profile_resource *r = &p->resources.data[a->resource];
		if (r->hierarchy == PROFILE_CODE && r->parent == PROFILE_NONE)
			add_amount(s, p, a);
	}
}

void parties_release(struct parties *s)
{
	vec_free(&s->list);
	vec_free(&s->askings);
	hashmap_release(&s->at);
}

static double busy_time(const struct party *x)
{
	return x->computed + x->waited;
}

/* The time for which a party did something, or would have if it had had a CPU. */
static double occupied(const struct parties *s, const struct party *x)
{
	return x->computed * s->stretch + x->waited;
}

/* The time for which one party waits for another. */
static double asked_of(const struct parties *s, uint32_t from, uint32_t to)
{
	double sum = 0;
	vec_each (a, &s->askings)
		sum += a->from == from && a->to == to ? a->seconds : 0;
	return sum;
}

/* Several may wait for a party at the same time. That it waits for one of them in turn explains
 * nothing: of two that wait for each other, both findings would be lost. */
bool party_explains(const struct parties *s, const struct evidence_object *o)
{
	uint32_t to = party_at_end(s, o);
	bool asked = false;
	vec_each (a, &s->askings) {
		if (to == PROFILE_NONE || a->to != to)
			continue;
		asked = true;
		double in_turn = asked_of(s, to, a->from);
		if (occupied(s, &s->list.data[to]) - in_turn < own_share * a->seconds)
			return false;
	}
	return asked;
}

/* ---- the chain ---- */

/* Returns the party that a party waits longest for, if that is a noticeable share of its busy time;
 * or NULL. With `told`, those that were told already do not count. */
static const struct asking *longest_asking(const struct parties *s, uint32_t from,
					   const uint8_t *told)
{
	const struct asking *best = NULL;
	vec_each (a, &s->askings)
		if (a->from == from && !(told && a->to != PROFILE_NONE && told[a->to]) &&
		    a->seconds >= chain_share * busy_time(&s->list.data[from]) &&
		    (!best || a->seconds > best->seconds))
			best = a;
	return best;
}

static bool is_asked(const struct parties *s, uint32_t party)
{
	vec_each (a, &s->askings)
		if (a->to == party && a->seconds >= chain_share * busy_time(&s->list.data[a->from]))
			return true;
	return false;
}

/* Returns the party that waits longest for another one of the search, of those for which nobody
 * waits; PROFILE_NONE if there is none. */
static uint32_t find_start(const struct parties *s)
{
	const struct asking *best = NULL;
	for (uint32_t i = 0; i < s->list.len; i++) {
		const struct asking *a = longest_asking(s, i, NULL);
		if (a && a->to != PROFILE_NONE && !is_asked(s, i) &&
		    (!best || a->seconds > best->seconds))
			best = a;
	}
	return best ? best->from : PROFILE_NONE;
}

static double share_of_busy(const struct party *x, double seconds)
{
	return percent(share_of(seconds, busy_time(x)));
}

/* Says what the last party does, which was waited for as `asked` has it. */
static void tell_end(const struct parties *s, const struct asking *asked,
		     void (*say)(void *ctx, uint32_t object, struct text *out), void *ctx,
		     struct text *out)
{
	const struct party *x = &s->list.data[asked->to];
	const struct asking *back = longest_asking(s, asked->to, NULL);
	if (occupied(s, x) < chain_share * asked->seconds) {
		text_add(out, ", which is idle most of that time");
	} else if (back && back->seconds > fmax(x->computed, x->awaited_seconds)) {
		const struct party *to = &s->list.data[back->to];
		text_printf(out, ", which waits %.0f %% for %s (%d) in turn",
			    share_of_busy(x, back->seconds), to->name, to->first);
	} else if (x->computed >= x->awaited_seconds) {
		text_printf(out, ", which computes %.0f %%", share_of_busy(x, x->computed));
	} else {
		text_printf(out, ", which waits %.0f %% for ",
			    share_of_busy(x, x->awaited_seconds));
		say(ctx, x->awaited, out);
	}
}

void parties_tell(const struct parties *s, const struct profile *p,
		  void (*say)(void *ctx, uint32_t object, struct text *out), void *ctx,
		  struct text *out)
{
	uint8_t *told = xcalloc(s->list.len + 1, 1);
	uint32_t at = find_start(s);
	const struct asking *a = NULL, *last = NULL;
	while (at != PROFILE_NONE) {
		const struct party *x = &s->list.data[at];
		told[at] = 1;
		if (!last)
			text_printf(out, "%s (%d)", x->name, x->first);
		if (!(a = longest_asking(s, at, told)))
			break;
		const struct evidence_object *o = &p->evidence.objects.data[a->object];
		const struct party *to = a->to == PROFILE_NONE ? NULL : &s->list.data[a->to];
		text_printf(out, "%s waits %.0f %%%s for %s (%d)", last ? ", which" : "",
			    share_of_busy(x, a->seconds), last ? "" : " of its busy time",
			    to ? to->name : o->peer, to ? to->first : o->peer_root);
		last = a;
		at = a->to;
	}
	if (last && at != PROFILE_NONE)
		tell_end(s, last, say, ctx, out);
	free(told);
}
