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
	uint64_t low, high, reach, size;
	unsigned careless;   /* index of the room to leave */
	uint64_t free_from;  /* end of the last mapping, with what it may grow by */
	char program[64];    /* the file mapped lowest */
	bool behind_program; /* nothing but the program's own mappings so far */
	uint64_t best, best_distance;
};

static uint64_t distance_of(const struct search *s, uint64_t start)
{
	return start >= s->high ? start - s->high : s->low - (start + s->size);
}

/* The nearest place in the free range. */
static void consider(struct search *s, uint64_t start, uint64_t end)
{
	uint64_t least = s->high > s->reach ? s->high - s->reach : 0;
	uint64_t page = 4096;
	least = (least + page - 1) & ~(page - 1);
	if (start < LOWEST)
		start = LOWEST;
	if (start < least)
		start = least;
	if (end <= start || end - start < s->size)
		return;
	uint64_t at = start >= s->high ? start : end - s->size;
	if (at + s->size > s->low && at < s->high)
		return; /* never: code is mapped there */
	if (at >= s->high && at + s->size - s->low > s->reach)
		return;
	if (distance_of(s, at) < s->best_distance) {
		s->best = at;
		s->best_distance = distance_of(s, at);
	}
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
static bool find(struct search *s, const char *text, uint64_t heap)
{
	struct line l;
	bool shown = strstr(text, "[heap]") != NULL, comes = shown || heap;
	s->best_distance = UINT64_MAX;
	s->free_from = 0;
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
	return s->best_distance != UINT64_MAX;
}

bool pool_find_gap(const char *maps_text, uint64_t heap, uint64_t low, uint64_t high,
		   uint64_t reach, uint64_t size, uint64_t *out)
{
	for (unsigned careless = 0; careless < 2; careless++) {
		struct search s = {low, high, reach, size, .careless = careless};
		if (find(&s, maps_text, heap)) {
			*out = s.best;
			return true;
		}
	}
	return false;
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
			best = end + widest / 2;
		}
		end = l.end;
	}
	return widest / 4 > size ? best & ~(2 * MB - 1) : 0;
}
