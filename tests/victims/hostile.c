/* Programs that a tool which changes them has every chance to break: SECONDS WAY. Each prints one
 * line that does not depend on how long it ran; tests/live/check-diagnose-harm knows them. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "diagnose/victim.h"

static uint64_t first;

OWN static uint64_t work(uint64_t x)
{
	for (int i = 0; i < 300000; i++)
		STIR(x);
	return x;
}

OWN static void work_on(double share)
{
	while (before(share))
		same(&first, work(7));
}

/* ---- until it is told to ---- */

static volatile sig_atomic_t enough;

static void end(int number)
{
	enough = number;
}

static void work_until_told(void)
{
	signal(SIGTERM, end);
	printf("begun\n");
	fflush(stdout);
	while (!enough)
		same(&first, work(7));
}

/* ---- other programs ---- */

static void execute(char **argv)
{
	char seconds[32];
	work_on(0.4);
	if (differing)
		exit(1);
	snprintf(seconds, sizeof(seconds), "%f", 0.6 * wanted);
	execl(argv[0], argv[0], seconds, "executed", NULL);
	abort();
}

/* The thread that executes is not the first one: it becomes it. */
static void *execute_there(void *argv)
{
	execute(argv);
	return NULL;
}

static void execute_in_thread(char **argv)
{
	pthread_join(thread("other", execute_there, argv), NULL);
}

static void fork_heavily(void)
{
	while (running()) {
		pid_t all[20];
		int status;
		for (volatile int i = 0; i < 20; i++) {
			all[i] = i % 4 ? fork() : vfork();
			if (!all[i] && i % 4)
				same(&first, work(7));
			if (!all[i])
				_exit((int)differing);
		}
		same(&first, work(7));
		for (int i = 0; i < 20; i++)
			if (waitpid(all[i], &status, 0) != all[i] || status)
				differing++;
	}
}

/* Programs that live for a moment, two at a time. */
static void spawn(char **argv)
{
	while (running()) {
		int status, null = open("/dev/null", O_WRONLY);
		for (int i = 0; i < 2; i++)
			if (!fork()) {
				dup2(null, 1);
				execl(argv[0], argv[0], "0.05", "spawned", NULL);
				_exit(1);
			}
		close(null);
		same(&first, work(7));
		while (wait(&status) > 0)
			differing += status != 0;
	}
}

/* Twice, with a session of its own, as daemons do it; what remains has its files closed but stdout,
 * which tells when it ends. */
static void daemonise(void)
{
	work_on(0.3);
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	if (chdir("/"))
		abort();
	close(0);
	close(2);
	work_on(1);
}

/* ---- threads and libraries ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *one_of_many(void *unused)
{
	while (running()) {
		pthread_mutex_lock(&lock);
		uint64_t x = work(7);
		pthread_mutex_unlock(&lock);
		same(&first, x);
	}
	return unused;
}

static void have_many_threads(void)
{
	enum { MANY = 300 };
	static pthread_t all[MANY];
	for (int i = 0; i < MANY; i++)
		all[i] = thread("one of many", one_of_many, NULL);
	for (int i = 0; i < MANY; i++)
		pthread_join(all[i], NULL);
}

/* What is loaded is hot for long enough to be looked at. */
static void load_and_unload(void)
{
	static uint64_t from_library;
	for (double share = 0.25; running(); share += 0.25) {
		void *plugin = dlopen("libhot_library.so", RTLD_NOW);
		uint64_t (*inside)(uint64_t) =
			plugin ? (uint64_t(*)(uint64_t))dlsym(plugin, "library_work") : NULL;
		if (!inside)
			abort();
		while (before(share))
			same(&from_library, inside(7));
		dlclose(plugin);
		same(&first, work(7));
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "";
	begin(argc, argv);
	if (!strcmp(way, "execute"))
		execute(argv);
	else if (!strcmp(way, "execute-in-thread"))
		execute_in_thread(argv);
	else if (!strcmp(way, "fork"))
		fork_heavily();
	else if (!strcmp(way, "spawn"))
		spawn(argv);
	else if (!strcmp(way, "daemon"))
		daemonise();
	else if (!strcmp(way, "until-told"))
		work_until_told();
	else if (!strcmp(way, "many"))
		have_many_threads();
	else if (!strcmp(way, "unload"))
		load_and_unload();
	else
		work_on(1);
	finish("hostile");
	return differing ? 1 : 0;
}
