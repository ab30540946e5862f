// A system call that a signal handler knows by its address, and who passes calls on to it. ld: -e passes
	.text
	.globl	passes
	.type	passes, %function
passes:
	stp	x29, x30, [sp, -16]!
	mov	x29, sp
	cbnz	x5, 1f
	mov	x4, x3
	mov	x3, x2
	mov	x2, x1
	mov	x1, x0
	adrp	x0, flag
	bl	pinned
	b	2f
1:	mov	x8, x0
	svc	0
2:	ldp	x29, x30, [sp], 16
	ret
	.size	passes, .-passes

	.globl	pinned
	.type	pinned, %function
pinned:
	ldr	w0, [x0]
	tbnz	w0, 3, 1f
	mov	x8, x1
	mov	x0, x2
	mov	x1, x3
	mov	x2, x4
	svc	0
	ret
1:	mov	x0, -125
	ret
	.size	pinned, .-pinned

	.bss
flag:	.zero	4
