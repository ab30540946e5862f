/* What the tests of writing A64 code share: comparing its text, on any machine, and executing it,
 * on an aarch64. Tests include <cmocka.h> first.
 *
 * The world that code is executed in is one large memfd, mapped twice: read and execute, and for
 * writing. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "isa/emit.h"

#define PLACE UINT64_C(0x40000000) /* of the code whose text is compared */

uint64_t random_u64(uint64_t *seed);

struct emit_target at_pc(uint64_t pc);
struct emit_target at_label(uint32_t label);

/* Finishes the code, which must have that text, and releases it. */
void expect_text(struct emit *e, const char *expected);

/* The world, for cmocka_run_group_tests(), on an aarch64. */
int make_world(void **state);
int drop_world(void **state);

/* Everything else is within these distances of the window, and the entry within reach of all. */
enum {
	WORLD = 128 << 20,
	WINDOW = 64 << 20,
	ENTRY = 0,
	POOL_FAR = 48 << 20,
	TARGET_FAR = 48 << 20
};

/* Where the world is executed. */
extern uint64_t executable;

void put(uint64_t pc, const void *bytes, size_t n);
void put_u32(uint64_t pc, uint32_t word);
/* Code that ends the run and reports `number`. */
void put_exit(uint64_t pc, uint32_t number);
/* Finishes the code, puts it where it is for and releases it. Returns its size. */
uint32_t finish(struct emit *e);
uint32_t random_extent(uint64_t *seed);

/* All that an instruction may change; `exit` tells where control went. */
struct machine {
	uint64_t x[31], nzcv;
	uint64_t v[32][2];
	uint64_t exit, sp;
};

void randomise(struct machine *m, uint64_t *seed);
/* From the registers in *m at pc, to an exit. */
void run(struct machine *m, uint64_t pc);
uint64_t own_thread(void);

/* Stands for the routines of the runtime: what they are called with, and what they answer. */
struct call_record {
	uint64_t calls, argument, sp, x16, x17, link;
	uint64_t answer;
	uint64_t stack; /* what an operation passes as the program's stack pointer */
};

extern struct call_record call_record;
/* May be called as the runtime is. */
void machine_routine(void);
