#include "flow/start_cache.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/log.h"
#include "module/cache_file.h"

/* Change it with every change of the file's layout, or of the meaning of its contents. */
enum { FORMAT = 2 };

enum {
	SMALL_MODULE = 1 << 20, /* bytes of a module that is not worth a file */
	NAME_NONE = 0,
	/* Names are offsets. With this bit in the file's own text, otherwise in the module. */
	NAME_OWN = INT32_MIN,
};

static const char magic[8] = "sondefun";

/*  head | functions | parts, by function | fragments | searched | pointers | text  */
struct start_head {
	char magic[8];
	uint64_t checksum; /* of everything after it */
	uint64_t key;
	uint32_t functions, parts, fragments, searched, pointers, text;
};

struct cached_function {
	uint64_t start;
	uint32_t size, name;
	uint16_t found_by;
	uint8_t flags, bounded;
	uint32_t part_count;
};

struct cached_fragment {
	uint64_t start;
	uint32_t size, name;
	uint64_t taken;
};

_Static_assert(sizeof(struct start_head) == 48 && sizeof(struct cached_function) == 24 &&
		       sizeof(struct cached_fragment) == 24 && sizeof(struct part) == 16,
	       "no padding, a multiple of 8");

enum { PARTS = 7 };

static struct cache_name name_of(const struct module *m)
{
	const uint64_t parts[] = {FORMAT, cache_program_hash(FORMAT), m->size};
	return cache_name("starts", &m->build_id, parts, ARRAY_SIZE(parts));
}

/* The cache is for what the file itself gives. */
static bool is_worth_it(const struct module *m)
{
	return m->build_id.size && m->size >= SMALL_MODULE && !m->supplemented;
}

static uint64_t checksum(const struct start_head *h, const struct slice *parts, uint32_t count)
{
	uint64_t sum = hash_bytes(&h->key, sizeof(*h) - offsetof(struct start_head, key), 0);
	for (uint32_t i = 1; i < count; i++)
		sum = hash_bytes(parts[i].at, parts[i].size, sum);
	return sum;
}

/* The string table of the module that was used last, at this offset in the file. */
struct name_table {
	struct slice bytes;
	uint64_t offset;
};

/* The name at a place in the file; NULL if that is in no string table. */
static const char *name_at(const struct module *m, struct name_table *t, uint64_t place)
{
	if (place - t->offset >= t->bytes.size &&
	    !module_name_table(m, place, &t->bytes, &t->offset)) {
		*t = (struct name_table){0};
		return NULL;
	}
	return (const char *)t->bytes.at + (place - t->offset);
}

/* ---- writing ---- */

struct writer {
	const struct module *module;
	struct name_table names;
	VEC(struct cached_function) functions;
	VEC(struct part) parts;
	VEC(struct cached_fragment) fragments;
	VEC(char) text;
	bool too_large;
};

/* Most names are in a string table of the module. */
static uint32_t place_of(struct writer *w, const char *name)
{
	uint64_t offset;
	if (!name)
		return NAME_NONE;
	if (module_name_place(w->module, name, &offset) && offset < INT32_MAX &&
	    name_at(w->module, &w->names, offset))
		return (uint32_t)offset;
	uint32_t at = w->text.len;
	size_t size = strlen(name) + 1;
	if (size > INT32_MAX - at) {
		w->too_large = true;
		return NAME_NONE;
	}
	vec_append(&w->text, name, (uint32_t)size);
	return at | (uint32_t)NAME_OWN;
}

static uint32_t size_of(struct writer *w, uint64_t start, uint64_t end)
{
	w->too_large |= end < start || end - start > UINT32_MAX;
	return (uint32_t)(end - start);
}

static void collect(struct writer *w, const struct flow *f)
{
	vec_reserve(&w->functions, f->funcs.len);
	vec_each (p, &f->funcs) {
		struct cached_function c = {.start = p->start,
					    .size = size_of(w, p->start, p->end),
					    .name = place_of(w, p->name),
					    .found_by = p->found_by,
					    .flags = p->flags,
					    .bounded = p->bounded,
					    .part_count = p->part_count};
		vec_push(&w->functions, c);
		vec_append(&w->parts, p->parts, p->part_count);
	}
	vec_each (x, &f->fragments) {
		struct cached_fragment c = {.start = x->start,
					    .size = size_of(w, x->start, x->end),
					    .name = place_of(w, x->name),
					    .taken = x->taken};
		vec_push(&w->fragments, c);
	}
}

void start_cache_store(const struct flow *f)
{
	struct writer w = {.module = f->module};
	if (!is_worth_it(f->module) || module_problem(f->module))
		return;
	collect(&w, f);
	const struct cache_name name = name_of(f->module);
	struct start_head h = {.key = name.key,
			       .functions = w.functions.len,
			       .parts = w.parts.len,
			       .fragments = w.fragments.len,
			       .searched = f->searched.len,
			       .pointers = f->code_pointers.len,
			       .text = w.text.len};
	memcpy(h.magic, magic, sizeof(magic));
	const struct slice parts[PARTS] = {
		{(const uint8_t *)&h, sizeof(h)},
		SLICE_OF(&w.functions),
		SLICE_OF(&w.parts),
		SLICE_OF(&w.fragments),
		SLICE_OF(&f->searched),
		SLICE_OF(&f->code_pointers),
		SLICE_OF(&w.text),
	};
	h.checksum = checksum(&h, parts, PARTS);
	if (!w.too_large)
		cache_file_write(&name, parts, PARTS);
	vec_free(&w.functions);
	vec_free(&w.parts);
	vec_free(&w.fragments);
	vec_free(&w.text);
}

