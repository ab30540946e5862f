/* The tables of this machine's architecture against what the kernel does: a signal frame, a perf
 * sample and ptrace's registers of the same instant must agree in all registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isa/arch.h"

/* What a signal handler found in its frame; the child of a test shares it. */
struct seen {
	struct registers regs;
	uint8_t trampoline[16];
	volatile bool done;
};

static struct seen *seen;
static void *guarded; /* a page that nobody may touch */

/* The handler's CFA is the stack pointer that its return leaves to the trampoline. */
static void look(int signal)
{
	const struct arch_layout *l = arch_native()->layout;
	const char *frame = __builtin_dwarf_cfa();
	uint64_t word;
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (l->signal_reg[i] == LAYOUT_ABSENT)
			continue;
		memcpy(&word, frame + l->signal_reg[i], sizeof(word));
		registers_set(&seen->regs, i, word);
	}
	memcpy(&seen->regs.pc, frame + l->signal_pc, sizeof(word));
	memcpy(seen->trampoline, __builtin_return_address(0), l->sigreturn_size);
	if (signal == SIGSEGV)
		mprotect(guarded, 1, PROT_READ | PROT_WRITE);
	seen->done = true;
}

static void catch_signal(int signal)
{
	const struct sigaction action = {.sa_handler = look};
	assert_int_equal(sigaction(signal, &action, NULL), 0);
}

static void *shared_page(int protection)
{
	void *p = mmap(NULL, 4096, protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void assert_same(const struct registers *a, const struct registers *b)
{
	assert_int_equal(a->known, b->known);
	assert_int_equal(a->pc, b->pc);
	for (unsigned i = 0; i < REGISTERS; i++)
		if (registers_has(a, i) && a->reg[i] != b->reg[i])
			fail_msg("%s differs", arch_native()->reg_name(i));
}

static void skip_without_tables(void)
{
	if (!arch_native())
		skip();
	seen = shared_page(PROT_READ | PROT_WRITE);
}

static int spinning_child(void)
{
	int pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if a check fails */
	catch_signal(SIGUSR1);
	seen->regs.pc = 1; /* ready */
	while (!seen->done)
		;
	pause();
	_exit(0);
}

/* A signal that is sent while the child is stopped interrupts it at this very place. */
static void a_signal_frame_has_what_ptrace_has(void **state)
{
	uint8_t regset[512];
	struct iovec io = {.iov_base = regset, .iov_len = sizeof(regset)};
	struct registers regs;
	int status;
	(void)state;
	skip_without_tables();
	int pid = spinning_child();
	while (*(volatile uint64_t *)&seen->regs.pc != 1)
		usleep(1000);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) != 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		skip();
	}
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io), 0);
	assert_true(registers_from_ptrace(arch_native(), regset, io.iov_len, &regs));
	kill(pid, SIGUSR1);
	assert_int_equal(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, 0, SIGUSR1), 0);
	for (int i = 0; i < 5000 && !seen->done; i++)
		usleep(1000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(seen->done);
	assert_same(&regs, &seen->regs);
	assert_memory_equal(seen->trampoline, arch_native()->layout->sigreturn,
			    arch_native()->layout->sigreturn_size);
	assert_false(registers_from_ptrace(arch_native(), regset, io.iov_len - 8, &regs));
}

/* Counts faults of this thread, a sample each. */
static struct perf_event_mmap_page *count_faults(int *fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = arch_native()->layout->perf_mask,
		.exclude_kernel = 1,
	};
	*fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (*fd < 0)
		return NULL;
	void *ring = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) * 9, PROT_READ | PROT_WRITE,
			  MAP_SHARED, *fd, 0);
	return ring == MAP_FAILED ? NULL : ring;
}

struct fault {
	struct perf_event_header header;
	uint64_t address, abi, words[64];
};

static bool find_fault(const struct perf_event_mmap_page *ring, uint64_t address, struct fault *out)
{
	const uint8_t *data = (const uint8_t *)ring + ring->data_offset;
	for (uint64_t at = 0; at < ring->data_head; at += out->header.size) {
		memcpy(&out->header, data + at, sizeof(out->header));
		if (!out->header.size || at + out->header.size > ring->data_size)
			return false;
		memcpy(out, data + at,
		       out->header.size < sizeof(*out) ? out->header.size : sizeof(*out));
		if (out->header.type == PERF_RECORD_SAMPLE && out->address == address)
			return true;
	}
	return false;
}

static void a_perf_sample_has_what_a_signal_frame_has(void **state)
{
	struct fault fault;
	struct registers regs;
	int fd;
	(void)state;
	skip_without_tables();
	guarded = shared_page(PROT_NONE);
	struct perf_event_mmap_page *ring = count_faults(&fd);
	if (!ring)
		skip();
	catch_signal(SIGSEGV);
	*(volatile char *)guarded = 1;
	signal(SIGSEGV, SIG_DFL);
	close(fd);
	assert_true(seen->done);
	assert_true(find_fault(ring, (uint64_t)(uintptr_t)guarded, &fault));
	assert_int_equal(fault.abi, PERF_SAMPLE_REGS_ABI_64);
	registers_from_perf(arch_native(), fault.words, &regs);
	assert_same(&regs, &seen->regs);
}

/* What no kernel here can check. */
static void the_tables_make_sense(void **state)
{
	static const struct arch *const all[] = {&arch_a64, &arch_x64};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct arch_layout *l = all[i]->layout;
		uint64_t mask = UINT64_C(1) << l->perf_pc;
		struct insn in;
		for (unsigned r = 0; r < REGISTERS; r++) {
			assert_int_equal(l->perf_reg[r] == LAYOUT_ABSENT,
					 l->ptrace_reg[r] == LAYOUT_ABSENT);
			assert_int_equal(l->perf_reg[r] == LAYOUT_ABSENT,
					 l->signal_reg[r] == LAYOUT_ABSENT);
			if (l->perf_reg[r] != LAYOUT_ABSENT)
				mask |= UINT64_C(1) << l->perf_reg[r];
		}
		assert_int_equal(mask, l->perf_mask);
		size_t n = all[i]->decode(l->sigreturn, l->sigreturn_size, 0, DECODE_FULL, &in);
		assert_int_equal(in.op, OP_SET);
		assert_int_equal(in.imm, i ? 15 : 139);
		assert_int_equal(n + all[i]->decode(l->sigreturn + n, l->sigreturn_size - n, 0,
						    DECODE_FULL, &in),
				 l->sigreturn_size);
		assert_int_equal(in.kind, INSN_SYSCALL);
		assert_int_equal(l->code_mask & UINT64_C(0x7ffffffff000), 0x7ffffffff000);
	}
	assert_int_equal(a64_layout.code_mask & UINT64_C(0x00abaaaad1234568), 0xaaaad1234568);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_frame_has_what_ptrace_has),
		cmocka_unit_test(a_perf_sample_has_what_a_signal_frame_has),
		cmocka_unit_test(the_tables_make_sense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
