/* The registers of stopped threads, including threads that wait in a system call.
 *
 * Such a call is made again when the thread is resumed. x86-64 decides that after the stop, from
 * the registers, so that everything can be seen and changed. aarch64 has done most of it before the
 * stop: the pc is already at the call instruction. The rest it does after the stop, and does not if
 * the pc was changed in between:
 *
 * 1. It ends the call with EINTR if a handler runs. interrupted.h makes up for this.
 * 2. It gives the call another number, by which the call continues with the remaining time.
 *    remote.c makes up for this. But a sleeping thread that is moved sleeps longer. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "isa/arch.h"
#include "isa/calls.h"
#include "process/control_inner.h"
#include "process/memory.h"

static const struct arch_calls *calls(void)
{
	return arch_calls(arch_native());
}

static unsigned pc_offset(void)
{
	return arch_native()->layout->ptrace_pc;
}

uint64_t control_word(const struct control_thread *t, unsigned offset)
{
	uint64_t value;
	memcpy(&value, t->tracee.regset.bytes + offset, sizeof(value));
	return value;
}

void control_put(struct control_thread *t, unsigned offset, uint64_t value)
{
	memcpy(t->tracee.regset.bytes + offset, &value, sizeof(value));
}

bool control_read(struct control_thread *t)
{
	struct tracee *e = &t->tracee;
	if (!t->stopped)
		return false;
	if (e->regset.size)
		return true;
	return tracee_read(e) && e->regset.size == arch_native()->layout->ptrace_size &&
	       interrupted_repair(&e->interrupted, e->tid, &e->regset, 0);
}

bool control_write(struct control_thread *t)
{
	struct iovec io = {t->tracee.regset.bytes, t->tracee.regset.size};
	return !ptrace(PTRACE_SETREGSET, t->tracee.tid, NT_PRSTATUS, &io);
}

static bool wait_trap(struct control_thread *t)
{
	struct tracee_event ev;
	while (tracee_wait(t->tracee.tid, &ev)) {
		if (ev.what == TRACEE_TRAPPED || ev.what == TRACEE_SUSPENDED) {
			tracee_take(t->tracee.tid);
			t->stop = ev;
			return true;
		}
		if (!tracee_interrupt(&t->tracee))
			return false;
		tracee_resume(&t->tracee, &ev);
	}
	return false;
}

bool control_trap(struct control_thread *t)
{
	t->tracee.regset.size = 0;
	return tracee_interrupt(&t->tracee) && !ptrace(PTRACE_CONT, t->tracee.tid, NULL, NULL) &&
	       wait_trap(t);
}

bool control_pass(struct control_thread *t, const struct tracee_event *ev)
{
	if (!tracee_interrupt(&t->tracee))
		return false;
	tracee_resume(&t->tracee, ev);
	return wait_trap(t);
}

static bool contains(const uint16_t list[4], uint64_t number)
{
	for (unsigned i = 0; i < 4 && list[i]; i++)
		if (list[i] == number)
			return true;
	return false;
}

static bool is_at_call(const struct control_thread *t)
{
	const struct arch_calls *k = calls();
	uint8_t insn[sizeof(k->insn)];
	size_t size = k->insn_size;
	return memory_read(t->tracee.tid, control_word(t, pc_offset()), insn, size) == size &&
	       !memcmp(insn, k->insn, size);
}

bool control_settle(struct control_thread *t)
{
	const struct arch_calls *k = calls();
	if (!control_read(t))
		return false;
	if (contains(k->ended, control_word(t, k->number)) && is_at_call(t))
		t->tracee.interrupted.restarted = control_word(t, pc_offset());
	return true;
}

bool control_resumes(const struct control_thread *t)
{
	return contains(calls()->resumed, control_word(t, calls()->number)) && is_at_call(t);
}

bool control_registers(struct control_thread *t, struct registers *out)
{
	if (!control_read(t) || !registers_from_ptrace(arch_native(), t->tracee.regset.bytes,
						       t->tracee.regset.size, out))
		return false;
	t->in_call = interrupted_in_call(t->tracee.tid, &t->tracee.regset);
	if (calls()->restarts(t->tracee.regset.bytes))
		out->pc -= calls()->insn_size;
	return true;
}

bool control_set_pc(struct control_thread *t, uint64_t pc)
{
	struct interrupted *i = &t->tracee.interrupted;
	if (!control_settle(t))
		return false;
	if (i->restarted && i->restarted == control_word(t, pc_offset()))
		i->restarted = pc;
	if (calls()->restarts(t->tracee.regset.bytes))
		pc += calls()->insn_size;
	control_put(t, pc_offset(), pc);
	return control_write(t);
}

bool control_set_register(struct control_thread *t, unsigned reg, uint64_t value)
{
	unsigned offset = arch_native()->layout->ptrace_reg[reg];
	if (offset == LAYOUT_ABSENT || !control_settle(t))
		return false;
	control_put(t, offset, value);
	return control_write(t);
}

/* The regset that holds the vector registers of a thread, and the offset of one of them. */
struct vectors {
	uint8_t bytes[WIDE_MAX];
	struct iovec io;
	uintptr_t note;
	size_t at;
};

