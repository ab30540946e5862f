/* SVE and SVE2.
 *
 * A destination under a merging predicate, and every destructive operand, is read and written. A
 * destination under a zeroing predicate, or without a predicate, is only written. Loads zero the
 * elements that they do not load. First-fault and non-fault loads read and write the first-fault
 * register. */
#include <stddef.h>

#include "isa/a64/rows.h"
#include "isa/insn.h"

#define I CLASS_INTEGER
#define L CLASS_LOAD
#define M CLASS_SIMD
#define O CLASS_OTHER
#define S CLASS_STORE

const struct a64_row a64_rows_sve[] = {
	/* Integer, predicated. */
	{"00000100 xx 000 00x 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* add, sub */
	{"00000100 xx 000 011 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* subr */
	{"00000100 xx 001 0xx 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* smax, umax, smin, umin */
	{"00000100 xx 001 10x 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* sabd, uabd */
	{"00000100 xx 010 000 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* mul */
	{"00000100 xx 010 01x 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* smulh, umulh */
	{"00000100 1x 010 1xx 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* sdiv .. udivr */
	{"00000100 xx 011 0xx 000 ppp vvvvv AAAAA", M, PLAIN, 0}, /* orr, eor, and, bic */
	{"00000100 11 000 000 001 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 000 00x 001 ppp vvvvv VVVVV", M, PLAIN, 0}, /* saddv, uaddv */
	{"00000100 xx 001 0xx 001 ppp vvvvv VVVVV", M, PLAIN, 0}, /* smaxv .. uminv */
	{"00000100 xx 010 000 001 ppp vvvvv VVVVV", M, PLAIN, 0}, /* movprfx /z */
	{"00000100 xx 010 001 001 ppp vvvvv AAAAA", M, PLAIN, 0}, /* movprfx /m */
	{"00000100 xx 011 00x 001 ppp vvvvv VVVVV", M, PLAIN, 0}, /* orv, eorv */
	{"00000100 xx 011 010 001 ppp vvvvv VVVVV", M, PLAIN, 0}, /* andv */
	{"00000100 00 00 xxxx 100 xxx 00 xxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 00 000x 100 ppp xx xxx AAAAA", M, PLAIN, 0}, /* asr, lsr #imm */
	{"00000100 xx 00 0011 100 ppp xx xxx AAAAA", M, PLAIN, 0}, /* lsl */
	{"00000100 xx 00 0100 100 ppp xx xxx AAAAA", M, PLAIN, 0}, /* asrd */
	{"00000100 xx 00 011x 100 ppp xx xxx AAAAA", M, PLAIN, 0}, /* sqshl, uqshl */
	{"00000100 xx 00 110x 100 ppp xx xxx AAAAA", M, PLAIN, 0}, /* srshr, urshr */
	{"00000100 xx 00 1111 100 ppp xx xxx AAAAA", M, PLAIN, 0}, /* sqshlu */
	{"00000100 xx 010 x0x 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* asr, lsr, asrr, lsrr */
	{"00000100 xx 010 x11 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* lsl, lslr */
	{"00000100 11 011 xxx 100 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 011 00x 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* asr, lsr by doublewords */
	{"00000100 xx 011 011 100 ppp vvvvv AAAAA", M, PLAIN, 0},
	{"00000100 00 010 0xx 101 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 01 010 01x 101 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 010 0xx 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* sxtb, uxtb, sxth, uxth */
	{"00000100 11 010 10x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* sxtw, uxtw */
	{"00000100 xx 010 11x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* abs, neg */
	{"00000100 00 011 10x 101 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 011 0xx 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* cls, clz, cnt, cnot */
	{"00000100 xx 011 10x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* fabs, fneg */
	{"00000100 xx 011 110 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* not */
	{"00000100 xx 0 vvvvv x1x ppp vvvvv AAAAA", M, PLAIN, 0}, /* mla, mls, mad, msb */

	/* Integer, unpredicated. */
	{"00000100 xx 1 vvvvv 000 00x vvvvv VVVVV", M, PLAIN, 0}, /* add, sub */
	{"00000100 xx 1 vvvvv 000 1xx vvvvv VVVVV", M, PLAIN, 0}, /* sqadd .. uqsub */
	{"00000100 xx 1 vvvvv 001 100 vvvvv VVVVV", M, PLAIN, 0}, /* and, orr, eor, bic */
	{"00000100 00 1 00xxx 001 101 xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 1 xxxxx 001 101 vvvvv AAAAA", M, PLAIN, 0}, /* xar */
	{"00000100 0x 1 vvvvv 001 110 vvvvv AAAAA", M, PLAIN, 0}, /* eor3, bcax */
	{"00000100 xx 1 vvvvv 001 111 vvvvv AAAAA", M, PLAIN, 0}, /* bsl, bsl1n, bsl2n, nbsl */
	{"00000100 xx 1 xxxxx 010 000 xxxxx VVVVV", M, PLAIN, 0}, /* index */
	{"00000100 xx 1 xxxxx 010 001 rrrrr VVVVV", M, PLAIN, 0},
	{"00000100 xx 1 rrrrr 010 010 xxxxx VVVVV", M, PLAIN, 0},
	{"00000100 xx 1 rrrrr 010 011 rrrrr VVVVV", M, PLAIN, 0},
	{"00000100 0x 1 bbbbb 010 1x xxxxxx sssss", I, PLAIN, 0}, /* addvl, addpl, addsvl, addspl */
	{"00000100 10 1 11111 010 1x xxxxxx wwwww", I, PLAIN, 0}, /* rdvl, rdsvl */
	{"00000100 xx 1 vvvvv 011 000 vvvvv VVVVV", M, PLAIN, 0}, /* mul */
	{"00000100 00 1 vvvvv 011 001 vvvvv VVVVV", M, PLAIN, 0}, /* pmul */
	{"00000100 xx 1 vvvvv 011 01x vvvvv VVVVV", M, PLAIN, 0}, /* smulh, umulh */
	{"00000100 xx 1 vvvvv 011 10x vvvvv VVVVV", M, PLAIN, 0}, /* sqdmulh, sqrdmulh */
	{"00000100 11 1 xxxxx 1000 xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 1 vvvvv 1000 0x vvvvv VVVVV", M, PLAIN, 0}, /* asr, lsr by doublewords */
	{"00000100 xx 1 vvvvv 1000 11 vvvvv VVVVV", M, PLAIN, 0},
	{"00000100 00 1 00xxx 1001 xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 1 xxxxx 1001 0x vvvvv VVVVV", M, PLAIN, 0}, /* asr, lsr #imm */
	{"00000100 xx 1 xxxxx 1001 11 vvvvv VVVVV", M, PLAIN, 0}, /* lsl */
	{"00000100 xx 1 vvvvv 1010 xx vvvvv VVVVV", M, PLAIN, 0}, /* adr */
	{"00000100 00 1 00000 1011 11 vvvvv VVVVV", M, PLAIN, 0}, /* movprfx */
	{"00000100 00 1 xxxxx 1011 xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 1 vvvvv 1011 00 vvvvv VVVVV", M, PLAIN, 0}, /* ftssel */
	{"00000100 xx 1 00000 1011 10 vvvvv VVVVV", M, PLAIN, 0}, /* fexpa */

	/* Element counts. */
	{"00000100 00 1 xxxxx 1100 xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000100 xx 10 xxxx 1100 xx xxxxx AAAAA", M, PLAIN, 0}, /* sqinch .. uqdecd, vector */
	{"00000100 xx 11 xxxx 1100 0x xxxxx AAAAA", M, PLAIN, 0}, /* inch .. decd, vector */
	{"00000100 xx 10 xxxx 1110 00 xxxxx wwwww", I, PLAIN, 0}, /* cntb .. cntd */
	{"00000100 xx 11 xxxx 1110 0x xxxxx uuuuu", I, PLAIN, 0}, /* incb .. decd */
	{"00000100 xx 1x xxxx 1111 xx xxxxx uuuuu", I, PLAIN, 0}, /* sqincb .. uqdecd */

	/* Constants. */
	{"00000101 11 0000 xxxxxxxxxxxxx VVVVV", M, SVE_LOGIC_IMM, 0}, /* dupm */
	{"00000101 xx 0000 xxxxxxxxxxxxx AAAAA", M, SVE_LOGIC_IMM, 0}, /* orr, eor, and */
	{"00000101 00 01 xxxx 0x 1 xxxxxxxx xxxxx", M, UNDEFINED, 0},
	{"00000101 xx 01 pppp 00 x xxxxxxxx VVVVV", M, PLAIN, 0}, /* cpy /z, #imm */
	{"00000101 xx 01 pppp 01 x xxxxxxxx AAAAA", M, PLAIN, 0}, /* cpy /m, #imm */
	{"00000101 00 01 xxxx 110 xxxxxxxx xxxxx", M, UNDEFINED, 0},
	{"00000101 xx 01 pppp 110 xxxxxxxx AAAAA", M, PLAIN, 0}, /* fcpy */

	/* Permutations. */
	{"00000101 001 xxxxx 000 xxx vvvvv AAAAA", M, PLAIN, 0}, /* ext */
	{"00000101 011 xxxxx 000 xxx vvvv2 VVVVV", M, PLAIN, 0},
	{"00000101 101 vvvvv 000 0xx vvvvv VVVVV", M, PLAIN, 0}, /* zip1, uzp1 of 16 bytes */
	{"00000101 101 vvvvv 000 11x vvvvv VVVVV", M, PLAIN, 0}, /* trn1 */
	{"00000101 xx 1 00000 001 000 xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000101 xx 1 xxxxx 001 000 vvvvv VVVVV", M, PLAIN, 0}, /* dup z, z[i] */
	{"00000101 xx 1 vvvvv 001 010 vvvv2 VVVVV", M, PLAIN, 0}, /* tbl */
	{"00000101 xx 1 vvvvv 001 011 vvvvv AAAAA", M, PLAIN, 0}, /* tbx */
	{"00000101 xx 1 vvvvv 001 100 vvvvv VVVVV", M, PLAIN, 0}, /* tbl */
	{"00000101 xx 1 00000 001 110 bbbbb VVVVV", M, PLAIN, 0}, /* dup z, r */
	{"00000101 xx 1 00100 001 110 rrrrr AAAAA", M, PLAIN, 0}, /* insr */
	{"00000101 00 1 100xx 001 110 xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000101 xx 1 100xx 001 110 vvvvv VVVVV", M, PLAIN, 0}, /* sunpklo .. uunpkhi */
	{"00000101 xx 1 10100 001 110 vvvvv AAAAA", M, PLAIN, 0}, /* insr */
	{"00000101 xx 1 11000 001 110 vvvvv VVVVV", M, PLAIN, 0}, /* rev */
	{"00000101 xx 10 xxxx 010 11 x 0 xxxx 0 xxxx", M, UNDEFINED, 0},
	{"00000101 xx 10 pppp 010 xx x 0 pppp 0 PPPP", M, PLAIN, 0}, /* zip1, uzp1, trn1 */
	{"00000101 xx 1 10100 010 000 0 pppp 0 PPPP", M, PLAIN, 0},  /* rev */
	{"00000101 00 1 1000x 010 000 0 pppp 0 PPPP", M, PLAIN, 0},  /* punpklo, punpkhi */
	{"00000101 xx 1 vvvvv 011 0xx vvvvv VVVVV", M, PLAIN, 0},    /* zip1, uzp1 */
	{"00000101 xx 1 vvvvv 011 10x vvvvv VVVVV", M, PLAIN, 0},    /* trn1, trn2 */
	{"00000101 xx 1 00000 100 ppp vvvvv AAAAA", M, PLAIN, 0},    /* cpy */
	{"00000101 1x 1 00001 100 ppp vvvvv VVVVV", M, PLAIN, 0},    /* compact */
	{"00000101 xx 1 0001x 100 ppp vvvvv VVVVV", M, PLAIN, 0},    /* lasta, lastb */
	{"00000101 00 1 00100 100 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000101 0x 1 00101 100 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"00000101 xx 1 0010x 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* revb, revh */
	{"00000101 11 1 00110 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* revw */
	{"00000101 xx 1 00111 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* rbit */
	{"00000101 xx 1 010xx 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* clasta, clastb */
	{"00000101 xx 1 01100 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* splice */
	{"00000101 xx 1 01101 100 ppp vvvv2 VVVVV", M, PLAIN, 0},
	{"00000101 00 1 01110 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* revd */
	{"00000101 xx 1 0000x 101 ppp vvvvv wwwww", M, PLAIN, 0}, /* lasta, lastb */
	{"00000101 xx 1 01000 101 ppp bbbbb AAAAA", M, PLAIN, 0}, /* cpy */
	{"00000101 xx 1 1000x 101 ppp vvvvv uuuuu", M, PLAIN, 0}, /* clasta, clastb */
	{"00000101 xx 1 vvvvv 11 pppp vvvvv VVVVV", M, PLAIN, 0}, /* sel */

	/* Integer compares; those with doublewords have no doubleword elements. */
	{"00100100 11 0 xxxxx 001 xxx xxxxx x xxxx", M, UNDEFINED, 0},
	{"00100100 11 0 xxxxx x1x xxx xxxxx x xxxx", M, UNDEFINED, 0},
	{"00100100 xx 0 vvvvv xxx ppp vvvvv x PPPP", M, PLAIN, FLAGS_W},
	{"00100100 xx 1 xxxxxxx x ppp vvvvv x PPPP", M, PLAIN, FLAGS_W},
	{"00100101 xx 0 xxxxx 10 1 xxx xxxxx x xxxx", M, UNDEFINED, 0},
	{"00100101 xx 0 xxxxx x0 x ppp vvvvv x PPPP", M, PLAIN, FLAGS_W},

	/* Predicates. */
	{"00100101 01 00 xxxx 01 xxxx 1 xxxx 1 xxxx", M, UNDEFINED, 0},
	{"00100101 x0 00 pppp 01 pppp x pppp x PPPP", M, PLAIN, 0},       /* and .. nand, sel */
	{"00100101 x1 00 pppp 01 pppp x pppp x PPPP", M, PLAIN, FLAGS_W}, /* ands .. nands */
	{"00100101 00 00 pppp 11 pppp 0 pppp x PPPP", M, PLAIN, 0},       /* brkpa, brkpb */
	{"00100101 01 00 pppp 11 pppp 0 pppp x PPPP", M, PLAIN, FLAGS_W},
	{"00100101 00 011000 01 pppp 0 pppp 0 QQQQ", M, PLAIN, 0}, /* brkn */
	{"00100101 01 011000 01 pppp 0 pppp 0 QQQQ", M, PLAIN, FLAGS_W},
	{"00100101 x0 010000 01 pppp 0 pppp 0 PPPP", M, PLAIN, 0}, /* brka, brkb /z */
	{"00100101 x0 010000 01 pppp 0 pppp 1 QQQQ", M, PLAIN, 0}, /* brka, brkb /m */
	{"00100101 x1 010000 01 pppp 0 pppp 0 PPPP", M, PLAIN, FLAGS_W},
	{"00100101 01 010000 11 pppp 0 pppp 0 0000", M, PLAIN, FLAGS_W}, /* ptest */
	{"00100101 01 011000 1100000 pppp 0 QQQQ", M, PLAIN, FLAGS_W},   /* pfirst */
	{"00100101 xx 011001 1100010 pppp 0 QQQQ", M, PLAIN, FLAGS_W},   /* pnext */
	{"00100101 xx 011000 111000 xxxxx 0 PPPP", M, PLAIN, 0},         /* ptrue */
	{"00100101 xx 011001 111000 xxxxx 0 PPPP", M, PLAIN, FLAGS_W},
	{"00100101 00 011000 1110010 0000 0 PPPP", M, PLAIN, 0},     /* pfalse */
	{"00100101 00 011000 1111000 pppp 0 PPPP", M, PLAIN, FFR_R}, /* rdffr */
	{"00100101 01 011000 1111000 pppp 0 PPPP", M, PLAIN, FFR_R | FLAGS_W},
	{"00100101 00 011001 1111000 0000 0 PPPP", M, PLAIN, FFR_R},
	{"00100101 00 101000 1001000 pppp 00000", M, PLAIN, FFR_W},       /* wrffr */
	{"00100101 00 101100 1001000 0000 00000", M, PLAIN, FFR_W},       /* setffr */
	{"00100101 xx 1 rrrrr 000 xxx rrrrr x PPPP", M, PLAIN, FLAGS_W},  /* whilelt .. whilehi */
	{"00100101 xx 1 rrrrr 001 100 rrrrr x PPPP", M, PLAIN, FLAGS_W},  /* whilewr, whilerw */
	{"00100101 1x 1 rrrrr 001 000 rrrrr x 0000", M, PLAIN, FLAGS_RW}, /* ctermeq, ctermne */
	{"00100101 xx 100000 10 pppp 0 pppp wwwww", I, PLAIN, 0},         /* cntp */
	{"00100101 00 1010xx 10000 00 xxxx xxxxx", M, UNDEFINED, 0},
	{"00100101 00 10110x 10000 00 xxxx xxxxx", M, UNDEFINED, 0},
	{"00100101 xx 1010xx 10000 00 pppp AAAAA", M, PLAIN, 0}, /* sqincp .. uqdecp, vector */
	{"00100101 xx 10110x 10000 00 pppp AAAAA", M, PLAIN, 0}, /* incp, decp, vector */
	{"00100101 xx 1010xx 10001 x0 pppp uuuuu", I, PLAIN, 0}, /* sqincp .. uqdecp */
	{"00100101 xx 10110x 10001 00 pppp uuuuu", I, PLAIN, 0}, /* incp, decp */

	/* Integer with constants. */
	{"00100101 00 100 xxx 11 1 xxxxxxxx xxxxx", M, UNDEFINED, 0},
	{"00100101 xx 100 00x 11 x xxxxxxxx AAAAA", M, PLAIN, 0}, /* add, sub */
	{"00100101 xx 100 011 11 x xxxxxxxx AAAAA", M, PLAIN, 0}, /* subr */
	{"00100101 xx 100 1xx 11 x xxxxxxxx AAAAA", M, PLAIN, 0}, /* sqadd .. uqsub */
	{"00100101 xx 101 0xx 110 xxxxxxxx AAAAA", M, PLAIN, 0},  /* smax .. umin */
	{"00100101 xx 110 000 110 xxxxxxxx AAAAA", M, PLAIN, 0},  /* mul */
	{"00100101 00 111 000 11 1 xxxxxxxx xxxxx", M, UNDEFINED, 0},
	{"00100101 xx 111 000 11 x xxxxxxxx VVVVV", M, PLAIN, 0}, /* dup */
	{"00100101 00 111 001 110 xxxxxxxx xxxxx", M, UNDEFINED, 0},
	{"00100101 xx 111 001 110 xxxxxxxx VVVVV", M, PLAIN, 0}, /* fdup */

	/* Multiply-add. */
	{"01000100 1x 0 vvvvv 00000x vvvvv AAAAA", M, PLAIN, 0}, /* sdot, udot */
	{"01000100 00 0 xxxxx 00001x xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000100 xx 0 vvvvv 00001x vvvvv AAAAA", M, PLAIN, 0}, /* sqdmlalbt, sqdmlslbt */
	{"01000100 1x 0 vvvvv 0001xx vvvvv AAAAA", M, PLAIN, 0}, /* cdot */
	{"01000100 xx 0 vvvvv 001xxx vvvvv AAAAA", M, PLAIN, 0}, /* cmla, sqrdcmlah */
	{"01000100 00 0 xxxxx 010xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000100 xx 0 vvvvv 010xxx vvvvv AAAAA", M, PLAIN, 0}, /* smlalb .. umlslt */
	{"01000100 00 0 xxxxx 0110xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000100 xx 0 vvvvv 0110xx vvvvv AAAAA", M, PLAIN, 0}, /* sqdmlalb .. sqdmlslt */
	{"01000100 xx 0 vvvvv 01110x vvvvv AAAAA", M, PLAIN, 0}, /* sqrdmlah, sqrdmlsh */
	{"01000100 10 0 vvvvv 011110 vvvvv AAAAA", M, PLAIN, 0}, /* usdot */
	{"01000100 xx 0 vvvvv 11000x vvvvv AAAAA", M, PLAIN, 0}, /* sclamp, uclamp */

	/* SVE2 integer, predicated. */
	{"01000100 xx 00 0x1x 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* srshl .. urshlr */
	{"01000100 xx 00 1xxx 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* sqshl .. uqrshlr */
	{"01000100 xx 01 xxxx 100 ppp vvvvv AAAAA", M, PLAIN, 0}, /* shadd .. uqsubr */
	{"01000100 10 00 000x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* urecpe, ursqrte */
	{"01000100 00 00 010x 101 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000100 xx 00 010x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* sadalp, uadalp */
	{"01000100 xx 00 100x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* sqabs, sqneg */
	{"01000100 xx 01 0001 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* addp */
	{"01000100 xx 01 01xx 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* smaxp .. uminp */

	/* Multiply by an element. */
	{"01000100 101 xx vvv 00000x vvvvv AAAAA", M, PLAIN, 0}, /* sdot, udot */
	{"01000100 111 x vvvv 00000x vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 0x1 xx vvv 00001x vvvvv AAAAA", M, PLAIN, 0}, /* mla, mls */
	{"01000100 101 xx vvv 00001x vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 111 x vvvv 00001x vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 0x1 xx vvv 00010x vvvvv AAAAA", M, PLAIN, 0}, /* sqrdmlah, sqrdmlsh */
	{"01000100 101 xx vvv 00010x vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 111 x vvvv 00010x vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 101 xx vvv 00011x vvvvv AAAAA", M, PLAIN, 0}, /* usdot, sudot */
	{"01000100 101 xx vvv 001xxx vvvvv AAAAA", M, PLAIN, 0}, /* sqdmlalb .. sqdmlslt */
	{"01000100 111 x vvvv 001xxx vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 101 xx vvv 0100xx vvvvv AAAAA", M, PLAIN, 0}, /* cdot */
	{"01000100 111 x vvvv 0100xx vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 101 xx vvv 011xxx vvvvv AAAAA", M, PLAIN, 0}, /* cmla, sqrdcmlah */
	{"01000100 111 x vvvv 011xxx vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 101 xx vvv 10xxxx vvvvv AAAAA", M, PLAIN, 0}, /* smlalb .. umlslt */
	{"01000100 111 x vvvv 10xxxx vvvvv AAAAA", M, PLAIN, 0},
	{"01000100 101 xx vvv 110xxx vvvvv VVVVV", M, PLAIN, 0}, /* smullb .. umullt */
	{"01000100 111 x vvvv 110xxx vvvvv VVVVV", M, PLAIN, 0},
	{"01000100 101 xx vvv 1110xx vvvvv VVVVV", M, PLAIN, 0}, /* sqdmullb, sqdmullt */
	{"01000100 111 x vvvv 1110xx vvvvv VVVVV", M, PLAIN, 0},
	{"01000100 0x1 xx vvv 11110x vvvvv VVVVV", M, PLAIN, 0}, /* sqdmulh, sqrdmulh */
	{"01000100 101 xx vvv 11110x vvvvv VVVVV", M, PLAIN, 0},
	{"01000100 111 x vvvv 11110x vvvvv VVVVV", M, PLAIN, 0},
	{"01000100 0x1 xx vvv 111110 vvvvv VVVVV", M, PLAIN, 0}, /* mul */
	{"01000100 101 xx vvv 111110 vvvvv VVVVV", M, PLAIN, 0},
	{"01000100 111 x vvvv 111110 vvvvv VVVVV", M, PLAIN, 0},

	/* SVE2 widening, narrowing ("t" forms write every other element), accumulation. */
	{"01000101 00 0 vvvvv 01101x vvvvv VVVVV", M, PLAIN, 0}, /* pmullb, pmullt of 8 bytes */
	{"01000101 10 0 xxxxx 01101x xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 00 0 xxxxx 0xxxxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 xx 0 vvvvv 000xxx vvvvv VVVVV", M, PLAIN, 0}, /* saddlb .. usublt */
	{"01000101 xx 0 vvvvv 0011xx vvvvv VVVVV", M, PLAIN, 0}, /* sabdlb .. uabdlt */
	{"01000101 xx 0 vvvvv 01xxxx vvvvv VVVVV", M, PLAIN, 0}, /* saddwb .. umullt */
	{"01000101 00 0 xxxxx 1000xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 xx 0 vvvvv 100000 vvvvv VVVVV", M, PLAIN, 0}, /* saddlbt */
	{"01000101 xx 0 vvvvv 10001x vvvvv VVVVV", M, PLAIN, 0}, /* ssublbt, ssubltb */
	{"01000101 xx 0 vvvvv 10010x vvvvv AAAAA", M, PLAIN, 0}, /* eorbt, eortb */
	{"01000101 00 0 vvvvv 100110 vvvvv AAAAA", M, PLAIN, 0}, /* smmla */
	{"01000101 1x 0 vvvvv 100110 vvvvv AAAAA", M, PLAIN, 0}, /* usmmla, ummla */
	{"01000101 00 0 00xxx 1010xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 0x 0 xxxxx 1010xx vvvvv VVVVV", M, PLAIN, 0}, /* sshllb .. ushllt */
	{"01000101 xx 0 vvvvv 10110x vvvvv VVVVV", M, PLAIN, 0}, /* bext, bdep */
	{"01000101 xx 0 vvvvv 101110 vvvvv VVVVV", M, PLAIN, 0}, /* bgrp */
	{"01000101 00 0 xxxxx 1100xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 xx 0 vvvvv 1100xx vvvvv AAAAA", M, PLAIN, 0}, /* sabalb .. uabalt */
	{"01000101 xx 0 vvvvv 11010x vvvvv AAAAA", M, PLAIN, 0}, /* adclb .. sbclt */
	{"01000101 xx 0 0000x 11011x vvvvv AAAAA", M, PLAIN, 0}, /* cadd, sqcadd */
	{"01000101 00 0 00xxx 1110xx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 xx 0 xxxxx 1110xx vvvvv AAAAA", M, PLAIN, 0}, /* ssra .. ursra */
	{"01000101 00 0 00xxx 11110x xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 xx 0 xxxxx 11110x vvvvv AAAAA", M, PLAIN, 0}, /* sri, sli */
	{"01000101 xx 0 vvvvv 11111x vvvvv AAAAA", M, PLAIN, 0}, /* saba, uaba */
	{"01000101 00 1 00xxx 00xxxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 0x 1 xxxxx 00xxx0 vvvvv VVVVV", M, PLAIN, 0}, /* sqshrunb .. uqrshrnb */
	{"01000101 0x 1 xxxxx 00xxx1 vvvvv AAAAA", M, PLAIN, 0},
	{"01000101 0x 1 xx000 01011x xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 00 1 01000 010xx0 vvvvv VVVVV", M, PLAIN, 0}, /* sqxtnb, uqxtnb, sqxtunb */
	{"01000101 00 1 10000 010xx0 vvvvv VVVVV", M, PLAIN, 0},
	{"01000101 01 1 00000 010xx0 vvvvv VVVVV", M, PLAIN, 0},
	{"01000101 00 1 01000 010xx1 vvvvv AAAAA", M, PLAIN, 0},
	{"01000101 00 1 10000 010xx1 vvvvv AAAAA", M, PLAIN, 0},
	{"01000101 01 1 00000 010xx1 vvvvv AAAAA", M, PLAIN, 0},
	{"01000101 00 1 xxxxx 011xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01000101 xx 1 vvvvv 011xx0 vvvvv VVVVV", M, PLAIN, 0}, /* addhnb .. rsubhnb */
	{"01000101 xx 1 vvvvv 011xx1 vvvvv AAAAA", M, PLAIN, 0},
	{"01000101 0x 1 vvvvv 100 ppp vvvvv x PPPP", M, PLAIN, FLAGS_W}, /* match, nmatch */
	{"01000101 00 1 vvvvv 101000 vvvvv VVVVV", M, PLAIN, 0},         /* histseg */
	{"01000101 1x 1 vvvvv 110 ppp vvvvv VVVVV", M, PLAIN, 0},        /* histcnt */
	{"01000101 00 1 00000 11100x 00000 AAAAA", M, PLAIN, 0},         /* aesmc, aesimc */
	{"01000101 00 1 00010 11100x vvvvv AAAAA", M, PLAIN, 0},         /* aese, aesd */
	{"01000101 00 1 00011 111000 vvvvv AAAAA", M, PLAIN, 0},         /* sm4e */
	{"01000101 00 1 vvvvv 11110x vvvvv VVVVV", M, PLAIN, 0},         /* sm4ekey, rax1 */

	/* Floating point: complex, pairwise, to and from halves, by an element, matrices. */
	{"01100100 00 001010 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* fcvtxnt */
	{"01100100 10 00100x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* fcvtnt, fcvtlt */
	{"01100100 10 001010 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* bfcvtnt */
	{"01100100 11 00101x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* fcvtnt, fcvtlt */
	{"01100100 00 0 xxxxx xxxxxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01100100 xx 0 vvvvv 0 xx ppp vvvvv AAAAA", M, PLAIN, 0}, /* fcmla */
	{"01100100 xx 00000 x 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* fcadd */
	{"01100100 xx 010 000 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* faddp */
	{"01100100 xx 010 1xx 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* fmaxnmp .. fminp */
	{"01100100 0x1 xx vvv 00000x vvvvv AAAAA", M, PLAIN, 0},   /* fmla, fmls */
	{"01100100 101 xx vvv 00000x vvvvv AAAAA", M, PLAIN, 0},
	{"01100100 111 x vvvv 00000x vvvvv AAAAA", M, PLAIN, 0},
	{"01100100 101 xx vvv 0001xx vvvvv AAAAA", M, PLAIN, 0}, /* fcmla */
	{"01100100 111 x vvvv 0001xx vvvvv AAAAA", M, PLAIN, 0},
	{"01100100 0x1 xx vvv 001000 vvvvv VVVVV", M, PLAIN, 0}, /* fmul */
	{"01100100 101 xx vvv 001000 vvvvv VVVVV", M, PLAIN, 0},
	{"01100100 111 x vvvv 001000 vvvvv VVVVV", M, PLAIN, 0},
	{"01100100 011 xx vvv 010000 vvvvv AAAAA", M, PLAIN, 0}, /* bfdot */
	{"01100100 1x1 xx vvv 0100xx vvvvv AAAAA", M, PLAIN, 0}, /* fmlalb, bfmlalb */
	{"01100100 101 xx vvv 0110xx vvvvv AAAAA", M, PLAIN, 0}, /* fmlslb */
	{"01100100 011 vvvvv 100000 vvvvv AAAAA", M, PLAIN, 0},  /* bfdot */
	{"01100100 1x1 vvvvv 10000x vvvvv AAAAA", M, PLAIN, 0},  /* fmlalb, bfmlalb */
	{"01100100 101 vvvvv 10100x vvvvv AAAAA", M, PLAIN, 0},  /* fmlslb */
	{"01100100 011 vvvvv 111001 vvvvv AAAAA", M, PLAIN, 0},  /* bfmmla */
	{"01100100 1x1 vvvvv 111001 vvvvv AAAAA", M, PLAIN, 0},  /* fmmla */

	/* Floating point. Compares leave the flags alone. */
	{"01100101 00 001010 101 ppp vvvvv AAAAA", M, PLAIN, 0},   /* fcvtx */
	{"01100101 00 011 01 0 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* flogb */
	{"01100101 00 011 1x 0 101 ppp vvvvv AAAAA", M, PLAIN, 0},
	{"01100101 00 x xxxxx xxx xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01100101 xx 0 vvvvv 000 00x vvvvv VVVVV", M, PLAIN, 0},  /* fadd, fsub */
	{"01100101 xx 0 vvvvv 000 01x vvvvv VVVVV", M, PLAIN, 0},  /* fmul, ftsmul */
	{"01100101 xx 0 vvvvv 000 11x vvvvv VVVVV", M, PLAIN, 0},  /* frecps, frsqrts */
	{"01100101 xx 000 000 001 ppp vvvvv VVVVV", M, PLAIN, 0},  /* faddv */
	{"01100101 xx 000 1xx 001 ppp vvvvv VVVVV", M, PLAIN, 0},  /* fmaxnmv .. fminv */
	{"01100101 xx 001 11x 001 100 vvvvv VVVVV", M, PLAIN, 0},  /* frecpe, frsqrte */
	{"01100101 xx 010 00x 001 ppp vvvvv x PPPP", M, PLAIN, 0}, /* fcmge .. fcmle with zero */
	{"01100101 xx 010 01x 001 ppp vvvvv 0 PPPP", M, PLAIN, 0}, /* fcmeq, fcmne with zero */
	{"01100101 xx 011 000 001 ppp vvvvv AAAAA", M, PLAIN, 0},  /* fadda */
	{"01100101 xx 0 xxxxx 111 xxx xxxxx 0 xxxx", M, UNDEFINED, 0},
	{"01100101 xx 0 vvvvv x1x ppp vvvvv x PPPP", M, PLAIN, 0}, /* fcmge .. facgt */
	{"01100101 xx 00 0xxx 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* fadd .. fmin */
	{"01100101 xx 00 100x 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* fabd, fscale */
	{"01100101 xx 00 1010 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* fmulx */
	{"01100101 xx 00 110x 100 ppp vvvvv AAAAA", M, PLAIN, 0},  /* fdivr, fdiv */
	{"01100101 xx 010 xxx 100 000 vvvvv AAAAA", M, PLAIN, 0},  /* ftmad */
	{"01100101 xx 011 xxx 100 ppp 0000 x AAAAA", M, PLAIN, 0}, /* fadd .. fmin #imm */
	{"01100101 xx 000 101 101 xxx xxxxx xxxxx", M, UNDEFINED, 0},
	{"01100101 xx 000 xxx 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* frintn .. frinti */
	{"01100101 1x 001 0x0 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* fcvt, bfcvt */
	{"01100101 1x 001 001 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* fcvt */
	{"01100101 11 001 011 101 ppp vvvvv AAAAA", M, PLAIN, 0},
	{"01100101 xx 001 10x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* frecpx, fsqrt */
	{"01100101 01 01x 01x 101 ppp vvvvv AAAAA", M, PLAIN, 0}, /* scvtf, fcvtzs */
	{"01100101 x1 01x 1xx 101 ppp vvvvv AAAAA", M, PLAIN, 0},
	{"01100101 10 01x 10x 101 ppp vvvvv AAAAA", M, PLAIN, 0},
	{"01100101 11 01x 00x 101 ppp vvvvv AAAAA", M, PLAIN, 0},
	{"01100101 xx 1 vvvvv xxx ppp vvvvv AAAAA", M, PLAIN, 0}, /* fmla .. fnmsb */

	/* Loads of 4-byte elements at vector addresses: 24:23 size, 14 unsigned, 13 first-fault. */
	{"1000010 00 x0 vvvvv 0x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1000010 00 x0 vvvvv 0x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1000010 01 xx vvvvv 0x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1000010 01 xx vvvvv 0x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1000010 10 xx vvvvv 010 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1000010 10 xx vvvvv 011 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1000010 0x 01 xxxxx 1x0 ppp vvvvv VVVVV", L, PLAIN, 0},
	{"1000010 0x 01 xxxxx 1x1 ppp vvvvv VVVVV", L, PLAIN, FFR_RW},
	{"1000010 10 01 xxxxx 110 ppp vvvvv VVVVV", L, PLAIN, 0},
	{"1000010 10 01 xxxxx 111 ppp vvvvv VVVVV", L, PLAIN, FFR_RW},
	{"1000010 0x 00 rrrrr 10x ppp vvvvv VVVVV", L, PLAIN, 0}, /* ldnt1 */
	{"1000010 10 00 rrrrr 101 ppp vvvvv VVVVV", L, PLAIN, 0},

	/* Whole registers, replicated elements, prefetches. */
	{"1000010 11 0 xxxxxx 000 xxx bbbbb 0 PPPP", L, PLAIN, 0}, /* ldr p */
	{"1000010 11 0 xxxxxx 010 xxx bbbbb VVVVV", L, PLAIN, 0},  /* ldr z */
	{"1000010 xx 1 xxxxxx 1xx ppp bbbbb VVVVV", L, PLAIN, 0},  /* ld1r */
	{"1000010 00 x1 vvvvv 0xx ppp bbbbb 0 xxxx", O, PLAIN, 0}, /* prf */
	{"1000010 11 1 xxxxxx 0xx ppp bbbbb 0 xxxx", O, PLAIN, 0},
	{"1000010 xx 00 11111 110 xxx xxxxx x xxxx", O, UNDEFINED, 0},
	{"1000010 xx 00 rrrrr 110 ppp bbbbb 0 xxxx", O, PLAIN, 0},
	{"1000010 xx 00 xxxxx 111 ppp vvvvv 0 xxxx", O, PLAIN, 0},

	/* Contiguous loads; index register 31 is not allowed, except in first-fault loads. */
	{"1010010 xx xx 11111 x10 xxx xxxxx xxxxx", L, UNDEFINED, 0},
	{"1010010 xx xx 11111 000 xxx xxxxx xxxxx", L, UNDEFINED, 0},
	{"1010010 xx 0x rrrrr 000 ppp bbbbb VVVVV", L, PLAIN, 0}, /* ld1rq, ld1ro */
	{"1010010 xx 0x 0xxxx 001 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1010010 xx xx rrrrr 010 ppp bbbbb VVVVV", L, PLAIN, 0},      /* ld1 */
	{"1010010 xx xx rrrrr 011 ppp bbbbb VVVVV", L, PLAIN, FFR_RW}, /* ldff1 */
	{"1010010 xx xx 0xxxx 101 ppp bbbbb VVVVV", L, PLAIN, 0},      /* ld1 */
	{"1010010 xx xx 1xxxx 101 ppp bbbbb VVVVV", L, PLAIN, FFR_RW}, /* ldnf1 */
	{"1010010 xx 00 rrrrr 110 ppp bbbbb VVVVV", L, PLAIN, 0},      /* ldnt1 */
	{"1010010 xx 01 rrrrr 110 ppp bbbbb VVVV2", L, PLAIN, 0},      /* ld2 */
	{"1010010 xx 10 rrrrr 110 ppp bbbbb VVVV3", L, PLAIN, 0},      /* ld3 */
	{"1010010 xx 11 rrrrr 110 ppp bbbbb VVVV4", L, PLAIN, 0},      /* ld4 */
	{"1010010 xx 00 0xxxx 111 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1010010 xx 01 0xxxx 111 ppp bbbbb VVVV2", L, PLAIN, 0},
	{"1010010 xx 10 0xxxx 111 ppp bbbbb VVVV3", L, PLAIN, 0},
	{"1010010 xx 11 0xxxx 111 ppp bbbbb VVVV4", L, PLAIN, 0},

	/* Loads of 8-byte elements at vector addresses; there is no signed doubleword. */
	{"1100010 11 xx xxxxx x0x xxx xxxxx xxxxx", L, UNDEFINED, 0},
	{"1100010 00 x0 vvvvv 0x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1100010 00 x0 vvvvv 0x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1100010 01 xx vvvvv 0x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1100010 01 xx vvvvv 0x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1100010 1x xx vvvvv 0x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1100010 1x xx vvvvv 0x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1100010 00 10 vvvvv 1x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1100010 00 10 vvvvv 1x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1100010 01 1x vvvvv 1x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1100010 01 1x vvvvv 1x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1100010 1x 1x vvvvv 1x0 ppp bbbbb VVVVV", L, PLAIN, 0},
	{"1100010 1x 1x vvvvv 1x1 ppp bbbbb VVVVV", L, PLAIN, FFR_RW},
	{"1100010 xx 01 xxxxx 1x0 ppp vvvvv VVVVV", L, PLAIN, 0},
	{"1100010 xx 01 xxxxx 1x1 ppp vvvvv VVVVV", L, PLAIN, FFR_RW},
	{"1100010 xx 00 rrrrr 1x0 ppp vvvvv VVVVV", L, PLAIN, 0},  /* ldnt1 */
	{"1100010 00 x1 vvvvv 0xx ppp bbbbb 0 xxxx", O, PLAIN, 0}, /* prf */
	{"1100010 00 11 vvvvv 1xx ppp bbbbb 0 xxxx", O, PLAIN, 0},
	{"1100010 xx 00 xxxxx 111 ppp vvvvv 0 xxxx", O, PLAIN, 0},

	/* Stores: 24:23 the size in memory, at most that of the element in 22:21. */
	{"1110010 11 0 xxxxxx 000 xxx bbbbb 0 pppp", S, PLAIN, 0}, /* str p */
	{"1110010 11 0 xxxxxx 010 xxx bbbbb vvvvv", S, PLAIN, 0},  /* str z */
	{"1110010 xx xx 11111 01x xxx xxxxx xxxxx", S, UNDEFINED, 0},
	{"1110010 00 xx rrrrr 010 ppp bbbbb vvvvv", S, PLAIN, 0}, /* st1 */
	{"1110010 01 01 rrrrr 010 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 x1 11 rrrrr 010 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 01 10 rrrrr 010 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 10 1x rrrrr 010 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 00 xx 0xxxx 111 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 01 01 0xxxx 111 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 x1 11 0xxxx 111 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 01 10 0xxxx 111 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 10 1x 0xxxx 111 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 xx 00 rrrrr 011 ppp bbbbb vvvvv", S, PLAIN, 0}, /* stnt1 */
	{"1110010 xx 01 rrrrr 011 ppp bbbbb vvvv2", S, PLAIN, 0}, /* st2 */
	{"1110010 xx 10 rrrrr 011 ppp bbbbb vvvv3", S, PLAIN, 0}, /* st3 */
	{"1110010 xx 11 rrrrr 011 ppp bbbbb vvvv4", S, PLAIN, 0}, /* st4 */
	{"1110010 xx 00 1xxxx 111 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 xx 01 1xxxx 111 ppp bbbbb vvvv2", S, PLAIN, 0},
	{"1110010 xx 10 1xxxx 111 ppp bbbbb vvvv3", S, PLAIN, 0},
	{"1110010 xx 11 1xxxx 111 ppp bbbbb vvvv4", S, PLAIN, 0},

	/* Stores at vector addresses; bytes are not scaled, words hold no doublewords. */
	{"1110010 00 x1 xxxxx 1x0 xxx xxxxx xxxxx", S, UNDEFINED, 0},
	{"1110010 11 1x xxxxx 1x0 xxx xxxxx xxxxx", S, UNDEFINED, 0},
	{"1110010 00 01 xxxxx 101 xxx xxxxx xxxxx", S, UNDEFINED, 0},
	{"1110010 11 11 xxxxx 101 xxx xxxxx xxxxx", S, UNDEFINED, 0},
	{"1110010 11 10 xxxxx 001 xxx xxxxx xxxxx", S, UNDEFINED, 0},
	{"1110010 xx xx vvvvv 1x0 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 xx 0x vvvvv 101 ppp bbbbb vvvvv", S, PLAIN, 0},
	{"1110010 xx 1x xxxxx 101 ppp vvvvv vvvvv", S, PLAIN, 0},
	{"1110010 xx x0 rrrrr 001 ppp vvvvv vvvvv", S, PLAIN, 0}, /* stnt1 */

	{NULL, 0, 0, 0},
};
