#include "process/tracee.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "isa/arch.h"
#include "process/threads.h"

/* Options of ptrace. Never PTRACE_O_EXITKILL: the program must survive Sonde. */
enum {
	OPTIONS_ALL = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD,
	OPTIONS_PROCESSES = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK,
	OPTIONS_CHILDREN = OPTIONS_PROCESSES | PTRACE_O_TRACECLONE,
	OPTIONS_ENDS = OPTIONS_CHILDREN | PTRACE_O_TRACEEXIT,
};

/* PTRACE_O_TRACESYSGOOD: this bit in the signal number means a stop at a system call. */
enum { CALL_STOP = 0x80 };

void tracee_adopt(struct tracee *t, int tid)
{
	*t = (struct tracee){.tid = tid};
}

int tracee_seize(struct tracee *t, int tid, enum tracee_extent extent, struct err *e)
{
	static const uintptr_t extra[] = {[TRACEE_PROCESSES] = OPTIONS_PROCESSES,
					  [TRACEE_CHILDREN] = OPTIONS_CHILDREN,
					  [TRACEE_ENDS] = OPTIONS_ENDS};
	uintptr_t options = OPTIONS_ALL | extra[extent];
	tracee_adopt(t, tid);
	if (!fault("seize", EPERM) && !ptrace(PTRACE_SEIZE, tid, NULL, options))
		return 0;
	if (errno == ESRCH)
		return err_set(e, ERR_SYSTEM, "there is no thread %d", tid);
	int saved = errno;
	int rc = process_check_attach(tid, e);
	errno = saved;
	return rc ? rc : err_errno(e, "thread %d cannot be observed by stopping it", tid);
}

bool tracee_interrupt(struct tracee *t)
{
	interrupted_note(&t->interrupted, t->tid);
	return !fault("interrupt", ESRCH) && !ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
}

static int event_message(int tid)
{
	unsigned long message = 0;
	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message))
		return 0;
	return (int)message;
}

/* Consumes the stop, so that waitid() does not report it any more. The end of the thread is not
 * consumed, should it have been killed since. */
void tracee_take(int tid)
{
	siginfo_t info;
	waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL);
}

/* `code` is the signal, with the PTRACE_EVENT above it. For a seized thread, every stop has an
 * event except those for a signal or a system call: a SIGTRAP without one is the program's own. */
static void explain_stop(struct tracee_event *out, int code)
{
	int signal = code & 0x7f;
	switch (code >> 8) {
	case 0:
		out->what = code & CALL_STOP ? TRACEE_CALLING : TRACEE_SIGNALLED;
		out->signal = code & CALL_STOP ? 0 : signal;
		break;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		out->what = TRACEE_CLONED;
		out->other = event_message(out->tid);
		out->vfork = code >> 8 == PTRACE_EVENT_VFORK;
		break;
	case PTRACE_EVENT_EXIT: out->what = TRACEE_ENDING; break;
	case PTRACE_EVENT_EXEC:
		/* The kernel refuses all requests until this stop is consumed, because a tracer
		 * that does not know of the exec might mean the thread that had this number
		 * before. */
		tracee_take(out->tid);
		out->what = TRACEE_EXECUTED;
		out->other = event_message(out->tid);
		break;
	default: out->what = signal == SIGTRAP ? TRACEE_TRAPPED : TRACEE_SUSPENDED;
	}
}

/* Stops are looked at without being consumed (WNOWAIT). Consuming a stop clears the signal that the
 * thread is about to receive; if Sonde were killed before it resumes the thread, the signal would
 * be lost. Stops of a child of ours that is not traced (any more) are consumed: we do not need
 * them, and they would hide other events. */
static bool next_event(idtype_t whom, int tid, struct tracee_event *out)
{
	siginfo_t info;
	*out = (struct tracee_event){0};
	for (;; tracee_take(info.si_pid)) {
		info.si_pid = 0;
		if (waitid(whom, (id_t)tid, &info,
			   WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) ||
		    !info.si_pid)
			return false;
		if (info.si_code != CLD_STOPPED)
			break;
	}
	out->tid = info.si_pid;
	if (info.si_code == CLD_TRAPPED) {
		explain_stop(out, info.si_status);
		return true;
	}
	out->what = TRACEE_ENDED;
	out->cpu_ns = process_cpu_ns(out->tid);
	return waitpid(out->tid, &out->status, WNOHANG | __WALL) == out->tid;
}

