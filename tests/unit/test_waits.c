/* What threads wait for. The runtime's values are made up; descriptors, variables and memory are
 * those of this process, and of a child of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "diagnose/condition.h"
#include "diagnose/wait_kinds.h"
#include "diagnose/waits.h"
#include "probe/region/target.h"

enum { SUBJECT = 7, PART = 50, STRANGER = 8 };

struct fixture {
	struct resources resources;
	struct ledger ledger;
	struct arena arena;
	struct machine machine;
	struct mapped mapped;
	struct waits waits;
	struct codes *codes;
	struct target *targets[2];
	double now;
	double cpu, ready; /* s of each thread in a step */
	int child;
	VEC(struct wait_value) told[2]; /* of each process: all that its threads waited so far */
	VEC(uint64_t) ignored;          /* where */
} the;

/* Instead of the engine's, see tests/meson.build. */
void __wrap_target_waits(struct target *t, wait_visitor visit, void *ctx);
void __wrap_target_ignore_waits(struct target *t, uint64_t pc);

void __wrap_target_waits(struct target *t, wait_visitor visit, void *ctx)
{
	vec_each (v, &the.told[t == the.targets[1]])
		visit(ctx, v);
}

void __wrap_target_ignore_waits(struct target *t, uint64_t pc)
{
	(void)t;
	vec_push(&the.ignored, pc);
}

/* ---- the process ---- */

static pthread_cond_t shelf_filled = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t many_locks[4];

/* Its system calls are made up, but it is where they are. */
__attribute__((noinline)) static void writer(volatile int *x)
{
	for (int i = 0; i < 10; i++)
		*x += i;
}

static void add_process(int i, int pid)
{
	struct err e;
	struct target *t = the.targets[i] = calloc(1, sizeof(*t));
	t->pid = pid;
	t->space = space_new(the.codes, pid);
	assert_int_equal(space_refresh(t->space, &e), 0);
	assert_int_equal(machine_add_process(&the.machine, pid, t), i);
	the.machine.processes.data[i].watched = true;
	struct place p = space_find(t->space, (uint64_t)writer);
	assert_non_null(p.code);
	vec_push(&the.mapped.processes, (struct mapped_process){0});
	vec_push(&vec_last(&the.mapped.processes).list,
		 (struct mapped_at){p.code, (uint64_t)writer - p.va});
	p = space_find(t->space, (uint64_t)gnu_get_libc_version);
	assert_non_null(p.code);
	vec_push(&vec_last(&the.mapped.processes).list,
		 (struct mapped_at){p.code, (uint64_t)gnu_get_libc_version - p.va});
}

static int start(void **state)
{
	(void)state;
	memset(&the, 0, sizeof(the));
	the.codes = codes_new(NULL);
	resources_init(&the.resources);
	arena_init(&the.arena);
	machine_init(&the.machine, &the.resources, &the.ledger, &the.arena);
	waits_init(&the.waits, &the.machine, &the.mapped, &the.ledger, &the.arena);
	add_process(0, getpid());
	return 0;
}

static int finish(void **state)
{
	(void)state;
	if (the.child) {
		kill(the.child, SIGKILL);
		waitpid(the.child, NULL, 0);
	}
	for (int i = 0; i < 2; i++) {
		if (the.targets[i])
			space_free(the.targets[i]->space);
		free(the.targets[i]);
		vec_free(&the.told[i]);
	}
	vec_free(&the.ignored);
	waits_release(&the.waits);
	machine_release(&the.machine);
	mapped_release(&the.mapped);
	ledger_release(&the.ledger);
	resources_release(&the.resources);
	codes_free(the.codes);
	arena_release(&the.arena);
	return 0;
}

