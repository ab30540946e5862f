/* What a call waits for, by its descriptors: those of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diagnose/awaited.h"

/* A server with a client, and other things to wait for. */
struct fixture {
	struct sockets sockets;
	int listener, server, client;
	int pair[2], pipe[2], terminal[2];
	int event, timer, file;
	int child;
	char address[32];
	double now;
};

static void connect_all(struct fixture *f)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	f->listener = socket(AF_INET, SOCK_STREAM, 0);
	f->client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(f->listener, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(f->listener, 1), 0);
	getsockname(f->listener, (struct sockaddr *)&at, &size);
	assert_int_equal(connect(f->client, (struct sockaddr *)&at, size), 0);
	f->server = accept(f->listener, NULL, NULL);
	snprintf(f->address, sizeof(f->address), "127.0.0.1:%u", ntohs(at.sin_port));
}

/* A pipe from another process: it has the end that is written to, and we have not. */
static void start_child(struct fixture *f)
{
	assert_int_equal(pipe(f->pipe), 0);
	f->child = fork();
	assert_true(f->child >= 0);
	if (!f->child) {
		close(f->pipe[0]);
		pause();
		_exit(0);
	}
	close(f->pipe[1]);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	connect_all(f);
	start_child(f);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, f->pair), 0);
	assert_int_equal(openpty(&f->terminal[0], &f->terminal[1], NULL, NULL, NULL), 0);
	f->event = eventfd(0, 0);
	f->timer = timerfd_create(CLOCK_MONOTONIC, 0);
	f->file = open("/proc/self/exe", O_RDONLY);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	const int all[] = {f->listener, f->server,  f->client,      f->pair[0],
			   f->pair[1],  f->pipe[0], f->terminal[0], f->terminal[1],
			   f->event,    f->timer,   f->file};
	kill(f->child, SIGKILL);
	waitpid(f->child, NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		close(all[i]);
	sockets_release(&f->sockets);
	free(f);
	return 0;
}

static struct awaited in_call(struct fixture *f, long number, uint64_t a, uint64_t b, uint64_t c)
{
	const struct call_made call = {.number = (int)number, .arguments = {a, b, c}};
	return awaited_in(&f->sockets, getpid(), &call, f->now);
}

/* What poll, select and epoll wait for on these descriptors, which must be the same. */
static struct awaited of_set(struct fixture *f, const int *fds, uint32_t n)
{
	struct pollfd polled[8] = {{0}};
	fd_set set;
	FD_ZERO(&set);
	int epoll = epoll_create1(0);
	for (uint32_t i = 0; i < n; i++) {
		struct epoll_event e = {.events = EPOLLIN};
		polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
		FD_SET(fds[i], &set);
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &e);
	}
	struct awaited by_poll = in_call(f, SYS_ppoll, (uintptr_t)polled, n, 0);
	struct awaited by_select = in_call(f, SYS_pselect6, FD_SETSIZE, n ? (uintptr_t)&set : 0, 0);
	struct awaited by_epoll = in_call(f, SYS_epoll_pwait, (uint64_t)epoll, 0, 0);
	close(epoll);
	assert_int_equal(by_poll.kind, by_select.kind);
	assert_int_equal(by_poll.kind, by_epoll.kind);
	assert_int_equal(by_poll.fd, by_select.fd);
	assert_int_equal(by_poll.fd, by_epoll.fd);
	assert_int_equal(by_poll.connections, by_epoll.connections);
	assert_string_equal(by_poll.peer, by_epoll.peer);
	return by_poll;
}

#define OF_SET(f, ...)                                                                             \
	of_set(f, (const int[]){__VA_ARGS__}, ARRAY_SIZE(((const int[]){__VA_ARGS__})))

