/* Keeps the list of all functions sorted while starts and parts are found, and publishes it. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "flow/entry.h"
#include "flow/internal.h"

/* ---- starts ---- */

/* Evidence of a start that labels have, too: a computed goto has a table of pointers to them, and
 * their own function jumps to them. */
enum { GUESSES = FOUND_JUMP | FOUND_POINTER | FOUND_ADDRESS | FOUND_GAP };

void add_start(struct flow *f, uint64_t start, uint64_t end, const char *name, unsigned found_by,
	       unsigned flags)
{
	if (start % f->arch->insn_align || !module_is_code(f->module, start))
		return;
	bool guess = !(found_by & ~(unsigned)GUESSES);
	vec_push(&f->added,
		 (struct func){
			 .start = start,
			 .end = end > start ? end : 0,
			 .bounded = end > start,
			 .name = name,
			 .found_by = (uint16_t)found_by,
			 .flags = (uint8_t)flags,
			 .like_label = guess && looks_like_label(f->module, f->arch, start),
			 .dirty = true,
		 });
}

void sort_starts(struct flow *f)
{
	order_by_address(f->added.data, f->added.len, sizeof(struct func),
			 offsetof(struct func, start));
}

/* Whether `a` is the name that people know the function by: fewer leading underscores, then
 * shorter. */
static bool is_better_name(const char *a, const char *b)
{
	size_t la = strspn(a, "_"), lb = strspn(b, "_"), na = strlen(a), nb = strlen(b);
	if (la != lb)
		return la < lb;
	return na != nb ? na < nb : strcmp(a, b) < 0;
}

static void absorb(struct func *into, const struct func *p)
{
	/* An exported name beats a local one. */
	bool exported = p->found_by & FOUND_DYNAMIC, was = into->found_by & FOUND_DYNAMIC;
	if (p->name && (!into->name || exported > was ||
			(exported == was && is_better_name(p->name, into->name))))
		into->name = p->name;
	if (p->bounded && (!into->bounded || p->end > into->end)) {
		into->end = p->end;
		into->bounded = true;
	}
	into->found_by |= p->found_by;
	into->flags |= p->flags;
}

/* The first address after the start of function i that cannot belong to it. `*fragment` is a
 * position in the sorted fragments; from one call to the next it only moves forward. */
static uint64_t limit_of(const struct flow *f, uint32_t i, uint32_t *fragment)
{
	uint64_t start = f->funcs.data[i].start;
	const struct section *s = module_section_at(f->module, start);
	uint64_t limit = s->va + s->size;
	if (i + 1 < f->funcs.len && f->funcs.data[i + 1].start < limit)
		limit = f->funcs.data[i + 1].start;
	while (*fragment < f->fragments.len && f->fragments.data[*fragment].start <= start)
		(*fragment)++;
	if (*fragment < f->fragments.len && f->fragments.data[*fragment].start < limit)
		limit = f->fragments.data[*fragment].start;
	return limit;
}

void index_starts(struct flow *f)
{
	hashmap_release(&f->by_start);
	for (uint32_t i = 0; f->discovered && i < f->funcs.len; i++)
		hashmap_put(&f->by_start, f->funcs.data[i].start, i);
}

uint32_t func_from(const struct flow *f, uint64_t start)
{
	if (f->by_start.len)
		return hashmap_get(&f->by_start, start);
	uint32_t n = ORDER_UP_TO(f->funcs.data, f->funcs.len, start, start);
	return n && f->funcs.data[n - 1].start == start ? n - 1 : (uint32_t)HASHMAP_NONE;
}

static void set_ends(struct flow *f)
{
	uint32_t fragment = 0;
	for (uint32_t i = 0; i < f->funcs.len; i++) {
		struct func *p = &f->funcs.data[i];
		uint64_t limit = limit_of(f, i, &fragment);
		if (!p->end || p->end > limit || (!p->bounded && !p->graph)) {
			p->end = limit;
			p->dirty = true;
		}
	}
	index_starts(f);
}

