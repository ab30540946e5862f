/* Walks short chains all the time: a loop that is entered millions of times a second and has one
 * iteration, or two. */
#include "victim.h"

enum { CHAINS = 512 };

struct link {
	const struct link *next;
	uint64_t value;
};

static struct link links[CHAINS][2];
static uint64_t first, hot;

OWN static uint64_t walk(const struct link *l, uint64_t x)
{
	for (; l; l = l->next) { /* hot: walk */
		STIR(x);
		x += l->value;
		STIR(x);
	}
	return x;
}

OWN static uint64_t walk_all(uint64_t x)
{
	for (int i = 0; i < 100000; i++) /* hot: walk_all */
		x = walk(links[i % CHAINS], x);
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	for (int i = 0; i < CHAINS; i++)
		links[i][0] = (struct link){i % 2 ? &links[i][1] : NULL, (uint64_t)i};
	while (running()) { /* hot: main */
		uint64_t x;
		CPU_OF(hot, x = walk_all(7));
		same(&first, x);
	}
	finish("short_trips");
	tell_cpu("walk_all", hot);
}
