/* The runtime, mapped into this process as Sonde maps it into others, and hit by probes on stacks
 * that the tests make up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "process/control.h"
#include "runtime/abi.h"
#include "runtime/blob.h"

/* A probe's call: all registers as given, the stack pointer included; `out` is what is found in
 * them afterwards. */
struct machine {
	uint64_t reg[32];
	uint64_t flags;
};
void call_routine(const struct machine *in, struct machine *out, uint64_t routine,
		  uint64_t argument);

#ifdef __aarch64__
enum { SP = 31, FP = 29, LINK = 30, NUMBER = 8, OPERATION = 1, RESULT = 0, ARGUMENT = 16 };
#define FLAG_BITS UINT64_C(0xf0000000)
/* The probe's frame has a word to spare, where our own stack pointer waits. */
__asm__(".text\n"
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
/* Not the probe's own, and not what nobody may touch. */
static bool is_preserved(unsigned reg)
{
	return reg < 16 || (reg > 18 && reg < 30) || reg == SP;
}
#else
enum { SP = 4, FP = 5, LINK = -1, NUMBER = 0, OPERATION = 6, RESULT = 0, ARGUMENT = 0 };
#define FLAG_BITS UINT64_C(0xcd5)
/* Our own stack pointer and the routine wait in the red zone. */
__asm__(".text\n"
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
static bool is_preserved(unsigned reg)
{
	return reg && reg < 16;
}
#endif

enum { STACK_WORDS = 1 << 20, SLACK = 1 << 12, TEST_THREADS = 8 };

struct bench {
	uint8_t *region, *text;
	uint64_t guard; /* the word that is wiped by fork */
	struct rt_area *area;
	uint64_t *stack; /* STACK_WORDS of them */
	uint64_t *sp;    /* of the program that is made up */
	uint64_t fp, link;
	uint32_t subjects, probes;
	struct machine in, out;
};

static struct rt_header *header(const struct bench *b)
{
	return (struct rt_header *)b->region;
}

static const struct rt_entry_table *entries(const struct bench *b)
{
	return (const struct rt_entry_table *)b->text;
}

static uint64_t here_thread_pointer(void)
{
	uint64_t pointer;
#ifdef __aarch64__
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
	__asm__("rdfsbase %0" : "=r"(pointer));
#endif
	return pointer;
}

static struct rt_thread *table_home(const struct bench *b, uint64_t pointer)
{
	return (struct rt_thread *)(b->region + RT_TABLE) + (pointer >> 12) % RT_THREADS;
}

static struct rt_area *prepare_area(struct bench *b, uint32_t i, uint32_t tid)
{
	struct rt_area *a = (struct rt_area *)(b->region + RT_AREA(i));
	struct rt_area *nested = (struct rt_area *)(b->region + RT_AREA(i + RT_AREAS));
	a->nested = (uint64_t)nested;
	a->tid = nested->tid = tid;
	if (header(b)->threads <= i)
		header(b)->threads = i + 1;
	return a;
}

static void own_stack(struct bench *b, struct rt_area *a)
{
	a->stack_low = (uint64_t)b->stack;
	a->stack_high = (uint64_t)(b->stack + STACK_WORDS - SLACK);
}

static void map_runtime(struct bench *b)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)RT_REGION_SIZE), 0);
	b->region = mmap(NULL, RT_REGION_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			 fd, 0);
	assert_true(b->region != MAP_FAILED);
	close(fd);
	b->text = mmap(NULL, runtime_blob_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(b->text != MAP_FAILED);
	memcpy(b->text, runtime_blob, runtime_blob_size);
	struct rt_entry_table *head = (struct rt_entry_table *)b->text;
	head->region = (uint64_t)b->region;
	head->guard = (uint64_t)&b->guard;
	b->guard = RT_GUARD;
	mprotect(b->text, runtime_blob_size, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)b->text, (char *)b->text + runtime_blob_size);
}

