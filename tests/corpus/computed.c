/* Computed gotos: an interpreter with a static table of label addresses, one with label differences, and one
 * whose dispatch is shared. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

enum { ADD, SUB, MUL, XOR, LOOP_BACK, SWAP, HALT };

static unsigned regs[4];

NOINLINE unsigned threaded(const unsigned char *code, unsigned n)
{
	static const void *const labels[] = {&&add, &&sub, &&mul, &&xor, &&back, &&swap, &&halt};
	const unsigned char *pc = code;
	unsigned acc = 1, count = n;

#define NEXT goto *labels[*pc++]
	NEXT;
add:
	acc += regs[0];
	LOOP(threaded, 1, multi);
	NEXT;
sub:
	acc -= regs[1] * 3;
	NEXT;
mul:
	acc *= 7;
	NEXT;
xor:
	acc ^= acc >> 7;
	NEXT;
back:
	if (count-- > 0)
		pc = code;
	NEXT;
swap:
	regs[0] ^= acc;
	regs[1] += acc & 7;
	NEXT; /*END threaded*/
halt:
	return acc;
}

NOINLINE unsigned differences(const unsigned char *code, unsigned n)
{
	static const int offsets[] = {&&add - &&add,   &&sub - &&add,  &&mul - &&add, &&xor - &&add,
				      &&back - &&add, &&swap - &&add, &&halt - &&add};
	const unsigned char *pc = code;
	unsigned acc = 3, count = n;

	while (1) { LOOP(differences, 1, multi);
		goto *(&&add + offsets[*pc++]);
add:
		acc += regs[2];
		continue;
sub:
		acc -= regs[1] * 5;
		continue;
mul:
		acc *= 11;
		continue;
xor:
		acc ^= acc << 3;
		continue;
back:
		if (count-- > 0)
			pc = code;
		continue;
swap:
		regs[2] ^= acc;
		continue;
halt:
		return acc;
	}
}

NOINLINE unsigned local_table(unsigned n)
{
	const void *jump[2];
	unsigned sum = n;

	jump[0] = &&even;
	jump[1] = &&odd;
	while (n > 1) { LOOP(local_table, 1, multi, maybe);
		goto *jump[n & 1];
even:
		n /= 2;
		sum += n;
		continue;
odd:
		n = 3 * n + 1;
		sum ^= n;
	}
	return sum;
}

int main(int argc, char **argv)
{
	static const unsigned char code[] = {ADD, MUL, XOR, SWAP, SUB, XOR, ADD, LOOP_BACK, HALT};
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 27;

	regs[0] = n;
	regs[1] = n * 3;
	printf("%u\n", threaded(code, n) + differences(code, n) + local_table(n));
	return 0;
}
