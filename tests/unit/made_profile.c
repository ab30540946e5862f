#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "made_profile.h"

uint32_t add_resource(struct profile *p, uint32_t parent, uint8_t hierarchy, uint8_t kind,
		      const char *name)
{
	vec_push(&p->resources, (struct profile_resource){.parent = parent,
							  .hierarchy = hierarchy,
							  .kind = kind,
							  .name = name,
							  .module = PROFILE_NONE,
							  .file = ""});
	return p->resources.len - 1;
}

void add_experiment(struct profile *p, const char *hypothesis, uint32_t code, uint8_t state)
{
	vec_push(&p->experiments, (struct profile_experiment){.hypothesis = hypothesis,
							      .focus = {code, 1, 2, 3},
							      .state = state,
							      .threshold = 0.2,
							      .begun = -1,
							      .decided = -1});
}

static void fill_evidence(struct evidence *e, uint32_t function, uint32_t loop)
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
	vec_push(&e->names, (struct evidence_name){function, "f", "main > f"});
	vec_push(&e->names, (struct evidence_name){loop, "it's", ""});
	vec_push(&e->threads, (struct evidence_thread){PROFILE_MACHINE, 0, "", 0.5, -0.25});
	vec_push(&e->threads, (struct evidence_thread){PROFILE_MACHINE, 77, "a b", 0, 3});
	vec_push(&e->objects,
		 (struct evidence_object){"mutex", "it's", 6, 10, 0, 0.125, 0, "", 0, 0});
	vec_push(&e->objects, (struct evidence_object){"file", "/x", PROFILE_NONE, 1, 1ull << 62, 1,
						       2.5, "it's", 77, 7});
	vec_push(&e->parts, function);
	vec_push(&e->parts, loop);
	vec_push(&e->parts, function);
	vec_push(&e->chains, (struct evidence_chain){0, 2, 1, 2, 2, 0.1, 3});
	vec_push(&e->chains, (struct evidence_chain){2, 1, PROFILE_NONE, 0, 0, 1, 4000000000});
	vec_push(&e->amounts, (struct evidence_amount){0, 1, PROFILE_NONE, 1, 2, 3, 4, 5, 0});
	vec_push(&e->amounts, (struct evidence_amount){loop, 0, 1, 0.1, 0.2, 0.3, 0.4, 0.5, 0});
	vec_push(&e->holders, (struct evidence_holder){1, 1, 2, 0.75});
	vec_push(&e->trips, (struct evidence_trip){loop, 0.01, 5, 1ull << 50});
	vec_push(&e->commands,
		 (struct evidence_command){"cc1", 3, 1, 2, 1.5, "it's", 0.25, 2.25, 0.5, 0.125});
	vec_push(&e->commands, (struct evidence_command){"", 0, 0, 0, 0, "", 0, 0, 0, 0});
}

static void fill_search(struct profile *p)
{
	static const char *const roots[] = {"Code", "Machine", "SyncObject", "File"};
	for (uint8_t h = 0; h < PROFILE_HIERARCHIES; h++)
		add_resource(p, PROFILE_NONE, h, RESOURCE_GROUP, roots[h]);
	uint32_t function =
		add_resource(p, PROFILE_CODE, PROFILE_CODE, RESOURCE_FUNCTION, "f(\"/\")");
	uint32_t loop = add_resource(p, function, PROFILE_CODE, RESOURCE_LOOP, "loop a.c:3-9");
	add_resource(p, PROFILE_SYNC, PROFILE_SYNC, RESOURCE_OBJECT, "it's a lock");
	p->resources.data[loop].module = 0;
	p->resources.data[loop].address = 0xffff000000000010;
	p->resources.data[loop].file = "/src/a.c";
	p->resources.data[loop].first_line = 3;
	p->resources.data[loop].last_line = 9;
	add_experiment(p, "cpu", PROFILE_CODE, PROFILE_TRUE);
	add_experiment(p, "cpu", function, PROFILE_ACTIVE);
	add_experiment(p, "cpu", loop, PROFILE_READY);
	struct profile_experiment *first = &p->experiments.data[0];
	first->priority = PROFILE_HIGH;
	first->flags = EXPERIMENT_SAMPLED | EXPERIMENT_OVER;
	first->value = 0.875;
	first->confidence = 0.99;
	first->begun = 0.25;
	first->decided = 1.5;
	first->observed = 1.25;
	first->overhead = 0.125;
	first->tests = 3;
	p->experiments.data[1].origin = PROFILE_DEEP_STARTER;
	p->experiments.data[1].flags = EXPERIMENT_UNSURE;
	p->experiments.data[2].origin = PROFILE_CONNECTING;
	vec_push(&p->refinements, (struct profile_refinement){0, 1});
	vec_push(&p->refinements, (struct profile_refinement){2, 1});
	vec_push(&p->refinements, (struct profile_refinement){1, 2});
	fill_evidence(&p->evidence, function, loop);
	vec_push(&p->findings,
		 (struct profile_finding){"cpu", 1, 2, 0.875, 0.99, "87.5 % of the run in f"});
	vec_push(&p->findings,
		 (struct profile_finding){"io", PROFILE_NONE, PROFILE_NONE, 0.1, 0, ""});
	vec_push(&p->remarks, (struct profile_remark){1, "where", "there"});
	vec_push(&p->remarks, (struct profile_remark){PROFILE_NONE, "step", "it's a step"});
}

