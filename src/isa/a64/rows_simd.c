/* Scalar floating point, Advanced SIMD, cryptography.
 *
 * The comments name the signed one, or the first, of several instructions. Sizes that an
 * instruction does not have are holes before its group. A narrowing instruction with bit 30 set
 * writes the upper half only. */
#include <stddef.h>

#include "isa/a64/rows.h"
#include "isa/insn.h"

#define F CLASS_FLOAT
#define M CLASS_SIMD

const struct a64_row a64_rows_simd[] = {
	/* Floating point; type 10 exists for the upper half of a vector only. */
	{"1 00 11110 10 1 01 110 000000 vvvvv wwwww", F, PLAIN, 0}, /* fmov x, v.d[1] */
	{"1 00 11110 10 1 01 111 000000 rrrrr AAAAA", F, PLAIN, 0}, /* fmov v.d[1], x */
	{"x 00 11110 10 x xx xxx xxxxxx xxxxx xxxxx", F, UNDEFINED, 0},
	{"0 00 11110 xx 0 xx xxx 0xxxxx xxxxx xxxxx", F, UNDEFINED, 0},
	{"x 00 11110 xx 0 00 01x xxxxxx rrrrr VVVVV", F, PLAIN, 0}, /* scvtf, fixed point */
	{"x 00 11110 xx 0 11 00x xxxxxx vvvvv wwwww", F, PLAIN, 0}, /* fcvtzs, fixed point */
	{"x 00 11110 xx 1 xx 00x 000000 vvvvv wwwww", F, PLAIN, 0}, /* fcvtns, ps, ms, zs */
	{"x 00 11110 xx 1 00 01x 000000 rrrrr VVVVV", F, PLAIN, 0}, /* scvtf */
	{"x 00 11110 xx 1 00 10x 000000 vvvvv wwwww", F, PLAIN, 0}, /* fcvtas */
	{"0 00 11110 00 1 00 110 000000 vvvvv wwwww", F, PLAIN, 0}, /* fmov */
	{"1 00 11110 01 1 00 110 000000 vvvvv wwwww", F, PLAIN, 0},
	{"x 00 11110 11 1 00 110 000000 vvvvv wwwww", F, PLAIN, 0},
	{"0 00 11110 00 1 00 111 000000 rrrrr VVVVV", F, PLAIN, 0},
	{"1 00 11110 01 1 00 111 000000 rrrrr VVVVV", F, PLAIN, 0},
	{"x 00 11110 11 1 00 111 000000 rrrrr VVVVV", F, PLAIN, 0},
	{"0 00 11110 01 1 11 110 000000 vvvvv wwwww", F, PLAIN, FLAGS_W}, /* fjcvtzs */
	{"000 11110 xx 1 0000xx 10000 vvvvv VVVVV", F, PLAIN, 0}, /* fmov, fabs, fneg, fsqrt */
	{"000 11110 00 1 0001x1 10000 vvvvv VVVVV", F, PLAIN, 0}, /* fcvt */
	{"000 11110 01 1 000100 10000 vvvvv VVVVV", F, PLAIN, 0},
	{"000 11110 01 1 00011x 10000 vvvvv VVVVV", F, PLAIN, 0}, /* bfcvt, fcvt */
	{"000 11110 11 1 00010x 10000 vvvvv VVVVV", F, PLAIN, 0},
	{"000 11110 xx 1 001101 10000 xxxxx xxxxx", F, UNDEFINED, 0},
	{"000 11110 xx 1 001xxx 10000 vvvvv VVVVV", F, PLAIN, 0},         /* frintn .. frinti */
	{"000 11110 0x 1 0100xx 10000 vvvvv VVVVV", F, PLAIN, 0},         /* frint32z .. frint64x */
	{"000 11110 xx 1 vvvvv 001000 vvvvv x0000", F, PLAIN, FLAGS_W},   /* fcmp, fcmpe */
	{"000 11110 xx 1 xxxxx 001000 vvvvv x1000", F, PLAIN, FLAGS_W},   /* with zero */
	{"000 11110 xx 1 xxxxxxxx 100 00000 VVVVV", F, PLAIN, 0},         /* fmov #imm */
	{"000 11110 xx 1 vvvvv xxxx 01 vvvvv xxxxx", F, PLAIN, FLAGS_RW}, /* fccmp */
	{"000 11110 xx 1 vvvvv 0xxx 10 vvvvv VVVVV", F, PLAIN, 0},        /* fmul .. fminnm */
	{"000 11110 xx 1 vvvvv 1000 10 vvvvv VVVVV", F, PLAIN, 0},        /* fnmul */
	{"000 11110 xx 1 vvvvv xxxx 11 vvvvv VVVVV", F, PLAIN, FLAGS_R},  /* fcsel */
	{"000 11111 10 x xxxxx x xxxxx xxxxx xxxxx", F, UNDEFINED, 0},
	{"000 11111 xx x vvvvv x vvvvv vvvvv VVVVV", F, PLAIN, 0}, /* fmadd .. fnmsub */

	/* Three vectors of the same type. */
	{"0 x 0 01110 xx 1 vvvvv 00011 1 vvvvv VVVVV", M, PLAIN, 0},     /* and, bic, orr, orn */
	{"0 x 1 01110 00 1 vvvvv 00011 1 vvvvv VVVVV", M, PLAIN, 0},     /* eor */
	{"0 x 1 01110 xx 1 vvvvv 00011 1 vvvvv AAAAA", M, PLAIN, 0},     /* bsl, bit, bif */
	{"0 0 x 01110 11 1 xxxxx xxxxx 1 xxxxx xxxxx", M, UNDEFINED, 0}, /* 1d */
	{"0 0 x 01110 01 1 xxxxx 11xxx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 1 xxxxx 00x00 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 1 xxxxx 00010 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 1 xxxxx 011xx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 1 xxxxx 1001x 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 1 xxxxx 1010x 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 1 xxxxx 10110 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 00 1 xxxxx 10110 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x 1 01110 x1 1 xxxxx 10011 1 xxxxx xxxxx", M, UNDEFINED, 0}, /* pmul: bytes only */
	{"0 x 1 01110 10 1 xxxxx 10011 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 xx 1 vvvvv 0000x 1 vvvvv VVVVV", M, PLAIN, 0}, /* shadd, sqadd */
	{"0 x x 01110 xx 1 vvvvv 00010 1 vvvvv VVVVV", M, PLAIN, 0}, /* srhadd */
	{"0 x x 01110 xx 1 vvvvv 001xx 1 vvvvv VVVVV", M, PLAIN, 0}, /* shsub, sqsub, cmgt, cmge */
	{"0 x x 01110 xx 1 vvvvv 010xx 1 vvvvv VVVVV", M, PLAIN, 0}, /* sshl .. sqrshl */
	{"0 x x 01110 xx 1 vvvvv 0110x 1 vvvvv VVVVV", M, PLAIN, 0}, /* smax, smin */
	{"0 x x 01110 xx 1 vvvvv 01110 1 vvvvv VVVVV", M, PLAIN, 0}, /* sabd */
	{"0 x x 01110 xx 1 vvvvv 01111 1 vvvvv AAAAA", M, PLAIN, 0}, /* saba */
	{"0 x x 01110 xx 1 vvvvv 1000x 1 vvvvv VVVVV", M, PLAIN, 0}, /* add, cmtst */
	{"0 x x 01110 xx 1 vvvvv 10010 1 vvvvv AAAAA", M, PLAIN, 0}, /* mla */
	{"0 x x 01110 xx 1 vvvvv 10011 1 vvvvv VVVVV", M, PLAIN, 0}, /* mul */
	{"0 x x 01110 xx 1 vvvvv 1010x 1 vvvvv VVVVV", M, PLAIN, 0}, /* smaxp, sminp */
	{"0 x x 01110 xx 1 vvvvv 10110 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmulh */
	{"0 x 0 01110 xx 1 vvvvv 10111 1 vvvvv VVVVV", M, PLAIN, 0}, /* addp */
	{"0 x x 01110 xx 1 vvvvv 11000 1 vvvvv VVVVV", M, PLAIN, 0}, /* fmaxnm, fmaxnmp */
	{"0 x 0 01110 xx 1 vvvvv 11001 1 vvvvv AAAAA", M, PLAIN, 0}, /* fmla, fmls */
	{"0 x 1 01110 x0 1 vvvvv 11001 1 vvvvv AAAAA", M, PLAIN, 0}, /* fmlal2, fmlsl2 */
	{"0 x x 01110 xx 1 vvvvv 11010 1 vvvvv VVVVV", M, PLAIN, 0}, /* fadd, fsub, faddp, fabd */
	{"0 x x 01110 0x 1 vvvvv 11011 1 vvvvv VVVVV", M, PLAIN, 0}, /* fmulx, fmul */
	{"0 x x 01110 0x 1 vvvvv 11100 1 vvvvv VVVVV", M, PLAIN, 0}, /* fcmeq, fcmge */
	{"0 x 1 01110 1x 1 vvvvv 11100 1 vvvvv VVVVV", M, PLAIN, 0}, /* fcmgt */
	{"0 x 0 01110 x0 1 vvvvv 11101 1 vvvvv AAAAA", M, PLAIN, 0}, /* fmlal, fmlsl */
	{"0 x 1 01110 xx 1 vvvvv 11101 1 vvvvv VVVVV", M, PLAIN, 0}, /* facge, facgt */
	{"0 x x 01110 xx 1 vvvvv 11110 1 vvvvv VVVVV", M, PLAIN, 0}, /* fmax, fmaxp */
	{"0 x 0 01110 xx 1 vvvvv 11111 1 vvvvv VVVVV", M, PLAIN, 0}, /* frecps, frsqrts */
	{"0 x 1 01110 0x 1 vvvvv 11111 1 vvvvv VVVVV", M, PLAIN, 0}, /* fdiv */
	{"0 x x 01110 x10 vvvvv 00 000 1 vvvvv VVVVV", M, PLAIN, 0}, /* half precision: the same */
	{"0 x 0 01110 x10 vvvvv 00 001 1 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x x 01110 x10 vvvvv 00 010 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 010 vvvvv 00 011 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 010 vvvvv 00 100 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 1 01110 110 vvvvv 00 100 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 1 01110 x10 vvvvv 00 101 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 x10 vvvvv 00 110 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 0 01110 x10 vvvvv 00 111 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 1 01110 010 vvvvv 00 111 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 1 01110 01 0 vvvvv 1 000x 1 vvvvv AAAAA", M, PLAIN, 0}, /* sqrdmlah, sqrdmlsh */
	{"0 x 1 01110 10 0 vvvvv 1 000x 1 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x x 01110 10 0 vvvvv 1 0010 1 vvvvv AAAAA", M, PLAIN, 0}, /* sdot */
	{"0 x 0 01110 10 0 vvvvv 1 0011 1 vvvvv AAAAA", M, PLAIN, 0}, /* usdot */
	{"0 1 x 01110 10 0 vvvvv 1 0100 1 vvvvv AAAAA", M, PLAIN, 0}, /* smmla */
	{"0 1 0 01110 10 0 vvvvv 1 0101 1 vvvvv AAAAA", M, PLAIN, 0}, /* usmmla */
	{"0 0 1 01110 11 0 xxxxx 1 10xx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 1 01110 11 0 xxxxx 1 11x0 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x 1 01110 x1 0 vvvvv 1 10xx 1 vvvvv AAAAA", M, PLAIN, 0}, /* fcmla */
	{"0 x 1 01110 10 0 vvvvv 1 10xx 1 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x 1 01110 x1 0 vvvvv 1 11x0 1 vvvvv VVVVV", M, PLAIN, 0}, /* fcadd */
	{"0 x 1 01110 10 0 vvvvv 1 11x0 1 vvvvv VVVVV", M, PLAIN, 0},
	{"0 1 1 01110 01 0 vvvvv 1 1101 1 vvvvv AAAAA", M, PLAIN, 0}, /* bfmmla */
	{"0 x 1 01110 x1 0 vvvvv 1 1111 1 vvvvv AAAAA", M, PLAIN, 0}, /* bfdot, bfmlalb */

	/* Three vectors of different types. */
	{"0 x 0 01110 11 1 vvvvv 1110 00 vvvvv VVVVV", M, PLAIN, 0}, /* pmull */
	{"0 x 0 01110 00 1 vvvvv 1110 00 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 11 1 xxxxx xxxx 00 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 00 1 xxxxx 1xx1 00 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 xx 1 vvvvv 00xx 00 vvvvv VVVVV", M, PLAIN, 0}, /* saddl .. ssubw */
	{"0 0 x 01110 xx 1 vvvvv 01x0 00 vvvvv VVVVV", M, PLAIN, 0}, /* addhn, subhn */
	{"0 1 x 01110 xx 1 vvvvv 01x0 00 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x x 01110 xx 1 vvvvv 0101 00 vvvvv AAAAA", M, PLAIN, 0}, /* sabal */
	{"0 x x 01110 xx 1 vvvvv 0111 00 vvvvv VVVVV", M, PLAIN, 0}, /* sabdl */
	{"0 x x 01110 xx 1 vvvvv 10x0 00 vvvvv AAAAA", M, PLAIN, 0}, /* smlal, smlsl */
	{"0 x 0 01110 xx 1 vvvvv 10x1 00 vvvvv AAAAA", M, PLAIN, 0}, /* sqdmlal, sqdmlsl */
	{"0 x x 01110 xx 1 vvvvv 1100 00 vvvvv VVVVV", M, PLAIN, 0}, /* smull */
	{"0 x 0 01110 xx 1 vvvvv 1101 00 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmull */

	/* Two vectors. */
	{"0 0 x 01110 11 10000 00x11 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 x 01110 11 10000 010xx 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 x 01110 11 10000 011xx 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 x 01110 x1 10000 110xx 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 x 01110 x1 10000 111xx 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 10000 00000 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 10000 00010 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 10000 001x0 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 10000 1001x 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 11 10000 10100 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x 0 01110 xx 10000 00000 10 vvvvv VVVVV", M, PLAIN, 0}, /* rev64 */
	{"0 x 1 01110 0x 10000 00000 10 vvvvv VVVVV", M, PLAIN, 0}, /* rev32 */
	{"0 x 0 01110 00 10000 00001 10 vvvvv VVVVV", M, PLAIN, 0}, /* rev16 */
	{"0 x x 01110 xx 10000 00010 10 vvvvv VVVVV", M, PLAIN, 0}, /* saddlp */
	{"0 x x 01110 xx 10000 00011 10 vvvvv AAAAA", M, PLAIN, 0}, /* suqadd */
	{"0 x x 01110 xx 10000 00100 10 vvvvv VVVVV", M, PLAIN, 0}, /* cls, clz */
	{"0 x x 01110 00 10000 00101 10 vvvvv VVVVV", M, PLAIN, 0}, /* cnt, not */
	{"0 x 1 01110 01 10000 00101 10 vvvvv VVVVV", M, PLAIN, 0}, /* rbit */
	{"0 x x 01110 xx 10000 00110 10 vvvvv AAAAA", M, PLAIN, 0}, /* sadalp */
	{"0 x x 01110 xx 10000 00111 10 vvvvv VVVVV", M, PLAIN, 0}, /* sqabs, sqneg */
	{"0 x x 01110 xx 10000 0100x 10 vvvvv VVVVV", M, PLAIN, 0}, /* cmgt, cmeq with zero */
	{"0 x 0 01110 xx 10000 01010 10 vvvvv VVVVV", M, PLAIN, 0}, /* cmlt with zero */
	{"0 x x 01110 xx 10000 01011 10 vvvvv VVVVV", M, PLAIN, 0}, /* abs, neg */
	{"0 x x 01110 1x 10000 0110x 10 vvvvv VVVVV", M, PLAIN, 0}, /* fcmgt, fcmeq with zero */
	{"0 x 0 01110 1x 10000 01110 10 vvvvv VVVVV", M, PLAIN, 0}, /* fcmlt with zero */
	{"0 x x 01110 1x 10000 01111 10 vvvvv VVVVV", M, PLAIN, 0}, /* fabs, fneg */
	{"0 0 x 01110 xx 10000 10010 10 vvvvv VVVVV", M, PLAIN, 0}, /* xtn, sqxtun */
	{"0 1 x 01110 xx 10000 10010 10 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x 1 01110 xx 10000 10011 10 vvvvv VVVVV", M, PLAIN, 0}, /* shll */
	{"0 0 x 01110 xx 10000 10100 10 vvvvv VVVVV", M, PLAIN, 0}, /* sqxtn */
	{"0 1 x 01110 xx 10000 10100 10 vvvvv AAAAA", M, PLAIN, 0},
	{"0 0 0 01110 0x 10000 10110 10 vvvvv VVVVV", M, PLAIN, 0}, /* fcvtn */
	{"0 1 0 01110 0x 10000 10110 10 vvvvv AAAAA", M, PLAIN, 0},
	{"0 0 0 01110 10 10000 10110 10 vvvvv VVVVV", M, PLAIN, 0}, /* bfcvtn */
	{"0 1 0 01110 10 10000 10110 10 vvvvv AAAAA", M, PLAIN, 0},
	{"0 0 1 01110 01 10000 10110 10 vvvvv VVVVV", M, PLAIN, 0}, /* fcvtxn */
	{"0 1 1 01110 01 10000 10110 10 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x 0 01110 0x 10000 10111 10 vvvvv VVVVV", M, PLAIN, 0}, /* fcvtl */
	{"0 x x 01110 0x 10000 11xxx 10 vvvvv VVVVV", M, PLAIN, 0}, /* frintn .. scvtf, frint32z */
	{"0 x 0 01110 1x 10000 11000 10 vvvvv VVVVV", M, PLAIN, 0}, /* frintp */
	{"0 x x 01110 1x 10000 11001 10 vvvvv VVVVV", M, PLAIN, 0}, /* frintz */
	{"0 x x 01110 1x 10000 1101x 10 vvvvv VVVVV", M, PLAIN, 0}, /* fcvtps, fcvtzs */
	{"0 x x 01110 10 10000 11100 10 vvvvv VVVVV", M, PLAIN, 0}, /* urecpe */
	{"0 x x 01110 1x 10000 11101 10 vvvvv VVVVV", M, PLAIN, 0}, /* frecpe */
	{"0 x 1 01110 1x 10000 11111 10 vvvvv VVVVV", M, PLAIN, 0}, /* fsqrt */
	{"0 x x 01110 0 111100 110xx 10 vvvvv VVVVV", M, PLAIN, 0}, /* half precision: the same */
	{"0 x x 01110 0 111100 1110x 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 1 111100 0110x 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 0 01110 1 111100 01110 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 1 111100 01111 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 0 01110 1 111100 11000 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 1 111100 11001 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 1 111100 1101x 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 1 111100 11101 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 1 01110 1 111100 11111 10 vvvvv VVVVV", M, PLAIN, 0},

	/* Across lanes. */
	{"0 x 0 01110 x0 11000 01100 10 vvvvv VVVVV", M, PLAIN, 0}, /* fmaxnmv, half precision */
	{"0 x 0 01110 x0 11000 01111 10 vvvvv VVVVV", M, PLAIN, 0}, /* fmaxv */
	{"0 1 1 01110 x0 11000 01100 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 1 1 01110 x0 11000 01111 10 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01110 11 11000 xxxxx 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 x 01110 10 11000 xxxxx 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 01110 xx 11000 00011 10 vvvvv VVVVV", M, PLAIN, 0}, /* saddlv */
	{"0 x x 01110 xx 11000 x1010 10 vvvvv VVVVV", M, PLAIN, 0}, /* smaxv, sminv */
	{"0 x 0 01110 xx 11000 11011 10 vvvvv VVVVV", M, PLAIN, 0}, /* addv */

	/* Copies; the lowest bit set in 20:16 is the size. */
	{"0 x x 01110 000 x0000 0 xxxx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 0 01110 000 x1000 0 000x 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x 0 01110 000 xxxxx 0 0000 1 vvvvv VVVVV", M, PLAIN, 0}, /* dup v, v[i] */
	{"0 x 0 01110 000 xxxxx 0 0001 1 rrrrr VVVVV", M, PLAIN, 0}, /* dup v, r */
	{"0 1 0 01110 000 xxxxx 0 0011 1 rrrrr AAAAA", M, PLAIN, 0}, /* ins v[i], r */
	{"0 x 0 01110 000 xxxx1 0 0101 1 vvvvv wwwww", M, PLAIN, 0}, /* smov */
	{"0 x 0 01110 000 xxx10 0 0101 1 vvvvv wwwww", M, PLAIN, 0},
	{"0 1 0 01110 000 xx100 0 0101 1 vvvvv wwwww", M, PLAIN, 0},
	{"0 0 0 01110 000 xxxx1 0 0111 1 vvvvv wwwww", M, PLAIN, 0}, /* umov */
	{"0 0 0 01110 000 xxx10 0 0111 1 vvvvv wwwww", M, PLAIN, 0},
	{"0 0 0 01110 000 xx100 0 0111 1 vvvvv wwwww", M, PLAIN, 0},
	{"0 1 0 01110 000 x1000 0 0111 1 vvvvv wwwww", M, PLAIN, 0},
	{"0 1 1 01110 000 xxxxx 0 xxxx 1 vvvvv AAAAA", M, PLAIN, 0}, /* ins v[i], v[j] */

	/* Permutations. */
	{"0 0 0 01110 11 0 xxxxx 0 xxx 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x 0 01110 xx 0 vvvvv 0 x01 10 vvvvv VVVVV", M, PLAIN, 0}, /* uzp1, uzp2 */
	{"0 x 0 01110 xx 0 vvvvv 0 x1x 10 vvvvv VVVVV", M, PLAIN, 0}, /* trn1, zip1 .. */
	{"0 0 1 01110 00 0 vvvvv 0 0xxx 0 vvvvv VVVVV", M, PLAIN, 0}, /* ext */
	{"0 1 1 01110 00 0 vvvvv 0 xxxx 0 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 0 01110 00 0 vvvvv 0 00 0 00 vvvvv VVVVV", M, PLAIN, 0}, /* tbl */
	{"0 x 0 01110 00 0 vvvvv 0 01 0 00 vvvv2 VVVVV", M, PLAIN, 0},
	{"0 x 0 01110 00 0 vvvvv 0 10 0 00 vvvv3 VVVVV", M, PLAIN, 0},
	{"0 x 0 01110 00 0 vvvvv 0 11 0 00 vvvv4 VVVVV", M, PLAIN, 0},
	{"0 x 0 01110 00 0 vvvvv 0 00 1 00 vvvvv AAAAA", M, PLAIN, 0}, /* tbx */
	{"0 x 0 01110 00 0 vvvvv 0 01 1 00 vvvv2 AAAAA", M, PLAIN, 0},
	{"0 x 0 01110 00 0 vvvvv 0 10 1 00 vvvv3 AAAAA", M, PLAIN, 0},
	{"0 x 0 01110 00 0 vvvvv 0 11 1 00 vvvv4 AAAAA", M, PLAIN, 0},

	/* Constants. */
	{"0 x x 0111100000 xxx 0xx1 0 1 xxxxx AAAAA", M, PLAIN, 0}, /* orr, bic */
	{"0 x x 0111100000 xxx 10x1 0 1 xxxxx AAAAA", M, PLAIN, 0},
	{"0 0 1 0111100000 xxx 1111 0 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 0111100000 xxx xxxx 0 1 xxxxx VVVVV", M, PLAIN, 0}, /* movi, mvni, fmov */
	{"0 x 0 0111100000 xxx 1111 1 1 xxxxx VVVVV", M, PLAIN, 0}, /* fmov, half precision */

	/* Shifts; if 22:19 are zero, it is one of the constants above. */
	{"0 x x 011110 0000 xxx xxxxx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 011110 1xxx xxx 100xx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 011110 1xxx xxx 101xx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 0 x 011110 1xxx xxx xxxxx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 011110 0001 xxx 111xx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"0 x x 011110 xxxx xxx 00x00 1 vvvvv VVVVV", M, PLAIN, 0}, /* sshr, srshr */
	{"0 x x 011110 xxxx xxx 00x10 1 vvvvv AAAAA", M, PLAIN, 0}, /* ssra, srsra */
	{"0 x 1 011110 xxxx xxx 01000 1 vvvvv AAAAA", M, PLAIN, 0}, /* sri */
	{"0 x 0 011110 xxxx xxx 01010 1 vvvvv VVVVV", M, PLAIN, 0}, /* shl */
	{"0 x 1 011110 xxxx xxx 01010 1 vvvvv AAAAA", M, PLAIN, 0}, /* sli */
	{"0 x 1 011110 xxxx xxx 01100 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqshlu */
	{"0 x x 011110 xxxx xxx 01110 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqshl */
	{"0 0 x 011110 xxxx xxx 100xx 1 vvvvv VVVVV", M, PLAIN, 0}, /* shrn .. sqrshrn */
	{"0 1 x 011110 xxxx xxx 100xx 1 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x x 011110 xxxx xxx 10100 1 vvvvv VVVVV", M, PLAIN, 0}, /* sshll */
	{"0 x x 011110 xxxx xxx 11100 1 vvvvv VVVVV", M, PLAIN, 0}, /* scvtf, fixed point */
	{"0 x x 011110 xxxx xxx 11111 1 vvvvv VVVVV", M, PLAIN, 0}, /* fcvtzs, fixed point */

	/* By an element: of 2 bytes, in v0-v15; of 4 and 8, in any. */
	{"0 x 1 01111 01 xx vvvv 0x00 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* mla, mls */
	{"0 x 1 01111 10 x vvvvv 0x00 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x 0 01111 01 xx vvvv 1000 x 0 vvvvv VVVVV", M, PLAIN, 0}, /* mul */
	{"0 x 0 01111 10 x vvvvv 1000 x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x x 01111 01 xx vvvv 0x10 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* smlal, smlsl */
	{"0 x x 01111 10 x vvvvv 0x10 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x 0 01111 01 xx vvvv 0x11 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* sqdmlal, sqdmlsl */
	{"0 x 0 01111 10 x vvvvv 0x11 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x x 01111 01 xx vvvv 1010 x 0 vvvvv VVVVV", M, PLAIN, 0}, /* smull */
	{"0 x x 01111 10 x vvvvv 1010 x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 0 01111 01 xx vvvv 1011 x 0 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmull */
	{"0 x 0 01111 10 x vvvvv 1011 x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 0 01111 01 xx vvvv 110x x 0 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmulh, sqrdmulh */
	{"0 x 0 01111 10 x vvvvv 110x x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 1 01111 01 xx vvvv 11x1 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* sqrdmlah, sqrdmlsh */
	{"0 x 1 01111 10 x vvvvv 11x1 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x x 01111 10 x vvvvv 1110 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* sdot, udot */
	{"0 x 0 01111 x0 x vvvvv 1111 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* sudot, usdot */
	{"0 x 0 01111 01 x vvvvv 1111 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* bfdot */
	{"0 x 0 01111 11 xx vvvv 1111 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* bfmlalb */
	{"0 x 0 01111 00 xx vvvv 0x01 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* fmla, fmls */
	{"0 x 0 01111 10 x vvvvv 0x01 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"0 1 0 01111 11 0 vvvvv 0x01 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"0 x x 01111 00 xx vvvv 1001 x 0 vvvvv VVVVV", M, PLAIN, 0}, /* fmul, fmulx */
	{"0 x x 01111 10 x vvvvv 1001 x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"0 1 x 01111 11 0 vvvvv 1001 x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"0 x 0 01111 10 xx vvvv 0x00 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* fmlal, fmlsl */
	{"0 x 1 01111 10 xx vvvv 1x00 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* fmlal2, fmlsl2 */
	{"0 0 1 01111 01 x vvvvv 0xx1 0 0 vvvvv AAAAA", M, PLAIN, 0}, /* fcmla */
	{"0 1 1 01111 01 x vvvvv 0xx1 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"0 1 1 01111 10 0 vvvvv 0xx1 x 0 vvvvv AAAAA", M, PLAIN, 0},

	/* Scalars: three of the same type. */
	{"01 x 11110 xx 1 vvvvv 00x01 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqadd, sqsub */
	{"01 x 11110 11 1 vvvvv 0011x 1 vvvvv VVVVV", M, PLAIN, 0}, /* cmgt, cmge */
	{"01 x 11110 11 1 vvvvv 010x0 1 vvvvv VVVVV", M, PLAIN, 0}, /* sshl, srshl */
	{"01 x 11110 xx 1 vvvvv 010x1 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqshl, sqrshl */
	{"01 x 11110 11 1 vvvvv 1000x 1 vvvvv VVVVV", M, PLAIN, 0}, /* add, cmtst */
	{"01 x 11110 01 1 vvvvv 10110 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmulh */
	{"01 x 11110 10 1 vvvvv 10110 1 vvvvv VVVVV", M, PLAIN, 0},
	{"01 0 11110 0x 1 vvvvv 11011 1 vvvvv VVVVV", F, PLAIN, 0}, /* fmulx */
	{"01 x 11110 0x 1 vvvvv 11100 1 vvvvv VVVVV", F, PLAIN, 0}, /* fcmeq, fcmge */
	{"01 1 11110 1x 1 vvvvv 11100 1 vvvvv VVVVV", F, PLAIN, 0}, /* fcmgt */
	{"01 1 11110 xx 1 vvvvv 11101 1 vvvvv VVVVV", F, PLAIN, 0}, /* facge, facgt */
	{"01 1 11110 1x 1 vvvvv 11010 1 vvvvv VVVVV", F, PLAIN, 0}, /* fabd */
	{"01 0 11110 xx 1 vvvvv 11111 1 vvvvv VVVVV", F, PLAIN, 0}, /* frecps, frsqrts */
	{"01 0 11110 010 vvvvv 00 011 1 vvvvv VVVVV", F, PLAIN, 0}, /* half precision: the same */
	{"01 x 11110 010 vvvvv 00 100 1 vvvvv VVVVV", F, PLAIN, 0},
	{"01 1 11110 110 vvvvv 00 100 1 vvvvv VVVVV", F, PLAIN, 0},
	{"01 1 11110 x10 vvvvv 00 101 1 vvvvv VVVVV", F, PLAIN, 0},
	{"01 1 11110 110 vvvvv 00 010 1 vvvvv VVVVV", F, PLAIN, 0},
	{"01 0 11110 x10 vvvvv 00 111 1 vvvvv VVVVV", F, PLAIN, 0},
	{"01 1 11110 01 0 vvvvv 1 000x 1 vvvvv AAAAA", M, PLAIN, 0}, /* sqrdmlah */
	{"01 1 11110 10 0 vvvvv 1 000x 1 vvvvv AAAAA", M, PLAIN, 0},
	{"01 0 11110 01 1 vvvvv 10x1 00 vvvvv AAAAA", M, PLAIN, 0}, /* sqdmlal */
	{"01 0 11110 10 1 vvvvv 10x1 00 vvvvv AAAAA", M, PLAIN, 0},
	{"01 0 11110 01 1 vvvvv 1101 00 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmull */
	{"01 0 11110 10 1 vvvvv 1101 00 vvvvv VVVVV", M, PLAIN, 0},

	/* Two scalars. */
	{"01 x 11110 xx 10000 00011 10 vvvvv AAAAA", M, PLAIN, 0}, /* suqadd */
	{"01 x 11110 xx 10000 00111 10 vvvvv VVVVV", M, PLAIN, 0}, /* sqabs */
	{"01 x 11110 11 10000 0100x 10 vvvvv VVVVV", M, PLAIN, 0}, /* cmgt, cmeq with zero */
	{"01 0 11110 11 10000 01010 10 vvvvv VVVVV", M, PLAIN, 0},
	{"01 x 11110 11 10000 01011 10 vvvvv VVVVV", M, PLAIN, 0}, /* abs, neg */
	{"01 x 11110 11 10000 10100 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"01 1 11110 11 10000 10010 10 xxxxx xxxxx", M, UNDEFINED, 0},
	{"01 x 11110 xx 10000 10100 10 vvvvv VVVVV", M, PLAIN, 0}, /* sqxtn */
	{"01 1 11110 xx 10000 10010 10 vvvvv VVVVV", M, PLAIN, 0}, /* sqxtun */
	{"01 1 11110 01 10000 10110 10 vvvvv VVVVV", F, PLAIN, 0}, /* fcvtxn */
	{"01 x 11110 1x 10000 0110x 10 vvvvv VVVVV", F, PLAIN, 0}, /* fcmgt, fcmeq with zero */
	{"01 0 11110 1x 10000 01110 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 x 11110 xx 10000 1101x 10 vvvvv VVVVV", F, PLAIN, 0}, /* fcvtns, fcvtms */
	{"01 x 11110 0x 10000 11100 10 vvvvv VVVVV", F, PLAIN, 0}, /* fcvtas */
	{"01 x 11110 xx 10000 11101 10 vvvvv VVVVV", F, PLAIN, 0}, /* scvtf, frecpe */
	{"01 0 11110 1x 10000 11111 10 vvvvv VVVVV", F, PLAIN, 0}, /* frecpx */
	{"01 x 11110 1 111100 0110x 10 vvvvv VVVVV", F, PLAIN, 0}, /* half precision: the same */
	{"01 0 11110 1 111100 01110 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 x 11110 x 111100 1101x 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 x 11110 0 111100 11100 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 x 11110 x 111100 11101 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 0 11110 1 111100 11111 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 0 11110 11 11000 11011 10 vvvvv VVVVV", M, PLAIN, 0}, /* addp */
	{"01 0 11110 x0 11000 01100 10 vvvvv VVVVV", F, PLAIN, 0}, /* fmaxnmp, half precision */
	{"01 0 11110 00 11000 01101 10 vvvvv VVVVV", F, PLAIN, 0}, /* faddp */
	{"01 0 11110 x0 11000 01111 10 vvvvv VVVVV", F, PLAIN, 0}, /* fmaxp */
	{"01 1 11110 xx 11000 01100 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 1 11110 0x 11000 01101 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 1 11110 xx 11000 01111 10 vvvvv VVVVV", F, PLAIN, 0},
	{"01 0 11110 000 x0000 0 0000 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"01 0 11110 000 xxxxx 0 0000 1 vvvvv VVVVV", M, PLAIN, 0}, /* mov s, v[i] */

	/* Shifts of scalars. */
	{"01 x 111110 0000 xxx xxxxx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"01 x 111110 0001 xxx 111xx 1 xxxxx xxxxx", M, UNDEFINED, 0},
	{"01 x 111110 1xxx xxx 00x00 1 vvvvv VVVVV", M, PLAIN, 0}, /* sshr, srshr */
	{"01 x 111110 1xxx xxx 00x10 1 vvvvv AAAAA", M, PLAIN, 0}, /* ssra, srsra */
	{"01 1 111110 1xxx xxx 01000 1 vvvvv AAAAA", M, PLAIN, 0}, /* sri */
	{"01 0 111110 1xxx xxx 01010 1 vvvvv VVVVV", M, PLAIN, 0}, /* shl */
	{"01 1 111110 1xxx xxx 01010 1 vvvvv AAAAA", M, PLAIN, 0}, /* sli */
	{"01 1 111110 xxxx xxx 01100 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqshlu */
	{"01 x 111110 xxxx xxx 01110 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqshl */
	{"01 1 111110 0xxx xxx 1000x 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqshrun */
	{"01 x 111110 0xxx xxx 1001x 1 vvvvv VVVVV", M, PLAIN, 0}, /* sqshrn */
	{"01 x 111110 xxxx xxx 11100 1 vvvvv VVVVV", F, PLAIN, 0}, /* scvtf, fixed point */
	{"01 x 111110 xxxx xxx 11111 1 vvvvv VVVVV", F, PLAIN, 0}, /* fcvtzs, fixed point */

	/* Scalars by an element. */
	{"01 0 11111 01 xx vvvv 0x11 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* sqdmlal, sqdmlsl */
	{"01 0 11111 10 x vvvvv 0x11 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"01 0 11111 01 xx vvvv 1011 x 0 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmull */
	{"01 0 11111 10 x vvvvv 1011 x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"01 0 11111 01 xx vvvv 110x x 0 vvvvv VVVVV", M, PLAIN, 0}, /* sqdmulh, sqrdmulh */
	{"01 0 11111 10 x vvvvv 110x x 0 vvvvv VVVVV", M, PLAIN, 0},
	{"01 1 11111 01 xx vvvv 11x1 x 0 vvvvv AAAAA", M, PLAIN, 0}, /* sqrdmlah, sqrdmlsh */
	{"01 1 11111 10 x vvvvv 11x1 x 0 vvvvv AAAAA", M, PLAIN, 0},
	{"01 0 11111 00 xx vvvv 0x01 x 0 vvvvv AAAAA", F, PLAIN, 0}, /* fmla, fmls */
	{"01 0 11111 10 x vvvvv 0x01 x 0 vvvvv AAAAA", F, PLAIN, 0},
	{"01 0 11111 11 0 vvvvv 0x01 x 0 vvvvv AAAAA", F, PLAIN, 0},
	{"01 x 11111 00 xx vvvv 1001 x 0 vvvvv VVVVV", F, PLAIN, 0}, /* fmul, fmulx */
	{"01 x 11111 10 x vvvvv 1001 x 0 vvvvv VVVVV", F, PLAIN, 0},
	{"01 x 11111 11 0 vvvvv 1001 x 0 vvvvv VVVVV", F, PLAIN, 0},

	/* Cryptography. */
	{"01001110 00 10100 0010x 10 vvvvv AAAAA", M, PLAIN, 0}, /* aese, aesd */
	{"01001110 00 10100 0011x 10 vvvvv VVVVV", M, PLAIN, 0}, /* aesmc, aesimc */
	{"01011110 000 vvvvv 0 111 00 xxxxx xxxxx", M, UNDEFINED, 0},
	{"01011110 000 vvvvv 0 xxx 00 vvvvv AAAAA", M, PLAIN, 0}, /* sha1c .. sha256su1 */
	{"01011110 00 10100 00000 10 vvvvv VVVVV", M, PLAIN, 0},  /* sha1h */
	{"01011110 00 10100 00001 10 vvvvv AAAAA", M, PLAIN, 0},  /* sha1su1 */
	{"01011110 00 10100 00010 10 vvvvv AAAAA", M, PLAIN, 0},  /* sha256su0 */
	{"11001110 011 vvvvv 1000 0x vvvvv AAAAA", M, PLAIN, 0},  /* sha512h, sha512h2 */
	{"11001110 011 vvvvv 1000 10 vvvvv AAAAA", M, PLAIN, 0},  /* sha512su1 */
	{"11001110 011 vvvvv 1000 11 vvvvv VVVVV", M, PLAIN, 0},  /* rax1 */
	{"11001110 110 00000 1000 0x vvvvv AAAAA", M, PLAIN, 0},  /* sha512su0, sm4e */
	{"11001110 011 vvvvv 1100 0x vvvvv AAAAA", M, PLAIN, 0},  /* sm3partw1, sm3partw2 */
	{"11001110 011 vvvvv 1100 10 vvvvv VVVVV", M, PLAIN, 0},  /* sm4ekey */
	{"11001110 000 vvvvv 0 vvvvv vvvvv VVVVV", M, PLAIN, 0},  /* eor3 */
	{"11001110 001 vvvvv 0 vvvvv vvvvv VVVVV", M, PLAIN, 0},  /* bcax */
	{"11001110 010 vvvvv 0 vvvvv vvvvv VVVVV", M, PLAIN, 0},  /* sm3ss1 */
	{"11001110 010 vvvvv 10 xx xx vvvvv AAAAA", M, PLAIN, 0}, /* sm3tt1a .. sm3tt2b */
	{"11001110 100 vvvvv xxxxxx vvvvv VVVVV", M, PLAIN, 0},   /* xar */

	{NULL, 0, 0, 0},
};
