/* Maps the runtime as Sonde does, and calls it as probes do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/blob.h"
#include "runtime_bench.h"

#ifdef __aarch64__
/* The probe's frame has a word to spare, where our own stack pointer waits. */
__asm__(".text\n	.globl call_routine\n"
	"call_routine:\n"
	"	stp x29, x30, [sp, -112]!\n"
	"	stp x19, x20, [sp, 16]\n	stp x21, x22, [sp, 32]\n"
	"	stp x23, x24, [sp, 48]\n	stp x25, x26, [sp, 64]\n"
	"	stp x27, x28, [sp, 80]\n	str x1, [sp, 96]\n"
	"	ldr x9, [x0, 248]\n	sub x9, x9, 32\n"
	"	mov x10, sp\n		str x10, [x9, 24]\n"
	"	ldr x10, [x0, 240]\n	str x10, [x9, 16]\n"
	"	ldp x10, x11, [x0, 128]\n	stp x10, x11, [x9]\n"
	"	mov x16, x3\n		mov x17, x2\n"
	"	ldr x10, [x0, 256]\n	msr nzcv, x10\n"
	"	mov sp, x9\n"
	"	ldp x2, x3, [x0, 16]\n	ldp x4, x5, [x0, 32]\n"
	"	ldp x6, x7, [x0, 48]\n	ldp x8, x9, [x0, 64]\n"
	"	ldp x10, x11, [x0, 80]\n	ldp x12, x13, [x0, 96]\n"
	"	ldp x14, x15, [x0, 112]\n	ldp x19, x20, [x0, 152]\n"
	"	ldp x21, x22, [x0, 168]\n	ldp x23, x24, [x0, 184]\n"
	"	ldp x25, x26, [x0, 200]\n	ldp x27, x28, [x0, 216]\n"
	"	ldr x29, [x0, 232]\n	ldp x0, x1, [x0]\n"
	"	blr x17\n"
	"	stp x0, x1, [sp, -16]!\n"
	"	ldr x0, [sp, 40]\n	ldr x0, [x0, 96]\n"
	"	stp x2, x3, [x0, 16]\n	stp x4, x5, [x0, 32]\n"
	"	stp x6, x7, [x0, 48]\n	stp x8, x9, [x0, 64]\n"
	"	stp x10, x11, [x0, 80]\n	stp x12, x13, [x0, 96]\n"
	"	stp x14, x15, [x0, 112]\n	stp x16, x17, [x0, 128]\n"
	"	str x18, [x0, 144]\n	stp x19, x20, [x0, 152]\n"
	"	stp x21, x22, [x0, 168]\n	stp x23, x24, [x0, 184]\n"
	"	stp x25, x26, [x0, 200]\n	stp x27, x28, [x0, 216]\n"
	"	str x29, [x0, 232]\n	mrs x1, nzcv\n"
	"	str x1, [x0, 256]\n	add x1, sp, 48\n"
	"	str x1, [x0, 248]\n	ldp x2, x3, [sp]\n"
	"	stp x2, x3, [x0]\n	ldr x9, [sp, 40]\n"
	"	mov sp, x9\n"
	"	ldp x19, x20, [sp, 16]\n	ldp x21, x22, [sp, 32]\n"
	"	ldp x23, x24, [sp, 48]\n	ldp x25, x26, [sp, 64]\n"
	"	ldp x27, x28, [sp, 80]\n	ldp x29, x30, [sp], 112\n"
	"	ret\n");
