/* What a sonde that was killed left in a program: its patches are taken out by its journal, which
 * is in the program's memory, and its memory is given back if no thread is in it. A patch that
 * cannot be taken out keeps the memory that it leads to, and the journal, for the next sonde. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/order.h"
#include "probe/target.h"
#include "process/memory.h"

enum {
	REGIONS = 16,
	RUN_NS = 50000, /* at first, and more each time */
	RUN_MOST_NS = 1000000,
	GIVE_UP_NS = 500000000, /* on a busy machine a thread may get no processor for a while */
	/* One that waits in a system call in there may not come out soon, and the others stand
	 * still meanwhile: it is tried again when we leave. */
	WAITING_TRIES = 16,
};

/* The mappings of such regions. There may be several: one that a thread was in when the next sonde
 * came, who was killed as well. */
static int find_regions(int pid, uint64_t starts[REGIONS], uint32_t *count, struct err *e)
{
	char path[32], line[512];
	*count = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fault("heal-maps", EMFILE) ? NULL : fopen(path, "re");
	if (!f)
		return err_errno(e, "%s cannot be read", path);
	while (*count < REGIONS && fgets(line, sizeof(line), f)) {
		unsigned long long from;
		if (strstr(line, "/memfd:" RT_NAME " ") && sscanf(line, "%llx-", &from) == 1)
			starts[(*count)++] = from;
	}
	fclose(f);
	return 0;
}

static bool read_at(int pid, uint64_t address, void *out, size_t n)
{
	return memory_read(pid, address, out, n) == n;
}

static bool is_understood(const struct rt_header *h)
{
	return h->version == RT_VERSION && h->patches <= RT_PATCHES &&
	       h->code_regions <= RT_CODE_REGIONS;
}

/* Where something else is by now, nothing is left of it. */
static bool restore(int pid, const struct rt_patch *p)
{
	uint8_t now[sizeof(p->bytes)];
	if (!p->pc || p->size > sizeof(now) || !read_at(pid, p->pc, now, p->size) ||
	    memcmp(now, p->bytes, p->size))
		return true;
	return !fault("heal-write", EIO) && memory_write(pid, p->pc, p->original, p->size);
}

/* Last in, first out: see patch/fragment.h on the order of patches. Returns how many stay: one that
 * cannot be taken out, and all that were there before it. */
static uint32_t restore_all(int pid, uint64_t region, uint32_t count)
{
	struct rt_patch p;
	for (; count > 0; count--)
		if (!read_at(pid, region + RT_JOURNAL + (count - 1) * sizeof(p), &p, sizeof(p)) ||
		    !restore(pid, &p))
			break;
	return count;
}

/* What is done is done: if the region has to stay, it must not be done again. */
static void shorten_journal(int pid, uint64_t region, uint32_t count)
{
	memory_write(pid, region + offsetof(struct rt_header, patches), &count, sizeof(count));
}

typedef bool (*thread_check)(struct target *t, struct control_thread *th, const void *ctx);

/* Lets the threads run on that `is_in`, until none is. */
static bool run_out(struct target *t, thread_check is_in, const void *ctx)
{
	struct control_thread *threads[RT_AREAS];
	int tids[RT_AREAS];
	uint64_t ns = RUN_NS, end = now_ns() + GIVE_UP_NS;
	for (unsigned tries = 0;; tries++) {
		uint32_t inside = 0, waiting = 0;
		uint32_t count = control_users(t->engine->control, t->pid, threads, RT_AREAS);
		for (uint32_t k = 0; k < count && k < RT_AREAS; k++) {
			if (!is_in(t, threads[k], ctx))
				continue;
			waiting += threads[k]->in_call;
			tids[inside++] = threads[k]->tracee.tid;
		}
		if (!inside)
			return count <= RT_AREAS;
		if ((waiting == inside && tries >= WAITING_TRIES) || now_ns() >= end)
			return false;
		control_run_on(t->engine->control, tids, inside, ns);
		ns = ns < RUN_MOST_NS ? ns + ns / 4 : RUN_MOST_NS;
	}
}

