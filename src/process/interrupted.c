/* What the kernel does with a call that was interrupted, and when, differs:
 *
 * x86-64: after the stop it looks at the result and restarts the call if that says so. Changing
 * EINTR into ERESTARTNOHAND leaves it all to the kernel, which makes EINTR of it again if a handler
 * of the program is to run first. A thread that is not leaving a call has -1 as its number.
 *
 * aarch64: that decision was made before the stop, and the number forgotten. The call is set back
 * here: pc to the svc instruction, x0 to the first argument. That argument is known to the kernel
 * alone; /proc/TID/syscall shows it if the thread is given its number again for a moment. And since
 * nothing tells a call that returns EINTR from a handler that returns to such a place, the places
 * where the program has a right to its EINTR are remembered from the signals that we pass on, with
 * the argument: a handler that returns there has left another one behind in the kernel, as a rule.
 * If it is the same, a call that was made again has waited, or has other values in other registers;
 * if neither, who makes it without doing anything in between wants no EINTR and will not miss it.
 */
#include "process/interrupted.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
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
/* Restart it as restart_syscall(), for the time that is left. */
enum { ERESTART_RESTARTBLOCK = 516 };

/* A genuine EINTR further down than this from the stack pointer may be on another stack. */
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

static const struct arch_calls *facts_for_us(void)
{
	return arch_calls(arch_native());
}

/* Where the number of the call is that a stopped thread is in. */
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

/* At its first instruction a new program still has the number of the call that began it. */
static bool is_new_program(const struct arch_calls *f, const struct stop_registers *r)
{
	uint64_t number = get(r, number_at(f));
	return (number == SYS_execve || number == SYS_execveat) && !get(r, f->result);
}

bool interrupted_in_call(int tid, const struct stop_registers *r)
{
	const struct arch_calls *f = facts_for_us();
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
	return !ptrace(PTRACE_SETREGSET, tid, facts_for_us()->number_note, &io);
}

/* The first argument that the call was made with: "NUMBER 0xFIRST 0x..." */
static bool first_argument(int tid, uint64_t number, uint64_t *out)
{
	char path[40], text[256], *end;
	if (!set_call_number(tid, (int)number))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	set_call_number(tid, -1);
	text[n > 0 ? n : 0] = '\0';
	if (strtoull(text, &end, 10) != number || *end != ' ')
		return false;
	*out = strtoull(end, NULL, 16);
	return true;
}

static void forget_genuine(struct interrupted *c, unsigned i)
{
	c->genuine[i] = c->genuine[--c->genuine_count];
}

/* A stack pointer at or above one that was remembered means that the handler has returned. */
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

/* The stop that we are in counts, too. */
static void note_sleep(struct interrupted *c, int tid)
{
	uint64_t now = c->genuine_count ? thread_switches(tid) : 0;
	for (unsigned i = 0; i < c->genuine_count; i++)
		c->genuine[i].slept |= now > c->switches + 1;
	c->switches = now;
}

/* Of those that a handler gives back as they were. */
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
	c->genuine[which].others = hash_others(facts_for_us(), r);
	c->genuine[which].slept = false;
}

/* To a place that is remembered: the handler has, and the call was not made again. */
static bool has_returned(const struct interrupted *c, unsigned which,
			 const struct stop_registers *r, uint64_t first)
{
	if (c->genuine[which].first != first)
		return true;
	return !c->genuine[which].slept &&
	       c->genuine[which].others == hash_others(facts_for_us(), r);
}

/* A handler runs before the call that was set back: the program is to see EINTR after all. */
static bool undo(struct interrupted *c, const struct arch_calls *f, int tid,
		 struct stop_registers *r)
{
	uint64_t pc = c->restarted + f->insn_size;
	c->restarted = 0;
	remember_genuine(c, tid, r, pc, get(r, f->result));
	put(r, arch_native()->layout->ptrace_pc, pc);
	put(r, f->result, (uint64_t)-EINTR);
	return write_registers(tid, r);
}

