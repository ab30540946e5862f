#include "diagnose/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "diagnose/plumbing.h"
#include "flow/entry.h"
#include "isa/arch.h"
#include "process/threads.h"
#include "profile/profile.h"

enum { STARTUP_FRAMES = 4 }; /* outermost frames in which startup code is looked for */

/* s between stops without a sampler; findings/words.c reports it as 25 times per second. */
static const double look_pause = 0.04;

enum { STACK_BYTES = 16384 }; /* copied with each sample */

void samples_init(struct samples *s, struct engine *g)
{
	*s = (struct samples){.engine = g};
}

void samples_release(struct samples *s)
{
	if (s->sampler)
		s->sampler->ops->free(s->sampler);
	vec_free(&s->chain);
	vec_free(&s->chains);
	vec_free(&s->parts);
	hashmap_release(&s->chain_at);
	vec_free(&s->stamps);
	vec_free(&s->last);
	vec_free(&s->holders);
	hashmap_release(&s->holder_at);
	hashmap_release(&s->ran);
	vec_free(&s->news);
	wait_functions_release(&s->wait_functions);
	allocations_release(&s->allocations);
	spinning_release(&s->spinning);
	teams_release(&s->teams);
}

/* ---- a stack as parts of the code ---- */

/* Returns true for startup code, with which every program and thread begins. */
static bool is_startup(const struct frame *f)
{
	static const char *const names[] = {
		"_start",         "__libc_start_main", "start_thread",        "clone",
		"clone3",         "__clone",           "thread_start",        "_dl_start_user",
		"__clone3",       "runtime.goexit",    "runtime.goexit.abi0", "runtime.main",
		"runtime.mstart", "runtime.mcall"};
	const char *name = code_name_at(f->code, f->va);
	if (!strncmp(name, "__libc_start", 12))
		return true;
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	const char *file = f->code && f->code->path ? strrchr(f->code->path, '/') : NULL;
	return !*name && file && (!strncmp(file, "/libc.", 6) || !strncmp(file, "/ld-", 4));
}

static void note_edge(struct samples *s, uint32_t from, uint32_t to)
{
	if (code_parts_called(s->code, from, to))
		search_part(s->search, CODE, from, to);
}

/* Returns the number of frames that are the program's own code: those inside of the innermost
 * startup code, which is looked for in the outermost few frames. */
static uint32_t first_own(const struct walk *w)
{
	uint32_t i = w->frames.len, own = i;
	for (uint32_t k = 0; k < STARTUP_FRAMES && i > 0; k++, i--)
		if (is_startup(&w->frames.data[i - 1]))
			own = i - 1;
	return own;
}

static void add_frame(struct samples *s, const struct frame *f)
{
	uint32_t before = s->chain.len;
	code_parts_around(s->code, f->code, f->exact ? f->va : f->va - 1, &s->chain);
	if (s->chain.len > before)
		note_edge(s, before ? s->chain.data[before - 1] : CODE, s->chain.data[before]);
}

/* Threads of Go run goroutines, which move among them. */
static void note_sharing(struct samples *s, uint32_t thread, const struct walk *w)
{
	struct machine_thread *t = &s->machine->threads.data[thread];
	const struct frame *f = w->frames.len ? &vec_last(&w->frames) : NULL;
	if (!t->shares && f)
		t->shares = !strncmp(code_name_at(f->code, f->va), "runtime.", 8);
}

/* Adds the function of a region, which the runtime has called. */
static void add_region(struct samples *s, const struct frame *f)
{
	struct team_place *p = &s->place;
	uint32_t at = s->chain.len;
	add_frame(s, f);
	if (s->chain.len > at && p->region_count < MOST_REGIONS)
		p->regions[p->region_count++] = at;
}

/* Returns the runtime that a frame belongs to. That is also what a runtime calls of the plumbing.
 */
static enum runtime runtime_of_frame(const struct frame *f, enum runtime caller)
{
	enum runtime own = runtime_of(f->code);
	return own == RUNTIME_NONE && caller != RUNTIME_NONE && is_plumbing_at(f->code, f->va)
		       ? caller
		       : own;
}

