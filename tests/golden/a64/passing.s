// Registers that values are passed in so that nobody can tell between whom. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	ldr	x16, =table
	ldr	x17, [x16]
	br	x17
	.size	_start, .-_start

	// Only a pointer leads here: x16 comes from wherever that is used.
	.type	handler, %function
handler:
	ldr	x0, [x16, 8]
	ret
	.size	handler, .-handler

	// A value survives a call of something unknown.
	.type	over, %function
over:	stp	x29, x30, [sp, -16]!
	mov	x17, 2
	blr	x1
	add	x0, x0, x17
	ldp	x29, x30, [sp], 16
	ret
	.size	over, .-over

	.data
table:	.quad	handler
