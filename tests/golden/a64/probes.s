// What probes ask of the code: registers that nobody reads, and places where points are. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	mov	x9, 1
	bl	scratch
	adr	x10, scratch
	blr	x10
	mov	x8, 93
	svc	0
	.size	_start, .-_start

	// x9 and the flags are used up at the return; x10 is overwritten on one way only.
	.type	scratch, %function
scratch:
	bti	c
	ldr	x9, [x0]
	cmp	x9, 1
	beq	1f
	mov	x10, 2
	add	x0, x0, x10
1:	add	x0, x0, x9
	ret
	.size	scratch, .-scratch

	// Brings x9 back, so its caller may rely on it.
	.type	preserves, %function
preserves:
	str	x9, [sp, -16]!
	ldr	x9, [x0]
	add	x0, x0, x9
	ldr	x9, [sp], 16
	ret
	.size	preserves, .-preserves

	// Leaves a value in x11.
	.type	leaves, %function
leaves:	ldr	x9, [x0]
	add	x11, x9, 1
	ret
	.size	leaves, .-leaves

	// Takes a value in x12: what else does it do?
	.type	odd, %function
odd:	ldr	x9, [x0]
	add	x0, x9, x12
	ret
	.size	odd, .-odd

	// Nothing is known where it jumps.
	.type	unknown, %function
unknown:
	stp	x29, x30, [sp, -16]!
	ldr	x9, [x0]
	add	x9, x9, x1
	br	x9
	.size	unknown, .-unknown

	// The callee overwrites x16 and x17 first; the call itself overwrites x30.
	.type	through, %function
through:
	stp	x29, x30, [sp, -16]!
	bl	veneer
	ldp	x29, x30, [sp], 16
	b	veneer
	.size	through, .-through

	.type	veneer, %function
veneer:	adrp	x16, scratch
	add	x16, x16, :lo12:scratch
	mov	x17, 3
	br	x16
	.size	veneer, .-veneer

	// The failed compare leaves without a store, but is in no sequence afterwards.
	.type	exchange, %function
exchange:
	mov	x9, x0
1:	ldaxr	w0, [x9]
	cmp	w0, w1
	bne	2f
	stlxr	w3, w2, [x9]
	cbnz	w3, 1b
2:	cset	w0, eq
	ret
	.size	exchange, .-exchange

	// Others jump behind the first system call.
	.type	system, %function
system:	cbz	x0, 1f
	svc	0
1:	mov	x8, 64
	svc	0
	cmn	x0, 4095
	ret
	.size	system, .-system

	// The entry is a loop's header behind its landing instruction.
	.type	header, %function
header:	paciasp
	subs	x0, x0, 1
	bne	header
	autiasp
	ret
	.size	header, .-header

	// Leaves two loops and the function at once.
	.type	leaver, %function
leaver:	bti	c
1:	mov	x1, 10
2:	subs	x1, x1, 1
	beq	scratch
	tbnz	x1, 0, 2b
	cbnz	x0, 1b
	ret
	.size	leaver, .-leaver

	// Goes on with the outer loop from within the inner one.
	.type	continues, %function
continues:
	mov	x1, 10
1:	sub	x0, x0, 1
2:	subs	x1, x1, 1
	tbz	x1, 3, 1b
	bne	2b
	cbnz	x0, 1b
	ret
	.size	continues, .-continues
