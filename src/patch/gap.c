/* Free places in an address space.
 *
 * Directly above the heap and below the stack there is nothing only because they have not grown so
 * far yet. Where no heap shows yet, and nobody knows where it will begin, it will be some way above
 * the program's own data: the kernel leaves a random distance. The program is the file that is
 * mapped lowest. */
#include "patch/pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MB UINT64_C(1048576)

/* Room that is left for growth: where there is choice, and where there is not. */
static const uint64_t heap_room[] = {4096 * MB, 64 * MB};
static const uint64_t stack_room[] = {1024 * MB, 32 * MB};

enum { LOWEST = 0x10000 /* vm.mmap_min_addr as it is mostly set */ };

struct line {
	uint64_t start, end;
	char path[64]; /* its beginning is enough */
	bool is_file;
};

/* "start-end perms offset major:minor inode   path" */
static bool parse(const char *text, size_t n, struct line *l)
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
	/* [vsyscall] is not in the part that belongs to the process. */
	return l->start < l->end && l->end < UINT64_C(1) << 63;
}

struct search {
	const struct pool_need *need;
	unsigned careless;   /* index of the room to leave */
	uint64_t free_from;  /* end of the last mapping, with what it may grow by */
	char program[64];    /* the file mapped lowest */
	bool behind_program; /* nothing but the program's own mappings so far */
	uint64_t best, best_size, best_distance;
};

#define PAGE UINT64_C(4096)

/* What of a free range is in reach. */
static void clip(const struct pool_need *n, uint64_t *start, uint64_t *end)
{
	uint64_t first = n->high > n->reach ? (n->high - n->reach + PAGE - 1) & -PAGE : 0;
	uint64_t last = (n->low + n->reach) & -PAGE;
	if (*start < LOWEST)
		*start = LOWEST;
	if (*start < first)
		*start = first;
	if (*end > last)
		*end = last;
}

/* The nearest place in the free range. */
static void consider(struct search *s, uint64_t start, uint64_t end)
{
	const struct pool_need *n = s->need;
	clip(n, &start, &end);
	uint64_t room = end > start ? end - start : 0, size = room < n->most ? room : n->most;
	if (size < n->least || size < s->best_size)
		return;
	uint64_t at = start >= n->high ? start : end - size;
	if (at + size > n->low && at < n->high)
		return; /* never: code is mapped there */
	uint64_t distance = at >= n->high ? at - n->high : n->low - (at + size);
	if (size == s->best_size && distance >= s->best_distance)
		return;
	s->best = at;
	s->best_size = size;
	s->best_distance = distance;
}

static void visit(struct search *s, const struct line *l, bool heap_comes)
{
	uint64_t end = l->start;
	if (!strcmp(l->path, "[stack]"))
		end -= stack_room[s->careless] < end ? stack_room[s->careless] : end;
	consider(s, s->free_from, end);
	if (l->is_file && !s->program[0]) {
		memcpy(s->program, l->path, sizeof(s->program));
		s->behind_program = true;
	}
	bool own = l->is_file ? !strcmp(l->path, s->program) : !l->path[0];
	s->behind_program &= own;
	s->free_from = l->end;
	if (!strcmp(l->path, "[heap]") || (s->behind_program && !heap_comes))
		s->free_from += heap_room[s->careless];
}

/* `heap` is where an empty heap will begin, or 0. */
static void find(struct search *s, const char *text, uint64_t heap)
{
	struct line l;
	bool shown = strstr(text, "[heap]") != NULL, comes = shown || heap;
	for (const char *next; *text; text = next) {
		size_t n = strcspn(text, "\n");
		next = text + n + (text[n] == '\n');
		if (!parse(text, n, &l))
			continue;
		if (!shown && heap && l.start >= heap) {
			visit(s, &(struct line){.start = heap, .end = heap, .path = "[heap]"},
			      true);
			shown = true;
		}
		visit(s, &l, comes);
	}
}

uint64_t pool_find_gap(const char *maps_text, uint64_t heap, const struct pool_need *need,
		       uint64_t *out)
{
	uint64_t size = 0;
	for (unsigned careless = 0; careless < 2 && size < need->most; careless++) {
		struct search s = {.need = need, .careless = careless};
		find(&s, maps_text, heap);
		if (s.best_size <= size)
			continue;
		*out = s.best;
		size = s.best_size;
	}
	return size;
}

uint64_t pool_aside(const char *maps_text, uint64_t size)
{
	struct line l;
	uint64_t end = LOWEST, best = 0, widest = 0;
	for (const char *next; *maps_text; maps_text = next) {
		size_t n = strcspn(maps_text, "\n");
		next = maps_text + n + (maps_text[n] == '\n');
		if (!parse(maps_text, n, &l))
			continue;
		if (l.start > end && l.start - end > widest) {
			widest = l.start - end;
			best = end + widest / 8 * 5;
		}
		end = l.end;
	}
	return widest / 4 > size ? best & ~(2 * MB - 1) : 0;
}