static int start(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	map_runtime(b);
	struct rt_header *h = header(b);
	h->base = (uint64_t)b->region;
	h->clock_kind = 1;
	h->tracer = (uint32_t)getpid();
	h->link_mask = UINT64_MAX;
	((struct rt_thread *)(b->region + RT_TABLE))->thread_pointer = RT_THREAD_REMOVED;
	b->area = prepare_area(b, 0, (uint32_t)gettid());
	*table_home(b, here_thread_pointer()) =
		(struct rt_thread){here_thread_pointer(), (uint64_t)b->area};
	b->stack = mmap(NULL, STACK_WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	b->sp = b->stack + STACK_WORDS - SLACK - 64;
	own_stack(b, b->area);
	*state = b;
	return 0;
}

static int finish(void **state)
{
	struct bench *b = *state;
	munmap(b->region, RT_REGION_SIZE);
	munmap(b->text, runtime_blob_size);
	munmap(b->stack, STACK_WORDS * 8);
	free(b);
	return 0;
}

static uint64_t step(unsigned kind, int64_t cfa, uint64_t below_link, uint64_t below_fp)
{
	return kind | ((uint64_t)(cfa / 8) & 0xffffff) << 4 | below_link / 8 << 28 |
	       below_fp / 8 << 44;
}

static void set_step(struct bench *b, uint64_t pc, uint64_t value)
{
	struct rt_step *table = (struct rt_step *)(b->region + RT_STEP_TABLE);
	uint32_t i = rt_step_home(pc);
	while (table[i].pc && table[i].pc != pc)
		i = (i + 1) % RT_STEPS;
	table[i] = (struct rt_step){pc, value};
}

static uint32_t add_subject(struct bench *b, uint32_t flags, uint32_t metrics, uint64_t start_pc)
{
	struct rt_subject *s = (struct rt_subject *)(b->region + RT_SUBJECT_TABLE) + b->subjects;
	*s = (struct rt_subject){.start = start_pc,
				 .end = start_pc + 0x100,
				 .metrics = metrics,
				 .flags = flags,
				 .active = 1};
	return b->subjects++;
}

/* The made-up program keeps its stack as aarch64 demands it: a call pushes two words, of which the
 * upper one is the return address. */
#define ENTRY_STEP step(RT_STEP_SP, 16, 8, 0)

static struct rt_probe *add_probe(struct bench *b, uint32_t kind, uint32_t subject, uint64_t pc,
				  uint64_t by)
{
	struct rt_probe *p = (struct rt_probe *)(b->region + RT_PROBE_TABLE) + b->probes++;
	*p = (struct rt_probe){.kind = kind, .subject = subject, .pc = pc, .step = by};
	return p;
}

static void hit(struct bench *b, const struct rt_probe *p)
{
	b->in.reg[SP] = (uint64_t)b->sp;
	b->in.reg[FP] = b->fp;
#ifdef __aarch64__
	b->in.reg[LINK] = b->link;
#endif
	b->in.flags &= FLAG_BITS;
	call_routine(&b->in, &b->out, (uint64_t)b->text + entries(b)->hit, (uint64_t)p);
}

/* A place that calls come from, in a procedure with `locals` pairs of words of its own. */
static void add_code(struct bench *b, uint64_t return_address, unsigned locals)
{
	set_step(b, return_address, step(RT_STEP_SP, (locals + 1) * 16, 8, 0));
}

static void call(struct bench *b, unsigned locals, uint64_t return_address)
{
	for (unsigned i = 0; i < 2 * locals + 1; i++)
		*--b->sp = 0x5555;
	b->sp[0] = return_address;
	*--b->sp = 0x5555;
}

static void come_back(struct bench *b, unsigned locals)
{
	b->sp += 2 * locals + 2;
}

static struct rt_path *path_at(const struct bench *b, uint32_t offset)
{
	return offset ? (struct rt_path *)((uint8_t *)b->area + RT_AREA_PATHS + offset * 8) : NULL;
}

static struct rt_path *newest(const struct bench *b)
{
	return path_at(b, b->area->first_path);
}

static unsigned count_paths(const struct bench *b)
{
	unsigned n = 0;
	for (struct rt_path *p = newest(b); p; p = path_at(b, p->next))
		n++;
	return n;
}

static const struct rt_activation *top_of(const struct bench *b, unsigned stack)
{
	uint32_t top = b->area->stacks[stack].top;
	return top ? (struct rt_activation *)((uint8_t *)b->area + RT_AREA_ACTIVATIONS) + top - 1
		   : NULL;
}

enum { ROOT = 0x1010, MAIN = 0x1000, F = 0x2000, G = 0x3000, H = 0x4000 };
enum { BYTES = 1 << RT_BYTES };

/* A stack with one call at the bottom, from where threads begin. */
static void begin_program(struct bench *b)
{
	set_step(b, ROOT, RT_STEP_ROOT);
	call(b, 0, ROOT);
}

static void keeps_registers(void **state)
{
	struct bench *b = *state;
	uint32_t s = add_subject(b, RT_PATH, 1 << RT_WALL | 1 << RT_CPU, F);
	struct rt_probe *p[] = {add_probe(b, RT_ENTER, s, F, ENTRY_STEP),
				add_probe(b, RT_EXIT, s, F, ENTRY_STEP),
				add_probe(b, RT_TARGET, s, F, ENTRY_STEP)};
	begin_program(b);
	for (unsigned round = 0; round < 48; round++) {
		for (unsigned i = 0; i < 32; i++)
			b->in.reg[i] = i * UINT64_C(0x0123456789abcdef) + round;
		b->fp = b->in.reg[FP];
		b->in.flags = (round % 16 * UINT64_C(0x10000000) | round * 0x45) & FLAG_BITS;
		hit(b, p[round % 3]);
		for (unsigned i = 0; i < 32; i++)
			if (is_preserved(i))
				assert_int_equal(b->in.reg[i], b->out.reg[i]);
		assert_int_equal(b->in.flags, b->out.flags & FLAG_BITS);
	}
	assert_int_equal(b->area->hits[RT_ENTER], 16);
	assert_int_equal(b->area->hits[RT_EXIT], 16);
	assert_int_equal(newest(b)->calls, 16);
}

/* The stack pointer of a program may be anything that is a multiple of 8. */
static void needs_no_alignment(void **state)
{
#ifdef __aarch64__
	(void)state;
	skip();
#else
	struct bench *b = *state;
	uint32_t s = add_subject(b, RT_PATH, 1 << RT_CPU, F);
	struct rt_probe *p = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	begin_program(b);
	hit(b, p);
	p->step = step(RT_STEP_SP, 8, 8, 0);
	b->sp++;
	hit(b, p);
	assert_int_equal(newest(b)->calls, 2);
#endif
}

static void plain_subject_has_one_path(void **state)
{
	struct bench *b = *state;
	uint32_t s = add_subject(b, 0, BYTES, F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	struct rt_probe *leave = add_probe(b, RT_EXIT, s, F + 8, ENTRY_STEP);
	begin_program(b);
	for (unsigned i = 0; i < 3; i++) {
		hit(b, enter);
		b->area->bytes += 5;
		hit(b, leave);
	}
	assert_int_equal(count_paths(b), 1);
	assert_int_equal(newest(b)->calls, 3);
	assert_int_equal(newest(b)->frame_count, 0);
	assert_int_equal(newest(b)->total[RT_BYTES], 15);
	assert_int_equal(newest(b)->self[RT_BYTES], 15);
	assert_null(top_of(b, 0));
}

static void plain_recursion_counts_once(void **state)
{
	struct bench *b = *state;
	uint32_t s = add_subject(b, 0, BYTES, F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	struct rt_probe *leave = add_probe(b, RT_EXIT, s, F + 8, ENTRY_STEP);
	begin_program(b);
	hit(b, enter);
	b->area->bytes += 1;
	call(b, 4, F + 0x20);
	hit(b, enter);
	b->area->bytes += 10;
	hit(b, leave);
	come_back(b, 4);
	b->area->bytes += 100;
	hit(b, leave);
	struct rt_path *inner = newest(b), *outer = path_at(b, inner->next);
	assert_true(inner->recursive && !outer->recursive);
	assert_int_equal(inner->calls + outer->calls, 2);
	assert_int_equal(outer->total[RT_BYTES], 111);
	assert_int_equal(inner->total[RT_BYTES], 10);
	assert_int_equal(outer->self[RT_BYTES] + inner->self[RT_BYTES], 111);
}

static void walks_to_the_root(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H),
				       H, ENTRY_STEP);
	begin_program(b);
	add_code(b, MAIN + 4, 3);
	add_code(b, F + 4, 7);
	add_code(b, G + 4, 0);
	call(b, 3, MAIN + 4);
	call(b, 7, F + 4);
	call(b, 0, G + 4);
	hit(b, p);
	hit(b, p);
	const struct rt_path *path = newest(b);
	assert_int_equal(count_paths(b), 1);
	assert_int_equal(path->calls, 2);
	assert_int_equal(path->frame_count, 4);
	assert_int_equal(path->frames[0], G + 4);
	assert_int_equal(path->frames[1], F + 4);
	assert_int_equal(path->frames[2], MAIN + 4);
	assert_int_equal(path->frames[3], ROOT);
	assert_true(path->complete && !path->recursive && !path->raw && !path->parent);
	assert_int_equal(b->area->walks, 1);
	assert_int_equal(b->area->instance_hits, 1);
	assert_null(top_of(b, 0));
}

static void follows_frame_pointers(void **state)
{
	struct bench *b = *state;
	uint64_t by_fp = step(RT_STEP_FP, 16, 8, 16);
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H),
				       H, step(RT_STEP_SP, 16, 8, 16));
	begin_program(b);
	set_step(b, F + 4, by_fp);
	set_step(b, G + 4, by_fp);
	uint64_t *record = b->sp; /* of F */
	uint64_t outer = (uint64_t)record;
	call(b, 9, F + 4);
	b->sp[0] = outer;
	uint64_t inner = (uint64_t)b->sp;
	call(b, 5, G + 4);
	b->sp[0] = inner;
	hit(b, p);
	const struct rt_path *path = newest(b);
	assert_int_equal(path->frame_count, 3);
	assert_int_equal(path->frames[2], ROOT);
	/* What the outermost record says of its caller's frame pointer nobody depends on. */
	record[0] = 0x5678;
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
	b->sp[0] = outer; /* skips G's frame */
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
	assert_int_equal(newest(b)->frame_count, 2);
	assert_int_equal(newest(b)->frames[1], ROOT);
}

