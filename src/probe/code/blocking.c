/* Finds where a program may block: its system calls, in the code of all its modules, and some
 * functions that spin. Pinned code (patch/pinned.h) makes its system call for its callers, so these
 * are probed instead. */
#include "probe/code/blocking.h"

#include <string.h>
#include <sys/syscall.h>

#include "flow/far_jumps.h"
#include "isa/calls.h"
#include "patch/pinned.h"
#include "probe/code/module_facts.h"
#include "probe/code/sites.h"

/* Functions that wait without the kernel, or poll for what they wait for. */
static const struct spinning {
	const char *name;
	bool argument; /* the first argument is the object waited for */
} spinning[] = {
	{"pthread_spin_lock", true},
	{"GOMP_barrier", false},
	{"GOMP_critical_start", false},
	{"GOMP_critical_name_start", true},
	{"GOMP_taskwait", false},
	{"GOMP_taskgroup_end", false},
	{"omp_set_lock", true},
	{"omp_set_nest_lock", true},
	{"__kmpc_barrier", true},
	{"__kmpc_critical", true},
	{"__kmpc_omp_taskwait", true},
	{"MPI_Wait", true},
	{"MPI_Waitall", true},
	{"MPI_Waitany", true},
	{"MPI_Waitsome", true},
	{"MPI_Recv", true},
	{"MPI_Send", true},
	{"MPI_Ssend", true},
	{"MPI_Bsend", true},
	{"MPI_Rsend", true},
	{"MPI_Sendrecv", true},
	{"MPI_Sendrecv_replace", true},
	{"MPI_Probe", true},
	{"MPI_Barrier", true},
	{"MPI_Bcast", true},
	{"MPI_Reduce", true},
	{"MPI_Allreduce", true},
	{"MPI_Gather", true},
	{"MPI_Gatherv", true},
	{"MPI_Scatter", true},
	{"MPI_Scatterv", true},
	{"MPI_Allgather", true},
	{"MPI_Allgatherv", true},
	{"MPI_Alltoall", true},
	{"MPI_Alltoallv", true},
	{"MPI_Reduce_scatter", true},
	{"MPI_Scan", true},
	{"MPI_Win_fence", true},
	{"MPI_Win_wait", true},
	{"MPI_Win_lock", true},
	{"MPI_Win_unlock", true},
};

static const struct spinning *find_spinning(const char *name)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(spinning); i++)
		if (!strcmp(name, spinning[i].name))
			return &spinning[i];
	return NULL;
}

static void add_spinning(struct target *t, struct code *code, uint64_t bias)
{
	struct err ignored;
	uint64_t last = UINT64_MAX;
	uint32_t count;
	const struct symbol *all = module_symbols(code->module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *s = &all[i];
		if (s->va == last || !module_is_code(code->module, s->va))
			continue;
		const struct spinning *known = find_spinning(s->name);
		if (!known)
			continue;
		last = s->va;
		uint32_t number = target_add_subject(
			t, &(struct subject_request){.code = code, .va = s->va, .bias = bias},
			PURPOSE_SPIN, &ignored);
		if (number != SUBJECT_NONE)
			t->code->subjects.data[number].argument = known->argument;
	}
}

/* Functions that initialise the synchronisation object that is their first argument. Libraries have
 * names of their own for them, with leading underscores, which are not listed. */
static const char *const makers[] = {
	"pthread_mutex_init",  "pthread_cond_init", "pthread_barrier_init",
	"pthread_rwlock_init", "pthread_spin_init", "sem_init",
	"new_sem_init",        "omp_init_lock",     "omp_init_nest_lock",
};

static bool is_maker(const char *name)
{
	name += strspn(name, "_");
	for (uint32_t i = 0; i < ARRAY_SIZE(makers); i++)
		if (!strcmp(name, makers[i]))
			return true;
	return false;
}

static void add_makers(struct target *t, struct code *code, uint64_t bias)
{
	struct err ignored;
	uint64_t last = UINT64_MAX;
	uint32_t count;
	const struct symbol *all = module_symbols(code->module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *s = &all[i];
		if (s->va == last || !is_maker(s->name) || !module_is_code(code->module, s->va))
			continue;
		last = s->va;
		target_add_subject(
			t, &(struct subject_request){.code = code, .va = last, .bias = bias},
			PURPOSE_MADE, &ignored);
	}
}

/* Whether the call may install a seccomp filter or, if `waits`, may block. */
static bool is_wanted(const struct target *t, int64_t number, bool waits)
{
	if (number == -1 || number == SYS_prctl || number == SYS_seccomp)
		return true;
	return waits && number >= 0 && number < RT_CALLS && target_header(t)->calls[number];
}

