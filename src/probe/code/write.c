/* Putting patches into the stopped program, and taking them out.
 *
 * All patches of one page are one write: that takes fewer calls, and there is no instant at which
 * half a patch is in. The bytes found in the program are compared with those that have to be there:
 * a library may have been unloaded, and another one mapped in its place.
 *
 * A write may fail, for lack of memory or of descriptors (each write opens a file). Then no later
 * patch of the site that relies on this one goes in or out, and the site is marked: `unwritable`,
 * with some of its patches in, or `stuck`, with some of them still in. Either way the program is
 * right (P4), as long as the fragment stays. */
#include "probe/code/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "probe/code/sites.h"
#include "probe/code/traps.h"
#include "probe/region/layout.h"
#include "process/memory.h"

enum { PAGE = 4096 };

struct change {
	uint64_t pc;
	const struct patch *patch;
	struct site *site;
	bool put;
};

typedef VEC(struct change) change_list;

static int by_pc(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

/* Changes the bytes of a page that was read; false if they are not the expected ones. */
static bool change_bytes(uint8_t *page, uint64_t start, const struct change *c)
{
	uint8_t *at = page + (c->pc - start);
	const struct patch *p = c->patch;
	if (memcmp(at, c->put ? p->original : p->bytes, p->size))
		return false;
	memcpy(at, c->put ? p->bytes : p->original, p->size);
	return true;
}

static void mark_failed(const struct change *changes, uint32_t count, bool gone)
{
	for (uint32_t i = 0; i < count; i++) {
		changes[i].site->unwritable |= changes[i].put;
		changes[i].site->stuck |= !changes[i].put && !gone;
	}
}

/* Whether the page is not mapped any more: then its patches need no undoing. */
static bool is_unmapped(struct target *t, uint64_t page)
{
	uint64_t low, high;
	layout_stack(t, page, &low, &high);
	return !high;
}

/* Applies changes that are all in one page. */
static void change_page(struct target *t, const struct change *changes, uint32_t count)
{
	uint8_t page[PAGE];
	uint64_t start = changes[0].pc & ~(uint64_t)(PAGE - 1);
	bool any = false;
	if (fault("patch-read", EIO) || memory_read(t->pid, start, page, PAGE) != PAGE) {
		mark_failed(changes, count, is_unmapped(t, start));
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		bug_on(changes[i].pc - start + changes[i].patch->size > PAGE, "P4");
		bool done = change_bytes(page, start, &changes[i]);
		any |= done;
		if (!done && changes[i].put)
			changes[i].site->unwritable = true;
	}
	uint64_t low = changes[0].pc;
	uint64_t high = changes[count - 1].pc + changes[count - 1].patch->size;
	if (any && (fault("patch-write", EIO) ||
		    !memory_write(t->pid, low, page + (low - start), (size_t)(high - low))))
		mark_failed(changes, count, false);
}

static void apply(struct target *t, change_list *list)
{
	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_pc);
	for (uint32_t i = 0, next; i < list->len; i = next) {
		uint64_t page = list->data[i].pc / PAGE;
		for (next = i + 1; next < list->len && list->data[next].pc / PAGE == page;)
			next++;
		change_page(t, list->data + i, next - i);
	}
	vec_clear(list);
}

/* PHASE_PLAIN: in any order, page by page. */
static void change_plain(struct target *t, const uint32_t *sites, uint32_t count, bool put)
{
	change_list list = {0};
	for (uint32_t i = 0; i < count; i++) {
		struct site *s = &t->code->sites.data[sites[i]];
		if (!s->address || s->stuck)
			continue;
		vec_each (p, &s->fragment.patches)
			if (p->phase == PHASE_PLAIN)
				vec_push(&list, (struct change){p->va + s->bias, p, s, put});
	}
	apply(t, &list);
	vec_free(&list);
}

static bool has_failed(const struct site *s, bool put)
{
	return put ? s->unwritable : s->stuck;
}

/* PHASE_DEAD: one after the other, in the order of the fragment, or backwards when they are taken
 * out. Each relies on those before it. */
static void change_dead(struct target *t, const uint32_t *sites, uint32_t count, bool put)
{
	for (uint32_t i = 0; i < count; i++) {
		struct site *s = &t->code->sites.data[sites[i]];
		uint32_t many = s->address ? s->fragment.patches.len : 0;
		for (uint32_t k = 0; k < many && !has_failed(s, put); k++) {
			const struct patch *p = &s->fragment.patches.data[put ? k : many - 1 - k];
			if (p->phase == PHASE_DEAD)
				change_page(t, &(struct change){p->va + s->bias, p, s, put}, 1);
		}
	}
}

void patches_undo(struct target *t, const uint32_t *sites, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		t->code->sites.data[sites[i]].stuck = false;
	change_dead(t, sites, count, false);
	change_plain(t, sites, count, false);
	for (uint32_t i = 0; i < count; i++)
		if (!t->code->sites.data[sites[i]].stuck)
			site_forget_journal(t, &t->code->sites.data[sites[i]]);
}

/* Enters the patches in the journal (P1), and the traps in their table (P13). */
static void enter_in_journal(struct target *t, struct site *s)
{
	vec_each (p, &s->fragment.patches) {
		struct rt_header *h = target_header(t);
		uint32_t j =
			t->code->journal_free.len ? vec_pop(&t->code->journal_free) : h->patches++;
		bug_on(j >= RT_PATCHES, "P10");
		struct rt_patch *entry = target_at(t, RT_JOURNAL + j * sizeof(*entry));
		entry->size = p->size;
		memcpy(entry->original, p->original, sizeof(entry->original));
		memcpy(entry->bytes, p->bytes, sizeof(entry->bytes));
		entry->island = p->island ? p->to : 0;
		__atomic_store_n(&entry->pc, p->va + s->bias, __ATOMIC_RELEASE);
		vec_push(&s->journal, j);
	}
	traps_enter(t, s);
}

void patches_put(struct target *t, const uint32_t *sites, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (t->code->sites.data[sites[i]].address)
			enter_in_journal(t, &t->code->sites.data[sites[i]]);
	death_point("announced");
	change_plain(t, sites, count, true);
	change_dead(t, sites, count, true);
}
