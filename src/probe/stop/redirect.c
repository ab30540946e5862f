/* Redirects threads that are still in old fragments, because they are inside a probe there or will
 * return from a signal handler. As soon as a thread gets to a moved instruction, it continues in
 * the fragment that has replaced the old one. Otherwise a relocated loop would keep the thread for
 * as long as it iterates.
 *
 * A jump overwrites each moved instruction that is large enough for it. On x86-64 at least branches
 * are large enough, and every loop has one. */
#include "probe/stop/redirect.h"

#include <stdlib.h>
#include <string.h>

#include "probe/code/sites.h"
#include "process/memory.h"

typedef VEC(uint64_t) pc_list;

/* The places where threads are, and where signal handlers will return to. */
static void find_pcs(const struct stop *s, pc_list *out)
{
	vec_each (w, &s->walks) {
		struct control_thread *th = control_thread(s->target->shared->control, w->tid);
		struct registers now;
		if (th && control_registers(th, &now))
			vec_push(out, now.pc);
		vec_push(out, w->walk.at.pc);
	}
}

static bool is_any_pc_within(const pc_list *pcs, uint64_t start, uint64_t end)
{
	vec_each (pc, pcs)
		if (*pc > start && *pc < end)
			return true;
	return false;
}

/* Writes jumps over all moved instructions that have room for one, into `code`. */
static bool put_jumps(const struct target *t, const struct retired *r, const pc_list *pcs,
		      uint8_t *code)
{
	const struct emit_ops *ops = t->shared->arch->emit;
	const struct site *s = &t->code->sites.data[r->site];
	bool any = false;
	struct moved_reader reader;
	struct moved m;
	moved_open(&reader, &r->fragment.moved);
	while (moved_next(&reader, &m)) {
		uint8_t bytes[16];
		uint64_t from = r->start + m.offset;
		if (m.in_place || m.size < ops->jump_size ||
		    is_any_pc_within(pcs, from, from + ops->jump_size))
			continue;
		size_t n = ops->jump(bytes, from, site_next_pc(s, m.va + s->bias, true));
		memcpy(code + m.offset, bytes, n);
		any |= n > 0;
	}
	return any;
}

static void redirect(const struct target *t, const struct retired *r, const pc_list *pcs)
{
	uint32_t size = r->fragment.size;
	uint8_t *code = xmalloc(size);
	if (memory_read(t->pid, r->start, code, size) == size && put_jumps(t, r, pcs, code))
		memory_write(t->pid, r->start, code, size);
	free(code);
}

void redirect_retired(const struct stop *s)
{
	const struct target *t = s->target;
	pc_list pcs = {0};
	find_pcs(s, &pcs);
	vec_each (r, &t->code->retired)
		if (!r->redirected) {
			redirect(t, r, &pcs);
			r->redirected = true;
		}
	vec_free(&pcs);
}
