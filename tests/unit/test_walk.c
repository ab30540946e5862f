/* Children of this program come to a stop in known places, say what glibc's unwinder makes of their
 * stack, and are walked from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "process/memory.h"
#include "unwind/walk.h"

enum { TRUTH_MAX = 600, DEEP = 20000, ALTERNATE = 1 << 16 };

/* What a child tells. */
static struct shared {
	atomic_int ready;
	int tid, depth;
	void *truth[TRUTH_MAX]; /* return addresses from stop_here() on */
} * shared;

static volatile int sink;

/* --- what the children do ------------------------------------------------------------------- */

__attribute__((noinline)) static void stop_here(void)
{
	shared->depth = backtrace(shared->truth, TRUTH_MAX);
	shared->tid = gettid();
	shared->ready = 1;
	while (shared->ready)
		pause();
}

/* Each does something after the call, so that it is none in tail position. */
#define LEVEL(name, callee)                                                                        \
	__attribute__((noinline)) static void name(void)                                           \
	{                                                                                          \
		callee();                                                                          \
		sink++;                                                                            \
	}
LEVEL(level_three, stop_here)
LEVEL(level_two, level_three)
LEVEL(level_one, level_two)

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	level_one();
	return *(const int *)a - *(const int *)b;
}

static void scene_callback(void)
{
	int numbers[] = {3, 1, 2};
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	sink++;
}

/* A frame whose size is only known when it runs. */
__attribute__((noinline)) static void with_alloca(size_t n)
{
	volatile char *p = __builtin_alloca(n);
	p[0] = 1;
	level_one();
	sink += p[0];
}

static void scene_alloca(void)
{
	with_alloca((size_t)(sink + 1000));
	sink++;
}

__attribute__((noinline)) static int recurse(int n)
{
	if (n == 0)
		level_one();
	else
		sink += recurse(n - 1);
	return sink + n;
}

static void scene_recursion(void)
{
	sink = recurse(100);
}

static void scene_deep(void)
{
	sink = recurse(DEEP);
}

static void on_signal(int number)
{
	(void)number;
	level_one();
	sink++;
}

static void set_handler(int number, void (*handler)(int), int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = flags};
	sigaction(number, &sa, NULL);
}

static void scene_signal(void)
{
	set_handler(SIGUSR1, on_signal, 0);
	raise(SIGUSR1);
	sink++;
}

static void use_alternate_stack(void)
{
	static char memory[ALTERNATE];
	sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = sizeof(memory)}, NULL);
}

static void scene_alternate_stack(void)
{
	use_alternate_stack();
	set_handler(SIGUSR1, on_signal, SA_ONSTACK);
	raise(SIGUSR1);
	sink++;
}

static void on_first_signal(int number)
{
	(void)number;
	raise(SIGUSR2);
	sink++;
}

static void scene_nested_signals(void)
{
	use_alternate_stack();
	set_handler(SIGUSR2, on_signal, 0);
	set_handler(SIGUSR1, on_first_signal, SA_ONSTACK);
	raise(SIGUSR1);
	sink++;
}

__attribute__((noinline)) static int spin(volatile int *n)
{
	int sum = 0;
	while (*n)
		sum += *n;
	return sum;
}

/* Interrupts a function that has no frame, anywhere in it. */
static void scene_interrupted(void)
{
	volatile int forever = 1;
	set_handler(SIGALRM, on_signal, 0);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 1000}, NULL);
	sink = spin(&forever);
}

static void *thread_level(void *scene)
{
	((void (*)(void))scene)();
	sink++;
	return NULL;
}

static void run_in_thread(void (*scene)(void))
{
	pthread_t thread;
	pthread_create(&thread, NULL, thread_level, (void *)scene);
	pthread_join(thread, NULL);
}

static void scene_thread(void)
{
	run_in_thread(level_one);
}

static void scene_thread_signal(void)
{
	run_in_thread(scene_nested_signals);
}

static void scene_coroutine(void)
{
	static char stack[1 << 18];
	static ucontext_t here, there;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, level_one, 0);
	swapcontext(&here, &there);
}

/* Switches to a stack of its own, where code that nothing called calls a function, as glibc's
 * setcontext() does since 2.41. */
void run_on_stack(void *top, void (*first)(void));

#if defined(__aarch64__)
__asm__(".text\n"
	".type run_on_stack, %function\n"
	"run_on_stack:\n"
	"	mov sp, x0\n"
	"	mov x20, x1\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	b begin_here\n"
	".size run_on_stack, . - run_on_stack\n"
	".type begin_here, %function\n"
	"begin_here:\n"
	"	hint #34\n" /* bti c */
	"	blr x20\n"
	"	brk #0\n"
	".size begin_here, . - begin_here\n");
