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

	// A table on the stack, indexed by an orr: with the frame in place the jump is no tail call.
	.type	local, %function
local:	sub	sp, sp, 16
	adr	x8, .Leven
	adr	x9, .Lodd
	stp	x8, x9, [sp]
	mov	x8, sp
	and	w10, w0, 1
	orr	x10, x8, x10, lsl 3
	ldr	x10, [x10]
	br	x10
.Leven:	lsr	w0, w0, 1
	add	sp, sp, 16
	ret
.Lodd:	add	w0, w0, 1
	add	sp, sp, 16
	ret
	.size	local, .-local

	.section .data.rel.ro,"aw"
	.balign	8
	.type	labels, %object
labels:	.xword	.Ladd, .Lsub, .Lhalt
	.size	labels, .-labels
