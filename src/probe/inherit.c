/* The child of a fork: its memory holds its parent's patches and fragments; what we know of them is
 * copied, and it begins to count at zero. */
#include <string.h>
#include <unistd.h>

#include "probe/readings.h"
#include "probe/target.h"

#define copy_vec(to, from)                                                                         \
	do {                                                                                       \
		vec_clear(to);                                                                     \
		vec_each (element, from)                                                           \
			vec_push(to, *element);                                                    \
	} while (0)

static void copy_fragment(struct fragment *to, const struct fragment *from)
{
	*to = (struct fragment){.mechanism = from->mechanism, .size = from->size};
	to->code = xmalloc(from->size);
	memcpy(to->code, from->code, from->size);
	copy_vec(&to->patches, &from->patches);
	copy_vec(&to->moved, &from->moved);
	copy_vec(&to->probes, &from->probes);
}

static void copy_sites(struct target *child, const struct target *parent)
{
	vec_each (s, &parent->sites) {
		struct site copy = {.code = s->code,
				    .start = s->start,
				    .bias = s->bias,
				    .address = s->address,
				    .room = s->room};
		if (s->address)
			copy_fragment(&copy.fragment, &s->fragment);
		copy_vec(&copy.subjects, &s->subjects);
		copy_vec(&copy.journal, &s->journal);
		hashmap_put(&child->site_index, s->start + s->bias, child->sites.len);
		vec_push(&child->sites, copy);
	}
}

static void copy_subjects(struct target *child, const struct target *parent)
{
	vec_each (s, &parent->subjects) {
		struct subject copy = *s;
		memset(&copy.probes, 0, sizeof(copy.probes));
		copy_vec(&copy.probes, &s->probes);
		copy.wanted = copy.in;
		vec_push(&child->subjects, copy);
	}
}

/* Retired memory stays what it is: nobody knows whether the child's thread is in it. */
static void copy_pool(struct target *child, const struct target *parent)
{
	vec_each (r, &parent->pool.regions) {
		struct pool_region copy = {.start = r->start, .end = r->end};
		copy_vec(&copy.free, &r->free);
		vec_push(&child->pool.regions, copy);
	}
	vec_each (r, &parent->retired) {
		struct retired copy = *r;
		copy_fragment(&copy.fragment, &r->fragment);
		vec_push(&child->retired, copy);
	}
}

/* The pages that the parent's area has. */
static void copy_area(struct target *child, const struct target *parent, uint32_t area)
{
	off_t at = (off_t)RT_AREA(area), end = at + (off_t)RT_AREA_SIZE;
	while ((at = lseek(parent->region_fd, at, SEEK_DATA)) >= 0 && at < end) {
		off_t hole = lseek(parent->region_fd, at, SEEK_HOLE);
		if (hole < 0 || hole > end)
			hole = end;
		memcpy(child->region + at, parent->region + at, (size_t)(hole - at));
		at = hole;
	}
}

static void zero_values(struct rt_area *a)
{
	uint32_t offset = a->first_path;
	while (offset && (uint64_t)offset * 8 + sizeof(struct rt_path) <= RT_PATH_BYTES) {
		struct rt_path *p =
			(struct rt_path *)((uint8_t *)a + RT_AREA_PATHS + (uint64_t)offset * 8);
		p->calls = 0;
		p->caught_up = 0;
		memset(p->total, 0, sizeof(p->total));
		memset(p->self, 0, sizeof(p->self));
		offset = p->next;
	}
	memset((uint8_t *)a + RT_AREA_TARGETS, 0, RT_TARGETS * sizeof(struct rt_target));
}

static void zero_counters(struct rt_area *a, uint32_t used)
{
	memset((uint8_t *)a + RT_AREA_COUNTERS, 0, used * sizeof(uint64_t));
}

/* What the child is in the middle of counts from here on. */
static void restart_activations(struct target *child, struct rt_area *a, int tid)
{
	uint64_t now[RT_METRICS];
	a->waited_sync = a->waited_io = a->bytes = 0;
	a->wait_since = 0;
	a->wait_kind = RT_WAIT_NONE;
	a->clock_page = 0;
	memset(a->event_fd, 0, sizeof(a->event_fd));
	readings_take(child, a, tid, OUTSIDE_METRICS, now);
	struct rt_activation *all = (struct rt_activation *)((uint8_t *)a + RT_AREA_ACTIVATIONS);
	for (uint32_t i = 0; i < a->activation_used && i < RT_ACTIVATIONS; i++) {
		memcpy(all[i].start, now, sizeof(now));
		all[i].metrics &= OUTSIDE_METRICS;
		all[i].quick = 0; /* its clock is not open yet */
		all[i].below_set = 0;
	}
}

/* The table was copied and leads the child's thread to its parent's area. */
static void copy_thread(struct target *child, const struct target *parent, int tid)
{
	struct control_thread *th = control_thread(child->engine->control, tid);
	uint64_t thread_pointer = 0;
	uint32_t i = 0;
	if (th)
		control_thread_pointer(th, &thread_pointer);
	while (i < RT_AREAS &&
	       (!parent->slots[i].tid || parent->slots[i].thread_pointer != thread_pointer))
		i++;
	if (i == RT_AREAS) {
		if (th)
			areas_prepare(child, th);
		return;
	}
	child->slots[i] = (struct thread_slot){.tid = tid, .thread_pointer = thread_pointer};
	for (uint32_t k = i; k < 2 * RT_AREAS; k += RT_AREAS) {
		struct rt_area *a = target_area(child, k);
		copy_area(child, parent, k);
		a->tid = (uint32_t)tid;
		zero_values(a);
		zero_counters(a, child->counters_used);
		restart_activations(child, a, tid);
	}
}

void target_copy_state(struct target *child, const struct target *parent, int tid)
{
	copy_subjects(child, parent);
	copy_sites(child, parent);
	copy_pool(child, parent);
	copy_vec(&child->journal_free, &parent->journal_free);
	copy_vec(&child->probe_free, &parent->probe_free);
	copy_vec(&child->probe_retired, &parent->probe_retired);
	copy_vec(&child->steps, &parent->steps);
	copy_vec(&child->searched, &parent->searched);
	child->counters_used = parent->counters_used;
	child->rendezvous_in = parent->rendezvous_in;
	child->rendezvous_state = parent->rendezvous_state;
	copy_thread(child, parent, tid);
}
