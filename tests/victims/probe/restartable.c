/* Counters, one for each CPU, that threads increment without atomic instructions in a restartable
 * sequence (rseq(2)): the kernel knows the sequence by its address, and restarts it when the
 * thread was preempted in it. If the sequence is executed elsewhere, it is not restarted, and
 * increments are lost. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "victim.h"

enum { THREADS = 4, TIMES = 4000, CPUS = 1024 };

/* A thread's part of the interface; musl-gcc does not find the kernel's headers. */
struct rseq {
	_Alignas(32) unsigned cpu_id_start;
	unsigned cpu_id;
	u64 descriptor;
	unsigned flags, padding[3];
};

enum { UNREGISTER = 1 };

struct cpu_counter {
	_Alignas(64) volatile u64 count;
};

/* Increments the counter of the CPU that the thread is on. Returns 1 if it has to be done again:
 * the thread was preempted, or moved to another CPU. */
#define OURS __attribute__((visibility("hidden")))
OURS int restart_add(struct rseq *area, struct cpu_counter *counters);

__asm__(".globl restart_add\n"
	".hidden restart_add\n");

/* The descriptor: version, flags, start, length, where to go on. */
#define DESCRIPTOR                                                                                 \
	".pushsection __rseq_cs, \"aw\"\n"                                                         \
	".balign 32\n"                                                                             \
	".Lrestart_descriptor:\n"                                                                  \
	".long 0, 0\n"                                                                             \
	".quad .Lrestart_begin, .Lrestart_end - .Lrestart_begin, .Lrestart_aborted\n"              \
	".popsection\n"

#ifdef __aarch64__
enum { SIGNATURE = 0xd428bc00 };
__asm__(DESCRIPTOR ".text\n"
		   ".p2align 2\n"
		   ".type restart_add, %function\n"
		   "restart_add:\n"
		   "	adrp x2, .Lrestart_descriptor\n"
		   "	add x2, x2, :lo12:.Lrestart_descriptor\n"
		   "	str x2, [x0, 8]\n"
		   ".Lrestart_begin:\n"
		   "	ldr w3, [x0, 4]\n"
		   "	add x1, x1, x3, lsl 6\n"
		   "	ldr x4, [x1]\n"
		   "	mov w5, 2000\n"
		   ".Lrestart_wait:\n"
		   "	subs w5, w5, 1\n"
		   "	b.ne .Lrestart_wait\n"
		   "	add x4, x4, 1\n"
		   "	str x4, [x1]\n"
		   ".Lrestart_end:\n"
		   "	mov w0, 0\n"
		   "	ret\n"
		   "	.inst 0xd428bc00\n"
		   ".Lrestart_aborted:\n"
		   "	mov w0, 1\n"
		   "	ret\n"
		   ".size restart_add, . - restart_add\n");
#else
enum { SIGNATURE = 0x53053053 };
__asm__(DESCRIPTOR ".text\n"
		   ".type restart_add, @function\n"
		   "restart_add:\n"
		   "	leaq .Lrestart_descriptor(%rip), %rdx\n"
		   "	movq %rdx, 8(%rdi)\n"
		   ".Lrestart_begin:\n"
		   "	movl 4(%rdi), %ecx\n"
		   "	shlq $6, %rcx\n"
		   "	addq %rcx, %rsi\n"
		   "	movq (%rsi), %rax\n"
		   "	movl $2000, %ecx\n"
		   ".Lrestart_wait:\n"
		   "	decl %ecx\n"
		   "	jnz .Lrestart_wait\n"
		   "	incq %rax\n"
		   "	movq %rax, (%rsi)\n"
		   ".Lrestart_end:\n"
		   "	xorl %eax, %eax\n"
		   "	ret\n"
		   "	.byte 0x0f, 0xb9, 0x3d\n"
		   "	.long 0x53053053\n"
		   ".Lrestart_aborted:\n"
		   "	movl $1, %eax\n"
		   "	ret\n"
		   ".size restart_add, . - restart_add\n");
#endif

extern const ptrdiff_t __rseq_offset __attribute__((weak));
static _Thread_local struct rseq own_area;

static char *thread_pointer(void)
{
	char *p;
#ifdef __aarch64__
	__asm__("mrs %0, tpidr_el0" : "=r"(p));
#else
	__asm__("movq %%fs:0, %0" : "=r"(p));
#endif
	return p;
}

/* The C library's, if it has one; NULL if the kernel has none. */
static struct rseq *area_of_thread(void)
{
	struct rseq *a = &own_area;
	if (&__rseq_offset && __rseq_offset)
		a = (struct rseq *)(thread_pointer() + __rseq_offset);
	else if (syscall(SYS_rseq, a, sizeof(*a), 0, SIGNATURE))
		return NULL;
	return (int)a->cpu_id >= 0 && a->cpu_id < CPUS ? a : NULL;
}

static struct cpu_counter counters[CPUS];

KEEP void *restart_body(void *arg)
{
	struct rseq *area = area_of_thread();
	CALLED("restart_body");
	(void)arg;
	for (int i = 0; i < TIMES; i++) {
		if (!area)
			__atomic_fetch_add(&counters[0].count, 1, __ATOMIC_RELAXED);
		while (area && restart_add(area, counters))
			continue;
	}
	if (area == &own_area)
		syscall(SYS_rseq, area, sizeof(*area), UNREGISTER, SIGNATURE);
	LEFT("restart_body");
	return NULL;
}

u64 victim_restartable(void)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	pthread_t threads[THREADS];
	u64 sum = 0;
	pthread_mutex_lock(&once);
	memset(counters, 0, sizeof(counters));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, restart_body, NULL))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CPUS; i++)
		sum += counters[i].count;
	pthread_mutex_unlock(&once);
	return mix(sum);
}
