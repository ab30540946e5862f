/* Which of the true experiments are told, and who does more than others: a search, samples and
 * measurements that are made up, of procedures of this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diagnose/findings.h"
#include "search/state.h"

/* ---- the program ---- */

#define OWN __attribute__((noipa))

static volatile int sink;

OWN static void outer(void)
{
	sink++;
}

OWN static void middle(void)
{
	sink += 2;
}

OWN static void inner(void)
{
	sink += 3;
}

OWN static void other(void)
{
	sink += 4;
}

/* ---- what is made up ---- */

enum { SECONDS = 10 }; /* it ran */

struct fixture {
	struct diagnose_options options;
	struct diagnosis d;
	struct space *space;
	uint32_t outer, middle, inner, other; /* parts */
} the;

static uint32_t part_of(void (*procedure)(void))
{
	struct place p = space_find(the.space, (uint64_t)(uintptr_t)procedure);
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

static void set_span(uint32_t part, struct machine_span span)
{
	struct machine *m = &the.d.own->machine;
	while (m->spans.len <= part)
		vec_push(&m->spans, (struct machine_span){0});
	m->spans.data[part] = span;
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
	the.d.seconds = SECONDS;
	the.d.ended = "duration";
	profile_init(&the.d.profile);
	arena_init(&own->arena);
	own->engine = engine_new(&engine);
	own->search = search_new(&the.options.search, &diagnose_ops, &the.d);
	own->code = code_parts_new(search_resources(own->search), true);
	machine_init(&own->machine, search_resources(own->search), &own->ledger, &own->arena);
	waits_init(&own->waits, &own->machine, &own->mapped, &own->ledger, &own->arena);
	the.space = space_new(engine_codes(own->engine), getpid());
	if (space_refresh(the.space, &e))
		return -1;
	the.outer = part_of(outer);
	the.middle = part_of(middle);
	the.inner = part_of(inner);
	the.other = part_of(other);
	add_process("program", 1, 0);
	add_thread(0, 0, 0);
	add_thread(0, 1000, 0);
	set_span(MACHINE,
		 (struct machine_span){.time = SECONDS, .cpu = SECONDS, .threads = SECONDS});
	return 0;
}

static int finish(void **state)
{
	struct diagnose_private *own = the.d.own;
	(void)state;
	vec_free(&own->samples.chains);
	vec_free(&own->samples.parts);
	waits_release(&own->waits);
	machine_release(&own->machine);
	code_parts_free(own->code);
	search_free(own->search);
	ledger_release(&own->ledger);
	space_free(the.space);
	engine_free(own->engine);
	arena_release(&own->arena);
	profile_release(&the.d.profile);
	free(own);
	return 0;
}

/* ---- a search ---- */

static struct focus in_code(uint32_t part)
{
	struct focus f = focus_whole();
	f.part[CODE] = part;
	return f;
}

static uint32_t experiment(enum hypothesis_id h, struct focus f, enum experiment_state state,
			   double value, uint32_t parent)
{
	struct history *history = &the.d.own->search->history;
	const struct experiment e = {
		.hypothesis = (uint8_t)h,
		.state = (uint8_t)state,
		.origin = parent == EXPERIMENT_NONE ? ORIGIN_ROOT : ORIGIN_REFINED,
		.focus = f,
		.value = value,
		.threshold = hypotheses[h].threshold,
		.confidence = 0.99,
		.observed = 1,
		.tests = 1,
	};
	uint32_t number = history_add(history, &e);
	if (parent != EXPERIMENT_NONE)
		history_link(history, parent, number);
	return number;
}

static uint32_t is_true(enum hypothesis_id h, struct focus f, double value, uint32_t parent)
{
	return experiment(h, f, EXPERIMENT_TRUE, value, parent);
}

static uint32_t is_false(enum hypothesis_id h, struct focus f, uint32_t parent)
{
	return experiment(h, f, EXPERIMENT_FALSE, 0.01, parent);
}

/* Samples with these parts on their stacks, outermost first. */
static void seen(enum sample_class class, double seconds, uint32_t object, const uint32_t *parts,
		 uint32_t count)
{
	struct samples *s = &the.d.own->samples;
	struct chain c = {.first = s->parts.len,
			  .length = count,
			  .object = object,
			  .class = (uint8_t) class,
			  .seconds = seconds,
			  .count = (uint32_t)(seconds * 100)};
	for (uint32_t i = 0; i < count; i++)
		vec_push(&s->parts, parts[i]);
	vec_push(&s->chains, c);
	s->seconds[class] += seconds;
}

#define SEEN(class, seconds, object, ...)                                                          \
	do {                                                                                       \
		const uint32_t seen_parts[] = {__VA_ARGS__};                                       \
		seen(class, seconds, object, seen_parts, ARRAY_SIZE(seen_parts));                  \
	} while (0)

static uint32_t add_object(enum object_kind kind, const char *name)
{
	struct waits *w = &the.d.own->waits;
	struct resources *r = search_resources(the.d.own->search);
	uint32_t number = w->objects.len;
	uint32_t part = resources_child(r, object_kinds[kind].hierarchy, kind);
	vec_push(&w->objects, (struct wait_object){.kind = (uint8_t)kind,
						   .name = name,
						   .named = true,
						   .part = resources_child(r, part, number),
						   .merged = LEDGER_NONE});
	return number;
}

/* What was measured of the whole program. */
static void computed(double seconds)
{
	ledger_add(&the.d.own->ledger, CODE, 1, LEDGER_NONE, AMOUNT_CPU, seconds);
}

static void waited(uint32_t object, double seconds)
{
	ledger_add(&the.d.own->ledger, CODE, 1, object, AMOUNT_WAIT, seconds);
}

/* ---- what is told ---- */

static uint32_t told(void)
{
	findings_write(&the.d);
	return the.d.profile.findings.len;
}

static const struct profile_finding *finding(uint32_t i)
{
	assert_true(i < the.d.profile.findings.len);
	return &the.d.profile.findings.data[i];
}

/* The finding is this experiment, with a share, and its sentence has this. */
static void assert_told(uint32_t i, uint32_t of, double share, const char *words)
{
	assert_int_equal(finding(i)->experiment, of);
	if (finding(i)->share < share - 0.001 || finding(i)->share > share + 0.001)
		fail_msg("share %f instead of %f", finding(i)->share, share);
	if (!strstr(finding(i)->sentence, words))
		fail_msg("%s has no %s", finding(i)->sentence, words);
}

static bool remarked(const char *words)
{
	vec_each (r, &the.d.profile.remarks)
		if (strstr(r->text, words))
			return true;
	return false;
}

static void the_deepest_is_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.middle), 0.9, a);
	uint32_t c = is_true(CPU_BOUND, in_code(the.inner), 0.8, b);
	is_false(CPU_BOUND, in_code(the.other), b);
	SEEN(SAMPLE_CPU, 8, LEDGER_NONE, the.outer, the.middle, the.inner);
	SEEN(SAMPLE_CPU, 1, LEDGER_NONE, the.outer, the.middle, the.other);
	SEEN(SAMPLE_CPU, 1, LEDGER_NONE, the.outer);
	assert_int_equal(told(), 1);
	assert_told(0, c, 0.8, "inner");
	assert_true(remarked("outer > middle > inner"));
}

