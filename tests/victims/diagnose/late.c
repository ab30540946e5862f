/* Hot in a library that it loads after a second. */
#include <dlfcn.h>

#include "victim.h"

static uint64_t first, again, early, late;

OWN static uint64_t warm_up(uint64_t x)
{
	for (int i = 0; i < 400000; i++) /* hot: warm_up */
		STIR(x);
	return x;
}

OWN static uint64_t (*load(void))(uint64_t)
{
	void *plugin = dlopen("libhot_library.so", RTLD_NOW);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return (uint64_t(*)(uint64_t))dlsym(plugin, "library_work");
}

OWN static void use(uint64_t (*work)(uint64_t))
{
	while (running()) { /* hot: use */
		uint64_t x;
		CPU_OF(late, x = work(7));
		same(&again, x);
	}
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (elapsed() < 1 && running()) { /* hot: main */
		uint64_t x;
		CPU_OF(early, x = warm_up(7));
		same(&first, x);
	}
	use(load());
	finish("late");
	tell_cpu("warm_up", early);
	tell_cpu("inside", late);
}