static void add_child(void)
{
	the.child = fork();
	assert_true(the.child >= 0);
	if (!the.child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	add_process(1, the.child);
}

/* ---- what it waits for ---- */

static uint32_t part_of(void *ctx, uint32_t process, uint32_t subject)
{
	(void)ctx;
	(void)process;
	return subject == SUBJECT ? PART : RESOURCE_NONE;
}

static void step(void)
{
	the.now += 0.1;
	machine_begin_step(&the.machine, the.now);
	vec_each (t, &the.machine.threads) {
		t->cpu = the.cpu;
		t->ready = the.ready;
	}
	waits_step(&the.waits, part_of, NULL);
	machine_end_step(&the.machine);
}

static struct wait_value wait_of(uint32_t call, uint64_t object, double seconds)
{
	return (struct wait_value){.tid = getpid(),
				   .subject = SUBJECT_NONE,
				   .call = call,
				   .pc = (uint64_t)writer,
				   .object = object,
				   .count = 1,
				   .wall_ns = (uint64_t)(seconds * 1e9)};
}

static struct wait_value *tell(int process, struct wait_value v)
{
	if (process)
		v.tid = the.child;
	vec_push(&the.told[process], v);
	return &vec_last(&the.told[process]);
}

static const struct wait_object *object(uint32_t i)
{
	assert_true(i < the.waits.objects.len);
	return &the.waits.objects.data[i];
}

static double amount(uint32_t part, enum amount what)
{
	double sum = 0;
	ledger_each (e, &the.ledger, part)
		sum += e->amount[what];
	return sum;
}

/* Parts of the search that stand for objects of a kind. */
static uint32_t parts_of_kind(enum object_kind kind)
{
	uint32_t n = 0;
	vec_each (o, &the.waits.objects)
		if (o->kind == kind && o->part != RESOURCE_NONE) {
			const struct resource *r = &the.resources.list.data[o->part];
			assert_int_equal(r->hierarchy, object_kinds[kind].hierarchy);
			n++;
		}
	return n;
}

#define assert_near(a, b) assert_true((a) > (b)-1e-6 && (a) < (b) + 1e-6)

/* ---- kinds and names ---- */

static void functions_tell_kinds(void **state)
{
	static const struct {
		const char *name;
		enum object_kind kind;
	} rows[] = {
		{"pthread_mutex_lock", OBJECT_MUTEX},
		{"__pthread_mutex_lock", OBJECT_MUTEX},
		{"___pthread_mutex_lock", OBJECT_MUTEX},
		{"pthread_mutex_lock@@GLIBC_2.2.5", OBJECT_MUTEX},
		{"__lll_lock_wait", OBJECT_MUTEX},
		{"__lll_lock_wait_private", OBJECT_MUTEX},
		{"pthread_mutex_lock_of_mine", OBJECT_KINDS},
		{"pthread_mutex_unlock", OBJECT_KINDS},
		{"__pthread_rwlock_rdlock", OBJECT_RWLOCK},
		{"pthread_cond_timedwait", OBJECT_CONDITION},
		{"___pthread_cond_wait", OBJECT_CONDITION},
		{"pthread_barrier_wait", OBJECT_BARRIER},
		{"ProcSleep", OBJECT_LOCK},
		{"LWLockAcquire", OBJECT_LOCK},
		{"LWLockAcquired", OBJECT_KINDS},
		{"__new_sem_wait_slow64.constprop.0", OBJECT_SEMAPHORE},
		{"sem_wait", OBJECT_SEMAPHORE},
		{"__pthread_clockjoin_ex", OBJECT_JOIN},
		{"pthread_spin_lock", OBJECT_SPIN},
		{"gomp_team_barrier_wait_end", OBJECT_OPENMP},
		{"__kmpc_barrier", OBJECT_OPENMP},
		{"MPI_Recv", OBJECT_MESSAGE},
		{"PMPI_Waitall", OBJECT_MESSAGE},
		{"cuStreamSynchronize_ptsz", OBJECT_GPU},
		{"cudaMemcpyAsync", OBJECT_GPU},
		{"hipDeviceSynchronize", OBJECT_GPU},
		{"hsa_signal_wait_scacquire", OBJECT_GPU},
		{"cuLaunchKernel", OBJECT_KINDS},
		{"clFinishIt", OBJECT_KINDS},
		{"runtime.stopm", OBJECT_PARKED},
		{"main", OBJECT_KINDS},
		{"", OBJECT_KINDS},
		{"___", OBJECT_KINDS},
	};
	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (kind_of_function(rows[i].name) != rows[i].kind)
			fail_msg("%s: %d", rows[i].name, (int)kind_of_function(rows[i].name));
}

/* How often something is waited for is a rate of the time for which that was counted. */
static void time_is_noted_while_waits_are_counted(void **state)
{
	(void)state;
	const struct machine_process *p = &the.machine.processes.data[0];
	step();
	double before = p->counted;
	for (int i = 0; i < 3; i++)
		step();
	assert_near(p->counted, before + 0.3);
	the.machine.processes.data[0].watched = false;
	step();
	assert_near(p->counted, before + 0.3);
}

static void work_for_allocators_has_names(void **state)
{
	(void)state;
	const struct call_made unmap = {.number = SYS_munmap};
	uint32_t made = waits_allocation(&the.waits, 0, "_Znwm");
	uint32_t freed = waits_kernel_allocation(&the.waits, 0, "free@plt", &unmap);
	uint32_t touched = waits_kernel_allocation(&the.waits, 0, "__libc_malloc", NULL);
	assert_string_equal(object(made)->name, "operator new");
	assert_string_equal(object(freed)->name, "free (munmap)");
	assert_string_equal(object(touched)->name, "malloc (page faults)");
	assert_int_equal(waits_allocation(&the.waits, 0, "_ZnwmSt11align_val_t"), made);
}

static void descriptors_lead_to_files(void **state)
{
	int pipes[2], sockets[2];
	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	const struct {
		int fd;
		enum object_kind kind;
		const char *name;
	} rows[] = {
		{open("/proc/self/exe", O_RDONLY), OBJECT_FILE, "/test_waits"},
		{pipes[0], OBJECT_PIPE, "pipe:["},
		{sockets[0], OBJECT_SOCKET, "socket:["},
		{open("/dev/null", O_RDONLY), OBJECT_DEVICE, "/dev/null"},
		{eventfd(0, 0), OBJECT_EVENT, "eventfd "},
		{-1, OBJECT_OTHER, "files being opened"},
		{1000000, OBJECT_OTHER, "files being opened"},
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		tell(0, wait_of(SYS_read, (uint64_t)(int64_t)rows[i].fd, 0.1));
	step();
	assert_int_equal(the.waits.objects.len, ARRAY_SIZE(rows));
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(object(i)->kind, rows[i].kind);
		assert_non_null(strstr(object(i)->name, rows[i].name));
		if (rows[i].fd >= 0)
			close(rows[i].fd);
	}
	close(pipes[1]);
	close(sockets[1]);
}

static void a_descriptor_is_used_again(void **state)
{
	int fd = open("/dev/null", O_RDONLY), other = open("/proc/self/exe", O_RDONLY);
	(void)state;
	struct wait_value v = wait_of(SYS_read, (uint64_t)fd, 0.1);
	tell(0, v);
	step();
	assert_int_equal(dup2(other, fd), fd);
	for (int i = 0; i < 4; i++) {
		the.told[0].data[0].wall_ns += 50000000;
		step();
	}
	assert_int_equal(the.waits.objects.len, 2);
	assert_string_equal(object(0)->name, "/dev/null");
	assert_int_equal(object(1)->kind, OBJECT_FILE);
	assert_near(object(0)->seconds + object(1)->seconds, 0.3);
	assert_true(object(1)->seconds >= 0.05);
	/* One that is closed keeps its name. */
	close(fd);
	close(other);
	for (int i = 0; i < 4; i++)
		step();
	assert_int_equal(the.waits.objects.len, 2);
}

static void variables_have_names(void **state)
{
	char *heap = malloc(100), third[32];
	(void)state;
	snprintf(third, sizeof(third), "many_locks+%zu", 2 * sizeof(many_locks[0]));
	tell(0, wait_of(SYS_futex, (uint64_t)&shelf_lock, 0.1));
	tell(0, wait_of(SYS_futex, (uint64_t)&many_locks[2], 0.1));
	tell(0, wait_of(SYS_futex, (uint64_t)heap, 0.1));
	step();
	assert_string_equal(object(0)->name, "shelf_lock");
	assert_string_equal(object(1)->name, third);
	assert_true(object(0)->named && object(1)->named && !object(2)->named);
	assert_memory_equal(object(2)->name, "0x", 2);
	free(heap);
}

/* ---- objects ---- */

static void a_futex_waits_for_its_kind(void **state)
{
	(void)state;
	tell(0, wait_of(SYS_futex, (uint64_t)&shelf_lock, 0.1));
	tell(0, wait_of(SYS_futex, (uint64_t)&many_locks[1], 0.1));
	tell(0, wait_of(SYS_futex, (uint64_t)&many_locks[2], 0.001));
	step();
	assert_int_equal(the.waits.news.len, 0);
	waits_learn(&the.waits, 0, OBJECT_MUTEX);
	step();
	assert_int_equal(parts_of_kind(OBJECT_MUTEX), 1);
	assert_int_equal(the.waits.news.len, 2); /* the kind, and the object */
	for (int i = 0; i < 5; i++)
		step();
	assert_int_equal(parts_of_kind(OBJECT_FUTEX), 1);
	/* What is a part of the search does not change any more. */
	waits_learn(&the.waits, 1, OBJECT_RWLOCK);
	assert_int_equal(object(1)->kind, OBJECT_FUTEX);
	/* It has not taken long. */
	assert_true(object(2)->part == RESOURCE_NONE);
}

/* How pthread_cond_signal() begins in glibc 2.36 and 2.41, and code that must not be taken for it.
 */
static void code_tells_where_the_words_of_a_condition_are(void **state)
{
	static const uint32_t a64[][7] = {
		/* stp; mov x29, sp; stp; mov x19, x0; add x0, x0, 36; stp; ldr w21, [x0] */
		{0xa9b87bfd, 0x910003fd, 0xa90153f3, 0xaa0003f3, 0x91009000, 0xa9025bf5,
		 0xb9400015},
		/* paciasp; stp; stp; mov x20, x0; add x0, x0, 28; stp; ldr w22, [x0] */
		{0xd503233f, 0xa9ba7bfd, 0xa90153f3, 0xaa0003f4, 0x91007000, 0xa9025bf5,
		 0xb9400016},
		/* mov x0, x1; ldr w1, [x0, 28]: reads from another argument */
		{0xaa0103e0, 0xb9401c01, 0xd65f03c0},
		/* cbz x0; ldr w1, [x0, 28]: reads after a branch */
		{0xb4000040, 0xb9401c01, 0xd65f03c0},
		/* ldr w1, [x0, 12]; ldr w1, [x0, 28]: reads another word first */
		{0xb9400c01, 0xb9401c01, 0xd65f03c0},
	};
	static const uint8_t x64[][14] = {
		/* push r15; sub rsp, 40; mov ebx, [rdi + 36] */
		{0x41, 0x57, 0x48, 0x83, 0xec, 0x28, 0x8b, 0x5f, 0x24},
		/* endbr64; push rbp; mov eax, [rdi + 28] */
		{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x8b, 0x47, 0x1c},
		/* mov rbp, [rdi]; test; je: an old condition variable, which points to a new one */
		{0x48, 0x8b, 0x2f, 0x48, 0x85, 0xed, 0x74, 0x12},
	};
	static const uint64_t words[] = {40, 32, 0, 0, 0};
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(a64); i++)
		assert_int_equal(
			condition_signals_in(&arch_a64, (const uint8_t *)a64[i], sizeof(a64[i])),
			words[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(x64); i++)
		assert_int_equal(condition_signals_in(&arch_x64, x64[i], sizeof(x64[i])), words[i]);
	/* This program was compiled with the same layout, by the headers. */
	assert_int_equal(condition_signals(&the.mapped, 0),
			 offsetof(pthread_cond_t, __data.__g_signals));
}

/* A condition variable has two words on which threads wait by turns. */
static void both_words_of_a_condition_are_one_object(void **state)
{
	(void)state;
	tell(0, wait_of(SYS_futex, (uint64_t)&shelf_filled.__data.__g_signals[0], 0.1));
	tell(0, wait_of(SYS_futex, (uint64_t)&shelf_filled.__data.__g_signals[1], 0.2));
	step();
	waits_learn(&the.waits, 0, OBJECT_CONDITION);
	waits_learn(&the.waits, 1, OBJECT_CONDITION);
	assert_int_equal(the.waits.objects.len, 3);
	assert_int_equal(object(2)->kind, OBJECT_CONDITION);
	assert_string_equal(object(2)->name, "shelf_filled");
	assert_near(object(2)->seconds, 0.3);
	the.told[0].data[0].wall_ns += 50000000;
	the.told[0].data[1].wall_ns += 50000000;
	for (int i = 0; i < 8; i++)
		step();
	assert_near(object(2)->seconds, 0.4);
	assert_int_equal(the.waits.objects.len, 3);
	assert_int_equal(parts_of_kind(OBJECT_CONDITION), 1);
	assert_int_equal(parts_of_kind(OBJECT_FUTEX), 0);
}

static void shared_memory_is_the_same_for_all(void **state)
{
	char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *own = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)state;
	add_child();
	for (int process = 0; process < 2; process++) {
		tell(process, wait_of(SYS_futex, (uint64_t)shared + 64, 0.1));
		tell(process, wait_of(SYS_futex, (uint64_t)shared + 4096, 0.1));
		tell(process, wait_of(SYS_futex, (uint64_t)own + 64, 0.1));
	}
	step();
	assert_int_equal(the.waits.objects.len, 4);
	assert_near(object(0)->seconds, 0.2);
	assert_near(object(1)->seconds, 0.2);
	assert_near(object(2)->seconds, 0.1);
	assert_near(object(3)->seconds, 0.1);
	munmap(shared, 8192);
	munmap(own, 8192);
}

