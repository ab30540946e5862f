/* Profile files: what was committed comes back, whatever happened to the recorder, the directory or
 * the file; and what is no profile is refused with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "profile/store.h"

static char dir[] = "/tmp/sonde-store-XXXXXX";
static char file[64], old[80], wal[80], shm[80], copy[64];

/* A child whose assertions end it, rather than going on with the tests, and that ends with us. */
static pid_t fork_child(void)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("CMOCKA_TEST_ABORT", "1", 1);
	}
	return pid;
}

static int clean(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "chmod -R u+rwX %s && rm -rf %s/*", dir, dir);
	return system(command) || chmod(dir, 0777);
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static bool is_a_single_file(void)
{
	return exists(file) && !exists(wal) && !exists(shm);
}

static uint32_t resource(struct profile *p, uint32_t parent, uint8_t hierarchy, uint8_t kind,
			 const char *name)
{
	vec_push(&p->resources, (struct profile_resource){.parent = parent,
							  .hierarchy = hierarchy,
							  .kind = kind,
							  .name = name,
							  .image = PROFILE_NONE,
							  .file = ""});
	return p->resources.len - 1;
}

static void experiment(struct profile *p, const char *hypothesis, uint32_t code, uint8_t state)
{
	vec_push(&p->experiments, (struct profile_experiment){.hypothesis = hypothesis,
							      .focus = {code, 1, 2, 3},
							      .state = state,
							      .threshold = 0.2,
							      .begun = -1,
							      .decided = -1});
}

static void fill_evidence(struct evidence *e, uint32_t procedure, uint32_t loop)
{
	e->run = (struct evidence_run){.seconds = 2.5,
				       .time = 2,
				       .cpu = 1.0 / 3,
				       .threads = 5,
				       .ran = 1,
				       .ready = 0.1,
				       .sampled = {1, 2, 3},
				       .cpus = 64,
				       .ignored = UINT64_C(1) << 40,
				       .calls_sampled = true};
	vec_push(&e->names, (struct evidence_name){procedure, "f", "main > f"});
	vec_push(&e->names, (struct evidence_name){loop, "it's", ""});
	vec_push(&e->threads, (struct evidence_thread){PROFILE_MACHINE, 0, "", 0.5, -0.25});
	vec_push(&e->threads, (struct evidence_thread){PROFILE_MACHINE, 77, "a b", 0, 3});
	vec_push(&e->objects, (struct evidence_object){"mutex", "it's", 6, 10, 0, 0.125, 0});
	vec_push(&e->objects,
		 (struct evidence_object){"file", "/x", PROFILE_NONE, 1, 1ull << 62, 1, 2.5});
	vec_push(&e->parts, procedure);
	vec_push(&e->parts, loop);
	vec_push(&e->parts, procedure);
	vec_push(&e->chains, (struct evidence_chain){0, 2, 1, 2, 2, 0.1, 3});
	vec_push(&e->chains, (struct evidence_chain){2, 1, PROFILE_NONE, 0, 0, 1, 4000000000});
	vec_push(&e->amounts, (struct evidence_amount){0, 1, PROFILE_NONE, 1, 2, 3, 4, 5});
	vec_push(&e->amounts, (struct evidence_amount){loop, 0, 1, 0.1, 0.2, 0.3, 0.4, 0.5});
	vec_push(&e->holders, (struct evidence_holder){1, 1, 2, 0.75});
	vec_push(&e->trips, (struct evidence_trip){loop, 0.01, 5, 1ull << 50});
}

static void fill_search(struct profile *p)
{
	static const char *const roots[] = {"Code", "Machine", "SyncObject", "File"};
	for (uint8_t h = 0; h < PROFILE_HIERARCHIES; h++)
		resource(p, PROFILE_NONE, h, RESOURCE_GROUP, roots[h]);
	uint32_t procedure =
		resource(p, PROFILE_CODE, PROFILE_CODE, RESOURCE_PROCEDURE, "f(\"/\")");
	uint32_t loop = resource(p, procedure, PROFILE_CODE, RESOURCE_LOOP, "loop a.c:3-9");
	resource(p, PROFILE_SYNC, PROFILE_SYNC, RESOURCE_OBJECT, "it's a lock");
	p->resources.data[loop].image = 0;
	p->resources.data[loop].address = 0xffff000000000010;
	p->resources.data[loop].file = "/src/a.c";
	p->resources.data[loop].first_line = 3;
	p->resources.data[loop].last_line = 9;
	experiment(p, "cpu", PROFILE_CODE, PROFILE_TRUE);
	experiment(p, "cpu", procedure, PROFILE_ACTIVE);
	experiment(p, "cpu", loop, PROFILE_READY);
	struct profile_experiment *first = &p->experiments.data[0];
	first->priority = PROFILE_HIGH;
	first->flags = EXPERIMENT_SAMPLED | EXPERIMENT_OVER;
	first->value = 0.875;
	first->confidence = 0.99;
	first->begun = 0.25;
	first->decided = 1.5;
	first->observed = 1.25;
	first->cost = 0.125;
	first->tests = 3;
	p->experiments.data[1].origin = PROFILE_DEEP_STARTER;
	p->experiments.data[1].flags = EXPERIMENT_UNSURE;
	p->experiments.data[2].origin = PROFILE_CONNECTING;
	vec_push(&p->refinements, (struct profile_refinement){0, 1});
	vec_push(&p->refinements, (struct profile_refinement){2, 1});
	vec_push(&p->refinements, (struct profile_refinement){1, 2});
	fill_evidence(&p->evidence, procedure, loop);
	vec_push(&p->findings,
		 (struct profile_finding){"cpu", 1, 2, 0.875, 0.99, "87.5 % of the run in f"});
	vec_push(&p->findings,
		 (struct profile_finding){"io", PROFILE_NONE, PROFILE_NONE, 0.1, 0, ""});
	vec_push(&p->remarks, (struct profile_remark){1, "where", "there"});
	vec_push(&p->remarks, (struct profile_remark){PROFILE_NONE, "step", "it's a step"});
}

