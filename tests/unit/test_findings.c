/* Which of the true experiments are told: evidence that is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "findings/findings.h"
#include "search/hypothesis.h"
#include "search/object.h"

/* ---- what is made up ---- */

enum { SECONDS = 10 }; /* it ran */
enum { NONE = PROFILE_NONE };

struct fixture {
	struct profile p;
	uint32_t host, process, module;
	uint32_t outer, middle, inner, other; /* resources of the code */
} the;

static uint32_t add_resource(uint32_t parent, enum profile_hierarchy h,
			     enum profile_resource_kind kind, const char *name)
{
	bool code = kind == RESOURCE_FUNCTION || kind == RESOURCE_LOOP;
	vec_push(&the.p.resources, (struct profile_resource){.parent = parent,
							     .hierarchy = (uint8_t)h,
							     .kind = (uint8_t)kind,
							     .name = name,
							     .module = code ? 0 : NONE,
							     .file = ""});
	return the.p.resources.len - 1;
}

static uint32_t add_function(const char *name)
{
	uint32_t r = add_resource(the.module, PROFILE_CODE, RESOURCE_FUNCTION, name);
	vec_push(&the.p.evidence.names, (struct evidence_name){r, name, name});
	return r;
}

static uint32_t add_thread(int tid, const char *name)
{
	uint32_t r = add_resource(the.process, PROFILE_MACHINE, RESOURCE_THREAD, name);
	vec_push(&the.p.evidence.threads,
		 (struct evidence_thread){
			 .resource = r, .tid = tid, .name = "thread", .idle = -SECONDS});
	return the.p.evidence.threads.len - 1;
}

static int start(void **state)
{
	static const char *const roots[] = {"Code", "Machine", "SyncObject", "File"};
	(void)state;
	memset(&the, 0, sizeof(the));
	profile_init(&the.p);
	for (int h = 0; h < HIERARCHIES; h++)
		add_resource(NONE, (enum profile_hierarchy)h, RESOURCE_GROUP, roots[h]);
	vec_push(&the.p.modules, (struct profile_module){.path = "/bin/program"});
	the.host = add_resource(MACHINE, PROFILE_MACHINE, RESOURCE_GROUP, "host");
	the.process = add_resource(the.host, PROFILE_MACHINE, RESOURCE_PROCESS, "1000 program");
	the.module = add_resource(CODE, PROFILE_CODE, RESOURCE_GROUP, "program");
	the.outer = add_function("outer");
	the.middle = add_function("middle");
	the.inner = add_function("inner");
	the.other = add_function("other");
	add_thread(1000, "1000 thread");
	the.p.evidence.run = (struct evidence_run){
		.seconds = SECONDS, .time = SECONDS, .cpu = SECONDS, .threads = SECONDS, .cpus = 2};
	profile_fact(&the.p, "ended", "duration");
	return 0;
}

static int finish(void **state)
{
	(void)state;
	profile_release(&the.p);
	return 0;
}

/* ---- a search ---- */

static struct focus in_code(uint32_t part)
{
	struct focus f = focus_whole();
	f.part[CODE] = part;
	return f;
}

static uint32_t experiment(enum hypothesis_id h, struct focus f,
			   enum profile_experiment_state state, double value, uint32_t parent)
{
	struct profile_experiment x = {
		.hypothesis = hypotheses[h].name,
		.state = (uint8_t)state,
		.origin = parent == NONE ? PROFILE_FROM_START : PROFILE_REFINED,
		.value = value,
		.threshold = hypotheses[h].threshold,
		.confidence = 0.99,
		.observed = 1,
		.tests = 1,
	};
	uint32_t number = the.p.experiments.len;
	for (int i = 0; i < HIERARCHIES; i++)
		x.focus[i] = f.part[i];
	vec_push(&the.p.experiments, x);
	if (parent != NONE)
		vec_push(&the.p.refinements, (struct profile_refinement){parent, number});
	return number;
}

static uint32_t is_true(enum hypothesis_id h, struct focus f, double value, uint32_t parent)
{
	return experiment(h, f, PROFILE_TRUE, value, parent);
}

static uint32_t is_false(enum hypothesis_id h, struct focus f, uint32_t parent)
{
	return experiment(h, f, PROFILE_FALSE, 0.01, parent);
}

/* Samples with these parts on their stacks, outermost first. */
static void seen(enum sample_class class, double seconds, uint32_t object, const uint32_t *parts,
		 uint32_t count)
{
	struct evidence *e = &the.p.evidence;
	struct evidence_chain c = {.first = e->parts.len,
				   .length = count,
				   .object = object,
				   .class = (uint8_t) class,
				   .seconds = seconds,
				   .samples = (uint32_t)(seconds * 100)};
	for (uint32_t i = 0; i < count; i++)
		vec_push(&e->parts, parts[i]);
	vec_push(&e->chains, c);
	e->run.sampled[class] += seconds;
}