static void sleeping_is_one_object(void **state)
{
	(void)state;
	tell(0, wait_of(SYS_nanosleep, 0x1000, 0.1));
	tell(0, wait_of(SYS_clock_nanosleep, 0x2000, 0.1));
	tell(0, wait_of(SYS_wait4, 17, 0.1));
	tell(0, wait_of(SYS_waitid, 18, 0.1));
	step();
	assert_int_equal(the.waits.objects.len, 2);
	assert_int_equal(object(0)->kind, OBJECT_SLEEP);
	assert_int_equal(object(1)->kind, OBJECT_PROCESS);
	assert_near(object(0)->seconds, 0.2);
}

/* Whatever a server waits for a request with; its time is no time. What it has accepted is counted.
 */
static void requests_are_one_object(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "\0sonde-test-waits"};
	struct epoll_event e = {.events = EPOLLIN};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	int epoll = epoll_create1(0);
	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
	int server = accept(listener, NULL, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
	epoll_ctl(epoll, EPOLL_CTL_ADD, server, &e);
	struct pollfd polled = {.fd = server, .events = POLLIN};

	const struct call_made by_poll = {SYS_ppoll, {(uintptr_t)&polled, 1, 0}};
	assert_int_equal(waits_in_call(&the.waits, 0, &by_poll), 0);
	tell(0, wait_of(SYS_epoll_pwait, (uint64_t)epoll, 0.01));
	tell(0, wait_of(SYS_read, (uint64_t)server, 0.02));
	tell(0, wait_of(SYS_accept4, (uint64_t)listener, 0.03));
	tell(0, wait_of(SYS_ppoll, RT_NO_OBJECT, 0.005));
	step();
	assert_int_equal(the.waits.objects.len, 1);
	assert_int_equal(object(0)->kind, OBJECT_REQUESTS);
	assert_string_equal(object(0)->name, "requests");
	assert_int_equal(object(0)->connections, 1);
	assert_near(object(0)->seconds, 0.065);
	assert_near(amount(CODE, AMOUNT_WAIT), 0);
	assert_near(the.machine.idle_all, 0.065);
	/* The other end waits for an answer. */
	tell(0, wait_of(SYS_read, (uint64_t)client, 0.02));
	step();
	assert_int_equal(object(1)->kind, OBJECT_ANSWER);
	assert_near(amount(CODE, AMOUNT_WAIT), 0.02);
	const int all[] = {listener, client, server, epoll};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		close(all[i]);
}

