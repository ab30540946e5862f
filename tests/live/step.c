/* Runs a program one instruction at a time and compares, at each, our walk of its stack with the
 * true stack that the calls and returns themselves make (truth.h). See README.md. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "by_records.h"
#include "failures.h"
#include "process/maps.h"
#include "process/memory.h"
#include "tracee.h"
#include "truth.h"
#include "unwind/walk.h"

static const char usage[] =
	"usage: step [OPTION...] PROGRAM [ARGUMENT...]\n"
	"  --from=WHERE    where to begin: a symbol, an address in the program (0x...), or `entry` "
	"for\n"
	"                  the first instruction of all (default: main)\n"
	"  --limit=N       end after N instructions\n"
	"  --main-only     run over what libraries do at full speed; not for programs that they "
	"call back,\n"
	"                  or that jump out of them\n"
	"  --no-walk       keep the true stack, but compare nothing\n"
	"  --no-cfi        without unwind tables      --no-analysis   with nothing else\n"
	"  --report=N      print at most N places that fail (default: 20)\n";

struct options {
	const char *from;
	uint64_t limit;
	unsigned report;
	bool main_only, no_walk;
	struct recipes_options recipes;
};

struct stepping {
	struct options o;
	struct tracee tracee;
	struct truth truth;
	struct codes *codes;
	struct space *space;
	struct walker *walker;
	struct walk walk;
	struct memory_window window;
	struct failures failures;
	struct by_records by_records;
	struct code *program;
	VEC(struct insn) insns;
	struct hashmap insn_at; /* pc -> insns */
	bool right;             /* the last walk */
	uint64_t steps, compared;
	/* Walks that told of no stack where there is none, or where a return address is missing. */
	uint64_t transit, gone;
};

static uint64_t stack_pointer(const struct tracee *t)
{
	return t->regs.reg[t->arch->sp];
}

/* The instruction that it stands at. Bytes that are none (they will fault) count as a plain one
 * without length. */
static struct insn current_insn(struct stepping *s)
{
	const struct arch *arch = s->tracee.arch;
	uint64_t pc = s->tracee.regs.pc;
	uint32_t i = hashmap_get(&s->insn_at, pc);
	if (i == HASHMAP_NONE) {
		uint8_t bytes[16];
		struct insn in;
		size_t n = tracee_read(&s->tracee, pc, bytes, arch->insn_max);
		if (!arch->decode(bytes, n, pc, DECODE_FLOW, &in))
			in = (struct insn){.pc = pc};
		i = s->insns.len;
		hashmap_add(&s->insn_at, pc, i);
		vec_push(&s->insns, in);
	}
	return s->insns.data[i];
}

/* Where the program is; reads its mappings again if that is new. */
static struct place current_place(struct stepping *s)
{
	struct err e;
	struct place p = space_find(s->space, s->tracee.regs.pc);
	if (p.code || p.anonymous)
		return p;
	if (space_refresh(s->space, &e))
		fprintf(stderr, "step: %s\n", e.text);
	return space_find(s->space, s->tracee.regs.pc);
}

static void walk_now(struct stepping *s)
{
	memory_window_init(&s->window, s->tracee.pid);
	walk_stack(s->walker, s->space, &s->tracee.regs, memory_window_word, &s->window, &s->walk);
}

/* Is the address that a frame's function must return to nowhere any more, neither in a register
 * nor on the stack up to that frame? So it is in longjmp, which loads the target's registers one by
 * one, and in functions that do not return and save nothing. */
static bool return_is_gone(struct stepping *s, uint32_t frame)
{
	const struct tracee *t = &s->tracee;
	uint64_t word, mask = t->arch->layout->code_mask;
	if (frame >= s->truth.calls.len)
		return false;
	const struct true_call *call = &s->truth.calls.data[s->truth.calls.len - 1 - frame];
	if (call->signal)
		return false;
	for (unsigned i = 0; i < REGISTERS; i++)
		if (registers_has(&t->regs, i) && (t->regs.reg[i] & mask) == call->ret)
			return false;
	for (uint64_t at = stack_pointer(t); at < call->sp; at += sizeof(word))
		if (!memory_window_word(&s->window, at, &word) || (word & mask) == call->ret)
			return false;
	return true;
}

