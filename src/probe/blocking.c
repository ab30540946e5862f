/* Where a program may wait: its system calls, found in the code of all its images, and a few
 * procedures that wait by spinning. */
#include <string.h>
#include <sys/syscall.h>

#include "isa/calls.h"
#include "probe/images.h"

enum call_class { CALL_NOTHING, CALL_SYNC, CALL_IO, CALL_MOVES };

static const struct {
	uint16_t number;
	uint8_t class;
} classes_of_calls[] = {
	{SYS_futex, CALL_SYNC},
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, CALL_SYNC},
#endif
	{SYS_semtimedop, CALL_SYNC},
	{SYS_semop, CALL_SYNC},
	{SYS_waitid, CALL_SYNC},
	{SYS_wait4, CALL_SYNC},
	{SYS_read, CALL_MOVES},
	{SYS_write, CALL_MOVES},
	{SYS_readv, CALL_MOVES},
	{SYS_writev, CALL_MOVES},
	{SYS_pread64, CALL_MOVES},
	{SYS_pwrite64, CALL_MOVES},
	{SYS_preadv, CALL_MOVES},
	{SYS_pwritev, CALL_MOVES},
	{SYS_preadv2, CALL_MOVES},
	{SYS_pwritev2, CALL_MOVES},
	{SYS_sendto, CALL_MOVES},
	{SYS_recvfrom, CALL_MOVES},
	{SYS_sendmsg, CALL_MOVES},
	{SYS_recvmsg, CALL_MOVES},
	{SYS_sendfile, CALL_MOVES},
	{SYS_splice, CALL_MOVES},
	{SYS_copy_file_range, CALL_MOVES},
	{SYS_sendmmsg, CALL_IO},
	{SYS_recvmmsg, CALL_IO},
	{SYS_ppoll, CALL_IO},
	{SYS_pselect6, CALL_IO},
	{SYS_epoll_pwait, CALL_IO},
	{SYS_accept, CALL_IO},
	{SYS_accept4, CALL_IO},
	{SYS_connect, CALL_IO},
	{SYS_openat, CALL_IO},
	{SYS_fsync, CALL_IO},
	{SYS_fdatasync, CALL_IO},
	{SYS_sync_file_range, CALL_IO},
	{SYS_msync, CALL_IO},
	{SYS_sync, CALL_IO},
	{SYS_syncfs, CALL_IO},
	{SYS_flock, CALL_IO},
	{SYS_getdents64, CALL_IO},
	{SYS_io_getevents, CALL_IO},
	{SYS_io_uring_enter, CALL_IO},
	{SYS_ftruncate, CALL_IO},
	{SYS_unlinkat, CALL_IO},
	{SYS_renameat2, CALL_IO},
#ifdef SYS_open /* system calls that newer architectures do without */
	{SYS_open, CALL_IO},
	{SYS_poll, CALL_IO},
	{SYS_select, CALL_IO},
	{SYS_epoll_wait, CALL_IO},
	{SYS_unlink, CALL_IO},
	{SYS_rename, CALL_IO},
#endif
};

void blocking_classes(uint8_t classes[512])
{
	memset(classes, CALL_NOTHING, 512);
	for (uint32_t i = 0; i < ARRAY_SIZE(classes_of_calls); i++)
		if (classes_of_calls[i].number < 512)
			classes[classes_of_calls[i].number] = classes_of_calls[i].class;
}

/* Procedures that wait without the kernel's help, or poll for what they wait for. */
static const char *const spinning[] = {
	"pthread_spin_lock",
	"GOMP_barrier",
	"GOMP_critical_start",
	"GOMP_taskwait",
	"GOMP_taskgroup_end",
	"omp_set_lock",
	"omp_set_nest_lock",
	"__kmpc_barrier",
	"__kmpc_critical",
	"__kmpc_omp_taskwait",
	"MPI_Wait",
	"MPI_Waitall",
	"MPI_Waitany",
	"MPI_Waitsome",
	"MPI_Recv",
	"MPI_Send",
	"MPI_Ssend",
	"MPI_Bsend",
	"MPI_Rsend",
	"MPI_Sendrecv",
	"MPI_Sendrecv_replace",
	"MPI_Probe",
	"MPI_Barrier",
	"MPI_Bcast",
	"MPI_Reduce",
	"MPI_Allreduce",
	"MPI_Gather",
	"MPI_Gatherv",
	"MPI_Scatter",
	"MPI_Scatterv",
	"MPI_Allgather",
	"MPI_Allgatherv",
	"MPI_Alltoall",
	"MPI_Alltoallv",
	"MPI_Reduce_scatter",
	"MPI_Scan",
	"MPI_Win_fence",
	"MPI_Win_wait",
	"MPI_Win_lock",
	"MPI_Win_unlock",
};