static void what_spins_is_known_by_what_it_gets(void **state)
{
	struct wait_value v = wait_of(UINT32_MAX, (uint64_t)&shelf_lock, 0.1);
	(void)state;
	tell(0, v);
	the.cpu = 0.06;
	the.ready = 0.02;
	step();
	the.cpu = the.ready = 0;
	assert_int_equal(object(0)->kind, OBJECT_SPIN);
	assert_string_equal(object(0)->name, "shelf_lock");
	assert_near(amount(CODE, AMOUNT_SPIN), 0.075); /* while it had a CPU */
	assert_near(amount(CODE, AMOUNT_WAIT), 0.1);
	/* What it did last is what it does, if it did anything. */
	assert_int_equal(waits_now(&the.waits, 1), 0);
	step();
	assert_int_equal(waits_now(&the.waits, 1), LEDGER_NONE);
}

static void who_has_locked_a_mutex(void **state)
{
	(void)state;
	tell(0, wait_of(SYS_futex, (uint64_t)&shelf_lock, 0.1));
	step();
	pthread_mutex_lock(&shelf_lock);
	assert_int_equal(waits_owner(&the.waits, 0), 0);
	waits_learn(&the.waits, 0, OBJECT_MUTEX);
	assert_int_equal(waits_owner(&the.waits, 0), gettid());
	pthread_mutex_unlock(&shelf_lock);
	assert_int_equal(waits_owner(&the.waits, 0), 0);
}

