/* A program that is made up, with code that counts: what that code does by itself is done here, and
 * the runtime is called for the rest, as isa/emit.h has it. Tests include <cmocka.h> first. */
#pragma once
#include "probe/engine/lineage.h"
#include "runtime_bench.h"

#ifdef __aarch64__
enum { CALL_PUSHED = 0 };
#else
enum { CALL_PUSHED = 8 };
#endif

enum { WORD_RUNS = 0, WORD_LOOPS = 1, PROGRAM_DEPTH = 1 << 17 };

struct activation {
	uint32_t function;
	uint64_t entry_sp, sp;
	struct rt_context *context;
	uint32_t site; /* of the call that it is making */
};

/* One of its stacks. */
struct counted_stack {
	uint64_t sp;
	uint32_t depth;
	struct activation *activations;
};

struct counted_program {
	struct bench *bench;
	struct target target;
	struct lineage lineage;
	struct counted_stack main, *now;
	uint32_t sites_used;
	uint32_t slow; /* calls of the runtime */
};

int program_start(void **state);
int program_finish(void **state);
#define PROGRAM_TEST(function)                                                                     \
	cmocka_unit_test_setup_teardown(function, program_start, program_finish)

/* The number of a function's loop. */
static inline uint32_t loop_of(uint32_t function, uint32_t loop)
{
	return 16 * function + loop;
}

/* A function with a word for its runs and one for each of its loops. Each loop is around the one
 * before it, and all calls are in the first. */
void define(struct counted_program *p, uint32_t function, uint32_t sites, uint32_t loops);
/* Has a site in another loop, by its number + 1; 0: in none. */
void set_loop(struct counted_program *p, uint32_t function, uint32_t site, uint32_t loop);
void define_leaf(struct counted_program *p, uint32_t function);

struct counted_stack new_stack(uint64_t sp);
void free_stack(struct counted_stack *s);
struct activation *running(struct counted_program *p);
/* What the program does. A call's callee begins; it returns; longjmp() leaves activations without
 * anybody noticing, before control comes back behind a call. */
void call_function(struct counted_program *p, uint32_t site, uint32_t function);
void begin_function(struct counted_program *p, uint32_t function, uint64_t sp);
void leave_function(struct counted_program *p);
void return_to_caller(struct counted_program *p);
void leave_silently(struct counted_program *p, uint32_t activations);
void come_back_behind(struct counted_program *p, uint32_t site);
/* In the loop, by its number + 1; 0: in none. */
void land(struct counted_program *p, uint32_t loop);
struct rt_shadow *frame_of(struct counted_program *p);

uint64_t call_runtime(struct counted_program *p, uint32_t routine, uint64_t argument, uint64_t sp);

/* What was counted, in memory that stays until the next time; and sums of it. */
const struct counted_thread *counts_of(struct counted_program *p);
uint64_t calls_between(const struct counted_thread *t, uint32_t caller, uint32_t site,
		       uint32_t callee);
uint64_t word_of(const struct counted_context *c, uint32_t number);
uint64_t runs_of(const struct counted_thread *t, uint32_t function);
/* Of all contexts of a function. */
struct counted_departure departures_of(const struct counted_thread *t, uint32_t function,
				       uint32_t site);
const struct rt_trips *trips_of(const struct counted_thread *t, uint32_t loop);