static void finds_returns_in_the_link_register(void **state)
{
#ifdef __aarch64__
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H),
				       H, step(RT_STEP_SP, 0, 0, 0) | RT_STEP_IN_LINK);
	begin_program(b);
	add_code(b, F + 4, 0);
	add_code(b, G + 4, 0);
	header(b)->link_mask = 0xffffffffff;
	b->link = (F + 4) | UINT64_C(0x123) << 52;
	hit(b, p);
	assert_int_equal(newest(b)->frames[0], F + 4);
	hit(b, p);
	assert_int_equal(newest(b)->calls, 2);
	b->link = G + 4;
	hit(b, p);
	assert_int_equal(newest(b)->frames[0], G + 4);
#else
	(void)state;
	skip();
#endif
}

/* Whatever frame changes, the remembered walk must not be taken for this one. */
static void notices_changes_at_any_depth(void **state)
{
	struct bench *b = *state;
	enum { DEPTH = 40 };
	uint64_t *slots[DEPTH];
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H),
				       H, ENTRY_STEP);
	begin_program(b);
	for (unsigned i = 0; i < DEPTH; i++) {
		add_code(b, F + i * 8, i % 5);
		add_code(b, F + i * 8 + 4, i % 5);
		call(b, i % 5, F + i * 8);
		slots[i] = b->sp + 1;
	}
	hit(b, p);
	for (unsigned i = 0; i < DEPTH; i++) {
		*slots[i] += 4;
		hit(b, p);
		assert_int_equal(newest(b)->frames[DEPTH - 1 - i], F + i * 8 + 4);
		assert_int_equal(newest(b)->calls, 1);
		*slots[i] -= 4;
	}
	assert_int_equal(count_paths(b), DEPTH + 1);
	assert_int_equal(b->area->instance_hits, 0);
	hit(b, p);
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
	header(b)->epoch++;
	hit(b, p);
	assert_int_equal(b->area->instance_hits, 1);
}

static void ends_at_an_anchor(void **state)
{
	struct bench *b = *state;
	uint32_t outer = add_subject(b, RT_PATH, BYTES, F),
		 inner = add_subject(b, RT_PATH, BYTES, H);
	struct rt_probe *enter_outer = add_probe(b, RT_ENTER, outer, F, ENTRY_STEP);
	struct rt_probe *leave_outer = add_probe(b, RT_EXIT, outer, F, ENTRY_STEP);
	struct rt_probe *enter_inner = add_probe(b, RT_ENTER, inner, H, ENTRY_STEP);
	struct rt_probe *leave_inner = add_probe(b, RT_EXIT, inner, H, ENTRY_STEP);
	begin_program(b);
	add_code(b, MAIN + 4, 1);
	add_code(b, F + 4, 2);
	add_code(b, G + 4, 3);
	call(b, 1, MAIN + 4);
	hit(b, enter_outer);
	const struct rt_path *of_outer = newest(b);
	for (unsigned i = 0; i < 3; i++) {
		call(b, 2, F + 4);
		call(b, 3, G + 4);
		hit(b, enter_inner);
		b->area->bytes += 7;
		hit(b, leave_inner);
		come_back(b, 3);
		come_back(b, 2);
	}
	b->area->bytes += 1;
	hit(b, leave_outer);
	const struct rt_path *path = newest(b);
	assert_int_equal(count_paths(b), 2);
	assert_ptr_equal(path_at(b, path->parent), of_outer);
	assert_int_equal(path->frame_count, 2);
	assert_int_equal(path->frames[1], F + 4);
	assert_true(path->complete);
	assert_int_equal(path->calls, 3);
	assert_int_equal(path->total[RT_BYTES], 21);
	assert_int_equal(of_outer->total[RT_BYTES], 22);
	assert_int_equal(of_outer->self[RT_BYTES], 1);
	assert_int_equal(b->area->instance_hits, 2);
}

/* The remembered walk ended at an activation that has ended since: the same frames, reached without
 * its probe, are no anchor. */
static void anchors_must_live(void **state)
{
	struct bench *b = *state;
	uint32_t outer = add_subject(b, RT_PATH, BYTES, F);
	uint32_t inner = add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H);
	struct rt_probe *enter_outer = add_probe(b, RT_ENTER, outer, F, ENTRY_STEP);
	struct rt_probe *leave_outer = add_probe(b, RT_EXIT, outer, F, ENTRY_STEP);
	struct rt_probe *enter_inner = add_probe(b, RT_ENTER, inner, H, ENTRY_STEP);
	begin_program(b);
	add_code(b, F + 4, 2);
	hit(b, enter_outer);
	call(b, 2, F + 4);
	hit(b, enter_inner);
	assert_true(newest(b)->parent);
	come_back(b, 2);
	hit(b, leave_outer);
	call(b, 2, F + 4);
	hit(b, enter_inner);
	assert_false(newest(b)->parent);
	assert_int_equal(newest(b)->frame_count, 2);
	assert_int_equal(newest(b)->calls, 1);
}

