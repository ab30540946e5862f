/* Loops around switches: dense, sparse, small, large, with holes, with and without a default, and a loop
 * inside a case. */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

static unsigned cells[128];

NOINLINE unsigned dense(const unsigned char *s, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(dense, 1);
		switch (s[i] & 7) {
		case 0: sum += 3; break;
		case 1: sum ^= sum << 1; break;
		case 2: sum = sum * 5 + i; break;
		case 3: cells[i & 127]++; break;
		case 4: sum -= cells[sum & 127]; break;
		case 5: sum |= 1; break;
		case 6: sum /= 3; break;
		default: sum = ~sum; break;
		}
	}
	return sum;
}

NOINLINE unsigned without_default(const unsigned char *s, unsigned n)
{
	unsigned sum = 0;

	while (n-- > 0) { LOOP(no_default, 1);
		switch (s[n]) {
		case 'a': sum += cells[n & 127]; continue;
		case 'b': sum *= 3; continue;
		case 'c': sum ^= n; continue;
		case 'd': cells[n & 127] = sum; continue;
		case 'e': sum += 11; break;
		case 'f': sum -= n * 5; break;
		case 'g': sum = sum >> 1 | sum << 31; break;
		}
		sum++;
	}
	return sum;
}

NOINLINE unsigned sparse(const unsigned char *s, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(sparse, 1);
		switch (s[i] * 1000u) {
		case 1000: sum += 1; break;
		case 97000: sum += 20; break;
		case 98000: sum ^= 7; break;
		case 131000: sum *= 3; break;
		case 200000: sum += i; break;
		case 255000: return sum;
		}
	}
	return sum;
}

#define CASE4(k)                                                                                   \
	case (k): sum += (k) * 3 + cells[(k) & 127]; break;                                             \
	case (k) + 1: sum ^= cells[((k) + 5) & 127] + (k); break;                                        \
	case (k) + 2: sum = sum * 7 + (k); break;                                                      \
	case (k) + 3: cells[(k) & 127] += sum; break
#define CASE16(k) CASE4(k); CASE4((k) + 4); CASE4((k) + 8); CASE4((k) + 12)

NOINLINE unsigned large(const unsigned char *s, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(large, 1);
		switch (s[i] ^ (i & 15)) {
			CASE16(0);
			CASE16(16);
			CASE16(32);
			CASE16(64);
			CASE16(80);
			CASE16(96);
			CASE16(112);
		default: sum--; break;
		}
	}
	return sum;
}

enum state { START, WORD, SPACE, NUMBER, PUNCT, END };

NOINLINE unsigned machine(const unsigned char *s, unsigned n)
{
	enum state state = START;
	unsigned i = 0, words = 0;

	while (state != END) { LOOP(machine, 1, multi);
		unsigned c = i < n ? s[i++] : 0;
		switch (state) {
		case START: state = c >= 'a' ? WORD : SPACE; break;
		case WORD: words++; state = c > 'n' ? NUMBER : c ? SPACE : END; break;
		case SPACE:
			while (i < n && s[i] < 'h') { LOOP(machine_skip, 2);
				words += s[i++];
			}
			state = c & 1 ? PUNCT : WORD;
			break;
		case NUMBER: words += c; state = START; break;
		case PUNCT: words *= 3; state = i < n ? SPACE : END; break;
		case END: break;
		}
	}
	return words;
}

NOINLINE unsigned nested_switch(const unsigned char *s, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i + 1 < n; i++) { LOOP(nest_outer, 1);
		switch (s[i] % 6) {
		case 0:
			for (unsigned j = 0; j < s[i + 1]; j++) { LOOP(nest_case, 2);
				switch ((j + i) % 5) {
				case 0: sum += j; break;
				case 1: sum ^= i; break;
				case 2: sum = sum * 3 + 1; break;
				case 3: cells[j & 127] += i; break;
				case 4: sum -= cells[i & 127]; break;
				}
			}
			break;
		case 1: sum += 5; break;
		case 2: sum ^= sum >> 3; break;
		case 3: cells[i & 127]--; break;
		case 4: sum = sum * 9 + i; break;
		case 5: sum += cells[sum & 127]; break;
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	static unsigned char text[512];
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 5, sum = 0;

	for (unsigned i = 0; i < sizeof(text); i++) { LOOP(text, 1, maybe);
		seed = seed * 1103515245 + 12345;
		text[i] = (unsigned char)('a' + (seed >> 16) % 16);
	}
	sum = dense(text, 512) + without_default(text, 512) + sparse(text, 512);
	sum = sum * 3 + large(text, 512) + machine(text, 500) + nested_switch(text, 300);
	printf("%u\n", sum);
	return 0;
}