#define SEEN(class, seconds, object, ...)                                                          \
	do {                                                                                       \
		const uint32_t seen_parts[] = {__VA_ARGS__};                                       \
		seen(class, seconds, object, seen_parts, ARRAY_SIZE(seen_parts));                  \
	} while (0)

static uint32_t add_object(enum object_kind kind, const char *name)
{
	enum hierarchy h = (enum hierarchy)object_kinds[kind].hierarchy;
	uint32_t group = NONE;
	for (uint32_t i = 0; i < the.p.resources.len; i++)
		if (the.p.resources.data[i].parent == h &&
		    !strcmp(the.p.resources.data[i].name, object_kinds[kind].name))
			group = i;
	if (group == NONE)
		group = add_resource(h, (enum profile_hierarchy)h, RESOURCE_GROUP,
				     object_kinds[kind].name);
	uint32_t r = add_resource(group, (enum profile_hierarchy)h, RESOURCE_OBJECT, name);
	vec_push(&the.p.evidence.objects,
		 (struct evidence_object){
			 .kind = object_kinds[kind].name, .name = name, .peer = "", .resource = r});
	return the.p.evidence.objects.len - 1;
}

static uint32_t part_of_object(uint32_t object)
{
	return the.p.evidence.objects.data[object].resource;
}

/* What was measured of the whole program. */
static void computed(double seconds)
{
	vec_push(&the.p.evidence.amounts,
		 (struct evidence_amount){.resource = CODE, .object = NONE, .cpu = seconds});
}

static void waited(uint32_t object, double seconds)
{
	vec_push(&the.p.evidence.amounts,
		 (struct evidence_amount){.resource = CODE, .object = object, .wait = seconds});
}

/* ---- what is reported ---- */

static uint32_t told(void)
{
	struct err e;
	if (profile_check(&the.p, &e))
		fail_msg("%s", e.text);
	findings_make(&the.p, false);
	return the.p.findings.len;
}

static const struct profile_finding *finding(uint32_t i)
{
	assert_true(i < the.p.findings.len);
	return &the.p.findings.data[i];
}

/* The finding is this experiment, with a share, and its sentence has this. */
static void assert_reported(uint32_t i, uint32_t of, double share, const char *words)
{
	assert_int_equal(finding(i)->experiment, of);
	if (finding(i)->share < share - 0.001 || finding(i)->share > share + 0.001)
		fail_msg("share %f instead of %f", finding(i)->share, share);
	if (!strstr(finding(i)->sentence, words))
		fail_msg("%s has no %s", finding(i)->sentence, words);
}

static bool remarked(const char *words)
{
	vec_each (r, &the.p.remarks)
		if (strstr(r->text, words))
			return true;
	return false;
}

static void the_deepest_is_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.middle), 0.9, a);
	uint32_t c = is_true(CPU_BOUND, in_code(the.inner), 0.8, b);
	is_false(CPU_BOUND, in_code(the.other), b);
	SEEN(SAMPLE_CPU, 8, NONE, the.outer, the.middle, the.inner);
	SEEN(SAMPLE_CPU, 1, NONE, the.outer, the.middle, the.other);
	SEEN(SAMPLE_CPU, 1, NONE, the.outer);
	assert_int_equal(told(), 1);
	assert_reported(0, c, 0.8, "inner");
	assert_true(remarked("outer > middle > inner"));
}

/* What no part explains is reported for the whole that has it. */
static void what_is_spread_is_told_of_the_whole(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.6, a);
	SEEN(SAMPLE_CPU, 6, NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 2, NONE, the.outer, the.middle);
	SEEN(SAMPLE_CPU, 2, NONE, the.outer, the.other);
	assert_int_equal(told(), 2);
	assert_reported(0, b, 0.6, "inner");
	assert_reported(1, a, 0.4, "not counting the findings inside it");
}

/* What is reported for its parts is not reported for the whole again. */
static void shares_add_up(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.4, a);
	SEEN(SAMPLE_CPU, 6, NONE, the.outer);
	SEEN(SAMPLE_CPU, 4, NONE, the.outer, the.inner);
	assert_int_equal(told(), 2);
	assert_reported(0, a, 0.6, "not counting the findings inside it");
	assert_reported(1, b, 0.4, "inner");
}

/* Neither alone is clearly above the threshold, and each is reported with what is its own. */
static void small_shares_add_up(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 0.39, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.21, a);
	SEEN(SAMPLE_CPU, 2, NONE, the.outer);
	SEEN(SAMPLE_CPU, 1.9, NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 6.1, NONE, the.other);
	assert_int_equal(told(), 2);
	assert_reported(0, a, 0.2, "not counting the findings inside it");
	assert_reported(1, b, 0.19, "inner");
}

static void little_of_ones_own_is_not_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.5, a);
	uint32_t c = is_true(CPU_BOUND, in_code(the.other), 0.35, a);
	SEEN(SAMPLE_CPU, 5, NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 3.5, NONE, the.outer, the.other);
	SEEN(SAMPLE_CPU, 1.5, NONE, the.outer);
	assert_int_equal(told(), 2);
	assert_reported(0, b, 0.5, "inner");
	assert_reported(1, c, 0.35, "other");
}