#elif defined(__x86_64__)
__asm__(".text\n"
	".type run_on_stack, @function\n"
	"run_on_stack:\n"
	"	mov %rdi, %rsp\n"
	"	mov %rsi, %rbx\n"
	"	mov $1, %ebp\n"
	"	jmp begin_here\n"
	".size run_on_stack, . - run_on_stack\n"
	".type begin_here, @function\n"
	"begin_here:\n"
	"	endbr64\n"
	"	call *%rbx\n"
	"	ud2\n"
	".size begin_here, . - begin_here\n");
#endif

static void scene_made_stack(void)
{
	static _Alignas(16) char stack[1 << 18];
	run_on_stack(stack + sizeof(stack), level_one);
}

/* Calls a function from a frame that call frame information describes as too small. Its address is
 * taken, which is wrong for local symbols of assembly on aarch64. */
void call_misdescribed(void (*function)(void));
#if defined(__aarch64__)
__asm__(".text\n"
	".globl call_misdescribed\n"
	".hidden call_misdescribed\n"
	".type call_misdescribed, %function\n"
	"call_misdescribed:\n"
	"	.cfi_startproc\n"
	"	sub sp, sp, #32\n"
	"	stp x29, x30, [sp, #16]\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	mov x9, sp\n"
	"	str x9, [sp, #8]\n"
	"	blr x0\n"
	"	ldp x29, x30, [sp, #16]\n"
	"	add sp, sp, #32\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_misdescribed, . - call_misdescribed\n");
#elif defined(__x86_64__)
__asm__(".text\n"
	".globl call_misdescribed\n"
	".hidden call_misdescribed\n"
	".type call_misdescribed, @function\n"
	"call_misdescribed:\n"
	"	.cfi_startproc\n"
	"	sub $24, %rsp\n"
	"	mov %rsp, (%rsp)\n"
	"	call *%rdi\n"
	"	add $24, %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_misdescribed, . - call_misdescribed\n");
#endif

static void scene_misdescribed(void)
{
	call_misdescribed(level_one);
	sink++;
}

/* setjmp and longjmp, but that the latter comes to a stop when it has left its stack, by a system
 * call that waits for ever. */
int save_here(uint64_t *registers) __attribute__((returns_twice));
void jump_and_wait(const uint64_t *registers, atomic_int *ready);

#if defined(__aarch64__)
__asm__(".text\n"
	".type save_here, %function\n"
	"save_here:\n"
	"	stp x19, x20, [x0]\n"
	"	stp x21, x22, [x0, #16]\n"
	"	stp x23, x24, [x0, #32]\n"
	"	stp x25, x26, [x0, #48]\n"
	"	stp x27, x28, [x0, #64]\n"
	"	stp x29, x30, [x0, #80]\n"
	"	mov x2, sp\n"
	"	str x2, [x0, #96]\n"
	"	mov w0, #0\n"
	"	ret\n"
	".size save_here, . - save_here\n"
	".type jump_and_wait, %function\n"
	"jump_and_wait:\n"
	"	ldp x19, x20, [x0]\n"
	"	ldp x21, x22, [x0, #16]\n"
	"	ldp x23, x24, [x0, #32]\n"
	"	ldp x25, x26, [x0, #48]\n"
	"	ldp x27, x28, [x0, #64]\n"
	"	ldp x29, x30, [x0, #80]\n"
	"	ldr x2, [x0, #96]\n"
	"	mov sp, x2\n"
	"	mov w9, #1\n"
	"	str w9, [x1]\n"
	"	mov x0, #0\n"
	"	mov x1, #0\n"
	"	mov x2, #0\n"
	"	mov x3, #0\n"
	"	mov x8, #73\n" /* ppoll */
	"	svc #0\n"
	"	mov w0, #1\n"
	"	br x30\n"
	".size jump_and_wait, . - jump_and_wait\n");
#elif defined(__x86_64__)
__asm__(".text\n"
	".type save_here, @function\n"
	"save_here:\n"
	"	mov %rbx, (%rdi)\n"
	"	mov %rbp, 8(%rdi)\n"
	"	mov %r12, 16(%rdi)\n"
	"	mov %r13, 24(%rdi)\n"
	"	mov %r14, 32(%rdi)\n"
	"	mov %r15, 40(%rdi)\n"
	"	lea 8(%rsp), %rdx\n"
	"	mov %rdx, 48(%rdi)\n"
	"	mov (%rsp), %rdx\n"
	"	mov %rdx, 56(%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".size save_here, . - save_here\n"
	".type jump_and_wait, @function\n"
	"jump_and_wait:\n"
	"	mov (%rdi), %rbx\n"
	"	mov 8(%rdi), %rbp\n"
	"	mov 16(%rdi), %r12\n"
	"	mov 24(%rdi), %r13\n"
	"	mov 32(%rdi), %r14\n"
	"	mov 40(%rdi), %r15\n"
	"	mov 56(%rdi), %rdx\n"
	"	mov 48(%rdi), %rsp\n"
	"	movl $1, (%rsi)\n"
	"	mov $34, %eax\n" /* pause */
	"	syscall\n"
	"	mov $1, %eax\n"
	"	jmp *%rdx\n"
	".size jump_and_wait, . - jump_and_wait\n");
