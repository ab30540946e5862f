/* The steps of one call, and what the thread does if Sonde is killed after each:
 *
 *	the frame is written                     it continues as if nothing had happened
 *	registers are set: pc at the code        it makes the call, and rt_sigreturn restores it
 *	all signals are blocked                  the same: the mask is in the frame
 *	stops at the entry and exit of the call  the same
 *	a last stop, of the ordinary kind        rt_sigreturn restores it
 *	vector registers and mask are set back   the same
 *	general registers are set back           it continues as if nothing had happened
 *
 * The last stop is needed because only in an ordinary stop does the kernel take care of a call that
 * the thread was waiting in (control_registers.c).
 *
 * On aarch64, a thread that sleeps is not taken out of its call like that, because the kernel would
 * lose how much time is left. Instead, the thread is resumed up to the entry of its call. If the
 * kernel continues the call, the call has the number of restart_syscall() there, and gets that
 * number back afterwards. At the entry, before anything is done, the call is turned into ours, and
 * returns to the code after our call instruction. If Sonde is killed and the thread restores
 * itself, it makes its call again from the beginning: rt_sigreturn makes the kernel forget how much
 * time was left. */
#include "process/remote.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/fault.h"
#include "isa/arch.h"
#include "isa/calls.h"
#include "process/control_inner.h"
#include "process/memory.h"
#include "process/seccomp.h"

enum { VECTOR_MAX = 12288 };

/* For struct asked_call: all six arguments are known. */
enum { ALL_KNOWN = (1 << 6) - 1 };

struct saved {
	struct stop_registers general; /* what we will set back */
	struct stop_registers framed;  /* what rt_sigreturn will restore */
	uint8_t vector[VECTOR_MAX], wide[WIDE_MAX];
	size_t vector_size, wide_size;
	uint64_t mask;
	uint8_t frame[REMOTE_FRAME];
};

struct remote_request {
	long number;
	const uint64_t *args;
};

static const struct arch_calls *calls(void)
{
	return arch_calls(arch_native());
}

size_t remote_code(uint8_t out[REMOTE_CODE_MAX])
{
	memcpy(out, calls()->code, calls()->code_size);
	return calls()->code_size;
}

static void put(struct stop_registers *r, unsigned offset, uint64_t value)
{
	memcpy(r->bytes + offset, &value, sizeof(value));
}

static uint64_t get(const struct stop_registers *r, unsigned offset)
{
	uint64_t value;
	memcpy(&value, r->bytes + offset, sizeof(value));
	return value;
}

static size_t read_regset(int tid, unsigned note, void *to, size_t size)
{
	struct iovec io = {to, size};
	if (fault("remote-vectors", ESRCH) || ptrace(PTRACE_GETREGSET, tid, (uintptr_t)note, &io))
		return 0;
	return io.iov_len;
}

static bool read_mask(int tid, uint64_t *mask)
{
	return !fault("remote-read-mask", ESRCH) &&
	       !ptrace(PTRACE_GETSIGMASK, tid, sizeof(*mask), mask);
}

