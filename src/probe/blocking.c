/* Where a program may wait: its system calls, found in the code of all its images, and a few
 * procedures that wait by spinning. Code that must not be touched makes its system call for its
 * callers (patch/pinned.h): these are looked at instead. */
#include <string.h>
#include <sys/syscall.h>

#include "flow/far_jumps.h"
#include "isa/calls.h"
#include "patch/pinned.h"
#include "probe/images.h"

/* What calls are, as the runtime is told: sets of enum rt_call. */
enum {
	WAITS = RT_WAIT_SYNC,
	WAITS_ON = WAITS | RT_CALL_ADDRESS,
	WAITS_FOR = WAITS | RT_CALL_NUMBER, /* a process, or a set of semaphores */
	BLOCKS = RT_WAIT_IO,
	BLOCKS_ON = BLOCKS | RT_CALL_NUMBER,
	FLUSHES = BLOCKS_ON | RT_CALL_FLUSHES,
	OPENS = BLOCKS | RT_CALL_OPENS,
	READS = RT_WAIT_BYTES | RT_CALL_NUMBER,
	WRITES = READS | RT_CALL_WRITES,
};

static const struct {
	uint16_t number, call;
} known_calls[] = {
	{SYS_futex, WAITS_ON | RT_CALL_FUTEX},
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, WAITS},
#endif
#ifdef SYS_futex_wait
	{SYS_futex_wait, WAITS_ON},
#endif
	{SYS_semtimedop, WAITS_FOR},
	{SYS_semop, WAITS_FOR},
	{SYS_waitid, WAITS_FOR | RT_CALL_SECOND},
	{SYS_wait4, WAITS_FOR},
	{SYS_nanosleep, WAITS},
	{SYS_clock_nanosleep, WAITS},
	{SYS_rt_sigtimedwait, WAITS},
	{SYS_rt_sigsuspend, WAITS},
	{SYS_read, READS},
	{SYS_write, WRITES},
	{SYS_readv, READS},
	{SYS_writev, WRITES},
	{SYS_pread64, READS},
	{SYS_pwrite64, WRITES},
	{SYS_preadv, READS},
	{SYS_pwritev, WRITES},
	{SYS_preadv2, READS},
	{SYS_pwritev2, WRITES},
	{SYS_sendto, READS},
	{SYS_recvfrom, READS},
	{SYS_sendmsg, READS},
	{SYS_recvmsg, READS},
	{SYS_sendfile, WRITES},
	{SYS_splice, READS},
	{SYS_copy_file_range, READS},
	{SYS_sendmmsg, BLOCKS_ON},
	{SYS_recvmmsg, BLOCKS_ON},
	{SYS_ppoll, BLOCKS},
	{SYS_pselect6, BLOCKS},
	{SYS_epoll_pwait, BLOCKS_ON},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, BLOCKS_ON},
#endif
	{SYS_accept, BLOCKS_ON},
	{SYS_accept4, BLOCKS_ON},
	{SYS_connect, BLOCKS_ON},
	{SYS_openat, OPENS},
#ifdef SYS_openat2
	{SYS_openat2, OPENS},
#endif
	{SYS_fsync, FLUSHES},
	{SYS_fdatasync, FLUSHES},
	{SYS_sync_file_range, BLOCKS_ON},
	{SYS_msync, BLOCKS},
	{SYS_sync, BLOCKS},
	{SYS_syncfs, BLOCKS_ON},
	{SYS_flock, BLOCKS_ON},
	{SYS_getdents64, BLOCKS_ON},
	{SYS_io_getevents, BLOCKS},
	{SYS_io_uring_enter, BLOCKS_ON},
	{SYS_ftruncate, BLOCKS_ON},
	{SYS_unlinkat, BLOCKS},
	{SYS_renameat2, BLOCKS},
#ifdef SYS_renameat
	{SYS_renameat, BLOCKS},
