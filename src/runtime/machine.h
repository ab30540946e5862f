/* All that the runtime needs to know about the CPU and the kernel's conventions on it: the
 * registers that the stubs (entry_a64.S, entry_x64.S) saved, clocks, the thread pointer, raw system
 * calls. */
#pragma once
#include <asm/unistd.h>
#include <stdbool.h>
#include <stdint.h>

/* A compiler barrier: a signal handler of this thread sees the accesses in this order. */
static inline void keep_order(void)
{
	__asm__ volatile("" ::: "memory");
}

/* A system call that the program is about to make. */
struct program_call {
	uint64_t number, first, second; /* arguments */
};

#ifdef __aarch64__

/* Bytes that a call pushes on the stack. */
enum { CALL_PUSHES = 0 };

/* The return address of a function that is about to execute its first instruction, with this stack
 * pointer and link register. */
static inline uint64_t entry_link(uint64_t sp, uint64_t link)
{
	(void)sp;
	return link;
}

/* Whether this is the code that signal handlers return to: mov x8, 139; svc 0. */
static inline bool is_sigreturn(uint64_t pc)
{
	const uint32_t *code = (const uint32_t *)pc;
	return pc % 4 == 0 && code[0] == 0xd2801168 && code[1] == 0xd4000001;
}

/* Registers, as the stub saves them on the stack. x12 to x15 and x19 to x28 are valid for RT_TARGET
 * only. */
struct probe_frame {
	uint64_t reg[31]; /* except the program's x16, x17, x30 */
	uint64_t flags;
	uint64_t x16, x17, link, pad; /* saved by the probe: RUNTIME_CALL_FRAME_A64 */
};

static inline uint64_t frame_sp(const struct probe_frame *f)
{
	return (uint64_t)(f + 1);
}

static inline uint64_t frame_fp(const struct probe_frame *f)
{
	return f->reg[29];
}

static inline uint64_t frame_link(const struct probe_frame *f)
{
	return f->link;
}

static inline uint64_t frame_register(const struct probe_frame *f, unsigned n)
{
	if (n >= 31)
		return frame_sp(f);
	return n == 16 ? f->x16 : n == 17 ? f->x17 : n == 30 ? f->link : f->reg[n];
}

/* At the system call instruction. */
static inline struct program_call frame_call(const struct probe_frame *f)
{
	return (struct program_call){f->reg[8], f->reg[0], f->reg[1]};
}

/* At the call of pinned code that makes the system call (patch/pinned.h): its number and arguments
 * are the arguments of that function from the second one on. */
static inline struct program_call frame_passed_call(const struct probe_frame *f)
{
	return (struct program_call){f->reg[1], f->reg[2], f->reg[3]};
}

/* The first argument of the function that begins here. */
static inline uint64_t frame_first(const struct probe_frame *f)
{
	return f->reg[0];
}

/* The result of the system call, or of the pinned code that made it. */
static inline int64_t frame_result(const struct probe_frame *f)
{
	return (int64_t)f->reg[0];
}

static inline uint64_t ticks(void)
{
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}

static inline uint64_t thread_pointer(void)
{
	uint64_t t;
	__asm__("mrs %0, tpidr_el0" : "=r"(t));
	return t;
}

/* Other CPUs see the stores before this one before those after it. */
static inline void order_stores(void)
{
	__asm__ volatile("dmb ishst" ::: "memory");
}

/* A sixth argument is 0. */
static inline long system_call(long number, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = 0;
	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

/* Offset of the pc in a handler's ucontext_t, and how far the pc is past a trap instruction. */
enum { UCONTEXT_PC = 440, TRAP_ADVANCE = 0 };

/* Offsets in a signal frame from the stack pointer that the handler returns with: as in
 * isa/registers.h. */
enum { SIGNAL_FP = 544, SIGNAL_LINK = 552, SIGNAL_SP = 560, SIGNAL_PC = 568 };

#elif defined(__x86_64__)

enum { CALL_PUSHES = 8 };

static inline uint64_t entry_link(uint64_t sp, uint64_t link)
{
	(void)link;
	return *(const uint64_t *)sp;
}

/* mov $15, %rax; syscall */
static inline bool is_sigreturn(uint64_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;
	return code[0] == 0x48 && code[1] == 0xc7 && code[2] == 0xc0 && code[3] == 15 && !code[4] &&
	       !code[5] && !code[6] && code[7] == 0x0f && code[8] == 5;
}

struct probe_frame {
	uint64_t reg[16]; /* by number; rax and rsp are the program's */
	uint64_t flags, return_address;
	uint64_t rax;
};

static inline uint64_t frame_sp(const struct probe_frame *f)
{
	return f->reg[4];
}

static inline uint64_t frame_fp(const struct probe_frame *f)
{
	return f->reg[5];
}

static inline uint64_t frame_link(const struct probe_frame *f)
{
	(void)f;
	return 0;
}

static inline uint64_t frame_register(const struct probe_frame *f, unsigned n)
{
	return f->reg[n & 15];
}

static inline struct program_call frame_call(const struct probe_frame *f)
{
	return (struct program_call){f->reg[0], f->reg[7], f->reg[6]};
}

static inline struct program_call frame_passed_call(const struct probe_frame *f)
{
	return (struct program_call){f->reg[6], f->reg[2], f->reg[1]};
}

static inline uint64_t frame_first(const struct probe_frame *f)
{
	return f->reg[7];
}

static inline int64_t frame_result(const struct probe_frame *f)
{
	return (int64_t)f->reg[0];
}

static inline uint64_t ticks(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t thread_pointer(void)
{
	uint64_t t;
	__asm__("rdfsbase %0" : "=r"(t));
	return t;
}

static inline void order_stores(void)
{
	keep_order();
}

/* A sixth argument is 0. */
static inline long system_call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = 0;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return result;
}

/* A trap instruction is one byte, and has been executed when the handler is called. */
enum { UCONTEXT_PC = 168, TRAP_ADVANCE = 1 };

/* There is no link register: SIGNAL_LINK is never read. */
enum { SIGNAL_FP = 120, SIGNAL_LINK = 120, SIGNAL_SP = 160, SIGNAL_PC = 168 };

#else
#error "The runtime knows aarch64 and x86-64 only."
#endif