/* What no part explains is told of the whole that has it. */
static void what_is_spread_is_told_of_the_whole(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.6, a);
	SEEN(SAMPLE_CPU, 6, LEDGER_NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 2, LEDGER_NONE, the.outer, the.middle);
	SEEN(SAMPLE_CPU, 2, LEDGER_NONE, the.outer, the.other);
	assert_int_equal(told(), 2);
	assert_told(0, b, 0.6, "inner");
	assert_told(1, a, 0.4, "beside what is told of its parts");
}

static void little_of_ones_own_is_not_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.5, a);
	uint32_t c = is_true(CPU_BOUND, in_code(the.other), 0.35, a);
	SEEN(SAMPLE_CPU, 5, LEDGER_NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 3.5, LEDGER_NONE, the.outer, the.other);
	SEEN(SAMPLE_CPU, 1.5, LEDGER_NONE, the.outer);
	assert_int_equal(told(), 2);
	assert_told(0, b, 0.5, "inner");
	assert_told(1, c, 0.35, "other");
}

/* A deep starter below callers each of which is false: figure 1 of the paper. */
static void hidden_below_false_callers(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_false(CPU_BOUND, in_code(the.middle), a);
	uint32_t c = is_true(CPU_BOUND, in_code(the.inner), 0.9, b);
	for (int i = 0; i < 5; i++)
		SEEN(SAMPLE_CPU, 1.8, LEDGER_NONE, the.outer, the.middle, the.inner);
	SEEN(SAMPLE_CPU, 1, LEDGER_NONE, the.outer);
	assert_int_equal(told(), 1);
	assert_told(0, c, 0.9, "inner");
}

