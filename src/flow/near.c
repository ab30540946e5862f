/* Finds the functions around one address, in code that the file says nothing about: a program of
 * 200 MB may have neither symbols nor unwind ranges, and to discover all its functions for a few
 * addresses would take half a minute.
 *
 * The search begins at an anchor before the address: a start that the file gives, a pointer in its
 * data to what looks like a prologue, or a prologue after traps. From there on, functions are taken
 * one after the other. A sweep over the instructions finds where the next one seems to begin, after
 * an instruction that does not continue and that no branch jumps over (the protected intervals of
 * the paper that discover.c names); the graph of the function tells how far it really goes. Calls
 * from elsewhere are not known here. So starts may be missing that flow_discover() would find, and
 * links.c must not rely on these. */
#include <string.h>

#include "base/log.h"
#include "base/order.h"
#include "flow/entry.h"
#include "flow/internal.h"

enum {
	WHOLE_CODE = 1 << 20,      /* bytes of code that are discovered as a whole */
	SMALL_GAP = 4096,          /* bytes between known functions: never worth that */
	MAX_BACK = 64 * 1024,      /* bytes before the address that are searched for an anchor */
	MAX_FUNCTION = 256 * 1024, /* bytes of one function */
	ALIGNMENT = 16,            /* of functions, where anything is between them */
};

/* What is searched: code in which the file gives no start but that of `low`, if any. */
struct neighbourhood {
	struct flow *f;
	uint64_t low, high;
	uint32_t next_pointer; /* the first in flow.code_pointers that is after the position */
};

/* Moves `low` and `high` to the nearest bounds around va that the file gives. */
static void narrow(struct neighbourhood *n, uint64_t va, uint64_t start, uint64_t end)
{
	if (start > va) {
		n->high = start < n->high ? start : n->high;
		return;
	}
	/* An address in what the file bounds is not searched for. So va is after it. */
	n->low = end > n->low ? end : n->low;
}

static bool find_bounds(struct neighbourhood *n, uint64_t va)
{
	const struct flow *f = n->f;
	const struct section *s = module_section_at(f->module, va);
	if (!s || !s->execute || !s->in_file || is_plt_section(s))
		return false;
	n->low = s->va;
	n->high = s->va + s->size;
	uint32_t i = ORDER_UP_TO(f->funcs.data, f->funcs.len, start, va);
	if (i) {
		const struct func *p = &f->funcs.data[i - 1];
		narrow(n, va, p->start, p->bounded ? p->end : p->start);
	}
	if (i < f->funcs.len)
		narrow(n, va, f->funcs.data[i].start, 0);
	i = ORDER_UP_TO(f->fragments.data, f->fragments.len, start, va);
	if (i)
		narrow(n, va, f->fragments.data[i - 1].start, f->fragments.data[i - 1].end);
	if (i < f->fragments.len)
		narrow(n, va, f->fragments.data[i].start, 0);
	i = ORDER_UP_TO(f->searched.data, f->searched.len, start, va);
	if (i)
		narrow(n, va, f->searched.data[i - 1].start, f->searched.data[i - 1].end);
	return n->low <= va && va < n->high;
}

/* Whether a pointer is certainly one to a function and not to a label of a computed goto. */
static bool is_anchor(const struct flow *f, uint64_t va)
{
	return looks_like_prologue(f->module, f->arch, va);
}

/* Where to begin if nothing before va is known: at the first prologue. */
static uint64_t first_prologue(const struct neighbourhood *n, uint64_t va)
{
	const struct flow *f = n->f;
	uint64_t align = f->arch->insn_align > 4 ? f->arch->insn_align : 4;
	uint64_t at = (va - MAX_BACK) & ~(align - 1);
	while (at < va && !is_anchor(f, at))
		at += align;
	return at;
}