void fill_profile(struct profile *p)
{
	profile_init(p);
	vec_push(&p->metrics, (struct profile_metric){"cpu-clock", "ns", 2004008});
	vec_push(&p->metrics, (struct profile_metric){"cycles", "", 0});
	vec_push(&p->modules,
		 (struct profile_module){.path = "/bin/a",
					 .build_id = {.bytes = {1, 0xab, 0}, .size = 3},
					 .file_size = 123,
					 .mtime = 1700000000});
	vec_push(&p->modules, (struct profile_module){.path = "[vdso]", .problem = "it is 'gone'"});
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
	uint32_t loop = profile_counters(p, 0, 0x1008, true, 1);
	p->counters.data[loop].flags = COUNTS_MACHINE_ITERATIONS;
	p->counters.data[loop].entries = 3;
	p->counters.data[loop].iterations = 70000000000;
	p->counters.data[loop].trip_max = 70000000000 - 1;
	for (uint32_t i = 0; i < INSN_CLASSES; i++)
		p->counters.data[loop].mix[i] = 100 + i;
	p->counters.data[profile_counters(p, 0, 0xff0, false, 1)].entries = 1;
	profile_add_trips(p, loop, (uint64_t)1 << 36, ((uint64_t)1 << 37) - 1, 1);
	profile_add_trips(p, loop, 0, 0, 2);
	vec_push(&p->uncovered, (struct profile_uncovered){0, 12345, 0x3000, "odd", "it's odd"});
	vec_push(&p->uncovered,
		 (struct profile_uncovered){PROFILE_NONE, PROFILE_NONE, 1, "", "made at run time"});
	fill_search(p);
}

void add_scopes(struct profile *p)
{
	vec_push(&p->scopes, (struct profile_scope){PROFILE_NONE, 0, PROFILE_FUNCTION, 0, "main",
						    "a.c", 10, 20, "", 0, 0xff0});
	vec_push(&p->scopes, (struct profile_scope){0, 0, PROFILE_INLINE, PROFILE_ALIEN, "f<int>",
						    "a.h", 1, 3, "a.c", 12, 0x1000});
	vec_push(&p->scopes, (struct profile_scope){1, 0, PROFILE_LOOP, PROFILE_IRREDUCIBLE, "",
						    "a.h", 2, 3, "", 0, 0x1008});
	p->nodes.data[1].scope = 2;
	p->nodes.data[2].scope = 0;
	p->counters.data[0].scope = 2;
	p->counters.data[1].scope = 0;
	p->fused = p->finished = true;
}

/* Compares vectors row by row: the condition is about x and y. */
#define assert_same_rows(a, b, condition)                                                          \
	do {                                                                                       \
		assert_int_equal((a)->len, (b)->len);                                              \
		for (uint32_t i = 0; i < (a)->len; i++) {                                          \
			__typeof__((a)->data) x = &(a)->data[i], y = &(b)->data[i];                \
			assert_true(condition);                                                    \
		}                                                                                  \
	} while (0)

