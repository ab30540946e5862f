/* Forks one child after another, each of which does little, until its time is over. */
#include "victim.h"

static uint64_t *first;

OWN static uint64_t little(uint64_t x)
{
	for (int i = 0; i < 50000; i++)
		STIR(x);
	return x;
}

OWN static void one_child(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		same(first, little(7));
		_exit(differing ? 1 : 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		differing++;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	first = shared_memory(sizeof(*first));
	unsigned children = 0;
	for (; running(); children++)
		one_child();
	finish("forks");
	fprintf(truth_file, "made children %u\n", children);
}
