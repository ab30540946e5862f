/* An interpreter for filters that does not need to know everything that they look at.
 *
 * A word is known or unknown. At a jump that depends on an unknown word, both branches are
 * followed, and the worst verdict counts. Filters jump forwards only, so that this ends. But a
 * filter with many such jumps in a row has exponentially many paths; hence STEPS_MAX. An unknown
 * result of the filter counts as the worst one. */
#include "process/seccomp.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "isa/arch.h"
#include "isa/calls.h"

enum { STEPS_MAX = 200000, FILTERS_MAX = 1024 };

struct filter_word {
	uint32_t value;
	bool known;
};

/* The registers and the memory of the BPF machine. */
struct machine_state {
	uint32_t pc;
	struct filter_word a, x;
	struct filter_word memory[BPF_MEMWORDS];
};

struct evaluation {
	const struct sock_filter *code;
	uint32_t count, audit;
	const struct asked_call *call;
	uint32_t steps;
	enum call_verdict worst;
};

/* What a filter sees of the call: struct seccomp_data. */

static struct filter_word known(uint32_t value)
{
	return (struct filter_word){value, true};
}

static struct filter_word unknown(void)
{
	return (struct filter_word){0, false};
}

static struct filter_word data_word(const struct evaluation *v, uint32_t offset)
{
	uint32_t first = offsetof(struct seccomp_data, args), n = (offset - first) / 8;
	if (offset == offsetof(struct seccomp_data, nr))
		return known((uint32_t)v->call->number);
	if (offset == offsetof(struct seccomp_data, arch))
		return known(v->audit);
	if (offset < first || n >= 6 || !(v->call->known >> n & 1))
		return unknown(); /* for example the instruction pointer */
	/* Both architectures are little-endian. */
	return known((uint32_t)(v->call->args[n] >> (offset % 8 * 8)));
}

/* Instructions. */

static struct filter_word calculate(uint16_t op, struct filter_word a, struct filter_word b)
{
	if (!a.known || (op != BPF_NEG && !b.known))
		return unknown();
	switch (op) {
	case BPF_ADD: return known(a.value + b.value);
	case BPF_SUB: return known(a.value - b.value);
	case BPF_MUL: return known(a.value * b.value);
	case BPF_DIV: return b.value ? known(a.value / b.value) : unknown();
	case BPF_MOD: return b.value ? known(a.value % b.value) : unknown();
	case BPF_OR: return known(a.value | b.value);
	case BPF_AND: return known(a.value & b.value);
	case BPF_XOR: return known(a.value ^ b.value);
	case BPF_LSH: return known(a.value << (b.value & 31));
	case BPF_RSH: return known(a.value >> (b.value & 31));
	case BPF_NEG: return known(0 - a.value);
	default: return unknown();
	}
}

static bool compare(uint16_t op, uint32_t a, uint32_t b)
{
	switch (op) {
	case BPF_JEQ: return a == b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	default: return a & b; /* BPF_JSET */
	}
}

static struct filter_word load_word(const struct evaluation *v, const struct machine_state *s,
				    const struct sock_filter *in)
{
	switch (BPF_MODE(in->code)) {
	case BPF_IMM: return known(in->k);
	case BPF_ABS: return data_word(v, in->k);
	case BPF_MEM: return in->k < BPF_MEMWORDS ? s->memory[in->k] : unknown();
	case BPF_LEN: return known(sizeof(struct seccomp_data));
	default: return unknown();
	}
}

static void raise_verdict(struct evaluation *v, enum call_verdict verdict)
{
	if (verdict > v->worst)
		v->worst = verdict;
}

/* A division by 0 ends the filter with the result 0, which kills. This must count at once: the
 * unknown quotient itself counts only if the result of the filter depends on it. */
static bool divides_by_zero(uint16_t op, struct filter_word b)
{
	return (op == BPF_DIV || op == BPF_MOD) && (!b.known || !b.value);
}

