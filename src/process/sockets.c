#include "process/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/proc_text.h"

static const struct socket_facts unknown;
static const double never = -1e9; /* s */

static void table_release(struct socket_table *t)
{
	hashmap_release(&t->at);
	hashmap_release(&t->ends_at);
	vec_free(&t->facts);
}

void sockets_release(struct sockets *s)
{
	vec_each (t, &s->tables)
		table_release(t);
	vec_free(&s->tables);
}

/* ---- reading tables ---- */

static uint64_t hash_ends(const struct socket_end *a, const struct socket_end *b)
{
	struct {
		struct in6_addr address[2];
		uint16_t port[2];
	} key = {{a->address, b->address}, {a->port, b->port}};
	return hash_bytes(&key, sizeof(key), 0);
}

static void add(struct socket_table *t, uint64_t inode, const struct socket_facts *f)
{
	uint32_t next = t->facts.len;
	if (!inode || hashmap_add(&t->at, inode, next) != next)
		return;
	vec_push(&t->facts, *f);
	vec_last(&t->facts).inode = inode;
	if (f->family == SOCKET_TCP && f->remote.port)
		hashmap_put(&t->ends_at, hash_ends(&f->local, &f->remote), next);
}

/* "0100007F:1F90": an address as the kernel's 32-bit words in hexadecimal, and a port. */
static bool parse_end(const char *s, struct socket_end *out)
{
	size_t digits = strcspn(s, ":");
	uint8_t *at = (uint8_t *)&out->address;
	if ((digits != 8 && digits != 32) || s[digits] != ':')
		return false;
	*out = (struct socket_end){.port = (uint16_t)strtoul(s + digits + 1, NULL, 16)};
	if (digits == 8) {
		memset(at + 10, 0xff, 2); /* ::ffff:127.0.0.1 */
		at += 12;
	}
	for (size_t i = 0; i < digits / 8; i++) {
		char word[9] = "";
		memcpy(word, s + 8 * i, 8);
		uint32_t value = (uint32_t)strtoul(word, NULL, 16);
		memcpy(at + 4 * i, &value, sizeof(value));
	}
	return true;
}

static void name_peer(struct socket_facts *f)
{
	char host[INET6_ADDRSTRLEN] = "";
	bool v4 = IN6_IS_ADDR_V4MAPPED(&f->remote.address);
	const uint8_t *bytes = (const uint8_t *)&f->remote.address;
	inet_ntop(v4 ? AF_INET : AF_INET6, bytes + (v4 ? 12 : 0), host, sizeof(host));
	snprintf(f->peer, sizeof(f->peer), v4 ? "%s:%u" : "[%s]:%u", host, f->remote.port);
}

/* A datagram socket without a peer is a server's if its port was chosen, not given. */
static bool is_chosen_port(unsigned port)
{
	enum { FIRST_GIVEN = 32768 }; /* net.ipv4.ip_local_port_range, unless it was changed */
	return port && port < FIRST_GIVEN;
}

static uint8_t role_of(const struct socket_facts *f, unsigned state)
{
	enum { LISTEN = 10 };
	if (f->family == SOCKET_TCP)
		return state == LISTEN ? SOCKET_LISTENING : SOCKET_OPENED;
	return !f->remote.port && is_chosen_port(f->local.port) ? SOCKET_LISTENING : SOCKET_OPENED;
}

/* "  sl: LOCAL REMOTE STATE QUEUES TIMER RETRANSMITTED UID TIMEOUT INODE ..." */
static void parse_inet_line(struct socket_table *t, const char *line, enum socket_family family)
{
	struct socket_facts f = {.family = (uint8_t)family};
	char local[64], remote[64];
	unsigned state;
	unsigned long inode;
	if (sscanf(line, "%*[^:]: %63s %63s %x %*s %*s %*s %*u %*u %lu", local, remote, &state,
		   &inode) != 4 ||
	    !parse_end(local, &f.local) || !parse_end(remote, &f.remote))
		return;
	f.role = role_of(&f, state);
	if (f.role == SOCKET_OPENED && f.remote.port)
		name_peer(&f);
	add(t, inode, &f);
}