/* A deep starter below callers each of which is false: figure 1 of the paper. */
static void hidden_below_false_callers(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_false(CPU_BOUND, in_code(the.middle), a);
	uint32_t c = is_true(CPU_BOUND, in_code(the.inner), 0.9, b);
	for (int i = 0; i < 5; i++)
		SEEN(SAMPLE_CPU, 1.8, NONE, the.outer, the.middle, the.inner);
	SEEN(SAMPLE_CPU, 1, NONE, the.outer);
	assert_int_equal(told(), 1);
	assert_reported(0, c, 0.9, "inner");
}

/* Of few samples the search knows more. */
static void without_samples_the_leaves_are_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.inner), 0.7, a);
	assert_int_equal(told(), 1);
	assert_reported(0, b, 0.7, "inner");
}

/* Where no part of it is true, the functions with most samples are listed. */
static void what_it_is_made_of(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 1, root);
	SEEN(SAMPLE_CPU, 1.5, NONE, the.outer, the.middle);
	SEEN(SAMPLE_CPU, 1, NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 0.6, NONE, the.outer);
	SEEN(SAMPLE_CPU, 0.1, NONE, the.outer, the.other);
	SEEN(SAMPLE_CPU, 6.8, NONE, the.other);
	assert_int_equal(told(), 1);
	assert_reported(0, a, 0.32, "outer");
	assert_true(remarked("of that, 15 % in middle, 10 % in inner, 6 % in outer"));
	assert_false(remarked("% in other"));
}

/* One that has most of its time itself needs no list; one that has many small parts is flat. */
static void what_is_flat(void **state)
{
	uint32_t parts[60];
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_true(CPU_BOUND, in_code(the.outer), 0.6, root);
	is_true(CPU_BOUND, in_code(the.other), 0.4, root);
	for (uint32_t i = 0; i < ARRAY_SIZE(parts); i++) {
		parts[i] = add_function("small");
		SEEN(SAMPLE_CPU, i ? 0.1 : 0.3, NONE, the.outer, parts[i]);
	}
	SEEN(SAMPLE_CPU, 3.8, NONE, the.other);
	assert_int_equal(told(), 2);
	assert_true(remarked("flat: the largest parts are 3 % in small"));
	assert_false(remarked("of that"));
}

/* Functions of C++ have short names, as long as those differ. */
static void names_are_short(void **state)
{
	static const char one[] = "void ns::sort<int*>(int*, int*)";
	static const char two[] = "void ns::sort<long*>(long*, long*)";
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t first = add_function(one), second = add_function(two);
	uint32_t a = is_true(CPU_BOUND, in_code(first), 0.6, root);
	uint32_t b = is_true(CPU_BOUND, in_code(second), 0.4, root);
	SEEN(SAMPLE_CPU, 6, NONE, the.outer, first);
	SEEN(SAMPLE_CPU, 4, NONE, the.outer, second);
	assert_int_equal(told(), 2);
	assert_reported(0, a, 0.6, "in ns::sort (");
	assert_reported(1, b, 0.4, two);
	assert_true(remarked("outer > ns::sort"));
	findings_make(&the.p, true);
	assert_reported(0, a, 0.6, one);
	assert_reported(1, b, 0.4, two);
}

/* Of a server, shares are of the time in which it had requests. */
static void idle_time_is_told_once(void **state)
{
	(void)state;
	the.p.evidence.run.time = the.p.evidence.run.cpu = the.p.evidence.run.threads = 4;
	the.p.evidence.run.idle = 6;
	computed(4);
	uint32_t object = add_object(OBJECT_REQUESTS, "requests on 50 connections");
	the.p.evidence.objects.data[object].seconds = 6;
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.inner), 0.75, root);
	SEEN(SAMPLE_CPU, 3, NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 1, NONE, the.outer);
	assert_int_equal(told(), 1);
	assert_reported(0, a, 0.75, "75 % of busy time (30 % of run time) in inner");
	assert_true(remarked("Idle for 60 % of the run: waiting for requests on 50 connections."));
	assert_false(remarked("only 1 of 2 CPUs is busy"));
}

static void what_does_not_matter_for_the_run_is_not_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_true(CPU_BOUND, in_code(the.inner), 0.9, root); /* for a moment */
	uint32_t b = is_true(CPU_BOUND, in_code(the.other), 0.9, root);
	SEEN(SAMPLE_CPU, 1, NONE, the.inner);
	SEEN(SAMPLE_CPU, 9, NONE, the.other);
	assert_int_equal(told(), 1);
	assert_reported(0, b, 0.9, "other");
}

/* Parts that were true for a moment explain nothing: the one that calls them matters. */
static void what_does_not_matter_is_told_of_its_caller(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.outer), 0.4, root);
	is_true(CPU_BOUND, in_code(the.inner), 0.21, a);
	is_true(CPU_BOUND, in_code(the.middle), 0.21, a);
	SEEN(SAMPLE_CPU, 1.7, NONE, the.outer, the.inner);
	SEEN(SAMPLE_CPU, 1.7, NONE, the.outer, the.middle);
	SEEN(SAMPLE_CPU, 6.6, NONE, the.other);
	assert_int_equal(told(), 1);
	assert_reported(0, a, 0.34, "outer");
}

