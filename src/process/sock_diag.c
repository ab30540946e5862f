#include "process/sock_diag.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTED = 1, LISTENING = 10 }; /* states of TCP */

/* An answer about one socket. */
union answer {
	struct nlmsghdr header;
	char room[4096];
};

struct unix_question {
	struct nlmsghdr header;
	struct unix_diag_req socket;
};

struct inet_question {
	struct nlmsghdr header;
	struct inet_diag_req_v2 socket;
};

static int open_diagnostics(void)
{
	return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

/* ---- lists ---- */

/* Reads an address, of IPv4 as mapped into IPv6. */
static void read_end(uint8_t family, const __be32 address[4], __be16 port, struct socket_end *out)
{
	bool v4 = family == AF_INET;
	uint8_t *at = (uint8_t *)&out->address;
	*out = (struct socket_end){.port = ntohs(port)};
	if (v4)
		memset(at + 10, 0xff, 2);
	memcpy(at + (v4 ? 12 : 0), address, v4 ? 4 : 16);
}

struct list_request {
	void (*each)(void *ctx, const struct listed_socket *s);
	void *ctx;
	bool over, failed;
};

static void take_message(struct list_request *l, const struct nlmsghdr *m)
{
	struct inet_diag_msg i;
	l->failed |= m->nlmsg_type == NLMSG_ERROR;
	l->over |= m->nlmsg_type == NLMSG_DONE || l->failed;
	if (m->nlmsg_type != SOCK_DIAG_BY_FAMILY || m->nlmsg_len < NLMSG_LENGTH(sizeof(i)))
		return;
	memcpy(&i, (const char *)m + NLMSG_HDRLEN, sizeof(i));
	struct listed_socket s = {.inode = i.idiag_inode, .state = i.idiag_state};
	read_end(i.idiag_family, i.id.idiag_src, i.id.idiag_sport, &s.local);
	read_end(i.idiag_family, i.id.idiag_dst, i.id.idiag_dport, &s.remote);
	l->each(l->ctx, &s);
}

static void take_all(int fd, struct list_request *l)
{
	enum { ROOM = 32768 };
	struct nlmsghdr *buffer = malloc(ROOM);
	while (buffer && !l->over) {
		ssize_t got = recv(fd, buffer, ROOM, 0);
		unsigned n = got > 0 ? (unsigned)got : 0;
		l->failed |= !n;
		l->over |= !n;
		for (struct nlmsghdr *m = buffer; NLMSG_OK(m, n); m = NLMSG_NEXT(m, n))
			take_message(l, m);
	}
	free(buffer);
}

static bool list_family(uint8_t family, struct list_request *l)
{
	struct inet_question question = {
		.header = {.nlmsg_len = sizeof(question),
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.socket = {.sdiag_family = family,
			   .sdiag_protocol = IPPROTO_TCP,
			   .idiag_states = 1 << CONNECTED | 1 << LISTENING}};
	int fd = open_diagnostics();
	l->over = false;
	l->failed = fd < 0 || send(fd, &question, sizeof(question), 0) != sizeof(question);
	if (!l->failed)
		take_all(fd, l);
	if (fd >= 0)
		close(fd);
	return !l->failed;
}

bool diag_list_tcp(void (*each)(void *ctx, const struct listed_socket *s), void *ctx)
{
	struct list_request l = {.each = each, .ctx = ctx};
	return list_family(AF_INET, &l) && list_family(AF_INET6, &l);
}

/* ---- one socket ---- */

/* Asks about one socket. Returns false if the kernel does not know it. */
static bool ask(struct nlmsghdr *question, uint32_t size, union answer *out)
{
	int fd = open_diagnostics();
	if (fd < 0)
		return false;
	*question = (struct nlmsghdr){
		.nlmsg_len = size, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST};
	ssize_t n = send(fd, question, size, 0) == (ssize_t)size
			    ? recv(fd, out, sizeof(*out), MSG_DONTWAIT)
			    : -1;
	close(fd);
	return n > 0 && NLMSG_OK(&out->header, (size_t)n) &&
	       out->header.nlmsg_type == SOCK_DIAG_BY_FAMILY;
}

/* Copies an attribute that follows `fixed` bytes of an answer, as much of it as there is. */
static bool find_attribute(const union answer *a, size_t fixed, int type, void *out, size_t size)
{
	size_t at = NLMSG_LENGTH(NLMSG_ALIGN(fixed));
	while (at + sizeof(struct rtattr) <= a->header.nlmsg_len) {
		struct rtattr r;
		memcpy(&r, a->room + at, sizeof(r));
		if (r.rta_len < sizeof(r) || at + r.rta_len > a->header.nlmsg_len)
			return false;
		size_t length = r.rta_len - sizeof(r);
		if (r.rta_type == type) {
			memcpy(out, a->room + at + sizeof(r), length < size ? length : size);
			return true;
		}
		at += RTA_ALIGN(r.rta_len);
	}
	return false;
}

uint64_t diag_unix_peer(uint64_t inode)
{
	struct unix_question q = {.socket = {.sdiag_family = AF_UNIX,
					     .udiag_states = UINT32_MAX,
					     .udiag_ino = (uint32_t)inode,
					     .udiag_show = UDIAG_SHOW_PEER,
					     .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
	union answer a;
	uint32_t peer = 0;
	if (ask(&q.header, sizeof(q), &a))
		find_attribute(&a, sizeof(struct unix_diag_msg), UNIX_DIAG_PEER, &peer,
			       sizeof(peer));
	return peer;
}

/* Sets an address as the kernel looks for it, by its family. */
static void set_address(__be32 out[4], const struct in6_addr *address)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(address);
	memcpy(out, (const uint8_t *)address + (v4 ? 12 : 0), v4 ? 4 : 16);
}

/* Times are ms, and short answers come within the one in which they were asked for. A request that
 * was sent right after an answer may be told by its acknowledgement: that comes with the answer, or
 * later than any data. */
static enum reply reply_of(const struct tcp_info *i)
{
	if (!i->tcpi_data_segs_out)
		return REPLY_NONE;
	if (!i->tcpi_data_segs_in || i->tcpi_unacked ||
	    i->tcpi_last_data_sent < i->tcpi_last_data_recv)
		return REPLY_AWAITED;
	if (i->tcpi_last_data_sent > i->tcpi_last_data_recv)
		return REPLY_NONE;
	return i->tcpi_last_ack_recv < i->tcpi_last_data_recv ? REPLY_AWAITED : REPLY_PERHAPS;
}

enum reply diag_reply(const struct socket_end *local, const struct socket_end *remote)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&local->address);
	struct inet_question q = {
		.socket = {.sdiag_family = v4 ? AF_INET : AF_INET6,
			   .sdiag_protocol = IPPROTO_TCP,
			   .idiag_ext = 1 << (INET_DIAG_INFO - 1),
			   .idiag_states = UINT32_MAX,
			   .id = {.idiag_sport = htons(local->port),
				  .idiag_dport = htons(remote->port),
				  .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
	union answer a;
	struct tcp_info info = {0};
	set_address(q.socket.id.idiag_src, &local->address);
	set_address(q.socket.id.idiag_dst, &remote->address);
	if (!ask(&q.header, sizeof(q), &a) ||
	    !find_attribute(&a, sizeof(struct inet_diag_msg), INET_DIAG_INFO, &info, sizeof(info)))
		return REPLY_NONE;
	return reply_of(&info);
}