/* ---- values ---- */

static void only_what_is_new_is_added(void **state)
{
	int fd = open("/dev/null", O_RDONLY);
	(void)state;
	struct wait_value v = wait_of(SYS_write, (uint64_t)fd, 0.1);
	v.small_ns = 40000000;
	v.bytes = 100;
	v.small_count = 1;
	tell(0, v);
	step();
	assert_near(amount(CODE, AMOUNT_WAIT), 0.1);
	assert_near(amount(CODE, AMOUNT_SMALL), 0.04);
	step();
	assert_near(amount(CODE, AMOUNT_WAIT), 0.1);
	/* In pieces. */
	v.wall_ns = 30000000;
	tell(0, v);
	step();
	assert_near(amount(CODE, AMOUNT_WAIT), 0.13);
	assert_int_equal(object(0)->count, 2);
	assert_int_equal(object(0)->bytes, 200);
	close(fd);
}

static void parts_of_the_code_wait(void **state)
{
	struct wait_value v = wait_of(SYS_futex, (uint64_t)&shelf_lock, 0.2);
	(void)state;
	tell(0, v);
	v.wall_ns = 100000000;
	v.subject = SUBJECT;
	tell(0, v);
	v.subject = STRANGER;
	tell(0, v);
	step();
	assert_near(amount(CODE, AMOUNT_WAIT), 0.2);
	assert_near(amount(PART, AMOUNT_WAIT), 0.1);
	/* Of the whole thread, once. */
}

