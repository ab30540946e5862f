#include "path/profile.h"

#include <string.h>

#include "profile/fuse.h"

void path_profile_init(struct path_profile *p)
{
	*p = (struct path_profile){.stops = PROFILE_NONE};
	profile_init(&p->profile);
	p->codes = codes_new(NULL);
	stacks_init(&p->stacks, &p->profile, p->codes);
}

void path_profile_release(struct path_profile *p)
{
	vec_each (copy, &p->copies)
		if (*copy)
			module_close(*copy);
	vec_free(&p->copies);
	vec_free(&p->functions);
	vec_free(&p->entries);
	hashmap_release(&p->function_at);
	hashmap_release(&p->entry_at);
	stacks_release(&p->stacks);
	codes_free(p->codes);
	profile_release(&p->profile);
}

/* ---- modules ---- */

/* Our own copies outlive the engine, the file and the process. */
static void copy_modules(struct path_profile *p)
{
	struct err ignored;
	while (p->copies.len < p->stacks.modules.codes.len) {
		const struct code *c = p->stacks.modules.codes.data[p->copies.len];
		struct module *copy = NULL;
		if (c->module && module_open_again(&copy, c->module, &ignored))
			copy = NULL;
		vec_push(&p->copies, copy);
	}
}

static uint32_t module_of(struct path_profile *p, struct code *c)
{
	uint32_t module = modules_find(&p->stacks.modules, c);
	copy_modules(p);
	return module;
}

/* ---- functions and metrics ---- */

uint32_t path_profile_function(struct path_profile *p, const struct selected *what,
			       const char *word)
{
	uint32_t module = module_of(p, what->code), next = p->functions.len;
	const uint64_t key[] = {module, what->va, what->loop};
	uint32_t at = hashmap_add(&p->function_at, hash_bytes(key, sizeof(key), 0), next);
	if (at != next)
		return at;
	struct arena *a = &p->profile.arena;
	vec_push(&p->functions, (struct path_function){
					.module = module,
					.va = what->va,
					.loop = what->loop,
					.word = arena_strdup(a, word),
					.name = arena_strdup(a, what->name),
					.file = arena_strdup(a, what->file),
					.first_line = what->first_line,
					.last_line = what->last_line,
				});
	return next;
}

void path_profile_metric(struct path_profile *p, struct path_metric *m)
{
	if (m->row != PROFILE_NONE)
		return;
	m->row = p->profile.metrics.len;
	vec_push(&p->profile.metrics, (struct profile_metric){.name = m->name,
							      .unit = m->unit,
							      .period = m->index == PATH_CALLS});
}

/* ---- processes ---- */

void path_profile_process(struct path_profile *p, int pid, int parent)
{
	if (parent)
		watched_fork(&p->stacks.watched, parent, pid);
	else
		watched_process(&p->stacks.watched, pid);
	watched_name_process(&p->stacks.watched, pid);
}

void path_profile_exec(struct path_profile *p, int pid)
{
	watched_exec(&p->stacks.watched, pid);
	watched_name_process(&p->stacks.watched, pid);
}

/* ---- values ---- */

static uint32_t frame_node(struct path_profile *p, struct space *space, uint32_t parent,
			   uint64_t return_address)
{
	struct place at = space_find(space, return_address);
	return profile_child(&p->profile, parent, NODE_FRAME, module_of(p, at.code), at.va - 1);
}

static uint32_t path_node(struct path_profile *p, struct space *space, uint32_t function,
			  const struct path_value *v)
{
	const struct path_function *f = &p->functions.data[function];
	uint32_t at =
		v->complete ? 0 : profile_child(&p->profile, 0, NODE_PARTIAL, PROFILE_NONE, 0);
	for (uint32_t i = v->frame_count; i-- > 0;)
		at = frame_node(p, space, at, v->frames[i]);
	return profile_child(&p->profile, at, NODE_LEAF, f->module, f->loop ? f->loop : f->va);
}

static uint64_t key_of(const struct path_origin *from, const struct path_value *v)
{
	const uint64_t key[] = {from->generation, v->subject, (uint64_t)v->tid,
				(uint64_t)v->recursive | (uint64_t)v->complete << 1,
				v->frame_count};
	uint64_t h = hash_bytes(key, sizeof(key), 0);
	return hash_bytes(v->frames, v->frame_count * sizeof(*v->frames), h);
}

