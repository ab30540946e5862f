#include "diagnose/awaited.h"

#include <stdio.h>
#include <sys/syscall.h>

enum { MOST_LOOKED_AT = 4096 }; /* descriptors of one call, or of one process */
enum { MOST_ASKED_ABOUT = 16 }; /* connections of one call */

/* How many descriptors of each sort a call is for, and the last one of each. */
struct awaited_set {
	uint32_t count[DESCRIPTOR_KINDS];
	int last[DESCRIPTOR_KINDS];
	uint64_t pipe, socket; /* inodes of the last ones */
	uint32_t listening, accepted, opened, unknown;
	int last_opened;
	char peer[SOCKET_PEER_ROOM]; /* of the last opened one */
	bool several_peers;
	uint64_t connections[MOST_ASKED_ABOUT]; /* inodes of opened ones, the last ones */
};

struct looking {
	struct sockets *sockets;
	int pid;
	double now;
};

static const struct awaited not_shown = {.kind = OBJECT_KINDS, .fd = -1};

/* ---- sets of descriptors ---- */

static void add_socket(struct awaited_set *set, const struct looking *l, int fd, uint64_t inode)
{
	const struct socket_facts *f = sockets_find(l->sockets, l->pid, inode, l->now);
	set->listening += f->role == SOCKET_LISTENING;
	set->accepted += f->role == SOCKET_ACCEPTED;
	set->unknown += f->role == SOCKET_UNKNOWN;
	if (f->role != SOCKET_OPENED)
		return;
	set->several_peers |= set->opened && strcmp(f->peer, set->peer) != 0;
	set->connections[set->opened % MOST_ASKED_ABOUT] = inode;
	set->opened++;
	set->last_opened = fd;
	snprintf(set->peer, sizeof(set->peer), "%s", f->peer);
}

static void add_descriptor(struct awaited_set *set, const struct looking *l, int fd)
{
	struct descriptor d;
	if (!descriptor_read(l->pid, fd, &d))
		return;
	set->count[d.kind]++;
	set->last[d.kind] = fd;
	if (d.kind == DESCRIPTOR_PIPE)
		set->pipe = d.inode;
	if (d.kind != DESCRIPTOR_SOCKET)
		return;
	set->socket = d.inode;
	add_socket(set, l, fd, d.inode);
}

/* An event loop may watch the epoll instances of others. */
static void add_nested(struct awaited_set *set, const struct looking *l, int fd)
{
	const struct call_made inner = {.number = SYS_epoll_pwait, .arguments = {(uint64_t)fd}};
	descriptor_list list = {0};
	if (descriptors_awaited(l->pid, &inner, MOST_LOOKED_AT, &list))
		vec_each (x, &list)
			add_descriptor(set, l, *x);
	vec_free(&list);
}

static void add_all(struct awaited_set *set, const struct looking *l, const descriptor_list *list)
{
	vec_each (fd, list) {
		uint32_t before = set->count[DESCRIPTOR_EPOLL];
		add_descriptor(set, l, *fd);
		if (set->count[DESCRIPTOR_EPOLL] > before)
			add_nested(set, l, *fd);
	}
}

/* ---- what a set says ---- */

static struct awaited one_of(const struct awaited_set *set, enum descriptor_kind kind,
			     enum object_kind object)
{
	return (struct awaited){.kind = object, .fd = set->count[kind] == 1 ? set->last[kind] : -1};
}

/* Finds a connection on which the process has asked something, and got no answer. */
static uint64_t find_asked(const struct awaited_set *set, const struct looking *l, enum reply least)
{
	for (uint32_t i = 0; i < set->opened && i < MOST_ASKED_ABOUT; i++)
		if (sockets_reply(l->sockets, l->pid, set->connections[i], l->now) >= least)
			return set->connections[i];
	return 0;
}

static struct awaited answer_on(const struct looking *l, uint64_t socket)
{
	struct awaited a = {.kind = OBJECT_ANSWER, .fd = -1, .socket = socket, .varies = true};
	const struct socket_facts *f = sockets_find(l->sockets, l->pid, socket, l->now);
	snprintf(a.peer, sizeof(a.peer), "%s", f->peer);
	return a;
}

static struct awaited connection(const struct awaited_set *set)
{
	struct awaited a = {.kind = OBJECT_CONNECTION,
			    .fd = set->opened == 1 ? set->last_opened : -1,
			    .socket = set->connections[(set->opened - 1) % MOST_ASKED_ABOUT],
			    .varies = true};
	if (!set->several_peers)
		snprintf(a.peer, sizeof(a.peer), "%s", set->peer);
	if (!*a.peer && a.fd >= 0)
		a.kind = OBJECT_SOCKET;
	return a;
}

/* A pair of sockets of which the process has both is for waking a thread. */
static bool is_own(const struct awaited_set *set, const struct looking *l)
{
	uint64_t other =
		set->opened == 1 && !*set->peer
			? sockets_other_end(l->sockets, l->pid, set->connections[0], l->now)
			: 0;
	return other && descriptors_of_inode(l->pid, DESCRIPTOR_SOCKET, other);
}

