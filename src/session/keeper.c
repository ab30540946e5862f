#include "session/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/vec.h"

/* ns before the first keeper, and between keepers. Short runs need none. */
static const uint64_t first_ns = 1000000000, period_ns = 10000000000;

/* The keeper gets the signals that the terminal sends to Sonde, and must survive them. It must not
 * hold Sonde's pipes open either: their readers would wait for it. */
static void ignore_terminal(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
	}
}

__attribute__((noreturn)) static void keep(int tie, void (*rescue)(void *ctx), void *ctx)
{
	ssize_t n;
	char byte;
	ignore_terminal();
	do
		n = read(tie, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (!n)
		rescue(ctx);
	for (;;) /* without Sonde's exit handlers */
		syscall(SYS_exit_group, 0);
}

void keeper_dismiss(struct keeper *k)
{
	if (!k->pid)
		return;
	ssize_t written = write(k->tie, "", 1);
	(void)written; /* it may have been killed itself */
	close(k->tie);
	while (waitpid(k->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	k->pid = 0;
}

void keeper_tick(struct keeper *k, void (*rescue)(void *ctx), void *ctx)
{
	int ends[2];
	uint64_t now = now_ns();
	if (!k->next)
		k->next = now + first_ns;
	if (now < k->next)
		return;
	k->next = now + period_ns;
	keeper_dismiss(k);
	if (fault("keeper-pipe", EMFILE) || pipe2(ends, O_CLOEXEC))
		return;
	k->pid = fault("keeper-fork", EAGAIN) ? -1 : fork();
	if (!k->pid) {
		close(ends[1]);
		keep(ends[0], rescue, ctx);
	}
	close(ends[0]);
	k->tie = ends[1];
	if (k->pid > 0)
		return;
	k->pid = 0;
	close(k->tie);
}