/* Returns how many of the innermost frames are those of an allocator: what it does is told by what
 * the program has called. Without a sampler, its functions are code like any other. */
static uint32_t find_allocator(struct samples *s, const struct walk *w)
{
	struct allocation a = {0};
	if (s->sampler)
		a = allocation_on_stack(&s->allocations, w);
	s->allocator = a.function;
	return a.caller;
}

/* Finds the parts on a stack, from the outermost frame to the innermost. Frames of runtimes and of
 * allocators are left out. */
static void find_chain(struct samples *s, const struct walk *w)
{
	uint32_t i = first_own(w), end = find_allocator(s, w);
	enum runtime runtime = RUNTIME_NONE;
	vec_clear(&s->chain);
	s->place = (struct team_place){0};
	s->entry = NULL;
	if (w->end != WALK_COMPLETE)
		return;
	while (i-- > end) {
		const struct frame *f = &w->frames.data[i];
		if (!f->code || !f->code->flow)
			continue;
		enum runtime caller = runtime;
		runtime = runtime_of_frame(f, caller);
		s->place.worker |= runtime == RUNTIME_TEAM && !s->chain.len;
		if (runtime == RUNTIME_NONE)
			s->entry = NULL;
		else if (!s->entry && *code_name_at(f->code, f->va))
			s->entry = f;
		if (runtime == RUNTIME_NONE && caller == RUNTIME_TEAM)
			add_region(s, f);
		else if (runtime == RUNTIME_NONE)
			add_frame(s, f);
	}
	s->place.inside = runtime == RUNTIME_TEAM;
	if (runtime != RUNTIME_NONE)
		s->allocator = NULL;
}

/* ---- what a stack says ---- */

static bool is_new_here(struct samples *s, uint32_t part)
{
	while (s->stamps.len <= part)
		vec_push(&s->stamps, 0);
	if (s->stamps.data[part] == s->stamp)
		return false;
	s->stamps.data[part] = s->stamp;
	return true;
}

static void note_chain(struct samples *s, uint32_t class, uint32_t object, uint32_t node,
		       double seconds)
{
	uint32_t next = s->chains.len;
	s->seconds[class] += seconds;
	if (!s->chain.len || node == PROFILE_NONE)
		return;
	uint64_t key = hash_bytes(s->chain.data, s->chain.len * sizeof(*s->chain.data),
				  (uint64_t)object << 3 | class);
	uint32_t at = hashmap_add(&s->chain_at, key, next);
	if (at == next) {
		vec_push(&s->chains, (struct chain){.first = s->parts.len,
						    .length = s->chain.len,
						    .object = object,
						    .node = node,
						    .class = (uint8_t) class});
		vec_each (part, &s->chain)
			vec_push(&s->parts, *part);
	}
	s->chains.data[at].seconds += seconds;
	s->chains.data[at].count++;
}

static void note_amounts(struct samples *s, uint32_t thread, uint32_t object, enum amount what,
			 double seconds)
{
	s->stamp++;
	ledger_add(s->ledger, CODE, thread, object, what, seconds);
	vec_each (part, &s->chain)
		if (is_new_here(s, *part))
			ledger_add(s->ledger, *part, thread, object, what, seconds);
}

/* Libraries that poll, or wait in the kernel, for whatever comes. */
static bool polls(enum object_kind kind)
{
	return kind == OBJECT_MESSAGE || kind == OBJECT_GPU;
}

/* Returns true if a running thread that is in such a function waits by spinning. */
static bool spins(enum object_kind kind)
{
	return kind == OBJECT_SPIN || kind == OBJECT_OPENMP || polls(kind);
}

static uint32_t class_of(const struct samples *s, uint32_t object)
{
	if (object == LEDGER_NONE)
		return SAMPLE_CPU;
	uint8_t kind = s->waits->objects.data[object].kind;
	return object_kinds[kind].hierarchy == SYNC ? SAMPLE_SYNC : SAMPLE_IO;
}

