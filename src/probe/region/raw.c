/* Paths that the runtime could not walk: it recorded the registers and a copy of the stack. They
 * are walked here, and the missing steps are added to its table. */
#include "probe/region/raw.h"

#include <stdlib.h>

#include "probe/region/steps.h"
#include "process/memory.h"

struct raw_entry {
	uint32_t first, count; /* frames */
	bool complete;
};

struct raw_cache {
	uint64_t next;        /* offset in the region of the first record not read yet */
	struct hashmap index; /* offset -> paths */
	VEC(struct raw_entry) paths;
	VEC(uint64_t) frames;
};

static struct raw_cache *cache_of(struct target *t)
{
	if (!t->region.raw) {
		t->region.raw = xcalloc(1, sizeof(*t->region.raw));
		t->region.raw->next = RT_RAW;
	}
	return t->region.raw;
}

/* Walks the copy of the stack, and continues in the live stack: its outer frames seldom change in
 * between. */
static void walk_raw(struct target *t, const struct rt_raw *r, struct walk *w)
{
	const struct arch *arch = t->shared->arch;
	struct registers regs = {.pc = r->pc};
	registers_set(&regs, arch->sp, r->sp);
	registers_set(&regs, arch->fp, r->fp);
	if (arch->link != REG_NONE)
		registers_set(&regs, arch->link, r->link);
	struct stack_copy copy = {r->sp, (const uint8_t *)(r + 1), r->stack_size};
	walk_stack(t->shared->walker, t->space, &regs, read_stack_copy, &copy, w);
	if (w->end == WALK_STACK_COPY && t->alive) {
		memory_window_init(t->shared->window, t->pid);
		walk_resume(t->shared->walker, t->space, memory_window_word, t->shared->window, w);
	}
}

static void keep_path(struct raw_cache *c, uint64_t offset, const struct walk *w)
{
	struct raw_entry entry = {.first = c->frames.len, .complete = w->end == WALK_COMPLETE};
	for (uint32_t i = 1; i < w->frames.len; i++)
		vec_push(&c->frames, w->frames.data[i].pc);
	entry.count = c->frames.len - entry.first;
	hashmap_put(&c->index, offset, c->paths.len);
	vec_push(&c->paths, entry);
}

static bool is_record(const struct rt_raw *r, uint64_t offset)
{
	uint32_t size = __atomic_load_n(&r->size, __ATOMIC_ACQUIRE);
	return size && size % 16 == 0 && offset + size <= RT_RAW + RT_RAW_BYTES &&
	       r->stack_size <= size - sizeof(*r);
}

static void walk_record(struct target *t, uint64_t offset)
{
	struct walk w = {0};
	walk_raw(t, target_at(t, offset), &w);
	steps_learn(t, &w);
	keep_path(t->region.raw, offset, &w);
	vec_free(&w.frames);
}

bool raw_resolve(struct target *t)
{
	struct raw_cache *c = cache_of(t);
	uint64_t begin = c->next;
	while (c->next + sizeof(struct rt_raw) <= RT_RAW + RT_RAW_BYTES) {
		const struct rt_raw *r = target_at(t, c->next);
		if (!is_record(r, c->next))
			break;
		if (hashmap_get(&c->index, c->next) == HASHMAP_NONE)
			walk_record(t, c->next);
		c->next += r->size;
	}
	return c->next != begin;
}

static bool may_be_record(uint64_t offset)
{
	return offset >= RT_RAW && offset % 16 == 0 &&
	       offset <= RT_RAW + RT_RAW_BYTES - sizeof(struct rt_raw);
}

/* A record that a path refers to is complete, but raw_resolve() may not have read it yet: it may be
 * newer than the last call, or come after a record that is still being written. */
bool raw_find(struct target *t, uint64_t offset, struct raw_path *out)
{
	struct raw_cache *c = cache_of(t);
	uint32_t i = hashmap_get(&c->index, offset);
	if (i == HASHMAP_NONE) {
		if (!may_be_record(offset) || !is_record(target_at(t, offset), offset))
			return false;
		walk_record(t, offset);
		i = hashmap_get(&c->index, offset);
	}
	const struct raw_entry *e = &c->paths.data[i];
	*out = (struct raw_path){c->frames.data + e->first, e->count, e->complete};
	return true;
}

void raw_release(struct target *t)
{
	if (!t->region.raw)
		return;
	hashmap_release(&t->region.raw->index);
	vec_free(&t->region.raw->paths);
	vec_free(&t->region.raw->frames);
	free(t->region.raw);
	t->region.raw = NULL;
}
