/* What threads wait for: the cells that the runtime fills. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/syscall.h>
#include <unistd.h>

#include "runtime_bench.h"

enum {
	READS = RT_WAIT_BYTES | RT_CALL_NUMBER,
	WRITES = READS | RT_CALL_WRITES,
	WALL = 1 << RT_WALL,
	CALL_PC = 0x5000,
	SPIN_PC = 0x6000,
};

struct waits {
	struct rt_probe *block, *done;
};

static struct waits begin(struct bench *b)
{
	struct rt_header *h = header(b);
	struct waits w = {add_probe(b, RT_BLOCK, 0, CALL_PC, ENTRY_STEP),
			  add_probe(b, RT_BLOCK_DONE, 0, CALL_PC + 4, ENTRY_STEP)};
	h->watch_waits = 1;
	h->calls[SYS_read] = READS;
	h->calls[SYS_write] = WRITES;
	h->calls[SYS_fsync] = RT_WAIT_IO | RT_CALL_NUMBER | RT_CALL_FLUSHES;
	h->calls[SYS_openat] = RT_WAIT_IO | RT_CALL_OPENS;
	h->calls[SYS_futex] = RT_WAIT_SYNC | RT_CALL_ADDRESS | RT_CALL_FUTEX;
	h->calls[SYS_waitid] = RT_WAIT_SYNC | RT_CALL_NUMBER | RT_CALL_SECOND;
	h->calls[SYS_nanosleep] = RT_WAIT_SYNC;
	begin_program(b);
	return w;
}

static void before(struct bench *b, const struct waits *w, uint64_t number, uint64_t first,
		   uint64_t second)
{
	b->in.reg[FIRST] = first;
	b->in.reg[OPERATION] = second;
	b->in.reg[NUMBER] = number;
	hit(b, w->block);
}

static void after(struct bench *b, const struct waits *w, int64_t result)
{
	b->in.reg[RESULT] = (uint64_t)result;
	hit(b, w->done);
}

static void make(struct bench *b, const struct waits *w, uint64_t number, uint64_t first,
		 int64_t result)
{
	before(b, w, number, first, 0);
	after(b, w, result);
}

static const struct rt_wait_cell *find(const struct bench *b, uint64_t object, uint32_t subject,
				       uint32_t call)
{
	const struct rt_wait_cell *cells = (const void *)((uint8_t *)b->area + RT_AREA_WAITS);
	const struct rt_wait_cell *found = NULL;
	for (uint32_t i = 0; i < b->area->wait_cells; i++)
		if (cells[i].object == object && cells[i].subject == subject &&
		    cells[i].call == call) {
			assert_null(found);
			found = &cells[i];
		}
	return found;
}

static void cells_by_object(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	for (int i = 0; i < 5; i++) {
		make(b, &w, SYS_read, 3, 10);
		make(b, &w, SYS_read, 4, RT_SMALL);
		make(b, &w, SYS_read, UINT64_C(0xdead00000003), -4);
	}
	assert_int_equal(b->area->wait_cells, 2);
	const struct rt_wait_cell *c = find(b, 3, RT_NO_SUBJECT, SYS_read);
	assert_int_equal(c->pc, CALL_PC);
	assert_int_equal(c->count, 10);
	assert_int_equal(c->bytes, 50);
	assert_int_equal(c->small_count, 5);
	assert_true(c->small_ticks && c->small_ticks < c->ticks);
	const struct rt_wait_cell *d = find(b, 4, RT_NO_SUBJECT, SYS_read);
	assert_int_equal(d->count, 5);
	assert_int_equal(d->bytes, 5 * RT_SMALL);
	assert_int_equal(d->small_count, 0);
	assert_int_equal(b->area->waited_io, c->ticks + d->ticks);
}

static void objects_of_calls(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	make(b, &w, SYS_futex, 0x123456789abc, 0);
	before(b, &w, SYS_futex, 0x123456789abc, 1 /* wake */);
	after(b, &w, 0);
	before(b, &w, SYS_waitid, 0, UINT32_MAX /* pid -1 */);
	after(b, &w, 0);
	before(b, &w, SYS_waitid, 1, 4711);
	after(b, &w, 0);
	make(b, &w, SYS_nanosleep, 0x7000, 0);
	assert_int_equal(find(b, 0x123456789abc, RT_NO_SUBJECT, SYS_futex)->count, 1);
	assert_int_equal(find(b, RT_NO_OBJECT, RT_NO_SUBJECT, SYS_waitid)->count, 1);
	assert_int_equal(find(b, 4711, RT_NO_SUBJECT, SYS_waitid)->count, 1);
	assert_int_equal(find(b, RT_NO_OBJECT, RT_NO_SUBJECT, SYS_nanosleep)->count, 1);
	assert_int_equal(b->area->wait_cells, 4);
}

