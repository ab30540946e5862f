/* Objects that threads wait for: which one a call, a function or an address shows. */
#include "diagnose/waits.h"

#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arena.h"
#include "base/clock.h"
#include "diagnose/allocation.h"
#include "diagnose/code.h"
#include "diagnose/condition.h"
#include "diagnose/object_names.h"
#include "diagnose/wait_kinds.h"
#include "process/call_name.h"
#include "process/memory.h"

/* An object becomes a part of the search when threads have waited for it for `noticeable`. If its
 * kind is not known by then, it is given `patience` from when it was first seen. */
static const double noticeable = 0.02, patience = 0.5; /* s */

/* The offset in a mutex of glibc that has the tid of the thread that has locked it. */
enum { MUTEX_OWNER = 8 };

/* s for which it is believed what descriptors refer to; and where that varies. */
static const double check_period = 0.25, varying_period = 0.02;

/* ---- objects ---- */

static uint64_t object_key(uint32_t process, enum object_kind kind, uint64_t id)
{
	bool memory = object_kinds[kind].hierarchy == SYNC;
	bool shared = (object_has_peer(kind) || kind == OBJECT_LOCK) && id & OBJECT_BY_NAME;
	const uint64_t key[] = {shared ? UINT32_MAX : process, memory, id};
	return hash_bytes(key, sizeof(key), 0);
}

/* Finds the key of an object in memory that processes share; it is the same in all of them. Returns
 * false if the memory is not shared. */
static bool shared_key(const struct waits *w, uint32_t process, enum object_kind kind, uint64_t id,
		       uint64_t *key)
{
	uint64_t inode, offset;
	if (object_kinds[kind].hierarchy != SYNC || w->machine->processes.len < 2 ||
	    !memory_is_shared(w->machine->processes.data[process].pid, id, &inode, &offset))
		return false;
	const uint64_t which[] = {UINT64_MAX, inode, offset};
	*key = hash_bytes(which, sizeof(which), 0);
	return true;
}

static uint32_t add_object(struct waits *w, uint32_t process, enum object_kind kind, uint64_t id)
{
	uint32_t next = w->objects.len;
	uint64_t key = object_key(process, kind, id), shared;
	uint32_t at = hashmap_get(&w->object_at, key);
	if (at != HASHMAP_NONE && !object_refers_elsewhere(w, &w->objects.data[at]))
		return at;
	at = shared_key(w, process, kind, id, &shared) ? hashmap_add(&w->object_at, shared, next)
						       : next;
	hashmap_put(&w->object_at, key, at);
	if (at != next)
		return at;
	vec_push(&w->objects, (struct wait_object){.kind = (uint8_t)kind,
						   .process = process,
						   .id = id,
						   .user = RESOURCE_NONE,
						   .part = RESOURCE_NONE,
						   .first = w->time,
						   .merged = LEDGER_NONE});
	object_name(w, &w->objects.data[next]);
	return next;
}

static const char *function_name(const struct waits *w, uint32_t process, uint64_t pc)
{
	struct target *t = w->machine->processes.data[process].target;
	struct place p = t ? space_find(target_space(t), pc) : (struct place){0};
	return code_name_at(p.code, p.va);
}

/* The object that stands for a function, which is known by its name: functions of MPI have two, and
 * one address each in several modules. */
static uint32_t function_object(struct waits *w, uint32_t process, enum object_kind kind,
				uint64_t pc, const char *name)
{
	name += !strncmp(name, "PMPI_", 5);
	size_t n = strcspn(name, "@");
	uint32_t at =
		add_object(w, process, kind, n ? hash_bytes(name, n, 0) | OBJECT_BY_NAME : pc);
	struct wait_object *o = &w->objects.data[at];
	if (!o->named) {
		o->name = arena_strndup(w->arena, name, n);
		o->named = true;
	}
	return at;
}

/* A spinning thread makes no system call that shows the kind of its object: the name of the
 * function does. If there is no object, the function itself takes its place. */
