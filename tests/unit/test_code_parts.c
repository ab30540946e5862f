/* Functions and loops of this very program, what they call, and which of them everybody goes
 * through who waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "diagnose/code.h"
#include "diagnose/plumbing.h"
#include "flow/entry.h"
#include "flow/flow.h"

/* ---- the program ---- */

#define OWN __attribute__((noipa))

static volatile int sink;
long plain_syscall(long number, long a, long b) __asm__("syscall");

OWN static void leaf(void)
{
	sink++;
}

OWN static void outside(void)
{
	sink += 2;
}

OWN static void inside(void)
{
	sink += 3;
}

OWN static void innermost(void)
{
	sink += 4;
}

OWN static void nest(int n)
{
	outside();
	for (int i = 0; i < n; i++) {
		inside();
		for (int k = 0; k < n; k++)
			innermost();
		sink++;
	}
	leaf();
	sink++;
}

OWN static int recursive(int n)
{
	if (n > 0)
		sink += recursive(n - 1);
	leaf();
	return sink;
}

OWN static void by_pointer(void (*f)(void))
{
	f();
	sink++;
}

OWN static size_t by_table(const char *text)
{
	size_t n = 0;
	for (int i = 0; i < 3; i++)
		n += (size_t)write(-1, text, 1);
	return n + (size_t)getppid();
}

/* ---- loops that wait, and others that look like it ---- */

/* Sanitizers would add calls. */
#define PLAIN __attribute__((noipa, no_sanitize("address", "undefined")))

