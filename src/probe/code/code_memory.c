/* Memory for fragments: in the program, near the code they replace, executable and never writable
 * there. */
#include "probe/code/code_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "probe/code/moved.h"
#include "probe/region/caller.h"
#include "probe/region/layout.h"

enum {
	REGION_MIN = 1 << 20,
	PROBED_SIZE = 512,   /* average size of a fragment with some probes */
	COUNTED_SIZE = 2048, /* average size of a fragment that counts the whole function */
};

/* Returns where the header has the size of the code region at `start`. A region that starts where
 * another one ends extends that one by a single store, so that readers see the old size or the new
 * one. NULL: there is no room for another region in the header. */
static uint64_t *region_entry(struct rt_header *h, uint64_t start)
{
	for (uint32_t i = RT_FIRST_FRAGMENTS; i < h->code_regions; i++)
		if (h->code[i].start + h->code[i].size == start)
			return &h->code[i].size;
	if (h->code_regions == RT_CODE_REGIONS)
		return NULL;
	h->code[h->code_regions].start = start;
	h->code[h->code_regions].size = 0;
	__atomic_store_n(&h->code_regions, h->code_regions + 1, __ATOMIC_RELEASE);
	return &h->code[h->code_regions - 1].size;
}

static int map_region(struct target *t, uint64_t start, uint64_t size, struct err *e)
{
	int64_t at;
	uint64_t *known = region_entry(target_header(t), start);
	if (!known)
		return 0;
	bool was_stopped = t->stopped;
	int rc = was_stopped ? 0 : target_stop(t, e);
	if (rc)
		return rc;
	rc = target_call(t, SYS_mmap,
			 (uint64_t[6]){start, size, PROT_READ | PROT_EXEC,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
				       UINT64_MAX, 0},
			 &at, e);
	if (!was_stopped)
		control_resume(t->shared->control, t->pid);
	if (rc)
		return rc;
	target_changing(t);
	__atomic_store_n(known, *known + size, __ATOMIC_RELEASE);
	pool_add(&t->code->pool, start, size);
	return 0;
}

/* The range of run-time addresses at which the function may have patches. */
static void find_extent(const struct site *site, uint64_t *low, uint64_t *high)
{
	uint32_t count;
	const struct function *p = &flow_functions(site->code->flow, &count)[site_function(site)];
	const struct part *parts = flow_parts(site->code->flow) + p->first_part;
	*low = p->start;
	*high = p->end;
	for (uint32_t i = 0; i < p->part_count; i++) {
		*low = parts[i].start < *low ? parts[i].start : *low;
		*high = parts[i].end > *high ? parts[i].end : *high;
	}
	*low += site->bias;
	*high += site->bias;
}

/* The size of a new region: enough for all functions of the module that change now, so that whole
 * programs need few regions. */
static uint64_t region_size(const struct target *t, const struct site *site)
{
	uint64_t dirty = 0;
	vec_each (s, &t->code->sites)
		dirty += s->dirty && s->code == site->code;
	uint64_t size = site->next_room + dirty * (site->counted ? COUNTED_SIZE : PROBED_SIZE);
	return whole_pages(size < REGION_MIN ? REGION_MIN : size);
}

/* Finds the largest gap for a region; 0: none is large enough. */
static uint64_t find_region(const struct target *t, const struct site *site, uint64_t low,
			    uint64_t high, uint64_t *start)
{
	const struct pool_need need = {.low = low,
				       .high = high,
				       .reach = t->shared->arch->emit->jump_reach,
				       .least = whole_pages(site->next_room),
				       .most = region_size(t, site)};
	struct text maps = TEXT_INIT;
	uint64_t size = 0;
	if (layout_read_maps(t->pid, &maps))
		size = pool_find_gap(maps.data, process_heap(t->pid), &need, start);
	text_release(&maps);
	return size;
}

int code_memory_take(struct target *t, struct site *site, bool *taken, struct err *e)
{
	uint64_t low, high, start, reach = t->shared->arch->emit->jump_reach;
	find_extent(site, &low, &high);
	*taken = !fault("code-room", ENOMEM) &&
		 pool_take(&t->code->pool, low, high, reach, site->next_room, &site->next_address);
	uint64_t size = *taken ? 0 : find_region(t, site, low, high, &start);
	if (!size)
		return 0;
	int rc = map_region(t, start, size, e);
	*taken = !rc &&
		 pool_take(&t->code->pool, low, high, reach, site->next_room, &site->next_address);
	return rc;
}

void code_memory_drop_next(struct target *t, struct site *site)
{
	if (site->next_address)
		pool_give(&t->code->pool, site->next_address, site->next_room);
	site->next_address = 0;
	site->next_room = 0;
	fragment_release(&site->next);
}

/* Gives back the room that the fragment does not need. */
void code_memory_trim_next(struct target *t, struct site *site)
{
	uint32_t used = (site->next.size + 15) & ~15u;
	if (used >= site->next_room)
		return;
	pool_give(&t->code->pool, site->next_address + used, site->next_room - used);
	site->next_room = used;
}

void code_memory_retire(struct target *t, struct site *site)
{
	if (site->address)
		vec_push(&t->code->retired,
			 (struct retired){.start = site->address,
					  .size = site->room,
					  .fragment = site->fragment,
					  .bias = site->bias,
					  .site = (uint32_t)(site - t->code->sites.data)});
	site->fragment = (struct fragment){0};
	site->address = 0;
	site->room = 0;
	moved_code_changed(t);
}

void code_memory_reclaim(struct target *t)
{
	vec_each (r, &t->code->retired) {
		pool_give(&t->code->pool, r->start, r->size);
		fragment_release(&r->fragment);
	}
	vec_clear(&t->code->retired);
	moved_code_changed(t);
}