/* ---- waiting ---- */

static void objects_are_told_with_the_code(void **state)
{
	(void)state;
	uint32_t lock = add_object(OBJECT_MUTEX, "queue_lock"),
		 rare = add_object(OBJECT_MUTEX, "rare_lock");
	waited(lock, 8);
	waited(rare, 1);
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.9, NONE);
	uint32_t a = is_true(SYNC_WAITING, in_code(the.outer), 0.9, root);
	struct focus f = in_code(the.outer);
	f.part[SYNC] = part_of_object(lock);
	uint32_t b = is_true(SYNC_WAITING, f, 0.8, a);
	SEEN(SAMPLE_SYNC, 8, lock, the.outer);
	SEEN(SAMPLE_SYNC, 1, rare, the.outer);
	assert_int_equal(told(), 1);
	assert_reported(0, b, 0.8, "blocked on mutex queue_lock");
}

/* The program ended before the object was tested. */
static void the_kind_is_told_if_the_object_is_not(void **state)
{
	(void)state;
	uint32_t lock = add_object(OBJECT_MUTEX, "queue_lock");
	waited(lock, 8);
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.8, NONE);
	uint32_t a = is_true(SYNC_WAITING, in_code(the.outer), 0.8, root);
	struct focus f = in_code(the.outer);
	f.part[SYNC] = the.p.resources.data[part_of_object(lock)].parent;
	uint32_t b = is_true(SYNC_WAITING, f, 0.8, a);
	SEEN(SAMPLE_SYNC, 8, lock, the.outer);
	assert_int_equal(told(), 1);
	assert_reported(0, b, 0.8, "blocked on mutex queue_lock");
}

/* Calls that only take the kernel's time are seen as that; probes know better. */
static void what_nobody_was_seen_to_wait_for_is_told_by_the_leaves(void **state)
{
	(void)state;
	uint32_t file = add_object(OBJECT_FILE, "/tmp/log"), rare = add_object(OBJECT_FILE, "/x");
	waited(file, 8);
	waited(rare, 0.1);
	computed(SECONDS);
	uint32_t root = is_true(IO_BLOCKED, focus_whole(), 0.8, NONE);
	uint32_t a = is_true(IO_BLOCKED, in_code(the.outer), 0.8, root);
	uint32_t b = is_true(IO_BLOCKED, in_code(the.inner), 0.8, a);
	struct focus f = in_code(the.inner);
	f.part[FILES] = part_of_object(file);
	uint32_t c = is_true(IO_BLOCKED, f, 0.7, b);
	SEEN(SAMPLE_CPU, 8, NONE, the.outer, the.inner);
	assert_int_equal(told(), 1);
	assert_reported(0, c, 0.7, "blocked on file /tmp/log");
	assert_non_null(strstr(finding(0)->sentence, "inner"));
}

static void an_object_without_code_is_told(void **state)
{
	(void)state;
	uint32_t lock = add_object(OBJECT_MUTEX, "queue_lock");
	waited(lock, 8);
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.8, NONE);
	struct focus f = focus_whole();
	f.part[SYNC] = part_of_object(lock);
	uint32_t a = is_true(SYNC_WAITING, f, 0.8, root);
	assert_int_equal(told(), 1);
	assert_reported(0, a, 0.8, "blocked on mutex queue_lock");
	assert_non_null(strstr(finding(0)->sentence, "code all over the program"));
}

static void the_specific_is_told_instead_of_the_general(void **state)
{
	(void)state;
	uint32_t file = add_object(OBJECT_FILE, "/tmp/log");
	waited(file, 8);
	uint32_t root = is_true(IO_BLOCKED, focus_whole(), 0.8, NONE);
	uint32_t a = is_true(IO_BLOCKED, in_code(the.outer), 0.8, root);
	uint32_t small = is_true(SMALL_IO, in_code(the.outer), 0.7, a);
	SEEN(SAMPLE_IO, 8, file, the.outer);
	assert_int_equal(told(), 1);
	assert_reported(0, small, 0.8, "Small I/O");
}

static void the_general_is_told_elsewhere(void **state)
{
	(void)state;
	uint32_t file = add_object(OBJECT_FILE, "/tmp/log"),
		 blocks = add_object(OBJECT_FILE, "/tmp/blocks");
	waited(file, 4);
	waited(blocks, 5);
	uint32_t root = is_true(IO_BLOCKED, focus_whole(), 0.9, NONE);
	uint32_t a = is_true(IO_BLOCKED, in_code(the.outer), 0.4, root);
	uint32_t small = is_true(SMALL_IO, in_code(the.outer), 0.4, a);
	uint32_t b = is_true(IO_BLOCKED, in_code(the.other), 0.5, root);
	SEEN(SAMPLE_IO, 4, file, the.outer);
	SEEN(SAMPLE_IO, 5, blocks, the.other);
	assert_int_equal(told(), 2);
	assert_reported(0, b, 0.5, "I/O wait");
	assert_reported(1, small, 0.4, "Small I/O");
}

