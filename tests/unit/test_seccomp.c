/* What becomes of calls under filters, with the kernel as the judge: a child puts the filter on and
 * makes the call. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/arch.h"
#include "isa/calls.h"
#include "process/seccomp.h"

enum { LENGTH = 64, RANDOM_FILTERS = 400 };

struct filter {
	struct sock_filter code[LENGTH];
	unsigned short length;
};

static void put(struct filter *f, uint16_t op, uint32_t k, uint8_t yes, uint8_t no)
{
	f->code[f->length++] = (struct sock_filter){op, yes, no, k};
}

static uint32_t audit(void)
{
	return arch_calls(arch_native())->audit;
}

static enum call_verdict verdict(const struct filter *f, const struct asked_call *c)
{
	return filter_verdict(f->code, f->length, audit(), c);
}

/* ---- the kernel ---- */

/* Makes the call of getppid with arguments that nobody looks at but the filter. */
static int judge(const struct filter *f, const struct asked_call *c)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		struct sock_fprog p = {f->length, (struct sock_filter *)(uintptr_t)f->code};
		signal(SIGSYS, SIG_DFL);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
			_exit(77);
		long r = syscall(c->number, c->args[0], c->args[1], c->args[2], c->args[3],
				 c->args[4], c->args[5]);
		syscall(SYS_exit_group, r < 0 ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return CALL_HARMS;
	return WEXITSTATUS(status) == 77 ? -1 : WEXITSTATUS(status) ? CALL_FAILS : CALL_PASSES;
}

static uint32_t pick(uint64_t *seed, uint32_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

static uint32_t some_constant(uint64_t *seed)
{
	static const uint32_t values[] = {0, 1, 2, 5, 31, 33, 0xff, 0x80000000, UINT32_MAX};
	return values[pick(seed, 9)];
}

static void put_random(struct filter *f, uint64_t *seed, unsigned left)
{
	static const uint16_t calculations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,
						BPF_AND, BPF_LSH, BPF_RSH, BPF_XOR, BPF_NEG};
	static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
	uint16_t source = pick(seed, 2) ? BPF_X : BPF_K, op;
	uint32_t k = some_constant(seed);
	switch (pick(seed, 9)) {
	case 0:
	case 1:
		put(f, BPF_LD | BPF_W | BPF_ABS,
		    (uint32_t)offsetof(struct seccomp_data, args) + 4 * pick(seed, 12), 0, 0);
		break;
	case 2: put(f, BPF_MISC | (pick(seed, 2) ? BPF_TAX : BPF_TXA), 0, 0, 0); break;
	case 3:
		put(f, pick(seed, 2) ? BPF_LD | BPF_IMM : BPF_LDX | BPF_W | BPF_IMM, k, 0, 0);
		break;
	case 4:
		put(f, pick(seed, 2) ? BPF_LD | BPF_MEM : BPF_LDX | BPF_W | BPF_MEM, 3, 0, 0);
		break;
	case 5: put(f, pick(seed, 2) ? BPF_ST : BPF_STX, 3, 0, 0); break;
	case 6:
		op = calculations[pick(seed, 10)];
		if (op == BPF_DIV && source == BPF_K && !k)
			k = 1; /* the kernel refuses it */
		if ((op == BPF_LSH || op == BPF_RSH) && source == BPF_K)
			k %= 32;
		put(f, BPF_ALU | op | source, k, 0, 0);
		break;
	default:
		put(f, BPF_JMP | jumps[pick(seed, 4)] | source, k, (uint8_t)pick(seed, left),
		    (uint8_t)pick(seed, left));
	}
}