static uint32_t spinning_object(struct waits *w, uint32_t process, const struct wait_value *v)
{
	const char *name = function_name(w, process, v->pc);
	enum object_kind kind = kind_of_function(name);
	if (kind == OBJECT_KINDS)
		kind = OBJECT_SPIN;
	bool has_object = kind == OBJECT_SPIN || strstr(name, "lock");
	return has_object ? add_object(w, process, kind, v->object)
			  : function_object(w, process, kind, v->pc, name);
}

uint32_t waits_in_function(struct waits *w, uint32_t process, enum object_kind kind,
			   const struct code *code, uint64_t va, uint64_t bias)
{
	uint32_t count, i = flow_function_at(code->flow, va);
	uint64_t start = i == UINT32_MAX ? va : flow_functions(code->flow, &count)[i].start;
	return function_object(w, process, kind, start + bias, code_name_at(code, va));
}

uint32_t waits_on_variable(struct waits *w, uint32_t process, enum object_kind kind,
			   uint64_t address)
{
	uint64_t offset, size;
	return mapped_variable(w->mapped, process, address, &offset, &size)
		       ? add_object(w, process, kind, address)
		       : LEDGER_NONE;
}

uint32_t waits_in_runtime(struct waits *w, uint32_t process, enum object_kind kind,
			  const char *name)
{
	uint64_t id = hash_bytes(name, strlen(name), kind) | OBJECT_BY_NAME;
	uint32_t at = add_object(w, process, kind, id);
	w->objects.data[at].name = name;
	w->objects.data[at].named = true;
	return at;
}

uint32_t waits_in_loop(struct waits *w, uint32_t process, uint32_t part)
{
	uint32_t at = add_object(w, process, OBJECT_VARIABLE, OBJECT_BY_NAME | part);
	w->objects.data[at].name = "";
	w->objects.data[at].named = true;
	return at;
}

void waits_merge(struct waits *w, uint32_t variable, uint32_t object)
{
	struct wait_object *v = &w->objects.data[variable];
	if (v->part == RESOURCE_NONE && v->kind == OBJECT_VARIABLE && variable != object)
		v->merged = object;
}

void waits_is_barrier(struct waits *w, uint32_t object)
{
	if (w->objects.data[object].part == RESOURCE_NONE)
		w->objects.data[object].kind = OBJECT_BARRIER;
}

/* Whether the call moves bytes, and fewer than RT_SMALL are asked for. Of a flush only probes show
 * how much it writes: until they do, it is taken for a small one. */
static bool seems_small(const struct call_made *call, bool may_be_probed)
{
	switch (call->number) {
	case SYS_read:
	case SYS_write:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_sendto:
	case SYS_recvfrom: return call->arguments[2] < RT_SMALL;
	case SYS_fsync:
	case SYS_fdatasync: return may_be_probed;
	default: return false;
	}
}

double waits_small(const struct waits *w, uint32_t object, const struct call_made *call)
{
	const struct wait_object *o = &w->objects.data[object];
	if (o->seconds > 0)
		return o->small_seconds / o->seconds;
	return call && seems_small(call, !w->machine->processes.data[o->process].unprobed);
}

/* ---- what a call waits for ---- */

/* Returns the object of what the descriptors of a call show. */
static uint32_t awaited_object(struct waits *w, uint32_t process, const struct awaited *a)
{
	bool named = *a->peer;
	bool single = a->fd >= 0 && object_wait_counts(&object_kinds[a->kind]);
	uint64_t id = named    ? hash_bytes(a->peer, strlen(a->peer), a->kind) | OBJECT_BY_NAME
		      : single ? (uint64_t)a->fd
			       : OBJECT_ONLY_ONE | a->kind;
	uint32_t at = add_object(w, process, a->kind, id);
	struct wait_object *o = &w->objects.data[at];
	if (named && !o->named) {
		o->name = arena_strdup(w->arena, a->peer);
		o->named = true;
	}
	o->connections = a->connections > o->connections ? a->connections : o->connections;
	if (a->socket && o->seconds + o->sampled >= noticeable)
		object_find_peer(w, o, a->socket);
	return at;
}

