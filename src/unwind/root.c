#include "unwind/root.h"

#include <string.h>

#include "base/vec.h"
#include "flow/entry.h"

enum {
	SCAN_INSNS = 24,    /* from the system call that makes a thread to the one that ends it */
	SYSCALL_NEAR = 12,  /* bytes from a system call to the branch on its result */
	MAX_BEGINNING = 16, /* bytes up to the call that code which was not called begins with */
};

bool root_is_trampoline(const struct code *code, uint64_t va, bool anywhere)
{
	const struct arch_layout *layout = code->arch->layout;
	for (uint64_t back = 0; back < layout->sigreturn_size; back += code->arch->insn_align) {
		size_t n;
		const uint8_t *p = back <= va ? image_at(code->image, va - back, &n) : NULL;
		if (p && n >= layout->sigreturn_size &&
		    !memcmp(p, layout->sigreturn, layout->sigreturn_size))
			return true;
		if (!anywhere)
			break;
	}
	return false;
}

static const struct procedure *procedure_at(const struct code *code, uint64_t va, uint32_t *index)
{
	uint32_t count;
	const struct procedure *all = flow_procedures(code->flow, &count);
	*index = flow_procedure_at(code->flow, va);
	return *index < count ? &all[*index] : NULL;
}

/* Where the entry procedure ends is often not known, so its graph decides. */
bool root_is_entry(const struct code *code, uint64_t va)
{
	uint32_t entry, at;
	if (!code->image->entry || !procedure_at(code, va, &at) ||
	    !procedure_at(code, code->image->entry, &entry) || at != entry)
		return false;
	struct arena tmp = {0};
	const struct cfg *g = flow_cfg(code->flow, entry, &tmp, &tmp);
	bool yes = cfg_block_at(g, va) != BLOCK_NONE;
	arena_release(&tmp);
	return yes;
}

bool root_is_named(const struct code *code, uint64_t va)
{
	static const char *const names[] = {
		"clone",           "__clone",        "clone3",         "__clone3",
		"thread_start",    "_dl_start_user", "runtime.goexit", "runtime.mstart",
		"__start_context", "runtime.mcall",
	};
	uint32_t index;
	const struct procedure *p = procedure_at(code, va, &index);
	if (!p || !p->name)
		return false;
	/* Go marks the calling convention behind a dot. */
	const char *suffix = strstr(p->name, ".abi");
	size_t n = suffix ? (size_t)(suffix - p->name) : strlen(p->name);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && !strncmp(names[i], p->name, n))
			return true;
	return false;
}

static size_t decode(const struct code *code, uint64_t va, struct insn *in)
{
	return decode_at(code->image, code->arch, va, DECODE_FULL, in);
}

/* What the code at va begins with, behind marks of where it may be entered. */
static bool decode_first(const struct code *code, uint64_t va, struct insn *in)
{
	for (unsigned i = 0; i < SCAN_INSNS && decode(code, va, in); i++) {
		if (!(in->flags & (INSN_NOP | INSN_LANDING)))
			return true;
		va += in->length;
	}
	return false;
}

/* Procedures do not read the registers that they must preserve, but for saving them. Code that
 * takes an argument from one, or what it calls, was not called. */
static bool takes_preserved_register(const struct arch *arch, const struct insn *in)
{
	return in->op == OP_MOVE && in->a < REGISTERS && in->a != arch->sp && in->a != arch->fp &&
	       in->a != arch->link && regset_has(&arch->callee_saved, in->a);
}

/* Not a part that was split off a procedure: that finds the procedure's values in registers. */
static bool is_whole(const struct code *code, const struct procedure *p)
{
	const struct frame_range *f = image_frame_at(code->image, p->start);
	return f ? f->start == p->start && !f->mid_frame
		 : p->found_by & (FOUND_SYMBOL | FOUND_DYNAMIC);
}

bool root_begins_with_call(const struct code *code, uint64_t va)
{
	struct insn in;
	uint32_t index;
	const struct procedure *p = procedure_at(code, va, &index);
	return p && va - p->start < MAX_BEGINNING && decode_first(code, p->start, &in) &&
	       in.kind == INSN_CALL_INDIRECT && va < in.pc + in.length &&
	       takes_preserved_register(code->arch, &in) && is_whole(code, p);
}

bool root_is_made_up(const struct code *code, uint64_t va)
{
	struct insn in;
	uint32_t index;
	if (root_is_named(code, va))
		return true;
	const struct procedure *p = procedure_at(code, va, &index);
	return p && p->start == va &&
	       (recipes_at(code->recipes, va)->ret == RETURN_NONE ||
		(decode_first(code, va, &in) && takes_preserved_register(code->arch, &in)));
}

/* Following the code from where a thread is made, or runs, to where it ends. */
struct way {
	const struct code *code;
	bool forks;    /* branches are allowed before the call */
	unsigned left; /* instructions that may still be looked at */
};

/* The number of exit(2) on one architecture or the other. What has it on the wrong one (quotactl,
 * fchown) is not called right behind a call of a pointer. */
static bool sets_exit_number(const struct insn *in)
{
	return in->op == OP_SET && (in->imm == 60 || in->imm == 93);
}

static bool leads_to_exit(struct way *w, uint64_t va)
{
	struct insn in;
	bool exits = false;
	while (w->left && decode(w->code, va, &in)) {
		w->left--;
		va += in.length;
		exits |= sets_exit_number(&in);
		if (in.kind == INSN_SYSCALL)
			return exits;
		if (in.kind != INSN_PLAIN)
			return false;
	}
	return false;
}

static bool leads_to_call(struct way *w, uint64_t va)
{
	struct insn in;
	while (w->left && decode(w->code, va, &in)) {
		w->left--;
		va += in.length;
		switch (in.kind) {
		case INSN_PLAIN: break;
		case INSN_JUMP: va = in.target; break;
		case INSN_CALL_INDIRECT: return leads_to_exit(w, va);
		case INSN_BRANCH:
			if (!w->forks)
				return false;
			if (leads_to_call(w, in.target))
				return true;
			break;
		default: return false;
		}
	}
	return false;
}

bool root_ends_thread(const struct code *code, uint64_t va)
{
	struct way w = {.code = code, .left = SCAN_INSNS};
	return leads_to_exit(&w, va);
}

bool root_runs_thread(const struct code *code, uint64_t va)
{
	struct way w = {.code = code, .left = SCAN_INSNS};
	return leads_to_call(&w, va);
}

/* A system call that ends some instructions before va. */
static bool follows_syscall(const struct code *code, uint64_t va)
{
	for (uint64_t back = code->arch->insn_align; back <= SYSCALL_NEAR && back <= va;
	     back += code->arch->insn_align) {
		struct insn in;
		uint64_t at = va - back;
		if (!decode(code, at, &in) || in.kind != INSN_SYSCALL)
			continue;
		while (at < va && decode(code, at, &in))
			at += in.length;
		if (at == va)
			return true;
	}
	return false;
}

bool root_is_new_thread(const struct code *code, uint64_t va, const struct registers *regs)
{
	unsigned result = code->arch->result;
	if (!registers_has(regs, result) || regs->reg[result] || !follows_syscall(code, va))
		return false;
	struct way w = {.code = code, .forks = true, .left = SCAN_INSNS};
	return leads_to_call(&w, va);
}
