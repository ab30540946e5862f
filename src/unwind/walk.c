#include "unwind/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "unwind/facts.h"
#include "unwind/root.h"

const char *const walk_end_name[WALK_ENDS] = {
	[WALK_COMPLETE] = "complete",   [WALK_STACK_COPY] = "stack-copy",
	[WALK_NO_CODE] = "no-code",     [WALK_NO_RECIPE] = "no-recipe",
	[WALK_BAD_LINK] = "bad-link",   [WALK_BAD_STACK] = "bad-stack",
	[WALK_NO_MEMORY] = "no-memory", [WALK_TOO_DEEP] = "too-deep",
};

const char *const walk_end_text[WALK_ENDS] = {
	[WALK_COMPLETE] = "reached the start of the thread",
	[WALK_STACK_COPY] = "the stack copy was too short",
	[WALK_NO_CODE] = "an address outside all known code",
	[WALK_NO_RECIPE] = "code that could not be analysed",
	[WALK_BAD_LINK] = "a return address that no call precedes",
	[WALK_BAD_STACK] = "a stack pointer that leads nowhere",
	[WALK_NO_MEMORY] = "stack memory that could not be read",
	[WALK_TOO_DEEP] = "more frames than are followed",
};

/* The result of a step that does not end the walk. */
enum { WALK_CONTINUES = WALK_ENDS };

/* Limit for signals that interrupt signal handlers. Each handler may have its own stack, so
 * comparing stack pointers does not reveal a cycle. */
enum { MAX_NESTED_SIGNALS = 256 };

struct walker {
	struct facts *facts;
};

/* The state of a walk in progress. */
struct active_walk {
	struct facts *facts;
	struct space *space;
	uint64_t serial; /* of the space */
	read_word read;
	void *ctx;
	struct walk *out;
	const struct arch *arch;
	const struct fact *here; /* the fact about the last frame */
	unsigned signals;
	bool described; /* some code was not analysed, because it is described */
	/* Used instead of memory: frame records, and the index of the last frame's. */
	const struct frame_chain *chain;
	uint32_t record;
};

/* A frame's caller, as computed before the link is checked. */
struct caller_frame {
	uint64_t pc, cfa;
	bool guessed; /* its pc comes neither from a register nor from memory */
	/* the registers whose values are known: those in number[], and those kept */
	uint32_t known;
	unsigned count;
	uint8_t number[CALLEE_SAVED_MAX];
	uint64_t value[CALLEE_SAVED_MAX];
};

struct walker *walker_new(void)
{
	struct walker *w = xcalloc(1, sizeof(*w));
	w->facts = facts_new();
	return w;
}

void walker_free(struct walker *w)
{
	if (!w)
		return;
	facts_free(w->facts);
	free(w);
}

void walker_hurry(struct walker *w, bool hurried)
{
	facts_hurry(w->facts, hurried);
}

bool walker_missed(const struct walker *w)
{
	return facts_missed(w->facts);
}

bool read_stack_copy(void *ctx, uint64_t address, uint64_t *out)
{
	const struct stack_copy *c = ctx;
	uint64_t at = address - c->address;
	if (c->size < 8 || at > c->size - 8)
		return false;
	memcpy(out, c->bytes + at, 8);
	return true;
}

static enum walk_end unreadable(const struct active_walk *t)
{
	return t->read == read_stack_copy ? WALK_STACK_COPY : WALK_NO_MEMORY;
}

static struct frame *last_frame(struct active_walk *t)
{
	return &vec_last(&t->out->frames);
}

/* The lowest address that the caller's frame can have. After a step by frame pointers this is all
 * that is known about the stack pointer. */
static uint64_t stack_floor(const struct active_walk *t)
{
	return t->out->at.reg[t->arch->sp];
}

/* Looks up a pc and makes it the current place. */
static void move_to(struct active_walk *t, uint64_t pc, bool exact)
{
	t->here = facts_at(t->facts, t->space, t->serial, pc, exact);
	t->described |= t->here->described;
	if (t->here->code && t->here->code->arch)
		t->arch = t->here->code->arch;
}

static void push_frame(struct active_walk *t, enum link_quality link)
{
	const struct fact *k = t->here;
	vec_push(&t->out->frames, (struct frame){
					  .pc = k->pc,
					  .code = k->code,
					  .va = k->va,
					  .link = (uint8_t)link,
					  .exact = k->exact,
				  });
}

