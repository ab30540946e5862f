/* What a sonde that was killed left in a program: its patches are taken out by its journal, which
 * is in the program's memory, and its memory is given back if no thread is in it. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "probe/target.h"
#include "process/memory.h"

enum { TRIES = 200, RUN_NS = 50000, REGIONS = 16 };

/* The mappings of such regions. There may be several: one that a thread was in when the next sonde
 * came, who was killed as well. */
static uint32_t find_regions(int pid, uint64_t starts[REGIONS])
{
	char path[32], line[512];
	uint32_t count = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && count < REGIONS && fgets(line, sizeof(line), f)) {
		unsigned long long from;
		if (strstr(line, "/memfd:" RT_NAME " ") && sscanf(line, "%llx-", &from) == 1)
			starts[count++] = from;
	}
	if (f)
		fclose(f);
	return count;
}

static bool read_at(int pid, uint64_t address, void *out, size_t n)
{
	return memory_read(pid, address, out, n) == n;
}

static bool is_left_over(int pid, uint64_t region, struct rt_header *h)
{
	return read_at(pid, region, h, sizeof(*h)) && h->magic == RT_MAGIC &&
	       h->version == RT_VERSION && h->patches <= RT_PATCHES &&
	       h->code_regions <= RT_CODE_REGIONS;
}

static void restore(int pid, const struct rt_patch *p)
{
	uint8_t now[sizeof(p->bytes)];
	if (!p->pc || p->size > sizeof(now) || !read_at(pid, p->pc, now, p->size) ||
	    memcmp(now, p->bytes, p->size))
		return;
	memory_write(pid, p->pc, p->original, p->size);
}

/* Last in, first out: see patch/fragment.h on the order of patches. What is done is done: if the
 * region has to stay, the journal must not be used again. */
static void restore_all(int pid, uint64_t region, uint32_t count)
{
	struct rt_patch p;
	uint32_t none = 0;
	while (count-- > 0)
		if (read_at(pid, region + RT_JOURNAL + count * sizeof(p), &p, sizeof(p)))
			restore(pid, &p);
	memory_write(pid, region + offsetof(struct rt_header, patches), &none, sizeof(none));
}

/* Lets the threads run on until they are out of the code that nobody needs any more. */
static bool run_out(struct target *t, const struct rt_header *h)
{
	struct control_thread *threads[RT_AREAS];
	int tids[RT_AREAS];
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t inside = 0;
		uint32_t count = control_users(t->engine->control, t->pid, threads, RT_AREAS);
		for (uint32_t k = 0; k < count && k < RT_AREAS; k++)
			if (thread_is_in(t, threads[k], h))
				tids[inside++] = threads[k]->tracee.tid;
		if (!inside)
			return count <= RT_AREAS;
		control_run_on(t->engine->control, tids, inside, RUN_NS);
	}
	return false;
}

/* Each piece is struck off the list before it goes: if we are killed then, and something else gets
 * the place, the next one must not take it for ours. */
static void give_back(struct target *t, uint64_t region, struct rt_header *h)
{
	struct remote_slack s;
	struct control *c = t->engine->control;
	struct err ignored;
	uint64_t text;
	int64_t result;
	if (remote_enter(&s, c, t->pid, "", &text, &ignored))
		return;
	traps_set_default(&s, c, region, h->trap_handler);
	for (uint32_t i = 0; i < h->code_regions; i++) {
		uint64_t size = h->code[i].size;
		h->code[i].size = 0;
		memory_write(t->pid, region + offsetof(struct rt_header, code), h->code,
			     sizeof(h->code));
		if (size)
			remote_call(c, s.thread, &s.place, SYS_munmap,
				    (uint64_t[6]){h->code[i].start, size}, &result, &ignored);
	}
	remote_call(c, s.thread, &s.place, SYS_munmap, (uint64_t[6]){region, RT_REGION_SIZE},
		    &result, &ignored);
	remote_leave(&s);
}

static void heal_region(struct target *t, uint64_t region)
{
	struct rt_header h;
	if (!is_left_over(t->pid, region, &h))
		return;
	debug(LOG_PROBE, 1, "process %d: taking out %u patches of an earlier sonde", t->pid,
	      h.patches);
	restore_all(t->pid, region, h.patches);
	if (!run_out(t, &h))
		return;
	forget_passed(t, region);
	give_back(t, region, &h);
}

void heal(struct target *t)
{
	struct err ignored;
	uint64_t regions[REGIONS];
	uint32_t count = find_regions(t->pid, regions);
	if (count)
		space_refresh(t->space, &ignored);
	for (uint32_t i = 0; i < count; i++)
		heal_region(t, regions[i]);
}