static bool write_mask(int tid, uint64_t mask)
{
	return !fault("remote-write-mask", ESRCH) &&
	       !ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

static int fail_ended(const struct control_thread *t, struct err *e)
{
	return err_set(e, ERR_ENDED, "thread %d has ended", t->tracee.tid);
}

/* Reasons against a call. */

static bool is_streaming(int tid)
{
	uint8_t bytes[WIDE_MAX];
	unsigned note = calls()->streaming_note;
	return note && calls()->wide_live(bytes, read_regset(tid, note, bytes, sizeof(bytes)));
}

static bool has_guarded_stack(int tid)
{
	uint64_t words[3] = {0};
	unsigned note = calls()->guarded_stack_note;
	return note && read_regset(tid, note, words, sizeof(words)) && words[0] & 1;
}

static int check(const struct control_thread *t, struct err *e)
{
	int tid = t->tracee.tid;
	if (!t->stopped)
		return fail_ended(t, e);
	if (process_has_shadow_stack(tid) || has_guarded_stack(tid))
		return err_set(e, ERR_UNSUPPORTED,
			       "process %d has a shadow stack, with which Sonde cannot make it "
			       "execute system calls yet; start it with GLIBC_TUNABLES=%s",
			       t->pid, calls()->no_shadow_stack);
	if (is_streaming(tid))
		return err_set(e, ERR_UNSUPPORTED,
			       "thread %d uses the streaming mode of its CPU and cannot make "
			       "system calls now; try again",
			       tid);
	return 0;
}

/* P5: a thread that is still in a call that we could not finish will restore itself from the frame.
 * A new frame in the same place would make that impossible. */
static int check_frame_free(struct control_thread *t, const struct remote_place *p, struct err *e)
{
	struct registers r;
	if (!control_registers(t, &r) || r.pc - p->code >= REMOTE_CODE_MAX)
		return 0;
	return err_set(e, ERR_SYSTEM, "thread %d has not come back from a call made for Sonde",
		       t->tracee.tid);
}

/* PTRACE_O_SUSPEND_SECCOMP does not help, because it ends with Sonde. If Sonde were killed, the
 * thread would make the call, and restore itself, under its filters again. */
static int check_filters(const struct control_thread *t, const struct remote_request *q,
			 struct err *e)
{
	struct thread_filters filters;
	struct asked_call asked = {.number = q->number, .known = ALL_KNOWN};
	const struct asked_call restoring = {.number = SYS_rt_sigreturn};
	memcpy(asked.args, q->args, sizeof(asked.args));
	filters_read(&filters, t->tracee.tid);
	bool harms = filters_verdict(&filters, &asked) == CALL_HARMS ||
		     filters_verdict(&filters, &restoring) != CALL_PASSES;
	filters_release(&filters);
	if (!harms)
		return 0;
	return err_set(e, ERR_CONFINED,
		       "process %d restricts its system calls (seccomp), and a call made for Sonde "
		       "might kill it",
		       t->pid);
}

enum {
	RSEQ_CS = 8, /* offset of rseq_cs in struct rseq (linux/rseq.h) */
	/* Words of struct rseq_cs. */
	CS_START = 1,
	CS_LENGTH = 2,
	CS_ABORT = 3,
	CS_WORDS = 4,
};

/* A thread that was stopped inside a restartable sequence (rseq) has to continue at the abort
 * handler of the sequence. The kernel would send it there by itself, but does not recognise the
 * sequence if it finds the thread at our code. */
static void abort_sequence(int tid, struct stop_registers *r)
{
	struct __ptrace_rseq_configuration config = {0};
	uint64_t section, fields[CS_WORDS], pc = get(r, arch_native()->layout->ptrace_pc);
	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof(config), &config) <= 0 ||
	    !config.rseq_abi_pointer ||
	    memory_read(tid, config.rseq_abi_pointer + RSEQ_CS, &section, 8) != 8 || !section ||
	    memory_read(tid, section, fields, sizeof(fields)) != sizeof(fields))
		return;
	if (pc - fields[CS_START] < fields[CS_LENGTH])
		put(r, arch_native()->layout->ptrace_pc, fields[CS_ABORT]);
}

/* The steps. */

static bool save(struct saved *s, struct control_thread *t)
{
	int tid = t->tracee.tid;
	const struct arch_calls *k = calls();
	if (!control_settle(t))
		return false;
	abort_sequence(tid, &t->tracee.regset);
	s->general = s->framed = t->tracee.regset;
	if (t->resumed >= 0)
		put(&s->framed, k->number, (uint64_t)t->resumed);
	k->restart(s->framed.bytes);
	s->vector_size = read_regset(tid, k->vector_note, s->vector, sizeof(s->vector));
	s->wide_size = k->wide_note ? read_regset(tid, k->wide_note, s->wide, sizeof(s->wide)) : 0;
	return s->vector_size && read_mask(tid, &s->mask);
}

static bool write_frame(struct saved *s, const struct control_thread *t, uint64_t at)
{
	struct frame_state state = {
		.general = s->framed.bytes,
		.vector = s->vector,
		.vector_size = s->vector_size,
		.wide = s->wide_size ? s->wide : NULL,
		.wide_size = s->wide_size,
		.mask = s->mask,
	};
	size_t size = calls()->frame(s->frame, sizeof(s->frame), at, &state);
	return size && !fault("remote-frame", EIO) &&
	       memory_write(t->tracee.tid, at, s->frame, size);
}

/* Resumes the thread up to its next stop at the entry or exit of a call. If signals are blocked,
 * only SIGSTOP can cause another stop before. */
static bool run_to_call(const struct control_thread *t)
{
	struct tracee_event ev = {.what = TRACEE_TRAPPED};
	int tid = t->tracee.tid;
	while (ev.what != TRACEE_CALLING) {
		if (fault("remote-run", ESRCH) ||
		    ptrace(PTRACE_SYSCALL, tid, NULL, (uintptr_t)ev.signal) ||
		    !tracee_wait(tid, &ev))
			return false;
	}
	return true;
}

/* Sets the registers for a call that the thread will make at `code`, or is making with `code` as
 * the place to return to. */
static bool set_call_registers(struct control_thread *t, const struct saved *s, uint64_t code,
			       uint64_t frame, const struct remote_request *q)
{
	const struct arch_calls *k = calls();
	struct stop_registers *r = &t->tracee.regset;
	*r = s->general;
	for (unsigned i = 0; i < 6; i++)
		put(r, k->argument[i], q->args[i]);
	put(r, k->number, (uint64_t)q->number);
	k->enter(r->bytes, code, frame);
	return !fault("remote-send", ESRCH) && control_write(t) &&
	       write_mask(t->tracee.tid, UINT64_MAX);
}

