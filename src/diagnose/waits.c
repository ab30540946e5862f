#include "diagnose/waits.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "diagnose/code.h"
#include "diagnose/condition.h"
#include "process/memory.h"

/* An object becomes a part of the search when threads have waited for it for `noticeable`. If its
 * kind is not known by then, it is given `patience` from when it was first seen. */
static const double noticeable = 0.02, patience = 0.5; /* s */

/* The last offset in an object of these kinds that has a word that threads wait for. */
enum { MUTEX_LAST_WORD = 4, BARRIER_LAST_WORD = 12, RWLOCK_LAST_WORD = 12 };
/* The offset in a mutex of glibc that has the tid of the thread that has locked it. */
enum { MUTEX_OWNER = 8 };

void waits_init(struct waits *w, struct machine *m, struct mapped *mapped, struct ledger *l,
		struct arena *a)
{
	*w = (struct waits){.machine = m, .mapped = mapped, .ledger = l, .arena = a};
}

void waits_release(struct waits *w)
{
	vec_free(&w->objects);
	vec_free(&w->rows);
	vec_free(&w->reported);
	vec_free(&w->now);
	vec_each (i, &w->ignored)
		vec_free(&i->objects);
	vec_free(&w->ignored);
	vec_free(&w->news);
	hashmap_release(&w->object_at);
	hashmap_release(&w->row_at);
}

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
	case SYS_clock_nanosleep:
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigsuspend:
#ifdef SYS_pause
	case SYS_pause:
#endif
		return OBJECT_SLEEP;
	default: return OBJECT_OTHER;
	}
}

/* ---- names ---- */

/* Returns the kind of a file by its path in /proc. */
static enum object_kind kind_of_file(const char *path)
{
	if (!strncmp(path, "pipe:", 5))
		return OBJECT_PIPE;
	if (!strncmp(path, "socket:", 7))
		return OBJECT_SOCKET;
	if (!strncmp(path, "/dev/", 5))
		return OBJECT_DEVICE;
	return path[0] == '/' ? OBJECT_FILE : OBJECT_OTHER;
}

enum { PATH_ROOM = 1024 };

/* Reads the path that a descriptor refers to; returns false if that is not known. */
static bool read_descriptor(const struct waits *w, const struct wait_object *o,
			    char path[PATH_ROOM])
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", w->machine->processes.data[o->process].pid,
		 (int)o->id);
	ssize_t n = (int64_t)o->id >= 0 ? readlink(link, path, PATH_ROOM - 1) : -1;
	path[n > 0 ? n : 0] = 0;
	return n > 0;
}

static void name_file(struct waits *w, struct wait_object *o)
{
	char path[PATH_ROOM];
	if (!read_descriptor(w, o, path)) {
		o->name = "files being opened, polled or synchronised";
		return;
	}
	o->kind = (uint8_t)kind_of_file(path);
	o->name = arena_strdup(w->arena, path);
	o->named = true;
	o->checked = w->time;
}

/* Returns true if the descriptor refers to another file by now: numbers of closed files are
 * reused. */