static void recursion_shows_in_the_path(void **state)
{
	struct bench *b = *state;
	enum { DEPTH = 100000 };
	uint32_t s = add_subject(b, RT_PATH, BYTES, F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	struct rt_probe *leave = add_probe(b, RT_EXIT, s, F, ENTRY_STEP);
	begin_program(b);
	add_code(b, F + 4, 2);
	hit(b, enter);
	struct rt_path *outermost = newest(b);
	for (unsigned i = 1; i < DEPTH; i++) {
		call(b, 2, F + 4);
		hit(b, enter);
		b->area->bytes++;
	}
	assert_int_equal(count_paths(b), RT_WALK_FRAMES);
	assert_int_equal(newest(b)->depth, RT_WALK_FRAMES);
	assert_int_equal(newest(b)->calls, DEPTH - RT_WALK_FRAMES + 1);
	assert_true(newest(b)->recursive && newest(b)->parent && !outermost->recursive);
	for (unsigned i = 1; i < DEPTH; i++) {
		hit(b, leave);
		come_back(b, 2);
	}
	hit(b, leave);
	assert_int_equal(outermost->total[RT_BYTES], DEPTH - 1);
	assert_int_equal(outermost->self[RT_BYTES], 0);
	assert_null(top_of(b, 0));
	assert_int_equal(b->area->dropped, 0);
}

/* Two procedures that call each other keep their own paths. */
static void mutual_recursion_is_folded(void **state)
{
	struct bench *b = *state;
	enum { TURNS = 5000 };
	struct rt_probe *f =
		add_probe(b, RT_ENTER, add_subject(b, RT_PATH, BYTES, F), F, ENTRY_STEP);
	struct rt_probe *g =
		add_probe(b, RT_ENTER, add_subject(b, RT_PATH, BYTES, G), G, ENTRY_STEP);
	begin_program(b);
	add_code(b, F + 4, 2);
	add_code(b, G + 4, 2);
	for (unsigned i = 0; i < TURNS; i++) {
		hit(b, f);
		call(b, 2, F + 4);
		hit(b, g);
		call(b, 2, G + 4);
	}
	assert_in_range(count_paths(b), RT_WALK_FRAMES, RT_WALK_FRAMES + 4);
	assert_in_range(newest(b)->depth, RT_WALK_FRAMES, RT_WALK_FRAMES + 4);
	assert_true(newest(b)->complete);
	assert_int_equal(newest(b)->frames[0], newest(b)->subject == f->subject ? G + 4 : F + 4);
}

static void recursion_without_anchors(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, F),
				       F, ENTRY_STEP);
	begin_program(b);
	add_code(b, F + 4, 2);
	for (unsigned i = 0; i < 400; i++) {
		hit(b, p);
		call(b, 2, F + 4);
	}
	assert_int_equal(count_paths(b), 400);
	assert_int_equal(newest(b)->frame_count, 400);
	assert_true(newest(b)->recursive);
}

static void cuts_deep_recursion_off(void **state)
{
	struct bench *b = *state;
	enum { DEPTH = 20000 };
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, F),
				       F, ENTRY_STEP);
	begin_program(b);
	add_code(b, F + 4, 2);
	for (unsigned i = 0; i < DEPTH; i++) {
		hit(b, p);
		call(b, 2, F + 4);
	}
	assert_int_equal(count_paths(b), RT_WALK_FRAMES + 1);
	assert_int_equal(newest(b)->frame_count, RT_WALK_FRAMES);
	assert_int_equal(newest(b)->calls, DEPTH - RT_WALK_FRAMES);
	assert_true(newest(b)->recursive && !newest(b)->complete);
	assert_int_equal(b->area->raw_walks, 0);
}

/* Room for what the kernel saves; `sp` is that of the interrupted code. */
static void interrupt(struct bench *b, uint64_t pc, uint64_t link)
{
	uint64_t *sp = b->sp;
	b->sp -= 128;
	memset(b->sp, 0x55, 128 * 8);
#ifdef __aarch64__
	b->sp[544 / 8] = b->fp;
	b->sp[552 / 8] = link;
	b->sp[560 / 8] = (uint64_t)sp;
	b->sp[568 / 8] = pc;
#else
	(void)link;
	b->sp[120 / 8] = b->fp;
	b->sp[160 / 8] = (uint64_t)sp;
	b->sp[168 / 8] = pc;
#endif
}

/* What was interrupted is known by its exact address, which may be a return address as well. */
static void walks_over_signal_frames(void **state)
{
	struct bench *b = *state;
	enum { TRAMPOLINE = 0x7000 };
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, F),
				       F, ENTRY_STEP);
	begin_program(b);
	set_step(b, TRAMPOLINE, RT_STEP_SIGNAL);
	set_step(b, (G + 4) | RT_STEP_EXACT, ENTRY_STEP);
	set_step(b, G + 4, RT_STEP_NONE);
	uint64_t *interrupted = b->sp;
	interrupt(b, G + 4, 0);
	uint64_t *signal_frame = b->sp;
	call(b, 0, TRAMPOLINE);
	hit(b, p);
	hit(b, p);
	const uint64_t expected[] = {TRAMPOLINE, G + 4, ROOT};
	assert_int_equal(newest(b)->frame_count, 3);
	assert_memory_equal(newest(b)->frames, expected, sizeof(expected));
	assert_int_equal(newest(b)->calls, 2);
	assert_true(newest(b)->complete && b->area->instance_hits == 1);
#ifdef __aarch64__
	/* Right behind a call, nothing is on the stack yet. */
	set_step(b, (H + 4) | RT_STEP_EXACT, step(RT_STEP_SP, 16, 0, 0) | RT_STEP_IN_LINK);
	b->sp = interrupted;
	interrupt(b, H + 4, ROOT);
	call(b, 0, TRAMPOLINE);
	hit(b, p);
	assert_int_equal(newest(b)->frames[1], H + 4);
	assert_int_equal(newest(b)->frames[2], ROOT);
	assert_true(newest(b)->complete);
#endif
	/* A probe was interrupted. */
	header(b)->code_regions = 1;
	header(b)->code[0].start = 0x9000;
	header(b)->code[0].size = 0x100;
	b->sp = interrupted;
	interrupt(b, 0x9010, 0);
	assert_ptr_equal(b->sp, signal_frame);
	call(b, 0, TRAMPOLINE);
	hit(b, p);
	assert_int_equal(newest(b)->frame_count, 1);
	assert_false(newest(b)->complete);
	assert_int_equal(b->area->raw_walks, 0);
}

static void longjmp_leaves_nothing_behind(void **state)
{
	struct bench *b = *state;
	uint32_t f = add_subject(b, 0, BYTES, F), g = add_subject(b, 0, BYTES, G);
	struct rt_probe *enter_f = add_probe(b, RT_ENTER, f, F, ENTRY_STEP);
	struct rt_probe *leave_f = add_probe(b, RT_EXIT, f, F, ENTRY_STEP);
	struct rt_probe *enter_g = add_probe(b, RT_ENTER, g, G, ENTRY_STEP);
	begin_program(b);
	hit(b, enter_f);
	const struct rt_path *of_f = newest(b);
	for (unsigned i = 0; i < 3; i++) {
		call(b, 2, F + 4);
		hit(b, enter_g);
		b->area->bytes++;
		come_back(b, 2);
	}
	const struct rt_path *of_g = newest(b);
	call(b, 1, F + 4); /* further out than before */
	hit(b, enter_g);
	hit(b, enter_g);
	assert_int_equal(of_g->calls, 5);
	assert_int_equal(of_g->total[RT_BYTES], 3);
	come_back(b, 1);
	hit(b, leave_f);
	assert_null(top_of(b, 0));
	assert_int_equal(of_f->total[RT_BYTES], 3);
	assert_int_equal(of_f->self[RT_BYTES], 0);
	assert_false(of_g->recursive);
	hit(b, leave_f); /* ended already */
	assert_int_equal(of_f->total[RT_BYTES], 3);
}

