/* The paths of a thread: found by their hash, assembled after the last one. */
#include "runtime/hit.h"

enum {
	FIRST_PATH = 64,             /* offset 0 means none */
	INDEX_CHAIN = 256,           /* longest probe sequence in the index */
	RECURSION_SEARCH_MAX = 1024, /* activations or parents that are searched for recursion */
	NO_SLOT = UINT32_MAX,
};

bool draft_start(struct draft *d, struct rt_area *a)
{
	uint64_t used = a->path_used > FIRST_PATH ? a->path_used : FIRST_PATH;
	*d = (struct draft){0};
	if (used % 8 || used + sizeof(struct rt_path) > RT_PATH_BYTES)
		return false;
	d->path = area_at(a, RT_AREA_PATHS + used);
	d->room = (uint32_t)((RT_PATH_BYTES - used - sizeof(struct rt_path)) / 8);
	return true;
}

static bool same_frames(const struct draft *d, const struct rt_path *p)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (p->frames[i] != d->path->frames[i])
			return false;
	return true;
}

static bool equals(const struct draft *d, const struct rt_path *p, uint32_t subject)
{
	if (p->hash != d->hash || p->subject != subject || p->parent != d->parent ||
	    p->frame_count != d->count)
		return false;
	return same_frames(d, p);
}

static uint32_t *path_index(struct rt_area *a)
{
	return area_at(a, RT_AREA_PATH_INDEX);
}

/* The path, or 0 and the slot of the index where it belongs; NO_SLOT if there is no room. */
static uint32_t look_up(const struct draft *d, const struct hit *h, uint32_t *slot)
{
	const uint32_t *index = path_index(h->area);
	uint64_t spread = mix(mix(d->hash, h->probe->subject), d->parent + UINT64_C(1));
	uint32_t home = (uint32_t)(spread * RT_HASH_FACTOR >> (64 - RT_PATH_BITS));
	for (uint32_t i = 0; i < INDEX_CHAIN; i++) {
		*slot = (home + i) % RT_PATHS;
		uint32_t offset = index[*slot];
		if (!offset)
			return 0;
		if (equals(d, area_path(h->area, offset), h->probe->subject))
			return offset;
	}
	*slot = NO_SLOT;
	return 0;
}

static bool leads_through(const struct rt_path *p, uint32_t count, const struct rt_subject *s)
{
	for (uint32_t i = 0; i < count; i++)
		if (p->frames[i] > s->start && p->frames[i] <= s->end)
			return true;
	return false;
}

static bool is_live(const struct hit *h)
{
	uint32_t number = h->area->stacks[0].top;
	for (uint32_t i = 0; h->own && number && i < RECURSION_SEARCH_MAX; i++) {
		const struct rt_activation *a = area_activation(h->area, number);
		if (a->subject == h->probe->subject)
			return true;
		number = a->next;
	}
	return false;
}

/* A loop is recursive only if it is active: addresses in the range of its function do not show
 * that. */
static bool is_recursive(const struct draft *d, const struct hit *h)
{
	if (h->subject->flags & RT_LOOP)
		return is_live(h);
	if (leads_through(d->path, d->count, h->subject))
		return true;
	uint32_t parent = d->parent;
	for (uint32_t i = 0; parent && i < RECURSION_SEARCH_MAX; i++) {
		const struct rt_path *p = area_path(h->area, parent);
		uint64_t room = (uint64_t)area_at(h->area, RT_AREA_SIZE) - (uint64_t)p->frames;
		if (p->subject == h->probe->subject ||
		    (p->frame_count <= room / 8 && leads_through(p, p->frame_count, h->subject)))
			return true;
		parent = p->parent;
	}
	return false;
}

/* Clears the values, because the space after the last path may hold the remains of drafts. */
static void clear_values(struct rt_path *p)
{
	p->live = 0;
	p->calls = 0;
	p->adopted = 0;
	for (unsigned i = 0; i < RT_METRICS; i++) {
		p->total[i] = 0;
		p->self[i] = 0;
	}
}

/* Deep recursion continues with the path that the subject had one level further out: a separate
 * path for each level would be useless. */
static uint32_t fold_recursion(const struct draft *d, const struct hit *h)
{
	uint32_t offset = d->parent;
	if (!offset || area_path(h->area, offset)->depth < RT_WALK_FRAMES)
		return 0;
	for (uint32_t i = 0; offset && i < RT_FOLD_PARENTS; i++) {
		const struct rt_path *p = area_path(h->area, offset);
		if (p->subject == h->probe->subject && p->frame_count == d->count &&
		    same_frames(d, p))
			return offset;
		offset = p->parent;
	}
	return 0;
}

static uint32_t publish(const struct draft *d, const struct hit *h, bool recursive)
{
	struct rt_area *a = h->area;
	struct rt_path *p = d->path;
	uint64_t start = (uint64_t)p - (uint64_t)area_at(a, RT_AREA_PATHS);
	uint32_t offset = (uint32_t)(start / 8);
	clear_values(p);
	p->hash = d->hash;
	p->next = a->first_path;
	p->subject = h->probe->subject;
	p->parent = d->parent;
	p->frame_count = d->count;
	p->depth = d->count + (d->parent ? area_path(a, d->parent)->depth : 0);
	p->raw = d->raw;
	p->recursive = recursive;
	p->complete = d->complete;
	a->path_used = start + sizeof(*p) + d->count * UINT64_C(8);
	__atomic_store_n(&a->first_path, offset, __ATOMIC_RELEASE);
	return offset;
}

uint32_t draft_find(struct draft *d, const struct hit *h)
{
	uint32_t slot;
	return look_up(d, h, &slot);
}

uint32_t draft_finish(struct draft *d, const struct hit *h)
{
	uint32_t slot, found = look_up(d, h, &slot);
	if (!found)
		found = fold_recursion(d, h);
	if (found || slot == NO_SLOT)
		return found;
	found = publish(d, h, is_recursive(d, h));
	path_index(h->area)[slot] = found;
	return found;
}

static uint32_t add_frameless(const struct hit *h, bool recursive, uint64_t raw)
{
	struct draft d;
	if (!draft_start(&d, h->area))
		return 0;
	d.raw = raw;
	return publish(&d, h, recursive);
}

uint32_t path_of_subject(const struct hit *h)
{
	struct rt_subject_state *s = area_subject(h->area, h->probe->subject);
	if (!s->path)
		return s->path = add_frameless(h, false, 0);
	if (!area_path(h->area, s->path)->live)
		return s->path;
	if (!s->recursive)
		s->recursive = add_frameless(h, true, 0);
	return s->recursive;
}

COLD uint32_t path_unknown(const struct hit *h)
{
	struct rt_subject_state *s = area_subject(h->area, h->probe->subject);
	if (!s->unknown)
		s->unknown = add_frameless(h, is_live(h), RT_RAW_UNKNOWN);
	return s->unknown;
}