bool tracee_next(struct tracee_event *out)
{
	return next_event(P_ALL, 0, out);
}

bool tracee_look(int tid, struct tracee_event *out)
{
	return next_event(P_PID, tid, out);
}

bool tracee_wait(int tid, struct tracee_event *out)
{
	siginfo_t info;
	*out = (struct tracee_event){.tid = tid};
	while (waitid(P_PID, (id_t)tid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL))
		if (errno != EINTR)
			return false;
	if (info.si_code != CLD_TRAPPED)
		return false;
	explain_stop(out, info.si_status);
	return true;
}

bool tracee_read(struct tracee *t)
{
	struct iovec io = {t->regset.bytes, sizeof(t->regset.bytes)};
	if (!t->regset.size && !fault("read-registers", ESRCH) &&
	    !ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &io))
		t->regset.size = io.iov_len;
	return t->regset.size;
}

bool tracee_registers(struct tracee *t, struct registers *out, bool *in_call)
{
	if (!tracee_read(t) ||
	    !registers_from_ptrace(arch_native(), t->regset.bytes, t->regset.size, out))
		return false;
	*in_call = interrupted_in_call(t->tid, &t->regset);
	return true;
}

static void repair(struct tracee *t, const struct tracee_event *stop)
{
	if ((stop->what == TRACEE_TRAPPED || stop->what == TRACEE_SIGNALLED) && tracee_read(t))
		interrupted_repair(&t->interrupted, t->tid, &t->regset, stop->signal);
}

/* Resumes the thread up to the entry of its call, and replaces restart_syscall() there. Returns
 * false if the thread has come to another stop first, which will be reported. */
static bool run_to_call_entry(struct tracee *t)
{
	struct tracee_event ev;
	if (ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL) || !tracee_wait(t->tid, &ev) ||
	    ev.what != TRACEE_CALLING)
		return false;
	t->regset.size = 0;
	t->interrupted.sleeping = true;
	if (tracee_read(t))
		interrupted_rename(&t->interrupted, t->tid, &t->regset);
	t->regset.size = 0;
	return true;
}

bool tracee_sleeps(struct tracee *t)
{
	return tracee_read(t) && interrupted_sleeps(t->tid, &t->regset);
}

/* Keeps a filter of the thread from seeing restart_syscall(). Not needed if a handler runs first:
 * it ends the call with EINTR. Returns false if the thread has been resumed already. */
static bool avoid_restart(struct tracee *t, const struct tracee_event *stop)
{
	bool handled = stop->signal && thread_catches(t->tid, stop->signal);
	t->interrupted.sleeping = false;
	if ((stop->what != TRACEE_TRAPPED && stop->what != TRACEE_SIGNALLED) || handled ||
	    !tracee_read(t) || !interrupted_avoid_restart(&t->interrupted, t->tid, &t->regset))
		return true;
	return stop->signal || run_to_call_entry(t);
}

void tracee_resume(struct tracee *t, const struct tracee_event *stop)
{
	repair(t, stop);
	bool still_stopped = avoid_restart(t, stop);
	t->regset.size = 0;
	t->interrupted.sleeping = false;
	if (!still_stopped)
		return;
	/* The thread stays stopped with its process. The end of that stop is reported. */
	if (stop->what == TRACEE_SUSPENDED)
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, t->tid, NULL, (uintptr_t)stop->signal);
}

/* A thread whose call was set back stays traced until the kernel itself is about to restart the
 * call: a signal that arrives before that must end the call with EINTR. */
bool tracee_detach(struct tracee *t, const struct tracee_event *stop)
{
	uintptr_t signal = (uintptr_t)stop->signal;
	if (stop->what == TRACEE_CALLING && t->interrupted.restarted && tracee_read(t))
		interrupted_hand_over(&t->interrupted, t->tid, &t->regset);
	repair(t, stop);
	bool still_stopped = avoid_restart(t, stop), entered = t->interrupted.sleeping;
	t->regset.size = 0;
	/* Detaching would wake the thread from the call that it enters, and restart the call. So
	 * the thread stays traced until the call is over, or Sonde ends. */
	if (entered)
		ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL);
	if (!still_stopped || entered)
		return false;
	if (t->interrupted.restarted && !ptrace(PTRACE_SYSCALL, t->tid, NULL, signal))
		return false;
	ptrace(PTRACE_DETACH, t->tid, NULL, signal);
	return true;
}