#endif
#ifdef SYS_open /* system calls that newer architectures do without */
	{SYS_open, OPENS},
	{SYS_creat, OPENS},
	{SYS_poll, BLOCKS},
	{SYS_select, BLOCKS},
	{SYS_epoll_wait, BLOCKS_ON},
	{SYS_unlink, BLOCKS},
	{SYS_rename, BLOCKS},
	{SYS_pause, WAITS},
#endif
};

void blocking_calls(uint16_t calls[RT_CALLS])
{
	for (uint32_t i = 0; i < ARRAY_SIZE(known_calls); i++)
		if (known_calls[i].number < RT_CALLS)
			calls[known_calls[i].number] = known_calls[i].call;
}

uint32_t blocking_call(const struct call_made *c, uint64_t *object)
{
	uint32_t call = 0;
	for (uint32_t i = 0; !call && i < ARRAY_SIZE(known_calls); i++)
		call = known_calls[i].number == c->number ? known_calls[i].call : 0;
	uint64_t argument = c->arguments[call & RT_CALL_SECOND ? 1 : 0];
	*object = RT_NO_OBJECT;
	if (call & RT_CALL_NUMBER)
		*object = (uint64_t)(int32_t)argument;
	else if (call & RT_CALL_ADDRESS)
		*object = argument;
	return call;
}

bool engine_call_object(const struct call_made *c, uint64_t *object)
{
	return blocking_call(c, object) != 0;
}

uint64_t pinned_around(const struct code *code, uint64_t va)
{
	uint32_t count, i = code && code->flow ? flow_procedure_at(code->flow, va) : UINT32_MAX;
	uint64_t start = i == UINT32_MAX ? 0 : flow_procedures(code->flow, &count)[i].start;
	return start && is_pinned(code->image, code->arch, start) ? start : 0;
}

const struct frame *engine_calling_frame(const struct walk *w)
{
	const struct frame *f = w->frames.data;
	return w->frames.len > 1 && f->exact && pinned_around(f->code, f->va) ? f + 1 : f;
}

/* Procedures that wait without the kernel's help, or poll for what they wait for. */
static const struct spinning {
	const char *name;
	bool argument; /* the first one says for what */
} spinning[] = {
	{"pthread_spin_lock", true},
	{"GOMP_barrier", false},
	{"GOMP_critical_start", false},
	{"GOMP_critical_name_start", true},
	{"GOMP_taskwait", false},
	{"GOMP_taskgroup_end", false},
	{"omp_set_lock", true},
	{"omp_set_nest_lock", true},
	{"__kmpc_barrier", true},
	{"__kmpc_critical", true},
	{"__kmpc_omp_taskwait", true},
	{"MPI_Wait", true},
	{"MPI_Waitall", true},
	{"MPI_Waitany", true},
	{"MPI_Waitsome", true},
	{"MPI_Recv", true},
	{"MPI_Send", true},
	{"MPI_Ssend", true},
	{"MPI_Bsend", true},
	{"MPI_Rsend", true},
	{"MPI_Sendrecv", true},
	{"MPI_Sendrecv_replace", true},
	{"MPI_Probe", true},
	{"MPI_Barrier", true},
	{"MPI_Bcast", true},
	{"MPI_Reduce", true},
	{"MPI_Allreduce", true},
	{"MPI_Gather", true},
	{"MPI_Gatherv", true},
	{"MPI_Scatter", true},
	{"MPI_Scatterv", true},
	{"MPI_Allgather", true},
	{"MPI_Allgatherv", true},
	{"MPI_Alltoall", true},
	{"MPI_Alltoallv", true},
	{"MPI_Reduce_scatter", true},
	{"MPI_Scan", true},
	{"MPI_Win_fence", true},
	{"MPI_Win_wait", true},
	{"MPI_Win_lock", true},
	{"MPI_Win_unlock", true},
};

static const struct spinning *find_spinning(const char *name)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(spinning); i++)
		if (!strcmp(name, spinning[i].name))
			return &spinning[i];
	return NULL;
}