static bool is_added(const struct target *t, const struct code *code, uint64_t bias, uint64_t start)
{
	vec_each (s, &t->code->subjects)
		if (s->purpose == PURPOSE_BLOCK && s->wanted && s->request.code == code &&
		    s->request.va == start && s->request.bias == bias)
			return true;
	return false;
}

static void add_function(struct target *t, struct code *code, uint64_t bias, uint64_t start)
{
	struct err ignored;
	struct subject_request r = {.code = code, .va = start, .bias = bias};
	if (!is_added(t, code, bias, start))
		target_add_subject(t, &r, PURPOSE_BLOCK, &ignored);
}

struct pinned_callers {
	struct target *target;
	struct code *code;
	uint64_t bias, callee;
};

/* Adds the function that makes this call. Bytes that look like a call need not be one: the flow
 * graph decides. */
static void add_caller(void *ctx, const struct far_jump *j)
{
	const struct pinned_callers *c = ctx;
	struct shared *g = c->target->shared;
	uint32_t count, function;
	if (!j->call || j->target != c->callee)
		return;
	function = call_sites_function(c->code->flow, j->from);
	if (function == UINT32_MAX)
		return;
	const struct cfg *cfg = flow_cfg(c->code->flow, function, &g->arena, &g->tmp);
	uint32_t block = cfg_block_at(cfg, j->from);
	if (block != BLOCK_NONE && cfg->blocks[block].target == c->callee)
		add_function(c->target, c->code, c->bias,
			     flow_functions(c->code->flow, &count)[function].start);
	arena_clear(&g->arena);
	arena_clear(&g->tmp);
}

static void add_call(struct target *t, struct code *code, uint64_t bias,
		     const struct system_call *site, bool waits, uint64_t *last)
{
	uint32_t function = call_sites_function(code->flow, site->va), count;
	if (function == UINT32_MAX)
		return;
	uint64_t start = flow_functions(code->flow, &count)[function].start;
	if (start == *last)
		return;
	if (is_pinned(code->module, code->arch, start)) {
		struct pinned_callers c = {t, code, bias, start};
		far_jumps(code->module, code->arch, add_caller, &c);
		*last = start;
	} else if (is_wanted(t, site->number, waits)) {
		add_function(t, code, bias, start);
		*last = start;
	}
}

static void add_calls(struct target *t, struct code *code, uint64_t bias, bool waits)
{
	uint64_t last = UINT64_MAX;
	const call_sites *sites = call_sites_of(t->shared, code);
	vec_each (site, sites)
		add_call(t, code, bias, site, waits, &last);
}

static uint64_t first_code(const struct code *code)
{
	for (uint32_t i = 0; i < code->module->section_count; i++)
		if (module_is_code(code->module, code->module->sections[i].va))
			return code->module->sections[i].va;
	return 0;
}

static struct searched *searched_of(struct target *t, const struct code *code, uint64_t start)
{
	vec_each (s, &t->code->searched)
		if (s->start == start && s->code == code)
			return s;
	return NULL;
}

static void search_module(struct target *t, struct code *code, uint64_t bias, bool waits)
{
	struct searched *s = searched_of(t, code, first_code(code) + bias);
	if (!s) {
		vec_push(&t->code->searched,
			 (struct searched){.start = first_code(code) + bias, .code = code});
		s = &vec_last(&t->code->searched);
		if (!waits)
			add_calls(t, code, bias, false);
	}
	if (waits && !s->waits) {
		s->waits = true;
		add_spinning(t, code, bias);
		add_calls(t, code, bias, true);
	}
	if (t->code->watch_waits && !s->makers) {
		s->makers = true;
		add_makers(t, code, bias);
	}
}

/* The modules of a process, each with its bias. */
struct listed_modules {
	VEC(struct code *) codes;
	VEC(uint64_t) biases;
};

static void list_module(void *list, struct target *t, struct code *code, uint64_t bias)
{
	struct listed_modules *l = list;
	(void)t;
	vec_push(&l->codes, code);
	vec_push(&l->biases, bias);
}

static void search_modules(struct target *t, bool waits)
{
	struct listed_modules l = {0};
	struct err ignored;
	target_modules(t, list_module, &l, &ignored);
	call_sites_prepare(t->shared, l.codes.data, l.codes.len);
	for (uint32_t i = 0; i < l.codes.len; i++)
		search_module(t, l.codes.data[i], l.biases.data[i], waits);
	vec_free(&l.codes);
	vec_free(&l.biases);
}

void blocking_add(struct target *t)
{
	search_modules(t, true);
}

void blocking_guard(struct target *t)
{
	search_modules(t, false);
}
