/* Probed code against the truth of single steps.
 *
 * A child runs a scenario under ptrace, one instruction at a time. From the list of its addresses
 * follows how often control passed each spot of every function that it was in, libc's included.
 * Then another child puts probes on all these spots and runs the same scenario: results and counts
 * have to be the same; and after the patches are taken out again, the bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "patch/fragment.h"
#include "patch/pool.h"

enum { STEPS_MAX = 1500000, REGION = 24 << 20, COUNTERS = 1 << 16, TABLE_BITS = 4 };

/* ---- what is executed ---- */

static volatile int sink;

__attribute__((noinline)) static int leaf(int x)
{
	sink = x;
	return x * 3 + 1;
}

__attribute__((noinline)) static int nest(int n, int m)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		for (int k = i; k < m; k++) {
			if ((i ^ k) == 5)
				break;
			sum += leaf(k) ^ i;
			if (sum > 100000)
				return sum;
		}
	return sum;
}

__attribute__((noinline)) static int choose(int x)
{
	switch (x) {
	case 0: return leaf(7);
	case 1: sink++; __attribute__((fallthrough));
	case 2: return leaf(leaf(x));
	case 3: return x * leaf(2) + 1;
	case 4: sink += 3; break;
	case 5: return 88;
	case 6: sink = leaf(9); break;
	case 7: sink -= 2; return 11;
	default: return -1;
	}
	return sink;
}

__attribute__((noinline)) static unsigned collatz(unsigned n, unsigned depth)
{
	/* becomes a loop around the entry where the compiler turns the call into a jump */
	if (n <= 1)
		return depth;
	return collatz(n & 1 ? 3 * n + 1 : n / 2, depth + 1);
}

__attribute__((noinline)) static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int tail(int x)
{
	if (x & 1)
		return choose(x & 7);
	sink = x;
	return leaf(x);
}

static jmp_buf back;

__attribute__((noinline)) static int jumps(int n)
{
	volatile int tries = 0;
	int how = setjmp(back);
	tries++;
	if (how < n)
		longjmp(back, how + 1);
	return tries;
}

/* More than short branches reach: 200 KB and above. */
#define ONCE(n)                                                                                    \
	if (x >> ((n) % 31) & 1)                                                                   \
		sink += n;                                                                         \
	else                                                                                       \
		sink ^= n + 7;
#define TEN(n)                                                                                     \
	ONCE(n)                                                                                    \
	ONCE(n + 1)                                                                                \
	ONCE(n + 2)                                                                                \
	ONCE(n + 3) ONCE(n + 4) ONCE(n + 5) ONCE(n + 6) ONCE(n + 7) ONCE(n + 8) ONCE(n + 9)
#define HUNDRED(n)                                                                                 \
	TEN(n)                                                                                     \
	TEN(n + 10)                                                                                \
	TEN(n + 20)                                                                                \
	TEN(n + 30) TEN(n + 40) TEN(n + 50) TEN(n + 60) TEN(n + 70) TEN(n + 80) TEN(n + 90)
#define THOUSAND(n)                                                                                \
	HUNDRED(n)                                                                                 \
	HUNDRED(n + 100)                                                                           \
	HUNDRED(n + 200)                                                                           \
	HUNDRED(n + 300)                                                                           \
	HUNDRED(n + 400)                                                                           \
	HUNDRED(n + 500) HUNDRED(n + 600) HUNDRED(n + 700) HUNDRED(n + 800) HUNDRED(n + 900)