/* The data of a callee that a link is checked against. It is copied, because looking up the caller
 * may displace the cached fact. */
struct callee {
	const struct code *code;
	uint64_t va, function;
};

static struct callee callee_of(const struct fact *k)
{
	return (struct callee){
		/* a frame that is switched to has called something else */
		.code = k->where == FACT_CODE && !k->switches ? k->code : NULL,
		.va = k->exact ? k->va : k->va - 1,
		.function = k->function,
	};
}

/* VERDICT_INVALID is not cached: functions discovered since then may change it. */
static enum link_verdict check_call(struct fact *at, const struct callee *callee)
{
	if (!at->call.direct)
		return at->call.indirect ? VERDICT_LIKELY : VERDICT_INVALID;
	if (at->verdict && at->callee == callee->code && at->callee_function == callee->function)
		return at->verdict;
	enum link_verdict v = links_check(at->code->links, &at->call,
					  callee->code ? callee->code->flow : NULL, callee->va);
	at->callee = callee->code;
	at->callee_function = callee->function;
	at->verdict = (uint8_t)v;
	return v;
}

static enum link_verdict check_link(struct fact *at, const struct callee *callee)
{
	switch ((enum fact_where)at->where) {
	case FACT_NOWHERE: return VERDICT_INVALID;
	case FACT_OPAQUE: return VERDICT_LIKELY;
	case FACT_CODE: break;
	}
	return at->exact ? VERDICT_LIKELY : check_call(at, callee);
}

static void set_registers(struct active_walk *t, const struct caller_frame *c)
{
	struct registers *r = &t->out->at;
	for (unsigned i = 0; i < c->count; i++)
		r->reg[c->number[i]] = c->value[i];
	r->reg[t->arch->sp] = c->cfa;
	r->known = c->known;
	r->pc = c->pc;
}

/* Moves to the caller if the link to it is valid. On failure everything stays at the callee. A link
 * is never rated better than `at_most`. */
static unsigned move_to_caller(struct active_walk *t, const struct caller_frame *c,
			       enum link_verdict at_most)
{
	const struct callee callee = callee_of(t->here);
	const bool needs_record = t->here->switches && t->here->cfa == CFA_UNKNOWN;
	struct fact *at = facts_at(t->facts, t->space, t->serial, c->pc, false);
	enum link_verdict v = check_link(at, &callee);
	if (v == VERDICT_INVALID)
		return at->where == FACT_NOWHERE ? WALK_NO_CODE : WALK_BAD_LINK;
	if (needs_record && !at->record)
		return WALK_BAD_STACK;
	last_frame(t)->cfa = c->cfa;
	set_registers(t, c);
	t->here = at;
	t->described |= at->described;
	if (at->code && at->code->arch)
		t->arch = at->code->arch;
	push_frame(t, v < at_most || at_most == VERDICT_LIKELY ? LINK_LIKELY : LINK_VALID);
	return WALK_CONTINUES;
}

/* Steps by frame pointers: the caller's frame pointer and the return address are where the frame
 * pointer points. Used only for code without a recipe, and only if the link is valid. If calls push
 * the return address, the frame ends right after it; elsewhere only a lower bound of the caller's
 * frame is known. */
static unsigned step_by_frame_pointer(struct active_walk *t)
{
	const struct arch *arch = t->arch;
	const struct registers *r = &t->out->at;
	unsigned failure = t->here->where == FACT_CODE ? WALK_NO_RECIPE : WALK_NO_CODE;
	struct caller_frame c = {.count = 1, .number = {arch->fp}};
	if (!registers_has(r, arch->fp) || r->reg[arch->fp] % 8 ||
	    r->reg[arch->fp] < stack_floor(t))
		return failure;
	/* Code that does not change the frame pointer has no record there: the step would skip its
	 * caller. */
	if (t->here->where == FACT_CODE && t->here->kept >> arch->fp & 1)
		return failure;
	if (!t->read(t->ctx, r->reg[arch->fp], &c.value[0]) ||
	    !t->read(t->ctx, r->reg[arch->fp] + 8, &c.pc))
		return t->read == read_stack_copy ? WALK_STACK_COPY : failure;
	c.pc &= arch->layout->code_mask;
	c.cfa = r->reg[arch->fp] + 16;
	c.known = UINT32_C(1) << arch->fp;
	if (arch->link == REG_NONE)
		c.known |= UINT32_C(1) << arch->sp;
	uint64_t pc = t->here->pc;
	bool exact = t->here->asked_exact;
	unsigned step = c.pc ? move_to_caller(t, &c, VERDICT_LIKELY) : failure;
	if (step == WALK_CONTINUES)
		return step;
	/* The failed attempt may have displaced the cached fact. */
	move_to(t, pc, exact);
	return failure;
}