static bool spins(const char *name)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(spinning); i++)
		if (!strcmp(name, spinning[i]))
			return true;
	return false;
}

static void add_spinning(struct target *t, struct code *code, uint64_t bias)
{
	struct err ignored;
	uint64_t last = UINT64_MAX;
	for (uint32_t i = 0; i < code->image->symbol_count; i++) {
		const struct symbol *s = &code->image->symbols[i];
		if (s->va == last || !image_is_code(code->image, s->va) || !spins(s->name))
			continue;
		last = s->va;
		target_add_subject(
			t, &(struct subject_request){.code = code, .va = s->va, .bias = bias},
			PURPOSE_SPIN, &ignored);
	}
}

/* The register that holds a call's number. */
static unsigned number_register(const struct arch *arch)
{
	unsigned reg = 0;
	while (reg < REGISTERS && arch->layout->ptrace_reg[reg] != arch_calls(arch)->number)
		reg++;
	return reg;
}

/* The number that the call at `va` is made with, if the code right before it sets one. */
static bool call_number(const struct target *t, const struct code *code, const struct block *b,
			uint64_t va, int64_t *number)
{
	const struct arch *arch = t->engine->arch;
	unsigned reg = number_register(arch);
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

static bool may_wait(struct target *t, struct code *code, const struct cfg *g, uint64_t va)
{
	int64_t number;
	uint32_t block = cfg_block_at(g, va);
	if (block == BLOCK_NONE)
		return false;
	if (!call_number(t, code, &g->blocks[block], va, &number))
		return true;
	return number >= 0 && number < 512 && target_header(t)->calls[number];
}

static void add_call(struct target *t, struct code *code, uint64_t bias, uint64_t va,
		     uint32_t *last)
{
	struct engine *g = t->engine;
	struct err ignored;
	uint32_t procedure = flow_procedure_at(code->flow, va), count;
	if (procedure == UINT32_MAX || procedure == *last)
		return;
	const struct cfg *cfg = flow_cfg(code->flow, procedure, &g->arena, &g->tmp);
	if (may_wait(t, code, cfg, va)) {
		uint64_t start = flow_procedures(code->flow, &count)[procedure].start;
		struct subject_request r = {.code = code, .va = start, .bias = bias};
		target_add_subject(t, &r, PURPOSE_BLOCK, &ignored);
		*last = procedure;
	}
	arena_clear(&g->arena);
	arena_clear(&g->tmp);
}

static void add_calls(struct target *t, struct code *code, uint64_t bias)
{
	const struct arch *arch = t->engine->arch;
	const struct arch_calls *k = arch_calls(arch);
	uint32_t last = UINT32_MAX;
	for (uint32_t i = 0; i < code->image->section_count; i++) {
		const struct section *s = &code->image->sections[i];
		size_t n = 0;
		const uint8_t *p =
			image_is_code(code->image, s->va) ? image_at(code->image, s->va, &n) : NULL;
		if (!p || n > s->size)
			n = p ? s->size : 0;
		for (uint64_t at = 0; at + k->insn_size <= n; at += arch->insn_align)
			if (!memcmp(p + at, k->insn, k->insn_size))
				add_call(t, code, bias, s->va + at, &last);
	}
}

static uint64_t first_code(const struct code *code)
{
	for (uint32_t i = 0; i < code->image->section_count; i++)
		if (image_is_code(code->image, code->image->sections[i].va))
			return code->image->sections[i].va;
	return 0;
}

static void look_at(void *ctx, struct target *t, struct code *code, uint64_t bias)
{
	(void)ctx;
	uint64_t start = first_code(code) + bias;
	vec_each (s, &t->searched)
		if (s->start == start && s->code == code)
			return;
	vec_push(&t->searched, (struct searched){start, code});
	add_spinning(t, code, bias);
	add_calls(t, code, bias);
}

void blocking_add(struct target *t)
{
	struct err ignored;
	engine_images(t, look_at, NULL, &ignored);
}