__asm__(".text\n	.globl call_operation\n"
	"call_operation:\n"
	"	stp x29, x30, [sp, -112]!\n"
	"	stp x19, x20, [sp, 16]\n	stp x21, x22, [sp, 32]\n"
	"	stp x23, x24, [sp, 48]\n	stp x25, x26, [sp, 64]\n"
	"	stp x27, x28, [sp, 80]\n	str x1, [sp, 96]\n"
	"	sub sp, sp, 32\n	str x4, [sp, 24]\n"
	"	mov x16, x3\n		mov x17, x2\n"
	"	ldr x10, [x0, 256]\n	msr nzcv, x10\n"
	"	ldp x2, x3, [x0, 16]\n	ldp x4, x5, [x0, 32]\n"
	"	ldp x6, x7, [x0, 48]\n	ldp x8, x9, [x0, 64]\n"
	"	ldp x10, x11, [x0, 80]\n	ldp x12, x13, [x0, 96]\n"
	"	ldp x14, x15, [x0, 112]\n	ldp x19, x20, [x0, 152]\n"
	"	ldp x21, x22, [x0, 168]\n	ldp x23, x24, [x0, 184]\n"
	"	ldp x25, x26, [x0, 200]\n	ldp x27, x28, [x0, 216]\n"
	"	ldr x29, [x0, 232]\n	ldp x0, x1, [x0]\n"
	"	blr x17\n"
	"	mov x17, x0\n		ldr x0, [sp, 128]\n"
	"	stp x17, x1, [x0]\n"
	"	stp x2, x3, [x0, 16]\n	stp x4, x5, [x0, 32]\n"
	"	stp x6, x7, [x0, 48]\n	stp x8, x9, [x0, 64]\n"
	"	stp x10, x11, [x0, 80]\n	stp x12, x13, [x0, 96]\n"
	"	stp x14, x15, [x0, 112]\n	str x16, [x0, 128]\n"
	"	stp x19, x20, [x0, 152]\n"
	"	stp x21, x22, [x0, 168]\n	stp x23, x24, [x0, 184]\n"
	"	stp x25, x26, [x0, 200]\n	stp x27, x28, [x0, 216]\n"
	"	str x29, [x0, 232]\n	mrs x1, nzcv\n"
	"	str x1, [x0, 256]\n	add sp, sp, 32\n"
	"	ldp x19, x20, [sp, 16]\n	ldp x21, x22, [sp, 32]\n"
	"	ldp x23, x24, [sp, 48]\n	ldp x25, x26, [sp, 64]\n"
	"	ldp x27, x28, [sp, 80]\n	ldp x29, x30, [sp], 112\n"
	"	ret\n");
#else
/* Our own stack pointer and the routine wait in the red zone. */
__asm__(".text\n	.globl call_routine\n"
	"call_routine:\n"
	"	push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n push %rsi\n"
	"	mov 32(%rdi), %r8\n	lea -136(%r8), %r8\n"
	"	mov %rsp, 120(%r8)\n	mov %rdx, 112(%r8)\n"
	"	mov (%rdi), %r9\n	mov %r9, (%r8)\n"
	"	push 256(%rdi)\n	popfq\n"
	"	mov %r8, %rsp\n	mov %rcx, %rax\n"
	"	mov 8(%rdi), %rcx\n	mov 16(%rdi), %rdx\n	mov 24(%rdi), %rbx\n"
	"	mov 40(%rdi), %rbp\n	mov 48(%rdi), %rsi\n	mov 64(%rdi), %r8\n"
	"	mov 72(%rdi), %r9\n	mov 80(%rdi), %r10\n	mov 88(%rdi), %r11\n"
	"	mov 96(%rdi), %r12\n	mov 104(%rdi), %r13\n	mov 112(%rdi), %r14\n"
	"	mov 120(%rdi), %r15\n	mov 56(%rdi), %rdi\n"
	"	call *112(%rsp)\n"
	"	mov %rdi, 104(%rsp)\n	mov 120(%rsp), %rdi\n	mov (%rdi), %rdi\n"
	"	mov %rax, (%rdi)\n	mov %rcx, 8(%rdi)\n	mov %rdx, 16(%rdi)\n"
	"	mov %rbx, 24(%rdi)\n	mov %rbp, 40(%rdi)\n	mov %rsi, 48(%rdi)\n"
	"	mov %r8, 64(%rdi)\n	mov %r9, 72(%rdi)\n	mov %r10, 80(%rdi)\n"
	"	mov %r11, 88(%rdi)\n	mov %r12, 96(%rdi)\n	mov %r13, 104(%rdi)\n"
	"	mov %r14, 112(%rdi)\n	mov %r15, 120(%rdi)\n"
	"	mov 104(%rsp), %rax\n	mov %rax, 56(%rdi)\n"
	"	lea 136(%rsp), %rax\n	mov %rax, 32(%rdi)\n"
	"	pushfq\n pop %rax\n	mov %rax, 256(%rdi)\n	cld\n"
	"	mov 120(%rsp), %rsp\n"
	"	pop %rsi\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
	"	ret\n");