/* Who waits for one connection only, and for nothing else, waits for an answer, as far as it is not
 * known that there is none to come. */
static struct awaited opened(const struct awaited_set *set, const struct looking *l)
{
	uint32_t all = 0;
	for (int i = 0; i < DESCRIPTOR_KINDS; i++)
		all += set->count[i];
	uint64_t asked = find_asked(set, l, all == 1 ? REPLY_PERHAPS : REPLY_AWAITED);
	if (asked)
		return answer_on(l, asked);
	return is_own(set, l) ? one_of(set, DESCRIPTOR_SOCKET, OBJECT_EVENT) : connection(set);
}

/* A server waits for requests, or for answers that it needs for those that it has got. */
static struct awaited in_server(const struct awaited_set *set, const struct looking *l)
{
	uint64_t asked = find_asked(set, l, REPLY_LIKELY);
	return asked ? answer_on(l, asked)
		     : (struct awaited){.kind = OBJECT_REQUESTS,
					.fd = -1,
					.connections = set->accepted,
					.varies = set->opened || set->unknown};
}

/* A server also watches a pipe or an event by which it is told to end, and a timer. */
static struct awaited in_set(const struct awaited_set *set, const struct looking *l)
{
	const uint32_t *n = set->count;
	if (set->listening || set->accepted)
		return in_server(set, l);
	if (n[DESCRIPTOR_TERMINAL] && !set->opened)
		return (struct awaited){.kind = OBJECT_INPUT, .fd = -1};
	if (set->opened)
		return opened(set, l);
	if (n[DESCRIPTOR_SOCKET])
		return one_of(set, DESCRIPTOR_SOCKET, OBJECT_SOCKET);
	if (n[DESCRIPTOR_DEVICE])
		return one_of(set, DESCRIPTOR_DEVICE, OBJECT_DEVICE);
	if (n[DESCRIPTOR_FILE])
		return one_of(set, DESCRIPTOR_FILE, OBJECT_FILE);
	if (n[DESCRIPTOR_EVENT])
		return one_of(set, DESCRIPTOR_EVENT, OBJECT_EVENT);
	if (n[DESCRIPTOR_PIPE] && descriptors_of_inode(l->pid, DESCRIPTOR_PIPE, set->pipe) > 1)
		return one_of(set, DESCRIPTOR_PIPE, OBJECT_EVENT);
	if (n[DESCRIPTOR_PIPE])
		return one_of(set, DESCRIPTOR_PIPE, OBJECT_PIPE);
	if (n[DESCRIPTOR_PROCESS])
		return (struct awaited){.kind = OBJECT_PROCESS, .fd = -1};
	return (struct awaited){.kind = OBJECT_SLEEP, .fd = -1};
}

/* ---- calls ---- */

enum direction { NEITHER, READS, WRITES };

static enum direction direction_of(int call)
{
	switch (call) {
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4: return READS;
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_connect: return WRITES;
	default: return NEITHER;
	}
}

static struct awaited in_read(const struct awaited_set *set, const struct looking *l)
{
	struct awaited a = in_set(set, l);
	bool known = a.kind == OBJECT_REQUESTS || a.kind == OBJECT_INPUT ||
		     a.kind == OBJECT_CONNECTION || a.kind == OBJECT_ANSWER ||
		     set->count[DESCRIPTOR_EVENT];
	return known ? a : not_shown;
}

/* A client that does not take what it is sent is not awaited like a request. */
static struct awaited in_write(const struct awaited_set *set)
{
	struct awaited client = one_of(set, DESCRIPTOR_SOCKET, OBJECT_SOCKET);
	client.socket = set->socket;
	return set->accepted ? client : set->opened ? connection(set) : not_shown;
}

static struct awaited in_transfer(const struct looking *l, int fd, enum direction direction)
{
	struct awaited_set set = {0};
	add_descriptor(&set, l, fd);
	struct awaited a = direction == READS ? in_read(&set, l) : in_write(&set);
	a.fd = fd;
	return a;
}

/* The operations of a ring are not to be seen. Those of a server wait for requests. */
static struct awaited in_ring(const struct looking *l)
{
	struct awaited_set set = {0};
	descriptor_list list = {0};
	descriptors_list(l->pid, MOST_LOOKED_AT, &list);
	vec_each (fd, &list)
		add_descriptor(&set, l, *fd);
	vec_free(&list);
	return set.listening || set.accepted ? in_set(&set, l) : not_shown;
}

struct awaited awaited_in(struct sockets *s, int pid, const struct call_made *call, double now)
{
	const struct looking l = {s, pid, now};
	enum direction direction = direction_of(call->number);
	struct awaited_set set = {0};
	descriptor_list list = {0};
	struct awaited a = not_shown;
	if (call->number == SYS_io_uring_enter)
		return in_ring(&l);
	if (direction != NEITHER)
		return in_transfer(&l, (int)call->arguments[0], direction);
	if (descriptors_awaited(pid, call, MOST_LOOKED_AT, &list)) {
		add_all(&set, &l, &list);
		a = in_set(&set, &l);
	}
	vec_free(&list);
	return a;
}
