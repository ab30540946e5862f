// Registers that values are passed and kept in, in spite of all conventions, where the module itself can tell who does. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	bl	plain
	bl	keeps
	bl	passes
	bl	gets
	bl	catches
	mov	x8, 93
	svc	0
	.size	_start, .-_start

	// Uses all for itself.
	.type	plain, %function
plain:	mov	x16, 1
	adr	x17, 1f
1:	cmp	x0, x16
	beq	2f
	add	x0, x0, x17
2:	ret
	.size	plain, .-plain

	// Keeps x16 over two calls, of which one is over the other; not over that which destroys it.
	.type	keeps, %function
keeps:	stp	x29, x30, [sp, -16]!
	mov	x16, 1
	bl	through
	bl	leaf
	add	x0, x0, x16
	mov	x16, 2
	bl	plain
	mov	x0, 1
	ldp	x29, x30, [sp], 16
	ret
	.size	keeps, .-keeps

	.type	through, %function
through:
	stp	x29, x30, [sp, -16]!
	bl	further
	ldp	x29, x30, [sp], 16
	b	last
	.size	through, .-through

	.type	further, %function
further:
	add	x0, x0, 1
	ret
	.size	further, .-further

	.type	last, %function
last:	cbz	x0, 1f
	ret
1:	stp	x29, x30, [sp, -16]!
	bl	fails
	.size	last, .-last

	.type	leaf, %function
leaf:	ret
	.size	leaf, .-leaf

	// Does not come back, so it need not keep anything.
	.type	fails, %function
fails:	brk	1
	.size	fails, .-fails

	// Passes x17 by way of another.
	.type	passes, %function
passes:	stp	x29, x30, [sp, -16]!
	mov	x17, 1
	bl	hands_on
	ldp	x29, x30, [sp], 16
	ret
	.size	passes, .-passes

	.type	hands_on, %function
hands_on:
	stp	x29, x30, [sp, -16]!
	bl	takes
	ldp	x29, x30, [sp], 16
	ret
	.size	hands_on, .-hands_on

	.type	takes, %function
takes:	cbz	x0, 1f
	add	x0, x0, x17
1:	ret
	.size	takes, .-takes

	// Gets flags and x17 back.
	.type	gets, %function
gets:	stp	x29, x30, [sp, -16]!
	bl	compares
	beq	1f
	bl	returns
	mov	x0, x17
1:	ldp	x29, x30, [sp], 16
	ret
	.size	gets, .-gets

	.type	compares, %function
compares:
	cmp	x0, 1
	ret
	.size	compares, .-compares

	.type	returns, %function
returns:
	stp	x29, x30, [sp, -16]!
	bl	leaf
	mov	x17, 1
	ldp	x29, x30, [sp], 16
	ret
	.size	returns, .-returns

	// x16 has a value on the way on which it is read, as only the compiler knows.
	.type	correlated, %function
correlated:
	cbz	x0, 1f
	mov	x16, 1
1:	cbz	x0, 2f
	add	x0, x0, x16
2:	ret
	.size	correlated, .-correlated

	// Jumps into the middle of another one, where x16 is read.
	.type	intrudes, %function
intrudes:
	mov	x16, 3
	b	middle
	.size	intrudes, .-intrudes

	.type	intruded, %function
intruded:
	mov	x16, 1
middle:	add	x0, x0, x16
	ret
	.size	intruded, .-intruded

	// Nothing is known where it jumps; but it reads x16, which it keeps over a call, in code that
	// nothing leads to.
	.type	catches, %function
catches:
	stp	x29, x30, [sp, -16]!
	mov	x16, 1
	ldr	x9, [x0]
	add	x9, x9, x1
	br	x9
	bl	kept_there
	add	x0, x0, x16
	ldp	x29, x30, [sp], 16
	ret
	.size	catches, .-catches

	.type	kept_there, %function
kept_there:
	ret
	.size	kept_there, .-kept_there

	// Keeps v30 over a call, and passes v31, as compilers do that know what they call.
	.type	keeps_vector, %function
keeps_vector:
	stp	x29, x30, [sp, -16]!
	fmov	d30, x0
	fmov	d31, x1
	bl	takes_vector
	fadd	d0, d0, d30
	ldp	x29, x30, [sp], 16
	ret
	.size	keeps_vector, .-keeps_vector

	.type	takes_vector, %function
takes_vector:
	fadd	d0, d0, d31
	fmov	d29, d0
	ret
	.size	takes_vector, .-takes_vector

	// Sets x11 for a function that it jumps to after a call, as glibc's __clone3 does for thread_start.
	.type	prepares, %function
prepares:
	mov	x11, x2
	mov	x13, x30
	bl	between
	mov	x30, x13
	cbz	x0, starts
	mov	x11, 0
	b	between_not
	.size	prepares, .-prepares

	.type	starts, %function
starts:	blr	x11
	brk	1
	.size	starts, .-starts

	.type	between, %function
between:
	b	below
	.size	between, .-between

	.type	below, %function
below:	ret
	.size	below, .-below

	.type	between_not, %function
between_not:
	ret
	.size	between_not, .-between_not