static void give_to_search(struct samples *s, uint32_t thread, uint32_t class)
{
	const struct stack_sample x = {.class = (uint8_t) class,
				       .thread = s->machine->threads.data[thread].part,
				       .chain = s->chain.data,
				       .length = s->chain.len,
				       .weight = 1};
	if (x.length)
		search_sample(s->search, &x);
}

/* Returns the node of the innermost frame that is not plumbing: a thread that sleeps does so in the
 * code that called sleep(). */
static uint32_t own_node(const struct samples *s, const struct walk *w, uint32_t node)
{
	const struct profile_node *all = s->sink->stacks.profile->nodes.data;
	while (node && all[node].kind != NODE_FRAME && all[node].kind != NODE_LEAF)
		node = all[node].parent;
	uint32_t own = node;
	for (uint32_t i = 0; i + 1 < w->frames.len && own; i++, own = all[own].parent)
		if (!is_plumbing_at(w->frames.data[i].code, w->frames.data[i].va))
			return own;
	return node;
}

static void note_place(struct samples *s, uint32_t thread, uint32_t node, uint32_t object)
{
	while (s->last.len <= thread)
		vec_push(&s->last, (struct last_place){0});
	s->last.data[thread] = (struct last_place){node, object, now_seconds()};
}

/* Called if a thread waits for a mutex: notes where the thread that holds it is, if that thread was
 * seen recently. */
static void note_holder(struct samples *s, uint32_t process, uint32_t object, double seconds)
{
	static const double recently = 0.1; /* s */
	int owner = waits_owner(s->waits, object);
	uint32_t thread = owner ? machine_thread_of(s->machine, process, owner) : THREAD_NONE;
	if (thread >= s->last.len || now_seconds() - s->last.data[thread].time > recently ||
	    s->last.data[thread].object == object)
		return;
	uint32_t node = s->last.data[thread].node;
	const uint32_t key[] = {object, thread, node};
	uint32_t next = s->holders.len;
	uint32_t at = hashmap_add(&s->holder_at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&s->holders, (struct lock_holder){object, thread, node, 0});
	s->holders.data[at].seconds += seconds;
}

/* The stack of a waiting thread ends in plumbing, which is of no interest to the user. */
static void cut_plumbing(struct samples *s)
{
	while (s->chain.len && is_plumbing(s->code, vec_last(&s->chain)))
		s->chain.len--;
}

/* CPU time in a relay (relay.h) is that of the code that asked for the system call. */
static void cut_relays(struct samples *s)
{
	while (s->chain.len > 1 && code_part_relays(s->code, vec_last(&s->chain)))
		s->chain.len--;
}

/* Learns the object's kind from the stack of a thread that waits for it. Returns the object, or the
 * one that it turns out to be a part of. */
static uint32_t learn_kind(struct samples *s, uint32_t object, enum object_kind kind)
{
	waits_learn(s->waits, object, kind);
	uint32_t whole = s->waits->objects.data[object].merged;
	return whole == LEDGER_NONE ? object : whole;
}

/* A call stack, from a sample or a stop. */
struct seen_stack {
	int pid, tid;
	const struct walk *walk;
	const struct call_made *call; /* the system call that the thread waits in; NULL: it runs */
	bool kernel;                  /* it runs in the kernel */
	const struct call_made *in_kernel; /* the system call that it runs in; NULL: none */
	const struct registers *registers; /* NULL: unknown */
	/* In the profile. Without a node, the stack only shows the search where the program is. */
	uint32_t node;
	double seconds; /* that it represents */
};

/* The address that a thread spins on, if it spins: what the next load reads. Without a load, it may
 * be what its function's first argument points to. */
static uint64_t spun_on(const struct frame *f, const struct registers *r)
{
	enum { MOST_INSNS = 4 };
	struct insn in;
	uint64_t va = f->va;
	for (int i = 0; f->code && f->code->module && i < MOST_INSNS; i++, va += in.length) {
		if (!decode_at(f->code->module, f->code->arch, va, DECODE_FULL, &in))
			break;
		if (in.op == OP_LOAD && in.a < REGISTERS && in.b == REG_NONE)
			return r->reg[in.a] + (uint64_t)in.imm;
	}
	return r->reg[arch_native()->first_arg];
}