/* A profile with something in every table. */
static void fill(struct profile *p)
{
	profile_init(p);
	vec_push(&p->metrics, (struct profile_metric){"cpu-clock", "ns", 2004008});
	vec_push(&p->metrics, (struct profile_metric){"cycles", "", 0});
	vec_push(&p->images, (struct profile_image){.path = "/bin/a",
						    .build_id = {.bytes = {1, 0xab, 0}, .size = 3},
						    .file_size = 123,
						    .mtime = 1700000000});
	vec_push(&p->images, (struct profile_image){.path = "[vdso]", .problem = "it is 'gone'"});
	vec_push(&p->processes, (struct profile_process){100, PROFILE_NONE, "sh"});
	vec_push(&p->processes, (struct profile_process){101, 0, "program"});
	vec_push(&p->threads, (struct profile_thread){0, 100, "sh"});
	vec_push(&p->threads, (struct profile_thread){1, 102, "worker; 1"});
	uint32_t main = profile_child(p, 0, NODE_FRAME, 0, 0x1000);
	uint32_t leaf = profile_child(p, main, NODE_LEAF, 0, 0x2000);
	uint32_t kernel = profile_child(p, leaf, NODE_KERNEL, PROFILE_NONE, 0xffff800000001234);
	profile_add(p, leaf, 0, 0, 3, 6012024);
	profile_add(p, leaf, 1, 0, 1, 2004008);
	profile_add(p, kernel, 1, 1, 2, (uint64_t)1 << 40);
	profile_count(p, "complete", 5);
	profile_count(p, "lost", 1);
	profile_fact(p, "command", "program --x 'y'");
	profile_fact(p, "hz", "499");
	uint32_t loop = profile_tally(p, 0, 0x1008, true, 1);
	p->tallies.data[loop].flags = TALLY_MACHINE_ITERATIONS;
	p->tallies.data[loop].entries = 3;
	p->tallies.data[loop].iterations = 70000000000;
	p->tallies.data[loop].trip_max = 70000000000 - 1;
	for (uint32_t i = 0; i < INSN_CLASSES; i++)
		p->tallies.data[loop].mix[i] = 100 + i;
	p->tallies.data[profile_tally(p, 0, 0xff0, false, 1)].entries = 1;
	profile_add_trips(p, loop, (uint64_t)1 << 36, ((uint64_t)1 << 37) - 1, 1);
	profile_add_trips(p, loop, 0, 0, 2);
	vec_push(&p->uncovered, (struct profile_uncovered){0, 12345, 0x3000, "odd", "it's odd"});
	vec_push(&p->uncovered,
		 (struct profile_uncovered){PROFILE_NONE, PROFILE_NONE, 1, "", "made at run time"});
	fill_search(p);
}

static void fuse(struct profile *p)
{
	vec_push(&p->scopes, (struct profile_scope){PROFILE_NONE, 0, PROFILE_PROCEDURE, 0, "main",
						    "a.c", 10, 20, "", 0, 0xff0});
	vec_push(&p->scopes, (struct profile_scope){0, 0, PROFILE_INLINE, PROFILE_ALIEN, "f<int>",
						    "a.h", 1, 3, "a.c", 12, 0x1000});
	vec_push(&p->scopes, (struct profile_scope){1, 0, PROFILE_LOOP, PROFILE_IRREDUCIBLE, "",
						    "a.h", 2, 3, "", 0, 0x1008});
	p->nodes.data[1].scope = 2;
	p->nodes.data[2].scope = 0;
	p->tallies.data[0].scope = 2;
	p->tallies.data[1].scope = 0;
	p->fused = p->finished = true;
}

static const char *fact_of(const struct profile *p, const char *name)
{
	const char *value = profile_get_fact(p, name);
	return value ? value : "";
}

static const struct profile_value *value_of(const struct profile *p, const struct profile_value *k)
{
	vec_each (v, &p->values)
		if (v->node == k->node && v->thread == k->thread && v->metric == k->metric)
			return v;
	fail_msg("a value is missing");
	return NULL;
}

static void assert_same_code(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->nodes.len, b->nodes.len);
	for (uint32_t i = 0; i < a->nodes.len; i++) {
		const struct profile_node *x = &a->nodes.data[i], *y = &b->nodes.data[i];
		assert_true(x->parent == y->parent && x->image == y->image &&
			    x->address == y->address && x->scope == y->scope && x->kind == y->kind);
	}
	assert_int_equal(a->scopes.len, b->scopes.len);
	for (uint32_t i = 0; i < a->scopes.len; i++) {
		const struct profile_scope *x = &a->scopes.data[i], *y = &b->scopes.data[i];
		assert_true(x->parent == y->parent && x->image == y->image && x->kind == y->kind &&
			    x->flags == y->flags && x->first_line == y->first_line &&
			    x->last_line == y->last_line && x->call_line == y->call_line &&
			    x->address == y->address);
		assert_string_equal(x->name, y->name);
		assert_string_equal(x->file, y->file);
		assert_string_equal(x->call_file, y->call_file);
	}
}

static void assert_same_program(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->images.len, b->images.len);
	for (uint32_t i = 0; i < a->images.len; i++) {
		const struct profile_image *x = &a->images.data[i], *y = &b->images.data[i];
		assert_string_equal(x->path, y->path);
		assert_memory_equal(&x->build_id, &y->build_id, sizeof(x->build_id));
		assert_true(x->file_size == y->file_size && x->mtime == y->mtime);
		assert_string_equal(x->problem ? x->problem : "-", y->problem ? y->problem : "-");
	}
	assert_int_equal(a->processes.len, b->processes.len);
	for (uint32_t i = 0; i < a->processes.len; i++) {
		const struct profile_process *x = &a->processes.data[i], *y = &b->processes.data[i];
		assert_true(x->pid == y->pid && x->parent == y->parent);
		assert_string_equal(x->name, y->name);
	}
	assert_int_equal(a->threads.len, b->threads.len);
	for (uint32_t i = 0; i < a->threads.len; i++) {
		const struct profile_thread *x = &a->threads.data[i], *y = &b->threads.data[i];
		assert_true(x->tid == y->tid && x->process == y->process);
		assert_string_equal(x->name, y->name);
	}
}

