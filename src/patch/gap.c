/* Finds free places in an address space.
 *
 * The space directly above the heap and below the stack is free only because they have not grown so
 * far yet. If there is no heap yet, and its start is unknown, it will begin some way above the
 * program's own data: the kernel leaves a random distance. The program is the file that is mapped
 * lowest. */
#include "patch/pool.h"

#include <string.h>

#include "process/maps_line.h"

#define MB UINT64_C(1048576)

/* Room that is left for growth: normally, and if no gap is large enough otherwise. */
static const uint64_t heap_room[] = {4096 * MB, 64 * MB};
static const uint64_t stack_room[] = {1024 * MB, 32 * MB};

enum { LOWEST_ADDRESS = 0x10000 /* the usual vm.mmap_min_addr */ };

struct room_search {
	const struct pool_need *need;
	unsigned tight;           /* index of the room to leave for growth */
	uint64_t free_from;       /* end of the last mapping, plus room for its growth */
	struct maps_line program; /* the file mapped lowest; inode 0: not seen yet */
	bool in_program;          /* only the program's own mappings so far */
	uint64_t best, best_size, best_distance;
};

#define PAGE UINT64_C(4096)

/* Limits a free range to the part within reach. */
static void clip(const struct pool_need *n, uint64_t *start, uint64_t *end)
{
	uint64_t first = n->high > n->reach ? (n->high - n->reach + PAGE - 1) & -PAGE : 0;
	uint64_t last = (n->low + n->reach) & -PAGE;
	if (*start < LOWEST_ADDRESS)
		*start = LOWEST_ADDRESS;
	if (*start < first)
		*start = first;
	if (*end > last)
		*end = last;
}

/* Takes the nearest place in the free range, if it is better than the best so far. */
static void consider(struct room_search *s, uint64_t start, uint64_t end)
{
	const struct pool_need *n = s->need;
	clip(n, &start, &end);
	uint64_t room = end > start ? end - start : 0, size = room < n->most ? room : n->most;
	if (size < n->least || size < s->best_size)
		return;
	uint64_t at = start >= n->high ? start : end - size;
	if (at + size > n->low && at < n->high)
		return; /* cannot happen: code is mapped there */
	uint64_t distance = at >= n->high ? at - n->high : n->low - (at + size);
	if (size == s->best_size && distance >= s->best_distance)
		return;
	s->best = at;
	s->best_size = size;
	s->best_distance = distance;
}

static bool is_same_file(const struct maps_line *a, const struct maps_line *b)
{
	return a->path_length == b->path_length && !memcmp(a->path, b->path, a->path_length);
}

static void visit(struct room_search *s, const struct maps_line *l, bool heap_known)
{
	uint64_t end = l->start;
	if (maps_line_has_path(l, "[stack]"))
		end -= stack_room[s->tight] < end ? stack_room[s->tight] : end;
	consider(s, s->free_from, end);
	if (l->inode && !s->program.inode) {
		s->program = *l;
		s->in_program = true;
	}
	s->in_program &= l->inode ? is_same_file(l, &s->program) : !l->path_length;
	s->free_from = l->end;
	if (maps_line_has_path(l, "[heap]") || (s->in_program && !heap_known))
		s->free_from += heap_room[s->tight];
}

/* Mappings are searched up to the end of the process's half of the address space: [vsyscall] is
 * outside. */
static bool next_mapping(const char **text, struct maps_line *l)
{
	return maps_next_line(text, l) && l->end < UINT64_C(1) << 63;
}

/* Visits all mappings. `heap` is where an empty heap will begin, or 0. */
static void visit_all(struct room_search *s, const char *text, uint64_t heap)
{
	static const char name[] = "[heap]";
	const struct maps_line empty = {
		.start = heap, .end = heap, .path = name, .path_length = sizeof(name) - 1};
	struct maps_line l;
	bool shown = strstr(text, name) != NULL, known = shown || heap;
	while (next_mapping(&text, &l)) {
		if (!shown && heap && l.start >= heap) {
			visit(s, &empty, true);
			shown = true;
		}
		visit(s, &l, known);
	}
}

uint64_t pool_find_gap(const char *maps_text, uint64_t heap, const struct pool_need *need,
		       uint64_t *out)
{
	uint64_t size = 0;
	for (unsigned tight = 0; tight < 2 && size < need->most; tight++) {
		struct room_search s = {.need = need, .tight = tight};
		visit_all(&s, maps_text, heap);
		if (s.best_size <= size)
			continue;
		*out = s.best;
		size = s.best_size;
	}
	return size;
}

uint64_t pool_aside(const char *maps_text, uint64_t size)
{
	struct maps_line l;
	uint64_t end = LOWEST_ADDRESS, best = 0, widest = 0;
	while (next_mapping(&maps_text, &l)) {
		if (l.start > end && l.start - end > widest) {
			widest = l.start - end;
			best = end + widest / 8 * 5; /* neither the middle nor a quarter: pool.h */
		}
		end = l.end;
	}
	return widest / 4 > size ? best & ~(2 * MB - 1) : 0;
}