__attribute__((noinline)) static int large(int x)
{
	for (int i = 0; i < 2; i++) {
		if (x & 4)
			continue;
		THOUSAND(1000)
		THOUSAND(2000)
		THOUSAND(3000)
		THOUSAND(4000)
		THOUSAND(5000)
		THOUSAND(6000)
		THOUSAND(7000)
		THOUSAND(8000)
		if (leaf(x) > 50)
			break;
	}
	return sink;
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* How often loops over vectors go round is a matter of alignment, and the heap's differs. */
static _Alignas(64) char filled[1000];

__attribute__((noinline)) static uint64_t scenario(void)
{
	uint64_t sum = 0;
	int numbers[40];
	char text[200];
	sink = 0;
	sum = sum * 31 + (uint64_t)nest(9, 12);
	for (int i = -1; i < 9; i++)
		sum = sum * 31 + (uint64_t)choose(i);
	sum = sum * 31 + collatz(27, 0);
	sum = sum * 31 + (uint64_t)fibonacci(9);
	for (int i = 0; i < 9; i++)
		sum = sum * 31 + (uint64_t)tail(i);
	sum = sum * 31 + (uint64_t)jumps(3);
	sum = sum * 31 + (uint64_t)large(0x2a5a5a51) + (uint64_t)large(7);
	for (int i = 0; i < 40; i++)
		numbers[i] = (i * 7919) % 101;
	qsort(numbers, 40, sizeof(int), by_value);
	for (int i = 0; i < 40; i++)
		sum = sum * 31 + (uint64_t)numbers[i];
	snprintf(text, sizeof(text), "%d %s %g %x", numbers[3], "some text", 3.25, 77);
	for (const char *c = text; *c; c++)
		sum = sum * 31 + (uint64_t)*c;
	sum = sum * 31 + (uint64_t)(strtod("12.75e2", NULL) * 8);
	memset(filled, sink & 0x7f, sizeof(filled));
	sum += (uint64_t)filled[500];
	char *volatile heap = malloc(1000);
	heap[500] = 3;
	sum += (uint64_t)heap[500];
	free(heap);
	return sum + (uint64_t)getppid() * 0;
}

/* ---- the truth ---- */

static uint64_t *trace; /* run-time addresses, in order */
static uint32_t trace_length;

static struct insn insn_at(uint64_t pc)
{
	struct insn in = {0};
	if (pc)
		arch_native()->decode((const uint8_t *)(uintptr_t)pc, arch_native()->insn_max, pc,
				      DECODE_FLOW, &in);
	return in;
}

static uint64_t pc_of(pid_t pid)
{
	uint8_t regs[1024];
	struct iovec io = {regs, sizeof(regs)};
	struct registers r;
	if (ptrace(PTRACE_GETREGSET, pid, (void *)1 /* NT_PRSTATUS */, &io) ||
	    !registers_from_ptrace(arch_native(), regs, io.iov_len, &r))
		return 0;
	return r.pc;
}

static void record_trace(void)
{
	int status;
	pid_t pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		scenario();
		_exit(0);
	}
	uint64_t last = 0, end = 0;
	uint32_t steps = 0;
	trace = malloc(STEPS_MAX * sizeof(*trace));
	waitpid(pid, &status, 0);
	while (WIFSTOPPED(status) && steps++ < STEPS_MAX) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		waitpid(pid, &status, 0);
		uint64_t pc = WIFSTOPPED(status) ? pc_of(pid) : end;
		if (pc == (uint64_t)(uintptr_t)scenario)
			end = last + insn_at(last).length;
		else if (end && pc == end)
			break;
		/* Behind a system call, Linux may report twice. */
		if (end && (pc != last || insn_at(trace[trace_length - 2]).kind != INSN_SYSCALL))
			trace[trace_length++] = pc;
		last = pc;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* ---- what is probed ---- */

struct subject_module {
	struct module *module;
	struct flow *flow;
	struct intrusions intrusions;
	uint64_t bias, low, high; /* run-time addresses of its code */
};

/* The run-time address that control comes to or leaves from when it passes the spot. */
struct decided {
	uint64_t by;
	uint32_t spot;
};

struct subject {
	struct subject_module *in;
	uint32_t function;
	const struct cfg *g;
	struct loop_forest forest;
	struct liveness live;
	struct spot_list spots;
	struct decided *decided; /* one or two for each spot, in the order of addresses */
	uint32_t decided_count;
	uint64_t *truth;
	struct spot_probe *probes;
	uint32_t first_counter;
	struct fragment f;
	uint64_t address;
};

static struct subject_module modules[2];
static uint32_t module_count;
static VEC(struct subject) subjects;
static struct hashmap by_start; /* run-time address of function -> subject */
static uint32_t counter_count;
static struct arena result, tmp;
static uint64_t (*table)[2];
static uint64_t *area;

static int add_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct err e;
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	(void)size;
	(void)ctx;
	if (module_count == 2 || (info->dlpi_name[0] && !strstr(path, "libc.so")))
		return 0;
	struct subject_module *m = &modules[module_count];
	if (module_open(&m->module, path, &e) || flow_open(&m->flow, m->module, &e))
		return 0;
	flow_discover(m->flow);
	intrusions_find(&m->intrusions, m->flow);
	m->bias = info->dlpi_addr;
	m->low = UINT64_MAX;
	for (uint32_t i = 0; i < m->module->segment_count; i++) {
		const struct segment *s = &m->module->segments[i];
		if (!s->execute)
			continue;
		m->low = s->va + m->bias < m->low ? s->va + m->bias : m->low;
		m->high = s->va + s->memory_size + m->bias;
	}
	module_count++;
	return 0;
}

