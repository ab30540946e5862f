#include "probe/stop/check.h"

#include <string.h>

#include "base/check.h"
#include "base/order.h"
#include "probe/code/traps.h"
#include "probe/region/layout.h"
#include "process/memory.h"

/* ---- where threads are ---- */

void check_settled(const struct stop *s)
{
	vec_each (w, &s->walks)
		bug_on(w->known && !w->unsettled && is_code_memory(s->target, w->registers.pc),
		       "P8");
}

static void check_not_within(const struct site *s, uint64_t pc)
{
	vec_each (p, &s->next.patches) {
		uint64_t start = p->va + s->bias;
		bug_on(pc > start && pc < start + p->size, "P11");
	}
}

void check_sent(const struct stop *s)
{
	const struct target *t = s->target;
	vec_each (w, &s->walks) {
		struct control_thread *th = control_thread(t->shared->control, w->tid);
		struct registers now;
		if (!w->known || w->unsettled || !th || !control_registers(th, &now))
			continue;
		vec_each (site, &t->code->sites)
			if (site->dirty && site->next_address)
				check_not_within(site, now.pc);
	}
}

/* ---- what the program has ---- */

void check_trap_action(const struct stop *s)
{
	vec_each (site, &s->target->code->sites)
		bug_on(site->dirty && site->next_address && count_traps(&site->next) &&
			       !target_header(s->target)->trap_handler,
		       "P13");
}

void check_permission(const struct stop *s)
{
	const struct target *t = s->target;
	bug_on(t->confinement.guarded && target_header(t)->may & ~t->confinement.permitted, "P12");
}

/* If the page is unmapped or has other bytes by now, the patch is gone. */
static void check_out(int pid, const struct patch *p, uint64_t pc)
{
	uint8_t now[sizeof(p->bytes)];
	bug_on(memory_read(pid, pc, now, p->size) == p->size && !memcmp(now, p->bytes, p->size) &&
		       memcmp(p->bytes, p->original, p->size),
	       "P4");
}

void check_undone(const struct stop *s)
{
	vec_each (site, &s->target->code->sites) {
		if (!site->dirty || !site->address)
			continue;
		bug_on(site->journal.len, "P1");
		vec_each (p, &site->fragment.patches)
			check_out(s->target->pid, p, p->va + site->bias);
	}
}

/* ---- P10: the tables in the program ---- */

static void check_header(const struct target *t)
{
	const struct rt_header *h = target_header(t);
	bug_on(h->magic != RT_MAGIC || h->version != RT_VERSION, "P10");
	bug_on(h->base != t->region.base || h->size != RT_REGION_SIZE, "P10");
	bug_on(h->subjects > t->code->subjects.len || t->code->subjects.len > RT_SUBJECTS, "P10");
	bug_on(h->patches > RT_PATCHES || h->probes > RT_PROBES, "P10");
	bug_on(h->threads > RT_AREAS || h->code_regions > RT_CODE_REGIONS, "P10");
	bug_on(t->region.counters > t->code->counters_reserved, "P10");
	bug_on(t->code->counters_reserved > RT_COUNTERS || t->code->traps.entries > RT_TRAPS,
	       "P10");
}

void check_areas(const struct stop *stop)
{
	const struct target *t = stop->target;
	for (uint32_t i = 0; i < RT_AREAS; i++) {
		const struct thread_slot *s = &t->slots[i];
		if (!s->tid)
			continue;
		bug_on(i >= target_header(t)->threads, "P10");
		bug_on(target_area(t, i)->tid != (uint32_t)s->tid, "P10");
		for (uint32_t k = 0; k < i; k++)
			bug_on(t->slots[k].tid == s->tid, "P10");
	}
}

/* Marks an entry of a table, which must have no other owner. */
static void claim(uint8_t *taken, uint32_t count, uint32_t number, uint32_t *claimed)
{
	bug_on(number >= count || taken[number], "P10");
	taken[number] = 1;
	++*claimed;
}

/* P1: each patch has its entry, with the same bytes. */
static void check_entry(const struct target *t, const struct patch *p, uint64_t pc, uint32_t number)
{
	const struct rt_patch *j = target_at(t, RT_JOURNAL + number * sizeof(*j));
	bug_on(j->pc != pc || j->size != p->size, "P1");
	bug_on(memcmp(j->original, p->original, p->size) != 0, "P1");
	bug_on(memcmp(j->bytes, p->bytes, p->size) != 0, "P1");
}

