/* Finds free places in an address space.
 *
 * The space directly above the heap and below the stack is free only because they have not grown so
 * far yet. If there is no heap yet, and its start is unknown, it will begin some way above the
 * program's own data: the kernel leaves a random distance. The program is the file that is mapped
 * lowest. */
#include "patch/pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MB UINT64_C(1048576)

/* Room that is left for growth: normally, and if no gap is large enough otherwise. */
static const uint64_t heap_room[] = {4096 * MB, 64 * MB};
static const uint64_t stack_room[] = {1024 * MB, 32 * MB};

enum { LOWEST_ADDRESS = 0x10000 /* the usual vm.mmap_min_addr */ };

struct map_line {
	uint64_t start, end;
	char path[64]; /* its beginning suffices */
	bool is_file;
};

/* "start-end perms offset major:minor inode   path" */
static bool parse(const char *text, size_t n, struct map_line *l)
{
	char copy[192];
	int path = 0;
	uint64_t inode;
	snprintf(copy, sizeof(copy), "%.*s", (int)(n < sizeof(copy) ? n : sizeof(copy) - 1), text);
	if (sscanf(copy, "%" SCNx64 "-%" SCNx64 " %*s %*x %*x:%*x %" SCNu64 " %n", &l->start,
		   &l->end, &inode, &path) < 3)
		return false;
	snprintf(l->path, sizeof(l->path), "%s", copy + path);
	l->is_file = inode != 0;
	/* [vsyscall] is outside the process's half of the address space. */
	return l->start < l->end && l->end < UINT64_C(1) << 63;
}

struct room_search {
	const struct pool_need *need;
	unsigned tight;     /* index of the room to leave for growth */
	uint64_t free_from; /* end of the last mapping, plus room for its growth */
	char program[64];   /* the file mapped lowest */
	bool in_program;    /* only the program's own mappings so far */
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

static void visit(struct room_search *s, const struct map_line *l, bool heap_known)
{
	uint64_t end = l->start;
	if (!strcmp(l->path, "[stack]"))
		end -= stack_room[s->tight] < end ? stack_room[s->tight] : end;
	consider(s, s->free_from, end);
	if (l->is_file && !s->program[0]) {
		memcpy(s->program, l->path, sizeof(s->program));
		s->in_program = true;
	}
	bool own = l->is_file ? !strcmp(l->path, s->program) : !l->path[0];
	s->in_program &= own;
	s->free_from = l->end;
	if (!strcmp(l->path, "[heap]") || (s->in_program && !heap_known))
		s->free_from += heap_room[s->tight];
}

/* Visits all mappings. `heap` is where an empty heap will begin, or 0. */
static void visit_all(struct room_search *s, const char *text, uint64_t heap)
{
	struct map_line l;
	bool shown = strstr(text, "[heap]") != NULL, known = shown || heap;
	for (const char *next; *text; text = next) {
		size_t n = strcspn(text, "\n");
		next = text + n + (text[n] == '\n');
		if (!parse(text, n, &l))
			continue;
		if (!shown && heap && l.start >= heap) {
			visit(s, &(struct map_line){.start = heap, .end = heap, .path = "[heap]"},
			      true);
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
	struct map_line l;
	uint64_t end = LOWEST_ADDRESS, best = 0, widest = 0;
	for (const char *next; *maps_text; maps_text = next) {
		size_t n = strcspn(maps_text, "\n");
		next = maps_text + n + (maps_text[n] == '\n');
		if (!parse(maps_text, n, &l))
			continue;
		if (l.start > end && l.start - end > widest) {
			widest = l.start - end;
			best = end + widest / 8 * 5; /* neither the middle nor a quarter: pool.h */
		}
		end = l.end;
	}
	return widest / 4 > size ? best & ~(2 * MB - 1) : 0;
}
