/* Who waits for whom, from made-up evidence of several processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "findings/parties.h"
#include "search/object.h"

enum { NONE = PROFILE_NONE };
/* Roots of the hierarchies. */
enum { CODE_ROOT, MACHINE_ROOT };

static struct {
	struct profile p;
	struct text told;
} the;

static int start(void **state)
{
	(void)state;
	memset(&the, 0, sizeof(the));
	profile_init(&the.p);
	for (int h = 0; h < 2; h++)
		vec_push(&the.p.resources,
			 (struct profile_resource){.parent = NONE,
						   .hierarchy = h ? PROFILE_MACHINE : PROFILE_CODE,
						   .kind = RESOURCE_GROUP,
						   .name = ""});
	the.p.evidence.run.calls_sampled = true;
	return 0;
}

static int finish(void **state)
{
	(void)state;
	text_release(&the.told);
	profile_release(&the.p);
	return 0;
}

/* Adds a process with one thread; returns the thread. */
static uint32_t add_process(int pid, const char *name, uint32_t parent)
{
	struct arena *a = &the.p.arena;
	vec_push(&the.p.processes, (struct profile_process){pid, parent, name});
	vec_push(&the.p.resources,
		 (struct profile_resource){.parent = MACHINE_ROOT,
					   .hierarchy = PROFILE_MACHINE,
					   .kind = RESOURCE_PROCESS,
					   .name = arena_printf(a, "%d %s", pid, name)});
	vec_push(
		&the.p.evidence.threads,
		(struct evidence_thread){
			.resource = the.p.resources.len - 1, .tid = pid, .name = name, .idle = -1});
	return the.p.evidence.threads.len - 1;
}

static uint32_t add_object(enum object_kind kind, const char *name, const char *peer, int pid,
			   int root)
{
	vec_push(&the.p.evidence.objects, (struct evidence_object){.kind = object_kinds[kind].name,
								   .name = name,
								   .resource = NONE,
								   .peer = peer,
								   .peer_pid = pid,
								   .peer_root = root});
	return the.p.evidence.objects.len - 1;
}

static void computes(uint32_t thread, double seconds)
{
	vec_push(&the.p.evidence.amounts,
		 (struct evidence_amount){.thread = thread, .object = NONE, .cpu = seconds});
}

static void waits(uint32_t thread, uint32_t object, double seconds)
{
	bool peer = the.p.evidence.objects.data[object].peer_pid;
	vec_push(&the.p.evidence.amounts, (struct evidence_amount){.thread = thread,
								   .object = object,
								   .seen_wait = seconds,
								   .asked = peer ? seconds : 0});
}

static void say(void *ctx, uint32_t object, struct text *out)
{
	(void)ctx;
	text_add(out, the.p.evidence.objects.data[object].name);
}

static const char *told(void)
{
	struct parties s;
	text_clear(&the.told);
	parties_find(&s, &the.p);
	parties_tell(&s, &the.p, say, NULL, &the.told);
	parties_release(&s);
	return the.told.len ? the.told.data : "";
}

static bool is_explained(uint32_t object)
{
	struct parties s;
	parties_find(&s, &the.p);
	bool explains = party_explains(&s, &the.p.evidence.objects.data[object]);
	parties_release(&s);
	return explains;
}

static void one_waits_for_the_other(void **state)
{
	(void)state;
	uint32_t front = add_process(10, "front", NONE), app = add_process(20, "app", NONE);
	uint32_t store = add_process(30, "store", NONE);
	uint32_t to_app = add_object(OBJECT_ANSWER, "127.0.0.1:80", "app", 20, 20);
	uint32_t to_store = add_object(OBJECT_ANSWER, "127.0.0.1:54", "store", 30, 30);
	uint32_t file = add_object(OBJECT_FILE, "log", "", 0, 0);
	computes(front, 1);
	waits(front, to_app, 9);
	computes(app, 3);
	waits(app, to_store, 7);
	computes(store, 2);
	waits(store, file, 6);
	assert_string_equal(told(),
			    "front (10) waits 90 % of its busy time for app (20), which waits "
			    "70 % for store (30), which waits 75 % for log");
	assert_true(is_explained(to_app));
	assert_true(is_explained(to_store));
	assert_false(is_explained(file));
	computes(store, 12);
	assert_string_equal(told(),
			    "front (10) waits 90 % of its busy time for app (20), which waits "
			    "70 % for store (30), which computes 70 %");
}