/* Other calls than the one that is asked about pass; what remains is random. */
static void make_random(struct filter *f, uint64_t *seed)
{
	enum { BODY = 24, ANSWERS = 4 };
	static const uint32_t answers[] = {SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM,
					   SECCOMP_RET_TRAP, SECCOMP_RET_KILL_PROCESS};
	f->length = 0;
	put(f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0);
	put(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	put(f, BPF_ST, 3, 0, 0);
	for (unsigned i = 0; i < BODY; i++)
		put_random(f, seed, BODY - i + ANSWERS - 1);
	for (unsigned i = 0; i < ANSWERS; i++)
		put(f, BPF_RET | BPF_K, answers[(i + pick(seed, 2)) % ANSWERS], 0, 0);
}

static void random_filters(void **state)
{
	(void)state;
	uint64_t seed = 17;
	unsigned seen[3] = {0}, judged = 0;
	for (unsigned i = 0; i < RANDOM_FILTERS; i++) {
		struct filter f;
		struct asked_call c = {.number = SYS_getppid, .known = 63};
		make_random(&f, &seed);
		for (unsigned k = 0; k < 6; k++)
			c.args[k] = (uint64_t)some_constant(&seed) << 32 | some_constant(&seed);
		int truth = judge(&f, &c);
		if (truth < 0)
			continue;
		judged++;
		enum call_verdict v = verdict(&f, &c);
		/* Dividing by 0 ends a filter at once: to kill is the worst we can say of it. */
		assert_int_equal(v, truth);
		seen[v]++;
		/* Whoever knows less is not more trusting. */
		c.known = (uint8_t)pick(&seed, 63);
		assert_true(verdict(&f, &c) >= v);
	}
	if (!judged)
		skip();
	assert_true(seen[CALL_PASSES] > 10 && seen[CALL_FAILS] > 10 && seen[CALL_HARMS] > 10);
}

/* ---- usual shapes ---- */

static void answers_of_all_kinds(void **state)
{
	(void)state;
	static const struct {
		uint32_t answer;
		enum call_verdict verdict;
	} kinds[] = {
		{SECCOMP_RET_ALLOW, CALL_PASSES},
		{SECCOMP_RET_ERRNO | 5, CALL_FAILS},
		{SECCOMP_RET_TRAP, CALL_HARMS},
		{SECCOMP_RET_KILL_THREAD, CALL_HARMS},
		{SECCOMP_RET_KILL_PROCESS, CALL_HARMS},
		{SECCOMP_RET_TRACE, CALL_HARMS},
		{SECCOMP_RET_LOG, CALL_HARMS},
		{SECCOMP_RET_USER_NOTIF, CALL_HARMS},
		{0x12340000, CALL_HARMS},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct filter f = {.length = 0};
		put(&f, BPF_RET | BPF_K, kinds[i].answer, 0, 0);
		struct asked_call c = {.number = SYS_getppid};
		assert_int_equal(verdict(&f, &c), kinds[i].verdict);
	}
}

/* Other architectures are killed; mmap may not map what can be executed. */
static void arguments_and_architecture(void **state)
{
	(void)state;
	struct filter f = {.length = 0};
	put(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	put(&f, BPF_JMP | BPF_JEQ | BPF_K, audit(), 1, 0);
	put(&f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	put(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	put(&f, BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3);
	put(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]), 0, 0);
	put(&f, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);
	put(&f, BPF_RET | BPF_K, SECCOMP_RET_TRAP, 0, 0);
	put(&f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	struct asked_call c = {.number = SYS_mmap, .args = {[2] = PROT_READ}, .known = 1 << 2};
	assert_int_equal(verdict(&f, &c), CALL_PASSES);
	c.args[2] = PROT_READ | PROT_EXEC;
	assert_int_equal(verdict(&f, &c), CALL_HARMS);
	c.known = 0;
	assert_int_equal(verdict(&f, &c), CALL_HARMS);
	c.number = SYS_getppid;
	assert_int_equal(verdict(&f, &c), CALL_PASSES);
	assert_int_equal(filter_verdict(f.code, f.length, AUDIT_ARCH_PPC64, &c), CALL_HARMS);
}

/* Paths double at each; there is an end to looking at them. */
static void exponentially_many_paths(void **state)
{
	(void)state;
	static struct sock_filter code[300];
	uint32_t n = 0;
	for (unsigned i = 0; i < 90; i++) {
		code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, args[0]));
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct asked_call c = {.number = SYS_getppid};
	assert_int_equal(filter_verdict(code, n, audit(), &c), CALL_HARMS);
	c.known = 1;
	assert_int_equal(filter_verdict(code, n, audit(), &c), CALL_PASSES);
}

/* ---- of a thread ---- */

static void put_on(uint32_t number, uint32_t what)
{
	struct filter f = {.length = 0};
	put(&f, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	put(&f, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
	put(&f, BPF_RET | BPF_K, what, 0, 0);
	put(&f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	struct sock_fprog p = {f.length, f.code};
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		_exit(77);
}

/* All filters of the stack count. */
static void filters_of_a_thread(void **state)
{
	(void)state;
	struct thread_filters filters;
	int status;
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		put_on(SYS_getuid, SECCOMP_RET_ERRNO | EPERM);
		put_on(SYS_getgid, SECCOMP_RET_TRAP);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		skip();
	assert_true(thread_is_confined(pid) && process_is_confined(pid));
	filters_read(&filters, pid);
	bool readable = filters_are_readable();
	assert_int_equal(filters.state, readable ? FILTERS_KNOWN : FILTERS_UNKNOWN);
	struct asked_call uid = {.number = SYS_getuid}, gid = {.number = SYS_getgid},
			  ppid = {.number = SYS_getppid};
	assert_int_equal(filters_verdict(&filters, &uid), readable ? CALL_FAILS : CALL_HARMS);
	assert_int_equal(filters_verdict(&filters, &gid), CALL_HARMS);
	assert_int_equal(filters_verdict(&filters, &ppid), readable ? CALL_PASSES : CALL_HARMS);
	filters_release(&filters);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_filters),
		cmocka_unit_test(answers_of_all_kinds),
		cmocka_unit_test(arguments_and_architecture),
		cmocka_unit_test(exponentially_many_paths),
		cmocka_unit_test(filters_of_a_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