static void assert_same_measurements(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->metrics.len, b->metrics.len);
	for (uint32_t i = 0; i < a->metrics.len; i++) {
		assert_string_equal(a->metrics.data[i].name, b->metrics.data[i].name);
		assert_string_equal(a->metrics.data[i].unit, b->metrics.data[i].unit);
		assert_int_equal(a->metrics.data[i].period, b->metrics.data[i].period);
	}
	assert_int_equal(a->values.len, b->values.len);
	vec_each (v, &a->values) {
		assert_int_equal(v->samples, value_of(b, v)->samples);
		assert_int_equal(v->amount, value_of(b, v)->amount);
	}
	assert_int_equal(a->counts.len, b->counts.len);
	vec_each (c, &a->counts) {
		uint64_t samples = 0;
		vec_each (d, &b->counts)
			samples += strcmp(c->name, d->name) ? 0 : d->samples;
		assert_int_equal(c->samples, samples);
	}
}

static const struct profile_trips *trips_of(const struct profile *p, const struct profile_trips *k)
{
	vec_each (t, &p->trips)
		if (t->tally == k->tally && t->low == k->low)
			return t;
	fail_msg("a bucket is missing");
	return NULL;
}

static void assert_same_counts(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->tallies.len, b->tallies.len);
	for (uint32_t i = 0; i < a->tallies.len; i++) {
		const struct profile_tally *x = &a->tallies.data[i], *y = &b->tallies.data[i];
		assert_true(x->image == y->image && x->address == y->address &&
			    x->loop == y->loop && x->thread == y->thread && x->scope == y->scope &&
			    x->flags == y->flags && x->entries == y->entries &&
			    x->iterations == y->iterations && x->trip_min == y->trip_min &&
			    x->trip_max == y->trip_max);
		assert_memory_equal(x->mix, y->mix, sizeof(x->mix));
	}
	assert_int_equal(a->trips.len, b->trips.len);
	vec_each (t, &a->trips) {
		assert_int_equal(t->high, trips_of(b, t)->high);
		assert_int_equal(t->entries, trips_of(b, t)->entries);
	}
	assert_int_equal(a->uncovered.len, b->uncovered.len);
	for (uint32_t i = 0; i < a->uncovered.len; i++) {
		const struct profile_uncovered *x = &a->uncovered.data[i],
					       *y = &b->uncovered.data[i];
		assert_true(x->image == y->image && x->share == y->share &&
			    x->address == y->address);
		assert_string_equal(x->name, y->name);
		assert_string_equal(x->reason, y->reason);
	}
}

static void assert_same_experiments(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->experiments.len, b->experiments.len);
	for (uint32_t i = 0; i < a->experiments.len; i++) {
		struct profile_experiment x = a->experiments.data[i], y = b->experiments.data[i];
		assert_string_equal(x.hypothesis, y.hypothesis);
		assert_memory_equal(x.focus, y.focus, sizeof(x.focus));
		assert_true(x.state == y.state && x.origin == y.origin &&
			    x.priority == y.priority && x.flags == y.flags && x.value == y.value &&
			    x.threshold == y.threshold && x.confidence == y.confidence &&
			    x.created == y.created && x.begun == y.begun &&
			    x.decided == y.decided && x.observed == y.observed &&
			    x.cost == y.cost && x.tests == y.tests);
	}
	assert_int_equal(a->refinements.len, b->refinements.len);
	vec_each (x, &a->refinements) {
		bool found = false;
		vec_each (y, &b->refinements)
			found |= x->parent == y->parent && x->child == y->child;
		assert_true(found);
	}
}

#define assert_same_rows(a, b, condition)                                                          \
	do {                                                                                       \
		assert_int_equal((a)->len, (b)->len);                                              \
		for (uint32_t i = 0; i < (a)->len; i++) {                                          \
			__typeof__((a)->data) x = &(a)->data[i], y = &(b)->data[i];                \
			assert_true(condition);                                                    \
		}                                                                                  \
	} while (0)

static void assert_same_evidence(const struct evidence *a, const struct evidence *b)
{
	const struct evidence_run *r = &a->run, *q = &b->run;
	assert_true(r->seconds == q->seconds && r->time == q->time && r->cpu == q->cpu &&
		    r->threads == q->threads && r->ran == q->ran && r->ready == q->ready &&
		    r->sampled[0] == q->sampled[0] && r->sampled[1] == q->sampled[1] &&
		    r->sampled[2] == q->sampled[2] && r->cpus == q->cpus &&
		    r->ignored == q->ignored && r->calls_sampled == q->calls_sampled);
	assert_same_rows(&a->names, &b->names,
			 x->resource == y->resource && !strcmp(x->procedure, y->procedure) &&
				 !strcmp(x->chain, y->chain));
	assert_same_rows(&a->threads, &b->threads,
			 x->resource == y->resource && x->tid == y->tid &&
				 !strcmp(x->name, y->name) && x->cpu == y->cpu &&
				 x->idle == y->idle);
	assert_same_rows(&a->objects, &b->objects,
			 !strcmp(x->kind, y->kind) && !strcmp(x->name, y->name) &&
				 x->resource == y->resource && x->count == y->count &&
				 x->bytes == y->bytes && x->seconds == y->seconds &&
				 x->rate == y->rate);
	assert_same_rows(&a->parts, &b->parts, *x == *y);
	assert_same_rows(&a->chains, &b->chains,
			 x->first == y->first && x->length == y->length && x->object == y->object &&
				 x->node == y->node && x->class == y->class &&
				 x->seconds == y->seconds && x->samples == y->samples);
	assert_same_rows(&a->amounts, &b->amounts,
			 x->resource == y->resource && x->thread == y->thread &&
				 x->object == y->object && x->cpu == y->cpu && x->wait == y->wait &&
				 x->calls == y->calls && x->seen_cpu == y->seen_cpu &&
				 x->seen_wait == y->seen_wait);
	assert_same_rows(&a->holders, &b->holders,
			 x->object == y->object && x->thread == y->thread && x->node == y->node &&
				 x->seconds == y->seconds);
	assert_same_rows(&a->trips, &b->trips,
			 x->resource == y->resource && x->seconds == y->seconds &&
				 x->entries == y->entries && x->iterations == y->iterations);
}

