/* Who opened a connection, from the kernel's lists of sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/holders.h"
#include "process/sockets.h"

static const struct socket_facts *facts_of(const struct socket_table *t, uint64_t inode)
{
	uint32_t i = hashmap_get(&t->at, inode);
	assert_int_not_equal(i, HASHMAP_NONE);
	return &t->facts.data[i];
}

static void table_release(struct socket_table *t)
{
	hashmap_release(&t->at);
	hashmap_release(&t->ends_at);
	vec_free(&t->facts);
}

static void lists_are_read(void **state)
{
	static const char tcp[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
		"   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0"
		"        0 1001 1 0000000000000000 100 0 0 10 0\n"
		"   1: 0100007F:C000 0100007F:1538 01 00000000:00000000 00:00000000 00000000  1000"
		"        0 1002 1 0000000000000000 20 4 30 10 -1\n"
		"   2: damaged\n"
		"   3: 0100007F:C001 0100007F:1538 06 00000000:00000000 00:00000000 00000000     0"
		"        0 0 1 0000000000000000\n";
	static const char tcp6[] =
		"  sl  local_address                         remote_address                        "
		"st\n"
		"   0: 00000000000000000000000001000000:C002 00000000000000000000000001000000:0050 "
		"01 "
		"00000000:00000000 00:00000000 00000000     0        0 1003 1 0\n"
		"   1: 0000000000000000FFFF00000100007F:C003 0000000000000000FFFF00000100007F:0051 "
		"01 "
		"00000000:00000000 00:00000000 00000000     0        0 1004 1 0\n";
	struct socket_table t = {0};
	(void)state;
	sockets_parse_inet(&t, tcp, SOCKET_TCP);
	sockets_parse_inet(&t, tcp6, SOCKET_TCP);
	assert_int_equal(t.facts.len, 4);
	assert_int_equal(facts_of(&t, 1001)->role, SOCKET_LISTENING);
	assert_int_equal(facts_of(&t, 1001)->local.port, 8080);
	assert_int_equal(facts_of(&t, 1002)->role, SOCKET_OPENED);
	assert_string_equal(facts_of(&t, 1002)->peer, "127.0.0.1:5432");
	assert_string_equal(facts_of(&t, 1003)->peer, "[::1]:80");
	assert_string_equal(facts_of(&t, 1004)->peer, "127.0.0.1:81");
	table_release(&t);
}

static void datagrams_and_local_sockets(void **state)
{
	static const char udp[] =
		"   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
		"  100: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0"
		"        0 2001 2 0000000000000000 0\n"
		"  101: 00000000:D001 00000000:0000 07 00000000:00000000 00:00000000 00000000     0"
		"        0 2002 2 0000000000000000 0\n"
		"  102: 0100007F:D002 0100007F:0035 01 00000000:00000000 00:00000000 00000000     0"
		"        0 2003 2 0000000000000000 0\n";
	static const char local[] =
		"Num       RefCount Protocol Flags    Type St Inode Path\n"
		"0000000000000000: 00000002 00000000 00010000 0001 01 3001 /run/a socket\n"
		"0000000000000000: 00000003 00000000 00000000 0001 03 3002 /run/a socket\n"
		"0000000000000000: 00000003 00000000 00000000 0001 03 3003\n"
		"0000000000000000: 00000002 00000000 00000000 0002 01 3004 @log\n"
		"0000000000000000: 00000003 00000000 00000000 0005 03 3005 /run/b\n";
	struct socket_table t = {0};
	(void)state;
	sockets_parse_inet(&t, udp, SOCKET_UDP);
	sockets_parse_unix(&t, local);
	assert_int_equal(facts_of(&t, 2001)->role, SOCKET_LISTENING);
	assert_int_equal(facts_of(&t, 2002)->role, SOCKET_OPENED);
	assert_string_equal(facts_of(&t, 2003)->peer, "127.0.0.1:53");
	assert_int_equal(facts_of(&t, 3001)->role, SOCKET_LISTENING);
	assert_int_equal(facts_of(&t, 3002)->role, SOCKET_ACCEPTED);
	assert_int_equal(facts_of(&t, 3003)->role, SOCKET_OPENED);
	assert_int_equal(facts_of(&t, 3004)->role, SOCKET_LISTENING);
	assert_int_equal(facts_of(&t, 3005)->role, SOCKET_ACCEPTED);
	table_release(&t);
}

/* ---- real ones ---- */

