/* Signals: the one that calls Sonde to a probe, and those of traps when Sonde is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/control.h"
#include "runtime_bench.h"

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

/* As fork(): twice, with the trap set in the child, and in the parent when the child has ended. */
static bool is_child_with_trap(const struct bench *b, struct rt_trap *t, uint64_t to, int *status)
{
	pid_t child = fork();
	if (!child) {
		*t = (struct rt_trap){(uint64_t)trap_at, to};
		install_trap_handler(b);
		return true;
	}
	assert_int_equal(waitpid(child, status, 0), child);
	return false;
}

static int ends_in_a_trap(const struct bench *b, uint64_t to)
{
	struct rt_trap *t =
		(struct rt_trap *)(b->region + RT_TRAP_TABLE) + rt_trap_home((uint64_t)trap_at);
	int status;
	if (is_child_with_trap(b, t, to, &status))
		_exit(trap_here());
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
	struct rt_trap *t = (struct rt_trap *)(b->region + RT_TRAP_TABLE);
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = code};
	int status;
	if (is_child_with_trap(b, t, (uint64_t)sent_to, &status))
		_exit(send_trap(getpid(), getpid(), SIGTRAP, &info));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rendezvous_sends_a_signal),    TEST(traps_lead_on),
		TEST(other_traps_end_the_program),  TEST(threads_may_be_sent_already),
		TEST(sent_signals_end_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