static void waiting_for_an_end_is_not_added(void **state)
{
	(void)state;
	tell(0, wait_of(SYS_wait4, 17, 0.1));
	tell(0, wait_of(SYS_futex, (uint64_t)&shelf_lock, 0.1));
	step();
	waits_learn(&the.waits, 1, OBJECT_JOIN);
	double before = amount(CODE, AMOUNT_WAIT);
	the.told[0].data[0].wall_ns += 50000000;
	the.told[0].data[1].wall_ns += 50000000;
	step();
	assert_near(amount(CODE, AMOUNT_WAIT), before);
}

static void what_it_waits_for_now(void **state)
{
	struct wait_value v = wait_of(SYS_futex, (uint64_t)&shelf_lock, 0.05);
	(void)state;
	v.since_ns = 50000000;
	tell(0, v);
	step();
	assert_int_equal(waits_now(&the.waits, 1), 0);
	the.told[0].data[0].since_ns = 0;
	step();
	assert_int_equal(waits_now(&the.waits, 1), LEDGER_NONE);
	assert_int_equal(waits_now(&the.waits, 99), LEDGER_NONE);
}

/* ---- too many of them ---- */

static void what_there_is_too_much_of_is_ignored(void **state)
{
	int fds[] = {open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY)};
	(void)state;
	step();
	for (int i = 0; i < 2; i++) {
		struct wait_value v = wait_of(SYS_write, (uint64_t)fds[i], i ? 0.01 : 0.03);
		v.count = 10000;
		v.small_ns = i ? 0 : v.wall_ns / 2;
		tell(0, v);
	}
	step();
	/* 20000 of 1 us are a fifth of a step. */
	assert_false(waits_limit(&the.waits, 1e-6, 0.5));
	assert_true(waits_limit(&the.waits, 1e-6, 0.1));
	assert_int_equal(the.ignored.len, 1);
	assert_true(the.ignored.data[0] == (uint64_t)writer);
	assert_false(waits_limit(&the.waits, 1e-6, 0.1));
	assert_true(object(0)->rate > 0);

	/* Samples in that function are for one or the other, three to one. */
	struct place p = space_find(the.targets[0]->space, (uint64_t)writer + 1);
	struct ignored_sample x = {0, 0, p.code, p.va, NULL};
	uint32_t counts[2] = {0}, which;
	double small;
	for (int i = 0; i < 40; i++) {
		assert_true(waits_ignored(&the.waits, &x, &which, &small));
		assert_near(small, which ? 0 : 0.5);
		counts[which]++;
	}
	assert_int_equal(counts[0], 30);
	assert_int_equal(counts[1], 10);
	/* A call that names its object counts for that one, also if it is a new one. */
	for (int i = 0; i < 4; i++) {
		struct call_made write_call = {SYS_write, {(uint64_t)fds[1], 0}};
		struct call_made lock_call = {SYS_futex, {(uint64_t)&shelf_lock, 0}};
		x.call = i % 2 ? &lock_call : &write_call;
		assert_true(waits_ignored(&the.waits, &x, &which, &small));
		assert_int_equal(which, i % 2 ? 2 : 1);
		assert_near(small, 0);
	}
	assert_int_equal(object(2)->kind, OBJECT_FUTEX);
	struct place other = space_find(the.targets[0]->space, (uint64_t)start);
	x = (struct ignored_sample){.code = other.code, .va = other.va};
	assert_false(waits_ignored(&the.waits, &x, &which, &small));
	close(fds[0]);
	close(fds[1]);
}