/* Steps over a signal handler's frame: the kernel saved all registers there. */
static unsigned step_over_signal(struct active_walk *t)
{
	const struct arch_layout *layout = t->arch->layout;
	struct registers *r = &t->out->at, before = {0};
	uint64_t sp = r->reg[t->arch->sp];
	if (!registers_has(r, t->arch->sp) || sp % 8 || ++t->signals > MAX_NESTED_SIGNALS)
		return WALK_BAD_STACK;
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (layout->signal_reg[i] == LAYOUT_ABSENT)
			continue;
		if (!t->read(t->ctx, sp + layout->signal_reg[i], &before.reg[i]))
			return unreadable(t);
		before.known |= UINT32_C(1) << i;
	}
	if (!t->read(t->ctx, sp + layout->signal_pc, &before.pc))
		return unreadable(t);
	move_to(t, before.pc, true);
	*r = before;
	if (t->here->where == FACT_NOWHERE)
		return WALK_NO_CODE;
	last_frame(t)->cfa = before.reg[t->arch->sp];
	push_frame(t, LINK_SIGNAL);
	return WALK_CONTINUES;
}

/* If the stack pointer is not known, the frame pointer may give the CFA: it points to where the
 * caller's frame pointer was saved, at a known distance from the CFA. */
static bool cfa_from_frame_record(const struct active_walk *t, uint64_t *cfa)
{
	const struct fact *k = t->here;
	if (k->cfa_reg != t->arch->sp || k->saved_from != REG_NONE ||
	    !registers_has(&t->out->at, t->arch->fp))
		return false;
	for (unsigned i = 0; i < k->saved_count; i++) {
		if (k->saved_reg[i] == t->arch->fp) {
			*cfa = t->out->at.reg[t->arch->fp] - (uint64_t)(int64_t)k->saved_at[i];
			return true;
		}
	}
	return false;
}

/* Returns WALK_CONTINUES with the CFA, or an end: WALK_NO_RECIPE if the CFA cannot be found. The
 * CFA of a frame that is switched to may not be known yet; then the frame pointer serves as a lower
 * bound. */
static unsigned find_cfa(const struct active_walk *t, uint64_t *cfa)
{
	const struct fact *k = t->here;
	const struct registers *r = &t->out->at;
	if (k->cfa == CFA_UNKNOWN && k->switches) {
		*cfa = r->reg[t->arch->fp];
		return WALK_CONTINUES;
	}
	if (k->cfa == CFA_UNKNOWN)
		return WALK_NO_RECIPE;
	if (!registers_has(r, k->cfa_reg))
		return k->cfa == CFA_REGISTER && cfa_from_frame_record(t, cfa) ? WALK_CONTINUES
									       : WALK_NO_RECIPE;
	uint64_t base = r->reg[k->cfa_reg] + (uint64_t)(int64_t)k->cfa_offset;
	if (k->cfa == CFA_MEMORY) {
		if (base % 8)
			return WALK_BAD_STACK;
		if (!t->read(t->ctx, base, &base))
			return unreadable(t);
		base += (uint64_t)(int64_t)k->cfa_add;
	}
	*cfa = base;
	return WALK_CONTINUES;
}

/* A frame has a size, except frames that have not called anything yet and those that keep their
 * return address in a register. A frame that is switched to may be on any stack. */
static bool is_plausible_cfa(const struct active_walk *t, uint64_t cfa)
{
	uint64_t floor = stack_floor(t);
	bool may_be_empty = t->here->exact || t->here->ret == RETURN_REGISTER;
	if (t->here->switches)
		return cfa % 8 == 0;
	return cfa % 8 == 0 && (cfa > floor || (cfa == floor && may_be_empty));
}

/* Whether the frame at `pc`, whose stack pointer is `sp`, has itself a valid return address: one
 * that follows a call of its function. *function is set to that. */