static struct subject_module *module_with(uint64_t pc)
{
	for (uint32_t i = 0; i < module_count; i++)
		if (pc >= modules[i].low && pc < modules[i].high)
			return &modules[i];
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct decided *x = a, *y = b;
	return (x->by > y->by) - (x->by < y->by);
}

static void add_decided(struct subject *s, uint64_t va, uint32_t spot)
{
	s->decided[s->decided_count++] = (struct decided){va + s->in->bias, spot};
}

/* Other functions may also enter right after the landing instruction, as glibc's setjmp enters
 * __sigsetjmp. */
static void sort_spots(struct subject *s)
{
	uint64_t start = s->g->blocks[s->g->entry].start;
	s->decided = ARENA_ARRAY(&result, struct decided, 2 * s->spots.len);
	for (uint32_t i = 0; i < s->spots.len; i++) {
		const struct spot *spot = &s->spots.data[i];
		add_decided(s, spot->va, i);
		if (spot->place == SPOT_ENTRY && spot->va != start)
			add_decided(s, start, i);
	}
	qsort(s->decided, s->decided_count, sizeof(*s->decided), by_address);
}

static struct subject *subject_at(uint64_t pc, bool add)
{
	struct subject_module *m = module_with(pc);
	uint32_t count, p = m ? flow_function_at(m->flow, pc - m->bias) : UINT32_MAX;
	if (p == UINT32_MAX)
		return NULL;
	uint64_t key = flow_functions(m->flow, &count)[p].start + m->bias;
	uint32_t i = hashmap_get(&by_start, key);
	if (i != HASHMAP_NONE)
		return &subjects.data[i];
	if (!add)
		return NULL;
	struct subject s = {.in = m, .function = p};
	s.g = flow_cfg(m->flow, p, &result, &tmp);
	arena_clear(&tmp);
	loops_find(s.g, &s.forest, &result, &tmp);
	arena_clear(&tmp);
	liveness_find(&s.live, m->flow, s.g, (struct regset){0}, &result, &tmp);
	arena_clear(&tmp);
	spots_find(m->flow, s.g, &s.forest, (1u << POINT_KINDS) - 1, LOOP_NONE, &s.spots);
	sort_spots(&s);
	s.truth = ARENA_ARRAY(&result, uint64_t, s.spots.len);
	s.first_counter = counter_count;
	counter_count += s.spots.len;
	hashmap_put(&by_start, key, subjects.len);
	vec_push(&subjects, s);
	return &vec_last(&subjects);
}

/* Control went from the instruction at `from` to `to`, or came back behind the call at `from`. */
static bool passes(const struct subject *s, const struct spot *spot, uint64_t from, uint64_t to,
		   bool returned)
{
	uint64_t bias = s->in->bias, start = s->g->blocks[s->g->entry].start + bias;
	switch (spot->place) {
	case SPOT_BEFORE: return to == spot->va + bias;
	case SPOT_ENTRY: {
		struct subject_module *m = module_with(from);
		bool same = m == s->in && flow_function_at(m->flow, from - m->bias) == s->function;
		struct insn in = insn_at(from);
		bool call = in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT;
		return (to == start || to == spot->va + bias) && (!same || call);
	}
	case SPOT_TAKEN: {
		struct insn in = insn_at(from);
		return from == spot->va + bias && to == in.target;
	}
	default: {
		const struct edge *e = &s->g->edges[spot->edge];
		return from == spot->va + bias && to == s->g->blocks[e->to].start + bias &&
		       returned == (e->kind == EDGE_CALL_RETURN);
	}
	}
}