#endif

__attribute__((noinline)) static void jump_from_deep(const uint64_t *registers, int n)
{
	if (n == 0)
		jump_and_wait(registers, &shared->ready);
	else
		jump_from_deep(registers, n - 1);
	sink++;
}

__attribute__((noinline)) static void be_jumped_to(void)
{
	static uint64_t registers[16];
	shared->depth = backtrace(shared->truth, TRUTH_MAX);
	shared->tid = gettid();
	if (!save_here(registers))
		jump_from_deep(registers, 5);
	sink++;
}

static void scene_jump(void)
{
	be_jumped_to();
	sink++;
}

/* Makes the system call with this number, without arguments. As in glibc since 2.41, the function
 * has no frame and is called from a single place. */
long test_walk_call(long number);
__asm__(".text\n"
	".globl test_walk_call\n"
	".hidden test_walk_call\n"
	".type test_walk_call, %function\n"
	"test_walk_call:\n"
#ifdef __aarch64__
	"	mov x8, x0\n	mov x0, #0\n	mov x1, #0\n	mov x2, #0\n	mov x3, #0\n"
	"	svc #0\n"
#else
	"	mov %rdi, %rax\n	xor %edi, %edi\n	xor %esi, %esi\n	xor %edx, "
	"%edx\n"
	"	xor %r10d, %r10d\n"
	"	syscall\n"
#endif
	"	ret\n"
	".size test_walk_call, . - test_walk_call\n");

__attribute__((noinline)) static void stop_in_call(void)
{
	shared->depth = backtrace(shared->truth, TRUTH_MAX);
	shared->tid = gettid();
	shared->ready = 1;
	while (shared->ready)
		sink += (int)test_walk_call(SYS_ppoll);
}
LEVEL(level_in_call, stop_in_call)

static void scene_in_call(void)
{
	level_in_call();
	sink++;
}

/* --- walking them --------------------------------------------------------------------------- */

/* A child at rest, and what is needed to walk it. */
struct victim {
	int pid, tid;
	struct codes *codes;
	struct space *space;
	struct walker *walker;
	struct registers regs;
	struct memory_window memory;
	struct walk walk;
};

static struct recipes_options options;

static void read_registers(struct victim *v)
{
	char bytes[1024];
	struct iovec iov = {bytes, sizeof(bytes)};
	assert_int_equal(ptrace(PTRACE_GETREGSET, v->tid, NT_PRSTATUS, &iov), 0);
	assert_true(registers_from_ptrace(arch_native(), bytes, iov.iov_len, &v->regs));
	memory_window_init(&v->memory, v->pid);
}

static void refresh(struct victim *v)
{
	struct err e = {0};
	if (space_refresh(v->space, &e))
		fail_msg("%s", e.text);
}

static void prepare(struct victim *v)
{
	v->codes = codes_new(&options);
	v->space = space_new(v->codes, v->pid);
	v->walker = walker_new();
	refresh(v);
}

static void stop_thread(struct victim *v)
{
	int status;
	if (ptrace(PTRACE_SEIZE, v->tid, 0, PTRACE_O_EXITKILL))
		skip();
	assert_int_equal(ptrace(PTRACE_INTERRUPT, v->tid, 0, 0), 0);
	assert_int_equal(waitpid(v->tid, &status, __WALL), v->tid);
	assert_true(WIFSTOPPED(status));
}

static void start_victim(struct victim *v, void (*scene)(void))
{
	*v = (struct victim){0};
	memset(shared, 0, sizeof(*shared));
	v->pid = fork();
	assert_true(v->pid >= 0);
	if (!v->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		scene();
		_exit(1);
	}
	while (!shared->ready)
		assert_int_equal(waitpid(v->pid, NULL, WNOHANG), 0);
	v->tid = shared->tid;
	stop_thread(v);
	prepare(v);
	read_registers(v);
}

static void end_victim(struct victim *v)
{
	kill(v->pid, SIGKILL);
	/* Its end is told only after that of the threads that are traced. */
	if (v->tid != v->pid)
		waitpid(v->tid, NULL, __WALL);
	waitpid(v->pid, NULL, __WALL);
	vec_free(&v->walk.frames);
	walker_free(v->walker);
	space_free(v->space);
	codes_free(v->codes);
}

