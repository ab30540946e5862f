/* Decides which experiments are measured at a time. They begin in this order:
 *
 *	1. experiments that samples support, before others;
 *	2. among these, experiments with high priority;
 *	3. among these, the oldest, which makes the search breadth first.
 *
 * Limits are the number of undecided experiments with probes, and the overhead of probes; true
 * experiments are watched only as long as there is room.
 *
 * `ready` is a heap of experiment numbers with their rank in the upper bits: the smallest entry is
 * the next. An experiment whose rank has changed is in the heap twice; entries of experiments that
 * are no longer ready are skipped. */
#include "search/state.h"

#include <math.h>

/* Shares of the overhead limit: above the first one, only one undecided experiment has probes; the
 * second one is the limit for watching when nothing is left to test. */
static const double begin_below = 0.7;
static const double settled_below = 0.3;
/* An experiment that loses its probes to the limit may begin again after this pause (s). When it
 * has lost them most_losses times, it is decided by its observations so far. */
static const double retry_pause = 1;
static const double between_sheds = 0.2; /* s until removed probes show in the overhead */
static const uint32_t most_losses = 4;

static uint64_t rank_of(struct search *s, uint32_t number)
{
	bool high = experiment_of(s, number)->priority == PRIORITY_HIGH;
	bool expected = trial_of(s, number)->expected;
	return (uint64_t)((high ? 0 : 1) + (expected ? 0 : 2)) << 32 | number;
}

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t t = *a;
	*a = *b;
	*b = t;
}

static void push_ready(struct search *s, uint32_t number)
{
	vec_push(&s->ready, rank_of(s, number));
	uint64_t *heap = s->ready.data;
	for (uint32_t i = s->ready.len - 1; i && heap[i] < heap[(i - 1) / 2]; i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void pop_ready(struct search *s)
{
	uint64_t *heap = s->ready.data;
	heap[0] = vec_last(&s->ready);
	uint32_t n = --s->ready.len, i = 0;
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child + 1 < n && heap[child + 1] < heap[child])
			child++;
		if (child >= n || heap[i] <= heap[child])
			return;
		swap(&heap[i], &heap[child]);
		i = child;
	}
}

/* Returns the next experiment to begin, or EXPERIMENT_NONE. */
static uint32_t first_ready(struct search *s)
{
	while (s->ready.len) {
		uint32_t number = (uint32_t)s->ready.data[0];
		const struct experiment *e = experiment_of(s, number);
		if (e->state == EXPERIMENT_READY && s->now >= trial_of(s, number)->not_before)
			return number;
		pop_ready(s);
	}
	return EXPERIMENT_NONE;
}

static void queue(struct search *s, uint32_t number)
{
	struct trial *t = trial_of(s, number);
	t->by_samples = is_doubtful(s, number);
	if (t->by_samples || !needs_probes(s, experiment_of(s, number)))
		vec_push(&s->free, number);
	else if (s->now < t->not_before)
		vec_push(&s->waiting, number);
	else
		push_ready(s, number);
}

uint32_t schedule_new(struct search *s, const struct experiment *like)
{
	struct experiment e = *like;
	e.state = EXPERIMENT_READY;
	e.threshold = s->options.threshold[e.hypothesis];
	e.created = s->now;
	e.begun = e.decided = -1;
	uint32_t number = history_add(&s->history, &e);
	trial_of(s, number)->expected = is_likely(s, &e);
	queue(s, number);
	return number;
}

static void restart_test(struct search *s, uint32_t number)
{
	struct trial *t = trial_of(s, number);
	t->test = (struct test){0};
	t->tested = 0;
	t->lost = 0;
	experiment_of(s, number)->begun = -1;
	history_set(&s->history, number, EXPERIMENT_READY);
	queue(s, number);
}

void schedule_again(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	/* The wait (s) doubles with each test, up to 2^15: otherwise an experiment near its
	 * threshold could be tested for ever. */
	double wait = ldexp(1, (int)(e->tests < 16 ? e->tests : 16) - 1);
	if (e->state != EXPERIMENT_FALSE || e->measured || s->now < e->decided + wait)
		return;
	restart_test(s, number);
}

