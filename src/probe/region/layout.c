#include "probe/region/layout.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/order.h"
#include "patch/pool.h"

static const uint64_t STACK_MAX = UINT64_C(1) << 30; /* for a main thread's stack without a limit */

static bool parse_mapping(const char *line, struct mapping_line *out)
{
	unsigned long long start, end;
	char permissions[8];
	if (sscanf(line, "%llx-%llx %7s", &start, &end, permissions) != 3)
		return false;
	*out = (struct mapping_line){start, end, strchr(permissions, 'x'), strstr(line, "[stack]")};
	return true;
}

static FILE *open_maps(int pid)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return fault("layout-maps", EMFILE) ? NULL : fopen(path, "re");
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
	char line[512];
	struct mapping_line parsed;
	FILE *f = open_maps(pid);
	*m = (struct memory_map){.pid = pid};
	while (f && fgets(line, sizeof(line), f))
		if (parse_mapping(line, &parsed))
			vec_push(&m->lines, parsed);
	if (f)
		fclose(f);
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
	char line[512];
	struct rt_header *h = target_header(t);
	int rc = space_refresh(t->space, e);
	FILE *f = rc ? NULL : open_maps(t->pid);
	h->text_ranges = 0;
	while (f && fgets(line, sizeof(line), f)) {
		struct mapping_line m;
		if (parse_mapping(line, &m) && m.executable && !is_code_memory(t, m.start))
			add_text(h, &m);
	}
	if (f)
		fclose(f);
	return rc;
}

bool layout_read_maps(int pid, struct text *out)
{
	char path[32], buffer[1 << 14];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	int fd = fault("code-maps", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		text_addn(out, buffer, (size_t)n);
	close(fd);
	return n == 0;
}

uint64_t layout_aside(int pid, uint64_t size)
{
	struct text maps = TEXT_INIT;
	uint64_t at = layout_read_maps(pid, &maps) && maps.data ? pool_aside(maps.data, size) : 0;
	text_release(&maps);
	return at;
}