static void walk_live(struct victim *v)
{
	walk_stack(v->walker, v->space, &v->regs, memory_window_word, &v->memory, &v->walk);
}

/* Are both return addresses in one function? */
static bool same_function(struct victim *v, uint64_t pc, uint64_t other)
{
	struct place p = space_find(v->space, pc - 1), q = space_find(v->space, other - 1);
	return p.code && p.code == q.code &&
	       flow_function_at(p.code->flow, p.va) == flow_function_at(q.code->flow, q.va);
}

static bool is_stop(struct victim *v, uint64_t pc)
{
	return same_function(v, pc, (uint64_t)(uintptr_t)stop_here + 1);
}

/* Where in shared->truth a function is that has called backtrace(), which what is before it
 * belongs to. */
static int truth_from(struct victim *v, void (*caller)(void))
{
	for (int i = 0; i < shared->depth; i++)
		if (same_function(v, (uint64_t)(uintptr_t)shared->truth[i],
				  (uint64_t)(uintptr_t)caller + 1))
			return i;
	fail_msg("backtrace does not know its caller");
	return 0;
}

static int truth_start(struct victim *v)
{
	return truth_from(v, stop_here);
}

/* The return address i frames above stop_here(). */
static uint64_t truth(struct victim *v, int i)
{
	return (uint64_t)(uintptr_t)shared->truth[truth_start(v) + i];
}

/* The index of stop_here()'s frame. */
static uint32_t find_stop(struct victim *v)
{
	for (uint32_t i = 0; i < v->walk.frames.len; i++)
		if (is_stop(v, v->walk.frames.data[i].pc))
			return i;
	fail_msg("stop_here is not on the stack");
	return 0;
}

static void compare_to_truth(struct victim *v)
{
	assert_string_equal(walk_end_name[v->walk.end], walk_end_name[WALK_COMPLETE]);
	uint32_t first = find_stop(v), depth = (uint32_t)(shared->depth - truth_start(v));
	for (uint32_t i = 1; first + i < v->walk.frames.len && i < depth; i++)
		assert_int_equal(v->walk.frames.data[first + i].pc, truth(v, (int)i));
	/* glibc lists one more above the root where its tables do not end there. */
	assert_in_range(v->walk.frames.len - first, depth - 1, depth);
}

static void check_scene(void (*scene)(void))
{
	static struct victim v;
	start_victim(&v, scene);
	walk_live(&v);
	compare_to_truth(&v);
	/* And once more, from what was remembered. */
	walk_live(&v);
	compare_to_truth(&v);
	end_victim(&v);
}

#define SCENE(name)                                                                                \
	static void walks_##name(void **state)                                                     \
	{                                                                                          \
		(void)state;                                                                       \
		check_scene(scene_##name);                                                         \
	}
SCENE(callback)
SCENE(alloca)
SCENE(recursion)
SCENE(signal)
SCENE(alternate_stack)
SCENE(nested_signals)
SCENE(interrupted)
SCENE(thread)
SCENE(thread_signal)
SCENE(coroutine)
SCENE(made_stack)

/* The stack leads through this program and the C library. */
static void a_hurried_walk_analyses_nothing(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_callback);
	for (int i = 0; i < 2; i++) {
		walker_hurry(v.walker, true);
		walk_live(&v);
		assert_true(walker_missed(v.walker));
		assert_int_equal(flow_is_ready(space_find(v.space, v.regs.pc).code->flow), false);
	}
	walker_hurry(v.walker, false);
	walk_live(&v);
	compare_to_truth(&v);
	walker_hurry(v.walker, true);
	walk_live(&v);
	assert_false(walker_missed(v.walker));
	compare_to_truth(&v);
	end_victim(&v);
}

static bool is_described(const struct frame *f)
{
	struct recipe r;
	return f->code && recipes_describe(f->code->recipes, f->va - 1, &r);
}

/* Where there is no call frame information for calls, all code is analysed. */
static void described_calls_are_not_analysed(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_callback);
	walk_live(&v);
	compare_to_truth(&v);
	for (uint32_t i = find_stop(&v); i + 1 < v.walk.frames.len; i++)
		assert_true(is_described(&v.walk.frames.data[i]));
	end_victim(&v);
}

static bool is_in(struct victim *v, uint32_t frame, void (*function)(void))
{
	return same_function(v, v->walk.frames.data[frame].pc, (uint64_t)(uintptr_t)function + 1);
}

static void wrong_descriptions_are_found_out(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_misdescribed);
	for (int i = 0; i < 2; i++) {
		walk_live(&v);
		assert_string_equal(walk_end_name[v.walk.end], walk_end_name[WALK_COMPLETE]);
		uint32_t at = find_stop(&v) + 4;
		assert_true(at + 2 < v.walk.frames.len);
		assert_true(is_in(&v, at - 1, level_one));
		assert_true(is_in(&v, at, (void (*)(void))call_misdescribed));
		assert_false(is_described(&v.walk.frames.data[at]));
		assert_true(is_in(&v, at + 1, scene_misdescribed));
	}
	end_victim(&v);
}

