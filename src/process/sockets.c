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

void sockets_release(struct sockets *s)
{
	vec_each (t, &s->tables) {
		hashmap_release(&t->at);
		vec_free(&t->facts);
	}
	vec_free(&s->tables);
}

/* ---- reading tables ---- */

static void add(struct socket_table *t, uint64_t inode, const struct socket_facts *f)
{
	uint32_t next = t->facts.len;
	if (inode && hashmap_add(&t->at, inode, next) == next)
		vec_push(&t->facts, *f);
}

/* "0100007F:1F90": an address as the kernel's 32-bit words in hexadecimal, and a port. */
static bool parse_address(const char *s, struct in6_addr *out, bool *v6, unsigned *port)
{
	size_t digits = strcspn(s, ":");
	*v6 = digits == 32;
	if ((digits != 8 && digits != 32) || s[digits] != ':')
		return false;
	for (size_t i = 0; i < digits / 8; i++) {
		char word[9] = "";
		memcpy(word, s + 8 * i, 8);
		uint32_t value = (uint32_t)strtoul(word, NULL, 16);
		memcpy((uint8_t *)out + 4 * i, &value, sizeof(value));
	}
	*port = (unsigned)strtoul(s + digits + 1, NULL, 16);
	return true;
}

static void name_peer(struct socket_facts *f, const struct in6_addr *address, bool v6,
		      unsigned port)
{
	char host[INET6_ADDRSTRLEN] = "";
	const uint8_t *bytes = (const uint8_t *)address;
	if (v6 && IN6_IS_ADDR_V4MAPPED(address)) {
		bytes += 12;
		v6 = false;
	}
	inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, host, sizeof(host));
	snprintf(f->peer, sizeof(f->peer), v6 ? "[%s]:%u" : "%s:%u", host, port);
}

/* A datagram socket without a peer is a server's if its port was chosen, not given. */
static bool is_chosen_port(unsigned port)
{
	enum { FIRST_GIVEN = 32768 }; /* net.ipv4.ip_local_port_range, unless it was changed */
	return port && port < FIRST_GIVEN;
}

static uint8_t role_of(enum inet_protocol protocol, unsigned state, unsigned local, unsigned remote)
{
	enum { LISTEN = 10 };
	if (protocol == INET_TCP)
		return state == LISTEN ? SOCKET_LISTENING : SOCKET_OPENED;
	return !remote && is_chosen_port(local) ? SOCKET_LISTENING : SOCKET_OPENED;
}

/* "  sl: LOCAL REMOTE STATE QUEUES TIMER RETRANSMITTED UID TIMEOUT INODE ..." */
static void parse_inet_line(struct socket_table *t, const char *line, enum inet_protocol protocol)
{
	char local[64], remote[64];
	struct in6_addr at = {0}, to = {0};
	unsigned state, port, peer_port;
	unsigned long inode;
	bool v6;
	if (sscanf(line, "%*[^:]: %63s %63s %x %*s %*s %*s %*u %*u %lu", local, remote, &state,
		   &inode) != 4 ||
	    !parse_address(local, &at, &v6, &port) || !parse_address(remote, &to, &v6, &peer_port))
		return;
	struct socket_facts f = {.role = role_of(protocol, state, port, peer_port),
				 .port = (uint16_t)port};
	if (f.role == SOCKET_OPENED && peer_port)
		name_peer(&f, &to, v6, peer_port);
	add(t, inode, &f);
}

/* Calls parse() for each line but the first, which has the titles. */
#define each_row(line, text)                                                                       \
	for (const char *line = strchr(text, '\n'); line && *++line; line = strchr(line, '\n'))

void sockets_parse_inet(struct socket_table *t, const char *text, enum inet_protocol protocol)
{
	each_row(line, text) parse_inet_line(t, line, protocol);
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
		listens[f->port] |= f->role == SOCKET_LISTENING;
	vec_each (f, &t->facts)
		if (f->role == SOCKET_OPENED && f->port && listens[f->port])
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

static void read_table(struct socket_table *t, int pid)
{
	struct text list = TEXT_INIT;
	hashmap_clear(&t->at);
	vec_clear(&t->facts);
	if (read_list(pid, "tcp", &list))
		sockets_parse_inet(t, list.data, INET_TCP);
	if (read_list(pid, "tcp6", &list))
		sockets_parse_inet(t, list.data, INET_TCP);
	find_accepted(t);
	if (read_list(pid, "udp", &list))
		sockets_parse_inet(t, list.data, INET_UDP);
	if (read_list(pid, "udp6", &list))
		sockets_parse_inet(t, list.data, INET_UDP);
	if (read_list(pid, "unix", &list))
		sockets_parse_unix(t, list.data);
	text_release(&list);
}

/* ---- looking up ---- */

static uint64_t namespace_of(int pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static struct socket_table *table_of(struct sockets *s, uint64_t namespace)
{
	vec_each (t, &s->tables)
		if (t->namespace == namespace)
			return t;
	vec_push(&s->tables, (struct socket_table){.namespace = namespace, .read = -1e9});
	return &vec_last(&s->tables);
}

/* A server may have a hundred thousand connections, and new ones all the time. */
static bool may_read_again(const struct socket_table *t, double now)
{
	static const double least = 0.25; /* s */
	enum { PAUSE = 50 };              /* for each second of reading */
	double pause = PAUSE * t->took;
	return now - t->read >= (pause > least ? pause : least);
}

const struct socket_facts *sockets_find(struct sockets *s, int pid, uint64_t inode, double now)
{
	struct socket_table *t = table_of(s, namespace_of(pid));
	uint32_t at = hashmap_get(&t->at, inode);
	if (at == HASHMAP_NONE && may_read_again(t, now)) {
		double begin = now_seconds();
		read_table(t, pid);
		t->took = now_seconds() - begin;
		t->read = now;
		at = hashmap_get(&t->at, inode);
	}
	return at == HASHMAP_NONE ? &unknown : &t->facts.data[at];
}
