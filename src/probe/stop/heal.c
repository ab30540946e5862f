/* Removes what a sonde left in a program when it was killed. Its patches are taken out by means of
 * its journal, which is in the program's memory. Its memory is given back if no thread is in it. A
 * patch that cannot be taken out keeps the memory that it leads to, and the journal, for the next
 * sonde. */
#include "probe/stop/heal.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/order.h"
#include "probe/region/trap_action.h"
#include "probe/stop/where.h"
#include "process/maps.h"
#include "process/maps_line.h"
#include "process/memory.h"

enum {
	REGIONS_MAX = 16,
	FIRST_RUN_NS = 50000, /* the first run; later ones are longer */
	LONGEST_RUN_NS = 1000000,
	GIVE_UP_NS = 500000000, /* on a busy machine a thread may not get a CPU for a while */
	/* A thread in a system call there may not get out soon, and the other threads stand still
	 * in the meantime. So heal() is called again when we leave. */
	BLOCKED_TRIES = 16,
};

/* Finds the regions that killed sondes left. There may be several: if a thread was still in a
 * region when the next sonde attached, the region stayed, and that sonde may have been killed as
 * well. */
static int find_regions(int pid, uint64_t starts[REGIONS_MAX], uint32_t *count, struct err *e)
{
	static const char name[] = "/memfd:" RT_NAME " ";
	struct text text = TEXT_INIT;
	struct maps_line l;
	bool ok = !fault("heal-maps", EMFILE) && maps_read_text(pid, &text);
	const char *next = ok && text.data ? text.data : "";
	*count = 0;
	while (*count < REGIONS_MAX && maps_next_line(&next, &l))
		if (l.path_length >= sizeof(name) - 1 && !strncmp(l.path, name, sizeof(name) - 1))
			starts[(*count)++] = l.start;
	int rc = ok ? 0 : err_errno(e, "the mappings of process %d cannot be read", pid);
	text_release(&text);
	return rc;
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

/* Restores the original bytes. If the program has other bytes there, the patch is gone already.
 * Returns false if the patch remains. */
static bool restore(int pid, const struct rt_patch *p)
{
	uint8_t now[sizeof(p->bytes)];
	if (!p->pc || p->size > sizeof(now) || !read_at(pid, p->pc, now, p->size) ||
	    memcmp(now, p->bytes, p->size))
		return true;
	return !fault("heal-write", EIO) && memory_write(pid, p->pc, p->original, p->size);
}

/* Takes the patches out, last in, first out: see patch/fragment.h on their order. Returns how many
 * remain: the first one that cannot be taken out, and all those before it in the journal. */
static uint32_t restore_all(int pid, uint64_t region, uint32_t count)
{
	struct rt_patch p;
	for (; count > 0; count--)
		if (!read_at(pid, region + RT_JOURNAL + (count - 1) * sizeof(p), &p, sizeof(p)) ||
		    !restore(pid, &p))
			break;
	return count;
}

/* Removes patches that are out from the journal: if the region has to stay, nobody must take them
 * out again. */
static void shorten_journal(int pid, uint64_t region, uint32_t count)
{
	memory_write(pid, region + offsetof(struct rt_header, patches), &count, sizeof(count));
}

typedef bool (*thread_check)(struct target *t, struct control_thread *th, const void *ctx);

/* Lets the threads run for which `is_in` returns true, until there are none. Returns false if some
 * do not get out. */
static bool run_until_out(struct target *t, thread_check is_in, const void *ctx)
{
	struct control_thread *threads[RT_AREAS];
	int tids[RT_AREAS];
	uint64_t ns = FIRST_RUN_NS, end = now_ns() + GIVE_UP_NS;
	for (unsigned tries = 0;; tries++) {
		uint32_t inside = 0, waiting = 0;
		uint32_t count = control_users(t->shared->control, t->pid, threads, RT_AREAS);
		for (uint32_t k = 0; k < count && k < RT_AREAS; k++) {
			if (!is_in(t, threads[k], ctx))
				continue;
			waiting += threads[k]->in_call;
			tids[inside++] = threads[k]->tracee.tid;
		}
		if (!inside)
			return count <= RT_AREAS;
		if ((waiting == inside && tries >= BLOCKED_TRIES) || now_ns() >= end)
			return false;
		control_run_on(t->shared->control, tids, inside, ns);
		ns = ns < LONGEST_RUN_NS ? ns + ns / 4 : LONGEST_RUN_NS;
	}
}

/* Whether the thread is in the code that is to be given back. */
static bool is_in_code(struct target *t, struct control_thread *th, const void *header)
{
	return thread_is_in(t, th, header);
}

struct left_island {
	uint64_t pc, to;
};
typedef VEC(struct left_island) island_list; /* ascending by pc */

static const struct left_island *find_island(const island_list *list, uint64_t pc)
{
	uint32_t n = ORDER_UP_TO(list->data, list->len, pc, pc);
	return n && list->data[n - 1].pc == pc ? &list->data[n - 1] : NULL;
}

static bool is_island(void *list, uint64_t word)
{
	return find_island(list, word);
}

/* Moves the thread on if it is at an island. Returns whether a signal handler will return to one,
 * as far as that can be seen on the stack. */
static bool will_return_to_island(struct target *t, struct control_thread *th, const void *islands)
{
	struct registers r;
	if (!th->stopped || !control_registers(th, &r))
		return false;
	const struct left_island *at = find_island(islands, r.pc);
	if (at)
		control_set_pc(th, at->to);
	return stack_has(t, r.reg[t->shared->arch->sp], is_island, (void *)(uintptr_t)islands);
}

/* Gets all threads off the islands: without their patches, these are the middle of other code. */
static bool leave_islands(struct target *t, uint64_t region, uint32_t count)
{
	struct rt_patch p;
	island_list list = {0};
	for (uint32_t i = 0; i < count; i++)
		if (read_at(t->pid, region + RT_JOURNAL + i * sizeof(p), &p, sizeof(p)) && p.pc &&
		    p.island)
			vec_push(&list, (struct left_island){p.pc, p.island});
	order_by_address(list.data, list.len, sizeof(*list.data), offsetof(struct left_island, pc));
	bool left = !list.len || run_until_out(t, will_return_to_island, &list);
	vec_free(&list);
	return left;
}

/* Each piece is removed from the list before it is unmapped. Otherwise, if we were killed in
 * between and the program mapped something else there, the next sonde would take that for ours
 * (P6). */
static void unmap_all(struct target *t, uint64_t region, struct rt_header *h)
{
	struct remote_slack s;
	struct control *c = t->shared->control;
	struct err ignored;
	uint64_t text;
	int64_t result;
	if (remote_enter(&s, c, t->pid, "", &text, &ignored))
		return;
	trap_action_remove(&s, c, region, h->trap_handler);
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
			       "only that version can remove its probes",
			       t->pid);
	debug(LOG_PROBE, 1, "process %d: taking out %u patches of an earlier sonde", t->pid,
	      h.patches);
	if (!leave_islands(t, region, h.patches))
		return err_set(e, ERR_SYSTEM,
			       "process %d is at a jump that a killed sonde left; try again",
			       t->pid);
	uint32_t left = restore_all(t->pid, region, h.patches);
	/* A forked child may see its parent's region. The child may have patches that the parent
	 * has lost since then, and the memory that they lead to. So neither the journal nor the
	 * memory is touched in that case. */
	bool owned = h.pid == (uint32_t)t->pid;
	if (owned)
		shorten_journal(t->pid, region, left);
	if (left)
		return err_set(e, ERR_SYSTEM,
			       "%u jumps that a killed sonde left in process %d cannot be removed; "
			       "they do no harm",
			       left, t->pid);
	if (!owned)
		return 0;
	if (!run_until_out(t, is_in_code, &h)) {
		t->unhealed = true;
		debug(LOG_PROBE, 1, "process %d: a thread stays in code of an earlier sonde",
		      t->pid);
		return 0;
	}
	clear_passed_registers(t, region);
	unmap_all(t, region, &h);
	return 0;
}

int heal(struct target *t, struct err *e)
{
	struct err ignored;
	uint64_t regions[REGIONS_MAX];
	uint32_t count;
	int rc = find_regions(t->pid, regions, &count, e);
	t->unhealed = false;
	if (!rc && count)
		space_refresh(t->space, &ignored);
	for (uint32_t i = 0; i < count && !rc; i++)
		rc = heal_region(t, regions[i], e);
	return rc;
}
