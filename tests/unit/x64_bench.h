/* What the tests of writing x86-64 code share: comparing its text, on any machine, and executing
 * it, on an x86-64, in one block of memory. Tests include <cmocka.h> first. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "isa/emit.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

#define B(r) (UINT64_C(1) << (r))

#define BASE UINT64_C(0x500000) /* of the code whose text is compared */

/* Finishes the code, which must have that text, instructions apart by semicolons, and releases it.
 */
void expect_code(struct emit *e, const char *what, const char *expected);

/* The memory, for cmocka_run_group_tests(). */
int map_memory(void **state);
/* Skips the test where no memory may be both written and executed. */
void need_execution(void);

/* Offsets in one block of memory. */
enum {
	ORIGINAL = 0x1000, /* the instruction; behind it, and at TAKEN, ways out */
	TAKEN = ORIGINAL + 64,
	MOVED = 0x40000,
	WAYS = 0x50000,
	FIND = 0x60000,
	ROUTINE = 0x61000,
	DATA = 0x80000,
	EXIT = DATA + 0x1000, /* which way out was taken, and the address of run_leave */
	SEEN = EXIT + 16,     /* what the routine saw */
	STACK = 0x98000,
	TABLE = 0xb0000,
	AREA = 0xc0000,
	OTHER_AREA = 0xd0000,
	MEMORY_SIZE = 0x100000,
};

enum { DATA_WORDS = 16, STACK_WORDS = 64, TABLE_BITS = 12 };
enum { FLAGS_COMPARED = 0xcd5, CARRY = 1, ZERO = 0x40 };

extern uint8_t *memory;
uint64_t at(uint32_t offset);
uint64_t *words_at(uint32_t offset);
void put32(uint8_t *out, uint64_t value);
uint64_t random_word(void);

enum { FELL_THROUGH = 1, WAS_TAKEN = 2 };

/* Code that ends the run and tells which way it went. */
void put_way_out(uint32_t offset, uint32_t number);
/* Finishes the code, puts it at MOVED and releases it. Returns its size. */
uint32_t install(struct emit *e, const char *what);

/* What is loaded before execution and stored after it. */
struct world {
	uint64_t reg[16];
	uint64_t flags;
	uint64_t target, host_sp, pad;
	uint64_t xmm[16][2];
};

struct outcome {
	struct world world;
	uint64_t exit;
	uint64_t data[DATA_WORDS];
	uint64_t stack[STACK_WORDS]; /* half of it above the stack pointer at the start */
};

/* Registers that are used as addresses point to memory that holds addresses. */
struct outcome random_start(void);
struct outcome run(const struct outcome *start, uint32_t offset);
/* The stack is compared from its word `from` on. */
void expect_same(const char *what, const struct outcome *x, const struct outcome *y, unsigned from);