/* Compilers that fill the space between functions with traps leave no doubt where one begins. */
static bool follows_traps(const struct flow *f, uint64_t va)
{
	struct insn in;
	uint64_t before = va - f->arch->insn_align;
	return decode_at(f->module, f->arch, before, DECODE_FLOW, &in) && in.kind == INSN_TRAP &&
	       in.length == f->arch->insn_align && is_anchor(f, va);
}

/* The last such function that begins after `from` and up to va; `from` if there is none. */
static uint64_t last_after_traps(const struct flow *f, uint64_t from, uint64_t va)
{
	uint64_t at = va & ~(uint64_t)(ALIGNMENT - 1);
	while (at > from && !follows_traps(f, at))
		at -= ALIGNMENT;
	return at > from ? at : from;
}

static uint64_t find_pointer(struct neighbourhood *n, uint64_t va)
{
	const struct flow *f = n->f;
	const uint64_t *all = f->code_pointers.data;
	uint64_t back = va - n->low > MAX_BACK ? va - MAX_BACK : n->low;
	uint32_t i = order_up_to(all, f->code_pointers.len, sizeof(*all), 0, va);
	for (; i && all[i - 1] >= back; i--)
		if (is_anchor(f, all[i - 1])) {
			n->next_pointer = i;
			return all[i - 1];
		}
	n->next_pointer = i;
	return back == n->low ? n->low : first_prologue(n, va);
}

static uint64_t find_anchor(struct neighbourhood *n, uint64_t va)
{
	return last_after_traps(n->f, find_pointer(n, va), va);
}

/* The first address after `from` where a function certainly begins. */
static uint64_t next_anchor(struct neighbourhood *n, uint64_t from)
{
	const struct flow *f = n->f;
	uint64_t end = n->high - from > MAX_FUNCTION ? from + MAX_FUNCTION : n->high;
	for (; n->next_pointer < f->code_pointers.len; n->next_pointer++) {
		uint64_t at = f->code_pointers.data[n->next_pointer];
		if (at >= end)
			break;
		if (at > from && is_anchor(f, at))
			return at;
	}
	return end;
}

/* What a sweep over one function finds. */
struct swept {
	uint64_t end;  /* of its last instruction, as far as the sweep can tell */
	uint64_t next; /* where another function seems to begin, or the limit */
	bool indirect; /* it has an indirect jump: what follows that may be the jump's targets */
};

/* Whether the jump stays in its function, so that the code up to its target belongs to that. */
static bool protects(const struct flow *f, const struct insn *in)
{
	return in->kind == INSN_BRANCH ||
	       (in->kind == INSN_JUMP && !looks_like_entry(f->module, f->arch, in->target));
}

/* Functions with conventions of their own do not look like an entry. Where the architecture marks
 * the targets of calls, they are known by that. */
static bool is_landing(const struct flow *f, uint64_t va)
{
	struct insn in;
	return decode_at(f->module, f->arch, va, DECODE_FULL, &in) && in.flags & INSN_LANDING &&
	       !(in.flags & INSN_LANDING_JUMP_ONLY);
}

static bool may_begin_at(const struct flow *f, uint64_t va, bool indirect)
{
	return is_landing(f, va) || looks_like_prologue(f->module, f->arch, va) ||
	       (!indirect && looks_like_entry(f->module, f->arch, va));
}

/* The first address after the padding at va where another function may begin; `limit` if there is
 * none. A function may begin with what looks like padding, or padding may end at any address. */
static uint64_t next_start(const struct flow *f, uint64_t va, uint64_t limit, bool indirect)
{
	uint64_t code = va + padding_at(f->module, f->arch, va, limit);
	uint64_t aligned = skip_padding(f, va, limit);
	if (code < limit && may_begin_at(f, code, indirect))
		return code;
	return aligned < code && may_begin_at(f, aligned, indirect) ? aligned : limit;
}

/* Bytes that were looked up once, for many instructions. */
struct code_window {
	const uint8_t *bytes;
	uint64_t start;
	size_t size;
};