static bool has_valid_caller(const struct active_walk *t, uint64_t pc, uint64_t sp,
			     uint64_t *function)
{
	const struct fact *k = facts_at(t->facts, t->space, t->serial, pc, false);
	const struct callee callee = callee_of(k);
	uint64_t back,
		at = sp + (uint64_t)(int64_t)k->cfa_offset + (uint64_t)(int64_t)k->ret_offset;
	*function = k->function;
	if (k->where != FACT_CODE || k->cfa != CFA_REGISTER || k->cfa_reg != t->arch->sp ||
	    k->ret != RETURN_SAVED || at % 8 || !t->read(t->ctx, at, &back))
		return false;
	back &= t->arch->layout->code_mask;
	return check_link(facts_at(t->facts, t->space, t->serial, back, false), &callee) ==
	       VERDICT_VALID;
}

/* If a thread waits in the kernel, only its pc and its stack pointer are known. This is not enough
 * if its function keeps the return address in the link register, as some functions of glibc do that
 * make system calls. But few calls lead to such a function: if there is only one, the return
 * address follows it. Otherwise it must follow a call in the one function whose own return address,
 * on the stack, is valid. */
static unsigned find_return_by_caller(struct active_walk *t, struct caller_frame *c)
{
	const struct fact k = *t->here;
	const uint64_t *returns;
	uint64_t found = 0, found_in = 0, function = 0;
	bool alone = false, ambiguous = false;
	uint32_t count = k.exact && k.function != UINT64_MAX && t->out->frames.len == 1
				 ? links_returns(k.code->links, k.function, &returns, &alone)
				 : 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t pc = returns[i] + (k.pc - k.va);
		bool valid = (count == 1 && alone) || has_valid_caller(t, pc, c->cfa, &function);
		if (!valid)
			continue;
		ambiguous |= found && found_in != function;
		found = found ? found : pc;
		found_in = function;
	}
	move_to(t, k.pc, k.asked_exact); /* the cached fact may have been displaced */
	if (!found || ambiguous)
		return WALK_NO_RECIPE;
	c->pc = found;
	c->guessed = true;
	return WALK_CONTINUES;
}

static unsigned find_return(struct active_walk *t, struct caller_frame *c)
{
	const struct fact *k = t->here;
	uint64_t at = c->cfa + (uint64_t)(int64_t)k->ret_offset;
	switch (k->ret) {
	case RETURN_SAVED:
		if (at % 8)
			return WALK_BAD_STACK;
		if (!t->read(t->ctx, at, &c->pc))
			return unreadable(t);
		break;
	case RETURN_REGISTER:
		/* In a frame that waits for a call, only registers that callees preserve are known,
		 * so the link register is not. If another register holds the return address across
		 * a call, the callee has not changed it, so it still has the value that it had when
		 * the walk began. If not, the check of the link fails. */
		if (!registers_has(&t->out->at, k->ret_reg) && k->ret_reg == t->arch->link)
			return find_return_by_caller(t, c);
		c->pc = t->out->at.reg[k->ret_reg];
		break;
	default: return WALK_NO_RECIPE;
	}
	c->pc &= t->arch->layout->code_mask;
	return WALK_CONTINUES;
}

/* All registers are read before anything is changed, because a step that lacks memory is repeated
 * with more. */
static unsigned find_registers(const struct active_walk *t, struct caller_frame *c)
{
	const struct fact *k = t->here;
	const struct registers *r = &t->out->at;
	c->known = r->known & k->kept;
	if (k->cfa != CFA_UNKNOWN)
		c->known |= UINT32_C(1) << t->arch->sp;
	c->count = 0;
	if (k->saved_from != REG_NONE && !registers_has(r, k->saved_from))
		return WALK_CONTINUES;
	uint64_t from = k->saved_from == REG_NONE ? c->cfa : r->reg[k->saved_from];
	for (; c->count < k->saved_count; c->count++) {
		uint64_t at = from + (uint64_t)(int64_t)k->saved_at[c->count];
		if (at % 8)
			return WALK_BAD_STACK;
		if (!t->read(t->ctx, at, &c->value[c->count]))
			return unreadable(t);
		c->number[c->count] = k->saved_reg[c->count];
		c->known |= UINT32_C(1) << k->saved_reg[c->count];
	}
	return WALK_CONTINUES;
}

/* Code that creates a stack by hand stores zeroes as the return address and as the frame pointer of
 * the missing caller. A single frame proves nothing: stacks are full of zeroes. */
