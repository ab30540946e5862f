#include "probe/region/calls.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/vec.h"
#include "flow/entry.h"
#include "isa/calls.h"
#include "patch/pinned.h"
#include "probe/region/values.h"

/* Kinds of calls, as the runtime knows them: sets of enum rt_call. */
enum {
	WAITS = RT_WAIT_SYNC,
	WAITS_ON = WAITS | RT_CALL_ADDRESS,
	WAITS_FOR = WAITS | RT_CALL_NUMBER, /* for a process, or a set of semaphores */
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
#ifdef SYS_open /* system calls that newer architectures lack */
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

void calls_describe(uint16_t calls[RT_CALLS])
{
	for (uint32_t i = 0; i < ARRAY_SIZE(known_calls); i++)
		if (known_calls[i].number < RT_CALLS)
			calls[known_calls[i].number] = known_calls[i].call;
}

uint32_t calls_class(const struct call_made *c, uint64_t *object)
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

bool call_object(const struct call_made *c, uint64_t *object)
{
	return calls_class(c, object) != 0;
}

/* The number that the code before va sets last, in the order of addresses; -1: none. */
static int64_t number_before(const struct code *code, uint64_t va)
{
	unsigned reg = calls_number_register(code->arch);
	uint32_t count, i = flow_function_at(code->flow, va - 1);
	int64_t number = -1;
	struct insn in;
	if (i == UINT32_MAX)
		return -1;
	for (uint64_t at = flow_functions(code->flow, &count)[i].start; at < va; at += in.length) {
		if (!decode_at(code->module, code->arch, at, DECODE_FULL, &in))
			return -1;
		if (regset_has(&in.writes, reg) && in.kind == INSN_PLAIN)
			number = in.op == OP_SET && in.dst == reg ? in.imm : -1;
	}
	return number;
}

/* On x86-64, the register with the number of the call has an error code during the call. */
bool call_in_kernel(const struct code *code, uint64_t va, const struct registers *r,
		    struct call_made *out)
{
	const struct arch_calls *k = code && code->flow ? arch_calls(code->arch) : NULL;
	size_t n = 0;
	const uint8_t *p = k ? module_at(code->module, va - k->insn_size, k->insn_size, &n) : NULL;
	if (!p || n < k->insn_size || memcmp(p, k->insn, k->insn_size) != 0)
		return false;
	int64_t number = (int64_t)calls_register(code->arch, r, k->number);
	*out = (struct call_made){
		.number =
			(int)(number < 0 || number >= RT_CALLS ? number_before(code, va) : number)};
	for (size_t i = 0; i < ARRAY_SIZE(out->arguments); i++)
		out->arguments[i] = calls_register(code->arch, r, k->argument[i]);
	return out->number >= 0;
}

uint64_t pinned_around(const struct code *code, uint64_t va)
{
	uint32_t count, i = code && code->flow ? flow_function_at(code->flow, va) : UINT32_MAX;
	uint64_t start = i == UINT32_MAX ? 0 : flow_functions(code->flow, &count)[i].start;
	return start && is_pinned(code->module, code->arch, start) ? start : 0;
}

const struct frame *calling_frame(const struct walk *w)
{
	const struct frame *f = w->frames.data;
	return w->frames.len > 1 && f->exact && pinned_around(f->code, f->va) ? f + 1 : f;
}