void check_journal(const struct stop *stop)
{
	const struct target *t = stop->target;
	uint32_t count = target_header(t)->patches, claimed = 0;
	uint8_t *taken = xcalloc(count, 1);
	vec_each (j, &t->code->journal_free)
		claim(taken, count, *j, &claimed);
	vec_each (s, &t->code->sites) {
		bug_on(s->address && s->journal.len != s->fragment.patches.len, "P1");
		bug_on(!s->address && s->journal.len, "P1");
		for (uint32_t i = 0; i < s->journal.len; i++) {
			const struct patch *p = &s->fragment.patches.data[i];
			claim(taken, count, s->journal.data[i], &claimed);
			check_entry(t, p, p->va + s->bias, s->journal.data[i]);
		}
	}
	bug_on(claimed != count, "P10");
	free(taken);
}

void check_probes(const struct stop *stop)
{
	const struct target *t = stop->target;
	uint32_t count = target_header(t)->probes, claimed = 0;
	uint8_t *taken = xcalloc(count, 1);
	vec_each (p, &t->code->probe_free)
		claim(taken, count, *p, &claimed);
	vec_each (p, &t->code->probe_retired)
		claim(taken, count, *p, &claimed);
	vec_each (s, &t->code->subjects)
		vec_each (p, &s->probes)
			claim(taken, count, *p, &claimed);
	bug_on(claimed != count, "P10");
	free(taken);
}

/* ---- P9: code memory ---- */

enum piece_use { PIECE_FREE, PIECE_USED };

struct memory_piece {
	uint64_t start, end;
	enum piece_use use;
};
typedef VEC(struct memory_piece) piece_list;

static void add_used(piece_list *out, uint64_t start, uint64_t size)
{
	uint64_t end = start + ((size + 15) & ~UINT64_C(15));
	if (start)
		vec_push(out, (struct memory_piece){start, end, PIECE_USED});
}

/* All of code memory, ascending. */
static void find_pieces(const struct target *t, piece_list *out)
{
	vec_each (r, &t->code->pool.regions)
		vec_each (f, &r->free)
			vec_push(out, (struct memory_piece){f->start, f->end, PIECE_FREE});
	vec_each (s, &t->code->sites) {
		add_used(out, s->address, s->room);
		add_used(out, s->next_address, s->next_room);
	}
	vec_each (r, &t->code->retired)
		add_used(out, r->start, r->size);
	order_by_address(out->data, out->len, sizeof(*out->data),
			 offsetof(struct memory_piece, start));
}

static bool is_mapped(const struct rt_header *h, const struct pool_region *r)
{
	for (uint32_t i = RT_FIRST_FRAGMENTS; i < h->code_regions; i++)
		if (r->start >= h->code[i].start && r->end - h->code[i].start <= h->code[i].size)
			return true;
	return false;
}

/* Used pieces are within the regions, do not overlap and are not free. Every byte of a region is in
 * a piece. */
static void check_pieces(const struct target *t, const piece_list *pieces)
{
	uint64_t size = 0, held = 0;
	vec_each (r, &t->code->pool.regions) {
		bug_on(r->start >= r->end || !is_mapped(target_header(t), r), "P9");
		size += r->end - r->start;
		vec_each (p, pieces) {
			bool in = p->start >= r->start && p->start < r->end;
			bug_on(in && p->end > r->end, "P9");
			held += in ? p->end - p->start : 0;
		}
	}
	for (uint32_t i = 1; i < pieces->len; i++)
		bug_on(pieces->data[i - 1].end > pieces->data[i].start, "P9");
	bug_on(held != size, "P9");
}

/* P3: no thread is in memory that is free. */
static void check_threads(const struct target *t, const piece_list *pieces)
{
	struct control_thread *threads[RT_AREAS];
	uint32_t count = control_users(t->shared->control, t->pid, threads, RT_AREAS);
	for (uint32_t i = 0; i < count && i < RT_AREAS; i++) {
		struct registers r;
		if (!threads[i]->stopped || !control_registers(threads[i], &r))
			continue;
		uint32_t n = ORDER_UP_TO(pieces->data, pieces->len, start, r.pc);
		const struct memory_piece *p = n ? &pieces->data[n - 1] : NULL;
		bug_on(p && r.pc < p->end && p->use == PIECE_FREE, "P3");
	}
}

static void check_code_memory(const struct target *t, bool clean)
{
	piece_list pieces = {0};
	find_pieces(t, &pieces);
	check_pieces(t, &pieces);
	if (clean)
		check_threads(t, &pieces);
	vec_free(&pieces);
}

void check_memory(const struct stop *s)
{
	check_code_memory(s->target, false);
}

void check_all(const struct stop *s)
{
	check_header(s->target);
	check_areas(s);
	check_journal(s);
	check_probes(s);
	check_permission(s);
	check_code_memory(s->target, s->clean);
}