/* A descriptor is known by its number, a set of them by where it is in memory. */
static struct awaited_call *awaited_call(struct waits *w, uint32_t process,
					 const struct call_made *c, uint64_t object)
{
	bool set = object == RT_NO_OBJECT;
	const uint64_t key[] = {process, (uint64_t)c->number, set ? c->arguments[0] : object,
				set ? c->arguments[1] : 0};
	uint32_t next = w->awaited.len;
	uint32_t at = hashmap_add(&w->awaited_at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&w->awaited, (struct awaited_call){.next = -1});
	return &w->awaited.data[at];
}

/* Looks up what a call waits for, unless that was done lately: an event loop may have thousands of
 * descriptors. Returns LEDGER_NONE if they do not show it. */
static uint32_t look_up_awaited(struct waits *w, uint32_t process, const struct call_made *c,
				uint64_t object)
{
	enum { PAUSE = 50 }; /* for each second of looking up */
	struct awaited_call *known = awaited_call(w, process, c, object);
	if (w->time < known->next)
		return known->object;
	double begin = now_seconds();
	struct awaited a =
		awaited_in(&w->sockets, w->machine->processes.data[process].pid, c, w->time);
	known->next = w->time + fmax(a.varies ? varying_period : check_period,
				     PAUSE * (now_seconds() - begin));
	known->object = a.kind == OBJECT_KINDS ? LEDGER_NONE : awaited_object(w, process, &a);
	return known->object;
}

static uint32_t merged_object(const struct waits *w, uint32_t at)
{
	while (w->objects.data[at].merged != LEDGER_NONE)
		at = w->objects.data[at].merged;
	return at;
}

/* Returns the object of a call by its number and, as far as there is one, its object's address or
 * number. */
static uint32_t plain_object(struct waits *w, uint32_t process, int number, uint64_t object)
{
	enum object_kind kind = kind_of_call((uint32_t)number);
	bool one = kind == OBJECT_SLEEP || kind == OBJECT_SIGNAL || kind == OBJECT_PROCESS;
	return merged_object(w,
			     add_object(w, process, kind, one ? OBJECT_ONLY_ONE | kind : object));
}

uint32_t waits_in_call(struct waits *w, uint32_t process, const struct call_made *c)
{
	uint64_t object;
	if (!call_object(c, &object))
		return LEDGER_NONE;
	uint32_t at = look_up_awaited(w, process, c, object);
	if (at == LEDGER_NONE)
		return plain_object(w, process, c->number, object);
	if (object == RT_NO_OBJECT)
		hashmap_put(&w->polled, process, at);
	return at;
}

/* What a call is for, in words that do not tell the sockets of a server apart; or NULL. */
static const char *call_is_for(struct waits *w, uint32_t process, const struct call_made *c)
{
	uint32_t at = waits_in_call(w, process, c);
	if (at == LEDGER_NONE)
		return NULL;
	const struct wait_object *o = &w->objects.data[at];
	switch (o->kind) {
	case OBJECT_SOCKET:
	case OBJECT_REQUESTS: return "sockets";
	case OBJECT_PIPE: return "pipes";
	case OBJECT_CONNECTION:
	case OBJECT_ANSWER:
	case OBJECT_FILE:
	case OBJECT_DEVICE: return o->named ? o->name : NULL;
	default: return NULL;
	}
}

static const char *kernel_work(const struct call_made *c)
{
	return c ? call_name(c->number) : "page faults";
}

/* Returns the object "WORK (WHAT)" or, with NULL, "WORK". */
static uint32_t work_object(struct waits *w, uint32_t process, const char *work, const char *what)
{
	struct text name = TEXT_INIT;
	text_addn(&name, work, strcspn(work, "@"));
	if (what)
		text_printf(&name, " (%s)", what);
	uint64_t id = hash_bytes(name.data, name.len, 0) | OBJECT_BY_NAME;
	uint32_t at = add_object(w, process, OBJECT_CALL, id);
	struct wait_object *o = &w->objects.data[at];
	if (!o->named) {
		o->name = arena_strdup(w->arena, name.data);
		o->named = true;
	}
	text_release(&name);
	return at;
}

