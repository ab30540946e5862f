/* Profiles in memory: contexts and values are found again, and nonsense is recognised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/err.h"
#include "profile/profile.h"

static void one_node_for_each_context(void **state)
{
	struct profile p;
	(void)state;
	profile_init(&p);
	assert_int_equal(p.nodes.len, 1);
	uint32_t a = profile_child(&p, 0, NODE_FRAME, 0, 0x100);
	assert_int_equal(a, 1);
	assert_int_equal(profile_child(&p, 0, NODE_FRAME, 0, 0x100), a);
	const uint32_t others[] = {
		profile_child(&p, a, NODE_FRAME, 0, 0x100),
		profile_child(&p, 0, NODE_LEAF, 0, 0x100),
		profile_child(&p, 0, NODE_FRAME, 1, 0x100),
		profile_child(&p, 0, NODE_FRAME, 0, 0x101),
		profile_child(&p, 0, NODE_FRAME, PROFILE_NONE, 0x100),
	};
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(others[i], i + 2);
	assert_int_equal(p.nodes.data[others[0]].parent, a);
	assert_int_equal(p.nodes.data[others[1]].kind, NODE_LEAF);
	assert_int_equal(p.nodes.data[others[2]].module, 1);
	assert_int_equal(p.nodes.data[others[3]].address, 0x101);
	assert_int_equal(p.nodes.data[others[4]].scope, PROFILE_NONE);
	profile_release(&p);
}

static uint64_t random_number(void)
{
	static uint64_t x = 88172645463325252u;
	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Against the naive way: looking through all nodes. */
static void random_contexts_are_found_again(void **state)
{
	struct profile p;
	(void)state;
	profile_init(&p);
	for (int i = 0; i < 20000; i++) {
		uint32_t parent =
			(uint32_t)(random_number() % (p.nodes.len < 40 ? p.nodes.len : 40));
		uint32_t module = (uint32_t)(random_number() % 3), before = p.nodes.len, found = 1;
		uint64_t address = 0x1000 + random_number() % 8 * 4;
		while (found < before && (p.nodes.data[found].parent != parent ||
					  p.nodes.data[found].module != module ||
					  p.nodes.data[found].address != address))
			found++;
		assert_int_equal(profile_child(&p, parent, NODE_FRAME, module, address), found);
	}
	assert_true(p.nodes.len > 500);
	profile_release(&p);
}

/* The key that a context gets, taken from a profile with that context alone. */
static uint64_t key_of(uint64_t address)
{
	struct profile p;
	uint64_t key = 0;
	profile_init(&p);
	profile_child(&p, 0, NODE_FRAME, 0, address);
	for (uint32_t i = 0; i < p.node_index.cap; i++)
		if (p.node_index.values[i] != HASHMAP_NONE)
			key = p.node_index.keys[i];
	profile_release(&p);
	return key;
}

static void equal_hashes_are_told_apart(void **state)
{
	struct profile p;
	(void)state;
	profile_init(&p);
	uint32_t a = profile_child(&p, 0, NODE_FRAME, 0, 1);
	hashmap_put(&p.node_index, key_of(2), a); /* as if both had this hash */
	uint32_t b = profile_child(&p, 0, NODE_FRAME, 0, 2);
	assert_int_not_equal(a, b);
	assert_int_equal(p.nodes.data[b].address, 2);
	assert_int_equal(profile_child(&p, 0, NODE_FRAME, 0, 2), b);
	assert_int_equal(profile_child(&p, 0, NODE_FRAME, 0, 1), a);
	profile_release(&p);
}

/* As after loading: rows without an index. */
static void what_was_loaded_is_found(void **state)
{
	struct profile p;
	(void)state;
	profile_init(&p);
	vec_push(&p.nodes, (struct profile_node){.module = 7, .address = 3, .kind = NODE_LEAF});
	vec_push(&p.nodes, (struct profile_node){.module = 7, .address = 4, .kind = NODE_LEAF});
	vec_push(&p.values, (struct profile_value){.node = 2, .samples = 5, .amount = 50});
	assert_int_equal(profile_child(&p, 0, NODE_LEAF, 7, 4), 2);
	profile_add(&p, 2, 0, 0, 1, 10);
	profile_add(&p, 1, 0, 0, 1, 10);
	assert_int_equal(p.values.len, 2);
	assert_int_equal(p.values.data[0].amount, 60);
	profile_release(&p);
}

