// A shared object that calls through its PLT and has an indirect function. ld: -shared -z now
	.text
	.globl	entry
	.type	entry, %function
entry:	stp	x29, x30, [sp, -16]!
1:	bl	puts
	bl	chosen
	cbnz	w0, 1b
	ldp	x29, x30, [sp], 16
	b	exit
	.size	entry, .-entry

	.globl	chosen
	.type	chosen, %gnu_indirect_function
chosen:	adrp	x0, first
	add	x0, x0, :lo12:first
	ret
	.size	chosen, .-chosen

	.type	first, %function
first:	mov	w0, 0
	ret
	.size	first, .-first
