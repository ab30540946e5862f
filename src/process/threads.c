#include "process/threads.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "isa/arch.h"
#include "process/proc_text.h"

static const char yama[] = "/proc/sys/kernel/yama/ptrace_scope";

/* The beginning of a small file of /proc, NUL-terminated; false if it cannot be read. */
static bool read_small(const char *path, char *out, size_t size)
{
	int fd = fault("proc-open", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, out, size - 1);
	int saved = errno;
	close(fd);
	errno = saved;
	out[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

/* The number after "key" in /proc/ID/status; false if there is none. */
static bool read_status(int id, const char *key, int base, uint64_t *out)
{
	char path[40], text[8192];
	snprintf(path, sizeof(path), "/proc/%d/status", id);
	if (id <= 0 || !read_small(path, text, sizeof(text)))
		return false;
	const char *at = strstr(text, key);
	*out = at ? strtoull(at + strlen(key), NULL, base) : 0;
	return at;
}

static int status_number(int id, const char *key)
{
	uint64_t number;
	return read_status(id, key, 10, &number) ? (int)number : -1;
}

bool thread_catches(int tid, int signal)
{
	uint64_t mask;
	return read_status(tid, "\nSigCgt:", 16, &mask) && mask >> (signal - 1) & 1;
}

bool thread_withholds(int tid, int signal)
{
	uint64_t blocked, ignored;
	return read_status(tid, "\nSigBlk:", 16, &blocked) &&
	       read_status(tid, "\nSigIgn:", 16, &ignored) &&
	       (blocked | ignored) >> (signal - 1) & 1;
}

bool thread_is_capable(int tid, int capability)
{
	uint64_t effective;
	return read_status(tid, "\nCapEff:", 16, &effective) && effective >> capability & 1;
}

/* A kernel without seccomp has no such line. */
int thread_seccomp(int tid)
{
	uint64_t mode;
	if (read_status(tid, "\nSeccomp:", 10, &mode))
		return (int)mode;
	return thread_state(tid) ? 0 : -1;
}

bool process_has_shadow_stack(int pid)
{
	static const char key[] = "\nx86_Thread_features:";
	char path[40], text[8192];
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (!read_small(path, text, sizeof(text)))
		return false;
	char *at = strstr(text, key);
	if (!at)
		return false;
	at += sizeof(key) - 1;
	at[strcspn(at, "\n")] = '\0';
	return strstr(at, "shstk");
}

int thread_process(int tid)
{
	return status_number(tid, "\nTgid:");
}

int process_parent(int pid)
{
	return status_number(pid, "\nPPid:");
}

static void add_children(int pid, int tid, tid_list *out)
{
	char path[64], *end;
	struct text list = TEXT_INIT;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	proc_read_text(path, &list);
	for (const char *at = list.data; at; at = end) {
		int child = (int)strtol(at, &end, 10);
		if (end == at)
			break;
		vec_push(out, child);
	}
	text_release(&list);
}

/* Children have their parent in the list before them. */
void process_descendants(int pid, tid_list *out)
{
	uint32_t next = out->len;
	for (;;) {
		struct err ignored;
		tid_list tids = {0};
		threads_list(pid, &tids, &ignored);
		vec_each (tid, &tids)
			add_children(pid, *tid, out);
		vec_free(&tids);
		if (next == out->len)
			return;
		pid = out->data[next++];
	}
}

bool thread_turns(int tid, uint64_t *waits, uint64_t *turns)
{
	if (!read_status(tid, "\nvoluntary_ctxt_switches:", 10, waits) ||
	    !read_status(tid, "\nnonvoluntary_ctxt_switches:", 10, turns))
		return false;
	*turns += *waits;
	return true;
}

uint64_t thread_switches(int tid)
{
	uint64_t number;
	return read_status(tid, "\nvoluntary_ctxt_switches:", 10, &number) ? number : 0;
}

/* The file of the thread alone: for /proc/TID/stat, the kernel would add up the times of all
 * threads of its process. */
char thread_state(int tid)
{
	char path[64], text[128];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
	if (!read_small(path, text, sizeof(text)))
		return 0;
	/* The name before the state may contain parentheses. */
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

bool thread_lives(int tid)
{
	char state = thread_state(tid);
	return state && state != 'Z' && state != 'X';
}

uint64_t process_cpu_ns(int pid)
{
	clockid_t clock;
	struct timespec t;
	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool thread_ran(int pid, int tid, uint64_t *cpu_ns, uint64_t *ready_ns)
{
	char path[64], text[96], *end;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	if (!read_small(path, text, sizeof(text)))
		return false;
	*cpu_ns = strtoull(text, &end, 10);
	*ready_ns = strtoull(end, NULL, 10);
	return true;
}

uint64_t thread_cpu_ns(int pid, int tid)
{
	uint64_t cpu_ns, ready_ns;
	return thread_ran(pid, tid, &cpu_ns, &ready_ns) ? cpu_ns : 0;
}

/* The eighth number of the first line, in clock ticks of user space (USER_HZ). */
uint64_t cpus_stolen_ns(void)
{
	char text[512];
	unsigned long long ticks;
	if (!read_small("/proc/stat", text, sizeof(text)) ||
	    sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		return 0;
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* All but the fourth and fifth number, in which CPUs are idle, and the eighth. */
uint64_t cpus_busy_ns(void)
{
	char text[512];
	unsigned long long user, nice, system, irq, softirq;
	if (!read_small("/proc/stat", text, sizeof(text)) ||
	    sscanf(text, "cpu %llu %llu %llu %*u %*u %llu %llu", &user, &nice, &system, &irq,
		   &softirq) != 5)
		return 0;
	return (user + nice + system + irq + softirq) *
	       (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Counting starts after field 2, a name that may contain anything. 0 if the process is gone. */
static uint64_t stat_field(int pid, unsigned wanted)
{
	char path[40], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	const char *at = read_small(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
	for (unsigned field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

uint64_t process_heap(int pid)
{
	return stat_field(pid, 47);
}

uint32_t process_threads(int pid)
{
	return (uint32_t)stat_field(pid, 20);
}

struct call_made parse_call(const char *text)
{
	char *end;
	struct call_made call = {.number = (int)strtol(text, &end, 10)};
	if (end == text || call.number < 0)
		return (struct call_made){.number = -1};
	for (size_t i = 0; i < ARRAY_SIZE(call.arguments); i++)
		call.arguments[i] = strtoull(end, &end, 16);
	return call;
}

struct call_made thread_call(int pid, int tid)
{
	char path[64], text[256];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	return parse_call(read_small(path, text, sizeof(text)) ? text : "");
}

void thread_name(int pid, int tid, char out[16])
{
	char path[64], text[64];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	if (!read_small(path, text, sizeof(text)))
		text[0] = '\0';
	snprintf(out, 16, "%.*s", (int)strcspn(text, "\n"), text);
}

int process_first_of_name(int pid)
{
	char name[16], other[16];
	thread_name(pid, pid, name);
	for (int parent; (parent = process_parent(pid)) > 1; pid = parent) {
		thread_name(parent, parent, other);
		if (strcmp(name, other) != 0)
			break;
	}
	return pid;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

static int refuse(int pid, struct err *e)
{
	if (errno == ENOENT || errno == ESRCH)
		return err_set(e, ERR_SYSTEM, "there is no process %d", pid);
	return err_errno(e, "process %d cannot be examined", pid);
}

int threads_list(int pid, tid_list *out, struct err *e)
{
	char path[40];
	uint32_t before = out->len;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = fault("threads-open", EMFILE) ? NULL : opendir(path);
	if (!dir)
		return refuse(pid, e);
	for (const struct dirent *d; (d = readdir(dir));)
		if (isdigit((unsigned char)d->d_name[0]))
			vec_push(out, (int)strtol(d->d_name, NULL, 10));
	closedir(dir);
	/* The last thread may have ended between the two calls. */
	if (out->len == before)
		return err_set(e, ERR_SYSTEM, "there is no process %d", pid);
	qsort(out->data + before, out->len - before, sizeof(int), by_number);
	return 0;
}

/* A process of the same user may be closed to us as well: it runs a program that changes its user,
 * or has asked for this itself. */
static int explain_denied(int pid, struct err *e)
{
	int owner = status_number(pid, "\nUid:");
	if (owner >= 0 && (uid_t)owner != geteuid())
		return err_set(e, ERR_SYSTEM,
			       "process %d belongs to another user (uid %d) and may not be "
			       "examined; try again with sudo",
			       pid, owner);
	return err_set(e, ERR_SYSTEM,
		       "process %d does not let itself be examined (it has more privileges than "
		       "you, or runs in another container); try again with sudo",
		       pid);
}

bool process_lacks_privileges(int pid)
{
	char path[40];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (geteuid() == 0 || stat(path, &st))
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	       ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
	       getxattr(path, "security.capability", NULL, 0) > 0;
}

/* Checks that the process has memory of its own, and that we may look at it. */
static int check_readable(int pid, struct err *e)
{
	char path[40], text[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (!read_small(path, text, sizeof(text)))
		return errno == EACCES || errno == EPERM ? explain_denied(pid, e) : refuse(pid, e);
	if (!text[0])
		return err_set(e, ERR_INPUT,
			       "process %d has no program: it is a kernel thread or has ended",
			       pid);
	return 0;
}

/* The executable says which machine it is for. If it cannot be read, we assume ours. */
static int check_machine(int pid, struct err *e)
{
	char path[40];
	Elf64_Ehdr h; /* e_machine is at the same place in a 32-bit file */
	const struct arch *ours = arch_native();
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, &h, sizeof(h));
	close(fd);
	if (n < (ssize_t)sizeof(Elf32_Ehdr) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	if (h.e_ident[EI_CLASS] == ELFCLASS32)
		return err_set(e, ERR_UNSUPPORTED,
			       "process %d is a 32-bit program; Sonde observes 64-bit (%s) ones",
			       pid, ours->name);
	const struct arch *theirs = arch_of_machine(h.e_machine);
	if (theirs == ours)
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "process %d is a program for another CPU (%s, ELF machine %u); this "
		       "Sonde observes %s ones",
		       pid, theirs ? theirs->name : "unknown to Sonde", (unsigned)h.e_machine,
		       ours->name);
}

int process_check_access(int pid, struct err *e)
{
	int rc = check_readable(pid, e);
	return rc ? rc : check_machine(pid, e);
}

int thread_tracer(int tid)
{
	return status_number(tid, "\nTracerPid:");
}

static int check_untraced(int pid, struct err *e)
{
	char name[16];
	int tracer = thread_tracer(pid);
	if (tracer <= 0 || tracer == getpid())
		return 0;
	thread_name(tracer, tracer, name);
	return err_set(e, ERR_SYSTEM,
		       "process %d is being traced by process %d (%s), and only one can; end that "
		       "one first",
		       pid, tracer, name);
}

static int explain_not_attachable(int pid, struct err *e)
{
	char scope[16];
	if (!read_small(yama, scope, sizeof(scope)) || scope[0] == '0')
		return explain_denied(pid, e);
	scope[strcspn(scope, "\n")] = '\0';
	if (scope[0] == '3')
		return err_set(e, ERR_SYSTEM,
			       "process %d may not be stopped: %s is 3, which forbids it to all "
			       "until the next boot",
			       pid, yama);
	if (scope[0] == '2')
		return err_set(e, ERR_SYSTEM,
			       "process %d may not be stopped: %s is 2, which permits it to root "
			       "only; try again with sudo, or run: sudo sysctl "
			       "kernel.yama.ptrace_scope=0",
			       pid, yama);
	return err_set(e, ERR_SYSTEM,
		       "process %d may not be stopped: %s is %s, which permits it to parents only; "
		       "try again with sudo, let Sonde start the program, or run: sudo sysctl "
		       "kernel.yama.ptrace_scope=0",
		       pid, yama, scope);
}

int process_check_attach(int pid, struct err *e)
{
	char path[40];
	int rc = process_check_access(pid, e);
	if (!rc)
		rc = check_untraced(pid, e);
	if (rc)
		return rc;
	/* Opening this file is permitted exactly if attaching is. */
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	int fd = fault("attach-permitted", EACCES) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM ? explain_not_attachable(pid, e)
							 : refuse(pid, e);
	close(fd);
	return 0;
}
