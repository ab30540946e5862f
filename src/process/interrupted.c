/* What the kernel does with an interrupted call, and when, depends on the architecture.
 *
 * x86-64: the kernel looks at the result of the call after the stop, and restarts the call if the
 * result says so. It is enough to change EINTR into ERESTARTNOHAND: the kernel then restarts the
 * call, or returns EINTR if a handler of the program runs first. If a thread is not leaving a call,
 * its call number is -1.
 *
 * aarch64: the kernel has decided before the stop, and has forgotten the number. The call is set
 * back here: pc to the svc instruction, x0 to the first argument. /proc/TID/syscall shows it if the
 * thread is given its call number again for a moment. Newer kernels (6.1.192) show the result there
 * instead, in x0. So the call is read before the thread is told to stop: it is the one that was
 * interrupted if the thread is where that call returns to, and has not slept again.
 *
 * On aarch64, a call that returns EINTR because of us looks the same as a handler that returns to
 * the place after a call, where the program must see EINTR. These places are therefore remembered
 * from the signals that we pass on, together with the first argument of the call. A thread that is
 * stopped at such a place again is in one of three cases:
 *
 * 1. The kernel knows another first argument. As a rule, a handler leaves one there. So the handler
 *    has returned, and the EINTR stays.
 * 2. The argument is the same, and the thread has slept since then or has other values in other
 *    registers. So the program has made the call again, and the EINTR is ours.
 * 3. Neither. This counts as a return of the handler. If the program has in fact made the call
 *    again, it has done nothing in between. Such a program repeats the call after each EINTR, so
 *    that one more does no harm. */
#include "process/interrupted.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "isa/arch.h"
#include "isa/calls.h"
#include "process/memory.h"
#include "process/seccomp.h"
#include "process/threads.h"

/* From the kernel's own errno.h: restart unless a handler runs. */
enum { ERESTARTNOHAND = 514 };
/* Restart as restart_syscall(), with the remaining time. */
enum { ERESTART_RESTARTBLOCK = 516 };

/* If the stack pointer is further than this above a remembered place, that may be on another
 * stack. */
enum { SAME_STACK = 1 << 16 };

/* Calls that have changed nothing when they return EINTR, so that they may be made again. (close is
 * not one: the descriptor is gone.) */
static const uint16_t repeatable[] = {
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	SYS_epoll_pwait,
#ifdef SYS_epoll_pwait2
	SYS_epoll_pwait2,
#endif
	SYS_semop,          SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents,
#ifdef SYS_io_pgetevents
	SYS_io_pgetevents,
#endif
#ifdef SYS_io_uring_enter
	SYS_io_uring_enter,
#endif
	SYS_futex,          SYS_msgrcv,     SYS_msgsnd,          SYS_read,         SYS_readv,
	SYS_write,          SYS_writev,     SYS_recvfrom,        SYS_recvmsg,      SYS_recvmmsg,
	SYS_sendto,         SYS_sendmsg,    SYS_accept,          SYS_accept4,      SYS_connect,
};

static const struct arch_calls *native_calls(void)
{
	return arch_calls(arch_native());
}

/* Offset of the number of the call that a stopped thread is in. */
static unsigned number_at(const struct arch_calls *f)
{
	return f->original == LAYOUT_ABSENT ? f->number : f->original;
}

static uint64_t get(const struct stop_registers *r, unsigned offset)
{
	uint64_t value;
	memcpy(&value, r->bytes + offset, sizeof(value));
	return value;
}

static void put(struct stop_registers *r, unsigned offset, uint64_t value)
{
	memcpy(r->bytes + offset, &value, sizeof(value));
}

static uint64_t pc_of(const struct stop_registers *r)
{
	return get(r, arch_native()->layout->ptrace_pc);
}

static uint64_t sp_of(const struct stop_registers *r)
{
	return get(r, arch_native()->layout->ptrace_reg[arch_native()->sp]);
}

static bool write_registers(int tid, struct stop_registers *r)
{
	struct iovec io = {r->bytes, r->size};
	return !ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &io);
}

static bool is_repeatable(uint64_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(repeatable); i++)
		if (repeatable[i] == number)
			return true;
	return false;
}

static bool is_call_at(const struct arch_calls *f, int tid, uint64_t pc)
{
	uint8_t insn[sizeof(f->insn)];
	return memory_read(tid, pc, insn, f->insn_size) == f->insn_size &&
	       !memcmp(insn, f->insn, f->insn_size);
}

