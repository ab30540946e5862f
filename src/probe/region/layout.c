#include "probe/region/layout.h"

#include <sys/resource.h>

#include "base/fault.h"
#include "base/order.h"
#include "patch/pool.h"
#include "process/maps.h"
#include "process/maps_line.h"

static const uint64_t STACK_MAX = UINT64_C(1) << 30; /* for a main thread's stack without a limit */

static struct mapping_line mapping_of(const struct maps_line *l)
{
	return (struct mapping_line){l->start, l->end, maps_line_is_code(l),
				     maps_line_has_path(l, "[stack]")};
}

bool layout_read_maps(int pid, struct text *out)
{
	return !fault("layout-maps", EMFILE) && maps_read_text(pid, out) && out->len;
}

/* The main thread's stack grows down to its limit, or to the mapping below it. */
static uint64_t lowest_stack(int pid, const struct mapping_line *m, uint64_t below)
{
	struct rlimit limit;
	uint64_t most = STACK_MAX;
	if (!m->stack)
		return m->start;
	if (!prlimit(pid, RLIMIT_STACK, NULL, &limit) && limit.rlim_cur < most)
		most = limit.rlim_cur;
	uint64_t low = m->end - most;
	return low < below ? below : low < m->start ? low : m->start;
}

void memory_map_read(struct memory_map *m, int pid)
{
	struct text text = TEXT_INIT;
	struct maps_line l;
	const char *next = layout_read_maps(pid, &text) ? text.data : "";
	*m = (struct memory_map){.pid = pid};
	while (maps_next_line(&next, &l))
		vec_push(&m->lines, mapping_of(&l));
	text_release(&text);
}

void memory_map_release(struct memory_map *m)
{
	vec_free(&m->lines);
}

void memory_map_stack(const struct memory_map *m, uint64_t sp, uint64_t *low, uint64_t *high)
{
	uint32_t n = ORDER_UP_TO(m->lines.data, m->lines.len, start, sp);
	const struct mapping_line *at = n ? &m->lines.data[n - 1] : NULL;
	*low = *high = 0;
	if (!at || sp >= at->end)
		return;
	*low = lowest_stack(m->pid, at, n > 1 ? at[-1].end : 0);
	*high = at->end;
}

void layout_stack(struct target *t, uint64_t sp, uint64_t *low, uint64_t *high)
{
	struct memory_map m;
	memory_map_read(&m, t->pid);
	memory_map_stack(&m, sp, low, high);
	memory_map_release(&m);
}

static void add_text(struct rt_header *h, const struct mapping_line *m)
{
	uint32_t n = h->text_ranges;
	if (n && h->text[n - 1].end == m->start) {
		h->text[n - 1].end = m->end;
	} else if (n < RT_TEXT_RANGES) {
		h->text[n].start = m->start;
		h->text[n].end = m->end;
		h->text_ranges++;
	} else {
		h->text[n - 1].end = m->end;
	}
}

bool header_has_code(const struct rt_header *h, uint64_t pc)
{
	for (uint32_t i = 0; i < h->code_regions; i++)
		if (pc - h->code[i].start < h->code[i].size)
			return true;
	return false;
}

bool is_code_memory(const struct target *t, uint64_t pc)
{
	return header_has_code(target_header(t), pc);
}

int layout_refresh(struct target *t, struct err *e)
{
	struct text text = TEXT_INIT;
	struct maps_line l;
	struct rt_header *h = target_header(t);
	h->text_ranges = 0;
	if (!layout_read_maps(t->pid, &text)) {
		text_release(&text);
		return err_set(e, ERR_SYSTEM, "the mappings of process %d cannot be read", t->pid);
	}
	const char *next = text.data;
	space_refresh_by(t->space, next);
	while (maps_next_line(&next, &l)) {
		const struct mapping_line m = mapping_of(&l);
		if (m.executable && !is_code_memory(t, m.start))
			add_text(h, &m);
	}
	text_release(&text);
	return 0;
}

uint64_t layout_aside(int pid, uint64_t size)
{
	struct text maps = TEXT_INIT;
	uint64_t at = layout_read_maps(pid, &maps) ? pool_aside(maps.data, size) : 0;
	text_release(&maps);
	return at;
}