static bool are_waits_probed(const struct samples *s, uint32_t process)
{
	return s->machine->processes.data[process].watched;
}

/* Probes see no loop that spins, nor who waits for a GPU. */
static bool is_probed_wait(const struct samples *s, uint32_t process, uint32_t object)
{
	uint8_t kind = s->waits->objects.data[object].kind;
	return are_waits_probed(s, process) && kind != OBJECT_VARIABLE && kind != OBJECT_GPU &&
	       kind != OBJECT_LOCK;
}

/* Returns what a thread waits for, as far as probes have seen it. Most system calls name their
 * object. For a thread that spins or polls, or is in a system call that a stop has restarted, it is
 * the object of the last step. */
static uint32_t probed_object(struct samples *s, uint32_t process, uint32_t thread,
			      bool is_spinning, const struct call_made *call)
{
	uint32_t object =
		call && !is_spinning ? waits_in_call(s->waits, process, call) : LEDGER_NONE;
	return object == LEDGER_NONE && (call || is_spinning) ? waits_now(s->waits, thread)
							      : object;
}

/* The same without probes. The function stands for the object of a thread that spins or polls, if
 * the object is not known otherwise. */
static uint32_t unprobed_object(struct samples *s, uint32_t process, const struct wait_function *f,
				const struct seen_stack *x)
{
	uint32_t object = x->call && !polls(f->kind) ? waits_in_call(s->waits, process, x->call)
						     : LEDGER_NONE;
	if (object != LEDGER_NONE || !spins(f->kind))
		return object;
	if (f->kind == OBJECT_SPIN && f->innermost && x->registers)
		object = waits_on_variable(s->waits, process, f->kind,
					   spun_on(x->walk->frames.data, x->registers));
	return object != LEDGER_NONE
		       ? object
		       : waits_in_function(s->waits, process, f->kind, f->code, f->va, f->bias);
}

/* The same in a runtime that runs teams. Its own objects are of no interest, but what they are for
 * is. */
static uint32_t in_runtime(struct samples *s, uint32_t process, const struct wait_function *f,
			   const struct seen_stack *x)
{
	const char *what = team_waits_for(code_name_at(f->code, f->va));
	return what || x->call
		       ? waits_in_runtime(s->waits, process, f->kind, what ? what : "the runtime")
		       : LEDGER_NONE;
}

/* Returns what a thread waits for, or LEDGER_NONE. */
static uint32_t waited_for(struct samples *s, uint32_t process, uint32_t thread,
			   const struct seen_stack *x)
{
	struct wait_function f = wait_function_on_stack(&s->wait_functions, x->walk);
	if (f.kind == OBJECT_OPENMP && s->sampler)
		return in_runtime(s, process, &f, x);
	if (f.kind == OBJECT_GPU || (f.kind == OBJECT_LOCK && x->call))
		return waits_in_function(s->waits, process, f.kind, f.code, f.va, f.bias);
	uint32_t object = are_waits_probed(s, process)
				  ? probed_object(s, process, thread, spins(f.kind), x->call)
				  : unprobed_object(s, process, &f, x);
	if (object == LEDGER_NONE && !x->call && f.kind == OBJECT_KINDS && !s->allocator)
		object = spinning_for(&s->spinning, process, &s->chain, x->walk, x->registers);
	return object == LEDGER_NONE ? object : learn_kind(s, object, f.kind);
}

/* `small` is the share of the time in operations that move few bytes, where probes do not measure
 * that. */
static void note_wait(struct samples *s, uint32_t process, uint32_t thread, uint32_t object,
		      uint32_t node, double seconds, double small)
{
	const struct machine_thread *t = &s->machine->threads.data[thread];
	cut_plumbing(s);
	if (s->chain.len) {
		waits_used(s->waits, object, vec_last(&s->chain));
		spinning_blocks(&s->spinning, process, vec_last(&s->chain), object);
	}
	enum object_kind kind = (enum object_kind)s->waits->objects.data[object].kind;
	if (object_has_peer(kind))
		ledger_add(s->ledger, CODE, thread, object, AMOUNT_ASKED, seconds);
	if (t->counted && object_wait_counts(&object_kinds[kind])) {
		note_amounts(s, thread, object, AMOUNT_SEEN_WAIT, seconds);
		if (small > 0)
			note_amounts(s, thread, object, AMOUNT_SEEN_SMALL, small * seconds);
		note_chain(s, class_of(s, object), object, node, seconds);
		give_to_search(s, thread, class_of(s, object));
	}
	note_holder(s, process, object, seconds);
}

