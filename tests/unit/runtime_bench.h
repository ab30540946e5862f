/* The runtime, mapped into this process as Sonde maps it into others, and hit by probes on stacks
 * that the tests make up. Tests include <cmocka.h> first. */
#pragma once
#include <stdint.h>

#include "runtime/abi.h"

/* Registers by their part in a hit or in a system call. */
#ifdef __aarch64__
enum {
	SP = 31,
	FP = 29,
	LINK = 30,
	NUMBER = 8,
	FIRST = 0,
	OPERATION = 1,
	RESULT = 0,
	ARGUMENT = 16
};
#define FLAG_BITS UINT64_C(0xf0000000)
#else
enum { SP = 4, FP = 5, LINK = -1, NUMBER = 0, FIRST = 7, OPERATION = 6, RESULT = 0, ARGUMENT = 0 };
#define FLAG_BITS UINT64_C(0xcd5)
#endif

struct machine {
	uint64_t reg[32];
	uint64_t flags;
};

struct bench {
	uint8_t *region, *text;
	int region_fd;
	uint64_t guard; /* the word that is wiped by fork */
	struct rt_thread *table;
	struct rt_area *area;
	uint64_t *stack;
	uint64_t *sp; /* of the program that is made up */
	uint64_t fp, link;
	uint32_t subjects, probes;
	struct machine in, out;
};

int bench_start(void **state);
int bench_finish(void **state);
#define TEST(function) cmocka_unit_test_setup_teardown(function, bench_start, bench_finish)

struct rt_header *header(const struct bench *b);
const struct rt_entry_table *entries(const struct bench *b);
uint64_t here_thread_pointer(void);
/* Where the thread table is looked at first. */
struct rt_thread *table_home(const struct bench *b, uint64_t pointer);
struct rt_area *prepare_area(struct bench *b, uint32_t i, uint32_t tid);

/* The code of the program that is made up. It keeps its stack as aarch64 demands it: a call pushes
 * two words, of which the upper one is the return address. */
enum { ROOT = 0x1010, MAIN = 0x1000, F = 0x2000, G = 0x3000, H = 0x4000 };
#define ENTRY_STEP step(RT_STEP_SP, 16, 8, 0)
uint64_t step(unsigned kind, int64_t cfa, uint64_t below_link, uint64_t below_fp);
void set_step(struct bench *b, uint64_t pc, uint64_t value);
/* A place that calls come from, in a function with `locals` pairs of words of its own. */
void add_code(struct bench *b, uint64_t return_address, unsigned locals);

/* A metric that tests can count by themselves. */
enum { BYTES = 1 << RT_BYTES };
uint32_t add_subject(struct bench *b, uint32_t flags, uint32_t metrics, uint64_t start_pc);
struct rt_probe *add_probe(struct bench *b, uint32_t kind, uint32_t subject, uint64_t pc,
			   uint64_t by);
/* A subject with the probes where it begins and ends. */
struct probed {
	struct rt_probe *enter, *leave;
};
struct probed add_function(struct bench *b, uint32_t flags, uint32_t metrics, uint64_t start_pc);

/* A stack with one call at the bottom, from where threads begin. */
void begin_program(struct bench *b);
void call(struct bench *b, unsigned locals, uint64_t return_address);
void come_back(struct bench *b, unsigned locals);
void hit(struct bench *b, const struct rt_probe *p);
/* A probe's call: all registers as given, the stack pointer included; `out` is what is found in
 * them afterwards. */
void call_routine(const struct machine *in, struct machine *out, uint64_t routine,
		  uint64_t argument);

/* A call by an operation of a probe (isa/emit.h), which passes the program's stack pointer, any. */
void call_operation(const struct machine *in, struct machine *out, uint64_t routine,
		    uint64_t argument, uint64_t sp);

/* What the thread's area has. */
struct rt_path *path_at(const struct bench *b, uint32_t offset);
struct rt_path *newest(const struct bench *b);
unsigned count_paths(const struct bench *b);
const struct rt_activation *top_of(const struct bench *b, unsigned stack);