/* Decodes an instruction of code; 0 if there is none. */
static size_t decode_in(struct code_window *w, const struct flow *f, uint64_t va, struct insn *in)
{
	enum { WINDOW = 1024 };
	if (va - w->start + f->arch->insn_max > w->size) {
		w->start = va;
		w->size = 0;
		w->bytes = module_at(f->module, va, WINDOW, &w->size);
	}
	uint64_t at = va - w->start;
	return w->bytes ? f->arch->decode(w->bytes + at, w->size - at, va, DECODE_FLOW, in) : 0;
}

static struct swept sweep(const struct flow *f, uint64_t va, uint64_t limit)
{
	struct swept s = {va, limit, false};
	struct code_window window = {0};
	uint64_t protected_to = va;
	while (va < limit) {
		struct insn in;
		size_t length = decode_in(&window, f, va, &in);
		va += length ? length : f->arch->insn_align;
		if (length && !insn_ends_block(&in))
			continue;
		if (length) {
			s.indirect |= in.kind == INSN_JUMP_INDIRECT;
			if (in.target > protected_to && in.target < limit && protects(f, &in))
				protected_to = in.target;
		}
		if (va <= protected_to || (length && !control_ends(f, &in, va, limit)))
			continue;
		s.end = va;
		s.next = next_start(f, va, limit, s.indirect);
		if (s.next < limit)
			break;
	}
	return s;
}

/* The end of the code of the function that begins at va. Only its graph shows where an indirect
 * jump leads, and what is left over at the end. */
static uint64_t end_of_function(struct flow *f, uint64_t va, const struct swept *s)
{
	if (!s->indirect && skip_padding(f, s->end, s->next) == s->next)
		return s->end;
	struct arena tmp = {0};
	struct func p = {.start = va, .end = s->next, .reach = s->next};
	uint64_t end = end_of_graph(build_func(f, &p, &tmp, &tmp));
	arena_release(&tmp);
	return end;
}

/* Takes the function that begins at `at`, if it holds va, and returns where the next may begin. */
static uint64_t take_function(struct neighbourhood *n, uint64_t at, uint64_t va)
{
	struct flow *f = n->f;
	struct swept s = sweep(f, at, next_anchor(n, at));
	uint64_t end = s.next > va ? end_of_function(f, at, &s) : s.next;
	if (end > va)
		insert_start(f, at, end, FOUND_GAP);
	debug(LOG_FLOW, 1, "near %#lx: %#lx-%#lx, next %#lx", (unsigned long)va, (unsigned long)at,
	      (unsigned long)end, (unsigned long)s.next);
	return s.next;
}

static void note_searched(struct flow *f, uint64_t start, uint64_t end)
{
	const struct part searched = {start, end};
	uint32_t at = ORDER_UP_TO(f->searched.data, f->searched.len, start, start);
	vec_push(&f->searched, searched);
	memmove(&f->searched.data[at + 1], &f->searched.data[at],
		(f->searched.len - 1 - at) * sizeof(searched));
	f->searched.data[at] = searched;
}

bool flow_is_searched(const struct flow *f, uint64_t va)
{
	uint32_t n = ORDER_UP_TO(f->searched.data, f->searched.len, start, va);
	return f->discovered || (n && va < f->searched.data[n - 1].end);
}

void search_near(struct flow *f, uint64_t va)
{
	struct neighbourhood n = {.f = f};
	if (!find_bounds(&n, va))
		return;
	uint64_t at = find_anchor(&n, va), from = at;
	while (at <= va) {
		at = skip_padding(f, at, n.high);
		from = at;
		if (at <= va)
			at = take_function(&n, at, va);
	}
	note_searched(f, from < va ? from : va, at);
}

void flow_discover_near(struct flow *f, uint64_t va)
{
	need_starts(f);
	if (flow_is_searched(f, va) || flow_join_part(f, va))
		return;
	struct neighbourhood n = {.f = f};
	bool small = find_bounds(&n, va) && n.high - n.low <= SMALL_GAP;
	if (!small && code_size(f->module) <= WHOLE_CODE)
		flow_discover(f);
	else
		search_near(f, va);
}
