// Branch protection: functions that sign the return address, and one that keeps it in a register over a call. ld: -no-pie
	.arch	armv8.5-a
	.text
	.globl	_start
	.type	_start, %function
_start:	mov	x29, #0
	mov	x30, #0
	bl	keeps_link
	bl	fails
	.size	_start, .-_start

// Follows a call that does not return.
	.type	after_last_call, %function
after_last_call:
	paciasp
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	leaf
	ldp	x29, x30, [sp], #16
	retaa
	.size	after_last_call, .-after_last_call

// Only a pointer leads here.
	.balign	16
	.type	pointed_at, %function
pointed_at:
	paciasp
	sub	sp, sp, #32
	stp	x29, x30, [sp, #16]
	add	x29, sp, #16
	cbz	x0, 1f
	bl	leaf
	ldp	x29, x30, [sp, #16]
	add	sp, sp, #32
	autiasp
	ret
1:	bl	leaf
	b	1b
	.size	pointed_at, .-pointed_at

// Nothing leads here.
	.balign	16
	.type	in_gap, %function
in_gap:	pacibsp
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	leaf
	ldp	x29, x30, [sp], #16
	autibsp
	ret
	.size	in_gap, .-in_gap

	.balign	16
	.type	leaf, %function
leaf:	bti	c
	add	x0, x0, #1
	ret
	.size	leaf, .-leaf

// As glibc's setjmp: the callee has a path that does not return, and which may write any register.
	.balign	16
	.type	keeps_link, %function
keeps_link:
	bti	c
	mov	x13, x30
	bl	leaves_x13
	mov	x30, x13
	stp	x19, x20, [x0]
	ret
	.size	keeps_link, .-keeps_link

	.balign	16
	.type	leaves_x13, %function
leaves_x13:
	bti	c
	ldr	x14, [x1]
	cbnz	x14, 1f
	ret
1:	paciasp
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	fails
	.size	leaves_x13, .-leaves_x13

	.balign	16
	.type	fails, %function
fails:	bti	c
	mov	x8, #93
	svc	#0
	brk	#1000
	.size	fails, .-fails

	.section .data.rel.ro,"aw"
	.balign	8
	.xword	pointed_at