static bool holds_return(struct stepping *s, const struct true_call *c, uint64_t slot)
{
	uint64_t word, mask = s->tracee.arch->layout->code_mask;
	return memory_window_word(&s->window, slot, &word) && (word & mask) == c->ret;
}

/* Remembers where the innermost function, which is about to call another, has saved its return
 * address. */
static void note_slot(struct stepping *s)
{
	const struct frame *f = &s->walk.frames.data[0];
	struct true_call *c = s->truth.calls.len ? &vec_last(&s->truth.calls) : NULL;
	if (!c || c->slot || c->signal || !s->right || !f->code || !f->code->recipes)
		return;
	const struct recipe *r = recipes_at(f->code->recipes, f->va);
	uint64_t slot = c->sp + (uint64_t)(int64_t)r->ret_offset;
	if (r->ret == RETURN_SAVED && holds_return(s, c, slot))
		c->slot = slot;
}

static bool return_is_overwritten(struct stepping *s, uint32_t frame)
{
	if (frame >= s->truth.calls.len)
		return false;
	const struct true_call *c = &s->truth.calls.data[s->truth.calls.len - 1 - frame];
	return c->slot && !holds_return(s, c, c->slot);
}

static void compare(struct stepping *s)
{
	s->right = false;
	current_place(s);
	walk_now(s);
	bool complete = s->walk.end == WALK_COMPLETE;
	bool transit = truth_in_transit(&s->truth, stack_pointer(&s->tracee));
	uint32_t frame = transit ? 0 : walk_difference(&s->walk, &s->truth);
	s->right = frame == UINT32_MAX;
	s->compared += !transit || complete;
	if (s->right) {
		by_records_compare(&s->by_records, s->walker, s->space, &s->tracee.regs, &s->window,
				   &s->walk);
		return;
	}
	/* A walk that claims to be complete must be the stack after the jump. */
	if (transit && !complete)
		s->transit++;
	else if (!complete && return_is_gone(s, frame))
		s->gone++;
	else
		failures_add(&s->failures, &s->walk, &s->truth, frame, s->steps,
			     return_is_overwritten(s, frame));
}

/* Handlers return to code that calls sigreturn. */
static bool in_new_handler(const struct tracee *t, uint64_t *trampoline)
{
	const struct arch_layout *l = t->arch->layout;
	uint8_t bytes[16];
	if (t->arch->link != REG_NONE)
		*trampoline = t->regs.reg[t->arch->link];
	else if (tracee_read(t, stack_pointer(t), trampoline, sizeof(*trampoline)) !=
		 sizeof(*trampoline))
		return false;
	return tracee_read(t, *trampoline, bytes, l->sigreturn_size) == l->sigreturn_size &&
	       !memcmp(bytes, l->sigreturn, l->sigreturn_size);
}

/* A call of the next instruction, which takes the return address off the stack: x86-64's way to
 * read pc. */
static bool asks_for_address(const struct tracee *t, const struct insn *call)
{
	uint8_t bytes[16];
	struct insn in;
	if (call->kind != INSN_CALL || call->target != call->pc + call->length ||
	    t->arch->link != REG_NONE)
		return false;
	size_t n = tracee_read(t, call->target, bytes, t->arch->insn_max);
	return t->arch->decode(bytes, n, call->target, DECODE_FULL, &in) && in.stack_known &&
	       in.stack == 8;
}

/* Tells the truth what `in` has done, and the failures what that ended. */
static void follow(struct stepping *s, const struct insn *in, uint64_t sp_before)
{
	uint64_t pc = s->tracee.regs.pc;
	if (asks_for_address(&s->tracee, in))
		return;
	enum truth_change change =
		truth_step(&s->truth, in, sp_before, pc, stack_pointer(&s->tracee));
	if (change != TRUTH_SAME && change != TRUTH_CALL && s->failures.open.len)
		failures_settle(&s->failures, &s->truth, change == TRUTH_JUMPED_OUT, pc);
}

static bool in_program(struct stepping *s, uint64_t pc)
{
	return space_find(s->space, pc).code == s->program;
}