/* Processes a sample in a system call that is not watched (ignored.c); false if it is in none. */
static bool note_ignored(struct samples *s, uint32_t process, uint32_t thread, const struct walk *w,
			 const struct call_made *call, uint32_t node, double seconds)
{
	const struct frame *f = calling_frame(w);
	const struct ignored_sample x = {process, thread, f->code, f->va, call};
	uint32_t object;
	double small;
	if (!waits_ignored(s->waits, &x, &object, &small))
		return false;
	if (call)
		object = learn_kind(s, object, wait_function_on_stack(&s->wait_functions, w).kind);
	s->waits->objects.data[object].sampled += seconds;
	note_wait(s, process, thread, object, node, seconds, small);
	return true;
}

/* Notes what probes would measure: how long a thread waits for an object, or spins. */
static void note_unprobed(struct samples *s, uint32_t thread, uint32_t object,
			  const struct call_made *call, double seconds)
{
	const struct object_kind_row *kind = &object_kinds[s->waits->objects.data[object].kind];
	s->waits->objects.data[object].sampled += seconds;
	s->stamp++;
	vec_each (part, &s->chain)
		if (call && is_new_here(s, *part))
			ledger_step(s->ledger, *part, thread, STEP_WAITED, seconds);
	if (call)
		machine_slept(s->machine, thread, kind, seconds);
	else if (s->machine->threads.data[thread].counted && object_wait_counts(kind)) {
		note_amounts(s, thread, object, AMOUNT_SPIN, seconds);
		s->machine->threads.data[thread].spun += seconds;
		s->spun += seconds;
	}
}

/* A thread that runs in the kernel, in a system call for I/O: that time is part of the call.
 * Sending to a socket is the kernel's work: there is nothing that it waits for. */
static void note_call(struct samples *s, uint32_t process, uint32_t thread,
		      const struct call_made *call, uint32_t node, double seconds)
{
	uint32_t object = waits_in_call(s->waits, process, call);
	if (object == LEDGER_NONE || class_of(s, object) != SAMPLE_IO)
		return;
	enum object_kind kind = s->waits->objects.data[object].kind;
	if (!object_wait_counts(&object_kinds[kind]) || kind == OBJECT_SOCKET ||
	    kind == OBJECT_CONNECTION || kind == OBJECT_ANSWER)
		return;
	machine_seen_in_call(s->machine, thread, seconds);
	const struct machine_thread *t = &s->machine->threads.data[thread];
	seconds *= machine_stretch(t) + machine_wait_stretch(t) - 1;
	s->waits->objects.data[object].sampled += seconds;
	note_wait(s, process, thread, object, node, seconds, waits_small(s->waits, object, call));
}

/* The kernel works for the code that called the C library. */
static void note_system(struct samples *s, uint32_t process, uint32_t thread,
			const struct seen_stack *x, double seconds)
{
	uint32_t object = waits_kernel_work(s->waits, process, x->in_kernel);
	note_amounts(s, thread, LEDGER_NONE, AMOUNT_SYSTEM, seconds);
	cut_plumbing(s);
	note_chain(s, SAMPLE_SYSTEM, object, x->node, seconds);
	give_to_search(s, thread, SAMPLE_SYSTEM);
}

/* So does an allocator, and the kernel for it. */
static void note_allocation(struct samples *s, uint32_t process, uint32_t thread,
			    const struct seen_stack *x, double seconds)
{
	uint32_t object =
		x->kernel ? waits_kernel_allocation(s->waits, process, s->allocator, x->in_kernel)
			  : waits_allocation(s->waits, process, s->allocator);
	note_amounts(s, thread, LEDGER_NONE, AMOUNT_MEMORY, seconds);
	cut_plumbing(s);
	note_chain(s, SAMPLE_MEMORY, object, x->node, seconds);
	give_to_search(s, thread, SAMPLE_MEMORY);
}