/* Of few samples the search knows more. */
static void without_samples_the_leaves_are_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.7, a);
	assert_int_equal(told(), 1);
	assert_told(0, b, 0.7, "inner");
}

static void what_does_not_matter_for_the_run_is_not_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	is_true(CPU_BOUND, in_code(the.inner), 0.9, root); /* for a moment */
	uint32_t b = is_true(CPU_BOUND, in_code(the.other), 0.9, root);
	SEEN(SAMPLE_CPU, 1, LEDGER_NONE, the.inner);
	SEEN(SAMPLE_CPU, 9, LEDGER_NONE, the.other);
	assert_int_equal(told(), 1);
	assert_told(0, b, 0.9, "other");
}

/* ---- waiting ---- */

static void objects_are_told_with_the_code(void **state)
{
	(void)state;
	uint32_t lock = add_object(OBJECT_MUTEX, "queue_lock"),
		 rare = add_object(OBJECT_MUTEX, "rare_lock");
	waited(lock, 8);
	waited(rare, 1);
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.9, EXPERIMENT_NONE);
	uint32_t a = is_true(SYNC_WAITING, in_code(the.outer), 0.9, root);
	struct focus f = in_code(the.outer);
	f.part[SYNC] = the.d.own->waits.objects.data[lock].part;
	uint32_t b = is_true(SYNC_WAITING, f, 0.8, a);
	SEEN(SAMPLE_SYNC, 8, lock, the.outer);
	SEEN(SAMPLE_SYNC, 1, rare, the.outer);
	assert_int_equal(told(), 1);
	assert_told(0, b, 0.8, "for the mutex queue_lock");
}

/* The program ended before the object was tested. */
static void the_kind_is_told_if_the_object_is_not(void **state)
{
	(void)state;
	uint32_t lock = add_object(OBJECT_MUTEX, "queue_lock");
	struct resources *r = search_resources(the.d.own->search);
	waited(lock, 8);
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.8, EXPERIMENT_NONE);
	uint32_t a = is_true(SYNC_WAITING, in_code(the.outer), 0.8, root);
	struct focus f = in_code(the.outer);
	f.part[SYNC] = r->list.data[the.d.own->waits.objects.data[lock].part].parent;
	uint32_t b = is_true(SYNC_WAITING, f, 0.8, a);
	SEEN(SAMPLE_SYNC, 8, lock, the.outer);
	assert_int_equal(told(), 1);
	assert_told(0, b, 0.8, "for the mutex queue_lock");
}