static void values_add_up_by_thread_and_metric(void **state)
{
	struct profile p;
	(void)state;
	profile_init(&p);
	profile_add(&p, 0, 1, 0, 1, 100);
	profile_add(&p, 0, 1, 0, 2, 150);
	profile_add(&p, 0, 2, 0, 1, 100);
	profile_add(&p, 0, 1, 1, 1, 7);
	assert_int_equal(p.values.len, 3);
	assert_int_equal(p.values.data[0].samples, 3);
	assert_int_equal(p.values.data[0].amount, 250);
	assert_int_equal(p.values.data[2].amount, 7);
	profile_release(&p);
}

static void counts_and_facts(void **state)
{
	struct profile p;
	(void)state;
	profile_init(&p);
	profile_count(&p, "complete", 3);
	profile_count(&p, "lost", 1);
	profile_count(&p, "complete", 4);
	assert_int_equal(p.counts.len, 2);
	assert_int_equal(p.counts.data[0].samples, 7);
	assert_null(profile_get_fact(&p, "host"));
	profile_fact(&p, "host", "one");
	profile_fact(&p, "hz", "499");
	profile_fact(&p, "host", "two");
	assert_string_equal(profile_get_fact(&p, "host"), "two");
	assert_int_equal(p.facts.len, 2);
	profile_release(&p);
}

static void fill(struct profile *p)
{
	profile_init(p);
	vec_push(&p->metrics, (struct profile_metric){"cpu-clock", "ns", 1000});
	vec_push(&p->modules, (struct profile_module){.path = "/bin/a"});
	vec_push(&p->modules, (struct profile_module){.path = "/bin/b"});
	vec_push(&p->processes, (struct profile_process){1, PROFILE_NONE, "a"});
	vec_push(&p->processes, (struct profile_process){2, 2, "b"});
	vec_push(&p->processes, (struct profile_process){3, 0, "c"});
	vec_push(&p->threads, (struct profile_thread){0, 1, "a"});
	vec_push(&p->scopes, (struct profile_scope){.parent = PROFILE_NONE});
	vec_push(&p->scopes, (struct profile_scope){.kind = PROFILE_LOOP});
	vec_push(&p->scopes, (struct profile_scope){.parent = 1, .kind = PROFILE_LINE});
	uint32_t partial = profile_child(p, 0, NODE_PARTIAL, PROFILE_NONE, 0);
	uint32_t frame = profile_child(p, partial, NODE_FRAME, 0, 1);
	profile_add(p, profile_child(p, frame, NODE_LEAF, 1, 2), 0, 0, 1, 1000);
	profile_add(p, frame, 0, 0, 1, 1000);
	p->nodes.data[2].scope = 2;
	uint32_t counters = profile_counters(p, 0, 0x10, true, 0);
	p->counters.data[counters].scope = 1;
	p->counters.data[counters].trip_max = 5;
	p->counters.data[profile_counters(p, 0, 1, false, 0)].mix[CLASS_OTHER] = 1;
	profile_add_trips(p, counters, 3, 5, 2);
	profile_add_trips(p, counters, 6, 6, 1);
	vec_push(&p->uncovered, (struct profile_uncovered){PROFILE_NONE, 1000000, 1, "f", "why"});
}

/* One for each loop or function and thread, one bucket for each value of trips; also of what was
 * read from a file. */
static void counters_are_found_again(void **state)
{
	struct profile p;
	(void)state;
	fill(&p);
	assert_int_equal(profile_counters(&p, 0, 0x10, true, 0), 0);
	assert_int_equal(profile_counters(&p, 0, 1, false, 0), 1);
	hashmap_release(&p.counters_index);
	hashmap_release(&p.trips_index);
	assert_int_equal(profile_counters(&p, 0, 1, true, 0), 2);
	assert_int_equal(profile_counters(&p, 1, 1, false, 0), 3);
	assert_int_equal(profile_counters(&p, 0, 1, false, 1), 4);
	assert_int_equal(profile_counters(&p, 0, 0x10, true, 0), 0);
	profile_add_trips(&p, 0, 3, 5, 40);
	profile_add_trips(&p, 2, 3, 5, 1);
	assert_int_equal(p.trips.len, 3);
	assert_int_equal(p.trips.data[0].entries, 42);
	assert_true(profile_has_counts(&p));
	assert_false(profile_is_counted(&p, 0));
	vec_push(&p.metrics, (struct profile_metric){PROFILE_CALLS, "", 0});
	assert_true(profile_is_counted(&p, 1));
	assert_int_equal(profile_metric_named(&p, "calls"), 1);
	assert_int_equal(profile_metric_named(&p, "call"), PROFILE_NONE);
	vec_clear(&p.counters);
	assert_false(profile_is_counted(&p, 1));
	profile_release(&p);
}