/* Without call frame information roots are known by what the code does. */
static void call_frame_information_is_not_needed(void **state)
{
	(void)state;
	options.no_cfi = true;
	check_scene(scene_recursion);
	check_scene(scene_nested_signals);
	check_scene(scene_thread);
	check_scene(scene_coroutine);
	check_scene(scene_made_stack);
}

static int use_everything_again(void **state)
{
	(void)state;
	options.no_cfi = false;
	return 0;
}

static void let_into_call(struct victim *v)
{
	int status;
	while (!same_function(v, v->regs.pc + 1, (uint64_t)(uintptr_t)test_walk_call + 1)) {
		assert_int_equal(ptrace(PTRACE_CONT, v->tid, 0, 0), 0);
		usleep(1000);
		assert_int_equal(ptrace(PTRACE_INTERRUPT, v->tid, 0, 0), 0);
		assert_int_equal(waitpid(v->tid, &status, __WALL), v->tid);
		read_registers(v);
	}
}

/* For a thread that waits and is not stopped, the kernel reports only its pc and stack pointer. */
static void a_thread_in_a_call_is_walked_without_registers(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_in_call);
	let_into_call(&v);
	v.regs.known = UINT32_C(1) << arch_native()->sp;
	walk_live(&v);
	assert_string_equal(walk_end_name[v.walk.end], walk_end_name[WALK_COMPLETE]);
	assert_true(same_function(&v, v.walk.frames.data[0].pc + 1,
				  (uint64_t)(uintptr_t)test_walk_call + 1));
	assert_true(
		same_function(&v, v.walk.frames.data[1].pc, (uint64_t)(uintptr_t)stop_in_call + 1));
	int first = truth_from(&v, stop_in_call);
	for (int i = 1; i < 4; i++)
		assert_int_equal(v.walk.frames.data[1 + i].pc,
				 (uint64_t)(uintptr_t)shared->truth[first + i]);
	end_victim(&v);
}

static void signal_frames_are_marked(void **state)
{
	static struct victim v;
	uint32_t signals = 0;
	(void)state;
	start_victim(&v, scene_nested_signals);
	walk_live(&v);
	vec_each (f, &v.walk.frames) {
		signals += f->link == LINK_SIGNAL;
		assert_true(f->link != LINK_SIGNAL || f->exact);
		assert_true((f->link == LINK_NONE) == (f == v.walk.frames.data));
	}
	assert_int_equal(signals, 2);
	end_victim(&v);
}

static void jumps_lead_to_where_they_go(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_jump);
	walk_live(&v);
	assert_string_equal(walk_end_name[v.walk.end], walk_end_name[WALK_COMPLETE]);
	const struct frame *frames = v.walk.frames.data;
	uint32_t first = (uint32_t)truth_from(&v, be_jumped_to);
	uint32_t depth = (uint32_t)shared->depth - first;
	assert_in_range(v.walk.frames.len, depth, depth + 1);
	assert_true(same_function(&v, frames[1].pc, (uint64_t)(uintptr_t)be_jumped_to + 1));
	assert_int_equal(frames[1].link, LINK_LIKELY);
	for (uint32_t i = 2; i < v.walk.frames.len && i <= depth; i++)
		assert_int_equal(frames[i].pc, (uint64_t)(uintptr_t)shared->truth[first + i - 1]);
	end_victim(&v);
}

/* --- copies of the stack -------------------------------------------------------------------- */

static struct stack_copy copy_stack(struct victim *v, size_t size)
{
	uint64_t sp = v->regs.reg[arch_native()->sp];
	uint8_t *bytes = malloc(size);
	assert_non_null(bytes);
	return (struct stack_copy){sp, bytes, memory_read(v->pid, sp, bytes, size)};
}

static void free_copy(struct stack_copy *c)
{
	free((void *)(uintptr_t)c->bytes);
}

static void a_short_copy_is_continued_with_live_memory(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_recursion);
	for (size_t size = 0; size < 4096; size += 328) {
		struct stack_copy copy = copy_stack(&v, size);
		walk_stack(v.walker, v.space, &v.regs, read_stack_copy, &copy, &v.walk);
		assert_string_equal(walk_end_name[v.walk.end], walk_end_name[WALK_STACK_COPY]);
		walk_resume(v.walker, v.space, memory_window_word, &v.memory, &v.walk);
		compare_to_truth(&v);
		free_copy(&copy);
	}
	end_victim(&v);
}