uint32_t waits_kernel_work(struct waits *w, uint32_t process, const struct call_made *c)
{
	return work_object(w, process, kernel_work(c), c ? call_is_for(w, process, c) : NULL);
}

uint32_t waits_allocation(struct waits *w, uint32_t process, const char *function)
{
	return work_object(w, process, allocator_name(function), NULL);
}

uint32_t waits_kernel_allocation(struct waits *w, uint32_t process, const char *function,
				 const struct call_made *c)
{
	return work_object(w, process, allocator_name(function), kernel_work(c));
}

uint32_t waits_of_value(struct waits *w, uint32_t process, const struct wait_value *v)
{
	const struct call_made call = {.number = (int)v->call, .arguments = {v->object}};
	uint32_t at = LEDGER_NONE;
	if (v->call == UINT32_MAX)
		return spinning_object(w, process, v);
	if (object_kinds[kind_of_call(v->call)].hierarchy == FILES)
		at = v->object == RT_NO_OBJECT ? hashmap_get(&w->polled, process)
					       : look_up_awaited(w, process, &call, v->object);
	return at == LEDGER_NONE ? plain_object(w, process, call.number, v->object) : at;
}

/* Threads wait for two words of a condition variable. Both become one object. */
static void merge_condition(struct waits *w, uint32_t object)
{
	struct wait_object o = w->objects.data[object];
	uint64_t base = (o.id & ~UINT64_C(7)) - condition_signals(w->mapped, o.process);
	uint32_t whole = add_object(w, o.process, OBJECT_CONDITION, base);
	if (whole == object)
		return;
	w->objects.data[whole].kind = OBJECT_CONDITION;
	w->objects.data[whole].seconds += o.seconds;
	w->objects.data[whole].count += o.count;
	w->objects.data[object].merged = whole;
}

void waits_learn(struct waits *w, uint32_t object, enum object_kind kind)
{
	struct wait_object *o = &w->objects.data[object];
	if (o->kind != OBJECT_FUTEX || kind == OBJECT_KINDS || o->part != RESOURCE_NONE)
		return;
	if (kind == OBJECT_CONDITION)
		merge_condition(w, object);
	else
		o->kind = (uint8_t)kind;
}

void waits_used(struct waits *w, uint32_t object, uint32_t part)
{
	struct wait_object *o = &w->objects.data[object];
	if (o->user == RESOURCE_NONE)
		o->user = part;
}

int waits_owner(const struct waits *w, uint32_t object)
{
	const struct wait_object *o = &w->objects.data[object];
	int owner = 0;
	if (o->kind != OBJECT_MUTEX)
		return 0;
	int pid = w->machine->processes.data[o->process].pid;
	return memory_read(pid, o->id + MUTEX_OWNER, &owner, sizeof(owner)) == sizeof(owner) ? owner
											     : 0;
}

static uint32_t new_part(struct waits *w, uint32_t parent, uint64_t key)
{
	struct resources *r = w->machine->resources;
	uint32_t before = r->list.len, part = resources_child(r, parent, key);
	if (part == before)
		vec_push(&w->news, part);
	return part;
}

void waits_register(struct waits *w, uint32_t object)
{
	struct wait_object *o = &w->objects.data[object];
	if (o->part != RESOURCE_NONE || o->merged != LEDGER_NONE ||
	    o->seconds + o->sampled < noticeable)
		return;
	if ((o->kind == OBJECT_FUTEX || o->kind == OBJECT_VARIABLE) &&
	    w->time - o->first < patience)
		return;
	if (!o->named && object_kinds[o->kind].hierarchy == SYNC)
		object_name_memory(w, o); /* its module may have been mapped since */
	object_find_maker(w, o);
	if (o->kind == OBJECT_PIPE)
		object_name_peer(w, o);
	uint32_t kind = new_part(w, object_kinds[o->kind].hierarchy, o->kind);
	o->part = new_part(w, kind, object);
}