static void loops_share_a_frame(void **state)
{
	struct bench *b = *state;
	uint32_t f = add_subject(b, RT_PATH, BYTES, F);
	uint32_t outer = add_subject(b, RT_PATH | RT_LOOP, BYTES, F);
	uint32_t inner = add_subject(b, RT_PATH | RT_LOOP, BYTES, F);
	struct rt_probe *enter[] = {add_probe(b, RT_ENTER, f, F, ENTRY_STEP),
				    add_probe(b, RT_ENTER, outer, F + 8, ENTRY_STEP),
				    add_probe(b, RT_ENTER, inner, F + 16, ENTRY_STEP)};
	struct rt_probe *leave[] = {add_probe(b, RT_EXIT, f, F + 32, ENTRY_STEP),
				    add_probe(b, RT_EXIT, outer, F + 28, ENTRY_STEP),
				    add_probe(b, RT_EXIT, inner, F + 24, ENTRY_STEP)};
	begin_program(b);
	hit(b, enter[0]);
	hit(b, enter[1]);
	for (unsigned i = 0; i < 2; i++) {
		hit(b, enter[2]);
		b->area->bytes += 3;
		hit(b, leave[2]);
	}
	struct rt_path *of_inner = newest(b), *of_outer = path_at(b, of_inner->parent);
	assert_int_equal(of_outer->subject, outer);
	assert_int_equal(path_at(b, of_outer->parent)->subject, f);
	assert_int_equal(of_inner->frame_count, 0);
	assert_int_equal(of_inner->calls, 2);
	/* Left by a jump and entered again. */
	hit(b, enter[2]);
	b->area->bytes += 5;
	hit(b, enter[1]);
	assert_int_equal(of_outer->calls, 2);
	assert_false(newest(b)->recursive);
	hit(b, leave[1]);
	hit(b, leave[0]);
	assert_int_equal(of_inner->total[RT_BYTES], 11);
	assert_int_equal(of_outer->total[RT_BYTES], 11);
	assert_int_equal(of_outer->self[RT_BYTES], 0);
	assert_int_equal(path_at(b, of_outer->parent)->total[RT_BYTES], 11);
	assert_null(top_of(b, 0));
}

static void values_pass_through_subjects_without_the_metric(void **state)
{
	struct bench *b = *state;
	uint32_t metrics[] = {BYTES, 1 << RT_SYNC, BYTES};
	struct rt_probe *enter[3], *leave[3];
	for (unsigned i = 0; i < 3; i++) {
		uint32_t s = add_subject(b, 0, metrics[i], F + i * 0x100);
		enter[i] = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
		leave[i] = add_probe(b, RT_EXIT, s, F, ENTRY_STEP);
	}
	begin_program(b);
	for (unsigned i = 0; i < 3; i++) {
		call(b, 1, F + 4);
		hit(b, enter[i]);
		b->area->bytes += 1;
	}
	for (unsigned i = 3; i-- > 0;) {
		hit(b, leave[i]);
		come_back(b, 1);
	}
	const struct rt_path *outermost = newest(b);
	while (outermost->subject != 0)
		outermost = path_at(b, outermost->next);
	assert_int_equal(outermost->total[RT_BYTES], 3);
	assert_int_equal(outermost->self[RT_BYTES], 2);
}

/* Two coroutines and the thread's own stack, in turns. */
static void stacks_do_not_mix(void **state)
{
	struct bench *b = *state;
	enum { OTHERS = 2 };
	uint32_t s = add_subject(b, 0, BYTES, F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	struct rt_probe *leave = add_probe(b, RT_EXIT, s, F, ENTRY_STEP);
	static _Alignas(16) uint64_t other[OTHERS][512];
	uint64_t *sp[OTHERS + 1];
	begin_program(b);
	add_code(b, F + 4, 2);
	for (unsigned i = 0; i < OTHERS; i++)
		other[i][401] = ROOT, sp[i] = &other[i][400];
	sp[OTHERS] = b->sp;
	for (unsigned depth = 0; depth < 3; depth++)
		for (unsigned i = 0; i <= OTHERS; i++) {
			b->sp = sp[i];
			hit(b, enter);
			call(b, 2, F + 4);
			sp[i] = b->sp;
		}
	for (unsigned depth = 0; depth < 3; depth++)
		for (unsigned i = 0; i <= OTHERS; i++) {
			b->sp = sp[i];
			come_back(b, 2);
			b->area->bytes++;
			hit(b, leave);
			sp[i] = b->sp;
		}
	const struct rt_path *nested = newest(b), *outermost = path_at(b, nested->next);
	assert_int_equal(nested->calls + outermost->calls, 9);
	assert_int_equal(outermost->total[RT_BYTES],
			 7); /* the first to begin is the seventh to end */
	for (unsigned i = 0; i < RT_STACKS; i++)
		assert_null(top_of(b, i));
	assert_int_equal(b->area->raw_walks, 0);
}

static void records_what_it_cannot_walk(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H),
				       H, ENTRY_STEP);
	header(b)->text[0].start = MAIN;
	header(b)->text[0].end = H + 0x100;
	header(b)->text_ranges = 1;
	begin_program(b);
	add_code(b, F + 4, 3);
	call(b, 3, F + 4);
	call(b, 2, G + 4); /* unknown */
	b->sp[2] = 0xdead;
	hit(b, p);
	struct rt_path *raw = newest(b);
	const struct rt_raw *r = (struct rt_raw *)(b->region + raw->raw);
	assert_int_equal(raw->raw, RT_RAW);
	assert_int_equal(r->sp, (uint64_t)b->sp);
	assert_int_equal(r->pc, H);
	assert_int_equal(r->stack_size, b->area->stack_high - (uint64_t)b->sp);
	assert_memory_equal(r + 1, b->sp, r->stack_size);
	assert_int_equal(header(b)->raw_seen, 1);
	assert_int_equal(header(b)->raw_used, r->size);
	b->sp[2] = 0xbeef; /* no code */
	hit(b, p);
	assert_int_equal(raw->calls, 2);
	b->sp[2] = MAIN + 0x20;
	hit(b, p);
	assert_int_equal(raw->calls, 2);
	assert_int_equal(header(b)->raw_seen, 2);
	/* Sonde adds the step. */
	add_code(b, G + 4, 2);
	hit(b, p);
	assert_int_equal(newest(b)->frame_count, 3);
	assert_false(newest(b)->raw);
}