void merge_starts(struct flow *f)
{
	func_list out = {0};
	uint32_t i = 0, j = 0;
	sort_starts(f);
	vec_reserve(&out, f->funcs.len + f->added.len + 1);
	while (i < f->funcs.len || j < f->added.len) {
		bool old = j == f->added.len ||
			   (i < f->funcs.len && f->funcs.data[i].start <= f->added.data[j].start);
		const struct func *next = old ? &f->funcs.data[i++] : &f->added.data[j++];
		if (out.len && vec_last(&out).start == next->start)
			absorb(&vec_last(&out), next);
		else
			vec_push(&out, *next);
	}
	vec_free(&f->funcs);
	vec_free(&f->added);
	f->funcs = out;
	set_ends(f);
}

bool is_guess(const struct func *p)
{
	return p->like_label && !p->part_count && !(p->found_by & ~GUESSES);
}

void set_reaches(struct flow *f)
{
	for (uint32_t i = f->funcs.len; i-- > 0;) {
		struct func *p = &f->funcs.data[i];
		const struct func *next = i + 1 < f->funcs.len ? p + 1 : NULL;
		bool open = next && !p->bounded && p->end == next->start && is_guess(next);
		p->reach = open ? next->reach : p->end;
	}
}

uint32_t func_at(const struct flow *f, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(f->funcs.data, f->funcs.len, start, va);
	return n && va < f->funcs.data[n - 1].end ? n - 1 : UINT32_MAX;
}

/* ---- parts ---- */

void append_part(struct arena *a, struct func *p, struct part part)
{
	struct part *parts = ARENA_ARRAY(a, struct part, p->part_count + 1);
	for (uint32_t i = 0; i < p->part_count; i++)
		parts[i] = p->parts[i];
	parts[p->part_count++] = part;
	p->parts = parts;
}

void add_part(struct flow *f, struct func *p, uint64_t start, uint64_t end)
{
	append_part(&f->arena, p, (struct part){start, end});
	p->dirty = true;
}

/* ---- the published list ---- */

static struct function published_form(const struct func *p, uint32_t first_part)
{
	return (struct function){
		.start = p->start,
		.end = p->end,
		.name = p->name,
		.found_by = p->found_by,
		.flags = p->flags,
		.bounded = p->bounded,
		.first_part = first_part,
		.part_count = p->part_count,
	};
}

void publish(struct flow *f)
{
	free(f->published);
	f->published = xcalloc(f->funcs.len, sizeof(*f->published));
	f->published_count = f->funcs.len;
	vec_clear(&f->parts);
	vec_clear(&f->owned_parts);
	for (uint32_t i = 0; i < f->funcs.len; i++) {
		const struct func *p = &f->funcs.data[i];
		f->published[i] = published_form(p, f->parts.len);
		for (uint32_t j = 0; j < p->part_count; j++) {
			vec_push(&f->parts, p->parts[j]);
			vec_push(&f->owned_parts, (struct owned_part){p->parts[j], i});
		}
	}
	order_by_address(f->owned_parts.data, f->owned_parts.len, sizeof(struct owned_part),
			 offsetof(struct owned_part, part.start));
}

static void make_room(struct flow *f, uint32_t at)
{
	uint32_t moved = f->funcs.len - at;
	vec_push(&f->funcs, (struct func){0});
	memmove(&f->funcs.data[at + 1], &f->funcs.data[at], moved * sizeof(struct func));
	f->funcs.data[at] = (struct func){0};
	f->published_count = f->funcs.len;
	f->published = xrealloc(f->published, f->funcs.len * sizeof(*f->published));
	memmove(&f->published[at + 1], &f->published[at], moved * sizeof(*f->published));
	vec_each (o, &f->owned_parts)
		o->owner += o->owner >= at;
}

void insert_start(struct flow *f, uint64_t start, uint64_t end, enum found_by how)
{
	uint32_t at = ORDER_UP_TO(f->funcs.data, f->funcs.len, start, start);
	struct func *before = at ? &f->funcs.data[at - 1] : NULL;
	if (before && before->start == start) {
		before->end = f->published[at - 1].end = end;
		return;
	}
	if (before && before->end > start)
		before->end = f->published[at - 1].end = start;
	make_room(f, at);
	f->funcs.data[at] = (struct func){.start = start, .end = end, .found_by = (uint16_t)how};
	f->published[at] = published_form(&f->funcs.data[at], f->parts.len);
}