static void note_running(struct samples *s, uint32_t process, uint32_t thread,
			 const struct seen_stack *x, double seconds)
{
	cut_relays(s);
	if (s->entry)
		add_frame(s, s->entry);
	note_amounts(s, thread, LEDGER_NONE, AMOUNT_SEEN_CPU, seconds);
	if (s->serial)
		note_amounts(s, thread, LEDGER_NONE, AMOUNT_SERIAL, seconds);
	if (s->allocator)
		note_allocation(s, process, thread, x, seconds);
	else if (x->kernel)
		note_system(s, process, thread, x, seconds);
	else {
		note_chain(s, SAMPLE_CPU, LEDGER_NONE, x->node, seconds);
		give_to_search(s, thread, SAMPLE_CPU);
	}
	/* The thread may be in a system call; then the time in which it was ready for a CPU is part
	 * of the call. */
	if (!s->machine->sampled)
		note_ignored(s, process, thread, x->walk, NULL, x->node,
			     seconds * machine_stretch(&s->machine->threads.data[thread]));
	else if (x->in_kernel)
		note_call(s, process, thread, x->in_kernel, x->node, seconds);
}

/* How much longer a thread is in a wait than samples show: it may be ready for a CPU meanwhile. */
static double stretch_of(const struct samples *s, uint32_t thread, bool is_blocked)
{
	const struct machine_thread *t = &s->machine->threads.data[thread];
	if (!s->machine->sampled)
		return 1;
	return is_blocked ? machine_wait_stretch(t) : machine_stretch(t);
}

static void note_blocked(struct samples *s, uint32_t process, uint32_t thread, uint32_t object,
			 double seconds)
{
	static const double runs = 0.01; /* s in the last second or so */
	const struct machine_thread *t = &s->machine->threads.data[thread];
	struct machine_process *p = &s->machine->processes.data[process];
	machine_seen_in_call(s->machine, thread, seconds);
	if (t->counted && object_wait_counts(&object_kinds[s->waits->objects.data[object].kind]))
		*(t->ran >= runs ? &p->blocked : &p->asleep) += seconds;
}

static void note_waiting(struct samples *s, uint32_t process, uint32_t thread, uint32_t object,
			 const struct seen_stack *x, double seconds)
{
	if (x->call)
		note_blocked(s, process, thread, object, seconds);
	if (!is_probed_wait(s, process, object))
		note_unprobed(s, thread, object, x->call, seconds);
	note_wait(s, process, thread, object, x->node, seconds * stretch_of(s, thread, x->call),
		  waits_small(s->waits, object, x->call));
}

/* A worker without work: see teams_wait(). */
static void note_worker(struct samples *s, uint32_t process, uint32_t thread,
			const struct seen_stack *x, double seconds)
{
	double serial = teams_wait(&s->teams, process, thread, seconds);
	uint32_t code = waits_in_runtime(s->waits, process, OBJECT_SERIAL, "serial code");
	uint32_t end = waits_in_runtime(s->waits, process, OBJECT_OPENMP, team_region_end);
	if (serial > 0) {
		teams_serial(&s->teams, process, &s->chain);
		note_waiting(s, process, thread, code, x, serial);
	}
	if (seconds > serial) {
		teams_region(&s->teams, process, &s->chain);
		note_waiting(s, process, thread, end, x, seconds - serial);
	}
}

static bool has_no_work(const struct samples *s)
{
	return s->sampler && s->place.worker && s->place.inside && !s->place.region_count;
}