/* Of the last call that may wait, whatever it is inside of. */
static void registers_at_a_call(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct rt_probe *spin = add_probe(b, RT_WAIT, 0, SPIN_PC, ENTRY_STEP);
	b->fp = 0x7100;
	b->link = F + 4;
	before(b, &w, SYS_futex, 0x7000, 1 /* wake */);
	assert_int_equal(b->area->call_sp, 0);
	hit(b, spin);
	call(b, 1, F + 4);
	before(b, &w, SYS_read, 3, 0);
	assert_int_equal(b->area->call_pc, CALL_PC);
	assert_int_equal(b->area->call_sp, (uint64_t)b->sp);
	assert_int_equal(b->area->call_fp, 0x7100);
	assert_int_equal(b->area->call_link, LINK < 0 ? 0 : F + 4);
}

static void nothing_unless_asked_for(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	header(b)->watch_waits = 0;
	make(b, &w, SYS_read, 3, 10);
	assert_int_equal(b->area->wait_cells, 0);
	assert_true(b->area->waited_io);
}

/* However often it is active; and only if its time is measured. */
static void a_subject_has_its_part_once(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct probed f = add_function(b, 0, WALL, F), g = add_function(b, 0, BYTES, G);
	hit(b, f.enter);
	for (int i = 0; i < 3; i++) {
		call(b, 1, F + 4);
		hit(b, f.enter);
	}
	call(b, 1, G + 4);
	hit(b, g.enter);
	make(b, &w, SYS_read, 3, 10);
	make(b, &w, SYS_read, 3, 10);
	assert_int_equal(find(b, 3, f.enter->subject, SYS_read)->count, 2);
	assert_int_equal(find(b, 3, RT_NO_SUBJECT, SYS_read)->count, 2);
	assert_null(find(b, 3, g.enter->subject, SYS_read));
	hit(b, g.leave);
	come_back(b, 1);
	for (int i = 0; i < 3; i++) {
		hit(b, f.leave);
		come_back(b, 1);
	}
	make(b, &w, SYS_read, 3, 10);
	hit(b, f.leave);
	make(b, &w, SYS_read, 3, 10);
	assert_int_equal(find(b, 3, f.enter->subject, SYS_read)->count, 3);
	assert_int_equal(find(b, 3, f.enter->subject, SYS_read)->bytes, 30);
	assert_int_equal(find(b, 3, RT_NO_SUBJECT, SYS_read)->count, 4);
}

static void the_part_begins_with_the_subject(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct probed f = add_function(b, 0, WALL, F);
	before(b, &w, SYS_read, 3, 0);
	usleep(5000);
	hit(b, f.enter);
	after(b, &w, 1);
	uint64_t all = find(b, 3, RT_NO_SUBJECT, SYS_read)->ticks;
	assert_true(find(b, 3, f.enter->subject, SYS_read)->ticks < all / 2);
}

/* longjmp left them. */
static void void_activations_have_no_part(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct probed f = add_function(b, 0, WALL, F);
	call(b, 3, F + 4);
	hit(b, f.enter);
	come_back(b, 3);
	make(b, &w, SYS_read, 3, 1);
	assert_null(find(b, 3, f.enter->subject, SYS_read));
}

