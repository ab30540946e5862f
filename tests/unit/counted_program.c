/* Code that counts, in C: abi_count.h says what it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "counted_program.h"
#include "probe/region/contexts.h"
#include "probe/region/read.h"

enum { STACK_SIZE = 48 };

int program_start(void **state)
{
	struct counted_program *p = calloc(1, sizeof(*p));
	void *bench;
	bench_start(&bench);
	p->bench = bench;
	p->target = (struct target){.region = {.map = p->bench->region,
					       .fd = p->bench->region_fd,
					       .base = (uint64_t)p->bench->region},
				    .lineage = &p->lineage};
	p->target.slots[0].tid = gettid();
	contexts_begin(&p->target);
	p->main = new_stack(p->bench->area->stack_high - 64);
	p->now = &p->main;
	*state = p;
	return 0;
}

static void forget_kept(struct counted_program *p)
{
	arena_release(&p->target.counting.arena);
	vec_clear(&p->target.counting.kept);
}

int program_finish(void **state)
{
	struct counted_program *p = *state;
	void *bench = p->bench;
	forget_kept(p);
	vec_free(&p->target.counting.kept);
	vec_free(&p->lineage.forks);
	free_stack(&p->main);
	free(p);
	return bench_finish(&bench);
}

void define(struct counted_program *p, uint32_t function, uint32_t sites, uint32_t loops)
{
	struct rt_counted *c = (struct rt_counted *)(p->bench->region + RT_COUNTED) + function;
	struct rt_counted_loop *l = (void *)(p->bench->region + RT_COUNTED_LOOPS);
	uint32_t *table = (void *)(p->bench->region + RT_SITE_TABLE);
	uint32_t first = loop_of(function, 0);
	*c = (struct rt_counted){.words = WORD_LOOPS + loops,
				 .sites = sites,
				 .frame = (32 + 8 * loops + 15) & ~15u,
				 .first_site = p->sites_used};
	p->sites_used += sites + 1;
	for (uint32_t i = 1; i <= sites; i++)
		table[c->first_site + i] = loops ? first + 1 : 0;
	for (uint32_t i = 0; i < loops; i++)
		l[first + i] = (struct rt_counted_loop){WORD_LOOPS + i, i,
							i + 1 < loops ? first + i + 2 : 0};
}

static const struct rt_counted *counted(const struct counted_program *p, uint32_t function)
{
	return (const struct rt_counted *)(p->bench->region + RT_COUNTED) + function;
}

void set_loop(struct counted_program *p, uint32_t function, uint32_t site, uint32_t loop)
{
	uint32_t *table = (void *)(p->bench->region + RT_SITE_TABLE);
	table[counted(p, function)->first_site + site] = loop;
}

void define_leaf(struct counted_program *p, uint32_t function)
{
	struct rt_counted *c = (struct rt_counted *)(p->bench->region + RT_COUNTED) + function;
	*c = (struct rt_counted){.words = 1};
}

struct counted_stack new_stack(uint64_t sp)
{
	return (struct counted_stack){
		.sp = sp, .activations = calloc(PROGRAM_DEPTH, sizeof(struct activation))};
}

void free_stack(struct counted_stack *s)
{
	free(s->activations);
}

struct activation *running(struct counted_program *p)
{
	return &p->now->activations[p->now->depth - 1];
}

uint64_t call_runtime(struct counted_program *p, uint32_t routine, uint64_t argument, uint64_t sp)
{
	static const struct machine in;
	struct machine out;
	p->slow++;
	call_operation(&in, &out, (uint64_t)p->bench->text + routine, argument, sp);
	return out.reg[ARGUMENT];
}

static struct rt_shadow *top_frame(uint64_t area)
{
	return (struct rt_shadow *)((struct rt_area *)area)->top;
}

/* The thread's, as its table has it. */
static struct rt_area *area_of_thread(struct counted_program *p)
{
	const struct rt_thread *t = table_home(p->bench, here_thread_pointer());
	if (t->key == rt_thread_key(here_thread_pointer()))
		return (struct rt_area *)t->area;
	return (struct rt_area *)call_runtime(p, entries(p->bench)->find, 0, 0);
}

/* Where the call is counted if the table of callees has it, or NULL. */
static uint64_t *find_callee(const struct rt_area *area, const void *slots_end, uint32_t function,
			     struct rt_context **child)
{
	uint64_t slot = (uint64_t)slots_end;
	uint64_t home = (slot >> 4) + function * (uint64_t)RT_CALLEE_STEP;
	const struct rt_callee *e = (struct rt_callee *)area->callees;
	e += home % (1 << RT_CALLEE_BITS);
	*child = (struct rt_context *)e->child;
	return e->slot == slot && (*child)->function == function ? (uint64_t *)e->calls : NULL;
}