static void add_spinning(struct target *t, struct code *code, uint64_t bias)
{
	struct err ignored;
	uint64_t last = UINT64_MAX;
	for (uint32_t i = 0; i < code->image->symbol_count; i++) {
		const struct symbol *s = &code->image->symbols[i];
		if (s->va == last || !image_is_code(code->image, s->va))
			continue;
		const struct spinning *known = find_spinning(s->name);
		if (!known)
			continue;
		last = s->va;
		uint32_t number = target_add_subject(
			t, &(struct subject_request){.code = code, .va = s->va, .bias = bias},
			PURPOSE_SPIN, &ignored);
		if (number != SUBJECT_NONE)
			t->subjects.data[number].argument = known->argument;
	}
}

/* Procedures that make what threads wait for, their first argument; without the underscores of a
 * library's own names for them. */
static const char *const makers[] = {
	"pthread_mutex_init",  "pthread_cond_init", "pthread_barrier_init",
	"pthread_rwlock_init", "pthread_spin_init", "sem_init",
	"new_sem_init",        "omp_init_lock",     "omp_init_nest_lock",
};

static bool is_maker(const char *name)
{
	name += strspn(name, "_");
	for (uint32_t i = 0; i < ARRAY_SIZE(makers); i++)
		if (!strcmp(name, makers[i]))
			return true;
	return false;
}

static void add_makers(struct target *t, struct code *code, uint64_t bias)
{
	struct err ignored;
	uint64_t last = UINT64_MAX;
	for (uint32_t i = 0; i < code->image->symbol_count; i++) {
		const struct symbol *s = &code->image->symbols[i];
		if (s->va == last || !is_maker(s->name) || !image_is_code(code->image, s->va))
			continue;
		last = s->va;
		target_add_subject(
			t, &(struct subject_request){.code = code, .va = last, .bias = bias},
			PURPOSE_MADE, &ignored);
	}
}

/* The number that the call at `va` is made with, if the code right before it sets one. */
static bool call_number(const struct target *t, const struct code *code, const struct block *b,
			uint64_t va, int64_t *number)
{
	const struct arch *arch = t->engine->arch;
	unsigned reg = calls_number_register(arch);
	struct insn in;
	bool known = false;
	for (uint64_t at = b->start; at < va; at += in.length) {
		size_t n;
		const uint8_t *p = image_at(code->image, at, &n);
		if (!p || !arch->decode(p, n, at, DECODE_FULL, &in))
			return false;
		if (!regset_has(&in.writes, reg))
			continue;
		known = in.op == OP_SET && in.dst == reg;
		*number = in.imm;
	}
	return known;
}

/* Whether it might wait, or only whether it might confine the program (seccomp). */
static bool is_wanted(struct target *t, struct code *code, const struct cfg *g, uint64_t va,
		      bool waits)
{
	int64_t number;
	uint32_t block = cfg_block_at(g, va);
	if (block == BLOCK_NONE)
		return false;
	if (!call_number(t, code, &g->blocks[block], va, &number) || number == SYS_prctl ||
	    number == SYS_seccomp)
		return true;
	return waits && number >= 0 && number < RT_CALLS && target_header(t)->calls[number];
}

/* The procedure that holds va. Recipes discover an image whose tables do not tell. */
static uint32_t procedure_of(struct code *code, uint64_t va)
{
	uint32_t count, procedure = flow_procedure_at(code->flow, va);
	if (procedure != UINT32_MAX && flow_procedures(code->flow, &count)[procedure].bounded)
		return procedure;
	recipes_at(code->recipes, va);
	return flow_procedure_at(code->flow, va);
}

static bool is_added(const struct target *t, const struct code *code, uint64_t bias, uint64_t start)
{
	vec_each (s, &t->subjects)
		if (s->purpose == PURPOSE_BLOCK && s->wanted && s->request.code == code &&
		    s->request.va == start && s->request.bias == bias)
			return true;
	return false;
}

static void add_procedure(struct target *t, struct code *code, uint64_t bias, uint64_t start)
{
	struct err ignored;
	struct subject_request r = {.code = code, .va = start, .bias = bias};
	if (!is_added(t, code, bias, start))
		target_add_subject(t, &r, PURPOSE_BLOCK, &ignored);
}