/* ---- parts of the machine ---- */

static void what_one_thread_does_is_told_as_its_own(void **state)
{
	(void)state;
	uint32_t second = add_thread(1001, "1001 thread");
	struct focus f = in_code(the.inner);
	f.part[MACHINE] = the.p.evidence.threads.data[second].resource;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_false(CPU_BOUND, in_code(the.inner), root);
	uint32_t b = is_true(CPU_BOUND, in_code(the.other), 0.85, root);
	struct focus thread = focus_whole();
	thread.part[MACHINE] = f.part[MACHINE];
	uint32_t t = is_true(CPU_BOUND, thread, 0.9, root);
	uint32_t local = is_true(CPU_BOUND, f, 0.8, t);
	SEEN(SAMPLE_CPU, 1.5, NONE, the.inner);
	SEEN(SAMPLE_CPU, 8.5, NONE, the.other);
	assert_int_equal(told(), 2);
	assert_reported(0, b, 0.85, "other");
	assert_reported(1, local, 0.15, "inner");
	assert_true(remarked("80 % of the time of 1001 thread"));
	/* What is true of the only process, and just not of the whole, is not its own. */
	f = in_code(the.middle);
	f.part[MACHINE] = the.process;
	is_true(CPU_BOUND, f, 0.8, root);
	assert_int_equal(told(), 2);
}

/* Processes of one command that wait in the same code, each for an object of its own. */
static void like_workers_are_told_as_one(void **state)
{
	(void)state;
	uint32_t root = is_false(IO_BLOCKED, focus_whole(), NONE), first = NONE;
	for (uint32_t i = 0; i < 4; i++) {
		static const char *const names[] = {"1 nginx", "2 nginx", "3 nginx", "4 nginx"};
		uint32_t object = add_object(OBJECT_FILE, names[i]);
		uint32_t process =
			add_resource(the.host, PROFILE_MACHINE, RESOURCE_PROCESS, names[i]);
		vec_push(&the.p.evidence.threads,
			 (struct evidence_thread){
				 .resource = process, .tid = (int)i + 1, .name = "", .idle = -1});
		struct focus f = in_code(the.inner);
		f.part[MACHINE] = process;
		f.part[FILES] = part_of_object(object);
		uint32_t x = is_true(IO_BLOCKED, f, 0.23 + 0.01 * i, root);
		first = first == NONE ? x : first;
		waited(object, 0.5);
		SEEN(SAMPLE_IO, 0.5, object, the.inner);
	}
	assert_int_equal(told(), 1);
	assert_reported(0, first, 0.2, "inner");
	assert_true(remarked("4 workers of nginx, 23 to 26 % of the time of each"));
}

/* If it is true of all, it is nothing of the thread's own. */
static void what_is_true_of_all_is_told_once(void **state)
{
	(void)state;
	struct focus f = in_code(the.inner);
	f.part[MACHINE] = the.p.evidence.threads.data[0].resource;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	uint32_t a = is_true(CPU_BOUND, in_code(the.inner), 0.9, root);
	is_true(CPU_BOUND, f, 0.9, a);
	SEEN(SAMPLE_CPU, 9, NONE, the.inner);
	SEEN(SAMPLE_CPU, 1, NONE, the.other);
	assert_int_equal(told(), 1);
	assert_reported(0, a, 0.9, "inner");
}

/* ---- little, much and nothing ---- */

static void the_whole_is_told_if_no_part_is(void **state)
{
	(void)state;
	computed(9);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 0.9, NONE);
	is_false(CPU_BOUND, in_code(the.inner), root);
	SEEN(SAMPLE_CPU, 9, NONE, the.outer, the.inner);
	assert_int_equal(told(), 1);
	assert_reported(0, root, 0.9, "code all over the program");
	assert_true(remarked("the hottest code (100 % of samples) is inner"));
}

static void nothing_is_told_with_the_evidence(void **state)
{
	(void)state;
	is_false(CPU_BOUND, focus_whole(), NONE);
	is_false(SYNC_WAITING, focus_whole(), NONE);
	assert_int_equal(told(), 0);
	assert_true(remarked("CPU-bound: 1.0 % (threshold 20 %)"));
}

/* ---- who waits, and where ---- */

/* A thread that does nothing but wait for work is no problem, wherever it waits. */
static void waiting_of_the_idle_is_not_told(void **state)
{
	(void)state;
	uint32_t filled = add_object(OBJECT_CONDITION, "filled");
	waited(filled, 8);
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.8, NONE);
	is_true(SYNC_WAITING, in_code(the.outer), 0.8, root);
	SEEN(SAMPLE_SYNC, 8, filled, the.outer);
	vec_push(&the.p.evidence.amounts,
		 (struct evidence_amount){.resource = the.outer, .object = filled, .seen_wait = 8});
	the.p.evidence.amounts.data[0].seen_wait = 8;
	assert_int_equal(told(), 1);
	the.p.evidence.threads.data[0].idle = 1;
	assert_int_equal(told(), 0);
}