static void note_stack(struct samples *s, const struct seen_stack *x)
{
	double seconds = x->seconds;
	uint32_t process = machine_process_of(s->machine, x->pid);
	if (process == UINT32_MAX && !x->call && machine_is_young(s->machine, x->pid))
		process = machine_brief(s->machine);
	if (process == UINT32_MAX)
		return;
	uint32_t thread = machine_thread_of(s->machine, process, x->tid);
	if (!x->call) {
		seconds = machine_seen(s->machine, thread, x->tid, seconds);
		s->machine->processes.data[process].ran += seconds;
	}
	find_chain(s, x->walk);
	note_sharing(s, thread, x->walk);
	s->machine->threads.data[thread].in_team |= s->place.worker;
	s->serial = teams_sample(&s->teams, process, thread, &s->place, seconds, &s->chain);
	if (x->call && note_ignored(s, process, thread, x->walk, x->call, x->node, seconds))
		return;
	uint32_t object = waited_for(s, process, thread, x);
	if (x->node != PROFILE_NONE)
		note_place(s, thread, own_node(s, x->walk, x->node),
			   x->call ? object : LEDGER_NONE);
	if (object != LEDGER_NONE && !x->call)
		s->seconds[SAMPLE_CPU] += seconds;
	if (object != LEDGER_NONE && has_no_work(s))
		note_worker(s, process, thread, x, seconds);
	else if (object != LEDGER_NONE)
		note_waiting(s, process, thread, object, x, seconds);
	else if (!x->call)
		note_running(s, process, thread, x, seconds);
}

/* ---- from the sampler ---- */

static struct target *target_of(const struct samples *s, int pid)
{
	uint32_t process = machine_process_of(s->machine, pid);
	return process == UINT32_MAX ? NULL : s->machine->processes.data[process].target;
}

/* The program may be in code that probes have moved: the address is replaced by the original one.
 * Code that probes call keeps no frame records: the frame pointer is that of a function further
 * out, and a walk by it would leave out the function with the probe, so it is not used. */
static void before_sample(void *ctx, struct sample *sample)
{
	const struct samples *s = ctx;
	const struct target *t = target_of(s, sample->pid);
	struct registers *r = &sample->registers;
	if (!sample->blocked)
		commands_ran(s->commands, sample->pid, 1e-9 * (double)sample->weight);
	if (!t || !r->known)
		return;
	if (sample->blocked)
		target_call_registers(t, sample->tid, r);
	if (!target_original(t, &r->pc))
		r->known &= ~(UINT32_C(1) << arch_native()->fp);
}

/* Called when a sample has its node in the profile. */
static void on_placed(void *ctx, const struct sample *sample, const struct walk *w, uint32_t node)
{
	struct samples *s = ctx;
	const struct frame *f = w && w->frames.len ? w->frames.data : NULL;
	struct call_made made;
	bool called = f && sample->in_kernel && !sample->blocked &&
		      call_in_kernel(f->code, f->va, &sample->registers, &made);
	if (w)
		note_stack(s, &(struct seen_stack){.pid = sample->pid,
						   .tid = sample->tid,
						   .walk = w,
						   .call = sample->blocked ? &sample->call : NULL,
						   .kernel = sample->in_kernel && !sample->blocked,
						   .in_kernel = called ? &made : NULL,
						   .registers = &sample->registers,
						   .node = node,
						   .seconds = 1e-9 * (double)sample->weight});
}

static void note_command(struct samples *s, enum process_happening what, int pid, int parent)
{
	double when = 1e-9 * (double)(s->sampler ? s->sampler->delivered : 0);
	const char *name = "";
	switch (what) {
	case PROCESS_FORKED: commands_forked(s->commands, parent, pid, when); break;
	case PROCESS_EXECUTED: commands_executed(s->commands, pid, when); break;
	case PROCESS_NAMED:
		name = watched_thread(&s->sink->stacks.watched, pid, pid)->name;
		commands_named(s->commands, pid, name, when);
		break;
	case PROCESS_MAPPED: break;
	case PROCESS_ENDED: commands_ended(s->commands, pid, when); break;
	}
}

/* A process is young before its first sample is noted. The rest is handled between two steps, not
 * in the middle of one. */
static void on_process(void *ctx, enum process_happening what, int pid, int parent)
{
	struct samples *s = ctx;
	note_command(s, what, pid, parent);
	if (what != PROCESS_FORKED && what != PROCESS_NAMED)
		vec_push(&s->news, (struct process_news){what, pid});
	if (what != PROCESS_FORKED)
		return;
	machine_note_fork(s->machine, parent);
	if (machine_process_of(s->machine, pid) == UINT32_MAX)
		machine_add_young(s->machine, pid, NULL);
}