static struct rt_context *enter(struct counted_program *p, uint32_t function, uint64_t sp)
{
	struct rt_area *area = area_of_thread(p);
	const struct rt_shadow *caller = top_frame((uint64_t)area);
	struct rt_context_slot *slot =
		(struct rt_context_slot *)caller->context - ((caller->key >> RT_KEY_SITE) + 1);
	struct rt_context *child = (struct rt_context *)slot->child;
	uint64_t *calls = child->function == function ? &slot->calls : NULL;
	if ((caller->key & RT_KEY_SP) >= sp && !calls)
		calls = find_callee(area, slot + 1, function, &child);
	if (!calls || (caller->key & RT_KEY_SP) < sp)
		return (struct rt_context *)call_runtime(p, entries(p->bench)->called, function,
							 sp);
	uint32_t size = counted(p, function)->frame;
	++*calls;
	if (!size)
		return child;
	struct rt_shadow *f = (struct rt_shadow *)(area->top - size);
	*f = (struct rt_shadow){.context = (uint64_t)child, .entry_sp = sp};
	for (uint32_t i = 0; i < (size - sizeof(*f)) / 8; i++)
		f->trips[i] = 0;
	area->top = (uint64_t)f;
	return child;
}

void begin_function(struct counted_program *p, uint32_t function, uint64_t sp)
{
	struct counted_stack *s = p->now;
	struct rt_context *x = enter(p, function, sp);
	x->words[WORD_RUNS]++;
	s->sp = sp - STACK_SIZE;
	s->activations[s->depth++] = (struct activation){
		.function = function, .entry_sp = sp, .sp = s->sp, .context = x};
}

struct rt_shadow *frame_of(struct counted_program *p)
{
	return top_frame(running(p)->context->area);
}

void call_function(struct counted_program *p, uint32_t site, uint32_t function)
{
	struct activation *a = running(p);
	frame_of(p)->key = a->sp | (uint64_t)site << RT_KEY_SITE;
	a->site = site;
	begin_function(p, function, a->sp - CALL_PUSHED);
}

void leave_function(struct counted_program *p)
{
	const struct activation *a = running(p);
	((struct rt_area *)a->context->area)->top += counted(p, a->function)->frame;
	p->now->sp = a->entry_sp + CALL_PUSHED;
	p->now->depth--;
}

void come_back_behind(struct counted_program *p, uint32_t site)
{
	struct activation *a = running(p);
	const struct rt_shadow *top = top_frame((uint64_t)area_of_thread(p));
	p->now->sp = a->sp;
	if (top->key == (a->sp | (uint64_t)site << RT_KEY_SITE))
		a->context = (struct rt_context *)top->context;
	else
		a->context = (struct rt_context *)call_runtime(
			p, entries(p->bench)->returned, a->function | (uint64_t)site << 32, a->sp);
}

void return_to_caller(struct counted_program *p)
{
	leave_function(p);
	come_back_behind(p, running(p)->site);
}

void leave_silently(struct counted_program *p, uint32_t activations)
{
	p->now->depth -= activations;
}

void land(struct counted_program *p, uint32_t loop)
{
	struct activation *a = running(p);
	p->now->sp = a->sp;
	a->context = (struct rt_context *)call_runtime(p, entries(p->bench)->landed,
						       a->function | (uint64_t)loop << 32, a->sp);
}

/* ---- what was counted ---- */

static void take_ended(void *ctx, const struct counted_thread *t)
{
	if (t->ended)
		*(const struct counted_thread **)ctx = t;
}

const struct counted_thread *counts_of(struct counted_program *p)
{
	const struct counted_thread *found = NULL;
	forget_kept(p);
	keep_counts(&p->target, 0, true);
	target_read_counts(&p->target, take_ended, &found);
	return found;
}

uint64_t calls_between(const struct counted_thread *t, uint32_t caller, uint32_t site,
		       uint32_t callee)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->call_count; i++) {
		const struct counted_call *c = &t->calls[i];
		if (t->contexts[c->parent].function == caller && c->site == site &&
		    t->contexts[c->child].function == callee)
			sum += c->calls;
	}
	return sum;
}

uint64_t word_of(const struct counted_context *c, uint32_t number)
{
	for (uint32_t i = 0; i < c->word_count; i++)
		if (c->words[i].number == number)
			return c->words[i].value;
	return 0;
}

uint64_t runs_of(const struct counted_thread *t, uint32_t function)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < t->context_count; i++)
		if (t->contexts[i].function == function)
			sum += word_of(&t->contexts[i], WORD_RUNS);
	return sum;
}

struct counted_departure departures_of(const struct counted_thread *t, uint32_t function,
				       uint32_t site)
{
	struct counted_departure sum = {.site = site};
	for (uint32_t i = 0; i < t->departure_count; i++) {
		const struct counted_departure *d = &t->departures[i];
		if (d->site != site || t->contexts[d->context].function != function)
			continue;
		sum.left += d->left;
		sum.resumed += d->resumed;
	}
	return sum;
}

const struct rt_trips *trips_of(const struct counted_thread *t, uint32_t loop)
{
	static const struct rt_trips none;
	for (uint32_t i = 0; i < t->trips_count; i++)
		if (t->trips[i].loop == loop)
			return &t->trips[i].trips;
	return &none;
}
