/* Activations that were running already when their probes went in: found on the stacks of the
 * stopped threads, they count from now on. And those of subjects that are taken out, which end now.
 *
 * The lists are the runtime's (runtime/activation.c), and are changed here only while their thread
 * is stopped outside of it. */
#include <string.h>

#include "probe/readings.h"
#include "probe/target.h"

/* One thread's lists. */
struct lists {
	struct target *target;
	struct rt_area *area;
	int tid;
	uint64_t now[RT_METRICS];
};

static struct rt_activation *activation(const struct lists *l, uint32_t number)
{
	struct rt_activation *all =
		(struct rt_activation *)((uint8_t *)l->area + RT_AREA_ACTIVATIONS);
	return &all[(number - 1) % RT_ACTIVATIONS];
}

static struct rt_path *path_of(const struct lists *l, uint32_t offset)
{
	return (struct rt_path *)((uint8_t *)l->area + RT_AREA_PATHS + (uint64_t)offset * 8);
}

static bool is_running(const struct lists *l, uint32_t subject)
{
	for (uint32_t i = 0; i < RT_STACKS; i++)
		for (uint32_t n = l->area->stacks[i].top; n; n = activation(l, n)->next)
			if (activation(l, n)->subject == subject)
				return true;
	return false;
}

/* False if the thread's lists must not be touched: it has none, or is inside the runtime. */
static bool open_lists(struct lists *l, struct target *t, int tid)
{
	*l = (struct lists){.target = t, .area = areas_of(t, tid), .tid = tid};
	if (!l->area || l->area->busy)
		return false;
	readings_take(t, l->area, tid, OUTSIDE_METRICS, l->now);
	return true;
}

/* ---- beginning ---- */

static uint32_t take_activation(struct rt_area *a, const struct lists *l)
{
	uint32_t number = a->activation_free;
	if (number) {
		a->activation_free = activation(l, number)->next;
		return number;
	}
	return a->activation_used < RT_ACTIVATIONS ? ++a->activation_used : 0;
}

static uint64_t root_of(const struct walk *w)
{
	for (uint32_t i = w->frames.len; i-- > 0;)
		if (w->frames.data[i].cfa)
			return w->frames.data[i].cfa;
	return 0;
}

static struct rt_stack *stack_of(struct rt_area *a, uint64_t cfa, uint64_t root)
{
	struct rt_stack *spare = NULL;
	if (cfa > a->stack_low && cfa <= a->stack_high)
		return &a->stacks[0];
	for (uint32_t i = 1; i < RT_STACKS; i++) {
		if (a->stacks[i].top && a->stacks[i].root == root)
			return &a->stacks[i];
		if (!a->stacks[i].top && !spare)
			spare = &a->stacks[i];
	}
	if (spare)
		spare->root = root;
	return spare;
}

/* Whether activation `a` is further in than one of `depth` in the frame with this CFA. */
static bool is_inner(const struct lists *l, const struct rt_activation *a, uint64_t cfa,
		     uint32_t depth)
{
	return a->cfa < cfa ||
	       (a->cfa == cfa && l->target->subjects.data[a->subject].depth > depth);
}

static void insert(const struct lists *l, struct rt_stack *s, uint32_t number, uint32_t depth)
{
	struct rt_activation *a = activation(l, number);
	uint32_t *link = &s->top;
	while (*link && is_inner(l, activation(l, *link), a->cfa, depth))
		link = &activation(l, *link)->next;
	a->next = *link;
	*link = number;
}

/* A path of its own: the runtime finds paths by an index that this one is not in, and a reader
 * adds up those with the same frames. */
static uint32_t new_path(const struct lists *l, uint32_t subject, const struct walk *w,
			 uint32_t frame, bool recursive)
{
	struct rt_area *a = l->area;
	bool with_path = l->target->subjects.data[subject].request.path;
	uint32_t count = with_path ? w->frames.len - frame - 1 : 0;
	uint64_t start = a->path_used > 64 ? a->path_used : 64;
	uint64_t end = start + sizeof(struct rt_path) + count * UINT64_C(8);
	if (end > RT_PATH_BYTES)
		return 0;
	struct rt_path *p = (struct rt_path *)((uint8_t *)a + RT_AREA_PATHS + start);
	*p = (struct rt_path){.next = a->first_path,
			      .subject = subject,
			      .frame_count = count,
			      .recursive = recursive,
			      .complete = w->end == WALK_COMPLETE,
			      .caught_up = 1};
	for (uint32_t i = 0; i < count; i++)
		p->frames[i] = w->frames.data[frame + 1 + i].pc &
			       l->target->engine->arch->layout->code_mask;
	a->path_used = end;
	__atomic_store_n(&a->first_path, (uint32_t)(start / 8), __ATOMIC_RELEASE);
	return (uint32_t)(start / 8);
}

static bool begin(const struct lists *l, uint32_t subject, const struct walk *w, uint32_t frame)
{
	struct rt_area *a = l->area;
	uint64_t cfa = w->frames.data[frame].cfa;
	struct rt_stack *s = stack_of(a, cfa, root_of(w));
	uint32_t path = 0, number = 0;
	if (!cfa || !s)
		return false;
	path = new_path(l, subject, w, frame, is_running(l, subject));
	number = path ? take_activation(a, l) : 0;
	if (!number)
		return false;
	struct rt_activation *act = activation(l, number);
	const struct subject *sub = &l->target->subjects.data[subject];
	act->cfa = cfa;
	act->subject = subject;
	act->path = path;
	act->metrics = sub->request.metrics & OUTSIDE_METRICS;
	act->below_set = 0;
	memcpy(act->start, l->now, sizeof(act->start));
	act->quick = 0;
	insert(l, s, number, sub->depth);
	path_of(l, path)->live++;
	return true;
}

