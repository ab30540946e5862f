// A function that only a tail call leads to, behind one whose end is not known at first, and with a part of its own that
// was split off. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	mov	w0, 8
	bl	before
	bl	passes_on
	mov	x8, 93
	svc	0
	brk	1
	.size	_start, .-_start

	.type	before, %function
before:	add	w0, w0, 1
	ret
	.size	before, .-before

	.p2align 4
	.type	taken, %function
taken:	stp	x29, x30, [sp, -32]!
	mov	x29, sp
	str	x19, [sp, 16]
	mov	w19, w0
	cbz	w1, 1f
	bl	before
	add	w0, w0, w19
	ldr	x19, [sp, 16]
	ldp	x29, x30, [sp], 32
	ret
1:	add	w19, w19, w19
	b	taken.cold
	.size	taken, .-taken

	.p2align 4
	.type	passes_on, %function
passes_on:
	mov	w1, 3
	b	taken
	.size	passes_on, .-passes_on

	.section .text.unlikely,"ax",%progbits
	.type	taken.cold, %function
taken.cold:
	mov	w0, w19
	bl	before
	brk	1
	.size	taken.cold, .-taken.cold
