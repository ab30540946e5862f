#include "unwind/root.h"

#include <string.h>

#include "base/vec.h"
#include "flow/entry.h"

enum {
	/* from the system call that creates a thread to the one that ends it */
	MAX_SCAN_INSNS = 24,
	MAX_SYSCALL_DISTANCE = 12, /* bytes from a system call to the branch on its result */
	/* bytes from the start of code that nothing called to the call that it begins with */
	MAX_CALL_DISTANCE = 16,
};

bool root_is_trampoline(const struct code *code, uint64_t va, bool anywhere)
{
	const struct arch_layout *layout = code->arch->layout;
	for (uint64_t back = 0; back < layout->sigreturn_size; back += code->arch->insn_align) {
		size_t n;
		const uint8_t *p =
			back <= va ? module_at(code->module, va - back, layout->sigreturn_size, &n)
				   : NULL;
		if (p && n >= layout->sigreturn_size &&
		    !memcmp(p, layout->sigreturn, layout->sigreturn_size))
			return true;
		if (!anywhere)
			break;
	}
	return false;
}

static const struct function *function_at(const struct code *code, uint64_t va, uint32_t *index)
{
	uint32_t count;
	const struct function *all = flow_functions(code->flow, &count);
	*index = flow_function_at(code->flow, va);
	return *index < count ? &all[*index] : NULL;
}

/* The flow graph decides, because the end of the entry function is often unknown. */
bool root_is_entry(const struct code *code, uint64_t va)
{
	uint32_t entry, at;
	if (!code->module->entry || !function_at(code, va, &at) ||
	    !function_at(code, code->module->entry, &entry) || at != entry)
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
	const struct function *p = function_at(code, va, &index);
	if (!p || !p->name)
		return false;
	/* Go appends the calling convention after a dot. */
	const char *suffix = strstr(p->name, ".abi");
	size_t n = suffix ? (size_t)(suffix - p->name) : strlen(p->name);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && !strncmp(names[i], p->name, n))
			return true;
	return false;
}

static size_t decode(const struct code *code, uint64_t va, struct insn *in)
{
	return decode_at(code->module, code->arch, va, DECODE_FULL, in);
}

/* Decodes the first instruction of the code at va, after no-ops and landing instructions. */
static bool decode_first(const struct code *code, uint64_t va, struct insn *in)
{
	for (unsigned i = 0; i < MAX_SCAN_INSNS && decode(code, va, in); i++) {
		if (!(in->flags & (INSN_NOP | INSN_LANDING)))
			return true;
		va += in->length;
	}
	return false;
}

/* Functions read callee-saved registers only to save them. So code that takes an argument from one,
 * or the address that it calls, was not called. */
static bool takes_preserved_register(const struct arch *arch, const struct insn *in)
{
	return in->op == OP_MOVE && in->a < REGISTERS && in->a != arch->sp && in->a != arch->fp &&
	       in->a != arch->link && regset_has(&arch->callee_saved, in->a);
}

/* A part split off a function is not whole: it finds the function's values in registers. */
static bool is_whole(const struct code *code, const struct function *p)
{
	struct frame_range f;
	if (module_frame_at(code->module, p->start, &f))
		return f.start == p->start && !f.mid_frame;
	return p->found_by & (FOUND_SYMBOL | FOUND_DYNAMIC);
}

bool root_begins_with_call(const struct code *code, uint64_t va)
{
	struct insn in;
	uint32_t index;
	const struct function *p = function_at(code, va, &index);
	return p && va - p->start < MAX_CALL_DISTANCE && decode_first(code, p->start, &in) &&
	       in.kind == INSN_CALL_INDIRECT && va < in.pc + in.length &&
	       takes_preserved_register(code->arch, &in) && is_whole(code, p);
}

bool root_is_made_up(const struct code *code, uint64_t va)
{
	struct insn in;
	uint32_t index;
	if (root_is_named(code, va))
		return true;
	const struct function *p = function_at(code, va, &index);
	return p && p->start == va &&
	       (recipes_at(code->recipes, va)->ret == RETURN_NONE ||
		(decode_first(code, va, &in) && takes_preserved_register(code->arch, &in)));
}

/* State of following code from where a thread is created, or runs, to where it ends. */
struct code_scan {
	const struct code *code;
	bool follows_branches; /* branches are followed before the call */
	unsigned left;         /* number of instructions that may still be decoded */
};

/* Whether the instruction loads the number of exit(2) on either architecture. The calls that have
 * this number on the other one (quotactl, fchown) are not made right after a call through a
 * pointer. */
static bool sets_exit_number(const struct insn *in)
{
	return in->op == OP_SET && (in->imm == 60 || in->imm == 93);
}

static bool leads_to_exit(struct code_scan *w, uint64_t va)
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

static bool leads_to_call(struct code_scan *w, uint64_t va)
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
			if (!w->follows_branches)
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
	struct code_scan w = {.code = code, .left = MAX_SCAN_INSNS};
	return leads_to_exit(&w, va);
}

bool root_runs_thread(const struct code *code, uint64_t va)
{
	struct code_scan w = {.code = code, .left = MAX_SCAN_INSNS};
	return leads_to_call(&w, va);
}

/* Whether a system call instruction is shortly before va. */
static bool follows_syscall(const struct code *code, uint64_t va)
{
	for (uint64_t back = code->arch->insn_align; back <= MAX_SYSCALL_DISTANCE && back <= va;
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
	struct code_scan w = {.code = code, .follows_branches = true, .left = MAX_SCAN_INSNS};
	return leads_to_call(&w, va);
}