static void count_spots(struct subject *s, uint64_t decided_by, uint32_t places, uint64_t from,
			uint64_t to, bool returned)
{
	uint32_t low = 0, high = s ? s->decided_count : 0;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (s->decided[middle].by < decided_by)
			low = middle + 1;
		else
			high = middle;
	}
	for (; s && low < s->decided_count && s->decided[low].by == decided_by; low++) {
		uint32_t i = s->decided[low].spot;
		if (places >> s->spots.data[i].place & 1)
			s->truth[i] += passes(s, &s->spots.data[i], from, to, returned);
	}
}

/* Follows calls, so that a return is known to come from its call. */
static void find_truth(void)
{
	VEC(uint64_t) calls = {0};
	uint64_t before = 0;
	for (uint32_t i = 0; i < trace_length; i++)
		subject_at(trace[i], true);
	for (uint32_t i = 0; i < trace_length; i++) {
		uint64_t pc = trace[i], from = before;
		struct insn in = insn_at(before);
		bool returned = false;
		if (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT)
			vec_push(&calls, before);
		uint32_t depth = calls.len;
		while (in.kind == INSN_RETURN && depth && !returned) {
			struct insn call = insn_at(calls.data[--depth]);
			returned = pc == call.pc + call.length;
		}
		if (returned) {
			from = calls.data[depth];
			calls.len = depth;
		}
		struct subject *to = subject_at(pc, false), *left = subject_at(from, false);
		count_spots(to, pc, 1 << SPOT_BEFORE | 1 << SPOT_ENTRY, from, pc, returned);
		count_spots(to, from, 1 << SPOT_EDGE | 1 << SPOT_TAKEN, from, pc, returned);
		if (left != to)
			count_spots(left, from, 1 << SPOT_TAKEN, from, pc, false);
		before = pc;
		if (pc == (uint64_t)(uintptr_t)scenario)
			calls.len = 0;
	}
	vec_free(&calls);
}

/* ---- probing ---- */

