/* Where Linux on x86-64 stores a thread's registers. The numbers are part of the kernel's interface
 * to programs and cannot change: asm/perf_regs.h, sys/user.h and asm/sigcontext.h. */
#include "isa/x64/x64.h"

/* There are no registers 16 to 31. */
#define FOUR_ABSENT LAYOUT_ABSENT, LAYOUT_ABSENT, LAYOUT_ABSENT, LAYOUT_ABSENT
#define NOWHERE     [16] = FOUR_ABSENT, FOUR_ABSENT, FOUR_ABSENT, FOUR_ABSENT

/* The handler's return has popped pretcode, the address of the trampoline. From the stack pointer
 * up:
 *
 *	0    ucontext: flags, link, stack
 *	40   sigcontext: r8 .. r15, di, si, bp, bx, dx, ax, cx, sp, ip */
enum { SIGCONTEXT = 40 };

/* mov $15, %rax (rt_sigreturn); syscall: used by glibc and musl. */
static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

const struct arch_layout x64_layout = {
	.perf_mask = 0xff01ff, /* ax .. ip and r8 .. r15, without flags and segments */
	.perf_reg =
		{
			[X64_RAX] = 0,
			[X64_RBX] = 1,
			[X64_RCX] = 2,
			[X64_RDX] = 3,
			[X64_RSI] = 4,
			[X64_RDI] = 5,
			[X64_RBP] = 6,
			[X64_RSP] = 7,
			[X64_R8] = 16,
			[X64_R9] = 17,
			[X64_R10] = 18,
			[X64_R11] = 19,
			[X64_R12] = 20,
			[X64_R13] = 21,
			[X64_R14] = 22,
			[X64_R15] = 23,
			NOWHERE,
		},
	.perf_pc = 8,
	/* struct user_regs_struct */
	.ptrace_reg =
		{
			[X64_R15] = 0,
			[X64_R14] = 8,
			[X64_R13] = 16,
			[X64_R12] = 24,
			[X64_RBP] = 32,
			[X64_RBX] = 40,
			[X64_R11] = 48,
			[X64_R10] = 56,
			[X64_R9] = 64,
			[X64_R8] = 72,
			[X64_RAX] = 80,
			[X64_RCX] = 88,
			[X64_RDX] = 96,
			[X64_RSI] = 104,
			[X64_RDI] = 112,
			[X64_RSP] = 152,
			NOWHERE,
		},
	.ptrace_pc = 128,
	.ptrace_size = 216,
	.sigreturn = sigreturn,
	.sigreturn_size = sizeof(sigreturn),
	.signal_reg =
		{
			[X64_R8] = SIGCONTEXT + 0,
			[X64_R9] = SIGCONTEXT + 8,
			[X64_R10] = SIGCONTEXT + 16,
			[X64_R11] = SIGCONTEXT + 24,
			[X64_R12] = SIGCONTEXT + 32,
			[X64_R13] = SIGCONTEXT + 40,
			[X64_R14] = SIGCONTEXT + 48,
			[X64_R15] = SIGCONTEXT + 56,
			[X64_RDI] = SIGCONTEXT + 64,
			[X64_RSI] = SIGCONTEXT + 72,
			[X64_RBP] = SIGCONTEXT + 80,
			[X64_RBX] = SIGCONTEXT + 88,
			[X64_RDX] = SIGCONTEXT + 96,
			[X64_RAX] = SIGCONTEXT + 104,
			[X64_RCX] = SIGCONTEXT + 112,
			[X64_RSP] = SIGCONTEXT + 120,
			NOWHERE,
		},
	.signal_pc = SIGCONTEXT + 128,
	.code_mask = UINT64_MAX,
};