/* Lets a library that the program has called do its work; false if the program ends meanwhile. */
static bool run_over_libraries(struct stepping *s)
{
	struct err e;
	while (!in_program(s, s->tracee.regs.pc)) {
		if (!s->truth.calls.len || !in_program(s, vec_last(&s->truth.calls).ret)) {
			tracee_run_to_end(&s->tracee);
			return false;
		}
		if (tracee_run_to(&s->tracee, vec_last(&s->truth.calls).ret, &e))
			return false;
		s->truth.calls.len--;
		s->truth.return_count++;
	}
	return true;
}

/* One instruction; false at the end. */
static bool step(struct stepping *s)
{
	struct tracee *t = &s->tracee;
	struct insn in = current_insn(s);
	struct registers before = t->regs;
	uint64_t sp_before = stack_pointer(t), trampoline;
	bool delivers = t->signal != 0;
	enum tracee_event event;
	if (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT)
		note_slot(s);
	if (delivers || !tracee_run_over_exclusives(t, &in, &event))
		event = tracee_step(t);
	if (event == TRACEE_ENDED)
		return false;
	s->steps++;
	if (delivers && in_new_handler(t, &trampoline))
		truth_signal(&s->truth, before.pc, sp_before, trampoline, stack_pointer(t));
	else if (event == TRACEE_STOPPED || t->regs.pc != before.pc)
		follow(s, &in, sp_before);
	return !s->o.main_only || run_over_libraries(s);
}

static int find_in_program(struct stepping *s, const struct module *module, uint64_t *va,
			   struct err *e)
{
	if (!strncmp(s->o.from, "0x", 2)) {
		*va = strtoull(s->o.from, NULL, 16);
		return 0;
	}
	uint32_t count;
	const struct symbol *all = module_symbols(module, &count);
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(all[i].name, s->o.from) && !(all[i].flags & SYMBOL_OBJECT)) {
			*va = all[i].va;
			return 0;
		}
	return err_set(e, ERR_INPUT, "%s has no symbol %s; give its address", module->path,
		       s->o.from);
}

/* The program is mapped before its first instruction, whoever executes that. */
static int find_start(struct stepping *s, const char *path, uint64_t *pc, struct err *e)
{
	struct maps maps;
	struct module *module = NULL;
	uint64_t va = 0;
	char *real = realpath(path, NULL);
	int rc = maps_read(&maps, s->tracee.pid, e);
	if (rc)
		goto out;
	rc = err_set(e, ERR_INPUT, "%s is not mapped", path);
	for (uint32_t i = 0; i < maps.module_count; i++)
		if (real && !strcmp(maps.modules[i].path, real)) {
			rc = maps_open_module(&module, &maps, &maps.modules[i], e);
			rc = rc ? rc : find_in_program(s, module, &va, e);
			if (!rc && !maps_to_pc(&maps.modules[i], module, va, pc))
				rc = err_set(e, ERR_INPUT, "there is no code at %#" PRIx64, va);
			break;
		}
	if (module)
		module_close(module);
	maps_release(&maps);
out:
	free(real);
	return rc;
}

/* What was called before the start is known from a walk only: it must be complete, and every
 * further comparison and the returns themselves test it again. */
static int take_callers(struct stepping *s, struct err *e)
{
	walk_now(s);
	if (s->walk.end != WALK_COMPLETE)
		return err_set(e, ERR_INPUT, "the walk at the start is not complete: %s",
			       walk_end_name[s->walk.end]);
	const struct frame *frames = s->walk.frames.data;
	for (uint32_t i = s->walk.frames.len; i-- > 1;)
		truth_push(&s->truth, frames[i].pc, frames[i - 1].cfa);
	return 0;
}

static int begin(struct stepping *s, char **argv, struct err *e)
{
	uint64_t start;
	int rc = tracee_start(&s->tracee, argv, e);
	if (rc)
		return rc;
	s->codes = codes_new(&s->o.recipes);
	s->space = space_new(s->codes, s->tracee.pid);
	s->walker = walker_new();
	truth_init(&s->truth, s->tracee.arch);
	if (strcmp(s->o.from, "entry")) {
		rc = find_start(s, argv[0], &start, e);
		rc = rc ? rc : tracee_run_to(&s->tracee, start, e);
		s->program = rc ? NULL : current_place(s).code;
		if (!rc && !s->o.no_walk)
			rc = take_callers(s, e);
	}
	return rc;
}

