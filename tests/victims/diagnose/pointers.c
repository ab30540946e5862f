/* Hot behind a function pointer that only the run knows. */
#include "victim.h"

static uint64_t first, hot;

OWN static uint64_t op_heavy(uint64_t x)
{
	for (int i = 0; i < 500000; i++) /* hot: heavy */
		STIR(x);
	return x;
}

OWN static uint64_t op_light(uint64_t x)
{
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

typedef uint64_t operation(uint64_t);
static operation *const operations[] = {op_light, op_heavy, op_light};
static volatile unsigned char code[] = "abcab";

OWN static uint64_t interpret(uint64_t x)
{
	for (int i = 0; code[i]; i++) { /* hot: interpret */
		operation *op = operations[code[i] - 'a'];
		CPU_OF(*(op == op_heavy ? &hot : &(uint64_t){0}), x = op(x) + 1);
	}
	return x;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, interpret(7));
	finish("pointers");
	tell_cpu("op_heavy", hot);
}
