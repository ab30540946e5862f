#include "unwind/recipe_cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/order.h"
#include "module/cache_file.h"

/* Change it with every change of the file's layout, or of the meaning of its contents. */
enum { FORMAT = 1 };

enum { MOST_ENTRIES = 1 << 22, PARTS = 4 };

static const char magic[8] = "sondercp";

/*  head | spans | entries | recipes  */
struct recipe_head {
	char magic[8];
	uint64_t checksum; /* of everything after it */
	uint64_t key;
	uint32_t spans, entries, recipes, zero;
};

_Static_assert(sizeof(struct recipe_head) == 40 && sizeof(struct known_span) == 24 &&
		       sizeof(struct recipe_entry) == 8 && sizeof(struct recipe) % 4 == 0,
	       "no padding");

void recipe_table_release(struct recipe_table *t)
{
	vec_free(&t->spans);
	vec_free(&t->entries);
	vec_free(&t->recipes);
}

static struct cache_name name_of(const struct module *m)
{
	const uint64_t parts[] = {FORMAT, cache_program_hash(FORMAT), m->size};
	return cache_name("recipes", &m->build_id, parts, ARRAY_SIZE(parts));
}

static uint64_t checksum(const struct recipe_head *h, const struct slice *parts)
{
	uint64_t sum = hash_bytes(&h->key, sizeof(*h) - offsetof(struct recipe_head, key), 0);
	for (uint32_t i = 1; i < PARTS; i++)
		sum = hash_bytes(parts[i].at, parts[i].size, sum);
	return sum;
}

static void list_parts(struct slice *out, const struct recipe_head *h, const struct recipe_table *t)
{
	out[0] = (struct slice){(const uint8_t *)h, sizeof(*h)};
	out[1] = SLICE_OF(&t->spans);
	out[2] = SLICE_OF(&t->entries);
	out[3] = SLICE_OF(&t->recipes);
}

/* ---- writing ---- */

/* Copies a span with its entries. `moved` has the new numbers of the recipes, 0 for those that have
 * none yet. */
static void copy_span(struct recipe_table *out, const struct recipe_table *t,
		      const struct known_span *s, uint32_t *moved)
{
	struct known_span copy = {s->start, s->end, out->entries.len, s->count};
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		struct recipe_entry e = t->entries.data[i];
		if (e.recipe && !moved[e.recipe]) {
			moved[e.recipe] = out->recipes.len;
			vec_push(&out->recipes, t->recipes.data[e.recipe]);
		}
		e.recipe = moved[e.recipe];
		vec_push(&out->entries, e);
	}
	vec_push(&out->spans, copy);
}

static bool overlaps(const struct recipe_table *t, const struct known_span *s)
{
	uint32_t n = ORDER_UP_TO(t->spans.data, t->spans.len, start, s->end - 1);
	return n && t->spans.data[n - 1].end > s->start;
}

static void copy_spans(struct recipe_table *out, const struct recipe_table *t,
		       const struct recipe_table *except)
{
	uint32_t *moved = xcalloc(t->recipes.len + 1, sizeof(*moved));
	vec_each (s, &t->spans)
		if (s->count && !(except && overlaps(except, s)))
			copy_span(out, t, s, moved);
	free(moved);
}

void recipe_cache_store(const struct recipe_table *t, const struct recipe_table *before,
			const struct module *m)
{
	struct recipe_table all = {0};
	struct slice parts[PARTS];
	vec_push(&all.recipes, t->recipes.data[0]);
	copy_spans(&all, t, NULL);
	copy_spans(&all, before, t);
	order_by_address(all.spans.data, all.spans.len, sizeof(struct known_span),
			 offsetof(struct known_span, start));
	const struct cache_name name = name_of(m);
	struct recipe_head h = {.key = name.key,
				.spans = all.spans.len,
				.entries = all.entries.len,
				.recipes = all.recipes.len};
	memcpy(h.magic, magic, sizeof(magic));
	list_parts(parts, &h, &all);
	h.checksum = checksum(&h, parts);
	if (all.entries.len <= MOST_ENTRIES)
		cache_file_write(&name, parts, PARTS);
	recipe_table_release(&all);
}

/* ---- reading ---- */

/* Files with a right checksum hold what was written, but who wrote them? */
static bool leads_outside(const struct recipe_table *t)
{
	vec_each (s, &t->spans)
		if (!s->count || s->first > t->entries.len || s->count > t->entries.len - s->first)
			return true;
	vec_each (e, &t->entries)
		if (e->recipe >= t->recipes.len)
			return true;
	return !t->recipes.len;
}

static bool read_table(int fd, uint64_t size, struct recipe_table *t, uint64_t key)
{
	struct recipe_head h;
	struct slice parts[PARTS];
	if (!cache_file_read(fd, &h, sizeof(h)) || memcmp(h.magic, magic, sizeof(magic)) != 0 ||
	    h.key != key || h.entries > MOST_ENTRIES ||
	    size != sizeof(h) + h.spans * (uint64_t)sizeof(struct known_span) +
			    h.entries * (uint64_t)sizeof(struct recipe_entry) +
			    h.recipes * (uint64_t)sizeof(struct recipe))
		return false;
	vec_resize(&t->spans, h.spans);
	vec_resize(&t->entries, h.entries);
	vec_resize(&t->recipes, h.recipes);
	list_parts(parts, &h, t);
	for (uint32_t i = 1; i < PARTS; i++)
		if (!cache_file_read(fd, (void *)(uintptr_t)parts[i].at, parts[i].size))
			return false;
	return checksum(&h, parts) == h.checksum && !leads_outside(t);
}

bool recipe_cache_load(struct recipe_table *t, const struct module *m)
{
	uint64_t size;
	const struct cache_name name = name_of(m);
	int fd = cache_file_open(&name, &size);
	if (fd < 0)
		return false;
	bool ok = read_table(fd, size, t, name.key);
	cache_file_close(fd, ok);
	if (!ok) {
		recipe_table_release(t);
		*t = (struct recipe_table){0};
	}
	return ok;
}