static void assert_same_code(const struct profile *a, const struct profile *b)
{
	assert_same_rows(&a->nodes, &b->nodes,
			 x->parent == y->parent && x->module == y->module &&
				 x->address == y->address && x->scope == y->scope &&
				 x->kind == y->kind);
	assert_same_rows(&a->scopes, &b->scopes,
			 x->parent == y->parent && x->module == y->module && x->kind == y->kind &&
				 x->flags == y->flags && !strcmp(x->name, y->name) &&
				 !strcmp(x->file, y->file) && x->first_line == y->first_line &&
				 x->last_line == y->last_line &&
				 !strcmp(x->call_file, y->call_file) &&
				 x->call_line == y->call_line && x->address == y->address);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void assert_same_program(const struct profile *a, const struct profile *b)
{
	assert_same_rows(&a->modules, &b->modules,
			 !strcmp(x->path, y->path) &&
				 !memcmp(&x->build_id, &y->build_id, sizeof(x->build_id)) &&
				 x->file_size == y->file_size && x->mtime == y->mtime &&
				 is_same_text(x->problem, y->problem));
	assert_same_rows(&a->processes, &b->processes,
			 x->pid == y->pid && x->parent == y->parent && !strcmp(x->name, y->name));
	assert_same_rows(&a->threads, &b->threads,
			 x->tid == y->tid && x->process == y->process && !strcmp(x->name, y->name));
}

static const struct profile_value *value_of(const struct profile *p, const struct profile_value *k)
{
	vec_each (v, &p->values)
		if (v->node == k->node && v->thread == k->thread && v->metric == k->metric)
			return v;
	fail_msg("a value is missing");
	return NULL;
}

static void assert_same_measurements(const struct profile *a, const struct profile *b)
{
	assert_same_rows(&a->metrics, &b->metrics,
			 !strcmp(x->name, y->name) && !strcmp(x->unit, y->unit) &&
				 x->period == y->period);
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
		if (t->counters == k->counters && t->low == k->low)
			return t;
	fail_msg("a bucket is missing");
	return NULL;
}

static void assert_same_counts(const struct profile *a, const struct profile *b)
{
	assert_same_rows(&a->counters, &b->counters,
			 x->module == y->module && x->address == y->address && x->loop == y->loop &&
				 x->thread == y->thread && x->scope == y->scope &&
				 x->flags == y->flags && x->entries == y->entries &&
				 x->iterations == y->iterations && x->trip_min == y->trip_min &&
				 x->trip_max == y->trip_max &&
				 !memcmp(x->mix, y->mix, sizeof(x->mix)));
	assert_int_equal(a->trips.len, b->trips.len);
	vec_each (t, &a->trips) {
		assert_int_equal(t->high, trips_of(b, t)->high);
		assert_int_equal(t->entries, trips_of(b, t)->entries);
	}
	assert_same_rows(&a->uncovered, &b->uncovered,
			 x->module == y->module && x->share == y->share &&
				 x->address == y->address && !strcmp(x->name, y->name) &&
				 !strcmp(x->reason, y->reason));
}

static void assert_same_experiments(const struct profile *a, const struct profile *b)
{
	assert_same_rows(&a->experiments, &b->experiments,
			 !strcmp(x->hypothesis, y->hypothesis) &&
				 !memcmp(x->focus, y->focus, sizeof(x->focus)) &&
				 x->state == y->state && x->origin == y->origin &&
				 x->priority == y->priority && x->flags == y->flags &&
				 x->value == y->value && x->threshold == y->threshold &&
				 x->confidence == y->confidence && x->created == y->created &&
				 x->begun == y->begun && x->decided == y->decided &&
				 x->observed == y->observed && x->overhead == y->overhead &&
				 x->tests == y->tests);
	assert_int_equal(a->refinements.len, b->refinements.len);
	vec_each (x, &a->refinements) {
		bool found = false;
		vec_each (y, &b->refinements)
			found |= x->parent == y->parent && x->child == y->child;
		assert_true(found);
	}
}

static void assert_same_evidence(const struct evidence *a, const struct evidence *b)
{
	const struct evidence_run *r = &a->run, *q = &b->run;
	assert_true(r->seconds == q->seconds && r->time == q->time && r->cpu == q->cpu &&
		    r->threads == q->threads && r->ran == q->ran && r->ready == q->ready &&
		    r->sampled[0] == q->sampled[0] && r->sampled[1] == q->sampled[1] &&
		    r->sampled[2] == q->sampled[2] && r->cpus == q->cpus &&
		    r->ignored == q->ignored && r->calls_sampled == q->calls_sampled);
	assert_same_rows(&a->names, &b->names,
			 x->resource == y->resource && !strcmp(x->function, y->function) &&
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
	assert_same_rows(&a->commands, &b->commands,
			 !strcmp(x->name, y->name) && x->processes == y->processes &&
				 x->cpu == y->cpu && x->wall == y->wall &&
				 x->longest == y->longest && !strcmp(x->argument, y->argument) &&
				 x->first == y->first && x->last == y->last &&
				 x->alone == y->alone && x->closing == y->closing);
}

static void assert_same_search(const struct profile *a, const struct profile *b)
{
	assert_same_rows(&a->resources, &b->resources,
			 x->parent == y->parent && x->hierarchy == y->hierarchy &&
				 x->kind == y->kind && !strcmp(x->name, y->name) &&
				 x->module == y->module && x->address == y->address &&
				 !strcmp(x->file, y->file) && x->first_line == y->first_line &&
				 x->last_line == y->last_line);
	assert_same_experiments(a, b);
	assert_same_evidence(&a->evidence, &b->evidence);
	assert_same_rows(&a->findings, &b->findings,
			 !strcmp(x->hypothesis, y->hypothesis) && x->experiment == y->experiment &&
				 x->node == y->node && x->share == y->share &&
				 x->confidence == y->confidence &&
				 !strcmp(x->sentence, y->sentence));
	assert_same_rows(&a->remarks, &b->remarks,
			 x->finding == y->finding && !strcmp(x->kind, y->kind) &&
				 !strcmp(x->text, y->text));
}

const char *fact_of(const struct profile *p, const char *name)
{
	const char *value = profile_get_fact(p, name);
	return value ? value : "";
}

void assert_same_profile(const struct profile *a, const struct profile *b)
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
