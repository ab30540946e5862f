/* Loops of all shapes that have a single way out, and the number of their iterations: none, one,
 * few, many. */
#include "truth.h"

KEEP u64 loop_for(u64 n)
{
	LOOP(for);
	u64 x = n;
	CALLED(loop_for);
	ENTER(for);
	for (u64 i = 0; i < n; i++) {
		ITER(for);
		x = x * 5 + i;
		BARRIER();
	}
	LEAVE(for);
	return x;
}

KEEP u64 loop_while(u64 n)
{
	LOOP(while);
	u64 x = n;
	CALLED(loop_while);
	ENTER(while);
	while (n--) {
		ITER(while);
		x ^= x << 3 | n;
		BARRIER();
	}
	LEAVE(while);
	return x;
}

KEEP u64 loop_do(u64 n)
{
	LOOP(do);
	u64 x = n;
	CALLED(loop_do);
	ENTER(do);
	do {
		ITER(do);
		x = x * 3 + 1;
		BARRIER();
	} while (--n);
	LEAVE(do);
	return x;
}

KEEP u64 loop_nest(u64 n, u64 m)
{
	LOOP(nest_outer);
	LOOP(nest_inner);
	u64 x = n;
	CALLED(loop_nest);
	ENTER(nest_outer);
	for (u64 i = 0; i < n; i++) {
		ITER(nest_outer);
		u64 bound = (m + i) % 4;
		OPAQUE(bound);
		ENTER(nest_inner);
		for (u64 j = 0; j < bound; j++) {
			ITER(nest_inner);
			x = x * 7 + j;
			BARRIER();
		}
		LEAVE(nest_inner);
	}
	LEAVE(nest_outer);
	return x;
}

KEEP u64 loop_cube(u64 n)
{
	LOOP(cube_1);
	LOOP(cube_2);
	LOOP(cube_3);
	u64 x = 0, i = n, j, k;
	CALLED(loop_cube);
	ENTER(cube_1);
	do {
		ITER(cube_1);
		ENTER(cube_2);
		for (j = i; j > 1; j--) {
			ITER(cube_2);
			k = j;
			OPAQUE(k);
			ENTER(cube_3);
			while (k >= 2) {
				ITER(cube_3);
				x += i * j + k;
				k -= 2;
				BARRIER();
			}
			LEAVE(cube_3);
		}
		LEAVE(cube_2);
	} while (--i);
	LEAVE(cube_1);
	return x;
}

/* Two conditions; which of them ends it varies. */
KEEP u64 loop_both(u64 n, u64 m)
{
	LOOP(both);
	u64 x = 1;
	CALLED(loop_both);
	ENTER(both);
	while (n && m) {
		ITER(both);
		x = x * 3 + n;
		n--, m--;
		OPAQUE(m);
		BARRIER();
	}
	LEAVE(both);
	return x;
}

/* Its exits are not at one place without optimisation. */
KEEP u64 loop_both_break(u64 n, u64 m, u64 at)
{
	LOOP(both_break);
	u64 x = 1;
	CALLED(loop_both_break);
	ENTER(both_break);
	while (n && m) {
		ITER(both_break);
		if (n == at)
			break;
		n--, m--;
		OPAQUE(m);
		x = x * 3 + n;
		BARRIER();
	}
	LEAVE(both_break);
	return x;
}

KEEP u64 loop_either(u64 n, u64 m)
{
	LOOP(either);
	u64 x = 1;
	CALLED(loop_either);
	ENTER(either);
	while (n || m) {
		ITER(either);
		x = x * 3 + n;
		n -= n > 0;
		m -= m > 0;
		OPAQUE(m);
		BARRIER();
	}
	LEAVE(either);
	return x;
}

/* Several back edges. */
KEEP u64 loop_continues(u64 n)
{
	LOOP(continues);
	u64 x = 1;
	CALLED(loop_continues);
	ENTER(continues);
	for (u64 i = 0; i < n; i++) {
		ITER(continues);
		if (i % 3 == 0) {
			x += i;
			BARRIER();
			continue;
		}
		if (i % 5 == 0) {
			x ^= i << 7;
			BARRIER();
			continue;
		}
		x = x * 9 + 4;
		BARRIER();
	}
	LEAVE(continues);
	return x;
}

/* Back edges that depend on something, but not on whether the loop is left. */
KEEP u64 loop_ends_in_if(u64 n)
{
	LOOP(ends_in_if);
	u64 x = 1;
	CALLED(loop_ends_in_if);
	ENTER(ends_in_if);
	while (n) {
		ITER(ends_in_if);
		n--;
		if (n & 1)
			__asm__ volatile("nop" ::: "memory");
	}
	LEAVE(ends_in_if);
	return x + n;
}

KEEP u64 loop_ends_in_loop(u64 n)
{
	LOOP(ends_outer);
	LOOP(ends_inner);
	u64 x = 1;
	CALLED(loop_ends_in_loop);
	ENTER(ends_outer);
	while (n) {
		u64 left = --n % 4;
		ITER(ends_outer);
		OPAQUE(left);
		ENTER(ends_inner);
		while (left) {
			ITER(ends_inner);
			x = x * 3 + left;
			left--;
			BARRIER();
		}
		LEAVE(ends_inner);
	}
	LEAVE(ends_outer);
	return x;
}

KEEP u64 loop_ends_in_switch(u64 n)
{
	LOOP(ends_in_switch);
	u64 x = 1;
	CALLED(loop_ends_in_switch);
	ENTER(ends_in_switch);
	while (n) {
		ITER(ends_in_switch);
		switch (--n % 5) {
		case 0:
			x += 1;
			BARRIER();
			break;
		case 1:
			x *= 3;
			BARRIER();
			break;
		case 3:
			x ^= n;
			BARRIER();
			break;
		}
	}
	LEAVE(ends_in_switch);
	return x;
}

