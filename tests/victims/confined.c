/* A program that restricts its own system calls (seccomp): FILTER FILE. The first byte of the file
 * says what it is to do: be free ('0'), be confined ('1'), end ('2'). It computes all the time, in
 * threads too: of which some are there before the filter and others come after it, and one sleeps
 * again and again. Whoever makes it execute a call that it does not know harms it. It prints one
 * line, with how many results differed, and how many signals its filter has sent. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noipa))

enum { LENGTH = 512 };

static const volatile char *stage;             /* in memory, so that no call is needed */
static volatile sig_atomic_t signals, trapped; /* how many, and the last call that it was for */
static unsigned differing;

OWN static uint64_t work(uint64_t x)
{
	for (int i = 0; i < 100000; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

OWN static void work_some(unsigned turns)
{
	static uint64_t first;
	while (turns--) {
		uint64_t x = work(7);
		differing += first && x != first;
		first = x;
	}
}

static void work_until(char end)
{
	while (*stage < end)
		work_some(1);
}

/* ---- filters ---- */

static struct sock_filter code[LENGTH];
static unsigned short length;

static void put(uint16_t op, uint32_t k, uint8_t yes, uint8_t no)
{
	code[length++] = (struct sock_filter){op, yes, no, k};
}

static void load(size_t offset)
{
	put(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(uint32_t what)
{
	put(BPF_RET | BPF_K, what, 0, 0);
}

/* What the program itself needs from then on. */
static const uint32_t own[] = {
	SYS_read,
	SYS_write,
	SYS_exit,
	SYS_exit_group,
	SYS_futex,
	SYS_lseek,
	SYS_newfstatat,
	SYS_fstat,
	SYS_brk,
	SYS_clock_gettime,
	SYS_clone,
	SYS_clone3,
	SYS_mmap,
	SYS_mprotect,
	SYS_munmap,
	SYS_madvise,
	SYS_rseq,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_set_robust_list,
};

/* What services need as a rule, as systemd's @system-service has it, and probes do. */
static const uint32_t more[] = {
	SYS_restart_syscall, SYS_memfd_create, SYS_close,
	SYS_getpid,          SYS_gettid,       SYS_kill,
	SYS_ppoll,           SYS_fcntl,        SYS_openat,
	SYS_rt_sigaction,    SYS_pidfd_open,   SYS_tgkill,
	SYS_ioctl,           SYS_epoll_pwait,  SYS_rt_tgsigqueueinfo,
};

#ifdef __aarch64__
#define AUDIT AUDIT_ARCH_AARCH64
#else
#define AUDIT AUDIT_ARCH_X86_64
#endif

static void check_architecture(void)
{
	load(offsetof(struct seccomp_data, arch));
	put(BPF_JMP | BPF_JEQ | BPF_K, AUDIT, 1, 0);
	answer(SECCOMP_RET_KILL_PROCESS);
	load(offsetof(struct seccomp_data, nr));
}

static void allow(const uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put(BPF_JMP | BPF_JEQ | BPF_K, list[i], 0, 1);
		answer(SECCOMP_RET_ALLOW);
	}
}

#define ALLOW(list) allow(list, sizeof(list) / sizeof(list[0]))

/* A list of numbers, as libseccomp makes it. */
static void list(bool services, uint32_t otherwise)
{
	check_architecture();
	ALLOW(own);
	if (services)
		ALLOW(more);
	answer(otherwise);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Searches a sorted part of the list by halves. */
static void tree(const uint32_t *sorted, size_t count, uint32_t otherwise)
{
	if (count == 1) {
		put(BPF_JMP | BPF_JEQ | BPF_K, sorted[0], 0, 1);
		answer(SECCOMP_RET_ALLOW);
		answer(otherwise);
		return;
	}
	size_t half = count / 2;
	unsigned at = length;
	put(BPF_JMP | BPF_JGE | BPF_K, sorted[half], 0, 1);
	put(BPF_JMP | BPF_JA, 0, 0, 0);
	tree(sorted, half, otherwise);
	code[at + 1].k = (uint32_t)(length - at - 2);
	tree(sorted + half, count - half, otherwise);
}

/* A tree with arguments, as chromium makes it: memory may not be mapped in unusual ways. */
static void browser(void)
{
	static uint32_t all[64];
	size_t count = 0;
	check_architecture();
	put(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5);
	load(offsetof(struct seccomp_data, args[3]) + 4);
	put(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
	load(offsetof(struct seccomp_data, args[3]));
	put(BPF_JMP | BPF_JSET | BPF_K,
	    ~(uint32_t)(MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE |
			MAP_FIXED),
	    0, 1);
	answer(SECCOMP_RET_TRAP);
	load(offsetof(struct seccomp_data, nr));
	memcpy(all, own, sizeof(own));
	count = sizeof(own) / sizeof(own[0]);
	all[count++] = SYS_restart_syscall;
	all[count++] = SYS_close;
	all[count++] = SYS_gettid;
	qsort(all, count, sizeof(all[0]), by_number);
	tree(all, count, SECCOMP_RET_TRAP);
}

static void write_filter(const char *name)
{
	if (!strcmp(name, "kill"))
		list(false, SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(name, "kill-thread"))
		list(false, SECCOMP_RET_KILL_THREAD);
	else if (!strcmp(name, "trap"))
		list(false, SECCOMP_RET_TRAP);
	else if (!strcmp(name, "errno"))
		list(false, SECCOMP_RET_ERRNO | EPERM);
	else if (!strcmp(name, "service"))
		list(true, SECCOMP_RET_ERRNO | EPERM);
	else if (!strcmp(name, "service-kill"))
		list(true, SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(name, "browser"))
		browser();
	else
		abort();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	signals++;
	trapped = info->si_syscall;
}

/* All threads get it. */
static void confine(const char *name)
{
	struct sock_fprog filter = {.filter = code};
	write_filter(name);
	filter.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter))
		exit(77);
}

/* ---- threads ---- */

static void *compute(void *unused)
{
	work_until('2');
	return unused;
}

static void *compute_shortly(void *unused)
{
	work_some(50);
	return unused;
}

static void *sleep_often(void *unused)
{
	while (*stage < '2')
		nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
	return unused;
}

static pthread_t begin(void *(*what)(void *))
{
	pthread_t t;
	if (pthread_create(&t, NULL, what, NULL))
		abort();
	return t;
}

static void tell(void)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "confined: %u differ, %d signals", differing,
			 (int)signals);
	if (signals)
		n += snprintf(line + n, sizeof(line) - (size_t)n, ", call %d", (int)trapped);
	line[n++] = '\n';
	if (write(1, line, (size_t)n) != n)
		abort();
}

/* Strict mode knows read, write, exit and rt_sigreturn only, and one thread. */
static void be_strict(void)
{
	work_until('1');
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		exit(77);
	work_until('2');
	tell();
	syscall(SYS_exit, (int)differing);
}

static void read_stage(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		exit(2);
	close(fd);
	stage = page;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	read_stage(argv[2]);
	bool confined = *stage > '0', strict = !strcmp(argv[1], "strict");
	sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO},
		  NULL);
	/* The first one takes more calls than others. */
	pthread_join(begin(compute_shortly), NULL);
	if (confined && !strict)
		confine(argv[1]);
	if (write(1, "begun\n", 6) != 6)
		abort();
	if (strict)
		be_strict();
	pthread_t before = begin(compute), sleeper = begin(sleep_often);
	work_until('1');
	if (!confined)
		confine(argv[1]);
	while (*stage < '2') {
		pthread_t late = begin(compute_shortly);
		work_some(100);
		pthread_join(late, NULL);
	}
	pthread_join(before, NULL);
	pthread_join(sleeper, NULL);
	tell();
	return differing ? 1 : 0;
}
