/* Traps: the last resort, where there is no room for a jump.
 *
 * A thread that executes a trap gets SIGTRAP. As long as Sonde is alive, it sees the signal first,
 * moves the thread to the fragment and suppresses the signal: the program does not notice. After
 * Sonde's death, the runtime's handler does the same (runtime/trap.c). So, before the first trap
 * goes in:
 *
 * - All traps are in the runtime's table.
 * - The action of SIGTRAP is the runtime's handler. The header says that it is ours before it is
 *   installed.
 *
 * The kernel kills a program that traps while it blocks or ignores SIGTRAP, and a program that has
 * a handler of its own would get signals it does not expect. So traps are not used in these
 * programs. They are not used in the C library either, which blocks all signals for short times.
 *
 * A thread may be stopped between a trap and its signal. Its pc is not final yet, so settle.c lets
 * it run on for a moment. If it still has not got the signal, the trap's entry is kept, and so is
 * the fragment that it leads to. */
#include "probe/code/traps.h"

#include <signal.h>

#include "base/log.h"
#include "probe/code/rendezvous.h"
#include "probe/region/modules.h"
#include "probe/region/trap_action.h"

/* Limits for the runtime's table, a hash table that must not become too full. If it would have
 * PLANNED_MAX entries, no further site gets traps. The last site may exceed that limit, but nothing
 * goes in beyond ENTRIES_MAX. */
enum { PLANNED_MAX = RT_TRAPS / 2, ENTRIES_MAX = RT_TRAPS / 4 * 3 };

/* ---- whether they are possible ---- */

static bool is_sigtrap_withheld(const struct target *t)
{
	tid_list tids = {0};
	struct err ignored;
	bool withheld = threads_list(t->pid, &tids, &ignored) < 0;
	vec_each (tid, &tids)
		withheld |= thread_withholds(*tid, SIGTRAP);
	vec_free(&tids);
	return withheld;
}

/* Requires a dynamic linker: a static program contains the C library. */
static bool are_traps_safe(const struct target *t)
{
	bool ours = target_header(t)->trap_handler;
	return !t->code->traps.spoilt && !t->shadow_stack && rendezvous_comes(t) &&
	       !is_sigtrap_withheld(t) && thread_catches(t->pid, SIGTRAP) == ours;
}

static bool is_c_library(const struct code *code)
{
	return module_find_symbol(code->module, "sigprocmask") ||
	       module_find_symbol(code->module, "_dl_debug_state");
}

bool traps_possible(struct target *t, const struct site *s)
{
	if (!t->code->traps.asked)
		t->code->traps.possible = are_traps_safe(t);
	t->code->traps.asked = true;
	return t->code->traps.possible &&
	       t->code->traps.entries + t->code->traps.planned < PLANNED_MAX &&
	       !is_c_library(s->code);
}

uint32_t count_traps(const struct fragment *f)
{
	uint32_t count = 0;
	vec_each (p, &f->patches)
		count += p->trap;
	return count;
}

/* The handler may be gone: the kernel resets it when a thread that blocks SIGTRAP traps, or the
 * program has changed it. */
void traps_look(struct target *t)
{
	struct rt_header *h = target_header(t);
	t->code->traps.asked = false;
	t->code->traps.planned = 0;
	if (!h->trap_handler || thread_catches(t->pid, SIGTRAP))
		return;
	debug(LOG_PROBE, 1, "process %d: the action of SIGTRAP is not ours any more", t->pid);
	h->trap_handler = 0;
	t->code->traps.spoilt = true;
	vec_each (s, &t->code->sites)
		s->dirty |= s->address && count_traps(&s->fragment);
}

bool traps_ready(struct target *t, const uint32_t *sites, uint32_t count)
{
	uint32_t traps = 0;
	for (uint32_t i = 0; i < count; i++)
		traps += count_traps(&t->code->sites.data[sites[i]].next);
	if (!traps)
		return true;
	return t->code->traps.entries + traps <= ENTRIES_MAX &&
	       (target_header(t)->trap_handler || trap_action_install(t));
}

/* ---- the table ---- */

static struct rt_trap *entry(const struct target *t, uint32_t i)
{
	return (struct rt_trap *)target_at(t, RT_TRAP_TABLE) + i % RT_TRAPS;
}

/* The entry of pc, or a free one for it; NULL if the table is full. */
static struct rt_trap *find_entry(const struct target *t, uint64_t pc)
{
	struct rt_trap *removed = NULL;
	uint32_t home = rt_trap_home(pc);
	for (uint32_t i = 0; i < RT_TRAPS; i++) {
		struct rt_trap *e = entry(t, home + i);
		if (e->pc == pc)
			return e;
		if (!e->pc)
			return removed ? removed : e;
		if (!e->to && !removed)
			removed = e;
	}
	return removed;
}

/* Between the two stores the entry leads nowhere, which does no harm: its trap is not in yet. */
void traps_enter(struct target *t, const struct site *s)
{
	vec_each (p, &s->fragment.patches) {
		struct rt_trap *e = p->trap ? find_entry(t, p->va + s->bias) : NULL;
		if (!e)
			continue;
		t->code->traps.entries += !e->to;
		if (e->pc != p->va + s->bias)
			__atomic_store_n(&e->pc, p->va + s->bias, __ATOMIC_RELEASE);
		__atomic_store_n(&e->to, p->to, __ATOMIC_RELEASE);
	}
}

/* Makes removed entries free again where no entry follows. */
static void free_removed(struct target *t, uint32_t i)
{
	while (!entry(t, i + 1)->pc && entry(t, i)->pc && !entry(t, i)->to) {
		entry(t, i)->pc = 0;
		i--;
	}
}

void traps_forget_retired(struct target *t)
{
	vec_each (r, &t->code->retired)
		vec_each (p, &r->fragment.patches) {
			struct rt_trap *e = p->trap ? find_entry(t, p->va + r->bias) : NULL;
			if (!e || e->pc != p->va + r->bias || e->to != p->to)
				continue;
			e->to = 0;
			t->code->traps.entries--;
			free_removed(t, (uint32_t)(e - entry(t, 0)));
		}
}

/* ---- threads ---- */

uint64_t trap_leads_to(const struct target *t, uint64_t pc)
{
	if (!t->code->traps.entries)
		return 0;
	return rt_trap_leads_to(target_at(t, RT_TRAP_TABLE),
				pc - t->shared->arch->emit->trap_advance);
}

bool is_trapped(const struct target *t, const struct control_thread *th, uint64_t pc)
{
	return trap_leads_to(t, pc) && control_has_trapped(th);
}