struct callers {
	struct target *target;
	struct code *code;
	uint64_t bias, callee;
};

static void add_caller(void *ctx, const struct far_jump *j)
{
	const struct callers *c = ctx;
	struct engine *g = c->target->engine;
	uint32_t count, procedure;
	if (!j->call || j->target != c->callee)
		return;
	procedure = procedure_of(c->code, j->from);
	if (procedure == UINT32_MAX)
		return;
	const struct cfg *cfg = flow_cfg(c->code->flow, procedure, &g->arena, &g->tmp);
	uint32_t block = cfg_block_at(cfg, j->from);
	if (block != BLOCK_NONE && cfg->blocks[block].target == c->callee)
		add_procedure(c->target, c->code, c->bias,
			      flow_procedures(c->code->flow, &count)[procedure].start);
	arena_clear(&g->arena);
	arena_clear(&g->tmp);
}

static void add_call(struct target *t, struct code *code, uint64_t bias, uint64_t va, bool waits,
		     uint64_t *last)
{
	struct engine *g = t->engine;
	uint32_t procedure = procedure_of(code, va), count;
	if (procedure == UINT32_MAX)
		return;
	uint64_t start = flow_procedures(code->flow, &count)[procedure].start;
	if (start == *last)
		return;
	if (is_pinned(code->image, code->arch, start)) {
		struct callers c = {t, code, bias, start};
		far_jumps(code->image, code->arch, add_caller, &c);
		*last = start;
		return;
	}
	const struct cfg *cfg = flow_cfg(code->flow, procedure, &g->arena, &g->tmp);
	if (is_wanted(t, code, cfg, va, waits)) {
		add_procedure(t, code, bias, start);
		*last = start;
	}
	arena_clear(&g->arena);
	arena_clear(&g->tmp);
}

static void add_calls(struct target *t, struct code *code, uint64_t bias, bool waits)
{
	const struct arch *arch = t->engine->arch;
	const struct arch_calls *k = arch_calls(arch);
	uint64_t last = UINT64_MAX;
	for (uint32_t i = 0; i < code->image->section_count; i++) {
		const struct section *s = &code->image->sections[i];
		size_t n = 0;
		const uint8_t *p =
			image_is_code(code->image, s->va) ? image_at(code->image, s->va, &n) : NULL;
		if (!p || n > s->size)
			n = p ? s->size : 0;
		for (uint64_t at = 0; at + k->insn_size <= n; at += arch->insn_align)
			if (!memcmp(p + at, k->insn, k->insn_size))
				add_call(t, code, bias, s->va + at, waits, &last);
	}
}

static uint64_t first_code(const struct code *code)
{
	for (uint32_t i = 0; i < code->image->section_count; i++)
		if (image_is_code(code->image, code->image->sections[i].va))
			return code->image->sections[i].va;
	return 0;
}

static struct searched *searched_of(struct target *t, const struct code *code, uint64_t start)
{
	vec_each (s, &t->searched)
		if (s->start == start && s->code == code)
			return s;
	return NULL;
}

static void look_at(void *waits, struct target *t, struct code *code, uint64_t bias)
{
	struct searched *s = searched_of(t, code, first_code(code) + bias);
	if (!s) {
		vec_push(&t->searched,
			 (struct searched){.start = first_code(code) + bias, .code = code});
		s = &vec_last(&t->searched);
		if (!waits)
			add_calls(t, code, bias, false);
	}
	if (waits && !s->waits) {
		s->waits = true;
		add_spinning(t, code, bias);
		add_calls(t, code, bias, true);
	}
	if (t->watch_waits && !s->makers) {
		s->makers = true;
		add_makers(t, code, bias);
	}
}

void blocking_add(struct target *t)
{
	struct err ignored;
	engine_images(t, look_at, t, &ignored);
}

void blocking_guard(struct target *t)
{
	struct err ignored;
	engine_images(t, look_at, NULL, &ignored);
}