/* Calls parse() for each line but the first, which has the titles. */
#define each_row(line, text)                                                                       \
	for (const char *line = strchr(text, '\n'); line && *++line; line = strchr(line, '\n'))

void sockets_parse_inet(struct socket_table *t, const char *text, enum socket_family family)
{
	each_row(line, text) parse_inet_line(t, line, family);
}

/* "NUM: REFERENCES PROTOCOL FLAGS TYPE STATE INODE PATH" */
static void parse_unix_line(struct socket_table *t, const char *line)
{
	enum { ACCEPTS = 1 << 16, STREAM = 1, SEQUENCE = 5 };
	unsigned flags, type;
	unsigned long inode;
	int end = 0;
	if (sscanf(line, "%*[^:]: %*x %*x %x %x %*x %lu%n", &flags, &type, &inode, &end) != 3)
		return;
	bool bound = line[end] == ' ', connects = type == STREAM || type == SEQUENCE;
	struct socket_facts f = {.role = flags & ACCEPTS     ? SOCKET_LISTENING
					 : bound && connects ? SOCKET_ACCEPTED
					 : bound             ? SOCKET_LISTENING
							     : SOCKET_OPENED};
	if (f.role == SOCKET_ACCEPTED)
		snprintf(f.peer, sizeof(f.peer), "%.*s", (int)strcspn(line + end + 1, "\n"),
			 line + end + 1);
	add(t, inode, &f);
}

void sockets_parse_unix(struct socket_table *t, const char *text)
{
	each_row(line, text) parse_unix_line(t, line);
}

/* A TCP connection on a port on which a socket listens was accepted. */
static void find_accepted(struct socket_table *t)
{
	uint8_t *listens = xcalloc(UINT16_MAX + 1, 1);
	vec_each (f, &t->facts)
		listens[f->local.port] |= f->role == SOCKET_LISTENING;
	vec_each (f, &t->facts)
		if (f->role == SOCKET_OPENED && f->local.port && listens[f->local.port])
			f->role = SOCKET_ACCEPTED;
	free(listens);
}

static bool read_list(int pid, const char *name, struct text *out)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, name);
	text_clear(out);
	return proc_read_text(path, out) && out->len;
}

