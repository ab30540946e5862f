// ld: -e _start
// A state machine: its first state is fixed, the others follow from the input, and no check guards the table. As long as
// nothing but the first state is known, its code seems to be the only one there is.
	.text
	.globl _start
	.type _start, %function
_start:
	mov w8, #0
	adrp x9, table
	add x9, x9, :lo12:table
	b .Lnext
.Lwhile:
	cmp w8, #3
	b.eq .Lout
.Lnext:
	ldrb w10, [x0], #1
	adr x11, .Lfirst
	ldrb w12, [x9, x8]
	add x11, x11, x12, lsl #2
	br x11
.Lfirst:
	cmp w10, #97
	mov w8, #1
	cinc w8, w8, lo
	b .Lwhile
.Lword:
	add w1, w1, #1
	cmp w10, #0
	mov w8, #3
	csel w8, w8, wzr, eq
	b .Lwhile
.Lskip:
	ldrb w10, [x0]
	cmp w10, #104
	b.hs .Lafter
	add x0, x0, #1
	b .Lskip
.Lafter:
	mov w8, #1
	b .Lwhile
.Lout:
	ret
	.size _start, .-_start

	.section .rodata, "a"
table:
	.byte 0
	.byte (.Lword - .Lfirst) / 4
	.byte (.Lskip - .Lfirst) / 4
