// ld: -e _start
// A load that the linker has moved behind all code, as for erratum 843419: it is still of its function, which has its
// frame there, and no function of its own.
	.text
	.globl _start
	.type _start, %function
_start:
	mov x12, #4112
	sub sp, sp, x12
	stp x29, x30, [sp]
	mov x29, sp
	adrp x1, value
	mov w0, #1
	b .Lmoved
.Lback:
	cbz x1, .Lno
	bl other
.Lno:
	ldp x29, x30, [sp]
	mov x12, #4112
	add sp, sp, x12
	ret
	.size _start, .-_start

	.type other, %function
other:
	add w0, w0, #1
	ret
	.size other, .-other

.Lmoved:
	ldr x1, [x1, :lo12:value]
	b .Lback

	.data
	.p2align 3
value:
	.xword 1