/* At its first instruction, a new program still has the number of the exec call that started it. */
static bool is_new_program(const struct arch_calls *f, const struct stop_registers *r)
{
	uint64_t number = get(r, number_at(f));
	return (number == SYS_execve || number == SYS_execveat) && !get(r, f->result);
}

bool interrupted_in_call(int tid, const struct stop_registers *r)
{
	const struct arch_calls *f = native_calls();
	if (r->size != arch_native()->layout->ptrace_size)
		return false;
	if (f->decides_late)
		return (int64_t)get(r, number_at(f)) >= 0 && !is_new_program(f, r);
	return is_call_at(f, tid, pc_of(r)) || is_call_at(f, tid, pc_of(r) - f->insn_size);
}

/* Whether the thread is about to see EINTR from a call that may be repeated. */
static bool sees_eintr(const struct arch_calls *f, int tid, const struct stop_registers *r)
{
	return (int64_t)get(r, f->result) == -EINTR && is_repeatable(get(r, number_at(f))) &&
	       (f->decides_late || is_call_at(f, tid, pc_of(r) - f->insn_size));
}

/* Stop signals make these calls return EINTR without a tracer as well. */
static bool is_stop_signal(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static bool set_call_number(int tid, int number)
{
	struct iovec io = {&number, sizeof(number)};
	return !ptrace(PTRACE_SETREGSET, tid, native_calls()->number_note, &io);
}

/* What a thread does: "NUMBER ARGUMENTS... SP PC" in a call, "-1 SP PC" if it is stopped, or waits
 * outside of calls. */
static void read_call(int tid, char *text, size_t size)
{
	char path[40];
	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
}

/* The first argument that the call was made with: "NUMBER 0xFIRST 0x..." */
static bool first_argument(int tid, uint64_t number, uint64_t *out)
{
	char text[256], *end;
	if (!set_call_number(tid, (int)number))
		return false;
	read_call(tid, text, sizeof(text));
	set_call_number(tid, -1);
	if (strtoull(text, &end, 10) != number || *end != ' ')
		return false;
	*out = strtoull(end, NULL, 16);
	return true;
}

/* Hash of the registers that a handler restores when it returns. */
static uint64_t hash_others(const struct arch_calls *k, const struct stop_registers *r)
{
	const uint16_t *at = arch_native()->layout->ptrace_reg;
	uint64_t hash = 0;
	for (unsigned i = 0; i < REGISTERS; i++) {
		uint64_t value = at[i] != LAYOUT_ABSENT && at[i] != k->result ? get(r, at[i]) : 0;
		hash = hash_bytes(&value, sizeof(value), hash);
	}
	return hash;
}

void interrupted_note(struct interrupted *c, int tid)
{
	char text[256];
	if (native_calls()->decides_late)
		return;
	/* In this order: if the thread goes on to another call in between, that one is read, and it
	 * seems to have slept again. */
	uint64_t switches = thread_switches(tid);
	read_call(tid, text, sizeof(text));
	if (text[0] == '-' && c->waited.pc && switches <= c->waited.switches + 1) {
		c->waited.switches = switches; /* it is stopped already, and asked to stop anew */
		return;
	}
	c->waited.switches = switches;
	if (sscanf(text, "%" SCNu64 " %" SCNx64 " %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64,
		   &c->waited.number, &c->waited.first, &c->waited.sp, &c->waited.pc) != 4)
		c->waited.pc = 0;
}

/* The first argument of the call that the stopped thread is leaving with EINTR. */
static bool find_first_argument(const struct interrupted *c, int tid,
				const struct stop_registers *r, uint64_t *out)
{
	const struct arch_calls *f = native_calls();
	uint64_t number = get(r, number_at(f)), pc = pc_of(r);
	if (first_argument(tid, number, out) && *out != get(r, f->result))
		return true;
	bool waited = c->waited.pc == pc && c->waited.sp == sp_of(r) &&
		      c->waited.number == number && thread_switches(tid) <= c->waited.switches + 1;
	if (waited)
		*out = c->waited.first;
	else
		*out = c->set_back.first;
	return waited || (c->set_back.pc == pc && c->set_back.others == hash_others(f, r));
}

static void forget_genuine(struct interrupted *c, unsigned i)
{
	c->genuine[i] = c->genuine[--c->genuine_count];
}

/* The handler has returned if the stack pointer is at or above a remembered one, except at the
 * remembered place itself. */
static void forget_returned(struct interrupted *c, uint64_t pc, uint64_t sp)
{
	for (unsigned i = c->genuine_count; i-- > 0;)
		if (sp - c->genuine[i].sp < SAME_STACK &&
		    (sp != c->genuine[i].sp || pc != c->genuine[i].pc))
			forget_genuine(c, i);
}

static bool is_genuine(const struct interrupted *c, uint64_t pc, uint64_t sp, unsigned *which)
{
	for (*which = 0; *which < c->genuine_count; ++*which)
		if (c->genuine[*which].pc == pc && c->genuine[*which].sp == sp)
			return true;
	return false;
}

/* The present stop is one of the switches, hence + 1. */
static void note_sleep(struct interrupted *c, int tid)
{
	uint64_t now = c->genuine_count ? thread_switches(tid) : 0;
	for (unsigned i = 0; i < c->genuine_count; i++)
		c->genuine[i].slept |= now > c->switches + 1;
	c->switches = now;
}

static void remember_genuine(struct interrupted *c, int tid, const struct stop_registers *r,
			     uint64_t pc, uint64_t first)
{
	unsigned which;
	uint64_t sp = sp_of(r);
	if (!c->genuine_count)
		c->switches = thread_switches(tid);
	if (!is_genuine(c, pc, sp, &which) && c->genuine_count < GENUINE_MAX)
		which = c->genuine_count++;
	which %= GENUINE_MAX;
	c->genuine[which].pc = pc;
	c->genuine[which].sp = sp;
	c->genuine[which].first = first;
	c->genuine[which].others = hash_others(native_calls(), r);
	c->genuine[which].slept = false;
}

/* Whether a thread at a remembered place is there because its handler has returned, and not because
 * it has made the call again: see the three cases above. */
static bool has_returned(const struct interrupted *c, unsigned which,
			 const struct stop_registers *r, uint64_t first)
{
	if (c->genuine[which].first != first)
		return true;
	return !c->genuine[which].slept &&
	       c->genuine[which].others == hash_others(native_calls(), r);
}

/* A handler runs before the call that was set back is made: the program must see EINTR. */
static bool end_with_eintr(struct interrupted *c, const struct arch_calls *f, int tid,
			   struct stop_registers *r)
{
	uint64_t pc = c->restarted + f->insn_size;
	c->restarted = 0;
	remember_genuine(c, tid, r, pc, get(r, f->result));
	put(r, arch_native()->layout->ptrace_pc, pc);
	put(r, f->result, (uint64_t)-EINTR);
	return write_registers(tid, r);
}

static bool set_back_call(struct interrupted *c, const struct arch_calls *f, int tid,
			  struct stop_registers *r, uint64_t first)
{
	c->set_back.pc = pc_of(r);
	c->set_back.first = first;
	c->set_back.others = hash_others(f, r);
	c->restarted = pc_of(r) - f->insn_size;
	put(r, arch_native()->layout->ptrace_pc, c->restarted);
	put(r, f->result, first);
	return write_registers(tid, r);
}

/* For a kernel that decides before the stop (aarch64). */
static bool repair_early_decision(struct interrupted *c, const struct arch_calls *f, int tid,
				  struct stop_registers *r, int signal)
{
	unsigned which;
	uint64_t first, pc = pc_of(r), sp = sp_of(r);
	note_sleep(c, tid);
	forget_returned(c, pc, sp);
	if (c->restarted != pc)
		c->restarted = 0;
	if (!c->restarted && !sees_eintr(f, tid, r))
		return true;
	bool handled = signal && thread_catches(tid, signal);
	if (c->restarted)
		return handled ? end_with_eintr(c, f, tid, r) : true;
	/* Without the first argument the call cannot be set back, and the program sees EINTR. */
	bool found = !is_stop_signal(signal) && find_first_argument(c, tid, r, &first);
	c->waited.pc = 0;
	if (!found)
		return true;
	bool returned = is_genuine(c, pc, sp, &which) && has_returned(c, which, r, first);
	if (handled && !returned)
		remember_genuine(c, tid, r, pc, first);
	return handled || returned ? true : set_back_call(c, f, tid, r, first);
}

bool interrupted_repair(struct interrupted *c, int tid, struct stop_registers *r, int signal)
{
	const struct arch_calls *f = native_calls();
	if (r->size != arch_native()->layout->ptrace_size)
		return true; /* the registers are of another architecture */
	if (!f->decides_late)
		return repair_early_decision(c, f, tid, r, signal);
	if (!sees_eintr(f, tid, r) || is_stop_signal(signal))
		return true;
	put(r, f->result, (uint64_t)-ERESTARTNOHAND);
	return write_registers(tid, r);
}

/* At the first stop, the number -1 keeps the kernel from making the call. At the second, the result
 * makes the kernel restart it. If Sonde is killed in between, the call returns EINTR. A kernel that
 * restarts it with what is in x0 now gets the first argument there instead. */
void interrupted_hand_over(struct interrupted *c, int tid, struct stop_registers *r)
{
	const struct arch_calls *f = native_calls();
	uint64_t number = get(r, number_at(f)), first = get(r, f->result), known;
	put(r, f->result, (uint64_t)(c->entered ? -ERESTARTNOHAND : -EINTR));
	write_registers(tid, r);
	if (!c->entered && first_argument(tid, number, &known) && known == get(r, f->result)) {
		/* The kernel takes notice of x0 only while the thread has a call number. */
		set_call_number(tid, (int)number);
		put(r, f->result, first);
		write_registers(tid, r);
	}
	set_call_number(tid, c->entered ? (int)number : -1);
	if (c->entered)
		c->restarted = 0;
	c->entered = !c->entered;
}

/* Whether the kernel will continue the call as restart_syscall(). On aarch64 the kernel does not
 * show what it has decided: the number of the call has to do. */
static bool continues_by_restart(const struct arch_calls *f, int tid,
				 const struct stop_registers *r)
{
	uint64_t number = get(r, number_at(f));
	if (f->decides_late)
		return (int64_t)number >= 0 && (int64_t)get(r, f->result) == -ERESTART_RESTARTBLOCK;
	if (number == f->restart_call)
		return is_call_at(f, tid, pc_of(r));
	for (size_t i = 0; i < ARRAY_SIZE(f->resumed) && f->resumed[i]; i++)
		if (f->resumed[i] == number)
			return is_call_at(f, tid, pc_of(r));
	return false;
}

bool interrupted_sleeps(int tid, const struct stop_registers *r)
{
	return r->size == arch_native()->layout->ptrace_size &&
	       continues_by_restart(native_calls(), tid, r);
}

/* Whether the filters of the thread permit restart_syscall(). */
static bool may_restart(int tid)
{
	struct thread_filters filters;
	const struct asked_call restart = {.number = SYS_restart_syscall};
	filters_read(&filters, tid);
	bool passes = filters_verdict(&filters, &restart) == CALL_PASSES;
	filters_release(&filters);
	return passes;
}

/* Makes the original call again, from its beginning. If that was continued already when we
 * attached, it is unknown, and ends with EINTR. */
static void repeat_original_call(const struct interrupted *c, const struct arch_calls *f, int tid,
				 struct stop_registers *r)
{
	put(r, number_at(f), c->timed);
	put(r, f->result, (uint64_t)(c->timed ? -ERESTARTNOHAND : -EINTR));
	write_registers(tid, r);
}

bool interrupted_avoid_restart(struct interrupted *c, int tid, struct stop_registers *r)
{
	const struct arch_calls *f = native_calls();
	if (!interrupted_sleeps(tid, r))
		return false;
	if (get(r, number_at(f)) != f->restart_call)
		c->timed = get(r, number_at(f));
	if (!thread_is_confined(tid) || may_restart(tid))
		return false;
	if (f->decides_late)
		repeat_original_call(c, f, tid, r);
	return !f->decides_late;
}

/* If the original call is unknown, none is made (-1), and the result is set here. */
void interrupted_rename(const struct interrupted *c, int tid, struct stop_registers *r)
{
	const struct arch_calls *f = native_calls();
	if (get(r, number_at(f)) != f->restart_call)
		return;
	if (c->timed)
		put(r, number_at(f), c->timed);
	else
		put(r, f->result, (uint64_t)-EINTR);
	write_registers(tid, r);
	set_call_number(tid, c->timed ? (int)c->timed : -1);
}