/* If one function makes the calls of all threads, as in glibc since 2.41. */
static void threads_have_what_they_had_before(void **state)
{
	(void)state;
	step();
	struct wait_value v = wait_of(SYS_write, 1, 0.05);
	v.count = 10000;
	tell(0, v);
	v = wait_of(SYS_futex, (uint64_t)&shelf_lock, 0.2);
	v.tid = getpid() + 1;
	tell(0, v);
	step();
	assert_true(waits_limit(&the.waits, 1e-6, 0.05));
	struct place p = space_find(the.targets[0]->space, (uint64_t)writer + 1);
	uint32_t own = machine_thread_of(&the.machine, 0, getpid());
	uint32_t other = machine_thread_of(&the.machine, 0, getpid() + 1);
	assert_int_not_equal(own, other);
	for (int i = 0; i < 10; i++) {
		uint32_t which;
		double small;
		const struct ignored_sample x = {0, i % 2 ? other : own, p.code, p.va, NULL};
		assert_true(waits_ignored(&the.waits, &x, &which, &small));
		assert_int_equal(object(which)->kind, i % 2 ? OBJECT_FUTEX : object(0)->kind);
		assert_int_equal(which, i % 2);
	}
}

static void what_spins_is_not_ignored(void **state)
{
	(void)state;
	step();
	struct wait_value v = wait_of(UINT32_MAX, (uint64_t)&shelf_lock, 0.03);
	v.count = 1000000;
	tell(0, v);
	step();
	assert_false(waits_limit(&the.waits, 1e-6, 0.1));
	assert_false(waits_limit(&the.waits, 1e-6, 0));
}

#define WAITS_TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

int main(void)
{
	volatile int x = 0;
	writer(&x);
	const struct CMUnitTest tests[] = {
		WAITS_TEST(functions_tell_kinds),
		WAITS_TEST(time_is_noted_while_waits_are_counted),
		WAITS_TEST(work_for_allocators_has_names),
		WAITS_TEST(descriptors_lead_to_files),
		WAITS_TEST(a_descriptor_is_used_again),
		WAITS_TEST(variables_have_names),
		WAITS_TEST(a_futex_waits_for_its_kind),
		WAITS_TEST(code_tells_where_the_words_of_a_condition_are),
		WAITS_TEST(both_words_of_a_condition_are_one_object),
		WAITS_TEST(shared_memory_is_the_same_for_all),
		WAITS_TEST(sleeping_is_one_object),
		WAITS_TEST(requests_are_one_object),
		WAITS_TEST(what_spins_is_known_by_what_it_gets),
		WAITS_TEST(who_has_locked_a_mutex),
		WAITS_TEST(only_what_is_new_is_added),
		WAITS_TEST(parts_of_the_code_wait),
		WAITS_TEST(waiting_for_an_end_is_not_added),
		WAITS_TEST(what_it_waits_for_now),
		WAITS_TEST(what_there_is_too_much_of_is_ignored),
		WAITS_TEST(threads_have_what_they_had_before),
		WAITS_TEST(what_spins_is_not_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