static bool sound(const struct profile *p)
{
	struct err e = {0};
	int r = profile_check(p, &e);
	assert_true(r == 0 || (r == ERR_INPUT && e.text[0]));
	return r == 0;
}

#define BREAKS(place, value)                                                                       \
	do {                                                                                       \
		__typeof__(place) right = (place);                                                 \
		(place) = (value);                                                                 \
		assert_false(sound(&p));                                                           \
		(place) = right;                                                                   \
		assert_true(sound(&p));                                                            \
	} while (0)

static void nonsense_is_recognised(void **state)
{
	struct profile p;
	(void)state;
	fill(&p);
	assert_true(sound(&p));
	BREAKS(p.nodes.len, 0);
	BREAKS(p.nodes.data[0].kind, NODE_FRAME);
	BREAKS(p.nodes.data[0].parent, 0);
	BREAKS(p.nodes.data[2].parent, 2);
	BREAKS(p.nodes.data[2].parent, 3);
	BREAKS(p.nodes.data[2].parent, PROFILE_NONE);
	BREAKS(p.nodes.data[2].kind, NODE_ROOT);
	BREAKS(p.nodes.data[2].kind, NODE_KINDS);
	BREAKS(p.nodes.data[2].kind, NODE_PARTIAL);
	BREAKS(p.nodes.data[2].module, 2);
	BREAKS(p.nodes.data[2].scope, 3);
	BREAKS(p.scopes.data[0].module, 2);
	BREAKS(p.scopes.data[0].parent, 0);
	BREAKS(p.scopes.data[0].kind, PROFILE_LINE);
	BREAKS(p.scopes.data[1].module, 1);
	BREAKS(p.scopes.data[1].parent, 1);
	BREAKS(p.scopes.data[1].kind, PROFILE_FUNCTION);
	BREAKS(p.scopes.data[1].kind, PROFILE_LINE);
	BREAKS(p.scopes.data[2].kind, PROFILE_LINE + 1);
	BREAKS(p.values.data[0].node, 4);
	BREAKS(p.values.data[0].thread, 1);
	BREAKS(p.values.data[0].metric, 1);
	BREAKS(p.values.data[0].samples, UINT64_MAX);
	BREAKS(p.values.data[0].amount, UINT64_MAX);
	BREAKS(p.threads.data[0].process, 3);
	BREAKS(p.processes.data[0].parent, 3);
	BREAKS(p.processes.data[0].parent, 0);
	BREAKS(p.processes.data[0].parent, 1);
	BREAKS(p.counters.data[0].module, PROFILE_NONE);
	BREAKS(p.counters.data[0].thread, 1);
	BREAKS(p.counters.data[0].scope, 3);
	BREAKS(p.counters.data[0].scope, 0);  /* no loop */
	BREAKS(p.counters.data[0].module, 1); /* not that of its scope */
	BREAKS(p.counters.data[0].flags, COUNTS_FLAGS);
	BREAKS(p.counters.data[0].trip_min, 6);
	BREAKS(p.counters.data[1].scope, 1);
	BREAKS(p.trips.data[0].counters, 1);
	BREAKS(p.trips.data[0].counters, 2);
	BREAKS(p.trips.data[0].low, 6);
	BREAKS(p.trips.data[0].entries, UINT64_MAX);
	BREAKS(p.counters.data[0].mix[CLASS_LOAD], UINT64_MAX);
	BREAKS(p.uncovered.data[0].module, 2);
	BREAKS(p.uncovered.data[0].share, 1000001);
	profile_release(&p);
}

