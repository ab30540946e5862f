/* Hot in two children that it forks; it waits for them itself. */
#include "victim.h"

static struct {
	uint64_t first, hot;
	unsigned differing;
} * all;

OWN static uint64_t child_work(uint64_t x)
{
	for (int i = 0; i < 500000; i++) /* hot: child */
		STIR(x);
	return x;
}

OWN static void child(void)
{
	while (running()) { /* hot: units */
		uint64_t x;
		CPU_OF(all->hot, x = child_work(7));
		same(&all->first, x);
	}
	__atomic_fetch_add(&all->differing, differing, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	all = shared_memory(sizeof(*all));
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			child();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	differing = all->differing;
	finish("children");
	tell_cpu("child_work", all->hot);
}
