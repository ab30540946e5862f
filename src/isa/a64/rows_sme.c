/* SME. The matrix storage ZA is not modelled as a register; its slices are selected by w12 -
 * w15. */
#include <stddef.h>

#include "isa/a64/rows.h"
#include "isa/insn.h"

#define L CLASS_LOAD
#define M CLASS_SIMD
#define S CLASS_STORE

const struct a64_row a64_rows_sme[] = {
	/* Outer products. */
	{"10000000 100 vvvvv ppp ppp vvvvv x 00 xx", M, PLAIN, 0}, /* fmopa, fmops of words */
	{"10000000 110 vvvvv ppp ppp vvvvv x 0 xxx", M, PLAIN, 0}, /* of doublewords */
	{"10000001 10x vvvvv ppp ppp vvvvv x 00 xx", M, PLAIN, 0}, /* bfmopa, fmopa of halfwords */
	{"1010000x 10x vvvvv ppp ppp vvvvv x 00 xx", M, PLAIN, 0}, /* smopa .. umops of bytes */
	{"1010000x 11x vvvvv ppp ppp vvvvv x 0 xxx", M, PLAIN, 0}, /* of halfwords */

	/* Slices and vectors. */
	{"11000000 xx 00000 0 x kk ppp vvvvv 0 xxxx", M, PLAIN, 0}, /* mova za, z */
	{"11000000 11 00000 1 x kk ppp vvvvv 0 xxxx", M, PLAIN, 0},
	{"11000000 xx 00001 0 x kk ppp 0 xxxx AAAAA", M, PLAIN, 0}, /* mova z, za */
	{"11000000 11 00001 1 x kk ppp 0 xxxx AAAAA", M, PLAIN, 0},
	{"11000000 10 01000 x ppp ppp vvvvv 000 xx", M, PLAIN, 0},    /* addha, addva of words */
	{"11000000 11 01000 x ppp ppp vvvvv 00 xxx", M, PLAIN, 0},    /* of doublewords */
	{"11000000 00 001 000 00000000 xxxxxxxx", M, PLAIN, 0},       /* zero */
	{"00100101 x 1 1 xxx kk 01 pppp 0 pppp 0 PPPP", M, PLAIN, 0}, /* psel */
	{"00100101 x 0 1 1xx kk 01 pppp 0 pppp 0 PPPP", M, PLAIN, 0},
	{"00100101 x 0 1 01x kk 01 pppp 0 pppp 0 PPPP", M, PLAIN, 0},
	{"00100101 x 0 1 001 kk 01 pppp 0 pppp 0 PPPP", M, PLAIN, 0},

	/* Memory. */
	{"11100000 xx 0 rrrrr x kk ppp bbbbb 0 xxxx", L, PLAIN, 0}, /* ld1b .. ld1d */
	{"11100000 xx 1 rrrrr x kk ppp bbbbb 0 xxxx", S, PLAIN, 0},
	{"11100001 11 0 rrrrr x kk ppp bbbbb 0 xxxx", L, PLAIN, 0}, /* ld1q */
	{"11100001 11 1 rrrrr x kk ppp bbbbb 0 xxxx", S, PLAIN, 0},
	{"11100001 00 0 00000 0 kk 000 bbbbb 0 xxxx", L, PLAIN, 0}, /* ldr za */
	{"11100001 00 1 00000 0 kk 000 bbbbb 0 xxxx", S, PLAIN, 0},

	{NULL, 0, 0, 0},
};