static uint64_t inode_of(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

/* A connection to this process itself. */
struct connection {
	int listener, client, server;
	char address[32];
};

static struct connection connect_both(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	struct connection c = {socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0), 0,
			       ""};
	assert_int_equal(bind(c.listener, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(c.listener, 1), 0);
	getsockname(c.listener, (struct sockaddr *)&at, &size);
	assert_int_equal(connect(c.client, (struct sockaddr *)&at, size), 0);
	c.server = accept(c.listener, NULL, NULL);
	snprintf(c.address, sizeof(c.address), "127.0.0.1:%u", ntohs(at.sin_port));
	return c;
}

static void disconnect(const struct connection *c)
{
	close(c->listener);
	close(c->client);
	close(c->server);
}

static void both_ends_of_a_connection(void **state)
{
	struct sockets s = {0};
	(void)state;
	struct connection c = connect_both();
	assert_int_equal(sockets_find(&s, getpid(), inode_of(c.listener), 0)->role,
			 SOCKET_LISTENING);
	assert_int_equal(sockets_find(&s, getpid(), inode_of(c.server), 0)->role, SOCKET_ACCEPTED);
	const struct socket_facts *opened = sockets_find(&s, getpid(), inode_of(c.client), 0);
	assert_int_equal(opened->role, SOCKET_OPENED);
	assert_string_equal(opened->peer, c.address);
	assert_int_equal(sockets_other_end(&s, getpid(), inode_of(c.client), 0),
			 inode_of(c.server));
	assert_int_equal(sockets_other_end(&s, getpid(), inode_of(c.server), 0),
			 inode_of(c.client));
	assert_int_equal(sockets_other_end(&s, getpid(), inode_of(c.listener), 0), 0);

	/* A newer one is found when the list may be read again. */
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(sockets_find(&s, getpid(), inode_of(pair[0]), 0.01)->role, SOCKET_UNKNOWN);
	assert_int_equal(sockets_find(&s, getpid(), inode_of(pair[0]), 1e4)->role, SOCKET_OPENED);
	assert_int_equal(s.tables.len, 1);
	close(pair[0]);
	close(pair[1]);
	disconnect(&c);
	sockets_release(&s);
}

static void an_answer_is_awaited_until_it_comes(void **state)
{
	struct sockets s = {0};
	char byte = 0;
	(void)state;
	struct connection c = connect_both();
	uint64_t client = inode_of(c.client);
	assert_int_equal(sockets_reply(&s, getpid(), client, 0), REPLY_NONE);
	usleep(20000);
	assert_int_equal(write(c.client, &byte, 1), 1);
	assert_int_equal(sockets_reply(&s, getpid(), client, 0), REPLY_AWAITED);
	usleep(100000); /* the request has been acknowledged, and not answered */
	assert_int_equal(sockets_reply(&s, getpid(), client, 0), REPLY_AWAITED);
	assert_int_equal(read(c.server, &byte, 1), 1);
	assert_int_equal(write(c.server, &byte, 1), 1);
	assert_int_not_equal(sockets_reply(&s, getpid(), client, 0), REPLY_AWAITED);
	disconnect(&c);
	sockets_release(&s);
}

/* Moves one end of a connection into a new process, which must be found as its holder. */
static void assert_child_is_peer(struct sockets *s, int ours, int theirs)
{
	struct holder peer;
	int stop[2];
	assert_int_equal(pipe(stop), 0);
	assert_false(socket_peer(s, getpid(), inode_of(ours), 1e6, &peer));
	int child = fork();
	if (!child) {
		char byte;
		close(stop[1]);
		close(ours);
		_exit((int)read(stop[0], &byte, 1));
	}
	close(theirs);
	assert_true(socket_peer(s, getpid(), inode_of(ours), 1e6, &peer));
	assert_int_equal(peer.pid, child);
	assert_string_equal(peer.name, "test_sockets");
	close(stop[1]);
	waitpid(child, NULL, 0);
	close(stop[0]);
}

static void peers_are_processes(void **state)
{
	struct sockets s = {0};
	int pair[2];
	(void)state;
	struct connection c = connect_both();
	assert_child_is_peer(&s, c.client, c.server);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_child_is_peer(&s, pair[1], pair[0]);
	close(pair[1]);
	close(c.listener);
	close(c.client);
	sockets_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(datagrams_and_local_sockets),
		cmocka_unit_test(both_ends_of_a_connection),
		cmocka_unit_test(an_answer_is_awaited_until_it_comes),
		cmocka_unit_test(peers_are_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
