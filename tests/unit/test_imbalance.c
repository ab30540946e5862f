/* Who does more than others: measurements that are made up, of a function of this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnose/inside.h"

/* ---- the program ---- */

#define OWN __attribute__((noipa))

static volatile int sink;

OWN static void inner(void)
{
	sink += 3;
}

/* ---- what is made up ---- */

struct fixture {
	struct diagnose_options options;
	struct diagnosis d;
	struct space *space;
	uint32_t inner; /* part */
} the;

static uint32_t part_of(void (*function)(void))
{
	struct place p = space_find(the.space, (uint64_t)(uintptr_t)function);
	assert_non_null(p.code);
	return code_part_at(the.d.own->code, p.code, p.va);
}

static uint32_t add_process(const char *name, uint32_t program, double born)
{
	struct machine *m = &the.d.own->machine;
	uint32_t number = m->processes.len;
	vec_push(&m->processes, (struct machine_process){
					.pid = (int)(1000 + number),
					.name = name,
					.program = program,
					.born = born,
					.part = resources_child(m->resources, m->host, number),
				});
	return number;
}

/* tid 0: the pool of a process. */
static uint32_t add_thread(uint32_t process, int tid, double born)
{
	struct machine *m = &the.d.own->machine;
	uint32_t number = m->threads.len, part = m->processes.data[process].part;
	vec_push(&m->threads,
		 (struct machine_thread){
			 .tid = tid,
			 .process = process,
			 .part = tid ? resources_child(m->resources, part, number) : part,
			 .name = "thread",
			 .counted = true,
			 .born = born,
		 });
	return number;
}

static uint32_t add_object(enum object_kind kind)
{
	struct waits *w = &the.d.own->waits;
	vec_push(&w->objects, (struct wait_object){.kind = (uint8_t)kind});
	return w->objects.len - 1;
}

static int start(void **state)
{
	const struct engine_options engine = {0};
	struct err e;
	(void)state;
	memset(&the, 0, sizeof(the));
	the.options.search = search_defaults;
	struct diagnose_private *own = the.d.own = calloc(1, sizeof(*own));
	the.d.o = &the.options;
	profile_init(&the.d.profile);
	arena_init(&own->arena);
	the.d.probing.engine = engine_new(&engine);
	own->search = search_new(&the.options.search, &diagnose_ops, &the.d);
	own->code = code_parts_new(search_resources(own->search), true);
	machine_init(&own->machine, search_resources(own->search), &own->ledger, &own->arena);
	waits_init(&own->waits, &own->machine, &own->mapped, &own->ledger, &own->arena);
	the.space = space_new(engine_codes(the.d.probing.engine), getpid());
	if (space_refresh(the.space, &e))
		return -1;
	the.inner = part_of(inner);
	add_process("program", 1, 0);
	add_thread(0, 0, 0);
	add_thread(0, 1000, 0);
	return 0;
}

static int finish(void **state)
{
	struct diagnose_private *own = the.d.own;
	(void)state;
	waits_release(&own->waits);
	machine_release(&own->machine);
	code_parts_free(own->code);
	search_free(own->search);
	ledger_release(&own->ledger);
	space_free(the.space);
	engine_free(the.d.probing.engine);
	arena_release(&own->arena);
	profile_release(&the.d.profile);
	free(own);
	return 0;
}

static struct focus in_code(uint32_t part)
{
	struct focus f = focus_whole();
	f.part[CODE] = part;
	return f;
}

/* ---- who does more than others ---- */

static struct live_experiment of(struct focus f)
{
	struct live_experiment x = {.hypothesis = IMBALANCE, .focus = f};
	imbalance_begin(&the.d, &x);
	return x;
}

static void does(uint32_t part, uint32_t thread, double seconds)
{
	ledger_add(&the.d.own->ledger, part, thread, LEDGER_NONE, AMOUNT_CPU, seconds);
}

#define assert_loss(x, loss)                                                                       \
	assert_true(imbalance_loss(&the.d, x) > (loss)-1e-9 &&                                     \
		    imbalance_loss(&the.d, x) < (loss) + 1e-9)

static void the_busiest_of_a_group_does_more(void **state)
{
	(void)state;
	uint32_t second = add_thread(0, 1001, 0), third = add_thread(0, 1002, 0.1);
	does(CODE, second, 100); /* before */
	struct live_experiment x = of(focus_whole());
	assert_loss(&x, 0);
	does(CODE, 1, 3);
	does(CODE, second, 3);
	does(CODE, third, 6);
	assert_loss(&x, 2);
	/* Who spins does not compute. */
	ledger_add(&the.d.own->ledger, CODE, third, add_object(OBJECT_SPIN), AMOUNT_SPIN, 3);
	assert_loss(&x, 0);
	vec_free(&x.before);
}

static void those_that_began_later_do_something_else(void **state)
{
	(void)state;
	uint32_t later = add_thread(0, 1001, 5);
	struct live_experiment x = of(focus_whole());
	does(CODE, 1, 6);
	does(CODE, later, 1);
	assert_loss(&x, 0);
	vec_free(&x.before);
}

static void the_idle_take_no_part(void **state)
{
	(void)state;
	uint32_t idle = add_thread(0, 1001, 0);
	struct live_experiment x = of(focus_whole());
	does(CODE, 1, 6);
	assert_loss(&x, 3);
	the.d.own->machine.threads.data[idle].counted = false;
	assert_loss(&x, 0);
	the.d.own->machine.threads.data[idle].counted = true;
	the.d.own->machine.threads.data[idle].gone = true;
	assert_loss(&x, 0);
	vec_free(&x.before);
}