static void assert_same_search(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->resources.len, b->resources.len);
	for (uint32_t i = 0; i < a->resources.len; i++) {
		const struct profile_resource *x = &a->resources.data[i],
					      *y = &b->resources.data[i];
		assert_true(x->parent == y->parent && x->hierarchy == y->hierarchy &&
			    x->kind == y->kind && x->image == y->image &&
			    x->address == y->address && x->first_line == y->first_line &&
			    x->last_line == y->last_line);
		assert_string_equal(x->name, y->name);
		assert_string_equal(x->file, y->file);
	}
	assert_same_experiments(a, b);
	assert_same_evidence(&a->evidence, &b->evidence);
	assert_int_equal(a->findings.len, b->findings.len);
	for (uint32_t i = 0; i < a->findings.len; i++) {
		const struct profile_finding *x = &a->findings.data[i], *y = &b->findings.data[i];
		assert_true(x->experiment == y->experiment && x->node == y->node &&
			    x->share == y->share && x->confidence == y->confidence);
		assert_string_equal(x->hypothesis, y->hypothesis);
		assert_string_equal(x->sentence, y->sentence);
	}
	assert_int_equal(a->remarks.len, b->remarks.len);
	for (uint32_t i = 0; i < a->remarks.len; i++) {
		assert_int_equal(a->remarks.data[i].finding, b->remarks.data[i].finding);
		assert_string_equal(a->remarks.data[i].kind, b->remarks.data[i].kind);
		assert_string_equal(a->remarks.data[i].text, b->remarks.data[i].text);
	}
}

static void assert_same(const struct profile *a, const struct profile *b)
{
	assert_same_counts(a, b);
	assert_same_search(a, b);
	assert_same_program(a, b);
	assert_same_code(a, b);
	assert_same_measurements(a, b);
	assert_int_equal(a->facts.len, b->facts.len);
	vec_each (f, &a->facts)
		assert_string_equal(f->value, fact_of(b, f->name));
	assert_int_equal(a->fused, b->fused);
	assert_int_equal(a->finished, b->finished);
}

static struct store *create(void)
{
	struct store *s;
	struct err e;
	if (store_create(&s, file, &e))
		fail_msg("%s", e.text);
	return s;
}

static void commit(struct store *s, struct profile *p)
{
	struct err e;
	if (store_commit(s, p, &e))
		fail_msg("%s", e.text);
}

static void load(struct profile *p, const char *path)
{
	struct err e;
	if (store_load(p, path, &e))
		fail_msg("%s", e.text);
}

static void assert_loads(const struct profile *p, const char *path)
{
	struct profile q;
	load(&q, path);
	assert_same(p, &q);
	profile_release(&q);
}

static void assert_refused(const char *path, int code, const char *words)
{
	struct profile q;
	struct err e = {0};
	assert_int_equal(store_load(&q, path, &e), code);
	if (!strstr(e.text, words) || !strstr(e.text, path))
		fail_msg("'%s' does not say '%s'", e.text, words);
}

static void sql(const char *path, const char *statements)
{
	sqlite3 *db;
	char *why = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, statements, NULL, NULL, &why))
		fail_msg("%s", why);
	sqlite3_close(db);
}

/* Writes fill() to `file`. */
static void write_one(void)
{
	struct profile p;
	fill(&p);
	fuse(&p);
	struct store *s = create();
	commit(s, &p);
	store_close(s);
	profile_release(&p);
}

static void everything_comes_back(void **state)
{
	struct profile p;
	(void)state;
	fill(&p);
	fuse(&p);
	struct store *s = create();
	commit(s, &p);
	store_close(s);
	assert_true(is_a_single_file());
	assert_loads(&p, file);
	profile_release(&p);
}