/* Calls that only take the kernel's time are seen as that; probes know better. */
static void what_nobody_was_seen_to_wait_for_is_told_by_the_leaves(void **state)
{
	(void)state;
	uint32_t file = add_object(OBJECT_FILE, "/tmp/log"), rare = add_object(OBJECT_FILE, "/x");
	waited(file, 8);
	waited(rare, 0.1);
	computed(SECONDS);
	uint32_t root = is_true(IO_BLOCKED, focus_whole(), 0.8, EXPERIMENT_NONE);
	uint32_t a = is_true(IO_BLOCKED, in_code(the.outer), 0.8, root);
	uint32_t b = is_true(IO_BLOCKED, in_code(the.inner), 0.8, a);
	struct focus f = in_code(the.inner);
	f.part[FILES] = the.d.own->waits.objects.data[file].part;
	uint32_t c = is_true(IO_BLOCKED, f, 0.7, b);
	SEEN(SAMPLE_CPU, 8, LEDGER_NONE, the.outer, the.inner);
	assert_int_equal(told(), 1);
	assert_told(0, c, 0.7, "for the file /tmp/log");
	assert_non_null(strstr(finding(0)->sentence, "inner"));
}

static void an_object_without_code_is_told(void **state)
{
	(void)state;
	uint32_t lock = add_object(OBJECT_MUTEX, "queue_lock");
	waited(lock, 8);
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.8, EXPERIMENT_NONE);
	struct focus f = focus_whole();
	f.part[SYNC] = the.d.own->waits.objects.data[lock].part;
	uint32_t a = is_true(SYNC_WAITING, f, 0.8, root);
	assert_int_equal(told(), 1);
	assert_told(0, a, 0.8, "for the mutex queue_lock");
	assert_non_null(strstr(finding(0)->sentence, "no part of the code in particular"));
}

static void the_specific_is_told_instead_of_the_general(void **state)
{
	(void)state;
	uint32_t file = add_object(OBJECT_FILE, "/tmp/log");
	waited(file, 8);
	uint32_t root = is_true(IO_BLOCKED, focus_whole(), 0.8, EXPERIMENT_NONE);
	uint32_t a = is_true(IO_BLOCKED, in_code(the.outer), 0.8, root);
	uint32_t small = is_true(SMALL_IO, in_code(the.outer), 0.7, a);
	SEEN(SAMPLE_IO, 8, file, the.outer);
	assert_int_equal(told(), 1);
	assert_told(0, small, 0.8, "Too many small operations");
}

static void the_general_is_told_elsewhere(void **state)
{
	(void)state;
	uint32_t file = add_object(OBJECT_FILE, "/tmp/log"),
		 blocks = add_object(OBJECT_FILE, "/tmp/blocks");
	waited(file, 4);
	waited(blocks, 5);
	uint32_t root = is_true(IO_BLOCKED, focus_whole(), 0.9, EXPERIMENT_NONE);
	uint32_t a = is_true(IO_BLOCKED, in_code(the.outer), 0.4, root);
	uint32_t small = is_true(SMALL_IO, in_code(the.outer), 0.4, a);
	uint32_t b = is_true(IO_BLOCKED, in_code(the.other), 0.5, root);
	SEEN(SAMPLE_IO, 4, file, the.outer);
	SEEN(SAMPLE_IO, 5, blocks, the.other);
	assert_int_equal(told(), 2);
	assert_told(0, b, 0.5, "Blocked in input and output");
	assert_told(1, small, 0.4, "Too many small operations");
}

/* ---- parts of the machine ---- */

static void what_one_thread_does_is_told_as_its_own(void **state)
{
	(void)state;
	uint32_t second = add_thread(0, 1001, 0);
	struct focus f = in_code(the.inner);
	f.part[MACHINE] = the.d.own->machine.threads.data[second].part;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	is_false(CPU_BOUND, in_code(the.inner), root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.other), 0.85, root);
	struct focus thread = focus_whole();
	thread.part[MACHINE] = f.part[MACHINE];
	uint32_t t = is_true(CPU_BOUND, thread, 0.9, root);
	uint32_t local = is_true(CPU_BOUND, f, 0.8, t);
	SEEN(SAMPLE_CPU, 1.5, LEDGER_NONE, the.inner);
	SEEN(SAMPLE_CPU, 8.5, LEDGER_NONE, the.other);
	assert_int_equal(told(), 2);
	assert_told(0, b, 0.85, "other");
	assert_told(1, local, 0.15, "inner");
	assert_true(remarked("80 % of the time of 1001 thread"));
}