/* Of a part of the code: those that came there. */
static void who_came_there_takes_part(void **state)
{
	(void)state;
	uint32_t second = add_thread(0, 1001, 0);
	add_thread(0, 1002, 0);
	struct live_experiment x = of(in_code(the.inner));
	does(the.inner, 1, 6);
	assert_loss(&x, 0);
	does(the.inner, second, 2);
	assert_loss(&x, 2);
	vec_free(&x.before);
}

/* A thread with so little to do that no sample shows it working waits for the others. */
static void who_waits_for_the_team_takes_part(void **state)
{
	(void)state;
	uint32_t second = add_thread(0, 1001, 0), third = add_thread(0, 1002, 0);
	struct live_experiment x = of(in_code(the.inner));
	does(the.inner, 1, 6);
	ledger_add(&the.d.own->ledger, the.inner, second, add_object(OBJECT_MUTEX),
		   AMOUNT_SEEN_WAIT, 6);
	assert_loss(&x, 0);
	ledger_add(&the.d.own->ledger, the.inner, second, add_object(OBJECT_OPENMP),
		   AMOUNT_SEEN_WAIT, 6);
	assert_loss(&x, 3);
	ledger_add(&the.d.own->ledger, the.inner, third, add_object(OBJECT_BARRIER),
		   AMOUNT_SEEN_WAIT, 6);
	assert_loss(&x, 4);
	vec_free(&x.before);
}

static void threads_that_share_work_are_not_compared(void **state)
{
	(void)state;
	uint32_t second = add_thread(0, 1001, 0);
	struct live_experiment x = of(focus_whole());
	does(CODE, 1, 6);
	does(CODE, second, 2);
	assert_loss(&x, 2);
	for (uint32_t i = 0; i < the.d.own->machine.threads.len; i++)
		the.d.own->machine.threads.data[i].shares = true;
	assert_loss(&x, 0);
	vec_free(&x.before);
}

static void serial_code_is_not_divided(void **state)
{
	(void)state;
	uint32_t second = add_thread(0, 1001, 0);
	struct live_experiment x = of(in_code(the.inner));
	x.sampled = true;
	ledger_add(&the.d.own->ledger, the.inner, 1, LEDGER_NONE, AMOUNT_SEEN_CPU, 6);
	ledger_add(&the.d.own->ledger, the.inner, second, LEDGER_NONE, AMOUNT_SEEN_CPU, 2);
	assert_loss(&x, 2);
	ledger_add(&the.d.own->ledger, the.inner, 1, LEDGER_NONE, AMOUNT_SERIAL, 4);
	assert_loss(&x, 0);
	vec_free(&x.before);
}

static void processes_of_the_same_program_are_a_group(void **state)
{
	(void)state;
	uint32_t same = add_process("program", 1, 0.2), different = add_process("another", 2, 0.2);
	uint32_t a = add_thread(same, 1001, 0.2), b = add_thread(different, 1002, 0.2);
	struct live_experiment x = of(focus_whole());
	does(CODE, 1, 2);
	does(CODE, b, 9);
	assert_loss(&x, 0); /* the other one does nothing: it waits */
	does(CODE, a, 0.05);
	assert_loss(&x, 0); /* or next to nothing */
	does(CODE, a, 5.95);
	assert_loss(&x, 2);
	vec_free(&x.before);
	/* Of one process alone there is none. */
	struct focus f = focus_whole();
	f.part[MACHINE] = the.d.own->machine.processes.data[same].part;
	struct live_experiment y = of(f);
	does(CODE, a, 6);
	assert_loss(&y, 0);
	vec_free(&y.before);
}

/* Clients decide what each process of a server does; but not of one that has a thread beside for
 * them. */
static void processes_that_serve_are_not_compared(void **state)
{
	(void)state;
	uint32_t same = add_process("program", 1, 0.2);
	uint32_t a = add_thread(same, 1001, 0.2), beside = add_thread(same, 1002, 0.2);
	struct machine_thread *threads = the.d.own->machine.threads.data;
	struct live_experiment x = of(focus_whole());
	threads[1].cpu_all = 2;
	threads[a].cpu_all = 6;
	threads[beside].cpu_all = 0.1;
	threads[beside].counted = false;
	threads[beside].serves = true;
	does(CODE, 1, 2);
	does(CODE, a, 6);
	assert_loss(&x, 2);
	threads[1].serves = threads[a].serves = true;
	assert_loss(&x, 0);
	vec_free(&x.before);
}

#define IMBALANCE_TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

int main(void)
{
	inner();
	const struct CMUnitTest tests[] = {
		IMBALANCE_TEST(the_busiest_of_a_group_does_more),
		IMBALANCE_TEST(those_that_began_later_do_something_else),
		IMBALANCE_TEST(the_idle_take_no_part),
		IMBALANCE_TEST(who_came_there_takes_part),
		IMBALANCE_TEST(who_waits_for_the_team_takes_part),
		IMBALANCE_TEST(threads_that_share_work_are_not_compared),
		IMBALANCE_TEST(serial_code_is_not_divided),
		IMBALANCE_TEST(processes_of_the_same_program_are_a_group),
		IMBALANCE_TEST(processes_that_serve_are_not_compared),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