/* The workers of a server are one party, by the first process of their name. */
static void workers_are_one(void **state)
{
	(void)state;
	uint32_t client = add_process(5, "client", NONE);
	add_process(10, "server", NONE);
	uint32_t first = add_process(11, "server", 1), second = add_process(12, "server", 1);
	uint32_t to_first = add_object(OBJECT_ANSWER, "a", "server", 11, 10);
	uint32_t to_second = add_object(OBJECT_ANSWER, "b", "server", 12, 10);
	waits(client, to_first, 3);
	waits(client, to_second, 5);
	computes(client, 2);
	computes(first, 3);
	computes(second, 6);
	assert_string_equal(told(), "client (5) waits 80 % of its busy time for server (10), which "
				    "computes 100 %");
	/* One that is known by its first process only. */
	the.p.evidence.objects.data[to_first].peer_pid = 99;
	assert_true(is_explained(to_first));
}

static void who_is_not_searched_is_the_end(void **state)
{
	(void)state;
	uint32_t front = add_process(10, "front", NONE), app = add_process(20, "app", NONE);
	uint32_t to_app = add_object(OBJECT_ANSWER, "a", "app", 20, 20);
	uint32_t away = add_object(OBJECT_ANSWER, "b", "store", 30, 30);
	waits(app, away, 8);
	computes(app, 2);
	/* One link to the outside is a finding, and no chain. */
	assert_string_equal(told(), "");
	assert_false(is_explained(away));
	waits(front, to_app, 9);
	computes(front, 1);
	assert_string_equal(told(),
			    "front (10) waits 90 % of its busy time for app (20), which waits "
			    "80 % for store (30)");
}

/* What an idle peer does explains nothing: the time passes between the two. */
static void an_idle_peer_explains_nothing(void **state)
{
	(void)state;
	uint32_t front = add_process(10, "front", NONE), app = add_process(20, "app", NONE);
	uint32_t to_app = add_object(OBJECT_CONNECTION, "a", "app", 20, 20);
	waits(front, to_app, 9);
	computes(front, 1);
	computes(app, 0.5);
	assert_string_equal(told(), "front (10) waits 90 % of its busy time for app (20), which is "
				    "idle most of that time");
	assert_false(is_explained(to_app));
}

/* Who is waited for by several at the same time cannot work for longer than each of them waits. */
static void several_wait_for_the_same(void **state)
{
	(void)state;
	uint32_t left = add_process(1, "left", NONE), right = add_process(2, "right", NONE);
	uint32_t middle = add_process(3, "middle", NONE);
	uint32_t to = add_object(OBJECT_PIPE, "to", "middle", 3, 3);
	uint32_t from = add_object(OBJECT_PIPE, "from", "middle", 3, 3);
	waits(left, to, 9);
	waits(right, from, 9);
	computes(middle, 8);
	assert_true(is_explained(to));
	assert_true(is_explained(from));
}

/* A thread that has turned out to be idle waits for nothing, unless it has asked somebody. */
static void idle_threads_do_not_wait(void **state)
{
	(void)state;
	uint32_t front = add_process(10, "front", NONE), app = add_process(20, "app", NONE);
	uint32_t to_app = add_object(OBJECT_ANSWER, "a", "app", 20, 20);
	uint32_t event = add_object(OBJECT_EVENT, "event", "", 0, 0);
	waits(front, to_app, 9);
	computes(front, 1);
	waits(app, event, 30);
	computes(app, 8);
	the.p.evidence.threads.data[front].idle = the.p.evidence.threads.data[app].idle = 1;
	assert_string_equal(told(), "front (10) waits 90 % of its busy time for app (20), which "
				    "computes 100 %");
}

/* Two that wait for each other, and one that waits for itself. */
static void circles_end(void **state)
{
	(void)state;
	uint32_t a = add_process(1, "a", NONE), b = add_process(2, "b", NONE);
	uint32_t to_a = add_object(OBJECT_PIPE, "to a", "a", 1, 1);
	uint32_t to_b = add_object(OBJECT_PIPE, "to b", "b", 2, 2);
	waits(a, to_b, 5);
	waits(b, to_a, 4);
	assert_string_equal(told(), "");
	assert_false(is_explained(to_a));
	assert_false(is_explained(to_b));
	uint32_t c = add_process(3, "c", NONE);
	waits(c, to_b, 9);
	assert_string_equal(told(),
			    "c (3) waits 100 % of its busy time for b (2), which waits 100 % "
			    "for a (1), which waits 100 % for b (2) in turn");
	waits(a, to_a, 8);
	assert_string_equal(told(),
			    "c (3) waits 100 % of its busy time for b (2), which waits 100 % "
			    "for a (1), which waits 62 % for to a");
}

#define PARTY_TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PARTY_TEST(one_waits_for_the_other),
		PARTY_TEST(workers_are_one),
		PARTY_TEST(who_is_not_searched_is_the_end),
		PARTY_TEST(an_idle_peer_explains_nothing),
		PARTY_TEST(several_wait_for_the_same),
		PARTY_TEST(idle_threads_do_not_wait),
		PARTY_TEST(circles_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