__asm__(".text\n	.globl call_operation\n"
	"call_operation:\n"
	"	push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n push %rsi\n"
	"	push %rdx\n	push %r8\n	push (%rdi)\n"
	"	push 256(%rdi)\n	popfq\n"
	"	mov %rcx, %rax\n"
	"	mov 8(%rdi), %rcx\n	mov 16(%rdi), %rdx\n	mov 24(%rdi), %rbx\n"
	"	mov 40(%rdi), %rbp\n	mov 48(%rdi), %rsi\n	mov 64(%rdi), %r8\n"
	"	mov 72(%rdi), %r9\n	mov 80(%rdi), %r10\n	mov 88(%rdi), %r11\n"
	"	mov 96(%rdi), %r12\n	mov 104(%rdi), %r13\n	mov 112(%rdi), %r14\n"
	"	mov 120(%rdi), %r15\n	mov 56(%rdi), %rdi\n"
	"	call *16(%rsp)\n"
	"	mov %rdi, 16(%rsp)\n	mov 24(%rsp), %rdi\n"
	"	mov %rax, (%rdi)\n	mov %rcx, 8(%rdi)\n	mov %rdx, 16(%rdi)\n"
	"	mov %rbx, 24(%rdi)\n	mov %rbp, 40(%rdi)\n	mov %rsi, 48(%rdi)\n"
	"	mov %r8, 64(%rdi)\n	mov %r9, 72(%rdi)\n	mov %r10, 80(%rdi)\n"
	"	mov %r11, 88(%rdi)\n	mov %r12, 96(%rdi)\n	mov %r13, 104(%rdi)\n"
	"	mov %r14, 112(%rdi)\n	mov %r15, 120(%rdi)\n"
	"	mov 16(%rsp), %rax\n	mov %rax, 56(%rdi)\n"
	"	pushfq\n pop %rax\n	mov %rax, 256(%rdi)\n	cld\n"
	"	add $24, %rsp\n"
	"	pop %rsi\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n"
	"	ret\n");
#endif

enum { STACK_WORDS = 1 << 20, SLACK = 1 << 12 };

struct rt_header *header(const struct bench *b)
{
	return (struct rt_header *)b->region;
}

const struct rt_entry_table *entries(const struct bench *b)
{
	return (const struct rt_entry_table *)b->text;
}

uint64_t here_thread_pointer(void)
{
	uint64_t pointer;
#ifdef __aarch64__
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
	__asm__("rdfsbase %0" : "=r"(pointer));
#endif
	return pointer;
}

struct rt_thread *table_home(const struct bench *b, uint64_t pointer)
{
	return b->table + (pointer >> 12) % RT_THREADS;
}

struct rt_area *prepare_area(struct bench *b, uint32_t i, uint32_t tid)
{
	struct rt_area *a = (struct rt_area *)(b->region + RT_AREA(i));
	struct rt_area *nested = (struct rt_area *)(b->region + RT_AREA(i + RT_AREAS));
	a->nested = (uint64_t)nested;
	a->tid = nested->tid = tid;
	if (header(b)->threads <= i)
		header(b)->threads = i + 1;
	return a;
}

static void map_runtime(struct bench *b)
{
	int fd = b->region_fd = memfd_create("test", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)RT_REGION_SIZE), 0);
	b->region = mmap(NULL, RT_REGION_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 fd, 0);
	assert_true(b->region != MAP_FAILED);
	b->text = mmap(NULL, runtime_blob_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(b->text != MAP_FAILED);
	memcpy(b->text, runtime_blob, runtime_blob_size);
	struct rt_entry_table *head = (struct rt_entry_table *)b->text;
	head->region = (uint64_t)b->region;
	head->guard = (uint64_t)&b->guard;
	b->guard = RT_GUARD;
	b->table = aligned_alloc(RT_TABLE_SIZE, RT_TABLE_SIZE);
	memset(b->table, 0, RT_TABLE_SIZE);
	head->table = (uint64_t)b->table;
	mprotect(b->text, runtime_blob_size, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)b->text, (char *)b->text + runtime_blob_size);
}