static void small_flushes(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct {
		uint64_t number;
		int64_t result;
		uint64_t small;
	} steps[] = {
		{SYS_write, 100, 0}, {SYS_fsync, 0, 1}, {SYS_write, RT_SMALL, 1},
		{SYS_fsync, 0, 1},   {SYS_fsync, 0, 2}, {SYS_write, RT_SMALL - 1, 2},
		{SYS_write, 1, 2},   {SYS_fsync, 0, 2}, {SYS_write, RT_SMALL, 2},
		{SYS_openat, 3, 2},  {SYS_fsync, 0, 3}, {SYS_write, RT_SMALL, 3},
		{SYS_openat, -2, 3}, {SYS_fsync, 0, 3},
	};
	for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		make(b, &w, steps[i].number, 3, steps[i].result);
		const struct rt_wait_cell *c = find(b, 3, RT_NO_SUBJECT, SYS_fsync);
		assert_int_equal(c ? c->small_count : 0, steps[i].small);
	}
	/* Of others nothing is known. */
	make(b, &w, SYS_fsync, RT_WAIT_DESCRIPTORS, 0);
	assert_int_equal(find(b, RT_WAIT_DESCRIPTORS, RT_NO_SUBJECT, SYS_fsync)->small_count, 0);
}

static void the_outer_wait_has_it_all(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct rt_probe *wait = add_probe(b, RT_WAIT, 0, SPIN_PC, ENTRY_STEP);
	struct rt_probe *plain = add_probe(b, RT_WAIT, 0, SPIN_PC + 64, ENTRY_STEP);
	struct rt_probe *wait_done = add_probe(b, RT_WAIT_DONE, 0, SPIN_PC + 4, ENTRY_STEP);
	wait->constant = 1;
	b->in.reg[FIRST] = 0x9000;
	hit(b, wait);
	call(b, 3, SPIN_PC + 8);
	make(b, &w, SYS_read, 3, 7);
	come_back(b, 3);
	hit(b, wait_done);
	const struct rt_wait_cell *c = find(b, 0x9000, RT_NO_SUBJECT, RT_NO_CALL);
	assert_int_equal(c->pc, SPIN_PC);
	assert_int_equal(c->bytes, 7);
	assert_int_equal(b->area->wait_cells, 1);
	hit(b, plain);
	hit(b, wait_done);
	assert_int_equal(find(b, RT_NO_OBJECT, RT_NO_SUBJECT, RT_NO_CALL)->pc, SPIN_PC + 64);
}

/* All that is lost then is which object it was. */
static void too_many_objects(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct probed f = add_function(b, 0, WALL, F);
	uint64_t count = 0, objects = RT_WAIT_CELLS;
	hit(b, f.enter);
	for (uint64_t i = 0; i < objects; i++)
		make(b, &w, SYS_futex, 0x10000 + 64 * i, 0);
	assert_true(b->area->wait_cells > RT_WAIT_OBJECTS / 2);
	assert_true(b->area->wait_cells < RT_WAIT_CELLS);
	assert_true(find(b, RT_NO_OBJECT, RT_NO_SUBJECT, SYS_futex));
	assert_true(find(b, RT_NO_OBJECT, f.enter->subject, SYS_futex));
	assert_true(b->area->dropped >= objects - RT_WAIT_OBJECTS / 2);
	const struct rt_wait_cell *cells = (const void *)((uint8_t *)b->area + RT_AREA_WAITS);
	for (uint32_t i = 0; i < b->area->wait_cells; i++)
		count += cells[i].count;
	assert_int_equal(count, 2 * objects);
}

static void other_stacks(void **state)
{
	struct bench *b = *state;
	struct waits w = begin(b);
	struct probed f = add_function(b, 0, WALL, F);
	hit(b, f.enter);
	/* As a handler on a stack of its own. */
	uint64_t low = b->area->stack_low;
	b->area->stack_low = b->area->stack_high;
	make(b, &w, SYS_read, 3, 1);
	b->area->stack_low = low;
	assert_int_equal(find(b, 3, f.enter->subject, SYS_read)->count, 1);
}