void schedule_probes(struct search *s, uint32_t number)
{
	schedule_end(s, number);
	trial_of(s, number)->expected = true;
	restart_test(s, number);
}

void schedule_rank(struct search *s, uint32_t number)
{
	const struct experiment *e = experiment_of(s, number);
	if (e->state == EXPERIMENT_READY && needs_probes(s, e))
		push_ready(s, number);
}

void schedule_raise(struct search *s, uint32_t number)
{
	experiment_list list = {0};
	vec_push(&list, number);
	while (list.len) {
		uint32_t at = vec_pop(&list);
		struct experiment *e = experiment_of(s, at);
		if (e->priority == PRIORITY_HIGH)
			continue;
		e->priority = PRIORITY_HIGH;
		schedule_rank(s, at);
		vec_each (child, &e->children)
			if (experiment_of(s, *child)->origin == ORIGIN_REFINED)
				vec_push(&list, *child);
	}
	vec_free(&list);
}

void schedule_begin(struct search *s, uint32_t number)
{
	struct experiment *e = experiment_of(s, number);
	struct trial *t = trial_of(s, number);
	s->ops->begin(s->ctx, number, (enum hypothesis_id)e->hypothesis, &e->focus, t->by_samples);
	s->changed = true;
	e->measured = true;
	e->sampled = t->by_samples;
	if (e->begun < 0)
		e->begun = s->now;
	t->last = (struct reading){0};
	t->since = s->now;
	vec_push(&s->measured, number);
	history_set(&s->history, number, EXPERIMENT_ACTIVE);
}

/* The experiment stays in `measured` until observe() or forget_ended() removes it. */
void schedule_end(struct search *s, uint32_t number)
{
	struct experiment *e = experiment_of(s, number);
	struct trial *t = trial_of(s, number);
	s->ops->end(s->ctx, number);
	s->changed = true;
	e->measured = false;
	t->former_overhead = e->overhead;
}

static void forget_ended(struct search *s)
{
	vec_keep_if(&s->measured, number, experiment_of(s, *number)->measured);
}

/* ---- overhead ---- */

bool search_settled(const struct search *s)
{
	return s->running && !s->history.undecided && !s->unprimed.len;
}

struct experiment_overhead {
	uint32_t number;
	double overhead; /* share of time */
};
typedef VEC(struct experiment_overhead) overhead_list;

static int highest_overhead_first(const void *a, const void *b)
{
	const struct experiment_overhead *x = a, *y = b;
	if (x->overhead != y->overhead)
		return x->overhead < y->overhead ? 1 : -1;
	return x->number < y->number ? 1 : -1;
}

/* Sorts the youngest first. The caller deals with priorities. */
static int youngest_first(const void *a, const void *b)
{
	const struct experiment_overhead *x = a, *y = b;
	return x->number < y->number ? 1 : -1;
}

static void list_measured(struct search *s, enum experiment_state state, enum priority p,
			  overhead_list *out)
{
	vec_each (number, &s->measured) {
		const struct experiment *e = experiment_of(s, *number);
		if (e->state != state || !needs_probes(s, e) ||
		    (state != EXPERIMENT_TRUE && e->priority != p))
			continue;
		const struct trial *t = trial_of(s, *number);
		vec_push(out, (struct experiment_overhead){*number, t->overhead});
	}
}

/* Ends watched experiments until the overhead is below `wanted`, beginning with the highest
 * overhead. Returns the overhead expected afterwards. */
static double drop_watched(struct search *s, double overhead, double wanted)
{
	overhead_list list = {0};
	list_measured(s, EXPERIMENT_TRUE, PRIORITY_NORMAL, &list);
	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), highest_overhead_first);
	for (uint32_t i = 0; i < list.len && overhead >= wanted && list.data[i].overhead > 0; i++) {
		schedule_end(s, list.data[i].number);
		overhead -= list.data[i].overhead;
	}
	vec_free(&list);
	return overhead;
}