static void records_other_stacks_as_far_as_they_go(void **state)
{
	struct bench *b = *state;
	uint32_t s = add_subject(b, RT_PATH, BYTES, H);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, H, ENTRY_STEP);
	struct rt_probe *leave = add_probe(b, RT_EXIT, s, H, ENTRY_STEP);
	uint8_t *page =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(page + 8192, 4096, PROT_NONE);
	b->sp = (uint64_t *)(page + 8192 - 64);
	b->sp[1] = G + 4; /* unknown */
	hit(b, enter);
	const struct rt_raw *r = (struct rt_raw *)(b->region + newest(b)->raw);
	assert_int_equal(r->stack_size, 64);
	assert_memory_equal(r + 1, b->sp, 64);
	b->area->bytes += 2;
	hit(b, leave);
	assert_int_equal(newest(b)->total[RT_BYTES], 2);
	munmap(page, 3 * 4096);
}

static void goes_on_when_raw_room_is_used_up(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H),
				       H, ENTRY_STEP);
	header(b)->raw_used = RT_RAW_BYTES - 64;
	call(b, 0, G + 4);
	hit(b, p);
	hit(b, p);
	assert_true(newest(b)->raw == RT_RAW_UNKNOWN);
	assert_int_equal(newest(b)->calls, 2);
}

/* A walk must not leave the stack, whatever the steps say. */
static void wrong_steps_do_no_harm(void **state)
{
	struct bench *b = *state;
	uint64_t wrong[] = {step(RT_STEP_SP, -8, 8, 0),  step(RT_STEP_SP, 1 << 26, 8, 0),
			    step(RT_STEP_FP, 0, 8, 8),   step(RT_STEP_SP, 8, 0xffff * 8, 0),
			    step(RT_STEP_SP, 8, 0, 8),   step(RT_STEP_SP, 8, 8, 0xffff * 8),
			    step(RT_STEP_SP, 0, 0, 0),   step(9, 8, 8, 0),
			    ENTRY_STEP | RT_STEP_IN_LINK};
	struct rt_probe *p = add_probe(b, RT_ENTER, add_subject(b, RT_PATH | RT_COUNT_ONLY, 0, H),
				       H, ENTRY_STEP);
	begin_program(b);
	call(b, 4, F + 4);
	b->fp = 0x10;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		set_step(b, F + 4, wrong[i]);
		hit(b, p);
	}
	assert_int_equal(newest(b)->calls, sizeof(wrong) / sizeof(wrong[0]));
	assert_int_equal(b->area->raw_walks, sizeof(wrong) / sizeof(wrong[0]));
}

static void interrupted_probes_use_the_sibling(void **state)
{
	struct bench *b = *state;
	uint32_t s = add_subject(b, 0, BYTES, F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	struct rt_area *sibling = (struct rt_area *)(b->region + RT_AREA(RT_AREAS));
	begin_program(b);
	b->area->busy = (uint64_t)(b->sp + 16); /* further out: it was interrupted */
	hit(b, enter);
	assert_int_equal(b->area->hits[RT_ENTER], 0);
	assert_int_equal(sibling->hits[RT_ENTER], 1);
	sibling->busy = b->area->busy;
	hit(b, enter);
	assert_int_equal(sibling->hits[RT_ENTER], 1);
	assert_int_equal(b->area->dropped, 1);
	/* Further in: it never came back. */
	b->area->busy = (uint64_t)(b->sp - 1024);
	hit(b, enter);
	assert_int_equal(b->area->hits[RT_ENTER], 1);
	assert_int_equal(b->area->busy, 0);
}

static void does_nothing_unless_prepared(void **state)
{
	struct bench *b = *state;
	uint32_t s = add_subject(b, 0, BYTES, F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	struct rt_probe *garbage = add_probe(b, 77, UINT32_MAX, F, ENTRY_STEP);
	begin_program(b);
	b->guard = 0;
	hit(b, enter);
	b->guard = RT_GUARD;
	((struct rt_subject *)(b->region + RT_SUBJECT_TABLE))[s].active = 0;
	hit(b, enter);
	hit(b, garbage);
	((struct rt_subject *)(b->region + RT_SUBJECT_TABLE))[s].active = 1;
	b->area->tid = 0;
	hit(b, enter);
	assert_int_equal(b->area->hits[RT_ENTER], 0);
	assert_int_equal(b->area->sequence, 0);
}

static void system_call_at(struct bench *b, struct rt_probe *before, struct rt_probe *after,
			   uint64_t number, uint64_t operation, int64_t result)
{
	b->in.reg[NUMBER] = number;
	b->in.reg[OPERATION] = operation;
	hit(b, before);
	b->in.reg[RESULT] = (uint64_t)result;
	hit(b, after);
}

static void counts_waiting(void **state)
{
	struct bench *b = *state;
	struct rt_probe *block = add_probe(b, RT_BLOCK, 0, F, ENTRY_STEP);
	struct rt_probe *done = add_probe(b, RT_BLOCK_DONE, 0, F + 4, ENTRY_STEP);
	struct rt_area *a = b->area;
	begin_program(b);
	header(b)->calls[SYS_futex] = RT_WAIT_SYNC;
	header(b)->calls[SYS_ppoll] = RT_WAIT_IO;
	header(b)->calls[SYS_read] = RT_WAIT_BYTES;
	system_call_at(b, block, done, SYS_getpid, 0, 100);
	system_call_at(b, block, done, 1 << 30, 0, 100);
	system_call_at(b, block, done, SYS_futex, 1 /* wake */, 100);
	assert_int_equal(a->waited_sync + a->waited_io + a->bytes + a->wait_since, 0);
	system_call_at(b, block, done, SYS_futex, 9 | 128, 0);
	assert_true(a->waited_sync && !a->waited_io);
	system_call_at(b, block, done, SYS_ppoll, 0, 1);
	assert_true(a->waited_io && !a->bytes && !a->wait_since);
	system_call_at(b, block, done, SYS_read, 0, 100);
	system_call_at(b, block, done, SYS_read, 0, -4);
	assert_int_equal(a->bytes, 100);
}

static void the_outermost_wait_counts(void **state)
{
	struct bench *b = *state;
	struct rt_probe *wait = add_probe(b, RT_WAIT, 0, F, ENTRY_STEP);
	struct rt_probe *wait_done = add_probe(b, RT_WAIT_DONE, 0, F, ENTRY_STEP);
	struct rt_probe *block = add_probe(b, RT_BLOCK, 0, G, ENTRY_STEP);
	struct rt_probe *done = add_probe(b, RT_BLOCK_DONE, 0, G + 4, ENTRY_STEP);
	struct rt_area *a = b->area;
	begin_program(b);
	header(b)->calls[SYS_read] = RT_WAIT_BYTES;
	hit(b, wait);
	call(b, 3, F + 4);
	system_call_at(b, block, done, SYS_read, 0, 7);
	come_back(b, 3);
	assert_true(!a->waited_io && a->bytes == 7 && a->wait_since);
	hit(b, wait_done);
	assert_true(a->waited_sync && !a->wait_since);
	/* A wait that was left further in does not hide this one. */
	call(b, 3, F + 4);
	b->in.reg[NUMBER] = SYS_read;
	hit(b, block);
	come_back(b, 3);
	system_call_at(b, block, done, SYS_read, 0, 1);
	assert_true(a->waited_io && a->bytes == 8 && !a->wait_since);
}

static void counts_targets(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_TARGET, 0, F + 8, 0);
	p->index = RT_NO_REGISTER;
	const struct rt_target *table = (struct rt_target *)((uint8_t *)b->area + RT_AREA_TARGETS);
	unsigned found = 0;
	for (unsigned reg = 0; reg < 16; reg++) {
		if (reg == SP || reg == FP)
			continue;
		p->base = (uint8_t)reg;
		b->in.reg[reg] = 0x1000 + reg;
		hit(b, p);
		hit(b, p);
	}
#ifdef __aarch64__
	for (unsigned reg = 16; reg < 31; reg++) {
		if (reg == 18 || reg == FP)
			continue;
		p->base = (uint8_t)reg;
		b->in.reg[reg] = b->link = 0x1000 + reg;
		hit(b, p);
		hit(b, p);
	}
	enum { EXPECTED = 16 + 13 };
#else
	enum { EXPECTED = 14 };
#endif
	for (unsigned i = 0; i < RT_TARGETS; i++)
		if (table[i].site) {
			assert_int_equal(table[i].site, F + 8);
			assert_int_equal(table[i].count, 2);
			found++;
		}
	assert_int_equal(found, EXPECTED);
}

static uint64_t thread_cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t read_start(struct bench *b, struct rt_probe *enter, unsigned metric)
{
	hit(b, enter);
	return top_of(b, 0)->start[metric];
}

/* A reading lies between two of the kernel's, but for what the kernel accounts late. */
static void check_cpu_clock(struct bench *b, struct rt_probe *enter)
{
	enum { TOLERANCE = 20000000 };
	uint64_t last = 0;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t before = thread_cpu();
		uint64_t now = read_start(b, enter, RT_CPU);
		assert_true(now >= last);
		assert_true(now + TOLERANCE > before && now < thread_cpu() + TOLERANCE);
		last = now;
		if (i % 100 == 0)
			usleep(1000);
	}
}

