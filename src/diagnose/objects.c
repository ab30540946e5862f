/* Objects that threads wait for: which one a call, a function or an address shows, and its name. */
#include "diagnose/waits.h"

#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arena.h"
#include "base/clock.h"
#include "diagnose/code.h"
#include "diagnose/condition.h"
#include "process/call_name.h"
#include "process/holders.h"
#include "process/memory.h"

/* An object becomes a part of the search when threads have waited for it for `noticeable`. If its
 * kind is not known by then, it is given `patience` from when it was first seen. */
static const double noticeable = 0.02, patience = 0.5; /* s */

/* The last offset in an object of these kinds that has a word that threads wait for. */
enum { MUTEX_LAST_WORD = 4, BARRIER_LAST_WORD = 12, RWLOCK_LAST_WORD = 12 };
/* The offset in a mutex of glibc that has the tid of the thread that has locked it. */
enum { MUTEX_OWNER = 8 };

/* s for which it is believed what a descriptor, or a set of them, refers to. */
static const double check_period = 0.25;

/* Kinds of which a process has one object. As their number, no descriptor has this bit, nor has a
 * user-space address. */
static const uint64_t only_one = UINT64_C(1) << 62;
/* An object that is known by its name: the bit besides a hash of it. */
static const uint64_t by_name = UINT64_C(1) << 63;

/* ---- kinds ---- */

static const struct {
	const char *name; /* or its beginning, followed by a star */
	uint8_t kind;
} functions[] = {
	{"pthread_mutex_lock", OBJECT_MUTEX},
	{"pthread_mutex_timedlock", OBJECT_MUTEX},
	{"pthread_mutex_clocklock", OBJECT_MUTEX},
	{"__lll_lock_wait*", OBJECT_MUTEX},
	{"pthread_rwlock_*", OBJECT_RWLOCK},
	{"pthread_cond_*", OBJECT_CONDITION},
	{"pthread_barrier_wait", OBJECT_BARRIER},
	{"sem_wait*", OBJECT_SEMAPHORE},
	{"sem_timedwait*", OBJECT_SEMAPHORE},
	{"sem_clockwait*", OBJECT_SEMAPHORE},
	{"new_sem_*", OBJECT_SEMAPHORE},
	{"pthread_join", OBJECT_JOIN},
	{"pthread_timedjoin_np", OBJECT_JOIN},
	{"pthread_clockjoin_np", OBJECT_JOIN},
	{"__pthread_clockjoin_ex", OBJECT_JOIN},
	{"thrd_join", OBJECT_JOIN},
	{"pthread_spin_lock", OBJECT_SPIN},
	{"GOMP_*", OBJECT_OPENMP},
	{"gomp_*", OBJECT_OPENMP},
	{"omp_*", OBJECT_OPENMP},
	{"__kmpc_*", OBJECT_OPENMP},
	{"__kmp_*", OBJECT_OPENMP},
	{"MPI_*", OBJECT_MESSAGE},
	{"PMPI_*", OBJECT_MESSAGE},
	{"runtime.*", OBJECT_PARKED},
	{"cuStreamSynchronize*", OBJECT_GPU},
	{"cuCtxSynchronize*", OBJECT_GPU},
	{"cuEventSynchronize*", OBJECT_GPU},
	{"cuStreamQuery*", OBJECT_GPU},
	{"cuEventQuery*", OBJECT_GPU},
	{"cuMemcpy*", OBJECT_GPU},
	{"cudaStreamSynchronize*", OBJECT_GPU},
	{"cudaDeviceSynchronize*", OBJECT_GPU},
	{"cudaEventSynchronize*", OBJECT_GPU},
	{"cudaStreamQuery*", OBJECT_GPU},
	{"cudaEventQuery*", OBJECT_GPU},
	{"cudaMemcpy*", OBJECT_GPU},
	{"hipStreamSynchronize*", OBJECT_GPU},
	{"hipDeviceSynchronize*", OBJECT_GPU},
	{"hipEventSynchronize*", OBJECT_GPU},
	{"hipStreamQuery*", OBJECT_GPU},
	{"hipEventQuery*", OBJECT_GPU},
	{"hipMemcpy*", OBJECT_GPU},
	{"hsa_signal_wait*", OBJECT_GPU},
	{"clFinish", OBJECT_GPU},
	{"clWaitForEvents", OBJECT_GPU},
	{"clEnqueueReadBuffer*", OBJECT_GPU},
	{"clEnqueueWriteBuffer*", OBJECT_GPU},
	{"clEnqueueMapBuffer", OBJECT_GPU},
	{"zeCommandQueueSynchronize", OBJECT_GPU},
	{"zeCommandListHostSynchronize", OBJECT_GPU},
	{"zeFenceHostSynchronize", OBJECT_GPU},
	{"zeEventHostSynchronize", OBJECT_GPU},
};