/* The four roots, a loop, and an experiment with it. */
static void fill_search(struct profile *p)
{
	static const char *const names[] = {"Code", "Machine", "SyncObject", "File"};
	fill(p);
	for (uint8_t h = 0; h < PROFILE_HIERARCHIES; h++)
		vec_push(&p->resources, (struct profile_resource){.parent = PROFILE_NONE,
								  .hierarchy = h,
								  .name = names[h],
								  .module = PROFILE_NONE,
								  .file = ""});
	vec_push(&p->resources,
		 (struct profile_resource){.name = "a/b.c", .module = PROFILE_NONE, .file = ""});
	vec_push(&p->resources, (struct profile_resource){.parent = 4,
							  .kind = RESOURCE_LOOP,
							  .name = "loop b.c:1-2",
							  .file = "a/b.c"});
	vec_push(&p->experiments,
		 (struct profile_experiment){.hypothesis = "cpu", .focus = {5, 1, 2, 3}});
	vec_push(&p->refinements, (struct profile_refinement){0, 0});
	vec_push(&p->findings, (struct profile_finding){.hypothesis = "cpu", .sentence = ""});
	vec_push(&p->remarks, (struct profile_remark){0, "note", ""});
}

static void nonsense_of_searches_is_recognised(void **state)
{
	struct profile p;
	(void)state;
	fill_search(&p);
	assert_true(sound(&p));
	BREAKS(p.resources.data[5].parent, 5);
	BREAKS(p.resources.data[4].parent, 5);
	BREAKS(p.resources.data[5].parent, 1); /* of another hierarchy */
	BREAKS(p.resources.data[5].hierarchy, PROFILE_HIERARCHIES);
	BREAKS(p.resources.data[5].kind, RESOURCE_KINDS);
	BREAKS(p.resources.data[5].module, 2);
	BREAKS(p.experiments.data[0].focus[PROFILE_CODE], 6);
	BREAKS(p.experiments.data[0].focus[PROFILE_FILES], 2);
	BREAKS(p.experiments.data[0].state, PROFILE_EXPERIMENT_STATES);
	BREAKS(p.experiments.data[0].origin, PROFILE_ORIGINS);
	BREAKS(p.experiments.data[0].priority, PROFILE_PRIORITIES);
	BREAKS(p.experiments.data[0].flags, EXPERIMENT_FLAGS);
	BREAKS(p.experiments.data[0].value, NAN);
	BREAKS(p.experiments.data[0].threshold, -NAN);
	BREAKS(p.experiments.data[0].confidence, NAN);
	BREAKS(p.experiments.data[0].created, INFINITY);
	BREAKS(p.experiments.data[0].begun, NAN);
	BREAKS(p.experiments.data[0].decided, NAN);
	BREAKS(p.experiments.data[0].observed, NAN);
	BREAKS(p.experiments.data[0].overhead, -INFINITY);
	BREAKS(p.refinements.data[0].parent, 1);
	BREAKS(p.refinements.data[0].child, PROFILE_NONE);
	BREAKS(p.findings.data[0].experiment, 1);
	BREAKS(p.findings.data[0].node, 4);
	BREAKS(p.findings.data[0].share, NAN);
	BREAKS(p.findings.data[0].confidence, NAN);
	BREAKS(p.remarks.data[0].finding, 1);
	profile_release(&p);
}

static void resources_have_paths(void **state)
{
	struct profile p;
	struct text path = TEXT_INIT;
	(void)state;
	fill_search(&p);
	assert_true(profile_has_search(&p));
	profile_resource_path(&p, 5, &path);
	assert_string_equal(path.data, "/Code/a/b.c/loop b.c:1-2");
	text_clear(&path);
	profile_resource_path(&p, PROFILE_MACHINE, &path);
	assert_string_equal(path.data, "/Machine");
	text_release(&path);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_node_for_each_context),
		cmocka_unit_test(random_contexts_are_found_again),
		cmocka_unit_test(equal_hashes_are_told_apart),
		cmocka_unit_test(what_was_loaded_is_found),
		cmocka_unit_test(values_add_up_by_thread_and_metric),
		cmocka_unit_test(counts_and_facts),
		cmocka_unit_test(counters_are_found_again),
		cmocka_unit_test(nonsense_is_recognised),
		cmocka_unit_test(nonsense_of_searches_is_recognised),
		cmocka_unit_test(resources_have_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