static struct path_entry *entry_of(struct path_profile *p, const struct path_origin *from,
				   uint32_t function, const struct path_value *v)
{
	uint32_t next = p->entries.len;
	uint32_t at = hashmap_add(&p->entry_at, key_of(from, v), next);
	if (at != next)
		return &p->entries.data[at];
	struct watched_thread *t = watched_thread(&p->stacks.watched, from->pid, v->tid);
	vec_push(&p->entries, (struct path_entry){
				      .function = function,
				      .node = path_node(p, from->space, function, v),
				      .thread = watched_row(&p->stacks.watched, t),
				      .recursive = v->recursive,
				      .complete = v->complete,
			      });
	return &p->entries.data[at];
}

void path_profile_begin(struct path_profile *p)
{
	p->reading++;
}

/* Threads that had the same tid one after the other are reported separately, and added up. */
void path_profile_value(struct path_profile *p, const struct path_origin *from, uint32_t function,
			const struct path_value *v)
{
	struct path_entry *n = entry_of(p, from, function, v);
	if (n->reading != p->reading)
		n->reported = (struct path_amounts){0};
	n->reading = p->reading;
	n->reported.calls += v->calls;
	n->reported.running += v->running;
	for (uint32_t i = 0; i < RT_METRICS; i++) {
		n->reported.total[i] += v->total[i];
		n->reported.self[i] += v->self[i];
	}
}

/* The store considers a value changed only if its number of samples has changed. So time that
 * passes without a new call counts as one sample. */
static void add_difference(struct path_profile *p, const struct path_entry *n,
			   const struct path_metric *m)
{
	uint64_t calls = n->reported.calls - n->values.calls, amount = calls;
	if (m->row == PROFILE_NONE)
		return;
	if (m->index != PATH_CALLS) {
		uint64_t now = n->reported.self[m->index], before = n->values.self[m->index];
		amount = now > before ? now - before : 0;
	}
	if (amount)
		profile_add(&p->profile, n->node, n->thread, m->row, calls ? calls : 1, amount);
}

/* The self time of a running activation may go down: it is not known until the measured calls below
 * it have ended. What was added to the profile stays, and nothing is taken back. */
static void keep_values(struct path_entry *n)
{
	struct path_amounts before = n->values;
	n->values = n->reported;
	for (uint32_t i = 0; i < RT_METRICS; i++)
		if (n->values.self[i] < before.self[i])
			n->values.self[i] = before.self[i];
}

void path_profile_end(struct path_profile *p, const struct path_metrics *m)
{
	vec_each (n, &p->entries) {
		if (n->reading != p->reading)
			continue;
		if (n->reported.calls < n->values.calls)
			n->reported.calls = n->values.calls;
		for (uint32_t i = 0; i < m->count; i++)
			add_difference(p, n, &m->list[i]);
		struct path_function *f = &p->functions.data[n->function];
		uint64_t calls = n->reported.calls - n->values.calls;
		f->calls += calls;
		if (calls)
			profile_count(&p->profile, n->complete ? "complete" : "callers not known",
				      calls);
		keep_values(n);
	}
}

void path_profile_walk(struct path_profile *p, int pid, int tid, const struct walk *w, bool in_call)
{
	if (!w->frames.len)
		return;
	if (p->stops == PROFILE_NONE) {
		p->stops = p->profile.metrics.len;
		vec_push(&p->profile.metrics,
			 (struct profile_metric){.name = "stops", .unit = "", .period = 1});
	}
	stacks_add(&p->stacks, &(struct stack){.pid = pid,
					       .tid = tid,
					       .walk = w,
					       .state = in_call ? STACK_IN_KERNEL : STACK_RUNS,
					       .metric = p->stops,
					       .amount = 1});
	copy_modules(p);
}

static struct module *copied_module(void *ctx, uint32_t module)
{
	return ((struct path_profile *)ctx)->copies.data[module];
}

/* A measured function means all of it, not the line and the loop of its first instruction. */
static void raise_to_function(struct profile *p, struct profile_node *n)
{
	while (n->scope != PROFILE_NONE && p->scopes.data[n->scope].kind != PROFILE_FUNCTION)
		n->scope = p->scopes.data[n->scope].parent;
}

void path_profile_fuse(struct path_profile *p)
{
	const struct fuse_options fuse = {.module = copied_module, .ctx = p};
	profile_fuse(&p->profile, &fuse);
	vec_each (n, &p->entries)
		if (!p->functions.data[n->function].loop)
			raise_to_function(&p->profile, &p->profile.nodes.data[n->node]);
}