/* ---- reading ---- */

struct contents {
	struct start_head head;
	uint8_t *bytes; /* everything after the head */
	const struct cached_function *functions;
	const struct part *parts;
	const struct cached_fragment *fragments;
	const struct part *searched;
	const uint64_t *pointers;
	const char *text;
	const struct module *module;
	const struct section *last; /* of the previous address: neighbours mostly share one */
	struct name_table names;
};

static uint64_t size_after_head(const struct start_head *h)
{
	return h->functions * (uint64_t)sizeof(struct cached_function) +
	       h->parts * (uint64_t)sizeof(struct part) +
	       h->fragments * (uint64_t)sizeof(struct cached_fragment) +
	       h->searched * (uint64_t)sizeof(struct part) +
	       h->pointers * (uint64_t)sizeof(uint64_t) + h->text;
}

static void attach(struct contents *c)
{
	const struct start_head *h = &c->head;
	c->functions = (const void *)c->bytes;
	c->parts = (const void *)(c->functions + h->functions);
	c->fragments = (const void *)(c->parts + h->parts);
	c->searched = (const void *)(c->fragments + h->fragments);
	c->pointers = (const void *)(c->searched + h->searched);
	c->text = (const void *)(c->pointers + h->pointers);
}

static bool read_contents(int fd, uint64_t size, struct contents *c, uint64_t key)
{
	if (!cache_file_read(fd, &c->head, sizeof(c->head)) ||
	    memcmp(c->head.magic, magic, sizeof(magic)) != 0 || c->head.key != key ||
	    size != sizeof(c->head) + size_after_head(&c->head))
		return false;
	uint64_t rest = size - sizeof(c->head);
	c->bytes = xmalloc(rest + 1);
	if (!cache_file_read(fd, c->bytes, rest))
		return false;
	attach(c);
	const struct start_head *h = &c->head;
	const struct slice parts[PARTS] = {
		{0},
		{(const uint8_t *)c->functions, h->functions * sizeof(*c->functions)},
		{(const uint8_t *)c->parts, h->parts * sizeof(*c->parts)},
		{(const uint8_t *)c->fragments, h->fragments * sizeof(*c->fragments)},
		{(const uint8_t *)c->searched, h->searched * sizeof(*c->searched)},
		{(const uint8_t *)c->pointers, h->pointers * sizeof(*c->pointers)},
		{(const uint8_t *)c->text, h->text},
	};
	return checksum(h, parts, PARTS) == h->checksum && (!h->text || !c->text[h->text - 1]);
}

static bool is_code(struct contents *c, uint64_t va)
{
	if (!c->last || va - c->last->va >= c->last->size)
		c->last = module_section_at(c->module, va);
	return c->last && c->last->execute;
}

/* False if the name lies outside. */
static bool find_name(struct contents *c, struct flow *f, uint32_t place, const char **out)
{
	*out = NULL;
	if (place == NAME_NONE)
		return true;
	if (place & (uint32_t)NAME_OWN) {
		uint32_t at = place & INT32_MAX;
		if (at < c->head.text)
			*out = arena_strdup(&f->arena, c->text + at);
		return at < c->head.text;
	}
	*out = name_at(c->module, &c->names, place);
	return *out != NULL;
}

/* Fills in `funcs`. Files with a right checksum hold what was written, but perhaps for another
 * module with the same build id. */
static bool take_functions(struct contents *c, struct flow *f)
{
	const struct part *next = c->parts, *end = c->parts + c->head.parts;
	vec_reserve(&f->funcs, c->head.functions);
	for (uint32_t i = 0; i < c->head.functions; i++) {
		const struct cached_function *in = &c->functions[i];
		struct func p = {.start = in->start,
				 .end = in->start + in->size,
				 .found_by = in->found_by,
				 .flags = in->flags,
				 .bounded = in->bounded,
				 .dirty = true,
				 .part_count = in->part_count};
		if (!is_code(c, in->start) || (i && in->start <= c->functions[i - 1].start) ||
		    in->part_count > end - next || !find_name(c, f, in->name, &p.name))
			return false;
		if (p.part_count)
			p.parts = ARENA_DUP(&f->arena, next, p.part_count);
		next += p.part_count;
		vec_push(&f->funcs, p);
	}
	return next == end;
}

static bool take_fragments(struct contents *c, struct flow *f)
{
	for (uint32_t i = 0; i < c->head.fragments; i++) {
		const struct cached_fragment *in = &c->fragments[i];
		struct detached_part x = {
			.start = in->start, .end = in->start + in->size, .taken = in->taken};
		if (!is_code(c, in->start) || !find_name(c, f, in->name, &x.name))
			return false;
		vec_push(&f->fragments, x);
	}
	return true;
}

bool start_cache_load(struct flow *f)
{
	struct contents c = {.module = f->module};
	uint64_t size;
	if (!is_worth_it(f->module))
		return false;
	const struct cache_name name = name_of(f->module);
	int fd = cache_file_open(&name, &size);
	if (fd < 0)
		return false;
	bool ok = read_contents(fd, size, &c, name.key) && take_functions(&c, f) &&
		  take_fragments(&c, f);
	cache_file_close(fd, ok);
	if (ok) {
		vec_append(&f->searched, c.searched, c.head.searched);
		vec_append(&f->code_pointers, c.pointers, c.head.pointers);
	}
	f->stored = f->searched.len;
	free(c.bytes);
	if (!ok) {
		vec_clear(&f->funcs);
		vec_clear(&f->fragments);
	}
	return ok;
}
