/* What is known of sockets: who opened a connection, and to whom. A server waits for requests on
 * connections that it has accepted, a client for replies on those that it has opened.
 *
 * /proc/PID/net lists the sockets of a network namespace by inode. The side that accepted a
 * connection has the address of a socket that listens. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "process/sock_diag.h"

enum socket_role {
	SOCKET_UNKNOWN,   /* of a family that is not listed, or closed */
	SOCKET_LISTENING, /* waits for connections, or for datagrams from anybody */
	SOCKET_ACCEPTED,
	SOCKET_OPENED, /* it connected itself; or one of a pair */
};

enum socket_family { SOCKET_UNIX, SOCKET_TCP, SOCKET_UDP };

enum { SOCKET_PEER_ROOM = 56 };

struct socket_facts {
	uint8_t role, family;
	uint64_t inode;
	struct socket_end local, remote; /* of TCP and UDP */
	/* Of an opened one: "10.0.0.7:5432", or the path of a Unix socket; "" if it is unknown. Of
	 * an accepted Unix one: the path on which it was. */
	char peer[SOCKET_PEER_ROOM];
	double since; /* s: when it was first seen */
	bool looked;  /* the peer of an opened Unix one was looked for */
};

/* All sockets of one network namespace, when they were last read. */
struct socket_table {
	uint64_t namespace;
	struct hashmap at;      /* inode -> facts */
	struct hashmap ends_at; /* hash of both ends of a TCP connection -> facts */
	VEC(struct socket_facts) facts;
	double read, took; /* s: when, and for how long */
};

struct sockets {
	VEC(struct socket_table) tables;
};

void sockets_release(struct sockets *s);
/* Returns what is known of a socket that a process has, by its inode; never NULL. A table is read
 * again for a socket that is not in it, but for at most 2 % of the time. Valid until the next
 * call. `now` is in seconds. */
const struct socket_facts *sockets_find(struct sockets *s, int pid, uint64_t inode, double now);

/* Returns the inode of the socket at the other end of a connection, if that is on this machine, and
 * is one of TCP in the same network namespace, or a Unix one in ours; otherwise 0. */
uint64_t sockets_other_end(struct sockets *s, int pid, uint64_t inode, double now);
/* Returns whether a process waits for an answer on a connection that it has opened. */
enum reply sockets_reply(struct sockets *s, int pid, uint64_t inode, double now);

/* Adds the sockets that a file of /proc/PID/net lists. `inet` is for tcp, tcp6, udp and udp6. */
void sockets_parse_inet(struct socket_table *t, const char *text, enum socket_family family);
void sockets_parse_unix(struct socket_table *t, const char *text);