/* ---- who made it ---- */

static uint64_t maker_of(const struct bench *b, uint64_t object)
{
	const struct rt_made *table = (const void *)(b->region + RT_MADE_TABLE);
	uint64_t found = 0;
	for (uint32_t i = 0; i < RT_MADE_OBJECTS; i++)
		if (table[i].object == object) {
			assert_int_equal(found, 0);
			found = table[i].pc;
		}
	return found;
}

static void make_object(struct bench *b, const struct rt_probe *made, uint64_t object,
			uint64_t from)
{
	call(b, 0, from);
	b->in.reg[FIRST] = object;
	hit(b, made);
	come_back(b, 0);
}

enum { LOCK = 0x7000, OTHER = 0x7028 };

static void the_last_one_made_it(void **state)
{
	struct bench *b = *state;
	begin_program(b);
	struct rt_probe *made = add_probe(b, RT_MADE, 0, H, ENTRY_STEP);
	make_object(b, made, LOCK, F + 4);
	make_object(b, made, OTHER, G + 8);
	make_object(b, made, 0, G + 8);
	assert_int_equal(maker_of(b, LOCK), F + 4);
	assert_int_equal(maker_of(b, OTHER), G + 8);
	make_object(b, made, LOCK, G + 12);
	assert_int_equal(maker_of(b, LOCK), G + 12);
	assert_int_equal(b->area->hits[RT_MADE], 4);
	assert_int_equal(b->area->wait_cells, 0);
	assert_int_equal(b->area->busy, 0);
}

/* Those that have nowhere else to write, or are interrupted meanwhile, make objects as well; a
 * child that nobody prepared does not touch what is its parent's. */
static void whoever_makes_it(void **state)
{
	struct bench *b = *state;
	begin_program(b);
	struct rt_probe *made = add_probe(b, RT_MADE, 0, H, ENTRY_STEP);
	uint32_t tid = b->area->tid;
	b->area->tid = 0;
	make_object(b, made, LOCK, F + 4);
	b->area->tid = tid;
	assert_int_equal(maker_of(b, LOCK), F + 4);
	b->area->busy = (uint64_t)(b->sp + 16); /* further out: it was interrupted */
	make_object(b, made, LOCK, G + 8);
	b->area->busy = 0;
	assert_int_equal(maker_of(b, LOCK), G + 8);
	b->guard = 0;
	make_object(b, made, LOCK, F + 4);
	b->guard = RT_GUARD;
	assert_int_equal(maker_of(b, LOCK), G + 8);
}

/* What is known stays right when there is no room for more. */
static void too_many_made(void **state)
{
	struct bench *b = *state;
	begin_program(b);
	struct rt_probe *made = add_probe(b, RT_MADE, 0, H, ENTRY_STEP);
	struct rt_made *table = (struct rt_made *)(b->region + RT_MADE_TABLE);
	make_object(b, made, LOCK, F + 4);
	for (uint32_t i = 0; i < RT_MADE_OBJECTS; i++)
		if (!table[i].object)
			table[i] = (struct rt_made){1, 1};
	make_object(b, made, OTHER, G + 8);
	make_object(b, made, LOCK, G + 12);
	assert_int_equal(maker_of(b, OTHER), 0);
	assert_int_equal(maker_of(b, LOCK), G + 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cells_by_object),
		TEST(objects_of_calls),
		TEST(registers_at_a_call),
		TEST(nothing_unless_asked_for),
		TEST(a_subject_has_its_part_once),
		TEST(the_part_begins_with_the_subject),
		TEST(void_activations_have_no_part),
		TEST(small_flushes),
		TEST(the_outer_wait_has_it_all),
		TEST(too_many_objects),
		TEST(other_stacks),
		TEST(the_last_one_made_it),
		TEST(whoever_makes_it),
		TEST(too_many_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