static bool is_handmade_root(const struct active_walk *t, const struct caller_frame *c)
{
	uint8_t fp = t->arch->fp;
	if (t->out->frames.len < 2 || !(c->known >> fp & 1))
		return false;
	for (unsigned i = 0; i < c->count; i++)
		if (c->number[i] == fp)
			return !c->value[i];
	return !t->out->at.reg[fp];
}

static unsigned step_by_recipe(struct active_walk *t)
{
	struct caller_frame c = {0};
	unsigned step = find_cfa(t, &c.cfa);
	if (step != WALK_CONTINUES)
		return step;
	if (!is_plausible_cfa(t, c.cfa))
		return WALK_BAD_STACK;
	last_frame(t)->cfa = c.cfa;
	step = find_return(t, &c);
	if (step == WALK_CONTINUES)
		step = find_registers(t, &c);
	if (step != WALK_CONTINUES)
		return step;
	if (!c.pc)
		return is_handmade_root(t, &c) ? WALK_COMPLETE : WALK_BAD_STACK;
	return move_to_caller(t, &c, c.guessed ? VERDICT_LIKELY : VERDICT_VALID);
}

/* Not all frame records are described. */
static bool has_record(struct active_walk *t)
{
	if (t->here->where != FACT_CODE || t->here->record || !t->here->described)
		return t->here->where == FACT_CODE && t->here->record;
	facts_analyse(t->facts, true);
	move_to(t, t->here->pc, t->here->asked_exact);
	facts_analyse(t->facts, false);
	return t->here->record;
}

/* Steps by a frame record. The stack pointer is kept up to date as long as that needs no memory. */
static unsigned step_by_record(struct active_walk *t)
{
	struct caller_frame c = {0};
	if (t->record == t->chain->count || !has_record(t))
		return WALK_STACK_COPY;
	c.pc = t->chain->returns[t->record++] & t->arch->layout->code_mask;
	if (t->here->cfa == CFA_REGISTER && find_cfa(t, &c.cfa) == WALK_CONTINUES)
		c.known = UINT32_C(1) << t->arch->sp;
	return move_to_caller(t, &c, VERDICT_VALID);
}

static unsigned step(struct active_walk *t)
{
	const struct fact *k = t->here;
	if (k->root || (k->where == FACT_CODE && !k->trampoline && k->ret == RETURN_NONE))
		return WALK_COMPLETE;
	if (t->chain)
		return step_by_record(t);
	if (k->trampoline)
		return step_over_signal(t);
	if (k->where == FACT_NOWHERE)
		return WALK_NO_CODE;
	if (facts_missed(t->facts))
		return WALK_NO_RECIPE;
	unsigned s = k->where == FACT_CODE ? step_by_recipe(t) : WALK_NO_RECIPE;
	return s == WALK_NO_RECIPE ? step_by_frame_pointer(t) : s;
}

static bool is_named_root(const struct frame *f)
{
	return !f->exact && f->code && f->code->module && root_is_named(f->code, f->va - 1);
}

/* An apparent failure is the end of the stack if the last frame, or the one before it, is a
 * function in which threads are known to begin: what is above it on the stack is not a caller. */
static bool ends_at_named_root(struct walk *out)
{
	uint32_t n = out->frames.len;
	if (is_named_root(&out->frames.data[n - 1]))
		return true;
	if (n < 2 || !is_named_root(&out->frames.data[n - 2]))
		return false;
	out->frames.len--;
	return true;
}

static void walk_to_end(struct active_walk *t)
{
	unsigned s = WALK_CONTINUES;
	while (s == WALK_CONTINUES)
		s = t->out->frames.len < WALK_MAX_FRAMES ? step(t) : WALK_TOO_DEEP;
	if (s != WALK_COMPLETE && !facts_missed(t->facts) && ends_at_named_root(t->out))
		s = WALK_COMPLETE;
	t->out->end = (enum walk_end)s;
	const struct frame *last = last_frame(t);
	debug(LOG_UNWIND, 3, "walk from %#lx: %u frames, %s at %#lx (%s)",
	      (unsigned long)t->out->frames.data[0].pc, t->out->frames.len, walk_end_name[s],
	      (unsigned long)last->va, last->code && last->code->path ? last->code->path : "?");
}