static void cpu_time_is_the_threads(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter =
		add_probe(b, RT_ENTER, add_subject(b, 0, 1 << RT_CPU, F), F, ENTRY_STEP);
	begin_program(b);
	check_cpu_clock(b, enter);
	assert_true(b->area->clock_page);
}

static void cpu_time_without_perf(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter =
		add_probe(b, RT_ENTER, add_subject(b, 0, 1 << RT_CPU, F), F, ENTRY_STEP);
	header(b)->clock_kind = 0;
	begin_program(b);
	check_cpu_clock(b, enter);
	assert_int_equal(b->area->clock_page, 1);
}

static void wall_time_grows(void **state)
{
	struct bench *b = *state;
	struct rt_probe *enter =
		add_probe(b, RT_ENTER, add_subject(b, 0, 1 << RT_WALL, F), F, ENTRY_STEP);
	begin_program(b);
	uint64_t first = read_start(b, enter, RT_WALL);
	usleep(1000);
	assert_true(read_start(b, enter, RT_WALL) > first);
}

static void touch_pages(void)
{
	volatile uint8_t *p =
		mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < 1 << 16; i += 4096)
		p[i] = 1;
	munmap((void *)(uintptr_t)p, 1 << 16);
}

static void reads_events(void **state)
{
	struct bench *b = *state;
	uint32_t s = add_subject(b, 0, 1 << (RT_EVENT + 1), F);
	struct rt_probe *enter = add_probe(b, RT_ENTER, s, F, ENTRY_STEP);
	struct rt_probe *leave = add_probe(b, RT_EXIT, s, F, ENTRY_STEP);
	header(b)->events[1].type = PERF_TYPE_SOFTWARE;
	header(b)->events[1].config = PERF_COUNT_SW_PAGE_FAULTS;
	begin_program(b);
	hit(b, enter);
	if (b->area->event_fd[1] < 0)
		skip();
	touch_pages();
	hit(b, leave);
	assert_true(newest(b)->total[RT_EVENT + 1] >= 16);
	/* The program closes it and has a file of its own under that number. */
	int fd = (int)b->area->event_fd[1], ends[2];
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], "12345678", 8), 8);
	dup2(ends[0], fd);
	hit(b, enter);
	char text[8];
	assert_int_equal(read(fd, text, sizeof(text)), 8);
	assert_int_equal(b->area->event_fd[1], -1);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static uint64_t find_area(const struct bench *b)
{
	static _Thread_local _Alignas(16) uint64_t stack[512];
	struct machine in = {0}, out;
	in.reg[SP] = (uint64_t)(stack + 480);
	in.flags = 0;
	call_routine(&in, &out, (uint64_t)b->text + entries(b)->find, 0);
	return out.reg[ARGUMENT];
}

struct finder {
	struct bench *bench;
	uint32_t number;
	uint64_t found[3], expected;
	pthread_barrier_t *ready;
};

static void *find_in_thread(void *arg)
{
	struct finder *f = arg;
	if (f->number < TEST_THREADS - 1)
		f->expected = (uint64_t)prepare_area(f->bench, f->number + 1, (uint32_t)gettid());
	else
		f->expected = (uint64_t)f->bench->region + RT_NO_AREA;
	/* Somebody else's pointer is where this one belongs. */
	if (f->number % 2)
		*table_home(f->bench, here_thread_pointer()) = (struct rt_thread){99, 99};
	pthread_barrier_wait(f->ready);
	for (unsigned i = 0; i < 3; i++)
		f->found[i] = find_area(f->bench);
	pthread_barrier_wait(f->ready);
	return NULL;
}

static void threads_find_their_areas(void **state)
{
	struct bench *b = *state;
	struct finder finders[TEST_THREADS];
	pthread_t threads[TEST_THREADS];
	pthread_barrier_t ready;
	assert_int_equal(find_area(b), (uint64_t)b->area);
	header(b)->threads = TEST_THREADS;
	pthread_barrier_init(&ready, NULL, TEST_THREADS);
	for (uint32_t i = 0; i < TEST_THREADS; i++) {
		finders[i] = (struct finder){.bench = b, .number = i, .ready = &ready};
		assert_int_equal(pthread_create(&threads[i], NULL, find_in_thread, &finders[i]), 0);
	}
	for (uint32_t i = 0; i < TEST_THREADS; i++) {
		pthread_join(threads[i], NULL);
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(finders[i].found[k], finders[i].expected);
	}
	pthread_barrier_destroy(&ready);
}