/* What the kernel finds by the frame pointer. */
static struct frame_chain follow_records(struct victim *v, uint64_t *room, uint32_t most)
{
	struct frame_chain chain = {room, 0};
	uint64_t at = v->regs.reg[arch_native()->fp], next;
	while (chain.count < most && memory_window_word(&v->memory, at, &next) &&
	       memory_window_word(&v->memory, at + 8, &room[chain.count])) {
		chain.count++;
		if (next <= at)
			break;
		at = next;
	}
	return chain;
}

/* Copies of all lengths, and all records or few of them. Only where all code keeps records must
 * they lead to the root; nowhere may they lead astray. */
static void records_continue_a_short_copy(void **state)
{
	static struct victim v;
	static uint64_t room[1000];
	bool kept = arch_native()->link != REG_NONE;
	(void)state;
	start_victim(&v, scene_recursion);
	for (size_t size = 0; size < 4096; size += 328) {
		for (uint32_t most = 1000; most; most = most == 1000 ? 12 : most / 2) {
			struct stack_copy copy = copy_stack(&v, size);
			struct frame_chain chain = follow_records(&v, room, most);
			walk_stack(v.walker, v.space, &v.regs, read_stack_copy, &copy, &v.walk);
			walk_by_records(v.walker, v.space, &v.regs, &chain, &copy, &v.walk);
			if (kept && most == 1000 && size > 1000)
				assert_int_equal(v.walk.end, WALK_COMPLETE);
			if (v.walk.end == WALK_STACK_COPY)
				walk_resume(v.walker, v.space, memory_window_word, &v.memory,
					    &v.walk);
			compare_to_truth(&v);
			free_copy(&copy);
		}
	}
	end_victim(&v);
}

/* Overwrites the word of the copy that holds return address `old`. */
static void forge(struct stack_copy *copy, uint64_t old, uint64_t new)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)copy->bytes;
	for (size_t at = 0; at + 8 <= copy->size; at += 8) {
		uint64_t word;
		memcpy(&word, bytes + at, 8);
		if ((word & arch_native()->layout->code_mask) == old) {
			memcpy(bytes + at, &new, 8);
			return;
		}
	}
	fail_msg("the return address is not on the stack");
}

/* Walks a stack on which level_three returns to `to` instead of level_two. */
static void walk_forged(struct victim *v, uint64_t to, enum walk_end expected)
{
	struct stack_copy copy = copy_stack(v, 16384);
	walk_live(v);
	uint32_t stop = find_stop(v);
	forge(&copy, truth(v, 2), to);
	walk_stack(v->walker, v->space, &v->regs, read_stack_copy, &copy, &v->walk);
	assert_string_equal(walk_end_name[v->walk.end], walk_end_name[expected]);
	assert_int_equal(v->walk.frames.len, stop + 2);
	free_copy(&copy);
}

static void forged_return_addresses_are_found_out(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_recursion);
	/* Behind no call. */
	walk_forged(&v, (uint64_t)(uintptr_t)level_two + 4, WALK_BAD_LINK);
	/* Behind a call, but to another function. */
	walk_forged(&v, truth(&v, 3), WALK_BAD_LINK);
	walk_forged(&v, 0x1000, WALK_NO_CODE);
	walk_forged(&v, (uint64_t)(uintptr_t)&sink, WALK_NO_CODE);
	end_victim(&v);
}

static uint64_t nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void deep_stacks_are_walked_whole(void **state)
{
	static struct victim v;
	uint64_t best = UINT64_MAX;
	(void)state;
	start_victim(&v, scene_deep);
	struct stack_copy copy = copy_stack(&v, 8 << 20);
	for (int i = 0; i < 10; i++) {
		uint64_t start = nanoseconds();
		walk_stack(v.walker, v.space, &v.regs, read_stack_copy, &copy, &v.walk);
		uint64_t took = nanoseconds() - start;
		best = took < best ? took : best;
	}
	assert_int_equal(v.walk.end, WALK_COMPLETE);
	assert_true(v.walk.frames.len > DEEP);
	print_message("%.1f ns a frame\n", (double)best / v.walk.frames.len);
	free_copy(&copy);
	end_victim(&v);
}

/* --- where threads and processes begin ------------------------------------------------------ */

static void step_on(struct victim *v)
{
	int status;
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, v->tid, 0, 0), 0);
	assert_int_equal(waitpid(v->tid, &status, __WALL), v->tid);
	assert_true(WIFSTOPPED(status));
	read_registers(v);
}

static void walk_every_step(struct victim *v, int steps, uint32_t frames_at_most)
{
	for (int i = 0; i < steps; i++, step_on(v)) {
		walk_live(v);
		if (v->walk.end != WALK_COMPLETE || v->walk.frames.len > frames_at_most)
			fail_msg("step %d: %u frames, %s", i, v->walk.frames.len,
				 walk_end_name[v->walk.end]);
	}
}

