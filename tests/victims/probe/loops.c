/* Loops of all shapes that a compiler makes. Those with known counts end in their condition, so
 * that the header is the body; their names say at which depth they are. */
#include "victim.h"

KEEP u64 loop_plain(u64 n)
{
	u64 x = n;
	ENTERED("loop_plain@1");
	do {
		ITERATED("loop_plain@1");
		x = mix(x);
		BARRIER();
	} while (--n);
	return x;
}

KEEP u64 loop_nest(u64 n, u64 m)
{
	u64 x = n;
	ENTERED("loop_nest@1");
	do {
		u64 k = m;
		ITERATED("loop_nest@1");
		ENTERED("loop_nest@2");
		do {
			ITERATED("loop_nest@2");
			x = mix(x + k);
			BARRIER();
		} while (--k);
		x += n;
		BARRIER();
	} while (--n);
	return x;
}

/* Calls in the body, and out of the loop by a return, a goto and a tail call. */
KEEP u64 loop_helper(u64 x)
{
	CALLED("loop_helper");
	return mix(x);
}

KEEP u64 loop_early(u64 n, u64 key)
{
	ENTERED("loop_early@1");
	do {
		ITERATED("loop_early@1");
		if (loop_helper(n) % 16 == key)
			return n;
		if (n % 19 == 18)
			return loop_helper(key);
		BARRIER();
	} while (--n);
	return 0;
}

/* Several back edges. */
KEEP u64 loop_continues(u64 n)
{
	u64 x = 1;
	ENTERED("loop_continues@1");
	do {
		ITERATED("loop_continues@1");
		if (n % 3 == 0) {
			x += n;
			BARRIER();
			continue;
		}
		if (n % 5 == 0) {
			x ^= n << 7;
			BARRIER();
			continue;
		}
		x = mix(x);
		BARRIER();
	} while (--n);
	return x;
}

/* Edges of a switch go round, out and on. */
KEEP u64 loop_switch(const unsigned char *p, u64 x)
{
	ENTERED("loop_switch@1");
	for (;;) {
		ITERATED("loop_switch@1");
		switch (*p++) {
		case 0: return x;
		case 1: x += 1; break;
		case 2: x ^= x << 3; break;
		case 3: x = mix(x); break;
		case 4: x -= p[0]; break;
		case 5: x = loop_helper(x); break;
		case 6: x *= 7; break;
		case 7: p += p[0] & 1; break;
		case 8: x = ~x; break;
		case 9: goto out;
		default: x += 11; break;
		}
		BARRIER();
	}
out:
	return x ^ 0xabcdef;
}

/* An interpreter by computed gotos: control comes to every block from every other. */
KEEP u64 loop_threaded(const unsigned char *p, u64 x)
{
	static const void *const to[] = {&&end, &&add, &&shift, &&mixed, &&less};
	goto *to[*p++ % 5];
add:
	x += 3;
	goto *to[*p++ % 5];
shift:
	x ^= x >> 5;
	goto *to[*p++ % 5];
mixed:
	x = mix(x);
	goto *to[*p++ % 5];
less:
	x -= *p;
	goto *to[*p++ % 5];
end:
	return x;
}

/* May not run at all; counts unknown, for compilers turn it round. */
KEEP u64 loop_zero(u64 n)
{
	u64 x = 3;
	while (n--) {
		x = x * 5 + n;
		BARRIER();
	}
	return x;
}

/* Entered in the middle. */
KEEP u64 loop_irreducible(u64 n, u64 x)
{
	if (n & 1)
		goto second;
first:
	x = mix(x);
	BARRIER();
second:
	x += n;
	BARRIER();
	if (n--)
		goto first;
	return x;
}

KEEP double loop_matrix(unsigned n)
{
	double a[12][12], b[12][12], sum = 0;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++) {
			a[i][j] = i * 0.5 + j;
			b[i][j] = j * 0.25 - i;
		}
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++) {
			double s = 0;
			for (unsigned k = 0; k < n; k++)
				s += a[i][k] * b[k][j];
			sum += s * (i + 1);
		}
	return sum;
}

u64 victim_loops(void)
{
	static const unsigned char program[] = {1, 2, 3, 4, 9, 6, 5, 7, 1, 3, 8, 10, 2, 0};
	static const unsigned char bytes[] = {1, 2, 3, 4, 6, 7, 8, 9, 1, 3, 2, 4, 1, 3, 0};
	u64 sum = 0;
	for (u64 i = 1; i < 40; i++) {
		sum += loop_plain(i);
		sum ^= loop_nest(i % 7 + 1, i % 5 + 1);
		sum += loop_early(i, i % 16);
		sum ^= loop_continues(i);
		sum += loop_switch(program + i % 5, i);
		sum ^= loop_threaded(bytes, i);
		sum += loop_zero(i % 4);
		sum ^= loop_irreducible(i, sum);
		sum += (u64)(int64_t)loop_matrix((unsigned)i % 12);
	}
	return sum;
}
