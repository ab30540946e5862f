/* Three processes, connected over the loopback interface: the first one asks the second, which waits with epoll for requests and
 * for the answers of the third, which computes. */
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "victim.h"

static uint64_t *computed;

OWN static uint64_t answer(uint64_t x)
{
	for (int i = 0; i < 8000000; i++) /* hot: answer */
		STIR(x);
	return x;
}

struct port {
	int listener;
	struct sockaddr_in address;
};

static struct port open_port(void)
{
	struct port p = {.address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(p.address);
	p.listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(p.listener, (struct sockaddr *)&p.address, size) || listen(p.listener, 1) ||
	    getsockname(p.listener, (struct sockaddr *)&p.address, &size))
		abort();
	return p;
}

static int connect_to(const struct port *p)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (const struct sockaddr *)&p->address, sizeof(p->address)))
		abort();
	return fd;
}

static bool receive(int fd, uint64_t *value)
{
	return read(fd, value, sizeof(*value)) == sizeof(*value);
}

static bool send_on(int fd, uint64_t value)
{
	return write(fd, &value, sizeof(value)) == sizeof(value);
}

OWN static void ask(int fd)
{
	uint64_t got, first = 0;
	while (running() && send_on(fd, 7) && receive(fd, &got))
		same(&first, got);
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		abort();
}

OWN static void pass_on(int client, int server)
{
	int epoll = epoll_create1(0);
	struct epoll_event event;
	uint64_t value;
	watch(epoll, client);
	watch(epoll, server);
	while (epoll_wait(epoll, &event, 1, -1) == 1 && receive(event.data.fd, &value))
		send_on(event.data.fd == client ? server : client, value);
}

OWN static void serve(int fd)
{
	uint64_t value;
	while (receive(fd, &value)) { /* hot: serve */
		CPU_OF(*computed, value = answer(value));
		send_on(fd, value);
	}
}

/* Starts a process of this name; returns true in it. */
static bool is_started(const char *name)
{
	if (fork())
		return false;
	prctl(PR_SET_NAME, name);
	return true;
}

int main(int argc, char **argv)
{
	struct port middle = open_port(), back = open_port();
	computed = shared_memory(sizeof(*computed));
	begin(argc, argv);
	if (is_started("back")) {
		serve(accept(back.listener, NULL, NULL));
		_exit(0);
	}
	if (is_started("middle")) {
		pass_on(accept(middle.listener, NULL, NULL), connect_to(&back));
		_exit(0);
	}
	if (is_started("front")) {
		ask(connect_to(&middle));
		_exit(differing ? 1 : 0);
	}
	for (int status; wait(&status) > 0;)
		differing += status != 0;
	finish("chain");
	tell_cpu("answer", *computed);
}
