/* A function that is called now and then, for long, and later millions of times a second. */
#include "victim.h"

static uint64_t first, second;

OWN static uint64_t turn(uint64_t x, int n)
{
	for (int i = 0; i < n; i++) /* hot: turn */
		STIR(x);
	return x;
}

OWN static uint64_t caller(int calls, int n)
{
	uint64_t x = 7;
	for (int i = 0; i < calls; i++) /* hot: caller */
		x = turn(x, n);
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (elapsed() < 1.2 && running()) /* hot: seldom */
		same(&first, caller(10, 200000));
	while (running()) /* hot: often */
		same(&second, caller(300000, 5));
	finish("hotter");
}