static bool refers_elsewhere(struct waits *w, struct wait_object *o)
{
	static const double check_period = 0.25; /* s */
	char path[PATH_ROOM];
	if (object_kinds[o->kind].hierarchy != FILES || !o->named ||
	    w->time - o->checked < check_period)
		return false;
	o->checked = w->time;
	return read_descriptor(w, o, path) && strcmp(path, o->name) != 0;
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
	if (object_kinds[o->kind].hierarchy == FILES)
		name_file(w, o);
	else if (o->kind == OBJECT_SLEEP)
		o->name = "sleep", o->named = true;
	else if (o->kind == OBJECT_PROCESS)
		o->name = "a child process", o->named = true;
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
	static const uint64_t by_name = UINT64_C(1) << 63; /* no address has this bit */
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

static uint32_t find_object(struct waits *w, uint32_t process, const struct wait_value *v)
{
	if (v->call == UINT32_MAX)
		return spinning_object(w, process, v);
	enum object_kind kind = kind_of_call(v->call);
	bool one = kind == OBJECT_SLEEP || kind == OBJECT_PROCESS;
	uint32_t at = add_object(w, process, kind, one ? (uint64_t)kind : v->object);
	while (w->objects.data[at].merged != LEDGER_NONE)
		at = w->objects.data[at].merged;
	return at;
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

static void register_object(struct waits *w, uint32_t object)
{
	struct wait_object *o = &w->objects.data[object];
	if (o->part != RESOURCE_NONE || o->merged != LEDGER_NONE ||
	    o->seconds + o->sampled < noticeable)
		return;
	if (o->kind == OBJECT_FUTEX && w->time - o->first < patience)
		return;
	if (!o->named && object_kinds[o->kind].hierarchy == SYNC)
		name_memory(w, o); /* its module may have been mapped since */
	find_maker(w, o);
	uint32_t kind = new_part(w, object_kinds[o->kind].hierarchy, o->kind);
	o->part = new_part(w, kind, object);
}

/* ---- steps ---- */

struct wait_reading {
	struct waits *w;
	uint32_t process;
	subject_part part_of;
	void *ctx;
};

static double seconds_between(uint64_t from, uint64_t to)
{
	return to > from ? 1e-9 * (double)(to - from) : 0;
}

static uint32_t row_of(struct waits *w, uint32_t process, const struct wait_value *v)
{
	const uint64_t key[] = {(uint64_t)w->machine->processes.data[process].begun << 32 | process,
				(uint64_t)v->tid << 32 | v->subject, v->pc, v->object};
	uint32_t next = w->rows.len;
	uint32_t at = hashmap_add(&w->row_at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&w->rows, (struct wait_row){0});
	return at;
}

/* Adds a wait to the times of the whole thread. */
static void note_thread(struct waits *w, uint32_t thread, uint32_t object, double seconds)
{
	struct machine_thread *t = &w->machine->threads.data[thread];
	const struct object_kind_row *kind = &object_kinds[w->objects.data[object].kind];
	t->waited += seconds;
	t->idled[kind->idles] += seconds;
	t->joined += kind->joins ? seconds : 0;
}

static void note_object(struct wait_object *o, const struct wait_row *r, double seconds,
			double small)
{
	o->seconds += seconds;
	o->small_seconds += small;
	o->count += r->reported.count - r->last.count;
	o->bytes += r->reported.bytes - r->last.bytes;
	o->small_count += r->reported.small_count - r->last.small_count;
}

static void note_now(struct waits *w, uint32_t thread, uint32_t object)
{
	while (w->now.len <= thread)
		vec_push(&w->now, LEDGER_NONE);
	w->now.data[thread] = object;
}

/* Returns the share of its spinning for which a thread has a CPU. A spinning thread always wants to
 * run, so it is the same share as of all the time in which the thread wants to run. */
static double running_share(const struct machine_thread *t)
{
	return t->cpu > 0 ? t->cpu / (t->cpu + t->ready) : 0;
}

static void add_amounts(struct waits *w, const struct wait_row *r, double seconds, double small)
{
	const struct object_kind_row *kind = &object_kinds[w->objects.data[r->object].kind];
	if (!w->machine->threads.data[r->thread].counted || kind->joins)
		return;
	ledger_add(w->ledger, r->part, r->thread, r->object, AMOUNT_WAIT, seconds);
	if (small > 0)
		ledger_add(w->ledger, r->part, r->thread, r->object, AMOUNT_SMALL, small);
	if (r->spins)
		ledger_add(w->ledger, r->part, r->thread, r->object, AMOUNT_SPIN,
			   seconds * running_share(&w->machine->threads.data[r->thread]));
}

/* Returns true if waits of the call at this place are no longer watched (ignored.c). */
static bool is_ignored(const struct waits *w, uint32_t process, uint64_t pc)
{
	vec_each (c, &w->ignored)
		if (c->process == process && c->pc == pc)
			return true;
	return false;
}

static void on_value(void *ctx, const struct wait_value *v)
{
	struct wait_reading *s = ctx;
	struct waits *w = s->w;
	bool all = v->subject == SUBJECT_NONE;
	uint32_t part = all ? CODE : s->part_of(s->ctx, s->process, v->subject);
	/* A thread that was in a call when its probes were removed was not seen to return. */
	if (part == RESOURCE_NONE || is_ignored(w, s->process, v->pc))
		return;
	uint32_t at = row_of(w, s->process, v);
	uint32_t object = find_object(w, s->process, v);
	struct wait_row *r = &w->rows.data[at];
	if (r->step != w->step) {
		r->step = w->step;
		r->reported = (struct wait_sums){0};
		vec_push(&w->reported, at);
	}
	r->process = s->process;
	r->pc = v->pc;
	r->part = part;
	r->thread = machine_thread_of(w->machine, s->process, v->tid);
	r->object = object;
	r->spins = v->call == UINT32_MAX;
	r->reported.wall_ns += v->wall_ns;
	r->reported.small_ns += v->small_ns;
	r->reported.count += v->count;
	r->reported.bytes += v->bytes;
	r->reported.small_count += v->small_count;
	/* Spinning is short, so it is hardly ever seen in progress: the object of the last spinning
	 * is taken for what the thread waits for. */
	if (all && (v->since_ns || (r->spins && v->count != r->last.count)))
		note_now(w, r->thread, object);
}

static void add_row(struct waits *w, struct wait_row *r)
{
	double seconds = seconds_between(r->last.wall_ns, r->reported.wall_ns);
	double small = seconds_between(r->last.small_ns, r->reported.small_ns);
	if (r->part == CODE) {
		note_thread(w, r->thread, r->object, seconds);
		note_object(&w->objects.data[r->object], r, seconds, small);
	}
	if (seconds > 0)
		add_amounts(w, r, seconds, small);
	if (seconds > 0 && r->part != CODE)
		ledger_step(w->ledger, r->part, r->thread, STEP_WAITED, seconds);
	r->begun = r->reported.count - r->last.count;
	r->last = r->reported;
}

void waits_step(struct waits *w, subject_part part_of, void *ctx)
{
	w->passed = w->machine->time - w->time;
	w->time = w->machine->time;
	w->step++;
	vec_clear(&w->reported);
	vec_each (object, &w->now)
		*object = LEDGER_NONE;
	vec_each (process, &w->machine->live_processes) {
		struct wait_reading s = {w, *process, part_of, ctx};
		if (w->machine->processes.data[*process].target)
			target_waits(w->machine->processes.data[*process].target, on_value, &s);
	}
	vec_each (row, &w->reported)
		add_row(w, &w->rows.data[*row]);
	for (uint32_t i = 0; i < w->objects.len; i++)
		register_object(w, i);
}

uint32_t waits_now(const struct waits *w, uint32_t thread)
{
	return thread < w->now.len ? w->now.data[thread] : LEDGER_NONE;
}

uint32_t waits_in_call(struct waits *w, uint32_t process, const struct call_made *c)
{
	struct wait_value v = {.call = (uint32_t)c->number};
	return call_object(c, &v.object) ? find_object(w, process, &v) : LEDGER_NONE;
}