/* Skips the leading underscores of a library's internal names, except where the table has them. */
static const char *skip_underscores(const char *name)
{
	while (name[0] == '_' && strncmp(name, "__lll", 5) != 0 && strncmp(name, "__kmp", 5) != 0 &&
	       strncmp(name, "__pthread_clockjoin", 19) != 0)
		name++;
	return name;
}

enum object_kind waits_kind_of(const char *function)
{
	function = skip_underscores(function);
	for (uint32_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const char *name = functions[i].name;
		size_t n = strcspn(name, "*");
		size_t length = strcspn(function, "@");
		if (!strncmp(function, name, n) && (name[n] || length == n))
			return functions[i].kind;
	}
	return OBJECT_KINDS;
}

static enum object_kind kind_of_call(uint32_t call)
{
	switch (call) {
	case SYS_futex:
#ifdef SYS_futex_waitv
	case SYS_futex_waitv:
#endif
#ifdef SYS_futex_wait
	case SYS_futex_wait:
#endif
		return OBJECT_FUTEX;
	case SYS_semop:
	case SYS_semtimedop: return OBJECT_SEMAPHORE;
	case SYS_waitid:
	case SYS_wait4: return OBJECT_PROCESS;
	case SYS_nanosleep:
	case SYS_clock_nanosleep: return OBJECT_SLEEP;
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigsuspend:
#ifdef SYS_pause
	case SYS_pause:
#endif
		return OBJECT_SIGNAL;
	default: return OBJECT_OTHER;
	}
}

/* ---- names ---- */

static enum object_kind kind_of_file(enum descriptor_kind kind)
{
	switch (kind) {
	case DESCRIPTOR_PIPE: return OBJECT_PIPE;
	case DESCRIPTOR_SOCKET: return OBJECT_SOCKET;
	case DESCRIPTOR_TERMINAL:
	case DESCRIPTOR_DEVICE: return OBJECT_DEVICE;
	case DESCRIPTOR_FILE: return OBJECT_FILE;
	default: return OBJECT_OTHER;
	}
}

/* Reads what the object is, if it is one descriptor; returns false if that is not known. */
static bool read_descriptor(const struct waits *w, const struct wait_object *o,
			    struct descriptor *out)
{
	return o->id <= INT32_MAX &&
	       descriptor_read(w->machine->processes.data[o->process].pid, (int)o->id, out);
}

static void name_file(struct waits *w, struct wait_object *o)
{
	struct descriptor d;
	if (!read_descriptor(w, o, &d)) {
		o->name = "files being opened, polled or synchronised";
		return;
	}
	if (o->kind == OBJECT_OTHER)
		o->kind = (uint8_t)kind_of_file(d.kind);
	o->name = o->path = arena_strdup(w->arena, d.path);
	o->named = true;
	o->checked = w->time;
}

/* "from gzip (4711)": who is at the other end of a pipe. */
static void name_peer(struct waits *w, struct wait_object *o)
{
	struct holder peer;
	bool writes;
	if (o->path &&
	    pipe_peer(w->machine->processes.data[o->process].pid, (int)o->id, &peer, &writes))
		o->name = arena_printf(w->arena, "%s %s (%d)", writes ? "from" : "to", peer.name,
				       peer.pid);
}

/* Returns true if the descriptor refers to another file by now: numbers of closed files are
 * reused. */
static bool refers_elsewhere(struct waits *w, struct wait_object *o)
{
	struct descriptor d;
	if (object_kinds[o->kind].hierarchy != FILES || !o->named ||
	    w->time - o->checked < check_period)
		return false;
	o->checked = w->time;
	return o->path && read_descriptor(w, o, &d) && strcmp(d.path, o->path) != 0;
}

/* "eventfd 7" */
static void name_event(struct waits *w, struct wait_object *o)
{
	static const char anonymous[] = "anon_inode:";
	struct descriptor d;
	o->named = true;
	if (!read_descriptor(w, o, &d)) {
		o->name = "events";
		return;
	}
	const char *what = d.path;
	what += strncmp(what, anonymous, strlen(anonymous)) ? 0 : strlen(anonymous);
	what += *what == '[';
	o->name = arena_printf(w->arena, "%.*s %d", (int)strcspn(what, ":]"), what, (int)o->id);
}

/* In bytes. A larger variable holds several objects, so the name of an object in it needs the
 * offset. */
enum { SMALL_VARIABLE = 64 };

static void name_memory(struct waits *w, struct wait_object *o)
{
	uint64_t offset, size;
	const char *variable = mapped_variable(w->mapped, o->process, o->id, &offset, &size);
	o->named = variable;
	if (!variable)
		o->name = arena_printf(w->arena, "0x%llx", (unsigned long long)o->id);
	else if (!offset || size <= SMALL_VARIABLE)
		o->name = arena_strdup(w->arena, variable);
	else
		o->name = arena_printf(w->arena, "%s+%llu", variable, (unsigned long long)offset);
}

