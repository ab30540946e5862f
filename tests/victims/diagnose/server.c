/* A server that waits for requests with epoll, and computes for each. They come from another process, which never waits for an
 * answer, and keep it busy for less than half of the time. */
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "victim.h"

static uint64_t first, computed, awaited;

OWN static uint64_t answer(uint64_t x)
{
	for (int i = 0; i < 1500000; i++) /* hot: answer */
		STIR(x);
	return x;
}

/* Returns false if the client has gone. */
OWN static bool serve(int epoll)
{
	struct epoll_event event;
	char request;
	int n;
	TIME_OF(awaited, n = epoll_wait(epoll, &event, 1, -1));
	if (n != 1 || read(event.data.fd, &request, 1) != 1)
		return false;
	CPU_OF(computed, same(&first, answer(7)));
	return true;
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		abort();
}

static void ask(struct sockaddr_in at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
		abort();
	while (running() && write(fd, "", 1) == 1)
		usleep(10000);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), epoll = epoll_create1(0);
	begin(argc, argv);
	if (bind(listener, (struct sockaddr *)&at, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &size))
		abort();
	if (!fork())
		ask(at);
	watch(epoll, listener);
	watch(epoll, accept(listener, NULL, NULL));
	while (serve(epoll)) /* hot: main */
		;
	wait(NULL);
	finish("server");
	double idle = (double)awaited / 1e9;
	tell("idle", "requests", awaited, elapsed());
	tell_cpu_of("answer", computed, (double)nanoseconds(CLOCK_PROCESS_CPUTIME_ID) / 1e9, elapsed() - idle);
}
