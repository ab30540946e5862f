// A restartable sequence, which the kernel knows by its address, its abort handler in another function, and a function that calls it. ld: -e adds
	.text
	.globl	adds
	.type	adds, %function
adds:
	stp	x29, x30, [sp, -16]!
	mov	x29, sp
1:	bl	sequence
	cbnz	w0, 1b
	ldp	x29, x30, [sp], 16
	ret
	.size	adds, .-adds

	.globl	sequence
	.type	sequence, %function
sequence:
	adrp	x2, descriptor
	add	x2, x2, :lo12:descriptor
	str	x2, [x0, 8]
1:	ldr	w3, [x0, 4]
	ldr	x4, [x1, x3, lsl 3]
	add	x4, x4, 1
	str	x4, [x1, x3, lsl 3]
2:	mov	w0, 0
	ret
	.size	sequence, .-sequence
	.inst	0xd428bc00

	.globl	aborted
	.type	aborted, %function
aborted:
	mov	w0, 1
	ret
	.size	aborted, .-aborted

	.section __rseq_cs, "aw"
	.balign	32
descriptor:
	.long	0, 0
	.quad	1b, 2b - 1b, aborted