static void threads_are_told(void **state)
{
	(void)state;
	computed(SECONDS);
	add_thread(1001, "1001 thread");
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_true(CPU_BOUND, in_code(the.inner), 0.9, root);
	SEEN(SAMPLE_CPU, 9, NONE, the.inner);
	for (uint32_t thread = 0; thread < 2; thread++)
		vec_push(&the.p.evidence.amounts,
			 (struct evidence_amount){.resource = the.inner,
						  .thread = thread,
						  .object = NONE,
						  .seen_cpu = thread ? 8.5 : 0.5});
	told();
	assert_true(remarked("in thread 1001 (thread)"));
	the.p.evidence.amounts.data[1].seen_cpu = 4;
	told();
	assert_true(remarked("in 2 threads"));
}

static void short_lived_threads_are_told(void **state)
{
	(void)state;
	computed(SECONDS);
	add_thread(1001, "1001 thread");
	uint32_t brief = add_thread(0, "short-lived threads");
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_true(CPU_BOUND, in_code(the.inner), 0.9, root);
	SEEN(SAMPLE_CPU, 9, NONE, the.inner);
	vec_push(&the.p.evidence.amounts,
		 (struct evidence_amount){.resource = the.inner, .object = NONE, .seen_cpu = 4});
	vec_push(&the.p.evidence.amounts,
		 (struct evidence_amount){
			 .resource = the.inner, .thread = brief, .object = NONE, .seen_cpu = 5});
	told();
	assert_true(remarked("in thread 1000 (thread), and in short-lived ones"));
	the.p.evidence.amounts.data[1].seen_cpu = 0.1;
	told();
	assert_true(remarked("in short-lived threads"));
}

static void how_often_an_object_is_waited_for_is_told(void **state)
{
	(void)state;
	uint32_t lock = add_object(OBJECT_MUTEX, "queue_lock");
	waited(lock, 8);
	the.p.evidence.objects.data[lock].count = 400;
	the.p.evidence.objects.data[lock].seconds = 8;
	uint32_t root = is_true(SYNC_WAITING, focus_whole(), 0.8, NONE);
	is_true(SYNC_WAITING, in_code(the.outer), 0.8, root);
	SEEN(SAMPLE_SYNC, 8, lock, the.outer);
	told();
	assert_true(remarked("40 waits per second, 20.0 ms each"));
	assert_true(remarked("do less work while mutex queue_lock is held"));
}

/* Returns a function in a file, for which memory is managed in 40 % of the run. */
static uint32_t allocating(void)
{
	computed(SECONDS);
	uint32_t make = add_object(OBJECT_CALL, "malloc"), drop = add_object(OBJECT_CALL, "free");
	uint32_t unmap = add_object(OBJECT_CALL, "free (munmap)");
	uint32_t root = is_true(MEMORY_MANAGEMENT, focus_whole(), 0.4, NONE);
	uint32_t x = is_true(MEMORY_MANAGEMENT, in_code(the.inner), 0.4, root);
	the.p.resources.data[the.inner].file = "/src/a.c";
	the.p.resources.data[the.inner].first_line = 3;
	SEEN(SAMPLE_MEMORY, 2.5, make, the.outer, the.inner);
	SEEN(SAMPLE_MEMORY, 1, drop, the.outer, the.inner);
	SEEN(SAMPLE_MEMORY, 0.5, unmap, the.outer, the.inner);
	return x;
}

static void callers_of_allocators_are_told(void **state)
{
	(void)state;
	uint32_t x = allocating();
	SEEN(SAMPLE_CPU, 6, NONE, the.outer, the.inner);
	assert_int_equal(told(), 1);
	assert_reported(0, x, 0.4, "40 % of run time in malloc and free, called in inner (a.c:3)");
	assert_true(remarked("of that, 25 % in malloc, 10 % in free, 5 % in free (munmap)"));
	assert_false(remarked("callers:"));
}

/* The part has what several functions do in it. */
static void callers_are_listed(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t make = add_object(OBJECT_CALL, "operator new");
	uint32_t root = is_true(MEMORY_MANAGEMENT, focus_whole(), 0.3, NONE);
	uint32_t x = is_true(MEMORY_MANAGEMENT, in_code(the.outer), 0.3, root);
	SEEN(SAMPLE_MEMORY, 1.6, make, the.outer, the.inner);
	SEEN(SAMPLE_MEMORY, 1.4, make, the.outer, the.middle);
	SEEN(SAMPLE_CPU, 7, NONE, the.outer, the.other);
	assert_int_equal(told(), 1);
	assert_reported(0, x, 0.3, "30 % of run time in operator new, called in outer");
	assert_true(remarked("callers: 16 % in inner, 14 % in middle"));
	assert_false(remarked("of that, "));
}