static bool read_vectors(const struct control_thread *t, unsigned reg, struct vectors *v)
{
	const struct arch_calls *k = calls();
	int tid = t->tracee.tid;
	v->io = (struct iovec){v->bytes, sizeof(v->bytes)};
	v->note = k->wide_note;
	v->at = 0;
	if (k->wide_vector && !ptrace(PTRACE_GETREGSET, tid, v->note, &v->io))
		v->at = k->wide_vector(v->bytes, v->io.iov_len, reg);
	if (v->at)
		return true;
	v->io = (struct iovec){v->bytes, sizeof(v->bytes)};
	v->note = k->vectors_note;
	v->at = k->vectors + 16u * reg;
	return !ptrace(PTRACE_GETREGSET, tid, v->note, &v->io) && v->at + 16 <= v->io.iov_len;
}

bool control_vector(struct control_thread *t, unsigned reg, uint64_t value[2])
{
	struct vectors v;
	if (!t->stopped || !read_vectors(t, reg, &v))
		return false;
	memcpy(value, v.bytes + v.at, 16);
	return true;
}

bool control_set_vector(struct control_thread *t, unsigned reg, const uint64_t value[2])
{
	struct vectors v;
	if (!t->stopped || !read_vectors(t, reg, &v))
		return false;
	memcpy(v.bytes + v.at, value, 16);
	return !ptrace(PTRACE_SETREGSET, t->tracee.tid, v.note, &v.io);
}

/* /proc/TID/syscall has "NUMBER ... SP PC", "-1 SP PC" outside of calls, or "running". */
bool control_kernel_place(const struct control_thread *t, uint64_t *sp, uint64_t *pc)
{
	char path[40], text[256], *last, *before;
	snprintf(path, sizeof(path), "/proc/%d/syscall", t->tracee.tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*last++ = '\0';
	before = strrchr(text, ' ');
	*pc = strtoull(last, NULL, 16);
	*sp = before ? strtoull(before, NULL, 16) : 0;
	return before && *pc;
}

bool control_is_trap(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP && info->si_code > 0;
}

/* The kernel handles our request to stop before it delivers pending signals. */
bool control_has_trapped(const struct control_thread *t)
{
	siginfo_t infos[8];
	struct __ptrace_peeksiginfo_args args = {.nr = ARRAY_SIZE(infos)};
	long count = ptrace(PTRACE_PEEKSIGINFO, t->tracee.tid, &args, infos);
	for (long i = 0; i < count; i++)
		if (control_is_trap(&infos[i]))
			return true;
	return false;
}

bool control_thread_pointer(struct control_thread *t, uint64_t *out)
{
	uint8_t bytes[STOP_REGISTERS_MAX];
	const struct arch_calls *k = calls();
	struct iovec io = {bytes, sizeof(bytes)};
	if (!t->stopped ||
	    ptrace(PTRACE_GETREGSET, t->tracee.tid, (uintptr_t)k->pointer_note, &io) ||
	    io.iov_len < k->pointer + sizeof(*out))
		return false;
	memcpy(out, bytes + k->pointer, sizeof(*out));
	return true;
}
