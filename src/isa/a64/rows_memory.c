/* Loads, stores, atomics, prefetches, memory tags, memory copy and set. */
#include <stddef.h>

#include "isa/a64/rows.h"
#include "isa/insn.h"

#define L CLASS_LOAD
#define S CLASS_STORE
#define A CLASS_ATOMIC
#define O CLASS_OTHER

const struct a64_row a64_rows_memory[] = {
	/* Exclusive and ordered. */
	{"xx 001000 000 wwwww x xxxxx bbbbb rrrrr", A, EXCLUSIVE_END, 0},  /* stxr, stlxr */
	{"1x 001000 001 wwwww x rrrrr bbbbb rrrrr", A, EXCLUSIVE_END, 0},  /* stxp, stlxp */
	{"xx 001000 010 xxxxx x xxxxx bbbbb wwwww", A, EXCLUSIVE_LOAD, 0}, /* ldxr, ldaxr */
	{"1x 001000 011 xxxxx x wwwww bbbbb wwwww", A, EXCLUSIVE_LOAD, 0}, /* ldxp, ldaxp */
	{"xx 001000 100 xxxxx x xxxxx bbbbb rrrrr", S, MEM_BASE, 0},       /* stllr, stlr */
	{"xx 001000 110 xxxxx 0 xxxxx bbbbb wwwww", L, MEM_BASE, 0},       /* ldlar */
	{"xx 001000 110 11111 1 11111 bbbbb wwwww", L, MEM_BASE, 0},       /* ldar */
	{"0x 001000 0x1 xxxx1 x 11111 xxxxx xxxxx", A, UNDEFINED, 0},      /* pairs start even */
	{"0x 001000 0x1 xxxxx x 11111 xxxxx xxxx1", A, UNDEFINED, 0},
	{"0x 001000 0x1 uuuu2 x 11111 bbbbb rrrr2", A, PLAIN, 0}, /* casp */
	{"xx 001000 1x1 uuuuu x 11111 bbbbb rrrrr", A, PLAIN, 0}, /* cas */

	/* Memory copy and set. */
	{"00 011 x 01 00 0 uuuuu xxxx 01 uuuuu uuuuu", S, MEMORY_COPY, FLAGS_W},  /* cpyfp, cpyp */
	{"00 011 x 01 01 0 uuuuu xxxx 01 uuuuu uuuuu", S, MEMORY_COPY, FLAGS_RW}, /* cpyfm, cpym */
	{"00 011 x 01 10 0 uuuuu xxxx 01 uuuuu uuuuu", S, MEMORY_COPY, FLAGS_RW}, /* cpyfe, cpye */
	{"00 011 x 01 11 0 rrrrr 00xx 01 uuuuu uuuuu", S, MEMORY_COPY, FLAGS_W},  /* setp, setgp */
	{"00 011 x 01 11 0 rrrrr 01xx 01 uuuuu uuuuu", S, MEMORY_COPY, FLAGS_RW}, /* setm, setgm */
	{"00 011 x 01 11 0 rrrrr 10xx 01 uuuuu uuuuu", S, MEMORY_COPY, FLAGS_RW}, /* sete, setge */

	/* Literals. */
	{"0x 011 0 00 xxxxxxxxxxxxxxxxxxx wwwww", L, LOAD_LITERAL, 0},
	{"10 011 0 00 xxxxxxxxxxxxxxxxxxx wwwww", L, LOAD_LITERAL, 0}, /* ldrsw */
	{"11 011 0 00 xxxxxxxxxxxxxxxxxxx xxxxx", O, PLAIN, 0},        /* prfm */
	{"0x 011 1 00 xxxxxxxxxxxxxxxxxxx VVVVV", L, PLAIN, 0},
	{"10 011 1 00 xxxxxxxxxxxxxxxxxxx VVVVV", L, PLAIN, 0},

	/* Release-consistent, unscaled. */
	{"xx 011001 00 0 xxxxxxxxx 00 bbbbb rrrrr", S, MEM_UNSCALED, 0}, /* stlur */
	{"xx 011001 01 0 xxxxxxxxx 00 bbbbb wwwww", L, MEM_UNSCALED, 0}, /* ldapur */
	{"0x 011001 1x 0 xxxxxxxxx 00 bbbbb wwwww", L, MEM_UNSCALED, 0},
	{"10 011001 10 0 xxxxxxxxx 00 bbbbb wwwww", L, MEM_UNSCALED, 0},

	/* Memory tags. */
	{"11011001 xx 1 xxxxxxxxx 01 BBBBB bbbbb", S, TAG_POST, 0}, /* stg, stzg, st2g, stz2g */
	{"11011001 xx 1 xxxxxxxxx 10 bbbbb bbbbb", S, PLAIN, 0},
	{"11011001 xx 1 xxxxxxxxx 11 BBBBB bbbbb", S, TAG_PRE, 0},
	{"11011001 x0 1 000000000 00 bbbbb rrrrr", S, PLAIN, 0}, /* stzgm, stgm */
	{"11011001 01 1 xxxxxxxxx 00 bbbbb uuuuu", L, PLAIN, 0}, /* ldg */
	{"11011001 11 1 000000000 00 bbbbb wwwww", L, PLAIN, 0}, /* ldgm */

	/* Pairs. */
	{"x0 101 0 000 0 xxxxxxx rrrrr bbbbb rrrrr", S, PAIR, 0}, /* stnp */
	{"x0 101 0 000 1 xxxxxxx wwwww bbbbb wwwww", L, PAIR, 0}, /* ldnp */
	{"x0 101 0 001 0 xxxxxxx rrrrr BBBBB rrrrr", S, PAIR_POST, 0},
	{"x0 101 0 001 1 xxxxxxx wwwww BBBBB wwwww", L, PAIR_POST, 0},
	{"x0 101 0 010 0 xxxxxxx rrrrr bbbbb rrrrr", S, PAIR, 0},
	{"x0 101 0 010 1 xxxxxxx wwwww bbbbb wwwww", L, PAIR, 0},
	{"x0 101 0 011 0 xxxxxxx rrrrr BBBBB rrrrr", S, PAIR_PRE, 0},
	{"x0 101 0 011 1 xxxxxxx wwwww BBBBB wwwww", L, PAIR_PRE, 0},
	{"01 101 0 001 0 xxxxxxx rrrrr BBBBB rrrrr", S, TAG_PAIR_POST, 0}, /* stgp */
	{"01 101 0 010 0 xxxxxxx rrrrr bbbbb rrrrr", S, PLAIN, 0},
	{"01 101 0 011 0 xxxxxxx rrrrr BBBBB rrrrr", S, TAG_PAIR_PRE, 0},
	{"01 101 0 001 1 xxxxxxx wwwww BBBBB wwwww", L, PAIR_SIGNED_POST, 0}, /* ldpsw */
	{"01 101 0 010 1 xxxxxxx wwwww bbbbb wwwww", L, PAIR_SIGNED, 0},
	{"01 101 0 011 1 xxxxxxx wwwww BBBBB wwwww", L, PAIR_SIGNED_PRE, 0},
	{"11 101 1 0xx x xxxxxxx xxxxx xxxxx xxxxx", L, UNDEFINED, 0},
	{"xx 101 1 000 0 xxxxxxx vvvvv bbbbb vvvvv", S, PLAIN, 0},
	{"xx 101 1 000 1 xxxxxxx VVVVV bbbbb VVVVV", L, PLAIN, 0},
	{"xx 101 1 001 0 xxxxxxx vvvvv BBBBB vvvvv", S, VPAIR_POST, 0},
	{"xx 101 1 001 1 xxxxxxx VVVVV BBBBB VVVVV", L, VPAIR_POST, 0},
	{"xx 101 1 010 0 xxxxxxx vvvvv bbbbb vvvvv", S, PLAIN, 0},
	{"xx 101 1 010 1 xxxxxxx VVVVV bbbbb VVVVV", L, PLAIN, 0},
	{"xx 101 1 011 0 xxxxxxx vvvvv BBBBB vvvvv", S, VPAIR_PRE, 0},
	{"xx 101 1 011 1 xxxxxxx VVVVV BBBBB VVVVV", L, VPAIR_PRE, 0},

	/* One general register; the signed loads of 4 bytes exist for 64-bit registers only. */
	{"xx 111 0 01 00 xxxxxxxxxxxx bbbbb rrrrr", S, MEM_SCALED, 0},
	{"xx 111 0 01 01 xxxxxxxxxxxx bbbbb wwwww", L, MEM_SCALED, 0},
	{"0x 111 0 01 1x xxxxxxxxxxxx bbbbb wwwww", L, MEM_SCALED, 0},
	{"10 111 0 01 10 xxxxxxxxxxxx bbbbb wwwww", L, MEM_SCALED, 0},
	{"11 111 0 01 10 xxxxxxxxxxxx bbbbb xxxxx", O, PLAIN, 0},          /* prfm */
	{"xx 111 0 00 00 0 xxxxxxxxx x0 bbbbb rrrrr", S, MEM_UNSCALED, 0}, /* stur, sttr */
	{"xx 111 0 00 01 0 xxxxxxxxx x0 bbbbb wwwww", L, MEM_UNSCALED, 0}, /* ldur, ldtr */
	{"0x 111 0 00 1x 0 xxxxxxxxx x0 bbbbb wwwww", L, MEM_UNSCALED, 0},
	{"10 111 0 00 10 0 xxxxxxxxx x0 bbbbb wwwww", L, MEM_UNSCALED, 0},
	{"11 111 0 00 10 0 xxxxxxxxx 00 bbbbb xxxxx", O, PLAIN, 0}, /* prfum */
	{"xx 111 0 00 00 0 xxxxxxxxx 01 BBBBB rrrrr", S, MEM_POST, 0},
	{"xx 111 0 00 01 0 xxxxxxxxx 01 BBBBB wwwww", L, MEM_POST, 0},
	{"0x 111 0 00 1x 0 xxxxxxxxx 01 BBBBB wwwww", L, MEM_POST, 0},
	{"10 111 0 00 10 0 xxxxxxxxx 01 BBBBB wwwww", L, MEM_POST, 0},
	{"xx 111 0 00 00 0 xxxxxxxxx 11 BBBBB rrrrr", S, MEM_PRE, 0},
	{"xx 111 0 00 01 0 xxxxxxxxx 11 BBBBB wwwww", L, MEM_PRE, 0},
	{"0x 111 0 00 1x 0 xxxxxxxxx 11 BBBBB wwwww", L, MEM_PRE, 0},
	{"10 111 0 00 10 0 xxxxxxxxx 11 BBBBB wwwww", L, MEM_PRE, 0},
	{"xx 111 0 00 00 1 rrrrr x1x x 10 bbbbb rrrrr", S, MEM_REG, 0},
	{"xx 111 0 00 01 1 rrrrr x1x x 10 bbbbb wwwww", L, MEM_REG, 0},
	{"0x 111 0 00 1x 1 rrrrr x1x x 10 bbbbb wwwww", L, MEM_REG, 0},
	{"10 111 0 00 10 1 rrrrr x1x x 10 bbbbb wwwww", L, MEM_REG, 0},
	{"11 111 0 00 10 1 rrrrr x1x x 10 bbbbb xxxxx", O, PLAIN, 0},   /* prfm */
	{"11 111 0 00 xx 1 xxxxxxxxx 01 bbbbb wwwww", L, LOAD_AUTH, 0}, /* ldraa, ldrab */
	{"11 111 0 00 xx 1 xxxxxxxxx 11 BBBBB wwwww", L, LOAD_AUTH_PRE, 0},

	/* One vector register; 23:22 = 1x means 16 bytes. */
	{"xx 111 1 01 00 xxxxxxxxxxxx bbbbb vvvvv", S, PLAIN, 0},
	{"00 111 1 01 10 xxxxxxxxxxxx bbbbb vvvvv", S, PLAIN, 0},
	{"xx 111 1 01 01 xxxxxxxxxxxx bbbbb VVVVV", L, PLAIN, 0},
	{"00 111 1 01 11 xxxxxxxxxxxx bbbbb VVVVV", L, PLAIN, 0},
	{"xx 111 1 00 00 0 xxxxxxxxx 00 bbbbb vvvvv", S, PLAIN, 0},
	{"00 111 1 00 10 0 xxxxxxxxx 00 bbbbb vvvvv", S, PLAIN, 0},
	{"xx 111 1 00 01 0 xxxxxxxxx 00 bbbbb VVVVV", L, PLAIN, 0},
	{"00 111 1 00 11 0 xxxxxxxxx 00 bbbbb VVVVV", L, PLAIN, 0},
	{"xx 111 1 00 00 0 xxxxxxxxx 01 BBBBB vvvvv", S, VMEM_POST, 0},
	{"00 111 1 00 10 0 xxxxxxxxx 01 BBBBB vvvvv", S, VMEM_POST, 0},
	{"xx 111 1 00 01 0 xxxxxxxxx 01 BBBBB VVVVV", L, VMEM_POST, 0},
	{"00 111 1 00 11 0 xxxxxxxxx 01 BBBBB VVVVV", L, VMEM_POST, 0},
	{"xx 111 1 00 00 0 xxxxxxxxx 11 BBBBB vvvvv", S, VMEM_PRE, 0},
	{"00 111 1 00 10 0 xxxxxxxxx 11 BBBBB vvvvv", S, VMEM_PRE, 0},
	{"xx 111 1 00 01 0 xxxxxxxxx 11 BBBBB VVVVV", L, VMEM_PRE, 0},
	{"00 111 1 00 11 0 xxxxxxxxx 11 BBBBB VVVVV", L, VMEM_PRE, 0},
	{"xx 111 1 00 00 1 rrrrr x1x x 10 bbbbb vvvvv", S, PLAIN, 0},
	{"00 111 1 00 10 1 rrrrr x1x x 10 bbbbb vvvvv", S, PLAIN, 0},
	{"xx 111 1 00 01 1 rrrrr x1x x 10 bbbbb VVVVV", L, PLAIN, 0},
	{"00 111 1 00 11 1 rrrrr x1x x 10 bbbbb VVVVV", L, PLAIN, 0},

	/* Atomic read-modify-write. */
	{"xx 111 0 00 xx 1 rrrrr 0 xxx 00 bbbbb wwwww", A, PLAIN, 0},     /* ldadd .. ldumin */
	{"xx 111 0 00 xx 1 rrrrr 1 000 00 bbbbb wwwww", A, PLAIN, 0},     /* swp */
	{"xx 111 0 00 10 1 11111 1 100 00 bbbbb wwwww", L, MEM_BASE, 0},  /* ldapr */
	{"11 111 0 00 00 1 xxxxx 1 0x1 00 xxxxx xxxx1", A, UNDEFINED, 0}, /* even, x0 - x22 */
	{"11 111 0 00 00 1 xxxxx 1 0x1 00 xxxxx 11xxx", A, UNDEFINED, 0},
	{"11 111 0 00 00 1 xxxxx 1 010 00 xxxxx xxxx1", A, UNDEFINED, 0},
	{"11 111 0 00 00 1 xxxxx 1 010 00 xxxxx 11xxx", A, UNDEFINED, 0},
	{"11 111 0 00 00 1 xxxxx 1 101 00 xxxxx xxxx1", A, UNDEFINED, 0},
	{"11 111 0 00 00 1 xxxxx 1 101 00 xxxxx 11xxx", A, UNDEFINED, 0},
	{"11 111 0 00 00 1 11111 1 001 00 bbbbb rrrr8", A, PLAIN, 0}, /* st64b */
	{"11 111 0 00 00 1 wwwww 1 010 00 bbbbb rrrr8", A, PLAIN, 0}, /* st64bv0 */
	{"11 111 0 00 00 1 wwwww 1 011 00 bbbbb rrrr8", A, PLAIN, 0}, /* st64bv */
	{"11 111 0 00 00 1 11111 1 101 00 bbbbb wwww8", A, PLAIN, 0}, /* ld64b */

	/* Structures of vector registers; those of 2 and more have no single doubleword. */
	{"0 0 001100 x x xxxxxx 0x00 11 xxxxx xxxxx", L, UNDEFINED, 0},
	{"0 0 001100 x x xxxxxx 1000 11 xxxxx xxxxx", L, UNDEFINED, 0},
	{"0 x 001100 0 0 000000 0000 xx bbbbb vvvv4", S, PLAIN, 0}, /* st4 */
	{"0 x 001100 0 0 000000 0010 xx bbbbb vvvv4", S, PLAIN, 0}, /* st1 of 4 */
	{"0 x 001100 0 0 000000 0100 xx bbbbb vvvv3", S, PLAIN, 0},
	{"0 x 001100 0 0 000000 0110 xx bbbbb vvvv3", S, PLAIN, 0},
	{"0 x 001100 0 0 000000 0111 xx bbbbb vvvvv", S, PLAIN, 0},
	{"0 x 001100 0 0 000000 1000 xx bbbbb vvvv2", S, PLAIN, 0},
	{"0 x 001100 0 0 000000 1010 xx bbbbb vvvv2", S, PLAIN, 0},
	{"0 x 001100 0 1 000000 0000 xx bbbbb VVVV4", L, PLAIN, 0}, /* ld4 */
	{"0 x 001100 0 1 000000 0010 xx bbbbb VVVV4", L, PLAIN, 0},
	{"0 x 001100 0 1 000000 0100 xx bbbbb VVVV3", L, PLAIN, 0},
	{"0 x 001100 0 1 000000 0110 xx bbbbb VVVV3", L, PLAIN, 0},
	{"0 x 001100 0 1 000000 0111 xx bbbbb VVVVV", L, PLAIN, 0},
	{"0 x 001100 0 1 000000 1000 xx bbbbb VVVV2", L, PLAIN, 0},
	{"0 x 001100 0 1 000000 1010 xx bbbbb VVVV2", L, PLAIN, 0},
	{"0 x 001100 1 0 0 rrrrr 0000 xx BBBBB vvvv4", S, STRUCT_POST, 0},
	{"0 x 001100 1 0 0 rrrrr 0010 xx BBBBB vvvv4", S, STRUCT_POST, 0},
	{"0 x 001100 1 0 0 rrrrr 0100 xx BBBBB vvvv3", S, STRUCT_POST, 0},
	{"0 x 001100 1 0 0 rrrrr 0110 xx BBBBB vvvv3", S, STRUCT_POST, 0},
	{"0 x 001100 1 0 0 rrrrr 0111 xx BBBBB vvvvv", S, STRUCT_POST, 0},
	{"0 x 001100 1 0 0 rrrrr 1000 xx BBBBB vvvv2", S, STRUCT_POST, 0},
	{"0 x 001100 1 0 0 rrrrr 1010 xx BBBBB vvvv2", S, STRUCT_POST, 0},
	{"0 x 001100 1 1 0 rrrrr 0000 xx BBBBB VVVV4", L, STRUCT_POST, 0},
	{"0 x 001100 1 1 0 rrrrr 0010 xx BBBBB VVVV4", L, STRUCT_POST, 0},
	{"0 x 001100 1 1 0 rrrrr 0100 xx BBBBB VVVV3", L, STRUCT_POST, 0},
	{"0 x 001100 1 1 0 rrrrr 0110 xx BBBBB VVVV3", L, STRUCT_POST, 0},
	{"0 x 001100 1 1 0 rrrrr 0111 xx BBBBB VVVVV", L, STRUCT_POST, 0},
	{"0 x 001100 1 1 0 rrrrr 1000 xx BBBBB VVVV2", L, STRUCT_POST, 0},
	{"0 x 001100 1 1 0 rrrrr 1010 xx BBBBB VVVV2", L, STRUCT_POST, 0},

	/* One lane, or replicated. Bits 15:13 give the lane's size too: combinations with 12:10
	 * that do not exist are holes. */
	{"0 x 001101 x x x xxxxx 01x x x1 xxxxx xxxxx", L, UNDEFINED, 0},
	{"0 x 001101 x x x xxxxx 10x x 1x xxxxx xxxxx", L, UNDEFINED, 0},
	{"0 x 001101 x x x xxxxx 10x 1 01 xxxxx xxxxx", L, UNDEFINED, 0},
	{"0 x 001101 x x x xxxxx 11x 1 xx xxxxx xxxxx", L, UNDEFINED, 0},
	{"0 x 001101 x 0 x xxxxx 11x x xx xxxxx xxxxx", L, UNDEFINED, 0},
	{"0 x 001101 0 1 0 00000 110 0 xx bbbbb VVVVV", L, PLAIN, 0}, /* ld1r */
	{"0 x 001101 0 1 1 00000 110 0 xx bbbbb VVVV2", L, PLAIN, 0},
	{"0 x 001101 0 1 0 00000 111 0 xx bbbbb VVVV3", L, PLAIN, 0},
	{"0 x 001101 0 1 1 00000 111 0 xx bbbbb VVVV4", L, PLAIN, 0},
	{"0 x 001101 1 1 0 rrrrr 110 0 xx BBBBB VVVVV", L, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 1 1 rrrrr 110 0 xx BBBBB VVVV2", L, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 1 0 rrrrr 111 0 xx BBBBB VVVV3", L, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 1 1 rrrrr 111 0 xx BBBBB VVVV4", L, STRUCT_LANE_POST, 0},
	{"0 x 001101 0 0 0 00000 xx0 x xx bbbbb vvvvv", S, PLAIN, 0}, /* st1 */
	{"0 x 001101 0 0 1 00000 xx0 x xx bbbbb vvvv2", S, PLAIN, 0},
	{"0 x 001101 0 0 0 00000 xx1 x xx bbbbb vvvv3", S, PLAIN, 0},
	{"0 x 001101 0 0 1 00000 xx1 x xx bbbbb vvvv4", S, PLAIN, 0},
	{"0 x 001101 0 1 0 00000 xx0 x xx bbbbb AAAAA", L, PLAIN, 0}, /* ld1 */
	{"0 x 001101 0 1 1 00000 xx0 x xx bbbbb AAAA2", L, PLAIN, 0},
	{"0 x 001101 0 1 0 00000 xx1 x xx bbbbb AAAA3", L, PLAIN, 0},
	{"0 x 001101 0 1 1 00000 xx1 x xx bbbbb AAAA4", L, PLAIN, 0},
	{"0 x 001101 1 0 0 rrrrr xx0 x xx BBBBB vvvvv", S, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 0 1 rrrrr xx0 x xx BBBBB vvvv2", S, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 0 0 rrrrr xx1 x xx BBBBB vvvv3", S, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 0 1 rrrrr xx1 x xx BBBBB vvvv4", S, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 1 0 rrrrr xx0 x xx BBBBB AAAAA", L, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 1 1 rrrrr xx0 x xx BBBBB AAAA2", L, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 1 0 rrrrr xx1 x xx BBBBB AAAA3", L, STRUCT_LANE_POST, 0},
	{"0 x 001101 1 1 1 rrrrr xx1 x xx BBBBB AAAA4", L, STRUCT_LANE_POST, 0},

	{NULL, 0, 0, 0},
};