/* ---- what to do ---- */

/* In a loop, of which the source is known. */
static void to_allocate_less_is_advised(void **state)
{
	(void)state;
	allocating();
	SEEN(SAMPLE_CPU, 6, NONE, the.outer, the.inner);
	told();
	assert_false(remarked("allocate less often"));
	uint32_t loop = add_resource(the.outer, PROFILE_CODE, RESOURCE_LOOP, "loop");
	vec_push(&the.p.evidence.names, (struct evidence_name){loop, "outer", "outer"});
	the.p.evidence.parts.data[0] = loop;
	vec_push(&the.p.evidence.trips, (struct evidence_trip){the.inner, 0.01, 20000, 20000});
	told();
	assert_true(
		remarked("allocate less often in inner (a.c:3) (2 million calls per second): "));
	the.p.resources.data[the.inner].first_line = 0;
	told();
	assert_false(remarked("allocate less often"));
}

static void memory_that_is_given_back_is_told(void **state)
{
	(void)state;
	allocating();
	uint32_t faults = add_object(OBJECT_CALL, "page faults");
	uint32_t root = is_true(SYSTEM_TIME, focus_whole(), 0.6, NONE);
	is_true(SYSTEM_TIME, in_code(the.other), 0.6, root);
	SEEN(SAMPLE_SYSTEM, 6, faults, the.other);
	told();
	assert_true(remarked("memory that inner (a.c:3) frees goes back to the kernel"));
	assert_true(remarked("page faults (60 % of run time)"));
	the.p.evidence.objects.data[2].name = "free (page faults)";
	told();
	assert_false(remarked("goes back to the kernel"));
}

static void short_trips_are_told(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t loop = add_resource(the.inner, PROFILE_CODE, RESOURCE_LOOP, "loop a.c:3-5");
	the.p.resources.data[loop].file = "/src/a.c";
	the.p.resources.data[loop].first_line = 3;
	the.p.resources.data[loop].last_line = 5;
	vec_push(&the.p.evidence.names, (struct evidence_name){loop, "inner", "inner"});
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_true(CPU_BOUND, in_code(loop), 0.9, root);
	SEEN(SAMPLE_CPU, 9, NONE, the.inner, loop);
	vec_push(&the.p.evidence.trips, (struct evidence_trip){loop, 0.01, 20000, 30000});
	the.p.evidence.run.cpus = 1;
	assert_int_equal(told(), 1);
	assert_reported(0, 1, 1, "in inner, loop at a.c:3-5");
	assert_true(remarked(
		"the loop at a.c:3-5 in inner is entered about 2 million times per second, "
		"for 1.5 iterations on average"));
	the.p.evidence.trips.data[0].iterations = 300000;
	told();
	assert_false(remarked("iterations on average"));
}

static void one_cpu_of_several(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t loop = add_resource(the.inner, PROFILE_CODE, RESOURCE_LOOP, "loop");
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_true(CPU_BOUND, in_code(the.inner), 0.9, root);
	SEEN(SAMPLE_CPU, 9, NONE, loop, the.inner);
	the.p.evidence.threads.data[0].cpu = SECONDS;
	told();
	assert_true(remarked("only 1 of 2 CPUs is busy"));
	the.p.evidence.run.cpus = 1;
	told();
	assert_false(remarked("CPUs is busy"));
	the.p.evidence.run.cpus = 2;
	add_thread(1001, "1001 thread");
	the.p.evidence.threads.data[1].cpu = SECONDS;
	told();
	assert_false(remarked("CPUs is busy"));
}

/* The same evidence gives the same words, however often. */
static void they_can_be_made_again(void **state)
{
	(void)state;
	computed(SECONDS);
	uint32_t root = is_true(CPU_BOUND, focus_whole(), 1, NONE);
	is_true(CPU_BOUND, in_code(the.inner), 0.9, root);
	SEEN(SAMPLE_CPU, 9, NONE, the.outer, the.inner);
	told();
	uint32_t remarks = the.p.remarks.len;
	const char *sentence = finding(0)->sentence;
	assert_int_equal(told(), 1);
	assert_int_equal(the.p.remarks.len, remarks);
	assert_string_equal(finding(0)->sentence, sentence);
}

/* ---- processes ---- */

static void ran(struct evidence_command c)
{
	vec_push(&the.p.evidence.commands, c);
}

static bool is_told_of_commands(void)
{
	vec_each (r, &the.p.remarks)
		if (!strcmp(r->kind, "command"))
			return true;
	return false;
}