static _Atomic int flag, turn, lock;
static int plain[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, next = PTHREAD_COND_INITIALIZER;
static int count;

static inline __attribute__((always_inline, no_sanitize("address", "undefined"))) void
pause_a_bit(void)
{
#ifdef __x86_64__
	__asm__ volatile("pause");
#else
	__asm__ volatile("yield");
#endif
}

PLAIN static void until_set(void)
{
	while (!flag)
		;
}

PLAIN static void until_turn(int mine)
{
	while (turn != mine)
		pause_a_bit();
}

PLAIN static void until_turn_or_tired(int mine, int tries)
{
	for (int i = 0; turn != mine && i < tries; i++)
		pause_a_bit();
}

PLAIN static void until_turn_yielding(int mine)
{
	while (turn != mine)
		sched_yield();
}

PLAIN static void until_locked(void)
{
	int none = 0;
	while (!atomic_compare_exchange_weak(&lock, &none, 1))
		none = 0;
}

PLAIN static void until_pointed_is_set(_Atomic int *const *where)
{
	while (!**where)
		pause_a_bit();
}

/* It waits longer each time. */
PLAIN static void backing_off(void)
{
	for (int wait = 1; !flag; wait *= 2)
		for (int i = 0; i < wait; i++)
			pause_a_bit();
}

PLAIN static void adds_by_exchange(int n)
{
	int old = lock;
	while (!atomic_compare_exchange_weak(&lock, &old, old + n))
		;
}

PLAIN static int finds(int what)
{
	int i = 0;
	while (((volatile int *)plain)[i] != what)
		i++;
	return i;
}

PLAIN static int sums(int n)
{
	int sum = 0;
	for (int i = 0; i < n && !flag; i++)
		sum = sum * 3 ^ i;
	return sum;
}

PLAIN static void stores_until_set(void)
{
	while (!flag)
		((volatile int *)plain)[3] = 5;
}

PLAIN static void calls_until_set(void)
{
	while (!flag)
		leaf();
}

PLAIN static void counts_to_shared(void)
{
	for (int i = 0; i < turn; i++)
		pause_a_bit();
}

/* The last of three wakes the others. */
PLAIN static void meet(void)
{
	pthread_mutex_lock(&mutex);
	if (++count == 3)
		pthread_cond_broadcast(&arrived);
	else
		while (count < 3)
			pthread_cond_wait(&arrived, &mutex);
	pthread_mutex_unlock(&mutex);
}

PLAIN static void hand_over(void)
{
	pthread_mutex_lock(&mutex);
	while (count)
		pthread_cond_wait(&arrived, &mutex);
	pthread_cond_broadcast(&next);
	pthread_mutex_unlock(&mutex);
}

/* Names that libraries have. */
OWN static void pthread_spin_lock_(void)
{
	sink++;
}

OWN static void MPI_Recv(void)
{
	sink--;
}

OWN static void fwrite_unbuffered(void)
{
	sink += 5;
}

/* A relay, and a function that passes its arguments on to it. */
OWN static long relaying(long number, long a, long b)
{
	return plain_syscall(number, a, b) + 1;
}

OWN static long relaying_on(long number, long a, long b)
{
	return relaying(number, a, b) + 1;
}

/* Chooses the call itself. */
OWN static long asking(long a)
{
	return relaying(SYS_getpgid, a, 0) + 1;
}

/* ---- looking at it ---- */

struct fixture {
	struct codes *codes;
	struct space *space;
	struct resources resources;
	struct code_parts *parts;
} the;

static struct place place_of(const void *pc)
{
	struct place p = space_find(the.space, (uint64_t)pc);
	assert_non_null(p.code);
	return p;
}

static uint32_t part_at(const void *pc)
{
	struct place p = place_of(pc);
	return code_part_at(the.parts, p.code, p.va);
}

/* A function of this program. */
#define PART(function) part_at((const void *)(uintptr_t)(function))

static int open_with(bool loops)
{
	struct err e;
	memset(&the, 0, sizeof(the));
	resources_init(&the.resources);
	the.codes = codes_new(NULL);
	the.space = space_new(the.codes, getpid());
	the.parts = code_parts_new(&the.resources, loops);
	if (space_refresh(the.space, &e))
		return -1;
	code_parts_module(the.parts, place_of((const void *)(uintptr_t)nest).code);
	code_parts_module(the.parts, place_of((const void *)(uintptr_t)getppid).code);
	return 0;
}

static int start(void **state)
{
	(void)state;
	return open_with(true);
}

static int start_without_loops(void **state)
{
	(void)state;
	return open_with(false);
}

static int finish(void **state)
{
	(void)state;
	code_parts_free(the.parts);
	space_free(the.space);
	codes_free(the.codes);
	resources_release(&the.resources);
	return 0;
}

static resource_list below(uint32_t part)
{
	resource_list out = {0};
	code_parts_below(the.parts, part, &out);
	return out;
}

static bool has(const resource_list *list, uint32_t part)
{
	uint32_t n = 0;
	vec_each (p, list)
		n += *p == part;
	assert_true(n <= 1);
	return n;
}

static bool leads(uint32_t part, uint32_t to)
{
	resource_list list = below(part);
	bool found = has(&list, to);
	vec_free(&list);
	return found;
}

/* The only loop right below a part. */
static uint32_t loop_below(uint32_t part)
{
	resource_list list = below(part);
	uint32_t found = RESOURCE_NONE;
	vec_each (p, &list)
		if (code_part(the.parts, *p).loop) {
			assert_int_equal(found, RESOURCE_NONE);
			found = *p;
		}
	vec_free(&list);
	assert_int_not_equal(found, RESOURCE_NONE);
	return found;
}

/* ---- tests ---- */

static void a_function_is_found_by_any_address(void **state)
{
	(void)state;
	uint32_t part = PART(nest);
	struct place p = place_of((const void *)(uintptr_t)nest);
	assert_int_equal(part, code_part_at(the.parts, p.code, p.va + 1));
	assert_int_not_equal(part, PART(leaf));
	assert_ptr_equal(code_part(the.parts, part).code, p.code);
	assert_int_equal(code_part(the.parts, part).va, p.va);
	assert_int_equal(code_part(the.parts, part).loop, 0);
	/* Its module is between it and the root, and neither is code. */
	uint32_t module = the.resources.list.data[part].parent;
	assert_null(code_part(the.parts, module).code);
	assert_int_equal(the.resources.list.data[module].parent, CODE);
	assert_null(code_part(the.parts, CODE).code);
	assert_int_equal(code_part_at(the.parts, p.code, 1), RESOURCE_NONE);
}

static void functions_refine_to_what_is_outside_of_loops(void **state)
{
	(void)state;
	uint32_t part = PART(nest), outer = loop_below(part);
	assert_true(leads(part, PART(outside)) && leads(part, PART(leaf)));
	assert_false(leads(part, PART(inside)) || leads(part, PART(innermost)));
	assert_int_equal(the.resources.list.data[outer].parent, part);
}

static void loops_refine_to_what_is_inside(void **state)
{
	(void)state;
	uint32_t outer = loop_below(PART(nest)), inner = loop_below(outer);
	assert_true(leads(outer, PART(inside)));
	assert_false(leads(outer, PART(innermost)) || leads(outer, PART(outside)));
	assert_true(leads(inner, PART(innermost)));
	assert_false(leads(inner, PART(inside)));
	assert_int_equal(the.resources.list.data[inner].parent, outer);
	assert_true(resources_within(&the.resources, inner, PART(nest)));
}

static void without_loops_all_callees_are_the_functions(void **state)
{
	(void)state;
	uint32_t part = PART(nest);
	resource_list list = below(part);
	assert_true(has(&list, PART(outside)) && has(&list, PART(inside)) &&
		    has(&list, PART(innermost)) && has(&list, PART(leaf)));
	vec_each (p, &list)
		assert_int_equal(code_part(the.parts, *p).loop, 0);
	vec_free(&list);
}

static void addresses_have_loops_around(void **state)
{
	(void)state;
	uint32_t part = PART(nest), outer = loop_below(part), inner = loop_below(outer);
	struct place p = place_of((const void *)(uintptr_t)nest);
	const struct code_part in = code_part(the.parts, inner), out = code_part(the.parts, outer);
	resource_list list = {0};
	code_parts_around(the.parts, p.code, p.va, &list);
	assert_int_equal(list.len, 1);
	code_parts_around(the.parts, p.code, in.loop, &list);
	assert_int_equal(list.len, 4);
	assert_int_equal(list.data[0], part);
	const uint32_t expected[] = {part, outer, inner};
	assert_memory_equal(list.data + 1, expected, sizeof(expected));
	/* The same once more, as it is known by now; and of the outer one. */
	vec_clear(&list);
	code_parts_around(the.parts, p.code, in.loop, &list);
	code_parts_around(the.parts, p.code, out.loop, &list);
	assert_memory_equal(list.data, expected, sizeof(expected));
	assert_memory_equal(list.data + 3, expected, 2 * sizeof(*expected));
	vec_clear(&list);
	code_parts_around(the.parts, p.code, 1, &list);
	assert_int_equal(list.len, 0);
	vec_free(&list);
}

static void a_recursion_does_not_refine_to_itself(void **state)
{
	(void)state;
	assert_false(leads(PART(recursive), PART(recursive)));
	assert_true(leads(PART(recursive), PART(leaf)));
}

static void calls_through_tables_lead_to_libraries(void **state)
{
	(void)state;
	uint32_t part = PART(by_table), loop = loop_below(part);
	assert_true(leads(part, PART(getppid)));
	resource_list list = below(loop);
	assert_true(list.len >= 1);
	const struct code_part callee = code_part(the.parts, list.data[0]);
	assert_ptr_not_equal(callee.code, code_part(the.parts, part).code);
	vec_free(&list);
}

static void calls_that_were_seen_are_known(void **state)
{
	(void)state;
	uint32_t from = PART(by_pointer), to = PART(leaf), other = PART(inside);
	assert_false(leads(from, to));
	assert_true(code_parts_called(the.parts, from, to));
	assert_false(code_parts_called(the.parts, from, to));
	assert_true(code_parts_called(the.parts, from, other));
	assert_true(leads(from, to) && leads(from, other));
	assert_false(leads(to, from));
	/* The program begins somewhere. */
	assert_true(code_parts_called(the.parts, CODE, from));
	assert_true(leads(CODE, from));
	/* One that the code tells of as well is told once. */
	assert_true(code_parts_called(the.parts, PART(nest), PART(outside)));
	assert_true(leads(PART(nest), PART(outside)));
}

static void a_module_is_added_once(void **state)
{
	(void)state;
	uint32_t before = PART(nest);
	code_parts_module(the.parts, place_of((const void *)(uintptr_t)nest).code);
	assert_int_equal(PART(nest), before);
	assert_true(leads(PART(by_table), PART(getppid)));
}

static void system_calls_are_relayed(void **state)
{
	(void)state;
	assert_true(code_part_relays(the.parts, PART(syscall)));
	assert_true(code_part_relays(the.parts, PART(relaying)));
	assert_true(code_part_relays(the.parts, PART(relaying_on)));
	assert_true(is_plumbing(the.parts, PART(relaying_on)));
	assert_false(code_part_relays(the.parts, PART(asking)));
	assert_false(code_part_relays(the.parts, PART(getppid)));
	assert_false(code_part_relays(the.parts, PART(fdatasync)));
	assert_false(code_part_relays(the.parts, PART(nest)));
	assert_false(code_part_relays(the.parts, PART(leaf)));
	assert_false(code_part_relays(the.parts, CODE));
}

static void who_waits_waits_in_plumbing(void **state)
{
	(void)state;
	assert_true(is_plumbing(the.parts, PART(getppid)));
	assert_true(is_plumbing(the.parts, PART(MPI_Recv)));
	assert_false(is_plumbing(the.parts, PART(nest)));
	assert_false(is_plumbing(the.parts, PART(fwrite_unbuffered)));
	assert_false(is_plumbing(the.parts, PART(pthread_spin_lock_)));
	assert_false(is_plumbing(the.parts, CODE));
	struct place p = place_of((const void *)(uintptr_t)getppid);
	assert_true(is_plumbing_at(p.code, p.va));
	assert_false(is_plumbing_at(NULL, 0));
}

static void who_spins_does_not_compute(void **state)
{
	(void)state;
	assert_true(is_spinning(the.parts, PART(MPI_Recv)));
	assert_false(is_spinning(the.parts, PART(pthread_spin_lock_)));
	assert_false(is_spinning(the.parts, PART(nest)));
	assert_false(is_spinning(the.parts, PART(getppid)));
	assert_false(is_spinning(the.parts, CODE));
}

#define PARTS_TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

#define SPINS(function) code_function_spins(the.parts, PART(function))

static void loops_that_read_until_others_write_spin(void **state)
{
	(void)state;
	assert_true(SPINS(until_set));
	assert_true(SPINS(until_turn));
	assert_true(SPINS(until_turn_or_tired));
	assert_true(SPINS(until_turn_yielding));
	assert_true(SPINS(until_locked));
	assert_true(SPINS(until_pointed_is_set));
	assert_true(SPINS(backing_off));
}

static void loops_that_compute_do_not_spin(void **state)
{
	(void)state;
	assert_false(SPINS(adds_by_exchange));
	assert_false(SPINS(finds));
	assert_false(SPINS(sums));
	assert_false(SPINS(stores_until_set));
	assert_false(SPINS(calls_until_set));
	assert_false(SPINS(counts_to_shared));
	assert_false(SPINS(nest));
}

/* What the loop reads is found from the registers, wherever in the loop the thread is. */
static void a_spinning_loop_shows_what_it_reads(void **state)
{
	(void)state;
	uint32_t loop = loop_below(PART(until_turn));
	const struct spin spin = code_part_spin(the.parts, loop);
	assert_true(spin.spins);
	if (!spin.read) /* the compiler computes the address in the loop */
		return;
	struct place p = place_of((const void *)(uintptr_t)until_turn);
	uint64_t bias = (uint64_t)(uintptr_t)until_turn - p.va, registers[32];
	struct insn in;
	assert_true(decode_at(p.code->module, p.code->arch, spin.read, DECODE_FULL, &in));
	for (int i = 0; i < 32; i++)
		registers[i] = in.a == REG_NONE ? 0 : (uint64_t)(uintptr_t)&turn - (uint64_t)in.imm;
	assert_int_equal(spin_address(&in, registers, bias), (uintptr_t)&turn);
}

static void a_function_that_wakes_whom_it_waits_with_is_a_barrier(void **state)
{
	(void)state;
	assert_true(code_function_is_barrier(the.parts, PART(meet)));
	assert_false(code_function_is_barrier(the.parts, PART(hand_over)));
	assert_false(code_function_is_barrier(the.parts, PART(nest)));
}

int main(void)
{
	nest(2);
	recursive(2);
	by_pointer(leaf);
	by_table("x");
	pthread_spin_lock_();
	MPI_Recv();
	fwrite_unbuffered();
	relaying_on(SYS_getppid, 0, 0);
	asking(0);
	const struct CMUnitTest tests[] = {
		PARTS_TEST(a_function_is_found_by_any_address),
		PARTS_TEST(functions_refine_to_what_is_outside_of_loops),
		PARTS_TEST(loops_refine_to_what_is_inside),
		cmocka_unit_test_setup_teardown(without_loops_all_callees_are_the_functions,
						start_without_loops, finish),
		PARTS_TEST(addresses_have_loops_around),
		PARTS_TEST(a_recursion_does_not_refine_to_itself),
		PARTS_TEST(calls_through_tables_lead_to_libraries),
		PARTS_TEST(calls_that_were_seen_are_known),
		PARTS_TEST(a_module_is_added_once),
		PARTS_TEST(system_calls_are_relayed),
		PARTS_TEST(who_waits_waits_in_plumbing),
		PARTS_TEST(who_spins_does_not_compute),
		PARTS_TEST(loops_that_read_until_others_write_spin),
		PARTS_TEST(loops_that_compute_do_not_spin),
		PARTS_TEST(a_spinning_loop_shows_what_it_reads),
		PARTS_TEST(a_function_that_wakes_whom_it_waits_with_is_a_barrier),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