/* Reads as another process would: closing a file that SQLite has open drops its locks. */
static void assert_loads_elsewhere(const struct profile *p)
{
	int status;
	pid_t pid = fork_child();
	if (!pid) {
		assert_loads(p, file);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_changed_is_written(void **state)
{
	struct profile p;
	(void)state;
	fill(&p);
	struct store *s = create();
	commit(s, &p);
	assert_loads_elsewhere(&p);
	commit(s, &p);
	assert_loads_elsewhere(&p);

	profile_add(&p, 2, 0, 0, 1, 2004008);
	profile_add(&p, profile_child(&p, 1, NODE_LEAF, 0, 0x2004), 1, 0, 1, 2004008);
	profile_count(&p, "complete", 2);
	profile_count(&p, "throttled", 2);
	profile_fact(&p, "seconds", "1.5");
	p.processes.data[1].name = "after exec";
	p.threads.data[1].name = "renamed";
	vec_push(&p.threads, (struct profile_thread){1, 103, "third"});
	commit(s, &p);
	assert_loads_elsewhere(&p);

	profile_fact(&p, "seconds", "2.5");
	p.images.data[0].problem = "changed";
	fuse(&p);
	commit(s, &p);
	assert_loads_elsewhere(&p);
	p.nodes.data[3].scope = 1;
	p.values.data[0].samples += (uint64_t)1 << 32;
	p.tallies.data[0].mix[CLASS_ATOMIC]++;
	profile_add_trips(&p, 0, 0, 0, 1);
	profile_add_trips(&p, 0, 1, 1, 1);
	p.uncovered.data[1].reason = "another";
	profile_tally(&p, 1, 5, true, 0);
	commit(s, &p);
	store_close(s);
	assert_loads(&p, file);
	profile_release(&p);
}

static void a_search_goes_on(void **state)
{
	struct profile p;
	(void)state;
	fill(&p);
	vec_clear(&p.findings);
	vec_clear(&p.remarks);
	struct store *s = create();
	commit(s, &p);
	assert_loads_elsewhere(&p);

	p.experiments.data[1].begun = 0.5;
	p.experiments.data[1].cost = 1e-9;
	p.resources.data[6].name = "queue_lock";
	p.evidence.run.cpu = 7;
	vec_pop(&p.evidence.chains).length = 0;
	p.evidence.parts.len = 2;
	experiment(&p, "cpu", resource(&p, 0, PROFILE_CODE, RESOURCE_PROCEDURE, "g"),
		   PROFILE_FALSE);
	vec_push(&p.refinements, (struct profile_refinement){0, 3});
	commit(s, &p);
	assert_loads_elsewhere(&p);

	vec_push(&p.findings, (struct profile_finding){"cpu", 3, PROFILE_NONE, 1, 1, "one"});
	vec_push(&p.findings, (struct profile_finding){"cpu", 1, PROFILE_NONE, 1, 1, "two"});
	vec_push(&p.remarks, (struct profile_remark){1, "path", "a > b"});
	commit(s, &p);
	assert_loads_elsewhere(&p);

	vec_clear(&p.remarks);
	vec_pop(&p.findings).sentence = "";
	p.findings.data[0].sentence = "only one";
	p.experiments.data[2].state = PROFILE_UNKNOWN;
	commit(s, &p);
	assert_loads_elsewhere(&p);

	/* Parts that only the evidence knew may be fewer the next time. */
	experiment(&p, "cpu", 0, PROFILE_FALSE);
	p.experiments.data[3].focus[PROFILE_CODE] = 0;
	p.resources.len--;
	commit(s, &p);
	store_close(s);
	assert_loads(&p, file);
	profile_release(&p);
}

static void searches_can_be_read_with_sql(void **state)
{
	(void)state;
	write_one();
	sql(file, "CREATE TABLE good(x NOT NULL); INSERT INTO good SELECT iif(count(*)=1,1,NULL) "
		  "FROM search WHERE id=1 AND hypothesis='cpu' AND state='active' AND "
		  "code='/Code/f(\"/\")' AND sync='/SyncObject' AND needed=20.0 AND "
		  "measured='probes'");
}

static void unchanged_commits_write_little(void **state)
{
	struct profile p;
	struct stat before, after;
	(void)state;
	fill(&p);
	for (uint64_t i = 0; i < 2000; i++)
		profile_add(&p, profile_child(&p, 0, NODE_LEAF, 0, i), 0, 0, 1, 1);
	struct store *s = create();
	commit(s, &p);
	assert_int_equal(stat(wal, &before), 0);
	profile_add(&p, 100, 0, 0, 1, 1);
	commit(s, &p);
	assert_int_equal(stat(wal, &after), 0);
	assert_true(after.st_size - before.st_size < 5 * 4200);
	store_close(s);
	profile_release(&p);
}

static void a_profile_without_a_commit_is_empty(void **state)
{
	struct profile p, q;
	(void)state;
	profile_init(&p);
	store_close(create());
	load(&q, file);
	assert_same(&p, &q);
	profile_release(&q);
	profile_release(&p);
}

static void the_previous_is_kept(void **state)
{
	struct profile first, second, third;
	(void)state;
	write_one();
	load(&first, file);
	profile_init(&second);
	profile_fact(&second, "number", "2");
	struct store *s = create();
	commit(s, &second);
	store_close(s);
	assert_loads(&second, file);
	assert_loads(&first, old);
	profile_init(&third);
	s = create();
	commit(s, &third);
	store_close(s);
	assert_loads(&third, file);
	assert_loads(&second, old);
	profile_release(&first);
	profile_release(&second);
	profile_release(&third);
}

static void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static void assert_not_created(const char *path, const char *words)
{
	struct store *s;
	struct err e = {0};
	assert_true(store_create(&s, path, &e) < 0);
	if (!strstr(e.text, words))
		fail_msg("'%s' does not say '%s'", e.text, words);
}

static void other_files_are_not_overwritten(void **state)
{
	(void)state;
	write_file(file, "my thesis");
	assert_not_created(file, "not overwritten");
	unlink(file);
	sql(file, "CREATE TABLE thesis(x)");
	assert_not_created(file, "not overwritten");
	unlink(file);
	assert_int_equal(mkdir(file, 0777), 0);
	assert_not_created(file, "not overwritten");
	rmdir(file);
	write_one();
	write_file(old, "my older thesis");
	assert_not_created(file, "not overwritten");
}

static void an_empty_file_is_taken(void **state)
{
	(void)state;
	write_file(file, "");
	write_one();
	assert_false(exists(old));
	assert_true(is_a_single_file());
}

static void no_place_to_write(void **state)
{
	char path[128];
	(void)state;
	snprintf(path, sizeof(path), "%s/missing/file", dir);
	assert_not_created(path, "No such file or directory");
	assert_not_created("/proc/file", "cannot create /proc/file");
}

/* A recorder in a process of its own. Each commit adds nodes and values, and changes a value and a
 * fact; then its number goes down the pipe. After `rounds` commits it closes the file, or stays. */
static void record(int pipe_end, int rounds, bool stay)
{
	struct profile p;
	struct store *s;
	struct err e;
	char text[16];
	fill(&p);
	if (store_create(&s, file, &e))
		_exit(1);
	for (int i = 1; i <= rounds; i++) {
		for (uint64_t n = 0; n < 40; n++)
			profile_add(&p, profile_child(&p, 1, NODE_LEAF, 0, (uint64_t)i << 32 | n),
				    0, 0, 1, 10);
		profile_add(&p, 1, 0, 0, 1, 10);
		snprintf(text, sizeof(text), "%d", i);
		profile_fact(&p, "commits", text);
		if (store_commit(s, &p, &e) || write(pipe_end, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
	while (stay)
		pause();
	store_close(s);
	_exit(0);
}

struct recorder {
	pid_t pid;
	int pipe_end, commits;
};

static void start(struct recorder *r, int rounds, bool stay)
{
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	r->pid = fork_child();
	r->commits = 0;
	if (!r->pid)
		record(fds[1], rounds, stay);
	close(fds[1]);
	r->pipe_end = fds[0];
}

/* Kills it and returns how many commits it told about. */
static int kill_recorder(struct recorder *r)
{
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	for (int i; read(r->pipe_end, &i, sizeof(i)) == sizeof(i);)
		r->commits = i;
	close(r->pipe_end);
	return r->commits;
}

static void wait_for_commits(struct recorder *r, int commits)
{
	while (r->commits < commits)
		assert_int_equal(read(r->pipe_end, &r->commits, sizeof(r->commits)), sizeof(int));
}

/* What record() had after some number of commits, which it returns. */
static int assert_whole(const char *path)
{
	struct profile q;
	load(&q, path);
	int commits = atoi(fact_of(&q, "commits"));
	if (commits) {
		assert_int_equal(q.nodes.len, 4 + 40 * commits);
		assert_int_equal(q.values.len, 4 + 40 * commits);
		assert_int_equal(q.values.data[0].samples, commits);
	}
	profile_release(&q);
	return commits;
}

static void killed_recorders_leave_all_commits(void **state)
{
	enum { COMMITS = 12 };
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct recorder r;
		start(&r, COMMITS, false);
		wait_for_commits(&r, i % (COMMITS + 1));
		nanosleep(&(struct timespec){.tv_nsec = rand() % 3000000}, NULL);
		int told = kill_recorder(&r);
		if (!exists(file)) { /* not even begun */
			assert_int_equal(told, 0);
			continue;
		}
		int found = assert_whole(file);
		assert_true(!told || found == told || found == told + 1);
		if (exists(old))
			assert_whole(old);
	}
}

static void a_killed_recorders_log_goes_along(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 3, true);
	wait_for_commits(&r, 3);
	kill_recorder(&r);
	assert_true(exists(wal));
	write_one();
	assert_true(is_a_single_file());
	assert_int_equal(assert_whole(old), 3);
}

/* A log whose file is gone must not be taken for the new file's. */
static void a_log_without_its_file_is_dropped(void **state)
{
	struct recorder r;
	struct profile p;
	(void)state;
	start(&r, 3, true);
	wait_for_commits(&r, 3);
	kill_recorder(&r);
	unlink(file);
	profile_init(&p);
	struct store *s = create();
	commit(s, &p);
	store_close(s);
	assert_loads(&p, file);
	profile_release(&p);
}

static void two_do_not_record_to_one_file(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 2, true);
	wait_for_commits(&r, 2);
	assert_not_created(file, "another sonde is recording to");
	kill_recorder(&r);
	assert_int_equal(assert_whole(file), 2);
	assert_false(exists(old));
}

/* Of those who start together one gets the name, and the others are told. */
static void simultaneous_starts(void **state)
{
	int go[2], done[2], won = 0;
	char result;
	pid_t pids[5];
	(void)state;
	assert_true(!pipe(go) && !pipe(done));
	for (int i = 0; i < 5; i++) {
		pids[i] = fork_child();
		if (pids[i])
			continue;
		struct store *s;
		struct err e;
		close(go[1]);
		bool ok = read(go[0], &result, 1) == 0 && !store_create(&s, file, &e);
		ok = write(done[1], ok ? "1" : "0", 1) == 1 && ok;
		pause();
		_exit(ok);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(read(done[0], &result, 1), 1);
		won += result == '1';
	}
	for (int i = 0; i < 5; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(done[0]);
	close(done[1]);
	assert_int_equal(won, 1);
}

/* Loads as somebody who may only read. */
static int load_as_reader(void)
{
	struct profile p;
	struct err e = {0};
	int status;
	pid_t pid = fork_child();
	if (!pid) {
		if (!geteuid() && (setgid(65534) || setuid(65534)))
			_exit(99);
		if (store_load(&p, file, &e)) {
			fprintf(stderr, "# %s\n", e.text);
			_exit(98);
		}
		status = atoi(fact_of(&p, "commits"));
		profile_release(&p);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void reading_needs_no_permission_to_write(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 3, false);
	wait_for_commits(&r, 3);
	waitpid(r.pid, NULL, 0);
	close(r.pipe_end);
	chmod(dir, 0555);
	assert_int_equal(load_as_reader(), 3);
	chmod(file, 0444);
	assert_int_equal(load_as_reader(), 3);
	chmod(dir, 0777);
	assert_int_equal(load_as_reader(), 3);
}

static void reading_a_killed_recorders_file_neither(void **state)
{
	struct recorder r;
	(void)state;
	start(&r, 3, true);
	wait_for_commits(&r, 3);
	kill_recorder(&r);
	for (int i = 0; i < 3; i++) {
		chmod(file, 0444);
		chmod(wal, 0444);
		chmod(shm, 0444);
		chmod(dir, 0555);
		assert_int_equal(load_as_reader(), 3);
		chmod(dir, 0777);
		if (i == 0)
			unlink(shm);
	}
	chmod(dir, 0777);
	unlink(wal);
	unlink(shm);
	chmod(dir, 0555);
	assert_int_equal(load_as_reader(), 0); /* what is in the file itself */
	chmod(dir, 0777);
}

/* Commits until it fails, which must leave what was there, then continues. */
static void fill_the_disk(const char *why, void (*give_room)(void))
{
	struct profile p;
	struct store *s = create();
	struct err e = {0};
	int r = 0, commits = 0;
	fill(&p);
	for (uint64_t i = 0; i < 2000 && !r; i++) {
		char text[16];
		for (uint64_t n = 0; n < 50; n++)
			profile_add(&p, profile_child(&p, 1, NODE_LEAF, 0, i << 8 | n), 0, 0, 1, 1);
		snprintf(text, sizeof(text), "%d", commits + 1);
		profile_fact(&p, "commits", text);
		r = store_commit(s, &p, &e);
		commits += !r;
	}
	assert_int_equal(r, ERR_SYSTEM);
	if (!strstr(e.text, why) || !strstr(e.text, "what was recorded before is kept"))
		fail_msg("%s", e.text);
	assert_true(commits > 0);
	give_room();
	commit(s, &p);
	store_close(s);
	assert_true(is_a_single_file());
	assert_loads(&p, file);
	profile_release(&p);
}

static void lift_limit(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void files_that_may_not_grow(void **state)
{
	struct rlimit limit;
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 200 * 1024;
	setrlimit(RLIMIT_FSIZE, &limit);
	fill_the_disk("limit on file sizes", lift_limit);
}

static void remount_larger(void)
{
	assert_int_equal(mount("none", dir, "tmpfs", MS_REMOUNT, "size=64m"), 0);
}

static void a_full_disk(void **state)
{
	int status;
	(void)state;
	pid_t pid = fork_child();
	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("none", dir, "tmpfs", 0, "size=300k"))
			_exit(77);
		fill_the_disk("no room is left", remount_larger);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static void what_is_no_profile_is_refused(void **state)
{
	(void)state;
	assert_refused(file, ERR_SYSTEM, "No such file");
	assert_refused(dir, ERR_INPUT, "not a file");
	write_file(file, "");
	assert_refused(file, ERR_INPUT, "not a profile");
	write_file(file,
		   "not much, but enough to be longer than the header of a SQLite file has to "
		   "be, which is one hundred bytes");
	assert_refused(file, ERR_INPUT, "not a profile");
	unlink(file);
	sql(file, "CREATE TABLE node(x)");
	assert_refused(file, ERR_INPUT, "not a profile");
}

static void newer_schemas_are_refused(void **state)
{
	(void)state;
	write_one();
	sql(file, "PRAGMA user_version=5");
	assert_refused(file, ERR_UNSUPPORTED, "newer sonde");
}

static void forget_search(struct profile *p)
{
	vec_clear(&p->resources);
	vec_clear(&p->experiments);
	vec_clear(&p->refinements);
	vec_clear(&p->findings);
	vec_clear(&p->remarks);
	evidence_clear(&p->evidence);
}

/* Schema 1 had no counts, schema 2 no search, schema 3 no evidence. */
static void older_schemas_are_read(void **state)
{
	struct profile p;
	(void)state;
	write_one();
	sql(file, "DROP TABLE evidence; DROP TABLE code_name; DROP TABLE seen_thread; "
		  "DROP TABLE object; DROP TABLE chain; DROP TABLE chain_part; DROP TABLE amount; "
		  "DROP TABLE holder; DROP TABLE trip_count; PRAGMA user_version=3; "
		  "UPDATE meta SET value='3' WHERE key='schema'");
	fill(&p);
	fuse(&p);
	evidence_clear(&p.evidence);
	assert_loads(&p, file);
	profile_release(&p);
	sql(file, "DROP VIEW search; DROP VIEW resource_path; DROP TABLE resource; "
		  "DROP TABLE experiment; DROP TABLE refinement; DROP TABLE finding; "
		  "DROP TABLE remark; PRAGMA user_version=2; "
		  "UPDATE meta SET value='2' WHERE key='schema'");
	fill(&p);
	fuse(&p);
	forget_search(&p);
	assert_loads(&p, file);
	profile_release(&p);
	sql(file, "DROP TABLE tally; DROP TABLE trips; DROP TABLE uncovered; "
		  "PRAGMA user_version=1; UPDATE meta SET value='1' WHERE key='schema'");
	fill(&p);
	fuse(&p);
	vec_clear(&p.tallies);
	vec_clear(&p.trips);
	vec_clear(&p.uncovered);
	forget_search(&p);
	assert_loads(&p, file);
	profile_release(&p);
	sql(file, "PRAGMA user_version=0");
	sql(file, "DROP TABLE node");
	assert_refused(file, ERR_INPUT, "damaged");
}

static void forged_tables_are_refused(void **state)
{
	static const char *const forgeries[] = {
		"DROP TABLE count",
		"DROP TABLE count; CREATE VIEW count AS WITH RECURSIVE c(x) AS "
		"(SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS name, x AS samples FROM c",
		"ALTER TABLE node ADD COLUMN extra",
		"UPDATE node SET parent=3 WHERE id=2",
		"UPDATE node SET parent='x' WHERE id=2",
		"UPDATE node SET image=99 WHERE id=2",
		"UPDATE node SET id=99 WHERE id=3",
		"UPDATE thread SET process=-1",
		"UPDATE value SET samples=-1",
		"UPDATE value SET metric=5",
		"UPDATE image SET build_id='xyz'",
		"UPDATE image SET path=x'00'",
		"UPDATE scope SET kind=256 WHERE id=1",
		"DELETE FROM node",
		"DROP TABLE tally",
		"UPDATE tally SET scope=1",
		"UPDATE tally SET loop=2",
		"UPDATE tally SET entries='many'",
		"UPDATE trips SET tally=1",
		"UPDATE trips SET high=1000000000000 WHERE low=0",
		"UPDATE uncovered SET share=-1",
		"DROP VIEW search; DROP TABLE experiment",
		"UPDATE resource SET parent=5 WHERE id=5",
		"UPDATE resource SET parent=6 WHERE id=5",
		"UPDATE resource SET hierarchy='sync' WHERE id=5",
		"UPDATE resource SET hierarchy='x' WHERE id=6",
		"UPDATE resource SET kind=2 WHERE id=5",
		"UPDATE resource SET image=2 WHERE id=5",
		"DELETE FROM resource WHERE id=6; UPDATE experiment SET sync=6",
		"UPDATE experiment SET code=1",
		"UPDATE experiment SET machine=-1",
		"UPDATE experiment SET state='maybe'",
		"UPDATE experiment SET origin=''",
		"UPDATE experiment SET priority='low'",
		"UPDATE experiment SET value=9e999 WHERE id=2",
		"UPDATE experiment SET decided=-9e999 WHERE id=2",
		"UPDATE experiment SET threshold='much'",
		"UPDATE experiment SET unsure=2",
		"UPDATE experiment SET tests=-1",
		"UPDATE refinement SET child=3 WHERE parent=0",
		"DROP TABLE evidence",
		"DROP TABLE chain_part",
		"INSERT INTO evidence VALUES('x', 1)",
		"UPDATE evidence SET value=-1 WHERE name='cpu'",
		"UPDATE evidence SET value=9e999 WHERE name='sampled_io'",
		"UPDATE code_name SET resource=1 WHERE procedure='f'",
		"UPDATE code_name SET resource=99 WHERE procedure='f'",
		"UPDATE seen_thread SET resource=99",
		"UPDATE seen_thread SET tid=-1",
		"UPDATE seen_thread SET cpu=-1",
		"UPDATE seen_thread SET idle=9e999",
		"UPDATE object SET count=-1",
		"UPDATE object SET name=x'00'",
		"UPDATE object SET resource=99 WHERE id=0",
		"UPDATE chain SET length=0 WHERE id=0",
		"UPDATE chain SET length=100 WHERE id=1",
		"UPDATE chain SET length=4294967294 WHERE id=0",
		"UPDATE chain SET node=99 WHERE id=0",
		"UPDATE chain SET class=3 WHERE id=0",
		"UPDATE chain SET object=9 WHERE id=0",
		"UPDATE chain_part SET resource=1 WHERE id=0",
		"UPDATE amount SET resource=1 WHERE id=1",
		"UPDATE amount SET thread=9",
		"UPDATE amount SET object=9",
		"UPDATE amount SET wait=-1",
		"UPDATE holder SET object=9",
		"UPDATE holder SET node=99",
		"UPDATE trip_count SET resource=1",
		"UPDATE finding SET experiment=3",
		"UPDATE finding SET node=99",
		"UPDATE finding SET share=9e999",
		"UPDATE remark SET finding=2",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(forgeries) / sizeof(*forgeries); i++) {
		clean(NULL);
		write_one();
		sql(file, forgeries[i]);
		assert_refused(file, ERR_INPUT, "damaged");
	}
}

static void own_additions_do_no_harm(void **state)
{
	struct profile p;
	(void)state;
	fill(&p);
	fuse(&p);
	write_one();
	sql(file, "CREATE TABLE mine(x); CREATE INDEX i ON node(parent); "
		  "CREATE VIEW v AS SELECT * FROM node; VACUUM");
	assert_loads(&p, file);
	profile_release(&p);
}

static void names_with_signs(void **state)
{
	char path[96];
	struct store *s;
	struct profile p;
	struct err e;
	(void)state;
	snprintf(path, sizeof(path), "%s/50%% ?a=b&c#d %%41", dir);
	fill(&p);
	assert_int_equal(store_create(&s, path, &e), 0);
	commit(s, &p);
	store_close(s);
	assert_true(exists(path));
	assert_loads(&p, path);
	profile_release(&p);
}

static size_t read_whole(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n = fread(to, 1, size, f);
	fclose(f);
	return n;
}

static void write_whole(const char *path, const char *from, size_t size)
{
	FILE *f = fopen(path, "w");
	assert_int_equal(fwrite(from, 1, size, f), size);
	fclose(f);
}

/* Loads what may be damaged; whatever loads must be sound, which store_load() itself checks. */
static bool try(const char *path)
{
	struct profile p;
	struct err e = {0};
	if (store_load(&p, path, &e)) {
		assert_true(e.text[0]);
		return false;
	}
	profile_release(&p);
	return true;
}

/* A small page size, so that there are inner pages and most bytes matter; without the views, whose
 * text ends in a page that is mostly empty. */
static size_t small_profile(char *bytes, size_t size)
{
	struct profile p;
	fill(&p);
	fuse(&p);
	for (uint64_t i = 0; i < 100; i++)
		profile_add(&p, profile_child(&p, (uint32_t)i / 2, NODE_FRAME, 0, i), 0, 0, 1, 1);
	struct store *s = create();
	commit(s, &p);
	store_close(s);
	profile_release(&p);
	sql(file, "DROP VIEW search; DROP VIEW resource_path; PRAGMA page_size=512; VACUUM");
	return read_whole(file, bytes, size);
}

static void changed_bytes_do_no_harm(void **state)
{
	static char good[1 << 20], bad[1 << 20];
	(void)state;
	size_t n = small_profile(good, sizeof(good));
	int loaded = 0;
	for (int i = 0; i < 2000; i++) {
		memcpy(bad, good, n);
		for (int flips = 1 + i % 3; flips; flips--)
			bad[(size_t)rand() % n] = (char)rand();
		write_whole(copy, bad, n);
		loaded += try(copy);
	}
	assert_true(loaded > 0 && loaded < 2000);
}

static void cut_off_files_are_refused(void **state)
{
	static char good[1 << 20];
	(void)state;
	size_t n = small_profile(good, sizeof(good));
	for (size_t size = 0; size < n; size += 97) {
		write_whole(copy, good, size);
		assert_refused(copy, ERR_INPUT, size < 512 ? "" : "damaged");
	}
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || chmod(dir, 0777))
		return -1;
	snprintf(file, sizeof(file), "%s/sonde.data", dir);
	snprintf(old, sizeof(old), "%s.old", file);
	snprintf(wal, sizeof(wal), "%s-wal", file);
	snprintf(shm, sizeof(shm), "%s-shm", file);
	snprintf(copy, sizeof(copy), "%s/copy", dir);
	return 0;
}

static int tear_down(void **state)
{
	return clean(state) || rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(everything_comes_back, clean),
		cmocka_unit_test_setup(what_changed_is_written, clean),
		cmocka_unit_test_setup(a_search_goes_on, clean),
		cmocka_unit_test_setup(searches_can_be_read_with_sql, clean),
		cmocka_unit_test_setup(unchanged_commits_write_little, clean),
		cmocka_unit_test_setup(a_profile_without_a_commit_is_empty, clean),
		cmocka_unit_test_setup(the_previous_is_kept, clean),
		cmocka_unit_test_setup(other_files_are_not_overwritten, clean),
		cmocka_unit_test_setup(an_empty_file_is_taken, clean),
		cmocka_unit_test_setup(no_place_to_write, clean),
		cmocka_unit_test_setup(killed_recorders_leave_all_commits, clean),
		cmocka_unit_test_setup(a_killed_recorders_log_goes_along, clean),
		cmocka_unit_test_setup(a_log_without_its_file_is_dropped, clean),
		cmocka_unit_test_setup(two_do_not_record_to_one_file, clean),
		cmocka_unit_test_setup(simultaneous_starts, clean),
		cmocka_unit_test_setup(reading_needs_no_permission_to_write, clean),
		cmocka_unit_test_setup(reading_a_killed_recorders_file_neither, clean),
		cmocka_unit_test_setup(files_that_may_not_grow, clean),
		cmocka_unit_test_setup(a_full_disk, clean),
		cmocka_unit_test_setup(what_is_no_profile_is_refused, clean),
		cmocka_unit_test_setup(newer_schemas_are_refused, clean),
		cmocka_unit_test_setup(older_schemas_are_read, clean),
		cmocka_unit_test_setup(forged_tables_are_refused, clean),
		cmocka_unit_test_setup(own_additions_do_no_harm, clean),
		cmocka_unit_test_setup(names_with_signs, clean),
		cmocka_unit_test_setup(changed_bytes_do_no_harm, clean),
		cmocka_unit_test_setup(cut_off_files_are_refused, clean),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