static void end(struct stepping *s)
{
	if (WIFSTOPPED(s->tracee.status))
		tracee_end(&s->tracee);
	failures_release(&s->failures);
	vec_free(&s->walk.frames);
	vec_free(&s->by_records.walk.frames);
	vec_free(&s->insns);
	hashmap_release(&s->insn_at);
	truth_release(&s->truth);
	if (s->walker)
		walker_free(s->walker);
	if (s->space)
		space_free(s->space);
	if (s->codes)
		codes_free(s->codes);
}

static void run(struct stepping *s)
{
	do {
		if (!s->o.no_walk)
			compare(s);
	} while (s->steps < s->o.limit && step(s));
	vec_clear(&s->truth.calls);
	failures_settle(&s->failures, &s->truth, false, 0);
}

static int report(struct stepping *s, double seconds)
{
	bool good = WIFSTOPPED(s->tracee.status) ||
		    (WIFEXITED(s->tracee.status) && !WEXITSTATUS(s->tracee.status));
	fflush(stdout);
	failures_print(&s->failures, s->space, s->o.report);
	if (!good)
		printf("the program ended with status %#x\n", s->tracee.status);
	if (s->by_records.wrong)
		printf("%" PRIu64 " walks by frame records were wrong, the first at %#" PRIx64 "\n",
		       s->by_records.wrong, s->by_records.first_wrong);
	printf("step: %" PRIu64 " steps at %" PRIu32 " places in %.1f s, %" PRIu64
	       " compared (%" PRIu64 " by records too), %" PRIu64 " in transit, %" PRIu64 " gone; ",
	       s->steps, s->insns.len, seconds, s->compared, s->by_records.complete, s->transit,
	       s->gone);
	printf("%" PRIu64 " calls, %" PRIu64 " returns, %" PRIu64 " odd, %" PRIu64 " jumps out; ",
	       s->truth.call_count, s->truth.return_count, s->truth.odd_count, s->truth.jump_count);
	printf("%" PRIu64 " failures at %" PRIu32 " places (%" PRIu64
	       " claimed to be complete), %" PRIu64 " excused\n",
	       s->failures.steps, s->failures.list.len, s->failures.false_ends,
	       s->failures.excused);
	return s->failures.steps || s->by_records.wrong || !good;
}

static bool parse(struct options *o, int argc, char **argv)
{
	static const struct option list[] = {
		{"from", required_argument, NULL, 'f'},   {"limit", required_argument, NULL, 'l'},
		{"report", required_argument, NULL, 'r'}, {"main-only", no_argument, NULL, 'm'},
		{"no-walk", no_argument, NULL, 'w'},      {"no-cfi", no_argument, NULL, 'c'},
		{"no-analysis", no_argument, NULL, 'a'},  {0}};
	*o = (struct options){.from = "main", .limit = UINT64_MAX, .report = 20};
	for (int c; (c = getopt_long(argc, argv, "+", list, NULL)) != -1;)
		switch (c) {
		case 'f': o->from = optarg; break;
		case 'l': o->limit = strtoull(optarg, NULL, 10); break;
		case 'r': o->report = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'm': o->main_only = true; break;
		case 'w': o->no_walk = true; break;
		case 'c': o->recipes.no_cfi = true; break;
		case 'a': o->recipes.no_analysis = true; break;
		default: return false;
		}
	return optind < argc;
}

int main(int argc, char **argv)
{
	static struct stepping s;
	struct timespec from, to;
	struct err e;
	int status = 1;
	if (!parse(&s.o, argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	if (begin(&s, argv + optind, &e)) {
		printf("step: %s\n", e.text);
	} else {
		run(&s);
		clock_gettime(CLOCK_MONOTONIC, &to);
		status = report(&s, (double)(to.tv_sec - from.tv_sec) +
					    (double)(to.tv_nsec - from.tv_nsec) / 1e9);
	}
	end(&s);
	return status;
}