static void a_build_is_told_by_command(void **state)
{
	(void)state;
	ran((struct evidence_command){
		.name = "make", .processes = 1, .cpu = 0.1, .longest = 10, .argument = ""});
	ran((struct evidence_command){.name = "cc1",
				      .processes = 33,
				      .cpu = 16,
				      .longest = 1.23,
				      .argument = "lvm.c",
				      .alone = 0.5});
	ran((struct evidence_command){.name = "as", .processes = 33, .cpu = 1, .argument = ""});
	ran((struct evidence_command){.name = "rm", .processes = 1, .argument = ""});
	ran((struct evidence_command){.name = "ld",
				      .processes = 1,
				      .cpu = 1.4,
				      .longest = 1.5,
				      .argument = "lua",
				      .alone = 1.5,
				      .closing = 1.5});
	told();
	assert_true(remarked("Commands: cc1 86 % of CPU time (33 processes; longest 1.2 s, lvm.c), "
			     "ld 8 % (lua), as 5 % (33 processes), 2 others 1 %"));
	assert_true(remarked("1.9 of 2 CPUs used on average; one process at a time for 20 % of the "
			     "run, mostly ld (15 %); in the last 1.5 s only ld (lua)"));
}

static void a_script_does_one_after_the_other(void **state)
{
	(void)state;
	ran((struct evidence_command){
		.name = "sh", .processes = 1, .cpu = 0.1, .argument = "", .alone = 0.1});
	ran((struct evidence_command){.name = "gzip",
				      .processes = 4,
				      .cpu = 9.9,
				      .longest = 3,
				      .argument = "",
				      .alone = 9.9,
				      .closing = 9.9});
	told();
	assert_true(remarked("gzip 99 % of CPU time (4 processes; longest 3.0 s), sh 1 %"));
	assert_true(remarked("one process at a time for 100 % of the run: gzip"));
	assert_false(remarked("in the last"));
}

static void few_processes_are_not_told_by_command(void **state)
{
	(void)state;
	ran((struct evidence_command){.name = "sh", .processes = 1, .cpu = 1, .argument = ""});
	ran((struct evidence_command){.name = "wc", .processes = 1, .cpu = 1, .argument = ""});
	ran((struct evidence_command){.name = "nginx", .cpu = 1, .argument = ""});
	told();
	assert_false(is_told_of_commands());
}

/* A profile of an older sonde has findings and no evidence: they stay. */
static void without_evidence_nothing_is_made(void **state)
{
	(void)state;
	vec_push(&the.p.findings,
		 (struct profile_finding){"cpu", NONE, NONE, 0.5, 0.9, "it is slow"});
	the.p.evidence.run = (struct evidence_run){0};
	assert_int_equal(told(), 1);
	assert_string_equal(finding(0)->sentence, "it is slow");
}

#define FINDINGS_TEST(function) cmocka_unit_test_setup_teardown(function, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FINDINGS_TEST(the_deepest_is_told),
		FINDINGS_TEST(what_is_spread_is_told_of_the_whole),
		FINDINGS_TEST(shares_add_up),
		FINDINGS_TEST(small_shares_add_up),
		FINDINGS_TEST(little_of_ones_own_is_not_told),
		FINDINGS_TEST(hidden_below_false_callers),
		FINDINGS_TEST(without_samples_the_leaves_are_told),
		FINDINGS_TEST(what_it_is_made_of),
		FINDINGS_TEST(what_is_flat),
		FINDINGS_TEST(names_are_short),
		FINDINGS_TEST(idle_time_is_told_once),
		FINDINGS_TEST(what_does_not_matter_for_the_run_is_not_told),
		FINDINGS_TEST(what_does_not_matter_is_told_of_its_caller),
		FINDINGS_TEST(objects_are_told_with_the_code),
		FINDINGS_TEST(the_kind_is_told_if_the_object_is_not),
		FINDINGS_TEST(what_nobody_was_seen_to_wait_for_is_told_by_the_leaves),
		FINDINGS_TEST(an_object_without_code_is_told),
		FINDINGS_TEST(the_specific_is_told_instead_of_the_general),
		FINDINGS_TEST(the_general_is_told_elsewhere),
		FINDINGS_TEST(what_one_thread_does_is_told_as_its_own),
		FINDINGS_TEST(like_workers_are_told_as_one),
		FINDINGS_TEST(what_is_true_of_all_is_told_once),
		FINDINGS_TEST(the_whole_is_told_if_no_part_is),
		FINDINGS_TEST(nothing_is_told_with_the_evidence),
		FINDINGS_TEST(waiting_of_the_idle_is_not_told),
		FINDINGS_TEST(threads_are_told),
		FINDINGS_TEST(short_lived_threads_are_told),
		FINDINGS_TEST(how_often_an_object_is_waited_for_is_told),
		FINDINGS_TEST(callers_of_allocators_are_told),
		FINDINGS_TEST(callers_are_listed),
		FINDINGS_TEST(to_allocate_less_is_advised),
		FINDINGS_TEST(memory_that_is_given_back_is_told),
		FINDINGS_TEST(short_trips_are_told),
		FINDINGS_TEST(one_cpu_of_several),
		FINDINGS_TEST(a_build_is_told_by_command),
		FINDINGS_TEST(a_script_does_one_after_the_other),
		FINDINGS_TEST(few_processes_are_not_told_by_command),
		FINDINGS_TEST(they_can_be_made_again),
		FINDINGS_TEST(without_evidence_nothing_is_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