static void end_with(struct evaluation *v, struct filter_word result)
{
	if (!result.known)
		raise_verdict(v, CALL_HARMS);
	else if ((result.value & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		raise_verdict(v, CALL_FAILS);
	else if ((result.value & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ALLOW)
		raise_verdict(v, CALL_HARMS);
}

static void run(struct evaluation *v, struct machine_state s);

static void jump(struct evaluation *v, struct machine_state *s, const struct sock_filter *in)
{
	struct filter_word b = BPF_SRC(in->code) == BPF_X ? s->x : known(in->k);
	uint16_t op = BPF_OP(in->code);
	if (op == BPF_JA) {
		s->pc += in->k;
	} else if (s->a.known && b.known) {
		s->pc += compare(op, s->a.value, b.value) ? in->jt : in->jf;
	} else if (in->jt == in->jf) {
		s->pc += in->jt;
	} else {
		struct machine_state other = *s;
		other.pc += in->jf;
		run(v, other);
		s->pc += in->jt;
	}
}

/* Executes one instruction; false if it was the last. */
static bool step(struct evaluation *v, struct machine_state *s, const struct sock_filter *in)
{
	struct filter_word b = BPF_SRC(in->code) == BPF_X ? s->x : known(in->k);
	switch (BPF_CLASS(in->code)) {
	case BPF_LD: s->a = load_word(v, s, in); break;
	case BPF_LDX: s->x = load_word(v, s, in); break;
	case BPF_ST: s->memory[in->k % BPF_MEMWORDS] = s->a; break;
	case BPF_STX: s->memory[in->k % BPF_MEMWORDS] = s->x; break;
	case BPF_ALU:
		if (divides_by_zero(BPF_OP(in->code), b))
			raise_verdict(v, CALL_HARMS);
		s->a = calculate(BPF_OP(in->code), s->a, b);
		break;
	case BPF_JMP: jump(v, s, in); break;
	case BPF_MISC:
		if (BPF_MISCOP(in->code) == BPF_TAX)
			s->x = s->a;
		else
			s->a = s->x;
		break;
	default: /* BPF_RET */
		end_with(v, BPF_RVAL(in->code) == BPF_A ? s->a : known(in->k));
		return false;
	}
	return true;
}

/* Ends at the first CALL_HARMS, because nothing is worse. */
static void run(struct evaluation *v, struct machine_state s)
{
	while (v->worst < CALL_HARMS) {
		if (s.pc >= v->count || v->steps++ > STEPS_MAX) {
			raise_verdict(v, CALL_HARMS);
			return;
		}
		if (!step(v, &s, &v->code[s.pc++]))
			return;
	}
}

enum call_verdict filter_verdict(const struct sock_filter *code, uint32_t count, uint32_t audit,
				 const struct asked_call *call)
{
	struct evaluation v = {.code = code, .count = count, .audit = audit, .call = call};
	struct machine_state s = {.pc = 0, .a = known(0), .x = known(0)};
	for (uint32_t i = 0; i < BPF_MEMWORDS; i++)
		s.memory[i] = unknown();
	run(&v, s);
	return v.worst;
}

/* The filters of a thread. */

/* Returns the number of instructions of filter `n`, where 0 is the newest filter. 0: there is no
 * such filter; negative: it cannot be read. */
static long get_filter(int tid, uint32_t n, struct sock_filter *out)
{
	long count = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (uintptr_t)n, out);
	return count < 0 && errno == ENOENT ? 0 : count > 0 ? count : -1;
}

void filters_read(struct thread_filters *f, int tid)
{
	struct sock_filter code[BPF_MAXINSNS];
	*f = (struct thread_filters){.state = FILTERS_NONE};
	int mode = thread_seccomp(tid);
	if (mode == SECCOMP_MODE_DISABLED)
		return;
	f->state = FILTERS_UNKNOWN;
	if (mode != SECCOMP_MODE_FILTER)
		return;
	for (uint32_t n = 0; n < FILTERS_MAX; n++) {
		long count = get_filter(tid, n, NULL);
		if (count > BPF_MAXINSNS)
			return;
		if (!count && n)
			f->state = FILTERS_KNOWN;
		if (count <= 0 || get_filter(tid, n, code) != count)
			return;
		vec_push(&f->counts, (uint32_t)count);
		for (long i = 0; i < count; i++)
			vec_push(&f->code, code[i]);
	}
}

void filters_release(struct thread_filters *f)
{
	vec_free(&f->code);
	vec_free(&f->counts);
}

enum call_verdict filters_verdict(const struct thread_filters *f, const struct asked_call *call)
{
	enum call_verdict worst = CALL_PASSES;
	uint32_t at = 0;
	if (f->state != FILTERS_KNOWN)
		return f->state == FILTERS_NONE ? CALL_PASSES : CALL_HARMS;
	vec_each (count, &f->counts) {
		enum call_verdict one = filter_verdict(f->code.data + at, *count,
						       arch_calls(arch_native())->audit, call);
		worst = one > worst ? one : worst;
		at += *count;
	}
	return worst;
}

/* Confined threads and processes. */

bool thread_is_confined(int tid)
{
	return thread_seccomp(tid) > SECCOMP_MODE_DISABLED;
}

bool call_confines(const struct call_made *call)
{
	return call->number == SYS_seccomp ||
	       (call->number == SYS_prctl && call->arguments[0] == PR_SET_SECCOMP);
}

/* The call may confine the other threads of the process as well (SECCOMP_FILTER_FLAG_TSYNC). */
bool thread_may_be_confined(int pid, int tid)
{
	struct call_made call = thread_call(pid, tid);
	return thread_is_confined(tid) || call_confines(&call);
}

bool process_is_confined(int pid)
{
	tid_list tids = {0};
	struct err ignored;
	bool any = false;
	threads_list(pid, &tids, &ignored);
	vec_each (tid, &tids)
		any = any || thread_is_confined(*tid);
	vec_free(&tids);
	return any;
}

bool filters_are_readable(void)
{
	int self = getpid();
	return !thread_is_confined(self) && thread_is_capable(self, CAP_SYS_ADMIN);
}