/* A search decides by shares of all samples. Those of four busy CPUs are enough. */
enum { MOST_SAMPLES = 1000 }; /* per second */

void samples_open(struct samples *s, unsigned hz, char *note, size_t size)
{
	struct sampler_options o = {.event_count = 1,
				    .hz = hz,
				    .most_per_second = MOST_SAMPLES,
				    .wall = true,
				    .max_stack = STACK_BYTES,
				    .perf_only = true}; /* else samples_look() stops the program */
	struct err e;
	s->sink->before = before_sample;
	s->sink->placed = on_placed;
	s->sink->process = on_process;
	s->sink->ctx = s;
	s->looked = now_seconds();
	o.sink = sink_callbacks(s->sink);
	int rc = event_find(&o.events[0], "cpu-clock", &e);
	rc = rc ? rc : sampler_new(&s->sampler, &o, &e);
	if (rc) {
		s->sampler = NULL;
		snprintf(note, size, "%s", e.text);
	} else {
		snprintf(note, size, "%s", s->sampler->note);
	}
	finisher_init(&s->sink->finisher, s->sampler);
}

void samples_take(struct samples *s)
{
	struct err ignored;
	if (s->sampler)
		s->sampler->ops->run(s->sampler, 0, &ignored);
}

/* ---- from stops ---- */

/* Without a sampler, these stacks are the profile: each represents the time since the last look. */
static uint32_t add_to_profile(struct samples *s, int pid, int tid, const struct walk *w,
			       bool waits, double seconds)
{
	struct stacks *stacks = &s->sink->stacks;
	profile_count(stacks->profile, walk_end_name[w->end], 1);
	return stacks_add(stacks,
			  &(struct stack){.pid = pid,
					  .tid = tid,
					  .walk = w,
					  .state = waits ? STACK_WAITS : STACK_RUNS,
					  .metric = waits ? s->sink->wait_metric : s->metric,
					  .amount = (uint64_t)(seconds * 1e9)});
}

/* Returns the time that the stack of a running thread represents: its CPU time since the last
 * look. */
static double ran_since(struct samples *s, int pid, int tid, double passed)
{
	uint32_t now = (uint32_t)(thread_cpu_ns(pid, tid) / 1000000);
	uint32_t before = hashmap_get(&s->ran, (uint64_t)tid);
	hashmap_put(&s->ran, (uint64_t)tid, now);
	double ran = before == HASHMAP_NONE || before > now ? passed : 1e-3 * (now - before);
	return ran < passed ? ran : passed;
}

static void on_walk(void *ctx, struct target *t, int tid, const struct walk *w,
		    const struct call_made *call)
{
	struct samples *s = ctx;
	double seconds = s->sampler ? 0 : now_seconds() - s->looked;
	double ran = s->sampler ? 0 : ran_since(s, target_pid(t), tid, seconds);
	seconds = call ? seconds : ran;
	uint32_t node = s->sampler
				? PROFILE_NONE
				: add_to_profile(s, target_pid(t), tid, w, call != NULL, seconds);
	note_stack(s, &(struct seen_stack){.pid = target_pid(t),
					   .tid = tid,
					   .walk = w,
					   .call = call,
					   .node = node,
					   .seconds = seconds});
}

void samples_take_walks(struct samples *s)
{
	engine_walks(s->engine, on_walk, s);
	s->looked = now_seconds();
}

void samples_look(struct samples *s, double now)
{
	struct err ignored;
	if (s->sampler || now - s->looked < look_pause)
		return;
	vec_each (process, &s->machine->live_processes) {
		struct target *t = s->machine->processes.data[*process].target;
		if (t && target_alive(t))
			target_look(t, &ignored);
	}
	samples_take_walks(s);
}

void samples_finish(struct samples *s)
{
	if (s->sampler)
		s->sampler->ops->finish(s->sampler);
	sink_finish(s->sink);
}
