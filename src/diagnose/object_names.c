#include "diagnose/object_names.h"

#include <string.h>

#include "base/arena.h"
#include "diagnose/code.h"
#include "process/holders.h"

/* The last offset in an object of these kinds that has a word that threads wait for. */
enum { MUTEX_LAST_WORD = 4, BARRIER_LAST_WORD = 12, RWLOCK_LAST_WORD = 12 };

/* s for which it is believed what a descriptor refers to. */
static const double check_period = 0.25;

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

static void set_peer(struct waits *w, struct wait_object *o, const struct holder *peer)
{
	o->peer = arena_strdup(w->arena, peer->name);
	o->peer_pid = peer->pid;
	o->peer_root = process_first_of_name(peer->pid);
}

void object_name_peer(struct waits *w, struct wait_object *o)
{
	struct holder peer;
	bool writes;
	if (!o->path ||
	    !pipe_peer(w->machine->processes.data[o->process].pid, (int)o->id, &peer, &writes))
		return;
	set_peer(w, o, &peer);
	o->name = arena_printf(w->arena, "%s %s (%d)", writes ? "from" : "to", peer.name, peer.pid);
}

void object_find_peer(struct waits *w, struct wait_object *o, uint64_t socket)
{
	enum { MOST_SOUGHT = 4 }; /* connections are closed meanwhile */
	struct holder peer;
	if (o->peer || o->peer_sought == MOST_SOUGHT)
		return;
	o->peer_sought++;
	if (socket_peer(&w->sockets, w->machine->processes.data[o->process].pid, socket, w->time,
			&peer))
		set_peer(w, o, &peer);
}

bool object_refers_elsewhere(struct waits *w, struct wait_object *o)
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

void object_name_memory(struct waits *w, struct wait_object *o)
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

void object_find_maker(struct waits *w, struct wait_object *o)
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

void object_name(struct waits *w, struct wait_object *o)
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
		[OBJECT_ANSWER] = "several connections",
		[OBJECT_DEVICE] = "several devices",
		[OBJECT_FILE] = "several files",
	};
	bool stands_alone = !(o->id & OBJECT_BY_NAME) && o->id & OBJECT_ONLY_ONE;
	if (stands_alone && only[o->kind])
		o->name = only[o->kind], o->named = true;
	else if (o->kind == OBJECT_EVENT)
		name_event(w, o);
	else if (object_kinds[o->kind].hierarchy == FILES)
		name_file(w, o);
	else
		object_name_memory(w, o);
	object_find_maker(w, o);
}