static void a_server_waits_for_requests(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(OF_SET(f, f->listener).kind, OBJECT_REQUESTS);
	struct awaited a = OF_SET(f, f->listener, f->server, f->timer, f->event, f->pipe[0]);
	assert_int_equal(a.kind, OBJECT_REQUESTS);
	assert_int_equal(a.connections, 1);
	assert_int_equal(OF_SET(f, f->server, f->client).kind, OBJECT_REQUESTS);
	assert_true(OF_SET(f, f->server, f->client).varies);
	assert_int_equal(in_call(f, SYS_accept4, (uint64_t)f->listener, 0, 0).kind,
			 OBJECT_REQUESTS);
	assert_int_equal(in_call(f, SYS_read, (uint64_t)f->server, 0, 1).kind, OBJECT_REQUESTS);
	assert_int_equal(in_call(f, SYS_recvmsg, (uint64_t)f->server, 0, 0).kind, OBJECT_REQUESTS);
	/* To send an answer is another matter. */
	a = in_call(f, SYS_sendto, (uint64_t)f->server, 0, 1);
	assert_int_equal(a.kind, OBJECT_SOCKET);
	assert_int_equal(a.fd, f->server);
}

static void a_server_waits_for_the_answer_that_it_needs(void **state)
{
	struct fixture *f = *state;
	char byte = 0;
	usleep(20000);
	assert_int_equal(write(f->client, &byte, 1), 1);
	struct awaited a = OF_SET(f, f->listener, f->server, f->client, f->pair[0]);
	assert_int_equal(a.kind, OBJECT_ANSWER);
	assert_string_equal(a.peer, f->address);
	a = OF_SET(f, f->client);
	assert_int_equal(a.kind, OBJECT_ANSWER);
	assert_int_equal(read(f->server, &byte, 1), 1);
	assert_int_equal(write(f->server, &byte, 1), 1);
	a = OF_SET(f, f->listener, f->server, f->client, f->pair[0]);
	assert_int_equal(a.kind, OBJECT_REQUESTS);
	assert_int_equal(read(f->client, &byte, 1), 1);
}

/* Nothing tells that an answer is owed on a Unix socket. A server connects for what it asks; of who
 * is no server, a connection to wait at with others may be anything. */
static void a_server_asks_where_it_has_connected_lately(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "\0sonde-test-awaited"};
	socklen_t size =
		offsetof(struct sockaddr_un, sun_path) + sizeof("\0sonde-test-awaited") - 1;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(OF_SET(f, f->listener).kind, OBJECT_REQUESTS);
	int asking = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(asking, (struct sockaddr *)&at, size), 0);
	int asked = accept(listener, NULL, NULL);
	f->now = 1;
	struct awaited a = OF_SET(f, f->listener, f->server, asking);
	assert_int_equal(a.kind, OBJECT_ANSWER);
	assert_string_equal(a.peer, "@sonde-test-awaited");
	assert_int_equal(OF_SET(f, asking, f->event).kind, OBJECT_CONNECTION);
	assert_int_equal(in_call(f, SYS_read, (uint64_t)asking, 0, 1).kind, OBJECT_ANSWER);
	f->now = 60;
	assert_int_equal(OF_SET(f, f->listener, f->server, asking).kind, OBJECT_REQUESTS);
	assert_int_equal(in_call(f, SYS_read, (uint64_t)asking, 0, 1).kind, OBJECT_ANSWER);
	close(listener);
	close(asking);
	close(asked);
}

static void a_client_waits_for_its_peer(void **state)
{
	struct fixture *f = *state;
	struct awaited a = OF_SET(f, f->client, f->event);
	assert_int_equal(a.kind, OBJECT_CONNECTION);
	assert_int_equal(a.fd, f->client);
	assert_string_equal(a.peer, f->address);
	a = in_call(f, SYS_recvfrom, (uint64_t)f->client, 0, 1);
	assert_int_equal(a.kind, OBJECT_CONNECTION);
	assert_string_equal(a.peer, f->address);
	assert_int_equal(in_call(f, SYS_write, (uint64_t)f->client, 0, 1).kind, OBJECT_CONNECTION);
	/* The peer of a pair has no address; it is this process itself. */
	assert_int_equal(OF_SET(f, f->pair[0]).kind, OBJECT_EVENT);
	assert_int_equal(OF_SET(f, f->pair[0]).fd, f->pair[0]);
	assert_int_equal(OF_SET(f, f->client, f->pair[0]).kind, OBJECT_CONNECTION);
	assert_string_equal(OF_SET(f, f->client, f->pair[0]).peer, "");
}