static bool finish_call(struct control_thread *t, int64_t *result)
{
	if (!run_to_call(t))
		return false;
	t->tracee.regset.size = 0;
	if (!tracee_read(&t->tracee))
		return false;
	*result = (int64_t)control_word(t, calls()->result);
	return !fault("remote-finish", ESRCH) && control_trap(t);
}

/* Resumes a sleeping thread up to the entry of its own call. Returns false if the thread has ended
 * (*alive is false) or has come to another stop: a signal was first, and is delivered. */
static bool run_to_own_call(struct control_thread *t, struct saved *s, bool *alive)
{
	const struct arch_calls *k = calls();
	unsigned pc = arch_native()->layout->ptrace_pc;
	int tid = t->tracee.tid;
	struct tracee_event ev;
	uint64_t number = get(&s->general, k->number);
	t->tracee.regset.size = 0;
	*alive = !ptrace(PTRACE_SYSCALL, tid, NULL, NULL) && tracee_wait(tid, &ev);
	if (!*alive || ev.what != TRACEE_CALLING) {
		*alive = *alive && control_pass(t, &ev);
		return false;
	}
	*alive = tracee_read(&t->tracee);
	s->general = t->tracee.regset;
	put(&s->general, pc, get(&s->general, pc) - k->insn_size);
	if (get(&s->general, k->number) == k->restart_call)
		t->resumed = (int)number;
	return *alive;
}

static bool set_call_number(const struct control_thread *t, long number)
{
	int value = (int)number;
	struct iovec io = {&value, sizeof(value)};
	return !ptrace(PTRACE_SETREGSET, t->tracee.tid, (uintptr_t)calls()->number_note, &io);
}

static bool restore_state(struct control_thread *t, const struct saved *s)
{
	const struct arch_calls *k = calls();
	int tid = t->tracee.tid;
	struct iovec io = {(void *)(uintptr_t)s->wide, s->wide_size};
	if (s->wide_size && k->wide_live(s->wide, s->wide_size) &&
	    ptrace(PTRACE_SETREGSET, tid, (uintptr_t)k->wide_note, &io))
		return false;
	t->tracee.regset = s->general;
	return write_mask(tid, s->mask) && !fault("remote-set-back", ESRCH) && control_write(t);
}

/* Needs the thread in an ordinary stop, with its state saved and the frame written. Returns false
 * if the thread has ended. */
static bool make_call(struct control_thread *t, struct saved *s, const struct remote_place *p,
		      const struct remote_request *q, int64_t *result)
{
	bool alive = true;
	if (!control_resumes(t))
		return set_call_registers(t, s, p->code, p->frame, q) && run_to_call(t) &&
		       finish_call(t, result) && restore_state(t, s);
	if (run_to_own_call(t, s, &alive))
		return set_call_registers(t, s, p->code + calls()->insn_size, p->frame, q) &&
		       set_call_number(t, q->number) && finish_call(t, result) &&
		       restore_state(t, s);
	return alive && save(s, t) && write_frame(s, t, p->frame) && make_call(t, s, p, q, result);
}

int remote_call(struct control *c, struct control_thread *t, const struct remote_place *p,
		long number, const uint64_t args[6], int64_t *result, struct err *e)
{
	struct saved s;
	struct remote_request q = {number, args};
	(void)c;
	int rc = check(t, e);
	if (rc || (rc = check_frame_free(t, p, e)) || (rc = check_filters(t, &q, e)))
		return rc;
	if (!save(&s, t))
		rc = fail_ended(t, e);
	else if (!write_frame(&s, t, p->frame))
		rc = err_set(e, ERR_SYSTEM,
			     "process %d: there is no memory for a signal frame at 0x%llx", t->pid,
			     (unsigned long long)p->frame);
	else if (!make_call(t, &s, p, &q, result)) {
		t->tracee.regset.size = 0; /* it may be in any of the steps */
		rc = fail_ended(t, e);
	}
	return rc;
}

struct control_thread *remote_choose(struct control *c, int pid)
{
	struct control_thread *best = NULL;
	struct registers r;
	vec_each (at, &c->threads) {
		struct control_thread *t = *at;
		if (t->pid != pid || !t->stopped || !control_registers(t, &r))
			continue;
		if (!t->in_call && t->stop.what == TRACEE_TRAPPED && !control_has_trapped(t))
			return t;
		if (!best || best->stop.what == TRACEE_SUSPENDED)
			best = t;
	}
	return best;
}
