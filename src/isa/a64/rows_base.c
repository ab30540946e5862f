/* Data processing on general registers, branches, exceptions, system instructions. */
#include <stddef.h>

#include "isa/a64/rows.h"
#include "isa/insn.h"

#define I CLASS_INTEGER
#define B CLASS_BRANCH
#define O CLASS_OTHER

const struct a64_row a64_rows_base[] = {
	/* Reserved: udf, the only encoding that will always be undefined. */
	{"0000000000000000 xxxxxxxxxxxxxxxx", O, TRAP, 0},

	/* Data processing, immediate. */
	{"0 xx 10000 xxxxxxxxxxxxxxxxxxx wwwww", I, ADR, 0},
	{"1 xx 10000 xxxxxxxxxxxxxxxxxxx wwwww", I, ADRP, 0},
	{"xx 0 100010 x xxxxxxxxxxxx bbbbb sssss", I, ADD_IMM, 0},
	{"xx 1 100010 x xxxxxxxxxxxx bbbbb wwwww", I, ADD_IMM, FLAGS_W},
	{"1x0 100011 0 xxxxxx 00 xxxx bbbbb sssss", I, PLAIN, 0}, /* addg, subg */
	{"x00 1000111 00xx xxxxxxxx rrrrr wwwww", I, PLAIN, 0},   /* smax, umax, smin, umin */
	{"x 00 100100 x xxxxxx xxxxxx rrrrr sssss", I, LOGIC_IMM, 0},
	{"x 01 100100 x xxxxxx xxxxxx rrrrr sssss", I, LOGIC_IMM, 0},
	{"x 10 100100 x xxxxxx xxxxxx rrrrr sssss", I, LOGIC_IMM, 0},
	{"x 11 100100 x xxxxxx xxxxxx rrrrr wwwww", I, LOGIC_IMM, FLAGS_W},
	{"0 00 100101 0x xxxxxxxxxxxxxxxx wwwww", I, MOVN, 0},
	{"1 00 100101 xx xxxxxxxxxxxxxxxx wwwww", I, MOVN, 0},
	{"0 10 100101 0x xxxxxxxxxxxxxxxx wwwww", I, MOVZ, 0},
	{"1 10 100101 xx xxxxxxxxxxxxxxxx wwwww", I, MOVZ, 0},
	{"0 11 100101 0x xxxxxxxxxxxxxxxx uuuuu", I, PLAIN, 0}, /* movk */
	{"1 11 100101 xx xxxxxxxxxxxxxxxx uuuuu", I, PLAIN, 0},
	{"0 00 100110 0 0xxxxx 0xxxxx rrrrr wwwww", I, SBFM, 0},
	{"1 00 100110 1 xxxxxx xxxxxx rrrrr wwwww", I, SBFM, 0},
	{"0 01 100110 0 0xxxxx 0xxxxx rrrrr uuuuu", I, PLAIN, 0}, /* bfm */
	{"1 01 100110 1 xxxxxx xxxxxx rrrrr uuuuu", I, PLAIN, 0},
	{"0 10 100110 0 0xxxxx 0xxxxx rrrrr wwwww", I, UBFM, 0},
	{"1 10 100110 1 xxxxxx xxxxxx rrrrr wwwww", I, UBFM, 0},
	{"0 00 100111 00 rrrrr 0xxxxx rrrrr wwwww", I, PLAIN, 0}, /* extr */
	{"1 00 100111 10 rrrrr xxxxxx rrrrr wwwww", I, PLAIN, 0},

	/* Data processing, register. */
	{"0 00 01010 xx x rrrrr 0xxxxx rrrrr wwwww", I, LOGIC_SHIFTED, 0},
	{"1 00 01010 xx x rrrrr xxxxxx rrrrr wwwww", I, LOGIC_SHIFTED, 0},
	{"0 01 01010 xx x rrrrr 0xxxxx rrrrr wwwww", I, LOGIC_SHIFTED, 0},
	{"1 01 01010 xx x rrrrr xxxxxx rrrrr wwwww", I, LOGIC_SHIFTED, 0},
	{"0 10 01010 xx x rrrrr 0xxxxx rrrrr wwwww", I, LOGIC_SHIFTED, 0},
	{"1 10 01010 xx x rrrrr xxxxxx rrrrr wwwww", I, LOGIC_SHIFTED, 0},
	{"0 11 01010 xx x rrrrr 0xxxxx rrrrr wwwww", I, LOGIC_SHIFTED, FLAGS_W},
	{"1 11 01010 xx x rrrrr xxxxxx rrrrr wwwww", I, LOGIC_SHIFTED, FLAGS_W},
	{"xxx 01011 11 0 xxxxx xxxxxx xxxxx xxxxx", I, UNDEFINED, 0}, /* no ror */
	{"0x0 01011 xx 0 rrrrr 0xxxxx rrrrr wwwww", I, ADD_SHIFTED, 0},
	{"1x0 01011 xx 0 rrrrr xxxxxx rrrrr wwwww", I, ADD_SHIFTED, 0},
	{"0x1 01011 xx 0 rrrrr 0xxxxx rrrrr wwwww", I, ADD_SHIFTED, FLAGS_W},
	{"1x1 01011 xx 0 rrrrr xxxxxx rrrrr wwwww", I, ADD_SHIFTED, FLAGS_W},
	{"xx0 01011 00 1 rrrrr xxx 0xx bbbbb sssss", I, ADD_EXTENDED, 0},
	{"xx0 01011 00 1 rrrrr xxx 100 bbbbb sssss", I, ADD_EXTENDED, 0},
	{"xx1 01011 00 1 rrrrr xxx 0xx bbbbb wwwww", I, ADD_EXTENDED, FLAGS_W},
	{"xx1 01011 00 1 rrrrr xxx 100 bbbbb wwwww", I, ADD_EXTENDED, FLAGS_W},
	{"xx0 11010000 rrrrr 000000 rrrrr wwwww", I, PLAIN, FLAGS_R},    /* adc, sbc */
	{"xx1 11010000 rrrrr 000000 rrrrr wwwww", I, PLAIN, FLAGS_RW},   /* adcs, sbcs */
	{"101 11010000 xxxxxx 00001 rrrrr 0 xxxx", I, PLAIN, FLAGS_RW},  /* rmif */
	{"001 11010000 000000 x 0010 rrrrr 0 1101", I, PLAIN, FLAGS_RW}, /* setf8, setf16 */
	{"xx1 11010010 rrrrr xxxx 00 rrrrr 0 xxxx", I, PLAIN, FLAGS_RW}, /* ccmp, ccmn */
	{"xx1 11010010 xxxxx xxxx 10 rrrrr 0 xxxx", I, PLAIN, FLAGS_RW},
	{"xx0 11010100 rrrrr xxxx 0x rrrrr wwwww", I, PLAIN, FLAGS_R}, /* csel .. csneg */
	{"x00 11010110 rrrrr 00001x rrrrr wwwww", I, PLAIN, 0},        /* udiv, sdiv */
	{"x00 11010110 rrrrr 0010xx rrrrr wwwww", I, PLAIN, 0},        /* lsl, lsr, asr, ror */
	{"000 11010110 rrrrr 010x0x rrrrr wwwww", I, PLAIN, 0},        /* crc32 of 1, 2 bytes */
	{"000 11010110 rrrrr 010x10 rrrrr wwwww", I, PLAIN, 0},        /* of 4 */
	{"100 11010110 rrrrr 010x11 rrrrr wwwww", I, PLAIN, 0},        /* of 8 */
	{"x00 11010110 rrrrr 0110xx rrrrr wwwww", I, PLAIN, 0},        /* smax, umax, smin, umin */
	{"100 11010110 bbbbb 001100 rrrrr wwwww", I, PLAIN, 0},        /* pacga */
	{"100 11010110 bbbbb 000000 bbbbb wwwww", I, PLAIN, 0},        /* subp */
	{"101 11010110 bbbbb 000000 bbbbb wwwww", I, PLAIN, FLAGS_W},  /* subps */
	{"100 11010110 rrrrr 000100 bbbbb sssss", I, PLAIN, 0},        /* irg */
	{"100 11010110 rrrrr 000101 bbbbb wwwww", I, PLAIN, 0},        /* gmi */
	{"x10 11010110 00000 00000x rrrrr wwwww", I, PLAIN, 0},        /* rbit, rev16 */
	{"x10 11010110 00000 000010 rrrrr wwwww", I, PLAIN, 0},        /* rev, rev32 */
	{"110 11010110 00000 000011 rrrrr wwwww", I, PLAIN, 0},        /* rev */
	{"x10 11010110 00000 00010x rrrrr wwwww", I, PLAIN, 0},        /* clz, cls */
	{"x10 11010110 00000 00011x rrrrr wwwww", I, PLAIN, 0},        /* ctz, cnt */
	{"x10 11010110 00000 001000 rrrrr wwwww", I, PLAIN, 0},        /* abs */
	{"110 11010110 00001 000xxx bbbbb uuuuu", I, PLAIN, 0},        /* pacia .. autdb */
	{"110 11010110 00001 001xxx 11111 uuuuu", I, PLAIN, 0},        /* paciza .. autdzb */
	{"110 11010110 00001 01000x 11111 uuuuu", I, PLAIN, 0},        /* xpaci, xpacd */
	{"x00 11011000 rrrrr x rrrrr rrrrr wwwww", I, PLAIN, 0},       /* madd, msub */
	{"100 11011x01 rrrrr x rrrrr rrrrr wwwww", I, PLAIN, 0},       /* smaddl .. umsubl */
	{"100 11011x10 rrrrr 0 xxxxx rrrrr wwwww", I, PLAIN, 0},       /* smulh, umulh */

	/* Branches. */
	{"000101 xxxxxxxxxxxxxxxxxxxxxxxxxx", B, JUMP, 0},
	{"100101 xxxxxxxxxxxxxxxxxxxxxxxxxx", B, CALL, LINK_W},
	{"01010100 xxxxxxxxxxxxxxxxxxx x 111x", B, JUMP_ALWAYS, 0},
	{"01010100 xxxxxxxxxxxxxxxxxxx x xxxx", B, BRANCH_FLAGS, FLAGS_R}, /* b.cond, bc.cond */
	{"x 011010 x xxxxxxxxxxxxxxxxxxx rrrrr", B, BRANCH_ZERO, 0},
	{"x 011011 x xxxxx xxxxxxxxxxxxxx rrrrr", B, BRANCH_BIT, 0},
	{"1101011 0000 11111 000000 rrrrr 00000", B, JUMP_REG, 0},
	{"1101011 0000 11111 00001x rrrrr 11111", B, JUMP_REG, 0}, /* braaz, brabz */
	{"1101011 1000 11111 00001x rrrrr bbbbb", B, JUMP_REG, 0}, /* braa, brab */
	{"1101011 0001 11111 000000 rrrrr 00000", B, CALL_REG, LINK_W},
	{"1101011 0001 11111 00001x rrrrr 11111", B, CALL_REG, LINK_W},
	{"1101011 1001 11111 00001x rrrrr bbbbb", B, CALL_REG, LINK_W},
	{"1101011 0010 11111 000000 rrrrr 00000", B, RETURN, 0},
	{"1101011 0010 11111 00001x 11111 11111", B, RETURN_CHECKED, LINK_R | SP_R}, /* retaa */
	{"1101011 0100 11111 000000 11111 00000", B, RETURN, FLAGS_W},               /* eret */
	{"1101011 0100 11111 00001x 11111 11111", B, RETURN, FLAGS_W | SP_R},        /* eretaa */
	{"1101011 0101 11111 000000 11111 00000", B, RETURN, FLAGS_W},               /* drps */

	/* Exceptions. */
	{"11010100 000 xxxxxxxxxxxxxxxx 00001", B, SYSCALL, KERNEL},
	{"11010100 000 xxxxxxxxxxxxxxxx 00010", B, SYSCALL, FIRMWARE}, /* hvc */
	{"11010100 000 xxxxxxxxxxxxxxxx 00011", B, SYSCALL, FIRMWARE}, /* smc */
	{"11010100 001 xxxxxxxxxxxxxxxx 00000", O, TRAP, 0},           /* brk */
	{"11010100 010 xxxxxxxxxxxxxxxx 00000", O, TRAP, 0},           /* hlt */
	{"11010100 011 xxxxxxxxxxxxxxxx 00000", O, PLAIN, 0},          /* tcancel */
	{"11010100 101 xxxxxxxxxxxxxxxx 00001", O, TRAP, 0},           /* dcps1 */
	{"11010100 101 xxxxxxxxxxxxxxxx 0001x", O, TRAP, 0},           /* dcps2, dcps3 */

	/* Hints: those not listed have no visible effect. */
	{"11010101 000 00 011 0010 0000 000 11111", O, NOP, 0},
	{"11010101 000 00 011 0010 0000 111 11111", O, PLAIN, LINK_RW},        /* xpaclri */
	{"11010101 000 00 011 0010 0001 xx0 11111", O, PLAIN, X16_R | X17_RW}, /* pacia1716 .. */
	{"11010101 000 00 011 0010 0011 000 11111", O, SIGN, LINK_RW},         /* paciaz */
	{"11010101 000 00 011 0010 0011 010 11111", O, SIGN, LINK_RW},         /* pacibz */
	{"11010101 000 00 011 0010 0011 001 11111", O, SIGN_LAND, LINK_RW | SP_R}, /* paciasp */
	{"11010101 000 00 011 0010 0011 011 11111", O, SIGN_LAND, LINK_RW | SP_R}, /* pacibsp */
	{"11010101 000 00 011 0010 0011 1x0 11111", O, CHECK, LINK_RW},        /* autiaz, autibz */
	{"11010101 000 00 011 0010 0011 1x1 11111", O, CHECK, LINK_RW | SP_R}, /* autiasp .. */
	{"11010101 000 00 011 0010 0100 010 11111", O, BTI_CALL, 0},           /* bti c */
	{"11010101 000 00 011 0010 0100 100 11111", O, BTI_JUMP, 0},           /* bti j */
	{"11010101 000 00 011 0010 0100 110 11111", O, BTI_CALL, 0},           /* bti jc */
	{"11010101 000 00 011 0010 0101 000 11111", O, PLAIN, X16_R | X16_W},  /* chkfeat */
	{"11010101 000 00 011 0010 xxxx xxx 11111", O, PLAIN, 0},

	/* System. */
	{"11010101 000 00 011 0001 0000 00x rrrrr", O, PLAIN, 0},          /* wfet, wfit */
	{"11010101 000 00 011 0011 xxxx 010 11111", O, EXCLUSIVE_END, 0},  /* clrex */
	{"11010101 000 00 011 0011 xxxx 10x 11111", O, PLAIN, 0},          /* dsb, dmb */
	{"11010101 000 00 011 0011 xxxx 110 11111", O, PLAIN, 0},          /* isb */
	{"11010101 000 00 011 0011 0000 111 11111", O, PLAIN, 0},          /* sb */
	{"11010101 000 00 011 0011 xx10 001 11111", O, PLAIN, 0},          /* dsb nXS */
	{"11010101 000 00 011 0011 0000 011 11111", O, PLAIN, 0},          /* tcommit */
	{"11010101 000 00 000 0100 0000 000 11111", I, PLAIN, FLAGS_RW},   /* cfinv */
	{"11010101 000 00 000 0100 0000 001 11111", I, PLAIN, FLAGS_RW},   /* xaflag */
	{"11010101 000 00 000 0100 0000 010 11111", I, PLAIN, FLAGS_RW},   /* axflag */
	{"11010101 000 00 011 0100 0x1x 011 11111", O, PLAIN, VECTORS_RW}, /* smstart, smstop */
	{"11010101 000 00 xxx 0100 xxxx xxx 11111", O, PLAIN, 0},          /* msr field, #imm */
	{"11010101 000 00 xxx xxxx xxxx xxx rrrrr", O, PLAIN, 0}, /* unallocated, known as msr */
	{"11010101 001 00 011 0011 0000 011 wwwww", O, PLAIN, 0}, /* tstart */
	{"11010101 001 00 011 0011 0001 011 wwwww", O, PLAIN, 0}, /* ttest */
	{"11010101 001 00 xxx xxxx xxxx xxx wwwww", O, PLAIN, 0}, /* unallocated, known as mrs */
	{"11010101 000 01 xxx xxxx xxxx xxx rrrrr", O, PLAIN, 0}, /* sys */
	{"11010101 001 01 xxx xxxx xxxx xxx wwwww", O, PLAIN, 0}, /* sysl */
	{"11010101 000 11 011 0100 0010 000 rrrrr", O, PLAIN, FLAGS_W},         /* msr nzcv */
	{"11010101 000 11 011 0100 0100 00x rrrrr", O, PLAIN, FPCR_W | FPCR_R}, /* msr fpcr, fpsr */
	{"11010101 000 11 011 0100 0010 010 rrrrr", O, PLAIN, VECTORS_RW},      /* msr svcr */
	{"11010101 000 1x xxx xxxx xxxx xxx rrrrr", O, PLAIN, 0},               /* msr */
	{"11010101 001 11 011 0100 0010 000 wwwww", O, PLAIN, FLAGS_R},         /* mrs nzcv */
	{"11010101 001 11 011 0100 0100 00x wwwww", O, PLAIN, FPCR_R},          /* mrs fpcr, fpsr */
	{"11010101 001 11 011 0010 0100 00x wwwww", O, PLAIN, FLAGS_W}, /* mrs rndr, rndrrs */
	{"11010101 001 1x xxx xxxx xxxx xxx wwwww", O, PLAIN, 0},       /* mrs */

	{NULL, 0, 0, 0},
};