static void others_wake_a_thread(void **state)
{
	struct fixture *f = *state;
	int own[2];
	assert_int_equal(pipe(own), 0);
	assert_int_equal(OF_SET(f, f->event, f->timer).kind, OBJECT_EVENT);
	assert_int_equal(OF_SET(f, f->event, f->timer).fd, f->event);
	assert_int_equal(OF_SET(f, own[0]).kind, OBJECT_EVENT);
	assert_int_equal(OF_SET(f, f->pipe[0]).kind, OBJECT_PIPE);
	assert_int_equal(OF_SET(f, f->pipe[0]).fd, f->pipe[0]);
	assert_int_equal(OF_SET(f, f->timer).kind, OBJECT_SLEEP);
	assert_int_equal(of_set(f, NULL, 0).kind, OBJECT_SLEEP);
	assert_int_equal(in_call(f, SYS_read, (uint64_t)f->event, 0, 8).kind, OBJECT_EVENT);
	close(own[0]);
	close(own[1]);
}

static void a_terminal_is_for_people(void **state)
{
	struct fixture *f = *state;
	uint64_t fd = (uint64_t)f->terminal[1];
	assert_int_equal(OF_SET(f, f->terminal[1], f->event).kind, OBJECT_INPUT);
	assert_int_equal(in_call(f, SYS_read, fd, 0, 1).kind, OBJECT_INPUT);
	assert_int_equal(in_call(f, SYS_write, fd, 0, 1).kind, OBJECT_KINDS);
	assert_int_equal(OF_SET(f, f->terminal[1], f->client).kind, OBJECT_CONNECTION);
}

/* An event loop in another one. */
static void nested_loops(void **state)
{
	struct fixture *f = *state;
	struct epoll_event e = {.events = EPOLLIN};
	int inner = epoll_create1(0);
	epoll_ctl(inner, EPOLL_CTL_ADD, f->server, &e);
	assert_int_equal(OF_SET(f, inner, f->timer).kind, OBJECT_REQUESTS);
	close(inner);
}

static void what_descriptors_do_not_show(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(in_call(f, SYS_read, (uint64_t)f->file, 0, 1).kind, OBJECT_KINDS);
	assert_int_equal(in_call(f, SYS_read, (uint64_t)f->pipe[0], 0, 1).kind, OBJECT_KINDS);
	assert_int_equal(in_call(f, SYS_read, 9999, 0, 1).kind, OBJECT_KINDS);
	assert_int_equal(in_call(f, SYS_read, UINT64_MAX, 0, 1).kind, OBJECT_KINDS);
	assert_int_equal(in_call(f, SYS_fsync, (uint64_t)f->file, 0, 0).kind, OBJECT_KINDS);
	/* Arguments that lead nowhere. */
	assert_int_equal(in_call(f, SYS_ppoll, 16, 3, 0).kind, OBJECT_KINDS);
	assert_int_equal(in_call(f, SYS_ppoll, 16, UINT64_MAX, 0).kind, OBJECT_KINDS);
	assert_int_equal(in_call(f, SYS_pselect6, UINT64_MAX, 16, 0).kind, OBJECT_KINDS);
	assert_int_equal(in_call(f, SYS_epoll_pwait, UINT64_MAX, 0, 0).kind, OBJECT_KINDS);
	/* A ring of a process with connections. */
	assert_int_equal(in_call(f, SYS_io_uring_enter, 5, 0, 1).kind, OBJECT_REQUESTS);
}

int main(void)
{
#define AWAITED_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		AWAITED_TEST(a_server_waits_for_requests),
		AWAITED_TEST(a_server_waits_for_the_answer_that_it_needs),
		AWAITED_TEST(a_server_asks_where_it_has_connected_lately),
		AWAITED_TEST(a_client_waits_for_its_peer),
		AWAITED_TEST(others_wake_a_thread),
		AWAITED_TEST(a_terminal_is_for_people),
		AWAITED_TEST(nested_loops),
		AWAITED_TEST(what_descriptors_do_not_show),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