static void requeue(struct search *s, uint32_t number)
{
	struct trial *t = trial_of(s, number);
	schedule_end(s, number);
	t->not_before = s->now + retry_pause;
	/* Its time is up: the next reading decides it. */
	if (++t->lost >= most_losses)
		t->tested = INFINITY;
	history_set(&s->history, number, EXPERIMENT_READY);
	queue(s, number);
}

/* Requeues undecided experiments until the overhead is below `wanted`, those with normal priority
 * first. Experiments without overhead are kept, because ending them would gain nothing: they are
 * measured by samples, or the overhead is that of stops. Returns the overhead expected
 * afterwards. */
static double drop_undecided(struct search *s, double overhead, double wanted)
{
	for (uint32_t p = PRIORITY_NORMAL; p <= PRIORITY_HIGH; p++) {
		overhead_list list = {0};
		list_measured(s, EXPERIMENT_ACTIVE, (enum priority)p, &list);
		if (list.len)
			qsort(list.data, list.len, sizeof(*list.data), youngest_first);
		for (uint32_t i = 0; i < list.len && overhead >= wanted; i++) {
			if (list.data[i].overhead <= 0)
				continue;
			requeue(s, list.data[i].number);
			overhead -= list.data[i].overhead;
		}
		vec_free(&list);
	}
	return overhead;
}

/* Ends measuring where the overhead is too high. Returns the overhead expected afterwards. */
static double limit_overhead(struct search *s)
{
	double most = s->options.max_overhead, overhead = s->ops->overhead(s->ctx);
	if (s->now < s->shed)
		return overhead;
	double before = overhead;
	if (overhead > most) {
		overhead = drop_watched(s, overhead, most);
		overhead = drop_undecided(s, overhead, most);
	} else if (search_settled(s)) {
		overhead = drop_watched(s, overhead, settled_below * most);
	} else if (overhead >= begin_below * most && first_ready(s) != EXPERIMENT_NONE) {
		overhead = drop_watched(s, overhead, begin_below * most);
	}
	if (overhead < before) {
		s->shed = s->now + between_sheds;
		forget_ended(s);
	}
	return overhead;
}

/* ---- begin ---- */

static uint32_t undecided_with_probes(struct search *s)
{
	uint32_t count = 0;
	vec_each (number, &s->measured) {
		const struct experiment *e = experiment_of(s, *number);
		count += e->state == EXPERIMENT_ACTIVE && needs_probes(s, e) && !e->sampled;
	}
	return count;
}

static void begin_free(struct search *s)
{
	vec_each (number, &s->free)
		schedule_begin(s, *number);
	vec_clear(&s->free);
}

static void requeue_waiting(struct search *s)
{
	uint32_t kept = 0;
	vec_each (number, &s->waiting) {
		if (s->now < trial_of(s, *number)->not_before)
			s->waiting.data[kept++] = *number;
		else
			push_ready(s, *number);
	}
	s->waiting.len = kept;
}

/* Returns how many undecided experiments with probes there may be. Near the limit it is still one,
 * so that the search continues even if watched experiments have a high overhead. */
static uint32_t most_active(const struct search *s, double overhead)
{
	double most = s->options.max_overhead;
	if (most <= 0 || overhead < begin_below * most)
		return s->options.most_active;
	return overhead <= most;
}

static void begin_ready(struct search *s, double overhead)
{
	uint32_t active = undecided_with_probes(s), most = most_active(s, overhead), number;
	while (active < most && (number = first_ready(s)) != EXPERIMENT_NONE) {
		overhead += trial_of(s, number)->overhead; /* known if it was measured before */
		if (s->options.max_overhead > 0 && active && overhead > s->options.max_overhead)
			break;
		pop_ready(s);
		schedule_begin(s, number);
		active++;
	}
}

void schedule(struct search *s)
{
	begin_free(s);
	requeue_waiting(s);
	double overhead = s->options.max_overhead > 0 ? limit_overhead(s) : 0;
	if (s->now >= s->shed)
		begin_ready(s, overhead);
}