/* If it is true of all, it is nothing of the thread's own. */
static void what_is_true_of_all_is_told_once(void **state)
{
	(void)state;
	struct focus f = in_code(the.inner);
	f.part[MACHINE] = the.d.own->machine.threads.data[1].part;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, EXPERIMENT_NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.inner), 0.9, root);
	is_true(CPU_BOUND, f, 0.9, a);
	SEEN(SAMPLE_CPU, 9, LEDGER_NONE, the.inner);
	SEEN(SAMPLE_CPU, 1, LEDGER_NONE, the.other);
	assert_int_equal(told(), 1);
	assert_told(0, a, 0.9, "inner");
}

/* ---- little, much and nothing ---- */

static void the_whole_is_told_if_no_part_is(void **state)
{
	(void)state;
	computed(9);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 0.9, EXPERIMENT_NONE);
	is_false(CPU_BOUND, in_code(the.inner), root);
	SEEN(SAMPLE_CPU, 9, LEDGER_NONE, the.outer, the.inner);
	assert_int_equal(told(), 1);
	assert_told(0, root, 0.9, "no part of the code in particular");
	assert_true(remarked("most samples (100 %) were in inner"));
}

static void nothing_is_told_with_the_evidence(void **state)
{
	(void)state;
	is_false(CPU_BOUND, focus_whole(), EXPERIMENT_NONE);
	is_false(SYNC_WAITING, focus_whole(), EXPERIMENT_NONE);
	assert_int_equal(told(), 0);
	assert_true(remarked("CPU bound: 1.0 %, where 20 % would be much"));
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
	ledger_add(&the.d.own->ledger, CODE, third, 5, AMOUNT_SPIN, 3);
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

static void processes_of_the_same_program_are_a_group(void **state)
{
	(void)state;
	uint32_t same = add_process("program", 1, 0.2), different = add_process("another", 2, 0.2);
	uint32_t a = add_thread(same, 1001, 0.2), b = add_thread(different, 1002, 0.2);
	struct live_experiment x = of(focus_whole());
	does(CODE, 1, 2);
	does(CODE, b, 9);
	assert_loss(&x, 0); /* the other one does nothing: it waits */
	does(CODE, a, 6);
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

#define FINDINGS_TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

int main(void)
{
	outer();
	middle();
	inner();
	other();
	const struct CMUnitTest tests[] = {
		FINDINGS_TEST(the_deepest_is_told),
		FINDINGS_TEST(what_is_spread_is_told_of_the_whole),
		FINDINGS_TEST(little_of_ones_own_is_not_told),
		FINDINGS_TEST(hidden_below_false_callers),
		FINDINGS_TEST(without_samples_the_leaves_are_told),
		FINDINGS_TEST(what_does_not_matter_for_the_run_is_not_told),
		FINDINGS_TEST(objects_are_told_with_the_code),
		FINDINGS_TEST(the_kind_is_told_if_the_object_is_not),
		FINDINGS_TEST(what_nobody_was_seen_to_wait_for_is_told_by_the_leaves),
		FINDINGS_TEST(an_object_without_code_is_told),
		FINDINGS_TEST(the_specific_is_told_instead_of_the_general),
		FINDINGS_TEST(the_general_is_told_elsewhere),
		FINDINGS_TEST(what_one_thread_does_is_told_as_its_own),
		FINDINGS_TEST(what_is_true_of_all_is_told_once),
		FINDINGS_TEST(the_whole_is_told_if_no_part_is),
		FINDINGS_TEST(nothing_is_told_with_the_evidence),
		FINDINGS_TEST(the_busiest_of_a_group_does_more),
		FINDINGS_TEST(those_that_began_later_do_something_else),
		FINDINGS_TEST(the_idle_take_no_part),
		FINDINGS_TEST(who_came_there_takes_part),
		FINDINGS_TEST(processes_of_the_same_program_are_a_group),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
