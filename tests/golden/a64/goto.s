// Computed gotos through label addresses in relocated data. ld: -pie
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
	ldrb	w1, [x0], 1
	ldr	x1, [x2, w1, uxtw 3]
	br	x1
.Ladd:	add	w3, w3, 1
	ldrb	w1, [x0], 1
	ldr	x1, [x2, w1, uxtw 3]
	br	x1
.Lsub:	sub	w3, w3, 1
	ldrb	w1, [x0], 1
	ldr	x1, [x2, w1, uxtw 3]
	br	x1
.Lhalt:	mov	w0, w3
	ret
	.size	interpret, .-interpret

	.section .data.rel.ro,"aw"
	.balign	8
	.type	labels, %object
labels:	.xword	.Ladd, .Lsub, .Lhalt
	.size	labels, .-labels
