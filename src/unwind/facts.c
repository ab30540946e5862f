#include "unwind/facts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "unwind/root.h"

enum { FACT_BITS = 12 };

struct facts {
	bool hurried, missed; /* see facts_hurry() */
	bool analysing;       /* see facts_analyse() */
	struct fact uncached; /* the last fact that is not cached */
	struct fact slot[1 << FACT_BITS];
};

struct facts *facts_new(void)
{
	return xcalloc(1, sizeof(struct facts));
}

void facts_hurry(struct facts *f, bool hurried)
{
	f->hurried = hurried;
	f->missed = false;
}

bool facts_missed(const struct facts *f)
{
	return f->missed;
}

void facts_analyse(struct facts *f, bool wanted)
{
	f->analysing = wanted;
}

void facts_free(struct facts *f)
{
	free(f);
}

static void copy_recipe(struct fact *k, const struct recipe *r)
{
	uint8_t regs[CALLEE_SAVED_MAX];
	unsigned count = callee_saved_list(k->code->arch, regs);
	k->cfa = r->cfa;
	k->cfa_reg = r->cfa_reg;
	k->ret = r->ret;
	k->ret_reg = r->ret_reg;
	k->record = r->record;
	k->switches = r->switches;
	k->cfa_offset = r->cfa_offset;
	k->cfa_add = r->cfa_add;
	k->ret_offset = r->ret_offset;
	k->saved_from = r->slot_reg;
	for (unsigned i = 0; i < count; i++) {
		if (r->slot[i] == SLOT_SAME) {
			k->kept |= UINT32_C(1) << regs[i];
		} else if (r->slot[i] != SLOT_LOST) {
			k->saved_reg[k->saved_count] = regs[i];
			k->saved_at[k->saved_count++] = r->slot[i];
		}
	}
}

static uint64_t function_start(const struct code *code, uint64_t va)
{
	uint32_t count, i = flow_function_at(code->flow, va);
	return i == UINT32_MAX ? UINT64_MAX : flow_functions(code->flow, &count)[i].start;
}

static void learn_exact(struct fact *k)
{
	k->trampoline = root_is_trampoline(k->code, k->va, true);
	k->root = !k->trampoline &&
		  (root_is_entry(k->code, k->va) || root_begins_with_call(k->code, k->va) ||
		   root_runs_thread(k->code, k->va));
}

static void learn_return(struct fact *k)
{
	k->call = links_call_before(k->code->flow, k->va);
	k->trampoline = root_is_trampoline(k->code, k->va, false);
	if (k->trampoline)
		k->exact = true;
	else if (!call_site_exists(&k->call))
		k->exact = k->root = root_is_made_up(k->code, k->va);
	else
		k->root = root_is_entry(k->code, k->va - 1) ||
			  (k->call.indirect && (root_begins_with_call(k->code, k->va - 1) ||
						root_ends_thread(k->code, k->va)));
}

static void find_recipe(struct fact *k, uint64_t va, bool analysing)
{
	struct recipe described;
	k->described =
		!k->exact && !analysing && recipes_describe(k->code->recipes, va, &described);
	copy_recipe(k, k->described ? &described : recipes_at(k->code->recipes, va));
}

static void learn_code(struct fact *k, bool exact, bool analysing)
{
	if (exact)
		learn_exact(k);
	else
		learn_return(k);
	uint64_t va = k->exact ? k->va : k->va - 1;
	if (!k->trampoline && !k->root)
		find_recipe(k, va, analysing);
	/* Looked up last: finding recipes may have discovered more functions. */
	k->function = function_start(k->code, va);
}

/* The place of pc. A return address may be just past the last instruction of its mapping. */
static struct place find_place(struct space *s, uint64_t pc, bool exact)
{
	struct place p = space_find(s, exact ? pc : pc - 1);
	p.va += !exact;
	return p;
}

/* Not inlined into facts_at(), which must be fast. */
__attribute__((noinline)) static struct fact *
learn(struct facts *f, struct fact *slot, struct space *s, uint64_t serial, uint64_t pc, bool exact)
{
	struct place p = find_place(s, pc, exact);
	bool missed = f->hurried && p.code && p.code->flow && !flow_is_ready(p.code->flow);
	struct fact *k = p.code && p.code->module && !missed ? slot : &f->uncached;
	f->missed |= missed;
	*k = (struct fact){
		.serial = serial,
		.pc = pc,
		.code = p.code,
		.va = p.va,
		.function = UINT64_MAX,
		.asked_exact = exact,
		.exact = exact,
		.where = p.code || p.anonymous ? FACT_OPAQUE : FACT_NOWHERE,
	};
	if (k == slot) {
		k->where = FACT_CODE;
		learn_code(k, exact, f->analysing);
	}
	return k;
}

static uint32_t slot_of(uint64_t serial, uint64_t pc, bool exact)
{
	uint64_t h = ((pc << 1 | exact) ^ serial << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> (64 - FACT_BITS));
}

struct fact *facts_at(struct facts *f, struct space *s, uint64_t serial, uint64_t pc, bool exact)
{
	struct fact *k = &f->slot[slot_of(serial, pc, exact)];
	if (k->pc == pc && k->serial == serial && k->asked_exact == exact &&
	    !(k->described && f->analysing))
		return k;
	return learn(f, k, s, serial, pc, exact);
}
