#include "tracee.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/memory.h"

/* The two architectures' breakpoints. x86-64 stops behind its one, aarch64 on it. */
static const uint8_t trap_a64[] = {0x00, 0x00, 0x20, 0xd4}, trap_x64[] = {0xcc};

enum { REGSET_MAX = 1024, BREAKPOINTS_MAX = 4, EXCLUSIVES_MAX = 16 };

struct breakpoint {
	uint64_t pc;
	uint8_t bytes[4]; /* what was there */
};

static const uint8_t *trap_of(const struct arch *arch, size_t *size)
{
	*size = arch == &arch_a64 ? sizeof(trap_a64) : sizeof(trap_x64);
	return arch == &arch_a64 ? trap_a64 : trap_x64;
}

size_t tracee_read(const struct tracee *t, uint64_t address, void *to, size_t n)
{
	return memory_read(t->pid, address, to, n);
}

/* Code is not writable: only ptrace may change it. */
static void write_code(const struct tracee *t, uint64_t pc, const uint8_t *bytes, size_t n)
{
	uint64_t word = 0, at = pc & ~UINT64_C(7);
	tracee_read(t, at, &word, sizeof(word));
	if (pc - at + n <= sizeof(word)) {
		memcpy((uint8_t *)&word + (pc - at), bytes, n);
		ptrace(PTRACE_POKETEXT, t->pid, at, word);
	}
}

static void plant(const struct tracee *t, struct breakpoint *b)
{
	size_t n;
	const uint8_t *trap = trap_of(t->arch, &n);
	tracee_read(t, b->pc, b->bytes, n);
	write_code(t, b->pc, trap, n);
}

static void take_out(const struct tracee *t, const struct breakpoint *b)
{
	size_t n;
	trap_of(t->arch, &n);
	write_code(t, b->pc, b->bytes, n);
}

static bool read_registers(struct tracee *t)
{
	uint8_t regset[REGSET_MAX];
	struct iovec io = {regset, sizeof(regset)};
	return ptrace(PTRACE_GETREGSET, t->pid, NT_PRSTATUS, &io) == 0 &&
	       registers_from_ptrace(t->arch, regset, io.iov_len, &t->regs);
}

static void set_pc(struct tracee *t, uint64_t pc)
{
	uint8_t regset[REGSET_MAX];
	struct iovec io = {regset, sizeof(regset)};
	ptrace(PTRACE_GETREGSET, t->pid, NT_PRSTATUS, &io);
	memcpy(regset + t->arch->layout->ptrace_pc, &pc, sizeof(pc));
	ptrace(PTRACE_SETREGSET, t->pid, NT_PRSTATUS, &io);
	t->regs.pc = pc;
}

/* Waits for the next stop. */
static enum tracee_event await(struct tracee *t)
{
	while (waitpid(t->pid, &t->status, 0) < 0 && errno == EINTR)
		;
	if (!WIFSTOPPED(t->status) || !read_registers(t))
		return TRACEE_ENDED;
	t->signal = WSTOPSIG(t->status);
	if (t->signal != SIGTRAP)
		return TRACEE_SIGNAL;
	t->signal = 0;
	return TRACEE_STOPPED;
}

static enum tracee_event resume(struct tracee *t, int how)
{
	ptrace(how, t->pid, 0, (long)t->signal);
	t->signal = 0;
	return await(t);
}

enum tracee_event tracee_step(struct tracee *t)
{
	return resume(t, PTRACE_SINGLESTEP);
}

/* Stays on one CPU, which makes a step several times quicker. Addresses are the same in every
 * run, so that a failure can be looked at again. */
static void become(char **argv)
{
	personality(ADDR_NO_RANDOMIZE);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	execvp(argv[0], argv);
	_exit(127);
}

static void stay_on_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int tracee_start(struct tracee *t, char **argv, struct err *e)
{
	*t = (struct tracee){.arch = arch_native()};
	stay_on_one_cpu();
	t->pid = fork();
	if (t->pid < 0)
		return err_errno(e, "no process can be started");
	if (!t->pid)
		become(argv);
	if (await(t) != TRACEE_STOPPED)
		return err_set(e, ERR_SYSTEM, "%s cannot be run", argv[0]);
	ptrace(PTRACE_SETOPTIONS, t->pid, 0, PTRACE_O_EXITKILL);
	return 0;
}

void tracee_end(struct tracee *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
}

/* Runs until one of the breakpoints is met; takes them out again. */
static enum tracee_event run_to_breakpoints(struct tracee *t, struct breakpoint *list,
					    unsigned count)
{
	size_t n;
	for (unsigned i = 0; i < count; i++)
		plant(t, &list[i]);
	enum tracee_event event = resume(t, PTRACE_CONT);
	for (unsigned i = 0; event != TRACEE_ENDED && i < count; i++)
		take_out(t, &list[i]);
	trap_of(t->arch, &n);
	for (unsigned i = 0; event == TRACEE_STOPPED && n == 1 && i < count; i++)
		if (t->regs.pc == list[i].pc + n)
			set_pc(t, list[i].pc);
	return event;
}

int tracee_run_to(struct tracee *t, uint64_t pc, struct err *e)
{
	struct breakpoint b = {.pc = pc};
	while (run_to_breakpoints(t, &b, 1) == TRACEE_SIGNAL)
		;
	if (!WIFSTOPPED(t->status) || t->regs.pc != pc)
		return err_set(e, ERR_INPUT, "the program ended before it came to the start");
	return 0;
}

void tracee_run_to_end(struct tracee *t)
{
	while (resume(t, PTRACE_CONT) != TRACEE_ENDED)
		;
}

/* Load (L=1) or store exclusive of one register or a pair; CASP shares the pairs' encoding for
 * sizes below 4. */
static bool is_exclusive(uint32_t word, bool load)
{
	bool shape = (word & 0x3fc00000) == (load ? 0x08400000 : 0x08000000);
	bool compares = (word & 0x80200000) == 0x00200000;
	return shape && !compares;
}

bool tracee_run_over_exclusives(struct tracee *t, const struct insn *in, enum tracee_event *event)
{
	uint32_t words[EXCLUSIVES_MAX];
	struct breakpoint list[BREAKPOINTS_MAX];
	unsigned count = 0, i = 0;
	if (t->arch != &arch_a64 || in->class != CLASS_ATOMIC)
		return false;
	size_t n = tracee_read(t, in->pc, words, sizeof(words)) / 4;
	if (!n || !is_exclusive(words[0], true))
		return false;
	while (++i < n && !is_exclusive(words[i], false)) {
		struct insn next;
		if (!t->arch->decode((const uint8_t *)&words[i], 4, in->pc + i * 4, DECODE_FLOW,
				     &next))
			return false;
		if (next.kind == INSN_BRANCH && count < BREAKPOINTS_MAX - 1)
			list[count++].pc = next.target;
		else if (next.kind != INSN_PLAIN)
			return false;
	}
	if (i >= n)
		return false;
	list[count++].pc = in->pc + i * 4 + 4;
	*event = run_to_breakpoints(t, list, count);
	return true;
}