static struct active_walk begin_walk(struct walker *w, struct space *s, read_word read, void *ctx,
				     struct walk *out)
{
	return (struct active_walk){
		.facts = w->facts,
		.space = s,
		.serial = space_serial(s),
		.read = read,
		.ctx = ctx,
		.out = out,
		.arch = arch_native(),
	};
}

static void walk_from(struct active_walk *t, const struct registers *regs)
{
	vec_clear(&t->out->frames);
	t->out->at = *regs;
	move_to(t, regs->pc, true);
	push_frame(t, LINK_NONE);
	if (t->here->where == FACT_CODE && root_is_new_thread(t->here->code, t->here->va, regs))
		t->out->end = WALK_COMPLETE;
	else
		walk_to_end(t);
}

static void walk_on(struct active_walk *t)
{
	const struct frame *last = last_frame(t);
	move_to(t, last->pc, last->exact);
	walk_to_end(t);
}

/* Whether code that is described wrongly may have led the walk to where it failed. */
static bool may_be_misled(const struct active_walk *t)
{
	enum walk_end end = t->out->end;
	return t->described && !facts_missed(t->facts) && end != WALK_COMPLETE &&
	       end != WALK_STACK_COPY && end != WALK_TOO_DEEP;
}

/* If a walk fails that relied on descriptions, the code is analysed, and the walk made again. So
 * most code that is only on stacks is never analysed. */
void walk_stack(struct walker *w, struct space *s, const struct registers *regs, read_word read,
		void *ctx, struct walk *out)
{
	struct active_walk t = begin_walk(w, s, read, ctx, out), again = t;
	walk_from(&t, regs);
	if (!may_be_misled(&t))
		return;
	facts_analyse(w->facts, true);
	walk_from(&again, regs);
	facts_analyse(w->facts, false);
}

void walk_resume(struct walker *w, struct space *s, read_word read, void *ctx, struct walk *out)
{
	struct active_walk t = begin_walk(w, s, read, ctx, out), again = t;
	const struct registers at = out->at;
	const uint32_t frames = out->frames.len;
	walk_on(&t);
	if (!may_be_misled(&t))
		return;
	out->at = at;
	out->frames.len = frames;
	facts_analyse(w->facts, true);
	walk_on(&again);
	facts_analyse(w->facts, false);
}

/* The index of the record at an address, if that is in the copy or the first one after it; else the
 * number of records. */
static uint32_t record_at(const struct frame_chain *chain, const struct stack_copy *copy,
			  uint64_t first, uint64_t address)
{
	struct stack_copy c = *copy;
	uint32_t i = 0;
	while (first != address && i < chain->count && read_stack_copy(&c, first, &first))
		i++;
	return first == address ? i : chain->count;
}

/* Whether the walk can leave the last frame by its recipe. Sets the frame pointer, which the steps
 * by records did not follow: it points to the frame's record. */
static bool can_resume(struct active_walk *t)
{
	const struct fact *k = t->here;
	struct registers *r = &t->out->at;
	uint64_t cfa;
	if (t->record != t->chain->count || k->cfa != CFA_REGISTER || !k->record ||
	    k->saved_from != REG_NONE || find_cfa(t, &cfa) != WALK_CONTINUES)
		return false;
	for (unsigned i = 0; i < k->saved_count; i++)
		if (k->saved_reg[i] == t->arch->fp)
			r->reg[t->arch->fp] = cfa + (uint64_t)(int64_t)k->saved_at[i];
	r->known |= UINT32_C(1) << t->arch->fp;
	return true;
}

void walk_by_records(struct walker *w, struct space *s, const struct registers *regs,
		     const struct frame_chain *chain, const struct stack_copy *copy,
		     struct walk *out)
{
	struct active_walk t = begin_walk(w, s, NULL, NULL, out);
	const struct frame *last = last_frame(&t);
	const struct registers at = out->at;
	const enum walk_end end = out->end;
	const uint32_t frames = out->frames.len;
	const uint8_t fp = t.arch->fp;
	if (!registers_has(&at, fp))
		return;
	t.chain = chain;
	t.record = record_at(chain, copy, regs->reg[fp], at.reg[fp]);
	move_to(&t, last->pc, last->exact);
	walk_to_end(&t);
	if (out->end == WALK_COMPLETE || (out->end == WALK_STACK_COPY && can_resume(&t)))
		return;
	out->frames.len = frames;
	out->at = at;
	out->end = end;
}