/* Two loops of the source with one header: one loop of the machine code, which begins anew at
 * either back edge. */
KEEP u64 loop_shared(u64 n)
{
	LOOP(shared);
	u64 x = n;
	CALLED(loop_shared);
	ENTER(shared);
again:
	ITER(shared);
	x = x * 5 + 3;
	BARRIER();
	if (x & 4)
		goto again;
	x ^= n;
	BARRIER();
	if (n--)
		goto again;
	LEAVE(shared);
	return x;
}

KEEP u64 loop_helper(u64 x)
{
	CALLED(loop_helper);
	return x * 3 + 7;
}

KEEP u64 loop_calls(u64 n)
{
	LOOP(calls_outer);
	LOOP(calls_inner);
	u64 x = n;
	CALLED(loop_calls);
	ENTER(calls_outer);
	for (u64 i = 0; i < n; i++) {
		ITER(calls_outer);
		ENTER(calls_inner);
		for (u64 j = 0; j < i; j++) {
			ITER(calls_inner);
			x += loop_helper(j);
			if (j & 1)
				x ^= loop_helper(x);
		}
		LEAVE(calls_inner);
		x ^= loop_helper(i);
	}
	LEAVE(calls_outer);
	return x;
}

/* The first block of the function is the loop's, where the compiler needs no frame; the condition
 * is a call. */
KEEP u64 loop_condition(u64 n)
{
	LOOP(condition);
	CALLED(loop_condition);
	ENTER(condition);
	while (loop_helper(n) % 16 != 3) {
		ITER(condition);
		n++;
		BARRIER();
	}
	LEAVE(condition);
	return n;
}

/* Cases that go round, out and on. */
KEEP u64 loop_switch(const unsigned char *p, u64 x)
{
	LOOP(switch);
	CALLED(loop_switch);
	ENTER(switch);
	for (;;) {
		ITER(switch);
		BRANCH(x & 1);
		switch (*p++) {
		case 0: LEAVE(switch); return x;
		case 1: x += 1; break;
		case 2: x ^= x << 3; continue;
		case 3: x = x * 11 + 4; break;
		case 4: x -= p[0]; break;
		case 5: x = loop_helper(x); break;
		case 6: x *= 7; continue;
		case 7: p += p[0] & 1; break;
		case 8: x = ~x; break;
		case 9: goto out;
		default: x += 11; break;
		}
		BARRIER();
	}
out:
	LEAVE(switch);
	return x ^ 0xabcdef;
}

/* Floating point and vector registers across the loop. */
KEEP double loop_floats(u64 n, double a, double b)
{
	LOOP(floats);
	double c = a * b, d = a + b, e = a - b;
	CALLED(loop_floats);
	ENTER(floats);
	for (u64 i = 0; i < n; i++) {
		ITER(floats);
		c = c * 0.5 + d;
		d = d * 0.25 - e;
		e += (double)i;
		BARRIER();
	}
	LEAVE(floats);
	return c + d + e;
}

/* All registers are in use, also across calls. */
KEEP u64 loop_pressed(u64 n)
{
	LOOP(pressed);
	u64 a = n, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7, i = 8, j = 9, k = 10, l = 11,
	    m = 12, o = 13, p = 14;
	u64 q = 15, r = 16, s = 17, t = 18, u = 19, v = 20, w = 21, x = 22, y = 23, z = 24;
	CALLED(loop_pressed);
	ENTER(pressed);
	for (; n; n--) {
		ITER(pressed);
		a += b ^ n, b += c ^ a, c += d ^ b, d += e ^ c, e += f ^ d, f += g ^ e, g += h ^ f,
			h += i ^ g;
		i += j ^ h, j += k ^ i, k += l ^ j, l += m ^ k, m += o ^ l, o += p ^ m, p += q ^ o,
			q += r ^ p;
		r += s ^ q, s += t ^ r, t += u ^ s, u += v ^ t, v += w ^ u, w += x ^ v, x += y ^ w,
			y += z ^ x, z += a ^ y;
		if (n % 8 == 0)
			z += loop_helper(a);
		BARRIER();
	}
	LEAVE(pressed);
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ o ^ p ^ q ^ r ^ s ^ t ^ u ^ v ^
	       w ^ x ^ y ^ z;
}

u64 victim_loops(void)
{
	static const unsigned char program[] = {1, 2, 3, 4, 9, 6, 5, 7, 1, 3, 8, 10, 2, 0};
	static const u64 sizes[] = {0,  1,  2,   30,  31,   32,   33,   63,
				    64, 65, 127, 128, 1000, 4095, 4096, (1 << 20) + 5};
	u64 sum = 0;
	for (u64 i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		sum += loop_for(sizes[i]);
		sum ^= loop_while(sizes[i]);
		sum += loop_do(sizes[i] + 1);
		sum ^= (u64)(int64_t)loop_floats(sizes[i] & 0xfff, 0.5, 1.25);
	}
	for (u64 i = 0; i < 40; i++) {
		sum += loop_nest(i % 7, i % 5);
		sum ^= loop_cube(i % 6 + 1);
		sum += loop_both(i % 7, i % 5);
		sum ^= loop_either(i % 7, i % 5);
		sum += loop_both_break(i % 9, i % 7, i % 5);
		sum += loop_continues(i);
		sum ^= loop_shared(i);
		sum += loop_ends_in_if(i);
		sum ^= loop_ends_in_loop(i);
		sum += loop_ends_in_switch(i);
		sum += loop_calls(i % 9);
		sum ^= loop_condition(i);
		sum += loop_switch(program + i % 5, i);
		sum ^= loop_pressed(i);
	}
	return sum;
}
