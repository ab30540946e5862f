/* The overhead of one hit of each kind of probe on this machine. The same code that goes into
 * programs is executed here, in our own process. The minimum of several rounds is taken: anything
 * above it is noise. */
#include "probe/region/calibrate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fault.h"
#include "isa/native.h"
#include "probe/region/calls.h"
#include "probe/region/layout.h"
#include "probe/region/raw.h"
#include "runtime/blob.h"

enum { ROUNDS = 7, HITS_PER_ROUND = 500, PATH_DEPTH = 10, CODE_SIZE = 65536 };

typedef void (*routine)(void);

struct bench {
	struct target self;
	uint8_t *code; /* the runtime, then the routines that are measured */
	uint64_t used;
	uint64_t guard;
	struct rt_thread *table;
};

static bool open_bench(struct bench *b, struct shared *s)
{
	*b = (struct bench){
		.self = {.shared = s, .pid = getpid(), .alive = true, .region = {.fd = -1}},
		.guard = RT_GUARD};
	b->self.region.map = mmap(NULL, RT_MAPPED_SIZE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	b->code = fault("calibrate-map", ENOMEM) ? MAP_FAILED
						 : mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE,
							MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b->table = aligned_alloc(RT_TABLE_SIZE, RT_TABLE_SIZE);
	if (!b->table || b->self.region.map == MAP_FAILED || b->code == MAP_FAILED)
		return false;
	b->self.region.base = (uint64_t)(uintptr_t)b->self.region.map;
	b->self.region.text = (uint64_t)(uintptr_t)b->code;
	b->self.region.table = (uint64_t)(uintptr_t)b->table;
	memset(b->table, 0, RT_TABLE_SIZE);
	b->self.space = space_new(s->codes, getpid());
	struct err ignored;
	return !space_refresh(b->self.space, &ignored);
}

static void close_bench(struct bench *b)
{
	raw_release(&b->self);
	vec_free(&b->self.region.steps);
	if (b->self.space)
		space_free(b->self.space);
	if (b->self.region.map != MAP_FAILED)
		munmap(b->self.region.map, RT_MAPPED_SIZE);
	if (b->code != MAP_FAILED)
		munmap(b->code, CODE_SIZE);
	free(b->table);
}

static void put_runtime(struct bench *b)
{
	struct target *t = &b->self;
	struct rt_entry_table *head = (struct rt_entry_table *)b->code;
	memcpy(b->code, runtime_blob, runtime_blob_size);
	head->region = t->region.base;
	head->guard = (uint64_t)(uintptr_t)&b->guard;
	head->table = t->region.table;
	b->used = (runtime_blob_size + 63) & ~UINT64_C(63);
	struct rt_header *h = target_header(t);
	h->base = t->region.base;
	h->clock_kind = !t->shared->options.no_perf_clock;
	h->may = RT_MAY_ALL;
	h->link_mask = t->shared->arch->layout->code_mask;
	h->threads = 1;
	h->text_ranges = 1;
	h->text[0].end = UINT64_MAX / 2;
	calls_describe(h->calls);
	h->magic = RT_MAGIC;
}

static void put_thread(struct bench *b)
{
	struct target *t = &b->self;
	uint64_t pointer = own_thread_pointer();
	struct rt_area *a = target_area(t, 0);
	a->tid = (uint32_t)gettid();
	layout_stack(t, (uint64_t)(uintptr_t)&pointer, &a->stack_low, &a->stack_high);
	b->table[(pointer >> RT_THREAD_SHIFT) % RT_THREADS] = (struct rt_thread){
		.key = rt_thread_key(pointer), .area = t->region.base + RT_AREA(0)};
}

/* A routine that hits the probes and returns. */
static routine make_routine(struct bench *b, const struct emit_probe *probes, uint32_t count)
{
	struct emit e;
	const struct arch *arch = b->self.shared->arch;
	uint8_t *at = b->code + b->used;
	emit_init(&e, arch, (uint64_t)(uintptr_t)at);
	for (uint32_t i = 0; i < count; i++)
		arch->emit->probe(&e, &probes[i]);
	arch->emit->leave(&e);
	if (!emit_finish(&e) || b->used + e.bytes.len > CODE_SIZE) {
		emit_release(&e);
		return NULL;
	}
	memcpy(at, e.bytes.data, e.bytes.len);
	b->used += (e.bytes.len + 63) & ~UINT64_C(63);
	emit_release(&e);
	routine made;
	memcpy(&made, &at, sizeof(made));
	return made;
}

/* The duration of one call of the routine in ns. In the first round the runtime learns about our
 * stack. */
static double measure(struct bench *b, routine r)
{
	uint64_t best = UINT64_MAX;
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t begin = ticks_now();
		for (unsigned i = 0; i < HITS_PER_ROUND; i++)
			r();
		uint64_t took = ticks_now() - begin;
		best = took < best ? took : best;
		raw_resolve(&b->self);
	}
	return (double)best * ticks_period_ns() / HITS_PER_ROUND;
}