static uint64_t last_word(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_MUTEX: return MUTEX_LAST_WORD;
	case OBJECT_BARRIER: return BARRIER_LAST_WORD;
	case OBJECT_RWLOCK: return RWLOCK_LAST_WORD;
	default: return 0;
	}
}

/* Finds out where an object was made. Called again when its kind is known: the word that threads
 * wait for may not be its first. */
static void find_maker(struct waits *w, struct wait_object *o)
{
	struct target *t = w->machine->processes.data[o->process].target;
	uint64_t pc;
	if (o->named || o->maker || object_kinds[o->kind].hierarchy != SYNC || !t)
		return;
	uint64_t at = o->id;
	while (!(pc = target_made(t, at)) && o->id - at < last_word(o->kind))
		at -= sizeof(uint32_t);
	struct place p = pc ? space_find(target_space(t), pc - 1) : (struct place){0};
	if (!p.code)
		return;
	o->maker = p.code;
	o->made_at = p.va;
	o->name = arena_printf(w->arena, "0x%llx", (unsigned long long)at);
}

static void name_object(struct waits *w, struct wait_object *o)
{
	static const char *const only[OBJECT_KINDS] = {
		[OBJECT_SLEEP] = "sleep",
		[OBJECT_SIGNAL] = "signals",
		[OBJECT_PROCESS] = "a child process",
		[OBJECT_REQUESTS] = "requests",
		[OBJECT_INPUT] = "a terminal",
		[OBJECT_PIPE] = "several pipes",
		[OBJECT_SOCKET] = "several sockets",
		[OBJECT_CONNECTION] = "several connections",
		[OBJECT_DEVICE] = "several devices",
		[OBJECT_FILE] = "several files",
	};
	if (o->id & only_one && only[o->kind])
		o->name = only[o->kind], o->named = true;
	else if (o->kind == OBJECT_EVENT)
		name_event(w, o);
	else if (object_kinds[o->kind].hierarchy == FILES)
		name_file(w, o);
	else
		name_memory(w, o);
	find_maker(w, o);
}

/* ---- objects ---- */

static uint64_t object_key(uint32_t process, enum object_kind kind, uint64_t id)
{
	bool memory = object_kinds[kind].hierarchy == SYNC;
	const uint64_t key[] = {process, memory, id};
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
	if (at != HASHMAP_NONE && !refers_elsewhere(w, &w->objects.data[at]))
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
	name_object(w, &w->objects.data[next]);
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
	uint32_t at = add_object(w, process, kind, n ? hash_bytes(name, n, 0) | by_name : pc);
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
	enum object_kind kind = waits_kind_of(name);
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
	uint64_t id = hash_bytes(name, strlen(name), kind) | by_name;
	uint32_t at = add_object(w, process, kind, id);
	w->objects.data[at].name = name;
	w->objects.data[at].named = true;
	return at;
}

uint32_t waits_in_loop(struct waits *w, uint32_t process, uint32_t part)
{
	uint32_t at = add_object(w, process, OBJECT_VARIABLE, by_name | part);
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
	bool named = a->kind == OBJECT_CONNECTION && *a->peer;
	bool single = a->fd >= 0 && object_wait_counts(&object_kinds[a->kind]);
	uint64_t id = named    ? hash_bytes(a->peer, strlen(a->peer), 0) | by_name
		      : single ? (uint64_t)a->fd
			       : only_one | a->kind;
	uint32_t at = add_object(w, process, a->kind, id);
	struct wait_object *o = &w->objects.data[at];
	if (named && !o->named) {
		o->name = arena_strdup(w->arena, a->peer);
		o->named = true;
	}
	o->connections = a->connections > o->connections ? a->connections : o->connections;
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
	known->next = w->time + fmax(check_period, PAUSE * (now_seconds() - begin));
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
	return merged_object(w, add_object(w, process, kind, one ? only_one | kind : object));
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
	case OBJECT_FILE:
	case OBJECT_DEVICE: return o->named ? o->name : NULL;
	default: return NULL;
	}
}

uint32_t waits_kernel_work(struct waits *w, uint32_t process, const struct call_made *c)
{
	const char *call = c ? call_name(c->number) : "page faults";
	const char *what = c ? call_is_for(w, process, c) : NULL;
	struct text name = TEXT_INIT;
	text_printf(&name, what ? "%s (%s)" : "%s", call, what);
	uint64_t id = hash_bytes(name.data, name.len, 0) | by_name;
	uint32_t at = add_object(w, process, OBJECT_CALL, id);
	struct wait_object *o = &w->objects.data[at];
	if (!o->named) {
		o->name = arena_strdup(w->arena, name.data);
		o->named = true;
	}
	text_release(&name);
	return at;
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
		name_memory(w, o); /* its module may have been mapped since */
	find_maker(w, o);
	if (o->kind == OBJECT_PIPE)
		name_peer(w, o);
	uint32_t kind = new_part(w, object_kinds[o->kind].hierarchy, o->kind);
	o->part = new_part(w, kind, object);
}
