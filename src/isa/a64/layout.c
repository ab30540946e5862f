/* Where Linux on aarch64 stores a thread's registers. The numbers are part of the kernel's
 * interface to programs and cannot change: asm/perf_regs.h, asm/ptrace.h and asm/sigcontext.h. */
#include "isa/registers.h"

enum { SP = 31 };

/* struct user_pt_regs: regs[31], sp, pc, pstate. */
enum { PTRACE_PC = 256, PTRACE_SIZE = 272 };

/* A signal handler's frame, from the stack pointer up. When the handler returns, the stack pointer
 * is back here:
 *
 *	0    siginfo
 *	128  ucontext: flags, link, stack, signal mask with room for 1024 signals
 *	304  sigcontext, aligned to 16: fault_address
 *	312  regs[31], sp, pc */
enum { SIGNAL_X0 = 312, SIGNAL_PC = SIGNAL_X0 + 8 * (SP + 1) };

/* mov x8, #139 (rt_sigreturn); svc #0: used by the vdso, and by libraries that bring their own. */
static const uint8_t sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

/* All layouts store registers 0 to 31 in this order. */
#define FOUR(n, step) (n), (n) + (step), (n) + 2 * (step), (n) + 3 * (step)
#define SIXTEEN(n, step)                                                                           \
	FOUR(n, step), FOUR((n) + 4 * (step), step), FOUR((n) + 8 * (step), step),                 \
		FOUR((n) + 12 * (step), step)
#define IN_A_ROW(n, step)                                                                          \
	{                                                                                          \
		SIXTEEN(n, step), SIXTEEN((n) + 16 * (step), step)                                 \
	}

/* Signed pointers carry their signature, and tagged ones their tag, above the bits that address
 * memory. User addresses have 48 bits. A CPU and kernel with 52-bit addresses hand out higher
 * addresses only to a program that requests one in mmap(), which no loader does for code. Where the
 * kernel is built for 48 bits, signatures begin right at bit 48. So 48 bits are kept. */
#define CODE_MASK ((UINT64_C(1) << 48) - 1)

const struct arch_layout a64_layout = {
	.perf_mask = (UINT64_C(1) << 33) - 1,
	.perf_reg = IN_A_ROW(0, 1),
	.perf_pc = 32,
	.ptrace_reg = IN_A_ROW(0, 8),
	.ptrace_pc = PTRACE_PC,
	.ptrace_size = PTRACE_SIZE,
	.sigreturn = sigreturn,
	.sigreturn_size = sizeof(sigreturn),
	.signal_reg = IN_A_ROW(SIGNAL_X0, 8),
	.signal_pc = SIGNAL_PC,
	.code_mask = CODE_MASK,
};
