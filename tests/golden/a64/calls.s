// Tail calls, calls that do not return (declared nowhere), self recursion, code behind a call that does not
// return. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	mov	w0, 3
	bl	tail
	bl	checks
	mov	w0, 5
	bl	recursive
	bl	leave
	.size	_start, .-_start

	.type	leave, %function
leave:	mov	x8, 93
	svc	0
	brk	1
	.size	leave, .-leave

// Ends in leave() on both ways, so it does not return either.
	.type	fails, %function
fails:	cbz	w0, 1f
	mov	w0, 1
	b	leave
1:	mov	w0, 2
	bl	leave
	.size	fails, .-fails

	.type	checks, %function
checks:	stp	x29, x30, [sp, -16]!
	mov	w2, 10
1:	cbz	w0, 2f
	sub	w2, w2, 1
	cbnz	w2, 1b
	ldp	x29, x30, [sp], 16
	ret
2:	bl	fails
	.size	checks, .-checks

	.type	tail, %function
tail:	cmp	w0, 1
	ble	1f
	b	helper
1:	b.ne	helper
	ret
	.size	tail, .-tail

	.type	helper, %function
helper:	adrp	x1, target
	ldr	x1, [x1, :lo12:target]
	br	x1
	.size	helper, .-helper

// Jumps to its own start: a loop, not a call.
	.type	recursive, %function
recursive:
	cbz	w0, 1f
	sub	w0, w0, 1
	b	recursive
1:	ret
	.size	recursive, .-recursive

	.data
	.balign	8
	.type	target, %object
target:	.xword	recursive
	.size	target, .-target