static void a_process_is_walked_from_its_first_instruction(void **state)
{
	static struct victim v;
	int status;
	(void)state;
	v = (struct victim){.pid = fork()};
	assert_true(v.pid >= 0);
	if (!v.pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(1);
		execl("/proc/self/exe", "test_walk", "end at once", (char *)NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(v.pid, &status, 0), v.pid);
	if (!WIFSTOPPED(status))
		skip();
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, v.pid, 0, PTRACE_O_EXITKILL), 0);
	v.tid = v.pid;
	prepare(&v);
	read_registers(&v);
	walk_every_step(&v, 1, 1);
	walk_every_step(&v, 2000, 20);
	end_victim(&v);
}

static void scene_new_thread(void)
{
	shared->tid = gettid();
	shared->ready = 1;
	while (shared->ready)
		;
	run_in_thread(level_one);
}

/* Waits until the victim's next thread begins, and makes it the one that is walked. */
static void catch_new_thread(struct victim *v)
{
	int status;
	unsigned long tid;
	assert_int_equal(
		ptrace(PTRACE_SETOPTIONS, v->tid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL), 0);
	shared->ready = 0;
	assert_int_equal(ptrace(PTRACE_CONT, v->tid, 0, 0), 0);
	do {
		assert_int_equal(waitpid(v->tid, &status, __WALL), v->tid);
		if (WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_CLONE)
			assert_int_equal(ptrace(PTRACE_CONT, v->tid, 0, 0), 0);
	} while (WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_CLONE);
	assert_int_equal(ptrace(PTRACE_GETEVENTMSG, v->tid, 0, &tid), 0);
	v->tid = (int)tid;
	assert_int_equal(waitpid(v->tid, &status, __WALL), v->tid);
	refresh(v);
	read_registers(v);
}

static void a_thread_is_walked_from_its_first_instruction(void **state)
{
	static struct victim v;
	(void)state;
	start_victim(&v, scene_new_thread);
	catch_new_thread(&v);
	walk_every_step(&v, 1, 1);
	walk_every_step(&v, 200, 12);
	end_victim(&v);
}

/* --- nonsense ------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Some word that may pass for a real one: of the stack, a code address, or anything. */
static uint64_t make_word(struct victim *v, uint64_t *seed, const struct stack_copy *stack)
{
	uint64_t r = next_random(seed);
	switch (r % 8) {
	case 0: return r;
	case 1: return (uint64_t)(uintptr_t)stop_here + r % 65536;
	case 2:
	case 3: return v->walk.frames.data[(r >> 8) % v->walk.frames.len].pc;
	case 4: return r >> 60;
	default: return stack->address + (r >> 8) % (stack->size + 64) / 8 * 8;
	}
}

static void nonsense_ends_in_a_failure(void **state)
{
	static struct victim v;
	enum { WORDS = 256, ROUNDS = 20000 };
	uint64_t seed = 88172645463325252u, words[WORDS];
	uint32_t complete = 0;
	struct stack_copy stack = {0x7f0000000000, (uint8_t *)words, sizeof(words)};
	struct walk out = {0};
	(void)state;
	start_victim(&v, scene_nested_signals);
	walk_live(&v);
	for (int round = 0; round < ROUNDS; round++) {
		struct registers regs = {.known = (uint32_t)next_random(&seed)};
		for (int i = 0; i < WORDS; i++)
			words[i] = make_word(&v, &seed, &stack);
		for (int i = 0; i < REGISTERS; i++)
			regs.reg[i] = make_word(&v, &seed, &stack);
		regs.pc = make_word(&v, &seed, &stack);
		regs.known |= (uint32_t)(round % 4 != 0) << arch_native()->sp;
		walk_stack(v.walker, v.space, &regs, read_stack_copy, &stack, &out);
		assert_in_range(out.frames.len, 1, WALK_MAX_FRAMES);
		complete += out.end == WALK_COMPLETE;
	}
	assert_true(complete < ROUNDS / 2);
	vec_free(&out.frames);
	end_victim(&v);
}

/* A signal frame that says it interrupted itself. */
static void a_circle_of_signal_frames_ends(void **state)
{
	static struct victim v;
	const struct arch *arch = arch_native();
	uint64_t words[256] = {0}, trampoline = 0;
	struct stack_copy stack = {0x7f0000000000, (uint8_t *)words, sizeof(words)};
	(void)state;
	start_victim(&v, scene_signal);
	walk_live(&v);
	for (uint32_t i = 1; i < v.walk.frames.len; i++)
		if (v.walk.frames.data[i].link == LINK_SIGNAL)
			trampoline = v.walk.frames.data[i - 1].pc;
	assert_true(trampoline != 0);
	words[arch->layout->signal_pc / 8] = trampoline;
	words[arch->layout->signal_reg[arch->sp] / 8] = stack.address;
	struct registers regs = {.pc = trampoline};
	registers_set(&regs, arch->sp, stack.address);
	walk_stack(v.walker, v.space, &regs, read_stack_copy, &stack, &v.walk);
	assert_string_equal(walk_end_name[v.walk.end], walk_end_name[WALK_BAD_STACK]);
	end_victim(&v);
}

