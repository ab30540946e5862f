// ld: -e _start
// A switch over an enumeration: no check guards it, so nothing but the table's contents tells where it ends. Values that
// cannot be lead behind the last instruction; other numbers follow, which seem to lead into the middle of blocks.
	.text
	.globl _start
	.type _start, %function
_start:
	ldrb w8, [x0]
	adrp x9, table
	add x9, x9, :lo12:table
	adr x10, .Lone
	ldrb w11, [x9, x8]
	add x10, x10, x11, lsl #2
	br x10
.Lone:
	mov w0, #1
	add w0, w0, w1
	ret
.Ltwo:
	mov w0, #2
	add w0, w0, w1
.Lthree:			// two goes on here
	add w0, w0, w2
	add w0, w0, w3
	ret
.Lfour:
	mov w0, #4
	add w0, w0, w4
	add w0, w0, w5
	ret
.Lend:
	.size _start, .-_start

	.section .rodata, "a"
table:
	.byte (.Lthree - .Lone) / 4
	.byte (.Lend - .Lone) / 4
	.byte 0
	.byte (.Ltwo - .Lone) / 4
	.byte (.Lend - .Lone) / 4
	.byte (.Lfour - .Lone) / 4
	.byte 0
	.byte 1, 4, 2, 6, 9, 1, 10, 0, 7