int bench_start(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	map_runtime(b);
	struct rt_header *h = header(b);
	h->base = (uint64_t)b->region;
	h->clock_kind = 1;
	h->may = RT_MAY_ALL;
	h->tracer = (uint32_t)getpid();
	h->link_mask = UINT64_MAX;
	b->area = prepare_area(b, 0, (uint32_t)gettid());
	*table_home(b, here_thread_pointer()) =
		(struct rt_thread){rt_thread_key(here_thread_pointer()), (uint64_t)b->area};
	b->stack = mmap(NULL, STACK_WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	b->sp = b->stack + STACK_WORDS - SLACK - 64;
	b->area->stack_low = (uint64_t)b->stack;
	b->area->stack_high = (uint64_t)(b->stack + STACK_WORDS - SLACK);
	*state = b;
	return 0;
}

int bench_finish(void **state)
{
	struct bench *b = *state;
	munmap(b->region, RT_REGION_SIZE);
	close(b->region_fd);
	munmap(b->text, runtime_blob_size);
	free(b->table);
	munmap(b->stack, STACK_WORDS * 8);
	free(b);
	return 0;
}

uint64_t step(unsigned kind, int64_t cfa, uint64_t below_link, uint64_t below_fp)
{
	return kind | ((uint64_t)(cfa / 8) & 0xffffff) << 4 | below_link / 8 << 28 |
	       below_fp / 8 << 44;
}

void set_step(struct bench *b, uint64_t pc, uint64_t value)
{
	struct rt_step *table = (struct rt_step *)(b->region + RT_STEP_TABLE);
	uint32_t i = rt_step_home(pc);
	while (table[i].pc && table[i].pc != pc)
		i = (i + 1) % RT_STEPS;
	table[i] = (struct rt_step){pc, value};
}

uint32_t add_subject(struct bench *b, uint32_t flags, uint32_t metrics, uint64_t start_pc)
{
	struct rt_subject *s = (struct rt_subject *)(b->region + RT_SUBJECT_TABLE) + b->subjects;
	*s = (struct rt_subject){.start = start_pc,
				 .end = start_pc + 0x100,
				 .metrics = metrics,
				 .flags = flags,
				 .active = 1};
	return b->subjects++;
}

struct rt_probe *add_probe(struct bench *b, uint32_t kind, uint32_t subject, uint64_t pc,
			   uint64_t by)
{
	struct rt_probe *p = (struct rt_probe *)(b->region + RT_PROBE_TABLE) + b->probes++;
	*p = (struct rt_probe){.kind = kind, .subject = subject, .pc = pc, .step = by};
	return p;
}

struct probed add_function(struct bench *b, uint32_t flags, uint32_t metrics, uint64_t start_pc)
{
	uint32_t s = add_subject(b, flags, metrics, start_pc);
	return (struct probed){add_probe(b, RT_ENTER, s, start_pc, ENTRY_STEP),
			       add_probe(b, RT_EXIT, s, start_pc + 8, ENTRY_STEP)};
}

void hit(struct bench *b, const struct rt_probe *p)
{
	b->in.reg[SP] = (uint64_t)b->sp;
	b->in.reg[FP] = b->fp;
#ifdef __aarch64__
	b->in.reg[LINK] = b->link;
#endif
	b->in.flags &= FLAG_BITS;
	call_routine(&b->in, &b->out, (uint64_t)b->text + entries(b)->hit, (uint64_t)p);
}

void add_code(struct bench *b, uint64_t return_address, unsigned locals)
{
	set_step(b, return_address, step(RT_STEP_SP, (locals + 1) * 16, 8, 0));
}

void call(struct bench *b, unsigned locals, uint64_t return_address)
{
	for (unsigned i = 0; i < 2 * locals + 1; i++)
		*--b->sp = 0x5555;
	b->sp[0] = return_address;
	*--b->sp = 0x5555;
}

void come_back(struct bench *b, unsigned locals)
{
	b->sp += 2 * locals + 2;
}

struct rt_path *path_at(const struct bench *b, uint32_t offset)
{
	return offset ? (struct rt_path *)((uint8_t *)b->area + RT_AREA_PATHS + offset * 8) : NULL;
}

struct rt_path *newest(const struct bench *b)
{
	return path_at(b, b->area->first_path);
}

unsigned count_paths(const struct bench *b)
{
	unsigned n = 0;
	for (struct rt_path *p = newest(b); p; p = path_at(b, p->next))
		n++;
	return n;
}

const struct rt_activation *top_of(const struct bench *b, unsigned stack)
{
	uint32_t top = b->area->stacks[stack].top;
	return top ? (struct rt_activation *)((uint8_t *)b->area + RT_AREA_ACTIVATIONS) + top - 1
		   : NULL;
}

void begin_program(struct bench *b)
{
	set_step(b, ROOT, RT_STEP_ROOT);
	call(b, 0, ROOT);
}