/* In the code that nobody needs any more. */
static bool is_in_code(struct target *t, struct control_thread *th, const void *header)
{
	return thread_is_in(t, th, header);
}

struct island {
	uint64_t pc, to;
};
typedef VEC(struct island) island_list; /* ascending */

static const struct island *find_island(const island_list *list, uint64_t pc)
{
	uint32_t n = ORDER_UP_TO(list->data, list->len, pc, pc);
	return n && list->data[n - 1].pc == pc ? &list->data[n - 1] : NULL;
}

static bool is_island(void *list, uint64_t word)
{
	return find_island(list, word);
}

/* Sends it on if it stands on one. Whether a signal handler comes back to one, as far as that can
 * be seen. */
static bool comes_back_to_island(struct target *t, struct control_thread *th, const void *islands)
{
	struct registers r;
	if (!th->stopped || !control_registers(th, &r))
		return false;
	const struct island *at = find_island(islands, r.pc);
	if (at)
		control_set_pc(th, at->to);
	return stack_has(t, r.reg[t->engine->arch->sp], is_island, (void *)(uintptr_t)islands);
}

/* Without their patches, they are the middle of something else. */
static bool leave_islands(struct target *t, uint64_t region, uint32_t count)
{
	struct rt_patch p;
	island_list list = {0};
	for (uint32_t i = 0; i < count; i++)
		if (read_at(t->pid, region + RT_JOURNAL + i * sizeof(p), &p, sizeof(p)) && p.pc &&
		    p.island)
			vec_push(&list, (struct island){p.pc, p.island});
	order_by_address(list.data, list.len, sizeof(*list.data), offsetof(struct island, pc));
	bool left = !list.len || run_out(t, comes_back_to_island, &list);
	vec_free(&list);
	return left;
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

static int heal_region(struct target *t, uint64_t region, struct err *e)
{
	struct rt_header h;
	if (!read_at(t->pid, region, &h, sizeof(h)) || h.magic != RT_MAGIC)
		return 0;
	if (!is_understood(&h))
		return err_set(e, ERR_UNSUPPORTED,
			       "another version of sonde was killed while it probed process %d; "
			       "only that version can take out what it left",
			       t->pid);
	debug(LOG_PROBE, 1, "process %d: taking out %u patches of an earlier sonde", t->pid,
	      h.patches);
	if (!leave_islands(t, region, h.patches))
		return err_set(e, ERR_SYSTEM,
			       "process %d stands where a sonde that was killed left a jump; "
			       "try again",
			       t->pid);
	uint32_t left = restore_all(t->pid, region, h.patches);
	/* A child that sees its parent's region may have patches that its parent has lost since,
	 * and the memory that those lead to. */
	bool owned = h.pid == (uint32_t)t->pid;
	if (owned)
		shorten_journal(t->pid, region, left);
	if (left)
		return err_set(e, ERR_SYSTEM,
			       "%u jumps that a sonde that was killed left in process %d cannot be "
			       "taken out; they do no harm",
			       left, t->pid);
	if (!owned)
		return 0;
	if (!run_out(t, is_in_code, &h)) {
		t->unhealed = true;
		debug(LOG_PROBE, 1, "process %d: a thread stays in code of an earlier sonde",
		      t->pid);
		return 0;
	}
	forget_passed(t, region);
	give_back(t, region, &h);
	return 0;
}

int heal(struct target *t, struct err *e)
{
	struct err ignored;
	uint64_t regions[REGIONS];
	uint32_t count;
	int rc = find_regions(t->pid, regions, &count, e);
	t->unhealed = false;
	if (!rc && count)
		space_refresh(t->space, &ignored);
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = heal_region(t, regions[i], e);
	return rc;
}