static uint64_t thread_pointer(void)
{
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

static char *read_maps(void)
{
	static char text[1 << 18];
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void make_memory(struct pool *pool, const struct arch *arch)
{
	table = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	area = mmap(NULL, COUNTERS * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t *entry = table[thread_pointer() >> 12 & ((1 << TABLE_BITS) - 1)];
	entry[0] = ~thread_pointer();
	entry[1] = (uint64_t)(uintptr_t)area;
	for (uint32_t i = 0; i < module_count; i++) {
		const struct pool_need need = {.low = modules[i].low,
					       .high = modules[i].high,
					       .reach = arch->emit->jump_reach,
					       .least = REGION,
					       .most = REGION};
		uint64_t at;
		assert_int_equal(pool_find_gap(read_maps(), 0, &need, &at), REGION);
		void *p = mmap((void *)(uintptr_t)at, REGION, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
			       -1, 0);
		assert_ptr_equal(p, (void *)(uintptr_t)at);
		pool_add(pool, at, REGION);
	}
}

struct mode {
	bool relocate, poison, one_by_one, traps;
	bool operations; /* probes are some of them, and registers are held */
	uint32_t kinds;
};

/* x9 and x11, or r9 and r11. */
enum { HELD = 1 << 9 | 1 << 11 };

static uint32_t refusals[REFUSAL_REASONS], mechanisms[4];

/* Counts in the aside. */
static void use_operations(struct emit_probe *p)
{
	const struct emit_op made[] = {{EMIT_AREA, .d = 0},
				       {EMIT_SET, .d = 1, .imm = 1},
				       {EMIT_UNLESS_ZERO, .a = 1},
				       {EMIT_COUNT, .d = 2, .a = 0, .imm = p->counter}};
	struct emit_op *ops = ARENA_ARRAY(&result, struct emit_op, ARRAY_SIZE(made));
	memcpy(ops, made, sizeof(made));
	p->ops = ops;
	p->op_count = ARRAY_SIZE(made);
	p->aside_count = 1;
	p->asides[0].from = p->asides[0].back = ARRAY_SIZE(made) - 1;
}

/* No probe touches what is held; a count is restarted, wherever it is. */
static void check_operations(const struct fragment *f, uint64_t address, uint32_t *restarts)
{
	const struct arch *arch = arch_native();
	struct placed_reader r;
	struct placed_probe p;
	placed_open(&r, &f->probes);
	while (placed_next(&r, &p))
		for (uint32_t at = p.offset; at < p.offset + p.size;) {
			struct insn in;
			size_t n = arch->decode(f->code + at, p.offset + p.size - at, address + at,
						DECODE_FULL, &in);
			assert_true(n > 0 && !(in.writes.core & HELD));
			at += (uint32_t)n;
		}
	for (uint32_t at = 0; at < f->size; at += arch->insn_align) {
		if (fragment_probe_around(f, at, &p))
			*restarts += arch->emit->restart(f->code + p.offset, p.size,
							 at - p.offset) != at - p.offset;
	}
}

/* Whatever is in the middle of an instruction, or of its probes, belongs to it. */
static void check_nearest(const struct fragment *f)
{
	uint64_t va;
	uint64_t first = 0;
	struct moved_reader r;
	struct moved m;
	moved_open(&r, &f->moved);
	while (moved_next(&r, &m)) {
		first = first ? first : m.va;
		for (uint32_t at = m.arrival; at < m.offset + m.size; at++)
			assert_true(fragment_nearest(f, at, &va) && va == m.va);
	}
	if (f->moved.count && f->rare < f->size)
		assert_true(fragment_nearest(f, f->rare, &va) && va == first);
}

static uint32_t restarts;

static void plan(struct pool *pool, struct subject *s, const struct mode *mode)
{
	uint32_t count = 0;
	struct spot_probe *probes = ARENA_ARRAY(&result, struct spot_probe, s->spots.len);
	for (uint32_t i = 0; i < s->spots.len; i++) {
		if (!(mode->kinds >> s->spots.data[i].kind & 1))
			continue;
		probes[count++] =
			(struct spot_probe){.spot = s->spots.data[i],
					    .code = {.counter = 8 * (s->first_counter + i),
						     .table = (uint64_t)(uintptr_t)table,
						     .table_bits = TABLE_BITS,
						     .find = s->in->low}};
		if (mode->operations)
			use_operations(&probes[count - 1].code);
	}
	struct fragment_request r = {.flow = s->in->flow,
				     .function = s->function,
				     .cfg = s->g,
				     .live = &s->live,
				     .probes = probes,
				     .count = count,
				     .bias = s->in->bias,
				     .intrusions = &s->in->intrusions,
				     .poison = mode->poison,
				     .allow_traps = mode->traps,
				     .trap_all = mode->traps,
				     .held.core = mode->operations ? HELD : 0,
				     .relocate = mode->relocate};
	s->probes = probes;
	s->f = (struct fragment){0};
	if (!count)
		return;
	uint32_t bound = fragment_bound(&r);
	assert_true(pool_take(pool, s->in->low, s->in->high, arch_native()->emit->jump_reach, bound,
			      &r.address));
	s->address = r.address;
	fragment_make(&s->f, &r, &tmp);
	arena_clear(&tmp);
	assert_true(s->f.size <= bound);
	check_nearest(&s->f);
	if (mode->operations)
		check_operations(&s->f, r.address, &restarts);
	pool_give(pool, r.address + s->f.size, bound > s->f.size + 15 ? bound - s->f.size - 15 : 1);
	for (uint32_t i = 0; i < count; i++)
		refusals[probes[i].refused]++;
	mechanisms[s->f.mechanism]++;
	if (!s->f.size)
		return; /* all of its probes were refused */
	memcpy((void *)(uintptr_t)r.address, s->f.code, s->f.size);
	__builtin___clear_cache((char *)(uintptr_t)r.address,
				(char *)(uintptr_t)r.address + s->f.size);
}

static void write_patch(const struct subject *s, const struct patch *p, bool in)
{
	volatile uint8_t *at = (uint8_t *)(uintptr_t)(p->va + s->in->bias);
	for (uint8_t i = 0; i < p->size; i++)
		at[i] = in ? p->bytes[i] : p->original[i];
	__builtin___clear_cache((char *)(uintptr_t)at, (char *)(uintptr_t)at + p->size);
}

/* What the runtime does: see runtime/trap.c. */
static struct hashmap trap_index; /* pc -> index in trap_to */
static VEC(uint64_t) trap_to;

#ifdef __aarch64__
#define CONTEXT_PC(u) ((u)->uc_mcontext.pc)
#else
#define CONTEXT_PC(u) ((u)->uc_mcontext.gregs[REG_RIP])
#endif

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uint64_t pc = (uint64_t)CONTEXT_PC(u) - arch_native()->emit->trap_advance;
	uint32_t i = hashmap_get(&trap_index, pc);
	(void)info;
	if (i == HASHMAP_NONE)
		_exit(128 + signal);
	CONTEXT_PC(u) = (__typeof__(CONTEXT_PC(u)))trap_to.data[i];
}

static void prepare_traps(void)
{
	struct sigaction a = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	vec_each (s, &subjects)
		vec_each (p, &s->f.patches)
			if (p->trap) {
				hashmap_put(&trap_index, p->va + s->in->bias, trap_to.len);
				vec_push(&trap_to, p->to);
			}
	sigaction(SIGTRAP, &a, NULL);
}

static void apply(bool in)
{
	vec_each (s, &subjects)
		vec_each (p, &s->f.patches)
			write_patch(s, p, in);
}

/* The program must be right whenever it is let go on between two patches. Returns how often it was
 * not. */
static uint64_t apply_one_by_one(uint64_t expected)
{
	uint64_t wrong = 0;
	vec_each (s, &subjects) {
		if (s->f.patches.len > 200)
			continue;
		vec_each (p, &s->f.patches) {
			write_patch(s, p, true);
			wrong += scenario() != expected;
		}
		for (uint32_t i = s->f.patches.len; i-- > 0;) {
			write_patch(s, &s->f.patches.data[i], false);
			wrong += scenario() != expected;
		}
	}
	return wrong;
}

static bool bytes_are_original(void)
{
	vec_each (s, &subjects) {
		vec_each (p, &s->f.patches)
			if (memcmp((void *)(uintptr_t)(p->va + s->in->bias), p->original, p->size))
				return false;
	}
	return true;
}

static void unprotect(void)
{
	for (uint32_t i = 0; i < module_count; i++) {
		uint64_t low = modules[i].low & ~UINT64_C(4095);
		mprotect((void *)(uintptr_t)low, modules[i].high - low,
			 PROT_READ | PROT_WRITE | PROT_EXEC);
	}
}

enum { FOUND_RESULT = COUNTERS - 8, FOUND_AFTER, FOUND_ORIGINAL, FOUND_WRONG };

static void tell_wrong(const struct subject *s, const struct spot *spot, uint64_t got,
		       uint64_t truth)
{
	uint32_t n;
	const struct function *p = &flow_functions(s->in->flow, &n)[s->function];
	printf("# %s %s %s %#lx: %lu instead of %lu\n", p->name ? p->name : "?",
	       point_kind_name[spot->kind], spot_place_name[spot->place], (unsigned long)spot->va,
	       (unsigned long)got, (unsigned long)truth);
}

/* How many counters are not what single steps found. */
static uint32_t count_wrong(const struct mode *mode, bool tell)
{
	uint32_t wrong = 0;
	vec_each (s, &subjects)
		for (uint32_t i = 0, k = 0; i < s->spots.len; i++) {
			const struct spot *spot = &s->spots.data[i];
			if (!(mode->kinds >> spot->kind & 1))
				continue;
			uint64_t got = area[counter_count + s->first_counter + i];
			if (s->probes[k++].refused || got == s->truth[i])
				continue;
			if (tell)
				tell_wrong(s, spot, got, s->truth[i]);
			wrong++;
		}
	return wrong;
}

/* With all patches in. A sanitizer's allocator calls some of the functions, now and then, by the
 * clock: what is right is so at the second or third time. */
static void count_scenario(const struct mode *mode)
{
	for (int tries = 0; tries < 3 && (!tries || count_wrong(mode, false)); tries++) {
		for (uint32_t i = 0; i < counter_count; i++)
			((volatile uint64_t *)area)[i] = 0;
		area[FOUND_RESULT] = scenario();
		for (uint32_t i = 0; i < counter_count; i++)
			((volatile uint64_t *)area)[counter_count + i] = area[i];
	}
}

static void check_mode(const struct mode *mode)
{
	struct pool pool = {0};
	uint64_t expected = scenario();
	int status;
	make_memory(&pool, arch_native());
	memset(refusals, 0, sizeof(refusals));
	memset(mechanisms, 0, sizeof(mechanisms));
	vec_each (s, &subjects)
		plan(&pool, s, mode);
	pid_t pid = fork();
	if (!pid) {
		alarm(20);
		unprotect();
		prepare_traps();
		if (mode->one_by_one)
			area[FOUND_WRONG] = apply_one_by_one(expected);
		apply(true);
		count_scenario(mode);
		apply(false);
		area[FOUND_AFTER] = scenario();
		area[FOUND_ORIGINAL] = bytes_are_original();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("# relocate=%d poison=%d: displaced %u, relocated %u, traps %u, spots %u",
	       mode->relocate, mode->poison, mechanisms[MECHANISM_DISPLACED],
	       mechanisms[MECHANISM_RELOCATED], mechanisms[MECHANISM_TRAP], refusals[0]);
	for (uint32_t i = 1; i < REFUSAL_REASONS; i++)
		if (refusals[i])
			printf(", %s %u", refusal_word[i], refusals[i]);
	printf("\n");
	assert_int_equal(status, 0);
	assert_true(area[FOUND_RESULT] == expected);
	assert_true(area[FOUND_AFTER] == expected);
	assert_true(area[FOUND_ORIGINAL]);
	assert_int_equal(area[FOUND_WRONG], 0);
	uint32_t wrong = count_wrong(mode, true);
	vec_each (s, &subjects)
		fragment_release(&s->f);
	assert_int_equal(wrong, 0);
	vec_each (r, &pool.regions)
		munmap((void *)(uintptr_t)r->start, r->end - r->start);
	pool_release(&pool);
}

static void test_displaced(void **state)
{
	(void)state;
	check_mode(&(struct mode){.kinds = (1u << POINT_KINDS) - 1});
}

static void test_relocated(void **state)
{
	(void)state;
	check_mode(&(struct mode){.relocate = true, .kinds = (1u << POINT_KINDS) - 1});
}

static void test_poisoned(void **state)
{
	(void)state;
	check_mode(&(struct mode){.poison = true, .kinds = (1u << POINT_KINDS) - 1});
	check_mode(
		&(struct mode){.poison = true, .relocate = true, .kinds = (1u << POINT_KINDS) - 1});
}

/* On aarch64 each count is restarted behind its load and its addition; on x86-64 it is one
 * instruction where flags are free or saved, as they are for an aside. */
static void test_operations(void **state)
{
	(void)state;
	for (unsigned relocate = 0; relocate < 2; relocate++) {
		restarts = 0;
		check_mode(&(struct mode){.operations = true,
					  .poison = true,
					  .relocate = relocate,
					  .kinds = (1u << POINT_KINDS) - 1});
		assert_int_equal(restarts, arch_native()->insn_align > 1 ? 2 * refusals[0] : 0);
	}
}

static void test_one_patch_after_the_other(void **state)
{
	(void)state;
	check_mode(&(struct mode){
		.one_by_one = true, .relocate = true, .kinds = (1u << POINT_KINDS) - 1});
	check_mode(&(struct mode){.one_by_one = true, .kinds = (1u << POINT_KINDS) - 1});
}

static void test_traps(void **state)
{
	(void)state;
	check_mode(&(struct mode){.traps = true, .kinds = (1u << POINT_KINDS) - 1});
	assert_true(mechanisms[MECHANISM_TRAP] > 0);
	check_mode(
		&(struct mode){.traps = true, .relocate = true, .kinds = (1u << POINT_KINDS) - 1});
}

static void test_few_points(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind < POINT_KINDS; kind++)
		check_mode(&(struct mode){.kinds = 1u << kind});
}

static int setup(void **state)
{
	(void)state;
	setvbuf(stdout, NULL, _IONBF, 0);
	scenario(); /* the dynamic linker has bound everything */
	dl_iterate_phdr(add_module, NULL);
	record_trace();
	find_truth();
	printf("# %u steps in %u functions\n", trace_length, subjects.len);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vec_each (s, &subjects)
		vec_free(&s->spots);
	vec_free(&subjects);
	hashmap_release(&by_start);
	for (uint32_t i = 0; i < module_count; i++) {
		intrusions_release(&modules[i].intrusions);
		flow_close(modules[i].flow);
		module_close(modules[i].module);
	}
	arena_release(&result);
	arena_release(&tmp);
	free(trace);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_displaced),
		cmocka_unit_test(test_relocated),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_poisoned),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_few_points),
		cmocka_unit_test(test_one_patch_after_the_other),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