static void code_that_is_not_there_is_no_code(void **state)
{
	struct codes *codes = codes_new(NULL);
	struct space *space = space_new(codes, (int)getpid());
	struct walker *walker = walker_new();
	struct walk out = {0};
	struct registers regs = {.pc = 0x1234};
	struct stack_copy empty = {0};
	(void)state;
	walk_stack(walker, space, &regs, read_stack_copy, &empty, &out);
	assert_int_equal(out.end, WALK_NO_CODE);
	assert_int_equal(out.frames.len, 1);
	assert_int_equal(out.frames.data[0].pc, 0x1234);
	vec_free(&out.frames);
	walker_free(walker);
	space_free(space);
	codes_free(codes);
}

/* Two frames of a just-in-time compiler's code, with frame pointers, called from a real one. */
static void anonymous_code_is_walked_by_frame_pointers(void **state)
{
	static struct victim v;
	const struct arch *arch = arch_native();
	const uint64_t jit = 0x600000000000, base = 0x7f0000000000;
	uint64_t words[4];
	struct stack_copy stack = {base, (uint8_t *)words, sizeof(words)};
	(void)state;
	start_victim(&v, scene_callback);
	walk_live(&v);
	uint64_t caller = truth(&v, 5); /* in qsort: a call through a pointer precedes it */
	space_map(v.space, &(struct mapping){.start = jit, .end = jit + 4096, .path = "//anon"});
	memcpy(words, (uint64_t[]){base + 16, jit + 64, base + 8192, caller}, sizeof(words));
	struct registers regs = {.pc = jit + 16};
	registers_set(&regs, arch->sp, base);
	registers_set(&regs, arch->fp, base);
	walk_stack(v.walker, v.space, &regs, read_stack_copy, &stack, &v.walk);
	assert_true(v.walk.frames.len >= 3);
	assert_int_equal(v.walk.frames.data[1].pc, jit + 64);
	assert_int_equal(v.walk.frames.data[2].pc, caller);
	assert_int_equal(v.walk.frames.data[2].link, LINK_LIKELY);
	/* An address that no call precedes is not believed. */
	words[3] = (uint64_t)(uintptr_t)level_two + 4;
	walk_stack(v.walker, v.space, &regs, read_stack_copy, &stack, &v.walk);
	assert_int_equal(v.walk.frames.len, 2);
	assert_int_equal(v.walk.end, WALK_NO_CODE);
	end_victim(&v);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_callback),
		cmocka_unit_test(walks_alloca),
		cmocka_unit_test(walks_recursion),
		cmocka_unit_test(walks_signal),
		cmocka_unit_test(walks_alternate_stack),
		cmocka_unit_test(walks_nested_signals),
		cmocka_unit_test(walks_interrupted),
		cmocka_unit_test(walks_thread),
		cmocka_unit_test(walks_thread_signal),
		cmocka_unit_test(walks_coroutine),
		cmocka_unit_test(walks_made_stack),
		cmocka_unit_test(a_hurried_walk_analyses_nothing),
		cmocka_unit_test(described_calls_are_not_analysed),
		cmocka_unit_test(wrong_descriptions_are_found_out),
		cmocka_unit_test(jumps_lead_to_where_they_go),
		cmocka_unit_test_teardown(call_frame_information_is_not_needed,
					  use_everything_again),
		cmocka_unit_test(a_thread_in_a_call_is_walked_without_registers),
		cmocka_unit_test(signal_frames_are_marked),
		cmocka_unit_test(a_short_copy_is_continued_with_live_memory),
		cmocka_unit_test(records_continue_a_short_copy),
		cmocka_unit_test(forged_return_addresses_are_found_out),
		cmocka_unit_test(deep_stacks_are_walked_whole),
		cmocka_unit_test(a_process_is_walked_from_its_first_instruction),
		cmocka_unit_test(a_thread_is_walked_from_its_first_instruction),
		cmocka_unit_test(nonsense_ends_in_a_failure),
		cmocka_unit_test(a_circle_of_signal_frames_ends),
		cmocka_unit_test(code_that_is_not_there_is_no_code),
		cmocka_unit_test(anonymous_code_is_walked_by_frame_pointers),
	};
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	/* The first call loads a library and resolves the symbol. */
	backtrace(shared->truth, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