/* The same, called through `depth` more frames. */
__attribute__((noinline)) static double measure_below(struct bench *b, routine r, unsigned depth)
{
	double ns = depth ? measure_below(b, r, depth - 1) : measure(b, r);
	__asm__ volatile("" ::: "memory"); /* prevents a tail call */
	return ns;
}

static struct emit_probe call_probe(struct bench *b, uint32_t number, enum rt_probe_kind kind,
				    uint32_t subject)
{
	const struct rt_entry_table *entries = (const struct rt_entry_table *)runtime_blob;
	const struct arch *arch = b->self.shared->arch;
	uint64_t at = RT_PROBE_TABLE + number * sizeof(struct rt_probe);
	/* As at the entry of any function: nothing is on the stack but possibly the return
	 * address. */
	uint64_t step = RT_STEP_SP |
			(arch->link == REG_NONE
				 ? UINT64_C(1) << RT_STEP_CFA_BIT | UINT64_C(1) << RT_STEP_LINK_BIT
				 : RT_STEP_IN_LINK);
	*(struct rt_probe *)target_at(&b->self, at) =
		(struct rt_probe){.kind = kind,
				  .subject = subject,
				  .pc = (uint64_t)(uintptr_t)&measure_below,
				  .step = step};
	return (struct emit_probe){.routine = b->self.region.text + entries->hit,
				   .argument = b->self.region.base + at};
}

static void put_subject(struct bench *b, uint32_t number, uint32_t metrics, uint32_t flags)
{
	*target_subject(&b->self, number) =
		(struct rt_subject){.metrics = metrics, .flags = flags, .active = 1};
}

/* The subjects that the routines measure. */
enum { TIMED, WALL, COUNTED };

/* How much longer one takes than the other. Both may take a few ns, with as much noise, so the
 * result is never negative. */
static double above(double ns, double other)
{
	return ns > other ? ns - other : 0;
}

static void measure_all(struct bench *b, struct probe_overheads *out)
{
	const struct rt_entry_table *entries = (const struct rt_entry_table *)runtime_blob;
	struct emit_probe plain = {.counter = (uint32_t)RT_AREA_COUNTERS,
				   .table = b->self.region.table,
				   .table_bits = RT_TABLE_BITS,
				   .find = b->self.region.text + entries->find};
	put_subject(b, TIMED, 1 << RT_WALL | 1 << RT_CPU, 0);
	put_subject(b, WALL, 1 << RT_WALL, 0);
	put_subject(b, COUNTED, 0, RT_PATH | RT_COUNT_ONLY);
	routine empty = make_routine(b, NULL, 0);
	routine count = make_routine(b, &plain, 1);
	routine timed = make_routine(b,
				     (struct emit_probe[]){call_probe(b, 0, RT_ENTER, TIMED),
							   call_probe(b, 1, RT_EXIT, TIMED)},
				     2);
	routine wall = make_routine(b,
				    (struct emit_probe[]){call_probe(b, 4, RT_ENTER, WALL),
							  call_probe(b, 5, RT_EXIT, WALL)},
				    2);
	routine path =
		make_routine(b, (struct emit_probe[]){call_probe(b, 2, RT_ENTER, COUNTED)}, 1);
	routine exit =
		make_routine(b, (struct emit_probe[]){call_probe(b, 3, RT_EXIT, COUNTED)}, 1);
	if (!empty || !count || !timed || !wall || !path || !exit ||
	    mprotect(b->code, CODE_SIZE, PROT_READ | PROT_EXEC))
		return;
	__builtin___clear_cache((char *)b->code, (char *)b->code + CODE_SIZE);
	double nothing = measure(b, empty), exit_too = measure(b, exit);
	double pair = above(measure(b, timed), nothing);
	out->count = above(measure(b, count), nothing);
	out->path = above(measure_below(b, path, PATH_DEPTH), exit_too);
	out->enter = pair / 2;
	out->exit = pair / 2;
	out->wall = above(measure(b, wall), nothing) / 2;
	out->block = out->wall;
}

void calibrate(struct shared *s, struct probe_overheads *out)
{
	struct bench b;
	if (open_bench(&b, s)) {
		put_runtime(&b);
		put_thread(&b);
		measure_all(&b, out);
	}
	close_bench(&b);
}