static uint64_t namespace_of(int pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static bool is_ours(const struct socket_table *t)
{
	return t->namespace == namespace_of(getpid());
}

static void add_listed(void *ctx, const struct listed_socket *s)
{
	struct socket_facts f = {.family = SOCKET_TCP, .local = s->local, .remote = s->remote};
	f.role = role_of(&f, s->state);
	if (f.role == SOCKET_OPENED)
		name_peer(&f);
	add(ctx, s->inode, &f);
}

/* The kernel lists the sockets of our own namespace faster than /proc does. */
static void read_tcp(struct socket_table *t, int pid, struct text *list)
{
	if (is_ours(t) && diag_list_tcp(add_listed, t))
		return;
	if (read_list(pid, "tcp", list))
		sockets_parse_inet(t, list->data, SOCKET_TCP);
	if (read_list(pid, "tcp6", list))
		sockets_parse_inet(t, list->data, SOCKET_TCP);
}

static void read_lists(struct socket_table *t, int pid)
{
	struct text list = TEXT_INIT;
	read_tcp(t, pid, &list);
	find_accepted(t);
	if (read_list(pid, "udp", &list))
		sockets_parse_inet(t, list.data, SOCKET_UDP);
	if (read_list(pid, "udp6", &list))
		sockets_parse_inet(t, list.data, SOCKET_UDP);
	if (read_list(pid, "unix", &list))
		sockets_parse_unix(t, list.data);
	text_release(&list);
}

/* Sockets that were there when the table was first read are older than anything. */
static void read_table(struct socket_table *t, int pid, double now)
{
	struct socket_table old = *t;
	bool first = t->read < 0;
	*t = (struct socket_table){.namespace = old.namespace, .read = now};
	read_lists(t, pid);
	vec_each (f, &t->facts) {
		uint32_t at = hashmap_get(&old.at, f->inode);
		f->since = at != HASHMAP_NONE ? old.facts.data[at].since : first ? never : now;
	}
	table_release(&old);
}

/* ---- looking up ---- */

static struct socket_table *table_of(struct sockets *s, uint64_t namespace)
{
	vec_each (t, &s->tables)
		if (t->namespace == namespace)
			return t;
	vec_push(&s->tables, (struct socket_table){.namespace = namespace, .read = never});
	return &vec_last(&s->tables);
}

/* A server may have a hundred thousand connections, and new ones all the time. */
static bool may_read_again(const struct socket_table *t, double now)
{
	static const double least = 0.05; /* s */
	enum { PAUSE = 50 };              /* for each second of reading */
	double pause = PAUSE * t->took;
	return now - t->read >= (pause > least ? pause : least);
}

/* The kernel tells who is at the other end of a Unix socket when it is asked about that one. */
static void find_unix_peer(const struct socket_table *t, struct socket_facts *f)
{
	bool look = f->family == SOCKET_UNIX && f->role == SOCKET_OPENED && !f->looked;
	uint32_t at =
		look && is_ours(t) ? hashmap_get(&t->at, diag_unix_peer(f->inode)) : HASHMAP_NONE;
	f->looked = true;
	if (at != HASHMAP_NONE && t->facts.data[at].role == SOCKET_ACCEPTED)
		memcpy(f->peer, t->facts.data[at].peer, sizeof(f->peer));
}

static struct socket_table *find(struct sockets *s, int pid, uint64_t inode, double now,
				 const struct socket_facts **out)
{
	struct socket_table *t = table_of(s, namespace_of(pid));
	uint32_t at = hashmap_get(&t->at, inode);
	if (at == HASHMAP_NONE && may_read_again(t, now)) {
		double begin = now_seconds();
		read_table(t, pid, now);
		t->took = now_seconds() - begin;
		at = hashmap_get(&t->at, inode);
	}
	if (at != HASHMAP_NONE)
		find_unix_peer(t, &t->facts.data[at]);
	*out = at == HASHMAP_NONE ? &unknown : &t->facts.data[at];
	return t;
}

const struct socket_facts *sockets_find(struct sockets *s, int pid, uint64_t inode, double now)
{
	const struct socket_facts *f;
	find(s, pid, inode, now, &f);
	return f;
}

uint64_t sockets_other_end(struct sockets *s, int pid, uint64_t inode, double now)
{
	const struct socket_facts *f;
	const struct socket_table *t = find(s, pid, inode, now, &f);
	if (f->family == SOCKET_UNIX)
		return is_ours(t) ? diag_unix_peer(inode) : 0;
	uint32_t at = hashmap_get(&t->ends_at, hash_ends(&f->remote, &f->local));
	return at == HASHMAP_NONE ? 0 : t->facts.data[at].inode;
}

/* Nothing tells whether an answer has come on a Unix socket. A server connects anew for what it
 * asks others, or has connected long ago. */
static enum reply unix_reply(const struct socket_facts *f, double now)
{
	static const double lately = 5; /* s */
	if (!*f->peer)
		return REPLY_NONE;
	return now - f->since < lately ? REPLY_LIKELY : REPLY_PERHAPS;
}

enum reply sockets_reply(struct sockets *s, int pid, uint64_t inode, double now)
{
	const struct socket_facts *f;
	const struct socket_table *t = find(s, pid, inode, now, &f);
	if (f->role == SOCKET_OPENED && f->family == SOCKET_UNIX)
		return unix_reply(f, now);
	bool listed = f->family == SOCKET_TCP && f->remote.port;
	return listed && is_ours(t) ? diag_reply(&f->local, &f->remote) : REPLY_NONE;
}