static volatile uint64_t signal_value;
static volatile int signal_code;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	signal_value = (uint64_t)info->si_value.sival_ptr;
	signal_code = info->si_code;
}

static void rendezvous_sends_a_signal(void **state)
{
	struct bench *b = *state;
	struct rt_probe *p = add_probe(b, RT_RENDEZVOUS, 0, F, 0);
	struct sigaction new = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, old;
	p->constant = 77;
	signal_value = 0;
	/* The handler runs on the made-up stack: room enough below. */
	b->sp -= 8192;
	sigaction(CONTROL_SIGNAL, &new, &old);
	hit(b, p);
	assert_true(signal_value == (CONTROL_MAGIC | 77));
	assert_true(RT_SIGNAL_MAGIC == CONTROL_MAGIC);
	assert_int_equal(signal_code, SI_QUEUE);
	signal_value = 0;
	pid_t dead = fork();
	if (!dead)
		_exit(0);
	/* Dead, but its parent does not know yet; then it does. */
	siginfo_t info;
	waitid(P_PID, (id_t)dead, &info, WEXITED | WNOWAIT);
	header(b)->tracer = (uint32_t)dead;
	hit(b, p);
	waitpid(dead, NULL, 0);
	hit(b, p);
	header(b)->tracer = 0;
	hit(b, p);
	sigaction(CONTROL_SIGNAL, &old, NULL);
	assert_true(signal_value == 0);
}

/* A trap, and where it leads. */
__asm__(".text\n	.globl trap_here, trap_at, trap_to\n");
#ifdef __aarch64__
__asm__("trap_here:\n	mov w0, 1\n"
	"trap_at:\n	brk 0\n	mov w0, 7\n"
	"trap_to:\n	add w0, w0, 41\n	ret\n");
#else
__asm__("trap_here:\n	mov $1, %eax\n"
	"trap_at:\n	int3\n	mov $7, %eax\n"
	"trap_to:\n	add $41, %eax\n	ret\n");
#endif
int trap_here(void);
extern const uint8_t trap_at[], trap_to[];

struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};

static void install_trap_handler(const struct bench *b)
{
	struct kernel_action action = {.handler = (uint64_t)b->text + entries(b)->trap,
				       .flags = SA_SIGINFO | 0x04000000 /* SA_RESTORER */,
				       .restorer = (uint64_t)b->text + entries(b)->restorer};
	syscall(SYS_rt_sigaction, SIGTRAP, &action, NULL, 8);
}

static int ends_in_a_trap(const struct bench *b, uint64_t to)
{
	struct rt_trap *t =
		(struct rt_trap *)(b->region + RT_TRAP_TABLE) + rt_trap_home((uint64_t)trap_at);
	pid_t child = fork();
	int status;
	if (!child) {
		*t = (struct rt_trap){(uint64_t)trap_at, to};
		install_trap_handler(b);
		_exit(trap_here());
	}
	waitpid(child, &status, 0);
	return status;
}

static void traps_lead_on(void **state)
{
	struct bench *b = *state;
	int status = ends_in_a_trap(b, (uint64_t)trap_to);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void other_traps_end_the_program(void **state)
{
	struct bench *b = *state;
	int status = ends_in_a_trap(b, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
}

/* Sends a signal to itself, with these arguments of rt_tgsigqueueinfo(). */
__asm__(".text\n	.globl send_trap, sent_to\n");
#ifdef __aarch64__
__asm__("send_trap:\n	mov x8, 240\n	svc 0\n"
	"sent_to:\n	mov w0, 42\n	ret\n");
#else
__asm__("send_trap:\n	mov %rcx, %r10\n	mov $297, %eax\n	syscall\n"
	"sent_to:\n	mov $42, %eax\n	ret\n");
#endif
int send_trap(long pid, long tid, long signal, const siginfo_t *info);
extern const uint8_t sent_to[];

static int ends_where_it_was_sent(const struct bench *b, int code)
{
	pid_t child = fork();
	int status;
	if (!child) {
		siginfo_t info = {.si_signo = SIGTRAP, .si_code = code};
		*(struct rt_trap *)(b->region + RT_TRAP_TABLE) =
			(struct rt_trap){(uint64_t)trap_at, (uint64_t)sent_to};
		install_trap_handler(b);
		_exit(send_trap(getpid(), getpid(), SIGTRAP, &info));
	}
	waitpid(child, &status, 0);
	return status;
}

/* The signal of a trap comes though Sonde, before it was killed, had sent the thread on. */
static void threads_may_be_sent_already(void **state)
{
	struct bench *b = *state;
	int status = ends_where_it_was_sent(b, TRAP_BRKPT);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void sent_signals_end_the_program(void **state)
{
	struct bench *b = *state;
	int status = ends_where_it_was_sent(b, SI_QUEUE);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_registers),
		TEST(needs_no_alignment),
		TEST(plain_subject_has_one_path),
		TEST(plain_recursion_counts_once),
		TEST(walks_to_the_root),
		TEST(follows_frame_pointers),
		TEST(finds_returns_in_the_link_register),
		TEST(notices_changes_at_any_depth),
		TEST(ends_at_an_anchor),
		TEST(anchors_must_live),
		TEST(recursion_shows_in_the_path),
		TEST(mutual_recursion_is_folded),
		TEST(recursion_without_anchors),
		TEST(cuts_deep_recursion_off),
		TEST(walks_over_signal_frames),
		TEST(longjmp_leaves_nothing_behind),
		TEST(loops_share_a_frame),
		TEST(values_pass_through_subjects_without_the_metric),
		TEST(stacks_do_not_mix),
		TEST(records_what_it_cannot_walk),
		TEST(records_other_stacks_as_far_as_they_go),
		TEST(goes_on_when_raw_room_is_used_up),
		TEST(wrong_steps_do_no_harm),
		TEST(interrupted_probes_use_the_sibling),
		TEST(does_nothing_unless_prepared),
		TEST(counts_waiting),
		TEST(the_outermost_wait_counts),
		TEST(counts_targets),
		TEST(cpu_time_is_the_threads),
		TEST(cpu_time_without_perf),
		TEST(wall_time_grows),
		TEST(reads_events),
		TEST(threads_find_their_areas),
		TEST(rendezvous_sends_a_signal),
		TEST(traps_lead_on),
		TEST(other_traps_end_the_program),
		TEST(threads_may_be_sent_already),
		TEST(sent_signals_end_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
