// A table of absolute addresses, as computed gotos have it, in a program linked at a fixed place. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	bl	interpret
	ret
	.size	_start, .-_start

	.type	interpret, %function
interpret:
	adrp	x2, labels
	add	x2, x2, :lo12:labels
.Lnext:	ldrb	w1, [x0], 1
	ldr	x1, [x2, x1, lsl 3]
	br	x1
.Ladd:	add	w3, w3, 1
	b	.Lnext
.Lsub:	sub	w3, w3, 1
	ldrb	w1, [x0], 1
	ldr	x1, [x2, x1, lsl 3]
	br	x1
.Lhalt:	mov	w0, w3
	ret
	.size	interpret, .-interpret

	.section .rodata
	.balign	8
	.type	labels, %object
labels:	.xword	.Ladd, .Lsub, .Lhalt
	.size	labels, .-labels
