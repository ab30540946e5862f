/* Two hot loops in main() itself: 70 and 25 per cent. */
#include "victim.h"

static uint64_t first, seven, two;

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) { /* hot: main */
		uint64_t x = 7, a = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < 700000; i++) /* hot: seven */
			STIR(x);
		uint64_t b = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < 270000; i++) /* hot: two */
			STIR(x);
		seven += b - a;
		two += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - b;
		same(&first, x);
	}
	finish("in_main");
	tell_cpu("seven", seven);
	tell_cpu("two", two);
}