/* ---- which subjects a frame is in ---- */

static bool in_loop(struct target *t, const struct site *site, uint32_t loop, uint64_t va)
{
	struct engine *g = t->engine;
	struct loop_forest forest;
	const struct cfg *cfg =
		flow_cfg(site->code->flow, site_procedure(site), &g->arena, &g->tmp);
	loops_find(cfg, &forest, &g->arena, &g->tmp);
	uint32_t block = cfg_block_at(cfg, va);
	uint32_t in = block == BLOCK_NONE ? LOOP_NONE : forest.innermost[block];
	while (in != LOOP_NONE && in != loop)
		in = forest.loops[in].parent;
	arena_clear(&g->arena);
	arena_clear(&g->tmp);
	return in == loop;
}

/* The innermost frame may be just before the entry: then the probe will tell. */
static bool is_active(struct target *t, const struct subject *s, const struct site *site,
		      const struct frame *f)
{
	if (!s->fresh || s->purpose != PURPOSE_MEASURE || s->request.counters ||
	    !s->request.metrics)
		return false;
	uint64_t va = f->exact ? f->va : f->va - 1;
	if (s->loop != LOOP_NONE)
		return in_loop(t, site, s->loop, va);
	return !f->exact || va < site->start || va > s->entry;
}

static const struct site *site_of(struct target *t, const struct frame *f)
{
	uint32_t count, procedure;
	if (!f->code || !f->code->flow)
		return NULL;
	procedure = flow_procedure_at(f->code->flow, f->exact ? f->va : f->va - 1);
	if (procedure == UINT32_MAX)
		return NULL;
	uint64_t start = flow_procedures(f->code->flow, &count)[procedure].start;
	uint32_t i = hashmap_get(&t->site_index, start + f->pc - f->va);
	return i == HASHMAP_NONE ? NULL : &t->sites.data[i];
}

/* Waiting in a system call whose probes have just gone in. */
static void begin_waiting(const struct lists *l, const struct stopped_walk *w)
{
	const struct target *t = l->target;
	const struct site *site = site_of(l->target, &w->walk.frames.data[0]);
	if (!site || l->area->wait_since || w->call < 0 || w->call >= 512)
		return;
	uint8_t kind = target_header(t)->calls[w->call];
	for (uint32_t i = 0; kind && i < site->subjects.len; i++) {
		const struct subject *s = &t->subjects.data[site->subjects.data[i]];
		if (!s->fresh || s->purpose != PURPOSE_BLOCK)
			continue;
		l->area->wait_kind = kind;
		l->area->wait_probe = RT_BLOCK;
		l->area->wait_cfa = w->walk.frames.data[0].cfa;
		l->area->wait_since = l->now[RT_WALL];
	}
}

uint32_t catch_up(struct target *t, const struct stopped_walk *w)
{
	struct lists l;
	uint32_t found = 0;
	if (!w->walk.frames.len || !open_lists(&l, t, w->tid))
		return 0;
	begin_waiting(&l, w);
	for (uint32_t i = w->walk.frames.len; i-- > 0;) {
		const struct frame *f = &w->walk.frames.data[i];
		const struct site *site = site_of(t, f);
		for (uint32_t k = 0; site && k < site->subjects.len; k++) {
			uint32_t number = site->subjects.data[k];
			if (is_active(t, &t->subjects.data[number], site, f))
				found += begin(&l, number, &w->walk, i);
		}
	}
	return found;
}

/* ---- ending ---- */

static void add_to_path(const struct lists *l, const struct rt_activation *a,
			struct rt_activation *outer)
{
	struct rt_path *p = path_of(l, a->path);
	for (unsigned m = 0; m < RT_EVENT; m++) {
		if (!(a->metrics >> m & 1) || l->now[m] < a->start[m])
			continue;
		uint64_t total = l->now[m] - a->start[m];
		uint64_t below = a->below_set >> m & 1 ? a->below[m] : 0;
		p->total[m] += total;
		p->self[m] += total > below ? total - below : 0;
		if (outer) {
			outer->below[m] = total + (outer->below_set >> m & 1 ? outer->below[m] : 0);
			outer->below_set |= 1u << m;
		}
	}
}

static void end_on(const struct lists *l, struct rt_stack *s)
{
	uint32_t *link = &s->top;
	while (*link) {
		uint32_t number = *link;
		struct rt_activation *a = activation(l, number);
		if (l->target->subjects.data[a->subject].in) {
			link = &a->next;
			continue;
		}
		add_to_path(l, a, a->next ? activation(l, a->next) : NULL);
		*link = a->next;
		if (path_of(l, a->path)->live)
			path_of(l, a->path)->live--;
		a->cfa = 0;
		a->next = l->area->activation_free;
		l->area->activation_free = number;
	}
}

void end_activations(struct target *t, int tid)
{
	struct lists l;
	if (!open_lists(&l, t, tid))
		return;
	for (uint32_t i = 0; i < RT_STACKS; i++)
		end_on(&l, &l.area->stacks[i]);
}