static bool set_back(struct interrupted *c, const struct arch_calls *f, int tid,
		     struct stop_registers *r, uint64_t first)
{
	c->restarted = pc_of(r) - f->insn_size;
	put(r, arch_native()->layout->ptrace_pc, c->restarted);
	put(r, f->result, first);
	return write_registers(tid, r);
}

static bool repair_ourselves(struct interrupted *c, const struct arch_calls *f, int tid,
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
		return handled ? undo(c, f, tid, r) : true;
	/* Without it, an EINTR too many cannot be helped. */
	if (is_stop_signal(signal) || !first_argument(tid, get(r, number_at(f)), &first))
		return true;
	bool returned = is_genuine(c, pc, sp, &which) && has_returned(c, which, r, first);
	if (handled && !returned)
		remember_genuine(c, tid, r, pc, first);
	return handled || returned ? true : set_back(c, f, tid, r, first);
}

bool interrupted_repair(struct interrupted *c, int tid, struct stop_registers *r, int signal)
{
	const struct arch_calls *f = facts_for_us();
	if (r->size != arch_native()->layout->ptrace_size)
		return true; /* of another architecture */
	if (!f->decides_late)
		return repair_ourselves(c, f, tid, r, signal);
	if (!sees_eintr(f, tid, r) || is_stop_signal(signal))
		return true;
	put(r, f->result, (uint64_t)-ERESTARTNOHAND);
	return write_registers(tid, r);
}

/* The call is not made (a number of -1) but returns what makes the kernel restart it. Up to then it
 * would return EINTR, should we be killed. */
void interrupted_hand_over(struct interrupted *c, int tid, struct stop_registers *r)
{
	const struct arch_calls *f = facts_for_us();
	put(r, f->result, (uint64_t)(c->entered ? -ERESTARTNOHAND : -EINTR));
	write_registers(tid, r);
	set_call_number(tid, c->entered ? (int)get(r, number_at(f)) : -1);
	if (c->entered)
		c->restarted = 0;
	c->entered = !c->entered;
}

/* Calls that restart_syscall() goes on with. Those that do so on aarch64 are told by their number:
 * the kernel does not show what it has decided. */
static bool goes_on(const struct arch_calls *f, int tid, const struct stop_registers *r)
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
	return r->size == arch_native()->layout->ptrace_size && goes_on(facts_for_us(), tid, r);
}

static bool may_restart(int tid)
{
	struct thread_filters filters;
	const struct asked_call restart = {.number = SYS_restart_syscall};
	filters_read(&filters, tid);
	bool passes = filters_verdict(&filters, &restart) == CALL_PASSES;
	filters_release(&filters);
	return passes;
}

/* A call that was gone on with before we came is ended: what it was nobody knows. */
static void begin_anew(const struct interrupted *c, const struct arch_calls *f, int tid,
		       struct stop_registers *r)
{
	put(r, number_at(f), c->timed);
	put(r, f->result, (uint64_t)(c->timed ? -ERESTARTNOHAND : -EINTR));
	write_registers(tid, r);
}

bool interrupted_avoid_restart(struct interrupted *c, int tid, struct stop_registers *r)
{
	const struct arch_calls *f = facts_for_us();
	if (!interrupted_sleeps(tid, r))
		return false;
	if (get(r, number_at(f)) != f->restart_call)
		c->timed = get(r, number_at(f));
	if (!thread_is_confined(tid) || may_restart(tid))
		return false;
	if (f->decides_late)
		begin_anew(c, f, tid, r);
	return !f->decides_late;
}

/* -1: no call is made, and what it returns is there already. */
void interrupted_rename(const struct interrupted *c, int tid, struct stop_registers *r)
{
	const struct arch_calls *f = facts_for_us();
	if (get(r, number_at(f)) != f->restart_call)
		return;
	if (c->timed)
		put(r, number_at(f), c->timed);
	else
		put(r, f->result, (uint64_t)-EINTR);
	write_registers(tid, r);
	set_call_number(tid, c->timed ? (int)c->timed : -1);
}
